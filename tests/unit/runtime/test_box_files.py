"""What came out of a sandbox is not trusted: answers, descriptors and pipes."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import tempfile
from collections.abc import AsyncIterator
from contextlib import aclosing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harena.core.errors import FILE_REASONS, HarenaError, PlatformError, SandboxFileError, SandboxValidationError
from harena.runtime.host import box_files
from harena.runtime.host.patience import Patience


async def pieces(*parts: bytes) -> AsyncIterator[bytes]:
    for part in parts:
        yield part


@pytest.mark.parametrize(
    ("path", "absolute"),
    [("/etc/x", "/etc/x"), ("x", "/workspace/x"), ("./a/../b", "/workspace/./a/../b"), ("~", "/workspace/~")],
)
def test_relative_paths_count_from_the_working_directory(path: str, absolute: str) -> None:
    """Nothing else about a path is interpreted here: that is for the sandbox's own kernel to do."""
    assert box_files.check_path(path, "/workspace") == absolute


@pytest.mark.parametrize("path", ["", "a\0b", None, b"/x", 3])
def test_bad_paths(path: object) -> None:
    """What can be no path is refused before anything is asked."""
    with pytest.raises(SandboxValidationError):
        box_files.check_path(path, "/workspace")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (errno.ENOENT, "NOT_FOUND"),
        (errno.EISDIR, "IS_DIRECTORY"),
        (errno.ENOTDIR, "NOT_A_DIRECTORY"),
        (errno.EEXIST, "EXISTS"),
        (errno.EACCES, "PERMISSION_DENIED"),
        (errno.EROFS, "PERMISSION_DENIED"),
        (errno.ENXIO, "PERMISSION_DENIED"),
        (errno.ETXTBSY, "PERMISSION_DENIED"),
        (errno.EBUSY, "PERMISSION_DENIED"),
        (errno.ENOSPC, "NO_SPACE"),
        (errno.EDQUOT, "NO_SPACE"),
        (errno.ENOMEM, "NO_MEMORY"),
        (errno.EFBIG, "TOO_LARGE"),
        (errno.EIO, "IO_FAILED"),
        (9999, "IO_FAILED"),
    ],
)
def test_errors_carry_path_and_reason(code: int, reason: str) -> None:
    """Every errno has a reason of the closed table, and the path is in the message."""
    error = box_files.file_error("/data/x", code)
    assert (error.filepath, error.reason) == ("/data/x", reason)
    assert reason in FILE_REASONS
    assert "/data/x" in str(error)


def test_answers() -> None:
    """A good answer gives its fields; one that reports an errno raises."""
    assert box_files.parse_answer(b"ok\0", "/x") == []
    assert box_files.parse_answer(b"ok\0a\0\0b\xff\0", "/x") == ["a", "", "b\udcff"]
    with pytest.raises(SandboxFileError) as caught:
        box_files.parse_answer(b"error\0002\0it is not there\0", "/x")
    assert (caught.value.reason, str(caught.value)) == ("NOT_FOUND", "/x: it is not there")


@pytest.mark.parametrize("text", [b"", b"ok", b"ok\0a", b"error\0002\0text", b"\xff" * 100])
def test_incomplete_answers(text: bytes) -> None:
    """An answer that was cut off is a failed operation, not half a result."""
    with pytest.raises(SandboxFileError, match="incomplete"):
        box_files.parse_answer(text, "/x")


def test_an_answer_without_end() -> None:
    """More than any honest answer is not parsed."""
    with pytest.raises(SandboxFileError, match="incomplete"):
        box_files.parse_answer(b"ok\0" + bytes(64 << 20), "/x")


@given(st.binary(max_size=200))
def test_no_answer_can_do_harm(text: bytes) -> None:
    """Whatever a sandbox answers: fields, or one of harena's own errors."""
    for parse in (box_files.parse_entries, box_files.parse_processes):
        try:
            parse(box_files.parse_answer(text, "/x"))
        except HarenaError:
            continue


@given(st.lists(st.text(max_size=8), max_size=14))
def test_no_field_can_do_harm(fields: list[str]) -> None:
    """The same for answers that have the right frame."""
    for parse in (box_files.parse_entries, box_files.parse_processes):
        try:
            parse(fields)
        except PlatformError:
            continue


def test_entries() -> None:
    """Six fields each; a name is the path's last part, modes are permission bits only."""
    found = box_files.parse_entries(
        ["/data/x", "file", "12", str(0o104755), "1.5", "", "/data/l", "link", "3", "511", "0", "../x"]
    )
    assert [(entry.name, entry.kind, entry.size_bytes, entry.mode, entry.target) for entry in found] == [
        ("x", "file", 12, 0o4755, None),
        ("l", "link", 3, 0o777, "../x"),
    ]
    assert box_files.parse_entries(["/", "directory", "0", "493", "0", ""])[0].name == "/"
    assert box_files.parse_entries([]) == []
    with pytest.raises(PlatformError):
        box_files.parse_entries(["/", "a kind that harena has no word for", "0", "493", "0", ""])


@pytest.mark.parametrize(
    "fields",
    [
        ["/x", "file", "12", "493", "0"],
        ["/x", "file", "many", "493", "0", ""],
        ["/x", "file", "12", "493", "soon", ""],
        ["/x", "file", "12", "493", "0", "", "/y"],
    ],
)
def test_bad_entries(fields: list[str]) -> None:
    """Too few fields, or none that are numbers where numbers belong."""
    with pytest.raises(PlatformError):
        box_files.parse_entries(fields)


def test_processes() -> None:
    """Number, parent, state, count of words, words; a count that does not fit is refused."""
    found = box_files.parse_processes(["2", "1", "S", "2", "sleep", "9", "3", "2", "Z", "0"])
    assert [(process.pid, process.parent_pid, process.state, process.command) for process in found] == [
        (2, 1, "S", ("sleep", "9")),
        (3, 2, "Z", ()),
    ]
    for fields in (["2", "1", "S", "3", "sleep", "9"], ["2", "1", "S"], ["x", "1", "S", "0"]):
        with pytest.raises(PlatformError):
            box_files.parse_processes(fields)


def test_only_regular_files_are_used() -> None:
    """A pipe, a directory or a device that came in place of a file is told apart."""
    read_end, write_end = os.pipe()
    for descriptor in (read_end, os.open("/", os.O_RDONLY), os.open("/dev/null", os.O_RDONLY)):
        file = box_files.OpenFile(descriptor)
        for step in (file.size, lambda file=file: file.read_small(10), lambda file=file: file.write(b"")):
            with pytest.raises(box_files.NotRegularError):
                step()
        file.close()
    os.close(write_end)
    with tempfile.TemporaryFile() as made:
        made.write(b"12345")
        made.flush()
        assert box_files.OpenFile(made.fileno()).size() == 5


def open_file(content: bytes) -> box_files.OpenFile:
    descriptor = os.memfd_create("file")
    os.write(descriptor, content)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return box_files.OpenFile(descriptor)


@pytest.mark.parametrize("size", [0, 1, 5_000_000])
@pytest.mark.parametrize("bound", [100, 10_000_000])
def test_whole_files(size: int, bound: int) -> None:
    """Content of any size comes back, a small one at once; what was read or written whole is closed."""
    content = (bytes(range(256)) * (size // 256 + 1))[:size]
    descriptor = os.memfd_create("file")
    kept = os.dup(descriptor)
    written = box_files.OpenFile(descriptor)
    written.write(content[:10])
    written.end(content[10:], 0o640)
    assert written.is_closed
    assert os.fstat(kept).st_mode & 0o777 == 0o640
    os.lseek(kept, 0, os.SEEK_SET)
    file = box_files.OpenFile(kept)
    found, small = file.read_small(bound)
    assert found == size
    if size > bound or size > box_files.INLINE_BYTES:
        assert small is None
        assert not file.is_closed
        small = file.read_whole(size)
    assert small == content
    assert file.is_closed


def test_a_growing_file() -> None:
    """A small file that grows while it is read is read to the bound, a large one to the size that it had."""
    assert open_file(b"x" * 1000).read_whole(300) == b"x" * 300
    grown = open_file(b"x" * 300)
    assert grown.size() == 300
    os.pwrite(grown._descriptor, b"x" * 700, 300)
    assert grown.read_small(500)[1] is None


def test_a_file_that_is_closed_is_nobody_elses_number() -> None:
    """The kernel gives a closed descriptor's number to the next file: nothing is read from, or written to, that."""
    file = open_file(b"mine")
    number = file._descriptor
    file.close()
    other = os.memfd_create("other")
    assert other == number
    for step in (file.size, lambda: file.read(1), lambda: file.read_whole(1), lambda: file.write(b"x"), file.close):
        with contextlib.suppress(OSError):
            assert step() is None
    assert os.fstat(other).st_size == 0
    os.close(other)


async def test_pipes() -> None:
    """Far more than a pipe holds goes through, both ends are closed, in whichever order they come."""
    read_end, write_end = os.pipe()
    parts = [b"a" * 300_000, b"", b"b" * 500_000]
    feeding = asyncio.ensure_future(box_files.feed_pipe(write_end, pieces(*parts)))
    assert b"".join([chunk async for chunk in box_files.pipe_chunks(read_end)]) == b"".join(parts)
    await feeding
    for descriptor in (read_end, write_end):
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(descriptor)


async def no_wait() -> float:
    return 0.0


PATIENT = Patience(no_wait)


@pytest.mark.parametrize("turns", range(8))
@pytest.mark.parametrize("reading", [True, False])
async def test_a_cancellation_that_comes_with_the_event(reading: bool, turns: int) -> None:
    """Whoever waits for a pipe can be cancelled in every turn of the loop, that in which the pipe gets ready too."""
    read_end, write_end = os.pipe2(os.O_NONBLOCK)
    ours = os.dup(write_end if reading else read_end)  # the other end is closed by the code under test
    os.close(write_end if reading else read_end)

    async def read() -> None:
        async with aclosing(box_files.pipe_chunks(read_end, PATIENT)) as chunks:
            async for _ in chunks:
                pass

    async def write() -> None:
        await box_files.feed_pipe(write_end, pieces(bytes(1 << 20), bytes(1 << 20)), PATIENT)

    under_way = asyncio.ensure_future(read() if reading else write())
    for _ in range(3):
        await asyncio.sleep(0)
    if reading:
        os.write(ours, b"x")
    else:
        os.read(ours, 1 << 16)
    for _ in range(turns):
        await asyncio.sleep(0)
    under_way.cancel()
    try:
        done, _ = await asyncio.wait([under_way], timeout=1)
        assert done
        assert under_way.cancelled()
    finally:
        os.close(ours)


async def endless(bound: int) -> AsyncIterator[bytes]:
    for _ in range(bound):
        yield bytes(1 << 16)


@pytest.mark.parametrize("reading", [True, False])
async def test_a_pipe_that_is_always_ready(reading: bool) -> None:
    """Others have their turn while a pipe is never empty, or never full."""
    descriptor = os.open("/dev/zero" if reading else "/dev/null", os.O_RDWR)
    moved = 0

    async def read() -> None:
        nonlocal moved
        async with aclosing(box_files.pipe_chunks(descriptor)) as chunks:
            async for _ in chunks:
                moved += 1
                if moved == 100_000:
                    return

    async def write() -> None:
        nonlocal moved
        await box_files.feed_pipe(descriptor, endless(1_000_000))
        moved = 1_000_000

    under_way = asyncio.ensure_future(read() if reading else write())
    for _ in range(5):
        await asyncio.sleep(0)
    assert not under_way.done()
    under_way.cancel()
    await asyncio.wait([under_way])
    assert under_way.cancelled()
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(descriptor)


def test_a_wide_pipe_where_there_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """A user may have only so much in pipes: then it is a pipe like any other."""

    def refuse(*_: object) -> int:
        raise PermissionError(errno.EPERM, "too many")

    monkeypatch.setattr(box_files.fcntl, "fcntl", refuse)
    for descriptor in box_files.new_pipe():
        os.close(descriptor)


async def test_a_pipe_that_nobody_reads() -> None:
    """Feeding stops when the reader has gone; that is the reader's business and no error here."""
    read_end, write_end = os.pipe()
    feeding = asyncio.ensure_future(box_files.feed_pipe(write_end, pieces(bytes(1 << 20), b"more")))
    await asyncio.sleep(0)
    os.close(read_end)
    async with asyncio.timeout(10):
        await feeding
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(write_end)
