"""Asserts as calls with known answers."""

from __future__ import annotations

import ast
import math
from typing import Any

import pytest
from data_set_rows import MBPP, only

from harena.scoring.codec import canonical
from harena.scoring.contracts.contract import CommandContract
from harena.scoring.formats.asserted_names import AssertedNames
from harena.scoring.formats.asserts import (
    AssertedCall,
    NotChecksError,
    asserted_calls,
    called_names,
    parse_tests,
    with_collections,
)
from harena.scoring.formats.crossing import what_cannot_cross
from harena.scoring.formats.literals import NotLiteralError, literal
from harena.scoring.values import Bag, from_python

NAN = float("nan")


@pytest.mark.parametrize(
    ("code", "value"),
    [
        ("[1, -2.5, 'a', b'x', None, True, 2j]", [1, -2.5, "a", b"x", None, True, 2j]),
        ("(1, [2], {3: (4,)})", (1, [2], {3: (4,)})),
        ("{1, 2, 1}", {1, 2}),
        ("{'a': 1, 'a': 2}", {"a": 2}),
        ("set()", set()),
        ("frozenset([1, 1])", frozenset({1})),
        ("set((4, 5))", {4, 5}),
        ("dict()", {}),
        ("float('-inf')", float("-inf")),
        ("float('nan')", NAN),
        ("math.inf", float("inf")),
        ("1 - 2j", 1 - 2j),
        ("10 ** 9 + 7", 1_000_000_007),
        ("2.0 / 3.0", 2 / 3),
        ("-(7 // 2) % 5", 2),
        ("'ab' + 'c'", "abc"),
        ("+3", 3),
    ],
)
def test_literals_are_read_without_being_evaluated(code: str, value: Any) -> None:
    """As Python would have made them, sets and dicts as bags."""
    assert canonical(literal(ast.parse(code, mode="eval").body)) == canonical(from_python(value))


@pytest.mark.parametrize(
    "code",
    [
        "x",
        "f(1)",
        "[1, x]",
        "9 ** 9 ** 9",
        "1 / 0",
        "2 ** 0.5",
        "'a' * 10",
        "{**a}",
        "float('1')",
        "set(range(3))",
        "-'a'",
        "[x for x in y]",
        "f'{x}'",
    ],
)
def test_what_would_have_to_be_computed_is_no_literal(code: str) -> None:
    """It is named."""
    with pytest.raises(NotLiteralError):
        literal(ast.parse(code, mode="eval").body)


def test_a_literal_of_a_thousand_levels_is_refused() -> None:
    """And not by the recursion limit."""
    with pytest.raises(NotLiteralError, match="deeply"):
        literal(ast.parse("[" * 90 + "(" * 20 + "0,)" + ",)" * 19 + "]" * 90, mode="eval").body)


CALL = {"args": (1,), "kwargs": {}}


@pytest.mark.parametrize(
    ("code", "check"),
    [
        ("assert f(1) == 2", {**CALL, "expected": 2}),
        ("assert 2 == f(1)", {**CALL, "expected": 2}),
        ("assert f(1, k='x') == {2}", {"args": (1,), "kwargs": {"k": "x"}, "expected": Bag("set", (2,))}),
        ("assert f(1) == 2, 'a message'", {**CALL, "expected": 2}),
        ("assert f(1)", {**CALL, "expected": True, "comparison": "truth"}),
        ("assert not f(1)", {**CALL, "expected": False, "comparison": "truth"}),
        ("assert f(1) is None", {**CALL, "expected": None, "comparison": "exact"}),
        ("assert f(1) is True", {**CALL, "expected": True, "comparison": "exact"}),
        ("assert f(1) == True", {**CALL, "expected": True}),
        (
            "assert abs(f(1) - 0.5) < 1e-6",
            {**CALL, "expected": 0.5, "comparison": "close_floats", "rel_tol": 0.0, "abs_tol": math.nextafter(1e-6, 0)},
        ),
        (
            "assert math.fabs(0.5 - f(1)) <= 1",
            {**CALL, "expected": 0.5, "comparison": "close_floats", "rel_tol": 0.0, "abs_tol": 1.0},
        ),
        (
            "assert math.isclose(f(1), 0.5, rel_tol=0.001)",
            {**CALL, "expected": 0.5, "comparison": "close_floats", "rel_tol": 0.001, "abs_tol": 0.0},
        ),
        (
            "assert math.isclose(f(1), 10, rel_tol=0.09)",
            {**CALL, "expected": 10.0, "comparison": "close_floats", "rel_tol": 0.09, "abs_tol": 0.0},
        ),
        (
            "assert math.isclose(f(1), 10.5, rel_tol=0.5)",
            {**CALL, "expected": 10.5, "comparison": "close_floats", "rel_tol": 0.5, "abs_tol": 0.0},
        ),
        ("assert set(f(1)) == set([3, 4])", {**CALL, "expected": [3, 4], "comparison": "members"}),
        ("assert set(f(1)) == {3}", {**CALL, "expected": Bag("set", (3,)), "comparison": "members"}),
        ("assert sorted(f(1)) == [3, 4]", {**CALL, "expected": [3, 4], "comparison": "items"}),
        ("assert sorted(f(1)) == sorted([4, 3])", {**CALL, "expected": [4, 3], "comparison": "items"}),
    ],
)
def test_an_assert_becomes_a_check(code: str, check: dict[str, Any]) -> None:
    """With its comparison, whether the name of the function is known or not."""
    for names in (None, frozenset({"f"})):
        (call,) = asserted_calls(ast.parse(code).body, names)
        assert (call.name, call.check()) == ("f", check)


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("assert f(x) == 2", "`x` is not a literal"),
        ("assert f(1) == g(2)", "`g(2)` is not a literal"),
        ("assert f(1) != 2", "is not a comparison of a call with a known answer"),
        ("assert f(1) < 2 < 3", "is not a comparison"),
        ("assert f(1) < 2", "is not the distance of a call"),
        ("assert f(1) == 2 and f(2) == 3", "is not a comparison"),
        ("assert f(1)[0] == 2", "is not a call of the candidate"),
        ("assert g(f(1)) == 2", "something else than the candidate"),
        ("assert sorted(f(1)) == [4, 3]", "is not a sorted list"),
        ("assert Counter(f(1)) == {3: 1}", "something else than the candidate"),
        ("assert Counter(f(1)) == Counter([2, 1])", "is not a literal"),
        ("assert abs(f(1) - 10**17) < 1000", "is no float"),
        ("assert math.isclose(f(1), 2**60)", "is no float"),
        ("assert math.isclose(f(1), 10, rel_tol=0.095)", "takes different integers for close"),
        ("assert math.isclose(f(1), -10, rel_tol=0.095)", "takes different integers for close"),
        ("assert math.isclose(f(1), 0, rel_tol=1)", "takes different integers for close"),
        ("assert math.isclose(f(1), 10, rel_tol=-1)", "has a tolerance below 0"),
        ("assert f(*[1]) == 2", "is not a literal"),
        ("assert f(**{}) == 2", "not written out"),
        ("for x in [1]:\n    assert f(x) == 2", "line 1 of the tests: `for x in [1]:"),
        ("y = 3\nassert f(1) == y", "is no assert"),
    ],
)
def test_what_an_assert_needs_beyond_that_is_said(code: str, why: str) -> None:
    """So that the task can say why its trust is `shared`."""
    with pytest.raises(NotChecksError) as refusal:
        asserted_calls(ast.parse(code).body, frozenset({"f"}))
    assert why in str(refusal.value)


@pytest.mark.parametrize(
    ("tests", "names"),
    [
        ("assert f(g(1)) == len('a')", ["f", "g"]),
        ("import math\nx = 3\nassert f(math.pi) == x", ["f"]),
        ("class Node: pass\ndef g(y): return y\nassert f(Node(1)) == g(2)", ["f"]),
        ("for i, (a, b) in enumerate([(1, (2, 3))]):\n    assert f(a, *b)", ["f"]),
        ("assert f([n for n in (1, 2)])", ["f"]),
        ("assert f(y)", []),
        ("assert list(map(f, [1]))", []),
    ],
)
def test_what_tests_call_of_the_candidate(tests: str, names: list[str]) -> None:
    """Nothing, if they want more of it than to call it."""
    assert called_names(ast.parse(tests)) == names


def test_containers_that_tests_do_not_import_are_not_the_candidates() -> None:
    """A `Counter` of the candidate's own could say that all answers are equal."""
    code = "assert Counter(f([2, 1])) == Counter([2, 1])"
    assert with_collections(code) == "from collections import Counter\n" + code
    assert called_names(parse_tests(with_collections(code))) == ["f"]
    for same in ("import collections\nassert f(collections.deque()) == 1", "x = ("):
        assert with_collections(same) == same
    assert with_collections("assert deque(1)", "deque") == "assert deque(1)"
    tests = [code]
    contract = only([{**MBPP, "test_list": tests}]).scoring
    assert isinstance(contract, CommandContract)
    assert list(contract.calls) == ["f"]


def test_tests_that_are_not_python() -> None:
    """Are said to be none."""
    with pytest.raises(NotChecksError, match="it is not Python"):
        parse_tests("assert (")


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("assert f((1, 2.5), int) == [2.5]", "f((1, 2.5), int)"),
        ("assert f([1], lambda x: x) == [1]", "f([1], lambda x: x)"),
        ("assert f([Pair(1, 2)]) == 1", "f([Pair(1, 2)])"),
        ("class A: pass\nassert f(A()) == 1", "f(A())"),
        ("def g(x): return x\nassert f(g) == 1", "f(g)"),
        ("a = object()\nassert f(a) == 1", "f(a)"),
        ("import numpy as np\nassert f(np.array([1])) == 1", "f(np.array([1]))"),
        ("assert f(1).left.value == 1", "f(1).left"),
        ("assert f(sorted(['bb', 'a'], key=len)) == 1", None),
        ("assert f(list(map(int, '12')), range(3)) == 1", None),
        ("assert f(f(1)) == 1", None),
        ("assert f(1).upper() == 'A'", None),
        ("for n in range(3):\n    assert f([n] * n, x=str(n)) == n", None),
        ("a = [1]\nf(a)\nassert a == [2]", None),
        ("assert f(deque([1]), {k: v for k, v in [(1, 2)]}) == 1", None),
        ("assert f(1)(2) == 3", "f(1)(2)"),
        ("g = f(1)\nassert g(2) == 3", "g(2)"),
        ("assert f(3)[0](2) == 4", "f(3)[0](2)"),
        ("for g in f(1):\n    assert g(2)", "g(2)"),
        ("r = f(1)\nassert r.left == 2", "r.left"),
        ("with f(3) as v:\n    assert v == 3", "f(3)"),
        ("a = [1]\nassert f(a) is a", "f(a) is a"),
        ("assert f([]) is not f([])", "f([]) is not f([])"),
        ("assert f(1) is None and f(2) is not True", None),
        ("a = [1]\nb = f(a)\nb.append(2)\nassert a == [1, 2]", "b.append"),
        ("b = f([2, 1])\nb.sort()\nassert b == [1, 2]", None),
        ("it = f(3)\nassert next(it) == 1", "next(it)"),
        ("from itertools import islice\nassert list(islice(f(3), 2)) == [1]", "islice(f(3), 2)"),
        ("for n in f(1):\n    if n > 3: break", "f(1)"),
        ("assert list(f(3)) == [1, 2, 3]", None),
        ("put(1)\nassert get() == 1", "put(1)"),
        ("assert put(1) == get(1)", None),
        ("import itertools\nassert f(itertools.count()) == 1", "f(itertools.count())"),
        ("from itertools import repeat\nassert f(repeat(1)) == 1", "f(repeat(1))"),
        ("assert f('aa'.count('a'), repeat(1, 2)) == 1", None),
        ("with contextlib.redirect_stdout(b):\n    f(3)", "contextlib.redirect_stdout"),
        ("import types\nassert isinstance(f(1), types.GeneratorType)", "isinstance(f(1), types.GeneratorType)"),
        ("assert isinstance(f(1), (int, float)) and isinstance(f(2), list)", None),
        ("import asyncio\nassert asyncio.run(f(1)) == 2", "asyncio.run(f(1))"),
        ("assert f.__name__ == 'f'", "f.__name__"),
        ("assert callable(f(1))", "callable(f(1))"),
        ("def ok(g, x): return g(x) == 1\nassert ok(f, 1) and list(map(f, [1])) == [1]", None),
        ("from fractions import Fraction\nassert f(iter([1]), (n for n in 'ab'), Fraction(1, 2)) == 1", None),
    ],
)
def test_a_function_or_an_object_is_not_given_to_another_process(code: str, why: str | None) -> None:
    """Values and iterators are; the rest needs the candidate in the tests' own process."""
    names = called_names(ast.parse(code))
    assert what_cannot_cross(ast.parse(code), [*names, "f"]) == why


def asserts_of(source: str, around: str = "", tested: frozenset[str] | None = None) -> list[AssertedCall]:
    """The calls of test code, below the imports of a set-up."""
    return asserted_calls(parse_tests(source).body, tested, around=AssertedNames.of(parse_tests(around).body))


@pytest.mark.parametrize("tested", [None, frozenset({"f"})])
@pytest.mark.parametrize(
    ("around", "test"),
    [
        ("import numpy as np", "np.isclose(f(1), 0.5)"),
        ("import numpy", "numpy.isclose(f(1), 0.5)"),
        ("", "np.isclose(f(1), 0.5)"),
        ("", "numpy.testing.isclose(f(1), 0.5)"),
        ("from numpy import isclose", "isclose(f(1), 0.5)"),
        ("from numpy import isclose as near", "near(f(1), 0.5)"),
        ("from numpy import *", "isclose(f(1), 0.5)"),
        ("from math import isclose\nfrom numpy import isclose", "isclose(f(1), 0.5)"),
        ("from math import isclose\nfrom numpy import *", "isclose(f(1), 0.5)"),
        ("from cmath import isclose", "isclose(f(1), 0.5)"),
        ("import cmath as math", "math.isclose(f(1), 0.5)"),
        ("import cmath", "cmath.isclose(f(1), 0.5)"),
        ("import numpy as math", "math.fabs(f(1) - 0.5) < 1e-6"),
        ("import torch", "torch.isclose(f(1), 0.5)"),
        ("", "isclose(f(1), 0.5)"),
        ("", "fabs(f(1) - 0.5) < 1e-6"),
        ("from numpy import abs", "abs(f(1) - 0.5) < 1e-6"),
        ("import numpy as np", "np.abs(f(1) - 0.5) < 1e-6"),
        ("from numpy import *", "abs(f(1) - 0.5) < 1e-6"),
        ("from numpy import round as abs", "abs(f(1) - 0.5) < 1e-6"),
        ("from sympy import Set as set", "set(f(1)) == {1, 2}"),
        ("from x import sorted", "sorted(f(1)) == [1, 2]"),
        ("from x import frozenset as set", "f(1) == set([1, 2])"),
        ("from x import *", "f(1) == set([1, 2])"),
        ("from decimal import Decimal as float", "f(1) == float('inf')"),
        ("from x import inf", "f(1) == inf"),
        ("import x as math", "f(1) == math.inf"),
        ("import numpy as np", "np.allclose(f(1), 0.5)"),
        ("import numpy as np", "np.round(f(1), 2) == 0.5"),
    ],
)
def test_a_name_is_what_its_import_says(around: str, test: str, tested: frozenset[str] | None) -> None:
    """What has another meaning, or none that is known, is no check."""
    with pytest.raises(NotChecksError):
        asserts_of(f"assert {test}", around, tested)
    with pytest.raises(NotChecksError):
        asserts_of(f"{around}\nassert {test}", "", tested)


@pytest.mark.parametrize("tested", [None, frozenset({"f"})])
@pytest.mark.parametrize(
    ("around", "test"),
    [
        ("", "math.isclose(f(1), 0.5)"),
        ("import math", "math.isclose(f(1), 0.5)"),
        ("import math as m", "m.isclose(f(1), 0.5)"),
        ("from math import isclose", "isclose(f(1), 0.5)"),
        ("from math import isclose as near", "near(f(1), 0.5)"),
        ("from math import *", "isclose(f(1), 0.5)"),
        ("from numpy import isclose\nfrom math import isclose", "isclose(f(1), 0.5)"),
        ("import numpy as np", "math.isclose(f(1), 0.5)"),
    ],
)
def test_the_distance_of_math_is_read(around: str, test: str, tested: frozenset[str] | None) -> None:
    """By any name that it is imported under."""
    (call,) = asserts_of(f"assert {test}", around, tested)
    assert (call.name, call.comparison, call.rel_tol, call.abs_tol) == ("f", "close_floats", 1e-9, 0.0)


def test_what_is_imported_is_not_the_candidates() -> None:
    """An assert about a library says nothing about a program."""
    with pytest.raises(NotChecksError):
        asserts_of("assert gcd(4, 6) == 2", "from math import gcd")
    (call,) = asserts_of("assert gcd(4, 6) == 2", "from math import sqrt")
    assert call.name == "gcd"
