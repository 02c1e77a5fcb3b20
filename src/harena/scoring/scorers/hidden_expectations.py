"""Trusted tests without the values that they expect.

A statement that compares an answer with a literal (`assert f(4) == 8`, `self.assertEqual(f(4), 8)`, `assert f(4)`) is
replaced by one that tells the answer to the host (`guest_told`). It is done wherever the text says so:
copies of a value in other assertions are gone, too, and comments, docstrings, messages and names of tests, which may
repeat it. What the tests compare in other ways stays as it is.
"""

from __future__ import annotations

import ast
import copy
import string
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from itertools import islice, product
from pathlib import Path
from typing import Any

from harena.scoring.contracts.contract import CommandContract
from harena.scoring.guest import told as guest_told

MOST_CHOICES = 256
"""number of values that an expected one is hidden among, where a text must have them"""
_MOST_SOURCE = 100_000
_MOST_WRITTEN = 400
_TELLS = "__harena_told__"
_EQUAL = frozenset(
    f"assert{kind}" for kind in ("Equal", "Equals", "ListEqual", "TupleEqual", "SetEqual", "DictEqual",
                                 "MultiLineEqual", "Is")
)  # fmt: skip
_TRUTH = {"assertTrue": True, "assertFalse": False}
_UNCERTAIN = (ast.If, ast.IfExp, ast.While, ast.AsyncFor, ast.Match, ast.Lambda, ast.comprehension)
_STOPS = (ast.Return, ast.Yield, ast.YieldFrom)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_KINDS = (string.digits, string.ascii_lowercase, string.ascii_uppercase)
_NO_VALUE = object()


@dataclass(frozen=True, slots=True)
class Place:
    """One comparison with an expected value."""

    value: Any
    told: str
    """what is told of a right answer"""
    is_judged: bool
    """False: the tests may take back that it failed (`try`)"""
    is_certain: bool
    """whoever passes has come here"""


@dataclass(frozen=True, slots=True)
class HiddenTests:
    """A contract whose tests do not hold what they expect."""

    contract: CommandContract
    places: Mapping[int, Place]


def hidden_tests(
    contract: CommandContract, shown: Collection[int] = (), with_choices: Collection[int] = ()
) -> HiddenTests:
    """The contract without its expected values. `shown`: places whose statement stays; `with_choices`: places that
    have the value among others. Places are numbered in the same way each time."""
    texts = {"": contract.asserts} if contract.asserts is not None else _python_files(contract)
    trees = {path: tree for path, text in texts.items() if (tree := _tree(text)) is not None}
    if contract.asserts is None and not any("::" in word or word.startswith("-k") for word in contract.suite):
        _rename_tests(list(trees.values()))
    places: dict[int, Place] = {}
    written = {}
    for path, tree in trees.items():
        _drop_messages(tree)
        _put_names_values(tree)
        hider = _Hider(tree, places, shown, with_choices, is_suite=bool(path))
        tree.body = [part for statement in tree.body for part in _as_list(hider.visit(statement))]
        written[path] = _unparsed(tree)
    update = {"asserts": written.get("", "")} if "" in texts else {"files": {**contract.files, **written}}
    made = contract.model_copy(update=update)
    vars(made).pop("fingerprint", None)  # a copy has what was computed of the contract, too
    return HiddenTests(made, places)


def siblings(value: Any) -> list[Any]:
    """Values that this one is hidden among, itself included: each of them has the same siblings in the same order, so
    that they do not tell which it is. [] where there are none."""
    try:
        found = list({guest_told.digest(each): each for each in islice(_siblings(value), MOST_CHOICES * 4)}.values())
    except (TypeError, ValueError, OverflowError, ArithmeticError):
        return []
    return found if len(found) > 1 and len(repr(value)) <= _MOST_WRITTEN else []


def _siblings(value: Any) -> Iterator[Any]:
    leaves = list(_leaves(value, ()))
    for kind in (int, float, str, bool):
        places = [place for place, leaf in leaves if type(leaf) is kind and (not isinstance(leaf, str) or _signs(leaf))]
        if not places:
            continue
        if kind is bool:
            for others in product((False, True), repeat=min(len(places), 8)):
                yield _with_leaves(value, (), dict(zip(places, others, strict=False)))
            return
        leaf = next(each for place, each in leaves if place == places[0])
        for other in _others(leaf):
            yield _with_leaves(value, (), {places[0]: other})
        return


def _others(leaf: Any) -> Iterator[Any]:
    """Values of the same kind, in an order that does not depend on which of them this is."""
    if isinstance(leaf, str):
        signs = _signs(leaf)[-3:] if all(leaf[at].isdigit() for at in _signs(leaf)[-2:]) else _signs(leaf)[-2:]
        alphabets = [next(kind for kind in _KINDS if leaf[at] in kind) for at in signs]
        for others in product(*alphabets):
            text = list(leaf)
            for at, sign in zip(signs, others, strict=True):
                text[at] = sign
            yield "".join(text)
        return
    written = Decimal(repr(leaf)).as_tuple()
    exponent = int(written.exponent) if isinstance(leaf, float) else 0
    number = int(Decimal((written.sign, written.digits, 0))) if isinstance(leaf, float) else leaf
    first = number // MOST_CHOICES * MOST_CHOICES
    for other in range(first, first + MOST_CHOICES):
        yield float(f"{other}e{exponent}") if isinstance(leaf, float) else other


def _signs(text: str) -> list[int]:
    return [at for at, sign in enumerate(text) if any(sign in kind for kind in _KINDS)]


def _leaves(value: Any, place: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], Any]]:
    parts = _parts(value)
    if parts is None:
        yield place, value
    else:
        for index, part in enumerate(parts):
            yield from _leaves(part, (*place, index))


def _parts(value: Any) -> list[Any] | None:
    if isinstance(value, dict):
        return list(value.values())
    return list(value) if isinstance(value, list | tuple | set) else None


def _with_leaves(value: Any, place: tuple[int, ...], leaves: Mapping[tuple[int, ...], Any]) -> Any:
    parts = _parts(value)
    if parts is None:
        return leaves.get(place, value)
    made = [_with_leaves(part, (*place, index), leaves) for index, part in enumerate(parts)]
    return dict(zip(value, made, strict=True)) if isinstance(value, dict) else type(value)(made)


def _python_files(contract: CommandContract) -> dict[str, str]:
    return {path: text for path, text in contract.files.items() if path.endswith(".py")}


def _tree(text: str) -> ast.Module | None:
    if len(text) > _MOST_SOURCE:
        return None
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _unparsed(tree: ast.Module) -> str:
    source = Path(guest_told.__file__).read_text(encoding="utf-8")
    start = ast.parse(f"{_TELLS} = {{'__name__': {_TELLS!r}}}\nexec({source!r}, {_TELLS})").body
    is_future = [isinstance(node, ast.ImportFrom) and node.module == "__future__" for node in tree.body]
    after = max((index + 1 for index, each in enumerate(is_future) if each), default=0)
    tree.body[after:after] = start
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def _as_list(made: Any) -> list[ast.stmt]:
    return made if isinstance(made, list) else [made]


def _rename_tests(trees: list[ast.Module]) -> None:
    """Give tests names that say nothing, in the same order; none where one of them is used by its name."""
    nodes = [node for tree in trees for node in ast.walk(tree)]
    tests = [node for node in nodes if isinstance(node, _FUNCTIONS) and node.name.startswith("test")]
    names = sorted({node.name for node in tests})
    used = {node.id for node in nodes if isinstance(node, ast.Name)}
    used |= {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    used |= {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    if not used.isdisjoint(names):
        return
    for node in tests:
        node.name = f"test_{names.index(node.name):05}"


def _drop_messages(tree: ast.Module) -> None:
    """They may say what is expected."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert):
            node.msg = None
        elif isinstance(node, ast.Call) and _method(node).startswith("assert"):
            node.keywords = [each for each in node.keywords if each.arg != "msg"]
            counted = 2 if _method(node) in _EQUAL else 1 if _method(node) in _TRUTH else len(node.args)
            del node.args[counted:]


def _put_names_values(tree: ast.Module) -> None:
    """Where a name is bound once, to a literal, and only compared with: let the comparison have the literal."""
    nodes = list(ast.walk(tree))
    stores = Counter(node.id for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load))
    stores.update(node.arg for node in nodes if isinstance(node, ast.arg))
    stores.update(name for node in nodes if isinstance(node, ast.Global | ast.Nonlocal) for name in node.names)
    loads = Counter(node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load))
    bound = {
        node.targets[0].id: node
        for node in nodes
        if isinstance(node, ast.Assign)
        and len(node.targets) == 1
        and isinstance(node.targets[0], ast.Name)
        and stores[node.targets[0].id] == 1
        and _value(node.value) is not _NO_VALUE
    }
    compared: dict[str, list[tuple[list[ast.expr], int]]] = {}
    for operands in (operands for node in nodes if (operands := _operands(node)) is not None):
        for index, each in enumerate(operands):
            if isinstance(each, ast.Name) and each.id in bound:
                compared.setdefault(each.id, []).append((operands, index))
    for name, uses in compared.items():
        if len(uses) == loads[name]:
            for operands, index in uses:
                operands[index] = copy.deepcopy(bound[name].value)
            bound[name].value = ast.Constant(None)


def _operands(node: ast.AST) -> list[ast.expr] | None:
    """The list of expressions in which a statement has the expected value."""
    if isinstance(node, ast.Assert) and isinstance(node.test, ast.Compare) and len(node.test.ops) == 1:
        return node.test.comparators if isinstance(node.test.ops[0], ast.Eq | ast.Is) else None
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and _method(node.value) in _EQUAL:
        return node.value.args if len(node.value.args) == 2 else None
    return None


def _method(call: ast.Call) -> str:
    """The name of a method of `self`."""
    function = call.func
    is_own = isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name)
    return function.attr if is_own and isinstance(function, ast.Attribute) else ""


def _value(node: ast.expr) -> Any:
    """What a literal says."""
    try:
        value = ast.literal_eval(node)
        guest_told.canonical(value)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError, OverflowError):
        return _NO_VALUE
    return value


class _Hider(ast.NodeTransformer):
    """Takes expected values out of one text."""

    def __init__(
        self,
        tree: ast.Module,
        places: dict[int, Place],
        shown: Collection[int],
        with_choices: Collection[int],
        *,
        is_suite: bool,
    ) -> None:
        self._places, self._shown, self._with_choices, self._is_suite = places, shown, with_choices, is_suite
        self._called = {
            node.value.func.id
            for node in tree.body
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Name)
        }
        self._depth = 0
        """number of functions around"""
        self._is_certain = not is_suite
        self._is_judged = True

    def visit(self, node: ast.AST) -> Any:
        """See NodeTransformer."""
        certain, judged, depth = self._is_certain, self._is_judged, self._depth
        if isinstance(node, _FUNCTIONS):
            self._is_certain = self._is_run_to_its_end(node)
            self._depth += 1
        elif isinstance(node, _UNCERTAIN) or (isinstance(node, ast.For) and not _is_table(node.iter)):
            self._is_certain = False
        elif isinstance(node, ast.Try) and node.handlers:
            self._is_certain = self._is_judged = False
        try:
            return super().visit(node)
        finally:
            self._is_certain, self._is_judged, self._depth = certain, judged, depth

    def _is_run_to_its_end(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
        if self._depth or any(isinstance(part, _STOPS) for part in ast.walk(node)):
            return False
        if not self._is_suite:
            return node.name in self._called and not node.decorator_list
        return node.name.startswith("test") and all(
            ".parametrize(" in ast.unparse(each) for each in node.decorator_list
        )

    def visit_Assert(self, node: ast.Assert) -> Any:
        """`assert`."""
        test = self._hidden(node.test)
        return node if test is None else ast.Assert(test)

    def visit_Expr(self, node: ast.Expr) -> Any:
        """A call of an assertion; a docstring."""
        if isinstance(node.value, ast.Constant):
            return ast.Expr(ast.Constant(""))
        if not isinstance(node.value, ast.Call):
            return node
        call, name = node.value, _method(node.value)
        test = None
        if name in _EQUAL and len(call.args) == 2:
            test = self._compared(call.args[0], call.args[1])
        elif name in _TRUTH and len(call.args) == 1:
            test = self._hidden(call.args[0]) if _TRUTH[name] else self._truth(call.args[0], False)
        elif name == "assertIsNone" and call.args:
            test = self._compared(call.args[0], ast.Constant(None))
        return node if test is None else ast.Assert(test)

    def _hidden(self, test: ast.expr) -> ast.expr | None:
        """What tells what was compared, and is true; None where nothing is told."""
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
            parts = [self._hidden(part) for part in test.values]
            if not any(parts):
                return None
            return ast.BoolOp(ast.And(), [made or had for made, had in zip(parts, test.values, strict=True)])
        if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq | ast.Is):
            return self._compared(test.left, test.comparators[0])
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return self._truth(test.operand, False)
        return self._truth(test, True)

    def _compared(self, left: ast.expr, right: ast.expr) -> ast.expr | None:
        values = _value(left), _value(right)
        if (values[0] is _NO_VALUE) is (values[1] is _NO_VALUE):
            return None
        answer, value = (left, values[1]) if values[0] is _NO_VALUE else (right, values[0])
        choices = siblings(value)
        place = len(self._places)
        if place not in self._with_choices or not choices:
            return self._tells("told", answer, value, guest_told.digest(value))
        said = f"#{[guest_told.digest(each) for each in choices].index(guest_told.digest(value))}"
        return self._tells("told", answer, value, said, ast.parse(repr(choices), mode="eval").body)

    def _truth(self, answer: ast.expr, value: bool) -> ast.expr | None:
        if not isinstance(answer, ast.Call | ast.Await):
            return None
        return self._tells("truth", answer, value, guest_told.digest(value))

    def _tells(self, name: str, answer: ast.expr, value: Any, said: str, *more: ast.expr) -> ast.expr | None:
        place = len(self._places)
        self._places[place] = Place(value, said, self._is_judged, self._is_certain and self._is_judged)
        if place in self._shown:
            return None
        function = ast.Subscript(ast.Name(_TELLS, ast.Load()), ast.Constant(name), ast.Load())
        return ast.Call(function, [ast.Constant(place), answer, *more], [])


def _is_table(node: ast.expr) -> bool:
    """A loop over it has at least one turn, whoever the candidate is."""
    if isinstance(node, ast.List | ast.Tuple):
        return bool(node.elts)
    is_range = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range"
    return is_range and all(isinstance(each, ast.Constant) for each in getattr(node, "args", []))
