"""What a node asks of a store of webhook deliveries: the port.

A delivery is made with its job, waits for the job's end, and becomes due in the transaction in which the job ends;
that is `JobStorePort`'s. From then on whoever tries it counts the try first: of two processes that see the same
delivery due, one gets it, and a process that is killed between its try and the note of what came of it has left the
next try behind.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

EventBody = Mapping[str, Any]
"""what an event of a job says beside its kind, as it is stored and shown"""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewDelivery:
    """A delivery as it is stored with its job, whose end it waits for."""

    id: str
    url: str
    receiver: str
    """host and port of the URL: what is counted where one receiver may not take all tries"""
    secret: str | None = field(repr=False)
    """signs what is posted; None = nothing is signed"""
    durable: bool
    """a server makes it, not an embedded node"""
    state: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DueDelivery:
    """A delivery that is neither over nor waiting, as whoever makes it needs it."""

    id: str
    job_id: str
    workspace: str
    url: str
    receiver: str
    secret: str | None = field(repr=False)
    """sealed where this process has another key than the one that sealed it"""
    tries: int
    due_at: str
    body: str | None
    """what the first try posted; None = it is not made yet"""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryStatus:
    """How far a delivery is, as its job shows it: without its secret."""

    id: str
    job_id: str
    url: str
    state: str
    tries: int
    due_at: str | None
    ended_at: str | None
    error: str | None


class WebhookStorePort(Protocol):
    """Webhook deliveries in one store. Every method is one transaction; all raise PlatformError."""

    async def workspaces(self, *, durable: bool, after: str, limit: int) -> list[str]:
        """Workspaces that have deliveries which are neither over nor waiting, of jobs that outlive their process or of
        jobs that do not: by name, those behind `after` first and then those up to it."""

    async def pending(
        self, *, durable: bool, workspaces: Collection[str], limit: int, without: Collection[tuple[str, str]] = ()
    ) -> list[DueDelivery]:
        """Such deliveries of these workspaces, at most `limit` of each, but for those whose (workspace, receiver) is in
        `without`; of each workspace those that are due first come first."""

    async def count_try(self, delivery_id: str, *, tries: int, due_at: str) -> bool:
        """Begin a try of a delivery that was tried `tries` times: count it, and note when the next one is due should
        nothing be heard of this one. Whether nobody else had begun it. A try counts before its body is made: a delivery
        whose body cannot be made is given up as one that nobody accepts."""

    async def keep_body(self, delivery_id: str, *, tries: int, body: str) -> bool:
        """Keep what the `tries`-th try posts, for the tries after it. Whether that try was not overtaken."""

    async def put_off(self, delivery_id: str, *, tries: int, due_at: str, error: str | None) -> None:
        """The `tries`-th try has failed, and the next one is due then."""

    async def end(
        self,
        delivery_id: str,
        *,
        tries: int,
        state: str,
        at: str,
        error: str | None,
        kind: str,
        body: EventBody,
    ) -> bool:
        """The delivery is over after that many tries: forget its secret, and add an event of this kind to its job,
        where that is still there. Whether it was not over before."""

    async def of_jobs(self, job_ids: Sequence[str]) -> dict[str, DeliveryStatus]:
        """job id -> its delivery; without jobs that have none."""
