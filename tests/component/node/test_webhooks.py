"""Deliveries of webhooks: tried until they are heard or given up, over a fake store and clock, and over real ones."""

import asyncio
import json
import signal
import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from hurried_clock import HurriedClock
from stored_jobs import StoredJobs
from test_benchmark_jobs import HERE, NoSandboxes, Recipes, Scorer, load, request
from test_webhook_post import receiver

from harena.core.errors import PlatformError, ValidationError
from harena.core.job_store import STORE_UNAVAILABLE, EndedRun, JobCounts, StoredBenchmarkJob
from harena.core.leases import Owner
from harena.core.node_config import NodeConfig
from harena.core.webhook_signature import check_signature
from harena.core.webhook_store import DueDelivery
from harena.jobs.models import JobWebhook
from harena.jobs.webhook_deliveries import (
    MOST_AT_ONCE,
    MOST_BODY_BYTES,
    MOST_PER_RECEIVER,
    MOST_PER_WORKSPACE,
    READ_AT_ONCE,
    TURN_SECONDS,
    WORKSPACES_AT_ONCE,
    WebhookDeliveries,
    new_delivery,
)
from harena.jobs.webhooks import MOST_TRIES, DeliveryOutcome, networks
from harena.sdk import webhooks as receiving
from harena.testing import FakeClock

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
START = datetime.fromisoformat("2030-01-01T00:00:00+00:00")


Row = dict[str, Any]


def stored(job_id: str, **more: Any) -> StoredBenchmarkJob:
    """A job that has ended, without a run."""
    ended = StoredBenchmarkJob(
        id=job_id,
        workspace="w",
        name="n",
        state="completed",
        created_at="t",
        blueprint="default",
        config={},
        effective_concurrency=1,
        total=0,
        durable=False,
        owner=Owner(pid=1, started="s", boot="b"),
        started_at="t",
        ended_at="t",
        duration_seconds=1.0,
        error=None,
        cancel_requested=False,
        lease_epoch=1,
        lease_beat=0,
        active_seconds=1.0,
        counts=JobCounts(),
        last_cursor=1,
        sequence=1,
    )
    return replace(ended, **more)


def due(row: Row) -> DueDelivery:
    """What a store answers of a delivery."""
    return DueDelivery(**{each.name: row[each.name] for each in fields(DueDelivery)})


@dataclass
class Memory:
    """Deliveries and their jobs, in memory: both stores as far as deliveries ask them."""

    rows: dict[str, Row] = field(default_factory=dict)
    ends: list[tuple[str, str, Mapping[str, Any]]] = field(default_factory=list)
    away: int = 0
    """so many calls from now on fail"""
    jobs: bool = True
    broken: int = 0
    """so many jobs from now on cannot be read"""
    uncounted: int = 0
    """so many tries from now on cannot be counted"""
    job: dict[str, Any] = field(default_factory=dict)
    """what is stored of a job, where that is not what every job has"""

    def add(self, number: int = 1, **more: Any) -> None:
        """A delivery that is due."""
        row = {"id": f"msg_{number}", "job_id": f"job_{number}", "url": "http://x/", "receiver": f"x{number % 5}:80"}
        row |= {
            "workspace": "w",
            "secret": None,
            "tries": 0,
            "due_at": START.isoformat(),
            "body": None,
            "durable": False,
        }
        self.rows[f"msg_{number}"] = {**row, **more}

    def _ask(self) -> None:
        if self.away:
            self.away -= 1
            raise PlatformError("away", step="store", reason=STORE_UNAVAILABLE)

    async def workspaces(self, *, durable: bool, after: str, limit: int) -> list[str]:
        self._ask()
        names = sorted({row["workspace"] for row in self.rows.values() if row["durable"] is durable})
        return [*(name for name in names if name > after), *(name for name in names if name <= after)][:limit]

    async def pending(
        self, *, durable: bool, workspaces: Collection[str], limit: int, without: Collection[tuple[str, str]] = ()
    ) -> list[DueDelivery]:
        found: list[DueDelivery] = []
        for workspace in workspaces:
            rows = [row for row in self.rows.values() if row["workspace"] == workspace and row["durable"] is durable]
            found += [due(row) for row in rows if (workspace, row["receiver"]) not in without][:limit]
        return found

    async def count_try(self, delivery_id: str, *, tries: int, due_at: str) -> bool:
        self._ask()
        if self.uncounted:
            self.uncounted -= 1
            raise PlatformError("permission denied for table webhook_deliveries", step="store")
        return self._changed(delivery_id, tries, {"tries": tries + 1, "due_at": due_at})

    async def keep_body(self, delivery_id: str, *, tries: int, body: str) -> bool:
        self._ask()
        return self._changed(delivery_id, tries, {"body": body})

    def _changed(self, delivery_id: str, tries: int, values: Row) -> bool:
        row = self.rows.get(delivery_id)
        if row is None or row["tries"] != tries:
            return False
        row.update(values)
        return True

    async def put_off(self, delivery_id: str, *, tries: int, due_at: str, error: str | None) -> None:
        self._ask()
        self._changed(delivery_id, tries, {"due_at": due_at, "error": error})

    async def end(self, delivery_id: str, *, kind: str, body: Mapping[str, Any], **more: Any) -> bool:
        self._ask()
        if self.rows.pop(delivery_id, None) is None:
            return False
        self.ends.append((delivery_id, kind, body))
        return True

    async def read_job(self, job_id: str) -> StoredBenchmarkJob | None:
        if self.broken:
            self.broken -= 1
            raise PlatformError("permission denied for table benchmark_jobs", step="store")
        return stored(job_id, **self.job) if self.jobs else None

    async def page_runs(self, job_id: str, *, after: int, limit: int, metadata: bool = True) -> list[EndedRun]:
        return []


@dataclass
class Script:
    """A receiver that answers as it is told, the last answer again and again."""

    clock: FakeClock
    answers: list[DeliveryOutcome]
    heard: list[tuple[float, str, Mapping[str, str], bytes]] = field(default_factory=list)
    open: asyncio.Event = field(default_factory=asyncio.Event)
    under_way: int = 0
    most: int = 0
    seconds: float = 0.0
    """how long an answer takes"""
    more: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.open.set()

    async def called(self, times: int) -> None:
        """Returns when it was, so often."""
        while len(self.heard) < times:
            self.more.clear()
            await self.more.wait()

    async def __call__(self, url: str, headers: Mapping[str, str], body: bytes) -> DeliveryOutcome:
        self.heard.append((self.clock.now(), headers["webhook-id"], headers, body))
        self.more.set()
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        await self.open.wait()
        if self.seconds:
            await self.clock.sleep(self.seconds)
        self.under_way -= 1
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


class Here:
    """Deliveries over all of that."""

    def __init__(self, *answers: int, durable: bool = False) -> None:
        self.clock = FakeClock()
        self.memory = Memory()
        self.post = Script(self.clock, [DeliveryOutcome(status=status) for status in answers])
        self.deliveries = WebhookDeliveries(self.stores, self.clock, self.post, durable=durable, luck=lambda: 0.5)

    async def stores(self) -> Any:
        """Both in one."""
        return self.memory, self.memory

    async def idle(self) -> None:
        """Until nothing is left to do."""
        self.deliveries.wake()
        assert self.deliveries._task is not None
        await asyncio.wait([self.deliveries._task])


async def test_a_delivery_is_tried_until_it_is_heard() -> None:
    """At once, then after growing pauses; each time the same, with the time of the try signed."""
    here = Here(500, 302, 204)
    here.memory.add(secret=SECRET)
    await here.idle()
    times, ids, headers, bodies = zip(*here.post.heard, strict=True)
    assert times == (0.0, 3.75, 18.75)
    assert (set(ids), len(set(bodies))) == ({"msg_1"}, 1)
    for at, sent, body in zip(times, headers, bodies, strict=True):
        check_signature(sent, body, SECRET, now=(START + timedelta(seconds=at)).timestamp(), tolerance_seconds=1)
    assert here.memory.ends == [("msg_1", "webhook_delivered", {"delivery_id": "msg_1", "tries": 3, "error": None})]
    said = json.loads(bodies[0])
    assert {name: said[name] for name in ("event", "delivery_id", "job_id", "name", "state", "at")} == {
        "event": "benchmark_job.ended",
        "delivery_id": "msg_1",
        "job_id": "job_1",
        "name": "n",
        "state": "completed",
        "at": "t",
    }
    assert said["summary"]["total"] == 0
    assert "webhook-signature" in headers[0]


async def test_without_a_secret_nothing_is_signed() -> None:
    """There is no signature that could be mistaken for one."""
    here = Here(200)
    here.memory.add()
    await here.idle()
    assert "webhook-signature" not in here.post.heard[0][2]
    assert "webhook-id" in here.post.heard[0][2]


async def test_it_is_given_up_after_so_many_tries() -> None:
    """With an event that says how often, and what the receiver answered."""
    here = Here(503)
    here.memory.add()
    await here.idle()
    assert len(here.post.heard) == MOST_TRIES
    ((delivery_id, kind, body),) = here.memory.ends
    assert (delivery_id, kind, body["tries"]) == ("msg_1", "webhook_failed", MOST_TRIES)
    assert body["error"] == f"the receiver answered 503; given up after {MOST_TRIES} tries"


async def test_a_receiver_that_wants_no_more_gets_no_more() -> None:
    """410 Gone."""
    here = Here(410)
    here.memory.add()
    await here.idle()
    assert len(here.post.heard) == 1
    assert here.memory.ends[0][1] == "webhook_failed"


async def test_what_a_killed_node_had_begun_is_tried_again() -> None:
    """When the try that it noted ahead is due; the last of all tries is not repeated, and its end is unknown."""
    here = Here(200)
    here.memory.add(1, tries=1, due_at=(START + timedelta(seconds=12)).isoformat(), body='{"first": "words"}')
    here.memory.add(2, tries=MOST_TRIES, body="{}")
    await here.idle()
    assert [(at, body) for at, _, _, body in here.post.heard] == [(12.0, b'{"first": "words"}')]
    assert [(end[0], end[1]) for end in here.memory.ends] == [
        ("msg_2", "webhook_failed"),
        ("msg_1", "webhook_delivered"),
    ]


async def test_a_time_of_day_that_jumped_back_delays_little() -> None:
    """The store says next year; the longest pause before a second try is five seconds, beside the try's own time."""
    here = Here(200)
    here.memory.add(tries=1, due_at="2031-01-01T00:00:00+00:00")
    await here.idle()
    assert [at for at, *_ in here.post.heard] == [15.0]


async def test_servers_and_embedded_nodes_keep_to_their_own() -> None:
    """A delivery that a server made is posted by servers only."""
    here = Here(200)
    here.memory.add(durable=True)
    await here.idle()
    assert here.post.heard == []


async def test_of_two_nodes_one_posts() -> None:
    """Both see the delivery due; only one can count the try."""
    here = Here(200)
    here.memory.add()
    other = WebhookDeliveries(here.stores, here.clock, here.post, durable=False)
    other.wake()
    await here.idle()
    await other.close()
    assert len(here.post.heard) == 1


async def test_a_store_that_is_away_is_asked_again() -> None:
    """Until it is back."""
    here = Here(200)
    here.memory.add()
    here.memory.away = 2
    await here.idle()
    assert [at for at, *_ in here.post.heard] == [10.0]


async def test_a_try_that_breaks_off_before_it_is_counted_is_not_begun_again_at_once() -> None:
    """The store still says that it is due, and whoever breaks off wakes the next look."""
    here = Here(200, durable=True)
    here.memory.add(durable=True)
    here.memory.uncounted = 3
    here.deliveries.wake()
    await here.post.called(1)
    assert [at for at, *_ in here.post.heard] == [15.0]
    await here.deliveries.close()


async def test_a_try_whose_job_cannot_be_read_counts() -> None:
    """The next one comes after the pause that follows any failure, and may go well."""
    here = Here(200, durable=True)
    here.memory.add(durable=True)
    here.memory.broken = 2
    here.deliveries.wake()
    await here.post.called(1)
    assert [at for at, *_ in here.post.heard] == [18.75]
    await here.deliveries.close()
    assert here.memory.ends[0][2]["tries"] == 3


BODIES = {
    "the job cannot be read": {"broken": 10**6},
    "what is stored of the job is broken": {"job": {"total": "many"}},
    "what is stored of the job is no JSON": {"job": {"name": object()}},
    "the job is gone": {"jobs": False},
    "the body is too large": {"job": {"error": "x" * MOST_BODY_BYTES}},
}
REASONS = {
    "the job is gone": "its job is gone",
    "the body is too large": "its body has more than 1048576 bytes",
    "what is stored of the job is no JSON": (
        f"its body could not be made of what is stored of the job (TypeError); given up after {MOST_TRIES} tries"
    ),
}


@pytest.mark.parametrize("why", BODIES)
async def test_a_delivery_whose_body_can_never_be_made_ends(why: str) -> None:
    """After as many tries as any other one, or at once where no try could go well; the reason is told."""
    here = Here(200)
    here.memory.add()
    for name, value in BODIES[why].items():
        setattr(here.memory, name, value)
    await here.idle()
    assert here.post.heard == []
    ((delivery_id, kind, body),) = here.memory.ends
    assert (delivery_id, kind) == ("msg_1", "webhook_failed")
    assert body["tries"] in (1, MOST_TRIES)
    assert body["error"] == REASONS.get(why, body["error"])
    assert body["error"].startswith("its ")


async def test_a_store_that_is_away_while_a_body_is_made_uses_up_no_try() -> None:
    """What was counted goes on when the store is back."""
    here = Here(200)
    here.memory.add()
    asked = here.memory.keep_body
    away = [True, True]

    async def keep_body(delivery_id: str, *, tries: int, body: str) -> bool:
        if away:
            away.pop()
            raise PlatformError("away", step="store", reason=STORE_UNAVAILABLE)
        return await asked(delivery_id, tries=tries, body=body)

    here.memory.keep_body = keep_body  # type: ignore[method-assign]
    await here.idle()
    assert [at for at, *_ in here.post.heard] == [10.0]
    assert here.memory.ends[0][2]["tries"] == 1


async def test_what_was_heard_is_not_posted_again_because_the_store_was_away() -> None:
    """The note of it waits until the store is back."""
    here = Here(200)
    here.memory.add()
    here.post.open.clear()
    here.deliveries.wake()
    await here.post.called(1)
    here.memory.away = 3
    here.post.open.set()
    await here.idle()
    assert (len(here.post.heard), [end[1] for end in here.memory.ends]) == (1, ["webhook_delivered"])


async def test_slow_receivers_take_so_many_places() -> None:
    """The rest waits for a place."""
    here = Here(200)
    for number in range(3 * MOST_AT_ONCE):
        here.memory.add(number, workspace=f"w{number % 20}")
    here.post.open.clear()
    here.deliveries.wake()
    await here.post.called(MOST_AT_ONCE)
    await here.clock.sleep(60)
    here.post.open.set()
    await here.idle()
    assert (here.post.most, len(here.memory.ends)) == (MOST_AT_ONCE, 3 * MOST_AT_ONCE)


async def told_beside_the_hanging(here: Here, places: int) -> None:
    """Delivery 9999 is posted at once, beside as many of the others as have places; none is lost in the end."""
    here.post.open.clear()
    here.deliveries.wake()
    await here.post.called(places + 1)
    assert here.clock.now() == 0
    assert "msg_9999" in {delivery_id for _, delivery_id, *_ in here.post.heard}
    here.post.open.set()
    await here.idle()
    assert (here.post.most, len(here.memory.ends)) == (places + 1, 3 * READ_AT_ONCE + 1)


async def test_a_receiver_that_hangs_does_not_hold_up_the_others() -> None:
    """However much is due for it, and before all else: it has so many places, and the others are looked for at once."""
    here = Here(200)
    for number in range(3 * READ_AT_ONCE):
        here.memory.add(number, receiver="hangs:80", url="http://hangs/")
    here.memory.add(9999, url="http://other/")
    await told_beside_the_hanging(here, MOST_PER_RECEIVER)


async def test_a_workspace_whose_receivers_hang_does_not_hold_up_the_others() -> None:
    """However many receivers it names and however long ago its deliveries were due, also where both name the same."""
    here = Here(200)
    for number in range(3 * READ_AT_ONCE):
        here.memory.add(number, workspace="evil", receiver=f"host{number // 3}:80", url="http://hangs/")
    here.memory.add(9999, workspace="good", receiver="host0:80")
    await told_beside_the_hanging(here, MOST_PER_WORKSPACE)


async def test_who_has_least_under_way_gets_the_next_place() -> None:
    """Where workspaces together take all places."""
    here = Here(200)
    for number in range(20 * MOST_AT_ONCE):
        here.memory.add(number, workspace=f"evil{number % 20:02}", receiver=f"host{number}:80")
    here.post.open.clear()
    here.deliveries.wake()
    await here.post.called(MOST_AT_ONCE)
    here.memory.add(9999, workspace="good")
    first, here.post.open = here.post.open, asyncio.Event()
    first.set()  # all that are under way end, and none that begins from now on
    await here.post.called(MOST_AT_ONCE + 21)
    order = [delivery_id for _, delivery_id, *_ in here.post.heard]
    assert order.index("msg_9999") < MOST_AT_ONCE + 21, "each has one before one has two"
    here.post.open.set()
    await here.idle()


async def test_more_workspaces_than_are_looked_at_together_take_turns() -> None:
    """All are told, in no more time than the looks take."""
    here = Here(200)
    count = 3 * WORKSPACES_AT_ONCE
    for number in range(count):
        here.memory.add(number, workspace=f"w{number:03}", receiver=f"host{number}:80")
        here.memory.add(1000 + number, workspace=f"w{number:03}", due_at="2030-01-02T00:00:00+00:00", tries=7)
    here.deliveries.wake()
    await here.post.called(count)
    assert here.clock.now() <= 3 * TURN_SECONDS
    await here.deliveries.close()


async def test_a_clock_that_jumped_holds_up_no_workspace_whose_turn_comes_later() -> None:
    """Due times that a clock ten hours ahead has noted: a delivery is known for as long as it has been seen."""
    here = Here(200)
    count = WORKSPACES_AT_ONCE + 8
    for number in range(count):
        due = "2030-01-01T10:00:00+00:00"
        here.memory.add(number, workspace=f"w{number:03}", receiver=f"host{number}:80", due_at=due)
    here.deliveries.wake()
    await here.post.called(count)
    assert here.clock.now() < 3600
    await here.deliveries.close()


async def test_a_job_that_was_deleted_is_not_told_of() -> None:
    """Nothing is posted."""
    here = Here(200)
    here.memory.add()
    here.memory.jobs = False
    here.deliveries.wake()
    await asyncio.sleep(0)
    here.memory.rows.clear()
    await here.idle()
    assert here.post.heard == []


async def test_closing_tries_once_what_is_new_and_waits_for_what_is_under_way() -> None:
    """What has failed before is left to the next node: closing takes as long as one try, not as all of them."""
    here = Here(500)
    here.memory.add(1)
    here.post.open.clear()
    here.deliveries.wake()
    await here.post.called(1)
    here.memory.add(2)
    here.memory.add(3, tries=1)
    closing = asyncio.create_task(here.deliveries.close())
    await here.post.called(2)
    assert not closing.done()
    here.post.open.set()
    await closing
    assert [delivery_id for _, delivery_id, *_ in here.post.heard] == ["msg_1", "msg_2"]
    assert {row["id"]: row["tries"] for row in here.memory.rows.values()} == {"msg_1": 1, "msg_2": 1, "msg_3": 1}
    here.deliveries.wake()
    assert here.deliveries._task is None


async def closed_beside(*rows: dict[str, Any], slow: bool) -> Here:
    """Deliveries that a node sees for the first time as it is closed; a slow receiver answers after eight seconds."""
    here = Here(200, durable=True)
    here.deliveries.wake()
    await here.clock.sleep(1)
    for number, row in enumerate(rows):
        here.memory.add(number, durable=True, **row)
    if slow:
        here.post.seconds = 8.0
    await here.deliveries.close()
    return here


NEW = {
    "a receiver": ([{"receiver": "x:80"} for _ in range(80)], MOST_PER_RECEIVER),
    "a workspace": ([{"receiver": f"x{number}:80"} for number in range(80)], MOST_PER_WORKSPACE),
    "all": (
        [{"workspace": f"w{number % 40:02}", "receiver": f"x{number}:80"} for number in range(400)],
        MOST_AT_ONCE,
    ),
}


@pytest.mark.parametrize("whose", NEW)
async def test_closing_passes_no_places(whose: str) -> None:
    """However much was never tried: what finds no place while one try may last is left to the next node."""
    rows, places = NEW[whose]
    here = await closed_beside(*rows, slow=True)
    assert (here.post.most, len(here.post.heard), here.clock.now()) == (places, 2 * places, 17.0)
    assert {row["tries"] for row in here.memory.rows.values()} == {0}


async def test_closing_tries_once_all_that_finds_a_place_in_time() -> None:
    """Also where there are more workspaces than are looked at together."""
    count = 3 * WORKSPACES_AT_ONCE + 5
    new = [{"workspace": f"w{number % count:03}", "receiver": f"x{number}:80"} for number in range(3 * count)]
    here = await closed_beside(*new, slow=False)
    assert (len(here.memory.ends), here.clock.now()) == (3 * count, 1.0)


async def test_closing_does_not_wait_for_what_it_leaves_to_others() -> None:
    """What was tried before, of however many workspaces."""
    due = (START + timedelta(seconds=5)).isoformat()
    old = [{"workspace": f"w{number:03}", "tries": 1, "due_at": due} for number in range(2 * WORKSPACES_AT_ONCE)]
    here = await closed_beside(*old, slow=False)
    assert (here.post.heard, here.clock.now()) == ([], 1.0)


async def test_a_server_looks_for_what_others_have_left() -> None:
    """Also when nothing happens here."""
    here = Here(200, durable=True)
    here.deliveries.wake()
    await here.clock.sleep(60)
    here.memory.add(durable=True)
    await here.clock.sleep(6)
    assert len(here.post.heard) == 1
    await here.deliveries.close()


def test_an_address_that_could_never_be_posted_to_is_refused_at_once() -> None:
    """By a server; a name is looked up when it is posted to."""
    webhook = JobWebhook(url="http://169.254.169.254/latest")
    with pytest.raises(ValidationError, match=r"does not post to 169\.254\.169\.254.*--webhook-allow"):
        new_delivery(webhook, durable=True, allowed=())
    made = new_delivery(webhook, durable=False, allowed=None)
    assert made.id.startswith("msg_")
    assert new_delivery(webhook, durable=True, allowed=networks(["169.254.0.0/16"])).state == "waiting"
    assert new_delivery(JobWebhook(url="http://localhost/"), durable=True, allowed=()).state == "waiting"


class Receiver:
    """Answers 500 so many times, then 200; remembers what came."""

    def __init__(self, failures: int) -> None:
        self.failures = failures
        self.came: list[tuple[dict[str, str], bytes]] = []

    async def __call__(self, request: web.Request) -> web.Response:
        self.came.append((dict(request.headers), await request.read()))
        return web.Response(status=500 if len(self.came) <= self.failures else 200)


def jobs_over(place: Path, scorer: Scorer, *, durable: bool, **config: Any) -> StoredJobs:
    """Jobs whose pauses are a thousandth of what they say."""
    settings = NodeConfig(store_place=place, durable_jobs=durable, **config)
    given: Any = {"load": load, "score": scorer, "cores": 2}
    return StoredJobs(settings, NoSandboxes(), Recipes(), HurriedClock(), **given)


async def delivered(jobs: StoredJobs, job_id: str) -> dict[str, Any]:
    """The job, when its delivery is over."""
    while True:
        job = await jobs.get(HERE, job_id)
        if job["webhook"]["ended_at"] is not None:
            return job
        await jobs._clock.sleep(10)


async def test_a_receiver_that_fails_twice_is_told_the_third_time(tmp_path: Path) -> None:
    """Over real HTTP and a real store: job, events and receiver agree, and the secret is nowhere to be seen."""
    hook = Receiver(failures=2)
    async with receiver(hook) as url:
        jobs = jobs_over(tmp_path / "harena.db", Scorer(), durable=False)
        asked = {**request("pass", "fail"), "webhook": {"url": url, "secret": SECRET}}
        job = await jobs.create(HERE, asked)
        assert job["webhook"]["url"] == url
        results = await jobs.wait(HERE, job["id"])
        ended = await delivered(jobs, job["id"])
        told = [event async for event in jobs.events(HERE, job["id"])]
        listed = await jobs.list(HERE)
        await jobs.close()
    event = receiving.verify(*hook.came[-1], SECRET, tolerance_seconds=1e6)
    assert len({body for _, body in hook.came}) == 1
    assert {headers["webhook-id"] for headers, _ in hook.came} == {event.delivery_id}
    assert (event.job_id, event.state, event.summary) == (job["id"], "completed", results["summary"])
    assert (ended["webhook"]["state"], ended["webhook"]["tries"]) == ("delivered", 3)
    assert ended["webhook"]["delivery_id"] == event.delivery_id
    assert [entry["kind"] for entry in told[-2:]] == ["job_ended", "webhook_delivered"]
    assert (told[-1]["delivery_id"], told[-1]["tries"]) == (event.delivery_id, 3)
    for shown in (job, ended, listed, told, results):
        assert SECRET.removeprefix("whsec_") not in json.dumps(shown, default=lambda record: record.to_dict())


async def test_a_job_that_ends_with_its_process_is_told_of(tmp_path: Path) -> None:
    """Interrupted and cancelled are ends, too; closing waits for the first try."""
    hook, scorer = Receiver(failures=0), Scorer()
    async with receiver(hook) as url:
        jobs = jobs_over(tmp_path / "harena.db", scorer, durable=False)
        for name in ("one", "two"):
            await jobs.create(HERE, {**request("hang", name=name), "webhook": {"url": url}})
        await scorer.hanging.wait()
        await jobs.cancel(HERE, "one")
        await jobs.close()
    assert {(said["name"], said["state"]) for said in map(json.loads, (body for _, body in hook.came))} == {
        ("one", "cancelled"),
        ("two", "interrupted"),
    }


async def test_a_server_refuses_its_own_network_when_it_connects(tmp_path: Path) -> None:
    """A name is accepted, and what it means is not connected to: tried as one that does not exist, with the reason."""
    hook = Receiver(failures=0)
    async with receiver(hook) as url:
        jobs = jobs_over(tmp_path / "harena.db", Scorer(), durable=True, webhook_networks=())
        await jobs.start()
        with pytest.raises(ValidationError, match=r"webhook\.url"):
            await jobs.create(HERE, {**request("pass"), "webhook": {"url": url}})
        assert (await jobs.list(HERE))["benchmark_jobs"] == []
        by_name = url.replace("127.0.0.1", "localhost")
        job = await jobs.create(HERE, {**request("pass"), "webhook": {"url": by_name}})
        ended = await delivered(jobs, job["id"])
        told = [event async for event in jobs.events(HERE, job["id"])]
        await jobs.close()
    assert (ended["state"], ended["webhook"]["state"], ended["webhook"]["tries"]) == ("completed", "failed", 8)
    assert "--webhook-allow" in ended["webhook"]["error"]
    assert told[-1]["kind"] == "webhook_failed"
    assert hook.came == []


@pytest.mark.parametrize(
    ("webhook", "says"),
    [
        ({"url": "ftp://x"}, "webhook.url: must be an http or https URL"),
        ({"url": "http://me:hunter2@x/"}, "webhook.url: must hold no user name"),
        ({"url": "http://x", "secret": "hunter2"}, "webhook.secret: a webhook's secret is"),
        ({"url": "http://x", "secert": "hunter2"}, "webhook.secert: unknown key; did you mean 'secret'?"),
        ({"secret": SECRET}, "webhook.url: missing"),
        ("http://me:hunter2@x", "webhook: must be a mapping"),
    ],
)
async def test_mistakes_are_named_and_secrets_are_not(tmp_path: Path, webhook: Any, says: str) -> None:
    """One error, before anything runs."""
    jobs = jobs_over(tmp_path / "harena.db", Scorer(), durable=False)
    with pytest.raises(ValidationError) as refused:
        await jobs.create(HERE, {**request("pass"), "webhook": webhook})
    assert says in str(refused.value)
    assert "hunter2" not in str(refused.value)
    await jobs.close()


async def test_a_server_that_is_killed_before_and_after_a_try_delivers(tmp_path: Path) -> None:
    """kill -9 between the job's end and the first try, and between a try and the note of its end: the next servers go
    on, and the receiver hears the same delivery until it accepts."""
    hook = Receiver(failures=2)
    deaths = []
    async with receiver(hook) as url:
        for moment in ("before", "after", "never"):
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, str(Path(__file__).with_name("webhook_lives.py"))),
                *(str(tmp_path / "harena.db"), url, SECRET, moment),
            )
            deaths.append(await process.wait())
    assert deaths == [-signal.SIGKILL, -signal.SIGKILL, 0]
    assert len(hook.came) == 3
    events = [receiving.verify(headers, body, SECRET, tolerance_seconds=1e6) for headers, body in hook.came]
    assert len({event.delivery_id for event in events}) == 1
    assert len({body for _, body in hook.came}) == 1
    jobs = jobs_over(tmp_path / "harena.db", Scorer(), durable=True)
    job = await jobs.get(HERE, "n")
    told = [event["kind"] async for event in jobs.events(HERE, "n")]
    await jobs.close()
    # the first life counted a try that nobody heard of
    assert (job["webhook"]["state"], job["webhook"]["tries"]) == ("delivered", 4)
    assert (told.count("job_ended"), told.count("webhook_delivered")) == (1, 1)
