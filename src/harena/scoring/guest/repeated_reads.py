"""What the suite has seen of the candidate's objects: to look twice is to see the same. Standard library only.

An object of the candidate's could answer each look in another way: three items when they are counted, none when they are
checked, a prime where a prime is wanted and a divisor where that is. So what a look has shown is kept, and shown again,
until the suite does what may change it: any call of the candidate's code that is no look.

An honest object may show another thing each time, too: a property that counts, a cursor that moves on. So what is shown
again is asked for again, and a loop is gone through again, unseen: what that changes on the way is changed. Where the
object has something else to show by then, a test that fails may fail for that, and counts as not served where no gold
solution shows that the suite needs no such object.

Of a class that the suite names, less is a look: its items, its attributes and what its loop does on the way may be what is
tested (a cache that counts, a queue that a loop drains), and are asked for each time.
"""  # noqa: E501

from __future__ import annotations

import contextlib
import types

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

PURE = frozenset({
    "__len__", "__contains__", "__bool__", "__hash__", "__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__",
    "__str__", "__repr__", "__format__", "__int__", "__float__", "__complex__", "__index__", "__bytes__", "__round__",
    "__trunc__", "__floor__", "__ceil__", "__abs__", "__neg__", "__pos__", "__invert__",
})  # fmt: skip
"""special methods that change nothing, whatever the class"""
_ITEMS = frozenset({"__getitem__", "__reversed__"})
_QUIET = frozenset({"signature", "probe", "copy", "deepcopy", "module"})
_MOST_KEPT = 100_000
_MOST_AGAIN = 16
"""so many times each look that is shown again is asked for again; after that at times that lie twice as far apart"""
_MOST_STEPS_AGAIN = 2_000
"""so many steps of loops that are shown again are gone through again, each of which is a message"""
_MOST_SAME = 100_000
"""number of equal looks in a row after which the suite is taken to wait for something"""


class Looks:
    """What has been seen since the candidate last did anything."""

    def __init__(self) -> None:
        self._known: dict[Any, tuple[Any, BaseException | None]] = {}
        self._loops: dict[int, Loop] = {}
        self._again: dict[Any, int] = {}
        """how often what is kept was shown again"""
        self._steps_again = 0
        self._is_computing = False
        self._last: Any = None
        self._same = 0
        self._quiet = 0
        self._claims: dict[int, int] = {}
        """how many items answers of classes that the suite names say that they have, until a loop shows one"""
        self._empty: set[int] = set()
        """numbers of answers whose loop has shown no items"""

    def claim(self, number: int, count: int) -> bool:
        """An answer says how many items it has; whether a loop has shown otherwise."""
        self._claims[number] = count
        return count > 0 and number in self._empty

    def claimed(self, number: int) -> int:
        """How many items it has said that it has, if nothing has changed since."""
        return self._claims.get(number, 0)

    def ends_empty(self, number: int, claimed: int) -> None:
        """A loop over it has shown nothing. Raises TypeError where it had said that there is something: what a test
        does with each item would be done with none."""
        self._empty.add(number)
        if claimed > 0:
            raise TypeError("an object of the candidate's says that it has items, and a loop gives none")

    def key(self, verb: str, target: Any, name: str, positional: Any, keywords: Any) -> Any:
        """What a look is known by; None for what is no look."""
        if keywords or verb not in ("get", "special", "names"):
            return None
        if verb == "special" and name not in PURE and (name not in _ITEMS or _is_named(target)):
            return None
        if verb != "special" and _is_named(target):
            return None
        owner = _name_of(target)
        told = _name_of(tuple(positional)) if positional else ()
        return None if owner is None or told is None else (verb, owner, name, told)

    @property
    def has_any(self) -> bool:
        """Something is kept."""
        return bool(self._known or self._loops)

    def known(self, key: Any) -> tuple[Any, BaseException | None] | None:
        """(what was seen, what was raised), if it was."""
        if key == self._last:
            self._same += 1
            if self._same > _MOST_SAME:
                self._known.pop(key, None)
        else:
            self._last, self._same = key, 0
        return self._known.get(key)

    def is_due(self, key: Any) -> bool:
        """What this look has shown, and shows again now, is to be asked for again."""
        count = self._again[key] = self._again.get(key, 0) + 1
        return count <= _MOST_AGAIN or not count & (count - 1)

    def keep(self, key: Any, found: Any, error: BaseException | None = None) -> None:
        """What a look has shown. An iterator is another one each time."""
        is_iterator = isinstance(found, (types.GeneratorType, types.CoroutineType)) or hasattr(type(found), "__next__")
        if not is_iterator and len(self._known) < _MOST_KEPT:
            self._known[key] = found, error

    def did(self, verb: str, name: str) -> None:
        """Something that was no look may have changed everything."""
        if not self._quiet and verb not in _QUIET and (verb, name) != ("special", "__iter__"):
            self.forget()

    @contextlib.contextmanager
    def quiet(self) -> Iterator[None]:
        """What is asked in the meantime changes nothing that was seen."""
        self._quiet += 1
        try:
            yield
        finally:
            self._quiet -= 1

    def forget(self) -> None:
        """Forget everything that was found, so that it is looked at anew."""
        self._known.clear()
        self._again.clear()
        self._loops.clear()
        self._claims.clear()
        self._empty.clear()

    def loop(self, stand_in: Any, candidate: Any) -> Any:
        """Its items, which are the same for each loop."""
        number = object.__getattribute__(stand_in, "_harena_item")[1]
        seen = self._loops.get(number)
        if seen is not None and not (seen.is_ended and _is_named(stand_in)):
            return seen.items(self._gone_through(stand_in, candidate))
        found = candidate.ask("special", stand_in, "__iter__")
        if found is stand_in:
            return stand_in
        fresh = Loop(self, number, iter(found), _is_named(stand_in), self.claimed(number))
        if seen is not None:  # one that the last loop has drained has nothing left; else it has what it had
            return seen.items() if fresh.has_any() else iter(())
        self._loops[number] = fresh
        return fresh.items()

    def computes(self, stand_in: Any) -> Any:
        """A loop over it that only this side needs, to compute by."""
        before, self._is_computing = self._is_computing, True
        try:
            return iter(stand_in)
        finally:
            self._is_computing = before

    def _gone_through(self, stand_in: Any, candidate: Any) -> Any:
        """A loop of the candidate's that nobody sees, beside one that is shown again; None where none is needed."""
        number = object.__getattribute__(stand_in, "_harena_item")[1]
        if self._is_computing or self._steps_again >= _MOST_STEPS_AGAIN or not self.is_due(("loop", number)):
            return None
        with self.quiet(), contextlib.suppress(Exception):
            found = candidate.ask("special", stand_in, "__iter__")
            return None if found is stand_in else iter(found)
        return None

    def step(self, source: Any) -> bool:
        """Go on with such a loop, whatever it gives; whether it goes on."""
        if self._steps_again >= _MOST_STEPS_AGAIN:
            return False
        self._steps_again += 1
        self._quiet += 1
        try:
            next(source)
        except Exception:  # noqa: BLE001 (also its end: what is shown was seen before)
            return False
        finally:
            self._quiet -= 1
        return True

    def pull(self, loop: Loop) -> Any:
        """The next of its items."""
        is_current = self._loops.get(loop.number) is loop
        self._quiet += 1
        try:
            return next(loop.source)
        finally:
            self._quiet -= 1
            if loop.is_named:
                self.forget()
                if is_current:
                    self._loops[loop.number] = loop

    def drop(self, loop: Loop) -> None:
        """It has too many items to be kept."""
        if self._loops.get(loop.number) is loop:
            del self._loops[loop.number]


class Loop:
    """The items of one loop over an object, kept for the next."""

    def __init__(self, looks: Looks, number: int, source: Iterator[Any], is_named: bool, claimed: int) -> None:
        self.number, self.source, self.is_named = number, source, is_named
        self.is_ended = False
        self._looks = looks
        self._claimed = claimed
        self._seen: list[Any] = []

    def has_any(self) -> bool:
        """There is a first item."""
        return any(True for _ in self.items())

    def items(self, again: Any = None) -> Iterator[Any]:
        """From the first one on. `again`: a loop that is gone through beside, while it lasts."""
        index = 0
        while True:
            if again is not None and not self._looks.step(again):
                again = None
            if index == len(self._seen):
                if self.is_ended:
                    return
                try:
                    self._seen.append(self._looks.pull(self))
                except StopIteration:
                    self.is_ended = True
                    if not self._seen:
                        self._looks.ends_empty(self.number, self._claimed)
                    return
                if len(self._seen) == _MOST_KEPT:
                    self._looks.drop(self)
            yield self._seen[index]
            index += 1


def _is_named(target: Any) -> bool:
    """An object of a class that the suite names."""
    return bool(getattr(type(target), "_harena_is_named", False))


def is_tested(target: Any) -> bool:
    """What the suite itself made of a class that it names; what it says is asked for each time."""
    try:
        return _is_named(target) and object.__getattribute__(target, "_harena_origin") == "made"
    except AttributeError:
        return False


def _name_of(value: Any) -> Any:
    """What tells a target or an operand from others; None where it can change, or is not known."""
    kind = type(value)
    if value is None or kind in (bool, int, float, complex, str, bytes):
        return kind, repr(value) if kind in (float, complex) else value
    if kind is tuple:
        parts = [_name_of(part) for part in value]
        return None if None in parts else (kind, *parts)
    if kind is slice:
        return _name_of((slice.__name__, value.start, value.stop, value.step))
    if isinstance(value, type):
        number = type.__dict__["__dict__"].__get__(value).get("_harena_number")
        return ("class", number) if number is not None else None
    try:
        item = object.__getattribute__(value, "_harena_item")
    except AttributeError:
        error = vars(value).get("_harena_error", -1) if isinstance(value, Exception) else -1
        return ("error", error) if error >= 0 else None
    if item is None:  # a container that both sides have: what is in it is compared before a look is shown again
        return "container", value._harena_candidate.number_of(value)
    return item[:2] if type(item) is tuple else None
