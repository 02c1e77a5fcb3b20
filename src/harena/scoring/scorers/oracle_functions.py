"""Functions of a trusted module that compute what tests expect, for candidates that import that module.

A module that is withheld from the candidate may hold an oracle: the tests compare an answer with what one of its
functions says of the same (`assert f(n) == reference(n)`, also by a variable, a table, a fixture or a function of the
tests). So a candidate is run with such a module in which these functions raise: it may use anything else of the module.
What is only given constants that are not asked (`assert f(3) == linked([1, 2])`), and what the tests apply to the
answer, too (`assert norm(f(x)) == norm(y)`), is a tool, and so is a class whose objects are expected; of a class only
the methods are emptied by which the tests compute.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from harena.scoring.python_source import nested_parts, parts_of, syntax_tree, written
from harena.scoring.scorers.suite_syntax import FUNCTIONS, given_to, settled, word_of

_MOST_PARTS = 10_000
"""size of an expression whose parts are compared with others"""
_MOST_SIDES = 4
"""number of arguments of a function that compares which are looked at"""
_COMPARES = re.compile("assert|close|equal|same|compare|check|match|verify", re.IGNORECASE)
_RAISES = "raise NotImplementedError('the tests compute by this what they expect')"


_Function = ast.FunctionDef | ast.AsyncFunctionDef


def without_oracles(trusted: Mapping[str, str], modules: Mapping[str, str]) -> dict[str, str]:
    """The `modules` (path -> text) that hold functions by which the other trusted files compute what they expect,
    without these functions."""
    found: dict[str, str] = {}
    for path, tree, oracles in _found(trusted, modules):
        for function in oracles:
            function.body = ast.parse(_RAISES).body
        if (source := written(tree)) is not None:
            found[path] = source
    return found


def lines_of_oracles(trusted: Mapping[str, str], modules: Mapping[str, str]) -> dict[str, list[int]]:
    """Where these functions begin, by path."""
    return {path: [each.lineno for each in oracles] for path, _, oracles in _found(trusted, modules)}


def _found(trusted: Mapping[str, str], modules: Mapping[str, str]) -> Iterator[tuple[str, ast.Module, list[_Function]]]:
    trees = {path: tree for path, text in modules.items() if (tree := _tree(path, text)) is not None}
    if not trees:
        return
    asking = [tree for path, text in trusted.items() if path not in modules and (tree := _tree(path, text)) is not None]
    words = _expected(asking)
    for path, tree in trees.items():
        if oracles := [*_oracles(tree, words)]:
            yield path, tree, oracles


def _tree(path: str, text: str) -> ast.Module | None:
    if not path.endswith(".py"):
        return None
    try:
        return syntax_tree(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _oracles(tree: ast.Module, words: set[str]) -> Iterator[_Function]:
    """The functions of these names, those that they only pass their question on to or that are private to the module,
    and methods of these names."""
    by_name = {node.name: node for node in tree.body if isinstance(node, FUNCTIONS)}
    aliases = {
        target.id: node.value.id
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    names = {aliases.get(word, word) for word in words}
    settled(lambda: names.update(_passed_on(by_name, names)), lambda: len(names))
    yield from (node for name, node in by_name.items() if name in names)
    for owner in tree.body:
        if isinstance(owner, ast.ClassDef):
            methods = (each for each in owner.body if isinstance(each, FUNCTIONS) and each.name[:2] != "__")
            yield from (each for each in methods if each.name in words)


def _passed_on(by_name: Mapping[str, _Function], names: set[str]) -> set[str]:
    found: set[str] = set()
    for name in names & by_name.keys():
        last = by_name[name].body[-1]
        is_all = all(
            isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant) for each in by_name[name].body[:-1]
        )
        if is_all and isinstance(last, ast.Return) and isinstance(last.value, ast.Call):
            found.add(word_of(last.value.func))
        found.update(word for each in ast.walk(by_name[name]) if (word := word_of(each))[:1] == "_" and word in by_name)
    return found


def _expected(trees: Iterable[ast.Module]) -> set[str]:
    """The words by which these texts say what an answer is compared with."""
    words: set[str] = set()
    meanings: dict[str, list[ast.expr]] = {}
    for tree in trees:
        for node in parts_of(tree):
            for call, value in _compared(node):
                tools = {word_of(each) for each in ast.walk(call)}
                words.update(word for word in _words(value, _written_in(call)) if word not in tools)
            for name, value in _bound(node):
                meanings.setdefault(name, []).append(value)
    known: set[str] = set()

    def follow() -> None:
        for word in words - known:
            known.add(word)
            for value in meanings.get(word, ()):
                words.update(_words(value, (part for part, times in _written_in(value).items() if times > 1)))

    settled(follow, lambda: len(words) + len(known))
    return words


def _written_in(node: ast.AST) -> Counter[str]:
    """How often each part stands in it; of what is very large, nothing."""
    return Counter(map(ast.dump, ast.walk(node))) if nested_parts(node) <= _MOST_PARTS else Counter()


def _words(value: ast.expr, asked: Iterable[str]) -> Iterator[str]:
    """All names in it but those of what is called with constants alone that nobody is asked about."""
    known = frozenset(asked) if nested_parts(value) <= _MOST_PARTS else frozenset()
    waiting: list[ast.AST] = [value]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Call) and _has_constants_alone(node, known):
            waiting += [*given_to(node), *ast.iter_child_nodes(node.func)]
            continue
        if isinstance(node, ast.Name | ast.Attribute):
            yield word_of(node)
        waiting += ast.iter_child_nodes(node)


def _has_constants_alone(call: ast.Call, asked: frozenset[str]) -> bool:
    """It is given something, and nothing of it is a variable or what is asked."""
    given = given_to(call)
    parts = (part for each in given for part in ast.walk(each))
    if not given or any(isinstance(part, ast.Name | ast.Call | ast.Starred) for part in parts):
        return False
    return not (asked and any(ast.dump(each) in asked for each in given))


def _compared(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """(a call, what its answer is compared with)."""
    sides: list[ast.expr] = []
    if isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
    elif isinstance(node, ast.Call) and _COMPARES.search(word_of(node.func)):
        sides = given_to(node)
    for one in sides[:_MOST_SIDES]:
        if any(isinstance(each, ast.Call) for each in ast.walk(one)):
            yield from ((one, other) for other in sides[:_MOST_SIDES] if other is not one)


def _bound(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Names, and what they stand for: values, what a loop goes through, what a function gives."""
    value: ast.expr | None = None
    targets: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        targets, value = node.targets, node.value
    elif isinstance(node, ast.AnnAssign | ast.NamedExpr):
        targets, value = [node.target], node.value
    elif isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
        targets, value = [node.target], node.iter
    elif isinstance(node, ast.withitem) and node.optional_vars is not None:
        targets, value = [node.optional_vars], node.context_expr
    elif isinstance(node, ast.Call) and word_of(node.func) == "parametrize" and len(node.args) > 1:
        yield from ((name, node.args[1]) for name in _parameters(node.args[0]))
    elif isinstance(node, FUNCTIONS):
        given = (each.value for each in ast.walk(node) if isinstance(each, ast.Return | ast.Yield | ast.YieldFrom))
        yield from ((node.name, each) for each in given if each is not None)
    if value is not None:
        for target in targets:
            yield from (
                (word_of(each), value) for each in ast.walk(target) if isinstance(each, ast.Name | ast.Attribute)
            )


def _parameters(node: ast.expr) -> list[str]:
    texts = [str(each.value) for each in ast.walk(node) if isinstance(each, ast.Constant)]
    return [name.strip() for text in texts for name in text.split(",")]
