"""Webhooks of one node: sends each delivery until its receiver accepts it or it is given up.

Deliveries that are due are rows of the store (see `harena.core.webhook_store`), so the next node continues those of a
node that was killed. Delivery is at least once; receivers recognise repetitions by their id. A server sends deliveries
of servers' jobs, an embedded node those of embedded jobs, because the two may send to different addresses and one must
not send what the other would refuse.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import random
import uuid
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING, TypeVar

from harena.core.clock import Clock
from harena.core.errors import PlatformError, ValidationError
from harena.core.job_store import STORE_UNAVAILABLE, JobStorePort
from harena.core.records.benchmark_jobs import WebhookDelivery, WebhookEvent
from harena.core.sealed_text import is_sealed
from harena.core.threads import node_task, work_for
from harena.core.webhook_signature import ID_HEADER, SIGNATURE_HEADER, TIMESTAMP_HEADER, signature
from harena.core.webhook_store import DeliveryStatus, DueDelivery, NewDelivery, WebhookStorePort
from harena.jobs import webhooks as rules
from harena.jobs.benchmark.job_summary import job_summary
from harena.jobs.webhook_post import Post, check_can_post
from harena.jobs.webhooks import DeliveryState

if TYPE_CHECKING:
    from harena.jobs.models import JobWebhook
    from harena.jobs.webhooks import Network

LOOK_SECONDS = 5.0
"""how often the store is asked for deliveries that another node has left"""
MOST_AT_ONCE = 64
"""tries that are under way at the same time"""
MOST_PER_WORKSPACE = 8
"""tries for one workspace at the same time: whatever receivers it names, others keep their places"""
MOST_PER_RECEIVER = 4
"""tries at one receiver of a workspace at the same time: one that hangs must not hold up the others"""
READ_AT_ONCE = 100
"""most deliveries of one workspace that are read together"""
WORKSPACES_AT_ONCE = 32
"""workspaces whose deliveries are read together"""
MOST_REMEMBERED = 100_000
"""deliveries of which it is known for how long they have been seen"""
MOST_BODY_BYTES = 1 << 20
"""a larger body is not posted; it would be kept until the delivery is over"""
TURN_SECONDS = 0.25
"""pause before the next workspaces are read, where there are more"""

T = TypeVar("T")
Stores = Callable[[], Awaitable[tuple[WebhookStorePort, JobStorePort]]]

_NO_JOB = "its job is gone"
_TOO_LARGE = f"its body has more than {MOST_BODY_BYTES} bytes"
_NO_BODY = "its body could not be made of what is stored of the job"
_OTHER_KEY = "its secret was encrypted with another key: give every server of this database the same HARENA_SECRET_KEY"

_log = logging.getLogger("harena.webhooks")


def new_delivery(webhook: JobWebhook, *, durable: bool, allowed: Sequence[Network] | None) -> NewDelivery:
    """A delivery as it is stored with its job. Raises ValidationError where it could never be made: what is needed is
    not installed, or the URL names an address outright that this node does not post to."""
    check_can_post()
    address = rules.literal_address(webhook.url)
    if allowed is not None and address is not None and not rules.is_allowed(address, allowed):
        raise ValidationError(
            f"webhook.url: this server does not post to {address}, which is not of the public internet; its operator "
            "can allow it: harena serve --webhook-allow ADDRESS"
        )
    return NewDelivery(
        id=f"msg_{uuid.uuid4().hex}",
        url=webhook.url,
        receiver=rules.receiver_of(webhook.url),
        secret=webhook.secret,
        durable=durable,
        state=DeliveryState.WAITING,
    )


def delivery_answer(row: DeliveryStatus) -> WebhookDelivery:
    """A delivery as its job shows it: without its secret."""
    return WebhookDelivery(
        url=row.url,
        delivery_id=row.id,
        state=row.state,
        tries=row.tries,
        next_try_at=row.due_at,
        ended_at=row.ended_at,
        error=row.error,
    )


class WebhookDeliveries:
    """The deliveries that this process makes. Used from one event loop."""

    def __init__(
        self, stores: Stores, clock: Clock, post: Post, *, durable: bool, luck: Callable[[], float] = random.random
    ) -> None:
        """`stores` is not called before `wake`. `durable`: a server's, which also looks for what others have left, from
        the first `wake` to its end."""
        self._stores = stores
        self._clock = clock
        self._post = post
        self._durable = durable
        self._luck = luck
        self._task: asyncio.Task[None] | None = None
        self._news = asyncio.Event()
        self._trying: dict[str, asyncio.Task[None]] = {}
        self._busy: Counter[tuple[str, str]] = Counter()
        """(workspace, receiver) -> tries that are under way"""
        self._busy_workspaces: Counter[str] = Counter()
        self._turn = ""
        """the workspace that was looked at last"""
        self._first_seen: dict[tuple[str, int], float] = {}
        """(delivery, tries) -> when it was first seen here: the store's times of day are of clocks that jump"""
        self._not_before: dict[str, float] = {}
        """delivery whose try broke off -> when it may be begun again here, be it due or not"""
        self._closing = False

    def wake(self) -> None:
        """Something may be due, or become due soon."""
        self._news.set()
        if self._task is None and not self._closing:
            self._task = node_task(self._deliver(), "deliver webhooks")
            self._task.add_done_callback(self._over)

    async def close(self) -> None:
        """Try once what was not tried yet and finds a place while one try may last, wait for the tries that are under
        way, and end; the rest, and what has failed, is left to the next node. Takes as long as two tries may."""
        self._closing = True
        self._news.set()
        if self._task is not None:
            await asyncio.wait([self._task])

    def _over(self, task: asyncio.Task[None]) -> None:
        self._task = None
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.error("deliveries of webhooks have ended: this is a bug", exc_info=error)

    async def _deliver(self) -> None:
        webhooks, jobs = await self._stores()
        while not self._closing:
            self._news.clear()
            try:
                wait = await self._start_due(webhooks, jobs)
            except PlatformError:
                wait = LOOK_SECONDS  # the store is away: it has what is due, and is asked again
            if wait is None and not (self._durable or self._trying or self._news.is_set()):
                return
            await self._pause(LOOK_SECONDS if wait is None else min(wait, LOOK_SECONDS))
        with contextlib.suppress(PlatformError):  # the next node finds them
            await self._start_last(webhooks, jobs)
        while self._trying:
            await asyncio.wait(self._trying.values())

    async def _start_last(self, webhooks: WebhookStorePort, jobs: JobStorePort) -> None:
        """Begin what was never tried as places become free, for as long as one try may take: what finds no place
        until then is left to the next node."""
        until = self._clock.now() + rules.SEND_SECONDS
        self._turn, waiting = "", False
        while True:
            self._news.clear()
            before = self._turn
            wait = await self._start_due(webhooks, jobs, last=True)
            waiting = waiting or wait is not None or bool(self._trying)  # what a busy receiver has is not read
            seen_all = not self._turn or (before and self._turn <= before)
            if (seen_all and not waiting) or self._clock.now() >= until:
                return
            if seen_all:
                waiting = False
                await self._pause(min(until - self._clock.now(), LOOK_SECONDS))

    async def _start_due(self, webhooks: WebhookStorePort, jobs: JobStorePort, *, last: bool = False) -> float | None:
        """Begin what is due (`last`: and was never tried); seconds until more is, None = nothing is left (`last`: of
        the workspaces that were looked at)."""
        soonest: float | None = None
        turn = self._turn
        workspaces = await webhooks.workspaces(durable=self._durable, after=turn, limit=WORKSPACES_AT_ONCE)
        more = len(workspaces) == WORKSPACES_AT_ONCE
        self._turn = workspaces[-1] if more else ""
        full = [whose for whose, tries in self._busy.items() if tries >= MOST_PER_RECEIVER]
        rows = await webhooks.pending(durable=self._durable, workspaces=workspaces, limit=READ_AT_ONCE, without=full)
        seen = {(row.id, row.tries) for row in rows}
        known = {at: self._first_seen.get(at, self._clock.now()) for at in seen}
        # a look at some of the workspaces says nothing of the deliveries of the others
        looked_at_all = not more and not turn
        is_full = len(self._first_seen) > MOST_REMEMBERED
        self._first_seen = known if looked_at_all or is_full else {**self._first_seen, **known}
        now = self._clock.now()
        self._not_before = {key: until for key, until in self._not_before.items() if until > now}
        receivers_full = False
        for row in self._in_turns(rows):
            if row.id in self._trying or (last and row.tries):
                continue
            wait = self._wait_seconds(row)
            if wait <= 0 and self._has_place(row):
                self._begin(row, webhooks, jobs)
            elif wait <= 0 and self._no_place_in(row.workspace):
                soonest = LOOK_SECONDS if soonest is None else soonest  # the next try to end says that there is a place
            else:
                receivers_full = receivers_full or wait <= 0
                soonest = wait if soonest is None else min(soonest, wait)
        if receivers_full:
            return 0.0  # a receiver has just taken all that it may, and the next look is for the others
        if more and not last:
            return TURN_SECONDS if soonest is None else min(soonest, TURN_SECONDS)
        return soonest

    def _begin(self, row: DueDelivery, webhooks: WebhookStorePort, jobs: JobStorePort) -> None:
        self._trying[row.id] = task = asyncio.create_task(self._try(row, webhooks, jobs), name=row.id)
        self._busy[row.workspace, row.receiver] += 1
        self._busy_workspaces[row.workspace] += 1
        task.add_done_callback(partial(self._tried, row))

    def _in_turns(self, rows: Sequence[DueDelivery]) -> list[DueDelivery]:
        """First one delivery of each workspace, then a second one; tries that are under way count as turns taken."""
        taken = self._busy_workspaces.copy()
        ranked: list[tuple[int, DueDelivery]] = []
        for row in rows:
            ranked.append((taken[row.workspace], row))
            taken[row.workspace] += 1
        ranked.sort(key=lambda turn: turn[0])
        return [row for _, row in ranked]

    def _no_place_in(self, workspace: str) -> bool:
        return len(self._trying) >= MOST_AT_ONCE or self._busy_workspaces[workspace] >= MOST_PER_WORKSPACE

    def _has_place(self, row: DueDelivery) -> bool:
        whose = row.workspace, row.receiver
        return not self._no_place_in(row.workspace) and self._busy[whose] < MOST_PER_RECEIVER

    def _wait_seconds(self, row: DueDelivery) -> float:
        due_in = (datetime.fromisoformat(row.due_at) - self._clock.utcnow()).total_seconds()
        known_for = self._clock.now() - self._first_seen[row.id, row.tries]
        broken_off = self._not_before.get(row.id, 0.0) - self._clock.now()
        return max(broken_off, rules.remaining_seconds(due_in, row.tries, known_for))

    def _tried(self, row: DueDelivery, task: asyncio.Task[None]) -> None:
        del self._trying[row.id]
        self._busy -= Counter([(row.workspace, row.receiver)])
        self._busy_workspaces -= Counter([row.workspace])
        self._news.set()
        if not task.cancelled() and (error := task.exception()) is not None:
            # tried again when the try that was noted ahead is due; where none was noted, not at once either
            self._not_before[row.id] = self._clock.now() + LOOK_SECONDS
            _log.error("the webhook delivery %s broke off: %s", row.id, error, exc_info=error)

    async def _try(self, row: DueDelivery, webhooks: WebhookStorePort, jobs: JobStorePort) -> None:
        work_for.set(row.workspace)  # of this task only
        tries = row.tries + 1
        if row.tries >= rules.MOST_TRIES:
            await self._end(webhooks, row, row.tries, DeliveryState.FAILED, "nothing was heard of its last try")
            return
        # should this process be killed now, the next try is the one that would follow a failure
        left = timedelta(seconds=rules.SEND_SECONDS + rules.longest_delay_seconds(tries))
        due_at = (self._clock.utcnow() + left).isoformat()
        if not await webhooks.count_try(row.id, tries=row.tries, due_at=due_at):
            return
        made = await self._make_delivery(row, tries, webhooks, jobs)
        if made is None:
            return
        answered = made if isinstance(made, rules.DeliveryOutcome) else await self._post(row.url, *made)
        state, error = rules.judged(answered)
        delay = rules.delay_seconds(tries, self._luck())
        if state is not DeliveryState.PENDING:
            await self._end(webhooks, row, tries, state, error)
        elif delay is None:
            await self._end(webhooks, row, tries, DeliveryState.FAILED, f"{error}; given up after {tries} tries")
        else:
            due_at = (self._clock.utcnow() + timedelta(seconds=delay)).isoformat()
            await self._note_patiently(partial(webhooks.put_off, row.id, tries=tries, due_at=due_at, error=error))

    async def _end(
        self, webhooks: WebhookStorePort, row: DueDelivery, tries: int, state: DeliveryState, error: str | None
    ) -> None:
        end = partial(
            webhooks.end,
            row.id,
            tries=tries,
            state=state,
            at=self._clock.utcnow().isoformat(),
            error=error,
            kind="webhook_delivered" if state is DeliveryState.DELIVERED else "webhook_failed",
            body={"delivery_id": row.id, "tries": tries, "error": error},
        )
        await self._note_patiently(end)

    async def _note_patiently(self, note: Callable[[], Awaitable[T]]) -> T:
        """Ask the store what belongs to a try that was counted, or write what came of it, waiting for a store that is
        away: what was heard shall not be posted again."""
        while True:
            try:
                return await note()
            except PlatformError as error:
                if error.reason != STORE_UNAVAILABLE or self._closing:
                    raise
                await self._clock.sleep(LOOK_SECONDS)

    async def _make_delivery(
        self, row: DueDelivery, tries: int, webhooks: WebhookStorePort, jobs: JobStorePort
    ) -> tuple[Mapping[str, str], bytes] | rules.DeliveryOutcome | None:
        """Headers and body of a try that was counted; or why it has failed without being posted; or None = somebody
        else makes the delivery, or it was deleted."""
        if row.secret is not None and is_sealed(row.secret):  # never unsigned, and perhaps by a server that can
            return rules.DeliveryOutcome(error=_OTHER_KEY)
        try:
            body = row.body
            if body is None:
                body = await self._note_patiently(partial(self._content_of, row, jobs))
                if body is None:
                    return rules.DeliveryOutcome(error=_NO_JOB, for_good=True)
                if len(body) > MOST_BODY_BYTES:
                    return rules.DeliveryOutcome(error=_TOO_LARGE, for_good=True)
                if not await self._note_patiently(partial(webhooks.keep_body, row.id, tries=tries, body=body)):
                    return None
            return self._headers(row, body.encode()), body.encode()
        except Exception as error:  # whatever is wrong with stored data: the try has failed
            if isinstance(error, PlatformError) and error.reason == STORE_UNAVAILABLE:
                raise  # this process is closing
            _log.exception("the body of the webhook delivery %s cannot be made", row.id)
            return rules.DeliveryOutcome(error=f"{_NO_BODY} ({type(error).__name__})")

    async def _content_of(self, row: DueDelivery, jobs: JobStorePort) -> str | None:
        """What is posted; None = there is no such job."""
        job = await jobs.read_job(row.job_id)
        if job is None:
            return None
        assert job.ended_at is not None
        results = await job_summary(jobs, job, now=self._clock.utcnow())
        event = WebhookEvent(
            event=rules.JOB_ENDED,
            delivery_id=row.id,
            at=job.ended_at,
            job_id=results.job_id,
            name=results.name,
            state=results.state,
            error=results.error,
            summary=results.summary,
        )
        return json.dumps(event.to_dict())

    def _headers(self, row: DueDelivery, body: bytes) -> Mapping[str, str]:
        at = int(self._clock.utcnow().timestamp())
        headers = {
            "content-type": "application/json",
            "user-agent": f"harena/{version('harena')}",
            ID_HEADER: row.id,
            TIMESTAMP_HEADER: str(at),
        }
        if row.secret is not None:
            headers[SIGNATURE_HEADER] = signature(row.secret, row.id, at, body)
        return headers

    async def _pause(self, seconds: float) -> None:
        timer = self._clock.call_later(seconds, self._news.set)
        try:
            await self._news.wait()
        finally:
            timer.cancel()
