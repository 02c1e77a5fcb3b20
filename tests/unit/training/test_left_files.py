"""Files that a policy leaves in its sandbox: none is read whole into the memory of the training worker."""

from __future__ import annotations

from inspect import Parameter, signature
from typing import Any

import pytest

from harena.core.errors import SandboxFileError
from harena.core.ports import SandboxPort
from harena.runtime.host.box import LinuxSandbox
from harena.sdk.http.sandbox import RemoteSandbox
from harena.testing.fake_runtime import FakeSandbox
from harena.training.environments.sandbox import MOST_FILE_BYTES, SandboxEnvironment, Workplace
from harena.training.environments.task_episodes import TaskEnvironment
from harena.training.environments.tasks import task_of
from harena.training.environments.tool_calls import ToolCall

GIB = 1 << 30


class Box:
    """A sandbox in which every file says that it has a gibibyte."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    async def read_file(self, path: str, *, max_bytes: int, timeout_seconds: float | None = None) -> bytes:
        self.asked.append(max_bytes)
        assert max_bytes < GIB
        raise SandboxFileError(f"{path}: {GIB} bytes, more than {max_bytes}", filepath=path, reason="TOO_LARGE")

    async def processes(self) -> list[Any]:
        return []


def placed(environment: SandboxEnvironment) -> Box:
    """Put the environment in such a sandbox."""
    box: Any = Box()
    environment._opened = Workplace(sandbox=box, directory="/workspace", command_seconds=1.0)
    made: Box = box
    return made


@pytest.mark.parametrize(
    "call",
    [
        ToolCall(name="read_file", arguments={"path": "a"}),
        ToolCall(name="edit_file", arguments={"path": "a", "old": "x", "new": "y"}),
    ],
)
async def test_a_tool_reads_no_file_of_any_size(call: ToolCall) -> None:
    """The policy is told so."""
    environment = SandboxEnvironment()
    box = placed(environment)
    assert "error: /workspace/a: 1073741824 bytes, more than 8388608" in await environment.call(call)
    assert box.asked == [MOST_FILE_BYTES]


async def test_an_answer_file_of_any_size_is_a_fault() -> None:
    """It comes again in a fresh sandbox, and earns the minimum."""
    environment = SandboxEnvironment(answer_files=["a"])
    box = placed(environment)
    with pytest.raises(SandboxFileError, match="more than 8388608"):
        await environment.answer()
    assert box.asked == [MOST_FILE_BYTES]


async def test_a_flag_of_any_size_is_no_flag() -> None:
    task = task_of(
        {
            "name": "flag",
            "instruction": "Leave it.",
            "verification": {"method": "env_flag", "flag_path": "/tmp/flag", "expected": "x"},
        }
    )
    environment = TaskEnvironment(task, acting="text", seconds=10.0)
    box = placed(environment)
    reward = await environment.outcome()
    assert (reward.value, reward.reason) == (0.0, "failed")
    assert "more than 1048576" in reward.detail
    assert box.asked == [1 << 20]


@pytest.mark.parametrize("port", [SandboxPort, LinuxSandbox, RemoteSandbox, FakeSandbox])
def test_no_file_is_read_whole_without_a_bound(port: Any) -> None:
    """Whoever reads one says how much it may be."""
    assert signature(port.read_file).parameters["max_bytes"].default is Parameter.empty
