"""How sandboxes share the process that serves them: connections, turns and bytes."""

from __future__ import annotations

import asyncio
import socket
from collections import Counter, deque
from collections.abc import Callable

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


class Connections:
    """Connections of all sandboxes, and listeners that wait until there is room for one more. What one connection's
    beginning or end costs does not depend on how many sandboxes there are."""

    def __init__(self) -> None:
        self.sandboxes = 0
        """how many are served"""
        self._open: Counter[str] = Counter()
        self._of_all = 0
        self._waiting: dict[str, dict[socket.socket, Callable[[], bool]]] = {}
        """workspace -> listener -> what has it accept again, or tells that its sandbox may have no more; the listener
        that has waited longest stands first"""
        self._left: dict[str, int] = {}
        """workspace -> how many of its listeners are to be looked at since a connection has ended"""
        self._is_due = False

    def may_open(self, workspace: str, of_one: int) -> bool:
        """Whether a sandbox with so many may open one more."""
        return may_open(of_one, self._open[workspace], self._of_all, self.sandboxes)

    def opened(self, workspace: str) -> None:
        """One more."""
        self._open[workspace] += 1
        self._of_all += 1

    def ended(self, workspace: str) -> None:
        """One less: there may be room for what waits, also in other workspaces."""
        self._of_all -= 1
        self._open[workspace] -= 1
        if not self._open[workspace]:
            del self._open[workspace]
        self.room_made()

    def room_made(self) -> None:
        """There may be room: those who wait are looked at, some in each turn of the loop."""
        self._left = {each: len(waiting) for each, waiting in self._waiting.items()}
        self._plan()

    def wait(self, workspace: str, listener: socket.socket, resume: Callable[[], bool]) -> None:
        """Have `resume` called when there may be room."""
        self._waiting.setdefault(workspace, {})[listener] = resume

    def leave(self, workspace: str, listener: socket.socket) -> None:
        """It waits no more."""
        waiting = self._waiting.get(workspace, {})
        waiting.pop(listener, None)
        if not waiting:
            self._waiting.pop(workspace, None)

    def _plan(self) -> None:
        if self._left and not self._is_due:
            self._is_due = True
            asyncio.get_running_loop().call_soon(self._round)

    def _round(self) -> None:
        self._is_due = False
        for workspace in [*self._left]:
            for _ in range(MOST_OF_A_ROUND):
                waiting = self._waiting.get(workspace)
                if (
                    not waiting
                    or self._left[workspace] <= 0
                    or self._open[workspace] >= MOST_CONNECTIONS - self._of_all
                ):
                    del self._left[workspace]
                    break
                self._left[workspace] -= 1
                listener = next(iter(waiting))
                resume = waiting.pop(listener)
                if not resume():
                    waiting[listener] = resume
                elif not waiting:
                    del self._waiting[workspace]
        self._plan()


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
