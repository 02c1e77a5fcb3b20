"""Who asks: the workspace and the scopes that a key stands for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from harena.core.errors import AccessError
from harena.core.operations.operation import INCLUDED_IN, SCOPES, Scope
from harena.core.workspace import DEFAULT_WORKSPACE


@dataclass(frozen=True, slots=True)
class Caller:
    """One request's sender."""

    workspace: str
    scopes: frozenset[str]
    key_id: str | None = None
    """None = the server has no keys, and listens on loopback only"""

    def check(self, scope: Scope) -> None:
        """Raises AccessError where no scope of the key allows this one."""
        if not self.scopes & INCLUDED_IN[scope]:
            has = ", ".join(sorted(self.scopes)) or "none"
            raise AccessError(
                f"this needs a key with the scope {scope!r}, and this one has {has}: ask for another key",
                reason="FORBIDDEN",
            )


class Access(Protocol):
    """Tells callers apart."""

    async def identify(self, authorization: str | None) -> Caller:
        """The sender of a request with this Authorization header. Raises AccessError."""


class OpenAccess:
    """A server without keys: whoever reaches it may do everything. For loopback only."""

    async def identify(self, authorization: str | None) -> Caller:
        """Take every request for one caller: the default workspace, with every scope."""
        return Caller(DEFAULT_WORKSPACE, frozenset(SCOPES))
