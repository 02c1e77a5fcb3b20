"""What a sandbox has reached, and what it was refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from harena.core.network_policy import MOST_ENTRIES, MOST_PAGE
from harena.core.records.record import Record

MOST_LOGGED = 1000
"""entries of one sandbox that are kept; the oldest go first"""


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkRules(Record):
    """What a sandbox may reach, as JSON says it where no word does (`NetworkPolicy.to_json`)."""

    MOST_ITEMS: ClassVar = {"allow": MOST_ENTRIES, "deny": MOST_ENTRIES}

    allow: list[str]
    """hosts, addresses, ranges of addresses and presets, each perhaps with a port"""
    deny: list[str] = field(default_factory=list)
    """taken from what is allowed"""
    proxy_only: bool = False
    """only programs that use a proxy have a network"""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class NetworkEntry(Record):
    """One connection, or equal refusals together."""

    number: int
    """counts up; a cursor for the next question"""
    at: float
    """seconds since the epoch: when it began, or was refused for the last time"""
    way: str
    """"proxy", "direct" (a program that knows of no proxy) or "dns\""""
    host: str
    """name or address that the program gave"""
    port: int
    """0 for a name that was asked for"""
    allowed: bool
    """whether it was made"""
    reason: str
    """why it was refused, or how it ended where it did not end well; "" otherwise"""
    sent_bytes: int
    """from the sandbox"""
    received_bytes: int
    """to the sandbox"""
    times: int = 1
    """how often it was refused"""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class NetworkLog(Record):
    """Some of what a sandbox has done with its network, oldest first, and the sums of all of it."""

    MOST_ITEMS: ClassVar = {"entries": MOST_PAGE}

    policy: Any
    """what is in force, as `network` takes it"""
    entries: Sequence[NetworkEntry]
    """entries behind the cursor, oldest first"""
    next_after: int
    """number to ask on with"""
    sent_bytes: int
    """from the sandbox, in all"""
    received_bytes: int
    """to the sandbox, in all"""
    connections: int
    """number of those that were allowed"""
    refused: int
    """connections, requests and names that were refused"""
