"""The gateways of one sandbox, each on a listening socket inside it: the token comes in, the credential goes out."""

from __future__ import annotations

import asyncio
import socket
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from harena.core.records.gateways import GatewayLog
from harena.egress.credentials import BoundGateway
from harena.egress.gateway_connection import MOST_HEAD, USUAL_TIMES, GatewayConnection, Side, Times
from harena.egress.gateway_ledger import GatewayLedger, RequestRate
from harena.egress.gateway_upstream import Upstream
from harena.egress.ledger import time_of_day
from harena.egress.shares import Pieces, Turns, bound_buffers

MOST_CONNECTIONS = 64
"""connections of one sandbox, to all its gateways together"""
MOST_OF_ALL = 2048
"""connections of all sandboxes of a node together"""
_TAKEN_AT_ONCE = 16
"""connections that wait at one listener, of which asyncio takes all in one turn of its loop"""


@dataclass(slots=True)
class Room:
    """Connections that all sandboxes of a node may have to gateways together. A workspace has no more of them than are
    left for others."""

    left: int = MOST_OF_ALL
    held: Counter[str] = field(default_factory=Counter)
    """by workspace"""

    def take(self, workspace: str) -> bool:
        """Whether the workspace may have one more, which it gives back then."""
        if self.held[workspace] >= self.left:
            return False
        self.held[workspace] += 1
        self.left -= 1
        return True

    def give_back(self, workspace: str) -> None:
        """One that was taken."""
        self.left += 1
        self.held[workspace] -= 1
        if not self.held[workspace]:
            del self.held[workspace]


class GatewayServer:
    """Serves the gateways of one sandbox. Used from one event loop.

    Opened by `listen`, once for each gateway; `close` ends every connection."""

    def __init__(
        self,
        *,
        times: Times = USUAL_TIMES,
        clock: Callable[[], float] = time.monotonic,
        room: Room | None = None,
        turns: Turns | None = None,
        sandbox_id: str = "",
        workspace: str = "",
    ) -> None:
        """`clock` never goes back. `room` and `turns`: what this sandbox shares with others; None = nothing."""
        self._turns = Turns() if turns is None else turns
        self._sandbox_id = sandbox_id
        self._workspace = workspace
        self._times = times
        self._room = Room() if room is None else room
        self._clock = clock
        self._ledger = GatewayLedger(time_of_day)
        self._servers: list[asyncio.Server] = []
        self._upstreams: list[Upstream] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._closed = False

    async def listen(self, listener: socket.socket, bound: BoundGateway, upstream: Upstream, base_url: str) -> None:
        """Serve a gateway on a listening socket, which is the server's from now on. `base_url`: what a program knows
        it by."""
        if self._closed:
            listener.close()
            await upstream.close()
            return
        side = Side(
            bound, upstream, base_url, self._ledger, RequestRate(bound.gateway.requests_per_minute, self._clock)
        )
        self._upstreams.append(upstream)

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            assert task is not None
            self._tasks.add(task)
            has_room = len(self._tasks) <= MOST_CONNECTIONS and self._room.take(self._workspace)
            try:
                if len(self._tasks) <= 2 * MOST_CONNECTIONS:
                    full = not has_room
                    pieces = Pieces(self._turns, self._workspace, self._sandbox_id)
                    await GatewayConnection(side, reader, writer, self._times, pieces, full=full).serve()
            except asyncio.CancelledError:
                return  # `close` has ended it: asyncio would report it as an error
            finally:
                self._tasks.discard(task)
                if has_room:
                    self._room.give_back(self._workspace)
                writer.transport.abort()

        # asyncio sets this for sockets that know their protocol, and one that was passed on does not
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        bound_buffers(listener)
        # known to `close` before it listens: `start_server` alone lets others go on in between
        server = await asyncio.start_server(
            serve, sock=listener, limit=MOST_HEAD, backlog=_TAKEN_AT_ONCE, start_serving=False
        )
        self._servers.append(server)
        await server.start_serving()

    def log(self, *, after: int = 0, limit: int = 100) -> GatewayLog:
        """What was asked, oldest first."""
        return self._ledger.log(after=after, limit=limit)

    async def close(self) -> None:
        """Tokens are good for nothing any more. May be called again."""
        self._closed = True
        for server in self._servers:
            server.close()
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        upstreams, self._upstreams = self._upstreams, []
        for upstream in upstreams:
            await upstream.close()
        self._servers.clear()
