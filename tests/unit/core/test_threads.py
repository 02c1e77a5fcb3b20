"""Threads of many owners: none can use up another's."""

from __future__ import annotations

import asyncio
import re
import threading
from pathlib import Path

import pytest

import harena
from harena.core.errors import LimitExceededError
from harena.core.threads import ThreadKind, work_for

PACKAGE = Path(harena.__file__).parent
DEFAULT_EXECUTOR = re.compile(r"asyncio\.to_thread\(|run_in_executor\(\s*None")


async def test_an_owner_who_fills_its_threads_holds_up_nobody_else() -> None:
    """Its own work waits, and beyond a bound is refused; another owner's is done at once."""
    kind, held = ThreadKind("test", most_threads=2, most_waiting=3), threading.Event()
    work_for.set("hostile")
    stuck = [asyncio.ensure_future(kind.run(held.wait)) for _ in range(5)]
    await asyncio.sleep(0)
    with pytest.raises(LimitExceededError) as refused:
        await kind.run(held.is_set)
    assert (refused.value.reason, refused.value.retry_delay is not None) == ("BUSY", True)
    assert await kind.run_for("other", held.is_set) is False
    held.set()
    assert await asyncio.gather(*stuck) == [True] * 5
    assert await kind.run(held.is_set)


async def test_tasks_work_for_the_workspace_of_who_started_them() -> None:
    """Also inside the thread."""
    kind = ThreadKind("test", most_threads=1)
    work_for.set("ours")
    assert await asyncio.ensure_future(kind.run(work_for.get)) == "ours"


async def test_idle_pools_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Owners who came once leave no threads."""
    monkeypatch.setattr("harena.core.threads.IDLE_SECONDS", 0.0)
    kind = ThreadKind("test", most_threads=1)
    for number in range(20):
        await kind.run_for(f"owner {number}", threading.get_ident)
    ended = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().call_later(0.01, ended.set_result, None)  # timers come in their order
    await ended
    assert kind.pools == 0


async def test_a_pool_ends_whose_caller_did_not_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """The work of a caller who was cancelled runs on; when it has ended, its threads do."""
    monkeypatch.setattr("harena.core.threads.IDLE_SECONDS", 0.0)
    kind, held, begun = ThreadKind("test", most_threads=1), threading.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()

    def work() -> None:
        loop.call_soon_threadsafe(begun.set)
        held.wait()

    calling = asyncio.ensure_future(kind.run_for("owner", work))
    await begun.wait()
    calling.cancel()
    await asyncio.wait([calling])
    passed = loop.create_future()
    loop.call_later(0.01, passed.set_result, None)  # timers come in their order
    await passed
    assert kind.pools == 1
    held.set()
    async with asyncio.timeout(30):
        while kind.pools:
            turn = loop.create_future()
            loop.call_soon(turn.set_result, None)
            await turn


def test_nothing_of_a_server_uses_the_loops_own_executor() -> None:
    """It is one for all: whoever fills it stops everybody."""
    found = [
        f"{path.relative_to(PACKAGE)}:{number}"
        for room in ("core", "server", "node", "runtime", "store", "jobs", "scoring")
        for path in sorted((PACKAGE / room).rglob("*.py"))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if DEFAULT_EXECUTOR.search(line)
    ]
    assert found == []
