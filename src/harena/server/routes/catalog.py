"""/v1/scenarios, /v1/scoring_contracts, /v1/benchmark_job_defs: kept by name and version; /v1/calibrations: whether
scenarios are fit.

A version is named NAME@2 in paths, a bare NAME is the newest that is not archived. How a definition and what is given
to a run become one request is said by `harena.jobs.definitions`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, cast

from fastapi import Request

from harena.core.catalog import CatalogKind
from harena.core.operations import catalog as table
from harena.core.ports import CatalogOperations
from harena.core.records.benchmark_jobs import BenchmarkJob
from harena.core.records.catalog import CatalogEntry, CatalogPage
from harena.core.requests import BenchmarkJobFields, EntryFields
from harena.server.answers import JsonAnswer
from harena.server.bounds import Id, OnceHeader
from harena.server.catalog_shapes import CalibrationBody, ContractBody, DefinitionBody, JobFieldsBody, ScenariosBody
from harena.server.idempotency import Refindable
from harena.server.routes.dependencies import Once, State, Writer, fingerprinted
from harena.server.routes.given_files import with_files
from harena.server.shapes import RequestBody
from harena.server.table_routes import JsonBody, TableRoutes


def _fields(asked: RequestBody) -> dict[str, Any]:
    # as they are: a copy of much takes a while
    return {name: getattr(asked, name) for name in type(asked).model_fields}


def _calibration(asked: CalibrationBody) -> Mapping[str, Any]:
    return {**_fields(asked), "config": asked.config.model_dump(exclude_unset=True)}


def _page(kind: CatalogKind, page: CatalogPage) -> Mapping[str, Any]:
    return {kind: [entry.to_dict() for entry in page.entries], "next_cursor": page.next_cursor}


def _find_again(kind: CatalogKind, operations: CatalogOperations) -> Refindable[CatalogEntry]:
    async def again(ref: str) -> CatalogEntry:
        return (await operations.get_catalog_entry(kind, ref)).as_created()

    return Refindable(lambda entry: entry.ref, again)


routes = TableRoutes(
    table.OPERATIONS,
    {
        table.ENTRIES_OF["scenarios"].create: JsonBody(ScenariosBody, _fields),
        table.ENTRIES_OF["scoring_contracts"].create: JsonBody(ContractBody, _fields),
        table.CALIBRATE: JsonBody(CalibrationBody, _calibration),
    },
    {kept.list: partial(_page, kind) for kind, kept in table.ENTRIES_OF.items()},
    {kept.create: partial(_find_again, kind) for kind, kept in table.ENTRIES_OF.items()},
)


@routes.by_hand(table.ENTRIES_OF["benchmark_job_defs"].create)
async def create(asked: DefinitionBody, caller: Writer, state: State, key: Once) -> JsonAnswer:
    """Keep a definition as the next version of its name; the same content and metadata give the version that there
    is."""
    operations = state.operations.in_workspace(caller.workspace)

    async def made() -> CatalogEntry:
        async with with_files(_given_fields(asked.request)) as fields:
            entry: EntryFields = {"name": asked.name, "request": fields, "metadata": asked.metadata}
            return await operations.create_catalog_entry("benchmark_job_defs", entry)

    known = _find_again("benchmark_job_defs", operations)
    entry = await state.idempotency.once(caller.workspace, "benchmark_job_defs", key, made, known)
    return JsonAnswer(entry, status_code=201)


@routes.by_hand(table.RUN)
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

    async def made() -> BenchmarkJob:
        async with with_files(_given_fields(asked)) as overrides:
            return await jobs.create_benchmark_job(
                cast("BenchmarkJobFields", {**overrides, "definition": ref}), key=key
            )

    job = await state.idempotency.once(caller.workspace, "benchmark_jobs", key, made, known=None)
    return JsonAnswer(job, status_code=201)


def _given_fields(asked: JobFieldsBody) -> dict[str, Any]:
    """The fields that were given, files as they came."""
    fields = {field: getattr(asked, field) for field in asked.model_fields_set}
    if asked.config is not None:
        fields["config"] = asked.config.model_dump(exclude_unset=True)
    if asked.webhook is not None:
        fields["webhook"] = asked.webhook.model_dump()
    return fields
