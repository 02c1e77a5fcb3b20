# ruff: noqa: E501 (programs are text, not code of ours)
"""A comparison of nothing with what has elements has not held, and a test that ran no assertion has judged nobody."""

from __future__ import annotations

from typing import Any

import pytest
from shared_sandboxes import SHARED, judged
from test_unittest_suites import scored

from harena.scoring import load_scenarios

pytestmark = SHARED

RIGHT = "import numpy as np\ndef mean(xs): return float(np.mean(xs))\ndef scale(xs, k): return np.array(xs) * k\ndef listed(xs, k): return [x * k for x in xs]\ndef each(xs, k): return (x * k for x in xs)\n"
ARRAY = "import numpy as np\ndef mean(xs): return np.empty(0)\ndef scale(xs, k): return np.empty((0, 1))\nlisted = each = scale\n"
LIST = "def mean(xs): return []\ndef scale(xs, k): return []\nlisted = scale\ndef each(xs, k): return iter([])\n"
MASKED = "import numpy as np\ndef mean(xs): return np.ma.masked_all(1)\ndef scale(xs, k): return np.ma.masked_all(len(xs))\nlisted = each = scale\n"
DEEP = "import numpy as np\ndef mean(xs): return [[]]\ndef scale(xs, k): return np.empty((0, len(xs)))\ndef listed(xs, k): return [np.empty(0)] * len(xs)\neach = listed\n"
YIELDS = "def each(xs, k):\n    yield from ()\nlisted = scale = mean = each\n"
HEAD = "import operator\nimport pytest\nimport numpy as np\nimport numpy.testing as npt\nfrom numpy import allclose\nfrom solution import each, listed, mean, scale\ndef close(a, b): return all(abs(x - y) < 1e-6 for x, y in zip(a, b))\n"
PAID = {
    "approx": ("assert mean([1, 2, 4]) == pytest.approx(7 / 3)", ARRAY),
    "approx of what is given": ("assert 7 / 3 == pytest.approx(mean([1, 2, 4]))", ARRAY),
    "approx in a dict": ("assert {'m': mean([1, 2, 4])} == pytest.approx({'m': 7 / 3})", ARRAY),
    "allclose of a number": ("assert np.allclose(mean([1, 2, 4]), 7 / 3)", LIST),
    "allclose by its name": ("assert allclose(mean([1, 2, 4]), 7 / 3)", ARRAY),
    "allclose by names": ("assert np.allclose(b=7 / 3, a=mean([1, 2, 4]), rtol=1e-6)", ARRAY),
    "allclose of a list in a list": ("assert np.allclose(mean([1, 2, 4]), 7 / 3)", DEEP),
    "allclose of an array": ("assert np.allclose(scale([1, 2, 4], 2.5), [2.5, 5.0, 10.0])", ARRAY),
    "allclose of rows": ("assert np.allclose(scale([1, 2, 4], 2.5), [2.5, 5.0, 10.0])", DEEP),
    "all of an equality": ("assert (scale([1, 2, 4], 2) == np.array([2, 4, 8])).all()", ARRAY),
    "numpy's all": ("found = scale([1, 2, 4], 3)\n    assert np.all(found == [3, 6, 12])", ARRAY),
    "nothing that differs": ("assert not (scale([1, 2, 4], 2) != np.array([2, 4, 8])).any()", ARRAY),
    "isclose": ("assert np.isclose(scale([1, 2, 4], 2.5), [2.5, 5.0, 10.0]).all()", ARRAY),
    "array_equiv": ("assert np.array_equiv(scale([1, 2, 4], 2), [2, 4, 8])", ARRAY),
    "a norm": ("assert np.linalg.norm(scale([1, 2, 4], 2) - np.array([2, 4, 8])) < 1e-6", ARRAY),
    "a sum of differences": ("assert np.sum(np.abs(scale([1, 2], 2) - np.array([2, 4]))) == 0", ARRAY),
    "a function for a difference": ("assert np.sum(np.abs(np.subtract(scale([1, 2], 2), np.array([2, 4])))) == 0", ARRAY),
    "a function for an equality": ("assert operator.eq(scale([1, 2, 4], 2), np.array([2, 4, 8])).all()", ARRAY),
    "assert_allclose": ("npt.assert_allclose(mean([1, 2, 4]), 7 / 3)", ARRAY),
    "assert_almost_equal": ("npt.assert_almost_equal(mean([1, 3]), 2.0)", LIST),
    "a masked array": ("npt.assert_allclose(scale([1, 2, 4], 2), [2, 4, 8])", MASKED),
    "zip in all": ("assert all(abs(a - b) < 1e-6 for a, b in zip(scale([1, 2], 2), [2, 4]))", ARRAY),
    "zip in a helper": ("assert close(listed([1, 2], 2), [2, 4])", LIST),
    "zip in a loop": ("for p, q in zip(listed([1, 2], 2), [2, 4]):\n        assert p == q", LIST),
    "zip the other way": ("for p, q in zip([2, 4], each([1, 2], 2)):\n        assert p == q", YIELDS),
    "zip of a generator": ("for p, q in zip(each([1, 2], 2), [2, 4]):\n        assert p == q", YIELDS),
    "zip by a name": ("pairs = zip(listed([1, 2], 2), [2, 4])\n    for n, (p, q) in enumerate(pairs):\n        assert p == q, n", LIST),
    "map": ("assert all(map(lambda a, b: a == b, listed([1, 2], 2), [2, 4]))", LIST),
    "map of an operator": ("assert sum(map(operator.ne, each([1, 2], 2), [2, 4])) == 0", YIELDS),
}  # fmt: skip
HONEST = """
import numpy as np
import numpy.testing as npt
import pytest
from solution import Bag, bounds, each, evens, listed, log, masked, matrix, mean, named, ones, pairs, positive, primes, scale, table, total

def test_empty_for_empty():
    assert np.allclose(scale([], 2), [])
    assert np.allclose(scale([], 2), np.empty(0))
    npt.assert_allclose(scale([], 2), [])
    npt.assert_array_equal(scale([], 2), np.array([]))
    assert (scale([], 2) == np.array([])).all()
    assert scale([], 2) == pytest.approx(np.array([]))
    assert listed([], 2) == pytest.approx([])
    assert listed([], 2) == [] and list(each([], 2)) == []
def test_size():
    assert scale([], 2).shape == (0,) and len(listed([], 2)) == 0 and scale([], 3).size == 0
@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_constant(n):
    assert (ones(n) == 1).all()
    assert np.allclose(ones(n), 1.0)
    npt.assert_allclose(ones(n), 1.0)
    assert np.abs(ones(n) - 1.0).sum() == 0
def test_constants_in_a_loop():
    for n in range(4):
        assert np.all(ones(n) == 1)
def test_bounds():
    assert (positive(np.array([-1.0, -2.0])) > 0).all()
    assert np.all(positive(np.array([-1.0])) >= 0)
    npt.assert_array_less(0, positive(np.array([-1.0])))
def test_members():
    assert np.isin(positive(np.array([-1])), [1, 2, 3]).all()
    assert set(evens([1, 3])) <= {2, 4}
def test_tables():
    for given, want in (([1, 2], [2, 4]), ([], []), ([5], [10])):
        for a, b in zip(listed(given, 2), want):
            assert a == b
        assert all(a == b for a, b in zip(each(given, 2), want))
        assert np.allclose(scale(given, 2), want)
def test_neighbours():
    for numbers in ([], [1], [1, 2, 3]):
        found = listed(numbers, 2)
        assert all(a <= b for a, b in zip(found, found[1:]))
def test_kept():
    assert dict(zip(listed([1, 2], 1), "ab")) == {1: "a", 2: "b"}
    assert dict(zip(listed([], 1), "ab")) == {}
    assert list(zip(evens([1]), [1, 2])) == []
@pytest.mark.parametrize("n", [0, 1, 10])
def test_loop(n):
    for p in primes(n):
        assert p in (2, 3, 5, 7)
def test_nothing_is_wrong():
    for problem in log():
        assert False, problem
    for problem in log():
        pytest.fail(problem)
def test_only_calls():
    total([1, 2])
def test_raises():
    with pytest.raises(ValueError):
        for x in bounds(None):
            assert x
def test_stacked():
    assert np.concatenate([scale([], 2), np.array([1.0])]).tolist() == [1.0]
    assert np.append(scale([], 2), 3.0).tolist() == [3.0]
    assert (np.empty((0, 3)) - np.array([1, 2, 3])).shape == (0, 3)
def test_objects():
    assert (table() == np.array(["a", None, 3], dtype=object)).all()
    assert np.array_equal(table(), np.array(["a", None, 3], dtype=object))
def test_others():
    assert mean([1, 2]) == pytest.approx(1.5) and np.isclose(mean([1, 2]), 1.5)
    assert not Bag() and list(Bag()) == [] and sum(a * b for a, b in zip(listed([1], 2), [3])) == 6
    assert sum(map(lambda a, b: a * b, listed([1], 2), [3])) == 6
    assert [*pairs([], [1])] == []
    with pytest.raises(AssertionError):
        npt.assert_allclose(scale([1], 2), [3])
    try:
        npt.assert_allclose(scale([1], 2), [3])
    except AssertionError:
        pass
"""
MASKS = """def test_masked():
    assert masked().mask.tolist() == [False, True]
    assert (matrix() == np.array([[1, 2], [3, 4]])).all()
    assert np.allclose(matrix() @ matrix(), [[7, 10], [15, 22]])
    npt.assert_array_equal(matrix().T, [[1, 3], [2, 4]])
    assert (named([1, 2]) == [1, 2]).all() and np.allclose(named([1, 2]), [1, 2])
    assert masked().filled(0).tolist() == [1, 0]
    npt.assert_allclose(masked(), np.ma.array([1, 5], mask=[False, True]))
"""
"""what has no score apart, where such arrays are stand-ins"""
OF_HONEST = f"""{RIGHT}
class Named(np.ndarray): pass
class Bag:
    def __len__(self): return 0
    def __iter__(self): return iter([])
def named(xs): return np.array(xs).view(Named)
def ones(n): return np.ones(n)
def positive(a): return a[a > 0]
def evens(xs): return [x for x in xs if x % 2 == 0]
def primes(n): return [p for p in range(2, n) if all(p % d for d in range(2, p))]
def log(): return []
def total(xs): return sum(xs)
def bounds(x): raise ValueError
def pairs(a, b): return zip(a, b)
def masked(): return np.ma.array([1, 2], mask=[False, True])
def matrix(): return np.matrix([[1, 2], [3, 4]])
def table(): return np.array(["a", None, 3], dtype=object)
"""
LOOP = "from solution import listed, mean\ndef test_a():\n    for p in listed([1, 2], 2):\n        assert p in (2, 4)\ndef test_b():\n    assert True\n"


OF_ORDINARY = f"""{RIGHT}import pandas as pd
def ordered(xs): return sorted(xs)
def primes(n): return [p for p in range(2, n + 1) if all(p % d for d in range(2, p))]
def clipped(x): return np.clip(x, 0, 1)
def grown(df): return df[df["age"] >= 18]
def unit(x): return x / np.linalg.norm(x, axis=1, keepdims=True)
def clean(s): return s.replace("a", "")
def split(xs): return [x for x in xs if x < 0], [x for x in xs if x >= 0]
def evens(xs): return [x for x in xs if x % 2 == 0]
"""
ORDINARY = """import itertools
import operator
import numpy as np
import pandas as pd
import pytest
from solution import clean, clipped, evens, grown, listed, ordered, primes, split, unit

def test_rest():
    r = ordered([5])
    rest = r[1:]
    assert all(a <= b for a, b in zip(r, rest))
    assert r == [5]
def is_sorted(r):
    return all(a <= b for a, b in zip(r, itertools.islice(r, 1, None)))
def test_islice():
    assert is_sorted(ordered([5]))
    assert is_sorted(ordered([3, 1, 2]))
def test_calls():
    assert all(a < b for a, b in zip(primes(2), primes(2)[1:]))
    assert primes(2) == [2]
@pytest.mark.parametrize("n", [2, 5, 10])
def test_parameters(n):
    ps = primes(n)
    following = ps[1:]
    for a, b in zip(ps, following):
        assert a < b
    assert ps[0] == 2
def test_iterator():
    r = ordered([7])
    it = iter(r)
    next(it)
    assert all(a <= b for a, b in zip(r, it))
    assert r == [7]
def test_map():
    r = ordered([7])
    t = r[1:]
    assert all(map(operator.le, r, t))
    assert r == [7]
def test_pairs():
    for xs in ([], [1], [2, 1], [3, 1, 2]):
        r = ordered(xs)
        tail = r[1:]
        assert len(r) == len(xs)
        for a, b in zip(r, tail):
            assert a <= b
def test_neighbours_beside_an_empty_answer():
    assert evens([1, 3]) == []
    r = ordered([7])
    tail = itertools.islice(r, 1, None)
    assert all(a <= b for a, b in zip(r, tail))
    a, b = split([1, 2])
    assert [x == y for x, y in zip(a, b)] == []
def test_excess():
    r = clipped(np.array([-1, 0.5, 2]))
    assert np.sum(r[r > 1] - 1) == 0
    assert r.tolist() == [0, 0.5, 1]
def test_mask():
    r = clipped(np.array([0.2, 0.5]))
    assert (r[r > 1] == 1).all()
    assert np.allclose(r, [0.2, 0.5])
def test_one_difference():
    r = clipped(np.array([0.5]))
    assert np.allclose(r[1:] - r[:-1], 1) and not np.any(np.diff(r) == 0)
def test_nothing_is_given():
    r = unit(np.empty((0, 3)))
    assert r.shape == (0, 3)
    assert np.allclose(np.linalg.norm(r, axis=1), 1)
@pytest.mark.parametrize("n", [0])
def test_no_rows(n):
    r = unit(np.ones((n, 3)))
    assert len(r) == n
    np.testing.assert_allclose(np.linalg.norm(r, axis=1), 1.0)
def test_table():
    r = grown(pd.DataFrame({"age": [3, 20], "m": [1, 0]}))
    assert (r[r["age"] < 18]["m"] == 1).all()
    assert len(r) == 1
def test_no_table():
    r = grown(pd.DataFrame({"age": [3, 2], "m": [1, 0]}))
    assert (r["age"] == 18).sum() == 0
    assert r.empty
def test_no_pairs():
    assert ordered([]) == []
    assert [a + b for a, b in zip([1, 2], ordered([]))] == []
def test_nothing_is_the_same():
    s = "aaa"
    r = clean(s)
    same = sum(x == y for x, y in zip(s, r))
    assert same == 0
    assert r == ""
"""
"""suites in which an empty side is the tests' own doing, or what they expect"""
ORDINARY_LINES = "r = ordered([5])\nnext_ones = r[1:]\nassert all(a <= b for a, b in zip(r, next_ones))\nassert r == [5]\nassert ordered([2, 1]) == [1, 2]\n"
FORGED = {
    "a table with an empty row": "for given, want in (([1, 2], [2, 4]), ([], []), ([5], [10])):\n        assert all(a == b for a, b in zip(listed(given, 2), want))",
    "what is computed of what is given": "xs = [1, 2]\n    want = [x * 2 for x in xs]\n    got = listed(xs, 2)\n    assert all(a == b for a, b in zip(got, want))",
    "a helper of the tests'": "def run(xs): return list(listed(xs, 2))\n    def wanted(xs): return [x * 2 for x in xs]\n    assert all(a == b for a, b in zip(run([1, 2]), wanted([1, 2])))",
    "what an object holds": "import solution\n    m = solution.Model([1, 2])\n    assert all(a == b for a, b in zip(m.data, [1, 2]))",
    "a fixture": "assert np.allclose(made(), [2, 4])\nMADE = listed([1, 2], 2)\ndef made(): return MADE",
}
MODEL = "class Model:\n    def __init__(self, xs): self.data = {}\n"


def suite(body: str) -> str:
    return f"{HEAD}def test_a():\n    {body}\n"


@pytest.mark.parametrize("name", PAID)
async def test_what_compares_nothing_has_not_held(name: str) -> None:
    body, candidate = PAID[name]
    found = await scored(candidate, suite(body), "pytest", with_numpy=True)
    assert (found.score, str(found.validity)) == (0.0, "valid"), found.detail


async def test_a_right_program_passes_them_all() -> None:
    tests = "".join(f"def test_{at}():\n    {body}\n" for at, (body, _) in enumerate(PAID.values()))
    for scoring in ({}, {"gold": {"solution.py": f"{RIGHT}OTHER = 1\n"}}, {"isolate": False}):
        found = await scored(RIGHT, HEAD + tests, "pytest", with_numpy=True, **scoring)
        assert (found.score, str(found.validity)) == (1.0, "valid"), found.detail


@pytest.mark.parametrize(
    "scoring",
    [{}, {"isolate": False}, {"gold": {"solution.py": f"{OF_HONEST}OTHER = 1\n"}}],
    ids=["alone", "beside", "gold"],
)
async def test_right_answers_may_be_empty(scoring: Any) -> None:
    tests = HONEST + MASKS if scoring else HONEST
    found = await scored(OF_HONEST, tests, "pytest", with_numpy=True, **scoring)
    assert (found.score, str(found.validity)) == (1.0, "valid"), found.detail


@pytest.mark.parametrize("scoring", [{}, {"isolate": False}], ids=["apart", "beside"])
async def test_an_empty_side_may_be_the_tests_own_doing(scoring: Any) -> None:
    found = await scored(OF_ORDINARY, ORDINARY, "pytest", by_this_interpreter=True, **scoring)
    assert (found.score, str(found.validity)) == (1.0, "valid"), found.detail


async def test_an_empty_side_may_be_the_tests_own_doing_with_unittest_and_in_asserts() -> None:
    body = "r = ordered([5])\n        rest = r[1:]\n        self.assertTrue(all(a <= b for a, b in zip(r, rest)))\n        self.assertEqual(r, [5])"
    tests = f"import unittest\nfrom solution import ordered\nclass T(unittest.TestCase):\n    def test_one(self):\n        {body}\n"
    found = await scored(OF_ORDINARY, tests, by_this_interpreter=True)
    assert (found.score, str(found.validity)) == (1.0, "valid"), found.detail
    for isolate in ("auto", False):
        scoring = {"type": "command", "asserts": ORDINARY_LINES, "isolate": isolate}
        (made,) = load_scenarios([{"id": "one", "candidate": OF_ORDINARY, "scoring": scoring}]).scenarios
        found = await judged(made, by_this_interpreter=True)
        assert (found.score, str(found.validity)) == (1.0, "valid"), found.detail


@pytest.mark.parametrize("scoring", [{}, {"isolate": False}], ids=["apart", "beside"])
async def test_an_empty_answer_beside_what_is_expected_has_failed(scoring: Any) -> None:
    for name, body in FORGED.items():
        found = await scored(LIST + MODEL.format("[]"), suite(body), "pytest", with_numpy=True, **scoring)
        assert (found.score, str(found.validity)) == (0.0, "valid"), (name, found.detail)
    tests = "".join(
        suite(body).replace(HEAD, "").replace("test_a", f"test_{at}") for at, body in enumerate(FORGED.values())
    )
    found = await scored(RIGHT + MODEL.format("xs"), HEAD + tests, "pytest", with_numpy=True, **scoring)
    assert (found.score, str(found.validity)) == (1.0, "valid"), found.detail


@pytest.mark.parametrize(
    "way",
    [{"isolate": False}, {"isolate": "sandbox"}, {"gold": {"solution.py": RIGHT}}],
    ids=["beside", "apart", "gold"],
)
async def test_it_is_so_in_each_mode(way: Any) -> None:
    for name in ("allclose of an array", "zip in a loop", "assert_almost_equal"):
        body, candidate = PAID[name]
        found = await scored(candidate, suite(body), "pytest", with_numpy=True, **way)
        assert (found.score, str(found.validity)) == (0.0, "valid"), (name, found.detail)


async def test_it_is_so_with_unittest() -> None:
    tests = "import unittest\nimport numpy as np\nfrom solution import listed, scale\nclass T(unittest.TestCase):\n    def test_a(self):\n        {}\n"
    for body in (
        "self.assertTrue(np.allclose(scale([1, 2, 4], 2), [2, 4, 8]))",
        "for a, b in zip(listed([1], 2), [2]):\n            self.assertEqual(a, b)",
    ):
        right = await scored(RIGHT, tests.format(body), with_numpy=True)
        wrong = await scored(ARRAY, tests.format(body), with_numpy=True)
        assert (right.score, wrong.score) == (1.0, 0.0), (right.detail, wrong.detail)


@pytest.mark.parametrize("isolate", ["auto", False])
async def test_it_is_so_in_asserts(isolate: Any) -> None:
    for name in ("approx", "allclose of an array", "all of an equality", "a masked array", "zip in all"):
        body, wrong = PAID[name]
        lines = "\n".join(line for line in HEAD.splitlines() if "solution" not in line)
        for candidate, score in ((RIGHT, 1.0), (wrong, 0.0)):
            scoring = {"type": "command", "asserts": f"{lines}\n{body}\n", "isolate": isolate}
            (made,) = load_scenarios([{"id": "one", "candidate": candidate, "scoring": scoring}]).scenarios
            found = await judged(made, with_numpy=True)
            assert (found.score, str(found.validity)) == (score, "valid"), (name, found.detail)


async def test_who_runs_no_assertion_where_the_gold_solution_runs_some_has_failed() -> None:
    for candidate, score in ((f"{RIGHT}OTHER = 1\n", 1.0), (LIST, 0.0)):
        found = await scored(candidate, LOOP, "pytest", with_numpy=True, gold={"solution.py": RIGHT})
        assert (found.score, str(found.validity)) == (score, "valid"), found.detail


async def test_without_a_gold_solution_nobody_knows_whether_a_loop_is_to_be_empty() -> None:
    found = await scored(LIST, LOOP, "pytest", with_numpy=True)
    assert (found.score, str(found.validity)) == (None, "invalid")
    assert "gold" in found.detail
    assert (await scored(RIGHT, LOOP, "pytest", with_numpy=True)).score == 1.0
