"""Chooses the server of this process's sandboxes and jobs: the environment or a program names it, or there is none.

In this order: `HARENA_BASE_URL`; the variables of those clients whose names were installed as aliases; `base_url=` of a
call. One process talks to one server, so a second address is an error, and never a sandbox somewhere else.
"""

from __future__ import annotations

import warnings
from typing import NamedTuple

from harena.core import settings
from harena.core.errors import SandboxValidationError, ValidationError
from harena.core.settings import Setting

BY_CALL = "base_url"


class Client(NamedTuple):
    """Another client, and the variables in which its programs say where they run."""

    name: str
    base_url: Setting
    api_key: Setting


CLIENTS = {
    one.name: one
    for one in (
        Client("aviato", settings.AVIATO_BASE_URL, settings.AVIATO_API_KEY),
        Client("cwsandbox", settings.CWSANDBOX_BASE_URL, settings.CWSANDBOX_API_KEY),
        Client("runloop", settings.RUNLOOP_BASE_URL, settings.RUNLOOP_API_KEY),
        Client("dreadnode", settings.DREADNODE_SERVER, settings.DREADNODE_API_KEY),
    )
}


class ServerChoice(NamedTuple):
    """A server, and the key that is shown to it."""

    address: str
    api_key: str | None
    source: str
    """who named it"""


_installed: dict[str, Client] = {}
_named: str | None = None
_key: str | None = None
_may_be_renamed = False
"""the sdk has talked to nobody since it was closed, and no call has named a server"""
_in_use: ServerChoice | None = None
_is_embedded = False


def read_variables_of(name: str) -> None:
    """Note that programs of this client run in this process: its variables are read from now on."""
    if name in CLIENTS:
        _installed[name] = CLIENTS[name]


def chosen() -> ServerChoice | None:
    """The server; None = a node in this process. Raises ValidationError where two clients' variables differ."""
    if address := settings.BASE_URL.read():
        return ServerChoice(address, settings.API_KEY.read(), settings.BASE_URL.name)
    found = [
        ServerChoice(address, settings.API_KEY.read() or client.api_key.read(), client.base_url.name)
        for client in _installed.values()
        if (address := client.base_url.read())
    ]
    if len({choice.address.rstrip("/") for choice in found}) > 1:
        named = " and ".join(f"{choice.source}={choice.address}" for choice in found)
        raise ValidationError(f"{named}: one process talks to one server; set {settings.BASE_URL.name} to it")
    if found:
        return found[0]
    if _named is not None:
        return ServerChoice(_named, _key or settings.API_KEY.read() or _key_of_a_client(), BY_CALL)
    return None


def choose(address: str, where: str, *, api_key: str | None = None) -> None:
    """Note the server that a program names in the call `where`, perhaps with a key. Raises SandboxValidationError where
    its sandboxes are elsewhere by now, or the environment names another server."""
    global _named, _key, _may_be_renamed
    there = _in_use or chosen()
    if _may_be_renamed and there is not None and there.source == BY_CALL:
        there = None
    if there is not None:
        if there.address.rstrip("/") != address.rstrip("/"):
            raise SandboxValidationError(
                f"{where}: base_url={address!r}, but this process's sandboxes are on {there.address} "
                f"({there.source}); name one server, before the first sandbox"
            )
    elif _is_embedded:
        raise SandboxValidationError(
            f"{where}: base_url={address!r}, but this process has its sandboxes in a node of its own by now; name the "
            f"server before the first sandbox, by base_url or {settings.BASE_URL.name}"
        )
    else:
        _named, _key, _may_be_renamed = address, api_key, False


def opened(choice: ServerChoice | None) -> None:
    """The sdk talks to this server (None: to a node in this process) until `closed`. Warns where a program of another
    client has a key and no address: what was meant for a remote place runs here."""
    global _in_use, _is_embedded
    _in_use, _is_embedded = choice, choice is None
    if choice is None:
        for client in _installed.values():
            if client.api_key.read():
                warnings.warn(
                    f"{client.api_key.name} is set and {client.base_url.name} is not: programs of {client.name} run in "
                    "a node inside this process, and no remote place is asked. Set "
                    f"{client.base_url.name} or {settings.BASE_URL.name} to the address of a harena server, or unset "
                    f"{client.api_key.name}",
                    stacklevel=2,
                )


def closed() -> None:
    """The sdk talks to nobody. The next verb goes to the server that was named last, unless a call names another one
    first: what was meant for a server, also in the child of a fork, is not run in this process."""
    global _in_use, _is_embedded, _may_be_renamed
    _in_use, _is_embedded, _may_be_renamed = None, False, True


def _key_of_a_client() -> str | None:
    return next((key for client in _installed.values() if (key := client.api_key.read())), None)
