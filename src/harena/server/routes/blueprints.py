"""/v1/blueprints: recipes for sandboxes. Those of another workspace do not exist; the built-in ones are everybody's."""

from __future__ import annotations

from fastapi import Response

from harena.core.daemons import read_daemons
from harena.core.operations import blueprints as table
from harena.core.records.blueprints import Blueprint
from harena.core.records.sandboxes import Limits
from harena.core.threads import BODIES
from harena.server import shapes
from harena.server.answers import JsonAnswer
from harena.server.bounds import Id
from harena.server.contents import decoded_files
from harena.server.idempotency import Refindable
from harena.server.networks import gateways, policy
from harena.server.routes.dependencies import Once, Reader, State, Writer
from harena.server.table_routes import TableRoutes

routes = TableRoutes(table.OPERATIONS)


@routes.by_hand(table.CREATE)
async def create(asked: shapes.BlueprintBody, caller: Writer, state: State, key: Once) -> Response:
    """Install the packages (wheels only) and record the recipe; a name that exists gets its next version."""
    state.check_not_draining()
    files = await decoded_files(asked.files)
    operations = state.operations.in_workspace(caller.workspace)
    network, ways = policy(asked.network), gateways(asked.gateways)
    daemons = read_daemons([daemon.model_dump() for daemon in asked.daemons])

    async def made() -> Blueprint:
        return await operations.create_blueprint(
            asked.name,
            image=asked.image,
            profile=asked.profile,
            packages=asked.packages,
            files=files,
            env=asked.env,
            warm=asked.warm,
            network=network,
            gateways=ways,
            daemons=daemons,
            limits=Limits(**asked.limits.model_dump()),
            recipe=asked.recipe,
            log=asked.log,
        )

    known: Refindable[Blueprint] = Refindable(lambda blueprint: blueprint.id, operations.get_blueprint)
    return await _answer(await state.idempotency.once(caller.workspace, "blueprints", key, made, known), 201)


@routes.by_hand(table.GET)
async def get(name_or_id: Id, caller: Reader, state: State) -> Response:
    """The newest version of a name, or the one with this id; with the contents of its files."""
    return await _answer(await state.operations.in_workspace(caller.workspace).get_blueprint(name_or_id), 200)


async def _answer(blueprint: Blueprint, status: int) -> Response:
    """Contents are read and put into words in the workspace's threads."""
    if not blueprint.files:
        return JsonAnswer(blueprint, status_code=status)
    return JsonAnswer(await BODIES.run(blueprint.to_dict), status_code=status)
