"""The secrets of a node's workspaces: set, shown without their values, opened for a gateway that may send them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from harena.core.clock import Clock
from harena.core.errors import LimitExceededError, NotFoundError
from harena.core.records.secrets import Secret, SecretsPage
from harena.core.secrets import (
    MOST_SECRETS,
    SECRETS,
    KeptSecret,
    NewSecret,
    OpenSecret,
    SecretStorePort,
    checked_hosts,
    checked_name,
    checked_value,
)
from harena.core.workspace import CheckRoom


class Secrets:
    """Used from one event loop."""

    def __init__(self, store: Callable[[], Awaitable[SecretStorePort]], clock: Clock, check_room: CheckRoom) -> None:
        """`check_room` is asked before a secret is kept."""
        self._store = store
        self._clock = clock
        self._check_room = check_room

    async def set(self, workspace: str, name: str, value: str, *, hosts: Sequence[str]) -> Secret:
        """Check a secret and store it, in place of one of the same name. Raises ValidationError."""
        new = NewSecret(
            workspace=workspace,
            name=checked_name(name),
            value=checked_value(value),
            hosts=checked_hosts(hosts),
            at=self._clock.utcnow().isoformat(),
        )
        await self._check_room(workspace, len(new.value) + sum(map(len, new.hosts)))
        kept = await (await self._store()).set(new, most=MOST_SECRETS)
        if kept is None:
            raise LimitExceededError(
                f"the workspace has {MOST_SECRETS} secrets, which is as many as one may keep: delete one that nobody "
                "needs any more (harena secrets rm)",
                reason=SECRETS,
            )
        return _record_of(kept)

    async def get(self, workspace: str, name: str) -> Secret:
        """Look a secret up without its value. Raises NotFoundError."""
        found = await (await self._store()).find(workspace, name)
        if found is None:
            raise _unknown(name)
        return _record_of(found)

    async def list(self, workspace: str, *, limit: int = 100, cursor: str | None = None) -> SecretsPage:
        """Read one page of the workspace's secrets, by name and without their values."""
        found = await (await self._store()).page(workspace, after=cursor or "", limit=limit)
        page = found[:limit]
        return SecretsPage(
            secrets=[_record_of(one) for one in page], next_cursor=page[-1].name if len(found) > limit else None
        )

    async def delete(self, workspace: str, name: str) -> None:
        """Remove a secret. Raises NotFoundError."""
        if not await (await self._store()).remove(workspace, name):
            raise _unknown(name)

    async def open(self, workspace: str, name: str) -> OpenSecret:
        """The value of a secret, for a gateway. Raises NotFoundError, PlatformError."""
        found = await (await self._store()).open(workspace, name)
        if found is None:
            raise _unknown(name)
        return found


def _record_of(kept: KeptSecret) -> Secret:
    return Secret(name=kept.name, hosts=[*kept.hosts], created_at=kept.created_at, updated_at=kept.updated_at)


def _unknown(name: str) -> NotFoundError:
    return NotFoundError(f"the workspace has no secret {name!r:.140}; set it with `harena secrets set`")
