"""A list of system calls: made in order, stopped by the first failure with its name."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator

import pytest

from harena.runtime.kernel import batch
from harena.runtime.kernel.numbers import NUMBERS
from harena.runtime.kernel.syscalls import StepError

GETPPID = 110 if os.uname().machine == "x86_64" else 173
CLOSE = NUMBERS["close"]
SENDTO = NUMBERS["sendto"]


@pytest.fixture
def pair() -> Iterator[tuple[int, int]]:
    """Two connected descriptors."""
    import socket

    first, second = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with first, second:
        second.settimeout(5)
        yield first.fileno(), second.fileno()


def test_calls_are_made_in_order_with_their_arguments(pair: tuple[int, int]) -> None:
    """Numbers go by value, bytes by address, None is null; all six arguments arrive."""
    calls = batch.Batch()
    for number in range(5):
        calls.add(f"send {number}", SENDTO, pair[0], b"message %d" % number, 9, 0, None, 0)
    calls.seal()
    calls.run()
    assert [os.read(pair[1], 100) for _ in range(5)] == [b"message %d" % number for number in range(5)]


def test_it_can_be_run_again(pair: tuple[int, int]) -> None:
    """Prepared once, made many times, with what was patched meanwhile."""
    calls = batch.Batch()
    index = calls.add("send", SENDTO, -1, b"again", 5, 0, None, 0)
    calls.seal()
    with pytest.raises(StepError, match="send"):
        calls.run()
    calls.patch(index, 0, pair[0])
    calls.run()
    calls.patch(index, 2, 3)
    calls.run()
    assert [os.read(pair[1], 100) for _ in range(2)] == [b"again", b"aga"]


def test_a_call_can_be_made_another(pair: tuple[int, int]) -> None:
    """A step that is not wanted becomes a call that does nothing."""
    calls = batch.Batch()
    index = calls.add("send", SENDTO, pair[0], b"unwanted", 8, 0, None, 0)
    calls.add("send", SENDTO, pair[0], b"wanted", 6, 0, None, 0)
    calls.seal()
    calls.patch(index, -1, GETPPID)
    calls.run()
    assert os.read(pair[1], 100) == b"wanted"


def test_the_first_failure_stops_the_rest_and_is_named(pair: tuple[int, int]) -> None:
    """Step and errno of the first that fails; what comes after is not made."""
    calls = batch.Batch()
    calls.add("first", SENDTO, pair[0], b"first", 5, 0, None, 0)
    calls.add("second: close", CLOSE, 1_000_000)
    calls.add("third", SENDTO, pair[0], b"third", 5, 0, None, 0)
    calls.seal()
    with pytest.raises(StepError) as caught:
        calls.run()
    assert caught.value.errno == 9
    assert "second: close" in str(caught.value)
    assert os.read(pair[1], 100) == b"first"
    os.set_blocking(pair[1], False)
    with pytest.raises(BlockingIOError):
        os.read(pair[1], 100)


def test_failure_of_a_late_step_is_found() -> None:
    """Step numbers beyond a byte are told rightly."""
    calls = batch.Batch()
    for number in range(400):
        calls.add(f"step {number}", GETPPID)
    calls.add("the last", CLOSE, -1)
    calls.seal()
    with pytest.raises(StepError, match="the last"):
        calls.run()


def test_structures_are_kept_alive() -> None:
    """What is passed by address stays where it is until the batch is gone."""
    calls = batch.Batch()
    limit = struct.pack("<QQ", 64, 64)
    buffers = [calls.add("prlimit", NUMBERS["prlimit64"], 0, 4, None, limit) for _ in range(50)]
    calls.seal()
    [bytearray(1000) for _ in range(1000)]  # whatever was freed is used again
    calls.run()
    assert len(buffers) == 50


def test_an_empty_list_does_nothing() -> None:
    """No calls, no failure."""
    calls = batch.Batch()
    calls.seal()
    calls.run()
