"""kill -9 at random moments: a job goes on, and nothing that it knew is done again.

HARENA_TEST_KILLS says how often each job is killed (3); HARENA_TEST_SEED where (0).
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from mortal_job import digest, new_engine, settings

from harena.training.data.prompts import sample_key
from harena.training.loop.batch import rl_batch
from harena.training.loop.ledger import Ledger
from harena.training.ports import OptimizerStep

KILLS = int(os.environ.get("HARENA_TEST_KILLS", "3"))
SEED = int(os.environ.get("HARENA_TEST_SEED", "0"))
Life = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def live() -> Iterator[Life]:
    """Runs a job until it ends or is killed."""
    program = Path(__file__).with_name("mortal_job.py")
    with subprocess.Popen([sys.executable, str(program)], stdin=-1, stdout=-1, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None

        def life(folder: Path, *, kill_after: int | None = None, keep: int = 2, **given: Any) -> dict[str, Any]:
            order = {"folder": str(folder), "settings": given, "keep": keep, "kill_after": kill_after}
            print(json.dumps(order), file=process.stdin, flush=True)
            answer: dict[str, Any] = json.loads(process.stdout.readline())
            return answer

        yield life
        process.stdin.close()


def stored(folder: Path) -> set[tuple[int, ...]]:
    """The keys of the rollouts that the ledger has."""
    if not (folder / "ledger.sqlite").exists():
        return set()
    ledger = Ledger(folder / "ledger.sqlite")
    keys = {
        sample_key(0, place=entry.prompt, sample=sample, readmissions=entry.readmissions)
        for entry in ledger.admissions()
        for sample in ledger.samples_of(entry.number)
    }
    ledger.close()
    return keys


def made(folder: Path) -> list[tuple[int, ...]]:
    """The keys of the rollouts that were begun, over all lives."""
    file = folder / "made.jsonl"
    return [tuple(json.loads(line)) for line in file.read_text().splitlines()] if file.exists() else []


def die_often(live: Life, folder: Path, whole: int, rng: random.Random, **given: Any) -> dict[str, Any]:
    """A job that is killed KILLS times, then left alone. Nothing that was stored is made again."""
    killed = 0
    while killed < KILLS:
        before, begun = stored(folder), len(made(folder))
        kill_after = rng.randint(1, whole // 2)
        if not live(folder, kill_after=kill_after, **given)["killed"]:
            folder = folder.with_name(f"{folder.name}+")  # it came to its end: another one
            continue
        killed += 1
        assert before.isdisjoint(made(folder)[begun:])
    before, begun = stored(folder), len(made(folder))
    answer = live(folder, **given)
    assert not answer["killed"]
    assert before.isdisjoint(made(folder)[begun:])
    return {**answer, "folder": folder}


def test_sync_ends_with_the_same_weights(live: Life, tmp_path: Path) -> None:
    whole = live(tmp_path / "whole")
    assert whole["digest"]
    rng = random.Random(f"{SEED}/sync")
    again = die_often(live, tmp_path / "killed", whole["moments"], rng)
    assert again["digest"] == whole["digest"]
    kept, known = Ledger(again["folder"] / "ledger.sqlite"), Ledger(tmp_path / "whole" / "ledger.sqlite")
    assert [entry.groups for entry in kept.planned()] == [entry.groups for entry in known.planned()]
    for number in range(14, 16):  # tokens of earlier ones are gone: no checkpoint needs them
        assert [t.tokens for t in kept.rollouts(number).values()] == [t.tokens for t in known.rollouts(number).values()]
    kept.close()
    known.close()


@pytest.mark.parametrize("policy", ["wait", "readmit"])
def test_async_has_each_group_once(live: Life, tmp_path: Path, policy: str) -> None:
    """And the weights that survive are those that the ledger's groups give, trained one after the other."""
    given = {
        "max_steps_off_policy": 2,
        "staleness_policy": policy,
        "keep": 9,
    }  # the tokens of all steps stay in the ledger
    whole = live(tmp_path / "whole", **given)
    again = die_often(live, tmp_path / "killed", whole["moments"], random.Random(f"{SEED}/{policy}"), **given)
    ledger = Ledger(again["folder"] / "ledger.sqlite")
    planned = ledger.planned()
    admitted = {entry.number: entry for entry in ledger.admissions()}
    trained = [number for entry in planned for number in entry.groups]
    assert [entry.step for entry in planned] == list(range(8))
    assert len(trained) == len(set(trained)) == 16
    assert sorted(admitted[number].prompt for number in trained) == list(range(16))
    lives = {life for origin in ledger.lineage() for group in origin.groups.values() for life in group}
    assert len(ledger.lineage()) == 8
    assert all(len(lives_of) == 4 for origin in ledger.lineage() for lives_of in origin.groups.values())
    assert lives <= set(range(KILLS + 1))
    for entry in planned:
        assert all(entry.step - admitted[number].version <= 2 for number in entry.groups)
    assert asyncio.run(trained_by_hand(ledger)) == again["digest"]
    ledger.close()


async def trained_by_hand(ledger: Ledger) -> str:
    """The digest of the weights that the groups of the ledger give."""
    engine, how = new_engine(), settings()
    for entry in ledger.planned():
        groups = [found[0] for number in entry.groups if (found := ledger.group(number)) is not None]
        assert all(t.oldest_version >= entry.step - 2 for group in groups for t in group.trajectories)
        batch, _ = rl_batch(
            groups, rule=how.advantage, loss=how.loss, max_new_tokens=8, temperature=how.sampling.temperature
        )
        if batch.rows:
            await engine.forward_backward(batch, how.loss)
            await engine.optim_step(OptimizerStep(learning_rate=how.learning_rate_at(entry.step)))
    answer = digest(engine)
    await engine.close()
    return answer
