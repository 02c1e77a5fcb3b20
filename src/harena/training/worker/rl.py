"""An RL job, from its plan: load, go on where an earlier worker was, roll out, reward and learn, export."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harena.core.records.objects import ResolvedReference
from harena.core.records.training_plans import RLPlan
from harena.core.training_jobs import TrainingEventKind
from harena.core.workspace import given_limits
from harena.training.data.datasets import prompt_rows
from harena.training.data.offline import imitation_rows, offline_groups, offline_rows, with_logprobs
from harena.training.data.prompts import PromptRow, set_aside
from harena.training.data.templates import ChatTemplate
from harena.training.engines.local import LocalTrainer
from harena.training.environments.tasks import read_task
from harena.training.loop.checkpoints import Checkpoints
from harena.training.loop.evaluation import Evaluation
from harena.training.loop.ledger import Ledger
from harena.training.loop.pauses import platform_works
from harena.training.loop.rl import RLLoop
from harena.training.loop.sft import SFTSettings
from harena.training.requests.plan import rl_settings
from harena.training.rewards import reward_recipe
from harena.training.rollouts.recipes import instructed, rollouts_of
from harena.training.rollouts.rollout import Rollouts, SingleTurn
from harena.training.worker.engine import chat_template, check_stop, device_here, open_engine, open_model
from harena.training.worker.job import EVAL, TrainingWork, told_by_field
from harena.training.worker.samples import sample_lines
from harena.training.worker.sentences import (
    ConstantRewardWarning,
    counted,
    first_batch_said,
    paused_said,
    prompts_said,
    readmitted_said,
    rows_said,
    went_on_said,
)
from harena.training.worker.sft import learn_rows

if TYPE_CHECKING:
    from harena.training.worker.on_cluster import JobOnCluster

LEDGER_FILE = "ledger.sqlite"
SAMPLES = 8
"""rollouts of a step that are kept for people to read"""
TOLD_ROLLOUTS = 2
"""number of rollouts of each step that its event describes"""
TOLD_CHARACTERS = 200
"""the end of their prompts, and the beginning of their answers"""
SAMPLED_STEPS = 64
"""the newest steps of which they are kept"""


async def train_rl(work: TrainingWork, plan: RLPlan) -> Mapping[str, Any]:
    """Its artifacts. Raises ValidationError, TrainingError, PlatformError."""
    if plan.backend != "ray":
        engine = await asyncio.to_thread(
            open_engine,
            work.resolved,
            plan.tuning,
            seed=plan.seed,
            keep_reference=plan.loss.needs_reference,
            critic=plan.loss.critic,
        )
        return await _trained(work, plan, engine, None)
    # the only way to Ray: a job that needs none does not load it
    from harena.training.worker.on_cluster import JobOnCluster

    def changed(said: str) -> None:
        work.tell(TrainingEventKind.LOG, said, level="warning" if "lost" in said else "info")

    model, tokenizer = await asyncio.to_thread(open_model, work.resolved, plan.tuning, seed=plan.seed)
    goes_on = (work.folder / LEDGER_FILE).exists()
    cluster = await JobOnCluster.open(plan.rollout_workers, changed, goes_on=goes_on)
    try:
        on_cluster = cluster.engine(
            model,
            tokenizer,
            device=device_here(),
            data_parallel=plan.data_parallel,
            keep_reference=plan.loss.needs_reference,
        )
        return await _trained(work, plan, on_cluster, cluster)
    finally:
        await cluster.close()


async def _trained(
    work: TrainingWork, plan: RLPlan, engine: LocalTrainer, cluster: JobOnCluster | None
) -> Mapping[str, Any]:
    """Its artifacts. Rollouts are made in this process, or on the cluster."""
    template = chat_template(engine, work.capability_prompt)
    if plan.reward is None:
        return await _learn_from_what_was_done(work, plan, engine, template)
    rows = await asyncio.to_thread(_prompts, work, plan, engine, template)
    if plan.held_out is None:
        held_out = await asyncio.to_thread(_held_out, work, plan, engine, template)
    else:
        rows, held_out = set_aside(rows, plan.held_out)
        held_out = held_out[: plan.eval_max_rollouts]
    task = work.path_of("config.task_ref")
    given = None if task is None else await asyncio.to_thread(read_task, task)
    recipe = reward_recipe(plan.reward.name, plan.reward.params, task=given)
    check_stop(engine, plan.stop)
    settings = rl_settings(plan, engine.tokenizer.end_tokens)
    limits = given_limits()
    made: dict[str, Any] = {
        "max_turns": plan.max_turns,
        "overlong": settings.overlong,
        "most_at_once": None if limits is None else max(1, limits.sandboxes),  # with none, to make one is refused
    }
    rollouts: Rollouts = rollouts_of(recipe, template=template, **made)
    probe = platform_works
    rows, held_out = instructed(recipe, rows), instructed(recipe, held_out)
    if cluster is not None:
        on_cluster = await cluster.rollouts(
            single_turn=isinstance(rollouts, SingleTurn),
            recipe=plan.reward.name,
            params=plan.reward.params,
            task=given,
            capability_prompt=work.capability_prompt,
            **made,
        )
        rollouts, probe = on_cluster, on_cluster.platform_works
        work.tell(TrainingEventKind.LOG, f"rollouts are made by {counted(cluster.count, 'worker')} of the Ray cluster")
    ledger = Ledger(work.folder / LEDGER_FILE)
    prompts = {row.id: row.prompt for row in rows}
    lines = partial(
        sample_lines, ledger, limit=SAMPLES, prompts=prompts, rule=settings.advantage, spelt=engine.tokenizer.spelt
    )
    telling = _EventsOfLoop(work, ledger, prompts, lines=lines)
    loop = RLLoop(
        engine,
        rows,
        None,
        settings,
        rollouts=rollouts,
        ledger=ledger,
        checkpoints=Checkpoints(work.checkpoints, keep=plan.keep_checkpoints),
        evaluation=Evaluation(rows=held_out, every=plan.eval_interval or 10) if held_out else None,
        probe=probe,
    )
    said = prompts_said(len(rows), len(held_out))
    work.started(plan, settings.steps, said, prompts=len(rows), held_out=len(held_out))
    await loop.run(on_step=telling.step, on_event=telling.event)
    await asyncio.to_thread(telling.write_samples)  # the last step's: its checkpoint was saved before it was told of
    await work.export(engine)
    await engine.close()
    ledger.close()
    return work.artifacts


async def _learn_from_what_was_done(
    work: TrainingWork, plan: RLPlan, engine: LocalTrainer, template: ChatTemplate | None
) -> Mapping[str, Any]:
    """Offline RL: one optimizer step learns from `groups_per_step` recorded rows."""
    refs = work.trajectories()
    with told_by_field(refs):
        groups, report = await asyncio.to_thread(
            offline_groups,
            [Path(ref.path or "") for ref in refs],
            template or ChatTemplate(engine.tokenizer),
            max_length=engine.context_length,
            baseline=plan.baseline,
        )
    rows = offline_rows(groups, rule=plan.advantage, aggregation=plan.loss.aggregation)
    rows = await with_logprobs(engine, rows, plan.loss)
    settings = SFTSettings(
        steps=plan.steps,
        batch_size=plan.groups_per_step,
        learning_rate=plan.learning_rate,
        warmup_steps=plan.warmup_steps,
        final_learning_rate=plan.final_learning_rate,
        max_gradient_norm=plan.max_gradient_norm,
        weight_decay=plan.weight_decay,
        checkpoint_interval=plan.checkpoint_interval,
        seed=plan.seed,
    )
    work.started(plan, plan.steps, rows_said(report.as_json()), groups=len(groups), rows=report.as_json())
    return await learn_rows(work, engine, rows, settings, loss=plan.loss, keep=plan.keep_checkpoints)


def _prompts(work: TrainingWork, plan: RLPlan, engine: LocalTrainer, template: ChatTemplate | None) -> list[PromptRow]:
    """Prompts that are learned from: those of the prompt data set, else what the trajectories' agents were given."""
    if (ref := work.resolved.prompts) is not None:
        return _prompts_of(ref, plan, engine, template)
    refs = work.trajectories()
    with told_by_field(refs):
        paths = [Path(ref.path or "") for ref in refs]
        most = engine.context_length - plan.max_new_tokens
        rows, report = imitation_rows(paths, template or ChatTemplate(engine.tokenizer), max_prompt_tokens=most)
    said = f"{counted(len(rows), 'prompt')} out of {report.rows} trajectories"
    work.tell(TrainingEventKind.LOG, said, data=report.as_json())
    return rows


def _held_out(work: TrainingWork, plan: RLPlan, engine: LocalTrainer, template: ChatTemplate | None) -> list[PromptRow]:
    ref = work.resolved.find("config.eval_dataset_ref")
    return [] if ref is None else _prompts_of(ref, plan, engine, template)[: plan.eval_max_rollouts]


def _prompts_of(
    ref: ResolvedReference, plan: RLPlan, engine: LocalTrainer, template: ChatTemplate | None
) -> list[PromptRow]:
    with told_by_field([ref]):
        rows, _ = prompt_rows(
            Path(ref.path or ""),
            engine.tokenizer,
            template=template,
            max_prompt_tokens=engine.context_length - plan.max_new_tokens,
            split=ref.split,
            room=f"the model's {engine.context_length}, less max_new_tokens {plan.max_new_tokens}",
        )
    return rows


class _EventsOfLoop:
    """What the loop says, as the node is told it."""

    def __init__(
        self,
        work: TrainingWork,
        ledger: Ledger,
        prompts: Mapping[str, str],
        *,
        lines: Callable[[int], list[dict[str, Any]]],
    ) -> None:
        """`lines`: the samples of a step (from 0)."""
        self._work = work
        self._ledger = ledger
        self._prompts = prompts
        self._lines = lines
        self._samples: dict[int, str] = {}
        self._untaught = ConstantRewardWarning()

    def step(self, step: int, metrics: Mapping[str, float]) -> None:
        """Step `step` (from 0) is done."""
        lines = self._lines(step)
        self._samples[step] = "".join(json.dumps(line) + "\n" for line in lines)
        self._work.step_done(step + 1, metrics, rollouts=[self._shown(line) for line in lines[:TOLD_ROLLOUTS]])
        if warning := self._untaught.after(metrics, [line["reward"]["reason"] for line in lines]):
            self._work.tell(TrainingEventKind.LOG, warning, level="warning", data={"step": step + 1})

    def _shown(self, line: Mapping[str, Any]) -> dict[str, Any]:
        """The event's content in the form that is shown to users."""
        prompt, reward = self._prompts.get(line["prompt_id"], line["prompt_id"]), line["reward"]
        told = {"step": line["step"], "prompt": prompt[-TOLD_CHARACTERS:], "text": line["text"][:TOLD_CHARACTERS]}
        return {**told, "reward": reward["value"], "reason": reward["reason"]}

    async def event(self, name: str, content: Mapping[str, Any]) -> None:
        """Tell the server of the loop's event, in the worker's own kinds."""
        tell = self._work.tell
        if name == "resumed_from":
            # it was saved before it was told of
            for step, _, metrics in self._ledger.steps():
                if step + 1 == content["step"]:
                    self._work.step_done(step + 1, metrics)
            tell(TrainingEventKind.LOG, went_on_said(content), data=content)
        elif name == "eval_complete":
            found = {key: value for key, value in content["metrics"].items() if key.startswith(EVAL)}
            self._work.evaluated(content["step"] + 1, found)
        elif name == "first_batch":
            taught = content["compared_groups"]
            tell(
                TrainingEventKind.LOG,
                first_batch_said(content),
                level="info" if taught else "warning",
                data={**content, "rollouts": [self._shown({"step": 1, **line}) for line in content["rollouts"]]},
            )
        elif name == "checkpoint_saved":
            await asyncio.to_thread(self.write_samples)
            self._work.saved(content["step"], Path(content["path"]), best=content["best"])
        elif name == "paused":
            tell(TrainingEventKind.TRAINING_PAUSED, paused_said(content), level="warning", data=content)
        elif name == "resumed":
            tell(TrainingEventKind.TRAINING_CONTINUED, "the job goes on", data=content)
        elif name == "readmitted":
            tell(TrainingEventKind.LOG, readmitted_said(content), data=content)
        else:
            tell(TrainingEventKind.LOG, name.replace("_", " "), data=content)

    def write_samples(self) -> None:
        """Write the samples of the newest steps into the job's folder."""
        self._samples = {step: self._samples[step] for step in sorted(self._samples)[-SAMPLED_STEPS:]}
        place = self._work.folder / "samples.jsonl"
        unfinished = place.with_suffix(".new")
        unfinished.write_text("".join(self._samples.values()))
        unfinished.replace(place)
        self._work.artifacts["samples"] = place.name
