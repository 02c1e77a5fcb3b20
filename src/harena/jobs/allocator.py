"""Memory that the C allocator holds and nobody uses.

A job allocates many small objects, and memory that is freed between objects that live on stays with the process
(fragmentation). Measured: of the 9 MiB by which a server had grown after 18,000 runs, 7 MiB were whole free pages, and
it had as many objects as before. The allocator returns such pages only when it is asked to, which takes less than a
millisecond.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any


def give_back() -> None:
    """Give the kernel whole pages that hold nothing. No effect where the C library has no such call."""
    if (trim := _trim()) is not None:
        trim(0)


@cache
def _trim() -> Any:
    """glibc's `malloc_trim`; None with another C library, such as musl."""
    return getattr(ctypes.CDLL(None), "malloc_trim", None)
