"""Holding another process still, and setting its registers (x86-64). The tracer has one thread."""

from __future__ import annotations

import ctypes
import os
import struct

from harena.runtime.kernel.syscalls import StepError, syscall

_PTRACE = 101  # x86-64
_CONTINUE, _GETREGS, _SETREGS, _GETFPREGS, _DETACH, _SYSCALL = 7, 12, 13, 14, 17, 24
_POKEDATA, _PEEKDATA = 5, 2
_SEIZE, _INTERRUPT, _GET_RSEQ = 0x4206, 0x4207, 0x420F

OPTION_SYSCALL_MARK, OPTION_EXEC, OPTION_EXIT_KILL = 0x1, 0x10, 0x100000
EVENT_EXEC = 4
SYSCALL_STOP = 0x85
"""the signal of a stop at a system call's entry or end"""
_WALL = 0x40000000  # waits for processes that are traced, whatever signal they end with

_NAMES = ("r15", "r14", "r13", "r12", "rbp", "rbx", "r11", "r10", "r9", "r8", "rax", "rcx", "rdx", "rsi", "rdi",
          "orig_rax", "rip", "cs", "eflags", "rsp", "ss", "fs_base", "gs_base", "ds", "es", "fs", "gs")  # fmt: skip
_REGISTERS = struct.Struct("<27Q")
_FLOAT = struct.Struct("<H22xI")  # control word of the x87 unit, that of the vector unit
_FLOAT_BYTES = 512
_RSEQ = struct.Struct("<QIII4x")

Registers = dict[str, int]


def is_known() -> bool:
    """Whether this machine is the one that the numbers and registers here are of."""
    return os.uname().machine == "x86_64" and struct.calcsize("P") == 8


def _ptrace(step: str, request: int, pid: int, address: object = None, data: object = None) -> int:
    return syscall("ptrace " + step, _PTRACE, ctypes.c_long(request), ctypes.c_long(pid), address, data)


class Tracee:
    """A process that this one traces."""

    def __init__(self, pid: int, options: int = 0) -> None:
        """Begin to trace it; it runs on. Raises StepError."""
        self.pid = pid
        _ptrace("seize", _SEIZE, pid, None, ctypes.c_void_p(options))

    def interrupt(self) -> None:
        """Make it stop."""
        _ptrace("interrupt", _INTERRUPT, self.pid)

    def wait_stop(self) -> tuple[int, int]:
        """(signal, event) of its next stop. Raises ProcessLookupError if it has ended."""
        _, status = os.waitpid(self.pid, _WALL)
        if not os.WIFSTOPPED(status):
            raise ProcessLookupError(3, "it has ended")
        return os.WSTOPSIG(status), status >> 16

    def wait_end(self) -> None:
        """Returns when it has ended."""
        try:
            while os.WIFSTOPPED(os.waitpid(self.pid, _WALL)[1]):
                self.go_on()
        except (ChildProcessError, StepError):
            return

    def go_on(self) -> None:
        """Let it run."""
        _ptrace("continue", _CONTINUE, self.pid)

    def to_syscall(self) -> None:
        """Let it run to the next entry or end of a system call. Raises ProcessLookupError if it has ended."""
        while True:
            _ptrace("syscall", _SYSCALL, self.pid)
            if self.wait_stop()[0] == SYSCALL_STOP:
                return

    def detach(self) -> None:
        """Let it run, and trace it no longer."""
        _ptrace("detach", _DETACH, self.pid)

    @property
    def registers(self) -> Registers:
        """Its registers; it has stopped."""
        buffer = ctypes.create_string_buffer(_REGISTERS.size)
        _ptrace("getregs", _GETREGS, self.pid, None, buffer)
        return dict(zip(_NAMES, _REGISTERS.unpack(buffer.raw), strict=True))

    @registers.setter
    def registers(self, values: Registers) -> None:
        buffer = ctypes.create_string_buffer(_REGISTERS.pack(*(values[name] for name in _NAMES)))
        _ptrace("setregs", _SETREGS, self.pid, None, buffer)

    def float_controls(self) -> tuple[int, int]:
        """The control words of its x87 and of its vector unit."""
        buffer = ctypes.create_string_buffer(_FLOAT_BYTES)
        _ptrace("getfpregs", _GETFPREGS, self.pid, None, buffer)
        control, vector = _FLOAT.unpack_from(buffer.raw)
        return control, vector

    def restartable_sequences(self) -> tuple[int, int, int]:
        """(address, size, signature) that it has registered; all 0 where it has not, or the kernel does not say."""
        buffer = ctypes.create_string_buffer(_RSEQ.size)
        try:
            _ptrace("rseq", _GET_RSEQ, self.pid, ctypes.c_size_t(_RSEQ.size), buffer)
        except StepError:
            return 0, 0, 0
        address, size, signature, _flags = _RSEQ.unpack(buffer.raw)
        return address, size, signature

    def peek(self, address: int) -> int:
        """Eight bytes of its memory."""
        word = ctypes.c_ulong()
        _ptrace("peek", _PEEKDATA, self.pid, ctypes.c_void_p(address), ctypes.byref(word))
        return word.value

    def poke(self, address: int, word: int) -> None:
        """Set eight bytes of its memory, whatever may be written there."""
        _ptrace("poke", _POKEDATA, self.pid, ctypes.c_void_p(address), ctypes.c_ulong(word))
