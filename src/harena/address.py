"""Where this process's sandboxes and jobs are."""

from __future__ import annotations

import os


def server_address() -> str | None:
    """The server that HARENA_BASE_URL names; None = they are in this process."""
    return os.environ.get("HARENA_BASE_URL") or None
