"""What a gold solution shows is kept for all candidates: nothing of it may be what a busy host did to one run."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
from battery_world import Source, scored
from shared_sandboxes import SHARED

from harena.core.models import SandboxSpec
from harena.core.ports import Death, SandboxPort
from harena.core.results import Trust
from harena.scoring import Scenario, StarvedError, load_scenarios

pytestmark = SHARED
GOLD = "import os\ndef f(): return 0 if os.path.exists('/tmp/busy') else 1  # {}\n"
CONTRACTS: dict[str, dict[str, Any]] = {
    "pytest": {
        "pytest": ["test_it.py"],
        "files": {"test_it.py": "from solution import f\ndef test_a(): assert f() == 1\n"},
    },
    "asserts": {"asserts": "assert f() == 1"},
}


class Spoiled(Source):
    """A source whose first sandboxes of the gold solution are not as others are: a file says so; perhaps a program in
    them was refused a process by no limit of its own, too."""

    def __init__(self, source: Source, gold: str, *, times: int = 1, lacks_processes: bool = False) -> None:
        super().__init__(source.runtime, source.blueprint)
        self.gold, self.lacks_processes = gold.encode(), lacks_processes
        self.left = times

    @asynccontextmanager
    async def sandbox(self, spec: SandboxSpec) -> AsyncIterator[SandboxPort]:
        """A sandbox that is looked into."""
        async with super().sandbox(spec) as made:
            yield _Box(made, self)  # type: ignore[misc]


class _Box:
    def __init__(self, made: SandboxPort, source: Spoiled) -> None:
        self._made, self._source = made, source
        self._is_spoiled = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._made, name)

    async def write_file(self, path: str, content: bytes, **more: Any) -> Any:
        if content == self._source.gold and self._source.left:
            self._source.left -= 1
            self._is_spoiled = True
            await self._made.write_file("/tmp/busy", b"")
        return await self._made.write_file(path, content, **more)

    async def wait_dead(self) -> Death:
        death = await self._made.wait_dead()
        return replace(death, lacked_processes=self._is_spoiled and self._source.lacks_processes)


def _scenario(name: str, program: str, gold: str) -> Scenario:
    contract = {"type": "command", **CONTRACTS[name], "gold": {"solution.py": gold}}
    candidate = {"files": {"solution.py": program}, "entry": "solution.py"}
    return load_scenarios([{"id": "one", "candidate": candidate, "scoring": contract}]).scenarios[0]


@pytest.mark.parametrize("name", CONTRACTS)
async def test_a_failure_that_does_not_come_again_chooses_no_weaker_isolation(shared: Source, name: str) -> None:
    """Who is right after that is paid with the trust of the strongest one."""
    gold = GOLD.format("for a moment")
    source = Spoiled(shared, gold)
    wrong = await scored(source, _scenario(name, "def f(): return 2\n", gold), timeout_seconds=30)
    assert (wrong.score, source.left) == (0.0, 0), wrong.detail
    right = await scored(source, _scenario(name, "def f(): return 1\n", gold), timeout_seconds=30)
    assert (right.score, right.trust) == (1.0, Trust.SEPARATE), right.detail


@pytest.mark.parametrize("name", CONTRACTS)
async def test_what_lacked_a_process_is_forgotten(shared: Source, name: str) -> None:
    """The run is starved, as where the candidate itself lacked one; the next one asks the gold solution anew."""
    gold = GOLD.format("without a process")
    source = Spoiled(shared, gold, times=100, lacks_processes=True)
    wrong = _scenario(name, "def f(): return 2\n", gold)
    with pytest.raises(StarvedError, match="was refused one"):
        await scored(source, wrong, timeout_seconds=30)
    source.left = 0
    again = await scored(source, wrong, timeout_seconds=30)
    assert (again.score, again.trust) == (0.0, Trust.SEPARATE), again.detail
