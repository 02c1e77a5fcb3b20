"""Operations on snapshots."""

from __future__ import annotations

from harena.core.operations.operation import READ, WRITE, Operation
from harena.core.operations.sandboxes import TAR
from harena.core.ports.snapshots import SnapshotOperations as Port
from harena.core.records.snapshots import Snapshot, SnapshotsPage

NOUN = "snapshots"
_ALL = "/v1/snapshots"
_ONE = f"{_ALL}/{{snapshot}}"

CREATE = Operation(
    NOUN,
    "create",
    "POST",
    _ALL,
    WRITE,
    Port.create_snapshot,
    Snapshot,
    starts_work=True,
    errors=frozenset({404, 409, 501, 502, 504}),
)
LIST = Operation(NOUN, "list_snapshots", "GET", _ALL, READ, Port.list_snapshots, SnapshotsPage)
GET = Operation(NOUN, "get_snapshot", "GET", _ONE, READ, Port.get_snapshot, Snapshot)
EXPORT = Operation(
    NOUN,
    "export_snapshot",
    "GET",
    f"{_ONE}/archive",
    READ,
    Port.export_snapshot,
    TAR,
    errors=frozenset({501, 502}),
)
REMOVE = Operation(NOUN, "remove_snapshot", "DELETE", _ONE, WRITE, Port.remove_snapshot)
OPERATIONS = (CREATE, LIST, GET, EXPORT, REMOVE)
