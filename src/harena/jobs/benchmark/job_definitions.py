"""Definitions of benchmark jobs on their way into the catalogue, and from it into jobs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from harena.core.catalog import is_reference, parse_reference, referred
from harena.core.errors import ValidationError
from harena.core.rows import check_json
from harena.jobs.benchmark.job_scenarios import read_batch, sources_to_store
from harena.jobs.definitions import checked_fields, merged, shown_webhook

if TYPE_CHECKING:
    from harena.jobs.catalog import Catalog, CatalogReader

SOURCES = ("scenarios", "candidates", "format", "grader")
_KEPT = "a definition is kept as JSON"


def definition_to_store(request: object, reader: CatalogReader) -> tuple[dict[str, Any], int | None]:
    """(the fields as they are kept, the number of problems or None where there are no scenarios).

    Files are kept as what they hold, and stored scenarios and contracts by their versions. Raises ValidationError and
    ScenarioFileError with every mistake, NotFoundError for what is not stored.
    """
    fields = checked_fields(request)
    sources = {field: fields.get(field) for field in SOURCES}
    problems = _checked_problems(sources, reader) if sources["scenarios"] is not None else None
    held = sources_to_store(sources, reader, _KEPT)
    for field, source in held.items():
        check_json(source, field, finite=True)  # it is answered as JSON
    return {**fields, **{field: held[field] for field in SOURCES if field in fields}}, problems


def outline(kept: Mapping[str, Any], problems: int | None) -> dict[str, Any]:
    """What lists show of a definition."""
    return {
        "fields": sorted(kept),
        "problems": problems,
        "blueprint_id": kept.get("blueprint_id"),
        "config": kept.get("config") or {},
        "webhook": shown_webhook(kept["webhook"]) if kept.get("webhook") is not None else None,
    }


async def request_of_definition(
    catalog: Catalog, workspace: str, request: Mapping[str, Any]
) -> tuple[Mapping[str, Any], dict[str, str] | None]:
    """(the whole request, {ref, digest} of the definition that it names); a request that names none is whole.

    Raises NotFoundError, ValidationError.
    """
    if request.get("definition") is None:
        return {field: given for field, given in request.items() if field != "definition"}, None
    reference = request["definition"]
    try:
        parse_reference(reference)
    except ValidationError as error:
        raise ValidationError(f"this benchmark job cannot run:\n  definition: {error}") from None
    definition = await catalog.definition(workspace, reference)
    overrides = {field: given for field, given in request.items() if field != "definition"}
    whole = merged(definition.request, overrides, name=definition.name)
    return whole, {"ref": definition.version, "digest": definition.digest}


def _checked_problems(sources: Mapping[str, Any], reader: CatalogReader) -> int:
    """How many problems the scenarios are of. Candidates may come with each run; those that are here are checked."""
    from harena.scoring.formats.importing import import_problems

    if sources["candidates"] is not None:
        return len({scenario.problem_id or scenario.id for scenario in read_batch(sources, reader).scenarios})
    given = sources
    if is_reference(sources["scenarios"]):
        given = {**sources, **reader.scenarios(referred(sources["scenarios"])).sources}
    return import_problems(
        given["scenarios"], form=given["format"], grader=given["grader"], contracts=reader.contract
    ).problems
