"""Which comparisons of tests are made with other literals, and with which."""

from __future__ import annotations

import ast
import sys

import pytest

from harena.scoring.contracts.command import CommandContract
from harena.scoring.scorers.changed_literals import LiteralTests, changed_expression, literal_tests

IMPORTS = "import solution\nfrom solution import Color, Tree, Vec, f, norm\n"
PLACES = {
    "an operator": ("assert Vec(1) + Vec(2) == Vec(3)", 1, 1),
    "an operator behind": ("assert Vec(3) == Vec(1) + Vec(2)", 1, 1),
    "a call behind": ("assert norm(['a']) == f(norm('b'))", 1, 0),
    "a class method": ("t = Tree(); assert t.all() == Tree.of([1, 2]).all()", 1, 1),
    "a member": ("assert f(1) == Color.RED and f(2) == Color.BLUE", 2, 2),
    "a member without another": ("assert f(1) == Color.RED", 0, 0),
    "a name": ("want = norm([1]); assert f(3).x == want", 1, 0),
    "a name behind the answer's": ("got = f(3); want = norm([1]); assert got == want", 1, 1),
    "a name that is given away": ("want = norm([1]); f(want); assert f(3) == want", 0, 0),
    "a loop": ("for a, want in [(1, Vec(2)), (2, Vec(3))]: assert a + Vec(1) == want", 1, 1),
    "two parts": ("assert f(1) == norm(2) and Vec(1) + Vec(1) == Vec(2)", 2, 2),
    "a literal": ("assert norm([3, 1]) == [1, 3]", 0, 0),
    "no literal": ("assert f([]) == norm([])", 0, 0),
    "two of a class": ("assert Vec(1, 2) == Vec(1, 2)", 0, 0),
    "a length": ("x = f(3); assert x.size == len(norm([1, 2]))", 0, 0),
    "a variable": ("x = f(3); assert f(1) == norm(x)", 1, 0),
    "no equality": ("assert f(1) != norm(2) and f(1) < norm(3)", 0, 0),
}


def places(line: str) -> LiteralTests | None:
    """The places of a test."""
    files = {"test_it.py": f"{IMPORTS}def test_it():\n    {line}\n"}
    contract = CommandContract.model_validate({"type": "command", "pytest": ["test_it.py"], "files": files})
    return literal_tests(contract, {"solution"})


@pytest.mark.parametrize("name", PLACES)
def test_places_are_equalities_with_what_the_candidate_makes_of_literals(name: str) -> None:
    """And those that say something without a gold solution."""
    line, count, certain = PLACES[name]
    found = places(line)
    seen = (0, 0) if found is None else (len(found.places), len(found.certain))
    assert seen == (count, certain)


def test_changed_tests_tell_by_a_mark_where_the_answer_is_equal_all_the_same() -> None:
    """Tests that are run in this process, over answers that are and are not filled in."""
    found = places("assert f(3) == norm([1, 2])")
    assert found is not None
    changed = found.told_apart(0)
    assert changed is not None
    tests, apart = changed

    def said(source: str, f: object, norm: object) -> str:
        names = {"f": f, "norm": norm}
        exec(source.replace(IMPORTS.splitlines()[1], ""), names)
        try:
            names["test_it"]()  # type: ignore[operator]
        except AssertionError as error:
            return str(error)
        return ""

    waiting: list[list[int]] = []

    def filled(_: int) -> list[int]:
        waiting.append([])
        return waiting[-1]

    def filling(xs: list[int]) -> list[int]:
        for each in waiting:
            each[:] = xs
        return list(xs)

    def text(changed: CommandContract) -> str:
        return changed.files["test_it.py"].replace("import solution\n", "")

    assert tests.marked(said(text(tests.contract), filled, filling)) == 0
    assert apart.marked(said(text(apart.contract), filled, filling)) == 0
    assert tests.marked(said(text(tests.contract), lambda _: [1, 2], list)) is None
    assert tests.marked(said(text(tests.contract), lambda _: 2, len)) == 0
    assert apart.marked(said(text(apart.contract), lambda _: 2, len)) is None
    assert tests.marked(said(text(apart.contract), filled, filling)) is None


@pytest.mark.parametrize(
    "made", ["V(1)", "V(0)", "V(5, 6)", "V(-3)", "V(1.5)", "V('a b-7')", "V(b'x')", "V([1, {'k': 2}])", "Span(1, 100)"]
)
def test_other_literals_are_of_the_same_kind_and_order(made: str) -> None:
    """A class takes what it took before."""
    for _ in range(50):
        tree = ast.parse(made, mode="eval").body
        changed = changed_expression(tree, {})
        assert ast.dump(changed) != ast.dump(tree)
        before = [each.value for each in ast.walk(tree) if isinstance(each, ast.Constant)]
        after = [each.value for each in ast.walk(changed) if isinstance(each, ast.Constant)]
        assert [type(each) for each in before] == [type(each) for each in after]
        if all(isinstance(each, int) for each in before):
            assert sorted(after) == after
            assert all(0 <= each <= max(before) + 3 for each in after)


def test_code_that_names_what_the_candidate_has_imports_nothing() -> None:
    """Names that are bound nowhere are the candidate's in `asserts`, and in no suite."""
    asserts = CommandContract.model_validate({"type": "command", "asserts": "assert Vec(1) + Vec(1) == Vec(2)\n"})
    assert literal_tests(asserts, {"solution"}) is not None
    files = {"test_it.py": "def test_it():\n    assert Vec(1) + Vec(1) == Vec(2)\n"}
    suite = CommandContract.model_validate({"type": "command", "pytest": ["test_it.py"], "files": files})
    assert literal_tests(suite, {"solution"}) is None


def test_a_text_that_cannot_be_written_is_not_changed() -> None:
    """Python reads deeper trees than it writes: such tests are judged as they are."""
    sums = " + ".join(["f(1)"] * 2000)
    found = places(f"assert {sums} == norm(3)")
    assert found is None or (found.changed(found.places) is None and found.told_apart(0) is None)
    digits = places(f"assert f(2) == norm(3) and f(0x1{'0' * 9000}) == 1")
    assert digits is not None
    assert digits.changed(digits.places) is None or sys.get_int_max_str_digits() == 0
