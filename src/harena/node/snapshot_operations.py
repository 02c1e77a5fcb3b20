"""The part of `Operations` that is about snapshots, for one workspace of a node."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from typing import TYPE_CHECKING

from harena.core.errors import SandboxValidationError, ValidationError
from harena.core.ports import HasUpperLayer, HoldsFiles
from harena.core.records.snapshots import Snapshot, SnapshotsPage
from harena.core.snapshots import new_id
from harena.node.answered import InWorkspace

if TYPE_CHECKING:
    from harena.core.images import ArchiveFormat
    from harena.core.records.sandboxes import SandboxInfo
    from harena.image_store.images import Images


_IN_MEMORY_SECONDS = 600
"""how long files are held in memory for sandboxes that begin with them, where the request does not say"""


class SnapshotOperations(InWorkspace):
    """Snapshots. Used from one event loop."""

    @property
    def _snapshots(self) -> Images:
        return self._parts.images(self.workspace)

    async def create_snapshot(
        self,
        sandbox: str,
        *,
        name: str | None = None,
        ttl_seconds: int | None = None,
        ends: bool = False,
        in_memory: bool = False,
    ) -> Snapshot:
        """Keep a sandbox's layer as a snapshot, in the store or (`in_memory`, where the runtime can) in memory. Raises
        SandboxValidationError where this node's sandboxes have no layer of their own."""
        record = self._parts.sandboxes.get(sandbox, workspace=self.workspace)
        port = record.port
        if not isinstance(port, HasUpperLayer):
            raise SandboxValidationError("this node's sandboxes have no layer of their own that a snapshot could be")
        if in_memory:
            if name is not None or ends:
                raise ValidationError(
                    "a snapshot in memory has no name, and its sandbox goes on: leave name and ends out"
                )
            ttl_seconds = ttl_seconds or _IN_MEMORY_SECONDS
            held = await self._held(record.info, port, ttl_seconds) if isinstance(port, HoldsFiles) else None
            if held is not None:
                return held
        layer = await port.written()
        try:
            await self._snapshots.check_snapshot(self.workspace, name)
            # a sandbox that shall end is paused, too: it goes on where the snapshot fails
            async with AsyncExitStack() as paused:

                @asynccontextmanager
                async def still() -> AsyncIterator[None]:
                    await paused.enter_async_context(port.paused())
                    yield
                    await port.check_still()
                    if not ends:
                        await paused.aclose()

                made = await self._snapshots.snapshot(
                    self.workspace,
                    layer,
                    record.info.image,
                    record.id,
                    name,
                    ttl_seconds,
                    still(),
                )
                if ends:
                    await record.stop()
                return made
        finally:
            await layer.close()

    async def _held(self, sandbox: SandboxInfo, port: HoldsFiles, seconds: int) -> Snapshot | None:
        identity = new_id()
        size = await port.hold_files(identity, seconds)
        if size is None:
            return None
        now = self._parts.utcnow()
        return Snapshot(
            id=identity,
            name=None,
            parent=None,
            image=sandbox.image,
            digest="",
            sandbox=sandbox.id,
            layers=0,
            files=0,
            size_bytes=size,
            left_out={},
            created_at=now.isoformat(),
            expires_at=(now + timedelta(seconds=seconds)).isoformat(),
            in_use=False,
        )

    async def list_snapshots(self, *, limit: int = 100, cursor: int | None = None) -> SnapshotsPage:
        """Read one page of the workspace's snapshots."""
        return await self._snapshots.snapshots_page(self.workspace, limit=limit, cursor=cursor)

    async def get_snapshot(self, snapshot: str) -> Snapshot:
        """Find a snapshot by its name or id."""
        return await self._snapshots.get_snapshot(self.workspace, snapshot)

    def export_snapshot(self, snapshot: str, *, form: ArchiveFormat = "oci") -> AsyncIterator[bytes]:
        """Write a snapshot's image as an archive, piece by piece."""
        return self._snapshots.export_snapshot(self.workspace, snapshot, form)

    async def remove_snapshot(self, snapshot: str) -> None:
        """Forget a snapshot, be it in memory or in the store, and keep no template ready for it."""
        if self._parts.forget_held(self.workspace, snapshot):
            return
        removed = await self._snapshots.get_snapshot(self.workspace, snapshot)
        await self._snapshots.remove_snapshot(self.workspace, removed.id)
        self._parts.forget_image(self.workspace, removed.digest)
