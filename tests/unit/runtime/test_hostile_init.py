"""What an init says to its sandbox's owner: programs may have taken its place, so it may say anything.

The owner's end is the real one, over a real socket; the init is this test.
"""

from __future__ import annotations

import asyncio
import marshal
import os
import random
import socket
import struct
from contextlib import suppress
from typing import Any

import pytest
from test_patience import JumpingLoop, jumped

from footprint import resident_bytes
from harena.core.errors import HarenaError, SandboxFileError
from harena.core.models import ExecRequest
from harena.core.records.sandboxes import Limits
from harena.runtime.guest import wire
from harena.runtime.host.box import LinuxSandbox
from harena.runtime.host.execs import LinuxExec
from harena.runtime.host.patience import MOST_SECONDS, PATIENCE_SECONDS

MESSAGES = int(os.environ.get("HARENA_FUZZ_MESSAGES", "5000"))
OPEN_AT_ONCE = 8


class Link:
    """A spawner's, which only notes who is to be killed."""

    def __init__(self) -> None:
        self.killed = False

    def kill(self, number: int) -> None:
        """Noted."""
        self.killed = True

    async def ask(self, what: str, number: int) -> Any:
        """Nothing was used."""
        return (0.0, 0.0, False) if what == "time" else (0, 0)


class Box:
    """One sandbox, the link that would end it, and its init's end of the channel."""

    def __init__(self) -> None:
        ours, self.init = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours.setblocking(False)
        self.init.setblocking(False)
        self.link = Link()
        self.sandbox = LinuxSandbox(
            self.link,
            1,
            ours,
            workspace="",
            limits=Limits(),
            environment={},
            workdir="/workspace",
            warm=True,
            enforcement={},
        )  # type: ignore[arg-type]
        self.asked: list[asyncio.Future[Any]] = []
        self.execs: list[LinuxExec] = []

    def say(self, message: bytes, descriptors: list[int]) -> None:
        """As init; it is read at once."""
        packed = struct.pack(f"{len(descriptors)}i", *descriptors)
        with suppress(OSError):
            self.init.sendmsg([message], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, packed)] if descriptors else [])
        self.sandbox._channel.receive()

    async def order(self, drawn: random.Random) -> None:
        """A command or a file operation, where not too many are under way; what init is told is thrown away."""
        self.asked = [each for each in self.asked if not each.done()]
        if len(self.asked) < OPEN_AT_ONCE:
            if drawn.random() < 0.5:
                running = await self.sandbox.exec(ExecRequest(argv=("true",)))
                self.execs.append(running)
                self.asked.append(asyncio.ensure_future(running.wait()))
            else:
                self.asked.append(asyncio.ensure_future(self.sandbox.read_file("/workspace/x", max_bytes=100)))
                await asyncio.sleep(0)
        with suppress(BlockingIOError):
            while True:
                _, ancillary, _, _ = self.init.recvmsg(1 << 15, socket.CMSG_SPACE(16))
                for _, _, packed in ancillary:
                    for descriptor in struct.unpack(f"{len(packed) // 4}i", packed):
                        os.close(descriptor)

    async def end(self) -> None:
        """As the spawner says it; each request has a result or an error of the sandbox's own."""
        self.sandbox.died(0)
        if not self.sandbox.ready.cancelled():
            self.sandbox.ready.exception()  # nobody waits for the start of this one
        for outcome in await asyncio.wait_for(asyncio.gather(*self.asked, return_exceptions=True), 20):
            assert not isinstance(outcome, BaseException) or isinstance(outcome, HarenaError), outcome
        self.init.close()


def drawn_message(drawn: random.Random, box: Box) -> tuple[bytes, list[int]]:
    """Mostly what an init may say, of numbers that are under way or not; with descriptors that it may not send."""
    known = [*box.sandbox._execs, *box.sandbox._opens]
    number = drawn.choice(known) if known and drawn.random() < 0.98 else drawn.getrandbits(32)
    kind = drawn.randrange(9) if drawn.random() < 0.95 else drawn.randrange(12)
    message = b"?"
    if kind < 4:
        status = drawn.choice((0, 256, 9, drawn.randrange(-(1 << 31), 1 << 31)))
        times = [drawn.choice((0, 5, drawn.getrandbits(64))) for _ in range(3)]
        message = wire.EXITED.pack(b"X", number, status, *times, drawn.randrange(256))
    elif kind < 8:
        code = drawn.choice((0, 0, 2, drawn.randrange(-(1 << 31), 1 << 31)))
        message = wire.OPENED.pack(b"O", number, code, drawn.getrandbits(64), drawn.getrandbits(32))
    elif kind == 8:
        message = wire.STARTED_REALLY.pack(b"N", number)
    elif kind == 9:
        message = drawn.choice((wire.READY, wire.FAILED + drawn.randbytes(drawn.randrange(2000))))
    elif kind == 10:
        message = drawn.randbytes(drawn.choice((1, 7, 41, 5000)))
    else:
        message = drawn.choice(b"XONRE").to_bytes(1, "little") + drawn.randbytes(drawn.randrange(60))
    count = drawn.choice((0, 1, 2, 6)) if drawn.random() < 0.05 else int(4 <= kind < 8)
    place = drawn.choice(("/dev/null", "/proc/self/status", os.devnull, __file__, "/proc"))
    return message, [os.open(place, os.O_RDONLY) for _ in range(count)]


@pytest.mark.timeout(0 if MESSAGES > 50_000 else 120)
async def test_no_message_of_an_init_does_more_than_end_its_sandbox() -> None:
    """Random messages with random descriptors, beside commands and file operations: each of these has an end, and no
    descriptor or memory is left. HARENA_FUZZ_MESSAGES sets how many."""
    drawn = random.Random(11)
    before, memory = len(os.listdir("/proc/self/fd")), 0
    box, boxes, left = Box(), 1, drawn.randrange(1, 400)
    for sent in range(MESSAGES):
        if sent == MESSAGES // 10:  # by now it has its buffers
            memory = resident_bytes()
        left -= 1
        if left == 0 or not box.sandbox.alive:
            await box.end()
            box, boxes, left = Box(), boxes + 1, drawn.randrange(1, 400)
        if drawn.random() < 0.15 and box.sandbox.alive:
            await box.order(drawn)
        message, descriptors = drawn_message(drawn, box)
        box.say(message, descriptors)
        for descriptor in descriptors:
            os.close(descriptor)
    await box.end()
    assert boxes > MESSAGES // 400
    for _ in range(100):
        if len(os.listdir("/proc/self/fd")) == before:
            break
        await asyncio.sleep(0.05)  # threads close what came in place of files
    assert len(os.listdir("/proc/self/fd")) == before
    assert resident_bytes() < memory + (16 << 20)


def test_an_init_that_does_not_open_a_file_ends_the_operation() -> None:
    """In time, and what it sends afterwards is closed."""

    async def main(loop: JumpingLoop) -> None:
        box = Box()
        with pytest.raises(SandboxFileError, match="nothing for") as held:
            await box.sandbox.read_file("/workspace/x", max_bytes=100)
        assert held.value.reason == "IO_FAILED"
        order = marshal.loads(box.init.recv(1 << 15))
        read_end, write_end = os.pipe2(os.O_NONBLOCK)
        box.say(wire.OPENED.pack(b"O", order[1], 0, 0, 0), [write_end])
        os.close(write_end)
        assert os.read(read_end, 1) == b""  # the end: nobody has the other one
        os.close(read_end)
        assert not box.link.killed
        box.init.close()

    assert PATIENCE_SECONDS - 0.1 < jumped(main) < MOST_SECONDS


async def test_a_file_that_opens_after_its_operation_was_given_up_is_closed() -> None:
    """Whether the operation was cancelled before or after the descriptor came: nobody would close it otherwise."""
    box = Box()
    before = len(os.listdir("/proc/self/fd"))
    for comes_before in (False, True):
        reading = asyncio.ensure_future(box.sandbox.read_file("/workspace/x", max_bytes=100))
        await asyncio.sleep(0)
        order = marshal.loads(box.init.recv(1 << 15))
        read_end, write_end = os.pipe2(os.O_NONBLOCK)
        opened = wire.OPENED.pack(b"O", order[1], 0, 0, 0)
        if comes_before:
            box.say(opened, [write_end])
            reading.cancel()
        else:
            reading.cancel()
            with pytest.raises(asyncio.CancelledError):
                await reading
            box.say(opened, [write_end])
        os.close(write_end)
        with suppress(asyncio.CancelledError):
            await reading
        assert reading.cancelled()
        assert os.read(read_end, 1) == b""  # the end: nobody has the other one
        os.close(read_end)
    assert len(os.listdir("/proc/self/fd")) == before
    box.init.close()
