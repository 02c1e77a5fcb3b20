"""A list of system calls, prepared once and made in a row.

What a fork of a template has to do is the same for every sandbox. So a template prepares the list, and its fork makes
the calls: by the fast path's machine code, by a forker's, or here, one by one through libc.
"""

from __future__ import annotations

import ctypes
import struct

from harena.runtime.kernel.syscalls import StepError, libc

_ENTRY = struct.Struct("<7q")  # number, six arguments
_SOL_SOCKET, _SCM_RIGHTS = 1, 1


class Pointing:
    """Bytes that hold addresses of others: `places` says what the eight bytes at a place shall point to."""

    def __init__(self, content: bytes, places: dict[int, Pointing]) -> None:
        self.content = content
        self.places = places


def message(content: bytes, descriptors: list[int]) -> Pointing:
    """The struct that `sendmsg` takes for these bytes and descriptors."""
    count = len(descriptors)
    control = struct.pack("<QII%di" % count, 16 + 4 * count, _SOL_SOCKET, _SCM_RIGHTS, *descriptors)
    part = Pointing(struct.pack("<QQ", 0, len(content)), {0: Pointing(content, {})})
    head = struct.pack("<QQQQQQQ", 0, 0, 0, 1, 0, len(control), 0)
    return Pointing(head, {16: part, 32: Pointing(control, {})})


class Batch:
    """Calls in order, each with the name of its step."""

    def __init__(self) -> None:
        self._steps: list[str] = []
        self._rows: list[list[int]] = []
        self._texts: list[tuple[int, int, Pointing]] = []
        self._kept: list[object] = []
        self.address = 0

    def __len__(self) -> int:
        return len(self._rows)

    def step(self, index: int) -> str:
        """The name of a call's step."""
        return self._steps[index]

    def add(self, step: str, number: int, *arguments: int | bytes | Pointing | None) -> int:
        """Append a call; bytes are passed by address. Gives its index, for `patch`."""
        row = [number]
        for argument in arguments:
            if isinstance(argument, (bytes, Pointing)):
                text = Pointing(argument, {}) if isinstance(argument, bytes) else argument
                self._texts.append((len(self._rows), len(row), text))
                row.append(self._keep(text))
            else:
                row.append(argument or 0)
        self._steps.append(step)
        self._rows.append(row + [0] * (7 - len(row)))
        return len(self._rows) - 1

    def _keep(self, text: Pointing) -> int:
        """Where it lies in this process from now on."""
        buffer = ctypes.create_string_buffer(text.content, len(text.content) + 1)
        self._kept.append(buffer)
        for place, inner in text.places.items():
            struct.pack_into("<Q", buffer, place, self._keep(inner))
        return ctypes.addressof(buffer)

    def seal(self) -> None:
        """No more calls; lay them out."""
        self._buffer = ctypes.create_string_buffer(b"".join(_ENTRY.pack(*row) for row in self._rows))
        self.address = ctypes.addressof(self._buffer)

    def laid_out(self, place: int, gap: int = 0) -> tuple[bytes, bytes, list[int]]:
        """For another process: (the calls, to lie at `place`; what they point to, to lie `gap` bytes behind them; where
        the calls hold an address)."""
        rows = [list(row) for row in self._rows]
        texts, addresses = bytearray(), list[int]()
        start = place + len(rows) * _ENTRY.size + gap

        def laid(text: Pointing) -> int:
            content = bytearray(text.content)
            for at, inner in text.places.items():
                struct.pack_into("<Q", content, at, laid(inner))
            address = start + len(texts)
            addresses.extend(address + at for at in text.places)
            texts.extend(content + bytes(8 - len(content) % 8))
            return address

        for row, argument, text in self._texts:
            rows[row][argument] = laid(text)
            addresses.append(place + row * _ENTRY.size + 8 * argument)
        return b"".join(_ENTRY.pack(*row) for row in rows), bytes(texts), addresses

    def patch(self, index: int, argument: int, value: int) -> None:
        """Change one argument of a call (0 = its first), or with -1 its number."""
        struct.pack_into("<q", self._buffer, index * _ENTRY.size + 8 + 8 * argument, value)

    def run(self) -> None:
        """Make the calls. Raises StepError naming the first that failed; the rest are not made then."""
        for index, step in enumerate(self._steps):
            number, *arguments = _ENTRY.unpack_from(self._buffer, index * _ENTRY.size)
            if libc.syscall(ctypes.c_long(number), *map(ctypes.c_long, arguments)) < 0:
                raise StepError(step, ctypes.get_errno())
