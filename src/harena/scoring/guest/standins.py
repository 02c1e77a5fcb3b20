"""Stand-ins for the classes and objects of a candidate that lives in another process. Standard library only.

The rule of judging: **what a plain value is compared with is never told to the candidate, and the candidate never says
whether it is right.** An object of the candidate's is equal to a plain value only if it is made of one (its class
derives from int, str, list and the like) and that one is equal; ordering with plain values, and `assertAlmostEqual`, go
the same way. Length, containment, truth and arithmetic are the candidate's methods only of classes that the suite names
itself, because then they are what it tests; of others they are computed here, from the items that a loop gives. Two
objects of the candidate's are compared by its methods, which must not call an object equal to something fresh.
"""

from __future__ import annotations

import abc
import builtins
import collections
import collections.abc
import copy
import datetime
import decimal
import enum
import fractions
import functools
import operator
import re
import sys
import types

from harena.scoring.guest.candidate_process import DESCRIBING, SPECIAL
from harena.scoring.guest.functions import describe, lacks_part
from harena.scoring.guest.metaclass_methods import CONTAINS, methods_of_metaclasses
from harena.scoring.guest.object_graph import MUTABLE, SCALARS, VALUES
from harena.scoring.guest.plain_operands import COMPARISONS, not_believed, others, said_of_others
from harena.scoring.guest.swallowing_exits import is_verdict, may_skip_what_is_judged, skips_a_judgement, sources

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_OWN = frozenset({"__eq__", "__ne__", "__hash__", "__len__", "__contains__", "__bool__", "__exit__", "__aexit__", "__iter__",  # noqa: E501
                  "__next__", "__await__", "__anext__", *COMPARISONS})  # fmt: skip
"""special methods that are not simply forwarded"""
_ONE_SIDED = frozenset({
    "__getitem__", "__setitem__", "__delitem__", "__reversed__", "__str__", "__repr__", "__format__", "__int__", "__float__",  # noqa: E501
    "__complex__", "__index__", "__round__", "__trunc__", "__floor__", "__ceil__", "__bytes__", "__call__", "__enter__",
    "__neg__", "__pos__", "__abs__", "__invert__", "__aiter__", "__aenter__",
})  # fmt: skip
"""forwarded whatever their operand is; any other is an operator, whose plain operand the candidate may see only in
objects of classes that the suite names"""
_COMPUTING = frozenset({
    "__neg__", "__pos__", "__abs__", "__invert__", "__round__", "__trunc__", "__floor__", "__ceil__",
})  # fmt: skip
"""operators among them that may give another object of the class, as a slice does"""
BASES: dict[str, type] = {
    cls.__name__: cls for cls in (
        int, float, complex, str, bytes, tuple, frozenset, list, set, dict, bytearray, collections.deque,
        decimal.Decimal, fractions.Fraction, datetime.datetime, datetime.date, datetime.timedelta, datetime.time,
    )
}  # fmt: skip
_VALUE_METHODS = frozenset({
    "__eq__", "__ne__", "__hash__", "__len__", "__contains__", "__bool__", "__iter__", "__index__", "__int__", "__float__",  # noqa: E501
    *COMPARISONS,
})  # fmt: skip
"""methods that an object which is made of a plain value has from that value"""
_MOST_ITEMS = 10_000
_FIRST_ITEMS, _MOST_AHEAD = 64, 1024
_SAYS_FLAG = sys.version_info >= (3, 11)
"""a flag's class shows itself as one"""
_PROBED_PREFIXES = ("_pytest", "__tracebackhide", "pytestmark")


_CHANGES = frozenset({
    "append", "extend", "insert", "remove", "pop", "clear", "sort", "reverse", "add", "discard", "update", "popitem",
    "setdefault", "__setitem__", "__delitem__",
})  # fmt: skip
"""methods that change an object that is made of a plain value: the candidate's, whoever made it"""
JUDGES = frozenset({
    "issubset", "issuperset", "isdisjoint", "startswith", "endswith", "is_integer", "equals", "equal", "is_equal", "eq",
    "equal_to", "is_equal_to", "almost_equals", "almost_equal", "is_same", "same_as", "isclose", "is_close", "close_to",
    "allclose",
})  # fmt: skip
"""methods whose yes or no judges what they are given, and which a suite may expect of a value"""
_ALGEBRA: dict[str, Any] = {
    "difference": set.difference, "symmetric_difference": set.symmetric_difference, "intersection": set.intersection,
    "union": set.union,
}  # fmt: skip
"""methods that a suite may give the set that it expects; of answers they are computed from the items of a loop"""
_SET_OPERATORS = {
    "__sub__": operator.sub, "__xor__": operator.xor, "__and__": operator.and_, "__or__": operator.or_,
    "__rsub__": lambda ours, other: other - ours, "__rxor__": operator.xor, "__rand__": operator.and_,
    "__ror__": operator.or_,
}  # fmt: skip
_SETS: tuple[type, ...] = (set, frozenset, list, tuple, dict, type({}.keys()))
_NUMBERS = frozenset({
    "__abs__", "__round__", "__int__", "__float__", "__complex__", "__index__", "__trunc__", "__floor__", "__ceil__",
    "__neg__", "__pos__", "__invert__", "__bytes__",
})  # fmt: skip
doubts: list[str] = []
"""what this process did in the place of the candidate's, or that one unseen, by which a test may have passed"""
words: list[str] = []
"""what the candidate's objects have said where they were told an operand or an error: a pass rests on it, and it is
what they would say beside the tests, too"""
class_names: set[str] = set()
"""what the suite's text uses as a class, beside names that begin with a capital letter"""

written_names: set[str] = set()
"""names of attributes between underscores that the suite's text has, and that are no names of Python's"""
_NAMES_OF_TOOLS = ("__array", "__cuda", "__dataframe", "__jax", "__length_hint", "__pytest", "__test", "__torch",
                   "__trace", "__unittest", "__await", "__aiter", "__anext", "__aenter", "__aexit", "__enter", "__exit",
                   "__fspath", "__missing", "__set_name", "__index", "__bytes", "__complex", "__signature")  # fmt: skip


@functools.lru_cache(maxsize=None)  # noqa: UP033 (Python 3.8)
def _names_of_python() -> frozenset[str]:
    # made when a suite has such a name: to look at all classes takes a part of a start
    kinds = (object, type, *vars(builtins).values(), types.FunctionType, types.MethodType, types.ModuleType,
             types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType)  # fmt: skip
    return frozenset(name for kind in kinds if isinstance(kind, type) for name in dir(kind))


def is_written_name(name: str) -> bool:
    """A name between underscores that only its author can mean: neither Python nor a tool asks for it."""
    is_special = name[:2] == "__" == name[-2:] and not name.startswith(_NAMES_OF_TOOLS)
    return is_special and name not in _names_of_python()


def names_a_class(name: str) -> bool:
    """The suite takes what is called so for a class; a class in the place of a function is none that it names."""
    return name in class_names or name.lstrip("_")[:1].isupper()


def origin_of(stand_in: Any) -> str:
    """made: by the suite, which called a class that it names. given: made so, but then an answer of the candidate's,
    too, and judged as such. computed: by an operator, from what was made or computed, where a run beside the suite
    judges it, too. seen: made from a plain operand that the candidate was told, so that no number of it says anything.
    told: an answer to a question for a yes or a no, so that its truth says nothing."""
    try:
        return str(object.__getattribute__(stand_in, "_harena_origin"))
    except AttributeError:
        return ""


def carried(found: Any, by: int = 1) -> None:
    """A message of the candidate's has carried this object or class; with -1, it was what the suite asked for by the
    name of a class, or by a call of one."""
    if isinstance(found, StandInClass):
        type.__setattr__(found, "_harena_class_carried", own_names(found).get("_harena_class_carried", 0) + by)
    elif is_stand_in_object(found):
        object.__setattr__(found, "_harena_carried", times_carried(found) + by)


def times_carried(stand_in: Any) -> int:
    """How often its value has come from the candidate's process."""
    try:
        return int(object.__getattribute__(stand_in, "_harena_carried"))
    except AttributeError:
        return 0


def is_stand_in_object(value: Any) -> bool:
    """It stands in for an object of a class of the candidate's."""
    return isinstance(type(value), StandInClass) or hasattr(type(value), "_harena_kind")


def _is_theirs(value: Any) -> bool:
    return isinstance(type(value), StandInClass)


def refused(what: str, stand_in: Any = None) -> TypeError:
    """The error of a look at an object that is not believed. A test may expect one, so a pass is in doubt. With a
    `stand_in` whose class may honestly answer (a factory's stack that is counted), so is a failure."""
    doubts.append(what)
    if stand_in is not None:
        object.__getattribute__(stand_in, "_harena_candidate").note(what, is_doubt=False)
    return TypeError(what)


def own_names(cls: type) -> Any:
    """What a class itself has here, whatever it says of itself."""
    return type.__dict__["__dict__"].__get__(cls)


def is_kin(stand_in: Any) -> bool:
    """It came from a class that the suite names, by way of another than to call it: a class method, an operator, a
    method of another such object. It may be what is tested as well as an answer."""
    try:
        return bool(object.__getattribute__(stand_in, "_harena_is_kin"))
    except AttributeError:
        return False


def mark_kin(found: Any, source: Any) -> None:
    """Remember that this object came from one of its own class, or from the class itself."""
    cls: Any = type(found)
    owner = source if isinstance(source, StandInClass) else type(source)
    if not (isinstance(cls, StandInClass) and isinstance(owner, StandInClass) and cls._harena_is_named):
        return
    if type.__subclasscheck__(owner, cls) or type.__subclasscheck__(cls, owner):
        object.__setattr__(found, "_harena_is_kin", True)


def _mark_computed(found: Any, source: Any, origin: str) -> None:
    """Remember that an operator of an object of this origin gave an object of a class that the suite names; not of one
    that was the answer to something else before. One that equals the first value that it meets cannot be told from a
    right one here, so such an object is asked only where a pass is judged once more, beside the suite."""
    cls: Any = type(found)
    is_judged = object.__getattribute__(source, "_harena_candidate").is_confirmed
    if not is_judged or origin not in ("made", "computed") or not (_is_theirs(found) and cls._harena_is_named):
        return
    if not origin_of(found) and times_carried(found) == 1 and cls._harena_kind != "enum":
        object.__setattr__(found, "_harena_origin", "computed")


def differs_by_itself(first: Any, second: Any) -> bool:
    """Whether an object of the candidate's may say itself how far a plain value is from it: the suite has made it, or
    computed it, of a class that it names, and a run beside the suite judges the difference once more. It is noted of
    another object that it is not believed."""
    stand_in, name, other = (first, "__sub__", second) if isinstance(first, StandIn) else (second, "__rsub__", first)
    candidate = object.__getattribute__(stand_in, "_harena_candidate")
    if candidate.is_confirmed and type(stand_in)._harena_is_named and origin_of(stand_in) in ("made", "computed"):
        return True
    not_believed(stand_in, name, (other,))
    return False


class _Copier:
    """What `copy` finds of an object of the candidate's, which copies it where it is. A trusted text that asks for such
    a method itself is told what the object's class has."""

    def __init__(self, verb: str) -> None:
        self._verb, self._name = verb, f"__{verb}__"

    def __get__(self, stand_in: Any, cls: Any = None) -> Any:
        asked = cls if stand_in is None else stand_in
        candidate = type.__getattribute__(cls, "_harena_candidate")
        if candidate is not None and sys._getframe(1).f_code.co_filename in sources:
            return candidate.ask("get", asked, self._name)
        verb = self._verb
        if stand_in is None:
            return lambda stand_in, memo=None: candidate.ask(verb, stand_in, "")
        return lambda memo=None: candidate.ask(verb, stand_in, "")


class StandIn:
    """An object of the candidate's."""

    __slots__ = ("__weakref__", "_harena_carried", "_harena_global", "_harena_is_kin", "_harena_item", "_harena_origin")
    _harena_candidate: Any = None
    _harena_kind: Any = ""
    _harena_special: Any = frozenset()
    _harena_methods: Any = frozenset()
    _harena_compares = False
    _harena_is_named = False

    def __getattr__(self, name: str) -> Any:
        return attribute(self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        self._harena_candidate.ask("set", self, name, value)
        if name == "__class__" and isinstance(value, StandInClass):
            object.__setattr__(self, name, value)  # what stands for an object is of the class that stands for its own

    def __delattr__(self, name: str) -> None:
        self._harena_candidate.ask("del", self, name)

    def __dir__(self) -> list[str]:
        return list(self._harena_candidate.ask("names", self, ""))

    __copy__ = _Copier("copy")
    __deepcopy__ = _Copier("deepcopy")
    if hasattr(object, "__getstate__"):  # since Python 3.11; without a class's own, every object has it

        def __getstate__(self) -> Any:
            return self._harena_candidate.ask("call", self, "__getstate__")

    def __reduce_ex__(self, protocol: Any) -> Any:
        self._harena_candidate.note("it pickles an object of the candidate's")
        raise TypeError("an object of the candidate's cannot be pickled here")

    def __repr__(self) -> str:
        cls = type(self)
        return f"<{cls.__module__}.{cls.__qualname__} object at {hex(id(self))}>"  # as any object without its own


del StandIn.__slots__  # as of the classes that derive from it

_TOLD_ATTRIBUTES = frozenset({
    "__dict__", "__name__", "__doc__", "__wrapped__", "__qualname__", "__module__", "__func__", "__self__", "__slots__",
    "__isabstractmethod__", "__annotations__", "__version__", "__author__",
})  # fmt: skip
"""names between underscores that no code in C takes for a method by which it judges"""
_TOLD_OF_CLASSES = frozenset({
    "__members__", "__match_args__", "__abstractmethods__", "__dataclass_fields__", "__dataclass_params__",
    "__class_getitem__",
})  # fmt: skip
"""such names of classes"""


_KEPT_BY_NAME = frozenset({("builtins", "module"), ("logging", "Logger"), ("logging", "RootLogger")})


def is_kept_by_name(value: Any) -> bool:
    """It is of a class whose objects are had by a name, and are the same for everybody in one process."""
    cls = type(value)
    return (cls.__module__, cls.__name__) in _KEPT_BY_NAME


def attribute(stand_in: Any, name: str) -> Any:
    """What the candidate's object has under a name."""
    found = _attribute(stand_in, name)
    if is_kept_by_name(stand_in):
        candidate = object.__getattribute__(stand_in, "_harena_candidate")
        candidate.note(
            f"it uses a {type(stand_in).__name__} of the candidate's, and each side has its own", is_doubt=False
        )
    return found


def _attribute(stand_in: Any, name: str) -> Any:
    if name == "_harena_item":
        cls = type(stand_in)
        what = f"it makes an object of the candidate's {cls.__name__} past the class"
        type.__getattribute__(cls, "_harena_candidate").note(what)
        raise TypeError(f"{what}, which is elsewhere")
    if name == "__signature__" and "__call__" in type(stand_in)._harena_special:
        candidate = object.__getattribute__(stand_in, "_harena_candidate")
        return signature_here(candidate, stand_in)
    if name.startswith(_PROBED_PREFIXES) or (
        name[:2] == "__" == name[-2:] and name not in _TOLD_ATTRIBUTES and name not in written_names
    ):
        if not name.startswith(_PROBED_PREFIXES):
            object.__getattribute__(stand_in, "_harena_candidate").libraries.lacks(stand_in, name, 4)
        raise AttributeError(f"{type(stand_in).__name__!r} object has no attribute {name!r}")
    cls = type(stand_in)
    if name in cls._harena_methods or (not cls._harena_is_named and name in (*JUDGES, "get")):
        return Method(stand_in, name)
    found = object.__getattribute__(stand_in, "_harena_candidate").ask("get", stand_in, name)
    return Method(stand_in, name) if name in _ALGEBRA and not cls._harena_is_named and callable(found) else found


def no_judge(name: str, found: Any) -> Any:
    """What an answer that is no stand-in (an exception, a record) has under a name: no judge of plain values."""
    if (name not in JUDGES and name not in _ALGEBRA) or not callable(found):
        return found

    def asked(*positional: Any, **keywords: Any) -> Any:
        if not all(map(_is_theirs, (*positional, *keywords.values()))):
            raise refused(f"what {name} of an answer says is not the candidate's to say")
        return found(*positional, **keywords)

    return asked


def without_judges(record: Any) -> None:
    """Make the attributes of a record of both sides such that none judges plain values."""
    for name in (*JUDGES, *_ALGEBRA):
        held = getattr(record, name, None)
        if callable(held) and name not in vars(type(record)):
            object.__setattr__(record, name, no_judge(name, held))


def items_as_set(value: Any) -> Any:
    """What a set of the candidate's own making holds, which is never told what it is compared with; None for what is no
    set; any other value as it is."""
    if isinstance(value, StandInClass):
        return None
    if not _is_theirs(value):
        return value
    return set(value) if hasattr(value, "difference") else None


_OF_METHOD = frozenset({
    "__qualname__", "__doc__", "__wrapped__", "__annotations__", "__code__", "__defaults__", "__kwdefaults__",
    "__module__", "__isabstractmethod__", "__func__", "__dict__",
})  # fmt: skip
"""what a method says of its function, which is the candidate's"""


def signature_here(candidate: Any, cls: Any, name: str = "") -> Any:
    """The signature of a class or an object of the candidate's, or of what objects of a class have by a name. Raises
    ValueError, as `inspect` does, where there is none that can be told."""

    def shown() -> None: ...

    told = candidate.ask("signature", cls, name)
    if told is None:
        what = f"it asks for a signature of {_called(cls)} that cannot be told"
        candidate.note(what, is_doubt=False)
        raise ValueError(what)
    if lacks_part(told):
        what = f"it asks for the signature of {_called(cls)}, of which not every default and annotation is told"
        candidate.note(what, is_doubt=False)
    describe(shown, None, told)
    return shown.__signature__  # type: ignore[attr-defined]


def _called(cls: Any) -> str:
    return cls.__name__ if isinstance(cls, StandInClass) else f"a {type(cls).__name__} object"


class _StandInInit:
    """What stands for a class's `__init__`: its signature can be seen, and it makes nothing."""

    def __init__(self, cls: Any = None) -> None:
        self._class = cls

    def __get__(self, owner: Any, cls: Any = None) -> Any:
        return _StandInInit(cls)

    def __call__(self, /, *positional: Any, **keywords: Any) -> None:
        what = f"it calls {self._class.__name__}.__init__"
        self._class._harena_candidate.note(what)
        raise TypeError(f"{what}, and the object is elsewhere")

    @property
    def __signature__(self) -> Any:
        return signature_here(self._class._harena_candidate, self._class, "__init__")

    def __getattr__(self, name: str) -> Any:
        if name.startswith((*_PROBED_PREFIXES, "_harena_")):
            raise AttributeError(name)
        return getattr(self._class._harena_candidate.ask("get", self._class, "__init__"), name)


class _StandInNew:
    """A class's `__new__`, which makes an object where the class is."""

    def __get__(self, owner: Any, cls: Any = None) -> Any:
        return Method(cls, "__new__")


class Method:
    # without a documentation of its own: that is the candidate's

    def __init__(self, owner: Any, name: str) -> None:
        self.__self__ = owner
        self.__name__ = name

    def __call__(self, /, *positional: Any, **keywords: Any) -> Any:
        owner = self.__self__
        candidate = (
            object.__getattribute__(owner, "_harena_candidate")
            if not isinstance(owner, StandInClass)
            else type.__getattribute__(owner, "_harena_candidate")
        )
        operands = (*positional, *keywords.values())
        is_told = bool(operands) and not any(map(_is_theirs, operands))
        cls = owner if isinstance(owner, StandInClass) else type(owner)
        if is_told and self.__name__ in _ALGEBRA and any(isinstance(each, _SETS) for each in operands):
            if not cls._harena_is_named:
                return self._computed(operands)
            if origin_of(owner) != "made":
                words.append(f"an object that a call gave back says what {self.__name__} with a plain operand is")
        found = candidate.ask("call", owner, self.__name__, positional, tuple(keywords.items()))
        mark_kin(found, owner)
        return self._believed(found, positional) if is_told and not cls._harena_is_named else found

    def _computed(self, operands: Any) -> Any:
        """Compute the answer from the object's items; what is expected is not told."""
        owner = self.__self__
        if isinstance(owner, StandInClass) or not _loops(owner):
            not_believed(owner, self.__name__, operands)
            raise refused(f"what {self.__name__} of an object without items says is not the candidate's to say")
        return _ALGEBRA[self.__name__](set(_items(owner)), *operands)

    def _believed(self, found: Any, positional: Any) -> Any:
        """What an object of a class that the suite does not name says of plain operands: neither yes nor no."""
        owner, name = self.__self__, self.__name__
        cls = owner if isinstance(owner, StandInClass) else type(owner)
        is_predicate = type(found) is bool and not isinstance(owner, StandInClass) and cls._harena_kind in BASES
        if is_predicate or (name in JUDGES and found is not None and not _is_opaque(found)):
            not_believed(owner, name, positional)
            raise refused(f"what {name} of a {cls.__name__!r} object says is not the candidate's to say")
        if name in JUDGES and found is not None and not origin_of(found):
            object.__setattr__(found, "_harena_origin", "told")
        if name == "get" and positional and found is not positional[-1] and not isinstance(owner, StandInClass):
            is_asked = type(found) is bool or (len(positional) == 2 and type(positional[1]) is bool and bool(found))
            if is_asked:
                _check_item(owner, positional[0], positional[1:])
        return found

    def __getattr__(self, name: str) -> Any:
        owner = self.__self__
        if name == "__signature__":
            cls = owner if isinstance(owner, StandInClass) else type(owner)
            return signature_here(owner._harena_candidate, cls, self.__name__)
        if name.startswith(_PROBED_PREFIXES) or (name[:2] == "__" and name not in _OF_METHOD):
            if not name.startswith(_PROBED_PREFIXES):
                owner._harena_candidate.libraries.lacks(self, name, 2)
            raise AttributeError(name)
        method = owner._harena_candidate.ask("get", owner, self.__name__)
        return getattr(method, name)

    @property
    def __doc__(self) -> Any:  # type: ignore[override]
        return self.__getattr__("__doc__")

    def __repr__(self) -> str:
        owner = self.__self__
        cls = owner if isinstance(owner, StandInClass) else type(owner)
        return f"<bound method {cls.__qualname__}.{self.__name__} of {owner!r}>"

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: Any) -> Any:
        return Method(copy.deepcopy(self.__self__, memo), self.__name__)

    def __eq__(self, other: object) -> Any:
        if not isinstance(other, Method):
            return NotImplemented
        return self.__self__ is other.__self__ and self.__name__ == other.__name__

    def __hash__(self) -> int:
        return hash(self.__name__)


class _CandidateAttribute:
    """What a class of the candidate's says of itself, and its stand-in would say otherwise."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, cls: Any, meta: Any = None) -> Any:
        if cls is None:
            return type.__dict__.get(self._name, ())
        candidate = type.__getattribute__(cls, "_harena_candidate")
        if cls._harena_number < 0 or candidate._receiving:  # it is being made
            return type.__dict__[self._name].__get__(cls)
        return candidate.ask("get", cls, self._name)


class _SettableCandidateAttribute(_CandidateAttribute):
    """What a class of the candidate's says of itself, also where its stand-in has such a name of its own."""

    def __set__(self, cls: Any, value: Any) -> None:
        cls._harena_candidate.ask("set", cls, self._name, value)


def type_of_class(cls: Any) -> type:
    """The class that a class of the candidate's is of where it lives."""
    found = cls._harena_candidate.ask("type", cls, "")
    if not isinstance(found, type):
        raise refused(f"the candidate says that the class of {cls.__name__} is none")
    return found


class _ToldClass:
    """What a trusted text is told of the class of a class; anybody else sees the stand-in's."""

    __slots__ = ()

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return type_of_class(self) if sys._getframe(1).f_code.co_filename in sources else type(self)


class StandInClass(_ToldClass, type):
    """A class of the candidate's."""

    _harena_candidate: Any
    __bases__ = _SettableCandidateAttribute("__bases__")
    __mro__ = _SettableCandidateAttribute("__mro__")
    __dict__ = _SettableCandidateAttribute("__dict__")  # type: ignore[misc]

    def __new__(mcs, name: str, bases: Any, names: Any, /, **keywords: Any) -> Any:
        if "_harena_number" not in names:
            candidate = next(base._harena_candidate for base in bases if isinstance(base, StandInClass))
            candidate.note(f"it derives a class of its own from the candidate's {bases[0].__name__}")
            raise TypeError("a class of the suite's cannot derive from one of the candidate's in another process")
        return super().__new__(mcs, name, bases, names)

    def __init__(cls, name: str, bases: Any, names: Any, /, **keywords: Any) -> None:
        super().__init__(name, bases, names)
        if "__slots__" in names:  # an object is asked for its class's own, as the class is
            type.__delattr__(cls, "__slots__")

    def __call__(cls, /, *positional: Any, **keywords: Any) -> Any:
        found = cls._harena_candidate.ask("call", cls, "", positional, tuple(keywords.items()))
        if cls._harena_is_named and cls._harena_kind != "enum" and isinstance(found, cls):
            if times_carried(found) == 1:  # by this message, and by no other
                carried(found, -1)
            if not origin_of(found):
                object.__setattr__(found, "_harena_origin", "made")
        return found

    def __getattr__(cls, name: str) -> Any:
        if name == "__signature__":
            return signature_here(cls._harena_candidate, cls)
        if (
            name.startswith(_PROBED_PREFIXES)
            or name[:8] == "_harena_"
            or (name[:2] == "__" == name[-2:] and name not in _TOLD_OF_CLASSES and name not in written_names)
        ):
            if name[:2] == "__" and not name.startswith(_PROBED_PREFIXES):
                cls._harena_candidate.libraries.lacks(cls, name, 2)
            raise AttributeError(f"type object {cls.__name__!r} has no attribute {name!r}")
        asked = cls._harena_candidate.asked
        found = cls._harena_candidate.ask("get", cls, name)
        if not cls._harena_is_named and (name in JUDGES or name in _ALGEBRA) and callable(found):
            return Method(cls, name)
        found = cls._harena_candidate.alias(found)
        if type(found) is cls and cls._harena_kind == "enum" and cls._harena_candidate.asked > asked:
            carried(found, -1)
        if cls._harena_is_named and hasattr(type(found), "_harena_of_class"):
            object.__setattr__(found, "_harena_of_class", cls)
        return found

    def __setattr__(cls, name: str, value: Any) -> None:
        if name[:8] == "_harena_" or name[:2] == "__" or name[:5] == "_abc_":
            super().__setattr__(name, value)
        else:
            cls._harena_candidate.ask("set", cls, name, value)

    def __delattr__(cls, name: str) -> None:
        cls._harena_candidate.ask("del", cls, name)

    def __dir__(cls) -> list[str]:
        return list(cls._harena_candidate.ask("names", cls, ""))

    def mro(cls) -> list[Any]:
        """What a test that calls it is told; Python itself calls it to make a class."""
        return list(cls.__mro__) if sys._getframe(1).f_code.co_filename in sources else type.mro(cls)

    def __subclasses__(cls) -> list[Any]:
        return list(cls._harena_candidate.ask("call", cls, "__subclasses__"))

    def _harena_checked(cls, name: str) -> None:
        """A class in the place of a function is no container."""
        if cls._harena_kind != "enum" and not cls._harena_is_named:
            raise refused(f"a class of the candidate's has no {name} that a suite could believe")

    def __repr__(cls) -> str:
        if cls._harena_kind != "enum":
            return type.__repr__(cls)
        is_flag = any(part is enum.Flag for base in _lineage_here(cls) for part in getattr(base, "__mro__", ()))
        return f"<{'flag' if is_flag and _SAYS_FLAG else 'enum'} {cls.__name__!r}>"

    def __bool__(cls) -> bool:
        return True

    def __eq__(cls, other: object) -> bool:
        return cls is other or bool(cls._harena_candidate.is_own(cls, other))

    def __hash__(cls) -> int:
        own = cls._harena_candidate.own_class(cls)
        return type.__hash__(cls) if own is None else hash(own)

    def __instancecheck__(cls, instance: Any) -> bool:
        if type.__instancecheck__(cls, instance) or _derives(type(instance), cls):
            return True
        if (own := cls._harena_candidate.own_class(cls)) is not None and not _is_theirs(instance):
            return isinstance(instance, own)
        if "_harena_is_abstract" not in own_names(cls):
            return False
        if not _is_theirs(instance):
            what = f"it asks the candidate's {cls.__name__} what its own objects are"
            cls._harena_candidate.note(what, is_doubt=False)
            return False
        return cls._harena_candidate.ask("isinstance", cls, "", instance) is True

    def __subclasscheck__(cls, subclass: Any) -> bool:
        if type.__subclasscheck__(cls, subclass) or (isinstance(subclass, type) and _derives(subclass, cls)):
            return True
        if "_harena_is_abstract" in own_names(cls) and not isinstance(subclass, StandInClass):
            what = f"it asks the candidate's {cls.__name__} what its own classes are"
            cls._harena_candidate.note(what, is_doubt=False)
        return False


def _derives(cls: type, wanted: type) -> bool:
    """It does so where the candidate is, though its stand-in cannot (from a dict and a class without one, say)."""
    lineage = type.__dict__["__mro__"].__get__(cls)
    bases = [base for part in lineage for base in own_names(part).get("_harena_bases", ())]
    return any(base is wanted or _derives(base, wanted) for base in bases if base not in lineage or base is wanted)


# names that mean something else while a class is made
StandInClass.__annotations__ = _SettableCandidateAttribute("__annotations__")  # type: ignore[assignment]
StandInClass.__slots__ = _CandidateAttribute("__slots__")  # type: ignore[assignment]


def _lineage_here(cls: Any) -> Any:
    """What the class derives from where it lives, as far as this process has it."""
    for base in own_names(cls).get("_harena_told_bases", ()):
        yield from _lineage_here(base) if isinstance(base, StandInClass) else (base,)


class _StandInNumber(StandInClass, abc.ABCMeta):
    """A class of the candidate's that derives from an abstract number's, as a fraction's."""


# What a class has of a metaclass of its own: an enumeration, say, is a container.


def _class_iter(cls: Any) -> Any:
    cls._harena_checked("__iter__")
    return iter(cls._harena_candidate.ask("special", cls, "__iter__"))


def _class_reversed(cls: Any) -> Any:
    cls._harena_checked("__reversed__")
    return iter(cls._harena_candidate.ask("special", cls, "__reversed__"))


def _class_len(cls: Any) -> int:
    cls._harena_checked("__len__")
    return int(cls._harena_candidate.ask("special", cls, "__len__"))


def _class_contains(cls: Any, item: Any) -> bool:
    if cls._harena_kind != "enum" or cls._harena_contains:
        what = f"it asks the metaclass of the candidate's {cls.__name__} what is in it"
        cls._harena_candidate.note(what, is_doubt=False)
    return any(item is member or item == member for member in cls)


def _class_getitem(cls: Any, key: Any) -> Any:
    cls._harena_checked("__getitem__")
    asked = cls._harena_candidate.asked
    found = cls._harena_candidate.ask("special", cls, "__getitem__", (key,))
    if type(found) is cls and cls._harena_candidate.asked > asked:
        carried(found, -1)
    return found


OF_METACLASSES = {
    "__iter__": _class_iter, "__reversed__": _class_reversed, "__len__": _class_len, "__contains__": _class_contains,
    "__getitem__": _class_getitem,
}  # fmt: skip
OF_METACLASSES.update(methods_of_metaclasses(StandInClass, SPECIAL))
"""methods of a class itself, which its stand-in has where the class has them of its metaclass"""
metaclasses: set[type] = {StandInClass, _StandInNumber}
"""the classes of stand-ins for classes"""
_made_metaclasses: dict[Any, type] = {}


def _metaclass(base: type, kept: tuple[type, ...], names: frozenset[str]) -> Any:
    """The class of a stand-in for a class that has these methods of its metaclass."""
    metas = dict.fromkeys([*(type(part) for part in kept), base])
    most = [meta for meta in metas if not any(meta in other.__mro__[1:] for other in metas)]
    lacking = frozenset(
        name for name in names if not any(getattr(meta, name, None) is OF_METACLASSES[name] for meta in most)
    )
    if len(most) == 1 and not lacking:
        return most[0]
    key = (tuple(most), lacking)
    if key not in _made_metaclasses:
        held = {name: OF_METACLASSES[name] for name in lacking}
        made = type("StandInClass", tuple(most), {"__module__": __name__, **held})
        _made_metaclasses[key] = made
        metaclasses.add(made)
    return _made_metaclasses[key]


def _check_item(stand_in: Any, key: Any, default: Any = None) -> None:
    """A truth that is found under a key is believed of what is one of its items, where a loop says what these are: else
    an object could say yes to every key. `default`: what `get` was given beside the key, if it was asked."""
    cls = type(stand_in)
    if cls._harena_is_named or _is_theirs(key) or _method_of(BASES.get(cls._harena_kind, object), "__getitem__"):
        return
    if "__iter__" in cls._harena_special:
        found = list(_items(stand_in))
        is_item = key in found or (type(key) is int and -len(found) <= key < len(found))
    else:
        is_item = type(key) is int and _has_an_end(stand_in)
    if not is_item:
        what = f"{key!r} is none of the items of a {cls.__name__!r} object"
        raise refused(what, None if _holds_all(stand_in, key, default) else stand_in)


def _holds_all(stand_in: Any, key: Any, default: Any) -> bool:
    """It says yes to whatever key nobody could expect."""
    candidate = stand_in._harena_candidate
    with candidate.trust.computing():
        try:
            return all(
                type(said) in SCALARS and bool(said) and said not in (default or ())
                for said in (
                    candidate.ask("special", stand_in, "__getitem__", (other,))
                    if default is None
                    else candidate.ask("call", stand_in, "get", (other, *default))
                    for other in others(key)
                )
            )
        except Exception:  # noqa: BLE001 (an honest container may take only what it knows)
            return False


def _has_an_end(stand_in: Any) -> bool:
    """Not every index is one of a sequence's."""
    candidate = stand_in._harena_candidate
    with candidate.trust.computing():
        try:
            candidate.ask("special", stand_in, "__getitem__", (2**40,))
        except LookupError:
            return True
    return False


def _is_sequence(stand_in: Any) -> bool:
    """Its indexes end, as a loop over them needs, and not only as a dictionary's keys do."""
    candidate = stand_in._harena_candidate
    with candidate.trust.computing():
        try:
            candidate.ask("special", stand_in, "__getitem__", (_MOST_ITEMS,))
        except IndexError:
            return True
        except Exception:  # noqa: BLE001 (a class may take other keys, or walk from item to item)
            return False
    return False


def _shown(name: str) -> Any:
    def method(self: Any, /, *positional: Any) -> Any:
        said = object.__getattribute__(self, "_harena_candidate").ask("special", self, name, positional)
        if type(said) is not str:
            raise TypeError(f"{name} returned non-string")
        return said

    return method


def _forwarded(name: str) -> Any:
    method = _method_forwarded(name)
    method.__name__ = name
    return method


def _method_forwarded(name: str) -> Any:
    if name in ("__str__", "__repr__", "__format__"):
        return _shown(name)
    if name in _ONE_SIDED:

        def forwarded(self: Any, /, *positional: Any, **keywords: Any) -> Any:
            candidate = object.__getattribute__(self, "_harena_candidate")
            origin = origin_of(self)
            found = candidate.ask("special", self, name, positional, tuple(keywords.items()))
            if name in _NUMBERS and origin == "seen":
                what = f"{name} of a {type(self).__name__!r} object is not the candidate's to say"
                raise refused(what, self if is_kin(self) else None)
            mark_kin(found, self)
            if name in _COMPUTING or (name == "__getitem__" and type(positional[0]) is slice):
                _mark_computed(found, self, origin)
            if name == "__getitem__" and type(found) is bool:
                _check_item(self, positional[0])
            return found

        return forwarded

    def operated(self: Any, *operands: Any) -> Any:
        is_told, origin = not all(map(_is_theirs, operands)), origin_of(self)
        if is_told and not type(self)._harena_is_named:
            return not_believed(self, name, operands)
        has_items = bool(type(self)._harena_kind) or _loops(self)
        is_set = is_told and origin_of(self) != "made" and isinstance(operands[0], (set, frozenset)) and has_items
        wanted = _SET_OPERATORS[name](set(_items(self)), operands[0]) if is_set and name in _SET_OPERATORS else None
        found = object.__getattribute__(self, "_harena_candidate").ask("special", self, name, operands)
        if wanted is not None and found is not NotImplemented and set(_items(found)) != wanted:
            raise refused(
                f"what {name} with a set says does not follow from the items of a {type(self).__name__!r} object"
            )
        if is_told and origin_of(self) == "given":
            words.append(f"an object that a call gave back says what {name} with a plain operand is")
        is_object = origin == "computed" and _is_theirs(found) and type(found)._harena_is_named
        is_free = is_object or origin in ("made", "given")
        if (is_told and not is_free) or "seen" in map(origin_of, (self, *operands)):
            # what the candidate says of a plain operand is no value: an object of a kind with its own, at most
            if found is NotImplemented or _is_for_operand(self, name, operands, found):
                return found
            kind = type(found)._harena_kind if _is_theirs(found) else None
            if found is self and name[:3] == "__i":  # a change by what it is given, which is no question
                words.append(f"an object that a call gave back is changed by {name} with a plain operand")
                return found
            if kind not in ("", "list", "tuple", "dict", "set") or kind != type(self)._harena_kind:
                return _unbelieved(self, name, operands)
            if not origin_of(found):
                object.__setattr__(found, "_harena_origin", "seen")
        if is_kin(self) or origin_of(self) == "made":
            mark_kin(found, self)
        _mark_computed(found, self, origin)
        return found

    return operated


def _unbelieved(self: Any, name: str, operands: Any) -> Any:
    """What an object of a class that the suite names says of a plain value, where that is not believed."""
    if not is_kin(self):
        return not_believed(self, name, operands)
    candidate = object.__getattribute__(self, "_harena_candidate")
    what = f"it asks {name} of a {type(self).__name__!r} object that it has not made itself"
    candidate.note(what, is_doubt=False)
    return NotImplemented


def _is_for_operand(self: Any, name: str, operands: Any, found: Any) -> bool:
    """What an operator of a computed object gives is a value that depends on its plain operand; a pass is then in
    doubt."""
    if origin_of(self) != "computed" or _is_theirs(found):
        return False
    if said_of_others(self, name, operands, in_copy=True) is not True:
        return False
    words.append(f"an object that an operator gave says what {name} with a plain operand is")
    return True


def _is_opaque(other: Any) -> bool:
    """An object of the candidate's that is made of no plain value."""
    return isinstance(other, StandIn) and not type(other)._harena_kind


def _is_indifferent(self: Any, name: str) -> bool:
    """What is true of something that it has never seen is true of everything."""
    try:
        is_indifferent = self._harena_candidate.ask("probe", self, name) is not False
    except Exception:  # noqa: BLE001 (an honest comparison needs the attributes of its own class)
        return False
    if is_indifferent:
        doubts.append(f"the candidate's {name} says yes to everything, which is taken for a no")
    return is_indifferent


def _equal(self: Any, other: Any) -> Any:
    if self is other:
        return True
    if not _is_opaque(other):
        if type(self)._harena_compares and type(other) in _HELD:
            held = _held_items(self, type(other))
            if held is not None:
                return held == other
        _notes_own(self, other)
        return _judged_plain(self, "__eq__", other) if type(self)._harena_compares else NotImplemented
    cls = type(self)
    if not cls._harena_compares and not type(other)._harena_compares:
        return NotImplemented  # as any object without its own; `==` then says no
    candidate = self._harena_candidate
    asked, against = (self, other) if cls._harena_compares else (other, self)
    said = candidate.ask("special", asked, "__eq__", (against,))
    if said is NotImplemented:
        return NotImplemented
    if type(said) is not bool:
        what = f"__eq__ of a {type(asked).__name__!r} object gives an object, which is no truth"
        candidate.note(what, is_doubt=False)
    return type(said) is bool and said and not _is_indifferent(asked, "__eq__")


def _notes_own(self: Any, other: Any) -> None:
    """An object of the suite's own, or of the library's, cannot be compared with one that is elsewhere and has a say in
    it, or could be the same one. Any other is for the suite's object to compare, which does so here."""
    candidate = self._harena_candidate
    if type(other) in _COMPARED_HERE or isinstance(other, type) or _is_theirs(other):
        return
    if not type(self)._harena_compares and type(other).__name__ != type(self).__name__:
        return
    what = f"it compares a {type(self).__name__!r} object with a {type(other).__name__!r} of its own"
    candidate.note(what, is_doubt=False)


_COMPARED_HERE = frozenset({*(cls for cls, _, _ in VALUES.values()), *MUTABLE, *SCALARS, tuple, frozenset})
_HELD: dict[type, tuple[str, ...]] = {
    dict: ("__getitem__", "__iter__", "__len__"), list: ("__getitem__", "__len__"), str: ("__getitem__", "__str__"),
}  # fmt: skip


def _held_items(self: Any, kind: type) -> Any:
    """What an object of a class of `collections` holds, as the plain value that it may equal; None if it is none."""
    with self._harena_candidate.trust.computing():
        return _items_of_kind(self, kind)


def _items_of_kind(self: Any, kind: type) -> Any:
    candidate = self._harena_candidate
    if not set(_HELD[kind]) <= type(self)._harena_special:
        return None
    like = collections.abc.Mapping if kind is dict else collections.UserList if kind is list else collections.UserString
    if candidate.ask("isinstance", like, "", self) is not True:
        return None
    if kind is dict:
        return {key: candidate.ask("special", self, "__getitem__", (key,)) for key in _items(self)}
    return list(_items(self)) if kind is list else _shown("__str__")(self)


def _judged_plain(self: Any, name: str, other: Any) -> Any:
    """What an object of a class that the suite names says of a plain operand. What it raises is its answer. What it
    says counts of one that the suite has made, or that an operator gave for such a one, which tells the operand from
    others; but for a no of `__eq__`, a pass is then in doubt."""
    with self._harena_candidate.trust.computing():  # what is in doubt is said here
        return _said_of_plain(self, name, other)


def _said_of_plain(self: Any, name: str, other: Any) -> Any:
    candidate = self._harena_candidate
    if not type(self)._harena_is_named or origin_of(self) == "seen" or not candidate.is_plain(other):
        return not_believed(self, name, (other,))
    said = candidate.ask("special", self, name, (other,))
    if type(said) is not bool:
        return said if said is NotImplemented else not_believed(self, name, (other,))
    if said or name != "__eq__":
        words.append(f"the candidate's {name} says {said} of a plain value")
    is_no = name == "__eq__" and not said
    if origin_of(self) == "computed" and (is_no or said_of_others(self, name, (other,)) is not False):
        return said and not (name == "__eq__" and _is_indifferent(self, name))
    if origin_of(self) != "made":
        says_yes_to_all = name == "__eq__" and all(
            candidate.ask("probe", self, name, (each,)) is True for each in others(other)
        )
        return NotImplemented if is_no or says_yes_to_all else _unbelieved(self, name, (other,))
    return said and not (name == "__eq__" and _is_indifferent(self, name))


def _unequal(self: Any, other: Any) -> Any:
    equal = _equal(self, other)
    return equal if equal is NotImplemented else not equal


def _compared(name: str) -> Any:
    def method(self: Any, other: Any) -> Any:
        if not _is_opaque(other) and (told := _judged_plain(self, name, other)) is not NotImplemented:
            return told
        if not _is_opaque(other) or "seen" in (origin_of(self), origin_of(other)):
            return NotImplemented
        said = self._harena_candidate.ask("special", self, name, (other,))
        return said if type(said) is bool or said is NotImplemented else not_believed(self, name, (other,))

    return method


def _hashed(self: Any) -> int:
    if "__hash__" not in type(self)._harena_special:
        return object.__hash__(self)
    said = self._harena_candidate.ask("special", self, "__hash__")
    if type(said) is not int:
        raise TypeError("__hash__ method should return an integer")
    return said


def _items(self: Any) -> Any:
    """What a loop gives, which must end."""
    found = self._harena_candidate.looks.computes(self) if _is_theirs(self) else iter(self)
    for count, item in enumerate(found):
        if count >= _MOST_ITEMS:
            what = f"a {type(self).__name__!r} object gives items without an end, or more than {_MOST_ITEMS}"
            self._harena_candidate.note(what, is_doubt=False)
            raise RuntimeError(what)
        yield item


def _length(self: Any) -> int:
    if not type(self)._harena_is_named:
        if not _loops(self):
            raise refused(f"object of type {type(self).__name__!r} has no items to count", self)
        not_believed(self, "__len__")
        return sum(1 for _ in _items(self))
    said = self._harena_candidate.ask("special", self, "__len__")
    if type(said) is not int:
        raise TypeError(f"{type(said).__name__!r} object cannot be interpreted as an integer")
    number = _number_of_answer(self)
    if number is not None and self._harena_candidate.looks.claim(number, said):
        raise refused(f"a {type(self).__name__!r} object says that it has items, and a loop gives none")
    return said


def _number_of_answer(self: Any) -> Any:
    """Number of an object that has a loop and that the suite did not make, or None: what such an object says of itself,
    and what a loop gives, must agree."""
    if origin_of(self) == "made" or "__iter__" not in type(self)._harena_special:
        return None
    item = object.__getattribute__(self, "_harena_item")
    return item[1] if item is not None else None


def _contains_all(self: Any, wanted: Any) -> bool:
    """Whatever is asked of it, it says yes."""
    ask = self._harena_candidate.ask
    try:
        return all(ask("probe", self, "__contains__", (other,)) is True for other in others(wanted))
    except Exception:  # noqa: BLE001 (an honest container may take only what it knows)
        return False


def _is_known_member(self: Any) -> bool:
    """A member of an enumeration that the suite has by its name, and that was no answer."""
    return bool(type(self)._harena_kind == "enum" and times_carried(self) <= 0)


_HOLDS_ALL = "the candidate's object says of everything that it is in it"


def _contains(self: Any, wanted: Any) -> bool:
    is_answer = origin_of(self) == "given" or (origin_of(self) == "computed" and not _loops(self))
    is_asked = origin_of(self) == "made" or is_answer or _is_theirs(wanted) or _is_known_member(self)
    if not type(self)._harena_is_named or not is_asked:
        if not _loops(self):
            what = f"argument of type {type(self).__name__!r} has no items to compare"
            raise refused(what, None if _contains_all(self, wanted) else self)
        is_item = any(item is wanted or item == wanted for item in _items(self))
        not_believed(self, "__contains__", (wanted,))
        return is_item
    candidate = self._harena_candidate
    said = candidate.ask("special", self, "__contains__", (wanted,))
    if type(said) is not bool:
        raise TypeError("the candidate's __contains__ gave no bool")
    if is_answer and not _is_theirs(wanted):
        words.append("an object that a call gave back says what is in it")  # `return self`: an object, or an answer
        if said and all(candidate.ask("probe", self, "__contains__", (other,)) is True for other in others(wanted)):
            raise AssertionError(_HOLDS_ALL)
    if said and _is_indifferent(self, "__contains__") and origin_of(self) != "made":
        raise AssertionError(_HOLDS_ALL)  # neither in it nor not: no test is passed by that
    return said


def _true(self: Any) -> bool:
    special = type(self)._harena_special
    if origin_of(self) == "told":
        raise refused(f"the truth of a {type(self).__name__!r} object is not the candidate's to say")
    if not type(self)._harena_is_named or origin_of(self) == "seen":
        if _loops(self):
            not_believed(self, "__bool__")
            return next(iter(self), self) is not self
        raise refused(f"the truth of a {type(self).__name__!r} object is not the candidate's to say", self)
    said = self._harena_candidate.ask("special", self, "__bool__" if "__bool__" in special else "__len__")
    number = _number_of_answer(self)
    if type(said) is int and number is not None and self._harena_candidate.looks.claim(number, said):
        raise refused(f"a {type(self).__name__!r} object says that it has items, and a loop gives none")
    if type(said) not in (bool, int):
        raise TypeError("the candidate's __bool__ gave no bool")
    return bool(said)


def _loops(self: Any) -> bool:
    special = type(self)._harena_special
    return "__iter__" in special or ("__getitem__" in special and _is_sequence(self))


def _looped(self: Any) -> Any:
    candidate = self._harena_candidate
    if object.__getattribute__(self, "_harena_item") is None:  # a container, whose items both sides have
        found = candidate.ask("special", self, "__iter__")
        return found if found is self else iter(found)
    return candidate.looks.loop(self, candidate)


def _next(self: Any) -> Any:
    candidate = self._harena_candidate
    number = _number_of_answer(self)
    claimed = candidate.looks.claimed(number)
    try:
        return candidate.ask("special", self, "__next__")
    except StopIteration:
        if claimed:
            candidate.looks.ends_empty(number, claimed)
        raise


def _left(self: Any, kind: Any, error: Any, trace: Any) -> bool:
    """The end of a `with`."""
    try:
        said = self._harena_candidate.ask("special", self, "__exit__", _told_end(kind, error))
    except Exception:  # raised again, but where a test has ended: nothing that the candidate raises then counts
        if error is not None and is_verdict(error):
            return False
        raise
    return _is_swallowed(said, error, trace)


async def _left_async(self: Any, kind: Any, error: Any, trace: Any) -> bool:
    try:
        said = await self._harena_candidate.ask("special", self, "__aexit__", _told_end(kind, error))
    except Exception:  # raised again, but where a test has ended: nothing that the candidate raises then counts
        if error is not None and is_verdict(error):
            return False
        raise
    return _is_swallowed(said, error, trace)


def _told_end(kind: Any, error: Any) -> tuple[Any, ...]:
    """What an `__exit__` is told: of a test's own outcome no more than that there is one."""
    if error is None or not is_verdict(error):
        return (kind, error, None)
    return (AssertionError, AssertionError("a test has ended"), None)


def _is_swallowed(said: Any, error: Any, trace: Any) -> bool:
    if error is None or is_verdict(error) or type(said) not in (bool, int, str) or not said:
        return False
    if skips_a_judgement(trace):
        raise AssertionError(
            f"the candidate swallows {error!r}, by which the test would have gone on unjudged"
        ) from error
    if may_skip_what_is_judged(trace):
        words.append(f"the candidate swallows {type(error).__name__}, and what fills a value may be skipped")
    return True


async def _next_async(self: Any) -> Any:
    return self._harena_candidate.ask("anext", self)


def _awaited(self: Any) -> Any:
    return self._harena_candidate.run(self)
    yield  # a generator, as what awaits needs


def generator(candidate: Any, stand_in: Any, *, ahead: bool, has_begun: bool = False) -> Any:
    """A generator of this process over one of the candidate's. The first items are asked for one by one, as they are
    needed; many are asked for at once. One that `has_begun` waits, after its first step, for what is sent."""
    count, given = 1, 0
    sent: Any = None
    thrown: Any = None
    if has_begun:
        try:
            sent = yield
        except GeneratorExit:
            candidate.close(stand_in)
            raise
        except BaseException as error:
            if is_verdict(error):
                raise
            thrown = error
    while True:
        try:
            if thrown is not None:
                items: Any = (candidate.ask("call", stand_in, "throw", (thrown,)),)
            elif sent is not None:
                items = (candidate.ask("call", stand_in, "send", (sent,)),)
            else:
                items = candidate.ask("many", stand_in, "", count)
        except StopIteration as end:
            return end.value
        if type(items) is not tuple:
            raise RuntimeError("the candidate gave no items")
        thrown = None
        for place, item in enumerate(items):
            try:
                sent = yield item
            except GeneratorExit:
                candidate.close(stand_in)
                raise
            except BaseException as error:
                if place + 1 < len(items) or is_verdict(error):
                    raise
                thrown = error
        given += len(items)
        if ahead and given >= _FIRST_ITEMS:
            count = min(_MOST_AHEAD, 2 * count)


def _path(self: Any) -> str:
    said = self._harena_candidate.ask("special", self, "__fspath__")
    if type(said) not in (str, bytes):
        raise TypeError("the candidate's __fspath__ gave no path")
    return said  # type: ignore[no-any-return]


def _describing(name: str) -> Any:
    """A method of a descriptor, which a class of the suite's has."""

    def method(self: Any, /, *operands: Any) -> Any:
        self._harena_candidate.note(f"a class of its own has a descriptor of the candidate's ({type(self).__name__})")
        return self._harena_candidate.ask("special", self, name, operands)

    return method


LEFT = {"__exit__": _left, "__aexit__": _left_async}
_JUDGED = {
    "__len__": _length, "__contains__": _contains, "__iter__": _looped, "__next__": _next, **LEFT,
    "__await__": _awaited, "__anext__": _next_async, "__bool__": _true,
    **{name: _compared(name) for name in COMPARISONS},
}  # fmt: skip


class _Documentation:
    """What `__doc__` says: of a class what it has told, and of an object what that says, which may have its own."""

    def __init__(self, doc: Any) -> None:
        self._doc = doc

    def __get__(self, stand_in: Any, owner: Any = None) -> Any:
        return self._doc if stand_in is None else stand_in._harena_candidate.ask("get", stand_in, "__doc__")


class _OwnModule(str):
    """The module of a class whose objects have each their own."""

    __slots__ = ()

    def __get__(self, stand_in: Any, owner: Any = None) -> Any:
        return str(self) if stand_in is None else stand_in._harena_candidate.ask("get", stand_in, "__module__")


def make_class(candidate: Any, number: int, name: str, qualified: str, module: str, doc: Any, bases: Any, special: Any,
               methods: Any, kind: str, unhashable: bool, of_metaclass: Any = ()) -> Any:  # fmt: skip
    """A stand-in for a class that the candidate describes."""
    has = frozenset(each for each in of_metaclass if type(each) is str and each in OF_METACLASSES)
    if "__eq__" in has:  # else Python would take it for unhashable
        has |= {"__hash__"}
    names: dict[str, Any] = {
        "_harena_candidate": candidate,
        "_harena_number": number,
        "_harena_special": frozenset(special),
        "_harena_methods": frozenset(methods),
        "_harena_kind": kind if kind in BASES else "enum" if kind == "enum" else "",
        "_harena_compares": "__eq__" in special,
        "_harena_contains": CONTAINS in of_metaclass,
        "__module__": module,
        "__qualname__": qualified,
        "__doc__": doc,
        "__init__": _StandInInit(),
        "__new__": _StandInNew(),
    }
    if kind in BASES:
        return _valued(name, names, bases, special, has)
    if kind == "enum":
        return _enumerated(name, names, bases, has)
    names["__slots__"] = ()
    names["__eq__"], names["__ne__"], names["__hash__"] = _equal, _unequal, None if unhashable else _hashed
    for each in special:
        if each in _JUDGED:
            names[each] = _JUDGED[each]
        elif each == "__fspath__":
            names[each] = _path
        elif each in DESCRIBING:
            names[each] = _describing(each)
        elif each not in _OWN:
            names[each] = _forwarded(each)
            names[each].__qualname__ = f"{qualified}.{each}"
    names["__doc__"] = _Documentation(doc)
    if module == "functools":  # what wraps a function has the function's
        names["__module__"] = _OwnModule(module)
    if "__bool__" in special or "__len__" in special:
        names["__bool__"] = _true
    return _made_class(StandInClass, name, _lineage(bases, StandIn), names, has)


def _made_class(base: type, name: str, kept: tuple[type, ...], names: dict[str, Any], has: frozenset[str]) -> Any:
    try:
        meta = _metaclass(base, tuple(part for part in kept if isinstance(part, StandInClass)), has)
        return meta(name, kept, names)
    except TypeError:  # metaclasses that have no order for all of these
        return base(name, kept, names)


def _enumerated(name: str, names: dict[str, Any], bases: Any, has: frozenset[str]) -> Any:
    """An enumeration. Where it derives from a plain value, so does its stand-in, and its members are such values."""
    lineage = [part for base in bases if isinstance(base, type) for part in type.__dict__["__mro__"].__get__(base)]
    value_base = next((base for base in BASES.values() if base in lineage and base not in MUTABLE), None)
    for each in _OF_MEMBERS:
        if each in names["_harena_special"] or (value_base is not None and _method_of(value_base, each) is not None):
            names[each] = _of_member(each)
    for each in names["_harena_special"] - set(vars(Member)) - _OF_MEMBERS:
        if each in (*_JUDGED, "__enter__", "__aenter__", "__aiter__"):
            names[each] = _JUDGED.get(each) or _forwarded(each)
    if value_base is None:
        return _made_class(StandInClass, name, _lineage(bases, _PlainMember), names, has)
    names["_harena_value_base"] = value_base
    kept = tuple(base for base in bases if isinstance(base, StandInClass) and issubclass(base, value_base))
    made = _StandInNumber if isinstance(value_base, abc.ABCMeta) else StandInClass
    return _made_class(made, name, kept or (_ValuedMember, value_base), names, has)


def make_member(cls: Any, item: Any, name: Any, inner: Any) -> Any:
    """A member of an enumeration that `make_class` made; `inner` is the plain value that it is, or None. Raises
    TypeError where it cannot be one."""
    base = own_names(cls).get("_harena_value_base") if isinstance(cls, StandInClass) else None
    made = object.__new__(cls) if base is None else _value_of(cls, base, inner)
    if not isinstance(made, Member) or type(name) not in (str, type(None)):
        raise TypeError("no member of an enumeration")
    for attribute_name, value in (("_harena_item", item), ("_harena_inner", inner), ("name", name)):
        object.__setattr__(made, attribute_name, value)
    return made


def _lineage(bases: Any, root: type) -> tuple[type, ...]:
    """Bases that can be bases here."""
    kept = tuple(base for base in bases if isinstance(base, StandInClass) and issubclass(base, root))
    try:
        type("_", kept or (root,), {"_harena_number": 0, "__slots__": ()}) if not kept else StandInClass(
            "_", kept, {"_harena_number": -1}
        )
    except TypeError:
        kept = kept[:1]
    return kept or (root,)


class Member:
    """A member of an enumeration of the candidate's: there is one object for each, and it is its name."""

    __slots__ = ()
    if TYPE_CHECKING:
        name: str
        _harena_inner: Any
        _harena_candidate: Any

    def __eq__(self, other: object) -> Any:
        if self is other:
            return True
        inner = self._harena_inner
        not_believed(self, "__eq__", (other,))
        if isinstance(other, Member):
            return type(inner) is not type(None) and inner == other._harena_inner
        return inner == other if inner is not None else NotImplemented

    def __ne__(self, other: object) -> Any:
        equal = self.__eq__(other)
        return equal if equal is NotImplemented else not equal

    def __hash__(self) -> int:
        return hash(self._harena_inner) if self._harena_inner is not None else hash(self.name)

    def __lt__(self, other: Any) -> Any:
        return _ordered(self, operator.lt, "__lt__", other)

    def __le__(self, other: Any) -> Any:
        return _ordered(self, operator.le, "__le__", other)

    def __gt__(self, other: Any) -> Any:
        return _ordered(self, operator.gt, "__gt__", other)

    def __ge__(self, other: Any) -> Any:
        return _ordered(self, operator.ge, "__ge__", other)

    def __repr__(self) -> str:
        return str(_shown("__repr__")(self))

    def __str__(self) -> str:
        return str(_shown("__str__")(self))

    def __format__(self, form: str) -> str:
        return str(_shown("__format__")(self, form))


def _ordered(self: Any, compare: Any, name: str, other: Any) -> Any:
    cls = type(self)
    is_asked = name in cls._harena_special and type(other) is cls and cls._harena_is_named
    if self._harena_inner is not None and not is_asked:
        not_believed(self, name, (other,))
        return compare(self._harena_inner, other._harena_inner if isinstance(other, Member) else other)
    if isinstance(other, Member) and name in cls._harena_special:
        return self._harena_candidate.ask("special", self, name, (other,))
    return not_believed(self, name, (other,))


def _of_member(name: str) -> Any:
    """Make a method of members: one that is made of a plain value answers as the value does, others as any object."""

    def method(self: Any, /, *operands: Any) -> Any:
        inner, cls = self._harena_inner, type(self)
        ask = self._harena_candidate.ask
        are_theirs = bool(operands) and all(map(_is_theirs, operands))
        own = _method_of(type(inner), name)
        is_values = own is not None or name not in cls._harena_special
        if inner is not None and is_values and name not in ("__invert__", "__call__") and not are_theirs:
            if name == "__bool__":
                return bool(inner)
            not_believed(self, name, operands)
            if own is None:
                return NotImplemented if name not in ("__len__", "__iter__", "__contains__") else _lacks(self, name)
            plain = [getattr(each, "_harena_inner", each) if isinstance(each, Member) else each for each in operands]
            return own(inner, *plain)
        if name == "__bool__" and name not in cls._harena_special:
            return True
        if name not in cls._harena_special and inner is None:
            return _lacks(self, name) if name not in _MEMBER_OPERATORS else NotImplemented
        if name == "__len__":
            return _length(self)
        if name == "__contains__":
            return _contains(self, *operands)
        if name == "__bool__":
            return _true(self)
        if name == "__iter__":
            return _looped(self)
        if name not in _MEMBER_OPERATORS:
            return ask("special", self, name, operands)
        if not are_theirs and not cls._harena_is_named:
            return not_believed(self, name, operands)
        found = ask("special", self, name, operands)
        if are_theirs or (isinstance(found, Member) and found._harena_inner is None):
            return found
        return found if found is NotImplemented else not_believed(self, name, operands)

    return method


def _lacks(self: Any, name: str) -> Any:
    raise TypeError(f"{type(self).__name__!r} has no {name}")


_MEMBER_OPERATORS = frozenset(
    f"__{side}{name}__"
    for side in ("", "r")
    for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "or", "and", "xor", "lshift", "rshift")
)
_OF_MEMBERS = frozenset({
    "__int__", "__index__", "__float__", "__invert__", "__call__", "__len__", "__iter__", "__contains__", "__bool__",
    "__getitem__", "__neg__", "__abs__", *_MEMBER_OPERATORS,
})  # fmt: skip
"""methods that a member has where its class, or the plain value that it is made of, has them"""


class _PlainMember(Member, StandIn):
    """A member that is no plain value."""

    __slots__ = ("_harena_inner", "name")


def _plain_method(self: Any, name: str, own: Any) -> Any:
    """The plain value's method, in the place of one that the object's class has by the same name."""

    @functools.wraps(own)
    def method(*positional: Any, **keywords: Any) -> Any:
        try:
            answer = own(*positional, **keywords)
        except TypeError as error:
            is_refused = error.__traceback__ is not None and error.__traceback__.tb_next is None
            if is_refused and _OF_PARAMETERS.search(str(error)):  # no plain value has a method with these
                return Method(self, name)(*positional, **keywords)
            not_believed(self, name, positional)
            raise
        not_believed(self, name, positional)
        return answer

    return method


_OF_PARAMETERS = re.compile(r"\b(takes|expected|unexpected|got|invalid)\b.*\b(argument|arguments)\b")
"""what Python's own methods say of arguments that they have no parameters for"""


class _Valued:
    """An object of the candidate's that is made of a plain value: that is what is judged."""

    __copy__ = _Copier("copy")
    __deepcopy__ = _Copier("deepcopy")

    def __reduce_ex__(self, protocol: Any) -> Any:
        object.__getattribute__(self, "_harena_candidate").note("it pickles an object of the candidate's")
        return super().__reduce_ex__(protocol)

    if TYPE_CHECKING:
        _harena_kind: Any
    _harena_methods: Any = frozenset()
    _harena_is_named = False
    _harena_assigned: Any = frozenset()

    def __getattribute__(self, name: str) -> Any:
        if (name == "__dict__" and sys._getframe(1).f_code.co_filename in sources) or (
            name[:1] != "_" and name in object.__getattribute__(self, "_harena_assigned")
        ):
            return attribute(self, name)
        if name[:2] != "__" and name[:8] != "_harena_" and name in type(self)._harena_methods:
            cls = type(self)
            if (
                name in _CHANGES
                or not hasattr(BASES[cls._harena_kind], name)
                or origin_of(self) == "made"
                or (name == "get" and cls._harena_is_named)
            ):
                return Method(self, name)
            return _plain_method(self, name, super().__getattribute__(name))
        return super().__getattribute__(name)

    def __getattr__(self, name: str) -> Any:
        return attribute(self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _OF_FRACTION and isinstance(self, fractions.Fraction):
            object.__setattr__(self, name, value)  # Fraction sets them as it makes one
            return
        object.__getattribute__(self, "_harena_candidate").ask("set", self, name, value)
        if hasattr(BASES[type(self)._harena_kind], name):  # the suite has put something in a method's place
            assigned = object.__getattribute__(self, "_harena_assigned")
            object.__setattr__(self, "_harena_assigned", assigned | {name})

    def __delattr__(self, name: str) -> None:
        object.__getattribute__(self, "_harena_candidate").ask("del", self, name)
        assigned = object.__getattribute__(self, "_harena_assigned")
        if name in assigned:
            object.__setattr__(self, "_harena_assigned", assigned - {name})


_OF_FRACTION = frozenset({"_numerator", "_denominator"})


class _ValuedMember(Member, _Valued):
    """A member that is a plain value, also for code in C, which asks nobody. What it has by a name is the candidate's,
    as of any member."""

    __dir__, __delattr__, __reduce_ex__ = StandIn.__dir__, StandIn.__delattr__, StandIn.__reduce_ex__

    def __getattribute__(self, name: str) -> Any:
        if name == "__dict__" and sys._getframe(1).f_code.co_filename in sources:
            return attribute(self, name)
        if name[:2] == "__" or name[:8] == "_harena_" or name == "name" or name in _OF_FRACTION:
            return object.__getattribute__(self, name)
        return attribute(self, name)


def _of_value(name: str, own: Any) -> Any:
    """The plain value's, unless the class is one that the suite names, or the operands are the candidate's, too."""
    forwarded = _forwarded(name)
    is_number = name not in ("__str__", "__repr__", "__format__") and getattr(own, "__objclass__", None) in _SCALARS

    def method(self: Any, /, *operands: Any, **keywords: Any) -> Any:
        base = BASES[self._harena_kind]
        if name == "__reversed__" and own is None and base in _HAVE_ORDER and not self._harena_is_named:
            not_believed(self, name)
            return iter(_method_of(base, "__getitem__")(self, slice(None, None, -1)))
        are_theirs = name not in _ONE_SIDED and all(map(_is_theirs, operands))
        is_free = name in _CHANGES or name in ("__str__", "__repr__", "__format__") or are_theirs
        if own is None or (is_free and not is_number) or type(self)._harena_is_named:
            found = forwarded(self, *operands, **keywords)
            return own(self, *operands) if found is NotImplemented and own is not None else found
        not_believed(self, name, operands)
        return own(self, *operands)

    return method


def _compared_values(name: str) -> Any:
    def method(self: Any, other: Any) -> Any:
        said = self._harena_candidate.ask("special", self, name, (other,))
        if type(said) is not bool:
            return NotImplemented
        return said and not (name == "__eq__" and _is_indifferent(self, name))

    return method


_JUDGED_VALUE = {
    "__len__": _length, "__contains__": _contains, "__bool__": _true, "__iter__": _looped, "__hash__": _hashed,
    **{name: _compared_values(name) for name in ("__eq__", "__ne__", *COMPARISONS)},
}  # fmt: skip


def _of_made_value(name: str, own: Any) -> Any:
    """The class's own method of what the suite made of a class that it names, because that is what it tests; so is a
    comparison of two such objects. Beside a plain operand that the plain value does not equal, the class's `__eq__` is
    asked, whose yes puts a pass in doubt. Else the plain value's."""
    judged = _JUDGED_VALUE[name]
    is_comparison = name in COMPARISONS or name in ("__eq__", "__ne__")

    def method(self: Any, /, *operands: Any) -> Any:
        judges = (self, *operands) if is_comparison else (self,)
        if all(_is_theirs(each) and type(each)._harena_is_named and origin_of(each) == "made" for each in judges):
            return judged(self, *operands)
        if own is not None:
            plain = own(self, *operands)
            if name in ("__eq__", "__ne__") and plain is (name == "__ne__") and _may_equal(self, *operands):
                said = _judged_plain(self, "__eq__", *operands)
                return plain if said is NotImplemented else said is (name == "__eq__")
            not_believed(self, name, operands)
            return plain
        not_believed(self, name, operands)
        if name == "__bool__":
            return len(self) > 0
        raise TypeError(f"{name} of a {type(self).__name__!r} object is not the candidate's to say")

    return method


def _may_equal(self: Any, *operands: Any) -> bool:
    """An object that the suite made, or an operator for it, of a class that it names and that has an `__eq__`, beside a
    plain value that the value which it is made of does not equal."""
    cls = type(self)
    is_asked = "__eq__" in cls._harena_special and cls._harena_is_named and origin_of(self) in ("made", "computed")
    return is_asked and not any(map(_is_theirs, operands))


def _method_of(base: type, name: str) -> Any:
    """The method that objects of a plain type have by this name; not one that the type itself has, as `__call__`."""
    return next((vars(part)[name] for part in base.__mro__ if name in vars(part)), None)


class _OfClass:
    """What a class of the candidate's has in place of a class method of the plain type that it derives from."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, stand_in: Any, owner: Any = None) -> Any:
        return owner._harena_candidate.ask("get", owner, self._name)


def _is_of_class(base: type, name: str) -> bool:
    found = next((vars(part)[name] for part in base.__mro__ if name in vars(part)), None)
    return isinstance(found, (classmethod, staticmethod, types.ClassMethodDescriptorType))


def _missing(self: Any, key: Any) -> Any:
    return self._harena_candidate.ask("special", self, "__missing__", (key,))


def _valued(name: str, names: dict[str, Any], bases: Any, special: Any, has: frozenset[str]) -> Any:
    base = BASES[names["_harena_kind"]]
    for each in special:
        own = _method_of(base, each)
        if each == "__missing__":
            names[each] = _missing
        elif each == "__hash__" and own is None:  # of a list, say: it is a key somewhere, and judges nothing
            names[each] = _hashed
        elif own is None and each in _JUDGED and each != "__bool__":  # what no such value does: an object's own
            names[each] = _JUDGED[each]
        elif each in _JUDGED_VALUE:
            names[each] = _of_made_value(each, own)
        elif own is None or (each not in _VALUE_METHODS and each not in _OWN):
            names[each] = _of_value(each, own)
    names.update((each, _OfClass(each)) for each in names["_harena_methods"] if _is_of_class(base, each))
    kept = tuple(found for found in bases if isinstance(found, StandInClass) and issubclass(found, base))
    made = _StandInNumber if isinstance(base, abc.ABCMeta) else StandInClass
    return _made_class(made, name, kept or (_Valued, base), names, has)


def made_of_value(cls: Any, value: Any = None) -> Any:
    """An instance of a class that derives from a plain one."""
    base: Any = BASES[cls._harena_kind]
    return base.__new__(cls) if value is None else _value_of(cls, base, value)


def _value_of(cls: Any, base: Any, value: Any) -> Any:
    if not isinstance(value, base):
        raise TypeError(f"no {base.__name__}")
    if base in _TIMES:
        return base.__new__(cls, *_TIMES[base](value))
    return base.__new__(cls, value)


_TIMES: dict[type, Any] = {
    datetime.datetime: lambda v: (v.year, v.month, v.day, v.hour, v.minute, v.second, v.microsecond, v.tzinfo),
    datetime.time: lambda v: (v.hour, v.minute, v.second, v.microsecond, v.tzinfo),
    datetime.date: VALUES["date"][1],
    datetime.timedelta: VALUES["timedelta"][1],
}
"""what such a value is made of"""
_HAVE_ORDER = (tuple, str, bytes, bytearray)
"""types that `reversed` goes over by their items"""
_SCALARS = frozenset({int, float, complex, decimal.Decimal, fractions.Fraction, *_TIMES})
"""types whose arithmetic is the value's, unless the suite names the class"""
for _part in (StandIn, _Valued):
    if "__annotations__" in vars(_part):  # they are no annotations of an object of the candidate's
        del _part.__annotations__
del _part
