"""Trusted tests without the values that they expect.

A statement that compares an answer with a literal (`assert f(4) == 8`, `self.assertEqual(f(4), 8)`, `assert f(4)`) is
replaced by one that tells the answer to the host (`guest_reported_comparisons`). It is done wherever the text says so:
copies of a value in other assertions are gone, too, and comments, docstrings, messages and names of tests, which may
repeat it. What the tests compare in other ways stays as it is.
"""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from harena.scoring.contracts.contract import CommandContract
from harena.scoring.guest import reported_comparisons
from harena.scoring.guest_sources import source_of
from harena.scoring.scorers.hidden_assertions import EQUAL, TRUTH, WITH_MESSAGE, Assertions, assertions_of
from harena.scoring.scorers.hidden_siblings import siblings
from harena.scoring.scorers.hidden_tables import Slot, Tables, tables
from harena.scoring.scorers.tests_own_text import Looks, looks_of

_MOST_SOURCE = 100_000
_TELLS = "__harena_told__"
_UNCERTAIN = (ast.If, ast.IfExp, ast.While, ast.AsyncFor, ast.Match, ast.Lambda, ast.comprehension)
_MAY_NOT_BE_RUN = (ast.If, ast.Try, ast.While, ast.For, ast.AsyncFor, ast.Match)
"""statements that may not define what they hold"""
_JUDGING = frozenset(("fail", "raises", "warns", "exit", "_exit", "skip", "skipTest", "xfail"))
_NOT_RUN = (".skip", ".skipif", ".xfail")
_STOPS = (ast.Return, ast.Yield, ast.YieldFrom)
_LEAVES = (ast.Raise, ast.Break, ast.Continue)
_ENDS = frozenset(("fail", "exit", "_exit", "quit", "skip", "skipTest", "SkipTest", "xfail", "importorskip"))
"""functions that may end a test before it has come to its end, and forgive it"""
_FORGIVES_NOTHING = frozenset({
    "subTest", "patch", "object", "dict", "multiple", "open", "StringIO", "catch_warnings", "TemporaryDirectory",
    "NamedTemporaryFile", "redirect_stdout", "redirect_stderr",
})  # fmt: skip
"""managers whose block is run to its end, and whose errors are not swallowed"""
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_IMPORTS = (ast.Import, ast.ImportFrom)
_NO_VALUE = object()


@dataclass(frozen=True, slots=True)
class Comparison:
    """One comparison with an expected value."""

    value: Any
    told: str
    """what is told of a right answer"""
    is_judged: bool
    """False: the tests may take back that it failed (`try`)"""
    is_certain: bool
    """whoever passes has come here"""
    is_sure: bool = False
    """certain, and nothing on the way may skip the test or forgive a failure: it is known without a gold solution"""
    test: str = ""
    """the test of a suite in which it is (`test_it.py::Test::test_it`)"""


@dataclass(frozen=True, slots=True)
class HiddenTests:
    """A contract whose tests do not hold what they expect."""

    contract: CommandContract
    places: Mapping[int, Comparison]
    is_whole: bool
    """no judgement is left whose expectation can be read, and whoever passes comes to each that is hidden"""


def hidden_tests(
    contract: CommandContract, shown: Collection[int] = (), with_choices: Collection[int] = ()
) -> HiddenTests:
    """The contract without its expected values; nothing is taken out of texts that are nested too deeply to be written
    again. `shown`: places whose statement stays; `with_choices`: places that have the value among others. Places are
    numbered in the same way each time."""
    try:
        return _hidden_tests(contract, shown, with_choices)
    except (RecursionError, ValueError):
        return HiddenTests(contract, {}, is_whole=False)


def _hidden_tests(contract: CommandContract, shown: Collection[int], with_choices: Collection[int]) -> HiddenTests:
    texts = {"": contract.asserts} if contract.asserts is not None else _python_files(contract)
    trees = {path: tree for path, text in texts.items() if (tree := _tree(text)) is not None}
    kept = {path: ast.dump(trees[path]) for path in _not_imported(contract, trees)}
    places: dict[int, Comparison] = {}
    is_whole = len(trees) == len(texts) and not any(word.startswith("--doctest") for word in contract.suite)
    looks = looks_of(trees.values(), texts.values())
    assertions = assertions_of(trees.values(), _trusted_modules(contract))
    for tree in trees.values():
        _drop_messages(tree, assertions)
        _put_names_values(tree, looks, assertions)
    found = tables(trees, lambda node: _pairs(node, assertions), lambda node: _value(node) is not _NO_VALUE)
    numbers = {slot: number for number, slot in enumerate(found.slots)}
    places.update({number: _place_of(slot, number in with_choices) for slot, number in numbers.items()})
    told_of = found.without({slot for slot, number in numbers.items() if number in shown})
    own = _defined(trees.values())
    for path, tree in trees.items():
        hider = _Hider(
            tree,
            places,
            shown,
            with_choices,
            path=path,
            told_of=told_of,
            numbers=numbers,
            own=own,
            assertions=assertions,
            looks=looks,
        )
        tree.body = [part for statement in tree.body for part in _as_list(hider.visit(statement))]
        hider.end()
        is_whole = is_whole and not _judges(tree)
    for slot in {slot for slots in told_of.operands.values() for slot in slots}:
        slot.put(_cell(numbers[slot], places[numbers[slot]]))
    if contract.asserts is None and not any("::" in word or word.startswith("-k") for word in contract.suite):
        _rename_tests(list(trees.values()), looks)
    written = {
        path: texts[path] if kept.get(path) == ast.dump(tree) else _unparsed(tree) for path, tree in trees.items()
    }
    update = {"asserts": written.get("", "")} if "" in texts else {"files": {**contract.files, **written}}
    made = contract.model_copy(update=update)
    vars(made).pop("fingerprint", None)  # a copy has what was computed of the contract, too
    return HiddenTests(made, places, is_whole and all(place.is_certain for place in places.values()))


def _python_files(contract: CommandContract) -> dict[str, str]:
    return {path: text for path, text in contract.files.items() if path.endswith(".py")}


def _not_imported(contract: CommandContract, trees: Mapping[str, ast.Module]) -> list[str]:
    """Files of Python that are neither tests nor imported by name: tests give them to a candidate that reads programs,
    which shall find them as they are."""
    parts: set[str] = set()
    for node in (node for tree in trees.values() for node in ast.walk(tree)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            named = [alias.name for alias in node.names] + [getattr(node, "module", None) or ""]
            parts.update(part for name in named for part in name.split("."))
    tests = {*contract.test_files.values()}
    return [
        path for path in trees if path and path not in tests and PurePosixPath(path).stem not in {*parts, "conftest"}
    ]


def _trusted_modules(contract: CommandContract) -> frozenset[str]:
    """Names of modules that are not the candidate's."""
    paths = (path.partition("/")[0].removesuffix(".py") for path in contract.files)
    return frozenset((*paths, *(name.partition(".")[0] for name in contract.requires)))


def _defined(trees: Collection[ast.Module]) -> frozenset[str]:
    """Names of the functions and classes that the tests define themselves."""
    return frozenset(
        node.name for tree in trees for node in ast.walk(tree) if isinstance(node, (*_FUNCTIONS, ast.ClassDef))
    )


def _tree(text: str) -> ast.Module | None:
    if len(text) > _MOST_SOURCE:
        return None
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _unparsed(tree: ast.Module) -> str:
    source = source_of(reported_comparisons)
    start = ast.parse(f"{_TELLS} = {{'__name__': {_TELLS!r}}}\nexec({source!r}, {_TELLS})").body
    is_future = [isinstance(node, ast.ImportFrom) and node.module == "__future__" for node in tree.body]
    has_documentation = ast.get_docstring(tree, clean=False) is not None
    after = max((index + 1 for index, each in enumerate(is_future) if each), default=int(has_documentation))
    tree.body[after:after] = start
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def _judges(tree: ast.Module) -> bool:
    """Whether a text without its expected values may still judge an answer."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert):
            parts = node.test.values if isinstance(node.test, ast.BoolOp) else [node.test]
            if not all(_is_told(part) and not _says_more(part.args[1]) for part in parts):  # type: ignore[attr-defined]
                return True
        elif isinstance(node, ast.If):
            if "__name__" not in ast.unparse(node.test):
                return True
        elif isinstance(node, ast.Raise | ast.IfExp | ast.While | ast.Match | ast.Try):
            return True
        elif isinstance(node, ast.Call):
            name = ast.unparse(node.func).rpartition(".")[2]
            if name.startswith("assert") or name in _JUDGING:
                return True
    return False


def _is_told(node: ast.expr) -> bool:
    function = node.func if isinstance(node, ast.Call) else None
    return isinstance(function, ast.Subscript) and isinstance(function.value, ast.Name) and function.value.id == _TELLS


def _says_more(answer: ast.expr) -> bool:
    """An answer that is told is computed from more than a candidate's: `isclose(f(2), 1.4142)` says what is right."""
    if isinstance(answer, ast.Compare) and isinstance(answer.ops[0], ast.In):
        return _says_more(answer.comparators[0])
    return any(
        isinstance(node, (ast.Compare, ast.BoolOp, ast.BinOp, ast.IfExp, ast.Lambda, ast.comprehension))
        or (isinstance(node, ast.Call) and _joins(node))
        for node in ast.walk(answer)
    )


def _joins(call: ast.Call) -> bool:
    """It is given an answer, and something else."""
    given = [*call.args, *(each.value for each in call.keywords)]
    if isinstance(call.func, ast.Attribute):
        given.append(call.func.value)
    has_answer = any(isinstance(node, ast.Call) for each in given for node in ast.walk(each))
    others = [each for each in given if not isinstance(each, ast.Name)]
    return has_answer and len(others) > 1


def _as_list(made: Any) -> list[ast.stmt]:
    return made if isinstance(made, list) else [made]


def _rename_tests(trees: list[ast.Module], looks: Looks) -> None:
    """Give tests names that say nothing, in the same order; none where one of them is used by its name, or the tests
    look at their names."""
    nodes = [node for tree in trees for node in ast.walk(tree)]
    tests = [node for node in nodes if isinstance(node, _FUNCTIONS) and node.name.startswith("test")]
    names = sorted({node.name for node in tests})
    used = {node.id for node in nodes if isinstance(node, ast.Name)}
    used |= {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    used |= {node.arg for node in nodes if isinstance(node, ast.arg)}  # of a fixture
    if looks.at_names or not used.isdisjoint(names) or any(name in looks.said for name in names):
        return
    for node in tests:
        node.name = f"test_{names.index(node.name):05}"


def _drop_messages(tree: ast.Module, assertions: Assertions) -> None:
    """They may say what is expected."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert):
            node.msg = None
        elif isinstance(node, ast.Call) and (name := assertions.name(node)) == "subTest":
            node.args, node.keywords = [], []
        elif isinstance(node, ast.Call) and name in WITH_MESSAGE and not _gives_away(node, name):
            node.keywords = [each for each in node.keywords if each.arg != "msg"]
            counted = 2 if name in EQUAL else 1 if name in TRUTH else len(node.args)
            del node.args[counted:]


def _gives_away(call: ast.Call, name: str) -> bool:
    """An assertion gives its further arguments to a function, as `assertRaises(ValueError, f, msg="")` does."""
    return ("Raises" in name or "Warns" in name) and len(call.args) > (2 if name.endswith("Regex") else 1)


def _put_names_values(tree: ast.Module, looks: Looks, assertions: Assertions) -> None:
    """Where a name is bound once, to a literal, and only compared with: let the comparison have the literal. The name
    goes, too: in asserts, one that nobody reads would be the candidate's."""
    nodes = list(ast.walk(tree))
    stores = Counter(node.id for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load))
    stores.update(node.arg for node in nodes if isinstance(node, ast.arg))
    stores.update(name for node in nodes if isinstance(node, ast.Global | ast.Nonlocal) for name in node.names)
    stores.update(alias.asname or alias.name for node in nodes if isinstance(node, _IMPORTS) for alias in node.names)
    named = (*_FUNCTIONS, ast.ClassDef, ast.ExceptHandler, ast.MatchAs, ast.MatchStar)
    stores.update(node.name for node in nodes if isinstance(node, named) and node.name is not None)
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
    for operands in (operands for node in nodes if (operands := _operands(node, assertions)) is not None):
        for index, each in enumerate(operands):
            if isinstance(each, ast.Name) and each.id in bound:
                compared.setdefault(each.id, []).append((operands, index))
    for name, uses in compared.items():
        if len(uses) == loads[name] and name not in looks.words:
            for operands, index in uses:
                operands[index] = copy.deepcopy(bound[name].value)
            bound[name].targets[0] = ast.Name("__harena_taken_out__", ast.Store())
            bound[name].value = ast.Constant(None)


def _pairs(node: ast.AST, assertions: Assertions) -> Iterator[tuple[ast.expr, ast.expr]]:
    """The two sides of each comparison in a statement that `_Hider` can replace."""
    tests = []
    if isinstance(node, ast.Assert):
        tests = [node.test]
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        call, name = node.value, assertions.name(node.value)
        if name in EQUAL and len(call.args) == 2:
            yield call.args[0], call.args[1]
        tests = [*call.args] if TRUTH.get(name) and len(call.args) == 1 else []
    while tests:
        test = tests.pop()
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
            tests = [*tests, *test.values]
        elif isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq | ast.Is):
            yield test.left, test.comparators[0]


def _place_of(slot: Slot, has_choices: bool) -> Comparison:
    """The place of a value that stands elsewhere than where it is compared. Nobody is known to come to it yet."""
    value = _value(slot.node)
    choices = siblings(value) if has_choices else []
    return Comparison(
        value, _said_among(value, choices) if choices else reported_comparisons.digest(value), True, False
    )


def _cell(number: int, place: Comparison) -> ast.expr:
    """What stands in the place of a value: the number of its place, with choices where it has them."""
    if not place.told.startswith("#"):
        return ast.Constant(number)
    return ast.parse(repr((number, siblings(place.value))), mode="eval").body


def _said_among(value: Any, choices: list[Any]) -> str:
    """What is told by an answer that equals this value among others."""
    return f"#{[reported_comparisons.digest(each) for each in choices].index(reported_comparisons.digest(value))}"


def _telling(name: str) -> ast.expr:
    return ast.Subscript(ast.Name(_TELLS, ast.Load()), ast.Constant(name), ast.Load())


def _operands(node: ast.AST, assertions: Assertions) -> list[ast.expr] | None:
    """The list of expressions in which a statement has the expected value."""
    if isinstance(node, ast.Assert) and isinstance(node.test, ast.Compare) and len(node.test.ops) == 1:
        return node.test.comparators if isinstance(node.test.ops[0], ast.Eq | ast.Is) else None
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and assertions.name(node.value) in EQUAL:
        return node.value.args if len(node.value.args) == 2 else None
    return None


def _value(node: ast.expr) -> Any:
    """What a literal says."""
    try:
        value = ast.literal_eval(node)
        reported_comparisons.canonical(value)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError, OverflowError):
        return _NO_VALUE
    return value


class _Hider(ast.NodeTransformer):
    """Takes expected values out of one text."""

    def __init__(
        self,
        tree: ast.Module,
        places: dict[int, Comparison],
        shown: Collection[int],
        with_choices: Collection[int],
        *,
        path: str,
        told_of: Tables,
        numbers: Mapping[Slot, int],
        own: frozenset[str],
        assertions: Assertions,
        looks: Looks,
    ) -> None:
        """`path`: of the suite's file; empty for asserts. `told_of`: values that stand elsewhere, with the `numbers` of
        their places. `own`: names of the tests' own functions and classes."""
        self._assertions, self._keeps_documentation = assertions, looks.at_documentation
        self._calls = [id(node) for node in ast.walk(tree) if id(node) in told_of.calls]
        """calls of the tests' own functions that compare what they are given, which no statement has made so far"""
        self._told_of, self._numbers, self._own_names = told_of, numbers, own
        self._places, self._shown, self._with_choices, self._is_suite = places, shown, with_choices, bool(path)
        self._called = {
            node.value.func.id
            for node in tree.body
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Name)
        }
        self._depth = 0
        """number of functions around"""
        self._rebound = set(_rebound(tree))
        self._documented = set(_documented(tree))
        self._come: set[int] = set()
        """values that stand elsewhere, and that something was compared with"""
        self._is_certain = not path
        self._is_judged = True
        self._is_sure = not _may_end(tree) and not looks.at_source
        self._is_defined = True
        """False: in a statement outside of functions that may not be run"""
        self._test = path

    def visit(self, node: ast.AST) -> Any:
        """Visit a node, with what is known at its place: whether it is certainly run, judged, and in which test."""
        certain, judged, depth, sure, test = self._is_certain, self._is_judged, self._depth, self._is_sure, self._test
        defined, self._is_defined = self._is_defined, self._is_defined and not isinstance(node, _MAY_NOT_BE_RUN)
        self._is_sure = sure and not _may_forgive(node)
        self._call(node)
        if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            self._test = f"{test}::{node.name}"
        if isinstance(node, _FUNCTIONS):
            self._is_certain = defined and self._is_run_to_its_end(node)
            self._depth += 1
        elif isinstance(node, _UNCERTAIN) or (
            isinstance(node, ast.For) and not (_is_table(node.iter) or id(node) in self._told_of.loops)
        ):
            self._is_certain = False
        elif isinstance(node, ast.Try) and node.handlers:
            self._is_certain = self._is_judged = False
        try:
            return super().visit(node)
        finally:
            self._is_certain, self._is_judged, self._depth, self._is_sure, self._test = (
                certain,
                judged,
                depth,
                sure,
                test,
            )
            self._is_defined = defined

    def _call(self, node: ast.AST) -> None:
        """A statement that is nothing but a call calls whenever it is run."""
        call = node.value if isinstance(node, ast.Expr) else None
        call = call.value if isinstance(call, ast.Await) else call
        if id(call) in self._calls:
            self._calls.remove(id(call))
            for slot in self._told_of.calls[id(call)]:
                self._come_to(slot, is_call=True)

    def end(self) -> None:
        """The text is read: no call within another expression (`verbose and check(4, 8)`) is certain to be made."""
        self._is_certain = False
        for slot in (slot for call in self._calls for slot in self._told_of.calls[call]):
            self._come_to(slot, is_call=True)

    def _is_run_to_its_end(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
        if self._depth or id(node) in self._rebound or any(isinstance(part, _STOPS) for part in _own(node)):
            return False
        if id(node) in self._told_of.checks:
            return True
        if not self._is_suite:
            return node.name in self._called and not node.decorator_list
        return node.name.startswith("test") and all(_runs_it(each) for each in node.decorator_list)

    def visit_Assert(self, node: ast.Assert) -> Any:
        """`assert`."""
        test = self._hidden(node.test)
        return node if test is None else ast.Assert(test)

    def visit_Expr(self, node: ast.Expr) -> Any:
        """A call of an assertion; a docstring."""
        if isinstance(node.value, ast.Constant):
            return node if self._keeps_documentation or id(node) in self._documented else ast.Expr(ast.Constant(""))
        if not isinstance(node.value, ast.Call):
            return node
        call, name = node.value, self._assertions.name(node.value)
        test = None
        if name in EQUAL and len(call.args) == 2:
            # it takes whatever has `difference`, which need not equal a set; a gold tells which it is
            self._is_sure = self._is_sure and name != "assertSetEqual"
            test = self._compared(call.args[0], call.args[1])
        elif name in TRUTH and len(call.args) == 1:
            test = self._hidden(call.args[0]) if TRUTH[name] else self._truth(call.args[0], False)
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
        if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.In | ast.NotIn):
            return self._membership(test.left, test.comparators[0], isinstance(test.ops[0], ast.In))
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return self._truth(test.operand, False)
        return self._truth(test, True)

    def _membership(self, item: ast.expr, container: ast.expr, value: bool) -> ast.expr | None:
        """Only for a literal in what a candidate may have made: the text does not say whether it is there."""
        if _value(item) is _NO_VALUE or _value(container) is not _NO_VALUE:
            return None
        return self._tells(
            "truth", ast.Compare(item, [ast.In()], [container]), value, reported_comparisons.digest(value)
        )

    def _compared(self, left: ast.expr, right: ast.expr) -> ast.expr | None:
        for held, answer in ((left, right), (right, left)):
            if id(held) in self._told_of.operands:
                for slot in self._told_of.operands[id(held)]:
                    self._come_to(slot, is_plain=self._is_of_candidate(answer))
                return ast.Call(_telling("told_of"), [held, answer], [])
        values = _value(left), _value(right)
        if (values[0] is _NO_VALUE) is (values[1] is _NO_VALUE):
            return None
        answer, value = (left, values[1]) if values[0] is _NO_VALUE else (right, values[0])
        choices = siblings(value)
        place = len(self._places)
        if place not in self._with_choices or not choices:
            return self._tells("told", answer, value, reported_comparisons.digest(value))
        return self._tells(
            "told", answer, value, _said_among(value, choices), ast.parse(repr(choices), mode="eval").body
        )

    def _truth(self, answer: ast.expr, value: bool) -> ast.expr | None:
        if not isinstance(answer, ast.Call | ast.Await):
            return None
        return self._tells("truth", answer, value, reported_comparisons.digest(value))

    def _tells(self, name: str, answer: ast.expr, value: Any, said: str, *more: ast.expr) -> ast.expr | None:
        place = len(self._places)
        is_certain = self._is_certain and self._is_judged
        is_sure = is_certain and self._is_sure and self._is_of_candidate(answer)
        self._places[place] = Comparison(
            value, said, self._is_judged, is_certain, is_sure, self._test if self._is_suite else ""
        )
        if place in self._shown:
            return None
        return ast.Call(_telling(name), [ast.Constant(place), answer, *more], [])

    def _is_of_candidate(self, answer: ast.expr) -> bool:
        """No function of the tests has a part in the answer: with the expected values taken out, what such a function
        runs may pass where it failed, and its own answer is another one."""
        names = {getattr(node, "id", getattr(node, "attr", "")) for node in ast.walk(answer)}
        return self._own_names.isdisjoint(names) and not any(isinstance(node, ast.Lambda) for node in ast.walk(answer))

    def _come_to(self, slot: Slot, *, is_call: bool = False, is_plain: bool = True) -> None:
        """A statement compares with a value that stands elsewhere, or gives it to a function that does. All of these
        have to be certain; the test is that of the call. `is_plain`: see `_is_of_candidate`."""
        number = self._numbers[slot]
        had = self._places[number]
        is_first = number not in self._come
        self._come.add(number)
        is_certain = self._is_certain and self._is_judged
        self._places[number] = Comparison(
            had.value,
            had.told,
            self._is_judged and (is_first or had.is_judged),
            is_certain and (is_first or had.is_certain),
            is_certain and self._is_sure and is_plain and (is_first or had.is_sure),
            had.test if had.test and not is_call else self._test if self._is_suite else "",
        )


def _may_end(node: ast.AST) -> bool:
    """A test may be over before its end, for any reason but a failed assertion: in its text outside of functions."""
    called = [each.func for each in (node, *_own(node)) if isinstance(each, ast.Call)]
    return any(isinstance(each, _LEAVES) for each in _own(node)) or any(
        (each.attr if isinstance(each, ast.Attribute) else getattr(each, "id", "")) in _ENDS for each in called
    )


def _may_forgive(node: ast.AST) -> bool:
    """What fails in this statement may pass all the same, or may not be run at all."""
    if isinstance(node, ast.With | ast.AsyncWith):
        calls = [each.context_expr for each in node.items]
        return not all(
            isinstance(each, ast.Call) and ast.unparse(each.func).rpartition(".")[2] in _FORGIVES_NOTHING
            for each in calls
        )
    if isinstance(node, ast.ClassDef):
        return bool(node.decorator_list)
    return isinstance(node, _FUNCTIONS) and _may_end(node)


def _own(function: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function, without those of functions and classes in it."""
    for node in ast.iter_child_nodes(function):
        if not isinstance(node, (*_FUNCTIONS, ast.Lambda, ast.ClassDef)):
            yield node
            yield from _own(node)


def _rebound(tree: ast.Module) -> Iterator[int]:
    """The ids of functions whose name, or that of the class around them, is bound again or deleted: another one may be
    run in their place. The last one of several is none of these, unless it is used before it is there."""
    nodes = list(ast.walk(tree))
    changed = {node.attr for node in nodes if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load)}
    for scope in nodes:
        if not isinstance(scope, (ast.Module, ast.ClassDef)):
            continue
        own = list(_own_and_defined(scope))
        defined = [node for node in own if isinstance(node, (*_FUNCTIONS, ast.ClassDef))]
        names = [node for node in own if isinstance(node, ast.Name)]
        lost = changed | {node.id for node in names if not isinstance(node.ctx, ast.Load)}
        last = {node.name: node for node in defined}
        for node in defined:
            is_early = any(each.id == node.name and each.lineno < last[node.name].lineno for each in names)
            is_one = sum(each.name == node.name for each in defined) == 1
            if node.name in lost or not (is_one or (last[node.name] is node and not is_early)):
                yield from (id(part) for part in ast.walk(node) if isinstance(part, _FUNCTIONS))


def _own_and_defined(scope: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a scope, with the functions and classes in it, and without what is in these."""
    for node in ast.iter_child_nodes(scope):
        yield node
        if not isinstance(node, (*_FUNCTIONS, ast.Lambda, ast.ClassDef)):
            yield from _own_and_defined(node)


def _documented(tree: ast.Module) -> Iterator[int]:
    """The ids of docstrings that a candidate may be asked for: of functions that are decorated or given away, and of
    classes that hold no tests."""
    nodes = list(ast.walk(tree))
    called = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
    given = {node.id for node in nodes if isinstance(node, ast.Name) and id(node) not in called}
    for node in nodes:
        if isinstance(node, ast.ClassDef):
            parts = [part for part in ast.walk(node) if isinstance(part, (*_FUNCTIONS, ast.ClassDef))]
            if not any(part.name.startswith(("test", "Test")) for part in parts):
                yield from (id(part.body[0]) for part in parts)
        elif isinstance(node, _FUNCTIONS) and (node.decorator_list or node.name in given) and node.name[:4] != "test":
            yield id(node.body[0])


def _runs_it(decorator: ast.expr) -> bool:
    """A test with this decorator is run, and to its end, whoever the candidate is."""
    name = ast.unparse(decorator.func if isinstance(decorator, ast.Call) else decorator)
    marks = (f".{ast.unparse(node)}" for node in ast.walk(decorator) if isinstance(node, ast.Name | ast.Attribute))
    if any(mark.endswith(_NOT_RUN) for mark in marks):  # of one set of parameters, too
        return False
    if name.startswith(("pytest.mark.", "mark.")):
        return True
    name = f"{name}."
    return name.startswith(("mock.patch.", "patch.", "unittest.mock.patch.")) or name.endswith(".parametrize.")


def _is_table(node: ast.expr) -> bool:
    """A loop over it has at least one turn, whoever the candidate is."""
    if isinstance(node, ast.List | ast.Tuple):
        return any(not isinstance(each, ast.Starred) for each in node.elts)
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.func.id != "range":
        return False
    try:
        return bool(range(*map(ast.literal_eval, node.args)))
    except (ValueError, TypeError, OverflowError):
        return False
