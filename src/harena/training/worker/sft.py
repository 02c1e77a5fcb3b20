"""An SFT job, from its plan: load, go on where an earlier worker was, learn, export."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from harena.core.records.objects import ResolvedReference
from harena.core.records.training_plans import LossSpec, SFTPlan
from harena.training.data.datasets import training_rows
from harena.training.engines.local import LocalTrainer
from harena.training.loop.batch import TrainingRow
from harena.training.loop.checkpoints import Checkpoint, Checkpoints
from harena.training.loop.sft import SFTSettings, train_sft
from harena.training.requests.plan import sft_settings
from harena.training.worker.engine import chat_template, open_engine
from harena.training.worker.job import EVAL, TrainingWork, told_by_field
from harena.training.worker.sentences import rows_said


async def train_rows(work: TrainingWork, plan: SFTPlan) -> Mapping[str, Any]:
    """Its artifacts. Raises ValidationError, TrainingError, PlatformError."""
    engine = await asyncio.to_thread(open_engine, work.resolved, plan.tuning, seed=plan.seed, pack=True)
    template = chat_template(engine, work.capability_prompt)

    def load(refs: list[ResolvedReference]) -> tuple[list[TrainingRow], dict[str, int]]:
        made: list[TrainingRow] = []
        counted: dict[str, int] = {}
        for ref in refs:
            with told_by_field([ref]):
                rows, report = training_rows(
                    Path(ref.path or ""),
                    engine.tokenizer,
                    template=template,
                    max_length=min(plan.max_sequence_length, engine.context_length),
                    too_long=plan.too_long,
                    split=ref.split,
                )
            made += rows
            counted = {name: counted.get(name, 0) + count for name, count in report.as_json().items()}
        return made, counted

    sources = [*filter(None, [work.resolved.find("config.dataset_ref")]), *work.trajectories()]
    rows, counted = await asyncio.to_thread(load, sources)
    held_out = work.resolved.find("config.eval_dataset_ref")
    eval_rows, _ = await asyncio.to_thread(load, [held_out]) if held_out is not None else ([], {})
    settings = sft_settings(plan)
    work.started(plan, settings.steps_for(len(rows)), rows_said(counted), rows=counted)
    return await learn_rows(work, engine, rows, settings, eval_rows=eval_rows, keep=plan.keep_checkpoints)


async def learn_rows(
    work: TrainingWork,
    engine: LocalTrainer,
    rows: Sequence[TrainingRow],
    settings: SFTSettings,
    *,
    keep: int,
    loss: LossSpec | None = None,
    eval_rows: Sequence[TrainingRow] = (),
) -> Mapping[str, Any]:
    """Learn from rows that are there, go on where an earlier worker was, export; the artifacts. `loss`: see
    `train_sft`."""
    checkpoints = Checkpoints(work.checkpoints, keep=keep)

    def on_step(step: int, metrics: Mapping[str, float]) -> None:
        work.step_done(step + 1, metrics)
        if found := {name: value for name, value in metrics.items() if name.startswith(EVAL)}:
            work.evaluated(step + 1, found)

    def on_checkpoint(saved: Checkpoint) -> None:
        best = checkpoints.best()
        work.saved(saved.step, saved.path, best=best is not None and best.step == saved.step)

    progress = await train_sft(
        engine,
        rows,
        settings,
        loss=loss,
        eval_rows=eval_rows,
        checkpoints=checkpoints,
        on_step=on_step,
        on_checkpoint=on_checkpoint,
    )
    await work.export(engine)
    await engine.close()
    done = asdict(progress)
    work.tell(
        "log",
        f"{progress.steps} steps over {progress.sequences} sequences and {progress.tokens} tokens",
        metrics={
            "train/num_examples": len(rows),
            "train/num_sequences_processed": progress.sequences,
            "train/num_tokens_processed": progress.tokens,
            "train/epochs_completed": progress.sequences / len(rows),
        },
        data=done,
    )
    return work.artifacts
