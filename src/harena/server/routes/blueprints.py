"""/v1/blueprints: recipes for sandboxes. Those of another workspace do not exist; the built-in ones are everybody's."""

from __future__ import annotations

from dataclasses import replace

from fastapi import APIRouter, Response

from harena.core.models import Blueprint
from harena.core.threads import BODIES
from harena.core.wire import blueprint_to_json, summary_to_json
from harena.server import shapes
from harena.server.answers import JsonAnswer, listed
from harena.server.bodies import IN_THREAD_BYTES, JsonRoute
from harena.server.bounds import MOST_PAGE, Id
from harena.server.contents import decoded_files
from harena.server.routes.dependencies import Admin, Once, Reader, State, Writer

router = APIRouter(prefix="/v1/blueprints", tags=["blueprints"], route_class=JsonRoute)


@router.post("", status_code=201, response_model=shapes.BlueprintAnswer)
async def create(asked: shapes.BlueprintBody, caller: Writer, state: State, key: Once) -> Response:
    """Install the packages (wheels only) and record the recipe; a name that exists gets its next version."""
    state.check_not_draining()
    files = await decoded_files(asked.files)

    operations = state.operations.in_workspace(caller.workspace)

    async def made() -> str:  # what is remembered for the key is no content of a file
        blueprint = await operations.create_blueprint(
            asked.name, image=asked.image, packages=asked.packages, files=files, env=asked.env, warm=asked.warm
        )
        return blueprint.id

    blueprint_id = await state.idempotency.once(caller.workspace, "blueprints", key, made)
    return await _answer(await operations.get_blueprint(blueprint_id), 201)


@router.get("", response_model=shapes.BlueprintsAnswer)
async def list_blueprints(caller: Reader, state: State) -> Response:
    """The blueprints of your workspace, newest first; of more than 1000 the newest. Without the contents of files."""
    found = await state.operations.in_workspace(caller.workspace).list_blueprints()
    return await listed("blueprints", found[:MOST_PAGE], summary_to_json)


@router.get("/{name_or_id}", response_model=shapes.BlueprintAnswer)
async def get(name_or_id: Id, caller: Reader, state: State) -> Response:
    """The newest version of a name, or the one with this id; with the contents of its files."""
    return await _answer(await state.operations.in_workspace(caller.workspace).get_blueprint(name_or_id), 200)


@router.delete("/{name_or_id}", status_code=204)
async def delete(name_or_id: Id, caller: Admin, state: State) -> None:
    """Forget every version of a name, or the one with this id. For admins: others may be using it."""
    await state.operations.in_workspace(caller.workspace).delete_blueprint(name_or_id)


async def _answer(blueprint: Blueprint, status: int) -> Response:
    """Contents are read here, and large ones put into words in the workspace's threads."""
    whole = replace(blueprint, files=dict(blueprint.files))
    if blueprint.file_bytes <= IN_THREAD_BYTES:
        return JsonAnswer(blueprint_to_json(whole), status_code=status)
    return await BODIES.run(lambda: JsonAnswer(blueprint_to_json(whole), status_code=status))
