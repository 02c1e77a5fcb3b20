"""Commands: results, time-outs, streams while running, input, cancelling, terminals."""

from __future__ import annotations

import asyncio
import concurrent.futures
from typing import Any

import pytest
from sdk_fake_node import NodeControl

from harena import ExecOutcome, Sandbox
from harena.core.errors import (
    SandboxCommandTimeoutError,
    SandboxExecutionError,
    SandboxTerminatedError,
    SandboxTimeoutError,
    SandboxUnavailableError,
    SandboxValidationError,
)


def test_the_request_reaches_the_node_as_it_was_given(node: NodeControl) -> None:
    """Every option of exec."""
    Sandbox.run().exec(
        ["cat", "a"],
        cwd="/data",
        env={"K": "v"},
        timeout_seconds=5,
        stdin="ü",
        cpu_seconds=2,
        output_bytes=10,
        warm=False,
    ).result()
    request = node.do(lambda fake: fake.handles[0].fake.execs[0].request)
    assert (request.argv, request.cwd, request.env, request.timeout_seconds) == (("cat", "a"), "/data", {"K": "v"}, 5.0)
    assert (request.stdin, request.stdin_stream) == ("ü".encode(), False)
    assert (request.cpu_seconds, request.output_bytes, request.warm) == (2.0, 10, False)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"command": "echo hi"}, "not text"),
        ({"command": []}, "empty"),
        ({"command": ["echo", 1]}, "must be text"),
        ({"command": ["echo", "a\0b"]}, "NUL"),
        ({"command": ["echo"], "cwd": "relative"}, "cwd"),
        ({"command": ["echo"], "timeout_seconds": 0}, "timeout_seconds"),
        ({"command": ["echo"], "timeout_seconds": True}, "timeout_seconds"),
        ({"command": ["echo"], "env": {"A": 1}}, "env"),
        ({"command": ["echo"], "env": {"A=B": "1"}}, "env"),
    ],
)
def test_bad_input_fails_before_anything_runs(node: NodeControl, arguments: Any, message: str) -> None:
    """At the call, not at the result."""
    sandbox = Sandbox()
    with pytest.raises(SandboxValidationError, match=message):
        sandbox.exec(**arguments)
    assert sandbox.status is None


def test_a_failing_command_is_a_result(node: NodeControl) -> None:
    """Exit codes are data."""
    process = Sandbox.run().exec(["false"])
    result = process.result()
    assert (result.returncode, result.stderr, process.wait(), process.poll(), process.returncode) == (
        1,
        "it failed\n",
        1,
        1,
        1,
    )
    assert process.command == ["false"]


def test_check_makes_a_failing_command_an_error(node: NodeControl) -> None:
    """It carries the result, and its message the end of standard error."""
    sandbox = Sandbox.run()
    process = sandbox.exec(["false"], check=True)
    with pytest.raises(SandboxExecutionError, match="it failed") as caught:
        process.result()
    assert caught.value.exec_result is not None
    assert caught.value.exec_result.returncode == 1
    assert process.returncode == 1
    assert sandbox.exec_stats == {"exec_count": 1, "completed_ok": 0, "completed_nonzero": 1, "failures": 0}


def test_a_time_out_is_an_error_with_the_output_so_far(node: NodeControl) -> None:
    """A SandboxTimeoutError, not the builtin one, and counted as a failure."""
    sandbox = Sandbox.run()
    process = sandbox.exec(["sleep", "100"], timeout_seconds=0.01)
    with pytest.raises(SandboxCommandTimeoutError, match=r"timeout_seconds=0\.01") as caught:
        process.result()
    assert isinstance(caught.value, SandboxTimeoutError)
    assert not isinstance(caught.value, TimeoutError)
    assert caught.value.exec_result is not None
    assert caught.value.exec_result.outcome is ExecOutcome.TIMEOUT
    assert process.returncode == -9
    assert sandbox.exec_stats["failures"] == 1


def test_running_out_of_memory_is_a_result(node: NodeControl) -> None:
    """The program's failure is data."""

    async def hungry(running: Any) -> int:
        running.finish(ExecOutcome.MEMORY, -9)
        return 0

    node.do(lambda fake: fake.programs.update(hungry=hungry))
    result = Sandbox.run().exec(["hungry"]).result()
    assert (result.outcome, result.returncode) == (ExecOutcome.MEMORY, -9)


def test_giving_up_waiting_leaves_the_command_running(node: NodeControl) -> None:
    """`result(timeout)` raises the futures' own error and can be asked again."""
    process = Sandbox.run().exec(["cat"], stdin=True)
    with pytest.raises(concurrent.futures.TimeoutError):
        process.result(timeout=0.01)
    assert (process.poll(), process.done()) == (None, False)
    assert process.stdin is not None
    process.stdin.close()
    assert process.result().returncode == 0


def test_input_is_written_in_order_and_closed_after_it(node: NodeControl) -> None:
    """Many writes without waiting keep their order; text and lines are encoded."""
    process = Sandbox.run().exec(["cat"], stdin=True)
    assert process.stdin is not None
    for number in range(20):
        process.stdin.write(f"{number},".encode())
    process.stdin.writeline("end")
    process.stdin.close()
    process.stdin.close().result()
    assert process.stdin.closed
    assert process.result().stdout == "".join(f"{number}," for number in range(20)) + "end\n"
    with pytest.raises(SandboxExecutionError, match="closed"):
        process.stdin.write(b"late")


def test_there_is_input_only_where_it_was_asked_for(node: NodeControl) -> None:
    """Bytes given at once leave nothing to write to."""
    sandbox = Sandbox.run()
    assert sandbox.exec(["echo"]).stdin is None
    process = sandbox.exec(["cat"], stdin=b"given")
    assert process.stdin is None
    assert process.result().stdout == "given"


def test_writing_after_the_end_is_an_error(node: NodeControl) -> None:
    """Nothing is silently dropped."""
    process = Sandbox.run().exec(["echo"], stdin=True)
    process.result()
    assert process.stdin is not None
    with pytest.raises(SandboxExecutionError, match="ended"):
        process.stdin.write(b"x")


def _steps(pieces: list[bytes]) -> Any:
    """A program that prints the next piece whenever the file gate opens."""

    async def program(running: Any) -> int:
        gate = running.port.node.file_gate
        for piece in pieces:
            running.stdout.append(piece)
            await gate.wait()
            gate.clear()
        return 0

    return program


def test_output_arrives_while_the_command_runs(node: NodeControl) -> None:
    """Each piece can be read before the next one is made."""
    node.do(lambda fake: (fake.programs.update(steps=_steps([b"a\n", b"b\n"])), fake.file_gate.clear()))
    process = Sandbox.run().exec(["steps"])
    assert next(process.stdout) == "a\n"
    assert not process.done()
    node.do(lambda fake: fake.file_gate.set())
    assert next(process.stdout) == "b\n"
    node.do(lambda fake: fake.file_gate.set())
    assert list(process.stdout) == []
    assert process.result().stdout == "a\nb\n"


async def test_output_is_also_an_asynchronous_iterator(node: NodeControl) -> None:
    """In the caller's own loop, and no piece is lost when a reader is cancelled."""
    node.do(lambda fake: (fake.programs.update(steps=_steps([b"a", b"b"])), fake.file_gate.clear()))
    process = Sandbox.run().exec(["steps"])
    assert await anext(process.stdout) == "a"
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(anext(process.stdout), 0.01)
    await asyncio.to_thread(node.do, lambda fake: fake.file_gate.set())
    assert await anext(process.stdout) == "b"
    await asyncio.to_thread(node.do, lambda fake: fake.file_gate.set())
    assert [piece async for piece in process.stdout] == []


def test_a_character_split_between_pieces_is_one_character(node: NodeControl) -> None:
    """Bytes that are no text at all become replacement characters, also at the very end."""
    text = "é€😀".encode()

    async def split(running: Any) -> int:
        for byte in text:
            running.stdout.append(bytes([byte]))
        running.stdout.append(b"\xff")
        running.stderr.append(text[:1])
        return 0

    node.do(lambda fake: fake.programs.update(split=split))
    process = Sandbox.run().exec(["split"])
    process.result()
    assert "".join(process.stdout) == "é€😀\ufffd"
    assert list(process.stderr) == ["\ufffd"]


def test_a_finished_commands_output_is_one_list(node: NodeControl) -> None:
    """What came as one piece stays one."""
    process = Sandbox.run().exec(["echo", "hello"])
    assert list(process.stdout) == ["hello\n"]
    assert list(process.stderr) == []


def test_a_reader_keeps_the_sandbox_and_learns_of_a_failed_start(node: NodeControl) -> None:
    """Iterating over a command that could not start raises why."""
    node.do(lambda fake: fake.create_errors.append(SandboxUnavailableError("node lost")))
    process = Sandbox.run().exec(["echo"])
    with pytest.raises(SandboxUnavailableError, match="node lost"):
        list(process.stdout)
    with pytest.raises(SandboxUnavailableError):
        process.result()


def test_a_closed_reader_gives_nothing_more(node: NodeControl) -> None:
    """The command itself is not touched."""
    process = Sandbox.run().exec(["echo", "x"])
    process.stdout.close()
    assert list(process.stdout) == []
    assert process.result().stdout == "x\n"


def test_cancel_kills_the_command(node: NodeControl) -> None:
    """The sandbox stays usable; the cancelled command has no result."""
    sandbox = Sandbox.run()
    process = sandbox.exec(["sleep"])
    assert process.cancel() is True
    with pytest.raises(concurrent.futures.CancelledError):
        process.result()
    assert (process.done(), process.poll()) == (True, None)
    assert sandbox.exec(["echo", "y"]).result().stdout == "y\n"
    assert sandbox.exec_stats == {"exec_count": 2, "completed_ok": 1, "completed_nonzero": 0, "failures": 1}


def test_a_command_cancelled_before_its_start_never_starts(node: NodeControl) -> None:
    """Its readers are told instead of waiting for ever."""
    node.do(lambda fake: fake.create_gate.clear())
    sandbox = Sandbox.run()
    process = sandbox.exec(["echo", "x"])
    process.cancel()
    node.do(lambda fake: fake.create_gate.set())
    with pytest.raises(SandboxExecutionError, match="before it started"):
        list(process.stdout)
    assert sandbox.processes().result() == []


def test_cancel_reaches_a_command_that_runs(node: NodeControl) -> None:
    """Its processes are killed, not only forgotten."""
    sandbox = Sandbox.run().wait()
    process = sandbox.exec(["sleep"])
    assert len(sandbox.processes().result()) == 1
    process.cancel()
    list(process.stdout)
    outcome = node.do(lambda fake: fake.handles[0].fake.execs[0]._end.result().outcome)
    assert outcome is ExecOutcome.CANCELLED


def test_a_command_that_has_ended_cannot_be_cancelled(node: NodeControl) -> None:
    """Its result stays."""
    process = Sandbox.run().exec(["echo", "x"])
    process.result()
    assert process.cancel() is False
    assert process.result().stdout == "x\n"


async def test_a_cancelled_await_cancels_the_command(node: NodeControl) -> None:
    """As with any awaitable."""
    process = Sandbox.run().exec(["sleep"])
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(process, 0.01)
    with pytest.raises(concurrent.futures.CancelledError):
        process.result()


async def test_a_cancelled_await_of_a_start_cancels_nothing(node: NodeControl) -> None:
    """The sandbox is shared by everybody who uses it."""
    await asyncio.to_thread(node.do, lambda fake: fake.create_gate.clear())
    sandbox = Sandbox.run()
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(sandbox.start(), 0.01)
    await asyncio.to_thread(node.do, lambda fake: fake.create_gate.set())
    assert (await sandbox.exec(["echo", "x"])).stdout == "x\n"


def test_stopping_the_sandbox_ends_its_commands_with_an_error(node: NodeControl) -> None:
    """Neither a hang nor an exit code that the program did not give."""
    sandbox = Sandbox.run()
    process = sandbox.exec(["sleep"])
    sandbox.processes().result()
    sandbox.stop().result()
    with pytest.raises(SandboxTerminatedError):
        process.result()
    assert list(process.stdout) == []
    assert sandbox.exec_stats["failures"] == 1


def test_a_terminal_shows_bytes_takes_keys_and_changes_size(node: NodeControl) -> None:
    """The default is a shell of 80 by 24."""
    sandbox = Sandbox.run()
    terminal = sandbox.shell(width=100, height=30)
    assert terminal.command == ["/bin/bash"]
    terminal.stdin.write(b"ls\n").result()
    terminal.resize(120, 40)
    terminal.stdin.close()
    assert b"".join(terminal.output) == b"ls\n"
    assert (terminal.result().returncode, terminal.wait(), terminal.returncode) == (0, 0, 0)
    running = node.do(lambda fake: fake.handles[0].fake.execs[0])
    assert (running.request.terminal, running.size) == ((100, 30), (120, 40))
    default = sandbox.shell(["echo", "x"])
    assert default.result().command == ["echo", "x"]
    assert node.do(lambda fake: fake.handles[0].fake.execs[1].request.terminal) == (80, 24)
    with pytest.raises(SandboxValidationError, match="width"):
        sandbox.shell(width=0)
