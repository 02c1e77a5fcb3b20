"""One side of `training-step`, in a process of its own: `python -m benchmarks.training_sides SIDE REWARD`. Prints JSON.

Both sides: the same tiny Llama in float32, the same prompts each step, the same group size, and exactly as many tokens
for each completion; GRPO with one optimizer step per batch, no KL, no gradient checkpointing, no logging, the same
number of threads. Rewards are free ("none"), or come from running one program for each completion ("execution"): it has
nothing to do with what was said (which is gibberish), so both sides run the same kind of program, and each is run. TRL
starts an interpreter for each, as many at a time as there are cores; harena scores each in a sandbox, without dedup.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789 >()+-*"
PROMPTS = [
    f"{first} {number} then {second}>"
    for first in ("add", "subtract", "times", "minus")
    for number in range(2, 6)
    for second in ("double", "negate")
]
CHECKS = [(-3, 0), (0, 1), (4, 2), (7, 3)]
"""(x, what is added to it in the answer that is wanted, modulo what the program has)"""

CORES = len(os.sched_getaffinity(0))
"""number of cores that this process may use"""

Seconds = dict[str, float]


def program(text: str) -> str:
    """One for each completion; a quarter of them is right."""
    return f"def f(x):\n    return x + {zlib.crc32(text.encode()) % 4}\n"


def contract() -> dict[str, Any]:
    """What a program is judged by."""
    return {
        "type": "tests",
        "entry_point": "f",
        "checks": [{"args": [x], "expected": x + 1} for x, _ in CHECKS],
    }


def _tests() -> str:
    return "".join(f"assert f({x}) == {x + 1}\n" for x, _ in CHECKS)


def run_harena(reward: str, steps: int, group_size: int, tokens: int) -> list[Seconds]:
    """Seconds of each step."""
    from harena.training.data.prompts import PromptRow
    from harena.training.engines.local import LocalEngine
    from harena.training.engines.tiny import character_tokenizer, tiny_llama
    from harena.training.loop.rl import RLLoop, RLSettings
    from harena.training.rewards import CodeTests, Overlong, Rule
    from harena.training.rollouts.trajectory import Sampling

    class Programs(CodeTests):
        """The program that belongs to a text."""

        def program(self, text: str, names: Any = (), form: Any = None) -> str:
            """Implements `CodeTests`."""
            return program(text)

    tokenizer = character_tokenizer(ALPHABET)
    engine = LocalEngine(tiny_llama(len(tokenizer), seed=0), tokenizer)
    rows = [PromptRow(id=prompt, prompt=prompt, scoring=contract()) for prompt in PROMPTS]
    recipe: Any = Rule(lambda row, text: float(zlib.crc32(text.encode()) % 4 == 1), deterministic=False)
    if reward == "execution":
        recipe = Programs(blueprint_id="python-warm", deterministic=False)
    settings = RLSettings(
        steps=steps,
        groups_per_step=len(rows),
        group_size=group_size,
        sampling=Sampling(max_new_tokens=tokens),
        learning_rate=1e-6,
        overlong=Overlong(policy="score"),
    )
    told: list[dict[str, float]] = []

    async def run() -> None:
        loop = RLLoop(engine, rows, recipe, settings)
        await loop.run(on_step=lambda step, metrics: told.append(dict(metrics)))
        await engine.close()

    asyncio.run(run())
    names = ("step", "generate", "reward", "train")
    taken = [{name: metrics[f"seconds/{name}"] for name in names} for metrics in told]
    if any(metrics["length/p50"] != tokens or metrics["masked_share"] for metrics in told):
        raise RuntimeError("completions of another length, or without a reward")
    for entry in taken:  # what belongs to nobody is counted against training, as on the other side
        entry["train"] = entry["step"] - entry["generate"] - entry["reward"]
    return taken


def run_trl(reward: str, steps: int, group_size: int, tokens: int) -> list[Seconds]:
    """Seconds of each step."""
    import torch
    from datasets import Dataset
    from transformers import TrainerCallback
    from trl.trainer.grpo_config import GRPOConfig
    from trl.trainer.grpo_trainer import GRPOTrainer

    from harena.training.engines.tiny import character_tokenizer, tiny_llama

    taken: list[Seconds] = []
    seconds = {"generate": 0.0, "reward": 0.0}

    @contextmanager
    def counted(name: str) -> Iterator[None]:
        began = time.perf_counter()
        yield
        seconds[name] += time.perf_counter() - began

    class Timed(GRPOTrainer):
        """TRL's trainer with a stopwatch."""

        def _generate(self, *given: Any, **more: Any) -> Any:
            with counted("generate"):
                return super()._generate(*given, **more)

        def _calculate_rewards(self, *given: Any, **more: Any) -> Any:
            with counted("reward"):
                return super()._calculate_rewards(*given, **more)

    class Steps(TrainerCallback):
        """From the beginning of one step to that of the next."""

        since = 0.0

        def on_step_begin(self, *_: Any, **__: Any) -> None:
            seconds.update(generate=0.0, reward=0.0)
            self.since = time.perf_counter()

        def on_step_end(self, *_: Any, **__: Any) -> None:
            step = time.perf_counter() - self.since
            taken.append({"step": step, **seconds, "train": step - sum(seconds.values())})

    pool = ThreadPoolExecutor(CORES)

    def passed(text: str) -> float:
        done = subprocess.run([sys.executable, "-c", program(text) + _tests()], capture_output=True, check=False)
        return float(done.returncode == 0)

    def rewards(completions: list[str], completion_ids: list[list[int]], **_: Any) -> list[float | None]:
        if any(len(ids) != tokens for ids in completion_ids):
            raise RuntimeError("completions of another length")
        if reward == "execution":
            return list(pool.map(passed, completions))
        return [float(zlib.crc32(text.encode()) % 4 == 1) for text in completions]

    tokenizer = character_tokenizer(ALPHABET)
    with tempfile.TemporaryDirectory() as folder:
        settings = GRPOConfig(
            output_dir=folder,
            max_steps=steps,
            per_device_train_batch_size=len(PROMPTS) * group_size,
            num_generations=group_size,
            max_completion_length=tokens,
            generation_kwargs={"min_new_tokens": tokens},
            temperature=1.0,
            learning_rate=1e-6,
            beta=0.0,
            loss_type="dapo",
            epsilon_high=0.28,
            use_cpu=True,
            bf16=False,
            gradient_checkpointing=False,
            logging_strategy="no",
            save_strategy="no",
            report_to=[],
            disable_tqdm=True,
            log_completions=False,
        )
        trainer = Timed(
            model=tiny_llama(len(tokenizer), seed=0),
            reward_funcs=[rewards],
            args=settings,
            train_dataset=Dataset.from_list([{"prompt": prompt} for prompt in PROMPTS]),
            processing_class=tokenizer,
            callbacks=[Steps()],
        )
        model: Any = trainer.model
        if next(model.parameters()).dtype != torch.float32:
            raise RuntimeError("the other side does not train in float32")
        trainer.train()
    pool.shutdown()
    return taken


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.training_sides", description=__doc__)
    parser.add_argument("side", choices=["harena", "trl"])
    parser.add_argument("reward", choices=["none", "execution"])
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--group-size", type=int, default=8)
    parser.add_argument("--tokens", type=int, default=24)
    parser.add_argument("--threads", type=int, default=CORES)
    asked = parser.parse_args()
    import torch

    torch.set_num_threads(asked.threads)
    torch.manual_seed(0)
    run = run_harena if asked.side == "harena" else run_trl
    taken = run(asked.reward, asked.steps, asked.group_size, asked.tokens)
    print(json.dumps({"seconds": taken}))


if __name__ == "__main__":
    main()
