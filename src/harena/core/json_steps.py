"""JSON of any size, parsed in steps between which other threads run.

The parser of the interpreter's library is machine code that keeps every other thread waiting until it has ended: half a
second for a million values, two for 64 MiB of integers of 4,300 digits. Here it is given a window of the text at a
time; lists and objects that are longer than one are walked through in Python.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from json.decoder import JSONDecodeError
from typing import Any

Pairs = list[tuple[str, Any]]

WINDOW = 64 * 1024
"""characters that are parsed in one step: a few milliseconds of the worst of them. A single text is copied whole, which
takes two to five milliseconds for each MiB; a number of more characters is refused."""
_UNSURE = 3
"""characters at the end of a window that could belong to a number before them, as `e+5` does"""
_PAIRS = 4096


def parse(
    text: str | bytes,
    *,
    object_pairs_hook: Callable[[Pairs], Any] | None = None,
    parse_float: Callable[[str], Any] | None = None,
    parse_constant: Callable[[str], Any] | None = None,
) -> Any:
    """The value, as `json.loads` reads it. An object in a window that is not whole may be given to the hook twice.
    Raises RecursionError, and ValueError (UnicodeDecodeError and json.JSONDecodeError among them)."""
    if len(text) <= WINDOW:
        return json.loads(
            text, object_pairs_hook=object_pairs_hook, parse_float=parse_float, parse_constant=parse_constant
        )
    if not isinstance(text, str):
        text = text.decode(json.detect_encoding(text), "surrogatepass")
    if text.startswith("\ufeff"):
        raise JSONDecodeError("Unexpected UTF-8 BOM (decode using utf-8-sig)", text, 0)
    decoder = json.JSONDecoder(
        object_pairs_hook=object_pairs_hook, parse_float=parse_float, parse_constant=parse_constant
    )
    decoder.scan_once = _Steps(text, decoder).scan  # type: ignore[attr-defined]
    return decoder.decode(text)


def parse_kept(text: str | bytes) -> Any:
    """What this program has written itself, also where it is nested more deeply than lists and objects can be walked
    through in steps. Raises ValueError."""
    try:
        return parse(text)
    except RecursionError:
        return json.loads(text)


def dict_of(pairs: Pairs) -> dict[str, Any]:
    """The mapping, made in steps; of a name that is there twice the last value stays."""
    if len(pairs) <= _PAIRS:
        return dict(pairs)
    made: dict[str, Any] = {}
    for start in range(0, len(pairs), _PAIRS):
        made.update(pairs[start : start + _PAIRS])
    return made


class _Steps:
    """What a decoder calls for each value, instead of the machine code that parses all of the text."""

    def __init__(self, text: str, decoder: Any) -> None:
        self._parsed = decoder.scan_once
        self._walk_list, self._walk_object = decoder.parse_array, decoder.parse_object
        self._hook = decoder.object_pairs_hook or dict_of
        self._length = len(text)
        self._window, self._start = "", -WINDOW
        self._tried_from = 0
        """Lists and objects that begin before are walked through: one that begins shortly before them did not fit into
        a window, and so nesting makes no text be parsed more often than a few times."""

    def scan(self, text: str, at: int) -> tuple[Any, int]:
        """(the value at a place, the place after it). Raises StopIteration where there is none, and
        json.JSONDecodeError."""
        sign = text[at : at + 1]
        walked = sign == "[" or sign == "{"
        if not walked or at >= self._tried_from:
            if at - self._start > WINDOW // 2:
                self._move(text, at)
            found = self._in_window(at)
            if found is None and self._start != at:
                self._move(text, at)
                found = self._in_window(at)
            if found is not None:
                return found
            if walked:
                self._tried_from = at + WINDOW // 4
        if not walked:
            if sign != '"' and self._length - at > WINDOW and not text[at : at + WINDOW].strip("+-.0123456789eE"):
                raise JSONDecodeError(f"A number of more than {WINDOW} characters is too long", text, at)
            return self._parsed(text, at)  # type: ignore[no-any-return]
        if sign == "[":
            return self._walk_list((text, at + 1), self.scan)  # type: ignore[no-any-return]
        return self._walk_object((text, at + 1), True, self.scan, None, self._hook)  # type: ignore[no-any-return]

    def _move(self, text: str, at: int) -> None:
        self._window, self._start = text[at : at + WINDOW], at

    def _in_window(self, at: int) -> tuple[Any, int] | None:
        """None where the value does not end in the window, or is none."""
        start, window = self._start, self._window
        try:
            value, end = self._parsed(window, at - start)
        except (JSONDecodeError, StopIteration):
            return None
        if end + _UNSURE > len(window) and start + len(window) < self._length and window[end - 1] not in '"]}':
            return None
        return value, start + end
