"""Training data out of scored candidates, for the package's face: planned and checked without opening a node."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harena.scoring.verified_data.selection import Selection


def checked_rule(asked: Mapping[str, Any]) -> tuple[Any, list[str]]:
    """The rule, and every mistake in it as a sentence."""
    from harena.scoring.verified_data import rule

    return rule.checked_rule(asked)


def refuse(mistakes: list[str]) -> None:
    """Raises ValidationError with all of them, if there are any."""
    from harena.scoring.verified_data import rule

    rule.refuse(mistakes)


def planned_selection(
    made_of: Mapping[str, Any],
    *,
    rule: Any,
    template: str | None,
    contract: Callable[[str], Mapping[str, Any]],
) -> Selection:
    """What will be chosen from; `made_of`: scenarios, candidates, format and grader of a benchmark job's request.
    `contract` gives {ref, contract} of a stored scoring contract.

    Raises ValidationError (the files' own among them) with every mistake.
    """
    from harena.scoring.contracts.stored import StoredContract, load_contract
    from harena.scoring.formats import import_scenarios
    from harena.scoring.reading import Document
    from harena.scoring.verified_data.selection import Selection

    def looked_up(reference: str) -> StoredContract:
        entry = contract(reference)
        return StoredContract(entry["ref"], load_contract(Document("contract", dict(entry["contract"]))))

    batch = import_scenarios(
        made_of["scenarios"],
        candidates=made_of.get("candidates"),
        form=made_of.get("format"),
        grader=made_of.get("grader"),
        contracts=looked_up,
    )
    return Selection(batch, rule, template)


def compared(data: Iterable[bytes], lineage: Iterable[bytes]) -> dict[str, Any]:
    """Whether training data and its lineage belong together; see `harena.scoring.verified_data.lineage`."""
    from harena.scoring.verified_data import lineage as rules

    return rules.compared(data, lineage)
