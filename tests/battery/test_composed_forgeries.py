"""Composed forgeries on running sandboxes: none is paid, and none gets away without a score.

    HARENA_BATTERY_COUNT     combinations for each world (CI: 4; `make test-battery`: 150, more than 5,000 in all)
    HARENA_BATTERY_SEED      the first seed
    HARENA_BATTERY_SECONDS   no new round is begun after so many seconds
    HARENA_BATTERY_BUSY      processes that compute beside it
    HARENA_BATTERY_WORLDS    parts of the names of the worlds that are tried, separated by ";"

Each world draws its own: worlds of one contract try different combinations with one seed. A combination that fails is
shrunk to the fewest primitives that still fail, and told with its seed.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from battery_node import Trial, battery_node, busy_processes, judged, number_of, rounds
from composed_worlds import WITHOUT_BORDER, WORLDS, world
from fake_judge import FakeJudge

from harena.core.errors import HostUnsupportedError
from harena.node.node import Node
from harena.scoring.battery import Target, contract_type
from harena.scoring.battery.composition import Composition, composed, drawn, smaller

pytestmark = pytest.mark.timeout(2 * number_of("HARENA_BATTERY_SECONDS", 90) + 120)

SEEDS_IN_A_ROUND = 2
CLOSE_TEXTS_MAY_SCORE = 0.5
"""a similarity is no verdict: a text that shares digits with the right one is a little like it"""


def chosen_worlds() -> list[str]:
    """All that have a border, or those that are asked for."""
    asked = [part for part in os.environ.get("HARENA_BATTERY_WORLDS", "").split(";") if part]
    if asked:
        return [name for name in WORLDS if any(part in name for part in asked)]
    return [name for name in WORLDS if name not in WITHOUT_BORDER]


def composition_of(name: str, seed: int) -> Composition:
    """What is tried in a world with a seed."""
    own_seed = zlib.crc32(f"{name}:{seed}".encode())
    return drawn(seed=own_seed, contract=contract_type(world(name).scoring))


def trial_of(name: str, composition: Composition, number: object) -> Trial:
    """Its candidate."""
    return Trial(f"{name}/{number}", name, composed(composition, Target.of(world(name))))


def complaint(name: str, run: Mapping[str, Any] | None) -> str | None:
    """What is wrong with a forgery's run: it is paid, or has no score."""
    if run is None:
        return "did not end"
    if run["score"] is None:
        return f"masked: {run['validity']} {run['reason']}: {run['detail'][:160]}"
    most = CLOSE_TEXTS_MAY_SCORE if name == "text_similarity" else 0.0
    if run["score"] > most or run["passed"]:
        return f"paid {run['score']}: {run['reason']}"
    return None if run["validity"] in ("valid", "suspect") else f"validity {run['validity']}"


async def shrunk(node: Node, name: str, composition: Composition, said: str) -> str:
    """The fewest primitives with which it still fails as it did, and what is said of them."""
    kind = said.split()[0].rstrip(":")
    while True:
        tried = [(trial_of(name, less, index), less) for index, less in enumerate(smaller(composition))]
        if not tried:
            break
        runs = await judged(node, [trial for trial, _ in tried], name="shrink")
        failing = [
            (less, found)
            for trial, less in tried
            if (found := complaint(name, runs.get(trial.id))) is not None and found.startswith(kind)
        ]
        if not failing:
            break
        composition, said = failing[0]
    return f"{name}: {composition.name}, else {composition.wrong}: {said}"


@pytest.mark.thorough
async def test_no_composed_forgery_is_paid_or_masked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """More than a hundred combinations over every contract; `make test-battery` tries thousands."""
    count, first = number_of("HARENA_BATTERY_COUNT", 4), number_of("HARENA_BATTERY_SEED", 1)
    seconds, busy = number_of("HARENA_BATTERY_SECONDS", 75), number_of("HARENA_BATTERY_BUSY", 0)
    names = chosen_worlds()
    found: list[str] = []
    tried: list[tuple[str, int]] = []
    with FakeJudge() as judge, busy_processes(busy):
        monkeypatch.setenv("HARENA_JUDGE_BASE_URL", judge.url)
        try:
            async with battery_node(tmp_path) as node:

                async def one_round(begin: int) -> None:
                    seeds = range(begin, min(begin + SEEDS_IN_A_ROUND, first + count))
                    made = {(name, seed): composition_of(name, seed) for name in names for seed in seeds}
                    trials = {key: trial_of(key[0], composition, key[1]) for key, composition in made.items()}
                    runs = await judged(node, list(trials.values()), name=f"composed-{begin}")
                    tried.extend(trials)
                    print(f"{len(tried)} combinations tried", flush=True)
                    for (name, seed), trial in trials.items():
                        if (said := complaint(name, runs.get(trial.id))) is not None:
                            print(f"{name}: {made[name, seed].name}: {said}", flush=True)
                            found.append(await shrunk(node, name, made[name, seed], said))
                            print(found[-1], flush=True)

                await rounds(one_round, range(first, first + count, SEEDS_IN_A_ROUND), seconds=seconds)
        except HostUnsupportedError as error:
            pytest.skip(str(error))
    print(f"{len(tried)} combinations, {len(found)} paid or masked")
    assert found == []


async def test_right_answers_are_paid_in_every_world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else nothing that is unpaid here would say anything."""
    with FakeJudge() as judge:
        monkeypatch.setenv("HARENA_JUDGE_BASE_URL", judge.url)
        try:
            async with battery_node(tmp_path) as node:
                trials = [Trial(name, name, world(name).candidate, is_patient=True) for name in WORLDS]
                runs = await judged(node, trials, name="right")
        except HostUnsupportedError as error:
            pytest.skip(str(error))
    assert {name: (run["score"], run["detail"]) for name, run in runs.items() if run["score"] != 1.0} == {}
