"""A run of trusted tests in which the values that they compute and compare with are others.

What tests compute beforehand (`EXPECTED = [brute(n) for n in INPUTS]`, a fixture, an attribute, a default, a variable of
a function around) is data in their process, and nobody hears who reads it: a candidate finds it by the table of modules,
by the globals of a function that it was given, by the runner's own objects, or by the proof's word. So for a contract
with a gold solution the candidate is run once with tests that tell its answers, and in which such values are others
(`computed_flow`), though of the same kind and size. Who reads them answers with those. What is right there says the
gold solution, in the same run; and it says by another one, with the tests' true values, that no answer of a right
program depends on what was changed. An answer counts only where the gold gives what the tests compute, before and after
it was asked, and the same in each run.

The run with the true values is the gold solution's alone. It writes down what the tests compute, and the other values are
drawn here, at random, and stand in the text: where they are plain values nothing computes the true ones in the process
of a candidate, not even the functions that did. So nothing is there that could be undone, replaced or called.

Numbers that tests draw from `random` are the same in all of these runs, also where they set no seed, and whatever the
candidate draws.
"""  # noqa: E501

from __future__ import annotations

import ast
import copy
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from harena.scoring.contracts.contract import CommandContract
from harena.scoring.guest import reported_comparisons
from harena.scoring.guest.reported_comparisons import OPAQUE
from harena.scoring.guest_sources import source_of
from harena.scoring.scorers.computed_flow import Computed, Flow, Path, computed_flow
from harena.scoring.scorers.other_values import Others
from harena.scoring.slices import aside, size_of

Told = Mapping[int, frozenset[str]]
"""by the number of a place, what was told there: how often it was come to before, and the digest of the answer"""
_TELLS = "__harena_told__"
_MOST_SOURCE = 100_000
_MOST_WRITTEN = 64 * 1024
_TRUTHS = re.compile(r"\b(?:True|False)\b")
_WORD, _DOTTED = re.compile(r"[A-Za-z_]\w*"), re.compile(r"[\w.:]+")
_NAMED_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_OWN_DICE = frozenset({"default_rng", "RandomState", "Generator", "Random"})
_AT_ONCE = re.compile(r"\b(threading|_thread|concurrent|multiprocessing|asyncio|anyio|trio|joblib)\b")
_SAME_ORDER = {"PYTHONHASHSEED": "0"}


@dataclass(frozen=True, slots=True)
class ComputedTests:
    """A contract's tests in two forms, both of which tell what is answered where a computed value is expected."""

    true: CommandContract
    others: Callable[[Told], CommandContract]
    """made of what the gold solution tells with the true values"""
    chosen: frozenset[int]
    """places where an answer may be any of several"""
    shared: frozenset[int]
    """places where the expected side is computed of what the candidate is given, and may change"""


@dataclass(frozen=True, slots=True)
class KnownAnswers:
    """What the gold solution tells."""

    tests: ComputedTests | None = None
    others: CommandContract | None = None
    told: Told = field(default_factory=dict)
    among: Told = field(default_factory=dict)
    """the places where an answer may be any of several: how often each was come to before, and their digests"""

    def are_told(self, told: Told, right: Told, program: Mapping[str, str]) -> bool:
        """A candidate with this `program` has told the right answers. What it was asked after it had changed what it
        was given does not count."""
        found, wanted = self._in_any_order(told, program), self._in_any_order(right, program)
        return all(
            found.get(place) == said
            or (place in self.shared and _but_unasked(found.get(place, frozenset()), said))
            or self._are_among(place, found.get(place, frozenset()), said)
            for place, said in wanted.items()
        )

    def _are_among(self, place: int, said: frozenset[str], right: frozenset[str]) -> bool:
        """Each answer is one of those that would do."""
        return place in self.among and len(said) == len(right) and said <= self.among[place]

    @property
    def shared(self) -> frozenset[int]:
        """Places where nobody is asked who has changed what it was given."""
        return frozenset() if self.tests is None else self.tests.shared

    def _in_any_order(self, told: Told, program: Mapping[str, str]) -> Told:
        """What was told, without the order where several threads or tasks may tell it: of the tests, or of a candidate
        with this `program`."""
        files = [] if self.tests is None else [*self.tests.true.files.values(), self.tests.true.asserts or ""]
        if not any(_AT_ONCE.search(text) for text in (*files, *program.values())):
            return told
        return {place: _counted(said) for place, said in told.items()}


def _but_unasked(said: frozenset[str], right: frozenset[str]) -> bool:
    """The answers are right but for those that were not asked."""
    unasked = {each.partition(":")[0] for each in said if each.endswith(_UNASKED)}
    left, wanted = ({each for each in some if each.partition(":")[0] not in unasked} for some in (said, right))
    return left == wanted


def _counted(told: frozenset[str]) -> frozenset[str]:
    counts = Counter(said.partition(":")[2] for said in told)
    return frozenset(f"{count}:{said}" for said, count in counts.items())


def computed_tests(contract: CommandContract) -> ComputedTests | None:
    """None where nothing that tests compute is compared with an answer, or where it may also be an argument."""
    try:
        return _computed_tests(contract)
    except (RecursionError, ValueError):
        return None


def _computed_tests(contract: CommandContract) -> ComputedTests | None:
    is_asserts = contract.asserts is not None
    texts = {"": contract.asserts or ""} if is_asserts else _python_files(contract)
    if any(len(text) > _MOST_SOURCE for text in texts.values()):
        return None
    trees = {}
    for path, text in texts.items():
        try:
            trees[path] = ast.parse(text)
        except (SyntaxError, MemoryError):
            return None
    drawing = _drawing(trees)
    if drawing is None:
        return None
    modules = frozenset(path.partition("/")[0].removesuffix(".py") for path in contract.files)
    for tree in trees.values():
        _Unchained().visit(tree)
    flow = computed_flow(trees, modules, without=drawing)
    if not flow.places:
        return None
    unchanged = copy.deepcopy((trees, flow))
    return ComputedTests(
        _written(contract, _told_as_computed(trees, flow)),
        lambda true: _others(contract, *copy.deepcopy(unchanged), true),
        frozenset(number for number, place in enumerate(flow.places) if place.sign == "in"),
        frozenset(number for number, place in enumerate(flow.places) if place.shared),
    )


def _others(contract: CommandContract, trees: dict[str, ast.Module], flow: Flow, true: Told) -> CommandContract:
    values = _drawn_values(flow, true)
    return _written(contract, _told_with_others(trees, flow, values, _outcomes(flow, true)), values)


class _Unchained(ast.NodeTransformer):
    """`a == b == c` as `a == b and b == c`, where `b` is read again without doing anything."""

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        """A chain of equalities."""
        self.generic_visit(node)
        sides = [node.left, *node.comparators]
        is_plain = all(isinstance(each, (ast.Name, ast.Constant)) for each in sides[1:-1])
        if len(sides) < 3 or not is_plain or not all(isinstance(each, ast.Eq) for each in node.ops):
            return node
        pairs = pairwise(sides)
        return ast.BoolOp(ast.And(), [ast.Compare(copy.deepcopy(a), [ast.Eq()], [copy.deepcopy(b)]) for a, b in pairs])


def _outcomes(flow: Flow, true: Told) -> dict[int, str]:
    """By the number of a place: each outcome of the comparison with the gold solution, in their order."""
    found = {}
    for number, place in enumerate(flow.places):
        said = dict(each.split("?", 1) for each in true.get(number, ()) if re.match(r"\d+\?", each))
        outcomes = [said.get(str(count), "") for count in range(len(said))]
        if place.sign and all(outcomes):
            found[number] = "".join(outcomes)
    return found


def _drawn_values(flow: Flow, true: Told) -> dict[int, tuple[Any, ...]]:
    """By the number of a point: other values than the gold solution's run has written down, one for each time that it
    was come to. Points where these were no plain values, or very many, are left out."""
    written, size = {}, 0
    for number in range(len(flow.places), len(flow.places) + len(flow.points)):
        said = dict(each.split("=", 1) for each in true.get(number, ()))
        texts = [said.get(str(count), "") for count in range(len(said))]
        size += sum(map(len, texts))
        if texts and all(texts) and size <= _MOST_WRITTEN:
            written[number] = texts
    others = Others(is_certain=sum(len(_TRUTHS.findall(each)) for texts in written.values() for each in texts) < 4)
    found = {}
    for number, (_, paths) in enumerate(flow.points.values(), len(flow.places)):
        values = [ast.literal_eval(each) for each in written.get(number, ())]
        for path in sorted(paths, key=repr):
            values = [others.part(value, path) for value in values]
        if values:
            found[number] = tuple(values)
    return found


def _python_files(contract: CommandContract) -> dict[str, str]:
    return {path: text for path, text in contract.files.items() if path.endswith(".py")}


def _drawing(trees: Mapping[str, ast.Module]) -> set[ast.AST] | None:
    """The functions in which numbers are drawn from what a candidate may draw from, too, or that differ each time; and
    those that name one of them. None where it is done outside of functions, and any number may be such a one."""
    functions = [node for tree in trees.values() for node in ast.walk(tree) if isinstance(node, _NAMED_FUNCTIONS)]
    inside = {id(each) for node in functions for each in ast.walk(node)}
    nodes = [node for tree in trees.values() for node in ast.walk(tree)]
    if any(_draws(node, set()) for node in nodes if id(node) not in inside):
        return None
    names: set[str] = set()
    for node in nodes:
        is_it = isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "hypothesis"
        names |= {alias.asname or alias.name for alias in node.names} if is_it else set()  # type: ignore[attr-defined]
    found: set[ast.AST] = set()
    while True:
        more = [node for node in functions if node not in found and any(_draws(each, names) for each in ast.walk(node))]
        if not more:
            return found
        found.update(more)
        names |= {node.name for node in more}


def _draws(node: ast.AST, names: Collection[str]) -> bool:
    if isinstance(node, ast.ImportFrom):
        return node.module == "random" and any(each.name == "*" for each in node.names)
    if isinstance(node, ast.Attribute):
        value = node.value
        is_of_numpy = isinstance(value, ast.Attribute) and value.attr == "random" and node.attr not in _OWN_DICE
        return is_of_numpy or node.attr in names or getattr(value, "id", "") == "hypothesis"
    name = node.id if isinstance(node, ast.Name) else node.arg if isinstance(node, ast.arg) else ""
    return name in names


def _told_as_computed(trees: dict[str, ast.Module], flow: Flow) -> dict[str, ast.Module]:
    for number, place in enumerate(flow.places):
        given = [ast.Constant(number), copy.deepcopy(place.expected), place.answer, place.expected]
        _put(place, _call("outcome", [*given, ast.Constant(place.sign)]) if place.sign else _call("as_computed", given))
    numbers = {id(point): number for number, (point, _) in enumerate(flow.points.values(), len(flow.places))}
    for tree in trees.values():
        _Recorded(numbers).visit(tree)
    return trees


def _told_with_others(
    trees: dict[str, ast.Module], flow: Flow, values: Mapping[int, tuple[Any, ...]], outcomes: Mapping[int, str]
) -> dict[str, ast.Module]:
    for number, place in enumerate(flow.places):
        if place.sign:
            if number in outcomes:
                given = [ast.Constant(number), place.answer, ast.Constant(outcomes[number])]
                _put(place, _call("settled", given))
            continue
        shared = ast.Tuple([*place.shared], ast.Load())
        if place.shared:
            kept = _call("kept", [copy.deepcopy(shared)])
            told = _call("nth_of", [ast.Constant(number), kept, place.answer, shared])
        else:
            told = _call("nth", [ast.Constant(number), place.answer])
        _put(place, told)
    changed = {}
    for number, (point, found) in enumerate(flow.points.values(), len(flow.places)):
        changed[id(point)] = number if number in values else sorted(found, key=repr)
    removed: set[str] = set()
    for tree in trees.values():
        made = _Others(changed)
        made.visit(tree)
        removed |= made.removed
    _remove_unused(trees, removed)
    return trees


def _remove_unused(trees: Mapping[str, ast.Module], removed: set[str]) -> None:
    """Take away the functions that only computed what is drawn now, which would compute it for a candidate, too."""
    while True:
        used = {name for tree in trees.values() for node in ast.walk(tree) for name in _named(node)}
        unused = [
            (above, node)
            for tree in trees.values()
            for above in ast.walk(tree)
            if isinstance(above, (ast.Module, ast.ClassDef))
            for node in above.body
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
            and node.name in removed
            and node.name not in used - _named_within(node, trees)
        ]
        if not unused:
            return
        for above, node in unused:
            above.body.remove(node)
            removed |= {name for each in ast.walk(node) for name in _named(each)}
            if not above.body:
                above.body.append(ast.Pass())


def _named(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Name):
        return [node.id]
    if isinstance(node, ast.Attribute):
        return [node.attr]
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return _WORD.findall(node.value) if _DOTTED.fullmatch(node.value) else []
    if isinstance(node, ast.ImportFrom):
        return [alias.name for alias in node.names]
    return [node.arg] if isinstance(node, ast.arg) else []


def _named_within(node: ast.AST, trees: Mapping[str, ast.Module]) -> set[str]:
    """Its own name, if nothing but itself says it."""
    name = getattr(node, "name", "")
    inside = sum(name in _named(each) for each in ast.walk(node))
    return (
        {name} if inside == sum(name in _named(each) for tree in trees.values() for each in ast.walk(tree)) else set()
    )


def _put(place: Computed, call: ast.expr) -> None:
    if place.index is None:
        setattr(place.parent, place.name, call)
    else:
        getattr(place.parent, place.name)[place.index] = call


class _Recorded(ast.NodeTransformer):
    """Has the values of points written down."""

    def __init__(self, numbers: Mapping[int, int]) -> None:
        self._numbers = numbers

    def visit(self, node: Any) -> Any:
        """An expression, and all within it."""
        number = self._numbers.get(id(node))
        made: Any = self.generic_visit(node)
        return made if number is None else _call("recorded", [ast.Constant(number), made])


class _Others(ast.NodeTransformer):
    """Puts a drawn value in place of each point that has one, and a call that makes another value around the others."""

    def __init__(self, changed: Mapping[int, int | list[Path]]) -> None:
        self._changed = changed
        self.removed: set[str] = set()
        """names that stood in what is drawn now"""

    def visit(self, node: Any) -> Any:
        """An expression, and all within it."""
        paths = self._changed.get(id(node), [])
        if isinstance(paths, int):
            self.removed.update(name for each in ast.walk(node) for name in _named(each))
            return _call("drawn", [ast.Constant(paths)])
        made: Any = self.generic_visit(node)
        for path in paths:
            parts: list[ast.expr] = [ast.Constant(part) for part in path]
            made = _call("other", [made, ast.Tuple(parts, ast.Load())])
        return made


class _WithDice(ast.NodeTransformer):
    """Has tests draw their numbers from what is theirs."""

    def visit_Import(self, node: ast.Import) -> list[ast.stmt]:
        """`import random`"""
        names = [alias.asname or alias.name for alias in node.names if alias.name == "random"]
        return [node, *(_set(name, _call("dice", [])) for name in names)]

    def visit_ImportFrom(self, node: ast.ImportFrom) -> list[ast.stmt]:
        """`from random import randint`"""
        if node.module != "random" or node.level:
            return [node]
        drawn = [(alias.asname or alias.name, alias.name) for alias in node.names]
        return [node, *(_set(name, ast.Attribute(_call("dice", []), of, ast.Load())) for name, of in drawn)]


def _set(name: str, value: ast.expr) -> ast.stmt:
    return ast.Assign([ast.Name(name, ast.Store())], value)


def _call(name: str, given: list[ast.expr]) -> ast.Call:
    function = ast.Subscript(ast.Name(_TELLS, ast.Load()), ast.Constant(name), ast.Load())
    return ast.Call(function, given, [])


def _written(
    contract: CommandContract, trees: dict[str, ast.Module], values: Mapping[int, tuple[Any, ...]] | None = None
) -> CommandContract:
    source = source_of(reported_comparisons)
    written = {}
    for path, tree in trees.items():
        before = ast.dump(tree)
        made = _WithDice().visit(tree)
        if path and _TELLS not in before and ast.dump(made) == before:
            continue
        start = ast.parse(f"{_TELLS} = {{'__name__': {_TELLS!r}}}\nexec({source!r}, {_TELLS})").body
        start += ast.parse(f"{_TELLS}['values'].update({values!r})").body if values else []
        is_future = [isinstance(node, ast.ImportFrom) and node.module == "__future__" for node in made.body]
        has_documentation = ast.get_docstring(made, clean=False) is not None
        after = max((index + 1 for index, each in enumerate(is_future) if each), default=int(has_documentation))
        made.body[after:after] = start
        written[path] = ast.unparse(ast.fix_missing_locations(made)) + "\n"
    changed: dict[str, object] = {"env": {**_SAME_ORDER, **contract.env}}
    changed.update({"asserts": written[""]} if "" in written else {"files": {**contract.files, **written}})
    copied = contract.model_copy(update=changed)
    vars(copied).pop("fingerprint", None)  # a copy has what was computed of the contract, too
    return copied


async def known_answers(
    contract: CommandContract, told_by_gold: Callable[[CommandContract], Awaitable[tuple[Told, bool]]]
) -> KnownAnswers:
    """What a right program answers; `told_by_gold` runs tests of a contract over the gold solution."""
    tests = await aside(size_of(contract.files) + len(contract.asserts or ""), computed_tests, contract)
    if tests is None:
        return KnownAnswers()
    true, _ = await told_by_gold(tests.true)
    answers = _answers(true)
    if not answers:
        return KnownAnswers()
    changed = await aside(size_of(contract.files), tests.others, true)
    others, takes = await told_by_gold(changed)
    if takes:  # the gold itself uses what the tests have not given it
        return KnownAnswers()
    told = {place: said for place, said in answers.items() if _is_plain(said) and others.get(place) == said}
    among = {
        place: frozenset(each.replace("~", ":", 1) for each in true[place] if re.match(r"\d+~", each))
        for place in tests.chosen & told.keys()
    }
    return KnownAnswers(tests if told else None, changed, told, among)


def _answers(told: Told) -> Told:
    """What was told of answers, without what was written down of values and outcomes."""
    found = {place: frozenset(each for each in said if re.match(r"\d+:", each)) for place, said in told.items()}
    return {place: said for place, said in found.items() if said}


def _is_plain(told: frozenset[str]) -> bool:
    return not any(said.endswith((f":{OPAQUE}", _UNASKED)) for said in told)


_UNASKED = f":{reported_comparisons.digest(reported_comparisons.UNASKED)}"
