"""Bytes that are passed on: tunnels, and the look at the first message of a TLS client."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Awaitable, Callable

from harena.core.network_policy import Address
from harena.egress import client_hello
from harena.egress.client_hello import NoHelloError, UnfinishedHelloError
from harena.egress.gate import FORBIDDEN, Gate, RefusedError
from harena.egress.ledger import Line

PIECE_BYTES = 32 << 10
TLS_PORT = 443
_ACCESS_DENIED = b"\x15\x03\x01\x00\x02\x02\x31"
"""a fatal alert of TLS"""


async def received(gate: Gate, connection: socket.socket, seconds: float) -> bytes:
    """The next bytes of a connection, when it is the sandbox's turn; b"" at their end. Raises OSError, TimeoutError."""
    async with asyncio.timeout(seconds):
        content = await asyncio.get_running_loop().sock_recv(connection, PIECE_BYTES)
    await gate.turn()
    return content


async def send_all(gate: Gate, connection: socket.socket, content: bytes) -> None:
    """Send all of it. Raises OSError, TimeoutError."""
    async with asyncio.timeout(gate.served.times.idle):
        await asyncio.get_running_loop().sock_sendall(connection, content)


async def hello(gate: Gate, client: socket.socket, way: str, host: str | Address, port: int, first: bytes) -> bytes:
    """What a TLS client says first, once all of it has come and its server name is the host's. Raises RefusedError,
    OSError, TimeoutError."""
    content = first
    async with asyncio.timeout(gate.served.times.head):
        while True:
            try:
                name = client_hello.server_name(content) if content else None
                if content:
                    break
            except UnfinishedHelloError:
                if len(content) > 2 * client_hello.MOST_BYTES:
                    raise _no_tls(gate, way, host, port) from None
            except NoHelloError:
                raise _no_tls(gate, way, host, port) from None
            more = await received(gate, client, gate.served.times.head)
            if not more:
                raise ConnectionResetError
            content += more
    wanted = host if isinstance(host, str) else None
    if name != wanted and not (name is not None and name.removesuffix(".") == wanted):
        asked = "no server name" if name is None else f"the server name {name!r:.300}"
        raise gate.refused(
            way, str(host), port, FORBIDDEN, f"the TLS client asks for {asked}, and its connection is for {host}"
        )
    return content


def _no_tls(gate: Gate, way: str, host: str | Address, port: int) -> RefusedError:
    reason = f"what was sent to {host}:{port} is no TLS; port {TLS_PORT} is for TLS only"
    return gate.refused(way, str(host), port, FORBIDDEN, reason)


async def deny(gate: Gate, client: socket.socket) -> None:
    """Tell a TLS client that it was refused; why is in the log."""
    with contextlib.suppress(OSError, TimeoutError):
        async with asyncio.timeout(1.0):
            await asyncio.get_running_loop().sock_sendall(client, _ACCESS_DENIED)
        await linger(gate, client)


async def linger(gate: Gate, client: socket.socket) -> None:
    """Let a client read what it was told: a connection that is closed with unread bytes is reset."""
    with contextlib.suppress(OSError, TimeoutError):
        client.shutdown(socket.SHUT_WR)
        async with asyncio.timeout(1.0):
            for _ in range(16):
                if not await received(gate, client, 1.0):
                    return


async def tunnel(
    gate: Gate,
    line: Line,
    way: str,
    host: str | Address,
    client: socket.socket,
    upstream: socket.socket,
    *,
    first: bytes = b"",
    checked: bool = False,
) -> None:
    """Pass bytes on in both directions until both sides have ended. `first` has come of the client already; `checked`:
    it is a TLS client's first message, whose server name is the host's. Raises OSError."""
    loop = asyncio.get_running_loop()
    moved_at = loop.time()

    async def moved(count_sent: int, count_received: int) -> None:
        nonlocal moved_at
        gate.ledger.count(line, count_sent, count_received)
        await gate.rate.pay(count_sent + count_received)
        moved_at = loop.time()

    async def outwards() -> None:
        content = first
        if not checked:
            content = content or await loop.sock_recv(client, PIECE_BYTES)
            if client_hello.looks_like_tls(content):
                content = await hello(gate, client, way, host, line.port, content)
        while content:
            await gate.turn()
            await loop.sock_sendall(upstream, content)
            await moved(len(content), 0)
            content = await loop.sock_recv(client, PIECE_BYTES)
        upstream.shutdown(socket.SHUT_WR)

    async def inwards() -> None:
        while content := await loop.sock_recv(upstream, PIECE_BYTES):
            await gate.turn()
            await loop.sock_sendall(client, content)
            await moved(0, len(content))
        client.shutdown(socket.SHUT_WR)

    async def watched() -> None:
        # what it waits for is that nothing happens
        while (left := moved_at + gate.served.times.idle - loop.time()) > 0:  # noqa: ASYNC110
            await asyncio.sleep(left)
        line.reason = f"ended: not a byte for {gate.served.times.idle:g} s"

    await _until_done((outwards, inwards), watched)


async def _until_done(ways: tuple[Callable[[], Awaitable[None]], ...], watched: Callable[[], Awaitable[None]]) -> None:
    """Returns when both ways have ended, or the watch has; raises what ends one of them early."""
    moving = {asyncio.ensure_future(way()) for way in ways}
    watching = asyncio.ensure_future(watched())
    left = set(moving)
    try:
        while left and not watching.done():
            done, _ = await asyncio.wait((*left, watching), return_when=asyncio.FIRST_COMPLETED)
            for each in done & left:
                each.result()
            left -= done
    finally:
        for each in (*moving, watching):
            each.cancel()
        await asyncio.gather(*moving, watching, return_exceptions=True)
