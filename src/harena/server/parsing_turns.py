"""Turns in which connections parse what they have received in excess: one connection's slice at each turn of the loop.

A read can hold tens of thousands of events (requests, pieces of bodies), each of which costs more than its bytes. With
one slice at a time all connections together hold the event loop no longer than one of them does.
"""

from __future__ import annotations

from asyncio import get_running_loop
from collections import OrderedDict
from typing import Protocol


class Parser(Protocol):
    """A connection that has something left to parse."""

    def parse_slice(self) -> None:
        """Parse some of it; may ask for another turn."""


class ParsingTurns:
    """The connections of one server that wait for their turns. Used from one event loop."""

    def __init__(self) -> None:
        self._waiting: OrderedDict[Parser, None] = OrderedDict()
        self._is_scheduled = False

    def __len__(self) -> int:
        return len(self._waiting)

    def ask(self, parser: Parser) -> None:
        """It has its turn after those that wait already."""
        self._waiting.setdefault(parser)
        self._schedule()

    def leave(self, parser: Parser) -> None:
        """It wants none any more."""
        self._waiting.pop(parser, None)

    def _schedule(self) -> None:
        if self._waiting and not self._is_scheduled:
            self._is_scheduled = True
            get_running_loop().call_soon(self._turn)

    def _turn(self) -> None:
        self._is_scheduled = False
        try:
            if self._waiting:
                self._waiting.popitem(last=False)[0].parse_slice()
        finally:
            self._schedule()
