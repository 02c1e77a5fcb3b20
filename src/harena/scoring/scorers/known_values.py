"""Values of a suite that no candidate can steer, as the suite's text tells.

A candidate that lives in another sandbox changes what a suite has by what it answers, prints and takes in time, by what
it does to an object that it is given, and by when and with what it calls a function that it is given. So a value is
known if all that it is made of is known:

- a constant, what Python and the system tell of themselves, what a library call makes of such values (no clock, no
  stream, no container to be filled);
- a name, or an attribute of `self`, that is bound to known values only, and to nothing that is given on;
- a call of a function of the suite's whose text holds nothing else.

What a function stores, fills or calls that a candidate may call is not known.
"""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping

from harena.scoring.scorers.suite_syntax import CLEANUPS, FUNCTIONS, SETS_UP, given_to, is_test, settled, word_of

_BUILTINS = frozenset({
    "bool", "int", "len", "str", "tuple", "range", "min", "max", "float", "any", "all", "sorted", "abs", "sum", "round",
    "isinstance", "issubclass", "hasattr", "getattr", "callable", "list", "set", "dict", "frozenset", "zip",
    "enumerate", "reversed", "type", "repr", "ord", "chr", "bytes",
})  # fmt: skip
"""functions of Python's that make a value of those that they are given, and keep nothing"""
_PLAIN_LIBRARY = frozenset({
    "bz2", "codecs", "collections", "ctypes", "curses", "dataclasses", "dbm", "decimal", "distutils", "encodings",
    "enum", "errno", "fcntl", "fractions", "functools", "getpass", "grp", "hashlib", "http", "importlib", "ipaddress",
    "itertools", "json", "locale", "lzma", "math", "mmap", "multiprocessing", "operator", "pathlib", "pkgutil",
    "platform", "pwd", "re", "readline", "select", "shlex", "shutil", "site", "socket", "sqlite3", "ssl", "string",
    "struct", "sysconfig", "tempfile", "textwrap", "tkinter", "typing", "unicodedata", "urllib", "uuid", "xml", "zlib",
    "zoneinfo",
})  # fmt: skip
"""modules of the standard library that tell nothing of what has happened in the process"""
_OF_OS = frozenset({
    "environ", "environb", "getenv", "name", "sep", "pathsep", "linesep", "cpu_count", "getuid", "geteuid", "getgid",
    "getegid", "getlogin", "uname", "fork", "path.join", "path.sep", "path.expanduser", "path.dirname", "path.basename",
    "path.abspath", "access", "X_OK", "R_OK", "W_OK", "sched_getaffinity", "supports_fd", "supports_dir_fd", "sysconf",
})  # fmt: skip
_OF_SYS = frozenset({
    "platform", "version_info", "version", "maxsize", "byteorder", "flags", "implementation", "executable", "prefix",
    "base_prefix", "hexversion", "api_version", "abiflags", "float_info", "int_info", "modules", "maxunicode", "argv",
    "getfilesystemencoding", "getdefaultencoding", "getwindowsversion", "builtin_module_names", "stdlib_module_names",
    "getrecursionlimit", "gettrace", "thread_info", "hash_info", "_is_gil_enabled",
})  # fmt: skip
_OF_TEST = frozenset({"_testMethodName", "_testMethodDoc", "id", "shortDescription", "__class__"})
"""what a test knows of itself"""
_QUIET = (ast.Compare, ast.UnaryOp, ast.BinOp, ast.If, ast.While, ast.Assert, ast.Expr, ast.FormattedValue)
"""what keeps nothing of a value that stands in it"""
_SEEN_THROUGH = (ast.Attribute, ast.Subscript, ast.BoolOp, ast.IfExp, ast.NamedExpr)
"""what is, or has, a value that stands in it, or a part of that"""
_KEEPING = frozenset({
    "list", "tuple", "set", "dict", "frozenset", "zip", "enumerate", "reversed", "sorted", "getattr", "min", "max",
})  # fmt: skip
"""functions of Python's whose values hold what they are given"""
_RUN_BY_RUNNER = SETS_UP | {
    "tearDown", "tearDownClass", "tearDownModule", "asyncTearDown", "teardown_method", "teardown_class",
    "teardown_module", "teardown_function", "__init__",
}  # fmt: skip
_GIVEN_TO_RUNNER = CLEANUPS | {"addAsyncCleanup"}
"""what takes functions that the runner calls after a test"""
_Function = ast.FunctionDef | ast.AsyncFunctionDef


class KnownValues:
    """What is known of one trusted file."""

    def __init__(
        self,
        nodes: Collection[ast.AST],
        parents: Mapping[ast.AST, ast.AST],
        modules: Mapping[str, Collection[str]],
        arguments: Mapping[str, Collection[ast.expr]],
    ) -> None:
        """`modules`: names that are bound by imports of what is not the candidate's, and of what. `arguments`: those of
        tests, and the values that they are given."""
        self._nodes = nodes
        self._parents = parents
        self._found: dict[ast.AST, bool] = {}
        """node -> what was found of it, as long as what it is made of stays the same"""
        self._given_to: dict[str, ast.Tuple] = {}
        self._modules = modules
        self._functions: dict[str, list[_Function]] = {}
        for node in nodes:
            if isinstance(node, FUNCTIONS):
                self._functions.setdefault(node.name, []).append(node)
        self._calls: dict[str, list[ast.Call]] = {}
        for node in nodes:
            if isinstance(node, ast.Call):
                self._calls.setdefault(word_of(node.func), []).append(node)
        self._values: dict[str, list[ast.expr | None]] = {}
        """what each name and each attribute is bound to; None where that is not told"""
        for name, value in self._bindings(arguments):
            self._values.setdefault(name, []).append(value)
        self._handed_on = {
            word_of(node)
            for node in nodes
            if isinstance(node, ast.Name | ast.Attribute)
            and isinstance(node.ctx, ast.Load)
            and not self._is_quiet(node)
        }
        """names that stand where what they stand for may be kept, or given to somebody"""
        given = [each for name in _GIVEN_TO_RUNNER for call in self._calls.get(name, ()) for each in call.args]
        self._called_by_runner = set(map(word_of, given))
        self._open_functions = set(self._called_by_others())
        self.changed = frozenset(self._changed_by_others())
        """names and attributes that functions change which a candidate may call"""
        self._names = {
            name
            for name, values in self._values.items()
            if name not in self.changed and (name not in self._handed_on or all(map(_is_plain, values)))
        }
        self._known_functions = {
            name
            for name, found in self._functions.items()
            if not any(each in self._open_functions for each in found) and set(self._values[name]) == {None}
        }
        self._names -= self._known_functions
        if not settled(self._without_unknown, lambda: len(self._names) + len(self._known_functions)):
            self._names, self._known_functions = set(), set()
        self._found.clear()

    def is_known(self, node: ast.AST) -> bool:
        """No candidate can steer the value of an expression, or what a statement does."""
        if (found := self._found.get(node)) is None:
            found = self._found[node] = self._is_known(node)
        return found

    def _is_known(self, node: ast.AST) -> bool:
        if isinstance(node, ast.Name):
            if not isinstance(node.ctx, ast.Load):
                return True
            is_bound = node.id in self._values
            return node.id in self._names if is_bound else node.id in self._modules or _is_plain_builtin(node.id)
        if isinstance(node, ast.Attribute):
            return self._is_known_attribute(node)
        if isinstance(node, ast.Call):
            return self._is_known_function(node.func) and all(map(self.is_known, given_to(node)))
        if isinstance(node, ast.Lambda | ast.Await | ast.Yield | ast.YieldFrom | ast.AsyncFor | ast.AsyncWith):
            return False
        return all(map(self.is_known, ast.iter_child_nodes(node)))

    def _without_unknown(self) -> None:
        self._found.clear()
        self._names = {name for name in self._names if all(map(self._is_known_value, self._values[name]))}
        self._known_functions = {name for name in self._known_functions if self._are_known(self._functions[name])}

    def _is_known_value(self, value: ast.expr | None) -> bool:
        return value is not None and self.is_known(value)

    def _are_known(self, functions: list[_Function]) -> bool:
        return all(self.is_known(part) for each in functions for part in each.body)

    def _is_known_attribute(self, node: ast.Attribute) -> bool:
        if word_of(node.value) in ("self", "cls"):
            return node.attr in self._names or (node.attr in _OF_TEST and node.attr not in self._values)
        if (dotted := self._dotted(node)) is not None:
            return _is_plain_library(dotted)
        return node.attr not in self.changed and self.is_known(node.value)

    def _is_known_function(self, func: ast.expr) -> bool:
        if isinstance(func, ast.Name):
            if func.id in self._functions:
                return func.id in self._known_functions
            dotted = self._dotted(func)
            if dotted is not None:
                return _is_plain_library(dotted)
            return func.id not in self._values and _is_plain_builtin(func.id)
        if isinstance(func, ast.Attribute) and word_of(func.value) in ("self", "cls"):
            if func.attr in self._functions:
                return func.attr in self._known_functions
            return func.attr in _OF_TEST
        return self.is_known(func)

    def _dotted(self, node: ast.AST) -> str | None:
        """The whole name of what a module has; None where it is nothing of one."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id in self._values or len(self._modules.get(node.id, ())) != 1:
            return None
        return ".".join([*self._modules[node.id], *reversed(parts)])

    # What names are bound to.

    def _bindings(self, arguments: Mapping[str, Collection[ast.expr]]) -> Iterator[tuple[str, ast.expr | None]]:
        for node in self._nodes:
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    yield from self._bound_outside(target, node.value)
            elif isinstance(node, ast.AnnAssign | ast.AugAssign | ast.NamedExpr):
                if node.value is not None:
                    yield from self._bound_outside(node.target, node.value)
            elif isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
                yield from _bound(node.target, node.iter)
            elif isinstance(node, ast.withitem):
                if node.optional_vars is not None:
                    yield from _bound(node.optional_vars, node.context_expr)
            elif isinstance(node, FUNCTIONS):
                yield node.name, None
                yield from self._parameters(node, arguments)
            elif isinstance(node, ast.ClassDef):
                yield node.name, None
            elif isinstance(node, ast.Lambda):
                yield from ((each.arg, None) for each in ast.walk(node.args) if isinstance(each, ast.arg))
            elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
                yield node.name, None
            elif isinstance(node, ast.Delete):
                for target in node.targets:
                    yield from ((name, None) for name, _ in _bound(target, None))

    def _bound_outside(self, target: ast.AST, value: ast.expr) -> Iterator[tuple[str, ast.expr | None]]:
        """What an assignment binds, without the modules: `os.environ["A"] = "b"` makes no other `os`."""
        is_part = isinstance(target, ast.Attribute | ast.Subscript)
        yield from ((name, part) for name, part in _bound(target, value) if not (is_part and name in self._modules))

    def _parameters(
        self, node: _Function, arguments: Mapping[str, Collection[ast.expr]]
    ) -> Iterator[tuple[str, ast.expr | None]]:
        """Each parameter of a function may be bound to any argument of its calls."""
        names = [each.arg for each in ast.walk(node.args) if isinstance(each, ast.arg)]
        calls = [] if is_test(node.name) else self._calls.get(node.name, [])
        defaults = ast.Tuple([*node.args.defaults, *filter(None, node.args.kw_defaults)], ast.Load())
        for name in names:
            if name in ("self", "cls"):
                continue
            if name in arguments and is_test(node.name):
                yield name, self._one_of(f"argument {name}", arguments[name])
            elif calls:
                parts = (part for call in calls for part in given_to(call))
                yield name, self._one_of(f"function {node.name}", parts)
                yield name, defaults
            else:
                yield name, None

    def _one_of(self, what: str, values: Iterable[ast.expr]) -> ast.Tuple:
        """One node for all values that the parameters of one name may have, made once."""
        if what not in self._given_to:
            self._given_to[what] = ast.Tuple([*values], ast.Load())
        return self._given_to[what]

    # Who may call and change what.

    def _is_quiet(self, node: ast.expr) -> bool:
        """What stands for a value here is looked at, or called, and no more."""
        parent = self._parents[node]
        if isinstance(parent, ast.Call):
            if parent.func is node:
                return True
            called = parent.func
            if isinstance(called, ast.Name) and called.id in _KEEPING:
                return self._is_quiet(parent)
            is_builtin = isinstance(called, ast.Name) and called.id in _BUILTINS
            word = word_of(called)
            return is_builtin or word in _GIVEN_TO_RUNNER or word.lower().startswith("assert")
        if isinstance(parent, FUNCTIONS):
            return node in parent.decorator_list
        if isinstance(parent, ast.IfExp) and node is parent.test:
            return True
        if isinstance(parent, _SEEN_THROUGH):
            return self._is_quiet(parent)
        return isinstance(parent, _QUIET)

    def _called_by_others(self) -> Iterator[_Function]:
        """Functions that somebody else may call, when and with what he wants, and what these call."""
        found: set[_Function] = set()
        followed: set[str] = set()

        def called_in(node: ast.AST) -> list[_Function]:
            names = {word_of(each.func) for each in ast.walk(node) if isinstance(each, ast.Call)} - followed
            followed.update(names)
            return [each for name in names if not is_test(name) for each in self._functions.get(name, ())]

        waiting = [node for named in self._functions.values() for node in named if self._is_open(node)]
        for each in self._nodes:
            if self._is_open_lambda(each) or isinstance(each, ast.GeneratorExp):
                waiting += called_in(each)
        while waiting:
            node = waiting.pop()
            if node not in found:
                found.add(node)
                yield node
                waiting += [each for each in ast.walk(node) if isinstance(each, FUNCTIONS)]
                waiting += called_in(node)

    def _is_open(self, node: _Function) -> bool:
        if is_test(node.name) or node.name in _RUN_BY_RUNNER:
            return False
        marks = {word_of(part) for mark in node.decorator_list for part in ast.walk(mark)}
        if "fixture" in marks:
            return False
        is_started = isinstance(node, ast.AsyncFunctionDef) or any(
            isinstance(each, ast.Yield | ast.YieldFrom) for each in ast.walk(node)
        )
        is_called = node.name in self._calls or node.name in self._called_by_runner
        return is_started or not is_called or node.name in self._handed_on or not self._is_of_tests(node)

    def _is_open_lambda(self, node: ast.AST) -> bool:
        parent = self._parents.get(node)
        is_runners = isinstance(parent, ast.Call) and word_of(parent.func) in _GIVEN_TO_RUNNER
        return isinstance(node, ast.Lambda) and not is_runners

    def _is_of_tests(self, node: _Function) -> bool:
        """It is no method of a class that has no tests: an object of such a class may be given to anybody."""
        parent = self._parents[node]
        if not isinstance(parent, ast.ClassDef):
            return True
        is_case = any(word_of(base).endswith("TestCase") for base in parent.bases)
        return is_case or any(isinstance(each, FUNCTIONS) and is_test(each.name) for each in parent.body)

    def _changed_by_others(self) -> Iterator[str]:
        for scope in (*self._open_functions, *filter(self._is_open_lambda, self._nodes)):
            for node in ast.walk(scope):
                if isinstance(node, ast.Global | ast.Nonlocal):
                    yield from node.names
                elif isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
                    yield from _words(node)
                elif isinstance(node, ast.Call):
                    yield from self._changed_by(node)
        if any(_gives_self(call) for calls in self._calls.values() for call in calls):
            yield from (
                node.attr
                for node in self._nodes
                if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load)
            )

    def _changed_by(self, call: ast.Call) -> Iterator[str]:
        """A method changes its object, and any function what it is given."""
        if word_of(call.func) in ("setattr", "delattr", "setitem", "setenv", "setdefault"):
            yield from (str(each.value) for each in call.args if isinstance(each, ast.Constant))
        for part in (call.func, *given_to(call)):
            is_module = self._dotted(part) is not None and "environ" not in _words(part)
            if not is_module and word_of(part) not in self._functions:
                yield from _words(part)


def _bound(target: ast.AST, value: ast.expr | None) -> Iterator[tuple[str, ast.expr | None]]:
    """Names, attributes and containers that an assignment to this binds or changes, and to what."""
    if isinstance(target, ast.Name):
        yield target.id, value
    elif isinstance(target, ast.Attribute):
        yield target.attr, value
        if word_of(target.value) not in ("self", "cls"):
            yield from _bound(target.value, value)
    elif isinstance(target, ast.Subscript | ast.Starred):
        yield from _bound(target.value, value)
    elif isinstance(target, ast.Tuple | ast.List):
        parts: list[ast.expr | None] = [value] * len(target.elts)
        if isinstance(value, ast.Tuple) and len(value.elts) == len(target.elts):
            parts = list(value.elts)
        for each, part in zip(target.elts, parts, strict=True):
            yield from _bound(each, part)


def _words(node: ast.AST) -> set[str]:
    found = set()
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call | ast.Starred):
        found.add(word_of(node))
        node = node.func if isinstance(node, ast.Call) else node.value
    return {*found, word_of(node)} - {"", "self", "cls"}


def _gives_self(call: ast.Call) -> bool:
    """A test gives itself away, and with it all that it has."""
    given = given_to(call)
    is_own = word_of(call.func) in ("super", "isinstance", "hasattr", "getattr", "setattr", "type", "__init__", "id")
    inside = [part for each in given for part in ast.walk(each)]
    holders = {id(part.value) for part in inside if isinstance(part, ast.Attribute)}
    return not is_own and any(
        isinstance(each, ast.Name) and each.id == "self" and id(each) not in holders for each in inside
    )


def _is_plain(value: ast.expr | None) -> bool:
    """Nobody can change it in place."""
    if isinstance(value, ast.Tuple | ast.BoolOp | ast.BinOp | ast.IfExp):
        return all(_is_plain(each) for each in ast.iter_child_nodes(value) if isinstance(each, ast.expr))
    if isinstance(value, ast.Call):
        return isinstance(value.func, ast.Name) and value.func.id in ("bool", "int", "len", "str", "float", "range")
    return isinstance(value, ast.Constant | ast.Compare | ast.UnaryOp | ast.JoinedStr)


def _is_plain_builtin(name: str) -> bool:
    found = getattr(builtins, name, None)
    return name in _BUILTINS or (isinstance(found, type) and issubclass(found, BaseException))


def _is_plain_library(dotted: str) -> bool:
    """What packages and modules tell of themselves and of the system."""
    module, _, name = dotted.partition(".")
    if module == "os":
        return any(name == each or name.startswith(each + ".") for each in _OF_OS) or not name
    if module == "sys":
        return name.partition(".")[0] in _OF_SYS
    return module in _PLAIN_LIBRARY or module not in sys.stdlib_module_names
