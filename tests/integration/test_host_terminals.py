"""The host's terminals, which commands have: counted until they are gone, and some are left for other workspaces."""

from __future__ import annotations

import asyncio
import os

import pytest
from counted_terminals import Counted
from test_terminals import ended, on_terminal

from harena.core.errors import LimitExceededError, SandboxTerminatedError
from harena.core.models import ExecOutcome, SandboxSpec
from harena.runtime.host import terminals
from harena.runtime.host.linux import LinuxRuntime
from harena.testing.conformance_base import run

DAEMON = ("sh", "-c", "trap '' HUP; sleep 3600 &")
"""leaves a program that keeps the terminal"""


@pytest.fixture
def shares(monkeypatch: pytest.MonkeyPatch) -> Counted:
    """The terminals of this node: eight."""
    shares = Counted(8)
    monkeypatch.setattr(terminals, "TERMINALS", shares)
    return shares


async def test_a_sandbox_that_ends_takes_its_terminals_along(runtime: LinuxRuntime, shares: Counted) -> None:
    """Those of running commands, and those that a daemon has kept."""
    sandbox = await runtime.create(SandboxSpec())
    await ended(await on_terminal(sandbox, *DAEMON))
    running = await on_terminal(sandbox, "cat")
    assert len(shares._owners) == 2
    await sandbox.destroy()
    with pytest.raises(SandboxTerminatedError):
        await running.wait()
    assert not shares._owners


@pytest.mark.parametrize("on_name", [False, True], ids=["streams", "/dev/tty"])
async def test_a_daemons_terminal_counts_until_it_is_gone(
    runtime: LinuxRuntime, shares: Counted, on_name: bool
) -> None:
    """However it holds it, and whatever it writes; the result waits for nothing of that."""
    sandbox = await runtime.create(SandboxSpec())
    hold, out = ("exec 3<>/dev/tty <&- >&- 2>&-; ", 3) if on_name else ("", 1)
    daemon = f"read word </tmp/one; head -c 100000 /dev/zero >&{out}; read word </tmp/two"
    text = f"trap '' HUP; {hold}mkfifo /tmp/one /tmp/two; ({daemon}) &"
    assert await ended(await on_terminal(sandbox, "sh", "-c", text)) == (ExecOutcome.EXITED, 0, b"")
    (left,) = shares._owners
    for place in ("/tmp/one", "/tmp/two"):
        assert list(shares._owners) == [left]
        result = await run(sandbox, "sh", "-c", f"echo go >{place}", timeout_seconds=60)
        assert result.returncode == 0
    async with asyncio.timeout(30):
        await shares.all_gone.wait()
    assert not os.path.exists(f"/proc/self/fd/{left}")
    assert await sandbox.processes() == []
    await sandbox.destroy()


async def test_a_workspace_leaves_terminals_for_others(runtime: LinuxRuntime, shares: Counted) -> None:
    """It hears what to do; the next workspace gets one at once, and what has ended makes room."""
    greedy, other = [await runtime.create(SandboxSpec(), workspace=name) for name in ("greedy", "other")]
    held = [await on_terminal(greedy, "cat") for _ in range(3)]
    held.append(await on_terminal(greedy, *DAEMON))
    await ended(held.pop())
    descriptors = len(os.listdir("/proc/self/fd"))
    with pytest.raises(LimitExceededError, match=r"have 4 terminals.*end commands") as refused:
        await on_terminal(greedy, "cat")
    assert (refused.value.reason, refused.value.retry_delay is not None) == ("TERMINALS", True)
    assert len(os.listdir("/proc/self/fd")) == descriptors
    assert (await run(greedy, "echo", "on")).stdout == b"on\n"
    assert (await ended(await on_terminal(other, "echo", "mine")))[2] == b"mine\r\n"
    held[0].close_stdin()
    await ended(held[0])
    assert (await ended(await on_terminal(greedy, "echo", "again")))[2] == b"again\r\n"
    for sandbox in (greedy, other):
        await sandbox.destroy()
    assert not shares._owners
