# ruff: noqa: E501 (programs are text, not code of ours)
"""An answer without elements is a right one where the tests have asserted before that it has none."""

from __future__ import annotations

from typing import Any

import pytest
from shared_sandboxes import SHARED
from test_unittest_suites import scored

pytestmark = SHARED

HEAD = "import numpy as np\nimport pytest\nfrom solution import rows_with\nM = np.array([[1, 2], [3, 4], [1, 5]])\n"
RIGHT = "import numpy as np\ndef rows_with(m, v): return m[(m == v).any(axis=1)]\n"
EMPTY = "import numpy as np\ndef rows_with(m, v): return np.empty((0, 2), int)\n"
FLAT = "import numpy as np\ndef rows_with(m, v): return np.empty((int((m == v).any(axis=1).sum()), 0), int)\n"
CASES = "    for v, n in ((1, 2), (4, 1), (9, 0)):\n        r = rows_with(M, v)\n"
STATED = {
    "a shape": "def test_a():\n" + CASES + "        assert r.shape == (n, 2)\n        assert ((r == v).any(axis=1)).all()\n",
    "a size": "def test_a():\n" + CASES + "        assert 2 * n == r.size\n        assert np.all(r[:1] != 7)\n",
    "a length": "def test_a():\n" + CASES.replace("rows_with(M, v)", "rows_with(M, v).ravel()") + "        assert len(r) == 2 * n\n        assert (r != v + 20).all()\n",
    "of a table": '@pytest.mark.parametrize("v, n", [(1, 2), (9, 0)])\ndef test_a(v, n):\n    r = rows_with(M, v)\n    assert r.shape == (n, 2)\n    assert (r != v + 20).all()\n',
    "by unittest": "import unittest\nclass TestA(unittest.TestCase):\n    def test_a(self):\n" + CASES.replace("    for", "        for").replace("        r", "            r") + "            self.assertEqual(r.shape, (n, 2))\n            self.assertTrue((r != v + 20).all())\n",
}  # fmt: skip


@pytest.mark.parametrize("way", [{}, {"isolate": False}], ids=["apart", "beside"])
@pytest.mark.parametrize("name", STATED)
async def test_a_size_that_the_tests_have_asserted_explains_an_empty_answer(name: str, way: Any) -> None:
    found = await scored(RIGHT, HEAD + STATED[name], "pytest", with_numpy=True, **way)
    assert (found.score, str(found.validity)) == (1.0, "valid"), found.detail


UNSTATED = {
    "nothing of it": ("def test_a():\n" + CASES + "        assert (r != v + 20).all()\n", EMPTY),
    "behind it": ("def test_a():\n" + CASES + "        assert (r != v + 20).all()\n        if n == 0: assert r.shape == (n, 2)\n", EMPTY),
    "where it is not come to": ("def test_a():\n" + CASES + "        if v > 99:\n            assert r.shape == (n, 2)\n        assert (r != v + 20).all()\n", EMPTY),
    "by an answer": ("def test_a():\n" + CASES + "        assert r.shape == rows_with(M, v).shape\n        assert (r != v + 20).all()\n", EMPTY),
    "of another value": ("def test_a():\n" + CASES + "        assert M.shape == (3, 2)\n        assert (r != v + 20).all()\n", EMPTY),
    "a length of rows": ("def test_a():\n" + CASES + "        assert len(r) == n\n        assert (r != v + 20).all()\n", FLAT),
}  # fmt: skip


@pytest.mark.parametrize("way", [{}, {"isolate": False}], ids=["apart", "beside"])
@pytest.mark.parametrize("name", UNSTATED)
async def test_a_size_that_nobody_has_asserted_explains_nothing(name: str, way: Any) -> None:
    body, candidate = UNSTATED[name]
    found = await scored(candidate, HEAD + body, "pytest", with_numpy=True, **way)
    assert found.score == 0.0, found.detail
