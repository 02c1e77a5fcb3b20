"""The file verbs of a sandbox."""

from __future__ import annotations

import asyncio
import builtins
import tempfile
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable
from contextlib import aclosing
from os import PathLike
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from harena.core.checked import MOST_BYTES, checked_count, checked_mode, checked_timeout, content_bytes
from harena.core.errors import SandboxFileError, SandboxRequestTimeoutError, SandboxValidationError
from harena.core.models import FileInfo
from harena.sdk import archive
from harena.sdk.options import check_path
from harena.sdk.portal import Portal, in_thread
from harena.sdk.refs import OperationRef
from harena.sdk.streams import IteratorSource, StreamReader

if TYPE_CHECKING:
    from harena.core.ports import SandboxPort

CHUNK_BYTES = 1024 * 1024
WHOLE_BYTES = 1024 * 1024 * 1024
"""the largest file that is read whole, unless the caller asks for more: a program makes one of any size for nothing"""


class FileVerbs:
    """Reading and writing inside a sandbox. Paths are absolute paths inside it.

    Every verb raises SandboxFileError (with `filepath` and `reason`) through its reference when the file system says
    no, and takes `timeout_seconds`, after which it raises SandboxRequestTimeoutError.
    """

    __slots__ = ()

    def _bound_portal(self) -> Portal:
        raise NotImplementedError

    async def running_port(self) -> SandboxPort:
        """The running sandbox, started and waited for where needed. On the sdk's loop only."""
        raise NotImplementedError

    def read_file(
        self, path: str, *, max_bytes: int = WHOLE_BYTES, timeout_seconds: float | None = None
    ) -> OperationRef[bytes]:
        """The whole file, in memory; one that is larger than `max_bytes` (1 GiB) is refused (`reason` TOO_LARGE), and
        can be read with `read_file_streaming`."""
        check_path(path)
        checked_count(max_bytes, "max_bytes", least=0, most=MOST_BYTES)
        return self._file_verb(self._read_file, path, max_bytes, timeout_seconds=timeout_seconds)

    def write_file(
        self, path: str, contents: bytes | str, *, mode: int | None = None, timeout_seconds: float | None = None
    ) -> OperationRef[None]:
        """Create or replace a file, creating missing parents. Text is written as UTF-8; `mode` sets permission bits."""
        if mode is not None:
            checked_mode(mode)
        return self._file_verb(
            self._write_file, *_file_to_write(path, contents), False, mode, timeout_seconds=timeout_seconds
        )

    def append_file(
        self, path: str, contents: bytes | str, *, timeout_seconds: float | None = None
    ) -> OperationRef[None]:
        """Add to the end of a file, which is created where it is missing."""
        return self._file_verb(
            self._write_file, *_file_to_write(path, contents), True, None, timeout_seconds=timeout_seconds
        )

    def read_file_streaming(self, path: str, *, chunk_bytes: int = CHUNK_BYTES) -> StreamReader[bytes]:
        """The file in pieces of at most `chunk_bytes`, however large it is."""
        check_path(path)
        checked_count(chunk_bytes, "chunk_bytes", least=1)

        async def opened() -> AsyncIterator[bytes]:
            return (await self.running_port()).read_stream(path, chunk_bytes=chunk_bytes)

        return StreamReader(self._bound_portal(), IteratorSource(opened))

    def write_file_streaming(
        self,
        path: str,
        source: bytes | Iterable[bytes] | AsyncIterable[bytes],
        *,
        timeout_seconds: float | None = None,
    ) -> OperationRef[None]:
        """Create or replace a file from pieces, however large it gets.

        An asynchronous `source` is read on the event loop from which this is called; a plain one in a thread.
        """
        check_path(path)
        content: bytes | AsyncIterable[bytes]
        if isinstance(source, bytes | bytearray | memoryview):
            content = bytes(source)
        elif isinstance(source, AsyncIterable):
            content = _from_other_loop(source)
        elif isinstance(source, Iterable) and not isinstance(source, str):
            content = _from_thread(source)
        else:
            raise SandboxValidationError(f"source must be bytes or an iterable of bytes (got {type(source).__name__})")
        return self._file_verb(self._write_file, path, content, False, None, timeout_seconds=timeout_seconds)

    def list_files(
        self, path: str = "/workspace", *, timeout_seconds: float | None = None
    ) -> OperationRef[builtins.list[FileInfo]]:
        """A directory's entries, sorted by name."""
        check_path(path)
        return self._file_verb(self._list_files, path, timeout_seconds=timeout_seconds)

    def stat(self, path: str, *, timeout_seconds: float | None = None) -> OperationRef[FileInfo]:
        """About one path; a link is described, not followed."""
        check_path(path)
        return self._file_verb(self._stat, path, timeout_seconds=timeout_seconds)

    def make_dir(self, path: str, *, parents: bool = True, timeout_seconds: float | None = None) -> OperationRef[None]:
        """Create a directory; with `parents` like `mkdir -p`."""
        check_path(path)
        return self._file_verb(self._make_dir, path, parents, timeout_seconds=timeout_seconds)

    def remove(
        self, path: str, *, recursive: bool = False, missing_ok: bool = False, timeout_seconds: float | None = None
    ) -> OperationRef[None]:
        """Remove a file, a link or an empty directory; with `recursive` a whole tree."""
        check_path(path)
        return self._file_verb(self._remove, path, recursive, missing_ok, timeout_seconds=timeout_seconds)

    def upload_dir(
        self,
        local: str | PathLike[str],
        path: str,
        *,
        max_entries: int = archive.MAX_ENTRIES,
        max_bytes: int = archive.MAX_BYTES,
        timeout_seconds: float | None = None,
    ) -> OperationRef[None]:
        """Copy what is in the host's directory `local` into the sandbox's directory `path`. Links are refused."""
        check_path(path)
        _check_bounds(max_entries, max_bytes)
        return self._file_verb(
            self._upload_dir, Path(local), path, max_entries, max_bytes, timeout_seconds=timeout_seconds
        )

    def download_dir(
        self,
        path: str,
        local: str | PathLike[str],
        *,
        max_entries: int = archive.MAX_ENTRIES,
        max_bytes: int = archive.MAX_BYTES,
        timeout_seconds: float | None = None,
    ) -> OperationRef[None]:
        """Copy what is in the sandbox's directory `path` into the host's directory `local`.

        Symbolic links are left out, and what the sandbox's programs may not read. Of `/` only the sandbox's own files
        come, not those of its image (name /usr for these) and not /proc. `max_bytes` bounds the bytes of the files,
        `max_entries` the number of files and directories; beyond them: SandboxFileError(reason=TOO_LARGE).
        """
        check_path(path)
        _check_bounds(max_entries, max_bytes)
        return self._file_verb(
            self._download_dir, path, Path(local), max_entries, max_bytes, timeout_seconds=timeout_seconds
        )

    # -- on the sdk's loop --

    def _file_verb(
        self, verb: Callable[..., Any], *args: Any, timeout_seconds: float | None = None
    ) -> OperationRef[Any]:
        limit = checked_timeout(timeout_seconds)
        if limit is None:
            return self._bound_portal().submit(verb, *args)

        async def limited() -> Any:
            try:
                async with asyncio.timeout(limit):
                    return await verb(*args)
            except TimeoutError:
                message = f"a file operation took longer than timeout_seconds={limit:g}"
                raise SandboxRequestTimeoutError(message) from None

        return self._bound_portal().submit(limited)

    async def _read_file(self, path: str, max_bytes: int) -> bytes:
        return await (await self.running_port()).read_file(path, max_bytes=max_bytes)

    async def _write_file(
        self, path: str, content: bytes | AsyncIterable[bytes], append: bool, mode: int | None
    ) -> None:
        await (await self.running_port()).write_file(path, content, append=append, mode=mode)

    async def _list_files(self, path: str) -> builtins.list[FileInfo]:
        return await (await self.running_port()).list_dir(path)

    async def _stat(self, path: str) -> FileInfo:
        return await (await self.running_port()).stat(path)

    async def _make_dir(self, path: str, parents: bool) -> None:
        await (await self.running_port()).make_dir(path, parents=parents)

    async def _remove(self, path: str, recursive: bool, missing_ok: bool) -> None:
        await (await self.running_port()).remove(path, recursive=recursive, missing_ok=missing_ok)

    async def _upload_dir(self, local: Path, path: str, max_entries: int, max_bytes: int) -> None:
        async with in_thread(tempfile.TemporaryFile) as packed:
            await asyncio.to_thread(lambda: archive.pack(local, packed, max_entries=max_entries, max_bytes=max_bytes))
            await asyncio.to_thread(packed.seek, 0)
            await (await self.running_port()).extract_archive(path, _pieces(packed))

    async def _download_dir(self, path: str, local: Path, max_entries: int, max_bytes: int) -> None:
        most = max_bytes + max_entries * 4096  # an archive also holds names and padding
        async with in_thread(tempfile.TemporaryFile) as packed:
            size = 0
            async with aclosing((await self.running_port()).create_archive(path)) as pieces:
                async for piece in pieces:
                    size += len(piece)
                    if size > most:
                        raise SandboxFileError(
                            f"refused: {path} holds more than max_bytes={max_bytes} bytes",
                            filepath=path,
                            reason="TOO_LARGE",
                        )
                    await asyncio.to_thread(packed.write, piece)
            await asyncio.to_thread(packed.seek, 0)
            await asyncio.to_thread(lambda: archive.unpack(packed, local, max_entries=max_entries, max_bytes=max_bytes))


def _file_to_write(path: str, contents: bytes | str) -> tuple[str, bytes]:
    check_path(path)
    return path, content_bytes(contents, "contents")


def _check_bounds(max_entries: int, max_bytes: int) -> None:
    checked_count(max_entries, "max_entries", least=0)
    checked_count(max_bytes, "max_bytes", least=0)


async def _pieces(file: IO[bytes]) -> AsyncIterator[bytes]:
    while piece := await asyncio.to_thread(file.read, CHUNK_BYTES):
        yield piece


async def _from_thread(source: Iterable[bytes]) -> AsyncIterator[bytes]:
    """A plain iterable may block: it is asked in a thread."""
    items = iter(source)
    while (piece := await asyncio.to_thread(next, items, None)) is not None:
        yield piece


def _from_other_loop(source: AsyncIterable[bytes]) -> AsyncIterable[bytes]:
    """An asynchronous iterable may belong to the loop of the caller: it is asked there."""
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        return source
    return _asked_on(loop, source)


async def _asked_on(loop: asyncio.AbstractEventLoop, source: AsyncIterable[bytes]) -> AsyncIterator[bytes]:
    items = aiter(source)

    async def following() -> bytes | None:
        return await anext(items, None)

    while (piece := await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(following(), loop))) is not None:
        yield piece
