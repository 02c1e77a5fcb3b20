"""Remote functions: what is sent, what comes back, and what cannot be sent."""

from __future__ import annotations

import asyncio
import collections
import contextlib
import functools
import math as mathematics
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sdk_fake_node import NodeControl

from harena import SandboxStatus, Session
from harena.core.errors import (
    AsyncFunctionError,
    FunctionError,
    SandboxCommandTimeoutError,
    SandboxExecutionError,
)

FACTOR = 3
TABLE = {"a": [1, 2.5, None, True]}
NOT_JSON = object()


@pytest.fixture
def session(node: NodeControl, tmp_path: Path) -> Session:
    """Its sandboxes' `python FILE` is a real interpreter, and files below `tmp_path` are real files."""

    async def python(running: Any) -> int:
        port = running.port
        script = running.request.argv[1]
        await asyncio.to_thread(Path(script).write_bytes, port.files[script])
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-I",
            script,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=tmp_path,
        )
        try:
            out, err = await process.communicate()
        except asyncio.CancelledError:
            process.kill()
            await process.wait()
            raise
        running.stdout.append(out)
        running.stderr.append(err)
        answer = script.replace(".py", ".json")
        with contextlib.suppress(FileNotFoundError):
            port.files[answer] = await asyncio.to_thread(Path(answer).read_bytes)
        return int(process.returncode or 0)

    node.do(lambda fake: fake.programs.update(python=python))
    return Session({"temp_dir": str(tmp_path)})


def double(number: int) -> int:
    """Something that another function calls."""
    return number * 2


def even(number: int) -> bool:
    """Half of a pair that call each other."""
    return number == 0 or odd(number - 1)


def odd(number: int) -> bool:
    """The other half."""
    return number != 0 and even(number - 1)


def test_a_call_runs_elsewhere_and_returns_its_value(session: Session, node: NodeControl) -> None:
    """Arguments by position and name; a fresh sandbox per call, which ends; output is the program's own."""

    @session.function(container_image="python:3.12", tags=["fn"])
    def add(a: int, b: int = 10) -> int:
        print("noise on standard output")
        return a + b

    assert add(1).result() == 11
    assert add.remote(1, b=2).result() == 3
    assert add.local(5) == 15
    assert add.__name__ == "add"
    specs = node.do(lambda fake: [handle.spec for handle in fake.handles])
    assert [(spec.image, spec.tags) for spec in specs] == [("python:3.12", ("fn",))] * 2
    session.close().result()
    assert node.do(lambda fake: {handle.info.status for handle in fake.handles}) == {SandboxStatus.COMPLETED}


async def test_a_call_can_be_awaited(session: Session) -> None:
    """It is an OperationRef."""

    @session.function()
    def one() -> int:
        return 1

    assert await one() == 1


def test_map_runs_all_calls_at_once(session: Session) -> None:
    """A list of references, in order."""

    @session.function()
    def power(base: int, exponent: int) -> int:
        return base**exponent

    assert [ref.result() for ref in power.map([(2, 3), (3, 2), (5, 1)])] == [8, 9, 5]


def test_what_a_function_refers_to_comes_along(session: Session) -> None:
    """Globals, modules under other names, the standard library's objects, functions, closures and defaults."""
    offset = 100
    words = ["x", "y"]

    @session.function()
    def everything(number: int, table: dict[str, Any] = TABLE, *, scale: int = FACTOR) -> list[Any]:
        inner = [mathematics.floor(value * FACTOR) for value in (1.5, 2.5)]
        counted = Counter(words)
        nested = (lambda: double(number) + offset)()
        ordered = collections.OrderedDict(a=1)
        return [inner, counted["x"], nested, list(ordered), table, scale, even(10)]

    assert everything(4).result() == [[4, 7], 1, 108, ["a"], TABLE, 3, True]


def test_a_function_may_call_itself(session: Session) -> None:
    """Recursion needs nothing special."""

    @session.function()
    def unrelated() -> int:
        def factorial(number: int) -> int:
            return 1 if number <= 1 else number * factorial(number - 1)

        return factorial(5)

    assert unrelated().result() == 120


def test_an_exception_inside_is_told_with_type_and_message(session: Session) -> None:
    """And with the traceback that the program printed."""

    @session.function()
    def fails() -> None:
        raise ValueError("bad input: ü")

    with pytest.raises(SandboxExecutionError, match="bad input") as caught:
        fails().result()
    error = caught.value
    assert (error.exception_type, error.exception_message) == ("ValueError", "bad input: ü")
    assert error.exec_result is not None
    assert "Traceback" in error.exec_result.stderr


def test_a_function_that_ends_its_process_has_no_result(session: Session) -> None:
    """Exit code 0 is not a result; sys.exit is an exception like others."""

    @session.function()
    def vanishes() -> int:
        import os

        os._exit(0)

    @session.function()
    def leaves() -> int:
        sys.exit(4)

    with pytest.raises(SandboxExecutionError, match="exit code 0 before it returned"):
        vanishes().result()
    with pytest.raises(SandboxExecutionError) as caught:
        leaves().result()
    assert (caught.value.exception_type, caught.value.exception_message) == ("SystemExit", "4")


def test_a_result_that_is_not_json_is_told(session: Session) -> None:
    """Nothing is unpickled."""

    @session.function()
    def unsendable() -> Any:
        return {1, 2}

    with pytest.raises(FunctionError, match="returned a set"):
        unsendable().result()


def test_a_call_can_have_a_time_limit(session: Session) -> None:
    """As a command."""

    @session.function(timeout_seconds=0.5)
    def slow() -> None:
        import time

        time.sleep(60)

    with pytest.raises(SandboxCommandTimeoutError):
        slow().result()


def _captured() -> Callable[[], Any]:
    value = NOT_JSON

    def refers() -> str:
        return str(value)

    return refers


def _unbound() -> Callable[[], Any]:
    def refers() -> Any:
        return later

    if FACTOR == 0:
        later = 1
    return refers


def _sets_outside() -> Callable[[], Any]:
    count = 0

    def refers() -> int:
        nonlocal count
        count += 1
        return count

    return refers


def refers_to_global_object() -> Any:
    """Its global is no JSON value."""
    return NOT_JSON


def refers_to_nothing() -> Any:
    """Its name is defined nowhere."""
    return never_defined_anywhere  # type: ignore[name-defined]  # noqa: F821


def generates() -> Any:
    """A generator."""
    yield 1


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (_captured(), "'value', which refers refers to, cannot be sent"),
        (_unbound(), "'later', which has no value yet"),
        (_sets_outside(), "avoid `nonlocal`"),
        (refers_to_global_object, "'NOT_JSON'"),
        (refers_to_nothing, "not defined anywhere"),
        (generates, "generator"),
        (lambda: 1, "not a `def`|cannot be read"),
        (functools.partial(double, 1), "not a plain Python function"),
        (len, "not a plain Python function"),
    ],
)
def test_what_cannot_be_sent_is_told_where_it_is_decorated(
    session: Session, function: Callable[..., Any], message: str
) -> None:
    """Before any sandbox exists, with what to do."""
    with pytest.raises(FunctionError, match=message):
        session.function()(function)


def test_async_functions_are_told_apart(session: Session) -> None:
    """The call can be awaited; the function itself is plain."""

    async def waits() -> None:
        """Never sent."""

    with pytest.raises(AsyncFunctionError, match="async def"):
        session.function()(waits)


def test_arguments_are_json(session: Session) -> None:
    """Told at the call, before a sandbox is made."""

    @session.function()
    def identity(value: Any) -> Any:
        return value

    assert identity({"a": (1, 2), "b": "\N{SNOWMAN}'\"\\n"}).result() == {"a": [1, 2], "b": "\N{SNOWMAN}'\"\\n"}
    with pytest.raises(FunctionError, match="arguments of identity"):
        identity(NOT_JSON)
