"""Test code of data sets that is written to cost a server more than it weighs."""

from __future__ import annotations

import ast
import contextlib
import time
from collections.abc import Callable
from typing import Any

import pytest
from data_set_rows import HUMANEVAL, MBPP, only

from harena.scoring.codec import canonical
from harena.scoring.contracts.carry import carried
from harena.scoring.contracts.contract import TestsContract
from harena.scoring.contracts.formula import FormulaError, check_formula
from harena.scoring.formats import crossing, import_scenarios, mbpp
from harena.scoring.formats.crossing import what_cannot_cross
from harena.scoring.formats.literals import NotLiteralError, literal
from harena.scoring.reading import ScenarioFileError
from harena.scoring.values import Bag, NotationError

MEMBERS = 6000
LONG = "0x" + "f" * 20_000
"""a number of more digits than Python writes in decimal notation"""
TOO_LARGE = "0x" + "f" * 2_000
"""a number that is larger than the largest float"""


def cost(work: Callable[[], object]) -> float:
    """Processor time of this thread, of the best of three times."""

    def once() -> float:
        begun = time.thread_time()
        work()
        return time.thread_time() - begun

    return min(once() for _ in range(3))


def tree(code: str) -> ast.expr:
    """The tree of an expression."""
    return ast.parse(code, mode="eval").body


@pytest.mark.parametrize(
    "code",
    [
        "{" + ",".join(map(str, range(MEMBERS))) + "}",
        "{" + ",".join(f"{number}:1" for number in range(MEMBERS)) + "}",
        "{" + ",".join(f"{number}:1" for number in [*range(MEMBERS // 2)] * 2) + "}",
        "set([" + ",".join(str(number * (2**61 - 1)) for number in range(MEMBERS)) + "])",
    ],
    ids=["a set", "a dict", "keys that come twice", "numbers of one hash"],
)
def test_members_are_read_in_linear_time(code: str) -> None:
    """A list of as many is the measure. Without that, each member is compared with all before it."""
    listed = tree("[" + ",".join(f"({number}, 1)" for number in range(MEMBERS)) + "]")
    hostile = tree(code)
    assert cost(lambda: literal(hostile)) < 25 * cost(lambda: literal(listed))


@pytest.mark.parametrize(
    ("code", "items"),
    [
        ("{1, 2, 1, 1}", (1, 2)),
        ("{1, True, 1.0}", (1, True, 1.0)),
        ("{(1, 'a'), (True, 'a')}", ((1, "a"),)),
        ("{-0.0, 0.0}", (0.0,)),
        ("{1: 2, 3: 4, 1: 5}", ((3, 4), (1, 5))),
        ("{'a': 1, b'a': 2, 'a': 3}", ((b"a", 2), ("a", 3))),
        ("{True: 1, 1: 2}", ((True, 1), (1, 2))),
    ],
)
def test_members_that_come_twice(code: str, items: tuple[Any, ...]) -> None:
    """The first of a set, the last of a dict; those of two types stay, and are refused as values later."""
    made = literal(tree(code))
    assert canonical(list(made.items)) == canonical(list(items))
    assert len(literal(tree("{nan, nan}")).items) == 2


def test_members_have_a_depth_of_their_own() -> None:
    """Because each is compared by all sets that it is in."""
    assert literal(tree("frozenset([" * 8 + "1" + "])" * 8))
    with pytest.raises(NotLiteralError, match="nested too deeply"):
        literal(tree("frozenset([" * 12 + "1" + "])" * 12))
    with pytest.raises(NotLiteralError, match="nested too deeply"):
        literal(tree("{" + "(" * 12 + "1" + ",)" * 12 + ": 1}"))


def test_sets_in_sets_are_named_once() -> None:
    """Not once more by each set around them: tuples as deep are the measure."""
    inner = tuple(range(1000))
    sets: Any = Bag("frozenset", inner)
    tuples: Any = inner
    for _ in range(90):
        sets, tuples = Bag("frozenset", (sets,)), (tuples,)
    one = Bag("frozenset", (Bag("frozenset", inner), tuples))
    assert cost(lambda: carried(sets)) < 5 * cost(lambda: carried(one))


def test_members_of_a_set_in_a_set_are_looked_at() -> None:
    """Wherever they are in it."""
    twice, unhashable = Bag("frozenset", (1, True)), Bag("frozenset", ([],))
    for inner in (twice, unhashable):
        keys = [Bag("dict", ((inner, 1),)), Bag("dict", ((1, inner),))]
        for value in (Bag("set", (inner,)), Bag("set", ((inner,),)), *keys):
            with pytest.raises(NotationError, match=r"twice|has no hash"):
                carried(value)
    left, right = Bag("frozenset", (1, (2.0, "a"))), Bag("frozenset", ((2, "a"), True))
    with pytest.raises(NotationError, match="twice"):
        carried(Bag("set", (left, right)))
    assert carried(Bag("set", (left, Bag("frozenset", (1, (2, "b"))), (1, 2), (12,), ((1,), 2))))


def test_the_imports_of_a_set_up_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not for each assert: both may be as many as a body has room for."""
    parsed: list[str] = []
    read = mbpp.parse_tests
    monkeypatch.setattr(mbpp, "parse_tests", lambda text: parsed.append(text) or read(text))
    asserts = [f"assert f({number}) == 1" for number in range(50)]
    scenario = only({**MBPP, "test_setup_code": "import math", "test_list": asserts})
    assert isinstance(scenario.scoring, TestsContract)
    assert len(scenario.scoring.checks) == 50
    assert parsed.count("import math") <= 2


def test_classes_of_isinstance_are_read_in_linear_time() -> None:
    """Test code of the same size, of which nothing is asked, is the measure."""
    classes = "int, " * 2000
    hostile, plain = (ast.parse(f"assert {name}(f(1), ({classes}))") for name in ("isinstance", "len"))
    assert cost(lambda: what_cannot_cross(hostile, {"f"})) < 20 * cost(lambda: what_cannot_cross(plain, {"f"}))


def test_calls_in_calls_are_not_looked_through_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each argument's parts are, once more for each call that it is in."""
    code = "assert " + "f(" * 50 + "[" + "a, " * 200 + "]" + ")" * 50
    monkeypatch.setattr(crossing, "_MOST_NESTED_PARTS", 15_000)
    assert what_cannot_cross(ast.parse(code), {"f"}) is None
    monkeypatch.setattr(crossing, "_MOST_NESTED_PARTS", 9_000)
    assert what_cannot_cross(ast.parse(code), {"f"}) == "calls that are nested too deeply"


HOSTILE_ASSERTS = {
    "not": "assert " + "not " * 900 + "f(1)",
    "signs": "assert f(1) == " + "-" * 900 + "x",
    "subscripts": "f(1)" + "[0]" * 900,
    "calls": "assert f(1)" + "(1)" * 900 + " == 1",
    "attributes": "assert f(1)" + ".a" * 900 + " == 1",
    "attributes of what is called": "assert f" + ".a" * 900 + "(1) == 1",
    "attributes of the module": "assert math" + ".a" * 2500 + "(f(1)) == 1",
    "a sum": "assert f(1) == " + "+".join(["g(1)"] * 900),
    "lists": "assert f(1) == " + "[" * 90 + "]" * 90,
    "sets": "assert f(1) == " + "frozenset([" * 60 + "])" * 60,
    "a long number": f"assert f(1) == {LONG}",
    "a long number in what is no literal": f"assert f(1) == g({LONG})",
    "a long number that is divided": f"assert f(1) == {LONG} // 3",
    "a float of a long number": f"assert f(1) == float({LONG})",
    "a float of two signs": "assert f(1) == float('--inf')",
    "a distance that is too large": f"assert abs(f(1) - 0.5) < {TOO_LARGE}",
    "a distance to what is too large": f"assert abs(f(1) - {TOO_LARGE}) < 0.5",
    "a distance of text": "assert abs(f(1) - 0.5) < 'a'",
    "a tolerance that is too large": f"assert math.isclose(f(1), 0.5, rel_tol={TOO_LARGE})",
    "a tolerance of text": "assert math.isclose(f(1), 0.5, rel_tol='a')",
    "a tolerance of a list": "assert math.isclose(f(1), 0.5, abs_tol=[1])",
    "no argument for numbers": "assert math.isclose(f(1), 0.5, **{})",
    "parentheses": "assert f(" + "(" * 5000 + "1" + ")" * 5000 + ") == 1",
    "a power": "assert f(1) == 9**9**9**9",
    "a half of a pair": "assert f(1) == '\\ud800'",
    "a NUL": "assert f(1) == '\x00'",
}


@pytest.mark.parametrize("name", HOSTILE_ASSERTS)
def test_no_assert_is_a_fault_of_the_server(name: str) -> None:
    """It is read, or run in a sandbox, or refused in words: in MBPP, in HumanEval, in their set-ups and prompts."""
    test = HOSTILE_ASSERTS[name]
    check = f"def check(f):\n    {test}\n"
    called = "def g(x):\n    " + test + "\n\ndef f(x):\n    pass\n"
    rows = [
        {**MBPP, "test_list": [test]},
        {**MBPP, "test_setup_code": f"import math\n{test}", "test_list": ["assert f(1) == 1"]},
        {**MBPP, "test": f"def assertion(out, exp, atol):\n    {test}\n\ninputs = []\nresults = []\n{test}"},
        {**HUMANEVAL, "entry_point": "f", "test": check},
        {**HUMANEVAL, "entry_point": "f", "test": f"{check}\n{test}"},
        {**HUMANEVAL, "entry_point": "f", "prompt": called, "test": "def check(c):\n    assert c(g) == g(f)\n"},
    ]
    for row in rows:
        with contextlib.suppress(ScenarioFileError):
            for scenario in import_scenarios(row).scenarios:
                assert len(scenario.digest) == 64


@pytest.mark.parametrize("formula", [TOO_LARGE[:1500] + " * a", "not " * 190 + "a", "a(" + "-" * 190 + "a, b=1)"])
def test_no_formula_is_a_fault_of_the_server(formula: str) -> None:
    """Depths and numbers that Python neither writes nor takes for floats are said in words."""
    with pytest.raises(FormulaError):
        check_formula(formula, ("a", "b"))


def test_numbers_of_many_digits_are_not_divided() -> None:
    """It would hold the interpreter for minutes."""
    divided = tree(f"{LONG} // {LONG[:9000]}")
    with pytest.raises(NotLiteralError):
        literal(divided)
