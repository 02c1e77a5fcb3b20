# ruff: noqa: E501 (programs are text, not code of ours)
"""An array of a candidate's beside the tests is the array of its own data, whatever its class has numpy say."""

from __future__ import annotations

from typing import Any

import pytest
from shared_sandboxes import SHARED, judged
from test_unittest_suites import scored

from harena.scoring import load_scenarios

pytestmark = SHARED

TAIL = "def mean(xs): return one()\ndef scale(xs, k): return arr(len(xs))\n"
FORGED = {
    "objects": "class Y:\n    def __eq__(s, o): return True\n    def __ne__(s, o): return False\n    def __sub__(s, o): return 0.0\n    __rsub__ = __sub__\n    def __abs__(s): return 0.0\n    def __float__(s): return 1.0\ndef arr(n):\n    a = np.empty(n, dtype=object); a[:] = [Y() for _ in range(n)]; return a\ndef one(): return arr(1)[0]\n",
    "operators": "class A(np.ndarray):\n    def __eq__(s, o): return np.ones(s.shape, bool)\n    def __ne__(s, o): return np.zeros(s.shape, bool)\n    def __sub__(s, o): return np.zeros(s.shape)\n    __rsub__ = __sub__\ndef arr(n): return np.zeros(n).view(A)\ndef one(): return np.zeros(()).view(A)\n",
    "functions": "class A(np.ndarray):\n    def __array_function__(s, f, t, a, k): return np.ones(s.shape, bool) if f.__name__ == 'isclose' else True\n    def __array_ufunc__(s, u, m, *a, **k): return np.zeros(s.shape) if u.__name__ in ('subtract', 'absolute') else np.ones(s.shape, bool)\ndef arr(n): return np.zeros(n).view(A)\ndef one(): return np.zeros(1).view(A)\n",
    "a duck": "class A:\n    __array_priority__ = 1000\n    def __array_ufunc__(s, u, m, *a, **k): return np.ones(3, bool) if u.__name__ in ('equal', 'less_equal', 'isfinite') else np.zeros(3)\n    def __array_function__(s, f, t, a, k): return True\n    def __array__(s, dtype=None, copy=None): return np.empty((0, 1))\n    def __eq__(s, o): return np.ones(3, bool)\n    def __sub__(s, o): return np.zeros(3)\n    __rsub__ = __sub__\n    def __len__(s): return 3\n    shape = (3,)\n    def __iter__(s): return iter([A()] * 3)\n    def __abs__(s): return 0.0\ndef arr(n): return A()\ndef one(): return A()\n",
    "an array's name": "class A:\n    def __array__(s, dtype=None, copy=None): return np.empty((0, 1))\ndef arr(n): return A()\ndef one(): return A()\n",
    "an interface": "class A:\n    @property\n    def __array_interface__(s): return np.empty((0, 1)).__array_interface__\ndef arr(n): return A()\ndef one(): return A()\n",
    "a wrap": "class A(np.ndarray):\n    def __array_wrap__(s, o, c=None, r=False): return np.ones(np.shape(o), bool) if o.dtype == bool else np.zeros(np.shape(o))\ndef arr(n): return np.ones(n).view(A)\ndef one(): return np.ones(1).view(A)\n",
    "a number": "class A(np.float64):\n    def __eq__(s, o): return True\n    def __sub__(s, o): return A(0)\n    __rsub__ = __sub__\n    def __abs__(s): return 0.0\ndef arr(n): return [A(0)] * n\ndef one(): return A(0)\n",
    "masks": "def arr(n): return np.ma.masked_all(n)\ndef one(): return np.ma.masked\n",
    "a name of numpy's": "class A(np.ndarray):\n    __module__ = 'numpy'\n    def __eq__(s, o): return np.ones(s.shape, bool)\n    def __sub__(s, o): return np.zeros(s.shape)\n    def __array_function__(s, f, t, a, k): return True\nA.__name__ = A.__qualname__ = 'matrix'\ndef arr(n): return np.zeros(n).view(A)\ndef one(): return np.zeros(1).view(A)\n",
    "objects in a subclass": "class Y:\n    def __eq__(s, o): return True\n    def __sub__(s, o): return 0.0\n    def __abs__(s): return 0.0\nclass A(np.ndarray): pass\ndef arr(n):\n    a = np.empty(n, dtype=object); a[:] = [Y()] * n; return a.view(A)\ndef one(): return arr(1)\n",
}  # fmt: skip
WAYS = {
    "allclose": "assert np.allclose(scale([1, 2, 4], 2.5), [2.5, 5.0, 10.0])",
    "an equality": "assert (scale([1, 2, 4], 2) == np.array([2, 4, 8])).all()",
    "assert_allclose": "npt.assert_allclose(scale([1, 2, 4], 2), [2, 4, 8])",
    "assert_array_equal": "npt.assert_array_equal(scale([1, 2, 4], 3), [3, 6, 12])",
    "array_equal": "assert np.array_equal(scale([1, 2, 4], 3), [3, 6, 12])",
    "a difference": "assert np.abs(scale([1, 2, 4], 2.5) - np.array([2.5, 5.0, 10.0])).max() < 1e-6",
    "approx": "assert mean([1, 2, 4]) == pytest.approx(2.3333333333)",
    "approx of an array": "assert scale([1, 2, 4], 2) == pytest.approx(np.array([2, 4, 8]))",
}
HEAD = "import numpy as np\nimport numpy.testing as npt\nimport pytest\n"
IMPORT = "from solution import *\n"
HONEST = """
class Tagged(np.ndarray): pass
class Units(np.ndarray):
    def __new__(cls, data, unit='m'):
        made = np.asarray(data, float).view(cls); made.unit = unit; return made
    def __array_finalize__(self, other): self.unit = getattr(other, 'unit', 'm')
    def __array_ufunc__(self, ufunc, method, *given, **named):
        found = getattr(ufunc, method)(*[np.asarray(each) for each in given], **named)
        return Units(found, self.unit) if found.dtype == float else found
class Poly:
    def __init__(self, *c): self.c = c
    def __array__(self, dtype=None, copy=None): return np.array(self.c)
    def __eq__(self, other): return isinstance(other, Poly) and self.c == other.c
    def __len__(self): return len(self.c)
class Cell:
    def __init__(self, v): self.v = v
    def __eq__(self, other): return isinstance(other, Cell) and self.v == other.v
class Money(float):
    pass
def mean(xs): return np.mean(xs)
def scale(xs, k): return (np.array(xs) * k).view(Tagged)
def plain(xs, k): return np.array(xs) * k
def matrix(): return np.matrix([[1, 2], [3, 4]])
def masked(): return np.ma.array([1.0, 2.0], mask=[False, True])
def poly(): return Poly(1, 2)
def records(): return np.array([(1, 'a')], dtype=[('n', int), ('t', 'U1')]).view(np.recarray)
def texts(): return np.array(['a', 'b'], dtype=object)
def fractions(): return np.array([Fraction(1, 2), 3], dtype=object)
def money(): return Money(2.5)
def cells(): return np.array([Cell(1), Cell(2)], dtype=object)
def nothing(): return np.array([]).view(Tagged)
"""
OF_HONEST = [
    "assert np.allclose(scale([1, 2], 2), [2, 4]) and (scale([1, 2], 2) == [2, 4]).all()",
    "npt.assert_array_equal(scale([1, 2], 2), [2, 4])",
    "assert isinstance(scale([1, 2], 2), np.ndarray) and type(scale([1], 1)).__name__ == 'Tagged'",
    "assert (Units([1, 2]) + Units([1, 2]) == np.array([2, 4])).all()",
    "assert (Units([1, 2]) * 2).unit == 'm' and np.allclose(Units([1, 2]) * 2, [2, 4])",
    "assert isinstance(Units([1]) * 2, Units) and np.sum(Units([1, 2])) == 3",
    "assert (matrix() * matrix() == np.array([[7, 10], [15, 22]])).all() and (matrix().A1 == [1, 2, 3, 4]).all()",
    "assert isinstance(np.dot(matrix(), matrix()), np.matrix)",
    "assert masked().sum() == 1.0 and masked().mask.tolist() == [False, True] and np.ma.is_masked(masked())",
    "assert np.allclose(poly(), [1, 2]) and poly() == Poly(1, 2) and np.array(poly()).tolist() == [1, 2]",
    "assert records().n[0] == 1 and (records()['t'] == 'a').all()",
    "assert (texts() == np.array(['a', 'b'])).all() and texts().tolist() == ['a', 'b']",
    "assert np.array_equal(fractions(), [Fraction(1, 2), 3]) and (fractions() * 2 == [1, 6]).all()",
    "assert money() == 2.5 and np.isclose(money(), 2.5) and money() == pytest.approx(2.5)",
    "assert (cells() == np.array([Cell(1), Cell(2)], dtype=object)).all() and cells()[0] == Cell(1)",
    "assert np.allclose(nothing(), []) and nothing().size == 0",
    "assert mean([1, 2]) == pytest.approx(1.5) and np.abs(mean([1, 2]) - 1.5) < 1e-9",
    "assert plain([1, 2], 2) == pytest.approx(np.array([2, 4])) and np.array_equal(plain([1], 1), [1])",
    "assert np.concatenate([scale([1], 2), [3]]).tolist() == [2, 3] and np.max(scale([1, 2], 2)) == 4",
    "assert np.where(scale([1, 2], 2) > 2, 1, 0).tolist() == [0, 1] and (scale([1, 2], 2) - 1).tolist() == [1, 3]",
]


def suite(lines: list[str]) -> str:
    return (
        HEAD
        + "from fractions import Fraction\n"
        + IMPORT
        + "".join(f"def test_{at}():\n    {line}\n" for at, line in enumerate(lines))
    )


async def asserted(candidate: str, text: str) -> Any:
    scoring = {"type": "command", "asserts": text, "isolate": False}
    (made,) = load_scenarios([{"id": "one", "candidate": candidate, "scoring": scoring}]).scenarios
    return await judged(made, with_numpy=True)


TRIALS = [(name, way) for name in FORGED for way in WAYS]


@pytest.mark.parametrize(("name", "way"), [trial for at, trial in enumerate(TRIALS) if at % 9 == 0])
async def test_a_class_does_not_decide_what_numpy_says(name: str, way: str) -> None:
    candidate = f"import numpy as np\n{FORGED[name]}{TAIL}"
    found = await scored(candidate, suite([WAYS[way]]), "pytest", with_numpy=True, isolate=False)
    assert (found.score, str(found.validity)) == (0.0, "valid"), found.detail


@pytest.mark.thorough
@pytest.mark.parametrize("name", FORGED)
async def test_it_does_not_in_any_comparison(name: str) -> None:
    candidate = f"import numpy as np\n{FORGED[name]}{TAIL}"
    for way, line in WAYS.items():
        found = await scored(candidate, suite([line]), "pytest", with_numpy=True, isolate=False)
        assert (found.score, str(found.validity)) == (0.0, "valid"), (way, found.detail)
        found = await asserted(candidate, f"{HEAD}{line}\n")
        assert (found.score, str(found.validity)) == (0.0, "valid"), (way, found.detail)


async def test_honest_arrays_are_what_they_are() -> None:
    candidate = f"import numpy as np\nfrom fractions import Fraction\n{HONEST}"
    found = await scored(candidate, suite(OF_HONEST), "pytest", with_numpy=True, isolate=False)
    assert (found.score, str(found.validity)) == (1.0, "valid"), found.detail
    right = f"import numpy as np\n{HONEST}"
    found = await scored(
        "from fractions import Fraction\n" + right,
        suite(list(WAYS.values())),
        "pytest",
        with_numpy=True,
        isolate=False,
    )
    assert (found.score, str(found.validity)) == (1.0, "valid"), found.detail
    found = await asserted(
        candidate,
        f"{HEAD}from fractions import Fraction\n"
        + "\n".join(line for line in [*OF_HONEST, *WAYS.values()] if "Units" not in line)
        + "\n",
    )
    assert (found.score, str(found.validity)) == (1.0, "valid"), found.detail
