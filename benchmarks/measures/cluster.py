"""RL on a Ray cluster of several raylets on this machine: how it scales, what it learns, and what lost nodes cost.

scaling   the same job with 1, 2 and 4 workers, each on a raylet of its own. Each reward is a program that sleeps in a
          sandbox, and a worker may have `RUNS` of them under way, so that one worker is slow by waiting, not by
          computing: what is measured is whether workers wait side by side. The first step is not counted; learner and
          samplers take turns
pairs     the same job, from the same weights and with a new optimizer, with the engine of this machine and on two
          workers of a cluster, both one step off; rewards compare answers in the worker's process
kills     one job on two raylets, of which one after the other is killed while rollouts are under way; the next is
          killed when there are two workers again. The job must do all of its steps, and each rollout be written once
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import sys
import tempfile
import time
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any

from benchmarks.measures.training_latency import demonstrated

if TYPE_CHECKING:
    from benchmarks.ray_cluster import LocalCluster

WORKERS = (1, 2, 4)
GROUPS, GROUP_SIZE = 8, 8
RUNS, SLEEP_SECONDS = 4, 4.0
SCALING_STEPS = 2
LAST = 10
"""steps at the end whose mean reward is the final one"""
STEPS_A_KILL = 3
LIMITS = f"runs={RUNS}"


def measure(*, steps: int, seeds: int, kills: int) -> dict[str, Any]:
    """{scaling, pairs, kills}; `steps` are those of each paired job."""
    import torch

    torch.set_num_threads(1)
    found: dict[str, Any] = {"steps": steps, "seeds": seeds}
    from benchmarks.ray_cluster import local_cluster  # other measures do without Ray

    with local_cluster(nodes=max(WORKERS)) as cluster:
        found["scaling"] = {str(count): asyncio.run(_rewards_per_second(count)) for count in WORKERS}
        found["pairs"] = [asyncio.run(_pair(seed, steps)) for seed in range(seeds)]
        while len(cluster.nodes) > 2:
            cluster.lose()
        found["kills"] = asyncio.run(_killed(cluster, kills))
    return found


async def _job(workers: int, engine_of: Any, **work: Any) -> tuple[Any, Any, Any]:
    """(the job's part of the cluster, its engine, its rollouts)."""
    from harena.training.worker.on_cluster import JobOnCluster

    job = await JobOnCluster.open(workers, lambda said: print(said, file=sys.stderr))
    engine = job.engine(*engine_of)
    return job, engine, await job.rollouts(single_turn=True, **work)


def _settings(engine: Any, seed: int, steps: int) -> Any:
    from harena.training.loop.rl import RLSettings
    from harena.training.rollouts.trajectory import Sampling

    return RLSettings(
        steps=steps,
        groups_per_step=GROUPS,
        group_size=GROUP_SIZE,
        sampling=Sampling(max_new_tokens=12, stop_tokens=engine.tokenizer.end_tokens),
        learning_rate=1e-3,
        max_steps_off_policy=1,
        seed=seed,
    )


async def _rewards_per_second(workers: int) -> dict[str, float]:
    """In turns with the learner, so that all rewards of a step are waited for within it; an untaught model says hardly
    anything twice."""
    from harena.training.data.prompts import PromptRow
    from harena.training.engines.tiny import character_tokenizer, tiny_llama
    from harena.training.loop.rl import RLLoop
    from harena.training.rewards import Overlong

    tokenizer = character_tokenizer("abcdefghijklmnopqrstuvwxyz0123456789 >()+-*")
    model = tiny_llama(len(tokenizer), seed=0, width=64, layers=2, heads=2, context_length=48)
    contract = {"type": "tests", "entry_point": "f", "checks": [{"args": [1], "expected": 1}]}
    problems = [PromptRow(id=f"p{n}", prompt=f"add {n}>", scoring=contract) for n in range(GROUPS)]
    template = f"import time\ndef f(x):\n    time.sleep({SLEEP_SECONDS})\n    return x  # {{completion}}\n"
    os.environ["HARENA_WORKSPACE_LIMITS"] = LIMITS
    try:
        job, engine, rollouts = await _job(
            workers,
            (model, tokenizer),
            recipe="code_tests_v1",
            params={"template": template, "blueprint_id": "python-warm"},
            overlong=Overlong(policy="score"),
        )
    finally:
        del os.environ["HARENA_WORKSPACE_LIMITS"]
    ends: list[float] = []
    saved: list[float] = []

    def on_step(step: int, metrics: Any) -> None:
        ends.append(time.perf_counter())
        saved.append(metrics["dedup_rate"])

    settings = replace(_settings(engine, 0, SCALING_STEPS), max_steps_off_policy=0)
    try:
        await RLLoop(engine, problems, None, settings, rollouts=rollouts, probe=None).run(on_step=on_step)
    finally:
        await job.close()
        await engine.close()
    step = GROUPS * GROUP_SIZE
    judged = step * SCALING_STEPS * (1 - saved[-1]) - step * (1 - saved[0])
    rate = judged / (ends[-1] - ends[0])
    print(f"{workers} workers: {rate:.2f} programs a second, {judged:.0f} programs", file=sys.stderr)
    return {"programs_per_second": rate, "programs": judged}


async def _pair(seed: int, steps: int) -> dict[str, float]:
    from harena.training.engines.local import LocalEngine
    from harena.training.loop.rl import RLLoop
    from harena.training.rewards import exact_match
    from harena.training.rollouts.rollout import SingleTurn

    final: dict[str, float] = {}
    for where in ("local", "ray"):
        taught, rows = await demonstrated(seed)
        told: list[float] = []
        job: Any = None
        weights = (taught._model, taught.tokenizer.inner)
        # not the engine that was taught: its optimizer knows the demonstrations' gradients, and the cluster's does not
        engine: Any = LocalEngine(*weights) if where == "local" else None
        rollouts: Any = SingleTurn(exact_match())
        if where == "ray":
            job, engine, rollouts = await _job(2, weights, recipe="exact_match_v1", params={})
        loop = RLLoop(engine, rows, None, _settings(engine, seed, steps), rollouts=rollouts, probe=None)
        try:
            await loop.run(on_step=partial(_note_reward, told))
        finally:
            if job is not None:
                await job.close()
            await engine.close()
            await taught.close()
        final[where] = fmean(told[-LAST:])
        final[f"{where}_first"] = told[0]
    print(f"seed {seed}: {final}", file=sys.stderr)
    return final


def _note_reward(told: list[float], step: int, metrics: Any) -> None:
    told.append(metrics["reward"])


async def _killed(cluster: LocalCluster, kills: int) -> dict[str, Any]:
    from harena.training.loop.ledger import Ledger
    from harena.training.loop.rl import RLLoop

    steps = STEPS_A_KILL * (kills + 1)
    taught, rows = await demonstrated(0)
    job, engine, rollouts = await _job(2, (taught._model, taught.tokenizer.inner), recipe="exact_match_v1", params={})
    workers = job._workers
    killed = 0
    last: dict[str, float] = {}

    async def on_step(step: int, metrics: Any) -> None:
        """The next groups are under way: kill, and add a raylet in its place."""
        nonlocal killed, last
        last = dict(metrics)
        if step % STEPS_A_KILL != STEPS_A_KILL - 1 or killed == kills:
            return
        await workers.whole()
        killed += 1
        cluster.lose()
        cluster.add()  # Ray wants the main thread for it, so the loop stands still meanwhile

    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "ledger.sqlite"
        ledger = Ledger(place)
        try:
            loop = RLLoop(engine, rows, None, _settings(engine, 0, steps), rollouts=rollouts, ledger=ledger, probe=None)
            await loop.run(on_step=on_step)
        finally:
            ledger.close()
            await job.close()
            await engine.close()
            await taught.close()
        with closing(sqlite3.connect(place)) as database:
            written = database.execute("SELECT number, sample FROM rollouts").fetchall()
            done = database.execute("SELECT count(*) FROM steps WHERE metrics IS NOT NULL").fetchone()[0]
    return {
        "kills": killed,
        "steps": steps,
        "steps_done": done,
        "rollouts": len(written),
        "rollouts_due": steps * GROUPS * GROUP_SIZE,
        "twice": len(written) - len(set(written)),
        "begun_anew": last["rollouts_repeated"],
        "workers_lost": last["workers_lost"],
        "reward": last["reward"],
    }


def render(results: dict[str, Any]) -> list[str]:
    """What is compared, and the tables."""
    one = results["scaling"]["1"]["programs_per_second"]
    lines = [
        f"Rewards are programs that sleep {SLEEP_SECONDS:g} s, {RUNS} at one time on a worker; {GROUPS} groups of "
        f"{GROUP_SIZE} a step.",
        "",
        "| workers, each on a raylet | programs a second | of linear |",
        "|---|---|---|",
    ]
    for count, row in results["scaling"].items():
        rate = row["programs_per_second"]
        lines.append(f"| {count} | {rate:.2f} | {rate / one / int(count):.2f} |")
    pairs = results["pairs"]
    if len(pairs) > 1:
        differences = [pair["ray"] - pair["local"] for pair in pairs]
        error = stdev(differences) / len(differences) ** 0.5
        lines += [
            "",
            f"{len(pairs)} pairs of {results['steps']} steps; means over the last {LAST}: local "
            f"{fmean(pair['local'] for pair in pairs):.3f}, two workers {fmean(pair['ray'] for pair in pairs):.3f}; "
            f"difference {fmean(differences):+.3f}, standard error {error:.3f}. First step: "
            f"{fmean(pair['local_first'] for pair in pairs):.3f}.",
        ]
    kills = results["kills"]
    lines += [
        "",
        f"{kills['kills']} raylets killed in a job of {kills['steps']} steps: {kills['steps_done']} steps done, "
        f"{kills['rollouts']} of {kills['rollouts_due']} rollouts written down, {kills['twice']} twice; "
        f"{kills['begun_anew']:.0f} were begun anew.",
    ]
    return lines
