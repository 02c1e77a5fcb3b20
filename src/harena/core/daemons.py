"""Daemons of a blueprint: programs that every sandbox of it starts before anybody else's, and when they are ready."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from harena.core.checked import check_user, check_words, checked_seconds, quote
from harena.core.errors import SandboxValidationError
from harena.core.records.record import Record

MOST_DAEMONS = 16
"""daemons of one blueprint"""
MOST_READY_SECONDS = 600
"""longest time that one may take until it is ready"""
MOST_WORDS = 1000
"""words of one command"""

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Daemon(Record):
    """A program that runs for as long as its sandbox. Raises SandboxValidationError."""

    MOST_ITEMS: ClassVar[Mapping[str, int]] = dict.fromkeys(("command", "ready"), MOST_WORDS)

    name: str
    """no other one of its blueprint has it"""
    command: tuple[str, ...]
    """executed as it is, without a shell; it may also end well and leave a process behind"""
    ready: tuple[str, ...] = ()
    """run again and again until it exits with 0; empty = it is ready at once"""
    ready_seconds: float = 60.0
    """after which it never will be"""
    user: str | None = None
    """whom both run as; null = as the image says"""

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not _NAME.fullmatch(self.name):
            raise SandboxValidationError(
                f"daemons: the name {quote(self.name)} must be 1 to 64 small letters, digits, dashes and underscores"
            )
        for field in ("command", "ready"):
            words = getattr(self, field)
            if isinstance(words, str | bytes | Mapping) or not isinstance(words, Sequence) or len(words) > MOST_WORDS:
                raise self._wrong(f"{field} is a list of words, as [redis-server, --port, '6379'] (got {quote(words)})")
            object.__setattr__(self, field, tuple(words))
        try:
            check_words(self.command)
            if self.ready:
                check_words(self.ready)
            check_user(self.user)
            checked_seconds(self.ready_seconds, "ready_seconds")
        except SandboxValidationError as error:
            raise self._wrong(str(error)) from None
        if self.ready_seconds > MOST_READY_SECONDS:
            raise self._wrong(f"ready_seconds is at most {MOST_READY_SECONDS} (got {quote(self.ready_seconds)})")

    def _wrong(self, words: str) -> SandboxValidationError:
        return SandboxValidationError(f"daemons: {self.name}: {words}")


_FIELDS = tuple(each.name for each in fields(Daemon))


GivenDaemons = Sequence[Daemon | Mapping[str, Any]]
"""daemons as users give them: records, or mappings of their fields"""


def read_daemons(given: Any) -> tuple[Daemon, ...]:
    """The daemons that a list of mappings says, in the order in which they are started; None is none. Raises
    SandboxValidationError."""
    if given is None:
        return ()
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Sequence) or len(given) > MOST_DAEMONS:
        raise SandboxValidationError(
            f"daemons must be a list of at most {MOST_DAEMONS} mappings, as [{{name: redis, command: [redis-server], "
            f"ready: [redis-cli, ping]}}] (got {quote(given)})"
        )
    made = tuple(map(_daemon, given))
    names = [one.name for one in made]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise SandboxValidationError(f"daemons: two are called {twice[0]}; give one of them another name")
    return made


def daemons_to_json(daemons: Sequence[Daemon]) -> list[dict[str, Any]]:
    """What `read_daemons` reads."""
    return [one.to_dict() for one in daemons]


def _daemon(given: Any) -> Daemon:
    if isinstance(given, Daemon):
        return given
    if not isinstance(given, Mapping) or not {"name", "command"} <= given.keys():
        raise SandboxValidationError(f"daemons: one is a mapping with name and command (got {quote(given)})")
    if unknown := [name for name in given if name not in _FIELDS]:
        raise SandboxValidationError(f"daemons: there is no field {quote(unknown[0])}; there are {', '.join(_FIELDS)}")
    return Daemon(**given)
