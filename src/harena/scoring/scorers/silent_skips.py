"""Skips that depend on a look at the candidate that nobody hears, as the text of a suite tells.

Where no gold solution says what may be skipped, a stand-in answers each question of the suite in both ways
(`suite_without_candidate`). No object hears what the interpreter decides without asking it: identity, the exact type,
whether it is callable, a pattern of `match` that asks for a kind, membership in what is looked up by hash. A skip under
such a condition is skipped, or run, in every such run, whatever the candidate has.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator

from harena.scoring.scorers.suite_syntax import BLOCKS, DEFINITIONS, FUNCTIONS, roots, word_of

_SKIPS = frozenset({"skip", "skipTest", "SkipTest", "xfail", "importorskip", "exit"})
_MARKS = frozenset({"skipif", "skipIf", "skipUnless", "xfail"})
_KINDS = frozenset({"type", "id", "callable"})
"""functions that ask the interpreter, and not the object"""
_LISTED = (ast.List, ast.Tuple, ast.Constant)
"""what compares its items with `==`"""
_HEARD_PATTERNS = (ast.MatchValue, ast.MatchOr, ast.MatchAs)
Judged = Callable[[ast.AST], bool]


def unheard_skip(tree: ast.Module, is_theirs: Judged, is_presence: Judged) -> int:
    """The line of a skip that depends on such a look; 0 if there is none. `is_theirs`: something comes from the
    candidate. `is_presence`: of what comes from it, an expression tells only whether it is there."""
    return _Text(tree, is_theirs, is_presence).line()


class _Text:
    def __init__(self, tree: ast.Module, is_theirs: Judged, is_presence: Judged) -> None:
        self._nodes = list(ast.walk(tree))
        self._comes_from_them, self._is_presence = is_theirs, is_presence
        self._arguments: set[str] = set()
        self._unheard: set[str] = set()
        """names of values and functions that are made by such a look"""
        before = -1
        while before != len(self._arguments) + len(self._unheard):
            before = len(self._arguments) + len(self._unheard)
            self._follow()

    def line(self) -> int:
        for node in self._nodes:
            if isinstance(node, BLOCKS) and self._skips(ast.iter_child_nodes(node)) and self._is_unheard_block(node):
                return node.lineno
            if isinstance(node, ast.Call) and self._is_conditional(node) and self._is_unheard(node):
                return node.lineno
        return 0

    def _is_conditional(self, call: ast.Call) -> bool:
        """A mark with a condition, or a function of the suite's own that skips and is given one."""
        return word_of(call.func) in _MARKS

    def _skips(self, parts: Iterable[ast.AST]) -> bool:
        return any(word_of(each) in _SKIPS for part in parts for each in ast.walk(part))

    def _is_unheard_block(self, node: ast.stmt) -> bool:
        if isinstance(node, ast.If | ast.While):
            return self._is_unheard(node.test)
        if isinstance(node, ast.Match):
            patterns = [each for case in node.cases for each in ast.walk(case.pattern) if isinstance(each, ast.pattern)]
            is_asked = not all(isinstance(each, _HEARD_PATTERNS) for each in patterns)
            guards = [case.guard for case in node.cases if case.guard is not None]
            return (is_asked and self._is_theirs(node.subject)) or any(map(self._is_unheard, [node.subject, *guards]))
        if isinstance(node, ast.Try):  # an assertion, whose failure skips
            asserted = [each.test for part in node.body for each in ast.walk(part) if isinstance(each, ast.Assert)]
            return any(map(self._is_unheard, asserted))
        return False

    def _follow(self) -> None:
        functions = {node.name: node for node in self._nodes if isinstance(node, FUNCTIONS)}
        for node in self._nodes:
            if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.NamedExpr) and node.value is not None:
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                names = {name for target in targets for name in roots(target)}
                if self._is_unheard(node.value):
                    self._unheard |= names
                elif isinstance(node.value, ast.Name | ast.Attribute) and self._is_theirs(node.value):
                    self._arguments |= names  # also in the body of a function
            elif isinstance(node, ast.Call) and (called := functions.get(word_of(node.func))) is not None:
                given = [*node.args, *(each.value for each in node.keywords)]
                if any(map(self._is_theirs, given)):
                    self._arguments.update(each.arg for each in ast.walk(called.args) if isinstance(each, ast.arg))
            elif isinstance(node, BLOCKS) and self._is_unheard_block(node):
                changed = (each for part in ast.iter_child_nodes(node) for each in ast.walk(part))
                self._unheard.update(
                    each.id for each in changed if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
                )
            elif isinstance(node, FUNCTIONS) and node.name not in self._unheard:
                returned = [each for each in ast.walk(node) if isinstance(each, ast.Return) and each.value is not None]
                if any(self._is_unheard(each.value) for each in returned if each.value is not None):
                    self._unheard.add(node.name)

    def _is_theirs(self, node: ast.AST) -> bool:
        return self._comes_from_them(node) or any(word_of(each) in self._arguments for each in ast.walk(node))

    def _is_unheard(self, node: ast.AST) -> bool:
        return any(map(self._is_look, _parts(node)))

    def _is_look(self, node: ast.AST) -> bool:
        if isinstance(node, ast.Name):
            return isinstance(node.ctx, ast.Load) and node.id in self._unheard
        if isinstance(node, ast.Call):
            return word_of(node.func) in _KINDS and any(map(self._is_told, node.args))
        if not isinstance(node, ast.Compare):
            return False
        sides = [node.left, *node.comparators]
        for left, sign, right in zip(sides, node.ops, node.comparators, strict=False):
            if isinstance(sign, ast.Is | ast.IsNot):
                is_none = any(isinstance(each, ast.Constant) and each.value is None for each in (left, right))
                if any(self._is_told(each) if is_none else self._is_theirs(each) for each in (left, right)):
                    return True
            if isinstance(sign, ast.In | ast.NotIn) and self._is_told(left) and not isinstance(right, _LISTED):
                return True
        return False

    def _is_told(self, node: ast.AST) -> bool:
        """It comes from the candidate, and is more than whether something is there."""
        return self._is_theirs(node) and not self._is_presence(node)


def _parts(node: ast.AST) -> Iterator[ast.AST]:
    """The expression's nodes, without the bodies of definitions."""
    yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, DEFINITIONS):
            yield from _parts(child)
