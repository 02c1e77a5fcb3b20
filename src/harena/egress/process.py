"""The egress process: serves the listeners of all sandboxes with a network of one node.

    python -m harena.egress.process DESCRIPTOR

It ends with the node: when the socket that it was given is at its end.
"""

from __future__ import annotations

import asyncio
import ctypes
import ipaddress
import os
import resource
import signal
import socket
import struct
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

from harena.core.network_policy import MOST_PAGE, read_policy
from harena.egress import dns_side, http_side, messages
from harena.egress.gate import Gate, GateResources, Handler, Times
from harena.egress.resolving import OwnAddresses, Resolver, SystemResolver, TableResolver
from harena.egress.shares import Connections, Turns

_NOBODY = 65534
_PR_SET_DUMPABLE, _PR_SET_NO_NEW_PRIVS = 4, 38


class EgressProcess:
    """All gates, and the socket to the node."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._gates: dict[str, Gate] = {}
        self._ended = asyncio.Event()
        self._outbox: list[bytes] = []
        self._incoming = messages.Incoming()
        self._passed_on: list[socket.socket] = []
        """what came with the packets of the present message"""
        self._closing: set[asyncio.Task[None]] = set()
        self._connections = Connections()
        self._served = _served(self._connections, Times(), SystemResolver())

    async def run(self) -> None:
        """Returns when the node has gone."""
        asyncio.get_running_loop().add_reader(self._control.fileno(), self._receive)
        await self._ended.wait()

    def _receive(self) -> None:
        space = socket.CMSG_SPACE(4 * messages.MOST_DESCRIPTORS)
        try:
            content, ancillary, _, _ = self._control.recvmsg(messages.PACKET_BYTES, space, socket.MSG_CMSG_CLOEXEC)
        except BlockingIOError:
            return
        except OSError:
            content, ancillary = b"", []
        if not content:
            self._ended.set()
            return
        for _, _, packed in ancillary:
            self._passed_on += [socket.socket(fileno=each) for each in struct.unpack(f"{len(packed) // 4}i", packed)]
        message = self._incoming.add(content)
        if message is None:
            return
        sockets, self._passed_on = self._passed_on, []
        try:
            self._say({"q": message.get("q"), "answer": self._done(message, sockets)})
        except (KeyError, ValueError, OSError) as error:
            self._say({"q": message.get("q"), "error": str(error), "unknown": isinstance(error, KeyError)})

    def _done(self, message: dict[str, Any], sockets: list[socket.socket]) -> Any:
        what = message["do"]
        if what == "begin":
            resolver: Resolver = SystemResolver() if message["table"] is None else TableResolver(message["table"])
            self._served = _served(self._connections, Times(**message["times"]), resolver)
            if message["permitted"] is not None:
                self._served.permitted = [ipaddress.ip_network(each) for each in message["permitted"]]
        elif what == "admit":
            self._admit(message, sockets)
        elif what == "forget":
            self._forget(message["id"])
        elif what == "change":
            self._gates[message["id"]].change(read_policy(message["policy"]))
        elif what == "log":
            gate = self._gates[message["id"]]
            limit = min(message["limit"], MOST_PAGE)
            return gate.ledger.page(gate.policy, message["after"], limit).to_dict()
        return None

    def _admit(self, message: dict[str, Any], sockets: list[socket.socket]) -> None:
        gate = Gate(message["id"], message["workspace"], read_policy(message["policy"]), self._served)
        self._gates[gate.sandbox_id] = gate
        self._connections.sandboxes = len(self._gates)
        left = iter(sockets)
        try:
            gate.listen(next(left), http_side.serve_proxy, 0)
            if message["ports"]:
                gate.listen(next(left), dns_side.serve_stream, 0)
                gate.receive(next(left), dns_side.serve_datagram)
            direct: Handler = http_side.serve_direct
            for port in message["ports"]:
                gate.listen(next(left), direct, port)
        except (StopIteration, OSError, ValueError) as error:
            self._forget(gate.sandbox_id)
            for each in sockets:
                each.close()
            raise ValueError(f"the sandbox's listeners cannot be served: {error or 'one is missing'}") from None

    def _forget(self, sandbox_id: str) -> None:
        gate = self._gates.pop(sandbox_id, None)
        if gate is not None:
            self._connections.sandboxes = len(self._gates)
            self._connections.room_made()  # others may have a larger part
            closing = asyncio.get_running_loop().create_task(gate.close())
            self._closing.add(closing)
            closing.add_done_callback(self._closing.discard)

    def _say(self, message: dict[str, Any]) -> None:
        if message.get("q") is None:
            return
        self._outbox += messages.packets(message)
        self._drain()

    def _drain(self) -> None:
        """Nothing more is read of the node before it has read what it is told: that would pile up here."""
        loop = asyncio.get_running_loop()
        while self._outbox:
            try:
                self._control.send(self._outbox[0])
            except BlockingIOError:
                loop.remove_reader(self._control.fileno())
                loop.add_writer(self._control.fileno(), self._drain)
                return
            except OSError:
                self._ended.set()
                return
            self._outbox.pop(0)
        if loop.remove_writer(self._control.fileno()):
            loop.add_reader(self._control.fileno(), self._receive)


def _served(connections: Connections, times: Times, resolver: Resolver) -> GateResources:
    return GateResources(resolver, OwnAddresses(), Turns(), times, connections)


def _give_up_rights() -> None:
    """Nothing here needs any, or a file but those that say how names are looked up."""
    libc = ctypes.CDLL(None, use_errno=True)
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if os.geteuid() == 0:
        with suppress(OSError):  # root of a user namespace in which there are no others
            os.setgroups([])
            os.setresgid(_NOBODY, _NOBODY, _NOBODY)
            os.setresuid(_NOBODY, _NOBODY, _NOBODY)
    libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


def main() -> None:
    """Serve until the node has gone."""
    serve_until_the_node_has_gone(EgressProcess, _load_all)


def serve_until_the_node_has_gone(kind: type[EgressProcess], load: Callable[[], None]) -> None:
    """Run a process of this kind. `load` loads what it needs before its rights are gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C in a terminal is for the node
    control = socket.socket(fileno=int(sys.argv[1]))
    control.setblocking(False)
    os.set_inheritable(control.fileno(), False)
    load()
    _give_up_rights()
    asyncio.run(_run(kind, control))
    os._exit(0)  # a thread that waits for a name server is not waited for


def _load_all() -> None:
    """Load what the first connections would load: this process may not be able to read it later."""
    "b\u00fccher.example".encode("idna")
    dns_side.load_all()
    with suppress(OSError):
        socket.getaddrinfo("localhost", None)  # the system's resolver has libraries of its own


async def _run(kind: type[EgressProcess], control: socket.socket) -> None:
    asyncio.get_running_loop().set_exception_handler(partial(_tell))
    await kind(control).run()


def _tell(_: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """One line about a fault of this process's own, without what a sandbox has sent."""
    error = context.get("exception")
    line = f"harena egress: {context.get('message', '')} ({type(error).__name__})\n"
    with suppress(OSError, ValueError):
        os.write(2, line.encode())


if __name__ == "__main__":
    main()
