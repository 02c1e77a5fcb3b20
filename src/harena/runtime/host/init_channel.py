"""The channel between a node and the init of one sandbox: messages with descriptors, in both directions.

What the channel does not take at once waits, and what comes is read in turns. Init is a program of the sandbox: what it
may not send ends the channel.
"""

from __future__ import annotations

import asyncio
import marshal
import os
import socket
import struct
from collections import deque
from collections.abc import Callable, Sequence

from harena.runtime.host import box_files

MESSAGES_PER_TURN = 64
LAST_MESSAGES = 4096
"""more than a channel holds, as the kernel limits it unless it was told otherwise"""
_MESSAGE_BYTES = 1 << 12
_INLINE_BYTES = 30_000
"""bytes that init reads at once, less what marshal adds"""
_OUTBOX_MESSAGES = 10_000


class InitChannel:
    """Used from one event loop."""

    def __init__(
        self,
        channel: socket.socket,
        loop: asyncio.AbstractEventLoop,
        *,
        handle: Callable[[bytes, list[int]], bool],
        fail: Callable[[str], None],
        let_go: Callable[[int], None],
        most_descriptors: Callable[[], int],
    ) -> None:
        """`handle` takes a message, and out of the list what it keeps of its descriptors; False = init may not send it.
        `fail` is told why the channel is of no use any more, `let_go` closes a descriptor that nobody has taken, and
        `most_descriptors` of one message are received."""
        self._channel = channel
        self._loop = loop
        self._handle = handle
        self._fail = fail
        self._let_go = let_go
        self._most_descriptors = most_descriptors
        self._outbox: deque[tuple[bytes, list[int]]] = deque()
        self.latest_number = 0
        """number of the latest request"""
        loop.add_reader(channel.fileno(), self.receive)

    @property
    def is_open(self) -> bool:
        """Nobody has closed it, at either end, as far as is known here."""
        return self._channel.fileno() >= 0

    @property
    def has_unsent(self) -> bool:
        """Messages wait for init to read those before."""
        return bool(self._outbox)

    def next_number(self) -> int:
        """A number for one more request, by which its answer is known."""
        self.latest_number = self.latest_number % 0xFFFFFFFF + 1
        return self.latest_number

    def send(self, message: bytes | tuple[object, ...], descriptors: Sequence[int] = ()) -> None:
        """Send, or queue; the descriptors stay the caller's."""
        encoded = message if isinstance(message, bytes) else marshal.dumps(message, 2)  # type: ignore[arg-type]
        if len(encoded) > _INLINE_BYTES:
            self._send_parts(marshal.dumps(("m", len(encoded)), 2), descriptors)
            for place in range(0, len(encoded), _INLINE_BYTES):
                self._send_parts(encoded[place : place + _INLINE_BYTES], ())
        else:
            self._send_parts(encoded, descriptors)

    def receive(self, most: int = MESSAGES_PER_TURN) -> None:
        """Handle at most `most` messages: whoever floods the channel must not hold up the event loop."""
        for _ in range(most):
            if not self.is_open:
                return
            try:
                message, ancillary, flags, _ = self._channel.recvmsg(
                    _MESSAGE_BYTES, socket.CMSG_SPACE(4 * self._most_descriptors()), socket.MSG_CMSG_CLOEXEC
                )
            except BlockingIOError:
                return
            except OSError:
                message, ancillary, flags = b"", [], 0
            descriptors: list[int] = []
            for _level, _kind, packed in ancillary:
                descriptors += struct.unpack(f"{len(packed) // 4}i", packed[: len(packed) // 4 * 4])
            if not message:
                self.close()  # its death comes from the spawner
                return
            try:
                if flags & (socket.MSG_TRUNC | socket.MSG_CTRUNC) or not self._handle(message, descriptors):
                    self._fail("init sent something that it may not send")
                    self.close()  # nothing more is read, and the next turn of the loop sends the kill
            finally:
                for descriptor in descriptors:
                    self._let_go(descriptor)

    def drain(self) -> None:
        """Send what waits, as far as the channel takes it."""
        while self._outbox and self._sent(*self._outbox[0]):
            box_files.close_all(self._outbox.popleft()[1])
        if not self._outbox and self.is_open:
            self._loop.remove_writer(self._channel.fileno())

    def close(self) -> None:
        """Init ends when its channel has. May be called again."""
        if self.is_open:
            self._loop.remove_reader(self._channel.fileno())
            self._loop.remove_writer(self._channel.fileno())
            self._channel.close()
        while self._outbox:
            box_files.close_all(self._outbox.popleft()[1])

    def hand_over(self) -> socket.socket:
        """The socket, for the channel of the sandbox that goes on in this one's place."""
        self._loop.remove_reader(self._channel.fileno())
        return self._channel

    def go_on_with(self, channel: socket.socket) -> None:
        """Close this socket, and go on with what `hand_over` has given."""
        self.close()
        self._channel = channel
        self._loop.add_reader(channel.fileno(), self.receive)

    def forget(self) -> None:
        """In a forked child: let go of the parent's descriptor."""
        if self.is_open:
            os.close(self._channel.detach())

    def _send_parts(self, encoded: bytes, descriptors: Sequence[int]) -> None:
        """Send, or queue: descriptors are duplicated then, as the caller closes its own."""
        if self._outbox or not self._sent(encoded, descriptors):
            if len(self._outbox) >= _OUTBOX_MESSAGES:
                self._fail("init no longer reads its requests")
                return
            self._outbox.append((encoded, box_files.duplicates(descriptors)))
            self._loop.add_writer(self._channel.fileno(), self.drain)

    def _sent(self, encoded: bytes, descriptors: Sequence[int]) -> bool:
        """False if the channel is full."""
        packed = struct.pack(f"{len(descriptors)}i", *descriptors)
        try:
            self._channel.sendmsg([encoded], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, packed)] if descriptors else [])
        except BlockingIOError:
            return False
        except OSError:
            self._fail("init's channel is closed")
        return True
