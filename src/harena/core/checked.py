"""What may be asked for: one place that says which numbers, texts and limits are good, before any work is done.

Every function raises SandboxValidationError, which names the field and shows what was given.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from harena.core.errors import SandboxValidationError

MOST_SECONDS = 1e9
"""about 31 years: beyond it, deadlines cannot be written as dates"""
MOST_PIDS = 4_194_304
"""the kernel's own limit for process numbers"""
MOST_MODE = 0o7777
MOST_BYTES = 1 << 60
LEAST_CORES, MOST_CORES = 0.001, 4096
_MOST_OF_USER = 256
_USER = re.compile(r"[!-9;-~]+(:[!-9;-~]+)?")
MOST_CELLS = 65535
"""columns or rows of a terminal"""


def checked_seconds(value: Any, name: str) -> float:
    """A length of time: finite, above zero, below MOST_SECONDS."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < MOST_SECONDS:
        raise SandboxValidationError(
            f"{name} must be a positive number of seconds, below {MOST_SECONDS:.0e} (got {quote(value)})"
        )
    return float(value)


def checked_count(value: Any, name: str, *, least: int, most: int | None = None) -> int:
    """A whole number."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least or (most is not None and value > most):
        bounds = f"of {least} or more" if most is None else f"from {least} to {most}"
        raise SandboxValidationError(f"{name} must be a whole number {bounds} (got {quote(value)})")
    return value


def checked_mode(value: Any, name: str = "mode") -> int:
    """Permission bits."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MOST_MODE:
        raise SandboxValidationError(f"{name} must be permission bits from 0 to 0o7777, as 0o644 (got {quote(value)})")
    return value


def encodable(text: str, name: str) -> str:
    """Text that UTF-8 can carry: half of a surrogate pair alone has no bytes."""
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise SandboxValidationError(
                f"{name}: {quote(text)} cannot be written as UTF-8: character {error.start} is half of a surrogate "
                "pair; remove it, or pass bytes where bytes are taken"
            ) from None
    return text


def checked_text(value: Any, name: str) -> str:
    """Text that is not empty and can be sent."""
    if not isinstance(value, str) or not value:
        raise SandboxValidationError(f"{name}: must be text that is not empty (got {quote(value)})")
    return encodable(value, name)


def checked_texts(value: Any, name: str) -> dict[str, str]:
    """A mapping from text to text; None is an empty one."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise SandboxValidationError(f'{name} must be a mapping, as {{"NAME": "value"}} (got {quote(value)})')
    checked = dict(value)
    for key, text in checked.items():
        if not isinstance(key, str) or not isinstance(text, str):
            raise SandboxValidationError(f"{name}: names and values must be text (got {quote(key)}: {quote(text)})")
        encodable(key, name)
        encodable(text, name)
    return checked


def content_bytes(value: Any, name: str) -> bytes:
    """Bytes, or text as UTF-8."""
    if isinstance(value, str):
        return encodable(value, name).encode()
    if not isinstance(value, bytes | bytearray | memoryview):
        raise SandboxValidationError(f"{name} must be bytes or text (got {type(value).__name__})")
    return bytes(value)


def quote(value: Any) -> str:
    """A value in the form that an error message shows: never longer than a line."""
    text = ascii(value[:_SHOWN]) if isinstance(value, str) else ""
    for piece in () if text else _pieces(value):
        text += piece
        if len(text) > _SHOWN:  # what follows may be without end: a list may stand in itself, or in another one often
            break
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."


_SHOWN = 100
"""the most characters that an error message shows of a value. Of a longer text its quotes make more of the first ones,
so that no more of it need be looked at"""


def _pieces(value: Any) -> Iterator[str]:
    """What `repr` gives, one after the other."""
    if type(value) in (list, tuple):
        yield "[" if type(value) is list else "("
        for place, one in enumerate(value):
            yield ", " if place else ""
            yield from _pieces(one)
        yield "]" if type(value) is list else ",)" if len(value) == 1 else ")"
    elif type(value) is dict:
        yield "{"
        for place, (key, one) in enumerate(value.items()):
            yield ", " if place else ""
            yield from _pieces(key)
            yield ": "
            yield from _pieces(one)
        yield "}"
    elif isinstance(value, int) and value.bit_length() > 300:  # Python refuses to write very long ones
        yield f"a whole number of {value.bit_length()} bits"
    elif isinstance(value, str | bytes | bytearray):
        yield repr(value[:_SHOWN])
    else:
        yield repr(value)


def words_of(command: Any) -> tuple[str, ...]:
    """A command's words, of any list of them, which UTF-8 can carry; `ExecRequest` says which words are good."""
    if isinstance(command, str | bytes):
        raise SandboxValidationError(
            f"command must be a list of words, not text: for a shell's line use ['bash', '-c', {quote(command)}]"
        )
    if not isinstance(command, Iterable) or isinstance(command, Mapping):
        raise SandboxValidationError(f"command must be a list of words, as ['ls', '-l'] (got {quote(command)})")
    return tuple(encodable(word, "command") if isinstance(word, str) else word for word in command)


def check_user(user: Any, name: str = "user") -> None:
    """A user, perhaps with a group behind a colon; None = nobody is named."""
    if user is None:
        return
    if not isinstance(user, str) or not 0 < len(user) <= _MOST_OF_USER or not _USER.fullmatch(user):
        raise SandboxValidationError(
            f"{name} must be a user's name or number, perhaps with a group behind a colon, as in 'postgres' or "
            f"'1000:1000', of at most {_MOST_OF_USER} characters; got {quote(user)}"
        )


def check_words(argv: tuple[Any, ...]) -> None:
    """A command's words."""
    if not argv:
        raise SandboxValidationError("command is empty: give the program to run as its first word")
    for word in argv:
        if not isinstance(word, str):
            raise SandboxValidationError(f"command: every word must be text, and {word!r} is {type(word).__name__}")
        if "\0" in word:
            raise SandboxValidationError("command: a word holds a NUL character, which no program can be given")
        _check_given(word, "command")


def _check_given(text: str, name: str) -> None:
    """Text that the kernel can give to a program: UTF-8, or bytes that are no UTF-8 as Python writes them."""
    if not text.isascii():
        try:
            os.fsencode(text)
        except UnicodeEncodeError:
            raise SandboxValidationError(
                f"{name}: {quote(text)} holds characters that no program can be given (halves of surrogate pairs)"
            ) from None


def checked_command(command: Any) -> tuple[str, ...]:
    """A command's words, of any list of them."""
    argv = words_of(command)
    check_words(argv)
    return argv


def check_environment(env: Mapping[str, str], name: str) -> None:
    """Environment variables of a program."""
    for key, value in env.items():
        if not isinstance(key, str) or not isinstance(value, str):
            raise SandboxValidationError(f"{name}: names and values must be text (got {quote(key)}: {quote(value)})")
        if not key or "=" in key or "\0" in key or "\0" in value:
            raise SandboxValidationError(f"{name}: {key!r} cannot be the name of an environment variable, or holds NUL")
        _check_given(key, name)
        _check_given(value, name)


def checked_environment(env: Any, name: str) -> dict[str, str]:
    """Environment variables which UTF-8 can carry; None is none."""
    variables = checked_texts(env, name)
    check_environment(variables, name)
    return variables


def checked_timeout(seconds: float | None, name: str = "timeout_seconds") -> float | None:
    """A positive number of seconds or None."""
    return None if seconds is None else checked_seconds(seconds, name)


def check_size(width: Any, height: Any) -> None:
    """A terminal's size."""
    for name, number in (("width", width), ("height", height)):
        checked_count(number, name, least=1, most=MOST_CELLS)


def check_absolute(path: Any, name: str) -> None:
    """An absolute path inside a sandbox, or None."""
    if path is None:
        return
    if not isinstance(path, str) or not path.startswith("/") or "\0" in path:
        is_relative = isinstance(path, str) and path and not path.startswith(("/", ".", "~")) and "\0" not in path
        example = f", as {quote('/workspace/' + path)}" if is_relative else ""
        raise SandboxValidationError(f"{name} must be an absolute path inside the sandbox{example} (got {quote(path)})")
    encodable(path, name)
