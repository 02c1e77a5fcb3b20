"""Seccomp: load a filter that was built elsewhere (see seccomp_policy)."""

from __future__ import annotations

import ctypes
import struct

from harena.runtime.kernel.syscalls import prctl

PR_SET_SECCOMP = 22
MODE_FILTER = 2


class Filter:
    """BPF instructions, ready for `prctl(PR_SET_SECCOMP, MODE_FILTER, address)` by any fork of this process."""

    def __init__(self, program: bytes) -> None:
        self._instructions = ctypes.create_string_buffer(program, len(program))
        self._program = ctypes.create_string_buffer(
            struct.pack("@HP", len(program) // 8, ctypes.addressof(self._instructions))
        )
        self.address = ctypes.addressof(self._program)


def load(program: bytes) -> None:
    """Put this process, and all that it starts, behind the filter. Raises StepError."""
    filter_ = Filter(program)  # its memory is read by the call
    prctl("seccomp", PR_SET_SECCOMP, MODE_FILTER, filter_.address)
