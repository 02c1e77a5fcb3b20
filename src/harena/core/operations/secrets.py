"""Operations on secrets. None answers a value."""

from __future__ import annotations

from harena.core.operations.operation import ADMIN, READ, Operation
from harena.core.ports.secrets import SecretOperations as Port
from harena.core.records.secrets import Secret, SecretsPage

NOUN = "secrets"
_ALL = "/v1/secrets"
_ONE = f"{_ALL}/{{name}}"

SET = Operation(NOUN, "set_secret", "POST", _ALL, ADMIN, Port.set_secret, Secret, body="SecretBody")
LIST = Operation(NOUN, "list_secrets", "GET", _ALL, READ, Port.list_secrets, SecretsPage)
GET = Operation(NOUN, "get_secret", "GET", _ONE, READ, Port.get_secret, Secret)
DELETE = Operation(NOUN, "delete_secret", "DELETE", _ONE, ADMIN, Port.delete_secret, frees=True)
OPERATIONS = (SET, LIST, GET, DELETE)
