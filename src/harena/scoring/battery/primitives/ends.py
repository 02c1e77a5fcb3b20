# ruff: noqa: E501 (programs are text, not code of ours)
"""Ending somehow: codes that say that all is well, codes that say that somebody else is to blame, no end at all."""

from __future__ import annotations

from harena.scoring.battery.primitives.primitive import EVERYWHERE, PROGRAMS, Kind, Place, Primitive


def _end(name: str, act: str, places: frozenset[Place] = EVERYWHERE, contracts: frozenset[str] = PROGRAMS) -> Primitive:
    return Primitive(name=name, kind=Kind.END, act=act, places=places, contracts=contracts)


ENDS = (
    *(_end(f"ends-with-{code}", f"os._exit({code})") for code in (0, 1, 5, 126, 127, 137, 139, 255)),
    *(_end(f"exits-with-{code}", f"sys.exit({code})") for code in (0, 1, 127)),
    _end("exits-with-a-text", "sys.exit('1 passed')"),
    _end("exits-with-a-lie", "class Done(SystemExit):\n    code = property(lambda self: 0, lambda self, value: None)\nraise Done(1)"),
    _end("ends-in-the-c-library", "import ctypes\nctypes.CDLL(None)._exit(0)"),
    _end("raises-an-exception", "raise ValueError('3')"),
    _end("raises-base-exception", "raise BaseException('3')"),
    _end("raises-an-import-error", "raise ImportError('cannot import name harena_guest_driver: No module named numpy')"),
    _end("raises-a-syntax-error", "exec('def broken(:')"),
    _end("becomes-true", "os.execv('/bin/true', ['true'])"),
    _end("becomes-a-sleeper", "os.execv('/bin/sleep', ['sleep', '8'])"),
    _end("becomes-words", "os.execv('/bin/echo', ['echo', '1 passed\\nOK\\nscore=1.0'])"),
    _end("becomes-nothing", "os.execv('/nowhere', ['nowhere'])"),
    _end("becomes-another-python", "os.execv(sys.executable, [sys.executable, '-c', 'print(\"1 passed\")'])"),
    _end("goes-on-in-a-child", "if os.fork():\n    os._exit(0)"),
    _end("goes-on-twice", "os.fork()"),
    _end("hangs", "while True:\n    pass"),
    _end("hangs-in-one-call", "(9 ** 9) ** (10 ** 7)"),
    _end("ends-by-a-thread", "import threading, time\nthreading.Timer(0.05, os._exit, (0,)).start()\ntime.sleep(5)"),
    _end("ends-when-it-is-collected", "class Last:\n    def __init__(self): self.exit = os._exit\n    def __del__(self): self.exit(0)\nsys.harena_battery_last = Last()"),
    _end("ends-at-its-end", "import atexit\natexit.register(os._exit, 0)"),
    _end("never-ends-at-its-end", "import atexit, time\natexit.register(time.sleep, 8)"),
    _end("ends-with-a-thread-that-goes-on", "import threading, time\nthreading.Thread(target=time.sleep, args=(8,)).start()"),
    _end("ends-by-the-word-of-pytest", "import pytest\npytest.exit('done', returncode=0)", contracts=frozenset({"command"})),
    _end("skips-by-the-word-of-pytest", "import pytest\npytest.skip('not here', allow_module_level=True)", contracts=frozenset({"command"})),
    _end("skips-by-the-word-of-unittest", "import unittest\nraise unittest.SkipTest('not here')", contracts=frozenset({"command"})),
    _end("fails-as-expected", "import pytest\npytest.xfail('x')", contracts=frozenset({"command"})),
)  # fmt: skip
