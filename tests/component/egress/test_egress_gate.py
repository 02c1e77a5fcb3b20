"""The way from a host's name to a connection, while the policy changes."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import pytest

from harena.core.network_policy import read_policy
from harena.egress.gate import Gate, GateResources, RefusedError, Times
from harena.egress.resolving import OwnAddresses, TableResolver
from harena.egress.shares import Connections, Turns

TWO = ["127.0.0.1", "127.0.0.2"]
ALLOWED = {"allow": ["a.test:81", "127.0.0.0/8"]}


class Dials:
    """Connections of a loop that end when, and as, a test says."""

    def __init__(self) -> None:
        self.places: list[str] = []
        self.connections: list[socket.socket] = []
        self.begun = asyncio.Event()
        self.ends: asyncio.Queue[OSError | None] = asyncio.Queue()

    async def sock_connect(self, connection: socket.socket, place: tuple[str, int]) -> None:
        self.places.append(place[0])
        self.connections.append(connection)
        self.begun.set()
        if (error := await self.ends.get()) is not None:
            raise error


@pytest.fixture
async def dials(monkeypatch: pytest.MonkeyPatch) -> Dials:
    made = Dials()
    monkeypatch.setattr(asyncio.get_running_loop(), "sock_connect", made.sock_connect)
    return made


@pytest.fixture
def gate() -> Gate:
    served = GateResources(TableResolver({"a.test": [TWO]}), OwnAddresses(), Turns(), Times(), Connections())
    return Gate("sb", "w", read_policy(ALLOWED), served)


@pytest.mark.parametrize("written", [{"allow": []}, {**ALLOWED, "deny": ["127.0.0.1"]}, {"allow": ["a.test:81"]}])
@pytest.mark.parametrize("error", [None, ConnectionRefusedError(111, "no")])
async def test_a_policy_that_changes_while_a_connection_is_made(
    gate: Gate, dials: Dials, written: Any, error: OSError | None
) -> None:
    """What is not allowed any more is given to no program, and no other address is tried for it."""
    reaching = asyncio.ensure_future(gate.reach("proxy", "a.test", 81))
    await dials.begun.wait()
    gate.change(read_policy(written))
    dials.ends.put_nowait(error)
    if error is not None and "deny" in written:
        dials.ends.put_nowait(None)  # the other address is allowed
        connection, _ = await reaching
        connection.close()
        return
    with pytest.raises(RefusedError, match="not allowed any more"):
        await reaching
    assert dials.places == TWO[:1]
    assert dials.connections[0].fileno() == -1
    (entry,) = gate.ledger.page(gate.policy, 0, 10).entries
    assert not entry.allowed


async def test_a_policy_that_still_allows_a_connection_that_is_made(gate: Gate, dials: Dials) -> None:
    reaching = asyncio.ensure_future(gate.reach("proxy", "a.test", 81))
    await dials.begun.wait()
    gate.change(read_policy({**ALLOWED, "deny": ["b.test"]}))
    dials.ends.put_nowait(None)
    connection, line = await reaching
    connection.close()
    assert line.allowed
