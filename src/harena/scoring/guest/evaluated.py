"""What a suite's process would run of a candidate's texts. Standard library only, Python 3.8 and up.

A suite may evaluate what it was told: `eval(repr(point)) == point`, `pickle.loads(dump(x))`, the examples of a
docstring. In one process that is as good or bad as any call of the candidate's. Where the candidate is elsewhere, such
a text would be the only code of it that runs beside the suite, and could change what judges. So a text, or bytes, that
came from the candidate are evaluated if they state a value, and refused, as what cannot be served, if they do more.
"""

from __future__ import annotations
import __future__

import ast
import builtins
import collections
import sys

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
    ast.BinOp, ast.Add, ast.Sub, ast.BitOr, ast.Name, ast.Attribute, ast.Call, ast.keyword, ast.Starred,
)  # fmt: skip
_VALUE_CLASSES = {
    "builtins": ("bytearray", "complex", "frozenset", "range", "set", "slice"),
    "collections": ("Counter", "OrderedDict", "defaultdict", "deque"),
    "datetime": ("date", "datetime", "time", "timedelta", "timezone"),
    "decimal": ("Decimal",), "fractions": ("Fraction",), "uuid": ("UUID", "SafeUUID"),
    "pathlib": ("PosixPath", "PurePosixPath", "PurePath", "Path"),
    "pathlib._local": ("PosixPath", "PurePosixPath", "PurePath", "Path"),
}  # fmt: skip


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


def states_a_value(text: str) -> bool:
    """Literals, names, and calls of classes (`Point(1, 2)`, `datetime.date(2024, 1, 1)`), nothing else."""
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return False
    for node in ast.walk(tree):
        if not isinstance(node, _VALUE_NODES):
            return False
        name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
        if name[:1] == "_" or (isinstance(node, ast.Call) and not _is_of_class(node.func)):
            return False
    return True


def _is_of_class(called: ast.expr) -> bool:
    if isinstance(called, ast.Name):
        return called.id in _PLAIN_CALLS or (called.id[:1].isupper() and called.id not in _STARTS)
    return isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name) and called.value.id in _ROOTS


def guard(candidate: Any, trusted: dict[str, str]) -> None:
    """From here on nothing of the candidate's is evaluated in this process that does more than state a value.
    `trusted`: path and text of each file of the suite's. What is refused is noted, and raises TypeError."""
    guard_annotations()
    candidate.heard = heard = Heard()

    def is_refused(text: Any) -> bool:
        if type(text) is bytes:
            text = text.decode("utf-8", "replace")
        if type(text) is not str or states_a_value(text) or any(text.strip() in own for own in trusted.values()):
            return False
        return heard.has_told(text)

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
                name = "<string>" if is_suites else _OF_LIBRARIES
                source = compile(text, name, mode, frame.f_code.co_flags & _FUTURES, True)
            return really(source, globals, globals if locals is None else locals, **more)

        return evaluate

    def heard_event(event: str, arguments: tuple[Any, ...]) -> None:
        # whoever compiles: the suite, doctest, timeit; `ast.parse`, which runs nothing, says "<unknown>"
        if event == "compile" and arguments[1] not in ("<unknown>", _OF_LIBRARIES) and is_refused(arguments[0]):
            raise refuse()

    builtins.eval, builtins.exec = guarded(builtins.eval, "eval"), guarded(builtins.exec, "exec")
    sys.addaudithook(heard_event)
    _guard_pickles(heard, refuse)


def _guard_pickles(heard: Heard, refuse: Any) -> None:
    import io
    import pickle

    class Restricted(pickle._Unpickler):
        """Makes values, and objects of the candidate's classes."""

        def find_class(self, module: str, name: str) -> Any:
            """See Unpickler."""
            if name in _VALUE_CLASSES.get(module, ()):
                return super().find_class(module, name)
            found: Any = sys.modules.get(module)
            for part in name.split("."):
                found = getattr(found, part, None)
            if type(found).__name__ == "StandInClass":
                return found
            raise refuse()

    really_loads, really_load = pickle.loads, pickle.load

    def loads(data: Any, /, **keywords: Any) -> Any:
        if not heard.has_sent(bytes(data)):
            return really_loads(data, **keywords)
        return Restricted(io.BytesIO(data), **keywords).load()

    def load(file: Any, **keywords: Any) -> Any:
        try:
            at = file.tell()
            data = file.read()
            file.seek(at)
        except (AttributeError, OSError):
            return really_load(file, **keywords)
        is_theirs = type(data) is bytes and heard.has_sent(data)
        return Restricted(file, **keywords).load() if is_theirs else really_load(file, **keywords)

    pickle.loads, pickle.load = loads, load
