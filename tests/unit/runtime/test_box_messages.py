"""How much of what an init sends is dealt with in one turn of the event loop."""

from __future__ import annotations

import asyncio
import marshal
import os
import socket
import struct
from typing import Any

import pytest

from harena.core.records.sandboxes import Limits
from harena.runtime.guest import wire
from harena.runtime.host import box

UNKNOWN = wire.EXITED.pack(b"X", 77, 0, 0, 0, 0, 0)
NEWS = wire.STARTED_REALLY.pack(b"N", 77)


class Link:
    """Notes who is to be killed."""

    def __init__(self) -> None:
        self.killed: list[int] = []

    def kill(self, number: int) -> None:
        self.killed.append(number)


def linked() -> tuple[box.LinuxSandbox, Link, socket.socket]:
    """A sandbox, who is told to kill it, and the end of its channel that an init would have."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.setblocking(False)
    link: Any = Link()
    sandbox = box.LinuxSandbox(
        link, 1, ours, workspace="", limits=Limits(), environment={}, workdir="/", warm=False, enforcement={}
    )
    return sandbox, link, theirs


@pytest.mark.parametrize(("message", "read", "killed"), [(NEWS, 64, []), (UNKNOWN, 1, [1]), (b"?", 1, [1])])
def test_a_flood_is_read_in_turns_and_up_to_the_first_fault(message: bytes, read: int, killed: list[int]) -> None:
    async def run() -> None:
        sandbox, link, theirs = linked()
        handled = []
        handle = sandbox._handle
        sandbox._handle = lambda *given: (handled.append(1), handle(*given))[1]  # type: ignore[method-assign]
        for _ in range(150):
            theirs.send(message)
        sandbox._channel.receive()
        assert (len(handled), link.killed) == (read, killed)
        sandbox._channel.close()
        theirs.close()

    asyncio.run(run())


def test_a_long_request_travels_in_messages_and_in_no_file() -> None:
    """A file in memory would be the node's, for as long as an init keeps it. What the channel does not take waits."""

    async def run() -> None:
        sandbox, link, theirs = linked()
        sandbox._channel.send(("f", 1, "x" * 3_000_000), [0])
        size, came, descriptors = 0, b"", 0
        while not size or len(came) < size:
            message, ancillary, flags, _ = theirs.recvmsg(wire.MAX_MESSAGE, socket.CMSG_SPACE(64))
            assert not flags & (socket.MSG_TRUNC | socket.MSG_CTRUNC)
            for _level, _kind, packed in ancillary:
                for descriptor in struct.unpack(f"{len(packed) // 4}i", packed):
                    descriptors += 1
                    os.close(descriptor)
            if size:
                came += message
            else:
                kind, size = marshal.loads(message)
                assert kind == "m"
            await asyncio.sleep(0)
            sandbox._channel.drain()
        assert marshal.loads(came) == ("f", 1, "x" * 3_000_000)
        assert (descriptors, link.killed) == (1, [])
        sandbox._channel.close()
        theirs.close()

    asyncio.run(run())


def test_the_end_of_an_init_is_known_before_the_news_of_it() -> None:
    """Whoever claims a sandbox that was made ahead asks the kernel: a dead one is nobody's."""

    async def run() -> None:
        sandbox, _, theirs = linked()
        theirs.send(wire.READY)
        assert sandbox.still_lives()
        assert sandbox.ready.done()
        assert sandbox.still_lives()
        theirs.close()
        assert sandbox.alive
        assert not sandbox.still_lives()

    asyncio.run(run())
