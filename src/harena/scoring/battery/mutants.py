"""Mutants of a right answer: each has one small mistake, and a contract that is worth its name notices most of them.

Python is changed in its tree: a comparison, an operator, a constant, the end of a range, a condition, what is returned,
a call that is left out or is another. The kinds of mistakes get equal shares of the mutants. Of anything else (a
script, a text) a line or a number is changed. Some mutants are right after all (the mistake is in a branch that nothing
reaches); so a survivor says "look here", and no survivor of many says that the contract looks.
"""

from __future__ import annotations

import ast
import copy
import random
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice, zip_longest

from harena.scoring.battery.forgery import JUDGED, TEXTS, contract_type, parsed_tree
from harena.scoring.battery.mutated_calls import calls_left_out, other_function
from harena.scoring.scenario import Candidate, Scenario

MOST_MUTANTS = 12
"""largest number of mutants of one right answer"""
MOST_TRIED = 3 * MOST_MUTANTS
"""places that are changed, to find so many that differ"""
MOST_SOURCE = 200_000
"""characters of a program that is read"""

_COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
_COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.BitXor: ast.BitOr, ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Mutant:
    """A right answer with one mistake."""

    name: str
    """the line and the mistake"""
    candidate: Candidate


Change = Callable[[ast.AST], str | None]
"""gives a node other parts (it changes none of the parts) and says how; None where there is nothing of its kind"""
Mistake = Callable[[], AbstractContextManager[str]]
"""puts a mistake into a tree for a while, and says where and what it is"""


def _comparison(node: ast.AST) -> str | None:
    if not isinstance(node, ast.Compare) or type(node.ops[0]) not in _COMPARED:
        return None
    had = type(node.ops[0])
    node.ops = [_COMPARED[had](), *node.ops[1:]]
    return f"{had.__name__} becomes {type(node.ops[0]).__name__}"


def _operator(node: ast.AST) -> str | None:
    if not isinstance(node, ast.BinOp | ast.AugAssign) or type(node.op) not in _COMPUTED:
        return None
    had, node.op = type(node.op), _COMPUTED[type(node.op)]()
    return f"{had.__name__} becomes {type(node.op).__name__}"


def _logic(node: ast.AST) -> str | None:
    if isinstance(node, ast.BoolOp):
        node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        return f"a condition is joined by {type(node.op).__name__}"
    if isinstance(node, ast.If | ast.While | ast.IfExp):
        node.test = ast.UnaryOp(ast.Not(), node.test)
        return "a condition is turned around"
    if isinstance(node, ast.comprehension) and node.ifs:
        node.ifs = node.ifs[1:]
        return "a condition of a comprehension is left out"
    return None


def _constant(node: ast.AST) -> str | None:
    if not isinstance(node, ast.Constant):
        return None
    if isinstance(node.value, bool):
        node.value = not node.value
    elif isinstance(node.value, int | float):
        node.value += 1
    elif isinstance(node.value, str) and node.value:
        node.value += "x"
    else:
        return None
    return f"a constant becomes {node.value!r}"[:60]


def _boundary(node: ast.AST) -> str | None:
    """The end of a range, a slice or an index is one further."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range" and node.args:
        at = min(1, len(node.args) - 1)
        earlier = ast.BinOp(node.args[at], ast.Sub(), ast.Constant(1))
        node.args = [*node.args[:at], earlier, *node.args[at + 1 :]]
        return "a range ends one earlier"
    if isinstance(node, ast.Slice) and (node.upper or node.lower):
        if node.upper is not None:
            node.upper = ast.BinOp(node.upper, ast.Sub(), ast.Constant(1))
        elif node.lower is not None:
            node.lower = ast.BinOp(node.lower, ast.Add(), ast.Constant(1))
        return "a slice is one shorter"
    return None


def _returned(node: ast.AST) -> str | None:
    if not isinstance(node, ast.Return) or node.value is None:
        return None
    node.value = ast.Constant(None)
    return "nothing is returned"


CHANGES: tuple[Change, ...] = (_comparison, _operator, _logic, _constant, _boundary, _returned, other_function)
"""what is changed in place; calls are left out besides"""


def mutants(gold: Scenario, *, most: int = MOST_MUTANTS) -> list[Mutant]:
    """Up to `most` mutants of a right answer, the same ones each time; [] where nothing can be changed."""
    source, entry = gold.candidate.source, gold.candidate.entry
    kind = contract_type(gold.scoring)
    if len(source) > MOST_SOURCE:
        return []
    dice = random.Random(source.encode("utf-8", "replace"))  # noqa: S311 (a draw that is to be repeated)
    changed = _changed_text(source, dice) if kind in TEXTS | JUDGED | {"harbor"} else _changed_program(source, dice)
    made: dict[str, str] = {}
    for name, text in changed:
        if text != source:
            made.setdefault(text, name)
        if len(made) == most:
            break
    chosen = sorted(made.items(), key=lambda pair: pair[1])
    return [Mutant(name, Candidate(files={**gold.candidate.files, entry: text}, entry=entry)) for text, name in chosen]


def _changed_program(source: str, dice: random.Random) -> Iterator[tuple[str, str]]:
    """(what is changed, the program) for each place and change: a change of each kind in turn, in an order that is
    drawn."""
    tree = parsed_tree(source)
    if tree is None:
        return
    nodes = list(ast.walk(tree))
    passive = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}  # docstrings
    kinds: list[list[Mistake]] = [
        [
            partial(_changed, node, change)
            for node in nodes
            if id(node) not in passive and change(copy.copy(node)) is not None
        ]
        for change in CHANGES
    ]
    kinds.append([partial(_put, parent, call, instead, said) for call, parent, instead, said in calls_left_out(nodes)])
    for mistakes in kinds:
        dice.shuffle(mistakes)
    dice.shuffle(kinds)
    in_turn = (mistake for mistake in chain.from_iterable(zip_longest(*kinds)) if mistake is not None)
    for mistake in islice(in_turn, MOST_TRIED):
        try:
            with mistake() as said:
                text = ast.unparse(tree) + "\n"
            compile(text, "mutant.py", "exec")
        except (RecursionError, MemoryError, SyntaxError, ValueError, OverflowError):
            continue
        yield said, text


@contextmanager
def _changed(node: ast.AST, change: Change) -> Iterator[str]:
    """The tree with this change in it, and how that is said; afterwards it is as it was."""
    parts = dict(ast.iter_fields(node))
    try:
        yield f"line {_line(node)}: {change(node)}"
    finally:
        for name, part in parts.items():
            setattr(node, name, part)


@contextmanager
def _put(parent: ast.AST, node: ast.AST, instead: ast.AST, said: str) -> Iterator[str]:
    """The tree with another node in this one's place; afterwards it is as it was."""
    parts = dict(ast.iter_fields(parent))
    try:
        for name, part in parts.items():
            if part is node:
                setattr(parent, name, instead)
            elif isinstance(part, list) and any(one is node for one in part):
                setattr(parent, name, [instead if one is node else one for one in part])
        yield f"line {_line(node)}: {said}"
    finally:
        for name, part in parts.items():
            setattr(parent, name, part)


def _line(node: ast.AST) -> int:
    line: int = getattr(node.target if isinstance(node, ast.comprehension) else node, "lineno", 1)
    return line


def _changed_text(text: str, dice: random.Random) -> Iterator[tuple[str, str]]:
    """(what is changed, the text): numbers that are one more, lines that are left out, the rest that is cut off."""
    made: list[tuple[str, str]] = []
    for found in re.finditer(r"[0-9]{1,18}", text):
        number = str(int(found[0]) + 1).zfill(len(found[0]))
        changed = text[: found.start()] + number + text[found.end() :]
        made.append((f"at {found.start()}: {found[0]} becomes {number}", changed))
    lines = text.splitlines(keepends=True)
    for index, line in enumerate(lines if len(lines) > 1 else []):
        if line.strip() and not line.startswith("#"):
            made.append((f"line {index + 1} is left out", "".join(lines[:index] + lines[index + 1 :])))
    if len(lines) == 1 and len(text.strip()) > 1:
        made.append(("its last half is left out", text[: len(text) // 2]))
        made.append(("its letters are turned around", text.strip()[::-1]))
    dice.shuffle(made)
    yield from made
