"""What a library asks of a stand-in that answers otherwise than what it stands for. Standard library only.

A suite may hand something of the candidate's to any function of a library, which asks what it is: `isinstance`,
`issubclass`, an attribute between underscores. A stand-in derives only from what it can be judged by in this process,
and has no such attribute that code in C might judge by. So hypothesis takes an Enum for no class that it can draw from,
and a right program fails.

There is no list of what libraries ask. Each answer that may be another one is kept; as soon as a test has failed, the
candidate's process is asked for the real ones. If one of these differs, the tests have done what cannot be served: where
the candidate lives elsewhere, a run beside the tests finds out who has failed. A test that passes costs nothing, and who
is told of classes that it does not have buys no more than that run.

Only of enumerations a library is told here what they derive from: stand-ins for them have what it then asks for.
"""  # noqa: E501

from __future__ import annotations

import abc
import builtins
import enum
import sys
import types
import weakref

from harena.scoring.guest.library_functions import own_by_name
from harena.scoring.guest.standins import Method, StandIn, StandInClass, metaclasses, own_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

_OWN = "<harena."
_MOST_KEPT, _MOST_ASKED = 2000, 400
"""number of questions that are kept, and of those of which the real answer is asked for"""
_OF_RUNNER = ("/_pytest/", "/pluggy/", "/unittest/")
_FOR_TESTS = ("/_pytest/python_api.py", "/_pytest/raises.py", "/unittest/mock.py")
"""parts of the runners that tests call"""
_ASKS_FOR_OTHERS = ("/inspect.py",)
"""what asks on behalf of who has called it"""
_really_isinstance, _really_issubclass = isinstance, issubclass
_ABSTRACT = frozenset({"collections.abc", "contextlib", "numbers", "os"})
"""modules whose abstract classes say what can be done with an object"""
_LOOK_AT_IT = frozenset({type, abc.ABCMeta, enum.EnumMeta})
"""metaclasses that look at a stand-in itself, at its class and that one's bases, where nobody is asked"""
_ENUMERATIONS = (enum.Enum, enum.EnumMeta)


def lineage_of(cls: Any) -> Iterator[Any]:
    """The classes that one of the candidate's derives from where it lives, as they are told with it: stand-ins, also
    such as the stand-in of this one does not derive from here, and classes of this process's."""
    waiting, seen = [cls], set()
    while waiting:
        part = waiting.pop()
        if id(part) in seen or not _really_isinstance(part, type):
            continue
        seen.add(id(part))
        if _really_isinstance(part, StandInClass):
            yield part
            waiting.extend(own_names(part).get("_harena_told_bases", ()))
        else:
            yield from part.__mro__


def _is_one_of(kind: Any, lineage: Iterator[Any]) -> bool:
    """A class of this process's is among these, itself or by the name that it has in its library."""
    named = (kind.__module__, kind.__qualname__)
    return any(
        part is kind or ("_harena_is_of_library" in own_names(part) and (part.__module__, part.__qualname__) == named)
        for part in lineage
    )


def is_known_here_as(cls: Any) -> None:
    """Make a stand-in's class a virtual one of Python's abstract classes that its own derives from: what a library then
    does with an object (a Counter of a Mapping, a sample of a Sequence) is done by methods, which are asked for."""
    for part in lineage_of(cls):
        if _really_isinstance(part, StandInClass) and part.__module__ in _ABSTRACT and part is not cls:
            real = own_by_name(part.__module__, part.__qualname__)
            if _really_isinstance(real, abc.ABCMeta):
                real.register(cls)


class LibraryQuestions:
    """Answers of stand-ins that may be other ones than those of what they stand for."""

    def __init__(self, candidate: Any, is_standard: Callable[[Any], Any], functions: tuple[type, ...]) -> None:
        """`is_standard` tells a class that the candidate's process finds by its name. `functions`: the types of
        stand-ins that are of no class of the candidate's."""
        self._candidate = candidate
        self._is_standard = is_standard
        self._functions = functions
        self._kept: dict[Any, tuple[Callable[[], Any], bool, str]] = {}
        """question -> (what it is about, the answer that was given, what was asked)"""
        self._settled: set[Any] = set()
        self._left = self._objects_left = _MOST_ASKED
        self._is_asking = False

    def follow(self, own: list[Any]) -> None:
        """Hear of what libraries ask from now on; `own` are the modules of harena's that run in this process."""
        for module in own:
            vars(module).update(isinstance=_really_isinstance, issubclass=_really_issubclass)
        for verb, really in (("isinstance", _really_isinstance), ("issubclass", _really_issubclass)):
            instead = self._following(verb, really)
            self._candidate.pythons[instead] = ("builtins", verb)  # what a candidate is given is Python's own
            setattr(builtins, verb, instead)

    def _following(self, verb: str, really: Any) -> Any:
        functions, heard = self._functions, self._heard

        def asked(value: Any, kinds: Any, /) -> bool:
            kind = type(value)
            if kind in functions or type(kind) in metaclasses or kind in metaclasses:
                return heard(verb, really, value, kinds)
            return really(value, kinds)  # type: ignore[no-any-return]

        asked.__name__ = asked.__qualname__ = verb
        asked.__doc__ = really.__doc__
        return asked

    def _heard(self, verb: str, really: Any, value: Any, kinds: Any) -> bool:
        """A stand-in was asked for what it is; what the library is told."""
        parts = _flat(kinds)
        looks = all(type(kind) in _LOOK_AT_IT for kind in parts)
        self._candidate._receiving += looks
        try:
            answer: bool = really(value, kinds)
        finally:
            self._candidate._receiving -= looks
        if self._is_asking or not _is_for_tests(sys._getframe(2)):
            return answer
        for kind in parts:
            if not _really_isinstance(kind, type) or kind is object or _really_isinstance(kind, StandInClass):
                continue
            if not answer and _is_of_enumeration(verb, value, kind):
                return True
            self._keep(verb, value, kind, answer)
        return answer

    def _keep(self, verb: str, value: Any, kind: Any, answer: bool) -> None:
        is_class = _really_isinstance(value, StandInClass)
        if answer and (type(kind) is type if is_class else type(value) not in self._functions):
            return  # it derives from that here, and so it does there
        about = value if is_class or type(value) in self._functions else type(value)
        if not is_class and about is not value and verb == "isinstance":
            verb, about = "issubclass", type(value)  # what its class is, each of its objects is
        key = (verb, _key_of(about), kind)
        if key not in self._kept and len(self._kept) < _MOST_KEPT:
            what = f"a library asks whether {_name_of(value)} of the candidate's is of {kind.__name__}"
            self._kept[key] = (_held(about), answer, what)

    def lacks(self, owner: Any, name: str, depth: int) -> None:
        """A stand-in, or a module by its name, has no attribute of this name here, whatever there is where the
        candidate lives. `depth`: so many frames lie between this one and that of who asks."""
        if self._is_asking:
            return
        key = ("get", _key_of(owner), name)
        if key not in self._kept and len(self._kept) < _MOST_KEPT and _is_for_tests(sys._getframe(depth)):
            what = f"a library asks {_name_of(owner)} of the candidate's for {name}"
            self._kept[key] = (_held(owner), False, what)

    def otherwise(self) -> str:
        """What was asked whose real answer is another one; empty where there is nothing. A test has failed."""
        candidate = self._candidate
        asked, unanswered = candidate.asked, candidate.unanswered
        self._is_asking = True
        try:
            with candidate.explaining(), candidate.looks.quiet(), candidate.trust.computing():
                for key, (held, answer, what) in list(self._kept.items()):
                    if key not in self._settled:
                        self._settled.add(key)
                        if self._real(key[0], held(), key[2], answer) is not answer:
                            return what
                return self._of_another_class()
        finally:
            self._is_asking = False
            candidate.asked, candidate.unanswered = asked, unanswered

    def _of_another_class(self) -> str:
        """An object that is of another class by now, where its own code has given it one; empty where there is none."""
        for stand_in in self._candidate.living():
            if self._objects_left <= 0 or not _really_isinstance(type(stand_in), StandInClass):
                continue
            self._objects_left -= 1
            try:
                real = self._candidate.ask("type", stand_in, "")
            except BaseException as error:  # whatever the candidate raises is no answer, nor is its end
                if _really_isinstance(error, (KeyboardInterrupt, SystemExit)):
                    raise
                return ""
            if real is not type(stand_in):
                return f"{_name_of(stand_in)} of the candidate's is of another class by now"
        return ""

    def _real(self, verb: str, about: Any, what: Any, answer: bool) -> bool:
        """What is so where the candidate lives; what was told here where nobody knows it any more."""
        if about is None:
            return answer
        if verb == "issubclass" and not answer and _really_isinstance(about, StandInClass):
            if _is_one_of(what, lineage_of(about)):
                return True
            if type(what) is type:
                return False
        if verb != "get" and self._is_standard(what) is None:
            return answer
        if self._left <= 0:
            return answer
        self._left -= 1
        try:
            if verb == "get":
                return self._has(about, what)
            return self._candidate.ask(verb, what, "", about) is True
        except BaseException as error:  # whatever the candidate raises is no answer, nor is its end
            if _really_isinstance(error, (KeyboardInterrupt, SystemExit)):
                raise
            return answer

    def _has(self, owner: Any, name: str) -> bool:
        ask = self._candidate.ask
        try:
            if type(owner) is str:
                ask("get", owner, "@" + name)
            elif type(owner) is Method:
                ask("get", ask("get", owner.__self__, owner.__name__), name)
            else:
                ask("get", owner, name)
        except AttributeError:
            return False
        return True


def _is_of_enumeration(verb: str, value: Any, kind: Any) -> bool:
    if not _really_issubclass(kind, _ENUMERATIONS):
        return False
    is_class = _really_isinstance(value, StandInClass)
    if is_class and verb == "isinstance":
        return value._harena_kind == "enum" and kind is enum.EnumMeta
    return _is_one_of(kind, lineage_of(value if is_class else type(value)))


def _key_of(about: Any) -> Any:
    if type(about) is Method:
        return id(about.__self__), about.__name__
    return about if type(about) is str else id(about)


def _held(about: Any) -> Callable[[], Any]:
    """What gives it for as long as somebody else holds it; an object of the candidate's ends when nobody does."""
    if type(about) is Method:  # itself: what it is a method of may be held by nobody else
        return lambda: about
    if type(about) is str or _really_isinstance(about, StandInClass):
        return lambda: about
    cls = type(about)
    its_class = cls if _really_isinstance(cls, StandInClass) else None
    try:
        kept = weakref.ref(about)
    except TypeError:
        return lambda: its_class
    return lambda: its_class if (found := kept()) is None else found


def _name_of(value: Any) -> str:
    if type(value) is str:
        return value
    if _really_isinstance(value, StandInClass):
        return str(type.__getattribute__(value, "__name__"))
    if _really_isinstance(value, StandIn):
        return f"a {type(value).__name__} object"
    named = value.__name__ if type(value) is Method else getattr(value, "__qualname__", "")
    return str(named or f"a {type(value).__name__} object")


def _is_for_tests(frame: Any) -> bool:
    """It is not the runner that asks, for its own ends, nor harena."""
    name = frame.f_code.co_filename
    while frame is not None and name.endswith(_ASKS_FOR_OTHERS):
        frame = frame.f_back
        name = "" if frame is None else frame.f_code.co_filename
    if name.startswith(_OWN):
        return False
    return name.endswith(_FOR_TESTS) or not any(part in name for part in _OF_RUNNER)


def _flat(kinds: Any) -> list[Any]:
    parts = kinds if type(kinds) is tuple else getattr(kinds, "__args__", None) if type(kinds) in _UNIONS else None
    return [each for part in parts for each in _flat(part)] if parts is not None else [kinds]


_UNIONS = frozenset({getattr(types, "UnionType", tuple), tuple})
