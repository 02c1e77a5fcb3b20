"""Standard input that is complete before its program starts, as a file in memory: like `< file` in a shell."""

from __future__ import annotations

import asyncio
import errno
import fcntl
import os
from contextlib import suppress

_SEALS = fcntl.F_SEAL_WRITE | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL
SLICE = 1 << 20
"""bytes that are written in one turn of the event loop: it takes less than a millisecond"""


def input_file(data: bytes) -> int:
    """A descriptor to read `data` from, which nobody can change: programs ask a file for its size, map it and go back
    to its beginning, and none of that can be done with a pipe."""
    made = _make_file()
    try:
        _write(made, memoryview(data))
        return _sealed(made)
    finally:
        os.close(made)


async def input_file_in_turns(data: bytes) -> int:
    """Makes an `input_file` in slices, between which the event loop has its turn: 64 MiB at once took it 50 ms."""
    made, rest = _make_file(), memoryview(data)
    try:
        while len(rest) > SLICE:
            _write(made, rest[:SLICE])
            rest = rest[SLICE:]
            await asyncio.sleep(0)
        _write(made, rest)
        return _sealed(made)
    finally:
        os.close(made)


def read_only(made: int) -> int:
    """A descriptor to read a file without a name from that a sandbox has made for this, and that is written. Nobody
    can change it from now on, where it is of a kind that can be sealed. The caller closes both. Raises OSError for any
    other descriptor: this process opens the file anew, and may read what the sandbox may not."""
    flags = fcntl.fcntl(made, fcntl.F_GETFL)
    if flags & os.O_PATH or flags & os.O_ACCMODE != os.O_RDWR:
        raise OSError(errno.EBADF, "the descriptor is not open for reading and writing")
    if os.fstat(made).st_nlink:
        raise OSError(errno.EINVAL, "the file has a name")
    with suppress(OSError):  # a file on a sandbox's disk cannot be sealed
        fcntl.fcntl(made, fcntl.F_ADD_SEALS, _SEALS)
    # O_NONBLOCK: whoever can have opened it may have a lease on it
    opened = os.open(f"/proc/self/fd/{made}", os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    os.set_blocking(opened, True)
    return opened


def _make_file() -> int:
    return os.memfd_create("stdin", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)


def _write(made: int, rest: memoryview) -> None:
    while rest:
        rest = rest[os.write(made, rest) :]


def _sealed(made: int) -> int:
    os.fchmod(made, 0o444)  # it may be opened by name (/dev/stdin), as another user
    fcntl.fcntl(made, fcntl.F_ADD_SEALS, _SEALS)
    # opened anew: old kernels share no sealed file that is open for writing with a map
    return os.open(f"/proc/self/fd/{made}", os.O_RDONLY | os.O_CLOEXEC)
