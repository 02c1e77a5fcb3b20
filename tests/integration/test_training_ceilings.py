"""Sandboxes of a training job's worker, and what its workspace may use."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import pytest

import harena
from harena.core import settings
from harena.core.errors import LimitExceededError, SandboxValidationError
from harena.core.models import MIB
from harena.core.records.sandboxes import Limits
from harena.core.workspace import WorkspaceLimits
from harena.jobs.training.owned_training import Workers
from harena.sdk.scores import score
from harena.training.data.prompts import PromptRow
from harena.training.environments.sandbox import SandboxEnvironment

CEILINGS = WorkspaceLimits(
    sandboxes=1,
    runs=1,
    sandbox_memory_bytes=256 * MIB,
    sandbox_pids=32,
    sandbox_cpu=1.0,
    sandbox_disk_bytes=32 * MIB,
    sandbox_inodes=1000,
    sandbox_output_bytes=MIB,
    sandbox_open_files=128,
    sandbox_lifetime_seconds=600.0,
)
NAMES = [field.name for field in fields(Limits)]
OF_SCENARIOS = {"memory_bytes": "memory_mb", "disk_bytes": "disk_mb", "output_bytes": "output_mb"}
ROW = PromptRow(id="row", prompt="?", scoring={})


async def limits_of(_: str) -> WorkspaceLimits:
    return CEILINGS


@pytest.fixture(scope="module", autouse=True)
def workers_node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The node inside this process is opened as a worker's is."""
    env = asyncio.run(Workers(command=(), env={}, limits_of=limits_of).env_of("tests"))
    harena.shutdown()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(settings.HOME.name, str(tmp_path_factory.mktemp("home")))
        for name, value in env.items():
            patch.setenv(name, value)
        yield
        harena.shutdown()


def over(name: str) -> Any:
    """A limit above the workspace's, and of the kind that the field has."""
    most = getattr(CEILINGS, f"sandbox_{name}")
    return 3 * most


@pytest.fixture
def contract() -> dict[str, Any]:
    return {"type": "tests", "entry_point": "f", "checks": [{"args": [], "expected": 1}]}


@pytest.mark.parametrize("name", NAMES)
async def test_an_environment_that_asks_for_more_than_a_ceiling(name: str) -> None:
    """It is refused, and the refusal names the limit."""
    environment = SandboxEnvironment(limits=Limits(**{name: over(name)}))
    with pytest.raises(SandboxValidationError, match=f"sandbox_{name}"):
        await environment.reset(ROW)
    await environment.close()


async def test_an_environment_that_asks_for_nothing() -> None:
    """It has the ceilings where the defaults are above them."""
    environment = SandboxEnvironment()
    await environment.reset(ROW)
    info = environment.at.sandbox.info
    assert info is not None
    found = info.limits
    await environment.close()
    assert {name: getattr(found, name) for name in NAMES} == {
        name: min(getattr(CEILINGS, f"sandbox_{name}"), getattr(Limits(), name) or 4096.0) for name in NAMES
    }


async def test_a_command_of_an_environment_that_prints_more_than_a_ceiling() -> None:
    """The rest is dropped."""
    environment = SandboxEnvironment()
    await environment.reset(ROW)
    done = await environment.at.command("head -c 3000000 /dev/zero")
    await environment.close()
    assert len(done.stdout) == CEILINGS.sandbox_output_bytes


@pytest.mark.parametrize("name", ["memory_bytes", "disk_bytes", "output_bytes", "pids", "cpu", "open_files"])
async def test_a_reward_whose_scenario_asks_for_more_than_a_ceiling(name: str, contract: dict[str, Any]) -> None:
    """Its program does not run."""
    written = OF_SCENARIOS.get(name, name)
    asked = over(name) // MIB if written.endswith("_mb") else over(name)
    with pytest.raises(SandboxValidationError, match=f"sandbox_{name}"):
        await score.aio("def f():\n    return 1\n", contract, limits={written: asked})


LOOKS = {
    "memory_bytes": "bytearray(b'x') * (400 << 20)",
    "pids": "[threading.Thread(target=threading.Event().wait, args=(30,), daemon=True).start() for _ in range(60)]",
    "disk_bytes": "[open('/tmp/large', 'ab').write(b'x' * (1 << 20)) for _ in range(64)]",
    "inodes": "[open(f'/tmp/{n}', 'w').close() for n in range(2000)]",
    "open_files": "[os.dup(0) for _ in range(200)]",
}


@pytest.mark.parametrize("name", LOOKS)
async def test_a_reward_whose_program_takes_more_than_a_ceiling(name: str, contract: dict[str, Any]) -> None:
    """It asks for nothing, and does not pass."""
    program = f"import os, threading\ndef f():\n    taken = {LOOKS[name]}\n    return 1\n"
    judged = await score.aio(program, contract)
    assert not judged.passed, judged
    assert (await score.aio("def f():\n    return 1\n", contract)).passed


async def test_a_workspace_that_may_have_no_runs(monkeypatch: pytest.MonkeyPatch, contract: dict[str, Any]) -> None:
    """No reward is had, and the reason is said."""
    none = await Workers(command=(), env={}, limits_of=_no_runs).env_of("tests")
    harena.shutdown()
    monkeypatch.setenv(settings.WORKSPACE_LIMITS.name, none[settings.WORKSPACE_LIMITS.name])
    with pytest.raises(LimitExceededError, match="runs"):
        await score.aio("def f():\n    return 1\n", contract)
    harena.shutdown()


async def _no_runs(_: str) -> WorkspaceLimits:
    return WorkspaceLimits(runs=0)
