"""/v1/leases: a client says that it is still there."""

from __future__ import annotations

from harena.core.operations import server as table
from harena.core.records.server import ClientLease
from harena.server import shapes
from harena.server.answers import JsonAnswer
from harena.server.bounds import Id
from harena.server.idempotency import kept_whole
from harena.server.leases import Lease
from harena.server.routes.dependencies import Once, State, Writer
from harena.server.table_routes import TableRoutes

routes = TableRoutes(table.ON_LEASES)


@routes.by_hand(table.OPEN_LEASE)
async def open_lease(asked: shapes.LeaseBody, caller: Writer, state: State, key: Once) -> JsonAnswer:
    """Open a lease. Sandboxes that name it end with it: when it is closed, or not renewed within `seconds`."""
    state.check_not_draining()

    async def made() -> ClientLease:
        limits = await state.quotas.limits_of(caller.workspace)
        return _lease_answer(state.leases.open(caller.workspace, asked.seconds, most=limits.leases))

    opened = await state.idempotency.once(caller.workspace, "leases", key, made, kept_whole(ClientLease))
    return JsonAnswer(opened, status_code=201)


@routes.by_hand(table.RENEW)
async def renew(lease_id: Id, caller: Writer, state: State) -> JsonAnswer:
    """It lasts its whole length from now on."""
    return JsonAnswer(_lease_answer(state.leases.renew(caller.workspace, lease_id)))


@routes.by_hand(table.CLOSE_LEASE)
async def close(lease_id: Id, caller: Writer, state: State) -> None:
    """End it and its sandboxes; answers when they have ended."""
    await state.leases.close(caller.workspace, lease_id)


def _lease_answer(lease: Lease) -> ClientLease:
    return ClientLease(id=lease.id, seconds=lease.seconds, expires_at=lease.expires_at)
