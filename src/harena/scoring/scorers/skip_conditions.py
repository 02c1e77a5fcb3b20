"""What of its surroundings a stated skip asks for, and what the suite itself puts there.

A skip on a condition about the environment or the platform (`stated_excuses`) is the suite's own only while nobody but
the suite changes what it asks for. So each is told with

    asks   names of environment variables, and `sys.platform` and its like, of which the condition may be made
    own    the constants that the suite puts there before it comes to the skip: in its modules and classes, in what
           sets tests up, in fixtures, and in what the function with the skip does and uses
    free   the names to which it gives other values there, which are not the candidate's

The runner believes a skip where each thing asked for is what it was before anything of the candidate's was run, or what
the suite gave it. Where the suite puts there what comes from the candidate, a skip is not the suite's own at all.
"""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from harena.scoring.python_source import parts_of
from harena.scoring.scorers.suite_syntax import CLEANUPS, DEFINITIONS, FUNCTIONS, SETS_UP, given_to, is_test, word_of

if TYPE_CHECKING:
    from harena.scoring.scorers.stated_excuses import StatedExcuses

_ATTRIBUTES = {"platform": "sys.platform", "version_info": "sys.version_info", "maxsize": "sys.maxsize",
               "name": "os.name"}  # fmt: skip
_SETUP = SETS_UP | {"setup"}
_READS = frozenset({"environ", "getenv", "which"})
_SUITES_OWN = frozenset({"self", "cls", "monkeypatch"})
_MOST_ASKED, _LONGEST_NAME, _LAST = 100, 100, 1 << 60
_MOST_IN_ONE = 20
"""skips in one function that are told apart by what is done before each; those behind them ask for what all of the
function asks for"""
_MOST_PAIRS = 1_000_000
"""comparisons of a skip with a place that puts something there, and words that lead to skips; a suite that takes more
of them states no skip on a condition"""
_MARK = "="
"""a name of a variable has none"""
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_SCOPES = (*FUNCTIONS, ast.Lambda)
_COMPREHENSIONS = ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp
_AFTERWARDS = CLEANUPS | {"register"}
_Pair = tuple[str, ast.expr | None]
Value = int | str | list[int | str] | None


@dataclass(frozen=True, slots=True)
class SkipCondition:
    """What the condition of one skip asks for."""

    asks: tuple[str, ...] | None
    """None: more names than are told apart"""
    own: Mapping[str, tuple[Value, ...]]
    """None among the values of a name: the suite takes it away; under an empty text: any name"""
    free: frozenset[str]
    """empty text: any name"""


@dataclass(frozen=True, slots=True)
class _Put:
    """A place in the text that puts something into the surroundings."""

    name: str
    """empty for any name of the environment"""
    value: ast.expr | None
    """None: it is taken out"""
    is_theirs: bool
    """what it puts, or whether it does, is the candidate's to say"""
    line: int
    within: tuple[_Scope, ...]
    """the functions around it, from the outermost"""


class AskedPlaces:
    """The trusted files of one suite, by what their skips ask for."""

    def __init__(self, trees: Mapping[str, ast.Module], stated: Callable[[str], StatedExcuses]) -> None:
        """`stated`: for a path, what says of a part of that file who has a say in it."""
        self._outer = {path: list(_outermost(tree)) for path, tree in trees.items()}
        self._bindings: dict[str, list[ast.AST]] = {}
        self._calls: dict[str, list[ast.Call]] = {}
        self._used: set[str] = set()
        """fixtures that marks ask for"""
        for tree in trees.values():
            for node in parts_of(tree):
                if isinstance(node, ast.Call) and word_of(node.func) == "usefixtures":
                    self._used.update(str(each.value) for each in node.args if isinstance(each, ast.Constant))
                for word in _binds(node):
                    self._bindings.setdefault(word, []).append(node)
                if isinstance(node, ast.Call) and (node.args or node.keywords):
                    self._calls.setdefault(word_of(node.func), []).append(node)
        self._words: dict[ast.AST, frozenset[str]] = {}
        self._leading: dict[_Function, frozenset[str]] = {}
        self._values: dict[str, list[Value]] = {}
        self._skips: Counter[_Function] = Counter()
        self._pairs = 0
        self._puts = [
            put
            for path, tree in trees.items()
            if any(_may_put(node) for node in parts_of(tree))
            for put in _Puts(tree, stated(path))
        ]

    @property
    def is_steered_at_first(self) -> bool:
        """The candidate has a say in what the suite puts there as it is read, when conditions of marks are asked."""
        return any(put.is_theirs and (not put.within or _is_plain(put.within[0])) for put in self._puts)

    def asked(self, path: str, line: int) -> SkipCondition | None:
        """What a skip on this line of a file asks for; None where the suite puts there what is the candidate's."""
        outer = self._outer[path]
        function = outer[bisect_right(outer, line, key=lambda each: each.lineno) - 1]
        self._skips[function] += 1
        self._pairs += len(self._puts)
        if self._pairs > _MOST_PAIRS:
            return None
        is_one_of_many = self._skips[function] > _MOST_IN_ONE
        has_loops = is_one_of_many or any(isinstance(each, _LOOPS) for each in ast.walk(function))
        last = _LAST if has_loops else line
        words = self._leading.get(function) if last == _LAST else None
        if words is None:
            words = self._leading_to(function, last)
            self._pairs += len(words)
            if last == _LAST:
                self._leading[function] = words
        asks = {word[1:] for word in words if word[0] == _MARK}
        asks |= {name for word, name in _ATTRIBUTES.items() if word in words}
        asks |= {"PATH"} if "which" in words else set()
        has_environment = not words.isdisjoint(_READS)
        found: dict[str, list[Value]] = {}
        free: set[str] = set()
        for put in self._puts:
            if not (put.name in asks if put.name else has_environment) or not _is_before(put, function, last, words):
                continue
            if put.is_theirs:
                return None
            values = [None] if put.value is None else self._constants(put.value)
            if not values:
                free.add(put.name)
                continue
            known = found.setdefault(put.name, [])
            known += [each for each in values if each not in known]
            if len(known) > _MOST_ASKED:
                free.add(put.name)
                del known[_MOST_ASKED:]
        # a function that is told the name of a variable, or puts it together, may ask for any
        is_told = not has_environment or any(word[0] == _MARK for word in words)
        few = tuple(sorted(asks)) if len(asks) <= _MOST_ASKED and is_told else None
        return SkipCondition(few, {name: tuple(values) for name, values in found.items()}, frozenset(free))

    def _leading_to(self, function: _Function, last: int) -> frozenset[str]:
        """The words of a function up to a line, and of whatever gives these their values; texts begin with a mark."""
        found: set[str] = set()
        waiting = [_words(each for each in ast.walk(function) if getattr(each, "lineno", 0) <= last)]
        waiting += [frozenset(self._used), *self._given_to(function)]
        seen: set[ast.AST] = {function}
        while waiting:
            new = waiting.pop() - found
            found |= new
            for node in (node for word in new for node in self._bindings.get(word, ())):
                if node not in seen and not (isinstance(node, FUNCTIONS) and is_test(node.name)):
                    seen.add(node)
                    waiting.append(self._words_in(node))
        return frozenset(found)

    def _words_in(self, node: ast.AST) -> frozenset[str]:
        if node not in self._words:
            self._words[node] = _words(ast.walk(node))
        return self._words[node]

    def _constants(self, value: ast.expr) -> list[Value]:
        """The constants of which a value is one; empty where it may be something else."""
        if isinstance(value, ast.IfExp):
            found = [self._constants(each) for each in (value.body, value.orelse)]
            return [*found[0], *found[1]] if all(found) else []
        if isinstance(value, ast.Name):
            if value.id not in self._values:
                self._values[value.id] = self._constants_of_name(value)
            return self._values[value.id]
        return _constant(value)

    def _constants_of_name(self, value: ast.Name) -> list[Value]:
        nodes = self._bindings.get(value.id, [])
        plain = [
            node.value for node in nodes if isinstance(node, ast.Assign) and value.id in map(word_of, node.targets)
        ]
        constants = [_constant(each) for each in plain[:_MOST_ASKED]]
        if len(plain) != len(nodes) or len(plain) > _MOST_ASKED or not all(constants):
            return []
        return [each for some in constants for each in some]

    def _given_to(self, function: _Function) -> list[frozenset[str]]:
        """The words of the calls of a function that takes something."""
        if is_test(function.name) or all(each.arg in _SUITES_OWN for each in _arguments(function)):
            return []
        return [self._words_in(call) for call in self._calls.get(function.name, ())]


def _outermost(tree: ast.Module) -> Iterator[_Function]:
    """Functions that are in no other, in the order of the text."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, FUNCTIONS):
            yield node
        else:
            waiting += reversed(list(ast.iter_child_nodes(node)))


class _Part(ast.Starred):
    """Something of a value, or a value that is changed by it."""


class _Puts:
    """What one file puts into the surroundings, and whether the candidate has a say in that: in what is put, or in
    whether it is."""

    def __init__(self, tree: ast.Module, stated: StatedExcuses) -> None:
        self._is_theirs = is_theirs = stated.is_theirs
        self._is_steered = stated.is_steered
        self._steered: set[str] = set()
        """names of what the candidate is given, or that is used only where it says so"""
        self._cut: set[ast.AST] = set()
        """functions that the candidate can end before their end"""
        self._found: list[_Put] = []
        waiting: list[tuple[ast.AST, tuple[_Scope, ...], bool]] = [(tree, (), False)]
        while waiting:
            node, within, is_steered = waiting.pop()
            self._found += self._of(node, within, is_steered)
            if not is_steered and self._is_steering(node):  # else its words are among those of what is around it
                is_steered = True
                self._steered.update(map(word_of, ast.walk(node)))
            if isinstance(node, ast.Call) and is_theirs(node.func):
                self._steered.update(word_of(part) for each in given_to(node) for part in ast.walk(each))
            if is_steered and isinstance(node, ast.Return | ast.Break | ast.Continue):
                self._cut.update(within)
            around = (*within, node) if isinstance(node, _SCOPES) else within
            is_last = isinstance(node, ast.Call) and word_of(node.func) in _AFTERWARDS
            for child in ast.iter_child_nodes(node):
                if not (is_last and isinstance(child, ast.Lambda)):  # it comes after the tests
                    waiting.append((child, around, is_steered))

    def __iter__(self) -> Iterator[_Put]:
        for put in self._found:
            names = {getattr(each, "name", "") for each in put.within}
            is_theirs = put.is_theirs or not names.isdisjoint(self._steered) or not self._cut.isdisjoint(put.within)
            yield replace(put, is_theirs=is_theirs)

    def _of(self, node: ast.AST, within: tuple[_Scope, ...], is_steered: bool) -> Iterator[_Put]:
        line = getattr(node, "lineno", 0)
        for name, value in _put_by(node):
            # nobody says what a function within another, which the candidate may be given, is called with
            given = {arg.arg for each in within[1:] for arg in _arguments(each)} - _SUITES_OWN
            is_theirs = value is not None and (
                any(word_of(part) in given for part in ast.walk(value)) or self._is_steered(value)
            )
            yield _Put(name, value, is_steered or is_theirs, line, within)
        if isinstance(node, ast.Call):
            handed = [name for each in given_to(node) for name in _handed(each)]
            if handed and self._is_theirs(node.func):
                yield from (_Put(name, None, True, line, within) for name in handed)

    def _is_steering(self, node: ast.AST) -> bool:
        """Whether its parts are run may be the candidate's doing."""
        if isinstance(node, ast.Lambda):
            return True
        parts: list[Any] = []
        if isinstance(node, ast.If | ast.While):
            return self._is_steered(node.test)
        elif isinstance(node, ast.For | ast.AsyncFor):
            return self._is_steered(node.iter)
        elif isinstance(node, ast.With | ast.AsyncWith):
            parts = [each.context_expr for each in node.items]
        elif isinstance(node, ast.Match):
            return self._is_steered(node.subject)
        elif isinstance(node, ast.Try):
            parts = node.body
        elif isinstance(node, ast.IfExp | ast.BoolOp | _COMPREHENSIONS):
            parts = [node]
        elif isinstance(node, DEFINITIONS):
            parts = node.decorator_list
        return any(map(self._is_theirs, parts))


def _is_before(put: _Put, function: _Function, last: int, asked_for: Collection[str]) -> bool:
    """It may be done before a line of a function is reached: by tests that call it, by fixtures that are asked for, and
    by whatever else is no test."""
    if not put.within or isinstance(put.within[0], ast.Lambda):
        return True
    outer = put.within[0]
    if outer is function:
        return put.line <= last
    if is_test(outer.name):
        return not is_test(function.name)
    return outer.name in asked_for or not _is_fixture(outer)


def _arguments(node: ast.Lambda | _Function) -> Iterator[ast.arg]:
    return (each for each in ast.walk(node.args) if isinstance(each, ast.arg))


def _sets_up(function: _Function) -> bool:
    is_automatic = any(
        isinstance(each, ast.keyword) and each.arg == "autouse" for mark in function.decorator_list
        for each in ast.walk(mark)
    )  # fmt: skip
    return is_automatic or function.name in _SETUP or function.name.startswith("pytest_")


def _is_fixture(function: _Function) -> bool:
    """It is run where a test asks for it by its name."""
    is_marked = any(word_of(each) == "fixture" for mark in function.decorator_list for each in ast.walk(mark))
    return is_marked and not _sets_up(function)


def _is_plain(function: _Scope) -> bool:
    """It is run only where somebody calls it."""
    if isinstance(function, ast.Lambda):
        return True
    return not (_is_fixture(function) or is_test(function.name) or _sets_up(function))


def _words(nodes: Iterable[ast.AST]) -> frozenset[str]:
    found: set[str] = set()
    for each in nodes:
        if isinstance(each, ast.Constant):
            text = each.value if isinstance(each.value, str) else ""
            if 0 < len(text) <= _LONGEST_NAME and _MARK not in text and not any(map(str.isspace, text)):
                found.add(_MARK + text)
        elif isinstance(each, ast.arg):
            found.add(each.arg)
        elif isinstance(each, ast.alias):
            found.add(each.name.rpartition(".")[2])
        elif word := word_of(each):
            found.add(word)
    return frozenset(found)


def _binds(node: ast.AST) -> Iterator[str]:
    """The words that get a value by a statement or a definition."""
    if isinstance(node, FUNCTIONS):
        yield node.name
    elif isinstance(node, ast.Import | ast.ImportFrom):
        yield from (each.asname for each in node.names if each.asname)
    else:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        for target in targets:
            for each in ast.walk(target) if isinstance(target, ast.AST) else ():
                if isinstance(each, ast.Name | ast.Attribute) and word_of(each) != "environ":
                    yield word_of(each)


def _put_by(node: ast.AST) -> Iterator[_Pair]:
    """What one statement or call puts into the environment, or in the place of an attribute that conditions ask for."""
    if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign) and node.value is not None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        for target in targets:
            for each in ast.walk(target):
                # a part of several is no constant that this one has
                plain = each is target and not isinstance(node, ast.AugAssign)
                value = node.value if plain else _Part(node.value)
                if isinstance(each, ast.Subscript) and _is_environ(each.value):
                    yield _pair(each.slice, value)
                elif isinstance(each, ast.Attribute) and (name := _attribute(each.value, each.attr)):
                    yield name, value
    elif isinstance(node, ast.Delete):
        yield from (_pair(each.slice, None) for each in node.targets
                    if isinstance(each, ast.Subscript) and _is_environ(each.value))  # fmt: skip
    elif isinstance(node, ast.Call):
        yield from _put_by_call(node)


def _put_by_call(call: ast.Call) -> Iterator[_Pair]:
    verb, given = word_of(call.func), given_to(call)
    on = call.func.value if isinstance(call.func, ast.Attribute) else None
    values: list[ast.expr | None] = [*given, None]
    if verb in ("setenv", "delenv") and given:
        yield _pair(given[0], values[1] if verb == "setenv" else None)
    elif on is not None and _is_environ(on):
        if verb in ("setdefault", "__setitem__") and len(given) > 1:
            yield _pair(given[0], given[1])
        elif verb in ("pop", "__delitem__") and given:
            yield _pair(given[0], None)
        elif verb == "update":
            yield from _pairs(call)
        elif verb in ("clear", "popitem"):
            yield "", None
    elif given and _is_environ(given[0]) and verb in ("setitem", "delitem") and len(given) > 1:
        yield _pair(given[1], given[2] if verb == "setitem" and len(given) > 2 else None)
    elif given and (_is_environ(given[0]) or _text(given[0]) == "os.environ") and verb in ("dict", "patch"):
        yield from _pairs(ast.Call(call.func, call.args[1:], call.keywords))
    elif verb in ("setattr", "object", "patch") and len(given) > 1:
        module, _, name = _text(given[0]).rpartition(".")
        if name in _ATTRIBUTES and _ATTRIBUTES[name] == f"{module}.{name}":
            yield _ATTRIBUTES[name], given[1]
        elif len(given) > 2 and (named := _attribute(given[0], _text(given[1]))):
            yield named, given[2]
        elif f"{module}.{name}" == "os.environ" or _text(given[1]) == "environ":
            yield "", given[-1]


def _pairs(call: ast.Call) -> Iterator[_Pair]:
    """What `update` and `patch.dict` are given."""
    for each in call.args:
        if isinstance(each, ast.Dict):
            yield from (_pair(key, value) if key is not None else ("", value)
                        for key, value in zip(each.keys, each.values, strict=True))  # fmt: skip
        elif not isinstance(each, ast.Constant):
            yield "", each
    for keyword in call.keywords:
        if keyword.arg == "values" or keyword.arg is None:
            yield from _pairs(ast.Call(call.func, [keyword.value], []))
        elif keyword.arg == "clear":
            yield "", None
        else:
            yield keyword.arg, keyword.value


def _pair(key: ast.expr, value: ast.expr | None) -> _Pair:
    """A name that is no text depends on what it is made of."""
    if name := _text(key):
        return name, value
    return "", ast.Tuple([key, value or ast.Constant(None)], ast.Load())


def _attribute(owner: ast.expr, name: str) -> str:
    found = _ATTRIBUTES.get(name, "")
    return found if found and word_of(owner) == found.partition(".")[0] else ""


def _is_environ(node: ast.AST) -> bool:
    return word_of(node) == "environ"


def _may_put(node: ast.AST) -> bool:
    if isinstance(node, ast.Call) and any(True for each in given_to(node) for _ in _handed(each)):
        return True
    return any(True for _ in _put_by(node))


def _handed(node: ast.expr) -> Iterator[str]:
    """What somebody may change who is given the environment itself, or a module with what conditions ask for."""
    if _is_environ(node) or (isinstance(node, ast.Name) and node.id == "os"):
        yield ""
    if isinstance(node, ast.Name):
        yield from (name for name in _ATTRIBUTES.values() if name.partition(".")[0] == node.id)


def _text(node: ast.AST) -> str:
    """A text that is written so; empty for any other expression."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _constant(value: ast.expr) -> list[Value]:
    """The constant that is written there, if it is one that can be told to the runner."""
    try:
        found = ast.literal_eval(value)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return []
    if isinstance(found, tuple) and all(type(each) in (int, str) for each in found):
        return [list(found)]
    return [found] if type(found) in (int, str) else []
