# ruff: noqa: E501 (programs are text, not code of ours)
"""Answers that are rightly empty, beside names and numbers of the tests' own, and without a gold solution."""

from __future__ import annotations

import pytest
from shared_sandboxes import SHARED
from test_unittest_suites import scored

pytestmark = SHARED

PROGRAM = "import numpy as np\nROWS = {'ann': ['x', 'y'], 'bob': ['z']}\ndef find(w): return [k for k, v in ROWS.items() if w in v]\ndef rows(w): return ROWS.get(w, [])\ndef primes(a, b): return np.array([n for n in range(a, b) if n > 1 and all(n % d for d in range(2, n))], dtype=int)\n"
HEAD = "from solution import *\nimport itertools, operator\nimport numpy as np\nKEYS = ['a', 'b']\ndef first(n, xs): return [x for _, x in zip(range(n), xs)]\ndef test_some(): assert find('z') == ['bob'] and rows('ann') == ['x', 'y'] and list(primes(2, 6)) == [2, 3, 5] and first(1, rows('ann')) == ['x']\n"
NONE = {
    "pairs": (
        "assert first(3, find('q')) == []",
        "assert '; '.join(f'{i}:{d}' for i, d in zip('abc', find('q'))) == ''",
        "assert tuple(a for a, _ in zip(rows('zed'), KEYS)) == ()",
        "assert ''.join(map(lambda a, b: a + b, rows('zed'), KEYS)) == ''",
        "assert {a for a, b in zip(rows('zed'), KEYS)} == set()",
        "assert sorted(a for a, b in zip(rows('zed'), KEYS)) == []",
        "assert sum(1 for a, b in zip(find('q'), KEYS)) == 0",
        "assert next((a for a, b in zip(find('q'), KEYS)), None) is None",
        "assert find('q') == []\n    n = 0\n    for a, b in zip(find('q'), KEYS): n += 1\n    assert n == 0",
        "assert list(itertools.starmap(str.__add__, zip(rows('zed'), KEYS))) == []",
    ),
    "arrays": (
        "assert len(primes(24, 28)) == 0 and not np.isin(primes(24, 28), [2]).any()",
        "assert not (primes(24, 28) % 2 == 0).any() and primes(24, 28).tolist() == []",
        "assert (primes(24, 28) == 25).sum() == 0 and primes(24, 28).sum() == 0",
        "p = primes(24, 28)\n    assert (p - 1).tolist() == [] and (p * 2).size == 0",
        "p = primes(24, 28)\n    assert p.size == 0 and not (p > 3).any()\n    assert (np.ones(30)[p] == 1).all()",
    ),
}  # fmt: skip


def suite(bodies: tuple[str, ...]) -> str:
    return HEAD + "".join(f"def test_{index}():\n    {body}\n" for index, body in enumerate(bodies))


@pytest.mark.parametrize("name", NONE)
async def test_what_is_asserted_to_be_empty_may_be(name: str) -> None:
    found = await scored(PROGRAM, suite(NONE[name]), "pytest", with_numpy=True)
    assert found.score == 1.0, found.detail
    wrong = (
        PROGRAM.replace("if w in v", "if w not in v")
        .replace("ROWS.get(w, [])", "ROWS.get(w, ['n'])")
        .replace("all(n", "any(n")
    )
    refused = await scored(wrong, suite(NONE[name]), "pytest", with_numpy=True)
    assert (refused.score, str(refused.validity)) == (0.0, "valid"), refused.detail


NOTHING = "import numpy as np\ndef rows(w): return []\nfind = rows\ndef primes(a, b): return np.array([], dtype=int)\n"
COMPARED = {
    "all of pairs": "assert all(a == b for a, b in zip(rows('ann'), ['x', 'y']))",
    "a list in all": "assert all([a == b for a, b in zip(rows('ann'), ['x', 'y'])])",
    "what differs": "assert sum(a != b for a, b in zip(rows('ann'), ['x', 'y'])) == 0",
    "the first that differs": "assert next((a for a, b in zip(rows('ann'), ['x', 'y']) if a != b), None) is None",
    "a text of what differs": "assert ''.join('' if a == b else a for a, b in zip(rows('ann'), ['x', 'y'])) == ''",
    "a helper in all": "assert all(map(operator.eq, same(rows('ann')), [True, True]))",
    "another answer": "assert rows('zed') == []\n    assert all(a == b for a, b in zip(rows('ann'), ['x', 'y']))",
    "another range": "assert primes(24, 28).tolist() == [] and (primes(2, 6) == [2, 3, 5]).all()",
    "a difference": "assert np.abs(primes(2, 6) - np.array([2, 3, 5])).sum() == 0",
}  # fmt: skip


@pytest.mark.parametrize("name", COMPARED)
async def test_nothing_is_no_answer_where_something_is_expected(name: str) -> None:
    text = (
        HEAD.partition("def test_some")[0]
        + "def same(xs): return [a == b for a, b in zip(xs, ['x', 'y'])]\ndef test_a():\n    "
    )
    found = await scored(NOTHING, text + COMPARED[name] + "\n", "pytest", with_numpy=True)
    assert found.score == 0.0, found.detail
    right = await scored(PROGRAM, text + COMPARED[name] + "\n", "pytest", with_numpy=True)
    assert right.score == 1.0, right.detail
