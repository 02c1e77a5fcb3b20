"""The part of `Operations` that is about snapshots, over HTTP."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from harena.core.images import ArchiveFormat
from harena.core.operations import snapshots as table
from harena.sdk.http.calls import Calls, over_http


class HttpSnapshots(Calls):
    """Used from one event loop."""

    create_snapshot = over_http(table.CREATE)
    list_snapshots = over_http(table.LIST)
    get_snapshot = over_http(table.GET)
    remove_snapshot = over_http(table.REMOVE)

    async def export_snapshot(self, snapshot: str, *, form: ArchiveFormat = "oci") -> AsyncGenerator[bytes, None]:
        """Download a snapshot as an archive, piece by piece."""
        where = await self.place(table.EXPORT, snapshot=snapshot)
        async with self._connection.request(table.EXPORT.method, where, query={"form": form}) as response:
            async for piece in response.content.iter_any():
                yield piece
