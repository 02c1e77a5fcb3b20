"""/v1/benchmark_job_defs: parts of job requests that are kept by name and version, and run with overrides.

Answers are as in `harena.node.catalog`; how a definition and what is given to a run become one request is said by
`harena.jobs.definitions`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request, Response
from pydantic import Field

from harena.core.parameters import MOST_WORD
from harena.core.records.benchmark_jobs import BenchmarkJob
from harena.core.records.catalog import Archived, BenchmarkJobDef
from harena.jobs.models import JobConfig, JobWebhook
from harena.server import shapes
from harena.server.answers import JsonAnswer
from harena.server.bodies import JsonRoute
from harena.server.bounds import MOST_PAGE, Id, Notes, OnceHeader, OptionalWord, Word
from harena.server.bounds import Mapping as JsonMapping
from harena.server.catalog_shapes import Name, ScenarioContent
from harena.server.routes.catalog import Cursor, Filters, Limit, page_of
from harena.server.routes.dependencies import Once, Reader, State, Writer, fingerprinted
from harena.server.routes.given_files import with_files

router = APIRouter(prefix="/v1/benchmark_job_defs", tags=["benchmark job defs"], route_class=JsonRoute)


class JobFieldsBody(shapes.RequestBody):
    """Any fields of a benchmark job's request; what is missing is left open, and null is a value."""

    name: Word | None = Field(None, min_length=1, max_length=200)
    """name of the job; without one, the definition's name"""
    scenarios: ScenarioContent | None = None
    candidates: Annotated[Literal["oracle", "nop"] | ScenarioContent | None, Field(union_mode="left_to_right")] = None
    format: Word | None = Field(None, min_length=1)
    grader: JsonMapping | None = None
    blueprint_id: Word | None = Field(None, min_length=1)
    config: JobConfig | None = None
    webhook: JobWebhook | None = None


class DefinitionBody(shapes.RequestBody):
    """A definition to keep as a version of a name."""

    name: Name
    request: JobFieldsBody
    metadata: Notes = {}


class DefinitionsPage(shapes.Answer):
    """One page of definitions, newest first."""

    benchmark_job_defs: list[BenchmarkJobDef] = Field(max_length=MOST_PAGE)
    next_cursor: int | None


@router.post("", status_code=201, response_model=BenchmarkJobDef)
async def create(asked: DefinitionBody, caller: Writer, state: State, key: Once) -> JsonAnswer:
    """Keep a definition as the next version of its name; the same content and metadata give the version that there
    is."""
    operations = state.operations.in_workspace(caller.workspace)

    async def made() -> Mapping[str, Any]:
        async with with_files(_given(asked.request)) as fields:
            entry = {"name": asked.name, "request": fields, "metadata": asked.metadata}
            return (await operations.create_catalog_entry("benchmark_job_defs", entry)).to_dict()

    return JsonAnswer(await state.idempotency.once(caller.workspace, "benchmark_job_defs", key, made), status_code=201)


@router.get("", response_model=DefinitionsPage)
async def list_definitions(
    caller: Reader,
    state: State,
    name: OptionalWord = None,
    prefix: Annotated[str, Query(max_length=MOST_WORD)] = "",
    metadata: Filters = [],  # noqa: B006 - FastAPI copies it
    archived: bool = False,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> JsonAnswer:
    """Definitions of your workspace that match, by name; the parameters are those of scenarios."""
    return await page_of(state, caller.workspace, "benchmark_job_defs", name, prefix, metadata, archived, cursor, limit)


@router.get("/{ref}", response_model=BenchmarkJobDef)
async def get(ref: Id, caller: Reader, state: State, content: Annotated[bool, Query()] = False) -> JsonAnswer:
    """A version; with `content` its `request`, without the webhook's secret."""
    operations = state.operations.in_workspace(caller.workspace)
    return JsonAnswer(await operations.get_catalog_entry("benchmark_job_defs", ref, content=content))


@router.post("/{ref}/archive", response_model=Archived)
async def archive(ref: Id, caller: Writer, state: State) -> JsonAnswer:
    """Hide a version, or with a bare name every version. It can still be run by NAME@2."""
    operations = state.operations.in_workspace(caller.workspace)
    return JsonAnswer(await operations.archive_catalog_entry("benchmark_job_defs", ref))


@router.delete("/{ref}", status_code=204)
async def delete(ref: Id, caller: Writer, state: State) -> Response:
    """Delete the version NAME@2. Jobs that were made of it have all that they need."""
    await state.operations.in_workspace(caller.workspace).delete_catalog_entry("benchmark_job_defs", ref)
    return Response(status_code=204)


@router.post("/{ref}/run", status_code=201, response_model=BenchmarkJob)
async def run(
    ref: Id,
    asked: JobFieldsBody,
    request: Request,
    caller: Writer,
    state: State,
    idempotency_key: OnceHeader = None,
) -> JsonAnswer:
    """Check everything, then start a benchmark job of a definition and the fields that are given here."""
    state.check_not_draining()
    # the definition is a part of what is asked for, and not of the body
    body = ref.encode() + b"\n" + await request.body()
    key = None if idempotency_key is None else await fingerprinted(idempotency_key, body)
    jobs = state.operations.in_workspace(caller.workspace)

    async def made() -> Mapping[str, Any]:
        async with with_files(_given(asked)) as overrides:
            job = await jobs.create_benchmark_job({**overrides, "definition": ref}, key=key)
            return job.to_dict()

    return JsonAnswer(await state.idempotency.once(caller.workspace, "benchmark_jobs", key, made), status_code=201)


def _given(asked: JobFieldsBody) -> dict[str, Any]:
    """The fields that were given, files as they came."""
    fields = {field: getattr(asked, field) for field in asked.model_fields_set}
    if asked.config is not None:
        fields["config"] = asked.config.model_dump(exclude_unset=True)
    if asked.webhook is not None:
        fields["webhook"] = asked.webhook.model_dump()
    return fields
