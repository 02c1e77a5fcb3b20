# ruff: noqa: E501 (programs are text, not code of ours)
"""Objects of a test file's own plain classes (nodes of lists and trees), with which a candidate does what it likes."""

from __future__ import annotations

import pytest
from shared_sandboxes import SHARED
from test_unittest_suites import scored

from harena.core.results import Trust

pytestmark = SHARED

SUITE = """from solution import reverse, invert, count
import pytest
class ListNode:
    def __init__(self, val=0, next=None): self.val, self.next = val, next
class TreeNode:
    def __init__(self, val=0, left=None, right=None): self.val, self.left, self.right = val, left, right
def build(xs):
    h = None
    for x in reversed(xs): h = ListNode(x, h)
    return h
def values(n):
    out = []
    while n: out.append(n.val); n = n.next
    return out
def pre(t): return [] if t is None else [t.val, *pre(t.left), *pre(t.right)]
def tree(): return TreeNode(1, TreeNode(2, TreeNode(4)), TreeNode(3))
def test_reverse():
    assert values(reverse(build([1, 2, 3]))) == [3, 2, 1]
    assert reverse(None) is None and values(reverse(build([7]))) == [7]
def test_invert(): assert pre(invert(tree())) == [1, 3, 2, 4]
def test_count():
    assert count(tree()) == 4 and count(None) == 0
    shared = TreeNode(9)
    assert count(TreeNode(1, shared, shared)) == 2
"""
REVERSE = "def reverse(h):\n    p = None\n    while h: h.next, p, h = p, h, h.next\n    return p\n"
INVERT = "def invert(t):\n    if t: t.left, t.right = invert(t.right), invert(t.left)\n    return t\n"
COUNT = "def count(t):\n    seen = []\n    def go(t):\n        if t is None or any(t is s for s in seen): return\n        seen.append(t); go(t.left); go(t.right)\n    go(t)\n    return len(seen)\n"
GOLD = REVERSE + INVERT + COUNT
WAYS = {
    "a class called": "def reverse(h):\n    out = None\n    while h: out = type(h)(h.val, out); h = h.next\n    return out\n" + INVERT + COUNT,
    "by its name": "def reverse(h):\n    if not h: return h\n    dummy = h.__class__()\n    while h: h.next, dummy.next, h = dummy.next, h, h.next\n    return dummy.next\n" + INVERT + COUNT,
    "copies": "import copy\ndef reverse(h):\n    out = None\n    while h:\n        n = copy.copy(h); n.next = out; out = n; h = h.next\n    return out\ndef invert(t):\n    t = copy.deepcopy(t)\n    def go(t):\n        if t: t.left, t.right = t.right, t.left; go(t.left); go(t.right)\n    go(t); return t\n" + COUNT,
    "a mark": REVERSE + INVERT + "def count(t):\n    if t is None or getattr(t, '_seen', False): return 0\n    t._seen = True\n    return 1 + count(t.left) + count(t.right)\n",
    "vars": REVERSE + "def invert(t):\n    if t: vars(t).update(left=invert(t.right), right=invert(t.left))\n    return t\n" + COUNT,
    "del": REVERSE + "def invert(t):\n    if t:\n        l = t.left; del t.left; t.left = invert(t.right); t.right = invert(l)\n    return t\n" + COUNT,
    "dir": REVERSE + "def invert(t):\n    if t is not None:\n        names = [n for n in ('left', 'right') if n in dir(t) and hasattr(t, n)]\n        vals = [invert(getattr(t, n)) for n in reversed(names)]\n        for n, v in zip(names, vals): setattr(t, n, v)\n    return t\n" + COUNT,
    "a subclass": "def reverse(h):\n    if not h: return None\n    class Node(type(h)): pass\n    out = None\n    while h: out = Node(h.val, out); h = h.next\n    return out\n" + INVERT + COUNT,
    "an order of its own": "import heapq\ndef reverse(h):\n    if h: type(h).__lt__ = lambda a, b: a.val > b.val\n    q = []\n    while h: heapq.heappush(q, h); h = h.next\n    p = head = None\n    while q:\n        n = heapq.heappop(q); n.next = None\n        if p: p.next = n\n        else: head = n\n        p = n\n    return head\n" + INVERT + COUNT,
    "a pickle": REVERSE + "import pickle\ndef invert(t):\n    t = pickle.loads(pickle.dumps(t))\n    def go(t):\n        if t: t.left, t.right = t.right, t.left; go(t.left); go(t.right)\n    go(t); return t\n" + COUNT,
}  # fmt: skip
WRONG = {
    "a class that equals": "def reverse(h):\n    if h: type(h).__eq__ = lambda a, b: True\n    return h\n" + INVERT + COUNT,
    "values that equal": "class J:\n    def __eq__(s, o): return True\n    __hash__ = None\ndef reverse(h):\n    c = h\n    while c: c.val = J(); c = c.next\n    return h\n" + INVERT + COUNT,
    "a class that reads": REVERSE + "def invert(t):\n    class N(type(t)):\n        val = property(lambda s: 1, lambda s, v: None)\n    return N(1, t)\n" + COUNT,
    "another order": "def reverse(h): return h\n" + INVERT + COUNT,
}  # fmt: skip


@pytest.mark.parametrize("has_gold", [True, False])
@pytest.mark.parametrize("way", WAYS)
async def test_nodes_are_what_they_are_beside_the_tests(way: str, has_gold: bool) -> None:
    gold = {"gold": {"solution.py": GOLD}} if has_gold else {}
    found = await scored(WAYS[way], SUITE, "pytest", **gold)
    assert (found.score, found.trust) == (1.0, Trust.SEPARATE), found.detail


@pytest.mark.parametrize("name", WRONG)
async def test_no_node_judges(name: str) -> None:
    """What a candidate does to such a class has no effect where the tests are, and excuses nobody who is wrong."""
    for gold in ({}, {"gold": {"solution.py": GOLD}}):
        found = await scored(WRONG[name], SUITE, "pytest", **gold)
        assert (found.score, str(found.validity)) == (0.0, "valid"), found.detail


OBJECTS = """from solution import double, ordered, spent
import dataclasses
class Api:
    def __init__(self, n): self.n, self.calls = n, 0
    def guess(self, x):
        self.calls += 1
        return (self.n > x) - (self.n < x)
@dataclasses.dataclass
class Shape:
    w: int
    h: int = 1
    @classmethod
    def square(cls, n): return cls(n, n)
    def sides(self): return [self.w, self.h]
def test_double():
    assert double(Shape(1, 2)) == Shape(2, 4) and double(Shape(3)).sides() == [6, 2]
def test_ordered():
    shapes = [Shape(3), Shape(1), Shape(2)]
    assert ordered(shapes)[0] is shapes[1] and [s.w for s in shapes] == [3, 1, 2]
def test_spent():
    api = Api(5)
    assert spent(api, 9) == 5 and api.calls <= 4
"""
WITH_OBJECTS = {
    "replace": "import dataclasses\ndef double(s): return dataclasses.replace(s, w=s.w * 2, h=s.h * 2)\n",
    "a class method": "def double(s):\n    made = type(s).square(2 * s.w)\n    made.h = 2 * s.h\n    return made\n",
    "fields": "import dataclasses\ndef double(s): return type(s)(**{f.name: 2 * getattr(s, f.name) for f in dataclasses.fields(s)})\n",
    "items": "def double(s): return type(s)(*(2 * v for v in vars(s).values()))\n",
}
REST = "def ordered(xs):\n    type(xs[0]).__lt__ = lambda a, b: a.w < b.w\n    return sorted(xs)\ndef spent(api, hi):\n    lo = 0\n    while True:\n        m = (lo + hi) // 2\n        sign = api.guess(m)\n        if not sign: return m\n        lo, hi = (m + 1, hi) if sign > 0 else (lo, m - 1)\n"


@pytest.mark.parametrize("way", WITH_OBJECTS)
async def test_objects_of_plain_classes_are_made_ordered_and_asked(way: str) -> None:
    found = await scored(WITH_OBJECTS[way] + REST, OBJECTS, "pytest")
    assert (found.score, found.trust) == (1.0, Trust.SEPARATE), found.detail
    wrong = await scored(WITH_OBJECTS[way] + REST.replace("sorted(xs)", "xs[:]"), OBJECTS, "pytest")
    assert (wrong.score, str(wrong.validity)) == (0.0, "valid"), wrong.detail


async def test_an_order_that_the_tests_use_decides_beside_them() -> None:
    """The candidate gives the class an order of which only its own side has heard: a test that fails for it counts as
    not served, and excuses only who passes beside the tests."""
    suite = (
        SUITE
        + "def test_order():\n    a, b = ListNode(1), ListNode(2)\n    reverse(ListNode(3))\n    assert max(a, b) is b\n"
    )
    ordered = (
        GOLD
        + "def first(h):\n    if h: type(h).__lt__ = lambda a, b: a.val < b.val; type(h).__gt__ = lambda a, b: a.val > b.val\n    return plain(h)\nplain, reverse = reverse, first\n"
    )
    found = await scored(ordered, suite, "pytest")
    assert found.score is None or found.trust is Trust.SHARED, found.detail
    wrong = await scored(ordered.replace("a.val > b.val", "a.val < b.val"), suite, "pytest")
    assert (wrong.score, str(wrong.validity)) in ((0.0, "valid"), (0.0, "suspect")), wrong.detail


DERIVED = """from solution import with_log
class Acc:
    def __init__(self, n=0): self.n = n
    def get(self): return self.n
    def __eq__(self, o): return isinstance(o, Acc) and self.n == o.n
def test_it(): assert isinstance(with_log(Acc)(3), Acc) and with_log(Acc)(3) == Acc(3)
"""
LOGGED = "def with_log(cls):\n    class Logged(cls): pass\n    return Logged\n"


async def test_a_class_derived_from_one_of_the_tests_is_no_fault() -> None:
    """What stands for it is not of the tests' class: without a gold nobody can say, and with one it is paid beside."""
    assert (await scored(LOGGED, DERIVED, "pytest")).score is None
    assert (await scored(LOGGED, DERIVED, "pytest", gold={"solution.py": f"{LOGGED}# gold\n"})).score == 1.0
    wrong = LOGGED.replace("return Logged", "return int")
    assert (await scored(wrong, DERIVED, "pytest")).score == 0.0


WEAK = """import gc
from solution import Registry
class Seen:
    def __init__(self, n): self.n, self.got = n, []
    def update(self, v): self.got.append(v)
def test_weak():
    r = Registry(); a = Seen(1); r.add(a); b = Seen(2); r.add(b)
    r.notify(5)
    assert a.got == [5] and b.got == [5] and len(r) == 2
"""
REGISTRY = "import weakref\nclass Registry:\n    def __init__(self): self.w = weakref.WeakSet()\n    def add(self, o): self.w.add(o)\n    def __len__(self): return len(self.w)\n    def notify(self, v):\n        for o in list(self.w): o.update(v)\n"


async def test_objects_of_the_tests_live_as_long_as_the_tests_hold_them() -> None:
    """Also where the candidate holds them by weak references alone."""
    found = await scored(REGISTRY, WEAK, "pytest")
    assert found.score == 1.0, found.detail


SHOWN = """import weakref
from unittest import mock
from solution import shown, sends, listens
class Box:
    \"\"\"Holds one thing.\"\"\"
    def __init__(self, n): self.n = n
    def send(self): return self.n
def test_doc(): assert shown(Box(1)) == "Holds one thing."
def test_mock():
    b = Box(2)
    with mock.patch.object(b, "send", wraps=b.send) as send: assert sends(b) == 2
    send.assert_called_once_with()
def test_listens():
    b = Box(3)
    assert listens(b.send)() == 3
"""
SHOWS = "import inspect, weakref\ndef shown(o): return inspect.getdoc(o)\ndef sends(o): return o.send()\ndef listens(f):\n    r = weakref.WeakMethod(f)\n    return lambda: r()()\n"


async def test_what_does_not_cross_with_an_object_is_nobodys_fault() -> None:
    """A method that the tests replace on one object, and a method of an object; docstrings do."""
    found = await scored(SHOWS, SHOWN, "pytest")
    assert found.score is None, found.detail
    assert (await scored(SHOWS, SHOWN, "pytest", gold={"solution.py": f"{SHOWS}# gold\n"})).score == 1.0
    wrong = SHOWS.replace("inspect.getdoc(o)", "'nothing'")
    assert (await scored(wrong, SHOWN, "pytest")).score == 0.0
    doc = SHOWN[: SHOWN.index("def test_mock")]
    assert (await scored(SHOWS, doc, "pytest")).score == 1.0
