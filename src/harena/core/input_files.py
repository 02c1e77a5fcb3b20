"""Standard input that is complete before its program starts, as a file in memory: like `< file` in a shell."""

from __future__ import annotations

import fcntl
import os

_SEALS = fcntl.F_SEAL_WRITE | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL


def input_file(data: bytes) -> int:
    """A descriptor to read `data` from, which nobody can change: programs ask a file for its size, map it and go back
    to its beginning, and none of that can be done with a pipe."""
    made = os.memfd_create("stdin", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(made, rest) :]
        os.fchmod(made, 0o444)  # it may be opened by name (/dev/stdin), as another user
        fcntl.fcntl(made, fcntl.F_ADD_SEALS, _SEALS)
        # opened anew: old kernels share no sealed file that is open for writing with a map
        return os.open(f"/proc/self/fd/{made}", os.O_RDONLY | os.O_CLOEXEC)
    finally:
        os.close(made)
