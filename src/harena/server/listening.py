"""Runs uvicorn on a socket, inside an event loop that somebody else owns."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import socket
from collections.abc import Iterator
from typing import Any

import uvicorn

from harena.core.errors import PlatformError
from harena.core.threads import NODE
from harena.server.addresses import reachable
from harena.server.app import create_app
from harena.server.connections import ListeningSocket, quiet_about_accepting
from harena.server.large_bodies import PROCESSES
from harena.server.protocol import HttpProtocol
from harena.server.state import ServerState
from harena.server.tls import Certificate, Greetings

KEEP_ALIVE_SECONDS = 75
"""longer than clients keep idle connections, so that none is closed under a request"""
BACKLOG = 2048


class HttpServer:
    """One listening server. `start`, then `close`; both once."""

    def __init__(
        self, state: ServerState, *, host: str = "127.0.0.1", port: int = 0, certificate: Certificate | None = None
    ) -> None:
        """Port 0 is any that is free. With a certificate the server speaks TLS, and nothing else."""
        self._state = state
        self._certificate = certificate
        self._socket = listen(host, port)
        self._uvicorn: _Uvicorn | None = None
        self._serving: asyncio.Task[None] | None = None
        self._hurried = asyncio.Event()

    @property
    def url(self) -> str:
        """Where it answers."""
        host, port = self._socket.getsockname()[:2]
        scheme = "http" if self._certificate is None else "https"
        return f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"

    @property
    def believed_url(self) -> str:
        """Where clients of this machine reach it, and believe its certificate."""
        url = reachable(self.url)
        return url if self._certificate is None else self._certificate.believed_at(url)

    async def start(self) -> None:
        """Returns when requests are answered."""
        config = uvicorn.Config(
            create_app(self._state),
            http=HttpProtocol,
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
        )
        if self._certificate is not None:
            config.load()
            config.ssl = self._certificate.context
            self._state.greetings = self._socket.greetings = Greetings()
        quiet_about_accepting(asyncio.get_running_loop())
        self._uvicorn = _Uvicorn(config)
        self._serving = asyncio.get_running_loop().create_task(self._uvicorn.serve(sockets=[self._socket]))
        ready = asyncio.ensure_future(self._uvicorn.ready.wait())
        await asyncio.wait((self._serving, ready), return_when=asyncio.FIRST_COMPLETED)
        if self._serving.done():
            ready.cancel()
            self._serving.result()
            raise PlatformError(f"the server on {self.url} ended while it started", step="listen")

    async def close(self, *, drain_seconds: float) -> None:
        """Take no new work, finish what is under way for `drain_seconds`, then break off what is left.

        The server listens until then: a command that is under way may need its input, which is another request.
        """
        self._state.draining.set()
        if self._uvicorn is None or self._serving is None:
            self._socket.close()
            return
        deadline = asyncio.get_running_loop().time() + drain_seconds
        await self._until_no_request_is_open(self._uvicorn, self._serving, deadline)
        left = deadline - asyncio.get_running_loop().time()
        self._uvicorn.config.timeout_graceful_shutdown = max(1, round(left))
        self._uvicorn.should_exit = True
        await self._serving
        await NODE.run_for("", PROCESSES.end_idle)

    async def _until_no_request_is_open(
        self, server: uvicorn.Server, serving: asyncio.Task[None], deadline: float
    ) -> None:
        """Returns at the deadline, too, when `hurry` is called, and when the server ends by itself."""
        loop = asyncio.get_running_loop()
        hurried = loop.create_task(self._hurried.wait())
        try:
            while (
                (requests := set(server.server_state.tasks))
                and not (hurried.done() or serving.done())
                and (left := deadline - loop.time()) > 0
            ):
                waited_for = {*requests, hurried, serving}
                await asyncio.wait(waited_for, timeout=left, return_when=asyncio.FIRST_COMPLETED)
        finally:
            hurried.cancel()

    def hurry(self) -> None:
        """Do not wait for what is under way any longer."""
        self._hurried.set()
        if self._uvicorn is not None:
            self._uvicorn.force_exit = True


class _Uvicorn(uvicorn.Server):
    """Says when it is ready, and leaves signals to whoever started it."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready.set()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def is_loopback(host: str) -> bool:
    """Only this machine can reach it."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def is_free(host: str, port: int) -> bool:
    """A server could listen there at this moment."""
    try:
        listen(host, port).close()
    except PlatformError:
        return False
    return True


def listen(host: str, port: int) -> ListeningSocket:
    """A bound socket. Raises PlatformError."""
    try:
        found: list[Any] = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP, flags=socket.AI_PASSIVE
        )
        family, kind, protocol, _, address = found[0]
        # asyncio turns Nagle's algorithm off for sockets that say that they are TCP only; else an answer in two pieces
        # can wait 40 ms for the reader's acknowledgement of the first one
        listening = ListeningSocket(family, kind, protocol)
        try:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind(address)
            listening.listen(BACKLOG)
            listening.setblocking(False)
        except BaseException:
            listening.close()
            raise
    except OSError as error:
        message = f"cannot listen on {host}, port {port}: {error.strerror or error}; choose another --host or --port"
        raise PlatformError(message, step="listen") from error
    return listening
