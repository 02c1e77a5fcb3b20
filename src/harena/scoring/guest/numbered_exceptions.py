"""Exceptions that are kept by numbers, so that one that crosses again is itself. Standard library only, Python 3.8 and
up.

An exception holds the frames that it went through, and these hold what crosses, which is told of with every message. So
only the newest are held here. An older one is known as long as somebody else holds it: who has let it go cannot tell
it from another one by comparing.
"""

from __future__ import annotations

import collections
import sys
import weakref

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_FEW = 1024
"""numbers that are looked through for exceptions that are gone, at the least"""


class _Link:
    """What a weak reference can refer to, in the place of an exception of Python's own, to which there is none. It and
    the exception hold each other, and go together."""

    __slots__ = ("__weakref__", "error")

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def __reduce__(self) -> Any:
        """A copy of the exception is another one, and has no link."""
        return bool, ()


class KeptErrors:
    """Exceptions by their numbers."""

    def __init__(self, newest: int, most_raised: int | None = None) -> None:
        """`newest`: how many are held. `most_raised`: how many of those that `raised` is told of, if fewer."""
        self._newest = newest
        self._most_raised = newest if most_raised is None else most_raised
        self._held: collections.OrderedDict[int, BaseException] = collections.OrderedDict()
        self._held_raised: collections.OrderedDict[int, BaseException] = collections.OrderedDict()
        self._known: dict[int, Callable[[], Any]] = {}
        """what finds those that are not held, also that they are gone"""
        self._most_known = _FEW

    def __len__(self) -> int:
        """How many numbers are known, those of exceptions that are gone among them."""
        return len(self._held) + len(self._held_raised) + len(self._known)

    def __contains__(self, number: int) -> bool:
        """Whether there was one of this number, as far as is known."""
        return number in self._held or number in self._held_raised or number in self._known

    def keep(self, number: int, error: BaseException) -> None:
        """From now on the exception is the one of this number."""
        self._held_raised.pop(number, None)
        self._known.pop(number, None)
        self._held[number] = error
        self._held.move_to_end(number)
        while len(self._held) > self._newest:
            self._let_oldest_go(self._held)

    def raised(self, number: int) -> None:
        """The exception of this number is about to go through frames."""
        error = self.get(number)
        if error is None:
            return
        self._held.pop(number, None)
        self._known.pop(number, None)
        self._held_raised[number] = error
        self._held_raised.move_to_end(number)
        while len(self._held_raised) > self._most_raised:
            self._let_oldest_go(self._held_raised)

    def get(self, number: int) -> BaseException | None:
        """The exception of this number; None if it is gone, or there was none."""
        for held in (self._held, self._held_raised):
            if number in held:
                return held[number]
        found = self._known.get(number)
        error = found() if found is not None else None
        return error.error if type(error) is _Link else error

    def rest(self) -> None:
        """Hold none any more, and forget the numbers of those that are gone."""
        for held in (self._held, self._held_raised):
            while held:
                self._let_oldest_go(held)
        self.forget_gone()

    def forget_gone(self) -> None:
        """Forget the numbers of exceptions that are gone."""
        self._known = {number: found for number, found in self._known.items() if found() is not None}
        self._most_known = max(_FEW, 2 * len(self._known))

    def forget_gone_if_many(self) -> bool:
        """Forget them where they may be most of all, so that this takes little time for each exception."""
        if len(self._known) <= self._most_known:
            return False
        self.forget_gone()
        return True

    def _let_oldest_go(self, held: collections.OrderedDict[int, BaseException]) -> None:
        number = next(iter(held))
        box = [held.pop(number)]
        try:
            self._known[number] = weakref.ref(box[0])
        except TypeError:  # it is of a class of Python's own
            if _references(box) <= _ALONE:
                self._known[number] = _gone
                return
            link = vars(box[0]).get("_harena_link")
            if type(link) is not _Link or link.error is not box[0]:
                link = vars(box[0])["_harena_link"] = _Link(box[0])
            self._known[number] = weakref.ref(link)


def _gone() -> None:
    """Nothing is found."""


def _references(box: list[Any]) -> int:
    return sys.getrefcount(box[0])


_ALONE = _references([Exception()])
"""the reference count of an object that is in such a box only"""
