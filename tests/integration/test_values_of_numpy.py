# ruff: noqa: E501 (programs are text, not code of ours)
"""Numbers, texts, truths and times of numpy's cross as what they are, to a suite and back."""

from __future__ import annotations

import pytest
from test_unittest_suites import scored

from harena.core.results import Trust

pytest.importorskip("numpy")

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
    found = await scored(f"import numpy as np\ndef f(): return {value}\n", suite, "pytest", by_this_interpreter=True)
    assert (found.score, found.trust) == (1.0, Trust.SEPARATE), found.detail
    wrong = f"import numpy as np\ndef f(): return {WRONG[value]}\n"
    found = await scored(wrong, suite, "pytest", by_this_interpreter=True)
    assert (found.score, str(found.validity)) == (0.0, "valid"), found.detail


CHANGES = "import numpy as np\nclass K:\n    def __init__(self): self.a = np.arange(6)[::1]\n    def freeze(self): self.a.flags.writeable = False\n    def add(self): self.a += 1\n    def fold(self): self.a.shape = (2, 3)\ndef twice(x): x *= 2\n"


async def test_an_array_that_is_changed_in_place_is_changed_where_it_lies_too() -> None:
    """A view, one that is frozen meanwhile, one by columns, and one that the suite gives."""
    suite = "import numpy as np, pytest\nfrom solution import K, twice\ndef test_a():\n    k = K(); a = k.a; k.add(); k.fold(); assert a.tolist() == [[1, 2, 3], [4, 5, 6]]\n    k.freeze()\n    assert not k.a.flags.writeable\n    with pytest.raises(ValueError): k.a[0] = 1\n    with pytest.raises(ValueError): k.add()\n    given = np.asfortranarray(np.ones((2, 3))); twice(given); twice(given[0]); assert given.tolist() == [[4.0] * 3, [2.0] * 3]\n    frozen = np.broadcast_to(1.0, (2, 2))\n    with pytest.raises(ValueError): twice(frozen)\n    assert frozen.sum() == 4\n"
    found = await scored(CHANGES, suite, "pytest", by_this_interpreter=True)
    assert found.score == 1.0, found.detail


OBJECTS = "import numpy as np\nclass P:\n    def __init__(s, x): s.x = np.asarray(x)\n    def __eq__(s, o): return (s.x == o.x).all()\n    def __lt__(s, o): return s.x.sum() < o.x.sum()\n    def __len__(s): return len(s.x)\n    def __contains__(s, v): return (s.x == v).any()\n    def __bool__(s): return bool(s.x.any())\n    def __hash__(s): return 3\n    def mean(s): return s.x.mean()\n    def equals(s, o): return np.bool_((s.x == o.x).all())\ndef given(v): return type(v).__name__, v\n"


async def test_objects_say_truths_of_numpy_s() -> None:
    """What Python takes for a truth, a number or a length is one. What the suite gives is what it was, too."""
    suite = "import numpy as np\nfrom solution import P, given\ndef test_a():\n    a = P([1, 2])\n    assert a == P([1, 2]) and a < P([3, 4]) and len(a) == 2 and 2 in a and 5 not in a\n    assert a and not P([0]) and a.equals(P([1, 2])) and isinstance(a.mean(), np.floating)\n    assert given(np.float32(2)) == ('float32', 2) and given(np.bool_(True))[1] == True\n"
    found = await scored(OBJECTS, suite, "pytest", by_this_interpreter=True)
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
        found = await scored(candidate, suite, "pytest", by_this_interpreter=True)
        assert found.score != 1.0, (claim, found.detail)
