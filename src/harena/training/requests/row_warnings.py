"""What the rows of a job make doubtful about what it will measure: told when it is planned and when it is submitted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from harena.core.records.training_plans import RLPlan, SFTPlan
from harena.training.data.repeated_rows import evaluated_rows, met_rows
from harena.training.requests.references import ResolvedReferences

LEAST_EVALUATED = 8
"""rows of an evaluation, below which it is warned of"""
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


@dataclass(frozen=True, slots=True)
class MetRows:
    """What rows that are learned from have of those that are evaluated."""

    ids: frozenset[str]
    asked: frozenset[str]
    rows: int
    """number of rows that are learned from"""


def row_warnings(plan: SFTPlan | RLPlan, resolved: ResolvedReferences) -> Iterator[str]:
    """Say which rows are evaluated and learned from, and where there are too few of either. Reads the data sets: not
    for the event loop. Raises ValidationError."""
    evaluated = _evaluated(plan, resolved)
    met = _met(plan, resolved, evaluated)
    yield from _learned_too(plan, evaluated, met)
    yield from few_row_warnings(plan, resolved, learned=met.rows, evaluated=len(evaluated))


def few_row_warnings(
    plan: SFTPlan | RLPlan, resolved: ResolvedReferences, *, learned: int, evaluated: int
) -> Iterator[str]:
    """Say that rows come more than once in one step, and that an evaluation has too few of them to say much."""
    if isinstance(plan, RLPlan):
        noun, of_a_step = "prompts", plan.groups_per_step
        shows = f"the pass rate moves in steps of {100 / max(1, evaluated):.0f} %"
    else:
        noun, of_a_step = "rows", plan.batch_size * plan.gradient_accumulation_steps
        shows = "the loss is that of few texts"
    if 0 < learned < of_a_step and not _is_played(plan, resolved):
        there = f"there {'is' if learned == 1 else 'are'} {learned} to learn from"
        often = f"{of_a_step / learned:.3g} times in every step"
        yield (
            f"config.batch_size: a step takes {of_a_step} {noun}, and {there}: each comes {often}; "
            f"give at most {learned}, or more {noun}"
        )
    if 0 < evaluated < LEAST_EVALUATED:
        count = f"1 {noun[:-1]} is" if evaluated == 1 else f"{evaluated} {noun} are"
        yield (
            f"{_where(plan)}: {count} evaluated: {shows}, and says little about other problems; evaluate "
            f"{LEAST_EVALUATED} or more"
        )


def _is_played(plan: SFTPlan | RLPlan, resolved: ResolvedReferences) -> bool:
    """One prompt stands for many episodes: those of a world, or recorded ones."""
    prompts = resolved.prompts
    return isinstance(plan, RLPlan) and (plan.offline or prompts is None or prompts.where == "config.world_manifest_id")


def _evaluated(plan: SFTPlan | RLPlan, resolved: ResolvedReferences) -> list[EvaluatedRow]:
    share = _share(plan)
    ref = resolved.find("config.eval_dataset_ref") if share is None else resolved.prompts
    if ref is None or ref.path is None or plan.eval_interval is None:
        return []
    most = plan.eval_max_rollouts if isinstance(plan, RLPlan) else None
    told = evaluated_rows(Path(ref.path), split=ref.split, share=share, most=most)
    return [EvaluatedRow(str(name), own_id, asked) for name, own_id, asked in told]


def _met(plan: SFTPlan | RLPlan, resolved: ResolvedReferences, evaluated: Sequence[EvaluatedRow]) -> MetRows:
    if not evaluated:
        return MetRows(frozenset(), frozenset(), sum(ref.rows for ref in resolved.learned_from))
    ids, asked, rows = set[str](), set[str](), 0
    for ref in resolved.learned_from:
        if ref.path is not None:
            met = met_rows(
                Path(ref.path),
                split=ref.split,
                share=_share(plan),
                ids=[row.id for row in evaluated if row.id is not None],
                asked=[row.asked for row in evaluated if row.asked is not None],
            )
            ids, asked, rows = ids.union(met["ids"]), asked.union(met["asked"]), rows + met["rows"]
    return MetRows(frozenset(ids), frozenset(asked), rows)


def _learned_too(plan: SFTPlan | RLPlan, evaluated: Sequence[EvaluatedRow], met: MetRows) -> Iterator[str]:
    of_all = f"of the {len(evaluated)} rows that are evaluated" if len(evaluated) != 1 else "row that is evaluated"
    if known := [row for row in evaluated if row.asked in met.asked]:
        yield (
            f"{_where(plan)}: {len(known)} {of_all} {_are(known)} also learned from, with the same prompt "
            f"({_named(known)}): their results say how well they are remembered, and nothing about other problems; "
            "take each of them out of one side"
        )
    if called := [row for row in evaluated if row.id in met.ids and row.asked not in met.asked]:
        yield (
            f"{_where(plan)}: {len(called)} {of_all} {'has' if len(called) == 1 else 'have'} the id of a row that is "
            f"learned from, and another prompt ({_named(called)}): if the ids stand for the same problems, take each "
            "of them out of one side"
        )


def _where(plan: SFTPlan | RLPlan) -> str:
    return "config.eval_dataset_ref" if _share(plan) is None else "config.held_out"


def _share(plan: SFTPlan | RLPlan) -> float | None:
    """The share of the prompts that is held out; None = none is."""
    return plan.held_out if isinstance(plan, RLPlan) else None


def _are(rows: Sequence[EvaluatedRow]) -> str:
    return "is" if len(rows) == 1 else "are"


def _named(rows: Sequence[EvaluatedRow]) -> str:
    more = [f"and {len(rows) - MOST_NAMED} more"] if len(rows) > MOST_NAMED else []
    return ", ".join([*(row.name[:MOST_NAME] for row in rows[:MOST_NAMED]), *more])
