"""What a template said before its end is heard, also if it has not read all that it was told."""

from __future__ import annotations

import socket

import pytest

from harena.runtime.spawner.spawner import _received


@pytest.mark.parametrize("said", [(), (b"this container masks /proc",), (b"one", b"two")])
def test_what_was_said_before_the_end_comes_before_it(said: tuple[bytes, ...]) -> None:
    """The kernel tells of the end first where something was left unread; the reason for the end was lost so."""
    ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours:
        with its:
            ours.send(b"make a sandbox")
            for message in said:
                its.send(message)
        for message in said:
            assert _received(ours)[0] == message
        assert _received(ours)[0] == b""


def test_nothing_yet_is_no_end() -> None:
    """Whoever asks too early waits."""
    ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, its, pytest.raises(BlockingIOError):
        _received(ours)
