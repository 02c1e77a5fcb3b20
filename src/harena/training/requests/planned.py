"""What a job that would be accepted is going to do: its plan, and what its data sets come to.

It is made of what acceptance gives, and of the functions that the worker itself decides with.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harena.core.records.objects import ResolvedReference
from harena.core.records.training_jobs import PlannedTraining
from harena.core.records.training_plans import RLPlan, SFTPlan, plan_from_dict
from harena.scoring.formats.rows import numbered
from harena.training.data.datasets import prompt_row_of
from harena.training.data.imported_rows import format_of
from harena.training.data.prompts import set_aside
from harena.training.data.row_files import Row, read_rows
from harena.training.requests.plan import sft_settings
from harena.training.requests.references import ResolvedReferences
from harena.training.requests.text_checks import text_facts


def planned_training(accepted: Mapping[str, Any]) -> PlannedTraining:
    """What `harena.training.requests.acceptance.accepted` has accepted would do. Reads the data sets: not for the event
    loop. Raises ValidationError."""
    resolved = ResolvedReferences.from_json(accepted["resolved"])
    plan = plan_from_dict(accepted["plan"])
    facts = text_facts(resolved)
    evaluated = resolved.find("config.eval_dataset_ref")
    learned, held_out = _split(plan, resolved)
    return PlannedTraining(
        name=accepted["name"],
        trainer_type=accepted["trainer_type"],
        resolved=[*resolved.refs],
        plan=plan,
        warnings=[*accepted["warnings"]],
        learned_from=learned,
        held_out=held_out,
        evaluated_rows=0 if evaluated is None else _evaluated(plan, evaluated),
        first_evaluation=_first_evaluation(plan, learned),
        formats=dict(
            Counter(format_of(row.values) for ref in resolved.learned_from for row in _rows(ref)).most_common()
        ),
        longest_prompt=facts.longest_prompt or None,
        longest_solution=facts.longest_solution or None,
    )


def _rows(ref: ResolvedReference) -> list[Row]:
    return [] if ref.path is None else read_rows(Path(ref.path), split=ref.split)


def _split(plan: SFTPlan | RLPlan, resolved: ResolvedReferences) -> tuple[int, int]:
    """(rows that are learned from, prompts that are held out), by the rule that the worker sets prompts aside by."""
    rows = sum(ref.rows for ref in resolved.learned_from)
    if not isinstance(plan, RLPlan) or plan.held_out is None or resolved.prompts is None:
        return rows, 0
    prompts = [prompt_row_of(row.values, id=numbered(n)) for n, row in enumerate(_rows(resolved.prompts))]
    learned, held_out = set_aside(prompts, plan.held_out)
    return len(learned), min(len(held_out), plan.eval_max_rollouts)


def _evaluated(plan: SFTPlan | RLPlan, ref: ResolvedReference) -> int:
    return min(ref.rows, plan.eval_max_rollouts) if isinstance(plan, RLPlan) else ref.rows


def _first_evaluation(plan: SFTPlan | RLPlan, rows: int) -> int | None:
    """The step after which a job is evaluated for the first time: RL before its first one, SFT at its interval, or at
    its end."""
    if plan.eval_interval is None:
        return None
    return 0 if isinstance(plan, RLPlan) else min(plan.eval_interval, sft_settings(plan).steps_for(rows))
