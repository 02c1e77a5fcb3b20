"""What is on our side of a sandbox's files: descriptors and pipes that came from it, and answers to be distrusted."""

from __future__ import annotations

import asyncio
import errno
import fcntl
import os
import re
import stat
import threading
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Iterable, Sequence
from contextlib import aclosing, suppress
from typing import Any, cast, get_args

from harena.core.errors import PlatformError, SandboxFileError, SandboxValidationError
from harena.core.input_files import read_only
from harena.core.models import FileInfo, FileKind
from harena.core.records.sandboxes import ProcessInfo
from harena.runtime.host.patience import Patience

INLINE_BYTES = 1 << 18  # of content that is read or written in the event loop, where no program has run yet
_CHUNK_BYTES = 1 << 20
_ANSWER_BYTES = 24 << 20
_MOST_FIELDS = 1_500_000  # of one answer: 250,000 directory entries
READ_AT_ONCE_BYTES = 1 << 17  # of an answer that is read in the event loop: it takes some milliseconds
_PIPE_BYTES = 1 << 18  # wider is hardly faster, and all pipes of a user together have a bound (pipe-user-pages-soft)
_TURN_SECONDS = 0.005  # the longest time that a pipe which is never empty, or never full, keeps the loop for itself

_TOO_MUCH = b"?"
"""in place of an answer that is longer than one may be"""

_ERRNO = re.compile(r"[0-9]{1,4}", re.ASCII)
_REASONS = {
    errno.ENOENT: "NOT_FOUND",
    errno.ENOTDIR: "NOT_A_DIRECTORY",
    errno.EISDIR: "IS_DIRECTORY",
    errno.EEXIST: "EXISTS",
    errno.EACCES: "PERMISSION_DENIED",
    errno.EPERM: "PERMISSION_DENIED",
    errno.EROFS: "PERMISSION_DENIED",
    errno.ELOOP: "PERMISSION_DENIED",
    errno.EXDEV: "PERMISSION_DENIED",
    # what a program of the sandbox has made of the file: a pipe that nobody reads, a program that runs, a mount
    errno.ENXIO: "PERMISSION_DENIED",
    errno.ETXTBSY: "PERMISSION_DENIED",
    errno.EBUSY: "PERMISSION_DENIED",
    errno.ENOSPC: "NO_SPACE",
    errno.EDQUOT: "NO_SPACE",
    errno.ENOMEM: "NO_MEMORY",
    errno.EFBIG: "TOO_LARGE",
}

_WORDS = {
    errno.EXDEV: (
        "a link of a user of the sandbox leads to what that user may not use: name the place itself, or remove the link"
    )
}
"""what the system's own words do not tell"""


def file_error(path: str | None, code: int, text: str | None = None) -> SandboxFileError:
    """The error for an errno."""
    text = text or _WORDS.get(code)
    return SandboxFileError(
        f"{path}: {text or os.strerror(code)}", filepath=path, reason=_REASONS.get(code, "IO_FAILED")
    )


def check_path(path: str, workdir: str) -> str:
    """An absolute path inside; a relative one counts from the working directory."""
    if not isinstance(path, str) or not path or "\0" in path:
        raise SandboxValidationError(f"{path!r} is not a path inside a sandbox")
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        raise SandboxValidationError(f"{path!r} cannot be a path: it holds lone surrogates") from None
    return path if path.startswith("/") else f"{workdir}/{path}"


class NotRegularError(OSError):
    """What came in place of a regular file: no init sends that."""


class OpenFile:
    """A file that came out of a sandbox as a descriptor, which is closed here.

    A program inside can hold up each step (it keeps the inode's lock, or has made the file a large one that its last
    descriptor frees), and the kernel has no step that does not wait. So a thread of the sandbox's takes them, in turn,
    once a program has run there.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._turn = threading.Lock()
        self.is_closed = False

    def size(self) -> int:
        """Raises NotRegularError if it is anything else than a regular file."""
        with self._turn:
            return _regular_size(self._used())

    def read(self, size: int) -> bytes:
        """The next bytes; empty at the end."""
        with self._turn:
            return os.read(self._used(), size)

    def read_small(self, most: int) -> tuple[int, bytes | None]:
        """(size, content): None for the content of one that is larger than INLINE_BYTES or `most`, which remains open.
        One that grows meanwhile is read to `most`."""
        with self._turn:
            size = _regular_size(self._used())
            if size > min(INLINE_BYTES, most):
                return size, None
            content = _read(self._used(), most)
        self.close()
        return size, content

    def read_whole(self, size: int) -> bytes:
        """Up to so many bytes from the present position on; closes it."""
        with self._turn:
            content = _read(self._used(), size)
        self.close()
        return content

    def write(self, content: bytes | bytearray | memoryview) -> None:
        """All of it. Raises NotRegularError if this is no regular file."""
        with self._turn:
            _regular_size(self._used())
            write_now(self._used(), memoryview(content))

    def end(self, content: bytes | bytearray | memoryview, mode: int | None) -> None:
        """Write the rest, set its permission bits unless that is None, and close it."""
        self.write(content)
        if mode is not None:
            with self._turn:
                os.fchmod(self._used(), mode)
        self.close()

    def cut(self) -> None:
        """Nothing of its content remains."""
        with self._turn:
            os.ftruncate(self._used(), 0)

    def another(self) -> int:
        """One more descriptor of it, which is the caller's to close. Raises PlatformError."""
        try:
            with self._turn:
                return os.dup(self._used())
        except OSError as error:
            raise no_more_descriptors(error) from None

    @property
    def descriptor(self) -> int:
        """It remains this file's."""
        return self._used()

    def become_read_only(self) -> None:
        """Sealed, where that can be, and at its beginning. Raises NotRegularError if this is no regular file without a
        name, opened for reading and writing: whoever sent that could read it."""
        with self._turn:
            _regular_size(self._used())
            try:
                descriptor = read_only(self._used())
            except OSError as error:
                raise NotRegularError(error.errno, error.strerror) from None
            os.close(self._descriptor)
            self._descriptor = descriptor

    def take(self) -> int:
        """Its descriptor, which is the caller's to close now."""
        with self._turn:
            descriptor = self._used()
            self.is_closed = True
        return descriptor

    def close(self) -> None:
        """Close it, once; nothing can be done with it any more."""
        with self._turn:
            if not self.is_closed:
                self.is_closed = True
                os.close(self._descriptor)

    def _used(self) -> int:
        if self.is_closed:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        return self._descriptor


def _regular_size(descriptor: int) -> int:
    about = os.fstat(descriptor)
    if not stat.S_ISREG(about.st_mode):
        raise NotRegularError(errno.EACCES, "not a regular file")
    return about.st_size


def write_now(descriptor: int, content: bytes | memoryview) -> None:
    """All of it, in this thread."""
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _read(descriptor: int, size: int) -> bytes:
    chunk = os.read(descriptor, size)
    if len(chunk) >= size or not chunk:
        return chunk
    chunks = [chunk]
    left = size - len(chunk)
    while left > 0 and (chunk := os.read(descriptor, left)):
        chunks.append(chunk)
        left -= len(chunk)
    return b"".join(chunks)


def no_more_descriptors(error: OSError) -> PlatformError:
    """The error where this process, or the host, cannot open one more."""
    return PlatformError(f"the node can open no more descriptors ({os.strerror(error.errno or 0)})", step="descriptors")


def close_all(descriptors: Iterable[int]) -> None:
    """Close descriptors that nobody needs any more."""
    for descriptor in descriptors:
        os.close(descriptor)


def duplicates(descriptors: Sequence[int]) -> list[int]:
    """Further numbers for open files. Raises OSError where this process can open no more, and keeps none then."""
    made: list[int] = []
    try:
        for descriptor in descriptors:
            made.append(os.dup(descriptor))
    except OSError:
        close_all(made)
        raise
    return made


def new_pipe() -> tuple[int, int]:
    """(read end, write end). Raises PlatformError where this process can open no more."""
    try:
        return os.pipe2(os.O_CLOEXEC)
    except OSError as error:
        raise no_more_descriptors(error) from None


def widen(pipe: int) -> None:
    """Make a pipe wider than usual, where this user has not too many of them."""
    with suppress(OSError):
        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)


async def pipe_chunks(descriptor: int, patience: Patience | None = None) -> AsyncGenerator[bytes, None]:
    """What comes through a pipe until its end; closes it. Raises TimeoutError if nothing comes for longer
    than `patience` allows."""
    loop = asyncio.get_running_loop()
    os.set_blocking(descriptor, False)
    turn_ends = loop.time() + _TURN_SECONDS
    try:
        while True:
            try:
                chunk = os.read(descriptor, _CHUNK_BYTES)
            except BlockingIOError:
                await _until_ready(descriptor, loop.add_reader, loop.remove_reader, patience)
                turn_ends = loop.time() + _TURN_SECONDS
                continue
            if not chunk:
                return
            yield chunk
            if loop.time() >= turn_ends:
                await asyncio.sleep(0)
                turn_ends = loop.time() + _TURN_SECONDS
    finally:
        os.close(descriptor)


async def read_answer(descriptor: int, patience: Patience | None = None) -> bytes:
    """What a file operation answers, up to a bound: more than that is not an answer. Raises TimeoutError if nothing
    comes for longer than `patience` allows."""
    pieces, size = [], 0
    async with aclosing(pipe_chunks(descriptor, patience)) as chunks:
        async for chunk in chunks:
            size += len(chunk)
            if size > _ANSWER_BYTES:
                return _TOO_MUCH
            pieces.append(chunk)
    return b"".join(pieces)


def finish(ready: asyncio.Future[None]) -> None:
    """Make a future done that may be done already: what a loop calls when a descriptor is ready."""
    if not ready.done():
        ready.set_result(None)


async def feed_pipe(
    descriptor: int, source: AsyncIterable[bytes | bytearray | memoryview], patience: Patience | None = None
) -> None:
    """Write everything from `source`; closes the pipe. Stops early, without an error, if nobody reads it any more.

    Raises TimeoutError if it stays full for longer than `patience` allows.
    """
    loop = asyncio.get_running_loop()
    os.set_blocking(descriptor, False)
    turn_ends = loop.time() + _TURN_SECONDS
    try:
        async for chunk in source:
            rest = memoryview(chunk)
            while rest:
                try:
                    rest = rest[os.write(descriptor, rest) :]
                except BlockingIOError:
                    await _until_ready(descriptor, loop.add_writer, loop.remove_writer, patience)
                    turn_ends = loop.time() + _TURN_SECONDS
                except BrokenPipeError:
                    return
                if loop.time() >= turn_ends:
                    await asyncio.sleep(0)
                    turn_ends = loop.time() + _TURN_SECONDS
    finally:
        os.close(descriptor)


async def _until_ready(
    descriptor: int,
    watch: Callable[[int, Callable[..., Any], asyncio.Future[None]], object],
    unwatch: Callable[[int], object],
    patience: Patience | None,
) -> None:
    ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    watch(descriptor, finish, ready)
    try:
        await (ready if patience is None else patience.wait(ready))
    finally:
        unwatch(descriptor)


def parse_answer(text: bytes, path: str | None) -> list[str]:
    """The fields of a file operation's answer. Raises SandboxFileError for what it reports."""
    if text is _TOO_MUCH or len(text) > _ANSWER_BYTES or text.count(b"\0") > _MOST_FIELDS:
        raise SandboxFileError(
            f"{path}: an incomplete answer from the sandbox: there are more than {_MOST_FIELDS // 6} entries, or "
            f"{_ANSWER_BYTES >> 20} MiB of them; run a command that looks at them",
            filepath=path,
            reason="TOO_LARGE",
        )
    if not text.endswith(b"\0"):
        raise SandboxFileError(f"{path}: an incomplete answer from the sandbox", filepath=path, reason="IO_FAILED")
    status, *fields = [os.fsdecode(field) for field in text[:-1].split(b"\0")]
    if status == "ok":
        return fields
    if status == "error" and len(fields) == 2 and _ERRNO.fullmatch(fields[0]):
        raise file_error(path, int(fields[0]), fields[1])
    raise _malformed()


def _kind(word: str) -> FileKind:
    if word not in get_args(FileKind):
        raise ValueError(word)
    return cast("FileKind", word)


def parse_entries(fields: list[str]) -> list[FileInfo]:
    """Directory entries, six fields each."""
    try:
        return [
            FileInfo(
                path=path,
                name=path.rstrip("/").rsplit("/", 1)[-1] or "/",
                kind=_kind(kind),
                size_bytes=int(size),
                mode=int(mode) & 0o7777,
                modified_at=float(modified),
                target=target or None,
            )
            for path, kind, size, mode, modified, target in zip(*[iter(fields)] * 6, strict=True)
        ]
    except (ValueError, OverflowError):
        raise _malformed() from None


def parse_processes(fields: list[str]) -> list[ProcessInfo]:
    """Processes: number, parent, state, count of words, words."""
    found, position = [], 0
    try:
        while position < len(fields):
            pid, parent, state, count = fields[position : position + 4]
            words = fields[position + 4 : position + 4 + int(count)]
            if len(words) != int(count):
                raise ValueError
            found.append(ProcessInfo(pid=int(pid), parent_pid=int(parent), state=state, command=tuple(words)))
            position += 4 + int(count)
    except ValueError:
        raise _malformed() from None
    return found


def _malformed() -> PlatformError:
    return PlatformError("the sandbox gave an answer that cannot be understood", step="file operation")
