"""This client's lease: as long as it is renewed, what the client has made on the server lives."""

from __future__ import annotations

import asyncio
import logging

from harena.core.clock import Clock
from harena.core.errors import HarenaError, NotFoundError
from harena.core.operations import server as table
from harena.sdk.http.connection import Connection, address

LEASE_SECONDS = 60.0
RENEWALS_PER_LEASE = 4
"""so that a lease outlives two renewals that are lost"""

_log = logging.getLogger("harena")


class ClientLease:
    """Opened with the first sandbox, renewed by a task of its own until `close`."""

    def __init__(self, connection: Connection, clock: Clock, *, seconds: float = LEASE_SECONDS) -> None:
        self._connection = connection
        self._clock = clock
        self._seconds = seconds
        self._opening: asyncio.Task[str] | None = None
        self._renewing: asyncio.Task[None] | None = None

    async def id(self) -> str:
        """The lease's id; callers that come at the same time share one. Raises what the server raises."""
        if self._opening is None or (self._opening.done() and not _went_well(self._opening)):
            self._opening = asyncio.get_running_loop().create_task(self._open())
        return await asyncio.shield(self._opening)

    def forget(self) -> None:
        """It is over: whoever asks next opens another one."""
        self._opening = None
        if self._renewing is not None:
            self._renewing.cancel()

    async def close(self) -> None:
        """End the lease and every sandbox that it holds. May be called more than once."""
        opening, self._opening = self._opening, None
        if self._renewing is not None:
            self._renewing.cancel()
            await asyncio.wait([self._renewing])
        if opening is None:
            return
        await asyncio.wait([opening])
        if _went_well(opening):
            await self._connection.json(*address(table.CLOSE_LEASE, lease_id=opening.result()))

    async def _open(self) -> str:
        answer = await self._connection.json(*address(table.OPEN_LEASE), content={"seconds": self._seconds})
        with self._connection.understanding("a lease"):
            lease_id = str(answer["id"])
        self._renewing = asyncio.get_running_loop().create_task(self._renew(lease_id))
        return lease_id

    async def _renew(self, lease_id: str) -> None:
        asked = self._clock.now()
        while True:
            # from one question to the next: a server that is slow to answer is asked no later for that
            await self._clock.sleep(asked + self._seconds / RENEWALS_PER_LEASE - self._clock.now())
            asked = self._clock.now()
            try:
                await self._connection.json(*address(table.RENEW, lease_id=lease_id))
            except NotFoundError:
                # over while this process slept, or the server was started anew: the next sandbox opens another one
                _log.warning("the lease on %s is over, and with it its sandboxes", self._connection.base_url)
                self._opening = None
                return
            except HarenaError as error:
                _log.warning("the lease on %s could not be renewed: %s", self._connection.base_url, error)


def _went_well(task: asyncio.Task[str]) -> bool:
    return task.done() and not task.cancelled() and task.exception() is None
