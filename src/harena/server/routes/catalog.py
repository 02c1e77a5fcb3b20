"""/v1/scenarios, /v1/scoring_contracts: kept by name and version; /v1/calibrations: whether scenarios are fit.

Answers are as in `harena.node.catalog` and `harena.node.calibrations`. A version is named NAME@2 in paths, a bare NAME
is the newest that is not archived.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from pydantic import Field

from harena.core.catalog import CatalogKind
from harena.core.errors import ValidationError
from harena.core.idempotency import IdempotencyKey
from harena.core.parameters import MOST_CURSOR, MOST_WORD
from harena.core.records.catalog import Archived, CalibrationJob, ScoringContract, StoredScenarios
from harena.server import catalog_shapes, shapes
from harena.server.answers import JsonAnswer
from harena.server.bodies import JsonRoute
from harena.server.bounds import MOST_SHORT, MOST_TEXT, Id, OptionalWord
from harena.server.routes.dependencies import Once, Reader, State, Writer
from harena.server.routes.given_files import with_files
from harena.server.state import ServerState
from harena.server.waiting import MOST_WAIT_SECONDS, first_of

router = APIRouter(prefix="/v1", tags=["catalog"], route_class=JsonRoute)

Filters = Annotated[
    list[Annotated[str, Field(max_length=MOST_TEXT)]],
    Query(max_length=MOST_SHORT, description="NAME=VALUE: those whose metadata say so; may be given repeatedly"),
]
Limit = Annotated[int, Query(ge=1, le=500)]
Cursor = Annotated[int | None, Query(ge=0, le=MOST_CURSOR)]


@router.post("/scenarios", status_code=201, response_model=StoredScenarios)
async def create_scenarios(
    asked: catalog_shapes.ScenariosBody,
    caller: Writer,
    state: State,
    key: Once,
) -> JsonAnswer:
    """Keep scenarios as the next version of their name; the same content and metadata give the version that there
    is."""
    given = {**_plain(asked, "name", "format", "grader", "metadata"), "scenarios": asked.scenarios}
    return await _created(state, caller.workspace, "scenarios", given, key)


@router.get("/scenarios", response_model=catalog_shapes.ScenariosPage)
async def list_scenarios(
    caller: Reader,
    state: State,
    name: OptionalWord = None,
    prefix: Annotated[str, Query(max_length=MOST_WORD)] = "",
    metadata: Filters = [],  # noqa: B006 - FastAPI copies it
    archived: bool = False,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> JsonAnswer:
    """Newest first: of each name the newest version that is not archived; with `name` every version of that one, with
    `archived` every version there is."""
    return await page_of(state, caller.workspace, "scenarios", name, prefix, metadata, archived, cursor, limit)


@router.get("/scenarios/{ref}", response_model=StoredScenarios)
async def get_scenarios(ref: Id, caller: Reader, state: State, content: bool = False) -> JsonAnswer:
    """A version, with its calibrations; with `content` what was stored."""
    operations = state.operations.in_workspace(caller.workspace)
    return JsonAnswer(await operations.get_catalog_entry("scenarios", ref, content=content))


@router.post("/scenarios/{ref}/archive", response_model=Archived)
async def archive_scenarios(ref: Id, caller: Writer, state: State) -> JsonAnswer:
    """Hide a version, or with a bare name every version. Jobs that name one go on as before."""
    return JsonAnswer(await state.operations.in_workspace(caller.workspace).archive_catalog_entry("scenarios", ref))


@router.delete("/scenarios/{ref}", status_code=204)
async def delete_scenarios(ref: Id, caller: Writer, state: State) -> Response:
    """Delete the version NAME@2; 409 while a benchmark job that has not ended refers to it. Its number is not used
    again, and results keep its digest."""
    await state.operations.in_workspace(caller.workspace).delete_catalog_entry("scenarios", ref)
    return Response(status_code=204)


@router.post("/scoring_contracts", status_code=201, response_model=ScoringContract)
async def create_contract(
    asked: catalog_shapes.ContractBody,
    caller: Writer,
    state: State,
    key: Once,
) -> JsonAnswer:
    """Keep a scoring contract as the next version of its name; the same content and metadata give the version that
    there is."""
    given = {**_plain(asked, "name", "metadata"), "contract": asked.contract}
    return await _created(state, caller.workspace, "scoring_contracts", given, key)


@router.get("/scoring_contracts", response_model=catalog_shapes.ContractsPage)
async def list_contracts(
    caller: Reader,
    state: State,
    name: OptionalWord = None,
    prefix: Annotated[str, Query(max_length=MOST_WORD)] = "",
    metadata: Filters = [],  # noqa: B006 - FastAPI copies it
    archived: bool = False,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> JsonAnswer:
    """Scoring contracts of your workspace that match, by name; the parameters are those of scenarios."""
    return await page_of(state, caller.workspace, "scoring_contracts", name, prefix, metadata, archived, cursor, limit)


@router.get("/scoring_contracts/{ref}", response_model=ScoringContract)
async def get_contract(ref: Id, caller: Reader, state: State) -> JsonAnswer:
    """A version, with the contract."""
    return JsonAnswer(await state.operations.in_workspace(caller.workspace).get_catalog_entry("scoring_contracts", ref))


@router.post("/scoring_contracts/{ref}/archive", response_model=Archived)
async def archive_contract(ref: Id, caller: Writer, state: State) -> JsonAnswer:
    """Hide a version, or with a bare name every version. What refers to one goes on as before."""
    return JsonAnswer(
        await state.operations.in_workspace(caller.workspace).archive_catalog_entry("scoring_contracts", ref)
    )


@router.delete("/scoring_contracts/{ref}", status_code=204)
async def delete_contract(ref: Id, caller: Writer, state: State) -> Response:
    """Delete a version of a scoring contract, on the terms of scenarios. What was stored with a reference to it cannot
    be run any more."""
    await state.operations.in_workspace(caller.workspace).delete_catalog_entry("scoring_contracts", ref)
    return Response(status_code=204)


@router.post("/calibrations", status_code=201, response_model=CalibrationJob)
async def calibrate(
    asked: catalog_shapes.CalibrationBody,
    caller: Writer,
    state: State,
    key: Once,
) -> JsonAnswer:
    """Start a calibration: a benchmark job of the same id that runs right answers, empty ones and every forgery."""
    state.check_not_draining()
    given: dict[str, Any] = _plain(asked, "format", "grader", "name", "gold_runs", "blueprint_id")
    given |= {"scenarios": asked.scenarios, "candidates": asked.candidates}
    given["config"] = asked.config.model_dump(exclude_unset=True)

    async def made() -> Mapping[str, Any]:
        async with with_files(given) as asking:
            operations = state.operations.in_workspace(caller.workspace)
            return (await operations.create_calibration(asking, key=key)).to_dict()

    made_once = await state.idempotency.once(caller.workspace, "calibrations", key, made, stored=True)
    return JsonAnswer(made_once, status_code=201)


@router.get("/calibrations/{calibration}", response_model=CalibrationJob)
async def get_calibration(
    calibration: Id,
    caller: Reader,
    state: State,
    wait_seconds: Annotated[float, Query(ge=0, le=MOST_WAIT_SECONDS)] = 0.0,
) -> JsonAnswer:
    """How far it is; with `wait_seconds` when it has ended, or after that time."""
    operations = state.operations.in_workspace(caller.workspace)
    if wait_seconds > 0:
        with state.followers.one():
            await first_of(state, operations.wait_calibration(calibration), wait_seconds)
    return JsonAnswer(await operations.get_calibration(calibration))


def _plain(asked: shapes.RequestBody, *fields: str) -> dict[str, Any]:
    return {name: getattr(asked, name) for name in fields}  # as they are: a copy of much takes a while


async def _created(
    state: ServerState, workspace: str, kind: CatalogKind, given: Mapping[str, Any], key: IdempotencyKey | None
) -> JsonAnswer:
    async def made() -> Mapping[str, Any]:
        async with with_files(given) as asking:
            operations = state.operations.in_workspace(workspace)
            return (await operations.create_catalog_entry(kind, asking)).to_dict()

    once = await state.idempotency.once(workspace, kind, key, made)
    return JsonAnswer(once, status_code=201)


async def page_of(
    state: ServerState,
    workspace: str,
    kind: CatalogKind,
    name: str | None,
    prefix: str,
    metadata: list[str],
    archived: bool,
    cursor: int | None,
    limit: int,
) -> JsonAnswer:
    """One page of a kind, as {<kind>, next_cursor}. Raises ValidationError."""
    wanted = {}
    for pair in metadata:
        key, equals, value = pair.partition("=")
        if not equals:
            raise ValidationError(f"metadata {pair!r}: write it as NAME=VALUE")
        wanted[key] = value
    page = await state.operations.in_workspace(workspace).list_catalog_entries(
        kind, name=name, prefix=prefix, metadata=wanted, archived=archived, cursor=cursor, limit=limit
    )
    return JsonAnswer({kind: [entry.to_dict() for entry in page.entries], "next_cursor": page.next_cursor})
