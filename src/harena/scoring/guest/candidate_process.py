"""The process in which a candidate's modules live while a trusted suite is run elsewhere. Standard library only.

It loads and calls what the suite asks for, on real objects (see `guest_object_graph`), and states what came of it. Nothing
here is trusted: the candidate shares this process, and all that it can win is to state values and to name classes of its
own. What is judged is judged by the suite.

A message is (kind, items, states, dropped, more); `more` goes with a question of the suite's: (whether its standard input
is a replaced one, whether its `input` is, arguments of `random.seed` or None, numbers of objects that it holds no more);
with whatever the suite says, classes of records that the candidate has from now on (see `guest_record_classes`); with what the
candidate says: (descriptions of classes, what it printed).

    suite       ask: (verb, target, name, positional, keywords)         give, fail: what a call of its function came to
    candidate   give: (value)    fail: (class, arguments, attributes, message, number)    stop: (value)    ask: a call
"""  # noqa: E501

from __future__ import annotations

import abc
import builtins
import collections
import contextlib
import copy
import datetime
import decimal
import enum
import fractions
import functools
import importlib
import inspect
import io
import os
import random
import sys
import threading
import time
import types

from harena.scoring.guest.callers import Callers
from harena.scoring.guest.candidate_alarms import Alarms
from harena.scoring.guest.descriptor_output import Written
from harena.scoring.guest.driver import MOST_FILES, OWNER, PLAIN, decode, encode, is_forked_child, out_of_reach
from harena.scoring.guest.exception_transfer import GROUPS, builtin_fields, class_here, remade
from harena.scoring.guest.functions import (
    Attributes,
    Steps,
    WithheldDefault,
    alias,
    alias_of,
    count_as_streams,
    fill_attributes,
    pure_functions,
    signature_in,
    signature_of,
    speaker,
    text_of_function,
    told_attributes,
)
from harena.scoring.guest.library_functions import FUNCTIONS, has_state, name_of, place_of
from harena.scoring.guest.metaclass_methods import own_of_metaclass
from harena.scoring.guest.numbered_exceptions import KeptErrors
from harena.scoring.guest.object_graph import LATE, MOST_PARTS, MUTABLE, SCALARS, VALUES, Border, late, plain_of
from harena.scoring.guest.object_permissions import is_data
from harena.scoring.guest.operator_effects import may_have_effects
from harena.scoring.guest.own_names import leave_no_names
from harena.scoring.guest.process_copies import COPIES
from harena.scoring.guest.record_classes import HeldRecords

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

UNCROSSED = "a value that cannot cross"
"""how the message begins that says so"""
_TURN_SECONDS, _MOST_TURN_SECONDS = 0.005, 0.5
_monotonic = time.monotonic
LONGEST_FRAME_BYTES = 9 * 1024 * 1024
MOST_PRINTED_CHARACTERS = 1_000_000
_HELD_ERRORS = 256
"""exceptions of the candidate's that are held for the suite, which may give them back"""
_MOST_CHAINED = 4
_GOES_ON = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
SPECIAL = (
    "__len__", "__getitem__", "__setitem__", "__delitem__", "__contains__", "__iter__", "__next__", "__reversed__",
    "__str__", "__repr__", "__format__", "__bool__", "__int__", "__float__", "__complex__", "__index__", "__round__",
    "__trunc__", "__floor__", "__ceil__", "__bytes__", "__hash__", "__eq__", "__ne__", "__lt__", "__le__", "__gt__",
    "__ge__", "__call__", "__enter__", "__exit__", "__add__", "__sub__", "__mul__", "__matmul__", "__truediv__",
    "__floordiv__", "__mod__", "__divmod__", "__pow__", "__lshift__", "__rshift__", "__and__", "__xor__", "__or__",
    "__radd__", "__rsub__", "__rmul__", "__rmatmul__", "__rtruediv__", "__rfloordiv__", "__rmod__", "__rdivmod__",
    "__rpow__", "__rlshift__", "__rrshift__", "__rand__", "__rxor__", "__ror__", "__iadd__", "__isub__", "__imul__",
    "__imatmul__", "__itruediv__", "__ifloordiv__", "__imod__", "__ipow__", "__ilshift__", "__irshift__", "__iand__",
    "__ixor__", "__ior__", "__neg__", "__pos__", "__abs__", "__invert__", "__await__", "__aiter__", "__anext__",
    "__aenter__", "__aexit__", "__missing__",
)  # fmt: skip
"""special methods that a stand-in may have where its class has them"""
OF_METACLASSES = ("__iter__", "__reversed__", "__len__", "__contains__", "__getitem__")
"""methods that a class itself may have of its metaclass"""
SAID = frozenset({
    "__len__", "__contains__", "__bool__", "__int__", "__float__", "__complex__", "__index__", "__hash__", "__eq__",
    "__ne__", "__lt__", "__le__", "__gt__", "__ge__",
})  # fmt: skip
"""special methods whose answer Python makes a plain value"""
DESCRIBING = ("__get__", "__set__", "__delete__", "__set_name__", "__fspath__")
"""special methods that no object of the suite's shows to a candidate, and one of the candidate's may have"""
_VALUE_CLASSES = {
    "Decimal": decimal.Decimal, "Fraction": fractions.Fraction, "datetime": datetime.datetime, "date": datetime.date,
    "timedelta": datetime.timedelta, "time": datetime.time,
}  # fmt: skip
_LOADED_AT_START = frozenset({
    "abc", "builtins", "codecs", "encodings", "genericpath", "io", "marshal", "os", "posix", "posixpath", "site",
    "stat", "sys", "time", "zipimport",
})  # fmt: skip
_IMMUTABLE = (int, float, complex, str, bytes, tuple, frozenset, *_VALUE_CLASSES.values())
_CONTAINERS = tuple(MUTABLE)
_METHODS = (types.FunctionType, classmethod, staticmethod)
_PLAIN_CLASSES = frozenset({object, type, *PLAIN, bool, bytearray, memoryview, property, type(None)})


def read_frame(descriptor: int) -> bytes | None:
    """A frame's body; None at the end of the stream, or where there is no frame."""
    size = int(_exactly(descriptor, 8) or b"0", 16)
    return _exactly(descriptor, size) if 0 < size <= LONGEST_FRAME_BYTES else None


def _exactly(descriptor: int, size: int) -> bytes | None:
    pieces = bytearray()
    while len(pieces) < size:
        piece = os.read(descriptor, size - len(pieces))
        if not piece:
            return None
        pieces += piece
    return bytes(pieces)


def write_frame(descriptor: int, body: bytes) -> None:
    """Its length in eight hexadecimal digits, and the body."""
    rest = memoryview(b"%08x" % len(body) + body)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


class _Printed:
    """Standard output, as text that goes with the next answer."""

    def __init__(self) -> None:
        self._bytes = io.BytesIO()
        sys.stdout = io.TextIOWrapper(self._bytes, encoding="utf-8", errors="backslashreplace", write_through=True)
        self._stream = sys.stdout

    def taken(self) -> str:
        """What has been printed since."""
        try:
            self._stream.flush()
            text = self._bytes.getvalue().decode("utf-8", "replace")
            self._bytes.seek(0)
            self._bytes.truncate()
        except ValueError:  # the candidate has closed it
            return ""
        return text[:MOST_PRINTED_CHARACTERS]


class _SuiteInput(io.TextIOBase):
    """Standard input: the suite's, where it has put one there; else empty."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._rest = ""
        """rest of a line, which was not read yet"""

    def readable(self) -> bool:
        return True

    def readline(self, size: int | None = -1) -> str:  # type: ignore[override]
        line = self._rest or (str(self._home.ask_suite("readline")) if self._home.has_input else "")
        size = len(line) if size is None or size < 0 else size
        self._rest = line[size:]
        return line[:size]

    def read(self, size: int | None = -1) -> str:
        if size is None or size < 0:
            return "".join(iter(self.readline, ""))
        found = ""
        while len(found) < size:
            part = self.readline(size - len(found))
            if not part:
                break
            found += part
        return found


class Proxy:
    """An object of the suite's that the candidate was given."""

    def __init__(self, home: Home, number: int) -> None:
        object.__setattr__(self, "_harena", (home, number))

    def __getattr__(self, name: str) -> Any:
        home, number = object.__getattribute__(self, "_harena")
        if name.startswith("_"):
            raise AttributeError(name)
        return home.ask_suite("get", number, name)

    def __setattr__(self, name: str, value: Any) -> None:
        home, number = object.__getattribute__(self, "_harena")
        home.ask_suite("set", number, name, value)


def _special(name: str) -> Any:
    def method(self: Proxy, /, *positional: Any, **keywords: Any) -> Any:
        home, number = object.__getattribute__(self, "_harena")
        return home.ask_suite("special", number, name, positional, tuple(keywords.items()))

    method.__name__ = name
    return method


class Home(Border):
    """The candidate's side."""

    def __init__(self, requests: int, replies: int, on_both_sides: set[str]) -> None:
        """`on_both_sides`: names of trusted modules that both sides have."""
        super().__init__(1)
        self._requests, self._replies = requests, replies
        self._on_both_sides = on_both_sides
        self._exported: dict[int, Any] = {}
        self._export_numbers: dict[int, int] = {}
        self._leaving: list[Any] = []
        """objects that the suite holds no more: they end when it answers, because a finalizer may ask it"""
        self._exports = 0
        self._lent: dict[int, tuple[Any, str, str]] = {}
        """what the suite has given that both sides have, and what the candidate may hand out as itself: object, module,
        name"""
        self._handed: dict[tuple[str, str], Any] = {}
        """functions of libraries that the suite was given as its own, as they were then, by module and path"""
        for (module, name), function in pure_functions().items():
            self._lent[id(function)] = (function, module, name)
        self._records = HeldRecords()
        self._held: dict[int, Any] = {}
        """objects of classes that derive from a container, and of records, until the suite holds them no more"""
        self._classes: dict[int, int] = {}
        self._class_list: list[Any] = []
        self._untold: list[Any] = []
        self._proxies: dict[int, Any] = {}
        self._proxy_numbers: dict[int, int] = {}
        self._ended_iterators: dict[int, BaseException] = {}
        self._errors = KeptErrors(_HELD_ERRORS)
        """the last ones that the suite was told of, which it may hand back"""
        self._error_numbers: dict[int, int] = {}
        """their numbers, by their ids"""
        self._errors_told = self._chained = 0
        self._loop: Any = None
        self._printed = _Printed()
        self._written = Written()
        self._alarms = Alarms()
        self._callers = Callers(globals())
        self._turn = threading.Condition(threading.RLock())
        self._had_pending = False
        self._open = 0
        """questions that the suite waits for an answer to"""
        self._talks = 0
        """requests to the suite that it has not met yet, each but the first made while the one before was served"""
        self._waiting: list[None] = []
        """one for each thread that waits for such a question, also while another thread talks"""
        self._is_talking = 0
        self._serving = -1
        """the thread that answers what the suite asks by itself"""
        """messages that are being made or read"""
        self.has_input = False
        self._input_replaced = False
        sys.stdin = _SuiteInput(self)
        original = builtins.input

        def asked_input(prompt: Any = "", /) -> str:
            return str(self.ask_suite("input", prompt)) if self._input_replaced else original(prompt)

        builtins.input = asked_input

    # Talking.

    def serve(self) -> None:
        """Answer questions until there are none."""
        self._serving = threading.get_ident()
        while True:
            body = read_frame(self._requests)
            if body is None:
                os._exit(0)
            self._answer(body)

    def _answer(self, body: bytes) -> None:
        message: tuple[Any, ...]
        request: Any = None
        talks = self._talks
        try:
            with self._turn:
                request = self._heard(body)
                talks = self._talks
                self._open += 1
                self._turn.notify_all()
            with self._alarms.let_through():
                self._leaving.clear()
                try:
                    message = ("give", (self._done(*request),))
                finally:
                    self._callers.is_watched()
        except StopIteration as error:
            message = ("stop", (error.value,))
        except BaseException as error:  # whatever it raised is the answer
            if is_forked_child():
                raise
            message = ("fail", error)
        if is_forked_child():
            raise SystemExit
        with self._turn:
            while self._talks != talks:  # a thread that talks to the suite comes to its end before
                self._turn.wait()
            self._open -= request is not None
            request = None
            said = self._said_anyhow(*message)
            message = ()
            write_frame(self._replies, said)

    def _said_anyhow(self, kind: str, what: Any) -> bytes:
        """The message, or that it cannot cross: too much, too deep, changed by a thread."""
        known = set(self.shared)
        try:
            return self._said(kind, self._told_error(what) if kind == "fail" else what)
        except BaseException as error:  # noqa: BLE001 (whatever keeps a value from crossing)
            for number in set(self.shared) - known:
                self._forget(number)
            self._told.clear()
            said = (TypeError, (), (), f"{UNCROSSED}: {error!r}"[:300], -1)
        try:
            return self._said("fail", said)
        except BaseException:  # noqa: BLE001 (what both sides have has become too much)
            return encode(("fail", [("b", "TypeError"), ("t", []), ("t", []), said[3], -1], [], [], ([], "")))

    def _heard(self, body: bytes) -> list[Any]:
        self._is_talking += 1
        try:
            return self._read(body)
        finally:
            self._is_talking -= 1

    def _read(self, body: bytes) -> list[Any]:
        kind, items, states, dropped, more = decode(body, 0)[0]
        self._records.learn(more[-1])
        if kind == "ask":
            self.has_input, self._input_replaced, seed, released = more[:4]
            for number in released:
                gone = self._exported.pop(number, None)
                self._export_numbers.pop(id(gone), None)
                self._leaving.append(gone)
            if seed is not None:
                random.seed(*seed)
        return (
            [kind, *self.unpack(items, states, dropped)][1:]
            if kind == "ask"
            else [kind, *self.unpack(items, states, dropped)]
        )

    def _said(self, kind: str, roots: tuple[Any, ...]) -> bytes:
        self._is_talking += 1
        try:
            return self._made_message(kind, roots)
        finally:
            self._is_talking -= 1

    def _made_message(self, kind: str, roots: tuple[Any, ...]) -> bytes:
        items, states, dropped = self.pack(*roots)
        described: list[Any] = []
        telling: list[Any] = []
        while self._untold:  # a description may name other classes
            telling.append(self._untold.pop(0))
            described.append(self._described(telling[-1]))
        try:
            changed = self._records.changed()
            more = filter(None, (self._written.taken(), self._callers.taken(), (changed,) if changed else ()))
            said = (described, self._printed.taken(), *more)
            return encode((kind, items, states, dropped, said), most_parts=MOST_PARTS)
        except BaseException:  # raised again: whatever stopped it, these classes are told of next time
            self._untold[:0] = telling  # what is said instead tells of them
            raise

    def ask_suite(self, verb: str, *parts: Any) -> Any:
        """Let the suite do something with its own objects. Raises what that raised."""
        self._callers.is_watched()
        with self._alarms.held():
            return self._asked_of_suite(verb, *parts)

    def _asked_of_suite(self, verb: str, *parts: Any) -> Any:
        self._waiting.append(None)
        with self._turn:  # one thread talks at a time, and only while the suite waits for an answer
            try:
                # a finalizer, while this thread itself reads a question, says an answer or waits for a question: nobody
                # else would open the conversation that it would wait for
                if not self._open and threading.get_ident() == self._serving:
                    raise RuntimeError("the suite answers nobody at this moment")
                while not self._open:
                    self._turn.wait()
            finally:
                self._waiting.pop()
            lent = len(self._lent_views)
            try:
                write_frame(self._replies, self._said("ask", (verb, *parts)))
                kind, *parts_given = self._met()
            finally:
                self.end_views(lent)
            if kind == "give":
                return parts_given[0]
            name, arguments, message, number, *others = parts_given
            fields, own = others or ((), -1)
            # what the suite's function let through is what it was
            raised = self._known_error(name, arguments, message, number, fields, own)
            vars(raised)["_harena_raised"] = number
            raise raised

    def _met(self) -> list[Any]:
        """What the suite says to the request that was made last, once its own questions are answered."""
        self._talks += 1
        try:
            while True:
                body = read_frame(self._requests)
                if body is None:
                    os._exit(0)
                if decode(body, 0)[0][0] != "ask":
                    return self._heard(body)
                self._answer(body)
        finally:
            self._talks -= 1
            self._turn.notify_all()

    def _let_threads_talk(self) -> None:
        """Let those threads talk to the suite that wait for it to listen."""
        deadline = _monotonic() + _MOST_TURN_SECONDS
        with self._turn:
            while self._waiting and _monotonic() < deadline:
                self._turn.notify_all()
                self._turn.wait(_TURN_SECONDS)

    def _told_error(self, error: BaseException, *, is_raised: bool = True) -> tuple[Any, ...]:
        """(class, arguments, attributes, message, number of the suite's own exception or -1, its own number, what it
        was raised from). One that is raised leaves its frames behind; one that is a value stays as it is."""
        number = getattr(error, "_harena_raised", -1)
        try:
            message = str(error)[:2000]
        except BaseException:  # noqa: BLE001 (the candidate's own __str__)
            message = ""
        attributes = tuple(
            (name, value)
            for name, value in (*builtin_fields(error), *getattr(error, "__dict__", {}).items())
            if isinstance(name, str) and (name[:2] != "__" or name == "__notes__") and name[:8] != "_harena_"
        )
        own = self._error_numbers.get(id(error), 0)
        if not own or self._errors.get(own) is not error:  # what was told before is the same one there
            own = self._errors_told = self._errors_told + 1
            self._keep_error(own, error)
        arguments = tuple(error.args)
        if not is_raised and isinstance(error, GROUPS) and [*map(type, arguments[1:2])] == [list]:
            # one that another group holds is made there before any list has its items
            arguments = (arguments[0], tuple(arguments[1]), *arguments[2:])
        told = (type(error), arguments, attributes, "".join(message),
                number if type(number) is int else -1, own, self._chain(error, is_raised=is_raised))  # fmt: skip
        if is_raised:
            error.__traceback__ = _left_behind(error.__traceback__)
        return told

    def _keep_error(self, own: int, error: BaseException) -> None:
        self._errors.keep(own, error)
        self._error_numbers[id(error)] = own
        if self._errors.forget_gone_if_many():
            self._error_numbers = {known: each for known, each in self._error_numbers.items() if each in self._errors}

    def _known_error(self, name: Any, arguments: Any, message: str, number: int, fields: Any, own: int) -> Any:
        """The exception that the suite speaks of: the candidate's own, or one that stands for it from now on where only
        the suite has held it."""
        known = self._errors.get(own)
        if known is None:
            known = _remade(name, arguments, message, number, fields)
            if own > 0:
                self._keep_error(own, known)
        elif type(known).__str__ is _text_of_error:
            vars(known)["_harena_text"] = message
        return known

    def _chain(self, error: BaseException, *, is_raised: bool) -> tuple[Any, ...]:
        """(cause, context or True for the cause, whether the context is hidden)."""
        if self._chained >= _MOST_CHAINED:
            return (None, None, True)
        self._chained += 1
        try:
            # as items: what they are told as must not depend on how deep they are when they are packed
            cause, context = error.__cause__, error.__context__
            around = (cause, None if context is cause else context)
            told: list[Any] = [None if each is None else self._told_error(each, is_raised=is_raised) for each in around]
            told[1] = True if context is not None and context is cause else told[1]
            return (*told, error.__suppress_context__)
        finally:
            self._chained -= 1

    # Doing what is asked.

    def _done(self, verb: str, target: Any, name: str, positional: Any = (), keywords: Any = ()) -> Any:
        if verb == "module":
            for folder in positional:
                _look_in(folder)
            module = importlib.import_module(target)
            return self._contents(module)
        if isinstance(target, str) and verb in ("get", "set", "del", "call") and name.startswith("@"):
            target, name = importlib.import_module(target), name[1:]
        if verb == "get":
            return getattr(target, name)
        if verb == "set":
            setattr(target, name, positional)
            return None
        if verb == "del":
            delattr(target, name)
            return None
        if verb == "call":
            return (getattr(target, name) if name else target)(*positional, **dict(keywords))
        if verb == "special":
            if name in ("__exit__", "__aexit__") and len(positional) == 3 and isinstance(positional[1], BaseException):
                return _left(target, name, positional[1])
            owner = type(target)
            found = getattr(owner, name)(target, *positional, **dict(keywords))
            return plain_of(found) if name in SAID else found
        if verb == "probe":
            return _probed(target, name, *positional)
        if verb == "derive":
            self._derive(target, name, positional, dict(keywords))
            return None
        if verb == "make":
            base, new, arguments = positional
            made = target.__new__(target, *new)
            base.__init__(made, *arguments, **dict(keywords))
            return made
        if verb == "super":
            lineage = type(target).__mro__
            return getattr(super(lineage[lineage.index(positional[0]) - 1], target), name)
        if verb == "turn":
            self._let_threads_talk()
            return self._pending()
        if verb == "many":
            return self._many(target, positional)
        if verb == "isinstance":
            return isinstance(positional, target)
        if verb == "issubclass":
            return issubclass(positional, target)
        if verb == "signature":
            return signature_in(target, name)
        if verb == "names":
            return tuple(map(str, dir(target)))
        if verb == "type":
            return type(target)
        if verb == "copy":
            return copy.copy(target)
        if verb == "deepcopy":
            return copy.deepcopy(target)
        if verb == "run":
            return self._run(target)
        if verb == "anext":
            is_generator = isinstance(target, types.AsyncGeneratorType)
            return self._run(target.asend(positional) if is_generator else type(target).__anext__(target))
        raise ValueError(verb)

    def _run(self, coroutine: Any) -> Any:
        asyncio = late("asyncio")

        async def awaited() -> Any:
            return await coroutine

        if self._loop is None:  # one for all: it ends the asynchronous generators that have begun in it
            self._loop = asyncio.new_event_loop()
            asyncio.set_event_loop(self._loop)
        try:
            return self._loop.run_until_complete(awaited())
        finally:
            self._had_pending = self._had_pending or bool(asyncio.all_tasks(self._loop))

    def _pending(self) -> bool:
        """Something of the candidate's stands still, or did, until it is asked: tasks of its loop."""
        had, self._had_pending = self._had_pending, False
        return had or (self._loop is not None and bool(late("asyncio").all_tasks(self._loop)))

    def _many(self, iterator: Any, count: int) -> tuple[Any, ...]:
        """The next items of an iterator. Where it ends or raises on the way, that is told with the next question."""
        ended = self._ended_iterators.pop(id(iterator), None)
        if ended is not None:
            raise ended
        items: list[Any] = []
        try:
            for _ in range(count):
                items.append(next(iterator))
        except BaseException as error:  # told with the next question: an iterator of the candidate's may raise anything
            if not items:
                raise
            self._ended_iterators[id(iterator)] = error
        return tuple(items)

    def _contents(self, module: Any) -> tuple[Any, ...]:
        """What star imports go by: its names, its `__all__` or None, its documentation."""
        listed = vars(module).get("__all__")
        names = tuple(name for name in vars(module) if type(name) is str)
        return names, tuple(map(str, listed)) if isinstance(listed, (list, tuple)) else None, text_of_function(module)

    # References.

    def item(self, value: Any) -> Any:
        """Turn a value into an item."""
        if type(value) is dict and ("__spec__" in value or "__builtins__" in value):
            value = types.MappingProxyType(value)  # a module's names live here: the suite looks, and has no copy
        return super().item(value)

    def refer(self, value: Any) -> tuple[Any, ...]:
        """Name a value that stays here by a number, or say what it is as data."""
        number = self._proxy_numbers.get(id(value))
        if number is not None and self._proxies.get(number) is value:
            return ("c", number)
        lent = self._lent.get(id(value))
        if lent is not None and lent[0] is value:  # it comes back as what it was
            return ("s", *lent[1:])
        kind = type(value)
        if kind is WithheldDefault:
            return ("D", value._harena_number, value._harena_name)
        if (told := alias_of(value)) is not None:
            return ("T", told)
        if isinstance(value, type):
            return self._class_item(value)
        if isinstance(value, enum.Enum) and (value.name is None or isinstance(value.name, str)):  # None: no flag
            value_base = next((base for base in _IMMUTABLE if isinstance(value, base)), None)
            inner = None if value_base is None else self.item(_plain(value_base, value))
            return ("n", self._class_number(kind), value.name, inner, self._export(value))
        for base in _IMMUTABLE:
            if isinstance(value, base) and kind is not base:
                return ("w", self._class_number(kind), self._export(value), self.item(_plain(base, value)))
        if isinstance(value, BaseException):
            has_trace = value.__traceback__ is not None
            return ("E", [self.item(part) for part in (*self._told_error(value, is_raised=False), has_trace)])
        if isinstance(value, types.GeneratorType):
            has_begun = inspect.getgeneratorstate(value) == inspect.GEN_SUSPENDED
            return ("G", self._export(value), *_names(value), has_begun)
        if isinstance(value, types.AsyncGeneratorType):
            return ("B", self._export(value), *_names(value))
        if isinstance(value, types.CoroutineType):
            return ("A", self._export(value), *_names(value))
        place, named = (place_of(value), name_of(value)) if isinstance(value, FUNCTIONS) else (None, None)
        if place is not None and not has_state(place[0]):
            self._handed[place] = value
            return ("s", *place)
        if named is not None or isinstance(value, (types.FunctionType, types.BuiltinFunctionType, types.MethodType)):
            signature = signature_in(value, "") if isinstance(value, types.MethodType) else signature_of(value)
            return ("F", self._export(value), str(getattr(value, "__name__", "function")),
                    str(getattr(value, "__qualname__", "function")), text_of_function(value), signature,
                    isinstance(value, types.FunctionType), named)  # fmt: skip
        return ("o", self._export(value), self._class_number(kind))

    def _export(self, value: Any) -> int:
        number = self._export_numbers.get(id(value))
        if number is None:
            self._exports += 1
            number = self._exports
            self._exported[number] = value
            self._export_numbers[id(value)] = number
        return number

    def _class_item(self, cls: Any) -> tuple[Any, ...]:
        name = str(cls.__name__)
        if cls.__module__ == "builtins" and getattr(builtins, name, None) is cls:
            return ("b", name)
        key = self._records.key(cls)
        return ("k", self._class_number(cls)) if key is None else ("R", *key)

    def _class_number(self, cls: Any) -> int:
        number = self._classes.get(id(cls))
        if number is None:
            for base in type.__dict__["__bases__"].__get__(cls):
                self._class_item(base)  # a class is told of after what it derives from, which is how it is known there
            number = len(self._class_list)
            self._classes[id(cls)] = number
            self._class_list.append(cls)
            self._untold.append(cls)
        return number

    def _described(self, cls: Any) -> tuple[Any, ...]:
        """(number, name, qualified name, module, documentation, bases, special methods, methods, kind, whether it is
        unhashable, whether it is abstract, what it has of its metaclass)."""
        base: Any = next((kind for kind in (*_IMMUTABLE, *_CONTAINERS) if issubclass(cls, kind)), None)
        plain = _PLAIN_CLASSES.union(base.__mro__ if base else ())
        lineage = [part for part in type.__dict__["__mro__"].__get__(cls) if part not in plain]
        if issubclass(cls, BaseException):  # what Python's own exceptions do is done by those that stand for them
            lineage = [part for part in lineage if part.__module__ != "builtins"]
        special = [name for name in SPECIAL if any(name in vars(part) for part in lineage)]
        # a class of the suite's asks any descriptor, also one that Python has made: a property is one
        parts = type.__dict__["__mro__"].__get__(cls)
        special += [name for name in DESCRIBING if any(name in vars(part) for part in parts)]
        unhashable = getattr(cls, "__hash__", None) is None
        methods = {
            name
            for part in lineage
            for name, value in vars(part).items()
            if isinstance(value, _METHODS) and type(name) is str and name[:2] != "__"
        }
        kind = (
            "enum"
            if issubclass(cls, enum.Enum)
            else "error"
            if issubclass(cls, BaseException)
            else base.__name__
            if base
            else ""
        )
        bases = [self._class_item(part) for part in type.__dict__["__bases__"].__get__(cls)]
        asks = any("__instancecheck__" in vars(part) for part in type(cls).__mro__ if part is not type)
        is_abstract = isinstance(cls, abc.ABCMeta) or asks  # it may take for its instances what does not derive from it
        return (self._classes[id(cls)], str(cls.__name__), str(cls.__qualname__), str(cls.__module__),
                text_of_function(cls), bases, special, sorted(methods), kind, unhashable, is_abstract,
                [name for name in OF_METACLASSES if any(name in vars(part) for part in type(cls).__mro__)]
                + own_of_metaclass(cls, SPECIAL))  # fmt: skip

    def meet(self, item: tuple[Any, ...]) -> Any:
        """Find what an item of the other side stands for here."""
        kind = item[0]
        if kind == "o":
            return self._exported[item[1]]
        if kind == "k":
            return self._class_list[item[1]]
        if kind == "n":
            return self._class_list[item[1]][item[2]]
        if kind == "R":
            return self._records.named(item[1], item[2])
        if kind == "M":
            return importlib.import_module(item[1])
        if kind == "b":
            found: Any = self._handed.get((item[1], item[2]))
            if found is None:
                found = importlib.import_module(item[1])
                for name in item[2].split("."):
                    found = getattr(found, name)
            self._lent[id(found)] = (found, item[1], item[2])
            return found
        if kind == "E":
            name, arguments, message, number, own, fields = map(self.value, item[1])
            return self._known_error(name, arguments, message, number, fields, own)
        if kind == "L":
            return class_here(*item[1:])
        if kind == "X":
            return self._error_class(*item[1:])
        if kind == "y":
            return getattr(self.value(item[1]), item[2])
        if kind == "T":
            return alias(item[1])
        if kind == "D":
            return WithheldDefault(*item[1:])
        if kind == "P":
            return self._partial(*item[1:])
        assert kind == "c"
        return self._proxy(*item[1:])

    def _partial(self, number: int, name: str, is_function: Any, special: Any, streams: Any, function: Any) -> Any:
        known = self._proxies.get(number)
        if known is None:
            known = functools.partial(self._speaker(number, name, *function))
            self._know(number, known)
        return known

    def _error_class(self, number: int, name: str, qualified: str, module: str, bases: Any, fields: Any) -> Any:
        known = self._proxies.get(number)
        if known is None:
            told = {"__module__": module, "__qualname__": qualified, "__str__": _text_of_error, **dict(fields)}
            known = type(name, tuple(map(self.value, bases)), told)
            self._know(number, known)
        return known

    def _derive(self, bases: Any, name: str, body: Any, keywords: dict[str, Any]) -> None:
        """Have a class of exceptions like one of the suite's that derives from the candidate's. What defines a method
        or property is the suite's function."""
        (number, qualified, module, doc, has_text), data, methods, properties = body
        told = {"__module__": module, "__qualname__": qualified, "__doc__": doc, **dict(data), **dict(methods)}
        told.update((each, property(function)) for each, function in properties)
        if has_text:
            told["__str__"] = _text_of_error
        self._know(number, types.new_class(name, bases, keywords, lambda names: names.update(told)))

    def _know(self, number: int, value: Any) -> None:
        self._proxies[number] = value
        self._proxy_numbers[id(value)] = number

    def _proxy(
        self,
        number: int,
        name: str = "",
        is_function: bool = False,
        special: Any = (),
        streams: Any = (),
        function: Any = None,
        spec: Any = None,
    ) -> Any:
        """What stands for an object of the suite's. `spec`: the class that a mock says to be of."""
        known = self._proxies.get(number)
        if known is None:
            if is_function:
                known = self._speaker(number, name, *function)
            else:
                told: dict[str, Any] = {each: _special(each) for each in special}
                if spec is not None:
                    said = self.value(spec)
                    told["__class__"] = property(lambda proxy: said)
                made: Any = type(name, (Proxy,), told)
                count_as_streams(made, streams)
                known = made(self, number)
            self._know(number, known)
        return known

    def _speaker(self, number: int, name: str, doc: Any, signature: Any, place: Any) -> Any:
        def ask(positional: Any, keywords: Any) -> Any:
            found = self.ask_suite("call", number, positional, tuple(keywords.items()))
            return Steps(found, self._listens) if place[2] else found

        known = speaker(name, doc, signature, place, ask, number, self.meet)
        known.__dict__ = attributes = self._attributes_of(number)
        attributes.belong_to(known)
        return known

    def _listens(self) -> bool:
        """The suite waits for an answer, and no message is being made or read."""
        return self._open > 0 and not self._is_talking

    def _attributes_of(self, number: int) -> Attributes:
        if number not in self.attributes:
            self.watch(Attributes(number))
        found: Attributes = self.attributes[number]
        return found

    def kind_of(self, value: Any) -> str | None:
        """Tell whether an object is shared with its state, and as what kind; None = it is not."""
        kind = type(value)
        if kind is Attributes:
            return "u"
        if self._records.key(kind) is not None:
            return "i"
        if isinstance(value, type) or kind.__module__ not in self._on_both_sides:
            # by its type: what stands for a mock may say that it is a dict
            return "y" if issubclass(kind, _CONTAINERS) and not isinstance(value, enum.Enum) else None
        if isinstance(value, (BaseException, enum.Enum, *_IMMUTABLE, *_CONTAINERS, types.FunctionType)):
            return None
        return "i"

    def state_of(self, kind: str, value: Any) -> Any:
        """Read an object's state, in the form for its kind."""
        if kind == "i":
            return state_of_instance(self, value, self._records.key(type(value)))
        if kind == "u":
            return told_attributes(self, value)
        self._held[self._numbers[id(value)]] = value  # the suite could not make it anew, with all that it has
        base = next(cls for cls in _CONTAINERS if isinstance(value, cls))
        if base in (list, set):
            plain: Any = list(base.__iter__(value))
        elif base is bytearray:
            return [self._class_number(type(value)), "a", bytes(value)]
        elif base is collections.deque:
            return [
                self._class_number(type(value)),
                "q",
                [*map(self.item, collections.deque.__iter__(value))],
                value.maxlen,
            ]
        else:
            plain = [part for pair in dict.items(value) for part in pair] if isinstance(value, dict) else list(value)
        return [self._class_number(type(value)), MUTABLE[base] if base in (list, set) else "d" if isinstance(value, dict) else "l",  # noqa: E501
                [self.item(part) for part in plain]]  # fmt: skip

    def _forget(self, number: int) -> None:
        self._held.pop(number, None)
        super()._forget(number)

    def make(self, kind: str, state: Any) -> Any:
        """Make an object of that kind, still without its state."""
        if kind == "u":
            return self._attributes_of(state[0])
        record = self._records.named(*state[:2])
        return made_instance(state) if record is None else object.__new__(record)

    def fill(self, kind: str, made: Any, state: Any) -> None:
        """Give the made object its state."""
        if kind == "u":
            fill_attributes(self, made, state)
            return
        if kind == "i":
            record = self._records.named(*state[:2])
            if record is not None and (number := self._numbers.get(id(made))) is not None:
                self._held[number] = made  # the suite holds it: here it may be held by a weak reference alone
            fill_instance(self, made, state, record)
            return
        parts = list(map(self.value, state[2])) if state[1] != "a" else []
        if state[1] == "q":
            collections.deque.clear(made)
            collections.deque.extend(made, parts)
            return
        if state[1] == "l":
            list.clear(made)
            list.extend(made, parts)
        elif state[1] == "e":
            set.clear(made)
            set.update(made, parts)
        elif state[1] == "d":
            dict.clear(made)
            for index in range(0, len(parts), 2):
                dict.__setitem__(made, parts[index], parts[index + 1])
        else:
            made[:] = state[2]


def _plain(base: Any, value: Any) -> Any:
    """What an object of a class that derives from a plain one is made of."""
    if base in PLAIN:
        return PLAIN[base](value)
    _, parts, made = VALUES[base.__name__]
    return base(value) if base is decimal.Decimal else made(*parts(value))


def _names(value: Any) -> tuple[str, str]:
    """The two names of a generator or a coroutine."""
    return "".join(value.__name__), "".join(value.__qualname__)


def slots_of(cls: type) -> list[str]:
    found: list[str] = []
    for part in cls.__mro__:
        names = vars(part).get("__slots__", ())
        found += (
            [names] if isinstance(names, str) else [name for name in names if name not in ("__dict__", "__weakref__")]
        )
    return found


def state_of_instance(border: Border, value: Any, key: Any = None) -> list[Any]:
    """An instance of a trusted class: its module, its class, its attributes. `key`: the first two of a record's."""
    attributes = {name: getattr(value, name) for name in slots_of(type(value)) if hasattr(value, name)}
    attributes.update(getattr(value, "__dict__", {}))
    parts = [part for name, held in attributes.items() for part in (name, border.item(held))]
    return [*(key or (type(value).__module__, type(value).__qualname__)), *parts]


def made_instance(state: Any) -> Any:
    """One without attributes."""
    cls: Any = sys.modules.get(state[0]) or importlib.import_module(state[0])
    for name in state[1].split("."):
        cls = getattr(cls, name)
    if cls.__module__ != state[0] or cls.__qualname__ != state[1]:
        raise TypeError("no class of that module")
    return object.__new__(cls)


def fill_instance(border: Border, made: Any, state: Any, record: Any = None) -> None:
    """Set its attributes, without asking its class. What that says is not the other side's to replace, but by a value
    that does nothing (a field `successor` where there is a method of this name, too). `record`: the class that it has
    now, where that is a record's."""
    if record is not None and type(made) is not record:
        object.__setattr__(made, "__class__", record)
    cls = type(made)
    given = {state[index]: border.value(state[index + 1]) for index in range(2, len(state), 2)}
    told = {name: held for name, held in given.items() if is_data(cls, name) or _hides_method(cls, name, held)}
    if hasattr(made, "__dict__"):
        kept = {name: held for name, held in made.__dict__.items() if not is_data(cls, name) and name not in told}
        made.__dict__.clear()
        made.__dict__.update(kept)
    slots = set(slots_of(cls))
    for name, held in told.items():
        if name in slots:
            object.__setattr__(made, name, held)
        else:
            made.__dict__[name] = held


def _hides_method(cls: Any, name: Any, held: Any) -> bool:
    """A method of the class has this name, and the value is plain or an instance of a class beside it."""
    if type(name) is not str or name[:2] == "__" == name[-2:] or not hasattr(cls, "__dict__"):
        return False
    found = next((vars(part)[name] for part in cls.__mro__ if name in vars(part)), None)
    is_beside = type(held).__module__ == cls.__module__ and type(type(held)) is type and not callable(held)
    return type(found) is types.FunctionType and (type(held) in SCALARS or type(held) in MUTABLE or is_beside)


def _left_behind(trace: Any) -> Any:
    """A traceback without harena's frames, and of the candidate's only where they were: what its functions held is as
    free as if nobody had heard of the error. A generator's frame may go on."""
    while trace is not None and trace.tb_frame.f_code.co_filename.startswith("<harena"):
        trace = trace.tb_next
    step = trace
    while step is not None:
        if not step.tb_frame.f_code.co_flags & _GOES_ON:
            with contextlib.suppress(RuntimeError):  # it is running
                step.tb_frame.clear()
        step = step.tb_next
    return trace


def _text_of_error(error: Any) -> str:
    """What the suite's own class says of it, where the suite has made it."""
    told = vars(error).get("_harena_text")
    return BaseException.__str__(error) if told is None else str(told)


def _remade(name: Any, arguments: Any, message: str, number: int, fields: Any = ()) -> BaseException:
    """An exception of the suite's, whose class may be the candidate's."""
    found = getattr(builtins, name, None) if isinstance(name, str) else name
    cls: Any = found if isinstance(found, type) and issubclass(found, BaseException) else Exception
    made = remade(cls, arguments, message, fields, is_named=isinstance(name, str))
    vars(made).update(_harena_raised=number, _harena_text=message)
    return made


def _probed(target: Any, name: str, *operand: Any) -> bool:
    """Whether a special method says yes to a value that is not the suite's, or to an object made just now. What else it
    does then is done in a copy of this process."""
    value = operand[0] if operand else object()

    def says_yes() -> bool:
        return plain_of(getattr(type(target), name)(target, value)) is True

    if may_have_effects(target, (name,)):
        said = COPIES.says_yes(target, says_yes, value)
        if said is not None:
            return said
    return says_yes()


def _left(context: Any, name: str, error: BaseException) -> Any:
    """The end of a `with` by an exception, which is being handled and has a traceback, as whoever logs it expects."""
    try:
        raise error
    except BaseException:  # noqa: BLE001 (it is raised for this)
        return getattr(type(context), name)(context, type(error), error, error.__traceback__)


def _give_up_names(files: list[str]) -> None:
    """The candidate's modules come before those of the standard library's of their names, as they do for a program that
    lies beside them; but for those that every interpreter has loaded when a program starts. What is served with is
    loaded before."""
    standard = {name for name in getattr(sys, "stdlib_module_names", ()) if name[:1] != "_"} - _LOADED_AT_START
    given_up = standard.intersection(file.partition(".")[0] for file in files)
    for name in LATE if given_up else ():
        with contextlib.suppress(ImportError):  # Python 3.8 has no time zones
            late(name)
    for name in given_up:
        for loaded in [each for each in sys.modules if each == name or each.startswith(name + ".")]:
            del sys.modules[loaded]


_FOLDER = ["."]
"""where the candidate's files are"""


def _look_in(folder: str) -> None:
    """From here on, modules are looked for in this folder, too, as the suite does."""
    place = os.path.join(_FOLDER[0], folder)
    if place not in sys.path:
        sys.path.insert(0, place)


def serve() -> None:
    """Live here, with the names of the common modules in `argv`, and the candidate's limit of descriptors if it is less
    than this program's."""
    requests, replies = out_of_reach(0, 1, theirs=int(sys.argv.pop()) if sys.argv[2:] else MOST_FILES)
    OWNER.add(os.getpid())
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    _FOLDER[0] = os.getcwd()
    sys.path.insert(0, _FOLDER[0])
    files = os.listdir(".")
    _give_up_names(files)
    leave_no_names(files)
    Home(requests, replies, set(filter(None, sys.argv[1].split(",") if len(sys.argv) > 1 else []))).serve()
