# ruff: noqa: E501 (programs are text, not code of ours)
"""Trusted suites over a candidate in another process: what a stand-in can do, and what it keeps away."""

from __future__ import annotations

from typing import Any

import pytest
from shared_sandboxes import SHARED, judged

from harena.core.results import Reason, RunResult, Validity
from harena.scoring import load_scenarios

pytestmark = SHARED

CANDIDATE = """
LIMIT = 7
TWICE = 2 * LIMIT

class FullError(ValueError):
    pass

class Stack:
    def __init__(self, size=LIMIT):
        self.size = size
        self.items = []
    def push(self, value):
        if len(self.items) == self.size:
            raise FullError(f"no more than {self.size}")
        self.items.append(value)
    def pop(self):
        return self.items.pop()
    def __len__(self):
        return len(self.items)
    def __iter__(self):
        return iter(self.items)

def total(stack):
    return sum(stack.items)

def parse(text):
    return int(text)

double = lambda number: 2 * number
"""
SUITE = """
import pytest
import pkg.more
import solution
from solution import LIMIT, FullError, Stack, double, parse, total

def test_values():
    assert LIMIT == 7 and solution.LIMIT == 7 and solution.TWICE == 14
    assert type(double(3)) is int and double(3) == 6
    assert pkg.more.pair(b=2, a=1) == (1, 2)

def test_objects():
    stack = Stack(size=2)
    stack.push(1.5)
    stack.push(2)
    assert len(stack) == 2 and stack.items == [1.5, 2] and list(stack) == [1.5, 2]
    assert total(stack) == 3.5
    with pytest.raises(FullError, match="no more than 2"):
        stack.push(3)
    with pytest.raises(ValueError):
        stack.push(3)
    stack.size = 3
    stack.push(3)
    assert stack.pop() == 3

def test_errors():
    with pytest.raises(IndexError):
        Stack().pop()
    with pytest.raises(ValueError, match="invalid literal"):
        parse("x")
    with pytest.raises(AttributeError):
        solution.nothing
"""
FILES = {"solution.py": CANDIDATE, "pkg/more.py": "def pair(a, b):\n    return a, b\n"}


async def scored(candidate: Any, suite: str, **scoring: Any) -> RunResult:
    """The envelope, by pytest in the sandboxes of this module."""
    contract = {"type": "command", "pytest": ["test_it.py"], "files": {"test_it.py": suite}, **scoring}
    made = load_scenarios([{"id": "one", "candidate": candidate, "scoring": contract}]).scenarios[0]
    return await judged(made)


async def test_functions_objects_constants_and_errors_cross() -> None:
    """What an ordinary suite asks of an ordinary candidate works as if it were beside it."""
    assert (await scored({"files": FILES, "entry": "solution.py"}, SUITE)).score == 1.0
    assert (await scored({"files": FILES, "entry": "solution.py"}, SUITE, isolate=False)).score == 1.0


@pytest.mark.parametrize(
    "edit", [("2 * number", "3 * number"), ("no more", "NO MORE"), ("return a, b", "return [a, b]")]
)
async def test_a_difference_is_seen(edit: tuple[str, str]) -> None:
    """A tuple stays a tuple, a message a message."""
    files = {path: text.replace(*edit) for path, text in FILES.items()}
    result = await scored({"files": files, "entry": "solution.py"}, SUITE)
    assert (result.score, result.validity, result.reason) == (0.0, Validity.VALID, Reason.SCORER_REJECTED)


DIGGING = """
import os, sys
def words_in(frame):
    while frame is not None:
        for holder in [*frame.f_locals.values(), *frame.f_globals.values()]:
            for value in getattr(holder, "__dict__", {}).values():
                if type(value) is bytes and len(value) == 32:
                    yield value
        frame = frame.f_back
def add(a, b):
    for word in set(words_in(sys._getframe())):
        for descriptor in range(1, 32):
            try:
                os.write(descriptor, b"\\nharena-proof " + word + b"\\n")
            except OSError:
                pass
    os._exit(0)
"""
ADDED = "from solution import add\ndef test_add():\n    assert add(1, 2) == 3\n"


async def test_the_word_of_the_proof_is_in_reach_only_beside_the_suite() -> None:
    """Suites are isolated unless they say otherwise. Beside them the word alone pays nobody: there is no report with it."""
    assert (await scored(DIGGING, ADDED)).validity is Validity.VALID
    for isolate in ("sandbox", False):
        assert (await scored(DIGGING, ADDED, isolate=isolate)).score == 0.0
    assert (await scored(DIGGING, ADDED, isolate=False)).validity is Validity.SUSPECT


REWRITING = "def add(a, b):\n    open('test_later.py', 'w').write('def test(): pass')\n    open('trusted.py', 'w')\n    return 3\n"
LATER = "def test_later():\n    import trusted\n    assert trusted.want == 4\n    from solution import add\n    assert add(2, 2) == 4\n"


async def test_trusted_files_are_read_before_the_candidate_runs() -> None:
    """A candidate that passes the first test cannot rewrite the second, nor what it imports."""
    files = {"test_it.py": ADDED, "test_later.py": LATER, "trusted.py": "want = 4\n"}
    result = await scored(REWRITING, "", pytest=["test_it.py", "test_later.py"], files=files)
    assert (result.score, result.reason) == (0.0, Reason.SCORER_REJECTED)
    right = "def add(a, b):\n    return a + b\n"
    assert (await scored(right, "", pytest=["test_it.py", "test_later.py"], files=files)).score == 1.0


LOOPING = """
from solution import add
def test_add():
    for right in map(lambda case: add(*case[0]) == case[1], [((1, 2), 3)]):
        assert right
"""


async def test_an_error_cannot_end_a_loop_of_the_suites() -> None:
    """StopIteration out of a call is an error like any other."""
    stopping = "def add(a, b):\n    raise StopIteration\n"
    assert (await scored(stopping, LOOPING)).score == 0.0
    assert (await scored(stopping, LOOPING, isolate=False)).score == 0.0
    assert (await scored("def add(a, b):\n    return a + b\n", LOOPING)).score == 1.0


EARLY = (
    "def made():\n    open('test_later.py', 'w').write('def test(): pass')\n    return lambda a, b: 3\nadd = made()\n"
)


@pytest.mark.parametrize("isolate", ["auto", True])
async def test_a_candidate_that_runs_while_tests_are_collected_rewrites_none(isolate: Any) -> None:
    """What a suite asks while it is read is answered, and a test file that is read later is what it was."""
    files = {"test_it.py": ADDED, "test_later.py": "import solution\ndef test():\n    assert solution.add(2, 2) == 4\n"}
    pytest_files = ["test_it.py", "test_later.py"]
    assert (await scored(EARLY, "", pytest=pytest_files, files=files, isolate=isolate)).score == 0.0
    honest = "import operator\nadd = max([operator.add], key=str)\n"
    assert (await scored(honest, "", pytest=pytest_files, files=files, isolate=isolate)).score == 1.0
    at_import = "import solution\nCASES = [solution.add(1, 2)]\ndef test():\n    assert CASES == [3]\n"
    assert (await scored(honest, at_import, isolate=isolate)).score == 1.0
    assert (await scored("def add(a, b): return 4\n", at_import, isolate=isolate)).score == 0.0


READING = "import json\nfrom solution import add\ndef test():\n    assert add(1, 1) == 2\n    assert add(2, 2) == json.load(open('cases.json'))\n"
FORGING = "def add(a, b):\n    if a == 2: return 5\n    open('cases.json', 'w').write('5')\n    return 2\n"


@pytest.mark.parametrize("isolate", ["auto", True])
async def test_trusted_data_are_out_of_the_candidates_reach(isolate: Any) -> None:
    """They are not where it is, or are empty there; the suite reads what they had held."""
    files = {"test_it.py": READING, "cases.json": "4"}
    reading = "def add(a, b):\n    return int(open('cases.json').read() or 2) if a == 2 else 2\n"
    for forgery in (FORGING, reading):
        result = await scored(forgery, "", files=files, isolate=isolate)
        assert (result.score, result.reason) == (0.0, Reason.SCORER_REJECTED)
    assert (await scored("def add(a, b): return a + b\n", "", files=files, isolate=isolate)).score == 1.0


PLANTING = """
import importlib.metadata, importlib.util, marshal, os, struct, sys
def load(number):
    path = os.path.abspath("test_b.py")
    about = os.stat(path)
    code = compile("def test_b(): pass", path, "exec")
    place = f"__pycache__/test_b.{sys.implementation.cache_tag}-pytest-{importlib.metadata.version('pytest')}.pyc"
    os.makedirs("__pycache__", exist_ok=True)
    stamp = struct.pack("<LLL", 0, int(about.st_mtime) & 0xFFFFFFFF, about.st_size & 0xFFFFFFFF)
    with open(place, "wb") as file:
        file.write(importlib.util.MAGIC_NUMBER + stamp + marshal.dumps(code))
    return number + 1
load(1)
"""


@pytest.mark.parametrize("isolate", [True, False])
async def test_compiled_tests_that_a_candidate_leaves_are_not_read(isolate: bool) -> None:
    """Written while the first file of tests is collected, for the second one."""
    suite = {
        "test_a.py": "from solution import load\ndef test_a():\n    assert load(1) == 2\n",
        "test_b.py": "from solution import load\ndef test_b():\n    assert load(21) == 42\n",
    }
    row = {
        "id": "one",
        "candidate": PLANTING,
        "scoring": {"type": "command", "pytest": ["test_a.py", "test_b.py"], "isolate": isolate, "files": suite},
    }
    (made,) = load_scenarios([row]).scenarios
    result = await judged(made)
    # one that writes code for a test beside it has taken the tests' own
    why = "test_b" if isolate else "takes the code of a function of the tests"
    assert (result.score, why in result.detail) == (0.0, True), result.detail


@pytest.mark.parametrize(
    "line",
    ["os.closerange(3, 4096)", "os.closerange(3, os.sysconf('SC_OPEN_MAX'))", "assert getrlimit(7) == (1024, 1024)",
     "os.closerange(3, 1 << 20)", "list(map(closed, map(int, os.listdir('/proc/self/fd'))))"],
)  # fmt: skip
async def test_a_candidate_apart_may_close_all_that_it_did_not_open(line: str) -> None:
    """As daemons do, whether they ask for their limit of descriptors or not."""
    closed = "def closed(n):\n    try: n < 3 or os.close(n)\n    except OSError: pass\n"
    candidate = f"import os\nfrom resource import getrlimit\n{closed}def f(x):\n    {line}\n    return 2 * x\n"
    suite = "from solution import f\ndef test_it():\n    assert f(2) == 4\n    assert f(3) == 6\n"
    contract = {"type": "command", "pytest": ["test_it.py"], "files": {"test_it.py": suite}, "isolate": "sandbox"}
    made = load_scenarios([{"id": "one", "candidate": candidate, "scoring": contract}]).scenarios[0]
    result = await judged(made)
    assert result.score == 1.0, result.detail
