"""A job whose platform fails too often waits until it works again."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from fake_engine import FakeEngine

from harena.testing.clock import FakeClock
from harena.training.pauses import Pause
from harena.training.prompts import PromptRow
from harena.training.rl import RLLoop, RLSettings
from harena.training.trajectory import Reward, RewardValidity, Sampling

ROWS = [PromptRow(id=f"p{number}", prompt=f"prompt {number}") for number in range(10)]
SETTINGS = RLSettings(steps=8, groups_per_step=3, group_size=4, sampling=Sampling(max_new_tokens=4), masked_window=40)


class Outage:
    """The platform fails from the 25th reward on, until it is mended."""

    deterministic = False

    def __init__(self) -> None:
        self.asked = 0
        self.mended = False

    async def reward(self, row: PromptRow, text: str) -> Reward:
        self.asked += 1
        if self.asked >= 25 and not self.mended:
            return Reward(value=None, validity=RewardValidity.INFRA, reason="platform_error")
        return Reward(value=float(text == "right"))


def test_the_share_is_of_the_last_rollouts() -> None:
    pause = Pause(limit=0.05, window=40, clock=FakeClock())
    for masked in (True, True):
        pause.add(masked=masked)
    assert not pause.needed  # 2 of 40 are not more than 5 %, however few have ended
    pause.add(masked=True)
    assert pause.needed
    for _ in range(38):
        pause.add(masked=False)
    assert (pause.masked, pause.needed) == (2, False)
    pause.add(masked=True, why="there is no judge")
    pause.add(masked=False)
    assert pause.why == "there is no judge"


@pytest.mark.parametrize("staleness", [0, 2])
async def test_it_waits_until_it_is_told(staleness: int) -> None:
    """Nothing is trained and nobody admitted meanwhile; told too early, it pauses again."""
    engine, outage, told = FakeEngine(), Outage(), []
    paused = asyncio.Queue[dict[str, Any]]()

    def event(name: str, content: Any) -> None:
        told.append(name)
        if name == "paused":
            paused.put_nowait({"version": engine.version, **content})

    settings = RLSettings(
        steps=8, groups_per_step=3, group_size=4, sampling=Sampling(max_new_tokens=4), masked_window=40,
        max_staleness=staleness,
    )  # fmt: skip
    loop = RLLoop(engine, ROWS, outage, settings, clock=FakeClock(), probe=None)
    loop.resume()  # of no effect
    task = asyncio.create_task(loop.run(on_event=event))
    first = await paused.get()
    assert first["masked"] >= 3
    assert first["window"] == 40
    assert first["step"] == first["version"]
    for _ in range(50):
        await asyncio.sleep(0)
    asked, version = outage.asked, engine.version
    for _ in range(50):
        await asyncio.sleep(0)
    assert (outage.asked, engine.version) == (asked, version)
    loop.resume()
    again = await paused.get()
    assert again["version"] > version
    outage.mended = True
    loop.resume()
    while not task.done() and paused.empty():
        await asyncio.sleep(0)
        if not paused.empty():  # what was sampled before it was mended is lost all the same
            paused.get_nowait()
            loop.resume()
    await task
    assert engine.version == 8
    assert told.count("paused") == told.count("resumed")


async def test_it_goes_on_when_a_probe_says_so() -> None:
    clock, outage, told, probes = FakeClock(), Outage(), [], []

    async def probe() -> bool:
        probes.append(clock.now())
        outage.mended = len(probes) == 7
        return outage.mended

    loop = RLLoop(FakeEngine(), ROWS, outage, SETTINGS, clock=clock, probe=probe)
    await loop.run(on_event=lambda name, content: told.append((name, dict(content))))
    assert [name for name, _ in told] == ["paused", "resumed"]
    assert told[1][1]["by"] == "probe"
    assert probes == [1, 3, 7, 15, 31, 61, 91]


async def test_a_pause_can_be_cancelled() -> None:
    loop = RLLoop(FakeEngine(), ROWS, Outage(), SETTINGS, clock=FakeClock(auto_jump=False), probe=asyncio.Event().wait)
    paused = asyncio.Event()
    task = asyncio.create_task(loop.run(on_event=lambda name, content: paused.set()))
    await paused.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
