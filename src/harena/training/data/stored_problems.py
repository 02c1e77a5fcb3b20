"""What a row that names a stored scenario or problem is judged by: `scoring: {scenario: NAME@2, id: add}`.

Stored scenarios are kept as they were written, in harena's own format or as a data set; the same readers as everywhere
say what an entry of either is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from harena.core.errors import ValidationError
from harena.core.near_names import cut, nearest_name
from harena.scoring.formats.prompt_rows import beside_of
from harena.training.data.imported_rows import OWN_FORMAT, imported, problems_in


def is_reference(scoring: Any) -> bool:
    """It names what is stored, and is no contract itself."""
    return isinstance(scoring, Mapping) and "type" not in scoring and bool({"contract", "scenario"} & set(scoring))


def reference_key(scoring: Mapping[str, Any]) -> str:
    """What tells two references apart."""
    return f"{scoring['contract']}" if "contract" in scoring else f"{scoring['scenario']}#{scoring.get('id', '')}"


def prompts_of(content: Any, *, form: str, grader: Any = None) -> Iterator[Mapping[str, Any]]:
    """A prompt row for each problem of stored scenarios; `form` and `grader` as they are stored. Raises ValueError for
    what cannot be a prompt."""
    rows = problems_in(content) if form == OWN_FORMAT else None
    for row in rows if rows is not None else content:
        yield imported(_with_grader(row, form, grader), form=None if form == OWN_FORMAT else form)


def scored_as(content: Any, wanted: str, ref: str, *, form: str, grader: Any = None) -> dict[str, Any]:
    """{scoring, program} of the problem, or of the scenario, that has this id; `scoring` may name a stored contract.
    Raises ValidationError."""
    if form == OWN_FORMAT:
        return _of_own(content, wanted, ref)
    ids = []
    for number, row in enumerate(content):
        found = _id_of(row, number)
        if found == wanted:
            try:
                made = imported(_with_grader(row, form, grader), form=form)
            except ValueError as error:
                raise ValidationError(f"{ref}, {wanted!r}: {error}") from None
            return {name: made[name] for name in ("scoring", "program") if name in made}
        ids.append(found)
    raise _unknown(ref, wanted, ids)


def _id_of(row: Any, number: int) -> str:
    from harena.scoring.formats.rows import FieldError, numbered, row_name

    try:
        return row_name(row if isinstance(row, Mapping) else {}, numbered(number), "name")
    except FieldError:
        return numbered(number)


def _with_grader(row: Any, form: str, grader: Any) -> Any:
    """What is stored was checked: a grader that is kept is one that the format takes."""
    if grader is None or form == OWN_FORMAT:
        return row
    from harena.scoring.formats.graders import GRADER, grader_in

    return {**row, GRADER: grader_in(grader, "grader")}


def _of_own(content: Any, wanted: str, ref: str) -> dict[str, Any]:
    problems: Sequence[Any] = content.get("problems") or () if isinstance(content, Mapping) else ()
    rows: Sequence[Any] = content.get("scenarios") or () if isinstance(content, Mapping) else content
    known = {str(entry.get("id")): entry for entry in problems}
    if wanted in known:
        return _fields(known[wanted], {})
    for row in rows:
        if wanted in (row.get("id"), row.get("scenario_id")):
            problem = row.get("problem") or {}
            return _fields(known[problem] if isinstance(problem, str) else problem, row)
    named = [name for row in rows for name in (row.get("id"), row.get("scenario_id")) if isinstance(name, str)]
    raise _unknown(ref, wanted, [*known, *named])


def _fields(problem: Mapping[str, Any], row: Mapping[str, Any]) -> dict[str, Any]:
    scoring = row.get("scoring") or row.get("scoring_contract") or problem.get("scoring")
    return {"scoring": dict(scoring or {}), "program": beside_of(problem, row)}


def _unknown(ref: str, wanted: str, ids: Sequence[str]) -> ValidationError:
    near = nearest_name(wanted, ids)
    advice = f"; did you mean {near!r}?" if near is not None else ""
    return ValidationError(f"{ref} holds neither a problem nor a scenario with the id {cut(wanted)!r}{advice}")
