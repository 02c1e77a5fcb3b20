"""Whether test code asks more of the candidate's answers, or of its process, than values from another process give.

Copies of plain values answer to what is compared, looked up and computed. Not to being called, entered, compared by
identity or taken one item after the other from what may have no end; and not where tests look at what the candidate's
process prints or keeps. What helpers of the tests do with an answer is not followed.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator

from harena.scoring.python_source import parts_of

_PLAIN_METHODS = frozenset(
    name
    for kind in (str, bytes, list, tuple, dict, set, frozenset, int, float, complex, bytearray)
    for name in dir(kind)
    if not name.startswith("__")
)
_CHANGING = frozenset(
    {*("append", "extend", "insert", "remove", "pop", "clear", "sort", "reverse", "add", "discard", "update")}
    | {"popitem", "setdefault"}
)
_LAZY = frozenset({"next", "islice", "takewhile", "iter", "anext", "aiter"})
"""they take no more items than they need"""
_ABOUT_OBJECTS = frozenset(
    {"callable", "hasattr", "getattr", "vars", "dir", "id", "run", "run_until_complete", "gather"}
)
"""what they tell, or do, depends on the object itself"""
_OF_THE_PROCESS = frozenset(
    {
        *("redirect_stdout", "redirect_stderr", "redirect_stdin", "capsys", "capfd", "monkeypatch", "patch", "mock"),
        *("stdout", "stderr", "stdin", "environ", "putenv", "chdir", "setrecursionlimit"),
        *("catch_warnings", "setlocale", "getLogger", "assertLogs", "tracemalloc", "setcontext", "localcontext"),
        "getcontext",
    }
)
"""names by which tests prepare, or look at, the process in which the candidate is"""
_PLAIN_CLASSES = frozenset(name for name, value in vars(builtins).items() if isinstance(value, type)) | {
    *("Counter", "OrderedDict", "defaultdict", "deque", "Fraction", "Decimal", "Iterator")
}
_CALLING = frozenset({"map", "filter", "sorted", "callable", "check"})
"""functions that may be given a function of the candidate's: they only call it"""
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def what_more_is_asked(tests: ast.Module, names: frozenset[str]) -> ast.AST | None:
    """The expression in which it is; `names`: those of the candidate's functions."""
    uses = _Uses(tests, names)
    found = next((node for node in parts_of(tests) if uses.asks_more(node)), None)
    if isinstance(found, ast.With | ast.AsyncWith):
        return found.items[0].context_expr
    return found.iter if isinstance(found, ast.For | ast.AsyncFor) else found


class _Uses:
    """What one piece of test code does with answers."""

    def __init__(self, tests: ast.Module, names: frozenset[str]) -> None:
        self._names = names
        self._callers = _CALLING | {node.name for node in parts_of(tests) if isinstance(node, _DEFINITIONS)}
        self._answers: set[str] = set()
        """names that are bound to answers, or to parts of them"""
        for _ in range(2):  # a name that is bound to a name
            for node in parts_of(tests):
                self._answers.update(self._bound(node))
        self._called = {id(node.func) for node in parts_of(tests) if isinstance(node, ast.Call)}
        calls = [node for node in parts_of(tests) if self._is_call(node)]
        given = {id(part) for call in calls for part in parts_of(call)}
        self._aliases = {part.id for call in calls for part in parts_of(call) if isinstance(part, ast.Name)} & {
            node.id
            for node in parts_of(tests)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and id(node) not in given
        }
        """arguments that are looked at after a call, whose answer may be the same object"""
        self._passed = {
            id(part) for node in parts_of(tests) if isinstance(node, ast.Call) for part in self._may_be_passed(node)
        }
        self._stateful = self._shares_state(tests, calls)

    def asks_more(self, node: ast.AST) -> bool:
        """This part of the tests needs the candidate in its own process."""
        if isinstance(node, ast.Call):
            return self._is_answer(node.func) or self._call_asks(node) or id(node) == self._stateful
        if isinstance(node, ast.Attribute):
            is_function = isinstance(node.value, ast.Name) and node.value.id in self._names
            return is_function or node.attr in _OF_THE_PROCESS or self._attribute_asks(node)
        if isinstance(node, ast.Name):
            is_used = node.id in self._names and isinstance(node.ctx, ast.Load)
            is_object = is_used and id(node) not in self._called and id(node) not in self._passed
            return is_object or (node.id in _OF_THE_PROCESS and id(node) in self._called)
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Is | ast.IsNot):
            sides = (node.left, node.comparators[0])
            return any(map(self._is_answer, sides)) and not any(isinstance(side, ast.Constant) for side in sides)
        if isinstance(node, ast.With | ast.AsyncWith):
            return any(self._is_answer(item.context_expr) for item in node.items)
        if isinstance(node, ast.Await):
            return self._is_answer(node.value)
        if isinstance(node, ast.AsyncFor):
            return self._is_answer(node.iter)
        return isinstance(node, ast.For) and self._is_answer(node.iter) and _is_left(node)

    def _call_asks(self, node: ast.Call) -> bool:
        name = _last_name(node.func)
        if name in _LAZY or name in _ABOUT_OBJECTS:
            return any(map(self._is_answer, node.args))
        if name == "isinstance" and len(node.args) == 2 and self._is_answer(node.args[0]):
            classes = parts_of(node.args[1])
            modules = {id(part.value) for part in classes if isinstance(part, ast.Attribute)}
            return not all(
                _last_name(part) in _PLAIN_CLASSES
                for part in classes
                if isinstance(part, ast.Name | ast.Attribute) and id(part) not in modules
            )
        return False

    def _attribute_asks(self, node: ast.Attribute) -> bool:
        if not (isinstance(node.value, ast.Name | ast.Subscript) and self._is_answer(node.value)):
            return False  # of a call itself: `crossing` looks at it
        return node.attr not in _PLAIN_METHODS or (node.attr in _CHANGING and bool(self._aliases))

    def _is_call(self, node: ast.AST) -> bool:
        return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in self._names

    def _is_answer(self, node: ast.AST) -> bool:
        while isinstance(node, ast.Subscript):
            node = node.value
        return self._is_call(node) or (isinstance(node, ast.Name) and node.id in self._answers)

    def _bound(self, node: ast.AST) -> Iterator[str]:
        """Names that this part of the tests binds to an answer."""
        targets: list[ast.expr] = []
        if isinstance(node, ast.Assign) and self._is_answer(node.value):
            targets = node.targets
        elif isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
            targets = [node.target] if self._is_answer(node.iter) else []
        elif isinstance(node, ast.NamedExpr | ast.AnnAssign):
            targets = [node.target] if node.value and self._is_answer(node.value) else []
        for target in targets:
            yield from (part.id for part in parts_of(target) if isinstance(part, ast.Name))

    def _may_be_passed(self, node: ast.Call) -> Iterator[ast.expr]:
        """Arguments that may be the candidate's function: those of the tests' own helpers, and of `map`."""
        if isinstance(node.func, ast.Name) and node.func.id in self._callers:
            yield from node.args
            yield from (keyword.value for keyword in node.keywords)

    def _shares_state(self, tests: ast.Module, calls: list[ast.AST]) -> int | None:
        """The call because of which two functions must be in one process: what it does is seen in no value, or it is
        given nothing. (Each function has a process of its own otherwise.)"""
        if len({_last_name(call.func) for call in calls if isinstance(call, ast.Call)}) < 2:
            return None
        unused = {id(node.value) for node in parts_of(tests) if isinstance(node, ast.Expr)}
        for call in calls:
            assert isinstance(call, ast.Call)
            if id(call) in unused or not (call.args or call.keywords):
                return id(call)
        return None


def _last_name(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _is_left(loop: ast.For) -> bool:
    return any(isinstance(node, ast.Break | ast.Return) for part in loop.body for node in parts_of(part))
