"""A list of system calls, prepared once and made in a row.

What a fork of a template has to do is the same for every sandbox. Made one by one from Python, the calls themselves
are a third of its cost: the rest is the interpreter writing to pages that it shares with its template, each of which
the kernel must copy. So a template prepares the list, and its fork makes the calls with one step of 70 bytes of
machine code (x86-64; elsewhere, and where memory may not be executable, one by one through libc).
"""

from __future__ import annotations

import ctypes
import struct

from harena.runtime.kernel import machine_code
from harena.runtime.kernel.syscalls import StepError, libc

_ENTRY = struct.Struct("<7q")  # number, six arguments

# long run(const long entries[][7], long count): makes the calls in order.
# Gives -1, or at the first failure index << 16 | errno.
_X86_64 = bytes.fromhex(
    "53"  # push rbx
    "4154"  # push r12
    "4155"  # push r13
    "4989fc"  # mov r12, rdi
    "4989f5"  # mov r13, rsi
    "31db"  # xor ebx, ebx
    "4c39eb"  # next: cmp rbx, r13
    "7d35"  # jge done
    "498b0424"  # mov rax, [r12]
    "498b7c2408"  # mov rdi, [r12+8]
    "498b742410"  # mov rsi, [r12+16]
    "498b542418"  # mov rdx, [r12+24]
    "4d8b542420"  # mov r10, [r12+32]
    "4d8b442428"  # mov r8, [r12+40]
    "4d8b4c2430"  # mov r9, [r12+48]
    "0f05"  # syscall
    "483d01f0ffff"  # cmp rax, -4095
    "7312"  # jae failed
    "4983c438"  # add r12, 56
    "48ffc3"  # inc rbx
    "ebc6"  # jmp next
    "48c7c0ffffffff"  # done: mov rax, -1
    "eb0a"  # jmp out
    "48f7d8"  # failed: neg rax
    "48c1e310"  # shl rbx, 16
    "4809d8"  # or rax, rbx
    "415d"  # out: pop r13
    "415c"  # pop r12
    "5b"  # pop rbx
    "c3"  # ret
)

_run = machine_code.load(_X86_64, ctypes.c_void_p, ctypes.c_long)


class Batch:
    """Calls in order, each with the name of its step."""

    def __init__(self) -> None:
        self._steps: list[str] = []
        self._rows: list[list[int]] = []
        self._texts: list[tuple[int, int, bytes]] = []
        self._kept: list[object] = []
        self.address = 0

    def __len__(self) -> int:
        return len(self._rows)

    def step(self, index: int) -> str:
        """The name of a call's step."""
        return self._steps[index]

    def add(self, step: str, number: int, *arguments: int | bytes | None) -> int:
        """Append a call; bytes are passed by address. Gives its index, for `patch`."""
        row = [number]
        for argument in arguments:
            if isinstance(argument, bytes):
                buffer = ctypes.create_string_buffer(argument, len(argument) + 1)
                self._kept.append(buffer)
                self._texts.append((len(self._rows), len(row), argument))
                row.append(ctypes.addressof(buffer))
            else:
                row.append(argument or 0)
        self._steps.append(step)
        self._rows.append(row + [0] * (7 - len(row)))
        return len(self._rows) - 1

    def seal(self) -> None:
        """No more calls; lay them out."""
        self._buffer = ctypes.create_string_buffer(b"".join(_ENTRY.pack(*row) for row in self._rows))
        self.address = ctypes.addressof(self._buffer)

    def laid_out(self, place: int, gap: int = 0) -> tuple[bytes, bytes, list[int]]:
        """For another process: (the calls, to lie at `place`; what they point to, to lie `gap` bytes behind them; where
        the calls hold an address)."""
        rows = [list(row) for row in self._rows]
        texts, addresses = b"", []
        for row, argument, text in self._texts:
            rows[row][argument] = place + len(rows) * _ENTRY.size + gap + len(texts)
            addresses.append(place + row * _ENTRY.size + 8 * argument)
            texts += text + bytes(8 - len(text) % 8)
        return b"".join(_ENTRY.pack(*row) for row in rows), texts, addresses

    def patch(self, index: int, argument: int, value: int) -> None:
        """Change one argument of a call (0 = its first), or with -1 its number."""
        struct.pack_into("<q", self._buffer, index * _ENTRY.size + 8 + 8 * argument, value)

    def run(self) -> None:
        """Make the calls. Raises StepError naming the first that failed; the rest are not made then."""
        if _run is not None:
            outcome = _run(self.address, len(self._rows))  # type: ignore[operator]
            if outcome != -1:
                raise StepError(self._steps[outcome >> 16], outcome & 0xFFFF)
            return
        for index, step in enumerate(self._steps):
            number, *arguments = _ENTRY.unpack_from(self._buffer, index * _ENTRY.size)
            if libc.syscall(ctypes.c_long(number), *map(ctypes.c_long, arguments)) < 0:
                raise StepError(step, ctypes.get_errno())
