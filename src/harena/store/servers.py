"""State that servers of one database share: requests that each has admitted, and creations that it has begun.

Every method is one transaction and raises PlatformError.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import ColumnElement, Connection, delete, func, insert, select, update

from harena.core.idempotency import IdempotencyKey
from harena.store.database import Database
from harena.store.idempotency import answer_to, claim
from harena.store.tables import idempotency_keys, spent_requests

FORGOTTEN_SECONDS = 3600.0
"""age at which a count that did not grow is deleted: its server has ended, or its key is not used"""
_spent, _keys = spent_requests.c, idempotency_keys.c


class ServersStore:
    """What the servers of one database tell each other through it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def spend(self, server: str, taken: Mapping[str, int], at: float) -> dict[str, int]:
        """Note how many requests of each key this server has let in since it began; how many all others have."""

        def work(connection: Connection) -> dict[str, int]:
            connection.execute(delete(spent_requests).where(_spent.at < at - FORGOTTEN_SECONDS))
            for who, count in sorted(taken.items()):
                mine = (_spent.who == who) & (_spent.server == server)
                changed = connection.execute(update(spent_requests).where(mine).values(taken=count, at=at))
                if not changed.rowcount:
                    row = {"who": who, "server": server, "taken": count, "at": at}
                    connection.execute(insert(spent_requests), row)
            others = select(_spent.who, func.sum(_spent.taken)).where(
                _spent.who.in_(list(taken)), _spent.server != server
            )
            return {who: int(count) for who, count in connection.execute(others.group_by(_spent.who)).all()}

        return await self._database.run(work)

    async def begin(
        self, server: str, workspace: str, route: str, key: IdempotencyKey, *, at: float, kept: float
    ) -> str:
        """The server that has begun the creation with this key less than `kept` seconds ago: this one, if nobody has.
        Raises ValidationError for a key that came with another request."""

        def work(connection: Connection) -> str:
            standing = answer_to(connection, workspace, _route(route), key)
            if standing is not None and float(standing.partition(" ")[2]) < at - kept:
                _forget(connection, workspace, route, key, answer=_keys.answer_id == standing)
            found = claim(connection, workspace, _route(route), key, f"{server} {at}")
            return found.partition(" ")[0]

        return await self._database.run(work)

    async def give_up(self, server: str, workspace: str, route: str, key: IdempotencyKey) -> None:
        """The creation that this server has begun has failed: whoever asks again, anywhere, begins anew. What another
        one has begun since, because this one took too long, stays begun."""
        own = _keys.answer_id.startswith(f"{server} ", autoescape=True)
        await self._database.run(lambda connection: _forget(connection, workspace, route, key, answer=own))


def _forget(
    connection: Connection, workspace: str, route: str, key: IdempotencyKey, *, answer: ColumnElement[bool]
) -> None:
    """Delete the answer, if it is that one still: where others may have ended between two statements of this
    transaction, it may be another one's already."""
    it = (_keys.workspace == workspace) & (_keys.route == _route(route)) & (_keys.key == key.key)
    connection.execute(delete(idempotency_keys).where(it, answer))


def _route(route: str) -> str:
    """Apart from the keys of what is kept in the store itself."""
    return f"server {route}"
