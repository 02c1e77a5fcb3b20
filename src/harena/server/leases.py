"""Leases of clients: the sandboxes of a client end when it has not renewed its lease in time.

A lease holds sandboxes. It is over when it is closed or when it was not renewed in time; its sandboxes are stopped
then, all at the same time. Each lease has one timer. Used from one event loop.

A client that is there must not lose its sandboxes because this process is slow: where it gets hardly any processor
time, renewals wait longer in their sockets than a lease lasts. So a lease's time is counted in pieces, one after the
other, and a piece that ends late counts as what it should have been. Nor does a lease end while a sandbox is made under
it.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from harena.core.clock import Clock, Timer
from harena.core.errors import HarenaError, LimitExceededError, NotFoundError
from harena.core.ports import SandboxHandle

PIECES = 20
"""number of pieces in which a lease's time is counted"""

_log = logging.getLogger("harena.server")


@dataclass(slots=True)
class Lease:
    """The lease of one client, and the sandboxes that end with it."""

    id: str
    workspace: str
    seconds: float
    expires_at: datetime
    timer: Timer | None = None
    making: int = 0
    """sandboxes that are being made under it"""
    sandboxes: dict[str, SandboxHandle] = field(default_factory=dict)


class Leases:
    """Every lease of this server."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._leases: dict[str, Lease] = {}
        self._counts: Counter[str] = Counter()
        """workspace -> leases that are open"""
        self._endings: set[asyncio.Task[None]] = set()

    def open(self, workspace: str, seconds: float, *, most: int) -> Lease:
        """A new lease; the workspace may have `most`. Raises LimitExceededError."""
        if self._counts[workspace] >= most:
            raise LimitExceededError(
                f"this workspace has {most} leases open, which is the most (leases): close those of clients that have "
                "ended, or wait until they are over",
                reason="LEASES",
            )
        lease = Lease(f"lease_{secrets.token_hex(12)}", workspace, seconds, self._clock.utcnow())
        self._leases[lease.id] = lease
        self._counts[workspace] += 1
        self._wind(lease)
        return lease

    def find(self, workspace: str, lease_id: str) -> Lease:
        """Raises NotFoundError for what is over, or another workspace's."""
        lease = self._leases.get(lease_id)
        if lease is None or lease.workspace != workspace:
            raise NotFoundError(
                f"no lease {lease_id!r}: it is over, and its sandboxes with it; open another one", reason="LEASE_OVER"
            )
        return lease

    def renew(self, workspace: str, lease_id: str) -> Lease:
        """The lease lasts its length from now on."""
        lease = self.find(workspace, lease_id)
        self._wind(lease)
        return lease

    @contextmanager
    def making(self, lease: Lease) -> Iterator[None]:
        """While a sandbox is made under the lease, which lasts its whole length from the end of this on."""
        lease.making += 1
        try:
            yield
        finally:
            lease.making -= 1
            if self._leases.get(lease.id) is lease:
                self._wind(lease)

    async def hold(self, lease: Lease, sandbox: SandboxHandle) -> None:
        """The sandbox ends with the lease; at once if that is over already."""
        if self._leases.get(lease.id) is not lease:
            await sandbox.stop()
            self.find(lease.workspace, lease.id)
        ended = [name for name, handle in lease.sandboxes.items() if handle.info.status.is_terminal]
        for name in ended:
            del lease.sandboxes[name]
        lease.sandboxes[sandbox.info.id] = sandbox

    async def close(self, workspace: str, lease_id: str) -> None:
        """End it and its sandboxes; returns when they have ended."""
        lease = self.find(workspace, lease_id)
        self._remove(lease)
        await self._end(lease)

    async def settled(self) -> None:
        """Returns when nothing of a lease that is over is left."""
        while self._endings:
            await asyncio.wait(list(self._endings))

    def cancel_timers(self) -> None:
        """The server ends, and with it every sandbox."""
        for lease in self._leases.values():
            if lease.timer is not None:
                lease.timer.cancel()

    def _wind(self, lease: Lease) -> None:
        self._count(lease, PIECES)
        lease.expires_at = self._clock.utcnow() + timedelta(seconds=lease.seconds)

    def _count(self, lease: Lease, pieces: int) -> None:
        if lease.timer is not None:
            lease.timer.cancel()
        lease.timer = self._clock.call_later(lease.seconds / PIECES, lambda: self._recount(lease, pieces - 1))

    def _recount(self, lease: Lease, left: int) -> None:
        if left:
            self._count(lease, left)
        elif lease.making:
            self._count(lease, PIECES)
        else:
            self._over(lease)

    def _over(self, lease: Lease) -> None:
        _log.warning("lease %s was not renewed: its %d sandboxes are ended", lease.id, len(lease.sandboxes))
        self._remove(lease)  # at once: nobody may be told any more that it was renewed
        task = asyncio.get_running_loop().create_task(self._end(lease))
        self._endings.add(task)
        task.add_done_callback(self._endings.discard)

    def _remove(self, lease: Lease) -> None:
        del self._leases[lease.id]
        self._counts -= Counter([lease.workspace])
        if lease.timer is not None:
            lease.timer.cancel()

    async def _end(self, lease: Lease) -> None:
        await asyncio.gather(*(_stop(handle) for handle in lease.sandboxes.values()))


async def _stop(handle: SandboxHandle) -> None:
    try:
        await handle.stop()
    except HarenaError as error:  # its record says so, and the others shall end
        _log.error("sandbox %s could not be ended with its lease: %s", handle.info.id, error)
