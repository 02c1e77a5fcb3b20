"""What snapshots do over every transport, where no sandbox has a layer of its own: the node behind it makes none."""

from __future__ import annotations

import pytest

from harena.core.errors import NotFoundError, SandboxNotFoundError, SandboxValidationError, ValidationError
from harena.core.models import SandboxSpec
from harena.core.ports import Operations
from harena.core.records.snapshots import SnapshotsPage


class SnapshotsConformance:
    """Every noun of the operations is asked for at least once."""

    async def test_snapshots_of_what_has_no_layer(self, operations: Operations) -> None:
        """They are refused, and leave nothing."""
        sandbox = await operations.create_sandbox(SandboxSpec())
        with pytest.raises(SandboxValidationError):
            await operations.create_snapshot(sandbox.info.id, name="refused", ttl_seconds=5, ends=True)
        assert not (await sandbox.refresh()).status.is_terminal
        await sandbox.stop()
        assert await operations.list_snapshots(limit=1) == SnapshotsPage(snapshots=[], next_cursor=None)

    async def test_what_is_no_snapshot(self, operations: Operations) -> None:
        """Unknown names and sandboxes are told, and so are values that cannot be."""
        with pytest.raises(SandboxNotFoundError):
            await operations.create_snapshot("sb_nobody")
        for named in ("nobody", "snap_" + "0" * 24):
            with pytest.raises(NotFoundError) as raised:
                await operations.get_snapshot(named)
            assert raised.value.reason == "SNAPSHOT_NOT_FOUND"
            with pytest.raises(NotFoundError):
                await operations.remove_snapshot(named)
            with pytest.raises(NotFoundError):
                await anext(aiter(operations.export_snapshot(named)))

    async def test_a_sandbox_of_an_unknown_snapshot(self, operations: Operations) -> None:
        """It is told as an unknown image is."""
        with pytest.raises((NotFoundError, ValidationError)):
            await operations.create_sandbox(SandboxSpec(image="snapshot://nobody"))
