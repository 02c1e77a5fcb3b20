"""/v1/blueprints: recipes for sandboxes. Those of another workspace do not exist; the built-in ones are everybody's."""

from __future__ import annotations

from fastapi import APIRouter

from harena.core.models import Blueprint
from harena.core.wire import blueprint_to_json
from harena.server import shapes
from harena.server.answers import JsonAnswer
from harena.server.bodies import JsonRoute
from harena.server.bounds import MOST_PAGE, Id
from harena.server.contents import decoded_files
from harena.server.routes.dependencies import Admin, Once, Reader, State, Writer

router = APIRouter(prefix="/v1/blueprints", tags=["blueprints"], route_class=JsonRoute)


@router.post("", status_code=201, response_model=shapes.BlueprintAnswer)
async def create(asked: shapes.BlueprintBody, caller: Writer, state: State, key: Once) -> JsonAnswer:
    """Install the packages (wheels only) and record the recipe; a name that exists gets its next version."""
    state.check_not_draining()
    files = await decoded_files(asked.files)

    async def made() -> Blueprint:
        return await state.operations.in_workspace(caller.workspace).create_blueprint(
            asked.name, image=asked.image, packages=asked.packages, files=files, env=asked.env, warm=asked.warm
        )

    blueprint = await state.idempotency.once(caller.workspace, "blueprints", key, made)
    return JsonAnswer(blueprint_to_json(blueprint), status_code=201)


@router.get("", response_model=shapes.BlueprintsAnswer)
async def list_blueprints(caller: Reader, state: State) -> JsonAnswer:
    """The blueprints of your workspace, newest first; of more than 1000 the newest."""
    found = await state.operations.in_workspace(caller.workspace).list_blueprints()
    return JsonAnswer({"blueprints": [blueprint_to_json(blueprint) for blueprint in found[:MOST_PAGE]]})


@router.get("/{name_or_id}", response_model=shapes.BlueprintAnswer)
async def get(name_or_id: Id, caller: Reader, state: State) -> JsonAnswer:
    """The newest version of a name, or the one with this id."""
    return JsonAnswer(
        blueprint_to_json(await state.operations.in_workspace(caller.workspace).get_blueprint(name_or_id))
    )


@router.delete("/{name_or_id}", status_code=204)
async def delete(name_or_id: Id, caller: Admin, state: State) -> None:
    """Forget every version of a name, or the one with this id. For admins: others may be using it."""
    await state.operations.in_workspace(caller.workspace).delete_blueprint(name_or_id)
