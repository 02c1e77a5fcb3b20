"""No form of a credential is in what passes: as it is, and as who undoes the escapes of JSON or of a query reads it.

Writers differ in which characters they escape, and in the hexadecimal digits with which they do: what is looked at is
therefore the text without its escapes, of which each part is known where it was written.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence

MASK = b"*"
_JSON = re.compile(rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|[^u])", re.DOTALL)
_JSON_BEGUN = re.compile(rb"\\(?:u(?:[0-9a-fA-F]{0,3}|[dD][89abAB][0-9a-fA-F]{2}(?:\\(?:u[0-9a-fA-F]{0,3})?)?))?\Z")
_HALF = re.compile(rb"\\u[dD][89abAB][0-9a-fA-F]{2}")
_PERCENT = re.compile(rb"%[0-9a-fA-F]{2}")
_PERCENT_BEGUN = re.compile(rb"%[0-9a-fA-F]?\Z")


def _json_character(escape: bytes) -> bytes:
    if escape[1:2] != b"u":
        return escape[1:]
    if len(escape) == 6:
        return chr(int(escape[2:], 16)).encode("utf-8", "replace")
    return b"".join(bytes.fromhex(escape[at : at + 4].decode()) for at in (2, 8)).decode("utf-16-be").encode()


def _percent_character(escape: bytes) -> bytes:
    return bytes([int(escape[1:], 16)])


class _Reading:
    """What is read where one kind of escapes is undone, and where each part of it is written."""

    def __init__(
        self, written: bytes, escape: re.Pattern[bytes], character: Callable[[bytes], bytes], begun: re.Pattern[bytes]
    ) -> None:
        self._begins: list[int] = []
        self._parts: list[tuple[int, int, int]] = []
        """(end of what is read, begin and end of how it is written) of each escape"""
        pieces, size, after = [], 0, 0
        for found in escape.finditer(written):
            plain, read = written[after : found.start()], character(found[0])
            size += len(plain)
            self._begins.append(size)
            size += len(read)
            self._parts.append((size, found.start(), found.end()))
            pieces += [plain, read]
            after = found.end()
        if self._parts and _HALF.fullmatch(written, *self._parts[-1][1:]):
            unfinished = begun.match(written, self._parts[-1][1]) or begun.search(written, after)
        else:
            unfinished = begun.search(written, after)
        self.unfinished = None if unfinished is None else unfinished.start()
        """where an escape is written whose end is missing"""
        if self.unfinished is not None and self.unfinished < after:
            pieces.pop()
            after = self.unfinished
        pieces.append(written[after : self.unfinished])
        self.text = b"".join(pieces)

    def written(self, place: int, *, is_end: bool = False) -> int:
        """Where a part is written that begins here, or ends."""
        number = bisect_right(self._begins, place) - 1
        if number < 0:
            return place
        end, first, last = self._parts[number]
        if place >= end:
            return last + place - end
        return last if is_end and place > self._begins[number] else first

    def before_escape(self, place: int) -> int:
        """The place where it is written, or the begin of the escape in which that would be."""
        number = bisect_right(self._parts, place, key=lambda part: part[1]) - 1
        if number < 0 or place >= self._parts[number][2]:
            return place
        return self._parts[number][1]


_Text = tuple[bytes, tuple[_Reading, ...]]
"""(what is read, what has been undone for that, the last one first)"""


def _readings(content: bytes) -> Iterator[_Text]:
    yield content, ()
    json = _Reading(content, _JSON, _json_character, _JSON_BEGUN) if b"\\" in content else None
    if json is not None:
        yield json.text, (json,)
    if b"%" in content:
        percent = _Reading(content, _PERCENT, _percent_character, _PERCENT_BEGUN)
        yield percent.text, (percent,)
    if json is not None and b"%" in json.text:
        within = _Reading(json.text, _PERCENT, _percent_character, _PERCENT_BEGUN)
        yield within.text, (within, json)


def _places(readings: Iterable[_Text], forms: Sequence[bytes]) -> list[tuple[int, int]]:
    """(begin, end) of each form that is written there, in order; none lies in another one."""
    found = []
    for text, undone in readings:
        for form in forms:
            at = text.find(form)
            while at >= 0:
                begin, end = at, at + len(form)
                for reading in undone:
                    begin, end = reading.written(begin), reading.written(end, is_end=True)
                found.append((begin, end))
                at = text.find(form, at + len(form))
    joined: list[tuple[int, int]] = []
    for begin, end in sorted(found):
        if joined and begin < joined[-1][1]:
            joined[-1] = joined[-1][0], max(joined[-1][1], end)
        else:
            joined.append((begin, end))
    return joined


def redacted(text: str, forms: Sequence[bytes]) -> str:
    """A header's value without any form of the credential."""
    content = text.encode("utf-8", "surrogatepass")
    kept, after = [], 0
    for begin, end in _places(_readings(content), forms):
        kept.append(content[after:begin])
        after = end
    return b"[redacted]".join([*kept, content[after:]]).decode("utf-8", "surrogatepass")


class Redaction:
    """Masks every form of the credential in bytes that pass, with as many bytes as it has."""

    def __init__(self, forms: Sequence[bytes]) -> None:
        self._forms = forms
        self._held = b""

    def passed(self, content: bytes) -> bytes:
        """What may be passed on of this and of what was held back; the end stays, where a form could begin with it."""
        content = self._held + content
        readings = [*_readings(content)]
        if places := _places(readings, self._forms):
            masked = bytearray(content)
            for begin, end in places:
                masked[begin:end] = MASK * (end - begin)
            content = bytes(masked)
            readings = [*_readings(content)]
        keep = self._find_beginning(len(content), readings)
        self._held = content[keep:]
        return content[:keep]

    def rest(self) -> bytes:
        """What was held back, at the end."""
        held, self._held = self._held, b""
        return held

    def _find_beginning(self, keep: int, readings: Iterable[_Text]) -> int:
        """Where a form may have begun whose end is missing; `keep` = the end."""
        escapes: list[_Reading] = []
        for text, undone in readings:
            places = [len(text) - max((_overlap(text, form) for form in self._forms), default=0)]
            for reading in undone:
                places = [reading.written(place) for place in places]
                if reading.unfinished is not None:
                    places.append(reading.unfinished)
            escapes += [reading for reading in undone if len(undone) == 1]
            keep = min(keep, *places)
        before = -1
        while before != keep:  # what follows is read anew, and no escape is read from its middle
            before = keep
            for reading in escapes:
                keep = reading.before_escape(keep)
        return keep


def _overlap(content: bytes, form: bytes) -> int:
    """Length of the longest end of the content with which the form begins, but which it is not."""
    place = content.find(form[:1], max(0, len(content) - len(form) + 1))
    while place >= 0:
        if form.startswith(content[place:]):
            return len(content) - place
        place = content.find(form[:1], place + 1)
    return 0
