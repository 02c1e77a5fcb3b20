"""What a trusted suite does beside calling the candidate, and what a candidate elsewhere would not notice. Standard
library only.

A suite that writes a file which the candidate shall read, that sets a variable of the environment, or that replaces
`time.sleep`, cannot be served by a candidate in another sandbox. A test that fails after such a thing says nothing.
"""

from __future__ import annotations

import ast
import functools
import os
import re
import sys
import types

from harena.scoring.guest.clocks import Clocks
from harena.scoring.guest.proxy import ErrorClass
from harena.scoring.guest.standins import Method, StandInClass, refused, type_of_class

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

_EVENTS = frozenset({
    "os.putenv", "os.unsetenv", "os.chdir", "os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.link", "os.symlink",
    "os.truncate", "sqlite3.connect", "tempfile.mkstemp", "tempfile.mkdtemp", "subprocess.Popen", "socket.bind",
    "socket.connect", "os.system", "os.fork",
})  # fmt: skip
_CODE = (".py", ".pyc", ".so", ".pth", ".toml", ".cfg", ".ini")
_LISTS = frozenset({"os.listdir", "os.scandir"})
_ELSEWHERE = ("/dev/", "/proc/", "/sys/", "/usr/", "/etc/", sys.prefix, sys.base_prefix)
"""where nothing is that the candidate has written"""
_TRANSPARENT = ("<frozen os>", "<frozen _collections_abc>", os.__file__)
_DESCRIBED_THERE: dict[str, dict[str, Any]] = {
    "dataclasses": {"replace": object, "asdict": object, "astuple": object, "fields": tuple, "is_dataclass": bool},
    "typing": {"get_type_hints": dict},
    "inspect": {"isabstract": bool, "iscoroutinefunction": bool, "isasyncgenfunction": bool,
                "isgeneratorfunction": bool},
}  # fmt: skip
"""functions that describe an object, and that the candidate's process calls where the object is the candidate's:
{module: {function: class of its results}}. The result is no more than the candidate's statement, as an attribute is."""
_DESCRIBES = {
    "inspect": ("getsource", "getsourcelines", "getsourcefile", "getfile", "getmembers", "getattr_static", "getmro",
                "getmodule", "getfullargspec"),
}  # fmt: skip
"""functions that look at an object itself, which a stand-in is not"""
_OWN_OF_PROCESS = {
    "sys": ("setrecursionlimit", "getrecursionlimit", "getrefcount", "getsizeof"),
    "tracemalloc": ("start", "get_traced_memory", "take_snapshot"),
    "random": ("getstate",),
    "time": ("process_time", "process_time_ns", "thread_time"),
    "threading": ("active_count", "enumerate"),
    "gc": ("get_objects", "get_referrers", "collect"),
    "os": ("getcwd", "umask"),
    "locale": ("setlocale",),
    "decimal": ("localcontext", "getcontext", "setcontext"),
}
"""functions that tell or change what each process has of its own"""
_HERE = "<harena.scoring.guest.suite_side_effects>"
_OF_CLASSES = (StandInClass, ErrorClass)
_TEMPFILE = os.path.join(os.path.dirname(os.__file__), "tempfile.py")
"""which writes a file of its own and removes it, once for a process, to find a place for others"""
_ON_BOTH_SIDES = frozenset({"/", "/tmp", "/var/tmp", os.environ.get("TMPDIR", "/tmp")})
"""folders that each sandbox has; what is in them is its own"""
_MOST_NAMED = 200
"""files whose names are looked for one by one; of more, the endings are"""
_MOST_SEARCHED_BYTES = 1 << 16
"""a longer message is not searched for paths"""
SERVED = frozenset({("builtins", "input"), ("sys", "stdin"), ("sys", "stdout")})


def watch(candidate: Any, clocks: Clocks, trusted: list[str], tell: Callable[[str], None]) -> Callable[[], None]:
    """From here on, note what this process does to the world that it does not share with the candidate. `tell` is
    called with the first note of each test; what is returned is to be called when a test begins."""
    known = frozenset(trusted)
    began = _told_at_once(candidate, tell)

    def is_of_suite() -> bool:
        """Trusted files do it, by way of the standard library: not the runner for its own ends."""
        frame = sys._getframe(2)
        while frame is not None:
            name = frame.f_code.co_filename
            if name in known:
                return True
            if name == _TEMPFILE and frame.f_code.co_name == "_get_default_tempdir":
                return False
            if name != _HERE and (
                "/_pytest/" in name or "/unittest/" in name or name.startswith(("<frozen importlib", "<harena"))
            ):
                return False
            frame = frame.f_back  # type: ignore[assignment]
        return False

    lasts = candidate.note_lasting
    files = _Files(known)

    def heard(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open" or event in _LISTS:
            path = files.shared(arguments[0], is_listed=event in _LISTS)
            if path and is_of_suite():
                lasts(f"it uses the file {os.path.basename(path)}, which is not where the candidate is")
        elif event in _EVENTS and is_of_suite():
            lasts(f"it uses {event}, of which the candidate notices nothing")

    def looked_at(really: Any) -> Any:
        @functools.wraps(really)
        def looks(path: Any, *more: Any, **keywords: Any) -> Any:
            found = files.shared(path)
            if found and found not in _ON_BOTH_SIDES and is_of_suite():
                lasts(f"it looks at the file {os.path.basename(found)}, which is not where the candidate is")
            return really(path, *more, **keywords)

        return looks

    sys.addaudithook(heard)
    exchanged = {}
    for name in ("stat", "lstat", "access"):
        really = getattr(os, name)
        exchanged[really] = looks = looked_at(really)
        setattr(os, name, looks)
        for kinds in (os.supports_dir_fd, os.supports_fd, os.supports_follow_symlinks, os.supports_effective_ids):
            if really in kinds:
                kinds.add(looks)
    _watch_mocks(candidate)
    _watch_monkeypatches(candidate)
    _watch_what_stays_there(candidate, known, is_of_suite)
    ask_for_kinds(candidate, known)
    exchanged.update(_describing(candidate, is_of_suite))
    exchanged.update(_seeding(candidate))
    exchanged.update(_own_of_process(candidate, known))
    exchanged.update(clocks.exchanged())
    wrapped = {id(really): instead for really, instead in exchanged.items()}
    for module in list(sys.modules.values()):
        if getattr(module, "__file__", None) in known:
            for name, value in list(vars(module).items()):
                if id(value) in wrapped:
                    vars(module)[name] = wrapped[id(value)]
    return began


def _told_at_once(candidate: Any, tell: Callable[[str], None]) -> Callable[[], None]:
    note = candidate.note
    told = [""]

    def noted(what: str, **keywords: bool) -> bool:
        is_excuse = bool(note(what, **keywords))
        if is_excuse and not told[0]:
            with candidate._lock:
                told[0] = what
                tell(what)
        return is_excuse

    def began() -> None:
        last = candidate.notes[-1] if candidate.is_changed and candidate.notes else ""
        if last or told[0]:
            with candidate._lock:
                told[0] = last
                tell(last)

    candidate.note = noted
    candidate.tell_wait = lambda what: tell(what or told[0])
    return began


class NamedFiles:
    """Files of the suite's that it may name to a candidate elsewhere, which does not have them."""

    def __init__(self, here: str, paths: list[str]) -> None:
        """`paths`: of the files, below the folder `here`."""
        names = {os.path.basename(path) for path in paths}
        if len(names) > _MOST_NAMED:
            names = {os.path.splitext(name)[1] or name for name in names}
        looked_for = [re.escape(os.fsencode(name)) for name in sorted(names, key=len, reverse=True)]
        folders = {here, "."} if any(not path.endswith(".py") for path in paths) else set()
        for path in paths:
            while path := os.path.dirname(path):
                folders |= {path, os.path.join(here, path)}
        if len(folders) <= _MOST_NAMED:
            # a whole text of a message, as the codec writes it
            looked_for += [b"s%d:%s" % (len(each), re.escape(each)) for each in map(os.fsencode, sorted(folders))]
        self._pattern = re.compile(b"|".join(looked_for)) if looked_for else None

    def in_message(self, said: bytes) -> str:
        """One of them that a message to the candidate names; empty = it names none."""
        if self._pattern is None or len(said) > _MOST_SEARCHED_BYTES:
            return ""
        found = self._pattern.search(said)
        return "" if found is None else os.fsdecode(found[0]).rpartition(":")[2]


class _Files:
    """Files that the suite may share with its candidate."""

    def __init__(self, known: frozenset[str]) -> None:
        self._known = known
        self._here = os.path.realpath(os.getcwd())
        self._folders = {os.path.dirname(path) for path in known}
        for folder in list(self._folders):
            while len(folder) > len(self._here):
                folder = os.path.dirname(folder)
                self._folders.add(folder)
        places = [sys.prefix, sys.base_prefix, *(place for place in sys.path if type(place) is str)]
        self._above = {folder for place in places for folder in _folders_above(os.path.realpath(place))}
        """folders above those of libraries, at which whoever looks for the real path of one looks, too"""

    def shared(self, path: Any, *, is_listed: bool = False) -> str:
        """The path, if there may be something of the candidate's; else nothing."""
        if isinstance(path, os.PathLike):
            path = os.fspath(path)
        if isinstance(path, bytes):
            path = os.fsdecode(path)
        if path is None and is_listed:
            path = "."
        if not isinstance(path, str):
            return ""
        path = os.path.abspath(path)
        is_here = path.startswith(self._here + "/")
        if path in self._known or "/__pycache__" in path or (path.endswith(_CODE) and not is_here):
            return ""
        if not is_here and (path.startswith(_ELSEWHERE) or (path in self._above and not is_listed)):
            return ""
        if path in self._folders and not (is_listed and path == self._here):
            return ""
        return "" if os.path.dirname(path) == path else path


def _folders_above(path: str) -> Iterator[str]:
    while (above := os.path.dirname(path)) != path:
        yield above
        path = above


def _watch_what_stays_there(candidate: Any, known: frozenset[str], is_of_suite: Callable[[], bool]) -> None:
    """Logs, warnings, standard error and the environment are those of the candidate's process."""
    import contextlib
    import logging
    import unittest
    import warnings

    def before(owner: Any, name: str, what: str, condition: Callable[..., bool] = lambda *_: True) -> None:
        really = getattr(owner, name)

        def noting(*positional: Any, **keywords: Any) -> Any:
            if condition(*positional):
                candidate.note(what)
            return really(*positional, **keywords)

        setattr(owner, name, noting)

    case, logs, warned = (
        unittest.TestCase,
        "it looks at logs, which the candidate writes elsewhere",
        "it looks at warnings, which the candidate gives elsewhere",
    )
    for name in ("assertLogs", "assertNoLogs"):
        if hasattr(case, name):
            before(case, name, logs)
    before(logging.Logger, "addHandler", logs, lambda *_: is_of_suite())
    for name in ("assertWarns", "assertWarnsRegex"):
        before(case, name, warned)
    before(warnings.catch_warnings, "__enter__", warned, lambda self: self._record and is_of_suite())
    errors = "it looks at standard error, to which the candidate writes elsewhere"
    before(contextlib.redirect_stderr, "__enter__", errors)
    before(
        type(os.environ), "__getitem__", "it reads the environment, which the candidate's is not",
        lambda *_: _is_direct(known),
    )  # fmt: skip
    if "_pytest.recwarn" in sys.modules:
        before(sys.modules["_pytest.recwarn"].WarningsRecorder, "__enter__", warned)
    if "_pytest.logging" in sys.modules:
        fixture = sys.modules["_pytest.logging"].LogCaptureFixture
        for name in ("text", "records", "messages", "record_tuples"):
            before_read = vars(fixture)[name].fget
            setattr(fixture, name, property(_noting(candidate, before_read, logs)))
    if "_pytest.tmpdir" in sys.modules:
        before(
            sys.modules["_pytest.tmpdir"].TempPathFactory, "mktemp",
            "it uses a temporary folder, which is not where the candidate is",
        )  # fmt: skip
    if "_pytest.capture" in sys.modules:
        _watch_captured_errors(sys.modules["_pytest.capture"], candidate, errors)


def _noting(candidate: Any, really: Any, what: str) -> Any:
    def noting(self: Any) -> Any:
        candidate.note(what)
        return really(self)

    return noting


def _is_direct(known: frozenset[str]) -> bool:
    """A trusted file itself reads the environment, or an assertion of its does, and nothing else that it calls."""
    frame = sys._getframe(3)
    while frame is not None and (
        frame.f_code.co_filename in _TRANSPARENT or frame.f_code.co_filename.endswith("/unittest/case.py")
    ):
        frame = frame.f_back  # type: ignore[assignment]
    return frame is not None and frame.f_code.co_filename in known


def _watch_captured_errors(module: Any, candidate: Any, what: str) -> None:
    """What is captured of standard error, as a text that tells when somebody looks at it."""

    def noting(name: str) -> Any:
        really = getattr(str, name)

        def method(self: Any, *positional: Any, **keywords: Any) -> Any:
            candidate.note(what)
            return really(self, *positional, **keywords)

        return method

    names = {name: noting(name) for name in vars(str) if name[:2] != "__" or name in (
        "__eq__", "__ne__", "__contains__", "__len__", "__iter__", "__getitem__", "__lt__", "__gt__", "__add__",
        "__hash__",
    )}  # fmt: skip
    captured = type("str", (str,), names)
    read = module.CaptureFixture.readouterr

    def read_and_told(self: Any) -> Any:
        found = read(self)
        return type(found)(found.out, captured(found.err)) if isinstance(found.err, str) else found

    module.CaptureFixture.readouterr = read_and_told


def _describing(candidate: Any, is_of_suite: Callable[[], bool]) -> dict[Any, Any]:
    """Functions that describe an object, which is a stand-in: {the function: one that notes it}."""
    import importlib

    exchanged = {}
    for module_name, there in _DESCRIBED_THERE.items():
        module = importlib.import_module(module_name)
        for name in (*there, *_DESCRIBES.get(module_name, ())):
            really = getattr(module, name)
            if name in there:
                instead = _described_there(candidate, is_of_suite, really, there[name])
            else:
                instead = _describes(candidate, is_of_suite, really, f"{module_name}.{name}")
            setattr(module, name, instead)
            exchanged[really] = instead
    return exchanged


def _described_there(candidate: Any, is_of_suite: Callable[[], bool], really: Any, kind: Any) -> Any:
    def described(*positional: Any, **keywords: Any) -> Any:
        if not positional or not _is_stand_in(candidate, positional[0]) or not is_of_suite():
            return really(*positional, **keywords)
        found = candidate.ask("call", really.__module__, f"@{really.__name__}", positional, tuple(keywords.items()))
        if kind is not object and type(found) is not kind:
            raise refused(f"{really.__module__}.{really.__name__} has another result than a {kind.__name__}")
        return found

    return functools.wraps(really)(described)


def _describes(candidate: Any, is_of_suite: Callable[[], bool], really: Any, name: str) -> Any:
    def describes(*positional: Any, **keywords: Any) -> Any:
        if any(_is_stand_in(candidate, each) for each in positional) and is_of_suite():
            # that shows what `inspect.signature` has told, but for wrapped functions and classes
            is_doubt = name != "inspect.getfullargspec"
            candidate.note(f"it calls {name} with something of the candidate's", is_doubt=is_doubt)
        return really(*positional, **keywords)

    return describes


def ask_for_kinds(candidate: Any, known: frozenset[str]) -> None:
    """`isinstance` and `issubclass` of the trusted files and of unittest's assertions: what a stand-in does not derive
    from here (a mapping, a number, an abstract class, a property, a metaclass) the candidate's object may, there."""
    import unittest.case

    def asking(verb: str, really: Any) -> Any:
        @functools.wraps(really)
        def asked(value: Any, kinds: Any, /) -> bool:
            return really(value, kinds) or (
                (type(value) is Method or any(isinstance(each, _OF_CLASSES) for each in (value, type(value))))
                and any(candidate.is_of_kind(verb, value, kind) for kind in _flat(kinds))
            )

        return asked

    modules = [module for module in list(sys.modules.values()) if getattr(module, "__file__", None) in known]
    for verb, really in (("isinstance", isinstance), ("issubclass", issubclass)):
        instead = asking(verb, really)
        candidate.pythons[instead] = ("builtins", verb)  # what a candidate is given is Python's own
        for module in (*modules, unittest.case):
            vars(module).setdefault(verb, instead)
    for module in modules:
        if _asks_type_of_one_thing(module):
            vars(module).setdefault("type", types_of(candidate))


def types_of(candidate: Any) -> Callable[[Any], type]:
    """What a trusted file is told of the type of one thing: a class of the candidate's is of the class that it is of
    where it lives."""

    def type_of(value: Any) -> type:
        if isinstance(value, StandInClass):
            return type_of_class(value)
        return value.__class__ if id(value) in candidate._functions else type(value)

    return type_of


def past_classes(candidate: Any) -> Callable[..., Any]:
    """What `object` itself has, called with an object of the candidate's (`object.__setattr__(point, "x", 1)`), is
    called where the object is."""
    names = {getattr(object, name): name for name in ("__setattr__", "__delattr__", "__getattribute__")}

    def called(function: Any, *operands: Any) -> Any:
        name = names.get(function) if type(function) is _SLOT and operands else None
        if name is not None and isinstance(type(operands[0]), StandInClass):
            return candidate.ask("call", object, name, operands)
        return function(*operands)

    return called


_SLOT = type(object.__setattr__)


def _asks_type_of_one_thing(module: Any) -> bool:
    """Its text uses `type` only to ask for the type of one thing, as no class does."""
    with open(module.__file__, encoding="utf-8-sig") as file:
        text = file.read()
    if "type" not in text:
        return False
    nodes = list(ast.walk(ast.parse(text)))
    names = [node for node in nodes if isinstance(node, ast.Name) and node.id == "type"]
    calls = [node for node in nodes if isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords]
    asked = {id(call.func) for call in calls if not isinstance(call.args[0], ast.Starred)}
    return bool(names) and all(id(name) in asked for name in names)


def _flat(kinds: Any) -> list[Any]:
    parts = kinds if isinstance(kinds, tuple) else getattr(kinds, "__args__", None)
    return [each for part in parts for each in _flat(part)] if isinstance(parts, tuple) else [kinds]


def _is_stand_in(candidate: Any, value: Any) -> bool:
    return (
        isinstance(value, StandInClass)
        or isinstance(type(value), StandInClass)
        or type(value) is Method
        or id(value) in candidate._functions
        or "__harena__" in getattr(value, "__dict__", {})
    )


def _seeding(candidate: Any) -> dict[Any, Any]:
    """numpy's generator is not the candidate's; `random` is followed (`guest_proxy`)."""
    module = getattr(sys.modules.get("numpy"), "random", None)
    if module is None:
        return {}
    really = module.seed

    def seed(*positional: Any, **keywords: Any) -> Any:
        candidate.note("it seeds numpy's random numbers, which are not the candidate's")
        return really(*positional, **keywords)

    module.seed = seed
    return {really: seed}


def _own_of_process(candidate: Any, known: frozenset[str]) -> dict[Any, Any]:
    """What a trusted file itself asks of its process, where the candidate's is meant: {function: one that notes it}."""
    import importlib
    import warnings

    exchanged: dict[Any, Any] = {}

    def exchange(module: Any, name: str, what: str, condition: Callable[..., bool]) -> None:
        really = getattr(module, name)

        @functools.wraps(really)
        def noting(*positional: Any, **keywords: Any) -> Any:
            if condition(*positional, **keywords):
                candidate.note(what)
            return really(*positional, **keywords)

        setattr(module, name, noting)
        exchanged[really] = noting

    for module_name, names in _OWN_OF_PROCESS.items():
        module = importlib.import_module(module_name)
        for name in names:
            what = f"it calls {module_name}.{name}, and the candidate's process is another"
            exchange(module, name, what, lambda *_, **__: sys._getframe(2).f_code.co_filename in known)

    def is_error(action: Any = "", *more: Any, category: Any = Warning, **_: Any) -> bool:
        category = next((each for each in more if isinstance(each, type)), category)
        return action == "error" and not category.__module__.startswith(("pytest", "_pytest"))

    for name in ("simplefilter", "filterwarnings"):
        exchange(warnings, name, "it turns warnings into errors, which the candidate gives elsewhere", is_error)
    return exchanged


def _watch_mocks(candidate: Any) -> None:
    import unittest.mock

    patches: Any = unittest.mock._patch
    enter, leave = patches.__enter__, patches.__exit__

    def entered(self: Any) -> Any:
        found = enter(self)
        what = _replaced(self.target, self.attribute)
        if what:
            candidate.replaced.append(what)
            self._harena_replaced = what
        return found

    def left(self: Any, *error: Any) -> Any:
        what = self.__dict__.pop("_harena_replaced", None)
        if what in candidate.replaced:
            candidate.replaced.remove(what)
        return leave(self, *error)

    patches.__enter__, patches.__exit__ = entered, left
    dictionaries: Any = unittest.mock._patch_dict
    put, taken_back = dictionaries._patch_dict, dictionaries._unpatch_dict

    def was_put(self: Any) -> Any:
        found = put(self)
        if id(self.in_dict) not in candidate._numbers:
            self._harena_replaced = _name_of_dict(self.in_dict)
            candidate.replaced.append(self._harena_replaced)
        return found

    def was_taken_back(self: Any) -> Any:
        what = self.__dict__.pop("_harena_replaced", None)
        if what in candidate.replaced:
            candidate.replaced.remove(what)
        return taken_back(self)

    dictionaries._patch_dict, dictionaries._unpatch_dict = was_put, was_taken_back


def _watch_monkeypatches(candidate: Any) -> None:
    module = sys.modules.get("_pytest.monkeypatch")
    if module is None:
        return
    patches: Any = module.MonkeyPatch
    set_attribute, undo = patches.setattr, patches.undo

    def replaced(self: Any, target: Any, name: Any, *more: Any, **keywords: Any) -> None:
        set_attribute(self, target, name, *more, **keywords)
        what = target if isinstance(target, str) else _replaced(target, name)
        if what and tuple(what.rsplit(".", 1)) not in SERVED:
            candidate.replaced.append(what)

    def undone(self: Any) -> None:
        candidate.replaced.clear()
        undo(self)

    patches.setattr, patches.undo = replaced, undone

    def also(name: str, told: Callable[..., str]) -> None:
        really = getattr(patches, name)

        def patched(self: Any, *positional: Any, **keywords: Any) -> Any:
            found = really(self, *positional, **keywords)
            what = told(*positional)
            if what:
                candidate.replaced.append(what)
            return found

        setattr(patches, name, patched)

    for name in ("setenv", "delenv"):
        also(name, lambda *_: "the environment")
    for name in ("setitem", "delitem"):
        also(name, lambda target=None, *_: "" if id(target) in candidate._numbers else _name_of_dict(target))
    also("delattr", lambda target=None, name="", *_: target if type(target) is str else _replaced(target, str(name)))
    also("chdir", lambda *_: "the current folder")


def _name_of_dict(found: Any) -> str:
    return "the environment" if found is os.environ else "sys.modules" if found is sys.modules else "a mapping"


def _replaced(target: Any, name: str) -> str:
    """What is replaced, if it is in a module or a class that the candidate may have, too."""
    owner = target.__name__ if isinstance(target, (types.ModuleType, type)) else ""
    if (
        not owner
        or (owner, name) in SERVED
        or hasattr(type(target), "_harena_candidate")
        or "__harena__" in vars(target)
    ):
        return ""
    return f"{owner}.{name}"
