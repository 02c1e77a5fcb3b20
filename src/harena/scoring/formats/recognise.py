"""Which data format a source has: told by the shape of its first row, and said why where two fit or none does."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from harena.core.near_names import nearest_name
from harena.scoring.explain import guess
from harena.scoring.formats.contests import APPS, CODECONTESTS, COMMONOJ, VERIFICATION_INFO
from harena.scoring.formats.evalplus import FAMILY as EVALPLUS
from harena.scoring.formats.graders import GRADER, REQUEST, RFT
from harena.scoring.formats.gsm8k import FAMILY as GSM8K
from harena.scoring.formats.humaneval import FAMILY as HUMANEVAL
from harena.scoring.formats.livecodebench import FAMILY as LIVECODEBENCH
from harena.scoring.formats.mbpp import FAMILY as MBPP
from harena.scoring.formats.prompt_rows import FAMILY as PROMPTS
from harena.scoring.formats.prompt_rows import is_prompt_row
from harena.scoring.formats.rows import Row, refusal
from harena.scoring.formats.task import Family, Task
from harena.scoring.formats.tested_prompts import FAMILY as TESTED_PROMPTS


def _read_task(row: Row) -> Task:
    """Read a task's folder by a dozen modules, which are not loaded to know a row."""
    from harena.scoring.formats.harbor import read

    return read(row)


SCENARIOS = "scenarios"
"""harena's own format"""
HARBOR = Family(
    name="harbor",
    needs="a folder with task.toml (or task.yaml), or of such folders",
    fits=lambda _: False,  # a folder is no row: see `recognised`
    read=_read_task,
)
FAMILIES: tuple[Family, ...] = (
    HUMANEVAL,
    EVALPLUS,
    MBPP,
    APPS,
    LIVECODEBENCH,
    CODECONTESTS,
    COMMONOJ,
    VERIFICATION_INFO,
    RFT,
    REQUEST,
    HARBOR,
    GSM8K,
    TESTED_PROMPTS,
    PROMPTS,
)
FORMATS: tuple[str, ...] = (SCENARIOS, *(family.name for family in FAMILIES))

_OWN_FIELDS = frozenset(
    {"scenarios", "problems", "candidate", "candidate_solution", "scoring", "scoring_contract", "scenario_id"}
)
"""fields of harena's own format that no data set's rows have"""
_NAMES_ONLY = re.compile(r"\w+( \(or \w+\))?(, \w+( \(or \w+\))?)*")
"""what a format needs, where that is told by names of fields alone"""
_KNOWN_FIELDS = frozenset(word for family in FAMILIES for word in re.findall(r"\w+", family.needs))
"""names of fields, and the words between them, which are no field of any row"""
_ALIKE = 0.8
_MOST_COLUMNS = 50
"""fields of a row for which a name is looked for that was perhaps meant"""


def family_named(name: str) -> Family:
    """The family of a `--format`. Raises ScenarioFileError."""
    for family in FAMILIES:
        if family.name == name:
            return family
    raise refusal("format", None, f"there is no format {guess(name, FORMATS)}; there are {', '.join(FORMATS)}")


def is_own(fields: Any) -> bool:
    """A row, a header or a whole file of harena's own format."""
    return isinstance(fields, Mapping) and not _OWN_FIELDS.isdisjoint(map(str, fields)) and not is_prompt_row(fields)


def recognised(row: Row) -> Family:
    """The one family that the row fits. Raises ScenarioFileError."""
    if row.folder is not None:
        return HARBOR
    if PROMPTS.fits(row.fields):  # whoever says `scoring` has said by what it is judged
        return PROMPTS
    fitting = [family for family in FAMILIES if family.fits(row.fields)]
    if GSM8K in fitting and GRADER not in row.fields:  # a conversation with a right answer, which needs no grader
        fitting = [family for family in fitting if family is not RFT]
    if len(fitting) == 1:
        return fitting[0]
    place = row.line, "" if row.line is not None else f"[{row.number}]"
    if not fitting and (meant := misspelt_field(row.fields)) is not None:
        raise refusal(row.file, place[0], meant, place[1])
    has = ", ".join(sorted(map(str, row.fields))[:20]) or "no fields"
    if fitting:
        fits = "; and ".join(f"{family.name} ({family.needs})" for family in fitting)
        advice = "say which it is: --format " + " or --format ".join(family.name for family in fitting)
        raise refusal(row.file, place[0], f"it has {has}, and fits {fits}; {advice}", place[1])
    needed = "\n      ".join(f"{family.name}: {family.needs}" for family in FAMILIES)
    message = f"no data format is like this; it has {has}{_nearest(row.fields)}; there are"
    message += f"\n      {SCENARIOS}: candidate, scoring\n      {needed}{_compared_in_training(row.fields)}"
    raise refusal(row.file, place[0], message, place[1])


def misspelt_field(fields: Mapping[str, Any]) -> str | None:
    """The advice for a row that would be of a known format if one of its fields had a name that is almost its own; None
    where there is no such field."""
    others = {name for _, name, missing in _near_formats(fields) if len(missing) == 1}
    for name in list(map(str, fields))[:_MOST_COLUMNS]:
        wanted = nearest_name(name, sorted(_KNOWN_FIELDS - fields.keys()), cutoff=_ALIKE)
        if wanted is None:
            continue
        renamed = {wanted if str(column) == name else column: value for column, value in fields.items()}
        fitting = [family for family in FAMILIES if family.fits(renamed)]
        if len(fitting) == 1 and others <= {fitting[0].name}:
            return f"`{name}`: did you mean `{wanted}`? With it the row is of the format {fitting[0].name}"
    return None


def _compared_in_training(fields: Mapping[str, Any]) -> str:
    """Why rows that training takes are none here."""
    if not any(fields.get(name) is not None for name in ("answer", "solution", "expected_output", "target", "output")):
        return ""
    return (
        "\n      A row of a prompt and its right answer has nothing that another answer is scored by: in training a "
        "reward recipe (math_v1, exact_match_v1) compares them; here give it `scoring`, as {type: string_check, "
        "reference: ...}"
    )


def _nearest(fields: Mapping[str, Any]) -> str:
    """The format of which a row has the greatest share, at least half, and which of its fields are missing."""
    near = _near_formats(fields)
    return f", which is nearest to {near[0][1]} without {', '.join(near[0][2])}" if near else ""


def _near_formats(fields: Mapping[str, Any]) -> list[tuple[float, str, list[str]]]:
    """(share of its fields that is missing, format, these fields), the nearest first; of which half is there."""
    found: list[tuple[float, str, list[str]]] = []
    for family in FAMILIES:
        if not _NAMES_ONLY.fullmatch(family.needs):
            continue
        wanted = [part.removesuffix(")").split(" (or ") for part in family.needs.split(", ")]
        missing = [" or ".join(names) for names in wanted if fields.keys().isdisjoint(names)]
        if missing and 2 * len(missing) <= len(wanted):
            found.append((len(missing) / len(wanted), family.name, missing))
    return sorted(found)
