"""API keys of a server, as they are stored. A key itself is stored nowhere: only its hash is."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class NewKey:
    """A key as it is made."""

    id: str
    """a part of the key itself, and what it is revoked by"""
    name: str
    """what or whom it is for"""
    workspace: str
    scopes: tuple[str, ...]
    """what it may do: read, write, admin, publish"""
    hash: str = field(repr=False)
    """SHA-256 of the whole key"""
    created_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredKey(NewKey):
    """A key as it is stored."""

    revoked_at: str | None
    """since when it is refused; None = it is accepted"""
