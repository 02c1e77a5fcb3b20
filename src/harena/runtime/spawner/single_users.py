"""Users of the host of which templates get one each: a block of ids that no other spawner has.

Blocks are drawn, and claimed by a lock on a byte of one file in /run, which the kernel lets go of when nothing is left
of the spawner. So spawners that share /run never have one user, and those that share only the host's ids (in containers
whose processes have numbers of their own) would have to draw the same of four million. Where /run cannot be written to
the block is drawn all the same.
"""

from __future__ import annotations

import fcntl
import os
import struct

IDS = 500
"""ids of a block"""
CLAIMS = "/run/harena/single-ids"
"""a file in which each byte stands for a block, locked by who has it; it has no content"""
_FIRST = 1_900_000_000  # above every range that distributions, systemd and container tools hand out
_BLOCKS = 1 << 22  # below the ranges of `template_users`
_TRIES = 100


def claimed() -> tuple[int, int]:
    """(the first id of a block, a descriptor that holds it; -1 = nothing does). Raises OSError where each of a hundred
    blocks is another one's."""
    try:
        os.makedirs(os.path.dirname(CLAIMS), mode=0o700, exist_ok=True)
        file = os.open(CLAIMS, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError:
        return _FIRST + _drawn() * IDS, -1
    for _ in range(_TRIES):
        block = _drawn()
        try:
            fcntl.fcntl(file, fcntl.F_OFD_SETLK, struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, block, 1, 0))
        except BlockingIOError:
            continue
        except OSError:  # a file system without locks
            break
        return _FIRST + block * IDS, file
    else:
        os.close(file)
        raise BlockingIOError(f"no block of user ids is free in {CLAIMS}")
    os.close(file)
    return _FIRST + block * IDS, -1


def _drawn() -> int:
    return int.from_bytes(os.urandom(4), "little") % _BLOCKS
