"""Each moment of a loop counts for one thing."""

from __future__ import annotations

import asyncio

from fake_engine import FakeEngine

from harena.training.loop.time_split import PARTS, TimeSplit, WatchedSampler
from harena.training.rollouts.trajectory import SampleRequest


class Watch:
    """Moved by hand."""

    seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def test_the_parts_add_up_to_the_whole() -> None:
    watch = Watch()
    split = TimeSplit(watch)
    watch.seconds += 1  # nothing is under way
    with split.rollout():
        split.sequences(2)
        watch.seconds += 2  # two are sampled
        split.sequences(-1)
        with split.phase("train"):
            watch.seconds += 4
            split.sequences(-1)
            with split.phase("evaluate"):
                watch.seconds += 8
            watch.seconds += 16
        watch.seconds += 32  # its reward
    watch.seconds += 64
    taken = split.take()
    assert taken.pop("seconds/step") == 127
    assert {name: seconds for name, seconds in taken.items() if seconds} == {
        "seconds/wait": 65, "seconds/generate": 2, "seconds/train": 20, "seconds/evaluate": 8, "seconds/reward": 32,
    }  # fmt: skip
    assert {name.removeprefix("seconds/") for name in taken} == set(PARTS)
    watch.seconds += 1
    assert split.take()["seconds/step"] == 1


async def test_sequences_are_seen_until_they_end() -> None:
    """Also one that is cancelled."""
    watch, engine = Watch(), FakeEngine()
    split = TimeSplit(watch)
    gate = engine.held[0, 0, 0] = asyncio.Event()
    requests = [SampleRequest(prompt=(5,), key=(0, place, 0, 0)) for place in (0, 0, 1)]
    held, cancelled, quick = WatchedSampler(engine, split).sample(requests)
    await quick
    watch.seconds += 1
    cancelled.cancel()
    await asyncio.sleep(0)
    watch.seconds += 1
    gate.set()
    await held
    await asyncio.sleep(0)
    watch.seconds += 4
    taken = split.take()
    assert (taken["seconds/generate"], taken["seconds/wait"]) == (2, 4)
