# ruff: noqa: E501 (programs are text, not code of ours)
"""A program beside the tests gives a class of theirs an order, or a text, that it had none of: that is an exchange where
the tests put its objects in an order, or write them into a text, and nothing to them where they do not."""

from __future__ import annotations

from typing import Any

import pytest
from shared_sandboxes import SHARED
from test_exchanged_tools import asserts, scored

pytestmark = SHARED

NODE = "class Node:\n    def __init__(self, val=0, next=None): self.val, self.next = val, next\n"
BUILT = "def build(xs):\n    head = None\n    for x in reversed(xs): head = Node(x, head)\n    return head\ndef values(n):\n    found = []\n    while n: found.append(n.val); n = n.next\n    return found\n"
HEAP = (
    "import heapq\ndef merge(lists):\n    heads = [n for n in lists if n]; heapq.heapify(heads)\n    first = last = Node(0)\n"
    "    while heads:\n        n = heapq.heappop(heads); last.next = n; last = n\n        if n.next: heapq.heappush(heads, n.next)\n    return first.next\n"
)
ADDS = "Node.{} = {}\n"
ORDER = ADDS.format("__lt__", "lambda a, b: a.val < b.val")
MERGED = "assert values(merge([build([1, 4]), build([2, 3]), build([])])) == [1, 2, 3, 4]\nassert merge([]) is None"
OTHERS = "assert values(merge([build(sorted([4, 1])), build([2, 3])])) == sorted([1, 4, 2, 3]) and max(values(build([1]))) < 3"
HONEST = {
    "an order": (ORDER + HEAP, MERGED),
    "an order in a function": (HEAP.replace("def merge(lists):\n", f"def merge(lists):\n    {ORDER}"), MERGED),
    "beside orders of numbers": (ORDER + HEAP, OTHERS),
    "every order": ("import functools\nNode.__lt__ = lambda a, b: a.val < b.val\nNode.__le__ = lambda a, b: a.val <= b.val\nNode.__gt__ = lambda a, b: a.val > b.val\n" + HEAP, MERGED),
    "a text": (ADDS.format("__repr__", "lambda a: f'Node({a.val})'") + ADDS.format("__str__", "lambda a: str(a.val)") + ORDER + HEAP, f"{MERGED}, f'not {{1}}'"),
}  # fmt: skip


def suite(candidate: str, body: str) -> tuple[str, dict[str, Any]]:
    text = f"from node import Node\nfrom solution import *\n{BUILT}\ndef test_it():\n    " + body.replace(
        "\n", "\n    "
    )
    files = {"test_it.py": text + "\n", "node.py": NODE}
    return f"from node import Node\n{candidate}", {"pytest": ["test_it.py"], "files": files, "isolate": False}


@pytest.mark.parametrize("name", HONEST)
async def test_an_order_that_the_tests_do_not_ask_for_is_the_programs_own(name: str) -> None:
    candidate, body = HONEST[name]
    result = await scored(*suite(candidate, body))
    assert (result.score, str(result.validity)) == (1.0, "valid"), result.detail


YES = "lambda *a: True"
FORGERIES = {
    "a limit": ("f() <= 10", "__le__", YES),
    "a chain": ("0 <= f() < 10", "__lt__", YES + "\nNode.__ge__ = " + YES),
    "in a list": ("[f()] < [10]", "__lt__", YES),
    "another class's": ("Node(3) > f()", "__gt__", YES),
    "sorted": ("sorted([Node(2), f()])[0] is not None", "__lt__", YES),
    "in place": ("(xs := [Node(2), f()]).sort() is None and xs[1].val", "__lt__", YES),
    "the most": ("max(Node(2), f()).val == 2", "__gt__", "lambda a, b: a.val == 2"),
    "by a library": ("__import__('heapq').nsmallest(1, [Node(2), f()])[0].val == 2", "__lt__", "lambda a, b: a.val == 2"),
    "a text": ("str(f()) == '7'", "__str__", "lambda a: '7'"),
    "shown": ("repr([f()]) == '[7]'", "__repr__", "lambda a: '7'"),
    "written": ("f'{f()}' == '7'", "__str__", "lambda a: '7'"),
    "put in": ("'%s' % f() == '7' and '%s%s' % (1, f()) == '17'", "__str__", "lambda a: '7'"),
    "formatted": ("'{}'.format(f()) == '7'", "__str__", "lambda a: '7'"),
    "each": ("list(map(str, [f()])) == ['7']", "__str__", "lambda a: '7'"),
    "equal": ("f() == Node(7)", "__eq__", YES),
    "true": ("not f()", "__len__", "lambda a: 0"),
    "that takes itself away": ("f() <= 10", "__le__", "lambda a, b: (delattr(Node, '__le__'), True)[1]"),
}  # fmt: skip


@pytest.mark.parametrize("name", FORGERIES)
@pytest.mark.parametrize("at", ["first", "when it is called"])
async def test_an_order_that_the_tests_ask_for_is_an_exchange(name: str, at: str) -> None:
    body, method, does = FORGERIES[name]
    adds = f"Node.{method} = {does}\n"
    called = adds.replace("\n", "\n    ")
    candidate = f"{adds}def f(): return Node(1)\n" if at == "first" else f"def f():\n    {called}return Node(1)\n"
    result = await scored(*suite(candidate, f"assert {body}"))
    assert result.score == 0.0, result.detail


ORDERED = (
    "def least(nodes):\n    kind = type(nodes[0])\n    kind.__lt__ = lambda a, b: a.val < b.val\n    return min(nodes)\n"
    "def make(kind):\n    kind.__le__ = lambda *a: True\n    return kind(99)\n"
)


@pytest.mark.parametrize(("body", "score"), [("least([Node(2), Node(1)]).val == 1", 1.0), ("make(Node) <= 10", 0.0)])
async def test_asserts_tell_an_order_from_an_exchange_too(body: str, score: float) -> None:
    result = await scored(ORDERED, {**asserts(NODE, f"assert {body}"), "isolate": False})
    assert result.score == score, result.detail
