"""Names of webhooks' receivers, looked up in threads of the workspace that gave them.

A name server that never answers holds a thread for longer than a try may take. The event loop's own executor has a few
threads for everybody, and would be full of the names of one workspace.
"""

from __future__ import annotations

import socket

from aiohttp.abc import AbstractResolver, ResolveResult

from harena.core.errors import LimitExceededError
from harena.core.threads import NAMES


class WorkspaceResolver(AbstractResolver):
    """Looks up names for the workspace for which the present task works."""

    def __init__(self) -> None:
        self.failed = False
        """a name was not found"""

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """The addresses of a name. Raises OSError."""
        try:
            found = await NAMES.run(socket.getaddrinfo, host, port, family, socket.SOCK_STREAM, 0, socket.AI_ADDRCONFIG)
        except (OSError, UnicodeError, LimitExceededError) as error:
            self.failed = True
            raise OSError(str(error)) from error
        return [
            ResolveResult(
                hostname=host,
                host=str(address[0]),
                port=int(address[1]),
                family=kind,
                proto=protocol,
                flags=socket.AI_NUMERICHOST,
            )
            for kind, _, protocol, _, address in found
        ]

    async def close(self) -> None:
        """Close the resolver, which holds nothing."""
