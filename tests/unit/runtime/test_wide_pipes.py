"""Which pipes may be wide: a workspace leaves some for others, and who is not bound has as many as it likes."""

from __future__ import annotations

import fcntl
import os
from typing import Any

import pytest
from test_execs import Outside

from harena.core.models import ExecRequest
from harena.runtime.host import execs
from harena.runtime.host.execs import LinuxExec
from harena.runtime.host.wide_pipes import MOST_WIDE_PIPES, WidePipes, is_unbound

HOST = 0xEFFFFFFD


def test_a_workspace_leaves_wide_pipes_for_others() -> None:
    """However many it asks for; what it gives back is there again."""
    pipes = WidePipes(MOST_WIDE_PIPES)
    held = [("theirs", number) for number in range(200) if pipes.take(("theirs", number), "theirs")]
    assert len(held) == MOST_WIDE_PIPES // 2
    ours = [number for number in range(200) if pipes.take(("ours", number), "ours")]
    assert len(ours) == MOST_WIDE_PIPES // 4
    assert pipes.take("one", "a third")
    for holder in (*held, *held, "never taken"):
        pipes.give_back(holder)
    assert pipes.take("again", "theirs")


def test_a_process_with_a_privilege_is_not_bound() -> None:
    """Either capability frees it, but not one of a user namespace of its own."""
    told = "Name:\tpython\nCapInh:\t0000000000000000\nCapEff:\t{:016x}\n"
    assert is_unbound(told.format(1 << 21), HOST)
    assert is_unbound(told.format(1 << 24), HOST)
    assert not is_unbound(told.format(~(1 << 21 | 1 << 24) & (1 << 41) - 1), HOST)
    assert not is_unbound(told.format((1 << 41) - 1), HOST - 1)
    assert not is_unbound("", HOST)


@pytest.mark.parametrize(("most", "wide"), [(None, 70), (MOST_WIDE_PIPES, 32)])
async def test_commands_of_one_workspace_leave_wide_outputs(
    most: int | None, wide: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the kernel binds, the next workspace's output is as wide as ever; each is given back at its end."""
    pipes = WidePipes(most)
    monkeypatch.setattr(execs, "WIDE_PIPES", pipes)
    monkeypatch.setattr("harena.runtime.host.wide_pipes._is_bound", lambda: False)
    taken: list[Any] = []
    try:
        for _ in range(70):
            taken.append(_command("theirs"))
        assert sum(size == 1 << 18 for *_, size in taken) == wide
        taken.append(_command("ours"))
        assert taken[-1][-1] == 1 << 18
    finally:
        for made, theirs, _ in taken:
            made.forget()
            for descriptor in theirs:
                os.close(descriptor)
    assert not pipes._owners


def _command(workspace: str) -> tuple[LinuxExec, list[int], int]:
    """A command, what its program would have, and the size of its standard output's pipe."""
    sandbox = Outside()
    sandbox.workspace = workspace
    made = LinuxExec(sandbox, 1, ExecRequest(argv=("x",)), 1 << 20)  # type: ignore[arg-type]
    theirs = made.open_descriptors()
    return made, theirs, fcntl.fcntl(theirs[0], fcntl.F_GETPIPE_SZ)
