"""Watches of reads: a program that makes events faster than they are taken keeps nobody from going on."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from harena.runtime.host import read_watch
from harena.runtime.host.read_watch import ReadWatch

MOST_QUEUED = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())


@contextmanager
def watched(path: Path) -> Iterator[ReadWatch]:
    """A watch of one file, which is at its end closed."""
    watch = ReadWatch()
    try:
        watch.add(str(path), os.open(path, os.O_RDONLY), os.open(path.parent, os.O_RDONLY))
        yield watch
    finally:
        watch.close()


@pytest.fixture
def trusted(tmp_path: Path) -> Path:
    path = tmp_path / "log.txt"
    path.write_text("trusted")
    return path


async def test_a_look_takes_what_is_there_and_nothing_that_comes_meanwhile(
    trusted: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each read of the queue finds more than the one before it: the look ends all the same."""
    really, reads = os.read, 0

    def read(descriptor: int, size: int) -> bytes:
        nonlocal reads
        reads += 1
        assert reads < 100, "it goes on as long as somebody reads the file"
        if os.readlink(f"/proc/self/fd/{descriptor}").endswith("inotify"):
            for _ in range(10):
                os.pread(reader, 1, 0)
        return really(descriptor, size)

    reader = os.open(trusted, os.O_RDONLY)
    with watched(trusted) as watch:
        await watch.begin()
        os.pread(reader, 1, 0)
        monkeypatch.setattr(os, "read", read)
        assert await watch.unread() == {str(trusted)}
    os.close(reader)
    assert reads


async def test_others_have_their_turn_in_a_look(trusted: Path) -> None:
    """As many events as the queue holds are taken piece by piece."""
    with watched(trusted) as watch:
        reader = os.open(trusted, os.O_RDONLY)
        for _ in range(MOST_QUEUED // 2 - 10):  # each is told twice: of the file, and of its name
            os.pread(reader, 1, 0)
        turns = 0
        looking = asyncio.ensure_future(watch.unread())
        while not looking.done():
            await asyncio.sleep(0)
            turns += 1
        os.close(reader)
        assert await looking == {str(trusted)}
    assert turns >= MOST_QUEUED * read_watch._EVENT.size // read_watch._READ_BYTES


async def test_where_events_were_lost_nothing_is_looked_at_any_more(trusted: Path) -> None:
    """Nor does anybody wait for a lease then; no file passes for unread."""
    with watched(trusted) as watch:
        await watch.begin()
        reader = os.open(trusted, os.O_RDONLY)
        for _ in range(MOST_QUEUED):
            os.pread(reader, 1, 0)
        assert await watch.unread() == frozenset()
        assert not any(each.has_lease for each in watch._files)
        os.close(os.open(trusted, os.O_WRONLY | os.O_NONBLOCK))  # a lease would refuse that
        before = read_watch._waiting_bytes(watch._queue)
        os.pread(reader, 1, 0)
        assert await watch.unread() == frozenset()
        assert read_watch._waiting_bytes(watch._queue) >= before
        os.close(reader)
