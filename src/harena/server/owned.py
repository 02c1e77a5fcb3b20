"""Which workspace a sandbox belongs to: sandboxes of other workspaces answer 404. Used from one event loop."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from heapq import nsmallest
from weakref import WeakValueDictionary

from harena.core.errors import LimitExceededError, SandboxNotFoundError
from harena.core.ports import SandboxHandle, WholeNode
from harena.core.records.sandboxes import SandboxStatus

LOOK_OVER_AT_LEAST = 20_000
"""names that are kept before those that the node has forgotten are looked for"""
SORTED_AT_ONCE = 1000
RETRY_SECONDS = 1.0
"""after which a workspace with too many sandboxes may find that one has ended"""


class OwnedSandboxes:
    """The node's sandboxes, each with its workspace."""

    def __init__(self, operations: WholeNode) -> None:
        self._operations = operations
        self._workspaces: dict[str, str] = {}
        self._look_over_at = LOOK_OVER_AT_LEAST
        self._living: dict[str, set[str]] = {}
        """by workspace; those that have ended are taken out when the workspace has too many"""
        self._coming: Counter[str] = Counter()
        """number of sandboxes that are being created, by workspace"""
        self._listing: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        """by workspace; one lives as long as somebody has it or waits for it"""

    @asynccontextmanager
    async def room_for_one(self, workspace: str, most: int) -> AsyncIterator[None]:
        """One of `most` that may live at one time is created and noted within the block. Raises LimitExceededError."""
        if self._count_sandboxes(workspace) >= most:
            await self._forget_ended(workspace)
        if (there_are := self._count_sandboxes(workspace)) >= most:
            raise LimitExceededError(
                f"the workspace {workspace} may have {most} sandboxes at one time, and has {there_are}: stop one, or "
                "ask for more (harena workspaces set)",
                reason="SANDBOXES",
                retry_delay=timedelta(seconds=RETRY_SECONDS),
            )
        self._coming[workspace] += 1
        try:
            yield
        finally:
            self._coming[workspace] -= 1

    async def note(self, sandbox_id: str, workspace: str, *, lives: bool = True) -> None:
        """It belongs to this workspace from now on."""
        self._workspaces[sandbox_id] = workspace
        if lives:
            self._living.setdefault(workspace, set()).add(sandbox_id)
        if len(self._workspaces) >= self._look_over_at:
            known = {handle.info.id for handle in self._operations.all_sandboxes(include_terminal=True)}
            self._workspaces = {name: owner for name, owner in self._workspaces.items() if name in known}
            for living in self._living.values():
                living &= known
            self._look_over_at = max(LOOK_OVER_AT_LEAST, 2 * len(self._workspaces))

    async def find(self, workspace: str, sandbox_id: str) -> SandboxHandle:
        """Raises SandboxNotFoundError."""
        self.check(workspace, sandbox_id)
        return await self._operations.in_workspace(workspace).get_sandbox(sandbox_id)

    def check(self, workspace: str, sandbox_id: str) -> None:
        """Raises SandboxNotFoundError for another workspace's, and for what is unknown (what is being created is known
        when it was listed)."""
        if self._workspaces.get(sandbox_id) != workspace:
            message = (
                f"no sandbox {sandbox_id!r} on this server: it was never here, or has ended so long ago that it is "
                "forgotten"
            )
            raise SandboxNotFoundError(message, sandbox_id=sandbox_id)

    @asynccontextmanager
    async def listing(self, workspace: str) -> AsyncIterator[None]:
        """One list of the workspace is made at a time, however many it asks for."""
        turn = self._listing.setdefault(workspace, asyncio.Lock())
        async with turn:
            yield

    async def list(
        self, workspace: str, *, tags: Sequence[str], statuses: Sequence[SandboxStatus], include_terminal: bool
    ) -> list[SandboxHandle]:
        """Sandboxes of the workspace, including those that are being created."""
        for handle in self._operations.pending_sandboxes(workspace):
            self._workspaces.setdefault(handle.info.id, workspace)
        operations = self._operations.in_workspace(workspace)
        found = await operations.list_sandboxes(tags=tags, statuses=statuses, include_terminal=include_terminal)
        return [handle for handle in found if self._workspaces.get(handle.info.id) == workspace]

    async def oldest(
        self, handles: Sequence[SandboxHandle], count: int, *, after: tuple[datetime, str] | None
    ) -> Sequence[SandboxHandle]:
        """The oldest `count` of them that were created `after` (when, id), oldest first. Other work has its turn after
        SORTED_AT_ONCE of them."""
        found: list[SandboxHandle] = []
        for begin in range(0, len(handles), SORTED_AT_ONCE):
            if begin:
                await asyncio.sleep(0)
            some = handles[begin : begin + SORTED_AT_ONCE]
            found = nsmallest(count, [*found, *(one for one in some if after is None or _age(one) > after)], key=_age)
        return found

    def _count_sandboxes(self, workspace: str) -> int:
        return len(self._living.get(workspace, ())) + self._coming[workspace]

    async def _forget_ended(self, workspace: str) -> None:
        known = set(self._living.get(workspace, ()))  # those that are made meanwhile may be missing in the list
        living = {handle.info.id for handle in await self._operations.in_workspace(workspace).list_sandboxes()}
        self._living.get(workspace, set()).difference_update(known - living)


def _age(handle: SandboxHandle) -> tuple[datetime, str]:
    return handle.info.created_at, handle.info.id
