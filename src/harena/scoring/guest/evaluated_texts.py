"""What a suite's process would run of a candidate's texts. Standard library only, Python 3.8 and up.

A suite may evaluate what it was told: `eval(repr(point)) == point`, `pickle.loads(dump(x))`, the examples of a
docstring. In one process that is as good or bad as any call of the candidate's. Where the candidate is elsewhere, such
a text would be the only code of it that runs beside the suite, and could change what judges. A text may also have been
changed on its way (`textwrap.dedent`, `format`, `"".join`), so what counts is where else it could come from: the suite
evaluates what states a value, and what stands in its own files, line by line. All else is refused as what cannot be
served. Of texts that a library evaluates (`doctest`, `timeit`), those are refused that are known again as the
candidate's. A pickle that this process has not made itself makes values only, and objects of the suite's classes.
"""

from __future__ import annotations
import __future__

import ast
import builtins
import collections
import sys
import types

from harena.scoring.guest.driver import decode
from harena.scoring.guest.functions import guard_annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_MOST_HEARD_BYTES = 16 * 1024 * 1024
_SHORTEST = 8
"""characters of a text of the candidate's that is looked for within a longer one"""
_OF_LIBRARIES = "<string> "
"""the file that code has which a library evaluates, as `dataclasses` does"""
_WITHHELD = "it evaluates a text of the candidate's, which does more than state a value"
_PLAIN_CALLS = frozenset({
    "bool", "bytearray", "bytes", "complex", "dict", "float", "frozenset", "int", "list", "range", "set", "slice",
    "str", "tuple", "object",
})  # fmt: skip
_ROOTS = frozenset({"array", "collections", "datetime", "decimal", "fractions", "np", "numpy", "pathlib", "uuid"})
_STARTS = frozenset({
    "CodeType", "FunctionType", "Mock", "MagicMock", "Popen", "Process", "Thread", "ThreadPoolExecutor", "Timer",
    "LambdaType", "MethodType",
})  # fmt: skip
"""classes that begin something when they are called"""
_FUTURES = sum({getattr(__future__, name).compiler_flag for name in __future__.all_feature_names} - {0x10})
"""flags of code that is compiled with `from __future__ import`; 0x10 is that of any nested function"""
_VALUE_NODES = (
    ast.Expression, ast.Constant, ast.Tuple, ast.List, ast.Set, ast.Dict, ast.Load, ast.UnaryOp, ast.USub, ast.UAdd,
    ast.BinOp, ast.Add, ast.Sub, ast.BitOr, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Name, ast.Attribute, ast.Call,
    ast.keyword, ast.Starred,
)  # fmt: skip
_OF_NUMBERS = (ast.Mult, ast.Div, ast.FloorDiv, ast.Mod)
"""operators that mean something else of texts"""
_PLAIN_NAMES = frozenset({"nan", "inf"})
_VALUE_CLASSES = {
    "builtins": ("bytearray", "complex", "frozenset", "range", "set", "slice"),
    "collections": ("Counter", "OrderedDict", "defaultdict", "deque"),
    "datetime": ("date", "datetime", "time", "timedelta", "timezone"),
    "decimal": ("Decimal",), "fractions": ("Fraction",), "uuid": ("UUID", "SafeUUID"),
    "pathlib": ("PosixPath", "PurePosixPath", "PurePath", "Path"),
    "pathlib._local": ("PosixPath", "PurePosixPath", "PurePath", "Path"),
}  # fmt: skip
_PARTS = {
    "builtins": ("object",), "copyreg": ("_reconstructor",), "numpy": ("ndarray", "dtype"),
    **dict.fromkeys(("numpy.core.multiarray", "numpy._core.multiarray"), ("_reconstruct", "scalar")),
}  # fmt: skip
"""what makes the parts of a pickle that the suite has written in another way than by `dumps`"""
_MOST_OWN_PICKLES = 100_000
_FAR = ("multiprocessing", "concurrent")
"""packages whose pickles come from processes of the suite's own"""


class Heard:
    """The last messages of the candidate's, by which its texts are known again."""

    def __init__(self) -> None:
        self._bodies: collections.deque[bytes] = collections.deque()
        self._bytes = 0

    def keep(self, body: bytes) -> None:
        """Remember a message."""
        self._bodies.append(body)
        self._bytes += len(body)
        while self._bytes > _MOST_HEARD_BYTES and len(self._bodies) > 1:
            self._bytes -= len(self._bodies.popleft())

    def has_heard(self) -> bool:
        """There is a message of the candidate's."""
        return bool(self._bodies)

    def has_told(self, text: str) -> bool:
        """The text is, or is in, or holds a text of the candidate's that does more than state a value."""
        stripped = text.strip()
        for told in self._texts():
            if stripped in told:
                return True
            if len(told) >= _SHORTEST and told in text and not (told.isidentifier() or states_a_value(told)):
                return True
        return False

    def has_sent(self, data: bytes) -> bool:
        """The bytes are in a message of the candidate's."""
        return any(data in body for body in self._bodies)

    def _texts(self) -> Iterator[str]:
        for body in self._bodies:
            waiting: list[Any] = [decode(body, 0)[0]]
            while waiting:
                part = waiting.pop()
                if type(part) is str:
                    yield part
                elif type(part) is bytes:
                    yield part.decode("utf-8", "replace")
                elif isinstance(part, (tuple, list, set, frozenset)):
                    waiting += part
                elif isinstance(part, dict):
                    waiting += [*part, *part.values()]


def states_a_value(text: str | bytes) -> bool:
    """Literals, arithmetic with numbers, calls of classes (`Point(1, 2)`, `datetime.date(2024, 1, 1)`) and what a class
    has (`Color.RED`). A name alone may be that of what the suite expects."""
    try:
        tree = ast.parse(text.strip(), mode="eval")  # bytes may name an encoding, by which they are read then, too
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return False
    nodes = list(ast.walk(tree))
    used = {id(part): node for node in nodes for part in _used_by(node)}
    if any(isinstance(node, _OF_NUMBERS) for node in nodes) and not all(map(_is_numeric, nodes)):
        return False
    for node in nodes:
        if not isinstance(node, _VALUE_NODES):
            return False
        if isinstance(node, ast.Name) and node.id not in _PLAIN_NAMES and not _is_owner(node.id, used.get(id(node))):
            return False
        name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
        if name[:1] == "_" or (isinstance(node, ast.Call) and not _is_of_class(node.func)):
            return False
    return True


def _used_by(node: ast.AST) -> tuple[ast.AST, ...]:
    """What is called, or of which something is asked for."""
    return (node.func,) if isinstance(node, ast.Call) else (node.value,) if isinstance(node, ast.Attribute) else ()


def _is_numeric(node: ast.AST) -> bool:
    if isinstance(node, ast.Constant):
        return type(node.value) in (int, float, complex)
    return isinstance(node, (ast.Expression, ast.UnaryOp, ast.unaryop, ast.BinOp, ast.operator))


def _is_owner(name: str, of: ast.AST | None) -> bool:
    """The name is called, or something of it is asked for that a class or a module may have."""
    if isinstance(of, ast.Attribute):
        return name in _ROOTS or (name[:1].isupper() and not name.isupper())
    return of is not None


def _is_of_class(called: ast.expr) -> bool:
    if isinstance(called, ast.Name):
        return called.id in _PLAIN_CALLS or (called.id[:1].isupper() and called.id not in _STARTS)
    return isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name) and called.value.id in _ROOTS


def _lines_of(text: str) -> Iterator[str]:
    """The lines of a trusted file, and of the texts that it writes."""
    yield ""
    yield from text.splitlines()
    try:
        nodes = list(ast.walk(ast.parse(text)))
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from node.value.splitlines()
        elif isinstance(node, ast.Constant) and isinstance(node.value, bytes):
            yield from node.value.decode("utf-8", "replace").splitlines()


def guard(candidate: Any, trusted: dict[str, str]) -> None:
    """From here on nothing of the candidate's is evaluated in this process that does more than state a value.
    `trusted`: path and text of each file of the suite's. What is refused is noted, and raises TypeError."""
    guard_annotations()
    candidate.heard = heard = Heard()

    lines = {line.strip() for own in trusted.values() for line in _lines_of(own)}
    parse = ast.parse.__code__
    parsed: set[Any] = set()
    """names of files under which a library has parsed what may be the candidate's; a program of it is refused"""

    def is_refused(text: Any, is_of_suite: bool) -> bool:
        if type(text) not in (str, bytes) or states_a_value(text):
            return False
        text = text.decode("utf-8", "replace") if type(text) is bytes else text
        if not is_of_suite or not heard.has_heard():
            return not any(text.strip() in own for own in trusted.values()) and heard.has_told(text)
        if not all(line.strip() in lines for line in text.splitlines()):
            return True
        return text.strip().isidentifier() and heard.has_told(text)  # else a word of the suite's may be the candidate's

    def refuse() -> TypeError:
        candidate.note(_WITHHELD)
        return TypeError(_WITHHELD)

    def guarded(really: Any, mode: str) -> Any:
        def evaluate(source: Any, globals: Any = None, locals: Any = None, /, **more: Any) -> Any:  # noqa: A002 (as `eval` has it)
            frame = sys._getframe(1)
            if globals is None:
                globals, locals = frame.f_globals, frame.f_locals if locals is None else locals  # noqa: A001
            if type(source) in (str, bytes):  # by the `from __future__ import` of who asks, and not of this file
                text = source.strip(" \t" if type(source) is str else b" \t") if mode == "eval" else source
                is_suites = frame.f_code.co_filename in trusted  # and not of a library that writes code of its own
                if is_suites and is_refused(text, True):
                    raise refuse()
                name = "<string>" if is_suites else _OF_LIBRARIES
                source = compile(text, name, mode, frame.f_code.co_flags & _FUTURES, True)
            return really(source, globals, globals if locals is None else locals, **more)

        return evaluate

    def heard_event(event: str, arguments: tuple[Any, ...]) -> None:
        # whoever compiles: the suite, doctest, timeit; `ast.parse` makes no program yet, and says "<unknown>"
        if event != "compile" or arguments[1] in ("<unknown>", _OF_LIBRARIES):
            return
        text, name, asker = arguments[0], arguments[1], sys._getframe(1).f_code
        is_of_suite = asker.co_filename in trusted and name not in trusted
        is_tree = isinstance(text, ast.AST) and ((is_of_suite and heard.has_heard()) or name in parsed)
        if asker is parse and not is_tree and is_refused(text, False):
            parsed.add(name)  # pytest looks so for the statement that has failed
        elif is_tree or is_refused(text, is_of_suite):
            raise refuse()

    builtins.eval, builtins.exec = guarded(builtins.eval, "eval"), guarded(builtins.exec, "exec")
    sys.addaudithook(heard_event)
    _guard_pickles(heard, refuse, trusted)


class _OwnPickles:
    """The pickles that this process has made by itself, known again by length and hash."""

    def __init__(self) -> None:
        self._made: set[int] = set()
        self._lengths: set[int] = set()

    def keep(self, data: bytes) -> bytes:
        """Remember one."""
        if len(self._made) < _MOST_OWN_PICKLES:
            self._made.add(hash(data))
            self._lengths.add(len(data))
        return data

    def begins(self, data: bytes) -> bool:
        """The data begin with such a pickle."""
        return any(length <= len(data) and hash(data[:length]) in self._made for length in self._lengths)


def _guard_pickles(heard: Heard, refuse: Any, trusted: Any) -> None:
    import _pickle
    import io
    import marshal
    import pickle

    own = _OwnPickles()
    really_dumps, really_dump, really_loads, really_load = pickle.dumps, pickle.dump, pickle.loads, pickle.load
    really_made, really_made_of = marshal.load, marshal.loads

    def is_free(data: bytes) -> bool:
        """Nothing in it can be the candidate's: the suite has made it, here or in a process of its own."""
        asker = str(sys._getframe(2).f_globals.get("__name__", ""))
        return not heard.has_heard() or own.begins(data) or asker.partition(".")[0] in _FAR

    class Restricted(pickle._Unpickler):
        """Makes values, and objects of the candidate's classes; of what the candidate has not sent as it is, those of
        the suite's, too."""

        dispatch: Any = dict(pickle._Unpickler.dispatch)  # type: ignore[misc]

        def __init__(self, file: Any, **keywords: Any) -> None:
            super().__init__(file, **keywords)
            self._harena_file = file

        def load(self) -> Any:
            """Load a pickle, and note first whether its data may name anything, and whether the candidate has sent
            them."""
            data = _rest_of(self._harena_file)
            self._harena_is_free = data is not None and is_free(data)
            self._harena_is_sent = data is not None and heard.has_sent(data)
            return super().load()

        def find_class(self, module: str, name: str) -> Any:
            """Find a class that the data may name: a value's, a stand-in, or one of the suite's own where the candidate
            has not sent the data. Refuses all others."""
            if self._harena_is_free or name in _VALUE_CLASSES.get(module, ()):
                return super().find_class(module, name)
            found: Any = sys.modules.get(module)
            for part in name.split("."):
                found = getattr(found, part, None)
            if type(found).__name__ == "StandInClass":
                return found
            is_suites = isinstance(found, type) and (found.__module__, found.__qualname__) == (module, name)
            file = getattr(sys.modules.get(module), "__file__", None)
            if not self._harena_is_sent and ((is_suites and file in trusted) or name in _PARTS.get(module, ())):
                return super().find_class(module, name)
            raise refuse()

        def load_build(self) -> None:
            """What a pickle sets is never an attribute of a class or of a function, by which others would be judged."""
            if isinstance(self.stack[-2], (type, types.ModuleType, types.FunctionType)) and not self._harena_is_free:  # type: ignore[attr-defined]
                raise refuse()
            super().load_build()  # type: ignore[misc]

        dispatch[pickle.BUILD[0]] = load_build

    def dumps(*positional: Any, **keywords: Any) -> bytes:
        return own.keep(really_dumps(*positional, **keywords))

    def dump(obj: Any, file: Any, *positional: Any, **keywords: Any) -> None:
        if keywords.get("buffer_callback") is not None:
            really_dump(obj, file, *positional, **keywords)
        else:
            file.write(dumps(obj, *positional, **keywords))

    def loads(data: Any, /, **keywords: Any) -> Any:
        if is_free(bytes(data)):
            return really_loads(data, **keywords)
        return Restricted(io.BytesIO(data), **keywords).load()

    def load(file: Any, **keywords: Any) -> Any:
        data = _rest_of(file)
        if data is not None and is_free(data):
            return really_load(file, **keywords)
        return Restricted(file, **keywords).load()

    def without_code(found: Any, caller: Any) -> Any:
        waiting = [found]
        while waiting and heard.has_heard() and not caller.f_code.co_filename.startswith("<frozen importlib"):
            part = waiting.pop()
            if isinstance(part, types.CodeType):
                raise refuse()
            waiting += part if isinstance(part, (tuple, list, set, frozenset)) else ()
            waiting += [*part, *part.values()] if isinstance(part, dict) else ()
        return found

    def made_of(*given: Any) -> Any:
        return without_code(really_made_of(*given), sys._getframe(1))

    def made(*given: Any) -> Any:
        return without_code(really_made(*given), sys._getframe(1))

    exchanged: dict[int, Any] = {id(really_loads): loads, id(really_load): load, id(pickle.Unpickler): Restricted}
    for module in (pickle, _pickle, sys.modules.get("shelve")):
        for name, value in list(vars(module).items()) if module is not None else ():
            if id(value) in exchanged:
                setattr(module, name, exchanged[id(value)])
    pickle.dumps, pickle.dump = dumps, dump
    marshal.load, marshal.loads = made, made_of


def _rest_of(file: Any) -> bytes | None:
    """What a file still holds, which is left there; None if nobody can know."""
    try:
        at = file.tell()
        data = file.read()
        file.seek(at)
    except (AttributeError, OSError, ValueError):
        return None
    return data if type(data) is bytes else None
