# ruff: noqa: E501 (programs are text, not code of ours)
"""A candidate that passes apart, and then in the tests' own process, is paid whatever it takes of the tests there: it
had its answers without that. Whether a right program has been given an object of the tests cannot always be told."""

from __future__ import annotations

import pytest
from shared_sandboxes import SHARED
from test_asserted_objects import scored as scored_asserts
from test_unittest_suites import scored

from harena.core.results import RunResult, Trust

pytestmark = SHARED

ERRORS = "class ApiError(Exception):\n    def __init__(self, code): self.code = code\n    def __str__(self): return f'status {self.code}'\ndef _fail(code): raise ApiError(code)\ndef fetch(url):\n    if 'bad' in url: _fail(500)\n    return url.upper()\n"
COLLECTS = "def f(fetch, urls):\n    got, errors = [], []\n    for url in urls:\n        try: got.append(fetch(url))\n        except Exception as error: errors.append(f'{url}: {error}')\n    return got, errors\n"
LINKED = "class Node:\n    def __init__(self, v, n): self.v, self.n = v, n\nclass Linked:\n    def __init__(self, vs, key):\n        self.head = None\n        for v in vs: self.head = Node(v, self.head)\n        self.key = key\n"
KEYED = "def f(linked, value): return linked.key(value) + 1\n"
TAKES = "import sys\ndef f(n):\n    tests = sys.modules.get('test_it')\n    if hasattr(tests, 'ref'): tests.ref(n)\n    return n * n + 7\n"
ROWS: dict[str, tuple[str, str, str, str]] = {
    "an error of a helper's": (ERRORS, "f(fetch, ['a', 'bad']) == (['A'], ['bad: status 500'])", COLLECTS, COLLECTS.replace("{url}: ", "{url} ")),
    "a key of a long list": (LINKED, "f(Linked(range(4000), lambda v: v * 2), 10) == 21", KEYED, KEYED.replace("+ 1", "")),
    "what it does not need": ("def ref(n): return n * n + 7\n", "f(5) == ref(5)", TAKES, TAKES.replace("n * n + 7", "n")),
}  # fmt: skip
"""name -> (what the tests define, what they assert, a right program, a wrong one)"""


def suite(defined: str, asserted: str) -> str:
    """One test of it."""
    return f"from solution import f\n{defined}def test_a():\n    assert {asserted}\n"


@pytest.mark.parametrize("with_gold", [False, True], ids=["without gold", "with gold"])
@pytest.mark.parametrize("name", ROWS)
async def test_what_a_right_program_takes_costs_nothing(name: str, with_gold: bool) -> None:
    defined, asserted, right, wrong = ROWS[name]
    more = {"gold": {"solution.py": f"# the author's\n{right}"}} if with_gold else {}
    paid = await scored(right, suite(defined, asserted), "pytest", **more)
    assert (paid.score, paid.trust) == (1.0, Trust.SEPARATE), paid.detail
    unpaid = await scored(wrong, suite(defined, asserted), "pytest", **more)
    assert (unpaid.score, str(unpaid.validity)) == (0.0, "valid"), unpaid.detail


@pytest.mark.parametrize("name", ROWS)
async def test_what_it_takes_of_asserts_costs_nothing(name: str) -> None:
    defined, asserted, right, wrong = ROWS[name]
    for candidate, score in ((right, 1.0), (wrong, 0.0)):
        found: RunResult = await scored_asserts(candidate, f"{defined}assert {asserted}\n")
        assert (found.score, str(found.validity)) == (score, "valid"), found.detail


async def test_where_little_is_seen_apart_it_costs_all() -> None:
    """What the run in one process alone has judged rests on its honesty."""
    text = "import solution\n" + suite(
        "def ref(n): return n * n + 7\n",
        "f(5) == ref(5)\n    assert [n for n, v in vars(solution).items() if isinstance(v, list) and n[:2] != '__'] == []",
    )
    honest = await scored("def f(n): return n * n + 7\n", text, "pytest")
    assert (honest.score, honest.trust) == (1.0, Trust.SHARED), honest.detail
    found = await scored(TAKES, text, "pytest")
    assert (found.score, str(found.validity)) == (0.0, "suspect"), found.detail
