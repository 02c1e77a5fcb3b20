"""Several servers over one store: a key's pace is that of all together, and what is asked twice happens once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from test_server_limits import Given

from harena.core.errors import LimitExceededError, PlatformError, ValidationError
from harena.core.idempotency import BEGUN_ELSEWHERE, IdempotencyKey
from harena.core.workspace import WorkspaceLimits
from harena.server.idempotency import ELSEWHERE_SECONDS, Idempotency, Refindable
from harena.server.identity import Caller
from harena.server.quotas import Quotas
from harena.server.shared_rates import SharedRates
from harena.store.database import Database
from harena.store.servers import ServersStore
from harena.testing import FakeClock

CALLER = Caller(workspace="ours", key_id="k", scopes=frozenset({"write"}))


class Server:
    """One of several."""

    def __init__(self, store: ServersStore, clock: FakeClock, given: Given) -> None:
        self.rates = SharedRates(store, clock)
        self.quotas = Quotas(WorkspaceLimits(), given, clock, shared=self.rates)
        self.idempotency = Idempotency(clock, store)

    async def admitted(self, requests: int) -> int:
        """How many of them are."""
        count = 0
        for _ in range(requests):
            try:
                await self.quotas.admit(CALLER)
            except LimitExceededError:
                continue
            count += 1
        return count


@pytest_asyncio.fixture
async def store(tmp_path: Path) -> AsyncIterator[ServersStore]:
    """Of all servers."""
    database = await Database.open(tmp_path / "harena.db")
    yield ServersStore(database)
    await database.close()


@pytest.fixture
def clock() -> FakeClock:
    """Of all servers."""
    return FakeClock(auto_jump=False)


async def test_a_key_has_one_pace_over_all_servers(store: ServersStore, clock: FakeClock) -> None:
    """Each lets its burst in once, and after that all together let in what one would."""
    given = Given()
    given.kept["ours"] = {"requests_per_second": 10.0, "request_burst": 20}
    servers = [Server(store, clock, given) for _ in range(3)]
    total = 0
    for _ in range(60):
        for server in servers:
            total += await server.admitted(50)
            await server.rates.sync(server.quotas)
        await clock.advance(1.0)
    assert total <= 3 * 20 + 60 * 10 + 3 * 10
    assert total >= 60 * 10 * 0.5, "and not less than half of it"


async def test_what_others_did_long_ago_is_forgiven(store: ServersStore, clock: FakeClock) -> None:
    """A server that was quiet for a minute owes what others have let in lately, and not all of it."""
    given = Given()
    given.kept["ours"] = {"requests_per_second": 10.0, "request_burst": 20}
    quiet, busy = Server(store, clock, given), Server(store, clock, given)
    assert await quiet.admitted(1) == 1
    await quiet.rates.sync(quiet.quotas)
    for _ in range(60):
        await busy.admitted(10)
        await busy.rates.sync(busy.quotas)
        await clock.advance(1.0)
    assert await quiet.admitted(1) == 1
    await quiet.rates.sync(quiet.quotas)
    assert await quiet.admitted(5) > 0


async def test_a_store_that_is_away_loses_nothing(clock: FakeClock) -> None:
    """What was let in meanwhile is told later."""

    class Away:
        told: dict[str, int] | None = None
        is_away = True

        async def spend(self, server: str, taken: dict[str, int], at: float) -> dict[str, int]:
            if self.is_away:
                raise PlatformError("away")
            self.told = taken
            return {}

    source = Away()
    rates = SharedRates(source, clock)  # type: ignore[arg-type]
    quotas = Quotas(WorkspaceLimits(), None, clock, shared=rates)
    await quotas.admit(CALLER)
    with pytest.raises(PlatformError):
        await rates.sync(quotas)
    source.is_away = False
    await rates.sync(quotas)
    assert source.told == {"k": 1}


async def number(reference: str) -> int:
    """What was created is a number."""
    return int(reference)


NUMBERS: Refindable[int] = Refindable(str, number)


async def test_what_was_begun_elsewhere_is_not_begun_again(store: ServersStore, clock: FakeClock) -> None:
    """It is refused, also where both are asked at once; the same server answers as before, and a failure frees it."""
    servers = [Server(store, clock, Given()) for _ in range(2)]
    key, made = IdempotencyKey.of("once", b"{}"), list[int]()

    async def create() -> int:
        made.append(1)
        return len(made)

    async def fails() -> int:
        raise ValidationError("no")

    with pytest.raises(ValidationError, match="no"):
        await servers[0].idempotency.once("ours", "sandboxes", key, fails, NUMBERS)
    both = [server.idempotency.once("ours", "sandboxes", key, create, NUMBERS) for server in servers]
    answers = await asyncio.gather(*both, return_exceptions=True)
    assert [answer for answer in answers if not isinstance(answer, ValidationError)] == [1]
    assert [answer.reason for answer in answers if isinstance(answer, ValidationError)] == [BEGUN_ELSEWHERE]
    winner, other = servers if answers[0] == 1 else servers[::-1]
    assert await winner.idempotency.once("ours", "sandboxes", key, create, NUMBERS) == 1
    assert await winner.idempotency.once("theirs", "sandboxes", key, create, NUMBERS) == 2
    with pytest.raises(ValidationError, match="another request"):
        await other.idempotency.once("ours", "sandboxes", IdempotencyKey.of("once", b"[]"), create, NUMBERS)
    await clock.advance(ELSEWHERE_SECONDS + 1)
    assert await other.idempotency.once("ours", "sandboxes", key, create, NUMBERS) == 3
