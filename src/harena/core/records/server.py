"""API keys, leases and the health of a server, as they are answered."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from harena.core.records.record import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey(Record):
    """What is known of an API key: neither the key nor its hash."""

    id: str
    """a part of the key itself, and what it is revoked by"""
    name: str
    """what or whom it is for"""
    workspace: str
    """the workspace that its requests concern"""
    scopes: tuple[str, ...]
    """what it may do: read, write, admin, publish"""
    created_at: datetime
    """when it was made"""
    revoked_at: datetime | None
    """since when it is refused; null = it is accepted"""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewApiKey(ApiKey):
    """A key that was just made."""

    key: str
    """the key itself, shown only now"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientLease(Record):
    """A lease of a client: the sandboxes that name it end unless it is renewed in time."""

    id: str
    """names the lease"""
    seconds: float
    """how long it lasts from its beginning and from each renewal"""
    expires_at: datetime
    """when it ends, unless it is renewed before"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerHealth(Record):
    """Whether a server takes requests."""

    status: Literal["ok", "draining"]
    """`draining`: it is about to stop, and begins no work"""
    version: str
    """its version of harena"""
