"""Large texts in slices, so that no single step over them takes long, and no step makes a copy of all of them.

What a candidate prints or returns has a limit, but a high one (64 MiB), and the simple way to read it is dear: a list
of its words takes thirty times its size, and one call that splits, decodes or encodes it holds the interpreter for as
long as it takes, also where it runs on another thread. Here each step is over one slice; `aside` takes the steps to a
thread, between whose steps the event loop has its turn.
"""

from __future__ import annotations

import codecs
import json
import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from itertools import repeat
from typing import Any, ParamSpec, TypeVar

from pydantic import BaseModel

from harena.core.threads import VERDICTS, work_for

SLICE = 1 << 16
"""characters or bytes: a step over them takes about a millisecond"""
_LINE_ENDS = b"\r\n"
SMALL = 1 << 14
"""bytes that are judged at once: it takes less than the way to a thread and back"""
LETTERS = 8
"""characters that are digested while one is judged"""
MOST_AT_ONCE = (SMALL + 1) * LETTERS
"""characters of which it need not be known how many more there are: they are too many to be digested at once"""
_OF_A_PART = 16
"""characters whose digest takes as long as that of a number or an empty text"""
_SEQUENCES = (list, tuple, set, frozenset)
_WITHOUT_PARTS = frozenset({bool, int, float, complex, type(None)})
_MOST_ASIDE = 2
"""threads that judge at one time: each may keep the event loop waiting for a switch of threads (5 ms)"""

P = ParamSpec("P")
T = TypeVar("T")


class Turns:
    """Lets so many go at one time, for threads; a free turn goes to the owner that has fewest, of these to who waited
    longest: an owner whose work takes long holds up its own."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._changed = threading.Condition()
        self._waiting: list[tuple[object, str]] = []
        self._running: Counter[str] = Counter()

    @contextmanager
    def one(self, owner: str) -> Iterator[None]:
        """Waits for a turn, and gives it back."""
        ticket = object()
        with self._changed:
            self._waiting.append((ticket, owner))
            self._changed.wait_for(lambda: self._next() is ticket)
            self._waiting.remove((ticket, owner))
            self._running[owner] += 1
            self._changed.notify_all()
        try:
            yield
        finally:
            with self._changed:
                self._running[owner] -= 1
                if not self._running[owner]:
                    del self._running[owner]
                self._changed.notify_all()

    @property
    def waiting(self) -> int:
        """How many wait."""
        return len(self._waiting)

    def _next(self) -> object:
        if self._running.total() >= self._most:
            return None
        return min(self._waiting, key=lambda waiter: self._running[waiter[1]])[0]


_turns = Turns(_MOST_ASIDE)


async def aside(size: int, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """What `work` gives, here where `size` (of what it reads, bytes) is small, else on a thread."""
    if size <= SMALL:
        return work(*args, **kwargs)
    return await VERDICTS.run(_in_turn, partial(work, *args, **kwargs))


def _in_turn(work: Callable[[], T]) -> T:
    """The turn is taken by a thread that has it to itself: one is never held while a queue of threads is waited for."""
    with _turns.one(work_for.get()):
        return work()


def decoded(content: bytes, size: int = SLICE) -> Iterator[str]:
    """The text of UTF-8, slice by slice; what is none is replaced, as by `decode("utf-8", "replace")`."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    view = memoryview(content)
    for start in range(0, len(view), size):
        yield decoder.decode(view[start : start + size])
    yield decoder.decode(b"", True)


def text_of(content: bytes) -> str:
    """All of it as one text."""
    return content.decode("utf-8", "replace") if len(content) <= SLICE else "".join(decoded(content))


def sliced(text: str, size: int = SLICE) -> Iterator[str]:
    """A text, slice by slice."""
    return (text[start : start + size] for start in range(0, len(text), size))


def lines_beginning(content: bytes, start: bytes, most: int) -> list[bytes]:
    """The first lines that begin so, `most` of them at most, without their ends. No list of all lines is made."""
    found: list[bytes] = []
    at = 0
    while at < len(content) and len(found) < most:
        place = content.find(start, at, at + SLICE + len(start))
        if place < 0:
            at += SLICE + 1
        elif place and content[place - 1] not in _LINE_ENDS:
            at = place + 1
        else:
            at = _end_of_line(content, place + len(start))
            found.append(content[place:at])
    return found


def _end_of_line(content: bytes, at: int) -> int:
    while at < len(content):
        ends = [end for sign in _LINE_ENDS if (end := content.find(sign, at, at + SLICE)) >= 0]
        if ends:
            return min(ends)
        at += SLICE
    return len(content)


def words(slices: Iterable[str], longest: int) -> Iterator[str]:
    """What `str.split` gives, until a word is longer than `longest`: that one, as far as it was read, is the last."""
    rest = ""  # the beginning of a word that may go on
    for part in slices:
        text = rest + part
        found = text.split()
        rest = found.pop() if found and not text[-1].isspace() else ""
        yield from found
        if len(rest) > longest:
            break
    if rest:
        yield rest


def lines(slices: Iterable[str], longest: int, *, both_sides: bool) -> Iterator[str]:
    """The lines of a text without the white space at their ends (with `both_sides`, at their beginnings, too), nor
    empty lines at the end of the text (at its beginning, too); until one is longer than `longest`: that one, as far as
    it was read, is the last."""
    strip = str.strip if both_sides else str.rstrip
    empty = 0  # lines, which count if another one follows
    begun = not both_sides
    rest = ""
    for part in slices:
        text = rest + part
        if text.isspace():  # which may go on for long
            empty += text.count("\n")
            rest = _shortened(text.rpartition("\n")[2], longest, both_sides)
            continue
        *whole, rest = text.split("\n")
        for line in map(strip, whole):
            if not line:
                empty += 1
                continue
            if begun:
                yield from repeat("", empty)
            empty, begun = 0, True
            yield line
        if len(rest) > longest and len(strip(rest)) > longest:
            break
        rest = _shortened(rest, longest, both_sides)
    if line := strip(rest):
        if begun:
            yield from repeat("", empty)
        yield line


def _shortened(rest: str, longest: int, both_sides: bool) -> str:
    """The beginning of a line that ends, so far, in white space: no longer than tells, if something follows, that the
    line is longer than `longest`."""
    if len(rest) <= longest + SLICE:
        return rest
    if both_sides:
        rest = rest.lstrip()
    return rest[: longest + 1]


def size_of(value: Any) -> int:
    """About how many characters there are in a text, or in the texts of a mapping, at any depth."""
    if isinstance(value, Mapping):
        return sum(map(size_of, value.values()))
    return len(value) if isinstance(value, str) else 1


def size_at_least(*values: Any, most: int = SMALL) -> int:
    """About how many characters there are in values (models, too), each part of which counts as some; counted until
    they are more than `most`: no more is looked at of a large value."""
    size = 0
    waiting: list[Collection[Any]] = [values]
    while waiting and size <= most:
        parts = waiting.pop()
        size += _OF_A_PART * len(parts)
        for value in parts if size <= most else ():
            kind = type(value)
            if kind is str or kind is bytes:
                size += len(value)
            elif kind in _WITHOUT_PARTS:  # asked before abstract classes are, which takes longer
                continue
            elif isinstance(value, _SEQUENCES):
                waiting.append(value)
            elif isinstance(value, Mapping):
                waiting += (value.keys(), value.values())
            elif isinstance(value, BaseModel):
                waiting.append(vars(value).values())
    return size


def json_parts(value: Any, *, sort_keys: bool = False, ensure_ascii: bool = True) -> Iterator[str]:
    """What `json.dumps` gives, in parts; for texts, and mappings of them, none of them long."""
    if isinstance(value, str) and len(value) > SLICE:
        yield '"'
        for part in sliced(value):
            yield json.dumps(part, ensure_ascii=ensure_ascii)[1:-1]
        yield '"'
    elif isinstance(value, Mapping) and any(isinstance(item, str | Mapping) for item in value.values()):
        before = "{"
        for key in sorted(value) if sort_keys else value:
            yield f"{before}{json.dumps(key, ensure_ascii=ensure_ascii)}: "
            yield from json_parts(value[key], sort_keys=sort_keys, ensure_ascii=ensure_ascii)
            before = ", "
        yield "}"
    else:
        yield json.dumps(value, sort_keys=sort_keys, ensure_ascii=ensure_ascii, default=str)


def last_text_line(text: str) -> str:
    """The last line that is not empty, as far as it stands in the slice before its end."""
    end = len(text)
    while end > 0 and text[max(0, end - SLICE) : end].isspace():
        end = max(0, end - SLICE)
    return text[max(0, end - SLICE) : end].rstrip().rpartition("\n")[2]


def last_line(content: bytes, room: int = 4096) -> str:
    """The last line that is not empty, as far as it stands in the last `room` bytes."""
    end = content[-room:]
    return end.rstrip().rpartition(b"\n")[2].decode("utf-8", "replace")
