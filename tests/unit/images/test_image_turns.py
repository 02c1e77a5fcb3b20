"""Who may do work on images, and when."""

from __future__ import annotations

import asyncio
import random

import pytest

from harena.core.turns import Turns


@pytest.mark.parametrize("seed", range(20))
async def test_what_always_holds(seed: int) -> None:
    """Never more at one time than there may be, none is forgotten, whoever gives up, and nothing is left at the end."""
    chance = random.Random(seed)
    turns, running, ended = Turns(3, 2), list[str](), list[str]()

    async def one(workspace: str) -> None:
        async with turns.turn(workspace):
            running.append(workspace)
            try:
                assert len(running) <= 3
                assert running.count(workspace) <= 2
                for _ in range(chance.randrange(4)):
                    await asyncio.sleep(0)
            finally:
                running.remove(workspace)
        ended.append(workspace)

    tasks = [asyncio.ensure_future(one(chance.choice("abc"))) for _ in range(60)]
    cancelled = chance.sample(tasks, 20)
    for task in cancelled:
        await asyncio.sleep(0)
        task.cancel()
    told = await asyncio.gather(*tasks, return_exceptions=True)
    assert not [one for one in told if one is not None and not isinstance(one, asyncio.CancelledError)]
    assert len(ended) >= 40
    assert (turns._running, turns._waiting) == ({}, {})


async def test_a_workspace_with_much_work_does_not_take_all() -> None:
    """Who comes later from another workspace goes first."""
    turns, order = Turns(1, 1), list[str]()

    async def one(workspace: str) -> None:
        async with turns.turn(workspace):
            order.append(workspace)
            await asyncio.sleep(0)

    await asyncio.gather(*(one(workspace) for workspace in "aaaab"))
    assert order.index("b") <= 2
