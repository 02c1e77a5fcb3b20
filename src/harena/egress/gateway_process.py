"""The process of the gateways: serves those of all sandboxes of one node, and holds their credentials.

    python -m harena.egress.gateway_process DESCRIPTOR

It is another one than the process that carries out network policies, because that one holds no secret. Like that one it
has no rights, cannot be looked into, and ends with the node.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
from contextlib import suppress
from typing import Any

from harena.core.gateways import read_gateways
from harena.egress import gateway_upstream
from harena.egress.credentials import BoundGateway
from harena.egress.gateway_connection import Times
from harena.egress.gateway_server import GatewayServer, Room
from harena.egress.process import EgressProcess, serve_until_the_node_has_gone
from harena.egress.resolving import SystemResolver
from harena.egress.shares import Turns

MOST_PAGE = 200
"""entries of the log in one answer"""


class GatewayProcess(EgressProcess):
    """All gateways, and the socket to the node."""

    def __init__(self, control: socket.socket) -> None:
        super().__init__(control)
        self._servers: dict[str, GatewayServer] = {}
        self._room = Room()
        self._turns = Turns()
        self._tls: ssl.SSLContext | None = None
        """the one of all gateways: making it takes a tenth of a second"""
        self._begin: dict[str, Any] = {}
        self._resolver = SystemResolver()

    def _done(self, message: dict[str, Any], sockets: list[socket.socket]) -> Any:
        what = message["do"]
        if what == "begin":
            self._begin = message
        elif what == "admit":
            self._admit(message, sockets)
        elif what == "forget":
            self._forget(message["id"])
        elif what == "log":
            server = self._servers[message["id"]]
            return server.log(after=message["after"], limit=min(message["limit"], MOST_PAGE)).to_dict()
        return None

    def _admit(self, message: dict[str, Any], sockets: list[socket.socket]) -> None:
        """One gateway of a sandbox, with its listener."""
        (listener,) = sockets
        try:
            (gateway,) = read_gateways({message["name"]: message["gateway"]})
            if listener.type is not socket.SOCK_STREAM or not listener.getsockopt(
                socket.SOL_SOCKET, socket.SO_ACCEPTCONN
            ):
                raise ValueError("no listening socket")
            bound = BoundGateway(gateway, bytes.fromhex(message["token_digest"]), message["credential"])
            self._tls = self._tls or gateway_upstream.tls_context(self._begin["authorities"])
            upstream = gateway_upstream.Upstream(
                self._tls,
                self._begin["networks"],
                silent_seconds=gateway.timeout_seconds,
                resolver=self._resolver,
                workspace=message["workspace"],
            )
            listener.setblocking(False)
            server = self._servers.get(message["id"])
            if server is None:
                server = self._servers[message["id"]] = GatewayServer(
                    times=Times(**self._begin["times"]),
                    room=self._room,
                    turns=self._turns,
                    sandbox_id=message["id"],
                    workspace=message["workspace"],
                )
        except (ValueError, OSError) as error:
            listener.close()
            raise ValueError(f"the gateway {message['name']} cannot be served: {type(error).__name__}") from None
        self._keep(server.listen(listener, bound, upstream, message["url"]))

    def _forget(self, sandbox_id: str) -> None:
        server = self._servers.pop(sandbox_id, None)
        if server is not None:
            self._keep(server.close())

    def _keep(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)


def main() -> None:
    """Serve until the node has gone."""
    serve_until_the_node_has_gone(GatewayProcess, _load_all)


def _load_all() -> None:
    """Load what the first connections would load: this process may not be able to read it later."""
    # a line for each piece that is sent to an upstream that has gone would be written to the node's log
    logging.getLogger("asyncio").setLevel(logging.ERROR)
    gateway_upstream.tls_context()
    with suppress(OSError):
        socket.getaddrinfo("localhost", None)  # the system's resolver has libraries of its own


if __name__ == "__main__":
    main()
