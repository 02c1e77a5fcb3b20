"""Graphs of objects between two processes that speak in turn. Standard library only, Python 3.8 and up.

A suite and a candidate live in two processes, and share lists, dicts and instances as if they lived in one: a mutable
object has a number that both sides know, and who speaks says first what has changed in those that the other side still
holds. So a list that is sorted in place is sorted on both sides, and one object reached twice is one object. What
one side alone has (a function, an instance of its own class) crosses as a reference, which the other side holds as
a stand-in.

What crosses is plain data of the codec of `guest_driver`. An item is a scalar, or a tuple whose first part is its kind:

    ("m", number)                a mutable object, whose state is told apart (see `MUTABLE`), or a view that can be
                                 written to (see `guest_buffers`)
    ("t", items) ("z", items)    tuple, frozenset
    ("v", name, parts)           a value of the standard library, of the few in `VALUES`
    ("#", kind, bytes)           a number, text or time of numpy's
    any other                    a reference, which each side makes and reads in its own way (`refer`, `meet`)

An object is told of as long as both sides hold it. That a side holds it no more is seen by its reference count: an
optimisation, which a wrong count costs the identity of the object and nothing else.
"""

from __future__ import annotations

import array
import collections
import contextlib
import datetime
import decimal
import fractions
import functools
import gc
import importlib
import math
import pathlib
import re
import sys
import uuid

from harena.scoring.guest.buffers import Filled, can_be_filled, is_of_all, view_of
from harena.scoring.guest.driver import UncarriedError, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    _Function = TypeVar("_Function", bound=Callable[..., Any])

SCALARS = frozenset({type(None), bool, int, float, complex, str, bytes})
MOST_PARTS = 4_000_000
"""largest number of parts of one message, whose bytes are limited, too"""
MOST_SHARED = 20_000
"""objects that are told of in each message; more are forgotten, which costs them their identity"""
_MOST_BASE_BYTES = 1 << 20
"""size of an array of which a part can cross as a part, with which all of it does, and of that part"""
_MOST_WATCHED = 256
"""functions, the last ones that were given, whose attributes are seen when they get their first one"""


_is_collecting, _stop_collecting, _collect_again = gc.isenabled, gc.disable, gc.enable


def _without_collection(function: _Function) -> _Function:
    """Has the collector wait until a message is made or read. It runs finalizers, one of which may ask the other side
    (a buffered stream closes the stream below it): a message within a message, of objects that are half told."""

    @functools.wraps(function)
    def guarded(*given: Any) -> Any:
        was_collecting = _is_collecting()
        _stop_collecting()
        try:
            return function(*given)
        finally:
            if was_collecting:
                _collect_again()

    return guarded  # type: ignore[return-value]


LATE = ("asyncio", "zoneinfo")
"""modules of the standard library that few candidates need, and that take long to load"""
_late: dict[str, Any] = {}


class GraphError(ValueError):
    """What the other side said is no graph."""


def late(name: str) -> Any:
    """One of these modules, and never a candidate's of its name. Raises ImportError where Python has none."""
    if name not in _late:
        _late[name] = importlib.import_module(name)
    return _late[name]


def _offset(zone: datetime.tzinfo | None) -> Any:
    """A fixed offset, or the name of a zone."""
    if zone is None:
        return None
    if type(zone) is datetime.timezone:
        return (zone.utcoffset(None).total_seconds(), zone.tzname(None))
    if type(zone).__name__ != "ZoneInfo":
        raise UncarriedError(f"a time zone of the class {type(zone).__name__}")
    return str(zone)


def _zone(offset: Any) -> datetime.tzinfo | None:
    if offset is None:
        return None
    if isinstance(offset, str):
        zone: datetime.tzinfo = late("zoneinfo").ZoneInfo(offset)  # absent from Python 3.8, which makes none
        return zone
    return _fixed_zone(*offset)


def _fixed_zone(seconds: float, name: str) -> datetime.timezone:
    unnamed = datetime.timezone(datetime.timedelta(seconds=seconds))
    return unnamed if unnamed.tzname(None) == name else datetime.timezone(unnamed.utcoffset(None), name)


def _moment(value: Any) -> tuple[Any, ...]:
    return (value.year, value.month, value.day, value.hour, value.minute, value.second, value.microsecond,
            _offset(value.tzinfo), value.fold)  # fmt: skip


def _bytes_of_view(view: memoryview) -> Any:
    """What it shows; itself shared where it can be written to by it, and all of it is shown."""
    return view.obj if is_of_all(view) else view.tobytes()


VALUES: dict[str, tuple[type, Callable[[Any], tuple[Any, ...]], Callable[..., Any]]] = {
    "range": (range, lambda v: (v.start, v.stop, v.step), range),
    "slice": (slice, lambda v: (v.start, v.stop, v.step), slice),
    "Decimal": (decimal.Decimal, lambda v: (str(v),), decimal.Decimal),
    "Fraction": (fractions.Fraction, lambda v: (v.numerator, v.denominator), fractions.Fraction),
    "date": (datetime.date, lambda v: (v.year, v.month, v.day), datetime.date),
    "datetime": (
        datetime.datetime,
        _moment,
        lambda *parts: datetime.datetime(*parts[:7]).replace(tzinfo=_zone(parts[7]), fold=parts[8]),
    ),
    "time": (
        datetime.time,
        lambda v: (v.hour, v.minute, v.second, v.microsecond, _offset(v.tzinfo), v.fold),
        lambda *parts: datetime.time(*parts[:4]).replace(tzinfo=_zone(parts[4]), fold=parts[5]),
    ),
    "timedelta": (
        datetime.timedelta,
        lambda v: (v.days, v.seconds, v.microseconds),
        datetime.timedelta,
    ),
    "timezone": (
        datetime.timezone,
        lambda v: (v.utcoffset(None).total_seconds(), v.tzname(None)),
        _fixed_zone,
    ),
    **{
        cls.__name__: (cls, lambda v: (str(v),), cls)
        for cls in (pathlib.PurePosixPath, pathlib.PureWindowsPath, pathlib.PosixPath)
    },
    "Pattern": (re.Pattern, lambda v: (v.pattern, v.flags & ~re.DEBUG), lambda text, flags: re.compile(text, flags)),
    "UUID": (uuid.UUID, lambda v: (str(v),), uuid.UUID),
    "dict_keys": (type({}.keys()), tuple, lambda *keys: dict.fromkeys(keys).keys()),
    "dict_values": (type({}.values()), tuple, lambda *values: dict(enumerate(values)).values()),
    "dict_items": (type({}.items()), tuple, lambda *pairs: dict(pairs).items()),
    "memoryview": (
        memoryview,
        lambda v: (_bytes_of_view(v), v.format, tuple(v.shape)),
        lambda data, form, shape: memoryview(data) if form == "B" else memoryview(data).cast(form, shape),
    ),
    "ellipsis": (type(...), lambda v: (), lambda: ...),
    "NotImplemented": (type(NotImplemented), lambda v: (), lambda: NotImplemented),
}
"""values of the standard library that are made of plain parts: name -> (class, its parts, what makes one of them)"""
_VALUE_NAMES = {cls: name for name, (cls, _, _) in VALUES.items()}

MUTABLE: dict[Any, str] = {
    list: "l", dict: "d", set: "e", bytearray: "a", collections.deque: "q", collections.OrderedDict: "O",
    collections.Counter: "C", collections.defaultdict: "f",
}  # fmt: skip
"""classes whose instances are shared, and the kind that each is told as"""
_MAKERS: dict[str, Callable[[], Any]] = {kind: cls for cls, kind in MUTABLE.items()}
_MAPPINGS = frozenset("dOCf")


def is_array(value: Any) -> bool:
    """An array of numpy's whose items are plain, or any objects."""
    cls = type(value)
    return cls.__name__ == "ndarray" and cls.__module__ == "numpy" and value.dtype.kind in "biufcSUmMO"


def is_scalar(value: Any) -> bool:
    """A number, a text, a truth or a time of numpy's."""
    cls = type(value)
    if cls.__module__ != "numpy" or "numpy" not in sys.modules:
        return False
    generic = getattr(sys.modules["numpy"], "generic", ())
    return isinstance(value, generic) and value.dtype.kind in "biufcSUmM" and value.dtype.itemsize > 0


def plain_of(value: Any) -> Any:
    """The plain value that such a scalar stands for; any other is itself."""
    return value.item() if is_scalar(value) else value


def _scalar(kind: Any, data: Any) -> Any:
    import numpy as np

    if type(kind) is not str or type(data) is not bytes or not _ARRAY_KIND.fullmatch(kind) or kind[1] == "O":
        raise GraphError("no scalar")
    return np.ndarray((), np.dtype(kind), data)[()]


def _kind_of_array(value: Any) -> str:
    """The type of its items and, behind a mark, how it lies in memory: F = by columns, R = read only, V = as a view."""
    flags = value.flags
    by_columns = "F" if flags.f_contiguous and not flags.c_contiguous else ""
    layout = by_columns + ("" if flags.writeable else "R") + ("" if value.base is None else "V")
    return f"{value.dtype.str}!{layout}" if layout else str(value.dtype.str)


def owner_of(value: Any) -> Any:
    """The array whose memory this one shows a part of; None where that is its own, or no such array's."""
    found = value
    while type(found.base) is type(value):
        found = found.base
    if found is value or found.base is not None or not is_array(found) or not found.flags.forc:
        return None
    has_objects = "O" in (found.dtype.kind, value.dtype.kind)
    return None if has_objects or max(found.nbytes, value.nbytes) > _MOST_BASE_BYTES else found


def _place_in(owner: Any, value: Any) -> list[Any]:
    """Where the memory of an array lies in its owner's: (offset, strides)."""
    address = value.__array_interface__["data"][0] - owner.__array_interface__["data"][0]
    return [address, list(value.strides)]


def _part_of(owner: Any, state: Any) -> Any:
    """An array of this state that shows a part of the owner's memory: (`_kind_of_array`, its shape, the owner's number,
    offset, strides). Raises GraphError or ValueError where there is no such part."""
    import numpy as np

    kind, _, layout = state[0].partition("!")
    if not is_array(owner) or not _ARRAY_KIND.fullmatch(kind) or "O" in (kind[1], owner.dtype.kind):
        raise GraphError("no array")
    memory = owner if owner.flags.c_contiguous else owner.T
    found: Any = np.ndarray(tuple(state[1]), np.dtype(kind), memory.view("u1") if memory.dtype.kind in "mM" else memory,
                            state[3], tuple(state[4]))  # fmt: skip
    if found.nbytes > _MOST_BASE_BYTES:  # it repeats what it shows
        raise GraphError("too large for a part of an array")
    if "R" in layout:
        found.flags.writeable = False
    return found


def _fill_part(held: Any, state: Any) -> None:
    """Give an array that shows a part of another's memory the shape that it has, and whether it can be written to."""
    with contextlib.suppress(AttributeError, ValueError):  # what it shows has another form, which no view takes on
        held.shape = tuple(state[1])
    with contextlib.suppress(ValueError):  # one of another's memory stays as it is
        held.flags.writeable = "R" not in state[0].partition("!")[2]


def _array(state: Any, parts: list[Any]) -> Any:
    """One of this state: (`_kind_of_array`, its shape, its items' bytes, or nothing and `parts`)."""
    import numpy as np

    if type(state[0]) is not str:
        raise GraphError("no array")
    kind, _, layout = state[0].partition("!")
    shape, data = tuple(state[1]), state[2]
    order: Any = "F" if "F" in layout else "C"
    if not _ARRAY_KIND.fullmatch(kind):
        raise GraphError("no array")
    if kind[1] != "O":
        found: Any = np.ndarray(shape, np.dtype(kind), bytearray(data)).copy(order)
    else:
        made = np.empty(len(parts), dtype=object)
        for index, part in enumerate(parts):
            made[index] = part
        found = made.reshape(shape).copy(order)
    found = found.view() if "V" in layout else found
    found.flags.writeable = "R" not in layout
    return found


def _fill_array(made: Any, found: Any) -> None:
    """Give an array the shape and the items of another one."""
    if made.shape != found.shape and made.base is None:
        made.resize(found.shape, refcheck=False)
    elif made.shape != found.shape:
        made.shape = found.shape
    if not made.flags.writeable:
        with contextlib.suppress(ValueError):  # one of another's memory stays as it is
            made.flags.writeable = True
    if made.flags.writeable:
        made[...] = found
        made.flags.writeable = found.flags.writeable


_ARRAY_KIND = re.compile(r"[<>|=][biufcSUmMO]\d{0,6}(\[\d*[a-zA-Z]{1,2}\])?")


class Border:
    """One side's knowledge of what both have."""

    def __init__(self, first: int) -> None:
        """`first`: 0 on one side and 1 on the other, so that no number is given twice."""
        self._next = first
        self._first = first
        self.shared: dict[int, Any] = {}
        self._numbers: dict[int, int] = {}
        self._told: dict[int, bytes] = {}
        self._fresh: list[int] = []
        self._arriving: set[int] = set()
        self._unpacking = 0
        self._gone: dict[int, Any] = {}
        """what was forgotten while a message is unpacked, which may speak of it"""
        self._views: dict[int, Filled] = {}
        """by their numbers, views that both sides have"""
        self._lent_views: list[int] = []
        """numbers of views that say not whose memory they show, which may be gone when the call returns"""
        self._ended_views: list[int] = []
        """numbers of views that this side has forgotten, and the other one not yet"""
        self._alone = self._references()
        self.attributes: dict[int, Any] = {}
        """by the number of a function of the suite's, what it has as attributes; see `guest_functions`"""
        self._watched: collections.deque[Any] = collections.deque(maxlen=_MOST_WATCHED)

    # What each side does in its own way.

    def refer(self, value: Any) -> tuple[Any, ...]:
        """The item for what is no plain value."""
        raise NotImplementedError

    def meet(self, item: tuple[Any, ...]) -> Any:
        """What an item of the other side's stands for here."""
        raise NotImplementedError

    def kind_of(self, value: Any) -> str | None:
        """The kind of a shared object that is of no class in `MUTABLE`; None = it is none."""
        return None

    def state_of(self, kind: str, value: Any) -> Any:
        """The state of such an object."""
        raise NotImplementedError

    def make(self, kind: str, state: Any) -> Any:
        """An object of such a kind, as yet without its state."""
        raise GraphError(f"unknown kind {kind!r}")

    def fill(self, kind: str, made: Any, state: Any) -> None:
        """Give it its state."""
        raise GraphError(f"unknown kind {kind!r}")

    def copies_part(self) -> None:
        """An array that shows another's memory has come as a copy of it."""

    def shows(self, view: memoryview) -> None:
        """A view crosses as what it shows, and stays as it is here, whatever is written there."""

    # From here to there.

    @_without_collection
    def pack(self, *roots: Any) -> tuple[Any, ...]:
        """(items of the roots, states of what has changed or is new, numbers of what this side holds no more)."""
        items = [self.item(root) for root in roots]
        states: list[Any] = []
        self._share_attributes()
        waiting = [number for number in self.shared if number not in self._arriving]
        self._fresh = []
        seen = set(waiting)
        while waiting:
            for number in waiting:
                self._tell(number, states)
            self._share_attributes()
            waiting = [number for number in self._fresh if number not in seen]
            seen.update(waiting)
            self._fresh = []
        return items, states, self._sweep()

    def _tell(self, number: int, states: list[Any]) -> None:
        value = self.shared[number]
        kind = MUTABLE.get(type(value)) or self._kind(value)
        assert kind is not None
        state = self._state(kind, value)
        told = encode((kind, state), most_parts=MOST_PARTS)
        if self._told.get(number) != told:
            self._told[number] = told
            states.append((number, kind, state))

    def watch(self, attributes: Any) -> None:
        """Share a function's attributes as soon as it has one. Most have none, which then cost no message anything."""
        self.attributes[attributes.number] = attributes
        self._watched.append(attributes)

    def _share_attributes(self) -> None:
        for attributes in self._watched:
            if attributes.has_changed() and id(attributes) not in self._numbers:
                self.number_of(attributes)

    def end_views(self, first: int) -> None:
        """A call has returned: forget the views that were lent to it, `first` of which were lent before."""
        while len(self._lent_views) > first:
            number = self._lent_views.pop()
            if number in self.shared:
                self._forget(number)
                self._ended_views.append(number)

    def item(self, value: Any) -> Any:
        """One value as an item."""
        kind = type(value)
        if kind in SCALARS:
            return value
        if kind is tuple:
            return ("t", [self.item(part) for part in value])
        if kind in MUTABLE or self._kind(value) is not None:
            return ("m", self.number_of(value))
        if kind is frozenset:
            return ("z", [self.item(part) for part in value])
        name = _VALUE_NAMES.get(kind)
        if name is not None:
            if kind is memoryview:
                self.shows(value)
            return ("v", name, [self.item(part) for part in VALUES[name][1](value)])
        if is_scalar(value):
            return ("#", value.dtype.str, value.tobytes())
        return self.refer(value)

    def _kind(self, value: Any) -> str | None:
        kind = type(value)
        if kind is memoryview:
            return "w" if id(value) in self._numbers or can_be_filled(value) else None
        if kind is array.array:
            return "A"
        return "N" if is_array(value) else self.kind_of(value)

    def number_of(self, value: Any) -> int:
        """The number of a shared object, which is shared from here on."""
        number = self._numbers.get(id(value))
        if number is None:
            if is_array(value) and (owner := owner_of(value)) is not None:
                self.number_of(owner)  # told of before what shows a part of it
            number = self._next
            self._next += 2
            self.shared[number] = value
            self._numbers[id(value)] = number
            self._fresh.append(number)
            if type(value) is memoryview:
                self._views[number] = Filled(value)
                if value.obj is None:
                    self._lent_views.append(number)
        return number

    def _state(self, kind: str, value: Any) -> Any:
        item = self.item
        if kind == "l" or kind == "e":
            return [part if type(part) in SCALARS else item(part) for part in value]
        if kind in _MAPPINGS:
            told = collections.OrderedDict if kind == "O" else dict  # which keeps an order of its own
            pairs = [item(part) for pair in told.items(value) for part in pair]
            return [item(value.default_factory), *pairs] if kind == "f" else pairs
        if kind == "a":
            return bytes(value)
        if kind == "q":
            return [value.maxlen, *map(item, value)]
        if kind == "w":
            return self._views[self._numbers[id(value)]].state(value)
        if kind == "A":
            return [value.typecode, value.tobytes()]
        if kind == "N":
            owner = owner_of(value)
            if owner is not None and id(owner) in self._numbers:
                place = _place_in(owner, value)
                return [_kind_of_array(value), list(value.shape), self._numbers[id(owner)], *place]
            has_objects = value.dtype.kind == "O"
            objects = [item(part) for part in value.ravel().tolist()] if has_objects else []
            return [_kind_of_array(value), list(value.shape), b"" if has_objects else value.tobytes(), *objects]
        return self.state_of(kind, value)

    # From there to here.

    @_without_collection
    def unpack(self, items: Any, states: Any, dropped: Any) -> list[Any]:
        """The roots, after what has changed was changed here. Raises GraphError and whatever a malformed graph gives."""  # noqa: E501
        self._check(items, states, dropped)
        self._unpacking += 1
        try:
            self._take(states)
            roots = [self.value(item) for item in items]
            for number in dropped:
                self._forget(number)
        finally:
            self._unpacking -= 1
            if not self._unpacking:
                self._gone.clear()
        return roots

    def _take(self, states: Any) -> None:
        for number, kind, state in states:
            if number not in self.shared:
                if number % 2 == self._first:
                    raise GraphError("a number of this side's own")
                found = self._made(kind, state)
                self.shared[number] = found
                self._numbers[id(found)] = number
                if kind == "w":
                    self._views[number] = Filled(found, is_made=True)
        # to hash a part may be to ask the other side, which must not be told of what is half filled, and which may drop
        # what it has just sent
        self._arriving.update(number for number, _, _ in states)
        # what is hashed by its attributes must have them first
        for hashed in (False, True):
            for number, kind, state in states:
                if (kind == "e" or kind in _MAPPINGS) is hashed:
                    found = self._known(number)
                    self._fill(kind, found, state)
                    if number in self.shared:  # in this side's own words: else each message would tell of it again
                        self._told[number] = encode((kind, self._state(kind, found)), most_parts=MOST_PARTS)
        self._arriving.difference_update(number for number, _, _ in states)

    def _known(self, number: int) -> Any:
        return self.shared[number] if number in self.shared else self._gone[number]

    def _check(self, items: Any, states: Any, dropped: Any) -> None:
        if type(items) is not list or type(states) is not list or type(dropped) is not list:
            raise GraphError("not a graph")

    def _made(self, kind: str, state: Any) -> Any:
        if kind == "q":
            return collections.deque(maxlen=state[0])
        if kind == "N" and type(state[2]) is int:
            return _part_of(self._known(state[2]), state)
        if kind == "N":
            if "V" in str(state[0]).partition("!")[2]:
                self.copies_part()
            return _array(state, [None] * len(state[3:]))
        if kind == "w":
            return view_of(state)
        if kind == "A":
            return array.array(state[0])
        return _MAKERS[kind]() if kind in _MAKERS else self.make(kind, state)

    def _fill(self, kind: str, held: Any, state: Any) -> None:
        known = MUTABLE.get(type(held)) or self._kind(held)
        if known != kind:
            raise GraphError("an object of another kind")
        value = self.value
        if kind == "l":
            # a NaN, which is not equal to itself, is the one that has a name
            held[:] = [part if type(part) in SCALARS and part == part else value(part) for part in state]
        elif kind == "e":
            held.clear()
            held.update(map(value, state))
        elif kind in _MAPPINGS:
            parts = list(map(value, state))
            if kind == "f":
                held.default_factory = parts.pop(0)
            owner = collections.OrderedDict if kind == "O" else dict
            owner.clear(held)
            for index in range(0, len(parts), 2):
                owner.__setitem__(held, parts[index], parts[index + 1])
        elif kind == "a":
            held[:] = state
        elif kind == "N" and type(state[2]) is int:
            _fill_part(held, state)
        elif kind == "N":
            _fill_array(held, _array(state, list(map(value, state[3:]))))
        elif kind == "w":
            if (number := self._numbers.get(id(held))) in self._views:
                self._views[number].fill(held, state[2])
        elif kind == "A":
            if held.typecode != state[0]:
                raise GraphError("an array of other items")
            held[:] = array.array(state[0], state[1])
        elif kind == "q":
            held.clear()
            held.extend(map(value, state[1:]))
        else:
            self.fill(kind, held, state)

    def value(self, item: Any) -> Any:
        """What an item stands for."""
        kind = type(item)
        if kind in SCALARS:  # the NaN that has a name is one object on both sides, as it is in one process
            return math.nan if kind is float and item != item else item
        if kind is not tuple or not item:
            raise GraphError("not an item")
        kind = item[0]
        if kind == "m":
            return self._known(item[1])
        if kind == "t":
            return tuple([self.value(part) for part in item[1]])
        if kind == "z":
            return frozenset(map(self.value, item[1]))
        if kind == "v":
            return VALUES[item[1]][2](*map(self.value, item[2]))
        if kind == "#":
            return _scalar(item[1], item[2])
        return self.meet(item)

    # What need not be told any more.

    def _references(self) -> int:
        """The reference count of an object that only `shared` holds."""
        probe = {0: [None]}
        return next(sys.getrefcount(probe[number]) for number in list(probe))

    def _sweep(self) -> list[int]:
        """Forget what only this table holds; their numbers."""
        shared, alone = self.shared, self._alone
        dropped = [number for number in list(shared) if sys.getrefcount(shared[number]) <= alone]
        if self._views:
            dropped = [number for number in dropped if number not in self._views or self._is_gone(number)]
        if len(shared) - len(dropped) > MOST_SHARED:
            dropped = list(shared)
        for number in dropped:
            self._forget(number)
        ended, self._ended_views = self._ended_views, []
        return [*ended, *dropped] if ended else dropped

    def _is_gone(self, number: int) -> bool:
        """No view is left of the memory behind one that only this table holds. What a view of this side's own leads to
        can be seen without it, so only the other side knows when nobody writes by it any more."""
        known = self._views[number]
        if known.memory is None:
            return False
        del self._numbers[id(self.shared.pop(number))]
        is_held = known.is_held()
        again = self.shared[number] = known.again()
        self._numbers[id(again)] = number
        return not is_held

    def _forget(self, number: int) -> None:
        value = self.shared.pop(number, None)
        self._told.pop(number, None)
        self._views.pop(number, None)
        if self._unpacking and value is not None:
            self._gone[number] = value
        if self._numbers.get(id(value)) == number:
            del self._numbers[id(value)]
