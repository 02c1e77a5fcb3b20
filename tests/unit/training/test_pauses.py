"""A job whose platform fails too often waits until it works again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fake_engine import FakeEngine

from harena.testing.clock import FakeClock
from harena.training.data.prompts import PromptRow
from harena.training.loop.ledger import Ledger
from harena.training.loop.pauses import Pause
from harena.training.loop.rl import RLLoop, RLSettings
from harena.training.rollouts.trajectory import Reward, RewardValidity, Sampling

ROWS = [PromptRow(id=f"p{number}", prompt=f"prompt {number}") for number in range(10)]
SETTINGS = RLSettings(steps=8, groups_per_step=3, group_size=4, sampling=Sampling(max_new_tokens=4), masked_window=40)


def told_of_pauses(told: list[tuple[str, dict[str, Any]]]) -> Callable[[str, Mapping[str, Any]], None]:
    """Keeps what a loop tells, but for what the first answers earned."""
    return lambda name, content: told.append((name, dict(content))) if name != "first_batch" else None


class Outage:
    """The platform fails from the 25th reward on, until it is mended."""

    deterministic = False

    def __init__(self) -> None:
        self.asked = 0
        self.lost = 0
        self.mended = False

    async def reward(self, row: PromptRow, text: str) -> Reward:
        self.asked += 1
        if self.asked >= 25 and not self.mended:
            self.lost += 1
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
        max_steps_off_policy=staleness,
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
        if not paused.empty():  # what had ended before it was mended counts all the same
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
    await loop.run(on_event=told_of_pauses(told))
    assert [name for name, _ in told] == ["paused", "resumed"]
    assert told[1][1]["by"] == "probe"
    assert probes == [1, 3, 7, 15, 31, 61, 91]


async def test_it_goes_on_when_rewards_can_be_had_again() -> None:
    """The platform works all the time, and what judges does not; a prompt that is broken by itself holds nothing up."""
    clock, told, asked = FakeClock(), [], []

    class Judge(Outage):
        async def reward(self, row: PromptRow, text: str) -> Reward:
            if text:
                return await super().reward(row, text)
            asked.append(row.id)
            self.mended = len(asked) > 3
            lost = Reward(value=None, validity=RewardValidity.INFRA, reason="down")
            return Reward(value=0.0) if self.mended and row.id != "p3" else lost

    async def probe() -> bool:
        return True

    loop = RLLoop(FakeEngine(), ROWS, Judge(), SETTINGS, clock=clock, probe=probe)
    await loop.run(on_event=told_of_pauses(told))
    assert asked == ["p0", "p1", "p2", "p3", "p4"]
    assert [name for name, _ in told] == ["paused", "resumed"]
    assert told[0][1]["why"] == "platform_error"


async def test_a_recipe_that_takes_no_empty_text_says_nothing_of_the_platform() -> None:
    class Picky(Outage):
        async def reward(self, row: PromptRow, text: str) -> Reward:
            if not text:
                self.mended = True
                raise ValueError("nothing was said")
            return await super().reward(row, text)

    async def probe() -> bool:
        return True

    told: list[tuple[str, dict[str, Any]]] = []
    loop = RLLoop(FakeEngine(), ROWS, Picky(), SETTINGS, clock=FakeClock(), probe=probe)
    await loop.run(on_event=told_of_pauses(told))
    assert [name for name, _ in told] == ["paused", "resumed"]


@pytest.mark.parametrize("staleness", [0, 2])
async def test_rewards_that_were_lost_are_asked_for_once_more(tmp_path: Path, staleness: int) -> None:
    """After the pause, of the groups that wait or are under way, and written down; others are not asked for again."""
    outage, told = Outage(), []
    settings = replace(SETTINGS, max_steps_off_policy=staleness)

    async def probe() -> bool:
        outage.mended = True
        return True

    ledger = Ledger(tmp_path / "ledger.sqlite")
    loop = RLLoop(FakeEngine(), ROWS, outage, settings, ledger=ledger, clock=FakeClock(), probe=probe)
    await loop.run(
        on_step=lambda step, metrics: told.append(metrics["masked_share"]),
        on_event=lambda name, content: told.append(name) if name != "first_batch" else None,
    )
    assert [entry for entry in told if entry] == ["paused", "resumed"], "no step has learned from less"
    kept = [rollout for number in range(24) for rollout in ledger.rollouts(number).values()]
    assert all(rollout.reward.value is not None for rollout in kept)
    # each was asked for once, those that were lost twice, and the empty answer of the probe
    assert outage.asked == len(kept) + outage.lost + 1
    ledger.close()


async def test_a_job_that_ended_in_a_pause_asks_for_what_it_lost(tmp_path: Path) -> None:
    """It is how a job gets a judge with another address: cancelled, and tried again."""
    outage = Outage()

    def new_loop() -> RLLoop:
        ledger = Ledger(tmp_path / "ledger.sqlite")
        return RLLoop(FakeEngine(), ROWS, outage, SETTINGS, ledger=ledger, clock=FakeClock(), probe=None)

    paused = asyncio.Event()
    task = asyncio.create_task(new_loop().run(on_event=lambda name, content: name == "paused" and paused.set()))
    await paused.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    outage.mended, before, told = True, outage.asked, list[float]()
    await new_loop().run(on_step=lambda step, metrics: told.append(metrics["masked_share"]))
    assert told == [0.0] * 8
    assert (before, outage.asked) == (36, 8 * 12 + outage.lost)


async def test_a_pause_can_be_cancelled() -> None:
    loop = RLLoop(FakeEngine(), ROWS, Outage(), SETTINGS, clock=FakeClock(auto_jump=False), probe=asyncio.Event().wait)
    paused = asyncio.Event()
    task = asyncio.create_task(loop.run(on_event=lambda name, content: paused.set()))
    await paused.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
