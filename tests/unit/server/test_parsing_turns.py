"""Connections that wait for their turns to parse what they have received."""

from __future__ import annotations

import asyncio

from harena.server.parsing_turns import MOST_EVENTS, MOST_UNKNOWN, ParsingTurns


class Sender:
    """A connection that has so many slices left, of so many events each."""

    def __init__(self, turns: ParsingTurns, told: list[str], address: str, slices: int = 1, events: int = 9) -> None:
        self._turns, self._told, self._address, self._events = turns, told, address, events
        self._slices = slices
        turns.ask_unknown(self, address)

    def parse_slice(self) -> int:
        self._told.append(self._address)
        self._slices -= 1
        if self._slices:
            self._turns.ask_unknown(self, self._address)
        return self._events


async def test_addresses_take_turns() -> None:
    """One with a thousand connections leaves a turn of each round to every other one."""
    turns, told = ParsingTurns(), list[str]()
    for _ in range(1000):
        Sender(turns, told, "many")
    Sender(turns, told, "few", slices=3)
    Sender(turns, told, "one")
    await asyncio.sleep(0)
    assert told == ["many", "few", "one", "many"]
    while len(turns):
        before = len(told)
        await asyncio.sleep(0)
        assert 0 < len(told) - before <= MOST_UNKNOWN
    assert told[:8].count("few") == 3
    assert told.count("many") == 1000
    assert turns._unknown == {}


async def test_a_large_request_is_a_turn() -> None:
    """What costs as much as many plain ones is followed by no other one at the same turn of the loop."""
    turns, told = ParsingTurns(), list[str]()
    for _ in range(10):
        Sender(turns, told, "a", events=MOST_EVENTS)
    for parsed in range(1, 11):
        await asyncio.sleep(0)
        assert len(told) == parsed


async def test_a_connection_alone_has_one_slice_at_a_turn() -> None:
    """It asks again while it has its turn, which is the next one's."""
    turns, told = ParsingTurns(), list[str]()
    Sender(turns, told, "a", slices=5)
    for parsed in range(1, 6):
        await asyncio.sleep(0)
        assert len(told) == parsed
