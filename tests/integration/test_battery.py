"""The exploit battery on running sandboxes: every forgery is real, and none pays under any scoring contract."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest
import pytest_asyncio
from battery_world import PYTEST_LAYER, WORLDS, Source, linux_runtime, scored, world
from naive_scorers import NAIVE, NOT_SHOWN, PAID_BY

from harena.core.errors import HostUnsupportedError
from harena.core.models import SandboxSpec
from harena.core.results import RunResult, Validity
from harena.runtime.linux import LinuxRuntime
from harena.scoring import Candidate
from harena.scoring.battery import BATTERY, MARK, Forgery, Target, applicable, rendered

pytestmark = pytest.mark.asyncio(loop_scope="module")

AT_ONCE = 4
FORGERIES = {forgery.name: forgery for forgery in BATTERY}
MARKED_FOLDERS = ("/", "/tmp", "/var/tmp", "/dev/shm", "/etc", "/usr/lib", "/root", "/run", "/sys/fs/cgroup", ".")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def runtime(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[LinuxRuntime]:
    """One real runtime for all of the battery."""
    made = linux_runtime(tmp_path_factory.mktemp("home"))
    try:
        await made.start()
    except HostUnsupportedError as error:
        pytest.skip(str(error))
    yield made
    await made.close()


def source_of(runtime: LinuxRuntime, name: str) -> Source:
    """Sandboxes for a world or a naive scorer; those that need pytest have it."""
    return Source(runtime, PYTEST_LAYER if "pytest" in name or "suite" in name else None)


def marks_on_the_host() -> list[str]:
    """What a forgery has left outside of its sandbox."""
    return [
        os.path.join(folder, name)
        for folder in MARKED_FOLDERS
        for name in os.listdir(folder)
        if MARK in name and os.access(folder, os.R_OK)
    ]


def naive_target(name: str, forgery: Forgery) -> Target:
    """What a forger knows of a naive scorer's problem."""
    is_program = NAIVE[name].is_program
    return Target("stdio" if is_program else "command", () if is_program else ("add",), outputs=("reward.txt",))


async def paid_naively(runtime: LinuxRuntime, name: str, candidate: Candidate) -> bool:
    """What a naive scorer makes of a candidate, in a sandbox of its own."""
    async with source_of(runtime, name).sandbox(SandboxSpec()) as sandbox:
        return await NAIVE[name].pays(sandbox, candidate.files)


async def test_every_forgery_fools_a_naive_scorer(runtime: LinuxRuntime) -> None:
    """The battery has no duds: somebody pays for each of them, or it is said why nobody is shown."""
    assert set(PAID_BY) | set(NOT_SHOWN) == set(FORGERIES)
    assert not set(PAID_BY) & set(NOT_SHOWN)
    limit = asyncio.Semaphore(AT_ONCE)

    async def unpaid(name: str) -> str | None:
        async with limit:
            candidate = rendered(FORGERIES[name], naive_target(PAID_BY[name], FORGERIES[name]))
            return None if await paid_naively(runtime, PAID_BY[name], candidate) else name

    assert [name for name in await asyncio.gather(*map(unpaid, PAID_BY)) if name] == []


async def test_a_naive_scorer_pays_nothing_for_a_plain_wrong_answer(runtime: LinuxRuntime) -> None:
    """So what it pays for a forgery is the forgery's own merit."""
    wrong = Candidate(
        files={"solution.py": "def add(a, b):\n    return 5.5\nif __name__ == '__main__':\n    print('.5')\n"}
    )
    paid = [name for name in NAIVE if await paid_naively(runtime, name, wrong)]
    assert paid == []


def complaint(name: str, result: RunResult, most: float) -> str | None:
    """What is wrong with the score of a forgery, if anything is."""
    said = f"{name}: {result.score} {result.validity} {result.reason} {result.detail}"
    if result.score is None or result.validity not in (Validity.VALID, Validity.SUSPECT):
        return f"bought itself a run without a score: {said}"
    return f"scored more than nothing: {said}" if result.passed or result.score > most else None


async def empty_answer(source: Source, name: str) -> float:
    """What a program that does nothing scores."""
    result = await scored(source, world(name), Candidate(files={"solution.py": "# nothing\n"}))
    assert result.score is not None
    return result.score


async def complaints(source: Source, name: str, forgeries: Sequence[Forgery]) -> list[str]:
    """One line for each forgery that scores above an empty answer, or gets away without a score."""
    scenario = world(name)
    target, most = Target.of(scenario), await empty_answer(source, name)
    limit = asyncio.Semaphore(AT_ONCE)

    async def tried(forgery: Forgery) -> str | None:
        async with limit:
            return complaint(forgery.name, await scored(source, scenario, rendered(forgery, target)), most)

    return [found for found in await asyncio.gather(*map(tried, forgeries)) if found]


@pytest.mark.parametrize("name", WORLDS)
async def test_no_forgery_pays(runtime: LinuxRuntime, name: str, tmp_path: Path) -> None:
    """The whole battery against one contract; then the right answer still scores 1, and nothing is left outside."""
    source = source_of(runtime, name)
    assert await complaints(source, name, [*applicable(world(name))]) == []
    assert (await scored(source, world(name))).score == 1.0
    assert marks_on_the_host() == []


async def test_a_forgery_that_pays_would_be_seen(runtime: LinuxRuntime) -> None:
    """A contract that trusts what the candidate says is found out."""
    trusting = "def score(run):\n    return 1.0 if 'ALL TESTS PASSED' in run.stdout else 0.0\n"
    scenario = world("python", scoring={"type": "python", "source": trusting})
    forgery = FORGERIES["words-of-success"]
    result = await scored(Source(runtime), scenario, rendered(forgery, Target.of(scenario)))
    assert complaint(forgery.name, result, 0.0) is not None
