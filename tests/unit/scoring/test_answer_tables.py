# ruff: noqa: E501 (programs are text, not code of ours)
"""What the tests expect, in a table of another trusted module, and another value in its place."""

from __future__ import annotations

import pytest

from harena.scoring.scorers.answer_tables import with_other_answers

ROWS = "ROWS = [(1, 2), (3, 'a')]\nLIMIT = 3\ndef f(x): return 3\n"
SETTINGS = "S = {'max': 10, 'min': 0}\n"
KEYS = "T = {1: 'a', 2: [True, (1, 2.5)]}\nLIMIT = 3\n"
CHANGED = {
    "a loop": ("def test_a():\n    for x, y in ROWS: assert f(x) == y\n", ROWS, "ROWS = [(1, 3), (3, 'a~')]"),
    "the other order": ("def test_a():\n    for y, x in table.ROWS: self.assertEqual(y, f(x))\n", ROWS, "ROWS = [(2, 2), (4, 'a')]"),
    "parameters": ("@pytest.mark.parametrize('x, y', ROWS)\ndef test_a(x, y): assert f(x) == y\n", ROWS, "ROWS = [(1, 3), (3, 'a~')]"),
    "items": ("def test_a():\n    for x, y in T.items(): assert f(x) == y\n", KEYS, "T = {1: 'a~', 2: [False, (2, 3.5)]}"),
    "a key, twice": ("def test_a():\n    for x, y in T.items(): assert f(x) == y\n    assert f(1) == T[1]\n", KEYS, "T = {1: 'a~', 2: [False, (2, 3.5)]}"),
    "a key": ("def test_a(): assert f(1) == T[1]\n", KEYS, "T = {1: 'a~', 2: [False, (2, 3.5)]}"),
    "a key that is asked by its name": ("ONE = 1\ndef test_a(): assert f(ONE) == T[ONE]\n", KEYS, "T = {1: 'a~', 2: [False, (2, 3.5)]}"),
    "a key of a loop": ("def test_a():\n    for x in (1, 2): assert f(str(x)) == T[x]\n", KEYS, "T = {1: 'a~', 2: [False, (2, 3.5)]}"),
    "a variable key": ("def test_a(x): assert f() == T[x]\n", KEYS, "T = {1: 'a~', 2: [False, (2, 3.5)]}"),
    "a member": ("from table import K\ndef test_a(): assert f(K.A) == T[K.A]\n", KEYS, "T = {1: 'a~', 2: [False, (2, 3.5)]}"),
    "a setting and a key": ("def test_a():\n    assert g(9) == T[1]\n    assert f(2) == T[2]\n", KEYS, "T = {1: 'a~', 2: [False, (2, 3.5)]}"),
    "the name of what is called": ("def test_a(): assert first() == T['first']\n", "T = {'first': 2}\nLIMIT = 3\n", "T = {'first': 3}"),
}  # fmt: skip
KEPT = {
    "its length": ("def test_a(): assert one() == len(ROWS)\n", ROWS),
    "a constant": ("def test_a(): assert f(2) == 2 * LIMIT\n", ROWS),
    "inputs alone": ("def test_a():\n    for x, y in ROWS: assert f(x, y) == 3\n", ROWS),
    "what is computed": ("def test_a():\n    for x, y in rows(3): assert f(x) == y\n", ROWS),
    "a setting": ("def test_a(): assert f(99) == S['max']\n", SETTINGS),
    "a setting, the other way": ("class T:\n    def test_a(self): self.assertEqual(S['max'], f(99))\n", SETTINGS),
    "a setting by a name": ("KEY = 'max'\ndef test_a(): assert f(99) == S[KEY]\n", SETTINGS),
    "a setting by a member": ("from table import Key\ndef test_a(): assert f(99) == S[Key.MAX]\n", SETTINGS),
    "a setting by two": ("def test_a(): assert f(99) == S['max', -1]\n", SETTINGS),
    "no program": ("def test_a():\n    for x, y in ROWS: assert f(x) == y\n", "ROWS = [("),
}


@pytest.mark.parametrize("name", CHANGED)
def test_what_the_tests_expect_is_another(name: str) -> None:
    """All else of the module stays."""
    test, table, changed = CHANGED[name]
    found = with_other_answers({"test_it.py": test, "table.py": table}, {"table.py": table})
    assert found["table.py"].splitlines() == [changed, *table.splitlines()[1:2], *found["table.py"].splitlines()[2:]]


@pytest.mark.parametrize("name", KEPT)
def test_a_module_without_answers_stays(name: str) -> None:
    test, table = KEPT[name]
    assert with_other_answers({"test_it.py": test, "table.py": table}, {"table.py": table}) == {}
