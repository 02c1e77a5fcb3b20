"""Messages between a node and the processes that serve its sandboxes' networks: of any size, in packets that pass."""

from __future__ import annotations

import socket

import pytest

from harena.egress.messages import MOST_BYTES, PACKET_BYTES, Incoming, packets


@pytest.mark.parametrize(
    "size", [0, 1, PACKET_BYTES - 12, PACKET_BYTES - 11, PACKET_BYTES, 3 * PACKET_BYTES, 5_000_000]
)
def test_messages_of_any_size_pass(size: int) -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    incoming = Incoming()
    with ours, theirs:
        for message in ({"text": "x" * size}, {"next": 1}):
            found = []
            for packet in packets(message):
                assert ours.send(packet) == len(packet)  # the kernel takes it whole
                found.append(incoming.add(theirs.recv(PACKET_BYTES)))
            assert found.pop() == message
            assert not any(found)


def test_what_is_too_long_is_refused_on_both_sides() -> None:
    with pytest.raises(ValueError, match="are possible"):
        packets({"text": "x" * MOST_BYTES})
    incoming, count = Incoming(), MOST_BYTES // (PACKET_BYTES - 1)
    for _ in range(count):
        assert incoming.add(b"+" + b"x" * (PACKET_BYTES - 1)) is None
    with pytest.raises(ValueError, match="no message"):
        incoming.add(b"+" + b"x" * (PACKET_BYTES - 1))


@pytest.mark.parametrize("packet", [b"", b"{}", b".", b".[]", b".{", b"x{}"])
def test_what_is_no_message(packet: bytes) -> None:
    with pytest.raises(ValueError, match=r"no message|Expecting"):
        Incoming().add(packet)
