"""Idempotency keys that outlive the process: which answer was given to which key.

Every creation that is kept in the database calls `claim` first, in the transaction that stores what is created: so
either both are there after a crash, or neither is. Used alike for every noun (`route`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sqlalchemy import Connection, delete, select

from harena.core.idempotency import IdempotencyKey
from harena.store.database import insert_new
from harena.store.tables import idempotency_keys

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncConnection

_keys = idempotency_keys.c


def claim(connection: Connection, workspace: str, route: str, key: IdempotencyKey | None, answer_id: str) -> str:
    """The id of what stands: `answer_id`, which the caller goes on to store, or that of what was created before with
    this key; then the caller stores nothing. Raises ValidationError for a key that came with another request."""
    if key is None:
        return answer_id
    row = {"workspace": workspace, "route": route, "key": key.key, "asked": key.asked, "answer_id": answer_id}
    # whoever is later waits here for the earlier one's transaction
    noted = connection.execute(insert_new(connection, idempotency_keys), row)
    if noted.rowcount == 1:
        return answer_id
    return answer_to(connection, workspace, route, key) or answer_id


def answer_to(connection: Connection, workspace: str, route: str, key: IdempotencyKey) -> str | None:
    """The id of what was created with this key, None = nothing yet. Raises ValidationError as `claim`."""
    statement = select(_keys.asked, _keys.answer_id).where(
        _keys.workspace == workspace, _keys.route == route, _keys.key == key.key
    )
    found = connection.execute(statement).first()
    if found is None:
        return None
    key.check_same(found.asked)
    answer_id: str = found.answer_id
    return answer_id


async def forget_answers(connection: AsyncConnection, answer_ids: Sequence[str]) -> None:
    """What they stood for is deleted: their keys are free again."""
    await connection.execute(delete(idempotency_keys).where(_keys.answer_id.in_(list(answer_ids))))
