"""The files of one sandbox, seen from outside: init opens them, and children of init do what takes a process inside.

Everything that init says is parsed with suspicion, and a descriptor is used only if it is a regular file.
"""

from __future__ import annotations

import asyncio
import errno
import os
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar
from weakref import WeakSet, WeakValueDictionary

from harena.core.errors import LimitExceededError, PlatformError, SandboxFileError, SandboxValidationError
from harena.core.models import FileInfo
from harena.core.ports import FileWatch, ReadWatch
from harena.core.records.sandboxes import Limits, ProcessInfo
from harena.core.threads import CONTENT
from harena.runtime.guest.files import WRITES
from harena.runtime.host import box_files, box_watches
from harena.runtime.host.box_life import BoxLife
from harena.runtime.host.init_channel import InitChannel
from harena.runtime.host.outside_bytes import MOST_AT_ONCE, OUTSIDE_BYTES
from harena.runtime.host.patience import MOST_SECONDS, PATIENCE_SECONDS, Patience
from harena.runtime.host.wide_pipes import WIDE_PIPES

T = TypeVar("T")
Content = bytes | bytearray | memoryview

_MOVING = ("pack", "unpack", "pour", "replace_tree", "adopt_times")
"""operations that take as long as there is content"""
_SLOW_BYTES_PER_SECOND = 16 << 20  # at which content is expected to be read or written even by a host under load
_DEATH_NEWS_SECONDS = 0.5  # how long the spawner's word of a death may come after the end of a pipe


class SandboxFiles:
    """Implements what `SandboxPort`, `WatchesFiles` and `MovesTrees` say of files and processes."""

    def __init__(
        self,
        sandbox_id: str,
        workspace: str,
        limits: Limits,
        workdir: str,
        life: BoxLife,
        channel: InitChannel,
        patience: Patience,
        loop: asyncio.AbstractEventLoop,
        *,
        has_run: bool,
    ) -> None:
        """`has_run`: somebody's program may have run in here already."""
        self.id = sandbox_id
        self.workspace = workspace
        self.limits = limits
        self.workdir = workdir
        self._life = life
        self._channel = channel
        self._patience = patience
        self._loop = loop
        self._check_running = life.check_running
        self._next_number = channel.next_number
        self._opens: dict[int, asyncio.Future[box_files.OpenFile]] = {}
        self._is_watched = False
        """somebody watches files of it, which may not become others"""
        self._given_files: WeakSet[box_files.OpenFile] = WeakSet()
        self._closings: set[asyncio.Task[None]] = set()
        self._writing: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        """paths that are written in more than one step: two writes at one time would be mixed"""
        self._unwanted: set[int] = set()
        """file operations whose end is waited for, and whose answer is not"""
        self._has_run = has_run
        """A program of somebody's, which may hold up whatever is done with a file from here."""

    # -- content -------------------------------------------------------------------------------------------------

    async def read_file(self, path: str, *, max_bytes: int) -> bytes:
        """Open a file inside the sandbox and read it whole. Raises SandboxFileError, also for more than `max_bytes`."""
        file = await self._open(path, os.O_RDONLY)
        try:
            size, content = await self._step(path, partial(file.read_small, max_bytes))
            if size > max_bytes:
                raise _too_large(path, size, max_bytes)
            if content is not None:
                return content
            return await self._step(path, partial(file.read_whole, size), size)
        finally:
            await self._close_file(file)

    async def read_stream(
        self, path: str, *, chunk_bytes: int = 1 << 20, max_bytes: int | None = None
    ) -> AsyncIterator[bytes]:
        """Open a file inside the sandbox and read it in pieces. Raises SandboxFileError, also for more than
        `max_bytes`."""
        file = await self._open(path, os.O_RDONLY)
        try:
            size = await self._step(path, file.size)
            if max_bytes is not None and size > max_bytes:  # it may be sparse, and have cost its program nothing
                raise _too_large(path, size, max_bytes)
            sent = 0
            while chunk := await self._step(path, partial(file.read, chunk_bytes), chunk_bytes):
                sent += len(chunk)
                if max_bytes is not None and sent > max_bytes:
                    raise _too_large(path, sent, max_bytes)
                yield chunk
        finally:
            await self._close_file(file)

    async def write_file(
        self, path: str, source: bytes | AsyncIterable[bytes], *, append: bool = False, mode: int | None = None
    ) -> None:
        """Write a file inside the sandbox; what is large is written by a process of the sandbox, so that it counts for
        its memory. Raises SandboxFileError."""
        flags = os.O_WRONLY | os.O_CREAT | (os.O_APPEND if append else os.O_TRUNC)
        if isinstance(source, bytes | bytearray | memoryview):
            self._check_fits(path, len(source))
            if self._may_write(len(source)):
                file = await self._open(path, flags, 0o644 if mode is None else mode)
                try:
                    await self._step(path, partial(file.end, source, mode), len(source))
                finally:
                    await self._close_file(file)
                return
        async with self._writing.setdefault(path, asyncio.Lock()):
            await self._write_in_steps(path, flags, source, append=append, mode=mode)

    async def _write_in_steps(
        self, path: str, flags: int, source: bytes | AsyncIterable[bytes], *, append: bool, mode: int | None
    ) -> None:
        file = await self._open(path, flags, 0o644 if mode is None else mode)
        try:
            try:
                await self._write_pieces(path, file, pieces_of(source))
            except SandboxFileError as error:
                if error.reason == "NO_MEMORY" and not append:  # what is there of it would be in everybody's way
                    with suppress(SandboxFileError):
                        await self._step(path, file.cut)
                raise
            await self._step(path, partial(file.end, b"", mode))
        finally:
            await self._close_file(file)

    async def _write_pieces(self, path: str, file: box_files.OpenFile, pieces: AsyncIterator[Content]) -> None:
        written = 0
        async for piece in pieces:
            if not self._may_write(len(piece), written):
                await self._step(path, file.size)  # it is a regular file
                await self._take_in(path, "pour", pieces_of(piece, pieces), file.another())
                return
            await self._step(path, partial(file.write, piece), len(piece))
            written += len(piece)

    def _may_write(self, size: int, before: int = 0) -> bool:
        """Whether so many bytes of a file, of which `before` are written, may be written from here. Where no cgroup
        counts them, the size of the disk is the only limit of files, whoever writes them."""
        if not self._life.counts_memory:
            return True
        return before + size <= MOST_AT_ONCE and self._takes_small_change(size)

    def _takes_small_change(self, size: int) -> bool:
        """Whether so many bytes more may be written from here, of what no limit of the sandbox counts."""
        if self._life.is_dead:  # it has given back what it had
            return False
        return OUTSIDE_BYTES.take(self.id, self.workspace, size, self.limits.memory_bytes)

    def _check_fits(self, path: str, size: int) -> None:
        """Raise SandboxFileError for what is larger than the memory limit, before anything is changed."""
        if self._life.counts_memory and self.limits.memory_bytes is not None and size > self.limits.memory_bytes:
            raise self._no_memory(path)

    def _no_memory(self, path: str) -> SandboxFileError:
        limit = self.limits.memory_bytes
        return SandboxFileError(
            f"{path}: it is larger than what is left of the sandbox's memory, which its files take, too "
            f"(memory_bytes = {limit}); raise memory_bytes (memory_mb of a scenario), or delete files",
            filepath=path,
            reason="NO_MEMORY",
        )

    def _no_process(self, path: str) -> SandboxFileError:
        return SandboxFileError(
            f"{path}: the sandbox's programs leave no process to write it (pids = {self.limits.pids}); end some or "
            "raise pids",
            filepath=path,
            reason="NO_MEMORY",
        )

    # -- watches -------------------------------------------------------------------------------------------------

    async def watch_files(self, paths: Sequence[str], folders: Sequence[str] = ()) -> FileWatch:
        """Open the paths inside the sandbox, and watch what happens to them; those that are not there are left out.
        Raises PlatformError where the kernel has no watch left."""
        self._is_watched = True
        return await box_watches.watch_files(self._open, self._let_go, paths, folders)

    async def watch_reads(self, paths: Sequence[str], folders: Sequence[str] = ()) -> ReadWatch:
        """Open the paths inside the sandbox, and watch whether they are read; those that are not there are left out.
        Raises PlatformError where the kernel has no watch left."""
        self._is_watched = True
        return await box_watches.watch_reads(self._open, self._let_go, paths, folders)

    # -- what children of init do --------------------------------------------------------------------------------

    async def stat(self, path: str) -> FileInfo:
        """Ask init for one file's attributes. Raises SandboxFileError."""
        return box_files.parse_entries(await self._operate(path, "stat"))[0]

    async def list_dir(self, path: str) -> list[FileInfo]:
        """Ask init for the entries of a directory. Raises SandboxFileError."""
        return await self._read(path, await self._answer(path, "list"), box_files.parse_entries)

    async def make_dir(self, path: str, *, parents: bool = True) -> None:
        """Have init make a directory. Raises SandboxFileError."""
        await self._operate(path, "make", parents)

    async def remove(self, path: str, *, recursive: bool = False, missing_ok: bool = False) -> None:
        """Have init remove a file or a tree. Raises SandboxFileError."""
        try:
            await self._operate(path, "remove", recursive)
        except SandboxFileError as error:
            if not (missing_ok and error.reason == "NOT_FOUND"):
                raise

    async def extract_archive(self, path: str, source: AsyncIterable[bytes]) -> None:
        """Send an archive to a child of init, which unpacks it. Raises SandboxFileError."""
        await self._take_in(path, "unpack", source)

    async def replace_tree(self, path: str, source: AsyncIterable[bytes], *, kept: Sequence[str] = ()) -> None:
        """Send a tree to a child of init, which makes the directory equal to it. Raises SandboxFileError."""
        await self._take_in(path, "replace_tree", source, arguments=(tuple(kept),))

    async def adopt_times(self, path: str, source: AsyncIterable[bytes]) -> None:
        """Send a tree to a child of init, which gives equal files its times. Raises SandboxFileError."""
        await self._take_in(path, "adopt_times", source)

    async def _take_in(
        self,
        path: str,
        operation: str,
        source: AsyncIterable[Content],
        *into: int,
        arguments: tuple[object, ...] = (),
    ) -> None:
        """Have a process in here write what comes from `source`. `into` is a descriptor for it, closed in any case."""
        number = self._next_number()
        try:
            read_end, write_end = self._content_pipe(number)
        except PlatformError:
            box_files.close_all(into)
            raise
        answer = asyncio.ensure_future(
            self._operate(path, operation, *arguments, extra=(read_end, *into), number=number)
        )
        feeding = asyncio.ensure_future(box_files.feed_pipe(write_end, source, self._patience))
        try:
            await asyncio.wait([answer, feeding], return_when=asyncio.FIRST_COMPLETED)
            if not answer.done():
                await feeding  # also where reading the source has failed
            await self._patience.wait(answer)
        except TimeoutError:
            raise self._overdue(number, operation, path) from None
        except SandboxFileError as error:
            if error.reason == "IO_FAILED" and str(error).endswith(os.strerror(errno.EAGAIN)):
                raise self._no_process(path) from None
            raise
        finally:
            feeding.cancel()
            try:
                await self._end_process(answer, number)
                await asyncio.gather(answer, feeding, return_exceptions=True)
            finally:  # also where this is cancelled once more
                answer.cancel()
                WIDE_PIPES.give_back((self.id, number))

    async def _end_process(self, answer: asyncio.Future[Any], number: int) -> None:
        """Have the process of an operation, where it has not answered, end before anything else is written."""
        if not answer.done():
            self._unwanted.add(number)
            self._end_operation(number)
            try:
                await asyncio.wait([answer], timeout=PATIENCE_SECONDS)
            finally:
                self._unwanted.discard(number)
                answer.cancel()

    def create_archive(self, path: str) -> AsyncGenerator[bytes, None]:
        """Have a child of init pack a path, and pass the archive on as it comes."""
        return self._pack(path)

    def pack_tree(self, path: str) -> AsyncGenerator[bytes, None]:
        """Have a child of init pack a path with links and the fractions of times, and pass the stream on as it
        comes."""
        return self._pack(path, True)

    async def _pack(self, path: str, *arguments: object) -> AsyncGenerator[bytes, None]:
        number = self._next_number()
        read_end, write_end = self._content_pipe(number)
        answer = asyncio.ensure_future(self._operate(path, "pack", *arguments, extra=(write_end,), number=number))
        chunks = box_files.pipe_chunks(read_end, self._patience)
        try:
            async for chunk in chunks:
                yield chunk
            await self._patience.wait(answer)
        except TimeoutError:
            raise self._overdue(number, "pack", path) from None
        finally:
            answer.cancel()
            try:
                await chunks.aclose()
                await asyncio.gather(answer, return_exceptions=True)
            finally:
                WIDE_PIPES.give_back((self.id, number))

    def _content_pipe(self, number: int) -> tuple[int, int]:
        """(read end, write end) for a file operation; a wide one where the workspace may have one more."""
        read_end, write_end = box_files.new_pipe()
        if WIDE_PIPES.take((self.id, number), self.workspace):
            box_files.widen(write_end)
        return read_end, write_end

    def _overdue(self, number: int, operation: str, path: str | None) -> SandboxFileError:
        """End a file operation that takes too long."""
        self._end_operation(number)
        return SandboxFileError(
            f"{operation} {path or ''}: nothing for {PATIENCE_SECONDS:.0f} s (did a program stop or lock it?)",
            filepath=path,
            reason="IO_FAILED",
        )

    def _end_operation(self, number: int) -> None:
        """Kill the process inside that does a file operation, if it has not ended."""
        if not self._life.is_dead:
            self._channel.send(("k", number))

    async def processes(self) -> list[ProcessInfo]:
        """Ask init for the processes of the sandbox."""
        return await self._read(None, await self._answer(None, "processes"), box_files.parse_processes)

    async def _read(self, path: str | None, answer: bytes, parse: Callable[[list[str]], list[T]]) -> list[T]:
        """What an answer says; of a long one, in a thread: a program decides how long it is."""
        if len(answer) <= box_files.READ_AT_ONCE_BYTES:
            return parse(box_files.parse_answer(answer, path))
        return await CONTENT.run_for(self.id, lambda: parse(box_files.parse_answer(answer, path)))

    async def signal(self, pid: int, signum: int) -> None:
        """Have init send a signal to one process. Raises SandboxValidationError where that cannot be."""
        if pid <= 1:
            raise SandboxValidationError(f"cannot signal process {pid}: give the number of one process, above 1")
        try:
            await self._operate(None, "signal", int(pid), int(signum))
        except SandboxFileError as error:
            raise SandboxValidationError(f"cannot send signal {signum} to process {pid}: {error}") from None

    async def _operate(
        self, path: str | None, operation: str, *arguments: object, extra: tuple[int, ...] = (), number: int = 0
    ) -> list[str]:
        """Have a child of init do it; gives the fields of its answer. `extra` is closed in any case."""
        answer = await self._answer(path, operation, *arguments, extra=extra, number=number)
        return await self._read(path, answer, list)

    async def _answer(
        self, path: str | None, operation: str, *arguments: object, extra: tuple[int, ...] = (), number: int = 0
    ) -> bytes:
        """Have a child of init do it; gives its answer before it is parsed. `extra` is closed in any case."""
        try:
            read_end, write_end = box_files.new_pipe()
        except PlatformError:
            box_files.close_all(extra)
            raise
        number = number or self._next_number()
        try:
            self._check_running()
            first = () if path is None else (box_files.check_path(path, self.workdir),)
            self._channel.send(("f", number, operation, (*first, *arguments)), [write_end, *extra])
        except BaseException:  # a refused or cancelled order too: its pipe is nobody's
            os.close(read_end)
            raise
        finally:
            box_files.close_all((write_end, *extra))
        moves_content = operation in _MOVING  # watched by those who move it
        try:
            async with asyncio.timeout(None if moves_content else MOST_SECONDS):
                text = await box_files.read_answer(read_end, None if moves_content else self._patience)
        except TimeoutError:
            raise self._overdue(number, operation, path) from None
        except asyncio.CancelledError:  # nobody wants it any more
            self._end_operation(number)
            raise
        if not text:
            if number in self._unwanted:
                raise asyncio.CancelledError
            await asyncio.wait([asyncio.ensure_future(self._life.wait_dead())], timeout=_DEATH_NEWS_SECONDS)
            self._check_running()
            if operation in WRITES and await self._life.was_out_of_memory():
                raise self._no_memory(path or "")
            raise SandboxFileError(
                f"{operation} {path or ''}: it was killed before it answered (memory or process limit?)",
                filepath=path,
                reason="IO_FAILED",
            )
        return text

    # -- steps with an open file ---------------------------------------------------------------------------------

    async def _step(self, path: str, step: Callable[[], T], content_bytes: int = 0) -> T:
        """What a step with a file gives, or raise SandboxFileError. Only programs can hold a step up: where one has
        run, a thread of this sandbox takes it, for a bounded time."""
        try:
            if not self._has_run and content_bytes <= box_files.INLINE_BYTES:
                return step()
            return await self._in_thread(path, step, content_bytes)
        except box_files.NotRegularError as error:
            self._life.fail("init sent something that it may not send")
            raise box_files.file_error(path, errno.EACCES, error.strerror) from None
        except OSError as error:
            raise box_files.file_error(path, error.errno or errno.EIO) from None

    async def _in_thread(self, path: str, step: Callable[[], T], content_bytes: int) -> T:
        began: asyncio.Future[None] = self._loop.create_future()

        def work() -> T:
            self._loop.call_soon_threadsafe(box_files.finish, began)
            return step()

        working = asyncio.ensure_future(CONTENT.run_for(self.id, work))
        try:
            either: tuple[asyncio.Future[Any], ...] = (working, began)
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            return await self._patience.wait(working, content_bytes / _SLOW_BYTES_PER_SECOND)
        except TimeoutError:
            raise self._held_up(path) from None
        finally:
            working.cancel()

    def _held_up(self, path: str) -> SandboxFileError:
        text = f"{path}: nothing for {PATIENCE_SECONDS:.0f} s (does a program hold it?)"
        return SandboxFileError(text, filepath=path, reason="IO_FAILED")

    async def _close_file(self, file: box_files.OpenFile) -> None:
        """Close it, where that cannot hold the event loop up."""
        if not self._has_run:
            file.close()
        elif not file.is_closed:
            await asyncio.shield(self._closing(file))

    def _closing(self, file: box_files.OpenFile) -> asyncio.Task[None]:
        closing = asyncio.ensure_future(self._close_in_thread(file))
        self._closings.add(closing)
        closing.add_done_callback(self._closings.discard)
        return closing

    async def _close_in_thread(self, file: box_files.OpenFile) -> None:
        while not file.is_closed:
            try:
                await CONTENT.run_for(self.id, file.close)
            except LimitExceededError as error:
                await asyncio.sleep(error.retry_delay.total_seconds() if error.retry_delay else 1.0)

    async def _open(self, path: str, flags: int, mode: int = 0) -> box_files.OpenFile:
        self._check_running()
        return await self._open_in_init(path, box_files.check_path(path, self.workdir), flags, mode)

    async def _open_in_init(self, path: str, full_path: str, flags: int, mode: int = 0) -> box_files.OpenFile:
        """`full_path` "" = a new file without a name, which is known as `path`."""
        return await self._ask_for_file(path, "o", full_path, flags, mode)

    async def _ask_for_file(self, path: str, kind: str, *asked: object) -> box_files.OpenFile:
        """What init opens and sends; it is known as `path`."""
        number = self._next_number()
        answer: asyncio.Future[box_files.OpenFile] = self._loop.create_future()
        self._opens[number] = answer
        self._channel.send((kind, number, *asked))
        try:
            file = await self._patience.wait(answer)
            self._given_files.add(file)
            return file
        except TimeoutError:  # a descriptor that comes now is closed by who receives it
            answer.cancel()
            raise self._held_up(path) from None
        except OSError as error:
            raise box_files.file_error(path, error.errno or errno.EIO) from None
        except asyncio.CancelledError:  # perhaps in the moment in which the descriptor came
            if not answer.cancel() and answer.exception() is None:
                self._let_go(answer.result())
            raise

    def _let_go(self, file: box_files.OpenFile) -> None:
        if self._has_run:
            self._closing(file)
        else:
            file.close()

    def _take_opened(self, number: int, code: int, descriptors: list[int]) -> bool:
        """Init has opened a file, or says with an errno why it has not; False = nobody has asked for it. A descriptor
        that is kept leaves the list."""
        answer = self._opens.pop(number, None)
        if answer is None or answer.done():
            return answer is not None
        if code or not descriptors:
            answer.set_exception(OSError(code if 0 < code < 4096 else errno.EIO, "open"))
            return True
        answer.set_result(box_files.OpenFile(descriptors.pop()))
        return True

    def _has_open_files(self) -> bool:
        """Somebody waits for a file, or has one open."""
        return bool(self._opens) or any(not file.is_closed for file in self._given_files)

    def _end_opens(self) -> None:
        """The sandbox has ended: no file comes out of it any more."""
        for answer in self._opens.values():
            if not answer.done():
                answer.set_exception(self._life.end_error())
        self._opens.clear()


async def pieces_of(first: Content | AsyncIterable[Content], *rest: AsyncIterator[Content]) -> AsyncIterator[Content]:
    """One piece, or each of a source; then what is left of another one."""
    if isinstance(first, bytes | bytearray | memoryview):
        yield first
    else:
        async for piece in first:
            yield piece
    for pieces in rest:
        async for piece in pieces:
            yield piece


def _too_large(path: str, size: int, most: int) -> SandboxFileError:
    return SandboxFileError(
        f"{path}: {size} bytes, more than {most}; read it as a stream", filepath=path, reason="TOO_LARGE"
    )
