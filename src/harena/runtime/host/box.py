"""One sandbox, seen from outside: its channel to init, its commands and files, and its end.

Everything that init says is parsed with suspicion: a message that is not exactly what it should be ends the sandbox,
and a descriptor is used only if it is a regular file.
"""

from __future__ import annotations

import asyncio
import errno
import marshal
import os
import secrets
import socket
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Awaitable,
    Callable,
    Mapping,
    Sequence,
)
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakSet, WeakValueDictionary

from harena.core.errors import (
    LimitExceededError,
    PlatformError,
    SandboxFileError,
    SandboxNotRunningError,
    SandboxTerminatedError,
    SandboxUnavailableError,
    SandboxValidationError,
)
from harena.core.input_files import input_file_in_turns
from harena.core.models import ExecRequest, FileInfo, Limits, ProcessInfo, SandboxOrigin
from harena.core.ports import Death
from harena.core.ports import FileWatch as FileWatchPort
from harena.core.ports import ReadWatch as ReadWatchPort
from harena.core.shared_future import SharedFuture
from harena.core.threads import CONTENT
from harena.runtime.guest import wire
from harena.runtime.guest.files import WRITES
from harena.runtime.host import box_files, image
from harena.runtime.host.box_network import BoxNetwork
from harena.runtime.host.execs import LinuxExec
from harena.runtime.host.file_watch import FileWatch
from harena.runtime.host.init_channel import LAST_MESSAGES, InitChannel
from harena.runtime.host.outside_bytes import MOST_AT_ONCE, OUTSIDE_BYTES
from harena.runtime.host.patience import MOST_SECONDS, PATIENCE_SECONDS, Patience
from harena.runtime.host.read_watch import ReadWatch
from harena.runtime.host.terminals import LeftTerminals
from harena.runtime.host.upper_layer import UpperLayer
from harena.runtime.host.wide_pipes import WIDE_PIPES

if TYPE_CHECKING:
    from harena.core.network_policy import NetworkPolicy
    from harena.core.records.gateways import GatewayLog
    from harena.core.records.network import NetworkLog
    from harena.runtime.host.held_layers import Chain
    from harena.runtime.host.link import SpawnerLink

T = TypeVar("T")
Content = bytes | bytearray | memoryview

_INPUT = "/dev/stdin"
_MOVING = ("pack", "unpack", "pour", "replace_tree", "adopt_times")
"""operations that take as long as there is content"""
_KILL_PATIENCE_SECONDS = 10.0
_END_PATIENCE_SECONDS = 0.1
_SLOW_BYTES_PER_SECOND = 16 << 20  # at which content is expected to be read or written even by a host under load
_DEATH_NEWS_SECONDS = 0.5  # how long the spawner's word of a death may come after the end of a pipe


Hold = Callable[["LinuxSandbox", UpperLayer, str, float], Awaitable[int | None]]
"""carries out `hold_files`; the layer is the caller's to close, but for what it has taken of it"""


class LinuxSandbox:
    """Implements `SandboxPort`."""

    def __init__(
        self,
        link: SpawnerLink,
        number: int,
        channel: socket.socket,
        *,
        workspace: str,
        limits: Limits,
        environment: Mapping[str, str],
        workdir: str,
        warm: bool,
        enforcement: Mapping[str, str],
        user: str | None = None,
        holds_modules: bool = False,
        image_digest: str | None = None,
        origin: SandboxOrigin | None = None,
        ports: tuple[int, ...] | None = None,
        gateways: int = 0,
        chain: Chain = (),
        hold: Hold | None = None,
        hides_processes: bool = False,
    ) -> None:
        """`user`: as whom programs run, "" = root; None = there is nobody else. `holds_modules`: its init is a fork of
        memory into which a blueprint's modules were imported. `image_digest`: the image of whose layers it has a root
        of its own; None = it is one of the default image. `origin`: None = the default image and no blueprint. `ports`:
        those of all its addresses at which it has listeners; None = it has no network. `gateways`: how many it has.
        `chain`: layers that it has above those of its image; `hold`: see `hold_files`."""
        self.id = "sb_" + secrets.token_hex(8)
        self.enforcement = enforcement
        self.origin = origin or SandboxOrigin()
        self.loop = asyncio.get_running_loop()
        self.workspace = workspace
        self.limits = limits
        self.environment = self._template_environment = environment
        self.workdir = workdir
        self.keeps_home = True
        """HOME is what the environment says, whoever the program's user is"""
        self._user = user
        self.warm = warm
        self.number = number
        self._link = link
        self._execs: dict[int, LinuxExec] = {}
        self._opens: dict[int, asyncio.Future[box_files.OpenFile]] = {}
        self._dones: dict[int, asyncio.Future[None]] = {}
        self._pausing = asyncio.Lock()
        self._goes_on = asyncio.Event()
        """programs may start; cleared while all of them are stopped"""
        self._goes_on.set()
        self._image_digest = image_digest
        self.chain = chain
        """layers of other sandboxes, which it has above those of its image"""
        self._hold = hold
        self.hides_processes = hides_processes
        self._is_watched = False
        """somebody watches files of it, which may not become others"""
        self._given_files: WeakSet[box_files.OpenFile] = WeakSet()
        self._given_layers: WeakSet[UpperLayer] = WeakSet()
        """its upper layer, as others have it who read it later: what is written until then has to be in there"""
        self._used_before = 0.0
        """processor time of what has run in here until its files were held"""
        self.successor_of: LinuxSandbox | None = None
        """the sandbox that goes on as this one, which nobody else has"""
        self._closings: set[asyncio.Task[None]] = set()
        self.left_terminals = LeftTerminals(self.loop, workspace)
        self._writing: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        """paths that are written in more than one step: two writes at one time would be mixed"""
        self._unwanted: set[int] = set()
        """file operations whose end is waited for, and whose answer is not"""
        self._has_run = holds_modules
        """A program of somebody's, which may hold up whatever is done with a file from here. Modules count as one: they
        decide what init does, and what it sends."""
        self._numbers = 0
        self._oom_kills = 0
        self._stopping = False
        self._failure = ""
        self.network = BoxNetwork(
            self.id,
            workspace,
            ports,
            gateways,
            check_running=self._check_running,
            is_dead=lambda: self._dead.done(),
        )
        self.ready: asyncio.Future[None] = self.loop.create_future()
        self._dead: SharedFuture[Death] = SharedFuture(loop=self.loop)
        self._patience = Patience(self._waited)
        self._channel = InitChannel(
            channel,
            self.loop,
            handle=lambda message, descriptors: self._handle(message, descriptors),
            fail=self._fail,
            let_go=lambda descriptor: self._let_go(box_files.OpenFile(descriptor)),
            most_descriptors=lambda: max(4, self.network.awaited),
        )

    # -- commands ------------------------------------------------------------------------------------------------

    async def exec(self, request: ExecRequest) -> LinuxExec:
        """Start a command, as soon as the sandbox is not paused. Raises SandboxNotRunningError."""
        self._check_running()
        if not self._goes_on.is_set():
            await self._goes_on.wait()
            self._check_running()
        if request.stdin is None or request.stdin_stream or request.terminal is not None:
            return self._started(request)
        if not self._takes_small_change(len(request.stdin)):
            return await self._started_with(request, request.stdin)
        given = await input_file_in_turns(request.stdin)
        try:
            self._check_running()  # it may have ended in one of the turns
            return self._started(request, given)
        finally:
            os.close(given)

    async def _started_with(self, request: ExecRequest, content: bytes) -> LinuxExec:
        """Start it with a standard input that a process in here has written, so that the memory limit counts it. Where
        that cannot be done, the command ends as one does that cannot be executed, or that is out of memory."""
        try:
            self._check_fits(_INPUT, len(content))
            file = await self._opened(_INPUT, "", 0)
        except SandboxFileError as error:
            return self._refused(request, error)
        try:
            await self._write_pieces(_INPUT, file, _pieces(content))
            await self._step(_INPUT, file.become_read_only)
            self._check_running()
            return self._started(request, file.descriptor)
        except SandboxFileError as error:
            self._check_running()
            await self._close_file(file)  # what it takes is free for the next command
            return self._refused(request, error)
        finally:
            self._let_go(file)

    def _refused(self, request: ExecRequest, error: SandboxFileError) -> LinuxExec:
        """A program decides how much memory is left, so this is a command's end and no failure of the platform."""
        refused = LinuxExec(self, self._next_number(), request, self.limits.output_bytes)
        refused.refused(f"harena: cannot start a process: {error}\n", is_memory=error.reason == "NO_MEMORY")
        return refused

    def _started(self, request: ExecRequest, *given: int) -> LinuxExec:
        """`given`: the file that is the program's standard input, where that is complete."""
        number = self._next_number()
        kept = self.limits.output_bytes if request.output_bytes is None else request.output_bytes
        running = LinuxExec(self, number, request, kept)
        theirs = running.open_descriptors()
        try:
            order = self._order(number, request)
            self._execs[number] = running
            self._has_run = True
            self._channel.send(order, [*given, *theirs])
        except BaseException as error:  # init knows nothing of it
            self._execs.pop(number, None)
            running.abandon()
            if isinstance(error, OSError):
                raise box_files.no_more_descriptors(error) from None
            raise
        finally:
            for descriptor in theirs:
                os.close(descriptor)
        running.started()
        return running

    def _order(self, number: int, request: ExecRequest) -> bytes:
        wants_warm = self.warm and request.warm is not False and _is_python(request.argv[0])
        user = self._user_of(request)
        environment = {**self.environment, **request.env} if request.env else self.environment
        if user and not self.keeps_home and "HOME" not in request.env:
            environment = {name: value for name, value in environment.items() if name != "HOME"}
        if request.guarded:
            environment = {**environment, "PATH": f"{image.GUARD}/bin:{environment.get('PATH', '')}"}
            wants_warm = False
        order = wire.encode_order(
            number,
            wants_warm * wire.WARM | (request.terminal is not None) * wire.TERMINAL,
            request.argv,
            None if environment == self._template_environment else environment,
            request.cwd or self.workdir,
            open_files=request.open_files or self.limits.open_files,
            cpu_seconds=max(1, int(-(-request.cpu_seconds // 1))) if request.cpu_seconds else 0,
        )
        return marshal.dumps(("a", number, user, order), 2) if user else order

    def run_as(self, user: str) -> None:
        """Have programs run as somebody else than the image says. Raises SandboxValidationError."""
        self._user = self._known(user) if self._user is not None or not image.is_root(user) else None

    def _user_of(self, request: ExecRequest) -> str:
        """The user that a program runs as; "" = root. Raises SandboxValidationError."""
        user = self._user if request.user is None else request.user
        return "" if user is None else self._known(user)

    def _known(self, user: str) -> str:
        if image.is_root(user):
            return ""
        if self._user is None:
            why = self.enforcement.get("users", "one id: only sandboxes of an image have several users")
            raise SandboxValidationError(
                f"user: this sandbox has no user but root ({why.removeprefix('one id: ')}); leave user out, or use "
                "a sandbox of an image on a node that runs as root or has a range of subordinate ids"
            )
        return user

    def request_kill(self, number: int) -> None:
        """Have init kill an exec's tree; if it has not done so in time, the whole sandbox is ended from outside."""
        if number in self._execs and not self._dead.done():
            self._channel.send(("k", number))
            self.loop.call_later(_KILL_PATIENCE_SECONDS, self._kill_overdue, number)

    def _kill_overdue(self, number: int) -> None:
        if number in self._execs and not self._dead.done():
            self._fail("init did not kill a command in time")

    async def processor_time(self) -> tuple[float, float]:
        """Ask for (longest wait of a runnable thread for a processor, processor time) in here now, in seconds."""
        waited, used = await self._link.ask("time", self.number)
        return float(waited), float(used) + self._used_before

    async def _waited(self) -> float:
        return (await self.processor_time())[0]

    async def was_out_of_memory(self) -> bool:
        """Whether the memory limit has killed something since the last time this was asked."""
        kills = int(await self._link.ask("oom", self.number))
        more = kills > self._oom_kills
        self._oom_kills = max(kills, self._oom_kills)
        return more

    # -- files ---------------------------------------------------------------------------------------------------

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
                await self._write_pieces(path, file, _pieces(source))
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
                await self._take_in(path, "pour", _pieces(piece, pieces), file.another())
                return
            await self._step(path, partial(file.write, piece), len(piece))
            written += len(piece)

    def _may_write(self, size: int, before: int = 0) -> bool:
        """Whether so many bytes of a file, of which `before` are written, may be written from here. Where no cgroup
        counts them, the size of the disk is the only limit of files, whoever writes them."""
        if not self._link.counts_memory:
            return True
        return before + size <= MOST_AT_ONCE and self._takes_small_change(size)

    def _takes_small_change(self, size: int) -> bool:
        """Whether so many bytes more may be written from here, of what no limit of the sandbox counts."""
        if self._dead.done():  # it has given back what it had
            return False
        return OUTSIDE_BYTES.take(self.id, self.workspace, size, self.limits.memory_bytes)

    def _check_fits(self, path: str, size: int) -> None:
        """Raise SandboxFileError for what is larger than the memory limit, before anything is changed."""
        if self._link.counts_memory and self.limits.memory_bytes is not None and size > self.limits.memory_bytes:
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

    async def _step(self, path: str, step: Callable[[], T], content_bytes: int = 0) -> T:
        """What a step with a file gives, or raise SandboxFileError. Only programs can hold a step up: where one has
        run, a thread of this sandbox takes it, for a bounded time."""
        try:
            if not self._has_run and content_bytes <= box_files.INLINE_BYTES:
                return step()
            return await self._in_thread(path, step, content_bytes)
        except box_files.NotRegularError as error:
            self._fail("init sent something that it may not send")
            raise box_files.file_error(path, errno.EACCES, error.strerror) from None
        except OSError as error:
            raise box_files.file_error(path, error.errno or errno.EIO) from None

    async def _in_thread(self, path: str, step: Callable[[], T], content_bytes: int) -> T:
        began: asyncio.Future[None] = self.loop.create_future()

        def work() -> T:
            self.loop.call_soon_threadsafe(box_files.finish, began)
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
        return await self._opened(path, box_files.check_path(path, self.workdir), flags, mode)

    async def _opened(self, path: str, full_path: str, flags: int, mode: int = 0) -> box_files.OpenFile:
        """`full_path` "" = a new file without a name, which is known as `path`."""
        return await self._given(path, "o", full_path, flags, mode)

    async def _given(self, path: str, kind: str, *asked: object) -> box_files.OpenFile:
        """What init opens and sends; it is known as `path`."""
        number = self._next_number()
        answer: asyncio.Future[box_files.OpenFile] = self.loop.create_future()
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

    async def watch_files(self, paths: Sequence[str], folders: Sequence[str] = ()) -> FileWatchPort:
        """Open the paths inside the sandbox, and watch what happens to them; those that are not there are left out.
        Raises PlatformError where the kernel has no watch left."""

        async def opened(path: str) -> int:
            try:
                return (await self._open(path, os.O_RDONLY)).take()
            except SandboxFileError as error:
                raise OSError(errno.ENOENT, str(error)) from None

        def closed(descriptor: int) -> None:
            self._let_go(box_files.OpenFile(descriptor))

        self._is_watched = True
        watch = FileWatch(opened, closed)
        try:
            for path, flags in [*((path, 0) for path in paths), *((path, os.O_DIRECTORY) for path in folders)]:
                with suppress(SandboxFileError):  # it is not there
                    descriptor = (await self._open(path, os.O_RDONLY | flags)).take()
                    try:
                        watch.add(path, descriptor, is_folder=bool(flags))
                    finally:
                        closed(descriptor)
        except BaseException as error:
            watch.close()
            if isinstance(error, OSError):  # nobody may take a file for untouched because it was not watched
                raise _unwatched(error) from error
            raise
        return watch

    async def watch_reads(self, paths: Sequence[str], folders: Sequence[str] = ()) -> ReadWatchPort:
        """Open the paths inside the sandbox, and watch whether they are read; those that are not there are left out.
        Raises PlatformError where the kernel has no watch left."""
        self._is_watched = True
        try:
            watch = ReadWatch()
        except OSError as error:
            raise _unwatched(error) from error
        try:
            for path in paths:
                with suppress(SandboxFileError):  # it is not there
                    file = await self._open(path, os.O_RDONLY)
                    try:
                        folder = await self._open(os.path.dirname(path), os.O_RDONLY | os.O_DIRECTORY)
                    except BaseException:
                        self._let_go(file)
                        raise
                    watch.add(path, file.take(), folder.take())
            for path in folders:
                with suppress(SandboxFileError):
                    descriptor = (await self._open(path, os.O_RDONLY | os.O_DIRECTORY)).take()
                    try:
                        watch.add_folder(descriptor)
                    finally:
                        self._let_go(box_files.OpenFile(descriptor))
            await watch.begin()
        except BaseException as error:
            watch.close()
            if isinstance(error, OSError):
                raise _unwatched(error) from error
            raise
        return watch

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
                await self._ended(answer, number)
                await asyncio.gather(answer, feeding, return_exceptions=True)
            finally:  # also where this is cancelled once more
                answer.cancel()
                WIDE_PIPES.give_back((self.id, number))

    async def _ended(self, answer: asyncio.Future[Any], number: int) -> None:
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
        return self._packed(path)

    def pack_tree(self, path: str) -> AsyncGenerator[bytes, None]:
        """Have a child of init pack a path with links and the fractions of times, and pass the stream on as it
        comes."""
        return self._packed(path, True)

    async def _packed(self, path: str, *arguments: object) -> AsyncGenerator[bytes, None]:
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
        if not self._dead.done():
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
            await asyncio.wait([asyncio.ensure_future(self.wait_dead())], timeout=_DEATH_NEWS_SECONDS)
            self._check_running()
            if operation in WRITES and await self.was_out_of_memory():
                raise self._no_memory(path or "")
            raise SandboxFileError(
                f"{operation} {path or ''}: it was killed before it answered (memory or process limit?)",
                filepath=path,
                reason="IO_FAILED",
            )
        return text

    # -- snapshots -----------------------------------------------------------------------------------------------

    async def upper_layer(self) -> UpperLayer:
        """Open what the sandbox has written, as a layer that the caller closes. Raises SandboxValidationError where it
        has none of its own."""
        layer = self._named_layer()
        self._given_layers.add(layer)
        await self._open_layer(layer)
        return layer

    def _named_layer(self) -> UpperLayer:
        """One that is still to be opened. Raises as `upper_layer`."""
        self._check_running()
        if self._image_digest is None:
            raise SandboxValidationError(
                f"sandbox {self.id} is one of the default image, whose root is the host's and has no layer of its own: "
                "name an image (container_image)"
            )
        return UpperLayer(self._image_digest, self._close_layer)

    async def _open_layer(self, layer: UpperLayer) -> None:
        try:
            layer.folder = (await self._given("upper layer", "u", wire.UPPER_LAYER)).take()
            layer.below = [os.dup(one.folder) for one in self.chain]
            if os.geteuid() != 0:
                layer.users = (await self._given("user namespace", "u", wire.USER_NAMESPACE)).take()
        except BaseException:
            await layer.close()
            raise

    async def _close_layer(self, descriptor: int) -> None:
        """The last descriptor of a layer frees all its files."""
        await asyncio.shield(self._closing(box_files.OpenFile(descriptor)))

    @asynccontextmanager
    async def paused(self) -> AsyncIterator[None]:
        """Stop all programs for as long as the context is open; commands that are asked for meanwhile wait. Raises
        PlatformError."""
        async with self._pausing:
            self._check_running()
            self._goes_on.clear()
            try:
                await self._stopped()
                yield
            finally:
                self._goes_on.set()
                if not self._dead.done() and not self._stopping:
                    self._channel.send(("c", self._next_number()))

    async def hold_files(self, identity: str, seconds: float) -> int | None:
        """Hold the layer by going on as another sandbox, that has it for the uppermost of those below its own: so
        nothing may be going on in this one that would not notice. Gives the bytes that are held; None = it cannot be
        done here."""
        layer = self._named_layer()
        if self._hold is None or self.network.has_listeners:
            return None  # its listeners are in a network namespace that is to go
        async with self._pausing:
            self._check_running()
            await self._open_layer(layer)
            self._goes_on.clear()
            try:
                return await self._hold(self, layer, identity, seconds)
            finally:
                self._goes_on.set()
                await layer.close()

    async def quiet(self) -> int | None:
        """The number of its latest request, which changes with the next; None if something is going on in here, or may
        be: `hold_files` must not have it go on as another one then."""
        if self._is_busy():
            return None
        number = self._next_number()
        answer: asyncio.Future[None] = self.loop.create_future()
        self._dones[number] = answer
        self._channel.send(("q", number))
        try:
            await self._patience.wait(answer)
        except (TimeoutError, OSError):
            return None
        return number

    def is_still_quiet(self, number: int) -> bool:
        """Nothing has been asked of it since `quiet`."""
        return self._numbers == number and not self._is_busy() and self.alive

    def _is_busy(self) -> bool:
        has_open = any(not file.is_closed for file in self._given_files)
        is_read = any(not layer.is_closed for layer in self._given_layers)
        is_asked = bool(self._execs or self._opens or self._dones or self._channel.has_unsent)
        return has_open or is_read or is_asked or self._is_watched

    async def become(self, other: LinuxSandbox, number: int) -> bool:
        """Go on as a sandbox that was just made, if nothing has been asked of this one since `quiet`; else that one
        ends."""
        goes_on = False
        try:
            _, used = await self._link.ask("time", self.number)
            goes_on = self.is_still_quiet(number) and other.still_lives()
        finally:
            if not goes_on:  # a cancellation, too: nobody else knows of it
                other.discard()
        if not goes_on:
            return False
        former = self.number
        self._channel.go_on_with(other.hand_over_to(self))
        self.number, self.chain = other.number, other.chain
        self._used_before += float(used)
        self._oom_kills = 0
        self._link.kill(former)
        return True

    def hand_over_to(self, successor: LinuxSandbox) -> socket.socket:
        """Give the channel to the sandbox that goes on in this one's place, and to its owner the news of its end."""
        self.successor_of = successor
        return self._channel.hand_over()

    async def check_still(self) -> None:
        """Have init confirm that no program has run since `paused`. Raises PlatformError."""
        await self._stopped()

    async def _stopped(self) -> None:
        """Have init stop all programs, or say that none has run since. Raises PlatformError."""
        number = self._next_number()
        answer: asyncio.Future[None] = self.loop.create_future()
        self._dones[number] = answer
        self._channel.send(("p", number))
        try:
            await self._patience.wait(answer)
        except (TimeoutError, OSError) as error:
            raise PlatformError(
                f"the programs of sandbox {self.id} could not be stopped: {error}", step="pause"
            ) from None

    # -- the network ---------------------------------------------------------------------------------------------

    async def set_network(self, policy: NetworkPolicy) -> None:
        """Give the sandbox's listeners another policy. Raises SandboxValidationError where it has no network."""
        await self.network.change(policy)

    async def network_log(self, *, after: int = 0, limit: int = 100) -> NetworkLog:
        """Read what the sandbox's programs reached. Raises SandboxValidationError where it has no network."""
        return await self.network.log(after=after, limit=limit)

    async def gateway_log(self, *, after: int = 0, limit: int = 100) -> GatewayLog:
        """Read what was asked of the sandbox's gateways. Raises SandboxValidationError where it has none."""
        return await self.network.gateway_log(after=after, limit=limit)

    # -- the end -------------------------------------------------------------------------------------------------

    async def destroy(self, *, grace_seconds: float = 0.0) -> None:
        """End the sandbox; its programs are asked to end first, and get `grace_seconds` for that. Returns when it is
        gone."""
        if not self._stopping and grace_seconds > 0 and not self._dead.done():
            self._stopping = True
            self._channel.send(("t",))
            await asyncio.wait([asyncio.ensure_future(self.wait_dead())], timeout=grace_seconds)
        self._stopping = True
        if not self._dead.done():
            self._channel.close()  # init ends when its owner has gone: nobody else need be woken for it
            self.loop.call_later(_END_PATIENCE_SECONDS, self._link.kill, self.number)
        await self._dead.wait()

    async def wait_dead(self) -> Death:
        """Wait until the sandbox is dead, and tell what it died of."""
        return await self._dead.wait()

    def died(self, oom_kills: int) -> None:
        """The spawner says that nothing of it runs any more."""
        if self._dead.done():
            return
        by_memory = oom_kills > self._oom_kills and not self._stopping
        detail = self._failure or ("out of memory" if by_memory else "" if self._stopping else "it ended by itself")
        self._channel.receive(LAST_MESSAGES)  # what init said before its end
        self._channel.close()
        self.network.end()
        OUTSIDE_BYTES.give_back(self.id)
        self._dead.set_result(Death(by_request=self._stopping, memory=by_memory, detail=detail))
        for running in list(self._execs.values()):
            running.lost(None if by_memory else self._end_error())
        self._execs.clear()
        self.left_terminals.close()
        for answer in self._opens.values():
            if not answer.done():
                answer.set_exception(self._end_error())
        self._opens.clear()
        for done in self._dones.values():
            if not done.done():
                done.set_exception(self._end_error())
        self._dones.clear()
        self._goes_on.set()
        if not self.ready.done():
            failed = PlatformError(f"sandbox start: {detail}", step=detail.partition(":")[0])
            self.ready.set_exception(self._end_error() if self._stopping else failed)

    @property
    def alive(self) -> bool:
        """It has not ended and nobody has asked it to."""
        return not (self._stopping or self._dead.done() or self._failure)

    def still_lives(self) -> bool:
        """Whether it is `alive` by what the kernel says now: the news of its death come later, through the spawner."""
        self._channel.receive(1)
        return self.alive and self._channel.is_open

    def expect_end(self) -> None:
        """The whole node is being closed: the end that comes was asked for."""
        self._stopping = True

    def discard(self) -> None:
        """End it without waiting."""
        self._stopping = True
        self._link.kill(self.number)

    def abandon(self) -> str:
        """Its start has failed: let go of it. Gives what its init said, if anything."""
        self._channel.receive()
        self.discard()
        self._channel.close()
        self.network.end()
        if not self.ready.done():
            self.ready.cancel()
        return self._failure

    def forget(self) -> None:
        """In a forked child: let go of the parent's descriptors."""
        self._channel.forget()
        self.network.forget()
        OUTSIDE_BYTES.give_back(self.id)
        for running in self._execs.values():
            running.forget()
        self.left_terminals.forget()

    def _end_error(self) -> Exception:
        if self._stopping:
            return SandboxTerminatedError(f"sandbox {self.id} was stopped")
        return SandboxUnavailableError(
            f"sandbox {self.id} was lost: {self._failure or 'its init or its node was killed from outside'}",
            reason="SANDBOX_LOST",
        )

    def _check_running(self) -> None:
        if self._dead.done() or self._stopping:
            death = self._dead.result() if self._dead.done() else None
            if death is not None and death.memory:
                raise SandboxNotRunningError(f"sandbox {self.id} has ended: out of memory")
            raise self._end_error()

    def _fail(self, why: str) -> None:
        self._failure = self._failure or why
        self._link.kill(self.number)

    # -- wire ----------------------------------------------------------------------------------------------------

    def _next_number(self) -> int:
        self._numbers = self._numbers % 0xFFFFFFFF + 1
        return self._numbers

    def _handle(self, message: bytes, descriptors: list[int]) -> bool:
        kind = message[:1]
        if kind == b"X" and len(message) == wire.EXITED.size and not descriptors:
            _, number, status, user, system, peak, warm = wire.EXITED.unpack(message)
            running = self._execs.pop(number, None)
            if running is not None:
                running.exited(status, user, system, peak, bool(warm))
            return running is not None
        if kind == b"O" and len(message) == wire.OPENED.size and len(descriptors) <= 1:
            _, number, code, _size, _mode = wire.OPENED.unpack(message)
            answer = self._opens.pop(number, None)
            if answer is None or answer.done():
                return answer is not None
            if code or not descriptors:
                answer.set_exception(OSError(code if 0 < code < 4096 else errno.EIO, "open"))
                return True
            answer.set_result(box_files.OpenFile(descriptors.pop()))
            return True
        if kind == b"D" and len(message) == wire.DONE.size and not descriptors:
            _, number, code = wire.DONE.unpack(message)
            done = self._dones.pop(number, None)
            if done is not None and not done.done():
                if code:
                    done.set_exception(OSError(code, "not all of them have come to their stop"))
                else:
                    done.set_result(None)
            return True
        if kind == b"N" and len(message) == wire.STARTED_REALLY.size and not descriptors:
            running = self._execs.get(wire.STARTED_REALLY.unpack(message)[1])
            if running is not None:
                running.started_really()
            return True
        if message == wire.READY and not self.ready.done() and not self.network.awaited:
            self.ready.set_result(None)
            return True
        if message == wire.LISTENERS and not self.ready.done():
            return self.network.take(descriptors)
        if kind == wire.FAILED:
            self._failure = message[1:1000].decode(errors="replace")
            self._link.kill(self.number)
            return True
        return False


async def _pieces(first: Content | AsyncIterable[Content], *rest: AsyncIterator[Content]) -> AsyncIterator[Content]:
    """One piece, or each of a source; then what is left of another one."""
    if isinstance(first, bytes | bytearray | memoryview):
        yield first
    else:
        async for piece in first:
            yield piece
    for pieces in rest:
        async for piece in pieces:
            yield piece


def _unwatched(error: OSError) -> PlatformError:
    return PlatformError(
        f"files of a sandbox cannot be watched: {os.strerror(error.errno or 0)} (the host's "
        "fs.inotify.max_user_watches and max_user_instances bound it)",
        step="watch files",
    )


def _is_python(program: str) -> bool:
    """It may be an interpreter; whether it is the warm one, and runs what a warm one can, init's child decides."""
    return program.rpartition("/")[2].startswith("python")


def _is_encodable(word: str) -> bool:
    try:
        os.fsencode(word)
    except UnicodeEncodeError:
        return False
    return True


def _too_large(path: str, size: int, most: int) -> SandboxFileError:
    return SandboxFileError(
        f"{path}: {size} bytes, more than {most}; read it as a stream", filepath=path, reason="TOO_LARGE"
    )
