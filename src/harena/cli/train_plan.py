"""What `harena train ... --plan` prints: what a job would do, in sentences."""

from __future__ import annotations

from collections.abc import Iterator

from harena.core.records.training_jobs import PlannedTraining
from harena.core.records.training_plans import RLPlan, SFTPlan, TrainingPlan


def plan_lines(planned: PlannedTraining) -> Iterator[str]:
    """A line for each thing that somebody would want to know before it runs."""
    plan = planned.plan
    yield f"{planned.name}: nothing has been started; the same command without --plan starts it"
    for ref in planned.resolved:
        rows = f", {ref.rows} rows" if ref.rows else ""
        yield f"{ref.where}: {ref.ref} ({ref.kind}{rows})"
    if planned.formats:
        yield "formats: " + ", ".join(f"{form} {count}" for form, count in planned.formats.items())
    yield from _of_rl(planned, plan) if isinstance(plan, RLPlan) else _of_sft(planned, plan)
    yield _of_tuning(plan)
    yield from (f"warning: {warning}" for warning in planned.warnings)


def _of_rl(planned: PlannedTraining, plan: RLPlan) -> Iterator[str]:
    if planned.held_out:
        yield f"prompts: {planned.learned_from} are learned from, {planned.held_out} are held out and evaluated"
    else:
        yield f"prompts: {planned.learned_from} are learned from"
    yield from _of_evaluation(planned, plan)
    if plan.reward is not None:
        said = ", ".join(f"{name} {value!r}" for name, value in plan.reward.params.items() if name != "template")
        yield f"rewards: {plan.reward.name}{f' ({said})' if said else ''}"
        if "template" in plan.reward.params:
            yield f"template: {plan.reward.params['template']!r}"
    lengths = [f"at most {plan.max_new_tokens} new tokens"]
    if planned.longest_prompt:
        lengths.append(f"the longest prompt has {planned.longest_prompt}")
    if planned.longest_solution:
        lengths.append(f"the longest right answer {planned.longest_solution}")
    yield f"lengths: {', '.join(lengths)}"
    yield (
        f"steps: {plan.steps}, each of {plan.groups_per_step} prompts with {plan.group_size} answers "
        f"({plan.loss.algorithm}, at most {plan.max_steps_off_policy} steps off policy, temperature "
        f"{plan.temperature:g})"
    )


def _of_sft(planned: PlannedTraining, plan: SFTPlan) -> Iterator[str]:
    yield f"rows: {planned.learned_from} are learned from, of at most {plan.max_sequence_length} tokens"
    yield from _of_evaluation(planned, plan)
    ends = [f"{plan.steps} steps"] if plan.steps is not None else []
    ends += [f"{plan.epochs} passes over the rows"] if plan.epochs is not None else []
    batch = plan.batch_size * plan.gradient_accumulation_steps
    yield f"steps: {', or '.join(ends)}, each of {batch} rows"


def _of_evaluation(planned: PlannedTraining, plan: TrainingPlan) -> Iterator[str]:
    if planned.evaluated_rows:
        yield f"evaluated on {planned.evaluated_rows} rows of another data set"
    if (first := planned.first_evaluation) is not None:
        begins = f"after step {first}" if first else "before the first step"
        yield f"first evaluation: {begins}, then every {plan.eval_interval} steps and after the last"
    else:
        yield "evaluation: none"


def _of_tuning(plan: TrainingPlan) -> str:
    return f"learning: {plan.tuning.in_words}, rate {plan.learning_rate:g}, seed {plan.seed}"
