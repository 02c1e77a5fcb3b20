"""API keys: `hk_<id>_<secret>`. The server keeps a hash, from which nobody gets the key back.

The secret has 256 random bits, so one round of SHA-256 is enough: there is nothing to guess. What the store said about
a key is believed for KNOWN_SECONDS; one that another process revokes is refused that much later at most. While the
store is away, what it said last is believed for MOST_AWAY_SECONDS more. Keys that were good before are looked up apart
from all others, which anybody can make up.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime

from harena.core.access import NewKey, StoredKey
from harena.core.clock import Clock
from harena.core.errors import AccessError, NotFoundError, PlatformError, ValidationError
from harena.core.job_store import STORE_UNAVAILABLE
from harena.core.operations.operation import SCOPES
from harena.core.pages import moment_cursor, read_moment_cursor
from harena.core.workspace import checked_word, checked_workspace
from harena.server.identity import Caller
from harena.server.key_lookups import KeyLookups
from harena.store.access import AccessStore

KNOWN_SECONDS = 2.0
MOST_AWAY_SECONDS = 600.0
MOST_KNOWN = 10_000
_TOKEN = re.compile(r"hk_([0-9a-f]{12})_[A-Za-z0-9_-]{43}")


class Keys:
    """Makes, checks and revokes keys. Implements `Access`. Used from one event loop."""

    def __init__(self, store: AccessStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._known: dict[str, tuple[float, Caller]] = {}
        """hash of a token -> (until when it is believed, whose it is)"""
        self._known_lookups, self._other_lookups = KeyLookups(store), KeyLookups(store)

    async def create(self, *, name: str, workspace: str, scopes: Sequence[str]) -> tuple[str, StoredKey]:
        """(the key itself, which is shown only now; what is stored of it). Raises ValidationError."""
        checked_word(name, "name")
        checked_workspace(workspace)
        if not scopes or (unknown := sorted(set(scopes) - set(SCOPES))):
            given = ", ".join(unknown) if scopes else "none"
            raise ValidationError(f"scopes must be some of {', '.join(SCOPES)} (got {given})")
        key_id = secrets.token_hex(6)
        token = f"hk_{key_id}_{secrets.token_urlsafe(32)}"
        key = NewKey(
            id=key_id,
            name=name,
            workspace=workspace,
            scopes=tuple(scope for scope in SCOPES if scope in scopes),
            hash=_hash(token),
            created_at=self._clock.utcnow().isoformat(),
        )
        await self._store.insert_key(key)
        return token, StoredKey(**asdict(key), revoked_at=None)

    async def list(self, workspace: str | None = None) -> list[StoredKey]:
        """The keys of one workspace or all, oldest first."""
        return await self._store.list_keys(workspace)

    async def page(self, workspace: str, *, cursor: str | None, limit: int) -> tuple[Sequence[StoredKey], str | None]:
        """(some keys of a workspace, oldest first; the cursor of the next page). Raises ValidationError."""
        after = None
        if cursor is not None:
            created_at, key_id = read_moment_cursor(cursor)
            after = created_at.isoformat(), key_id
        keys = await self._store.page_of_keys(workspace, after=after, limit=limit)
        last = keys[-1] if keys.more else None
        following = None if last is None else moment_cursor(datetime.fromisoformat(last.created_at), last.id)
        return keys, following

    async def revoke(self, key_id: str, *, workspace: str | None = None) -> None:
        """Refuse the key from now on. Raises NotFoundError, also for another workspace's where one is given."""
        key = await self._store.find_key(key_id)
        if key is None or (workspace is not None and key.workspace != workspace):
            raise NotFoundError(f"no API key {key_id!r}: `harena keys list` shows those there are")
        await self._store.revoke_key(key_id, self._clock.utcnow().isoformat())
        self._known.clear()

    async def identify(self, authorization: str | None) -> Caller:
        """Find the caller whose key the header holds. Raises AccessError where there is none or it is unknown."""
        scheme, _, token = (authorization or "").partition(" ")
        if scheme.lower() != "bearer" or not token:
            raise AccessError("this server needs an API key: set HARENA_API_KEY, or send `Authorization: Bearer KEY`")
        token = token.strip()
        hashed, now = _hash(token), self._clock.now()
        until, caller = self._known.get(hashed, (0.0, None))
        if caller is None or until <= now:
            try:
                caller = await self._looked_up(
                    token, hashed, self._other_lookups if caller is None else self._known_lookups
                )
            except AccessError:
                self._known.pop(hashed, None)
                raise
            except PlatformError as error:
                # a store that is away takes sandboxes from nobody; it can take no revocation either
                if caller is None or error.reason != STORE_UNAVAILABLE or now > until + MOST_AWAY_SECONDS:
                    raise
                return caller
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
            self._known[hashed] = (now + KNOWN_SECONDS, caller)
        return caller

    async def _looked_up(self, token: str, hashed: str, lookups: KeyLookups) -> Caller:
        match = _TOKEN.fullmatch(token)
        key = await lookups.find(match[1]) if match else None
        # unknown, wrong and revoked look the same from outside
        if key is None or not hmac.compare_digest(key.hash, hashed) or key.revoked_at is not None:
            raise AccessError("this API key is unknown or was revoked: `harena keys create` makes another")
        return Caller(key.workspace, frozenset(key.scopes), key.id)


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()
