"""Turns in which connections parse what they have received: some slices at each turn of the event loop.

A read can hold tens of thousands of events (requests, pieces of bodies), each of which costs more than its bytes. What
is left of one waits here, and one connection's slice of that is parsed at each turn of the loop: all connections
together hold it no longer than one of them does.

Connections on which no key was shown yet wait here with all that they send, in a line for each address: thousands of
them, each with one small request, take no more of a turn than MOST_UNKNOWN of them. Those with a key need not wait.
"""

from __future__ import annotations

from asyncio import get_running_loop
from collections import OrderedDict
from contextvars import Context
from typing import Protocol

MOST_UNKNOWN = 4
"""connections without a key that parse something at one turn of the loop"""
MOST_EVENTS = 64
"""after which the rest of them wait for the next one: a plain request has some ten"""


class Parser(Protocol):
    """A connection that has something left to parse."""

    def parse_slice(self) -> int:
        """Parse some of it; may ask for another turn. How many events it was."""


class ParsingTurns:
    """The connections of one server that wait for their turns. Used from one event loop."""

    def __init__(self) -> None:
        self._waiting: OrderedDict[Parser, None] = OrderedDict()
        self._unknown: OrderedDict[str, OrderedDict[Parser, None]] = OrderedDict()
        """by address, the one that has its turn next first"""
        self._address_of: dict[Parser, str] = {}
        """the connections of these"""
        self._is_scheduled = False

    def __len__(self) -> int:
        return len(self._waiting) + len(self._address_of)

    def ask(self, parser: Parser) -> None:
        """It has its turn after those that wait already."""
        self._waiting.setdefault(parser)
        self._schedule()

    def ask_unknown(self, parser: Parser, address: str) -> None:
        """No key was shown on it: it has its turn after those of its address, and each address in its turn."""
        if parser not in self._address_of:
            self._address_of[parser] = address
            self._unknown.setdefault(address, OrderedDict())[parser] = None
        self._schedule()

    def leave(self, parser: Parser) -> None:
        """It wants none any more."""
        self._waiting.pop(parser, None)
        if (address := self._address_of.pop(parser, None)) is not None:
            line = self._unknown[address]
            del line[parser]
            if not line:
                del self._unknown[address]

    def _schedule(self) -> None:
        if len(self) and not self._is_scheduled:
            self._is_scheduled = True
            get_running_loop().call_soon(self._turn, context=Context())  # not that of whose request asked for it

    def _turn(self) -> None:
        self._is_scheduled = False
        try:
            if self._waiting:
                self._waiting.popitem(last=False)[0].parse_slice()
            events, most = 0, min(MOST_UNKNOWN, len(self._address_of))  # who asks again meanwhile waits
            while most and events < MOST_EVENTS and self._unknown:
                most -= 1
                events += self._next_unknown().parse_slice()
        finally:
            self._schedule()

    def _next_unknown(self) -> Parser:
        address = next(iter(self._unknown))
        parser = next(iter(self._unknown[address]))
        self.leave(parser)
        if address in self._unknown:
            self._unknown.move_to_end(address)
        return parser
