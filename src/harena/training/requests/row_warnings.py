"""What the rows of a job make doubtful about what it will measure: told when it is planned and when it is submitted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from harena.core.records.training_plans import RLPlan, SFTPlan
from harena.training.data.repeated_rows import evaluated_rows, met_rows
from harena.training.requests.references import ResolvedReferences

MOST_NAMED = 5
"""rows that one warning names"""
MOST_NAME = 60
"""characters of a row's name"""


@dataclass(frozen=True, slots=True)
class EvaluatedRow:
    """A row that is evaluated."""

    name: str
    id: str | None
    """None = the row says none"""
    asked: str | None
    """digest of what it asks; None = it asks nothing"""


def row_warnings(plan: SFTPlan | RLPlan, resolved: ResolvedReferences) -> Iterator[str]:
    """Say which rows are evaluated and learned from. Reads the data sets: not for the event loop. Raises
    ValidationError."""
    evaluated = _evaluated(plan, resolved)
    yield from _learned_too(plan, resolved, evaluated)


def _evaluated(plan: SFTPlan | RLPlan, resolved: ResolvedReferences) -> list[EvaluatedRow]:
    share = _share(plan)
    ref = resolved.find("config.eval_dataset_ref") if share is None else resolved.prompts
    if ref is None or ref.path is None or plan.eval_interval is None:
        return []
    most = plan.eval_max_rollouts if isinstance(plan, RLPlan) else None
    told = evaluated_rows(Path(ref.path), split=ref.split, share=share, most=most)
    return [EvaluatedRow(str(name), own_id, asked) for name, own_id, asked in told]


def _learned_too(
    plan: SFTPlan | RLPlan, resolved: ResolvedReferences, evaluated: Sequence[EvaluatedRow]
) -> Iterator[str]:
    if not evaluated:
        return
    where = "config.eval_dataset_ref" if _share(plan) is None else "config.held_out"
    ids, asked = set[str](), set[str]()
    for ref in resolved.learned_from:
        if ref.path is not None:
            met = met_rows(
                Path(ref.path),
                split=ref.split,
                share=_share(plan),
                ids=[row.id for row in evaluated if row.id is not None],
                asked=[row.asked for row in evaluated if row.asked is not None],
            )
            ids, asked = ids.union(met["ids"]), asked.union(met["asked"])
    of_all = f"of the {len(evaluated)} rows that are evaluated" if len(evaluated) > 1 else "row that is evaluated"
    if known := [row for row in evaluated if row.asked in asked]:
        yield (
            f"{where}: {len(known)} {of_all} {_are(known)} also learned from, with the same prompt ({_named(known)}): "
            "their results say how well they are remembered, and nothing about other problems; take each of them out "
            "of one side"
        )
    if called := [row for row in evaluated if row.id in ids and row.asked not in asked]:
        yield (
            f"{where}: {len(called)} {of_all} {'has' if len(called) == 1 else 'have'} the id of a row that is learned "
            f"from, and another prompt ({_named(called)}): if the ids stand for the same problems, take each of them "
            "out of one side"
        )


def _share(plan: SFTPlan | RLPlan) -> float | None:
    """The share of the prompts that is held out; None = none is."""
    return plan.held_out if isinstance(plan, RLPlan) else None


def _are(rows: Sequence[EvaluatedRow]) -> str:
    return "is" if len(rows) == 1 else "are"


def _named(rows: Sequence[EvaluatedRow]) -> str:
    more = [f"and {len(rows) - MOST_NAMED} more"] if len(rows) > MOST_NAMED else []
    return ", ".join([*(row.name[:MOST_NAME] for row in rows[:MOST_NAMED]), *more])
