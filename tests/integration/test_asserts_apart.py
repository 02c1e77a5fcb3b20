# ruff: noqa: E501 (programs are text, not code of ours)
"""Test code of rows that need more than calls with plain values: the candidate has a sandbox of its own where the row's
solution is paid like that, and nothing that it leaves in its process decides a verdict."""

from __future__ import annotations

import asyncio

import pytest
from shared_sandboxes import SHARED, judged

from harena.core.results import RunResult, Trust, Validity
from harena.scoring import load_scenarios
from harena.scoring.formats import import_scenarios
from harena.scoring.scorers import suite_apart

pytestmark = SHARED
FORMS = ("humaneval", "mbpp")


async def in_row(form: str, tests: str, gold: str, *programs: str) -> list[RunResult]:
    """The envelopes of programs in a row of this form with this solution. The tests hand over a function, so that the
    row cannot be read as calls with plain values."""
    if form == "humaneval":
        body = "".join(f"    {line}\n" for line in tests.replace("f(", "candidate(").splitlines())
        row = {"task_id": "H/0", "prompt": "# Write f.\n", "canonical_solution": gold, "entry_point": "f",
               "test": f"def check(candidate):\n{body}"}  # fmt: skip
        answers = [{"task_id": "H/0", "completion": program} for program in programs]
    else:
        row = {"task_id": 0, "text": "Write f.", "code": gold, "test_list": [tests]}
        answers = [{"task_id": 0, "solution": program} for program in programs]
    made = import_scenarios([row], candidates=answers, form=form).scenarios
    assert all(one.scoring.asserts and not one.scoring.calls for one in made)
    return list(await asyncio.gather(*(judged(one, with_numpy="numpy" in tests) for one in made)))


ADDS = "def f(g): return g(3) + 1\n"
PLAIN = "assert f(lambda x: x) == 4"
MANAGED = "with f(lambda: 3) as r:\n    assert r == 3\nassert not r - 3"
MANAGES = "import contextlib\n@contextlib.contextmanager\ndef f(g):\n    yield g()\n"
DECORATED = "@f\ndef g(n):\n    assert n == 3\n    return n\nassert g(2) == 3"
DECORATES = "def f(g): return lambda n: g(n + 1)\n"
CLOSE = "import math\nassert math.isclose(f(lambda x: x), 4)"
DUMPED = "import json\nassert json.dumps(f(lambda x: x)) == '[4]'"
LISTS = "def f(g): return [g(3) + 1]\n"
COPIED = "import copy\nxs = f(lambda x: x)\nys = copy.deepcopy(xs)\nassert ys == [4]"
DRAWN = "import random\nrandom.seed(3)\nxs = [1, 2, 3, 4]\nrandom.shuffle(xs)\nassert f(lambda x: x) == [4] and sorted(xs) == [1, 2, 3, 4] and random.choice([4]) == f(lambda x: x)[0]"
NUMBERS = "from decimal import Decimal\nassert f(lambda x: Decimal(x)) - Decimal('4.01') == 0"
DECIMALS = "from decimal import Decimal\ndef f(g): return g(3) + Decimal('1.01')\n"
MATCHED = "import re\nassert re.fullmatch('[0-9]+', f(lambda x: x))"
TEXTS = "def f(g): return str(g(3) + 1)\n"
BY_NAME = "from operator import eq\nassert eq(f(lambda x: x), 4)"
NEAR = "import numpy as np\nassert np.allclose(f(lambda x: x), 4)\nassert np.array_equal(f(lambda x: x), 4)"

FORGERIES: dict[str, tuple[str, str, str]] = {
    "an __exit__ that swallows": (MANAGED, MANAGES, "class f:\n    def __init__(self, g): pass\n    def __enter__(self): return 0\n    def __exit__(self, *_): return True\n"),
    "an __exit__ that swallows, and an answer that agrees": (MANAGED, MANAGES, "class R(int):\n    def __sub__(self, o): return 0\nclass f:\n    def __init__(self, g): pass\n    def __enter__(self): return R(9)\n    def __exit__(self, *_): return True\n"),
    "a decorator that swallows": (DECORATED, DECORATES, "def f(g):\n    def h(n):\n        try: g(n)\n        except BaseException: pass\n        return 3\n    return h\n"),
    "a module in place of math": (CLOSE, ADDS, "import sys, types\nm = types.ModuleType('math')\nm.isclose = lambda *_: True\nsys.modules['math'] = m\ndef f(g): return 0\n"),
    "a module in place of math in a call": (CLOSE, ADDS, "import sys, types\ndef f(g):\n    m = types.ModuleType('math')\n    m.isclose = lambda *_: True\n    sys.modules['math'] = m\n    return 0\n"),
    "state of json": (DUMPED, LISTS, "import json\nclass E(json.JSONEncoder):\n    def encode(self, o): return '[4]'\njson._default_encoder = E()\ndef f(g): return [0]\n"),
    "an object in json": (DUMPED, LISTS, "import json\njson._default_encoder.__dict__['encode'] = lambda o: '[4]'\ndef f(g): return [0]\n"),
    "state of copy": (COPIED, LISTS, "import copy\ncopy._deepcopy_dispatch[list] = lambda xs, memo: [4]\ndef f(g): return [0]\n"),
    "state of random": (DRAWN, LISTS, "import random\nclass E(int):\n    __eq__ = lambda s, o: True\n    __hash__ = int.__hash__\nrandom._inst.__dict__['choice'] = lambda xs: E()\nrandom.choice = random._inst.choice\ndef f(g): return [4] if g(1) == 2 else [E(9)]\n"),
    "a context of decimal": (NUMBERS, DECIMALS, "import decimal\ndecimal.getcontext().prec = 1\ndef f(g): return decimal.Decimal('4')\n"),
    "a cache of re": (MATCHED, TEXTS, "import re\nclass P:\n    def fullmatch(self, text): return True\nfor flags in (0, re.U): re._cache[str, '[0-9]+', flags] = P()\ntry: re._cache2[str, '[0-9]+', 0] = P()\nexcept AttributeError: pass\ndef f(g): return 'x'\n"),
    "a weak proxy": (PLAIN, ADDS, "import weakref\nclass E:\n    def __eq__(self, o): return True\nE0 = E()\ndef f(g): return weakref.proxy(E0)\n"),
    "an answer that is no bool": (PLAIN, ADDS, "class E:\n    def __eq__(self, o): return ...\ndef f(g): return E()\n"),
    "an operator by its name": (BY_NAME, ADDS, "class E:\n    def __eq__(self, o): return True\ndef f(g): return E()\n"),
    "an operator of its own": (BY_NAME, ADDS, "import operator\noperator.eq = lambda a, b: True\ndef f(g): return 0\n"),
    "what the function is": (PLAIN, ADDS, "def f(g):\n    import sys\n    frame = sys._getframe()\n    while frame:\n        frame.f_globals['__builtins__'] = {}\n        frame = frame.f_back\n    return 0\n"),
    "an array's own functions": (NEAR, ADDS, "class E:\n    def __array_function__(self, *_): return True\ndef f(g): return E()\n"),
    "an array's own operators": (NEAR, ADDS, "class E:\n    def __array_ufunc__(self, *_, **__): return True\n    def __array__(self, *_, **__):\n        import numpy\n        return numpy.array(4)\ndef f(g): return E()\n"),
    "the end of the process": (PLAIN, ADDS, "import os\ndef f(g): os._exit(0)\n"),
    "an exception for the end": (PLAIN, ADDS, "def f(g): raise SystemExit(0)\n"),
}  # fmt: skip
"""name -> (tests, the row's solution, the forgery)"""


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", FORGERIES)
async def test_no_forgery_is_paid_in_a_row(name: str, form: str) -> None:
    """None of them is masked, either; the row's own solution is paid, and the verdicts are made apart."""
    tests, gold, forgery = FORGERIES[name]
    right, forged = await in_row(form, tests, gold, gold, forgery)
    assert (right.score, right.trust) == (1.0, Trust.SEPARATE), right.detail
    assert (forged.score, forged.validity) == (0.0, Validity.VALID), forged.detail


POINT = "class P:\n    def __init__(self, x): self.x = x\n    def __eq__(self, o): return isinstance(o, P) and self.x == o.x\n    def __hash__(self): return hash(self.x)\ndef f(x): return P(x(2))\n"
HONEST: dict[str, tuple[str, str, str]] = {
    "a generator": ("assert list(f(lambda x: x + 1)) == [1, 2, 3]\ng = f(lambda x: x)\nassert next(g) == 0 and sum(g) == 3", "def f(g):\n    for x in range(3): yield g(x)\n", "def f(g): return (g(x) for x in range(3))\n"),
    "objects that are equal": ("assert f(lambda x: x) == f(lambda x: 2)\nassert f(lambda x: x) != f(lambda x: 3) and f(lambda x: x).x == 2", POINT, "from dataclasses import dataclass\n@dataclass(frozen=True)\nclass P:\n    x: int\ndef f(x): return P(x(2))\n"),
    "paths": ("from pathlib import Path\nassert f(lambda x: x) == Path('a/b') and f(lambda x: x).name == 'b'", "from pathlib import Path\ndef f(g): return Path(g('a')) / 'b'\n", "import pathlib\ndef f(g): return pathlib.Path(g('a'), 'b')\n"),
    "identifiers": ("import uuid\nassert f(lambda x: x) == uuid.UUID(int=5) and f(lambda x: x).int == 5", "import uuid\ndef f(g): return uuid.UUID(int=g(5))\n", "from uuid import UUID\ndef f(g): return UUID(int=g(4) + 1)\n"),
    "decimals": ("from decimal import Decimal\nassert f(Decimal) == Decimal('1.50')\nassert str(f(lambda x: Decimal(x))) == '1.50'", "def f(g): return g('1.50')\n", "from decimal import Decimal\ndef f(g): return g('1.25') + Decimal('0.25')\n"),
    "dates": ("import datetime\nassert f(lambda x: x) == datetime.date(2024, 2, 29) and (f(lambda x: x) - datetime.date(2024, 2, 1)).days == 28", "import datetime\ndef f(g): return datetime.date(2024, 2, g(29))\n", "from datetime import date, timedelta\ndef f(g): return date(2024, 3, 1) - timedelta(g(1))\n"),
    "a change in place": ("xs = [3, 1, 2]\nassert f(xs, lambda x: -x) is None\nassert xs == [3, 2, 1]", "def f(xs, g): xs.sort(key=g)\n", "def f(xs, g):\n    xs[:] = sorted(xs, key=g)\n"),
    "exceptions": ("try:\n    f(lambda: 1 / 0)\n    raise AssertionError('it raises nothing')\nexcept ValueError as error:\n    assert 'bad' in str(error)\nassert f(lambda: 3) == 3", "def f(g):\n    try: return g()\n    except ZeroDivisionError as error: raise ValueError('bad') from error\n", "def f(g):\n    try:\n        return g()\n    except ArithmeticError:\n        raise ValueError('a bad call')\n"),
    "closures": ("counter = f(lambda n: n + 1)\nassert [counter(), counter()] == [1, 2]\nassert f(lambda n: n - 1)() == -1", "def f(g):\n    n = 0\n    def step():\n        nonlocal n\n        n = g(n)\n        return n\n    return step\n", "def f(g):\n    held = [0]\n    def step():\n        held[0] = g(held[0])\n        return held[0]\n    return step\n"),
    "callbacks": ("seen = []\nassert f(seen.append, [1, 2]) == 2\nassert seen == [1, 2]\nassert f(lambda x: seen.pop(), [9]) == 1 and seen == [1]", "def f(g, xs):\n    for x in xs: g(x)\n    return len(xs)\n", "def f(g, xs): return len([g(x) for x in xs])\n"),
    "names of Python's own": ("import math\nassert f(lambda x: x) == math.sqrt(16)", "def f(g): return g(3) + 1\n", "globals = {}\nclass ImportError: pass\ndef f(g):\n    globals['x'] = g(3)\n    return globals['x'] + 1\n"),
    "a context manager": (MANAGED, MANAGES, "class f:\n    def __init__(self, g): self.g = g\n    def __enter__(self): return self.g()\n    def __exit__(self, *_): return False\n"),
    "a decorator": (DECORATED, DECORATES, "import functools\ndef f(g):\n    @functools.wraps(g)\n    def h(n): return g(n=n + 1)\n    return h\n"),
}  # fmt: skip
"""name -> (tests, the row's solution, another right program)"""


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", HONEST)
async def test_honest_programs_are_paid_in_a_row(name: str, form: str) -> None:
    """The row's own solution, and one that is written in another way."""
    tests, gold, other = HONEST[name]
    results = await in_row(form, tests, gold, gold, other)
    assert [(one.score, one.detail) for one in results] == [(1.0, ""), (1.0, "")]


@pytest.mark.parametrize("name", HONEST)
async def test_honest_programs_are_paid_without_a_gold(name: str) -> None:
    tests, *programs = HONEST[name]
    scoring = {"type": "command", "asserts": tests}
    rows = [{"id": str(place), "candidate": program, "scoring": scoring} for place, program in enumerate(programs)]
    results = await asyncio.gather(*map(judged, load_scenarios(rows).scenarios))
    assert [(one.score, one.detail) for one in results] == [(1.0, ""), (1.0, "")]


async def test_how_tests_are_to_be_read_is_no_import() -> None:
    """A candidate apart is lent what they import, and no `from __future__` stands below a program."""
    tests = "from __future__ import annotations\ndef same(x: unknown): return x\nassert f(same) == 4"
    row = {"id": "one", "candidate": ADDS, "scoring": {"type": "command", "asserts": tests}}
    found = await judged(load_scenarios([row]).scenarios[0])
    assert (found.score, found.trust) == (1.0, Trust.SEPARATE), found.detail


async def test_what_a_row_imports_is_there_for_its_programs() -> None:
    """A row of MBPP, whose programs are one module with the asserts in the data set's own harness."""
    tests = "import math\nassert f(lambda x: x) == math.factorial(4)"
    gold = "def f(g): return math.factorial(g(4))\n"
    results = await in_row(
        "mbpp", tests, gold, gold, "def f(g): return math.prod(range(1, g(4) + 1))\n", ADDS.replace("3", "4")
    )
    assert [(one.score, one.trust) for one in results[:2]] == [(1.0, Trust.SEPARATE)] * 2
    assert (results[2].score, results[2].validity) == (0.0, Validity.VALID)


@pytest.mark.parametrize("scoring", [{}, {"isolate": False}, {"calls": {"f": "f"}}], ids=str)
async def test_a_sum_of_many_terms_is_judged(scoring: dict[str, object]) -> None:
    """Python compiles what is nested more deeply than a function may call itself."""
    tests = f"assert f(3) == {'+'.join(['1'] * 900)}"
    rows = [
        {
            "id": str(answer),
            "candidate": f"def f(x): return {answer}\n",
            "scoring": {"type": "command", "asserts": tests, **scoring},
        }
        for answer in (900, 3)
    ]
    results = await asyncio.gather(*map(judged, load_scenarios(rows).scenarios))
    assert [(one.score, one.validity) for one in results] == [(1.0, Validity.VALID), (0.0, Validity.VALID)], results


async def test_a_function_is_asked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A call in a loop is one question: what the name stands for is known."""
    asked: list[bytes] = []
    frame = suite_apart._frame

    def noted(body: bytes) -> bytes:
        asked.append(body)
        return frame(body)

    monkeypatch.setattr(suite_apart, "_frame", noted)
    tests = "for i in range(50):\n    assert f(i) == i\n"
    row = {"id": "one", "candidate": "def f(i): return i\n", "scoring": {"type": "command", "asserts": tests}}
    (result,) = [await judged(one) for one in load_scenarios([row]).scenarios]
    assert (result.score, result.trust) == (1.0, Trust.SEPARATE)
    assert len(asked) < 2 * 50 + 10
