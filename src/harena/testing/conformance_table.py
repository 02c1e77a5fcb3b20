"""What every operation of the table must do over every transport."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from harena.core.errors import NotFoundError
from harena.core.operations import OPERATIONS, Operation
from harena.core.ports import Operations

NOBODYS = {"job": "nobodys", "ref": "nobodys@2", "calibration": "nobodys", "name_or_id": "nobodys", "kind": "task"}
"""what the path of an operation can name, and nobody has"""
ON_ONE = [operation for operation in OPERATIONS if operation.port is not None and "{" in operation.path]


class TableConformance:
    """Iterates the table: a row that is added is tested with no more code."""

    @pytest.mark.parametrize("operation", ON_ONE, ids=lambda operation: operation.id)
    async def test_what_nobody_has_is_not_found(self, operations: Operations, operation: Operation[..., Any]) -> None:
        """Whatever is asked of it, with the path that the table says."""
        required = [one for one in operation.parameters() if one.required]
        given = {one.name: NOBODYS.get(one.name, "nothing") for one in required}
        found = operation.of(operations, given)
        with pytest.raises(NotFoundError):
            await (anext(found) if isinstance(found, AsyncIterator) else found)
