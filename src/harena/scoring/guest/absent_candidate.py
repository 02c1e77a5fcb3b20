"""A candidate that is nobody, for a trusted suite that is run without any. Standard library only.

A suite that fails before it has asked the candidate anything fails for every candidate: then the contract is broken. So
the suite is run once with modules that have every name and do nothing but tell that they were asked.

Every special method that an operator, a builtin or the standard library calls tells so, and so does every look at an
attribute, whatever its name, for which code of the suite's is on the stack: what a runner or an import looks for by
itself is no question. What no class can hear (`X is None`, `type(X)`, `issubclass(X, ValueError)`) is found where it
matters: a test's own judgement that fails after a name of the candidate's was loaded (`is_of_candidate`) proves no
broken suite.

What was seen while the tests were read, or in a fixture, is judged later. After such a look only that proves a broken
suite which no candidate can mend: a file, a module, a name or a fixture that is missing.

A look that has two answers (is the name there, is it true, does it equal that) is a question with a key, and a run may
be told what to answer (`decide`). A look with more answers, while tests are read, is noted as `unheard`.
"""

from __future__ import annotations

import ast
import dis
import keyword
import re
import sys
import types

from harena.scoring.guest.candidate_process import SPECIAL
from harena.scoring.guest.missing_modules import AS_IT_IS, DENYING, GRANTING, GRANTING_MORE
from harena.scoring.guest.object_permissions import is_outcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping
    from typing import Any

TYPE_NAME = "NameOfTheCandidate"
"""what errors call something of nobody's, as `must be str, not NameOfTheCandidate`"""
_ANSWERED = frozenset({"__eq__", "__ne__", "__hash__", "__bool__", "__str__", "__repr__"})
"""special methods that have an answer here, and are counted like the others"""
_MORE_SPECIAL = ("__fspath__", "__length_hint__", "__divmod__", "__buffer__")
_WORD = re.compile(r"[^\W\d]\w*")
_MOST_WORDS = 20_000
_NEVER_HEARD_OF = "name_of_nobody_zq"
"""a name that no suite asks for"""
_OF_ALL = type("Anything", (Exception,), {})
"""has what every name of nobody's has by being a class and an exception"""
_RUNNERS = re.compile(r"[\\/](_pytest|pluggy|unittest)[\\/]")
_HERE = (lambda: None).__code__.co_filename
_MISSING = (OSError, ImportError, NameError, SyntaxError)
"""what is raised where something is not there that no candidate brings"""


class NobodyAskedError(Exception):
    """There is nobody who could answer."""


class Nobody:
    """In place of `guest_proxy.Candidate`."""

    def __init__(
        self,
        trusted: Collection[str] = (),
        stance: str = AS_IT_IS,
        texts: Collection[str] = (),
        answers: Mapping[str, bool] | None = None,
    ) -> None:
        """`trusted`: the files of the suite, whose looks count; without any, everybody's do. `stance`: see
        `guest_missing_modules`. `texts`: what the suite's files hold, whose words are the names that are listed.
        `answers`: to questions, other than the stance has them."""
        self.denies = stance == DENYING
        self.grants = stance in (GRANTING, GRANTING_MORE)
        words = {word for text in texts for word in _WORD.findall(text)} if self.grants else set()
        names = sorted(word for word in words if word[:2] != "__" and not keyword.iskeyword(word))[:_MOST_WORDS]
        self.names = [*names, _NEVER_HEARD_OF] if stance == GRANTING_MORE else names
        """names that `dir`, `vars` and `__all__` list while tests are read"""
        self.kind: Any = None
        """the class of all names"""
        self.named: dict[str, Any] = {}
        """all names that are listed, and what they are, once they were asked for"""
        self.asked = 0
        self.notes: list[str] = []
        self.doubts: list[str] = []
        self.believed: list[str] = []
        self.is_changed = False
        self.is_collected = False
        self.is_kept = True
        """what is seen now may be judged later: it is not the body of a test that looks"""
        self.has_kept = False
        """something of the candidate's was seen then"""
        self.questions: dict[str, bool] = {}
        """what tests that are read, and conditions of marks, have asked, and the answers"""
        self.unheard = ""
        """a look of theirs that has more than two answers"""
        self._answers = dict(answers or {})
        self._trusted = frozenset(trusted)
        self.tried = _tried_names(texts) if stance != AS_IT_IS else frozenset()
        """names that the suite can do without"""

    def lists_names(self) -> bool:
        """The names that are granted are listed: tests are read, and none is run."""
        return self.grants and not self.is_collected

    def ask(self, *question: Any) -> Any:
        """Tell that somebody was asked."""
        self.asked += 1
        if not self.is_collected and self._is_of_suite(_asker()):
            self.unheard = "what it answers"
        raise NobodyAskedError("there is no candidate")

    def decide(self, question: str, default: bool, *, is_sure: bool = False) -> bool:
        """The answer to a question, which counts if it may decide which tests are skipped. `is_sure`: it is the
        suite's."""
        answer = self._answers.get(question, default)
        frame = _asker()
        if _is_condition(frame) or (not self.is_collected and (is_sure or self._is_of_suite(frame))):
            self.questions.setdefault(question, answer)
        return answer

    def look(self, name: str = "__", *, is_decided: bool = False) -> None:
        """Something of the candidate's is looked at, by an attribute with this name or by an operation. To import it,
        or to name it (`solution.f`), is to see nothing of it yet. `is_decided`: what is seen is one of two answers."""
        frame: Any = _asker()
        if not self._is_of_suite(frame):
            return
        self.asked += self.is_collected
        is_named = name[:2] != "__" and self.is_by_suite(frame) and _operation(frame).startswith("LOAD")
        self.has_kept = self.has_kept or (self.is_kept and not is_named)
        if self.is_collected or _RUNNERS.search(frame.f_code.co_filename):  # to show a parameter, or to sort
            return
        if (not is_named and not is_decided) or (is_named and _is_identified(frame)):
            self.unheard = f"{name} of something of its" if name != "__" else "something of its"

    def is_by_suite(self, frame: types.FrameType | None) -> bool:
        """The code of this frame is the suite's own."""
        return frame is not None and (not self._trusted or frame.f_code.co_filename in self._trusted)

    def _is_of_suite(self, frame: types.FrameType | None) -> bool:
        """Code of the suite's has led to this frame, other than by an import."""
        while frame is not None and "importlib" not in frame.f_code.co_filename:
            if self.is_by_suite(frame):
                return not is_importing(frame)
            frame = frame.f_back
        return False


def _operation(frame: types.FrameType) -> str:
    return dis.opname[frame.f_code.co_code[frame.f_lasti]]


def is_importing(frame: types.FrameType) -> bool:
    """This frame is in an import statement."""
    return _operation(frame).startswith(("IMPORT", "CALL_INTRINSIC"))


def _is_condition(frame: types.FrameType | None) -> bool:
    """This frame judges the condition of a mark of pytest's, which it does when the test is run."""
    name = frame.f_code.co_filename if frame is not None else ""
    return name.startswith(("<skipif", "<xfail")) or name.endswith("_pytest/skipping.py")


def _is_identified(frame: types.FrameType) -> bool:
    """What this frame names is asked for by identity (`X is None`), which nobody hears."""
    after = [each.opname for each in dis.get_instructions(frame.f_code) if each.offset > frame.f_lasti][:3]
    while after and after[0] in ("CACHE", "LOAD_CONST", "COPY", "DUP_TOP"):
        after.pop(0)
    return bool(after) and (after[0] == "IS_OP" or after[0].endswith("NONE"))


def _tried_names(texts: Iterable[str]) -> frozenset[str]:
    """Names that are imported, or asked for, in a `try` or a `with`."""
    found: set[str] = set()
    for text in texts:
        try:
            nodes = list(ast.walk(ast.parse(text)))
        except (SyntaxError, ValueError):
            continue
        bodies = [part for node in nodes if isinstance(node, (ast.Try, ast.With)) for part in node.body]
        for node in (inner for part in bodies for inner in ast.walk(part)):
            if isinstance(node, ast.ImportFrom):
                found.update(alias.name for alias in node.names)
            elif isinstance(node, ast.Attribute):
                found.add(node.attr)
    return frozenset(found)


def name_of(nobody: Nobody, name: str, owner: str = "") -> Any:
    """Something that a suite may import, derive from, expect to be raised, and use as a decorator's argument.
    `owner`: where it was found."""
    if nobody.kind is None:
        nobody.kind = _kind_of_names(nobody)
    path = f"{owner}.{name}" if owner else name
    return nobody.kind(name, (Exception,), {"__module__": "solution", "__harena_anything__": path, "__test__": False})


def _path_of(value: Any) -> str:
    """What is said of it in a question."""
    if type(value).__name__ == TYPE_NAME:
        return str(type.__getattribute__(value, "__harena_anything__"))
    if value is None or type(value) in (bool, int, float, str, bytes):
        return repr(value)[:200]
    return str(value.__qualname__) if isinstance(value, type) else type(value).__name__


def _kind_of_names(nobody: Nobody) -> Any:
    class Anything(type):
        def __init__(cls, name: str, bases: Any, namespace: Any, /, **_: Any) -> None:
            super().__init__(name, bases, namespace)
            if "__harena_anything__" not in namespace:
                nobody.asked += nobody.is_collected  # a test that derives a class asks what the base says to that

        def __call__(cls, /, *_: Any, **__: Any) -> Any:
            nobody.ask()

        def __getattr__(cls, wanted: str) -> Any:
            if wanted[:2] == "__" or wanted.startswith(("_pytest", "pytest")):
                raise AttributeError(f"type object {TYPE_NAME!r} has no attribute {wanted!r}")
            frame, path = sys._getframe(1), _path_of(cls)
            if _is_only_looked_for(frame) or wanted in nobody.tried:
                nobody.look(wanted, is_decided=True)
                if not nobody.decide(f"{path}.{wanted} is there", not (nobody.denies and _is_only_looked_for(frame))):
                    raise AttributeError(wanted)
            return name_of(nobody, wanted, path)

        def __getattribute__(cls, wanted: str) -> Any:
            if wanted == "__name__" and nobody.is_by_suite(_asker()):
                nobody.look(wanted, is_decided=True)  # whoever it is, it is called as the suite calls it
                return _path_of(cls).rpartition(".")[2]
            nobody.look(wanted, is_decided=wanted[:2] != "__" and not hasattr(_OF_ALL, wanted))
            if wanted == "__dict__" and nobody.lists_names() and nobody.is_by_suite(_asker()):
                return _named(nobody)
            return super().__getattribute__(wanted)

        def __eq__(cls, other: object) -> Any:
            nobody.look(is_decided=True)
            return cls is other or nobody.decide(f"{_path_of(cls)} equals {_path_of(other)}", nobody.denies)

        def __hash__(cls) -> int:
            nobody.look(is_decided=True)
            return id(cls)

        def __instancecheck__(cls, instance: Any) -> bool:
            nobody.look(is_decided=True)
            return nobody.decide(f"{_path_of(cls)} has the instance {_path_of(instance)}", nobody.denies)

        def __subclasscheck__(cls, subclass: Any) -> bool:
            nobody.look()
            return super().__subclasscheck__(subclass)

        def __repr__(cls) -> str:
            nobody.look()
            return "anything"

        def __bool__(cls) -> bool:
            nobody.look(is_decided=True)
            return nobody.decide(f"{_path_of(cls)} is true", not nobody.denies)

        def __setattr__(cls, wanted: str, value: Any) -> None:
            nobody.look(is_decided=True)
            super().__setattr__(wanted, value)

        def __dir__(cls) -> Any:
            nobody.look()
            return nobody.names if nobody.lists_names() else super().__dir__()

    def asked(cls: Any, *_: Any, **__: Any) -> Any:
        nobody.ask()

    for each in (*SPECIAL, *_MORE_SPECIAL):
        if each not in _ANSWERED and each not in vars(Anything):
            setattr(Anything, each, asked)
    Anything.__name__ = Anything.__qualname__ = TYPE_NAME
    return Anything


def _named(nobody: Nobody) -> dict[str, Any]:
    """All names that are listed, and what they are."""
    nobody.named = nobody.named or {name: name_of(nobody, name) for name in nobody.names}
    return nobody.named


def _asker() -> Any:
    """The frame in which code asks that is not of this module."""
    frame: Any = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename == _HERE:
        frame = frame.f_back
    return frame


def is_of_candidate(
    error: BaseException | None, text: str, trusted: Collection[str], *, has_seen: bool = False
) -> bool:
    """An error is about something of the candidate's, though nothing was asked of that: its `text` names the type; or
    it is a judgement of a test that fails after one of its frames has loaded such a thing; or the suite `has_seen`
    something before, and this is an error of its code that may come of that."""
    if TYPE_NAME in text:
        return True
    trace = error.__traceback__ if error is not None else None
    while trace is not None:
        if trace.tb_frame.f_code.co_filename in trusted:
            if has_seen and not isinstance(error, _MISSING):
                return True
            if error is not None and is_outcome(error) and any(map(_holds_anything, _loaded(trace))):
                return True
        trace = trace.tb_next
    return False


def _loaded(trace: types.TracebackType) -> Iterator[Any]:
    """What the code of a frame has loaded by name before it raised."""
    names = {**trace.tb_frame.f_globals, **trace.tb_frame.f_locals}
    for each in dis.get_instructions(trace.tb_frame.f_code):
        if each.offset > trace.tb_lasti:
            return
        if each.opname[:5] == "LOAD_" and each.opname not in ("LOAD_CONST", "LOAD_ATTR", "LOAD_METHOD"):
            for name in each.argval if isinstance(each.argval, tuple) else (each.argval,):
                if isinstance(name, str) and name in names:
                    yield names[name]


def _holds_anything(value: Any) -> bool:
    """It is something of nobody's, or an object or a container with such a thing."""
    parts = [value]
    if isinstance(value, (list, tuple, set, frozenset)):
        parts += value
    elif isinstance(value, dict):
        parts += value.values()
    elif not isinstance(value, (type, types.ModuleType)):
        parts += getattr(value, "__dict__", {}).values()
    return any(type(part).__name__ == TYPE_NAME for part in parts)


class NobodysModule(types.ModuleType):
    """One in which every name is something."""

    def __getattribute__(self, name: str) -> Any:
        nobody: Nobody | None = super().__getattribute__("__dict__").get("__harena__")
        if nobody is not None:
            nobody.look(name, is_decided=name[:2] != "__")
            if name in ("__dict__", "__all__") and nobody.lists_names():
                frame = _asker()
                if nobody.is_by_suite(frame) and not is_importing(frame):
                    return _named(nobody) if name == "__dict__" else nobody.names
        return super().__getattribute__(name)

    def __dir__(self) -> Any:
        nobody: Nobody | None = super().__getattribute__("__dict__").get("__harena__")
        if nobody is None:
            return super().__dir__()
        nobody.look()
        return nobody.names if nobody.lists_names() else super().__dir__()

    def __getattr__(self, name: str) -> Any:
        nobody: Nobody | None = super().__getattribute__("__dict__").get("__harena__")
        frame = sys._getframe(1)
        is_by_suite = nobody is not None and nobody.is_by_suite(frame) and not is_importing(frame)
        if nobody is None or (name[:2] == "__" and not is_by_suite):
            raise AttributeError(name)  # what Python and the runners look for in any module
        path, is_looked_for = super().__getattribute__("__dict__")["__name__"], _is_only_looked_for(frame)
        if (is_looked_for or name in nobody.tried) and not nobody.decide(
            f"{path}.{name} is there", not (nobody.denies and is_looked_for), is_sure=nobody.is_by_suite(frame)
        ):
            raise AttributeError(name)
        return name_of(nobody, name, path)


def nobodys_module(name: str, nobody: Nobody, exported: Collection[str]) -> NobodysModule:
    """One of this name. `exported`: what a star import brings."""
    module = NobodysModule(name)
    module.__dict__.update(__harena__=nobody, __all__=sorted(exported))
    return module


def _is_only_looked_for(frame: types.FrameType) -> bool:
    """This frame asks whether there is a name (`hasattr`, `getattr`); it does not write it as one that is there."""
    if frame.f_code.co_filename.startswith("<frozen importlib") or is_importing(frame):
        return False
    here = (each.opname for each in dis.get_instructions(frame.f_code) if each.offset == frame.f_lasti)
    return next(here, "") not in ("LOAD_ATTR", "LOAD_METHOD", "IMPORT_FROM")
