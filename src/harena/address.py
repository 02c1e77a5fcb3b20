"""Where this process's sandboxes and jobs are."""

from __future__ import annotations

from harena.sdk import server_choice


def server_address() -> str | None:
    """The server that HARENA_BASE_URL, or what `harena.sdk.server_choice` reads beside it, names; None = they are in
    this process."""
    choice = server_choice.chosen()
    return None if choice is None else choice.address
