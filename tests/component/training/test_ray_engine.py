"""The RL loop with its rollouts on a real Ray cluster of two nodes: it learns what the local engine learns, and a node
that is lost costs rollouts and nothing else."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import pytest
import torch
from benchmarks.ray_cluster import LocalCluster, local_cluster
from small_engine import new_engine, new_policy

from harena.core.errors import ValidationError
from harena.core.records.training_plans import LossSpec
from harena.training.data.prompts import PromptRow
from harena.training.engines.local import LocalTrainer
from harena.training.engines.ray import RayEngine, RayRollouts
from harena.training.loop.batch import TrainingBatch, TrainingRow
from harena.training.loop.ledger import Ledger
from harena.training.loop.rl import RLLoop, RLSettings
from harena.training.ports import Engine, LossReport, OptimizerStep
from harena.training.rewards import Overlong, contains
from harena.training.rollouts.rollout import Rollouts, SingleTurn
from harena.training.rollouts.trajectory import SampleRequest, Sampling
from harena.training.worker.on_cluster import JobOnCluster

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::ResourceWarning")]  # sockets that Ray leaves open
GROUPS, SIBLINGS = 4, 8


@pytest.fixture(scope="module")
def cluster() -> Iterator[LocalCluster]:
    with local_cluster(nodes=2) as made:
        yield made


@asynccontextmanager
async def on_cluster(
    workers: int, told: list[str] | None = None, **settings: Any
) -> AsyncIterator[tuple[RayEngine, RayRollouts]]:
    """A fresh engine whose rollouts earn what `contains` an "x"."""
    model, tokenizer = new_policy()
    job = await JobOnCluster.open(workers, [].append if told is None else told.append)
    engine = job.engine(model, tokenizer, **settings)
    try:
        yield (
            engine,
            await job.rollouts(
                single_turn=True, recipe="contains_v1", params={"needle": "x"}, overlong=Overlong(policy="score")
            ),
        )
    finally:
        await job.close()
        await engine.close()


async def reinforced(
    engine: Engine, rollouts: Rollouts, *, steps: int, staleness: int = 0, buffer_size: int | None = None,
    ledger: Ledger | None = None, on_step: Callable[[int], None] = lambda step: None,
) -> list[dict[str, float]]:  # fmt: skip
    """The metrics of each step."""
    settings = RLSettings(
        steps=steps,
        groups_per_step=GROUPS,
        group_size=SIBLINGS,
        sampling=Sampling(max_new_tokens=10, stop_tokens=engine.tokenizer.end_tokens),
        learning_rate=1e-2,
        max_steps_off_policy=staleness,
        buffer_size=buffer_size,
        overlong=Overlong(policy="score"),
    )
    rows = [PromptRow(id=f"p{place}", prompt=f"add {place}>") for place in range(GROUPS)]
    told: list[dict[str, float]] = []

    def noted(step: int, metrics: Any) -> None:
        told.append(dict(metrics))
        on_step(step)

    loop = RLLoop(engine, rows, None, settings, rollouts=rollouts, ledger=ledger, probe=None)
    await asyncio.wait_for(loop.run(on_step=noted), 120)
    return told


def weights(engine: LocalTrainer) -> list[bytes]:
    return [parameter.detach().numpy().tobytes() for parameter in engine._model.parameters()]


async def test_one_worker_gives_what_the_local_engine_gives_to_the_bit(cluster: LocalCluster) -> None:
    """In lockstep the same sequences are sampled side by side: the same tokens, rewards and weights."""
    local = new_engine()
    here = await reinforced(local, SingleTurn(contains(needle="x"), overlong=Overlong(policy="score")), steps=8)
    async with on_cluster(1) as (engine, rollouts):
        there = await reinforced(engine, rollouts, steps=8)
        assert [metrics["reward"] for metrics in there] == [metrics["reward"] for metrics in here]
        assert weights(engine) == weights(local)
        assert engine.version == local.version == 8
        assert there[-1]["rollout_workers"] == 1
        sampling = Sampling(max_new_tokens=6)
        prompts = [engine.tokenizer.encode(text) for text in ("add 1>", "add 2>")]
        requests = [
            SampleRequest(prompt=prompt, key=(7, place), sampling=sampling) for place, prompt in enumerate(prompts)
        ]
        assert await asyncio.gather(*engine.sample(requests)) == await asyncio.gather(*local.sample(requests))
    assert here[-1]["reward"] > here[0]["reward"] + 0.2
    await local.close()


async def test_a_node_that_is_lost_costs_rollouts_and_no_step(cluster: LocalCluster, tmp_path: Path) -> None:
    """Every rollout is in the ledger once; what the lost worker had under way was begun anew by the other one, which
    has the newest weights, as has the one that comes later. A buffer of two groups is never exceeded."""
    said: list[str] = []
    ledger = Ledger(tmp_path / "ledger.sqlite")

    def lose(step: int) -> None:
        if step == 2:
            cluster.lose()
        if step == 5:
            cluster.add()

    async with on_cluster(2, said) as (engine, rollouts):
        told = await reinforced(engine, rollouts, steps=24, staleness=1, buffer_size=2, ledger=ledger, on_step=lose)
        assert engine.version == 24
    ledger.close()
    assert [metrics["rollout_workers"] for metrics in told[:2]] == [2, 2]
    assert told[-1]["workers_lost"] == 1
    assert told[-1]["reward"] > told[0]["reward"] + 0.3
    assert 0 < max(metrics["staleness/max"] for metrics in told) <= 1
    assert "was lost" in said[0]
    assert "1 of 2 are left" in said[0]
    with closing(sqlite3.connect(tmp_path / "ledger.sqlite")) as database:
        written = database.execute("SELECT number, sample FROM rollouts").fetchall()
    assert sorted(written) == [(number, sample) for number in range(24 * GROUPS) for sample in range(SIBLINGS)]


@pytest.mark.thorough
async def test_gradients_of_parts_add_up_to_that_of_the_whole(cluster: LocalCluster) -> None:
    """Workers compute parts, with the weights of the last step; one that is lost has its part computed by the other."""
    local = new_engine(keep_reference=True)
    loss = LossSpec(kl_coefficient=0.1)
    tokens = local.tokenizer.encode("add 1>x+12")
    rows = tuple(
        TrainingRow(
            tokens=tokens, mask=(0,) * 6 + (1,) * 4, logprobs=(0.0,) * 6 + (-2.0,) * 4, advantage=(-1.0) ** n * (n + 1)
        )
        for n in range(7)
    )
    batch = TrainingBatch(rows=rows, denominator=28.0)

    async def stepped(engine: LocalTrainer) -> LossReport:
        report = await engine.forward_backward(batch, loss)
        await engine.optim_step(OptimizerStep(learning_rate=1e-2))
        await engine.publish()
        return report

    async with on_cluster(2, data_parallel=True, keep_reference=True) as (engine, _):
        for _ in range(2):
            here, there = await stepped(local), await stepped(engine)
            assert there.loss == pytest.approx(here.loss, abs=1e-6)
            assert there.metrics == pytest.approx(dict(here.metrics), rel=1e-4, abs=1e-5)
        cluster.lose()
        here, there = await stepped(local), await stepped(engine)
        assert there.loss == pytest.approx(here.loss, abs=1e-6)
        for name, parameter in engine._model.named_parameters():
            torch.testing.assert_close(parameter, local._model.get_parameter(name), rtol=1e-3, atol=1e-5)
    await local.close()
    cluster.add()


async def test_what_the_cluster_has_not_is_said(cluster: LocalCluster) -> None:
    with pytest.raises(ValidationError, match="num_rollout_workers: 99, and the nodes of the Ray cluster have"):
        await JobOnCluster.open(99, [].append)
    await (await JobOnCluster.open(99, [].append, goes_on=True)).close()
    job = await JobOnCluster.open(1, [].append)
    job.engine(*new_policy())
    with pytest.raises(ValidationError, match="no reward recipe is called 'nothing_v1'"):
        await job.rollouts(single_turn=True, recipe="nothing_v1", params={})
    await job.close()
