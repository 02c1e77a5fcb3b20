"""The part of `Operations` that is about snapshots, over HTTP."""

from __future__ import annotations

from harena.core.operations import snapshots as table
from harena.sdk.http.calls import Calls, over_http


class HttpSnapshots(Calls):
    """Used from one event loop."""

    create_snapshot = over_http(table.CREATE)
    list_snapshots = over_http(table.LIST)
    get_snapshot = over_http(table.GET)
    remove_snapshot = over_http(table.REMOVE)
