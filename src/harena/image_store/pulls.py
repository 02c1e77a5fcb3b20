"""Pulls under way: one for each reference, however many ask for it, and what each workspace sees of its own."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from datetime import timedelta

from harena.core.clock import Clock
from harena.core.errors import HarenaError, LimitExceededError, NotFoundError, PlatformError
from harena.core.images import ImageReference
from harena.core.records.images import ImagePull, ImagePullEvent, PullState
from harena.core.remembered import Remembered
from harena.core.server_places import without_server_places
from harena.core.threads import node_task
from harena.image_store.assembling import Progress

KEPT_SECONDS = 3600.0
"""for which a pull that has ended can be asked for"""
_MOST_OPEN = 100
"""pulls of one workspace that have not ended"""
_MOST_KEPT = 1000
"""pulls that are remembered, those that have not ended among them"""
_RETRY_SECONDS = 1.0


@dataclass(slots=True, eq=False)
class _Job:
    """The work for one reference. Several workspaces may wait for it."""

    reference: ImageReference
    progress: Progress
    task: asyncio.Task[None] | None = None
    error: HarenaError | None = None
    tickets: set[Ticket] = field(default_factory=set)
    """pulls of those who have not cancelled"""


@dataclass(slots=True, eq=False)
class Ticket:
    """A pull as one workspace sees it."""

    id: str
    workspace: str
    named: ImageReference
    """what the workspace will find the image by"""
    job: _Job
    version: int = 1
    """grows with each change"""
    is_cancelled: bool = False
    waiting: list[asyncio.Future[None]] = field(default_factory=list)

    def record(self) -> ImagePull:
        """The pull as it is answered."""
        progress, error = self.job.progress, self.job.error
        state = PullState.CANCELLED if self.is_cancelled else progress.state
        return ImagePull(
            id=self.id,
            reference=str(self.job.reference),
            state=state,
            total_bytes=progress.total_bytes,
            downloaded_bytes=progress.downloaded_bytes,
            layers=progress.layers,
            layers_unpacked=progress.layers_unpacked,
            digest=progress.digest,
            error=without_server_places(str(error)) if error is not None and state is PullState.FAILED else None,
            reason=error.reason if error is not None and state is PullState.FAILED else None,
        )

    def change(self) -> None:
        """Something is another than it was."""
        self.version += 1
        for waiting in self.waiting:
            if not waiting.done():
                waiting.set_result(None)


Names = set[tuple[str, ImageReference]]
"""workspaces, and what each will find the image by"""


class Pulls:
    """Used from one event loop."""

    def __init__(
        self, pull: Callable[[ImageReference, Progress, Callable[[], Names]], Awaitable[None]], clock: Clock
    ) -> None:
        """`pull` pulls one image, and raises HarenaError. It asks for the names at its end; who comes later has a pull
        of their own."""
        self._pull = pull
        self._jobs: dict[str, _Job] = {}
        self._tickets: Remembered[Ticket] = Remembered(clock, KEPT_SECONDS)
        self._tasks: set[asyncio.Task[None]] = set()

    def begin(self, workspace: str, reference: ImageReference, named: ImageReference) -> Ticket:
        """A pull of a workspace, which finds the image by `named` then; what is pulled already is joined. Raises
        LimitExceededError."""
        own = [ticket for _, ticket in self._tickets if ticket.workspace == workspace]
        for ticket in own:
            if (ticket.job.reference, ticket.named) == (reference, named) and not ticket.record().state.is_over:
                return ticket
        if sum(not ticket.record().state.is_over for ticket in own) >= _MOST_OPEN:
            raise LimitExceededError(
                f"{_MOST_OPEN} pulls of this workspace have not ended: wait for some of them",
                reason="BUSY",
                retry_delay=timedelta(seconds=_RETRY_SECONDS),
            )
        job = self._jobs.get(str(reference)) or self._start(workspace, reference)
        ticket = Ticket(f"pull_{secrets.token_hex(8)}", workspace, named, job)
        job.tickets.add(ticket)
        self._keep(ticket)
        return ticket

    def done(self, workspace: str, reference: ImageReference, progress: Progress) -> Ticket:
        """A pull that has nothing to do."""
        ticket = Ticket(f"pull_{secrets.token_hex(8)}", workspace, reference, _Job(reference, progress))
        self._keep(ticket)
        self._tickets.forget_later(ticket.id)
        return ticket

    def get(self, workspace: str, pull: str) -> Ticket:
        """Raises NotFoundError."""
        ticket = self._tickets.get(pull)
        if ticket is None or ticket.workspace != workspace:
            raise NotFoundError(f"no pull {pull!r:.100}: pulls are forgotten an hour after their end")
        return ticket

    async def wait(self, ticket: Ticket) -> ImagePull:
        """The pull when it has ended."""
        while not (told := ticket.record()).state.is_over:
            await self._change(ticket)
        return told

    async def result(self, ticket: Ticket) -> None:
        """Returns when it has ended. Raises what it has failed with."""
        told = await self.wait(ticket)
        if told.state is not PullState.DONE:
            error = ticket.job.error
            if error is None or ticket.is_cancelled:
                raise PlatformError(f"the pull of {told.reference} was cancelled", step="pull", reason="CANCELLED")
            raise error

    async def events(self, ticket: Ticket, after: int) -> AsyncIterator[ImagePullEvent]:
        """Changes of a pull, to its end."""
        while True:
            told = ticket.record()
            if ticket.version > after:
                after = ticket.version
                yield ImagePullEvent(cursor=after, kind=told.state.value, pull=told)
            if told.state.is_over:
                return
            if ticket.version <= after:
                await self._change(ticket)

    def cancel(self, ticket: Ticket) -> ImagePull:
        """End a pull, and its work where nobody else waits for it."""
        if not ticket.record().state.is_over:
            ticket.is_cancelled = True
            ticket.change()
            self._tickets.forget_later(ticket.id)
            job = ticket.job
            job.tickets.discard(ticket)
            if not job.tickets and job.task is not None:
                self._let_go(job)
                job.task.cancel()
        return ticket.record()

    async def close(self) -> None:
        """End all."""
        for task in [*self._tasks]:
            task.cancel()
        if self._tasks:
            await asyncio.wait([*self._tasks])

    def _start(self, workspace: str, reference: ImageReference) -> _Job:
        def changed() -> None:
            for ticket in job.tickets:
                ticket.change()

        job = _Job(reference, Progress(changed))
        self._jobs[str(reference)] = job
        job.task = node_task(self._run(job), f"pull {reference}", workspace=workspace)
        self._tasks.add(job.task)
        job.task.add_done_callback(self._tasks.discard)
        return job

    def _names(self, job: _Job) -> Names:
        self._let_go(job)
        return {(ticket.workspace, ticket.named) for ticket in job.tickets}

    def _let_go(self, job: _Job) -> None:
        if self._jobs.get(str(job.reference)) is job:
            del self._jobs[str(job.reference)]

    async def _run(self, job: _Job) -> None:
        state = PullState.CANCELLED
        try:
            await self._pull(job.reference, job.progress, lambda: self._names(job))
            state = PullState.DONE
        except HarenaError as error:
            job.error, state = error, PullState.FAILED
        except OSError as error:
            said = f"the disk failed while {job.reference} was pulled: {error.strerror or error}"
            job.error, state = PlatformError(said, step="pull"), PullState.FAILED
        finally:
            self._let_go(job)
            job.progress.tell(state=state)
            for ticket in job.tickets:
                self._tickets.forget_later(ticket.id)

    async def _change(self, ticket: Ticket) -> None:
        waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        ticket.waiting.append(waiting)
        try:
            await waiting
        finally:
            ticket.waiting.remove(waiting)

    def _keep(self, ticket: Ticket) -> None:
        """Remember a pull, and forget the oldest that has ended where there are too many."""
        self._tickets.keep(ticket.id, ticket)
        if len(self._tickets) > _MOST_KEPT:
            self._tickets.forget(next((name for name, each in self._tickets if each.record().state.is_over), ""))
