"""The part of `Operations` that is about secrets, over HTTP."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harena.core.errors import NotFoundError
from harena.core.operations import secrets as table
from harena.core.records.secrets import Secret
from harena.core.secrets import checked_hosts, checked_name, checked_value
from harena.sdk.http.calls import Calls, over_http


class HttpSecrets(Calls):
    """Used from one event loop."""

    list_secrets = over_http(table.LIST)
    get_secret = over_http(table.GET)
    delete_secret = over_http(table.DELETE)

    async def set_secret(self, name: str, value: str, *, hosts: Sequence[str]) -> Secret:
        """Send a secret. Raises ValidationError for a bad name, value or host before anything is sent."""
        content = {"name": checked_name(name), "value": checked_value(value), "hosts": [*checked_hosts(hosts)]}
        answer = await self._connection.json(table.SET.method, table.SET.path, content=content)
        return self._connection.read(Secret, answer)

    async def reachable(self, noun: str, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """Raises NotFoundError for a name that cannot be in a path."""
        if noun == table.NOUN and "/" in given.get("name", ""):
            raise NotFoundError(f"the workspace has no secret {given['name']!r:.140}: names have no slashes")
        return await super().reachable(noun, given)
