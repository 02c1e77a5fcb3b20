"""/v1/blueprints: recipes for sandboxes. They are the node's, and every workspace sees all of them."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Header, Request

from harena.core.models import Blueprint
from harena.core.wire import blueprint_to_json
from harena.server import shapes
from harena.server.answers import JsonAnswer
from harena.server.routes.asking import Admin, Reader, State, Writer
from harena.server.routes.sandboxes import decoded

router = APIRouter(prefix="/v1/blueprints", tags=["blueprints"])


@router.post("", status_code=201, response_model=shapes.BlueprintAnswer)
async def create(
    asked: shapes.BlueprintAsked,
    request: Request,
    caller: Writer,
    state: State,
    idempotency_key: Annotated[str | None, Header()] = None,
) -> JsonAnswer:
    """Install the packages (wheels only) and record the recipe; a name that exists gets its next version."""
    state.check_not_draining()
    files = {path: decoded(content, f"files: {path}") for path, content in asked.files.items()}

    async def made() -> Blueprint:
        return await state.operations.create_blueprint(
            asked.name, image=asked.image, packages=asked.packages, files=files, env=asked.env, warm=asked.warm
        )

    blueprint = await state.idempotency.once(
        caller.workspace, "blueprints", idempotency_key, await request.body(), made
    )
    return JsonAnswer(blueprint_to_json(blueprint), status_code=201)


@router.get("", response_model=shapes.BlueprintsAnswer)
async def list_blueprints(caller: Reader, state: State) -> JsonAnswer:
    """All, newest first."""
    found = await state.operations.list_blueprints()
    return JsonAnswer({"blueprints": [blueprint_to_json(blueprint) for blueprint in found]})


@router.get("/{name_or_id}", response_model=shapes.BlueprintAnswer)
async def get(name_or_id: str, caller: Reader, state: State) -> JsonAnswer:
    """The newest version of a name, or the one with this id."""
    return JsonAnswer(blueprint_to_json(await state.operations.get_blueprint(name_or_id)))


@router.delete("/{name_or_id}", status_code=204)
async def delete(name_or_id: str, caller: Admin, state: State) -> None:
    """Forget every version of a name, or the one with this id. For admins: others may be using it."""
    await state.operations.delete_blueprint(name_or_id)
