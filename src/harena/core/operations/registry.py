"""Operations on the objects that training refers to."""

from __future__ import annotations

from harena.core.operations.operation import PUBLISH, READ, WRITE, Operation
from harena.core.ports import RegistryOperations as Port
from harena.core.records.objects import StoredObject, StoredObjectsPage

NOUN = "objects"
_OBJECTS = "/v1/objects"
_OBJECT = f"{_OBJECTS}/{{kind}}/{{ref}}"
_CONFLICT = frozenset({409})

LIST = Operation(NOUN, "list_objects", "GET", _OBJECTS, READ, Port.list_objects, StoredObjectsPage)
PUSH = Operation(
    NOUN,
    "push_object",
    "POST",
    _OBJECTS,
    WRITE,
    Port.push_object,
    StoredObject,
    body="application/octet-stream",
    errors=_CONFLICT,
)
GET = Operation(NOUN, "get_object", "GET", _OBJECT, READ, Port.get_object, StoredObject)
SHOW = Operation(
    NOUN,
    "publish_object",
    "POST",
    f"{_OBJECT}/publish",
    PUBLISH,
    Port.publish_object,
    StoredObject,
    errors=_CONFLICT,
)
WITHDRAW = Operation(
    NOUN,
    "withdraw_object",
    "POST",
    f"{_OBJECT}/withdraw",
    PUBLISH,
    Port.withdraw_object,
    StoredObject,
    errors=_CONFLICT,
)
DELETE = Operation(NOUN, "delete_object", "DELETE", _OBJECT, WRITE, Port.delete_object, errors=_CONFLICT, frees=True)
PULL = Operation(NOUN, "pull_object", "GET", f"{_OBJECT}/tree", READ, Port.pull_object, "application/x-tar")
OPERATIONS = (LIST, PUSH, GET, DELETE, PULL, SHOW, WITHDRAW)
