"""Definitions of benchmark jobs: parts of a request that are kept by name and version, and run as often as you like.

The verbs block; `benchmark_job_defs.aio` has the same ones to await.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from harena.core.checked import checked_text, checked_texts, quote
from harena.core.errors import ValidationError
from harena.core.records.benchmark_jobs import BenchmarkJob
from harena.core.records.blueprints import Blueprint
from harena.core.records.catalog import BenchmarkJobDef
from harena.sdk.catalog import archive_entry, create_entry, delete_entry, get_entry, list_entries
from harena.sdk.jobs import key_of
from harena.sdk.options import checked_blueprint
from harena.sdk.portal import current_portal
from harena.sdk.scenario_input import ScenarioInput, plain_sources
from harena.sdk.twins import Twin

if TYPE_CHECKING:
    from harena.core.requests import BenchmarkJobFields, EntryFields
    from harena.sdk.config_types import BenchmarkConfig

__all__ = ["BenchmarkJobDef", "aio", "archive", "create", "delete", "get", "list", "run"]


_Entries = list[BenchmarkJobDef]
_Grader = str | os.PathLike[str] | Mapping[str, Any]


async def _create(
    name: str,
    *,
    scenarios: ScenarioInput | None = None,
    candidates: ScenarioInput | None = None,
    format: str | None = None,  # noqa: A002 - the option's name, as on the command line
    grader: _Grader | None = None,
    blueprint_id: str | Blueprint | None = None,
    config: BenchmarkConfig | None = None,
    webhook: Mapping[str, Any] | None = None,
    job_name: str | None = None,
    metadata: Mapping[str, str] | None = None,
) -> BenchmarkJobDef:
    """Check everything, then keep it as the next version of `name`; the same content and metadata give the version that
    there is.

    The arguments are those of `benchmark_jobs.create`; what is left out is left to each run. Jobs are called
    `job_name`, or as the definition. Files are kept as what they hold, stored scenarios by their version. Raises
    ValidationError that lists every mistake.
    """
    request = _request(job_name, scenarios, candidates, format, grader, blueprint_id, config, webhook)
    entry: EntryFields = {
        "name": checked_text(name, "name"),
        "request": request,
        "metadata": checked_texts(metadata, "metadata"),
    }
    return await create_entry("benchmark_job_defs", entry, BenchmarkJobDef)


async def _run(
    definition: str | BenchmarkJobDef,
    *,
    name: str | None = None,
    scenarios: ScenarioInput | None = None,
    candidates: ScenarioInput | None = None,
    format: str | None = None,  # noqa: A002 - the option's name, as on the command line
    grader: _Grader | None = None,
    blueprint_id: str | Blueprint | None = None,
    config: BenchmarkConfig | None = None,
    webhook: Mapping[str, Any] | None = None,
    idempotency_key: str | None = None,
) -> BenchmarkJob:
    """Check everything, then start a job of a definition: NAME (its newest version), NAME@2, or what `get` gave.

    What is given replaces the definition's field, `config` key by key; None = as the definition says. The job's
    `definition` says which version it ran. Raises NotFoundError, and ValidationError that lists every mistake.
    """
    ref = definition.ref if isinstance(definition, BenchmarkJobDef) else checked_text(definition, "definition")
    request = _request(name, scenarios, candidates, format, grader, blueprint_id, config, webhook)
    request["definition"] = ref
    key = key_of(idempotency_key, request)
    operations = await current_portal().operations()
    return await operations.create_benchmark_job(request, key=key)


async def _get(ref: str, *, content: bool = False) -> BenchmarkJobDef:
    """The version NAME@2, or of NAME the newest that is not archived; with `content` also its `request`, without the
    webhook's secret. Raises NotFoundError."""
    return await get_entry("benchmark_job_defs", ref, BenchmarkJobDef, content=content)


async def _list(
    *,
    name: str | None = None,
    prefix: str = "",
    metadata: Mapping[str, str] | None = None,
    archived: bool = False,
    limit: int | None = None,
) -> _Entries:
    """The definitions that match, by name; see `harena.scenarios.list` for the arguments."""
    return await list_entries(
        "benchmark_job_defs",
        BenchmarkJobDef,
        name=name,
        prefix=prefix,
        metadata=metadata,
        archived=archived,
        limit=limit,
    )


async def _archive(ref: str | BenchmarkJobDef) -> int:
    """Hide the version NAME@2, or every version of NAME; how many were archived. NAME@2 can still be run. Raises
    NotFoundError."""
    return await archive_entry("benchmark_job_defs", ref)


def _request(
    name: str | None,
    scenarios: ScenarioInput | None,
    candidates: ScenarioInput | None,
    form: str | None,
    grader: _Grader | None,
    blueprint_id: str | Blueprint | None,
    config: BenchmarkConfig | None,
    webhook: Mapping[str, Any] | None,
) -> BenchmarkJobFields:
    """The fields that were given."""
    request = plain_sources([] if scenarios is None else scenarios, candidates=candidates, form=form, grader=grader)
    if scenarios is None:
        del request["scenarios"]
    if name is not None:
        request["name"] = checked_text(name, "name")
    if (blueprint := checked_blueprint(blueprint_id)) is not None:
        request["blueprint_id"] = blueprint
    for field, given in (("config", config), ("webhook", webhook)):
        if given is not None and not isinstance(given, Mapping):
            raise ValidationError(f"{field} must be a mapping (got {quote(type(given).__name__)})")
        if given is not None:
            request[field] = dict(given)
    return cast("BenchmarkJobFields", request)


async def _delete(ref: str | BenchmarkJobDef) -> None:
    """Delete the version NAME@2; its number is not used again, and results keep its digest. Raises NotFoundError, and
    ValidationError (reason IN_USE) while a benchmark job that has not ended refers to it."""
    await delete_entry("benchmark_job_defs", ref)


create = Twin(_create)
run = Twin(_run)
get = Twin(_get)
list = Twin(_list)  # noqa: A001 - the verb's name, as in `benchmark_job_defs.list()`
archive = Twin(_archive)
delete = Twin(_delete)


class _Awaitable:
    """Asynchronous versions of this module's functions."""

    create = create.aio
    run = run.aio
    get = get.aio
    list = list.aio
    archive = archive.aio
    delete = delete.aio


aio = _Awaitable()
