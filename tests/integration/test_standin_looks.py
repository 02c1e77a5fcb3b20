# ruff: noqa: E501 (programs are text, not code of ours)
"""Objects made of plain values that answer each look in another way, or say what their value is not, are never paid."""

from __future__ import annotations

import asyncio

import pytest
from shared_sandboxes import SHARED
from test_standins_judge import suite_of
from test_unittest_suites import scored

pytestmark = SHARED

LOOP = """import enum
class M(BASE):
    A = 1
    def __len__(s): Q.append(1); return 3
    def __iter__(s):
        Q.append(1)
        return iter([0, 0, 0] if len(Q) == 1 else [])
Q = []
def f(x): Q.clear(); return M.A
"""
LOOPS = "r = f(2)\nself.assertEqual(len(r), 3)\nfor got, want in zip(r, [4, 5, 6]): self.assertEqual(got, want)"
NUMBER = """class E(BASE):
    n = 0
    def __float__(s):
        s.n += 1
        return 1e9 if s.n % 2 else -1e9
def f(x): return E()
"""
BETWEEN = "r = f(2)\nself.assertGreater(float(r), 3.1)\nself.assertLess(float(r), 3.2)"
FLIPS = {
    **{base: (LOOP.replace("BASE", base), LOOPS, "def f(x): return [4, 5, 6]\n") for base in ("enum.Enum", "enum.IntEnum")},
    **{base: (NUMBER.replace("BASE", base), BETWEEN, "def f(x): return 3.15\n") for base in ("Exception", "list", "dict", "set")},
}  # fmt: skip


async def unpaid(candidate: str, body: str, gold: str) -> None:
    """With a gold and without; the gold is paid."""
    apart, by_gold, right = await asyncio.gather(
        scored(candidate, suite_of(body)),
        scored(candidate, suite_of(body), gold=gold),
        scored(gold, suite_of(body), gold=gold),
    )
    assert not apart.score, apart.detail
    assert (by_gold.score, str(by_gold.validity)) == (0.0, "valid"), by_gold.detail
    assert right.score == 1.0, right.detail


@pytest.mark.parametrize("base", FLIPS)
async def test_to_look_twice_at_what_is_made_of_a_value_is_to_see_the_same(base: str) -> None:
    """A loop of a member has the items that were counted, and a number of an exception or a container is one."""
    await unpaid(*FLIPS[base])


SAYS = """class L(list):
    def __iter__(s): return iter(SAID)
    def __len__(s): return len(SAID)
    def __eq__(s, o): return True
    def __ne__(s, o): return False
    __contains__ = __eq__
    def __getitem__(s, i): return SAID[i]
    __hash__ = None
def f(x): return L(HELD)
"""
SAYS_RIGHT = SAYS.replace("SAID", "[4, 9]").replace("HELD", "[7]")
SAYS_WRONG = SAYS.replace("SAID", "[7]").replace("HELD", "[4, 9]")
LOOKS = {
    "equality": "self.assertEqual(f(2), [4, 9])",
    "items": "self.assertIn(9, f(2))\nself.assertIn(4, f(2))\nself.assertNotIn(7, f(2))",
    "length": "self.assertEqual(len(f(2)), 2)",
    "loop": "self.assertEqual([x for x in f(2)], [4, 9])",
    "sorted, set, unpacked": "r = f(2)\na, b = r\nself.assertEqual((sorted(r), set(r), a, b), ([4, 9], {4, 9}, 4, 9))",
}


@pytest.mark.parametrize("name", LOOKS)
async def test_a_list_that_says_what_it_does_not_hold_is_not_paid(name: str) -> None:
    """It is judged as the list that it is."""
    await unpaid(SAYS_RIGHT, LOOKS[name], "def f(x): return [4, 9]\n")


async def test_a_list_that_holds_what_it_does_not_say_is_not_paid() -> None:
    """A pass over its value is confirmed in one process, where its own loop is seen."""
    await unpaid(SAYS_WRONG, LOOKS["sorted, set, unpacked"], "def f(x): return [4, 9]\n")


ITEMS = """class L(BASE):
    def __iter__(s): return iter([4, 9])
    def __len__(s): return 2
    def __reversed__(s): return iter([9, 4])
    def __getitem__(s, key): return [4, 9][key] if key in (0, -1) else {4: 4, 9: 9}[key]
    def keys(s): return [4, 9]
    def items(s): return [(4, 4), (9, 9)]
def f(x): return L(HELD)
"""
LISTED = """r = f(2)
self.assertEqual([*r], [4, 9])
self.assertEqual((lambda *given: given)(*r), (4, 9))
self.assertEqual((max(r), sum(r)), (9, 13))
self.assertEqual([*zip(r, r)], [(4, 4), (9, 9)])
self.assertEqual(list(map(str, r)), ["4", "9"])
"""
MAPPED = "self.assertEqual(dict(f(2)), {4: 4, 9: 9})\nself.assertEqual({**f(2)}, {4: 4, 9: 9})"
PLACED = "r = f(2)\nself.assertEqual((r[0], r[-1]), (4, 9))"
TURNED = "self.assertEqual(list(reversed(f(2))), [9, 4])"
OF_VALUES = {
    "tuple": ("tuple", "[7]", LISTED), "str": ("str", "'abc'", LISTED), "set": ("set", "[7]", LISTED),
    "error": ("Exception", "", LISTED), "dict": ("dict", "{7: 7}", MAPPED), "reversed": ("tuple", "[7]", TURNED),
    "places": ("list", "[7, 7]", PLACED),
}  # fmt: skip
GIVEN = {
    **dict.fromkeys((LISTED, PLACED, TURNED), "def f(x): return [4, 9]\n"),
    MAPPED: "def f(x): return {4: 4, 9: 9}\n",
}


@pytest.mark.parametrize("name", OF_VALUES)
async def test_no_value_of_a_class_is_paid_for_items_that_it_does_not_hold(name: str) -> None:
    """The gold needs no object that says otherwise, so that nobody is judged beside the tests for one."""
    base, held, body = OF_VALUES[name]
    candidate = ITEMS.replace("BASE", base).replace("HELD", held)
    result = await scored(candidate, suite_of(body), gold=GIVEN[body])
    assert (result.score, str(result.validity), str(result.trust)) == (0.0, "valid", "separate"), result.detail


async def test_a_list_whose_own_loop_gives_what_it_holds_is_paid() -> None:
    """Ordinary methods of its own change nothing."""
    own = "class L(list):\n    def __iter__(s): return (each for each in list.__iter__(s))\n    def __len__(s): return list.__len__(s)\ndef f(x): return L([4, 9])\n"
    assert (await scored(own, suite_of(LISTED), gold=GIVEN[LISTED])).score == 1.0


COUNTED = """class O:
    looks = 0
    def __len__(s): return 8
    def __bool__(s): return True
    def __iter__(s):
        O.looks += 1
        return iter(list(range(8)) if O.looks == 1 else [10] + [0] * 7)
def f(x): return O()
"""
QUEENS = """r = f(8)
self.assertEqual(len(r), 8)
self.assertEqual(sorted(r), [0, 1, 2, 3, 4, 5, 6, 7])
self.assertEqual(sum(list(r)[::2]), 10)
"""


async def test_no_object_is_paid_for_another_loop_each_time() -> None:
    """A length and a truth of its own do not bring it beside the tests, where each loop is another one."""
    result = await scored(COUNTED, suite_of(QUEENS), gold="def f(x): return [0, 4, 7, 5, 2, 6, 1, 3]\n")
    assert (result.score, str(result.validity), str(result.trust)) == (0.0, "valid", "separate"), result.detail


IDS = "class _Ids:\n    def __init__(s): s._n = 0; s.seen = []\n    @property\n    def next(s): s._n += 1; return s._n\n    @property\n    def total(s): s._n = 9; return 6\n    @property\n    def made(s): return s._n\n    def __str__(s): s._n += 1; return f'ids {s._n}'\n    def __getitem__(s, k): s._n += 1; return f'{k}-{s._n}'\n    def __iter__(s):\n        for i in range(2): s.seen.append(i); yield i\ndef ids(): return _Ids()\n"
CHANGING = {
    "a property": "assert i.next == 1 and i.next == 2 and [i.next for _ in range(3)] == [3, 4, 5]",
    "another property": "assert i.made == 0 and i.total == 6 and i.made == 9",
    "a text": "assert str(i) == 'ids 1' and f'{i}' == 'ids 2'",
    "an item": "assert i['a'] == 'a-1' and i['b'] == 'b-2' and i['a'] == 'a-3'",
    "a loop": "assert list(i) == [0, 1] and list(i) == [0, 1]\n    assert i.seen == [0, 1, 0, 1]",
    "an attribute beside a loop": "assert i.seen == [] and list(i) == [0, 1] and i.seen == [0, 1]",
    "an end that comes": "n = 0\n    while i.next < 5: n += 1\n    assert n == 4",
}
"""what tests see change, of an object of a class that they do not name"""


@pytest.mark.parametrize("name", CHANGING)
async def test_who_shows_another_thing_each_time_has_not_failed(name: str) -> None:
    """Who passes beside the tests has no score without a gold solution and is paid with one; who fails there has failed."""
    suite = f"from solution import ids\ndef test_a():\n    i = ids()\n    {CHANGING[name]}\n"
    found = await scored(IDS, suite, "pytest")
    assert found.score in (1.0, None), found.detail
    paid = await scored(IDS, suite, "pytest", gold={"solution.py": IDS + "#\n"})
    assert paid.score == 1.0, paid.detail
    for wrong in (
        IDS.replace("+= 1", "+= 2").replace("= 9", "= 8").replace("range(2)", "range(3)"),
        "def ids(): return 3\n",
    ):
        refused = await scored(wrong, suite, "pytest")
        assert (refused.score, str(refused.validity)) == (0.0, "valid"), refused.detail


async def test_who_shows_the_same_each_time_fails_where_it_is() -> None:
    """What is shown again excuses nobody whose objects have nothing else to show."""
    suite = "from solution import point\ndef test_a():\n    p = point(1, 2)\n    assert p.x == 1 and p.x + p.y == 4 and str(p) == str(p)\n"
    found = await scored(
        "class P:\n    def __init__(s, x, y): s.x, s.y = x, y\ndef point(x, y): return P(x, y)\n", suite, "pytest"
    )
    assert (found.score, str(found.validity), str(found.trust)) == (0.0, "valid", "separate"), found.detail
