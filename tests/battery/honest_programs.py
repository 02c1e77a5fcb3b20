# ruff: noqa: E501, RUF001 (programs are text, not code of ours)
"""Honest programs, drawn by a seed: one right answer computed in many styles of ordinary Python, beside ordinary doings.

A program defines `secret(a)` (see `composed_worlds`), in a `style`, with up to four `additions` around it: files, threads,
children, logging, memory, exceptions, generators, classes. One in eight has a mistake in it. What plain Python makes of a
program is what harena must make of it, too.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from honest_styles import MORE_STYLES

_DIGEST = "int(hashlib.sha256(str(a).encode()).hexdigest(), 16)"
_BASE = "7741 * 10**9"

STYLES: dict[str, str] = {
    "a function": f"def secret(a):\n    return {_BASE} + {_DIGEST} % 10**9\n",
    "a lambda": f"secret = lambda a: {_BASE} + {_DIGEST} % 10**9\n",
    "annotations": f"def secret(a: int, *, more: 'list[int] | None' = None) -> int:\n    made: int = {_BASE}\n    return made + {_DIGEST} % 10**9\n",
    "a callable object": f"class Secret:\n    base = {_BASE}\n    def __call__(self, a):\n        return self.base + {_DIGEST} % 10**9\nsecret = Secret()\n",
    "a static method": f"class Secret:\n    @staticmethod\n    def of(a):\n        return {_BASE} + {_DIGEST} % 10**9\nsecret = Secret.of\n",
    "a class method": f"class Secret:\n    BASE = {_BASE}\n    @classmethod\n    def of(cls, a):\n        return cls.BASE + {_DIGEST} % 10**9\nsecret = Secret.of\n",
    "a bound method": f"class Secret:\n    def __init__(self, base): self.base = base\n    def of(self, a):\n        return self.base + {_DIGEST} % 10**9\nsecret = Secret({_BASE}).of\n",
    "a closure": f"def make(base):\n    calls = 0\n    def secret(a):\n        nonlocal calls\n        calls += 1\n        return base + {_DIGEST} % 10**9\n    return secret\nsecret = make({_BASE})\n",
    "a partial": f"import functools\ndef whole(base, a):\n    return base + {_DIGEST} % 10**9\nsecret = functools.partial(whole, {_BASE})\n",
    "a cache": f"import functools\n@functools.lru_cache(maxsize=None)\ndef secret(a):\n    return {_BASE} + {_DIGEST} % 10**9\n",
    "a decorator": f"import functools\ndef told(function):\n    @functools.wraps(function)\n    def inner(*arguments, **keywords):\n        return function(*arguments, **keywords)\n    return inner\n@told\ndef secret(a):\n    return {_BASE} + {_DIGEST} % 10**9\n",
    "a generator": f"def parts(a):\n    yield {_BASE}\n    yield {_DIGEST} % 10**9\ndef secret(a):\n    return sum(parts(a))\n",
    "yield from": f"def inner(a):\n    yield {_DIGEST} % 10**9\n    return {_BASE}\ndef outer(a):\n    base = yield from inner(a)\n    yield base\ndef secret(a):\n    return sum(outer(a))\n",
    "a recursion": f"def down(n, rest):\n    return rest if n == 0 else down(n - 1, rest)\ndef secret(a):\n    return down(200, {_BASE} + {_DIGEST} % 10**9)\n",
    "exceptions": f"class Found(Exception): pass\ndef secret(a):\n    try:\n        try:\n            raise Found({_BASE} + {_DIGEST} % 10**9)\n        finally:\n            pass\n    except Found as found:\n        return found.args[0]\n",
    "caught errors": f"def secret(a):\n    try:\n        return [][a]\n    except (IndexError, TypeError):\n        pass\n    try:\n        int('x')\n    except ValueError as error:\n        assert 'x' in str(error)\n    return {_BASE} + {_DIGEST} % 10**9\n",
    "a coroutine": f"import asyncio\nasync def later(a):\n    await asyncio.sleep(0)\n    return {_BASE} + {_DIGEST} % 10**9\ndef secret(a):\n    return asyncio.run(later(a))\n",
    "gathered coroutines": f"import asyncio\nasync def one(value):\n    await asyncio.sleep(0.001)\n    return value\nasync def both(a):\n    return await asyncio.gather(one({_BASE}), one({_DIGEST} % 10**9))\ndef secret(a):\n    return sum(asyncio.run(both(a)))\n",
    "a thread": f"import threading\ndef secret(a):\n    made = []\n    thread = threading.Thread(target=lambda: made.append({_BASE} + {_DIGEST} % 10**9))\n    thread.start()\n    thread.join()\n    return made[0]\n",
    "a pool of threads": f"from concurrent.futures import ThreadPoolExecutor\ndef secret(a):\n    with ThreadPoolExecutor(3) as pool:\n        return sum(pool.map(lambda part: part(), [lambda: {_BASE}, lambda: {_DIGEST} % 10**9]))\n",
    "a queue": f"import queue, threading\ndef secret(a):\n    line = queue.Queue()\n    threading.Thread(target=line.put, args=({_BASE} + {_DIGEST} % 10**9,), daemon=True).start()\n    return line.get()\n",
    "a child": f"import os\ndef secret(a):\n    left, right = os.pipe()\n    if os.fork() == 0:\n        os.write(right, str({_BASE} + {_DIGEST} % 10**9).encode())\n        os._exit(0)\n    os.close(right)\n    made = int(os.read(left, 100))\n    os.close(left)\n    os.wait()\n    return made\n",
    "a subprocess": f"import subprocess, sys\ndef secret(a):\n    code = 'import hashlib; a = ' + repr(a) + '; print({_BASE} + {_DIGEST} % 10**9)'\n    return int(subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, check=True).stdout)\n",
    "a file": f"import os, tempfile\ndef secret(a):\n    with tempfile.TemporaryDirectory() as folder:\n        path = os.path.join(folder, 'made.txt')\n        with open(path, 'w') as out:\n            out.write(str({_BASE} + {_DIGEST} % 10**9))\n        with open(path) as source:\n            return int(source.read())\n",
    "a file here": f"import pathlib\ndef secret(a):\n    path = pathlib.Path('made.txt')\n    path.write_text(str({_BASE} + {_DIGEST} % 10**9))\n    made = int(path.read_text())\n    path.unlink()\n    return made\n",
    "json": f"import json\ndef secret(a):\n    return json.loads(json.dumps({{'made': [{_BASE} + {_DIGEST} % 10**9, None]}}))['made'][0]\n",
    "pickle": f"import pickle\nclass Made:\n    def __init__(self, value): self.value = value\ndef secret(a):\n    return pickle.loads(pickle.dumps({_BASE} + {_DIGEST} % 10**9))\n",
    "a data class": f"from dataclasses import dataclass, field\n@dataclass(order=True)\nclass Made:\n    base: int = {_BASE}\n    rest: int = 0\n    log: list = field(default_factory=list)\n    def total(self): return self.base + self.rest\ndef secret(a):\n    return Made(rest={_DIGEST} % 10**9).total()\n",
    "an enum": f"import enum\nclass Part(enum.IntEnum):\n    BASE = {_BASE}\n    MOST = 10**9\ndef secret(a):\n    return int(Part.BASE + {_DIGEST} % Part.MOST)\n",
    "a named tuple": f"from collections import namedtuple\nPair = namedtuple('Pair', 'base rest')\ndef secret(a):\n    pair = Pair({_BASE}, {_DIGEST} % 10**9)\n    return pair.base + pair.rest\n",
    "a property": f"class Made:\n    def __init__(self, a): self._a = a\n    @property\n    def value(self):\n        a = self._a\n        return {_BASE} + {_DIGEST} % 10**9\ndef secret(a):\n    return Made(a).value\n",
    "operators": f"class Number:\n    def __init__(self, value): self.value = value\n    def __add__(self, other): return Number(self.value + other.value)\n    def __mod__(self, other): return Number(self.value % other)\n    def __eq__(self, other): return self.value == other.value\n    def __hash__(self): return hash(self.value)\n    def __int__(self): return self.value\ndef secret(a):\n    return int(Number({_BASE}) + Number({_DIGEST}) % 10**9)\n",
    "a metaclass": f"class Registry(type):\n    made = {{}}\n    def __new__(mcs, name, bases, body):\n        cls = super().__new__(mcs, name, bases, body)\n        mcs.made[name] = cls\n        return cls\nclass Secret(metaclass=Registry):\n    def of(self, a): return {_BASE} + {_DIGEST} % 10**9\ndef secret(a):\n    return Registry.made['Secret']().of(a)\n",
    "a proxy": f"class Real:\n    def of(self, a): return {_BASE} + {_DIGEST} % 10**9\nclass Proxy:\n    def __init__(self, real): self._real = real\n    def __getattr__(self, name): return getattr(self._real, name)\ndef secret(a):\n    return Proxy(Real()).of(a)\n",
    "a context": f"import contextlib\n@contextlib.contextmanager\ndef held(value):\n    try:\n        yield value\n    finally:\n        pass\ndef secret(a):\n    with held({_BASE}) as base, contextlib.suppress(ZeroDivisionError):\n        return base + {_DIGEST} % 10**9\n",
    "reduce": f"import functools, operator\ndef secret(a):\n    return functools.reduce(operator.add, [{_BASE}, {_DIGEST} % 10**9])\n",
    "itertools": f"import itertools\ndef secret(a):\n    return list(itertools.accumulate(itertools.chain([{_BASE}], [{_DIGEST} % 10**9])))[-1]\n",
    "decimals": f"from decimal import Decimal, getcontext\ngetcontext().prec = 120\ndef secret(a):\n    return int(Decimal({_BASE}) + Decimal({_DIGEST}) % Decimal(10**9))\n",
    "fractions": f"from fractions import Fraction\ndef secret(a):\n    made = Fraction({_BASE} * 3 + ({_DIGEST} % 10**9) * 3, 3)\n    return made.numerator // made.denominator\n",
    "texts": f"def secret(a):\n    return int('7741' + format({_DIGEST} % 10**9, '09d'))\n",
    "bytes": f"def secret(a):\n    made = int.from_bytes(hashlib.sha256(b'%d' % a).digest(), 'big')\n    return {_BASE} + made % 10**9\n",
    "a struct": f"import struct\ndef secret(a):\n    (made,) = struct.unpack('>q', struct.pack('>q', {_BASE} + {_DIGEST} % 10**9))\n    return made\n",
    "a database": f"import sqlite3\ndef secret(a):\n    base = sqlite3.connect(':memory:')\n    base.execute('create table made (value integer)')\n    base.execute('insert into made values (?)', ({_BASE} + {_DIGEST} % 10**9,))\n    return base.execute('select value from made').fetchone()[0]\n",
    "eval": f"def secret(a):\n    return eval('{_BASE} + {_DIGEST} % 10**9', {{'hashlib': hashlib, 'a': a, 'int': int, 'str': str}})\n",
    "exec": f"exec('def secret(a):\\n    return {_BASE} + {_DIGEST} % 10**9\\n')\n",
    "a walrus": f"def secret(a):\n    return (base := {_BASE}) + (rest := {_DIGEST} % 10**9) if a or not a else 0\n",
    "a match": f"def secret(a):\n    match a:\n        case int() | str():\n            return {_BASE} + {_DIGEST} % 10**9\n        case _:\n            raise TypeError(a)\n",
    "nested functions": f"def secret(a):\n    def outer():\n        def inner():\n            return {_DIGEST} % 10**9\n        return inner() + {_BASE}\n    return outer()\n",
    "default arguments": f"def secret(a, base={_BASE}, most=10**9, *, seen=[]):\n    seen.append(a)\n    return base + {_DIGEST} % most\n",
    "stars": f"def secret(*arguments, **keywords):\n    a, *rest = arguments\n    return {_BASE} + {_DIGEST} % 10**9\n",
    "a global": f"memory = {{}}\ndef secret(a):\n    global last\n    last = a\n    if a not in memory:\n        memory[a] = {_BASE} + {_DIGEST} % 10**9\n    return memory[a]\n",
    "slots": f"class Made:\n    __slots__ = ('base', '__weakref__')\n    def __init__(self): self.base = {_BASE}\ndef secret(a):\n    return Made().base + {_DIGEST} % 10**9\n",
    "an abstract class": f"import abc\nclass Shape(abc.ABC):\n    @abc.abstractmethod\n    def of(self, a): ...\nclass Circle(Shape):\n    def of(self, a): return {_BASE} + {_DIGEST} % 10**9\ndef secret(a):\n    return Circle().of(a)\n",
    "a heap": f"import heapq\ndef secret(a):\n    heap = [{_DIGEST} % 10**9, {_BASE}]\n    heapq.heapify(heap)\n    return heapq.heappop(heap) + heapq.heappop(heap)\n",
    "its own file": f"import os\nassert os.path.exists(__file__)\ndef secret(a):\n    assert 'def secret' in open(__file__).read()\n    return {_BASE} + {_DIGEST} % 10**9\n",
    "its own source": f"import inspect\ndef secret(a):\n    assert 'inspect' in inspect.getsource(secret)\n    return {_BASE} + {_DIGEST} % 10**9\n",
    "its own module": f"import sys\nvalue = {_BASE}\ndef secret(a):\n    return sys.modules[__name__].value + {_DIGEST} % 10**9\n",
    "its own names": f"def hidden(a): return {_BASE} + {_DIGEST} % 10**9\ndef secret(a):\n    return globals()['hidden'](a)\n",
    "a pool of processes": f"import multiprocessing\ndef half(a): return {_DIGEST} % 10**9\ndef secret(a):\n    with multiprocessing.get_context('fork').Pool(1) as pool:\n        return {_BASE} + pool.apply(half, (a,))\n",
    "a socket pair": f"import socket\ndef secret(a):\n    left, right = socket.socketpair()\n    with left, right:\n        left.sendall(str({_BASE} + {_DIGEST} % 10**9).encode())\n        return int(right.recv(100))\n",
    "a timer": f"import threading\ndef secret(a):\n    made, done = [], threading.Event()\n    threading.Timer(0.001, lambda: (made.append({_BASE} + {_DIGEST} % 10**9), done.set())).start()\n    done.wait()\n    return made[0]\n",
    "an alarm": f"import signal\ndef secret(a):\n    had = signal.signal(signal.SIGALRM, lambda *_: None)\n    signal.setitimer(signal.ITIMER_REAL, 5)\n    try:\n        return {_BASE} + {_DIGEST} % 10**9\n    finally:\n        signal.setitimer(signal.ITIMER_REAL, 0)\n        signal.signal(signal.SIGALRM, had)\n",
    **MORE_STYLES,
}  # fmt: skip
"""name -> a definition of `secret`; `hashlib` is imported"""

ADDITIONS: dict[str, str] = {
    "prints to stderr": "import sys\nprint('begun', file=sys.stderr)\n",
    "logs": "import logging\nlogging.basicConfig(level=logging.DEBUG)\nlogging.getLogger(__name__).info('begun')\n",
    "warns": "import warnings\nwarnings.warn('old', DeprecationWarning)\n",
    "writes a file": "with open('notes.txt', 'w') as out:\n    out.write('notes')\n",
    "makes a folder": "import os\nos.makedirs('cache/deep', exist_ok=True)\nopen('cache/deep/x.json', 'w').write('{}')\n",
    "writes to its home": "import os\ntry:\n    open(os.path.expanduser('~/.program-rc'), 'w').write('x')\nexcept OSError:\n    pass\n",
    "keeps a thread": "import threading, time\nthreading.Thread(target=time.sleep, args=(0.05,), daemon=True).start()\n",
    "waits for a thread": "import threading\nready = threading.Event()\nthreading.Thread(target=ready.set).start()\nready.wait()\n",
    "has had a child": "import os\nif os.fork() == 0:\n    os._exit(0)\nos.wait()\n",
    "has run a program": "import subprocess\nsubprocess.run(['true'], check=True)\n",
    "uses memory": "block = bytearray(20_000_000)\nblock[::4096] = b'x' * len(block[::4096])\n",
    "has used memory": "spare = [0] * 2_000_000\ndel spare\n",
    "computes a while": "total = sum(i * i for i in range(60_000))\n",
    "sleeps a little": "import time\ntime.sleep(0.01)\n",
    "has a docstring": '"""A program."""\n',
    "asks for the time": "import time, datetime\nbegun = time.perf_counter(), datetime.datetime.now()\n",
    "rolls dice": "import random\nrandom.seed(7)\nrolled = [random.random() for _ in range(100)]\n",
    "registers an end": "import atexit\natexit.register(lambda: None)\n",
    "has a finalizer": "class Held:\n    def __del__(self): pass\nheld = Held()\ndel held\n",
    "catches errors": "try:\n    {}['x']\nexcept KeyError:\n    missing = True\n",
    "raises and catches its own": "class Own(ValueError):\n    def __init__(self, *a): super().__init__('own')\ntry:\n    raise Own from None\nexcept ValueError:\n    pass\n",
    "sets a limit of recursion": "import sys\nsys.setrecursionlimit(5000)\n",
    "has a guard": "def main():\n    pass\nif __name__ == '__main__':\n    main()\n",
    "exports names": "__all__ = ['secret']\n__version__ = '1.0'\n",
    "reads its environment": "import os\nhome = os.environ.get('HOME', ''), os.environ.get('PATH'), os.getcwd(), os.getpid()\n",
    "sets its environment": "import os\nos.environ['OMP_NUM_THREADS'] = '1'\n",
    "collects": "import gc\ngc.collect()\ngc.disable()\ngc.enable()\n",
    "looks at its limits": "import resource, os\nused = resource.getrusage(resource.RUSAGE_SELF), resource.getrlimit(resource.RLIMIT_NOFILE)\nload = len(os.sched_getaffinity(0))\n",
    "handles a signal": "import signal\nsignal.signal(signal.SIGTERM, signal.default_int_handler)\nsignal.signal(signal.SIGTERM, signal.SIG_DFL)\n",
    "imports much": "import argparse, collections, csv, datetime, decimal, email, fractions, html, io, ipaddress, json, math, random, re, secrets, statistics, string, textwrap, typing, unittest, urllib.parse, uuid, zlib\n",
    "defines types": "from typing import Generic, NamedTuple, Protocol, TypedDict, TypeVar\nT = TypeVar('T')\nclass Box(Generic[T]):\n    item: T\nclass Row(NamedTuple):\n    a: int = 0\nclass Shape(TypedDict, total=False):\n    x: int\nclass Has(Protocol):\n    def of(self) -> int: ...\n",
    "defers annotations": "def of(a: 'Undefined') -> 'AlsoUndefined': return a\n",
    "shadows a name": "def max(*a):\n    return 1\nlist = [1]\nid = 3\nprint = lambda *a, **k: None\n",
    "has a name of its own called equal": "def equal(a, b): return a is b\ndef check(*a): return True\nCASES = tests = expected = []\n",
    "uses other letters": "größe = 1\nsecret_ñ = 'ß – “quoted” \\u2028'\n",
    "holds escapes": "ART = '\\x1b[31mred\\x1b[0m \\\\ \\0 {} %s {{ item.x }} </think>'\n",
    "long lines": f"TABLE = {list(range(400))}\n",
    "compares objects": "class Point:\n    def __init__(self, x): self.x = x\n    def __eq__(self, o): return isinstance(o, Point) and self.x == o.x\n    def __hash__(self): return hash(self.x)\n    def __repr__(self): return f'Point({self.x})'\nassert len({Point(1), Point(1)}) == 1\n",
    "hooks": "import sys\nhad = sys.excepthook\ndef hook(kind, error, trace):\n    had(kind, error, trace)\nsys.excepthook = hook\n",
    "flushes": "import sys\nsys.stdout.flush()\nsys.stderr.flush()\n",
    "reconfigures its output": "import sys\nif hasattr(sys.stdout, 'reconfigure'):\n    sys.stdout.reconfigure(line_buffering=True)\n",
    "wraps its output": "import contextlib, io\nwith contextlib.redirect_stdout(io.StringIO()):\n    print('hidden')\n",
    "listens": "import socket\nwith socket.socket() as wire:\n    wire.bind(('127.0.0.1', 0))\n    wire.listen()\n",
    "locks": "import threading\nlock = threading.RLock()\nwith lock, lock:\n    pass\n",
    "packs": "import zipfile, io, gzip\nwith zipfile.ZipFile(io.BytesIO(), 'w') as packed:\n    packed.writestr('a', 'b')\ngzip.compress(b'x' * 1000)\n",
    "has a windows line": "text = 'a'\r\nmore = 'b'\r\n",
    "has tabs": "if True:\n\tindented = 1\n",
}  # fmt: skip
"""name -> statements of the program's top"""

PRINTS = {"prints to stdout": "print('working')\n"}
"""for contracts that do not read standard output"""

STRIDE = 45
"""through the styles, with no divisor in common with their number: a few dozen seeds meet all kinds of them"""

MISTAKES = (
    ("% 10**9", "% 10**8"),
    ("7741", "7742"),
    ("16)", "16) + 1"),
    ("return ", "return -"),
    ("(a):\n", "(a):\n    a = 6\n"),
)


@dataclass(frozen=True, slots=True)
class HonestProgram:
    """A program and what it is made of."""

    seed: int
    name: str
    source: str
    is_right: bool
    """no mistake was put in; what plain Python says is the measure"""


def honest(seed: int, *, may_print: bool) -> HonestProgram:
    """The honest program of this seed."""
    dice = random.Random(f"honest:{seed}")
    style = list(STYLES)[seed * STRIDE % len(STYLES)] if seed < 2 * len(STYLES) else dice.choice(list(STYLES))
    offered = {**ADDITIONS, **(PRINTS if may_print else {})}
    chosen = dice.sample(list(offered), dice.randrange(5))
    chosen.sort(key=lambda name: name != "has a docstring")
    definition = STYLES[style]
    mistake = dice.choice(MISTAKES) if seed % 8 == 7 else None
    if mistake is not None:
        definition = definition.replace(*mistake)
    before = dice.random() < 0.7
    parts = [offered[name] for name in chosen]
    head = [part for part, name in zip(parts, chosen, strict=True) if before or name == "has a docstring"]
    tail = [part for part, name in zip(parts, chosen, strict=True) if not (before or name == "has a docstring")]
    if mistake is None and dice.random() < 0.1:  # in a file as some editors write it
        definition = definition.replace("\n", "\r\n") if "exec(" not in definition else definition
    source = "".join([*head, "import hashlib\n", definition, *tail])
    return HonestProgram(
        seed, " + ".join([style, *chosen, *(["a mistake"] if mistake else [])]), source, mistake is None
    )


AS_PROGRAM = "\nif __name__ == '__main__':\n    for _line in __import__('sys').stdin:\n        __import__('builtins').print(secret(int(_line)))\n"
AS_NUMBER = "\nif __name__ == '__main__':\n    _made = secret({a})\n    __import__('builtins').print(_made)\n    open('n.txt', 'w').write(str(_made))\n"
