"""Where this process's sandboxes and jobs are."""

from __future__ import annotations

from harena.core import settings


def server_address() -> str | None:
    """The server that HARENA_BASE_URL names; None = they are in this process."""
    return settings.BASE_URL.read() or None
