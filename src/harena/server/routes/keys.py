"""/v1/keys: the API keys of the caller's own workspace, for its admins."""

from __future__ import annotations

from fastapi import APIRouter

from harena.core.errors import AccessError
from harena.server import shapes
from harena.server.answers import JsonAnswer
from harena.server.keys import Keys
from harena.server.routes.asking import Admin, State
from harena.server.state import ServerState

router = APIRouter(prefix="/v1/keys", tags=["keys"])


@router.post("", status_code=201, response_model=shapes.NewKeyAnswer)
async def create(asked: shapes.KeyAsked, caller: Admin, state: State) -> JsonAnswer:
    """Make a key. The answer holds the key itself, which cannot be asked for again."""
    token, key = await _keys(state).create(name=asked.name, workspace=caller.workspace, scopes=asked.scopes)
    return JsonAnswer({**key, "key": token}, status_code=201)


@router.get("", response_model=shapes.KeysAnswer)
async def list_keys(caller: Admin, state: State) -> JsonAnswer:
    """The workspace's keys, oldest first, revoked ones too."""
    return JsonAnswer({"keys": await _keys(state).list(caller.workspace)})


@router.delete("/{key_id}", status_code=204)
async def revoke(key_id: str, caller: Admin, state: State) -> None:
    """Refuse the key from now on. May be asked for again."""
    await _keys(state).revoke(key_id, workspace=caller.workspace)


def _keys(state: ServerState) -> Keys:
    if not isinstance(state.access, Keys):
        raise AccessError(
            "this server runs without keys: make the first one with `harena keys create`, then start it again",
            reason="FORBIDDEN",
        )
    return state.access
