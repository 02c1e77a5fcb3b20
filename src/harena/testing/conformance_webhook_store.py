"""What every store of webhook deliveries must do. Subclass and override the `stores` fixture with empty stores."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from harena.core.errors import PlatformError
from harena.core.job_store import Batch, JobChanges, JobEvent, JobStorePort
from harena.core.webhook_store import NewDelivery, WebhookStorePort
from harena.testing.conformance_job_store import event, job, owner

END = JobChanges(state="completed", ended_at="2030-01-01T00:00:01+00:00")
OPEN = ("queued", "running")
OURS = ("default",)
SIGNED_WITH = "s"


def delivery(number: int = 1, *, durable: bool = True, receiver: str = "x:80") -> NewDelivery:
    """A delivery as it is stored with its job."""
    return NewDelivery(
        id=f"msg_{number}", url="http://x/", receiver=receiver, secret=SIGNED_WITH, durable=durable, state="waiting"
    )


async def accept(jobs: JobStorePort, number: int = 1, **more: Any) -> None:
    """A job with a delivery."""
    made = delivery(number, **more)
    await jobs.insert_job(job(f"job_{number}", delivery_id=made.id), [], delivery=made)


class WebhookStoreConformance:
    """The suite."""

    @pytest.fixture
    def stores(self) -> tuple[WebhookStorePort, JobStorePort]:
        """Empty stores over one database."""
        raise NotImplementedError(f"{type(self).__name__} must override the `stores` fixture")

    @pytest.fixture
    def webhooks(self, stores: tuple[WebhookStorePort, JobStorePort]) -> WebhookStorePort:
        """Deliveries."""
        return stores[0]

    @pytest.fixture
    def jobs(self, stores: tuple[WebhookStorePort, JobStorePort]) -> JobStorePort:
        """Their jobs."""
        return stores[1]

    async def test_a_delivery_is_due_when_its_job_has_ended(
        self, webhooks: WebhookStorePort, jobs: JobStorePort
    ) -> None:
        """Not before, and only once; by the holder's last write, or by whoever finds the holder gone."""
        await accept(jobs, 1)
        await accept(jobs, 2)
        await jobs.insert_job(job("job_3"), [])
        await jobs.write(Batch("job_1", job=JobChanges(state="running")))
        await jobs.write(Batch("job_3", job=END))
        assert await webhooks.pending(durable=True, workspaces=OURS, limit=9) == []
        await jobs.write(Batch("job_1", job=END))
        assert await jobs.update_job("job_2", replace(END, ended_at="2030-01-01T00:00:00+00:00"), while_in=OPEN)
        pending = await webhooks.pending(durable=True, workspaces=OURS, limit=9)
        assert [(row.id, row.tries, row.secret, row.body) for row in pending] == [
            ("msg_2", 0, "s", None),
            ("msg_1", 0, "s", None),
        ]
        assert pending[1].due_at == END.ended_at
        assert not await jobs.update_job("job_2", END, while_in=OPEN)
        assert await webhooks.pending(durable=True, workspaces=OURS, limit=1) == pending[:1]

    async def test_an_end_that_is_not_written_makes_nothing_due(
        self, webhooks: WebhookStorePort, jobs: JobStorePort
    ) -> None:
        """Whoever has lost the lease, or wrote an event twice, has not ended the job."""
        await accept(jobs)
        with pytest.raises(PlatformError):
            await jobs.write(Batch("job_1", job=END, events=[event(1), event(1)]))
        await jobs.claim_job("job_1", owner(7), epoch=1, while_in=OPEN)
        with pytest.raises(PlatformError):
            await jobs.write(Batch("job_1", job=END, epoch=1))
        assert await webhooks.pending(durable=True, workspaces=OURS, limit=9) == []

    async def test_servers_and_embedded_nodes_see_their_own(
        self, webhooks: WebhookStorePort, jobs: JobStorePort
    ) -> None:
        """One may post where the other may not."""
        for number, durable in ((1, True), (2, False)):
            await accept(jobs, number, durable=durable)
            await jobs.write(Batch(f"job_{number}", job=END))
        assert [row.id for row in await webhooks.pending(durable=True, workspaces=OURS, limit=9)] == ["msg_1"]
        assert [row.id for row in await webhooks.pending(durable=False, workspaces=OURS, limit=9)] == ["msg_2"]

    async def test_receivers_can_be_left_out(self, webhooks: WebhookStorePort, jobs: JobStorePort) -> None:
        """Busy receivers do not hide what is due for others."""
        for number, receiver in enumerate(("x:80", "y:80", "x:80", "z:443"), 1):
            await accept(jobs, number, receiver=receiver)
            await jobs.write(Batch(f"job_{number}", job=END))
        found = await webhooks.pending(durable=True, workspaces=OURS, limit=2, without=[("default", "x:80")])
        assert sorted((row.id, row.receiver) for row in found) == [("msg_2", "y:80"), ("msg_4", "z:443")]
        others = [("default", "y:80"), ("default", "z:443"), ("other", "x:80")]
        assert len(await webhooks.pending(durable=True, workspaces=OURS, limit=9, without=others)) == 2

    async def test_each_workspace_has_its_own_turn(self, webhooks: WebhookStorePort, jobs: JobStorePort) -> None:
        """However much is due for another one; the next ones in the order of names, and then from the start."""
        for number, workspace in enumerate(("a", "a", "a", "b", "c"), 1):
            await jobs.insert_job(
                job(f"job_{number}", workspace=workspace, delivery_id=f"msg_{number}"), [], delivery=delivery(number)
            )
            await jobs.write(Batch(f"job_{number}", job=END))
        assert await webhooks.workspaces(durable=True, after="", limit=9) == ["a", "b", "c"]
        assert await webhooks.workspaces(durable=True, after="a", limit=9) == ["b", "c", "a"]
        assert await webhooks.workspaces(durable=True, after="bb", limit=2) == ["c", "a"]
        assert await webhooks.workspaces(durable=True, after="z", limit=2) == ["a", "b"]
        assert await webhooks.workspaces(durable=False, after="", limit=9) == []
        found = await webhooks.pending(durable=True, workspaces=["b", "a"], limit=2)
        assert [row.workspace for row in found] == ["b", "a", "a"]

    async def test_a_try_is_begun_once(self, webhooks: WebhookStorePort, jobs: JobStorePort) -> None:
        """One of several that see the same delivery due gets it; what is posted is kept."""
        await accept(jobs)
        assert not await webhooks.count_try("msg_1", tries=0, due_at="t1"), "it waits for the job's end"
        await jobs.write(Batch("job_1", job=END))
        begun = await asyncio.gather(*(webhooks.count_try("msg_1", tries=0, due_at="t1") for _ in range(3)))
        assert sorted(begun) == [False, False, True]
        (row,) = await webhooks.pending(durable=True, workspaces=OURS, limit=9)
        assert (row.tries, row.due_at, row.body) == (1, "t1", None), "it counts before its body is made"
        assert not await webhooks.keep_body("msg_1", tries=0, body="of a try that was overtaken")
        assert await webhooks.keep_body("msg_1", tries=1, body="b")
        (row,) = await webhooks.pending(durable=True, workspaces=OURS, limit=9)
        assert (row.tries, row.due_at, row.body) == (1, "t1", "b")
        await webhooks.put_off("msg_1", tries=1, due_at="t2", error="no answer")
        await webhooks.put_off("msg_1", tries=0, due_at="t9", error="of a try that was overtaken")
        shown = (await webhooks.of_jobs(["job_1", "job_2"]))["job_1"]
        assert (shown.state, shown.tries, shown.due_at, shown.error) == ("pending", 1, "t2", "no answer")
        assert not hasattr(shown, "secret")

    async def test_a_delivery_ends_once(self, webhooks: WebhookStorePort, jobs: JobStorePort) -> None:
        """With an event of its job that follows all others; its secret is forgotten."""
        await accept(jobs)
        await jobs.write(Batch("job_1", job=END, events=[event(1), event(2)]))
        await webhooks.count_try("msg_1", tries=0, due_at="t1")
        end: dict[str, Any] = {"state": "delivered", "at": "t3", "error": None, "kind": "webhook_delivered"}
        assert not await webhooks.end("msg_1", tries=0, body={}, **end), "another try has overtaken it"
        assert await webhooks.end("msg_1", tries=1, body={"tries": 1}, **end)
        assert not await webhooks.end("msg_1", tries=1, body={}, **end)
        assert await webhooks.pending(durable=True, workspaces=OURS, limit=9) == []
        assert await jobs.events_after("job_1", 2) == [
            JobEvent(cursor=3, at="t3", kind="webhook_delivered", body={"tries": 1})
        ]
        ended = await jobs.read_job("job_1")
        assert ended is not None
        assert ended.last_cursor == 3
        shown = (await webhooks.of_jobs(["job_1"]))["job_1"]
        assert (shown.state, shown.ended_at, shown.due_at) == ("delivered", "t3", None)

    async def test_a_deleted_job_takes_its_delivery_along(self, webhooks: WebhookStorePort, jobs: JobStorePort) -> None:
        """Nobody is told of it any more."""
        await accept(jobs)
        await jobs.write(Batch("job_1", job=END))
        assert await jobs.delete_job("job_1", while_in=("completed",))
        assert await webhooks.pending(durable=True, workspaces=OURS, limit=9) == []
        assert not await webhooks.end("msg_1", tries=0, state="failed", at="t", error=None, kind="k", body={})
        assert await jobs.events_after("job_1", 0) == []
