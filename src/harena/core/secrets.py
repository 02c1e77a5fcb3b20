"""Secrets of a workspace: what one may be, and the port of the store that keeps them.

A secret is kept for the hosts that it may be sent to. No operation gives its value back; whoever may make sandboxes can
have it sent to these hosts by a gateway, and to no others.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from harena.core.checked import quote
from harena.core.errors import ValidationError

MOST_SECRETS = 1000
"""secrets of one workspace"""
MOST_NAME = 128
"""characters of a secret's name"""
MOST_VALUE_BYTES = 64 * 1024
"""bytes of a secret's value, as UTF-8"""
MOST_HOSTS = 32
"""hosts that one secret may be sent to"""
MOST_HOST = 300
"""characters of one of them"""
NAME_PATTERN = rf"^[A-Za-z_][A-Za-z0-9_]{{0,{MOST_NAME - 1}}}$"
SECRETS = "SECRETS"
"""reason of an error: the workspace keeps as many secrets as it may"""
HTTPS_PORT = 443

_NAME = re.compile(NAME_PATTERN)
_LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_HOST = re.compile(rf"(?:\*\.)?{_LABEL}(?:\.{_LABEL})*")
_ADDRESS6 = re.compile(r"\[[0-9a-f:.]{2,45}\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSecret:
    """A secret as it is set."""

    workspace: str
    name: str
    value: str = field(repr=False)
    hosts: tuple[str, ...]
    """what `checked_hosts` gives"""
    at: str
    """the time"""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptSecret:
    """A secret as lists show it."""

    name: str
    hosts: tuple[str, ...]
    created_at: str
    updated_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenSecret:
    """A secret for whoever sends it to one of its hosts."""

    name: str
    value: str = field(repr=False)
    hosts: tuple[str, ...]


class SecretStorePort(Protocol):
    """The secrets of one store. Every method is one transaction; all raise PlatformError."""

    async def set(self, new: NewSecret, *, most: int) -> KeptSecret | None:
        """Keep a secret in place of the one of its name; None = the workspace has `most` others."""

    async def find(self, workspace: str, name: str) -> KeptSecret | None:
        """This secret."""

    async def page(self, workspace: str, *, after: str, limit: int) -> list[KeptSecret]:
        """The secrets behind this name, by name; one more than `limit` where there are more."""

    async def remove(self, workspace: str, name: str) -> bool:
        """Whether there was one."""

    async def open(self, workspace: str, name: str) -> OpenSecret | None:
        """The value. Raises PlatformError where it was sealed with another key, or for another name or workspace."""


def checked_name(name: object) -> str:
    """A secret's name. Raises ValidationError."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ValidationError(
            f"the secret's name {quote(name)}: use 1 to {MOST_NAME} letters, digits and underscores, no digit first, "
            "as GITHUB_TOKEN"
        )
    return name


def checked_value(value: object) -> str:
    """A secret's value. Raises ValidationError, which does not show it."""
    if not isinstance(value, str):
        raise ValidationError(f"the secret's value must be text (got {type(value).__name__})")
    try:
        size = len(value.encode())
    except UnicodeEncodeError:
        raise ValidationError(
            "the secret's value cannot be written as UTF-8: it has half of a surrogate pair"
        ) from None
    if not 0 < size <= MOST_VALUE_BYTES:
        raise ValidationError(f"the secret's value must have 1 to {MOST_VALUE_BYTES} bytes as UTF-8, and has {size}")
    if "\0" in value:
        raise ValidationError("the secret's value holds a NUL character, which no request can carry")
    return value


def checked_hosts(hosts: object) -> tuple[str, ...]:
    """The hosts that a secret may be sent to, in small letters and each with its port. Raises ValidationError."""
    if isinstance(hosts, str | bytes) or not isinstance(hosts, Sequence):
        raise ValidationError(f"hosts must be a list of texts, as ['api.github.com'] (got {quote(hosts)})")
    if not 0 < len(hosts) <= MOST_HOSTS:
        raise ValidationError(
            f"hosts: name 1 to {MOST_HOSTS} hosts that the secret may be sent to, as api.github.com (got {len(hosts)})"
        )
    return tuple(dict.fromkeys(map(_checked_host, hosts)))


def may_be_sent(hosts: Sequence[str], host: str, port: int) -> bool:
    """Whether a secret with these hosts may be sent to this one, which is in small letters; an IPv6 address stands in
    brackets. `*.example.com` is every name below example.com, and not that itself."""
    for allowed in hosts:
        name, _, its_port = allowed.rpartition(":")
        if int(its_port) != port:
            continue
        if name == host or (name.startswith("*.") and host.endswith(name[1:]) and len(host) > len(name) - 1):
            return True
    return False


def _checked_host(given: object) -> str:
    if isinstance(given, str) and given.isascii() and len(given) <= MOST_HOST:
        name, port = split_port(given.lower())
        if (_ADDRESS6.fullmatch(name) or (len(name) <= 253 and _HOST.fullmatch(name))) and port is not None:
            return f"{name}:{port}"
    raise ValidationError(
        f"hosts: {quote(given)} is no host: write it as api.github.com, *.example.com or example.com:8443, without "
        "https:// and without a path; names outside of ASCII in their xn-- form"
    )


def split_port(given: str) -> tuple[str, int | None]:
    """(host, port) of HOST or HOST:PORT; the port is 443 where none is written, and None where it is none."""
    name, colon, written = given.rpartition(":")
    if not colon or given.endswith("]"):
        return given, HTTPS_PORT
    if not (written.isdecimal() and written.isascii() and len(written) <= 5 and 0 < int(written) < 65536):
        return name, None
    return name, int(written)
