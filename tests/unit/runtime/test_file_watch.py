"""Watches of files from outside: no event is lost, and no file passes for untouched because it was not watched."""

from __future__ import annotations

import asyncio
import os
import socket
from pathlib import Path
from typing import Any

import pytest

from harena.core.errors import PlatformError
from harena.core.records.sandboxes import Limits
from harena.runtime.host import box, box_files, file_watch
from harena.runtime.host.file_watch import FileWatch, most_watches


async def opened(path: str) -> int:
    return os.open(path, os.O_RDONLY)


def watched(*paths: Path) -> FileWatch:
    watch = FileWatch(opened, os.close)
    for path in paths:
        descriptor = os.open(path, os.O_RDONLY)
        watch.add(str(path), descriptor, is_folder=False)
        os.close(descriptor)
    return watch


def put_back(path: Path) -> None:
    """Write another content and the old one again."""
    before = path.read_text()
    path.write_text("forged")
    path.write_text(before)


async def test_a_file_that_was_put_back_was_written(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    for path in (one, other):
        path.write_text("trusted")
    watch = watched(one, other)
    assert await watch.touched() == {}
    put_back(one)
    assert await watch.touched() == {str(one): frozenset({"written"})}
    watch.close()


async def test_the_writes_of_many_files_hide_no_neighbours_write(tmp_path: Path) -> None:
    """More files than one of the kernel's queues holds events of; all of them are written before anybody asks."""
    crowd = [tmp_path / f"crowd-{number}" for number in range(most_watches() + 10)]
    victim = tmp_path / "victim"
    for path in (*crowd, victim):
        path.write_text("trusted")
    many, one = watched(*crowd), watched(victim)
    for path in crowd:
        path.write_text("more")
    put_back(victim)
    assert await one.touched() == {str(victim): frozenset({"written"})}
    assert len(await many.touched()) == len(crowd)
    one.close()
    many.close()


async def test_the_end_of_many_watches_reads_each_queue_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is done in the event loop, for as many files and folders as a contract has."""
    crowd = [tmp_path / f"crowd-{number}" for number in range(50)]
    for path in crowd:
        path.write_text("trusted")
    watch, read, reads = watched(*crowd), os.read, 0

    def counted(descriptor: int, size: int) -> bytes:
        nonlocal reads
        reads += 1
        return read(descriptor, size)

    monkeypatch.setattr(os, "read", counted)
    watch.close()
    # the watches' ends are events, too; the last read of a queue finds none
    assert reads <= 2 * len(file_watch._KINDS)
    assert not any(queue._seen for queues in file_watch._QUEUES.values() for queue in queues._queues)


def test_the_kernels_number_decides_how_many(tmp_path: Path) -> None:
    number = tmp_path / "max_queued_events"
    number.write_text("16384\n")
    assert most_watches(str(number)) == 8191
    assert most_watches(str(tmp_path / "missing")) > 1


async def test_a_file_that_cannot_be_watched_is_the_platforms_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was left out without a word, and passed for untouched."""
    impossible = 0x10000000 | 0x20000000  # the kernel refuses both of these bits together
    monkeypatch.setitem(file_watch._QUEUES, "written", file_watch._Queues(impossible))
    trusted = tmp_path / "trusted"
    trusted.write_text("trusted")
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.setblocking(False)
    link: Any = None
    sandbox = box.LinuxSandbox(
        link, 1, ours, workspace="", limits=Limits(), environment={}, workdir="/", warm=False, enforcement={}
    )

    async def come_out(path: str, flags: int, mode: int = 0) -> box_files.OpenFile:
        return box_files.OpenFile(os.open(trusted, flags))

    sandbox._open = come_out  # type: ignore[method-assign]
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(PlatformError, match=r"max_user_watches"):
        await sandbox.watch_files(["/workspace/trusted"])
    await asyncio.sleep(0)
    assert len(os.listdir("/proc/self/fd")) <= before + 1  # the queue itself remains
    sandbox._channel.close()
    theirs.close()
