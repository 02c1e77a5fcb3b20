"""What a server keeps of commands' outputs: ends, the newest ones, and a bound for each workspace."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from harena.core.models import ExecOutcome, ExecResult
from harena.core.output import OutputBuffer
from harena.core.records.sandbox_answers import MOST_COMMANDS
from harena.server import command_outputs
from harena.server.command_outputs import KEPT_SECONDS, MOST_BYTES, TAIL_BYTES, CommandOutputs
from harena.testing import FakeClock


def running(*pieces: bytes) -> Any:
    """A command that has printed these."""
    out = OutputBuffer(1 << 20)
    for piece in pieces:
        out.append(piece)
    return SimpleNamespace(stdout=out, stderr=OutputBuffer(1 << 20))


def result(code: int) -> ExecResult:
    """How one ended."""
    return ExecResult(outcome=ExecOutcome.EXITED, returncode=code, stdout=b"", stderr=b"")


def test_the_end_is_kept_while_it_runs_and_later() -> None:
    """Of a long output its end, and how much there was; bytes that are no text are shown as such."""
    kept = CommandOutputs(FakeClock())
    command = running(b"a" * 70_000, b"b" * 10, b"\xff\n")
    kept.began("w", "sb", "ex", ["cat", "x"], command)
    (live,) = kept.of("w", "sb")
    assert (live.command, live.ended_at, live.stdout_bytes) == ("cat x", None, 70_012)
    assert live.stdout.endswith("a" + "b" * 10 + "\ufffd\n")
    assert len(live.stdout) == TAIL_BYTES
    kept.ended("w", "ex", result(3))
    command.stdout.discard()
    (ended,) = kept.of("w", "sb")
    assert (ended.stdout, ended.outcome, ended.returncode) == (live.stdout, "exited", 3)
    assert ended.ended_at is not None
    assert kept.of("other", "sb") == kept.of("w", "other") == []


def test_the_oldest_go_first() -> None:
    """A sandbox shows its newest; a workspace keeps so many bytes, and another one's are not touched."""
    kept = CommandOutputs(FakeClock())
    kept.began("quiet", "sb", "ex", ["true"], running())
    for number in range(2 * MOST_BYTES // TAIL_BYTES):
        kept.began("loud", f"sb{number % 2}", f"ex{number}", ["yes"], running(b"y" * TAIL_BYTES))
        kept.ended("loud", f"ex{number}", None)
    shown = [*kept.of("loud", "sb0"), *kept.of("loud", "sb1")]
    assert len(shown) == 2 * MOST_COMMANDS
    assert {one.outcome for one in shown} == {None}
    loud = kept._kept["loud"]
    assert loud.bytes == sum(entry.size for entry in loud.entries) <= MOST_BYTES
    assert kept._bytes == sum(one.bytes for one in kept._kept.values())
    assert len(kept.of("quiet", "sb")) == 1
    kept.ended("loud", "ex0", None)  # it was let go of


def test_ends_of_a_buffer() -> None:
    """Over pieces of all sizes."""
    buffer = OutputBuffer(1 << 20)
    for piece in (b"x" * 65_536, b"1", b"2" * 40_000, b"3" * 40_000, b""):
        buffer.append(piece)
    for most in (0, 1, 40_001, 80_001, 1 << 20):
        assert buffer.last_bytes(most) == (buffer.getvalue()[-most:] if most else b"")


async def test_workspaces_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing has run for a day, and before that where all of them together keep too much; what runs is kept."""
    clock = FakeClock()
    kept = CommandOutputs(clock)
    for workspace in ("idle", "runs", "used"):
        kept.began(workspace, "sb", "ex", ["true"], running(b"x"))
    for workspace in ("idle", "used"):
        kept.ended(workspace, "ex", result(0))
    await clock.advance(KEPT_SECONDS / 2)
    kept.began("used", "sb", "ex2", ["true"], running())
    await clock.advance(KEPT_SECONDS / 2 + 1)
    kept.ended("used", "ex2", None)
    assert [workspace for workspace in ("idle", "runs", "used") if kept.of(workspace, "sb")] == ["runs", "used"]
    monkeypatch.setattr(command_outputs, "MOST_BYTES_OF_ALL", 3 * TAIL_BYTES)
    for number in range(9):
        kept.began(f"w{number}", "sb", "ex", ["yes"], running(b"y" * TAIL_BYTES))
        kept.ended(f"w{number}", "ex", result(0))
    assert [*kept._kept] == ["runs", "w7", "w8"]
    assert kept._bytes == sum(one.bytes for one in kept._kept.values())
