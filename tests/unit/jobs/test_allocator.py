"""What the C allocator holds and nobody uses."""

from __future__ import annotations

import ctypes
import resource
from pathlib import Path

import pytest

from harena.jobs.allocator import give_back

LIBC = ctypes.CDLL(None)
CHUNK_BYTES = 60_000  # less than what is mapped for itself
CHUNKS = 600


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


@pytest.mark.skipif(not hasattr(LIBC, "malloc_trim"), reason="this C library gives back nothing when asked")
def test_holes_between_what_lives_on_are_given_back() -> None:
    """The last chunk lives on, so that those below it are a hole that the allocator keeps by itself."""
    LIBC.malloc.restype = ctypes.c_void_p
    chunks = [ctypes.c_void_p(LIBC.malloc(CHUNK_BYTES)) for _ in range(CHUNKS)]
    for chunk in chunks:
        ctypes.memset(chunk, 1, CHUNK_BYTES)
    for chunk in chunks[:-1]:
        LIBC.free(chunk)
    before = resident_bytes()
    give_back()
    after = resident_bytes()
    LIBC.free(chunks[-1])
    assert before - after > CHUNKS * CHUNK_BYTES * 0.8


def test_another_c_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing happens."""
    monkeypatch.setattr("harena.jobs.allocator._trim", lambda: None)
    give_back()
