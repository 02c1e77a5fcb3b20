# ruff: noqa: E501 (programs are text, not code of ours)
"""Numbers, texts, truths and times of numpy's cross as what they are, to a suite and back."""

from __future__ import annotations

import pytest
from shared_sandboxes import SHARED
from test_unittest_suites import scored

from harena.core.results import Trust

pytest.importorskip("numpy")
pytestmark = SHARED

VALUES = {
    "np.float32(1.5)": "isinstance(f(), np.float32) and f().dtype == np.float32", "np.float64(1.5)": "isinstance(f(), np.float64) and isinstance(f(), float)",
    "np.int64(3)": "isinstance(f(), np.integer) and f().item() == 3 and type(f()) is np.int64", "np.bool_(True)": "isinstance(f(), np.bool_) and f() == True and f() is not True",
    "np.str_('a')": "isinstance(f(), np.str_) and f() == 'a'", "np.complex64(1+2j)": "isinstance(f(), np.complexfloating)", "np.uint8(250)": "f().itemsize == 1 and f() == 250",
    "np.datetime64('2020-01-01')": "f() == np.datetime64('2020-01-01') and f().dtype == '<M8[D]'", "np.float64(2)": "f().shape == () and f().ndim == 0 and f().round(1) == 2",
    "[np.int64(1), np.float32(2)]": "all(isinstance(x, np.generic) for x in f())", "{'a': np.float64(1)}": "isinstance(f()['a'], np.floating)",
    "np.array(5)": "isinstance(f(), np.ndarray) and f() == 5 and f().shape == ()", "np.array([1, 2])[0]": "f() == 1", "np.nan": "f() != f()",
    "np.asfortranarray(np.ones((2, 3)))": "f().flags['F_CONTIGUOUS'] and f().tolist() == [[1, 1, 1]] * 2", "np.arange(6)[::2]": "f().base is not None and f().tolist() == [0, 2, 4]",
    "np.broadcast_to(1, (2, 2))": "not f().flags.writeable and f().sum() == 4", "np.array([[1, 'a'], [None, 2]], dtype=object).T": "f().flags.f_contiguous and f()[1, 0] == 'a'",
    "(np.ones(2), np.float64(3))": "f()[0].sum() == 2 and isinstance(f()[1], np.floating)",
}  # fmt: skip
WRONG = {
    "np.float32(1.5)": "1.5", "np.float64(1.5)": "np.float32(1.5)", "np.int64(3)": "3", "np.bool_(True)": "True", "np.str_('a')": "'a'", "np.complex64(1+2j)": "1+2j",
    "np.uint8(250)": "np.uint8(251)", "np.datetime64('2020-01-01')": "np.datetime64('2020-01-02')", "np.float64(2)": "2.0", "[np.int64(1), np.float32(2)]": "[1, 2.0]",
    "np.asfortranarray(np.ones((2, 3)))": "np.ones((2, 3))", "np.arange(6)[::2]": "np.array([0, 2, 4])", "np.broadcast_to(1, (2, 2))": "np.ones((2, 2))",
    "np.array([[1, 'a'], [None, 2]], dtype=object).T": "np.array([[1, None], ['a', 2]], dtype=object)",
    "{'a': np.float64(1)}": "{'a': 1.0}", "np.array(5)": "5", "np.array([1, 2])[0]": "np.int64(2)", "np.nan": "np.float64(0)", "(np.ones(2), np.float64(3))": "(np.ones(2), 3.0)",
}  # fmt: skip


@pytest.mark.parametrize("value", VALUES)
async def test_a_number_keeps_its_type(value: str) -> None:
    suite = f"import numpy as np\nfrom solution import f\ndef test_a(): assert {VALUES[value]}\n"
    found = await scored(f"import numpy as np\ndef f(): return {value}\n", suite, "pytest", with_numpy=True)
    assert (found.score, found.trust) == (1.0, Trust.SEPARATE), found.detail
    wrong = f"import numpy as np\ndef f(): return {WRONG[value]}\n"
    found = await scored(wrong, suite, "pytest", with_numpy=True)
    assert (found.score, str(found.validity)) == (0.0, "valid"), found.detail


CHANGES = "import numpy as np\nclass K:\n    def __init__(self): self.a = np.arange(6)[::1]\n    def freeze(self): self.a.flags.writeable = False\n    def add(self): self.a += 1\n    def fold(self): self.a.shape = (2, 3)\ndef twice(x): x *= 2\n"


async def test_an_array_that_is_changed_in_place_is_changed_where_it_lies_too() -> None:
    """A view, one that is frozen meanwhile, one by columns, and one that the suite gives."""
    suite = "import numpy as np, pytest\nfrom solution import K, twice\ndef test_a():\n    k = K(); a = k.a; k.add(); k.fold(); assert a.tolist() == [[1, 2, 3], [4, 5, 6]]\n    k.freeze()\n    assert not k.a.flags.writeable\n    with pytest.raises(ValueError): k.a[0] = 1\n    with pytest.raises(ValueError): k.add()\n    given = np.asfortranarray(np.ones((2, 3))); twice(given); twice(given[0]); assert given.tolist() == [[4.0] * 3, [2.0] * 3]\n    frozen = np.broadcast_to(1.0, (2, 2))\n    with pytest.raises(ValueError): twice(frozen)\n    assert frozen.sum() == 4\n"
    found = await scored(CHANGES, suite, "pytest", with_numpy=True)
    assert found.score == 1.0, found.detail


OBJECTS = "import numpy as np\nclass P:\n    def __init__(s, x): s.x = np.asarray(x)\n    def __eq__(s, o): return (s.x == o.x).all()\n    def __lt__(s, o): return s.x.sum() < o.x.sum()\n    def __len__(s): return len(s.x)\n    def __contains__(s, v): return (s.x == v).any()\n    def __bool__(s): return bool(s.x.any())\n    def __hash__(s): return 3\n    def mean(s): return s.x.mean()\n    def equals(s, o): return np.bool_((s.x == o.x).all())\ndef given(v): return type(v).__name__, v\n"


async def test_objects_say_truths_of_numpy_s() -> None:
    """What Python takes for a truth, a number or a length is one. What the suite gives is what it was, too."""
    suite = "import numpy as np\nfrom solution import P, given\ndef test_a():\n    a = P([1, 2])\n    assert a == P([1, 2]) and a < P([3, 4]) and len(a) == 2 and 2 in a and 5 not in a\n    assert a and not P([0]) and a.equals(P([1, 2])) and isinstance(a.mean(), np.floating)\n    assert given(np.float32(2)) == ('float32', 2) and given(np.bool_(True))[1] == True\n"
    found = await scored(OBJECTS, suite, "pytest", with_numpy=True)
    assert (found.score, str(found.validity)) == (1.0, "valid"), found.detail


LIARS = (
    "class R:\n    def equals(s, o): return np.bool_(True)\n    __eq__ = lambda s, o: np.bool_(True)\n    __ne__ = lambda s, o: np.bool_(False)\n    __contains__ = __lt__ = __gt__ = equals\n    __len__ = lambda s: np.int64(2)\n    __bool__ = lambda s: True\n    __hash__ = None\n    def __getitem__(s, k): return np.bool_(True)\n    def is_it(s, o): return np.bool_(True)\n",
    "class R(float):\n    __eq__ = lambda s, o: np.bool_(True)\n    __ne__ = lambda s, o: np.bool_(False)\n    __hash__ = None\n    equals = is_it = __contains__ = __lt__ = __gt__ = lambda s, o: np.bool_(True)\n    __getitem__ = lambda s, k: np.bool_(True)\n    __len__ = lambda s: np.int64(2)\n",
)


@pytest.mark.parametrize("liar", LIARS)
async def test_no_object_says_yes_by_numpy(liar: str) -> None:
    """A truth of numpy's is believed where Python's own is, and nowhere else."""
    candidate = f"import numpy as np\n{liar}def f(x): return R()\n"
    for claim in (
        "f(5) == 25",
        "f(5).equals(25)",
        "25 in f(5)",
        "not f(5) != 25",
        "f(5)[25]",
        "[f(5)] == [25]",
        "20 < f(5) < 26",
        "len(f(5)) == 25",
    ):
        suite = f"import numpy as np\nfrom solution import f\ndef test_a(): assert {claim}\n"
        found = await scored(candidate, suite, "pytest", with_numpy=True)
        assert found.score != 1.0, (claim, found.detail)


MEMORY = "import numpy as np\nclass Grid:\n    def __init__(self, a): self.a = a\n    def row(self, i): return self.a[i]\n    def column(self, i): return self.a[:, i]\n    def flat(self): return self.a.reshape(-1)\n    def turned(self): return self.a.T\n    def back(self): return self.a[::-1]\n    def own(self): return self.a.copy()\n    def bytes(self): return self.a.view('u1')\nclass Mine(Grid):\n    def __init__(self, n): self.a = np.zeros((n, n))\ndef evens(a): return a[::2]\ndef fold(a): return a.reshape(2, 3)\ndef zero(a): a[...] = 0\ndef columns(a): return np.asfortranarray(a)\ndef both(a): return a, a[1:]\n"
OF_ONE_MEMORY = {
    "a row that is written to": "a = np.zeros((2, 2)); g = Grid(a)\n    g.row(0)[:] = 5\n    assert a[0].tolist() == [5, 5] and g.row(0).tolist() == [5, 5]",
    "the candidate's own": "m = Mine(3); m.column(1)[:] = 7; m.row(0)[0] = 1\n    assert m.own().tolist() == [[1, 7, 0], [0, 7, 0], [0, 7, 0]]",
    "every second": "a = np.arange(6); r = evens(a)\n    assert np.shares_memory(r, a) and r.strides == (2 * a.itemsize,)\n    r[0] = 99; assert a[0] == 99",
    "another shape": "a = np.arange(6); r = fold(a); r[0, 0] = 99\n    assert a[0] == 99 and r.base is a and r.shape == (2, 3)",
    "turned": "a = np.arange(6).reshape(2, 3).copy(); g = Grid(a); t = g.turned()\n    assert np.shares_memory(t, a) and t.flags.f_contiguous and t.shape == (3, 2)\n    t[2, 0] = 9; assert a[0, 2] == 9 and g.flat()[2] == 9",
    "backwards": "a = np.arange(4); r = Grid(a).back(); r[0] = 9\n    assert a.tolist() == [0, 1, 2, 9] and r.strides == (-a.itemsize,)",
    "what the suite gives": "a = np.ones((2, 3)); zero(a[0]); zero(a[:, 1]); assert a.tolist() == [[0, 0, 0], [1, 0, 1]]\n    f = np.asfortranarray(np.ones((2, 3))); zero(f[0]); assert f.tolist() == [[0, 0, 0], [1, 1, 1]]",
    "a copy": "a = np.arange(3); r = Grid(a).own(); r[0] = 9\n    assert a[0] == 0 and not np.shares_memory(r, a) and r.base is None",
    "bytes": "a = np.zeros(1, dtype='<u2'); r = Grid(a).bytes(); r[1] = 1\n    assert a[0] == 256 and np.shares_memory(a, r)",
    "by columns": "a = np.ones((2, 3)); r = columns(a)\n    assert r.flags['F_CONTIGUOUS'] and r.strides == (8, 16) and not np.shares_memory(r, a)",
    "by columns, in part": "a = np.asfortranarray(np.zeros((2, 3))); g = Grid(a); g.row(1)[:] = 4\n    assert a.tolist() == [[0, 0, 0], [4, 4, 4]] and g.row(1).strides == (16,)",
    "two at once": "a, b = both(np.arange(3)); b[0] = 7; assert a[1] == 7",
    "times": "a = np.array(['2020-01-01', '2020-01-02'], 'M8[D]'); r = evens(a); r[0] = '2021-01-01'\n    assert str(a[0]) == '2021-01-01'",
}  # fmt: skip
NOT_SHARED = {
    "self.a[i]": "self.a[i].copy()",
    "self.a[:, i]": "self.a[:, i].copy()",
    "a[::2]": "a[::2].copy()",
    "a.reshape(2, 3)": "a.reshape(2, 3).copy()",
    "self.a.T": "self.a.T.copy('F')",
    "self.a[::-1]": "self.a[::-1].copy()",
    "a[1:]": "a[1:].copy()",
    "self.a.view('u1')": "self.a.view('u1').copy()",
    "self.a.copy()": "self.a",
    "asfortranarray": "ascontiguousarray",
    "a[...] = 0": "a = a * 0",
}


@pytest.mark.parametrize("name", OF_ONE_MEMORY)
async def test_arrays_of_one_memory_are_of_one_memory_on_both_sides(name: str) -> None:
    """Who gives a copy in the place of a part has another answer."""
    suite = f"import numpy as np\nfrom solution import *\ndef test_a():\n    {OF_ONE_MEMORY[name]}\n"
    found = await scored(MEMORY, suite, "pytest", with_numpy=True)
    assert (found.score, found.trust) == (1.0, Trust.SEPARATE), found.detail
    wrong = MEMORY
    for right, other in NOT_SHARED.items():
        assert right in wrong
        wrong = wrong.replace(right, other)
    found = await scored(wrong, suite, "pytest", with_numpy=True)
    assert (found.score, str(found.validity)) == (0.0, "valid"), found.detail


COPIED = {
    "of objects": ("a = np.array([1, 'a', None], dtype=object)", "a[0] == 9"),
    "a large one": ("a = np.zeros(1 << 18)", "a[0] == 9"),
}


@pytest.mark.parametrize("name", COPIED)
async def test_a_part_that_crosses_as_a_copy_is_not_held_against_it(name: str) -> None:
    """Without a gold a right program has no score and the reason, and a wrong one fails beside the tests, too."""
    made, said = COPIED[name]
    suite = f"import numpy as np\nfrom solution import *\ndef test_a():\n    {made}; r = evens(a); r[0] = 9\n    assert {said}\n"
    found = await scored(MEMORY, suite, "pytest", with_numpy=True)
    assert (found.score, "crosses as a copy" in found.detail) == (None, True), found.detail
    wrong = MEMORY.replace("a[::2]", "a[::2].copy()")
    found = await scored(wrong, suite, "pytest", with_numpy=True)
    assert (found.score, str(found.validity)) == (0.0, "valid"), found.detail
