"""A sandbox goes into its cgroups itself. One that cannot runs nothing: it would have no limits."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from footprint import children, spawners
from harena.core.errors import PlatformError
from harena.core.models import SandboxSpec
from harena.core.records.blueprints import Blueprint
from harena.core.records.sandboxes import Limits
from harena.runtime.host import link
from harena.runtime.host.linux import LinuxRuntime
from harena.runtime.host.mechanisms import in_force
from harena.testing.conformance_base import run

# The spawner, but other files than those of its cgroups are given to sandboxes that may have more than 101 processes.
START = """
import os, sys
sys.path.insert(0, sys.argv.pop(1))
from harena.runtime.kernel.cgroup_tree import Pool
acquire = Pool.acquire
def acquired(self, **given):
    group = acquire(self, **given)
    vars(group).pop("open_entries", None)
    if given.get("share") and given["pids"] > 101:
        group.open_entries = lambda: [os.open(FILE) for _ in range(COUNT)]
    return group
Pool.acquire = acquired
from harena.runtime.spawner.spawner import main
main()
"""
FILES = {"ENOSPC": "'/dev/full', os.O_WRONLY", "EBADF": "'/dev/null', os.O_RDONLY"}
BLUEPRINTS = {
    "a template that runs nothing of others": None,
    "one that has imported a blueprint's modules": Blueprint(id="bp_warm", name="warm", warm=("json",), env={"A": "b"}),
}


@pytest.fixture
async def runtime(tmp_path: Path) -> AsyncIterator[LinuxRuntime]:
    made = LinuxRuntime(home=tmp_path)
    yield made
    await made.close()


def spec(number: int) -> SandboxSpec:
    """Limits that nobody has asked for, so that none is made ahead."""
    return SandboxSpec(limits=Limits(pids=100 + number))


def given(file: str, count: int) -> str:
    """What starts a spawner that gives so many of these."""
    return START.replace("FILE", file).replace("COUNT", str(count))


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("blueprint", BLUEPRINTS)
async def test_a_sandbox_that_cannot_go_into_its_cgroups_runs_nothing(
    runtime: LinuxRuntime, monkeypatch: pytest.MonkeyPatch, blueprint: str, file: str
) -> None:
    """The error is the platform's and says what has failed, in Python and in machine code (from the second on)."""
    monkeypatch.setattr(link, "_START", given(FILES[file], 1))
    for _ in range(3):
        with pytest.raises(PlatformError, match="cgroup"):
            await runtime.create(spec(2), BLUEPRINTS[blueprint])


@pytest.mark.parametrize("machine_code", [True, False])
@pytest.mark.parametrize("blueprint", BLUEPRINTS)
async def test_a_sandbox_for_which_not_all_files_have_come_is_not_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, blueprint: str, machine_code: bool
) -> None:
    """A template gets the first ones where there is no room for all: such a sandbox would lack some of its cgroups.
    Whoever has another one of that template keeps it."""
    monkeypatch.setattr(link, "_START", given("'/dev/null', os.O_WRONLY", 20))
    runtime = LinuxRuntime(home=tmp_path, mechanisms=replace(in_force(), machine_code=machine_code))
    held = await runtime.create(spec(1), BLUEPRINTS[blueprint])
    for number in (2, 2, 3):
        with pytest.raises(PlatformError, match="sandbox start"):
            await runtime.create(spec(number), BLUEPRINTS[blueprint])
    again = await runtime.create(spec(1), BLUEPRINTS[blueprint])
    for sandbox in (held, again):
        assert (await run(sandbox, "echo", "here")).stdout == b"here\n"
    (spawner,) = spawners(os.getpid())
    assert len(children(spawner)) == 1
    await runtime.close()
