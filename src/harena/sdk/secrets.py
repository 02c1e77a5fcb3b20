"""Secrets: credentials that a workspace keeps and that no program in a sandbox ever holds. The verbs block;
`secrets.aio` has the same ones to await.

A secret is set with the hosts that it may be sent to. No verb gives its value back.
"""

from __future__ import annotations

from collections.abc import Sequence

from harena.core.records.secrets import Secret
from harena.core.secrets import checked_hosts, checked_name, checked_value
from harena.sdk.pages import collect_pages
from harena.sdk.portal import current_portal
from harena.sdk.twins import Twin

__all__ = ["Secret", "aio", "delete", "get", "list", "set"]

PAGE = 500
"""secrets that are asked for at one time"""
_Secrets = list[Secret]


async def _set(name: str, value: str, *, hosts: Sequence[str]) -> Secret:
    """Keep a secret, encrypted, in place of the one of its name. `hosts` are what a gateway may send it to: as
    api.github.com, *.example.com or example.com:8443. Raises ValidationError, LimitExceededError."""
    checked_name(name)
    checked_value(value)
    wanted = checked_hosts(hosts)
    operations = await current_portal().operations()
    return await operations.set_secret(name, value, hosts=wanted)


async def _get(name: str) -> Secret:
    """The secret of this name, without its value. Raises NotFoundError."""
    operations = await current_portal().operations()
    return await operations.get_secret(checked_name(name))


async def _list(*, limit: int | None = None) -> _Secrets:
    """All secrets of the workspace, by name and without their values, up to `limit`."""

    async def page(cursor: str | None, size: int) -> tuple[_Secrets, str | None]:
        operations = await current_portal().operations()
        found = await operations.list_secrets(cursor=cursor, limit=size)
        return found.secrets, found.next_cursor

    return await collect_pages(page, limit, most=PAGE)


async def _delete(name: str) -> None:
    """Forget a secret: sandboxes that are created from now on cannot use it. Raises NotFoundError."""
    operations = await current_portal().operations()
    await operations.delete_secret(checked_name(name))


set = Twin(_set)  # noqa: A001 - the verb's name, as in `secrets.set()`
get = Twin(_get)
delete = Twin(_delete)
list = Twin(_list)  # noqa: A001 - likewise


class _Awaitable:
    """Asynchronous versions of this module's functions."""

    set = set.aio
    get = get.aio
    delete = delete.aio
    list = list.aio


aio = _Awaitable()
