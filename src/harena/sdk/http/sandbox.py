"""A server's sandbox: its record (`RemoteHandle`) and what can be done in it (`RemoteSandbox`)."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Mapping
from contextlib import aclosing
from typing import Any
from weakref import WeakValueDictionary

import aiohttp

from harena.core.errors import (
    SandboxFileError,
    SandboxNotRunningError,
    SandboxTerminatedError,
    SandboxUnavailableError,
)
from harena.core.models import ExecRequest, FileInfo, ProcessorTime, SandboxOrigin
from harena.core.network_policy import MOST_PAGE, NetworkPolicy
from harena.core.operations import sandboxes as table
from harena.core.operations.operation import Operation
from harena.core.ports import Death
from harena.core.records.gateways import GatewayLog
from harena.core.records.network import NetworkLog
from harena.core.records.sandbox_answers import CommandOutput, CommandOutputs, DirectoryListing, ProcessListing
from harena.core.records.sandboxes import ProcessInfo, SandboxInfo, SandboxStatus, SandboxUsage
from harena.sdk.http.connection import Connection, Query, address
from harena.sdk.http.execs import RemoteExec

POLL_SECONDS = 30
"""how long one request waits for a sandbox's end; asked again for as long as somebody waits"""
PIECE_BYTES = 1024 * 1024


class KnownRecord:
    """What the server said last of one sandbox; all handles of it on one connection share it, so that what one of them
    is told, as that it was stopped, the others know."""

    __slots__ = ("__weakref__", "info")

    def __init__(self, info: SandboxInfo) -> None:
        self.info = info


class KnownRecords:
    """Records of the sandboxes that handles exist for."""

    def __init__(self) -> None:
        self._records: WeakValueDictionary[str, KnownRecord] = WeakValueDictionary()

    def updated(self, info: SandboxInfo) -> KnownRecord:
        """The record of this sandbox, brought up to date by an answer. An end is final: an answer that was under way
        when it came, and is older, changes nothing."""
        record = self._records.get(info.id)
        if record is None:
            record = self._records[info.id] = KnownRecord(info)
        elif not record.info.status.is_terminal:
            record.info = info
        return record


class RemoteHandle:
    """Implements `SandboxHandle`. `info` is what the server said last, to any handle of the sandbox."""

    def __init__(self, connection: Connection, info: SandboxInfo, known: KnownRecords | None = None) -> None:
        """`known`: what the connection's handles share; None = this one is alone."""
        self._connection = connection
        self._known = known or KnownRecords()
        self._record = self._known.updated(info)
        self._port = RemoteSandbox(connection, self)

    @property
    def info(self) -> SandboxInfo:
        """What was last known."""
        return self._record.info

    @property
    def port(self) -> RemoteSandbox:
        """The running sandbox."""
        if not self._record.info.status.is_terminal:
            return self._port
        about = f"sandbox {self._record.info.id} is {self._record.info.status}"
        reason = f" ({self._record.info.status_reason})" if self._record.info.status_reason else ""
        if self._record.info.status is SandboxStatus.FAILED:
            raise SandboxNotRunningError(f"{about}{reason}: create a new one", reason="SANDBOX_FAILED")
        raise SandboxTerminatedError(f"{about}{reason}: create a new one", reason="SANDBOX_TERMINATED")

    async def refresh(self) -> SandboxInfo:
        """Ask the server."""
        return await self._ask(table.GET)

    async def wait_terminal(self) -> SandboxInfo:
        """Returns when it has ended."""
        while not self._record.info.status.is_terminal:
            await self._ask(table.WAIT, query={"seconds": POLL_SECONDS})
        return self._record.info

    async def stop(self, *, grace_seconds: float = 0.0) -> None:
        """End it and wait for that."""
        if not self._record.info.status.is_terminal:
            await self._ask(table.STOP, content={"grace_seconds": grace_seconds})

    async def extend_lifetime(self, seconds: float) -> SandboxInfo:
        """End `seconds` from now at the earliest."""
        return await self._ask(table.EXTEND, content={"seconds": seconds})

    async def outputs(self) -> list[CommandOutput]:
        """The ends of what its newest commands printed."""
        answer = await self._connection.json(*address(table.OUTPUTS, sandbox_id=self._record.info.id))
        with self._connection.understanding("a list of outputs"):
            return CommandOutputs.from_dict(answer).commands

    async def _ask(
        self,
        operation: Operation[..., Any],
        *,
        query: Query | None = None,
        content: Mapping[str, object] | None = None,
    ) -> SandboxInfo:
        where = address(operation, sandbox_id=self._record.info.id)
        answer = await self._connection.json(*where, query=query, content=content)
        with self._connection.understanding("a sandbox's record"):
            self._record = self._known.updated(SandboxInfo.from_dict(answer))
        return self._record.info


class RemoteSandbox:
    """Implements `SandboxPort`. Each verb is one request; whatever the server raises is raised here."""

    def __init__(self, connection: Connection, handle: RemoteHandle) -> None:
        self.id = handle.info.id
        self.enforcement: Mapping[str, str] = handle.info.enforcement
        """how the server's host keeps the limits"""
        info = handle.info
        self.origin = SandboxOrigin(
            image_digest=info.image_digest, blueprint_digest=info.blueprint_digest, profile=info.profile
        )
        self._connection = connection
        self._handle = handle

    async def exec(self, request: ExecRequest) -> RemoteExec:
        """Start a command."""
        running = RemoteExec(self._connection, self.id)
        await running.start(request)
        return running

    async def read_file(self, path: str, *, max_bytes: int) -> bytes:
        """The whole file."""
        async with aclosing(self._stream(table.READ_FILE, path, PIECE_BYTES, max_bytes)) as pieces:
            return b"".join([piece async for piece in pieces])

    async def read_stream(
        self, path: str, *, chunk_bytes: int = PIECE_BYTES, max_bytes: int | None = None
    ) -> AsyncGenerator[bytes, None]:
        """The file in pieces."""
        async with aclosing(self._stream(table.READ_FILE, path, chunk_bytes, max_bytes)) as pieces:
            async for piece in pieces:
                yield piece

    async def write_file(
        self, path: str, source: bytes | AsyncIterable[bytes], *, append: bool = False, mode: int | None = None
    ) -> None:
        """Create, replace or append to a file."""
        query: dict[str, str | int | float | list[str]] = {"path": path}
        if mode is not None:
            query["mode"] = mode
        await self._send(table.APPEND if append else table.WRITE_FILE, query, source)

    async def stat(self, path: str) -> FileInfo:
        """About one path."""
        answer = await self._verb(table.STAT, {"path": path})
        with self._connection.understanding("a file's record"):
            return FileInfo.from_dict(answer)

    async def list_dir(self, path: str) -> list[FileInfo]:
        """A directory's entries."""
        answer = await self._verb(table.LIST_FILES, {"path": path})
        with self._connection.understanding("a list of files"):
            return DirectoryListing.from_dict(answer).entries

    async def make_dir(self, path: str, *, parents: bool = True) -> None:
        """Create a directory."""
        await self._verb(table.MAKE_DIR, {"path": path, "parents": parents})

    async def remove(self, path: str, *, recursive: bool = False, missing_ok: bool = False) -> None:
        """Remove a file, a link, an empty directory or a tree."""
        await self._verb(table.REMOVE, {"path": path, "recursive": recursive, "missing_ok": missing_ok})

    async def extract_archive(self, path: str, source: AsyncIterable[bytes]) -> None:
        """Unpack a tar stream."""
        await self._send(table.EXTRACT, {"path": path}, source)

    async def create_archive(self, path: str) -> AsyncGenerator[bytes, None]:
        """A tar stream."""
        async with aclosing(self._stream(table.ARCHIVE, path, PIECE_BYTES)) as pieces:
            async for piece in pieces:
                yield piece

    async def processes(self) -> list[ProcessInfo]:
        """The processes inside."""
        answer = await self._verb(table.PROCESSES, {})
        with self._connection.understanding("a list of processes"):
            return ProcessListing.from_dict(answer).processes

    async def usage(self) -> SandboxUsage:
        """What its programs use."""
        answer = await self._verb(table.USAGE, {})
        with self._connection.understanding("what a sandbox uses"):
            return SandboxUsage.from_dict(answer)

    async def signal(self, pid: int, signum: int) -> None:
        """Send a signal to one of them."""
        where = address(table.SIGNAL, sandbox_id=self.id, pid=pid)
        await self._connection.json(*where, content={"signal": int(signum)})

    async def processor_time(self) -> ProcessorTime:
        """Not told over HTTP."""
        return ProcessorTime()

    async def set_network(self, policy: NetworkPolicy) -> None:
        """Give it another policy."""
        await self._connection.json(
            *address(table.SET_NETWORK, sandbox_id=self.id), content={"network": policy.to_json()}
        )

    async def network_log(self, *, after: int = 0, limit: int = MOST_PAGE) -> NetworkLog:
        """What it has reached and what it was refused."""
        answer = await self._verb(table.NETWORK_LOG, {"after": after, "limit": limit})
        with self._connection.understanding("the log of a network"):
            return NetworkLog.from_dict(answer)

    async def gateway_log(self, *, after: int = 0, limit: int = 100) -> GatewayLog:
        """What was asked of its gateways."""
        answer = await self._verb(table.GATEWAY_LOG, {"after": after, "limit": limit})
        return self._connection.read(GatewayLog, answer)

    async def destroy(self, *, grace_seconds: float = 0.0) -> None:
        """End it."""
        await self._handle.stop(grace_seconds=grace_seconds)

    async def wait_dead(self) -> Death:
        """Returns when it has ended. What a memory limit ended is told in `detail` only."""
        info = await self._handle.wait_terminal()
        return Death(by_request=info.status is not SandboxStatus.FAILED, detail=info.status_reason or "")

    async def _verb(self, operation: Operation[..., Any], query: Query) -> Any:
        return await self._connection.json(*address(operation, sandbox_id=self.id), query=query)

    async def _send(self, operation: Operation[..., Any], query: Query, source: bytes | AsyncIterable[bytes]) -> None:
        body = source if isinstance(source, bytes) else _UploadBody(source)
        headers = {"content-type": table.OCTETS}
        where = address(operation, sandbox_id=self.id)
        try:
            async with self._connection.request(*where, query=query, body=body, headers=headers) as response:
                await response.read()
        except SandboxUnavailableError:
            if isinstance(body, _UploadBody) and body.failure is not None:
                raise body.failure from None  # the source's own, and no fault of the connection
            raise

    async def _stream(
        self, operation: Operation[..., Any], path: str, piece_bytes: int, max_bytes: int | None = None
    ) -> AsyncGenerator[bytes, None]:
        query: dict[str, str | int | float | list[str]] = {"path": path}
        if max_bytes is not None:
            query["max_bytes"] = max_bytes
        async with self._connection.request(*address(operation, sandbox_id=self.id), query=query) as response:
            try:
                async for piece in response.content.iter_chunked(piece_bytes):
                    yield piece
            except aiohttp.ClientPayloadError as error:
                message = f"{path}: the stream broke off before its end; what has come is not whole"
                raise SandboxFileError(message, filepath=path, reason="IO_FAILED") from error


class _UploadBody(AsyncIterable[bytes]):
    """Somebody's pieces, and what went wrong with them."""

    def __init__(self, source: AsyncIterable[bytes]) -> None:
        self._source = source
        self.failure: BaseException | None = None

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for piece in self._source:
                if piece:
                    yield piece
        except Exception as error:
            self.failure = error
            raise
