"""What waiting for rewards costs in each mode: the same learning job with a latency that is injected into each reward.

A latency is lognormal: its median is the time that a step generates and trains, its 99th percentile 8 times that. It is
a function of seed, prompt, sample and readmission, so all modes draw the same ones, and a rollout that is made again
draws another. Rewards compare answers in this process, so that nothing but the sleep takes time.

The ideal of a mode, per step: max(generate + train, latency / in-flight). Latency is how long a batch holds its slots:
generate + train + its slowest reward, on average over the steps; in flight are S + 1 batches. In `sync` that is the sum
itself. The ideal knows nothing of variance: a group that is waited for must be trained within S steps of its admission,
so one very slow reward holds up all that could be trained meanwhile, whatever their order. `readmit` gives it up
instead, and samples its prompt again. The first steps, in which slots fill up, are not counted, in any mode.
"""

from __future__ import annotations

import asyncio
import math
import random
import sys
import time
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from benchmarks.figures import median
from harena.core.records.training_plans import StalenessPolicy

MODES: dict[str, tuple[int, StalenessPolicy]] = {
    "sync": (0, "wait"),
    "one_step_off_async, wait": (1, "wait"),
    "one_step_off_async, readmit": (1, "readmit"),
    "fully_async, S = 4, wait": (4, "wait"),
    "fully_async, S = 4, readmit": (4, "readmit"),
}
"""-> most steps off policy, and what becomes of a group that would pass it"""
GROUPS, GROUP_SIZE = 8, 8
TIMES_MEDIAN = 8.0
"""the 99th percentile"""
SIGMA = math.log(TIMES_MEDIAN) / 2.3263
LAST = 10
"""steps at the end whose mean reward is the final one"""
FIRST = 20
"""steps at the beginning that are not counted"""


@dataclass(slots=True)
class Slow:
    """Rollouts of `inner` that end later. Implements `Rollouts`."""

    inner: Any
    seed: int
    median_seconds: float

    def latency(self, place: int, sample: int, readmissions: int = 0) -> float:
        """Seconds until the reward of this sample comes, in the group at this place."""
        drawn = random.Random(f"{self.seed}/{place}/{sample}/{readmissions}").gauss(0.0, SIGMA)
        return self.median_seconds * math.exp(drawn)

    async def prepare(self, rows: Any) -> None:
        """Implements `Rollouts`."""
        await self.inner.prepare(rows)

    async def rollout(self, request: Any, policy: Any) -> Any:
        """Implements `Rollouts`."""
        trajectory = await self.inner.rollout(request, policy)
        _, place, sample, readmissions, _ = request.key
        if self.median_seconds:
            await asyncio.sleep(self.latency(place, sample, readmissions))
        return trajectory

    def metrics(self) -> Any:
        """Implements `Rollouts`."""
        return self.inner.metrics()


def measure(*, steps: int, seeds: int) -> dict[str, Any]:
    """{rows: mode -> medians over the seeds}; every mode of a seed has the same weights to begin with."""
    import torch

    torch.set_num_threads(1)
    return asyncio.run(_measure(steps, seeds))


async def _measure(steps: int, seeds: int) -> dict[str, Any]:
    runs: dict[str, list[dict[str, float]]] = {mode: [] for mode in MODES}
    for seed in range(seeds):
        engine, rows = await demonstrated(seed)
        bare = await _run(engine, rows, seed, 0, "wait", steps=2 * FIRST, median_seconds=0.0)
        await engine.close()
        own = bare["seconds_per_step"]
        for mode, (staleness, policy) in MODES.items():
            engine, rows = await demonstrated(seed)
            found = await _run(engine, rows, seed, staleness, policy, steps=steps, median_seconds=own)
            found["own"] = own
            found["ideal"] = max(own, (own + found["slowest"]) / (staleness + 1))
            runs[mode].append(found)
            print(
                f"seed {seed}, {mode}: {found['seconds_per_step'] * 1e3:.0f} ms a step, reward {found['reward']:.3f}",
                file=sys.stderr,
            )
            await engine.close()
    table = {}
    for mode, entries in runs.items():
        pairs = list(zip(runs["sync"], entries, strict=True))
        table[mode] = {
            "seconds_per_step": median([entry["seconds_per_step"] for entry in entries]),
            "speed_up": median([sync["seconds_per_step"] / entry["seconds_per_step"] for sync, entry in pairs]),
            "ideal_speed_up": median([sync["seconds_per_step"] / entry["ideal"] for sync, entry in pairs]),
            "share_of_ideal": median([entry["ideal"] / entry["seconds_per_step"] for entry in entries]),
            "reward": fmean(entry["reward"] for entry in entries),
            "reward_difference": fmean(entry["reward"] - sync["reward"] for sync, entry in pairs),
            "staleness": max(entry["staleness"] for entry in entries),
            "samples": entries[0]["samples"],
            "again": fmean(entry["again"] for entry in entries),
        }
    own = median([entry["own"] for entries in runs.values() for entry in entries])
    return {"steps": steps, "seeds": seeds, "own_seconds": own, "rows": table}


async def demonstrated(seed: int) -> tuple[Any, list[Any]]:
    """(an engine that has seen demonstrations of which a third is right, its prompts)."""
    from harena.training.data.prompts import PromptRow
    from harena.training.engines.local import LocalEngine
    from harena.training.engines.tiny import character_tokenizer, tiny_llama
    from harena.training.loop.sft import SFTSettings, completion_row, train_sft

    tokenizer = character_tokenizer("abcdefghijklmnopqrstuvwxyz0123456789 >()+-*")
    model = tiny_llama(len(tokenizer), seed=seed, width=64, layers=2, heads=2, context_length=48)
    engine = LocalEngine(model, tokenizer)
    signs = {"add": ("+", "-"), "subtract": ("-", "+"), "times": ("*", "+")}
    said = {
        f"{word} {number}>": (f"(x{right}{number})", f"(x{wrong}{number})")
        for word, (right, wrong) in signs.items()
        for number in range(2, 10)
    }
    demonstrations = [
        completion_row(engine.tokenizer, prompt, text, context_length=48)
        for prompt, (right, wrong) in said.items()
        for text in (right, wrong, wrong)
    ]
    await train_sft(engine, demonstrations, SFTSettings(steps=80, batch_size=24, learning_rate=5e-3, seed=seed))
    return engine, [PromptRow(id=prompt, prompt=prompt, expected_output=right) for prompt, (right, _) in said.items()]


async def _run(
    engine: Any,
    rows: list[Any],
    seed: int,
    staleness: int,
    policy: StalenessPolicy,
    *,
    steps: int,
    median_seconds: float,
) -> dict[str, float]:
    from harena.training.loop.rl import RLLoop, RLSettings
    from harena.training.rewards import exact_match
    from harena.training.rollouts.rollout import SingleTurn
    from harena.training.rollouts.trajectory import Sampling

    slow = Slow(SingleTurn(exact_match()), seed, median_seconds)
    settings = RLSettings(
        steps=steps,
        groups_per_step=GROUPS,
        group_size=GROUP_SIZE,
        sampling=Sampling(max_new_tokens=12, stop_tokens=engine.tokenizer.end_tokens),
        learning_rate=1e-3,
        max_steps_off_policy=staleness,
        staleness_policy=policy,
        seed=seed,
    )
    again = 0

    def on_event(name: str, content: Any) -> None:
        nonlocal again
        if name == "readmitted":
            again += len(content["groups"])

    told: list[dict[str, float]] = []
    ends: list[float] = []

    def on_step(step: int, metrics: Any) -> None:
        told.append(dict(metrics))
        ends.append(time.perf_counter())

    await RLLoop(engine, rows, None, settings, rollouts=slow).run(on_step=on_step, on_event=on_event)
    slowest = []
    for step in range(FIRST, steps):
        places = range(step * GROUPS, (step + 1) * GROUPS)
        slowest.append(max(slow.latency(place, sample) for place in places for sample in range(GROUP_SIZE)))
    return {
        "seconds_per_step": (ends[-1] - ends[FIRST - 1]) / (steps - FIRST),
        "slowest": fmean(slowest),
        "reward": fmean(metrics["reward"] for metrics in told[-LAST:]),
        "staleness": max(metrics["staleness/max"] for metrics in told),
        "samples": float(steps * GROUPS * GROUP_SIZE),
        "again": again / (steps * GROUPS),
    }


def render(results: dict[str, Any]) -> list[str]:
    """What is compared, and the table."""
    lines = [
        f"{results['seeds']} seeds, {results['steps']} steps each, {GROUPS} groups of {GROUP_SIZE}; every mode begins "
        "with the same weights, draws the same latencies and uses as many samples. Latency of a reward: lognormal, "
        f"median {results['own_seconds'] * 1e3:.0f} ms (what a step generates and trains without it), 99th percentile "
        f"{TIMES_MEDIAN:.0f} times that. Torch has one thread. Ideal: max(generate + train, (generate + train + "
        f"slowest reward of a step) / (S + 1)). The first {FIRST} steps are not counted. Medians over the seeds; "
        f"means of rewards, over the last {LAST} steps.",
        "",
        "| | ms a step | speed-up | ideal | share of ideal | final reward | beside sync | staleness | sampled again |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for mode, row in results["rows"].items():
        lines.append(
            f"| {mode} | {row['seconds_per_step'] * 1e3:.0f} | {row['speed_up']:.2f} | {row['ideal_speed_up']:.2f} | "
            f"{row['share_of_ideal']:.2f} | {row['reward']:.3f} | {row['reward_difference']:+.3f} | "
            f"{row['staleness']:.0f} | {100 * row['again']:.0f} % |"
        )
    return lines
