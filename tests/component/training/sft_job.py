"""A small SFT job that tells each step, for tests that kill it: `python sft_job.py FOLDER`."""

from __future__ import annotations

import asyncio
import hashlib
import sys
from pathlib import Path

import torch
from small_engine import new_engine

from harena.training.engines.local import LocalEngine
from harena.training.loop.checkpoints import Checkpoints
from harena.training.loop.sft import SFTProgress, SFTSettings, completion_row, train_sft

PAIRS = [("add 3>", "(x+3)"), ("double>", "(x*2)"), ("negate>", "(-x)"), ("add 9>", "(x+9)"), ("square>", "(x*x)")]
SETTINGS = SFTSettings(
    epochs=4, batch_size=2, learning_rate=1e-2, warmup_steps=2, checkpoint_interval=1, eval_interval=3, seed=5
)


def digest(engine: LocalEngine) -> str:
    """sha256 of its weights."""
    whole = hashlib.sha256()
    for name, value in sorted(engine._model.state_dict().items()):
        whole.update(name.encode() + value.numpy().tobytes())
    return whole.hexdigest()


async def job(folder: Path | None, *, seed: int = 3) -> tuple[str, SFTProgress, list[int]]:
    """(digest of the weights at the end, progress, the steps that were made)."""
    torch.set_num_threads(1)
    engine = new_engine(seed)
    rows = [completion_row(engine.tokenizer, *pair, context_length=64) for pair in PAIRS]
    steps: list[int] = []

    def told(step: int, metrics: object) -> None:
        steps.append(step)
        print(step, flush=True)

    checkpoints = None if folder is None else Checkpoints(folder)
    progress = await train_sft(engine, rows, SETTINGS, eval_rows=rows[:2], checkpoints=checkpoints, on_step=told)
    await engine.close()
    return digest(engine), progress, steps


if __name__ == "__main__":
    asyncio.run(job(Path(sys.argv[1])))
