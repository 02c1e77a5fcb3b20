"""/v1/keys: the API keys of the caller's own workspace, for its admins."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import Query

from harena.core.access import StoredKey
from harena.core.errors import AccessError
from harena.core.operations import server as table
from harena.core.operations.operation import PUBLISH
from harena.core.records.server import ApiKey, NewApiKey
from harena.server import shapes
from harena.server.answers import JsonAnswer
from harena.server.bounds import MOST_PAGE, Id, OptionalWord
from harena.server.idempotency import kept_whole
from harena.server.keys import Keys
from harena.server.routes.dependencies import Admin, Once, State
from harena.server.state import ServerState
from harena.server.table_routes import TableRoutes

routes = TableRoutes(table.ON_KEYS)


@routes.by_hand(table.CREATE_KEY)
async def create(asked: shapes.KeyBody, caller: Admin, state: State, key: Once) -> JsonAnswer:
    """Make a key. The answer holds the key itself, which cannot be asked for again but with an idempotency key. To give
    the scope `publish` takes a key that has it."""
    keys = _keys(state)
    if PUBLISH in asked.scopes:
        caller.check(PUBLISH)

    async def made() -> NewApiKey:
        token, found = await keys.create(name=asked.name, workspace=caller.workspace, scopes=asked.scopes)
        return NewApiKey(**_key_answer(found), key=token)

    described = await state.idempotency.once(caller.workspace, "keys", key, made, kept_whole(NewApiKey))
    return JsonAnswer(described, status_code=201)


@routes.by_hand(table.LIST_KEYS)
async def list_keys(
    caller: Admin,
    state: State,
    cursor: OptionalWord = None,
    limit: Annotated[int, Query(ge=1, le=MOST_PAGE)] = 100,
) -> JsonAnswer:
    """The workspace's keys, oldest first, revoked ones too. A page holds at most 8 MiB; `cursor` is the `next_cursor`
    of the page before."""
    found, following = await _keys(state).page(caller.workspace, cursor=cursor, limit=limit)
    return JsonAnswer({"keys": [*map(_key_answer, found)], "next_cursor": following})


@routes.by_hand(table.REVOKE)
async def revoke(key_id: Id, caller: Admin, state: State) -> None:
    """Refuse the key from now on. May be asked for again."""
    await _keys(state).revoke(key_id, workspace=caller.workspace)


def _key_answer(key: StoredKey) -> ApiKey:
    """A key as it is answered: without its hash."""
    return ApiKey(
        id=key.id,
        name=key.name,
        workspace=key.workspace,
        scopes=key.scopes,
        created_at=datetime.fromisoformat(key.created_at),
        revoked_at=None if key.revoked_at is None else datetime.fromisoformat(key.revoked_at),
    )


def _keys(state: ServerState) -> Keys:
    if not isinstance(state.access, Keys):
        raise AccessError(
            "this server runs without keys: make the first one with `harena keys create`, then start it again",
            reason="FORBIDDEN",
        )
    return state.access
