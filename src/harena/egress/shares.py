"""How sandboxes share the process that serves them: connections, turns and bytes."""

from __future__ import annotations

import asyncio
import socket
from collections import deque

MOST_CONNECTIONS = 2048
"""open at one time, of all sandboxes together; a workspace has no more of them than are left for others"""
MOST_OF_ONE = 128
"""and of one sandbox"""
FREE_SHARE = 0.75
"""part of all connections: until so many are open, a sandbox may have MOST_OF_ONE; then only its equal part"""
MOST_BYTES_PER_SECOND = 64 << 20
"""bytes of one sandbox, both ways together"""
BUFFER_BYTES = 64 << 10
"""size of the kernel's buffers for each way of a program's connection: no limit of the sandbox counts them"""
MOST_OF_A_ROUND = 8
"""turns of one workspace before other work goes on"""
MOST_EVENTS = 32
"""pieces of what has been received that are passed on in one turn: programs choose how short they are"""
_BURST_SECONDS = 0.25


def bound_buffers(listener: socket.socket) -> None:
    """Each connection that it takes has buffers of this size."""
    for option in (socket.SO_RCVBUF, socket.SO_SNDBUF):
        listener.setsockopt(socket.SOL_SOCKET, option, BUFFER_BYTES)


def may_open(
    of_one: int,
    of_workspace: int,
    of_all: int,
    sandboxes: int,
    *,
    most: int = MOST_CONNECTIONS,
    each: int = MOST_OF_ONE,
) -> bool:
    """Whether a sandbox that has `of_one` connections may open one more, where its workspace has `of_workspace` of
    `of_all`, and `sandboxes` are served."""
    if of_one >= each or of_workspace >= most - of_all:
        return False
    return of_all < most * FREE_SHARE or of_one < max(1, most // max(1, sandboxes))


class Turns:
    """Workspaces take turns, and their sandboxes within these: each round lets every workspace that waits do as much as
    any other."""

    def __init__(self) -> None:
        self._waiting: dict[str, dict[str, deque[asyncio.Future[None]]]] = {}
        """workspace -> sandbox -> who waits; the sandbox that has waited longest stands first"""
        self._is_due = False

    async def take(self, workspace: str, sandbox_id: str) -> None:
        """Returns when it is this sandbox's turn."""
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(workspace, {}).setdefault(sandbox_id, deque()).append(turn)
        self._plan()
        await turn

    def _plan(self) -> None:
        if not self._is_due and self._waiting:
            self._is_due = True
            asyncio.get_running_loop().call_soon(self._round)

    def _round(self) -> None:
        self._is_due = False
        each = max(1, MOST_OF_A_ROUND // len(self._waiting))
        for workspace, sandboxes in list(self._waiting.items()):
            for sandbox_id in list(sandboxes)[:each]:
                turns = sandboxes.pop(sandbox_id)
                while turns:
                    turn = turns.popleft()
                    if not turn.done():
                        turn.set_result(None)
                        break
                if turns:
                    sandboxes[sandbox_id] = turns
            if not sandboxes:
                del self._waiting[workspace]
        self._plan()


class Pieces:
    """Turns of what one receipt brings in many pieces, as a body in chunks of one byte each."""

    def __init__(self, turns: Turns, workspace: str, sandbox_id: str) -> None:
        self._turns = turns
        self._workspace = workspace
        self._sandbox_id = sandbox_id
        self._count = 0

    def has_turn(self) -> None:
        """It has been given one for another reason."""
        self._count = 0

    async def turn(self) -> None:
        """Returns when it is the sandbox's turn."""
        self._count = 0
        await self._turns.take(self._workspace, self._sandbox_id)

    async def next(self) -> None:
        """Returns when one more piece may be passed on."""
        self._count += 1
        if self._count > MOST_EVENTS:
            await self.turn()


class Rate:
    """Bytes of one sandbox for each second; who is faster waits."""

    def __init__(self, bytes_per_second: float = MOST_BYTES_PER_SECOND) -> None:
        self._rate = bytes_per_second
        self._free_at = 0.0

    async def pay(self, count: int) -> None:
        """Returns when so many bytes may pass."""
        now = asyncio.get_running_loop().time()
        self._free_at = max(self._free_at, now - _BURST_SECONDS) + count / self._rate
        if self._free_at > now:
            await asyncio.sleep(self._free_at - now)
