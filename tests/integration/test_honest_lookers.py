# ruff: noqa: E501 (programs are text, not code of ours)
"""Programs that look at themselves (who called, at which line, what failed) are paid beside the tests, too."""

from __future__ import annotations

from typing import Any

import pytest
from shared_sandboxes import SHARED
from test_questions_unseen import of_asserts
from test_unittest_suites import scored

pytestmark = SHARED

WHO = "def g(): return who()\ndef f(n): return (2 * n, g())\n"
G = (8, "g")
LOOKERS: dict[str, tuple[str, Any]] = {
    "a stack's function": (f"import inspect\ndef who(): return inspect.stack()[1].function\n{WHO}", G),
    "a stack's third": (f"import inspect\ndef who(): return inspect.stack()[1][3]\n{WHO}", G),
    "a name of sys": (f"from sys import _getframe as frame\ndef who(): return frame(1).f_code.co_name\n{WHO}", G),
    "a frame that is deleted": (f"import inspect\ndef who():\n    frame = inspect.currentframe()\n    try: return frame.f_back.f_code.co_name\n    finally: del frame\n{WHO}", G),
    "a frame's info": (f"import inspect\ndef who():\n    caller = inspect.currentframe().f_back\n    return inspect.getframeinfo(caller).function\n{WHO}", G),
    "an unpacked info": (f"import inspect\ndef who():\n    frame, path, line, function, lines, at = inspect.stack()[1]\n    return function\n{WHO}", G),
    "outwards": (f"import sys\ndef who():\n    names = []\n    frame = sys._getframe(1)\n    while frame:\n        names.append(frame.f_code.co_name)\n        frame = frame.f_back\n    return names[0]\n{WHO}", G),
    "a loop over a stack": (f"import inspect\ndef who():\n    for info in inspect.stack()[1:]:\n        if info.lineno: return info.function\n{WHO}", G),
    "a frame that is returned": (f"import sys\ndef up(): return sys._getframe(2)\ndef who(): return up().f_code.co_name\n{WHO}", G),
    "beside getattr": (f"import sys\ndef get(o, n): return getattr(o, n)\ndef who():\n    frame = sys._getframe(1)\n    return frame.f_code.co_name\n{WHO}", G),
    "a decorator's line": ("import functools, sys\nLOG = []\ndef logged(f):\n    @functools.wraps(f)\n    def g(*a, **k):\n        LOG.append((f.__name__, sys._getframe().f_back.f_lineno))\n        return f(*a, **k)\n    return g\n@logged\ndef f(n): return 2 * n", 8),
    "a decorator's variable": ("import functools, sys\nLOG = []\ndef logged(f):\n    @functools.wraps(f)\n    def g(*a, **k):\n        frame = sys._getframe(1)\n        LOG.append(f'{f.__name__}:{frame.f_lineno}')\n        return f(*a, **k)\n    return g\n@logged\ndef f(n): return 2 * n", 8),
    "a logger of its own": ("import inspect, os\nLOG = []\ndef log(what):\n    info = inspect.getframeinfo(inspect.stack()[1][0])\n    LOG.append(f'{os.path.basename(info.filename)}:{info.lineno} {what}')\ndef f(n):\n    log('f'); return 2 * n", 8),
    "logging": ("import io, logging\nout = io.StringIO()\nhandler = logging.StreamHandler(out)\nhandler.setFormatter(logging.Formatter('%(funcName)s %(message)s'))\nlog = logging.getLogger('mine')\nlog.addHandler(handler)\ndef f(n):\n    log.warning('hi', stack_info=True)\n    return out.getvalue()[:4]", "f hi"),
    "a traceback's text": ("import traceback\ndef f(n):\n    try: n / 0\n    except ZeroDivisionError: return traceback.format_exc().splitlines()[-1]", "ZeroDivisionError: division by zero"),
    "a traceback's frames": ("import sys\ndef bad(): raise ValueError\ndef f(n):\n    try: bad()\n    except ValueError:\n        tb = sys.exc_info()[2]\n        while tb.tb_next: tb = tb.tb_next\n        return tb.tb_frame.f_code.co_name", "bad"),
    "its own variables": ("import sys\ndef fill(text): return text.format(**sys._getframe(1).f_locals)\ndef f(n):\n    name = 'Bob'\n    return fill('hi {name}')", "hi Bob"),
    "its own arguments": ("import inspect\ndef f(n):\n    frame = inspect.currentframe()\n    names, _, _, values = inspect.getargvalues(frame)\n    return {each: values[each] for each in names}", {"n": 4}),
    "its module's name": ("import sys\ndef module(): return sys._getframe(1).f_globals.get('__name__')\ndef f(n): return module()", "solution"),
    "records": ("from collections import namedtuple\nfrom dataclasses import dataclass, field, make_dataclass\nfrom enum import Enum\nfrom typing import NamedTuple, TypeVar\nT = TypeVar('T')\nP = namedtuple('P', 'x')\nQ = NamedTuple('Q', [('y', int)])\nC = Enum('C', 'RED')\n@dataclass\nclass D:\n    z: list = field(default_factory=list)\ndef f(n): return P(n).x + Q(n).y + len(C) + len(D().z) + make_dataclass('E', ['a'])(n).a", 13),
    "a warning": ("import warnings\ndef old(n):\n    warnings.warn('old', DeprecationWarning, stacklevel=2)\n    return n\ndef f(n): return 2 * old(n)", 8),
    "its own source": ("import inspect\ndef g(x):\n    return x\ndef f(n): return inspect.getsource(g).count('return')", 1),
    "a trace of its own": ("import sys\nSEEN = []\ndef trace(frame, event, arg):\n    if event == 'call': SEEN.append(frame.f_code.co_name)\n    return trace\ndef g(): return 1\ndef f(n):\n    before = sys.gettrace()\n    sys.settrace(trace)\n    try: g()\n    finally: sys.settrace(before)\n    return SEEN[0]", "g"),
    "a profile of its own": ("import sys\nclass Counter:\n    count = 0\n    def note(self, frame, event, arg): self.count += event == 'call'\n    def run(self, function):\n        sys.setprofile(self.note)\n        try: function()\n        finally: sys.setprofile(None)\n        return self.count\ndef g(): return 1\ndef f(n): return Counter().run(g)", 1),
    "cProfile": ("import cProfile\ndef g(): return 1\ndef f(n):\n    profile = cProfile.Profile()\n    profile.enable(); g(); profile.disable()\n    return len(profile.getstats()) > 0", True),
    "objects that are counted": ("import gc\nclass Node: pass\nkept = [Node(), Node()]\ndef f(n): return sum(1 for each in gc.get_objects() if isinstance(each, Node))", 2),
    "a generator of its own": ("import inspect\ndef numbers():\n    x = 5\n    yield x\ndef f(n):\n    made = numbers(); next(made)\n    return inspect.getgeneratorstate(made), made.gi_frame.f_locals['x']", ("GEN_SUSPENDED", 5)),
    "a signal that ends what takes too long": ("import signal\ndef late(number, frame): raise TimeoutError\ndef f(n):\n    before = signal.signal(signal.SIGALRM, late)\n    signal.setitimer(signal.ITIMER_REAL, 60)\n    try: return 2 * n\n    finally: signal.setitimer(signal.ITIMER_REAL, 0); signal.signal(signal.SIGALRM, before)", 8),
    "a function of C's library": ("import ctypes\ndef f(n): return ctypes.CDLL(None).abs(-n)", 4),
    "a function that is copied": ("import types\ndef g(x): return 2 * x\ndef f(n): return types.FunctionType(g.__code__, globals())(n)", 8),
    "who refers to an object": ("import gc\ndef f(n):\n    item = object()\n    kept = [item]\n    return any(each is kept for each in gc.get_referrers(item)), len([each is kept for each in gc.get_referrers(item)]) > 0", (True, True)),
    "threads that run": ("import sys, threading\ndef f(n): return threading.get_ident() in sys._current_frames(), len(sys._current_frames()) > 0, threading.get_ident() in sys._current_frames().keys(), [each for each in sys._current_frames()] != []", (True, True, True, True)),
    "a task's stack": ("import asyncio, io\nasync def work(): await asyncio.sleep(0)\nasync def main():\n    task, out = asyncio.create_task(work()), io.StringIO()\n    await asyncio.sleep(0)\n    task.print_stack(file=out)\n    depth = len(task.get_stack())\n    await task\n    return depth, 'work' in out.getvalue()\ndef f(n): return asyncio.run(main())", (1, True)),
    "a logger of a class of its own": ("import io, logging\nclass L(logging.Logger): pass\nlogging.setLoggerClass(L)\nlogging.setLogRecordFactory(lambda *a, **k: logging.LogRecord(*a, **k))\nout = io.StringIO()\nhandler = logging.StreamHandler(out)\nhandler.setFormatter(logging.Formatter('%(funcName)s %(message)s'))\nlog = logging.getLogger('its own')\nlog.addHandler(handler)\ndef f(n):\n    log.warning('hi')\n    return out.getvalue()[:4]", "f hi"),
    "a loop that is debugged": ("import asyncio\nasync def g(n):\n    await asyncio.sleep(0)\n    return 2 * n\ndef f(n): return asyncio.run(g(n), debug=True)", 8),
    "a loop of asyncio": ("import asyncio\nasync def g(n):\n    await asyncio.sleep(0)\n    return repr(asyncio.current_task()) != '' and 2 * n\ndef f(n): return asyncio.run(g(n))", 8),
}  # fmt: skip


@pytest.mark.parametrize("name", LOOKERS)
async def test_who_looks_at_itself_is_paid(name: str) -> None:
    candidate, answer = LOOKERS[name]
    suite = f"from solution import f\ndef test_f():\n    expected = {answer!r}\n    assert f(4) == expected\n"
    found = await scored(candidate, suite, "pytest", isolate=False)
    assert (found.score, str(found.validity)) == (1.0, "valid"), found.detail


@pytest.mark.thorough
@pytest.mark.parametrize("name", LOOKERS)
async def test_it_is_paid_in_each_mode(name: str) -> None:
    """In asserts; with a sandbox of its own, which a run beside the tests confirms; and with a gold."""
    candidate, answer = LOOKERS[name]
    suite = f"import unittest\nfrom solution import f\nclass T(unittest.TestCase):\n    def test_f(self):\n        self.assertEqual(f(4), {answer!r})\n"
    asserts = f"expected = {answer!r}\nassert f(4) == expected\n"
    gold = {"solution.py": f"def f(n): return {answer!r}\n"}
    for found in (
        await of_asserts(candidate, asserts, isolate=False),
        await of_asserts(candidate, asserts),
        await scored(candidate, suite),
        await scored(candidate, suite, gold=gold),
    ):
        assert (found.score, str(found.validity)) == (1.0, "valid"), found.detail
