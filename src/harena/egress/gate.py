"""One sandbox with a network: its policy, its connections, and the way from a host's name to a connection."""

from __future__ import annotations

import asyncio
import errno
import os
import socket
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any

from harena.core.network_policy import Address, Network, NetworkPolicy, Verdict
from harena.egress.ledger import Ledger, Line
from harena.egress.local_names import LocalNames
from harena.egress.resolving import OwnAddresses, Resolver, UnknownNameError
from harena.egress.shares import Connections, Rate, Turns, bound_buffers

FORBIDDEN, BAD_GATEWAY, GATEWAY_TIMEOUT = 403, 502, 504
MOST_TRIED = 4
"""addresses of one host that are connected to, one after the other"""


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds for which something may take, or nothing may happen."""

    head: float = 30.0
    """the first bytes of a connection: a request's head, a TLS client's first message"""
    dial: float = 10.0
    """one attempt to connect"""
    idle: float = 300.0
    """without a byte in either direction"""
    answer: float = 120.0
    """until an HTTP server begins to answer, and between two pieces of its answer"""


class RefusedError(Exception):
    """What a program wants does not happen; `str` is the sentence that it is told, `status` the one of HTTP."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


@dataclass(slots=True)
class GateResources:
    """What all gates share."""

    resolver: Resolver
    own: OwnAddresses
    turns: Turns
    times: Times
    connections: Connections
    permitted: Sequence[Network] | None = None
    """addresses that are not public and may be reached where a policy names them; None = all"""


@dataclass(slots=True)
class _Live:
    """What a connection leads to."""

    host: str | Address
    port: int
    address: Address


Handler = Callable[["Gate", socket.socket, int], Coroutine[Any, Any, None]]


def leads_nowhere(name: str) -> str:
    """What is said of a name that does not exist, and of one whose addresses are refused: one and the same, because a
    program could otherwise find out what the node's own network has."""
    return (
        f"{name} does not exist, or leads to no public address; others (loopback, link-local, private, reserved, the "
        "node's own) are connected to only where the network policy names them or their CIDR"
    )


@dataclass(eq=False)
class Gate:
    """Serves one sandbox. Used from one event loop."""

    sandbox_id: str
    workspace: str
    policy: NetworkPolicy
    served: GateResources
    names: LocalNames = field(default_factory=LocalNames)
    ledger: Ledger = field(default_factory=Ledger)
    rate: Rate = field(default_factory=Rate)
    _sockets: list[socket.socket] = field(default_factory=list)
    _listening: dict[socket.socket, tuple[Handler, int]] = field(default_factory=dict)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)
    _answering: set[asyncio.Task[None]] = field(default_factory=set)
    """who takes datagrams"""
    _live: dict[asyncio.Task[Any], _Live] = field(default_factory=dict)

    def listen(self, listener: socket.socket, handler: Handler, port: int) -> None:
        """Have `handler` serve what connects to this listener of the sandbox. Raises OSError, ValueError for a socket
        that is none."""
        is_listening = listener.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)
        if listener.family is not socket.AF_INET or listener.type is not socket.SOCK_STREAM or not is_listening:
            raise ValueError("no listening socket")
        bound_buffers(listener)
        self._add(listener)
        self._listening[listener] = handler, port
        self._accept_from(listener)

    def receive(self, datagrams: socket.socket, handler: Callable[[Gate, socket.socket], None]) -> None:
        """Have `handler` called for each datagram of this socket, in turns. Raises OSError, ValueError."""
        if datagrams.family is not socket.AF_INET or datagrams.type is not socket.SOCK_DGRAM:
            raise ValueError("no socket for datagrams")
        self._add(datagrams)
        self._answering.add(asyncio.get_running_loop().create_task(self._answer(datagrams, handler)))

    async def turn(self) -> None:
        """Returns when it is this sandbox's turn."""
        await self.served.turns.take(self.workspace, self.sandbox_id)

    def change(self, policy: NetworkPolicy) -> None:
        """Another policy; what it does not allow ends."""
        self.policy = policy
        for task, live in list(self._live.items()):
            if not self._may_be_reached(live.host, live.port, live.address):
                task.cancel()

    async def close(self) -> None:
        """End everything."""
        loop = asyncio.get_running_loop()
        for each in self._sockets:
            self.served.connections.leave(self.workspace, each)
            loop.remove_reader(each.fileno())
            each.close()
        self._sockets.clear()
        self._listening.clear()
        tasks = [*self._tasks, *self._answering]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    # -- to the outside ------------------------------------------------------------------------------------------

    async def reach(self, way: str, host: str | Address, port: int) -> tuple[socket.socket, Line]:
        """A connection to a host: asked of the policy, looked up once, every address checked, and one of the checked
        addresses connected to. Raises RefusedError, which is in the log then."""
        verdict = self.policy.decide(host, port)
        if not verdict.allowed:
            raise self.refused(way, str(host), port, FORBIDDEN, verdict.reason)
        addresses = [host] if not isinstance(host, str) else await self._resolve(way, host, port)
        if not self.policy.decide(host, port).allowed:  # it may have changed while the name was looked up
            raise self._not_any_more(way, host, port)
        verdicts = [(each, self._address_verdict(each, port)) for each in addresses]
        good = [address for address, verdict in verdicts if verdict.allowed]
        if not good:
            if isinstance(host, str):
                raise self.refused(way, host, port, BAD_GATEWAY, leads_nowhere(host))
            raise self.refused(way, str(host), port, FORBIDDEN, verdicts[0][1].reason)
        connection, address = await self._dialled(way, host, port, good)
        task = asyncio.current_task()
        assert task is not None
        self._live[task] = _Live(host, port, address)
        return connection, self.ledger.began(way, str(host), port)

    def left(self) -> None:
        """The present task's connection to the outside has ended."""
        task = asyncio.current_task()
        if task is not None:
            self._live.pop(task, None)

    def refused(self, way: str, host: str, port: int, status: int, reason: str) -> RefusedError:
        """Note a refusal; gives the error to raise."""
        self.ledger.refused(way, host, port, reason)
        return RefusedError(status, reason)

    def _not_any_more(self, way: str, host: str | Address, port: int) -> RefusedError:
        return self.refused(way, str(host), port, FORBIDDEN, f"{host}:{port} is not allowed any more")

    def _may_be_reached(self, host: str | Address, port: int, address: Address) -> bool:
        return self.policy.decide(host, port).allowed and self._address_verdict(address, port).allowed

    def _address_verdict(self, address: Address, port: int) -> Verdict:
        is_own = self.served.own.has(address)
        return self.policy.decide_address(address, port, is_own=is_own, permitted=self.served.permitted)

    async def _resolve(self, way: str, host: str, port: int) -> Sequence[Address]:
        try:
            return await self.served.resolver.resolve(self.workspace, host)
        except UnknownNameError as error:
            raise self.refused(way, host, port, BAD_GATEWAY, str(error) or leads_nowhere(host)) from None

    async def _dialled(
        self, way: str, host: str | Address, port: int, addresses: Sequence[Address]
    ) -> tuple[socket.socket, Address]:
        loop = asyncio.get_running_loop()
        why, status = "", BAD_GATEWAY
        for address in addresses[:MOST_TRIED]:
            if not self._may_be_reached(host, port, address):  # the policy may have changed in the meantime
                raise self._not_any_more(way, host, port)
            family = socket.AF_INET if address.version == 4 else socket.AF_INET6
            connection = socket.socket(family, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
            try:
                async with asyncio.timeout(self.served.times.dial):
                    await loop.sock_connect(connection, (str(address), port))
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                if not self._may_be_reached(host, port, address):
                    raise self._not_any_more(way, host, port)
                return connection, address
            except TimeoutError:
                connection.close()
                why, status = f"no answer within {self.served.times.dial:g} s", GATEWAY_TIMEOUT
            except OSError as error:
                connection.close()
                why, status = os.strerror(error.errno or errno.EIO), BAD_GATEWAY
            except BaseException:  # a refusal or a cancellation, passed on: nobody else would close it
                connection.close()
                raise
        raise self.refused(way, str(host), port, status, f"{host}:{port} could not be connected to: {why}")

    # -- from the inside -----------------------------------------------------------------------------------------

    def _add(self, each: socket.socket) -> None:
        each.setblocking(False)
        self._sockets.append(each)

    def _accept_from(self, listener: socket.socket) -> None:
        asyncio.get_running_loop().add_reader(listener.fileno(), self._accept, listener)

    def _wait_with(self, listener: socket.socket) -> None:
        """Accept nothing until there may be room: else this would go round at once."""
        asyncio.get_running_loop().remove_reader(listener.fileno())
        self.served.connections.wait(self.workspace, listener, lambda: self._resumed(listener))

    def _resumed(self, listener: socket.socket) -> bool:
        if not self.served.connections.may_open(self.workspace, len(self._tasks)):
            return False
        self._accept_from(listener)
        return True

    def _accept(self, listener: socket.socket) -> None:
        """One connection in each turn of the loop. Where there is no room for it, it waits in the kernel's queue."""
        if not self.served.connections.may_open(self.workspace, len(self._tasks)):
            self._wait_with(listener)
            return
        try:
            connection, _ = listener.accept()
        except BlockingIOError:
            return
        except OSError as error:
            if error.errno in (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM):
                self._wait_with(listener)
            return
        handler, port = self._listening[listener]
        connection.setblocking(False)
        task = asyncio.get_running_loop().create_task(self._serve(handler, connection, port))
        self._tasks.add(task)
        self.served.connections.opened(self.workspace)
        task.add_done_callback(self._served)

    async def _answer(self, datagrams: socket.socket, handler: Callable[[Gate, socket.socket], None]) -> None:
        loop = asyncio.get_running_loop()
        while True:
            has_one: asyncio.Future[None] = loop.create_future()
            loop.add_reader(datagrams.fileno(), _come, has_one)
            try:
                await has_one
            finally:
                if datagrams.fileno() >= 0:  # else its number may be another socket's by now
                    loop.remove_reader(datagrams.fileno())
            await self.turn()
            try:
                handler(self, datagrams)
            except Exception as error:  # noqa: BLE001 - a fault of its own, which is told; the next datagram is answered
                loop.call_exception_handler({"message": "a datagram could not be answered", "exception": error})

    async def _serve(self, handler: Handler, connection: socket.socket, port: int) -> None:
        try:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            await self.turn()
            await handler(self, connection, port)
        except (OSError, TimeoutError):
            return  # one of the two sides has gone, or does nothing
        finally:
            connection.close()

    def _served(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._live.pop(task, None)
        if not task.cancelled() and (error := task.exception()) is not None:
            context = {"message": "a connection of a sandbox has failed", "exception": error}
            asyncio.get_running_loop().call_exception_handler(context)
        self.served.connections.ended(self.workspace)


def _come(waited_for: asyncio.Future[None]) -> None:
    if not waited_for.done():
        waited_for.set_result(None)
