"""The leak check: after every test here nothing of a node may be left on this machine.

A node that belongs to one test is gone after it; one that a module's or session's fixture keeps is looked at when that
module has ended. What "nothing" means is in `footprint`.
"""

from __future__ import annotations

import ctypes
import gc
import os
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest
import pytest_asyncio
from battery_world import InstalledHere, Source
from shared_sandboxes import shared_source
from training_node import one_node

from footprint import Footprint, descendants, spawners, wait_nothing_below
from harena.runtime.host.link import SpawnerLink
from harena.runtime.host.linux import LinuxRuntime
from harena.runtime.kernel.cgroups import clean_stale, detect

__all__ = ["one_node"]

_PR_SET_CHILD_SUBREAPER = 36
END_SECONDS = 30.0
_owners: set[int] = set()


@pytest.fixture(scope="session", autouse=True)
def _note_spawners() -> Iterator[None]:
    """Remember every spawner that was started from here: its cgroup directories bear its pid."""
    start = SpawnerLink.start

    async def start_and_note(link: SpawnerLink) -> None:
        try:
            await start(link)
        finally:
            if link._process is not None:
                _owners.add(link._process.pid)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SpawnerLink, "start", start_and_note)
        yield


def _close_the_sdk() -> None:
    """The sdk keeps one node for the whole process."""
    portal = sys.modules.get("harena.sdk.portal")
    if portal is not None:
        portal.shutdown()


def leaks(before: Footprint) -> list[str]:
    """What is there and was not there before. Those processes that are about to end are waited for.

    A spawner gives up on cgroup directories that stay busy for half a minute, and the next one removes them: that is
    what is asked for then.
    """
    wait_nothing_below(os.getpid(), END_SECONDS, spare=list(before.below))
    gc.collect()
    found = Footprint.take(owners=_owners).beyond(before)
    if found and all(line.startswith("cgroup ") for line in found):
        clean_stale(detect())
        found = Footprint.take(owners=_owners).beyond(before)
    return found


@pytest.fixture(scope="module", autouse=True)
def _module_leaves_nothing(_note_spawners: None) -> Iterator[None]:
    """Nothing is left when the module's own fixtures have ended."""
    before = Footprint.take()
    yield
    _close_the_sdk()
    assert leaks(before) == []


@pytest.fixture(autouse=True)
def _test_leaves_nothing(_module_leaves_nothing: None) -> Iterator[None]:
    """Nothing is left of a node that this test has opened; a node of a wider fixture is the module's business."""
    before = None if spawners(os.getpid()) else Footprint.take()
    yield
    if before is not None and not spawners(os.getpid()):
        assert leaks(before) == []


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A harena home and a TMPDIR of this test's own.

    In the end both hold what a node may leave: empty directories.
    """
    place, temporary = tmp_path / "home", tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setenv("HARENA_HOME", str(place))
    monkeypatch.setenv("TMPDIR", str(temporary))
    yield place
    left = {str(path.relative_to(tmp_path)) for path in (*place.rglob("*"), *temporary.rglob("*"))}
    assert left <= {"home/empty", "home/spool"}


@pytest_asyncio.fixture
async def runtime(home: Path) -> AsyncIterator[LinuxRuntime]:
    """A node's runtime for one test, closed after it."""
    runtime = LinuxRuntime()
    await runtime.start()
    yield runtime
    await runtime.close()


@pytest.fixture(scope="session")
def suites_layer(tmp_path_factory: pytest.TempPathFactory) -> InstalledHere:
    """pytest, for sandboxes; copied and compiled once for all modules."""
    return InstalledHere(tmp_path_factory.mktemp("layer"))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared(tmp_path_factory: pytest.TempPathFactory, suites_layer: InstalledHere) -> AsyncIterator[Source]:
    """The sandboxes that all tests of a module share, see `shared_sandboxes`."""
    async with shared_source(tmp_path_factory.mktemp("home"), suites_layer) as source:
        yield source


def reap_orphans() -> None:
    """Collect those who have died here as orphans."""
    for entry in descendants(os.getpid(), zombies=True):
        if entry.state == "Z" and entry.parent == os.getpid():
            os.waitpid(entry.pid, 0)


@pytest.fixture
def adopting() -> Iterator[Callable[[], None]]:
    """Orphans below this process come to it, not to pid 1: nothing that a killed client leaves can be missed.

    Gives a function that collects the dead ones, as pid 1 would.
    """
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    assert prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0
    yield reap_orphans
    assert prctl(_PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0) == 0
    wait_nothing_below(os.getpid(), END_SECONDS)
    reap_orphans()
