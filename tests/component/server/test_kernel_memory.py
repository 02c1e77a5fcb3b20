"""What connections hold of the kernel's memory, as the kernel tells it."""

from __future__ import annotations

import asyncio
import fcntl
import socket
import struct
import termios
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from server_world import World, world
from test_server_connections import HOST, answer_of, connected
from test_server_keys import key_for

from harena.server import kernel_memory
from harena.server.protocol import HttpProtocol

ASK = b"GET /openapi.json HTTP/1.1\r\n" + HOST + b"\r\n"


async def until(condition: Callable[[], bool]) -> None:
    while not condition():  # noqa: ASYNC110 - nobody is told of it
        await asyncio.sleep(0)


def open_ones(here: World) -> set[HttpProtocol]:
    assert here.server._uvicorn is not None
    return here.server._uvicorn.server_state.connections  # type: ignore[return-value]


def option(connection: HttpProtocol, name: int) -> int:
    found: int = connection.transport.get_extra_info("socket").getsockopt(socket.SOL_SOCKET, name)
    return found


def queued(connection: HttpProtocol, request: int) -> int:
    """Bytes that the kernel has of it: not taken (TIOCOUTQ), or not read (FIONREAD)."""
    told = fcntl.ioctl(connection.transport.get_extra_info("socket").fileno(), request, b"\0" * 4)
    size: int = struct.unpack("i", told)[0]
    return size


@asynccontextmanager
async def unread(here: World, sent: bytes) -> AsyncIterator[tuple[socket.socket, HttpProtocol]]:
    """A connection whose client has sent this and reads nothing, when nothing more of its answers fits anywhere."""
    address = urlsplit(here.url)
    before = set(open_ones(here))
    with socket.create_connection((address.hostname, address.port)) as client:
        client.sendall(sent)
        await until(lambda: len(open_ones(here)) > len(before))
        (ours,) = open_ones(here) - before
        await until(lambda: ours.flow is not None and ours.flow.write_paused and ours.flow.read_paused)
        yield client, ours


async def test_answers_that_nobody_takes_are_bounded_in_the_kernel(here: World) -> None:
    """Requests sent ahead, without a key: what waits beyond a few pages waits in the server, where it is counted."""
    async with unread(here, ASK * 60) as (_, ours):
        assert queued(ours, termios.TIOCOUTQ) <= 128 * 1024
        assert option(ours, socket.SO_SNDBUF) == 2 * kernel_memory.SEND_BYTES


async def test_a_buffer_for_requests_does_not_grow(here: World) -> None:
    """By itself it does with what is read: megabytes behind a refused request, which are thrown away."""
    reader, writer = await connected(here)
    await until(lambda: len(open_ones(here)) == 1)
    (ours,) = open_ones(here)
    writer.write(b"POST /nothing HTTP/1.1\r\n" + HOST + b"content-length: 100000000\r\n\r\n")
    assert (await answer_of(reader))[0] == 404
    for _ in range(32):
        writer.write(b"x" * 2**20)
        await writer.drain()
    assert option(ours, socket.SO_RCVBUF) == 2 * kernel_memory.RECEIVE_BYTES
    assert queued(ours, termios.FIONREAD) <= 2 * kernel_memory.RECEIVE_BYTES
    writer.close()


async def test_a_connection_that_is_dropped_leaves_nothing_in_the_kernel(here: World) -> None:
    """Without a word of it the kernel would keep for minutes what was not taken, as nobody's."""
    async with unread(here, ASK * 60) as (client, ours):
        ports = [ours.transport.get_extra_info(name)[1] for name in ("sockname", "peername")]
        assert _in_table(*ports)
        await until(lambda: queued(ours, termios.TIOCOUTQ) > 0)  # the client's own buffer is full
        ours.drop()
        await until(lambda: ours not in open_ones(here))
        await until(lambda: not _in_table(*ports) or bool(_in_table(*ports) & {"04", "05", "0B"}))
        assert not _in_table(*ports)
        with pytest.raises(ConnectionResetError):
            _read_to_end(client)


def _read_to_end(client: socket.socket) -> None:
    while client.recv(1 << 20):
        pass


def _in_table(ours: int, theirs: int) -> set[str]:
    """States of the connection at the server's side."""
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return {row[3] for row in rows if row[1].endswith(f":{ours:04X}") and row[2].endswith(f":{theirs:04X}")}


async def test_a_connection_with_a_key_has_what_a_long_transfer_needs(tmp_path: Path) -> None:
    """A workspace's many connections share it."""
    async with world(tmp_path, keyed=True) as here:
        key = await key_for(here, "ours")
        reader, writer = await connected(here)
        await until(lambda: len(open_ones(here)) == 1)
        (ours,) = open_ones(here)
        await until(lambda: ours.transport is not None)
        before = [option(ours, name) for name in (socket.SO_SNDBUF, socket.SO_RCVBUF)]
        writer.write(b"GET /v1/sandboxes HTTP/1.1\r\n" + HOST + f"authorization: Bearer {key}\r\n\r\n".encode())
        assert (await answer_of(reader))[0] == 200
        after = [option(ours, name) for name in (socket.SO_SNDBUF, socket.SO_RCVBUF)]
        assert all(more > less for more, less in zip(after, before, strict=True))
        assert max(after) <= 2 * kernel_memory.MOST_BYTES
        writer.close()


def test_connections_of_a_workspace_share_what_it_has() -> None:
    """Few have all that a transfer needs; thousands together have some hundred MiB."""
    sizes = [kernel_memory.bytes_for(count) for count in range(1, 5_001)]
    assert sizes[:32] == [kernel_memory.MOST_BYTES] * 32
    assert min(sizes) == kernel_memory.RECEIVE_BYTES
    assert sum(sizes) < 512 * 2**20


def test_a_connection_that_has_gone_has_no_buffers() -> None:
    """Its client may leave while its key is looked up."""
    ours, theirs = socket.socketpair()
    ours.close()
    theirs.close()
    kernel_memory.widen(ours, 1 << 20)
    kernel_memory.forget_what_is_left(ours)
