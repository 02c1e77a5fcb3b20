"""For trusted runners that share their process with a candidate: are there objects that equal everything?

However a test spells a comparison (`in`, `index`, `match`, an assertion under another name), it ends in `__eq__` or
`__ne__` of a class. So these are asked, when the tests have ended, for objects with no state, and with any: who says
without knowing himself that he equals values that have nothing in common, equals everything. Text of a candidate's
program that compares what an object is made of says so of some such objects only, or fails.

A program may have such a class for itself (what matches anything, or stands for nobody). So a suite that passes beside
one is run once more, and the calls of the candidate's functions by anybody else are noted (`Uses`): then the class
counts only if it was compared by somebody else.

Its text stands before that of the runner inside the sandbox. Standard library only, Python 3.8 and up.
"""

from __future__ import annotations

import gc
import os
import sys
import threading

from harena.scoring.guest.secure_random import below, one_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from typing import Any

_is_class, _types, _realpath, _objects = issubclass, type, os.path.realpath, gc.get_objects
_MOST_CLASSES = 1000
_EQUALITY = frozenset({"__eq__", "__ne__"})
_getprofile, _frame = sys.getprofile, sys._getframe


class _Itself:
    """An object that equals itself alone, and has no order. `object` answers NotImplemented, which is true: `not
    self.__eq__(other)` would be false of everything."""

    __slots__ = ()
    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other

    def __ne__(self, other: object) -> bool:
        return self is not other

    def _has_no_order(self, other: object) -> bool:
        raise TypeError("it has no order")

    __lt__ = __le__ = __gt__ = __ge__ = _has_no_order


class _Bare(_Itself):
    """An object with nothing."""


class _Having(_Itself):
    """An object that has whatever it is asked for, and a class that lists what it has."""

    harena_part: Any
    __slots__ = ("__dict__", "harena_part")
    __match_args__ = _fields = ("harena_part",)

    def __init__(self, made: Callable[[], Any]) -> None:
        self._made = made
        self.harena_part, self.harena_other = made(), made()

    def __getattr__(self, name: str) -> Any:
        found = self.__dict__[name] = self._made()
        return found


class _False(_Itself):
    """An object whose truth is false."""

    def __bool__(self) -> bool:
        return False


def _selves() -> Iterator[Any]:
    yield _Bare()
    yield _Having(object)
    yield _Having(_False)


def _numbers() -> list[Any]:
    """Numbers of every size that a test may expect."""
    sizes = [10, 100, 1000, 10**4, 10**6, 10**9]
    return [sign * (size // 10 + below(size - size // 10)) for size in sizes for sign in (1, 1, -1)]


def _words(chars: str) -> list[str]:
    return ["".join(one_of(chars) for _ in range(size)) for size in range(1, 13)]


_ALPHABETS = ("abcdefghijklmnopqrst", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789")


def _kinds() -> list[list[Any]]:
    """Values that have nothing in common, and values of one kind."""
    numbers = _numbers()
    found: list[list[Any]] = [
        [object(), _Bare(), _Having(object), 0, 1.5, "", (), [], None],
        [each + 0.25 for each in numbers],
    ]
    for some in (numbers, [2 * each for each in numbers], [2 * each + 1 for each in numbers], [*map(abs, numbers)]):
        found += [some, [[each] for each in some], [(each, other) for each, other in zip(some, reversed(some))]]  # noqa: B905 (Python 3.8)
    for words in map(_words, _ALPHABETS):
        found += [words, [[each] for each in words], [{each: other} for each, other in zip(words, numbers)]]  # noqa: B905
    return found


class Uses:
    """The candidate's functions that something else than its own program has called: the tests, a library for them.
    What a library calls for the candidate's program is that program's own affair, but for its comparisons: an object
    may ask another one."""

    def __init__(self, here: str, trusted: Collection[str]) -> None:
        self._here, self._trusted = here + "/", frozenset(trusted)
        self._kinds: dict[str, str] = {}
        self._codes: set[Any] = set()
        self._is_watching = True
        self._starts = {threading.Thread._bootstrap_inner.__code__}  # type: ignore[attr-defined]
        threading.setprofile(self._called)
        sys.setprofile(self._called)
        sys.addaudithook(self._audited)

    def ended(self) -> frozenset[Any] | None:
        """The code of these functions, and no more is noted; None where somebody else has set the profiler."""
        is_whole = self._is_watching and _getprofile() == self._called
        self._starts.add(_frame().f_code)
        sys.setprofile(None)
        return frozenset(self._codes) if is_whole else None

    def _audited(self, event: str, _: Any) -> None:
        if event == "sys.setprofile" and _frame(1).f_code not in self._starts:
            self._is_watching = False

    def _kind_of(self, path: str) -> str:
        """Whose file it is."""
        kind = self._kinds.get(path)
        if kind is None:
            real = _realpath(path)
            kind = "tests" if real in self._trusted else "candidate" if real.startswith(self._here) else "library"
            self._kinds[path] = kind
        return kind

    def _called(self, frame: Any, event: str, _: Any) -> None:
        if event != "call":
            return
        code = frame.f_code
        if code not in self._codes and self._kind_of(code.co_filename) == "candidate" and self._is_outside(frame):
            self._codes.add(code)

    def _is_outside(self, frame: Any) -> bool:
        frame = frame.f_back
        while frame is not None:
            path = frame.f_code.co_filename
            kind = self._kind_of(path) if path[:1] != "<" else "library"  # made of a text, by whomever
            if kind == "candidate" and frame.f_code.co_name not in _EQUALITY:
                return False
            if kind == "tests":
                return True
            frame = frame.f_back
        return True


def equals_everything(here: str, trusted: list[str], used: Collection[Any] | None = None) -> bool:
    """A class defined in the candidate's files calls its objects, whatever they are made of, equal to all values of
    a kind, or to values that have nothing in common. `used`: only one of which a comparison's code is among these."""
    kinds, asked = _kinds(), 0
    for found in _objects():
        if not _is_class(_types(found), _types):  # a weak proxy calls itself one, too
            continue
        own = _types.__dict__["__dict__"].__get__(found)
        codes = [getattr(own.get(name), "__code__", None) for name in _EQUALITY]
        if used is not None and not any(code in used for code in codes):
            continue
        for name, wanted in (("__eq__", True), ("__ne__", False)):
            method = own.get(name)
            code = getattr(method, "__code__", None)
            path = _realpath(getattr(code, "co_filename", "/"))
            if code is None or not path.startswith(here + "/") or path in trusted:
                continue
            asked += 1
            if asked > _MOST_CLASSES:
                return False
            if any(all(_says(method, each, kind, wanted) for each in _selves()) for kind in kinds):
                return True
    return False


def _says(method: Any, asked: Any, others: list[Any], wanted: bool) -> bool:
    """It says the same of each of them."""
    try:
        return all(method(asked, other) is wanted for other in others)
    except BaseException:  # noqa: BLE001 (an honest comparison needs attributes of its own)
        return False
