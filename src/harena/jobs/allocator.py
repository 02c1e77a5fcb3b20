"""Memory that the C allocator holds and nobody uses.

A job is many small things of all ages, and what is freed between others that live on stays with the process. Measured,
7 of the 9 MiB that a server had grown by after 18,000 runs were such holes, in whole pages; its objects were as many
as before. The allocator gives such pages back only when it is asked to, which takes less than a millisecond.
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
    """glibc's; musl and others have none."""
    return getattr(ctypes.CDLL(None), "malloc_trim", None)
