# ruff: noqa: E501 (programs are text, not code of ours)
"""Who makes a suite skip by what it prints, calls, or takes in time has the lowest score; an honest skip costs nobody."""

from __future__ import annotations

import asyncio

import pytest
from shared_sandboxes import SHARED
from test_unittest_suites import scored

pytestmark = SHARED
HEAD = (
    "import contextlib, io, socket, sys, time, unittest\nfrom unittest import mock\nfrom solution import D, main, one\n"
)
CASE = (
    HEAD
    + "class T(unittest.TestCase):\n    def setUp(self): self.d = D()\n    def test_a(self): self.assertEqual(self.d.get(), 2)\n    def test_b(self):\n        "
)
RIGHT = "def main(call=None):\n    print(1)\n    if call: call('yes')\ndef one(): return 1\nclass D:\n    def get(self): return 2\n"
STUB = RIGHT.replace("print(1)", "print('not implemented')").replace("'yes'", "'no'").replace("return 1", "return 0")
SKIP = "self.skipTest('not there')"
STEERED = {
    "what it prints": f"buf = io.StringIO()\n        with contextlib.redirect_stdout(buf): main()\n        if 'not impl' in buf.getvalue(): {SKIP}\n        self.assertEqual(buf.getvalue(), '1\\n')\n",
    "its time": f"start = time.perf_counter()\n        got = one()\n        if time.perf_counter() - start > 0 and got == 0: {SKIP}\n        took = time.perf_counter() - start\n        self.assertEqual(got, 1)\n        if took > 60: {SKIP}\n",
    "a clock only": f"start = time.perf_counter_ns()\n        one()\n        if time.perf_counter_ns() != start: {SKIP}\n",
    "a callback": f"state = {{}}\n        def cb(v): state['v'] = v\n        main(cb)\n        if state['v'] == 'no': {SKIP}\n        self.assertEqual(state['v'], 'yes')\n",
    "a mock": f"seen = mock.Mock()\n        main(lambda v: seen(v))\n        if seen.call_args[0][0] == 'no': {SKIP}\n        seen.assert_called_with('yes')\n",
}  # fmt: skip
NETWORK = CASE.replace(
    "class T",
    "def online():\n    try:\n        socket.create_connection(('localhost', 9), 1).close()\n        return True\n    except OSError:\n        return False\nclass T",
)


@pytest.mark.parametrize("name", STEERED)
async def test_who_steers_a_skip_has_the_lowest_score(name: str) -> None:
    """It could choose to have none."""
    suite = CASE + STEERED[name]
    for isolate in ("auto", False):
        stub = await scored(STUB, suite, isolate=isolate)
        assert (stub.score, str(stub.validity)) == (0.0, "valid"), stub.detail
    if name != "a clock only":
        right = await scored(RIGHT, suite)
        assert (right.score, str(right.validity)) == (1.0, "valid"), right.detail


async def test_a_skip_for_want_of_a_network_is_no_ones_zero() -> None:
    """Nobody's doing gives no score without a gold; who fails another test has failed."""
    suite = NETWORK + f"if not online(): {SKIP}\n        self.assertEqual(one(), 1)\n"
    right, wrong = await asyncio.gather(scored(RIGHT, suite), scored(RIGHT.replace("return 2", "return 3"), suite))
    assert (right.score, "give the contract a `gold`" in right.detail) == (None, True), right.detail
    assert (wrong.score, str(wrong.validity)) == (0.0, "valid"), wrong.detail
