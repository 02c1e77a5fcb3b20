"""The node of a process that is known to need one, opened while the rest of the process is still being loaded."""

from __future__ import annotations

from harena.address import server_address
from harena.sdk.portal import current_portal


def open_ahead() -> None:
    """Begin to open this process's node, unless a server has its sandboxes, and return when its modules are loaded:
    what is left is to wait for its spawner, another process. Two threads that load modules at one time could meet in a
    cycle of imports. What fails is told by the first operation, which tries again."""
    if server_address() is None:
        from harena.node import load_embedded

        load_embedded()
        portal = current_portal()
        portal.submit(portal.operations, cancellable=False)
