# ruff: noqa: E501 (programs are text, not code of ours)
"""Mocks that a suite gives a candidate with a sandbox of its own do what they do for Python itself."""

from __future__ import annotations

import pytest
from shared_sandboxes import SHARED
from test_unittest_suites import scored

from harena.core.results import Trust

pytestmark = SHARED

MOCKS = {
    "a loop": ("return [r for r in x]", "m = MagicMock(); m.__iter__.return_value = iter([1, 2]); assert f(m) == [1, 2]"),
    "two loops": ("return [r for r in x], [r for r in x]", "m = MagicMock(); m.__iter__.return_value = [1, 2]; assert f(m) == ([1, 2], [1, 2])"),
    "nothing set": ("return list(x), len(x), bool(x), int(x), 3 in x", "assert f(MagicMock()) == ([], 0, True, 1, False)"),
    "a cursor": ("c = x.cursor(); c.execute('q'); return [r[0] for r in c]", "m = MagicMock(); m.cursor.return_value.__iter__.return_value = iter([(1,), (2,)]); assert f(m) == [1, 2]\n    m.cursor.return_value.execute.assert_called_once_with('q')"),
    "lines of a file": ("with x('p') as h: return [l.strip() for l in h]", "assert f(mock_open(read_data='a\\nb\\n')) == ['a', 'b']"),
    "keys": ("return x['a'], x.get('b')", "m = MagicMock(); m.__getitem__.side_effect = {'a': 1}.__getitem__; m.get.return_value = 2; assert f(m) == (1, 2)"),
    "what is in it": ("return 'k' in x, 'z' in x", "m = MagicMock(); m.__contains__.side_effect = lambda k: k == 'k'; assert f(m) == (True, False)"),
    "a property": ("x.p = 5\n    return x.p", "m = Mock(); p = type(m).p = PropertyMock(return_value=3); assert f(m) == 3\n    assert p.mock_calls == [call(5), call()]"),
    "a class": ("return isinstance(x, dict), hasattr(x, 'nope'), isinstance([x], list)", "assert f(Mock(spec=dict)) == (True, False, True)"),
    "in a list": ("return [isinstance(y, dict) for y in x], x", "m = Mock(spec=dict); given = [m, {}]; found, same = f(given); assert found == [True, True] and same is given and same[0] is m"),
    "a class of its own": ("return isinstance(x, C) and x.go()", "from solution import C\n    m = Mock(spec=C); m.go.return_value = 4; assert f(m) == 4"),
    "a loop that waits": ("import asyncio\n    async def go(): return [i async for i in x]\n    return asyncio.run(go())", "m = MagicMock(); m.__aiter__.return_value = [1, 2]; assert f(m) == [1, 2]"),
    "a place in memory": ("x[0] = 66", "data = bytearray(b'ab'); f(memoryview(data)); assert data == b'Bb'"),
    "what stays": ("return x[0], x.tobytes(), x.readonly", "assert f(memoryview(b'ab')) == (97, b'ab', True)"),
}  # fmt: skip
WRONG = {
    "a loop": ("for r in x", "for r in [*x][:1]"), "two loops": ("], [", "], [0] + ["), "nothing set": ("3 in x", "3 not in x"),
    "a cursor": ("c.execute('q')", "c.execute('r')"), "lines of a file": (".strip()", ""), "keys": ("x['a']", "x['b']"),
    "what is in it": ("'z' in x", "'z' not in x"), "a property": ("x.p = 5", "x.p = 6"), "a class": ("dict)", "str)"),
    "in a list": ("(y, dict)", "(y, list)"), "a class of its own": ("x.go()", "x.stop()"), "a loop that waits": ("[i a", "[-i a"),
    "a place in memory": ("= 66", "= 67"), "what stays": ("x[0]", "x[1]"),
}  # fmt: skip


def _of(name: str, edit: tuple[str, str] = ("", "")) -> tuple[str, str]:
    body, test = MOCKS[name]
    assert edit[0] in body
    names = "from unittest.mock import Mock, MagicMock, PropertyMock, call, mock_open"
    own = "class C:\n    def go(self): return 1\n    def stop(self): return 1\n"
    return (
        f"{own}def f(x):\n    {body.replace(*edit) if edit[0] else body}\n",
        f"{names}\nfrom solution import f\ndef test_a():\n    {test}\n",
    )


@pytest.mark.parametrize("name", MOCKS)
async def test_a_mock_does_what_it_is_set_to(name: str) -> None:
    """And a program that does otherwise with it is wrong."""
    found = await scored(*_of(name), "pytest")
    assert (found.score, found.trust) == (1.0, Trust.SEPARATE), found.detail
    found = await scored(*_of(name, WRONG[name]), "pytest")
    assert (found.score, str(found.validity)) == (0.0, "valid"), found.detail


async def test_no_candidate_reads_what_a_mock_is_to_judge() -> None:
    """Nor sets it, by whatever a mock shows now."""
    suite = "from unittest.mock import MagicMock\nfrom solution import f\ndef test_a():\n    m = MagicMock(spec=['go', '__iter__'])\n    m.go.return_value = 7\n    assert f(m) == 7\n    m.go.assert_called_once_with(3)\n"
    for body in (
        "x.go = lambda *a: 7\n    return 7", "x.go.return_value = 7\n    x.go.called = True\n    return 7",
        "type(x).go = None\n    return 7", "x.go.assert_called_once_with = lambda *a: None\n    return 7",
        "x.__class__ = dict\n    return 7", "x.go.mock_calls.append(3)\n    return 7", "return x.go.return_value",
    ):  # fmt: skip
        found = await scored(f"def f(x):\n    {body}\n", suite, "pytest")
        assert (found.score, str(found.validity)) == (0.0, "valid"), (body, found.detail)
