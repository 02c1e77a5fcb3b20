"""Seccomp: load a filter that was built elsewhere (see seccomp_policy)."""

from __future__ import annotations

import ctypes
import struct

from harena.runtime.kernel.syscalls import prctl

_PR_SET_SECCOMP = 22
_SECCOMP_MODE_FILTER = 2


class Filter:
    """BPF instructions, ready to be loaded by any number of processes forked from this one."""

    def __init__(self, program: bytes) -> None:
        self._instructions = ctypes.create_string_buffer(program, len(program))
        self._program = ctypes.create_string_buffer(
            struct.pack("@HP", len(program) // 8, ctypes.addressof(self._instructions))
        )

    def load(self) -> None:
        """From now on, for this process and everything that comes from it. Needs no_new_privs."""
        prctl("seccomp", _PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.addressof(self._program))
