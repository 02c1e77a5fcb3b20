"""Queries over webhook deliveries. States are text here; what they may be is said by `harena.jobs.webhooks`."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import fields
from typing import Any

from sqlalchemy import Connection, func, insert, select, update

from harena.core.webhook_store import DeliveryStatus, DueDelivery, EventBody
from harena.store.database import Database
from harena.store.records import record_of
from harena.store.tables import benchmark_jobs, events, webhook_deliveries

WAITING = "waiting"
PENDING = "pending"

_TO_POST = [webhook_deliveries.c[each.name] for each in fields(DueDelivery)]
_TO_SHOW = [webhook_deliveries.c[each.name] for each in fields(DeliveryStatus)]


def make_due(connection: Connection, job_id: str, at: str) -> None:
    """In the transaction in which a job ends: its delivery, where it has one, is due from now on."""
    waiting = update(webhook_deliveries).where(
        webhook_deliveries.c.job_id == job_id, webhook_deliveries.c.state == WAITING
    )
    connection.execute(waiting.values(state=PENDING, due_at=at))


class WebhookStore:
    """Implements `WebhookStorePort` over one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def workspaces(self, *, durable: bool, after: str, limit: int) -> list[str]:
        """Find workspaces with deliveries that are due some time; one search of the index for each name."""
        found: list[str] = []
        async with self._database.transaction() as connection:
            # one search of the index for each name: a workspace with many deliveries costs no more than any other
            for begin, end in ((after, None), ("", after)):
                last = begin
                while len(found) < limit and (name := await connection.scalar(_next_workspace(last, durable))):
                    if end is not None and name > end:
                        break
                    found.append(name)
                    last = name
        return found

    async def pending(
        self, *, durable: bool, workspaces: Collection[str], limit: int, without: Collection[tuple[str, str]] = ()
    ) -> list[DueDelivery]:
        """Read deliveries of these workspaces, those that are due first."""
        table = webhook_deliveries
        found: list[DueDelivery] = []
        async with self._database.transaction() as connection:
            for workspace in workspaces:
                left_out = [receiver for whose, receiver in without if whose == workspace]
                statement = (
                    select(*_TO_POST)
                    .where(*_due_for_posting(durable), table.c.workspace == workspace)
                    .where(table.c.receiver.not_in(left_out))
                    .order_by(table.c.due_at)
                    .limit(limit)
                )
                found += [record_of(DueDelivery, row) for row in (await connection.execute(statement)).mappings()]
        return found

    async def count_try(self, delivery_id: str, *, tries: int, due_at: str) -> bool:
        """Count one try more, if nobody else has; whether this call did."""
        return await self._changed(_at(delivery_id, tries).values(tries=tries + 1, due_at=due_at))

    async def keep_body(self, delivery_id: str, *, tries: int, body: str) -> bool:
        """Store the body that the tries post, if this try was not overtaken."""
        return await self._changed(_at(delivery_id, tries).values(body=body))

    async def _changed(self, statement: Any) -> bool:
        async with self._database.transaction() as connection:
            return (await connection.execute(statement)).rowcount == 1

    async def put_off(self, delivery_id: str, *, tries: int, due_at: str, error: str | None) -> None:
        """Note the error, and when the next try is due."""
        async with self._database.transaction() as connection:
            await connection.execute(_at(delivery_id, tries).values(due_at=due_at, error=error))

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
        """End the delivery, forget its secret and add an event to its job, in one transaction; whether it was not over
        before."""
        over = _at(delivery_id, tries).values(state=state, ended_at=at, error=error, due_at=None, secret=None)
        async with self._database.transaction() as connection:
            job_id = await connection.scalar(over.returning(webhook_deliveries.c.job_id))
            if job_id is None:
                return False
            last = await connection.scalar(select(func.max(events.c.cursor)).where(events.c.job_id == job_id))
            event = {"job_id": job_id, "cursor": (last or 0) + 1, "at": at, "kind": kind, "body": dict(body)}
            newest = update(benchmark_jobs).where(benchmark_jobs.c.id == job_id)
            if (await connection.execute(newest.values(last_cursor=event["cursor"]))).rowcount:
                await connection.execute(insert(events), event)
            return True

    async def of_jobs(self, job_ids: Sequence[str]) -> dict[str, DeliveryStatus]:
        """Read how the deliveries of these jobs stand."""
        statement = select(*_TO_SHOW).where(webhook_deliveries.c.job_id.in_(list(job_ids)))
        return await self._database.read(
            lambda connection: {
                row["job_id"]: record_of(DeliveryStatus, row) for row in connection.execute(statement).mappings()
            }
        )


def _due_for_posting(durable: bool) -> tuple[Any, ...]:
    table = webhook_deliveries
    return table.c.state == PENDING, table.c.durable.is_(durable)


def _next_workspace(after: str, durable: bool) -> Any:
    """The first one behind this name that has a delivery to post."""
    table = webhook_deliveries
    later = select(table.c.workspace).where(*_due_for_posting(durable), table.c.workspace > after)
    return later.order_by(table.c.workspace).limit(1)


def _at(delivery_id: str, tries: int) -> Any:
    """A delivery that is not over and was tried so often."""
    table = webhook_deliveries
    return update(table).where(table.c.id == delivery_id, table.c.tries == tries, table.c.state == PENDING)
