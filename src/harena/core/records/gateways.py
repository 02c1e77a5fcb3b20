"""What gateways have done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from harena.core.records.record import Record

MOST_LOGGED = 1000
"""requests of one sandbox that are kept; the oldest go first"""


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewayEntry(Record):
    """One request that came to a gateway: without its query, its token and its credential."""

    number: int
    """counts up; a cursor for the next question"""
    at: float
    """seconds since the epoch, when it began"""
    gateway: str
    """name of the gateway"""
    method: str
    """what was sent, cut to 20 characters; "" = it could not be read"""
    path: str
    """what was forwarded, or what was sent where nothing was, cut to 500 characters"""
    status: int
    """what the program was told"""
    forwarded: bool
    """the upstream was asked"""
    reason: str
    """why it was refused, or how it ended where it did not end well; "" otherwise"""
    sent_bytes: int
    """size of the request's body"""
    received_bytes: int
    """size of the answer's body"""


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewayLog(Record):
    """Some of what the gateways of a sandbox have done, oldest first."""

    MOST_ITEMS: ClassVar[Mapping[str, int]] = {"entries": MOST_LOGGED}

    entries: Sequence[GatewayEntry]
    """requests behind the number that was asked with"""
    next_after: int
    """number to ask on with"""
