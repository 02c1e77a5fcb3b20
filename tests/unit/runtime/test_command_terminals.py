"""Terminals of commands: how many a workspace may have, when one counts as gone, and what a failure leaves."""

from __future__ import annotations

import asyncio
import errno
import os
import socket
from contextlib import suppress
from typing import Any

import pytest
from counted_terminals import Counted
from test_execs import Outside

from harena.core.errors import LimitExceededError, PlatformError
from harena.core.models import ExecRequest
from harena.core.records.sandboxes import Limits
from harena.runtime.host import terminals
from harena.runtime.host.box import LinuxSandbox
from harena.runtime.host.execs import LinuxExec
from harena.runtime.host.shares import Shares
from harena.runtime.host.terminals import MOST_TERMINALS, LeftTerminals, closed_if_let_go, open_terminal

HOSTS_RESERVE = 1024
"""kernel.pty.reserve, as the kernel has it"""


@pytest.fixture
def shares(monkeypatch: pytest.MonkeyPatch) -> Counted:
    """Four terminals."""
    shares = Counted(4)
    monkeypatch.setattr(terminals, "TERMINALS", shares)
    return shares


def descriptors() -> list[str]:
    """Those of this process, and what they lead to."""
    found = []
    for name in sorted(os.listdir("/proc/self/fd")):
        try:
            found.append(f"{name} {os.readlink(f'/proc/self/fd/{name}')}")
        except OSError:
            continue  # the list's own
    return found


def test_workspaces_share_half_of_the_hosts_reserve() -> None:
    """However many one asks for, there is one for the next."""
    assert 2 * MOST_TERMINALS <= HOSTS_RESERVE
    shares = Shares(MOST_TERMINALS)
    counts = [sum(shares.take((name, number), name) for number in range(MOST_TERMINALS)) for name in "abcdefgh"]
    assert counts == [256, 128, 64, 32, 16, 8, 4, 2]


def test_one_too_many_is_refused_and_holds_nothing(shares: Shares) -> None:
    """The workspace hears how many it has."""
    ours = [open_terminal("ours") for _ in range(2)]
    before = descriptors()
    with pytest.raises(LimitExceededError, match="have 2 terminals") as refused:
        open_terminal("ours")
    assert refused.value.reason == "TERMINALS"
    assert descriptors() == before
    ours.append(open_terminal("theirs"))
    for ends in ours:
        os.close(ends[1])
        assert closed_if_let_go(ends[0])
    assert not shares._owners


def test_a_terminal_counts_while_somebody_has_its_other_end(shares: Shares) -> None:
    """Also where it was opened anew in the moment in which it was let go."""
    ours, theirs = open_terminal("ours")
    again = os.dup(theirs)
    name = os.ttyname(theirs)
    os.close(theirs)
    assert not closed_if_let_go(ours)
    os.close(again)
    opened = os.open(name, os.O_RDWR | os.O_NOCTTY)
    assert not closed_if_let_go(ours)
    assert shares.count_of("ours") == 1
    os.close(opened)
    assert closed_if_let_go(ours)
    assert not shares._owners


def test_a_terminal_that_is_opened_anew_meanwhile_stays(shares: Shares, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the look and the close nobody opens it; who was faster has it, and may open it later, too."""
    ours, theirs = open_terminal("ours")
    name = os.ttyname(theirs)
    os.close(theirs)
    opened: list[int] = []
    look = terminals._is_let_go

    def slow(descriptor: int) -> bool:
        found = look(descriptor)
        if not opened:
            opened.append(os.open(name, os.O_RDWR | os.O_NOCTTY))
        return found

    monkeypatch.setattr(terminals, "_is_let_go", slow)
    assert not closed_if_let_go(ours)
    assert shares.count_of("ours") == 1
    opened.append(os.open(name, os.O_RDWR | os.O_NOCTTY))
    for descriptor in opened:
        os.close(descriptor)
    assert closed_if_let_go(ours)


def test_a_host_without_terminals_is_named(shares: Shares, monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer says what the operator can do."""

    def none_left() -> tuple[int, int]:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "openpty", none_left)
    with pytest.raises(PlatformError, match=r"no terminal left.*kernel\.pty\.max"):
        open_terminal("ours")
    assert not shares._owners


async def test_a_daemons_terminal_is_kept_until_it_is_gone(shares: Counted) -> None:
    """Its command has ended; what is written to it is dropped, and its end gives it back."""
    sandbox: Any = Outside()
    sandbox.left_terminals = LeftTerminals(sandbox.loop, sandbox.workspace)
    made = LinuxExec(sandbox, 1, ExecRequest(argv=("x",), terminal=(80, 24)), 1 << 20)
    (theirs,) = made.open_descriptors()
    made.started()
    os.write(theirs, b"before")
    made.exited(0, 0, 0, 0, False)
    assert (await made.wait()).stdout == b"before"
    os.write(theirs, b"after")
    assert shares.count_of("ours") == 1
    os.close(theirs)
    async with asyncio.timeout(30):
        await shares.all_gone.wait()
    assert made.stdout.getvalue() == b"before"


@pytest.mark.parametrize("let_go", ["close", "forget"])
async def test_the_end_of_a_sandbox_lets_all_go(shares: Shares, let_go: str) -> None:
    """Its death, and a fork of this process: no descriptor stays."""
    before = descriptors()
    left = LeftTerminals(asyncio.get_running_loop(), "ours")
    ends = [open_terminal("ours") for _ in range(2)]
    for ours, _ in ends:
        os.set_blocking(ours, False)
        left.keep(ours)
    if let_go == "forget":
        for ours, _ in ends:
            asyncio.get_running_loop().remove_reader(ours)
    getattr(left, let_go)()
    for _, theirs in ends:
        os.close(theirs)
    assert not shares._owners
    assert descriptors() == before


class Link:
    """A spawner that nobody asks anything."""

    def kill(self, number: int) -> None:
        """Nothing is killed."""


@pytest.mark.parametrize("copies", [0, 1], ids=["no descriptor", "one descriptor"])
@pytest.mark.parametrize("terminal", [None, (80, 24)], ids=["streams", "terminal"])
async def test_a_command_whose_order_cannot_be_kept_holds_nothing(
    shares: Counted, monkeypatch: pytest.MonkeyPatch, terminal: tuple[int, int] | None, copies: int
) -> None:
    """Its init is behind with what it reads, and this process can open no more."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.setblocking(False)
    link: Any = Link()
    sandbox = LinuxSandbox(
        link, 1, ours, workspace="ours", limits=Limits(), environment={}, workdir="/", warm=False, enforcement={}
    )
    with suppress(BlockingIOError):
        while True:
            ours.send(b"full")
    before = descriptors()
    made: list[int] = []
    dup = os.dup

    def bounded(descriptor: int) -> int:
        if len(made) == copies:
            raise OSError(errno.EMFILE, "Too many open files")
        made.append(dup(descriptor))
        return made[-1]

    monkeypatch.setattr(os, "dup", bounded)
    if terminal is not None and copies:
        await sandbox.exec(ExecRequest(argv=("true",), terminal=terminal))  # it is all that is sent along
        assert shares.count_of("ours") == 1
        sandbox.died(0)
    else:
        with pytest.raises(PlatformError, match="no more descriptors"):
            await sandbox.exec(ExecRequest(argv=("true",), terminal=terminal))
        assert descriptors() == before
        assert not sandbox._execs
        sandbox.died(0)
    assert not shares._owners
    theirs.close()


async def test_a_command_that_nobody_starts_gives_its_terminal_back(shares: Shares) -> None:
    """Its order could not be sent."""
    before = descriptors()
    made = LinuxExec(Outside(), 1, ExecRequest(argv=("x",), terminal=(80, 24)), 1 << 20)  # type: ignore[arg-type]
    for descriptor in made.open_descriptors():
        os.close(descriptor)
    made.abandon()
    assert not shares._owners
    assert descriptors() == before
