"""Operations on blueprints."""

from __future__ import annotations

from harena.core.operations.operation import ADMIN, PUBLISH, READ, WRITE, Operation
from harena.core.ports import BlueprintOperations as Port
from harena.core.records.blueprints import Blueprint, BlueprintsPage

NOUN = "blueprints"
_ALL = "/v1/blueprints"
_ONE = f"{_ALL}/{{name_or_id}}"

CREATE = Operation(
    NOUN,
    "create",
    "POST",
    _ALL,
    WRITE,
    Port.create_blueprint,
    Blueprint,
    body="BlueprintBody",
    creates=True,
    starts_work=True,
    errors=frozenset({404}),
)
LIST = Operation(NOUN, "list_blueprints", "GET", _ALL, READ, Port.list_blueprints, BlueprintsPage)
GET = Operation(NOUN, "get", "GET", _ONE, READ, Port.get_blueprint, Blueprint)
DELETE = Operation(NOUN, "delete", "DELETE", _ONE, ADMIN, Port.delete_blueprint)
SHOW = Operation(
    NOUN, "publish", "POST", f"{_ONE}/publish", PUBLISH, Port.publish_blueprint, Blueprint, errors=frozenset({409})
)
WITHDRAW = Operation(NOUN, "withdraw", "POST", f"{_ONE}/withdraw", PUBLISH, Port.withdraw_blueprint, Blueprint)
OPERATIONS = (CREATE, LIST, GET, DELETE, SHOW, WITHDRAW)
