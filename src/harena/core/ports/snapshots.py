"""What a node can do with snapshots."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Annotated, Protocol

from harena.core.images import ArchiveFormat
from harena.core.parameters import Bounds, Cursor, Id, Limit, OptionalWord
from harena.core.snapshots import MOST_TTL_SECONDS

if TYPE_CHECKING:
    from harena.core.records.snapshots import Snapshot, SnapshotsPage


class SnapshotOperations(Protocol):
    """Snapshots of one workspace. A snapshot is named by its name or its id."""

    async def create_snapshot(
        self,
        sandbox: Id,
        *,
        name: OptionalWord = None,
        ttl_seconds: Annotated[int | None, Bounds(ge=1, le=MOST_TTL_SECONDS)] = None,
        ends: bool = False,
        in_memory: bool = False,
    ) -> Snapshot:
        """Take a snapshot of a running sandbox of an image: its programs stand still meanwhile, and go on; with `ends`
        the sandbox ends then instead. A sandbox begins with it where its image is `snapshot://` and the
        name or id; a snapshot with `ttl_seconds` is removed after that time.

        With `in_memory` it is for sandboxes that begin with it soon: where it can be, it is made in a moment, has no
        layer of its own on the disk, is in no list, and is gone after `ttl_seconds` (600 without them) or with the
        node.

        Raises SandboxNotFoundError, SandboxNotRunningError, SandboxValidationError (its image is the default one),
        ValidationError (the name is taken), LimitExceededError (the workspace has no room), ImagePullError."""

    async def list_snapshots(self, *, limit: Limit = 100, cursor: Cursor = None) -> SnapshotsPage:
        """Snapshots of your workspace, the oldest first."""

    async def get_snapshot(self, snapshot: Id) -> Snapshot:
        """A snapshot.

        Raises NotFoundError."""

    def export_snapshot(self, snapshot: Id, *, form: ArchiveFormat = "oci") -> AsyncIterator[bytes]:
        """A snapshot as the tar stream of an image, with all its layers: an OCI layout, or what `docker load` reads.

        Raises NotFoundError before the first piece."""

    async def remove_snapshot(self, snapshot: Id) -> None:
        """Remove a snapshot. Its layer goes when no sandbox and no other snapshot needs it.

        Raises NotFoundError."""
