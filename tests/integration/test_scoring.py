"""Every contract on running sandboxes, and every known forgery against it: none may score above an empty answer."""

from __future__ import annotations

import copy
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
import pytest_asyncio
from battery_world import Source, linux_runtime

from harena.core.errors import HostUnsupportedError, PlatformError
from harena.core.models import ExecRequest, SandboxSpec
from harena.core.ports import RunningExec, SandboxPort
from harena.core.records.blueprints import Blueprint
from harena.core.results import Reason, RunResult, Trust, Validity
from harena.core.workspace import MIB, WorkspaceLimits, within
from harena.scoring import load_scenarios, score_scenario
from harena.scoring.battery.forgery import descriptors
from harena.scoring.contracts.contract import TestsContract
from harena.scoring.values import Bag
from harena.testing import FakeRuntime

pytestmark = pytest.mark.asyncio(loop_scope="module")

SPEC = SandboxSpec()


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=["fake", "linux"])
async def source(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Source]:
    runtime = FakeRuntime() if request.param == "fake" else linux_runtime(tmp_path_factory.mktemp("home"))
    try:
        await runtime.start()
    except HostUnsupportedError as error:
        pytest.skip(str(error))
    yield Source(runtime)
    await runtime.close()


async def scored(
    source: Source, candidate: Any, scoring: dict[str, Any], *, alone: bool = False, **row: Any
) -> RunResult:
    """The envelope of one candidate; 20 s for all that it runs."""
    batch = load_scenarios([{"id": "one", "candidate": candidate, "scoring": scoring, **row}])
    return await score_scenario(batch.scenarios[0], sandboxes=source, base_spec=SPEC, timeout_seconds=20, alone=alone)


ADD = {
    "type": "tests",
    "entry_point": "add",
    "checks": [{"args": [1, 2], "expected": 3}, {"args": [20, 22], "expected": 42}],
    "check_timeout_seconds": 5.0,
}
WRONG = "def add(a, b):\n    return a - b\n"
RIGHT = "def add(a, b):\n    return a + b\n"

FORGERIES = {
    "os._exit at import": "import os\nos._exit(0)\n",
    "sys.exit at import": "import sys\nsys.exit(0)\n",
    "os._exit in the call": "import os\ndef add(a, b):\n    os._exit(0)\n",
    "sys.exit in the call": "import sys\ndef add(a, b):\n    sys.exit(0)\n",
    "an object that equals everything": (
        "class Any:\n    def __eq__(self, other): return True\n    def __hash__(self): return 0\n"
        "def add(a, b):\n    return Any()\n"
    ),
    "an int that equals everything": (
        "class Any(int):\n    def __eq__(self, other): return True\n    __hash__ = int.__hash__\n"
        "def add(a, b):\n    return Any(7)\n"
    ),
    "an object that lies about its class": (
        "class Any:\n    __class__ = int\n    def __eq__(self, other): return True\ndef add(a, b):\n    return Any()\n"
    ),
    "a container that equals everything": (
        "class Any(list):\n    def __eq__(self, other): return True\ndef add(a, b):\n    return [Any()]\n"
    ),
    "atexit": "import atexit, os\natexit.register(lambda: os._exit(0))\n" + WRONG,
    "excepthook": "import os, sys\nsys.excepthook = lambda *error: os._exit(0)\n" + WRONG + "raise ValueError\n",
    "protocol-like words on every descriptor": (
        "import os\n"
        f"for fd in {descriptors(1, 64)}:\n"
        "    try:\n        os.write(fd, b'00000012' + b'0' * 16 + b'vT')\n"
        "    except OSError:\n        pass\n" + WRONG
    ),
    "protocol-like words from a thread while asked": (
        "import os, threading\n"
        "def spam():\n"
        f"    for fd in {descriptors(3, 64)}:\n"
        "        try:\n            os.write(fd, b'00000012' + b'0' * 16 + b'vT')\n"
        "        except OSError:\n            pass\n"
        "def add(a, b):\n    thread = threading.Thread(target=spam)\n    thread.start()\n    thread.join()\n"
    ),
    "answers to later questions before they are asked": (
        "import sys\n"
        "def add(a, b):\n"
        "    import os\n"
        "    frame = sys._getframe()\n"
        "    while 'replies' not in frame.f_locals: frame = frame.f_back\n"
        "    for _ in range(2):\n"
        "        os.write(frame.f_locals['replies'], b'00000014' + frame.f_locals['token'] + b'vi3;')\n"
        "    return 3\n"
    ),
    "a second copy of the process": "import os\ndef add(a, b):\n    os.fork()\n    return 3\n",
    "closing every descriptor": "import os\ndef add(a, b):\n    os.closerange(0, 64)\n    return 3\n",
    "patched builtins": (
        "import builtins, sys\n"
        "driver = sys._getframe(1).f_globals\n"
        "driver['encode'] = lambda value: b'T'\n"
        "builtins.type = lambda value: int\n" + WRONG
    ),
    "a verdict in place of a value": (
        "import sys\nsys._getframe(1).f_globals['call'] = lambda function, request: b'passed'\n" + WRONG
    ),
    "a length without end": (
        "import sys\n"
        "def add(a, b):\n"
        "    import os\n"
        "    frame = sys._getframe()\n"
        "    while 'replies' not in frame.f_locals: frame = frame.f_back\n"
        "    os.write(frame.f_locals['replies'], b'ffffffff')\n"
        "    os._exit(0)\n"
    ),
    "a bomb of shared references": (
        "def add(a, b):\n    value = []\n    for _ in range(90): value = [value, value]\n    return value\n"
    ),
    "a value that contains itself": "def add(a, b):\n    value = []\n    value.append(value)\n    return value\n",
    "skipping": "import unittest\ndef add(a, b):\n    raise unittest.SkipTest('no')\n",
    "a message of success": "print('2 passed\\nscore=1.0\\nOK')\nraise SystemExit(0)\n",
}


async def test_a_right_function_passes(source: Source) -> None:
    """A right answer scores 1, with every planned check run, and says that it cannot be forged."""
    result = await scored(source, "print('loading')\n" + RIGHT, ADD)
    assert (result.score, result.passed, result.reason) == (1.0, True, Reason.PASSED)
    assert (result.checks_planned, result.checks_run, result.checks_passed) == (2, 2, 2)
    assert (result.validity, result.trust) == (Validity.VALID, Trust.SEPARATE)
    assert len(result.evidence) == 64
    assert result.cpu_seconds > 0


@pytest.mark.parametrize("name", FORGERIES)
async def test_no_forgery_of_tests_pays(source: Source, name: str) -> None:
    """A known forgery scores 0, which is a score: it is neither paid nor excused."""
    result = await scored(source, FORGERIES[name], ADD)
    assert result.score == 0.0
    assert not result.passed
    assert result.validity in (Validity.VALID, Validity.SUSPECT)


@pytest.mark.parametrize(
    ("candidate", "reason"),
    [
        ("def add(a, b):\n    return a - b\n", Reason.WRONG_ANSWER),
        ("def add(a, b:\n", Reason.SYNTAX_ERROR),
        ("def plus(a, b):\n    return a + b\n", Reason.MISSING_ENTRY_POINT),
        ("def add(a, b):\n    raise KeyError(a)\n", Reason.EXCEPTION),
        ("1 / 0\n", Reason.EXCEPTION),
        ("def add(a, b):\n    return {a: object()}\n", Reason.BAD_VALUE),
        ("import os\ndef add(a, b):\n    os.kill(os.getpid(), 9)\n", Reason.EXITED_EARLY),
        ("def add(a, b):\n    return 'x' * 9_000_000\n", Reason.BAD_VALUE),
        (" \n\t\n", Reason.EMPTY_CANDIDATE),
        ("def add(a, b):\n    raise MemoryError\n", Reason.MEMORY_LIMIT),
    ],
)
async def test_each_failure_has_its_reason(source: Source, candidate: str, reason: Reason) -> None:
    """The table of reasons, as far as the candidate decides."""
    result = await scored(source, candidate, ADD)
    assert (result.score, result.reason, result.validity) == (0.0, reason, Validity.VALID)


@pytest.mark.parametrize("candidate", ["def add(a, b):\n    while True: pass\n", "import time\ntime.sleep(60)\n"])
async def test_a_slow_program_times_out_at_its_check(source: Source, candidate: str) -> None:
    """One check's limit ends the run, long before the limit of all of them."""
    result = await scored(source, candidate, {**ADD, "check_timeout_seconds": 0.4}, alone=True)
    assert (result.score, result.reason) == (0.0, Reason.TIMEOUT)
    assert result.duration_seconds < 10


async def test_a_question_that_nobody_reads_costs_its_own_time(source: Source) -> None:
    """A candidate that stops itself while a large argument is on its way to it holds its place no longer than one that
    sleeps."""
    stopping = (
        "import os, signal\n"
        "write = os.write\n"
        "def answered(*given):\n    write(*given)\n    os.kill(os.getpid(), signal.SIGSTOP)\n"
        "def size(x):\n    os.write = answered\n    return len(x)\n"
    )
    checks = [{"args": ["x" * size], "expected": size} for size in (1, 3_000_000)]
    contract = {"type": "tests", "entry_point": "size", "checks": checks, "check_timeout_seconds": 0.5}
    result = await scored(source, stopping, contract, alone=True)
    assert (result.score, result.reason) == (0.0, Reason.TIMEOUT)
    assert result.duration_seconds < 10


async def test_partial_credit_is_the_weighted_share(source: Source) -> None:
    """A check that ends the process costs that check only, and the others are asked in a new process."""
    checks = [
        {"args": [1], "expected": 1, "weight": 1},
        {"args": [2], "expected": 2, "weight": 1},
        {"args": [3], "expected": 3, "weight": 2},
    ]
    candidate = "import os\ndef same(x):\n    if x == 2: os._exit(1)\n    return x\n"
    scoring = {"type": "tests", "entry_point": "same", "checks": checks, "partial_credit": True}
    result = await scored(source, candidate, scoring)
    assert (result.score, result.passed, result.reason) == (0.75, False, Reason.PARTIAL)
    assert (result.checks_planned, result.checks_run, result.checks_passed) == (3, 2, 2)


async def test_an_answer_of_a_subclass_counts_only_where_its_check_says_so(source: Source) -> None:
    """A lenient check beside it changes nothing for an exact one."""
    subclass = "class Own(int): pass\ndef f(x): return Own(x)\n"
    checks = [{"args": [n], "expected": n, **kind} for n, kind in enumerate(({"comparison": "equal"}, {}))]
    contract = {"type": "tests", "entry_point": "f", "checks": checks, "partial_credit": True}
    result = await scored(source, subclass, contract)
    assert (result.score, result.trust, result.validity) == (0.5, Trust.SEPARATE, Validity.VALID)
    assert "cannot cross the border: Own" in result.detail


async def test_values_methods_setup_and_files_cross_the_border(source: Source) -> None:
    """Tags, keyword arguments, expected exceptions, a class, setup code and a problem's own file."""
    scoring = {
        "type": "tests",
        "entry_point": "Solver.solve",
        "setup": "class Node:\n    def __init__(self, value): self.value = value\n",
        "checks": [
            {"args": [{"$set": [1, 2]}], "kwargs": {"scale": 2}, "expected": {"$dict": [[{"$tuple": [1, 2]}, 6]]}},
            {"args": [None], "raises": "LookupError"},
            {"args": [{"$bytes": "aGk="}], "expected": {"$tuple": ["hi", "from a file", {"$float": "nan"}]}},
        ],
    }
    candidate = (
        "class Solver:\n"
        "    def __init__(self): self.calls = 0\n"
        "    def solve(self, value, scale=1):\n"
        "        self.calls += 1\n"
        "        assert self.calls == 1\n"
        "        if value is None: raise KeyError('nothing')\n"
        "        if type(value) is bytes: return value.decode(), open('notes.txt').read(), float('nan')\n"
        "        return {tuple(sorted(value)): Node(sum(value)).value * scale}\n"
    )
    problem = {"files": {"notes.txt": "from a file"}}
    result = await scored(source, candidate, scoring, problem=problem)
    assert (result.score, result.reason, result.detail) == (1.0, Reason.PASSED, "")


@pytest.mark.parametrize(
    ("lines", "score"),
    [
        ("    def __init__(self): self.solve = lru_cache(None)(self.of)\n    def of(self, n): return 2 * n\n", 1.0),
        ("    def __getattr__(self, name): return lambda n: 2 * n\n", 1.0),
        ("    def __init__(self): self.solve = 6\n", 0.0),
        ("    def __init__(self): raise AttributeError('solve')\n", 0.0),
        ("    pass\n", 0.0),
    ],
)
async def test_a_constructor_may_make_the_method(source: Source, lines: str, score: float) -> None:
    """It is the instance's; who has none is not excused by an expected AttributeError."""
    candidate = f"from functools import lru_cache\nclass Solver:\n{lines}"
    contract = {"type": "tests", "entry_point": "Solver.solve"}
    result = await scored(source, candidate, {**contract, "checks": [{"args": [3], "expected": 6}]})
    assert (result.score, result.validity) == (score, Validity.VALID), result.detail
    result = await scored(source, candidate, {**contract, "checks": [{"args": [3], "raises": "AttributeError"}]})
    assert (result.score, result.validity) == (0.0, Validity.VALID), result.detail


async def test_a_check_is_unknown_until_it_is_asked(source: Source) -> None:
    """While the first check is answered, the second one's arguments are nowhere in the process and not in its pipe."""
    candidate = (
        "import gc, os, select, sys\n"
        "def spy(secret):\n"
        "    frame = sys._getframe()\n"
        "    while 'requests' not in frame.f_locals: frame = frame.f_back\n"
        "    waiting = select.poll()\n"
        "    waiting.register(frame.f_locals['requests'], select.POLLIN)\n"
        "    return bool(waiting.poll(200))\n"
    )
    checks = [{"args": ["first"], "expected": False}, {"args": ["second"], "expected": False}]
    result = await scored(source, candidate, {"type": "tests", "entry_point": "spy", "checks": checks})
    assert result.reason is Reason.PASSED


async def test_setup_that_fails_is_the_contracts_fault(source: Source) -> None:
    """No score: no candidate could have done better."""
    result = await scored(source, RIGHT, {**ADD, "setup": "import no_such_module_anywhere"})
    assert (result.score, result.validity, result.reason) == (None, Validity.INVALID, Reason.SCORER_ERROR)


UNBUILDABLE = Bag("set", ([1],))
"""a value that passes no check of a file; what if one gets past it?"""


async def with_arguments(source: Source, candidate: str, value: Any) -> RunResult:
    """The envelope of a candidate whose first check calls it with `value`."""
    made = load_scenarios([{"id": "one", "candidate": candidate, "scoring": ADD}]).scenarios[0]
    assert isinstance(made.scoring, TestsContract)
    check = made.scoring.checks[0].model_copy(update={"args": (value, 2)})
    scoring = made.scoring.model_copy(update={"checks": (check,)})
    return await score_scenario(replace(made, scoring=scoring), sandboxes=source, base_spec=SPEC, timeout_seconds=20)


async def test_arguments_that_cannot_be_built_are_the_contracts_fault(source: Source) -> None:
    """No call was made, so there is no score."""
    result = await with_arguments(source, RIGHT, UNBUILDABLE)
    assert (result.score, result.validity, result.reason) == (None, Validity.INVALID, Reason.SCORER_ERROR)
    assert "arguments of checks[0] cannot be built: TypeError" in result.detail


async def test_a_candidate_cannot_excuse_itself_by_refusing_arguments(source: Source) -> None:
    """What breaks beside the candidate only is its own doing."""
    breaking = (
        "import sys\n"
        "frame = sys._getframe()\n"
        "while 'requests' not in frame.f_locals: frame = frame.f_back\n"
        "frame.f_globals['decode'] = None\n" + RIGHT
    )
    result = await with_arguments(source, breaking, 1)
    assert (result.score, result.validity, result.reason) == (0.0, Validity.VALID, Reason.EXITED_EARLY)


async def test_a_candidate_cannot_excuse_itself_by_breaking_setup(source: Source) -> None:
    """Files that shadow what `setup` imports make the candidate fail, not the contract."""
    candidate = {"files": {"solution.py": RIGHT, "colorsys.py": "raise ImportError('mine')"}}
    result = await scored(source, candidate, {**ADD, "setup": "import colorsys"})
    assert (result.score, result.validity, result.reason) == (0.0, Validity.VALID, Reason.EXCEPTION)
    files = {"lib.py": "import colorsys"}
    result = await scored(source, candidate, {**ADD, "setup": "import lib"}, problem={"files": files})
    assert (result.score, result.validity, result.reason) == (0.0, Validity.VALID, Reason.EXCEPTION)


async def test_details_of_hidden_checks_tell_nothing(source: Source) -> None:
    """Neither arguments nor the expected value of a hidden check are in the result."""
    checks = [{"args": ["secret-in"], "expected": "secret-out", "hidden": True}]
    result = await scored(source, "def f(x):\n    return x\n", {"type": "tests", "entry_point": "f", "checks": checks})
    assert result.reason is Reason.WRONG_ANSWER
    assert "secret" not in result.detail


async def test_the_same_run_gives_the_same_evidence(source: Source) -> None:
    """The digest depends on what was seen, not on when; another answer gives another digest."""
    first, again = await scored(source, RIGHT, ADD), await scored(source, RIGHT, ADD)
    other = await scored(source, RIGHT + "\n", ADD)
    assert first.evidence == again.evidence
    assert first.evidence != other.evidence


DOUBLE = {
    "type": "stdio",
    "cases": [{"stdin": "1\n2\n", "stdout": "2\n4\n"}, {"stdin": "5\n", "stdout": "10\n"}],
}
DOUBLING = "import sys\nfor line in sys.stdin:\n    print(int(line) * 2)\n"


async def test_a_right_program_passes_its_cases(source: Source) -> None:
    """Each case is a process of its own; a sandbox for each where that is asked for."""
    assert (await scored(source, DOUBLING, DOUBLE)).score == 1.0
    assert (await scored(source, DOUBLING, {**DOUBLE, "fresh": True})).score == 1.0


@pytest.mark.parametrize(
    "lines",
    [
        "import os\nos.mkdir('t')\n",
        "open('log', 'x').write('a')\n",
        "open('out.txt', 'a').write('a')\nassert open('out.txt').read() == 'a'\n",
        "open(__file__, 'a').write('raise SystemExit(1)')\n",
        "import socket\nsocket.socket(socket.AF_UNIX).bind('s')\n",
        "import os\nwhile os.path.exists('lock'): pass\nopen('lock', 'w')\n",
        "STATE = 0\nassert STATE == 0\nopen(__file__, 'r+').write('STATE = 1')\n",
        "STATE = 0\nwhile STATE: pass\nopen(__file__, 'r+').write('STATE = 1')\n",
        "import os\nassert not os.stat(__file__).st_mode & 0o111\nos.chmod(__file__, 0o755)\n",
        "import os\nwhile os.stat('.').st_mode & 0o777 == 0o700: pass\nos.chmod('.', 0o700)\n",
        "import os\nassert os.stat(__file__).st_mtime != 7\nos.utime(__file__, (7, 7))\n",
    ],
)
async def test_what_a_case_leaves_fails_no_other(source: Source, lines: str) -> None:
    """Each was refused in its second case."""
    contract = {**DOUBLE, "check_timeout_seconds": 1.5}
    assert (await scored(source, lines + DOUBLING, contract)).score == 1.0
    wrong = await scored(source, lines + DOUBLING.replace("* 2", "* 2 % 10"), contract)
    assert (wrong.score, wrong.validity, wrong.reason) == (0.0, Validity.VALID, Reason.WRONG_ANSWER)


@pytest.mark.parametrize(
    "lines",
    [
        "import ctypes\nassert ctypes.CDLL(None).shmget(7, 4096, 0o3600) >= 0\n",
        "import ctypes\nassert ctypes.CDLL(None).semget(7, 1, 0o3600) >= 0\n",
        "import ctypes\nwhile ctypes.CDLL(None).msgget(7, 0o3600) < 0: pass\n",
        "import ctypes\nassert ctypes.CDLL(None).mq_open(b'/q', 0o302, 0o600, None) >= 0\n",
    ],
)
async def test_objects_between_processes_fail_no_other_case(source: Source, lines: str) -> None:
    """Shared memory, semaphores and queues outlive their process, as long as the sandbox does."""
    if source.is_fake:
        pytest.skip("they would stay on this machine")
    contract = {**DOUBLE, "check_timeout_seconds": 1.5}
    assert (await scored(source, lines + DOUBLING, contract)).score == 1.0
    wrong = await scored(source, lines + DOUBLING.replace("* 2", "* 2 % 10"), contract)
    assert (wrong.score, wrong.validity, wrong.reason) == (0.0, Validity.VALID, Reason.WRONG_ANSWER)


async def test_a_wrong_program_with_no_luck_is_asked_no_more(source: Source) -> None:
    """A case that fails in a fresh sandbox, too, has failed; what passed stays passed."""
    contract = {**DOUBLE, "partial_credit": True}
    wrong = await scored(source, DOUBLING.replace("* 2", "* 2 % 10"), contract)
    assert (wrong.score, wrong.reason, wrong.validity) == (0.5, Reason.PARTIAL, Validity.VALID)


SOFT, HARD = (f"resource.getrlimit(resource.RLIMIT_NOFILE)[{index}]" for index in (0, 1))
ONE_BY_ONE = "for file in {files}:\n    try: os.close(file)\n    except OSError: pass"


@pytest.mark.parametrize(
    "lines",
    [
        "os.closerange(3, 1000)",
        "os.closerange(3, 4096)",
        "assert resource.getrlimit(resource.RLIMIT_NOFILE) == (1024, 1024)",
        "os.closerange(3, os.sysconf('SC_OPEN_MAX'))",
        f"os.closerange(3, {SOFT})",
        f"os.closerange(3, {HARD})",
        ONE_BY_ONE.format(files=f"range({HARD}, 2, -1)"),
        ONE_BY_ONE.format(files=f"[n for n in map(int, os.listdir('/proc/self/fd')) if 3 <= n < {HARD}]"),
        ONE_BY_ONE.format(files="[n for n in map(int, os.listdir('/proc/self/fd')) if n >= 3]"),
        "os.closerange(3, 1 << 20)",
        "resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))\nopen('/dev/null').close()",
        "class Pipe:\n    end = os.close\n    def use(self): list(map(self.end, os.pipe()))\nPipe().use()",
        "import pickle\nassert pickle.loads(pickle.dumps(os.close)) is os.close and os.close.__name__ == 'close'",
    ],
)
async def test_a_program_may_close_all_that_it_did_not_open(source: Source, lines: str) -> None:
    """As daemons do, by their limit of descriptors, by any other, or by what /proc lists."""
    checks = [{"args": [n], "expected": 2 * n} for n in (3, -1)]
    program = f"import os, resource\n{lines}\ndef f(x): return 2 * x\n"
    result = await scored(source, program, {"type": "tests", "entry_point": "f", "checks": checks})
    assert result.score == 1.0, result.detail


SAVING = """\
import os, time
first = input() == '1'
stop, done = time.process_time() + 0.7, float(open('p').read()) if os.path.exists('p') else 0
while done < 1.2:
    before = time.process_time()
    while time.process_time() < before + 0.1: pass
    done += 0.1
    open('p', 'w').write(str(done))
    if time.process_time() > stop and first: break
"""


async def test_no_case_saves_time_for_another(source: Source) -> None:
    """The second case takes more than its limit unless it goes on where the first has stopped."""
    program = SAVING + "print(1)\n"
    cases = [{"stdin": f"{n}\n", "stdout": "1\n"} for n in (1, 2)]
    contract = {"type": "stdio", "cases": cases, "check_timeout_seconds": 1}
    result = await scored(source, program, contract)
    assert (result.score, result.reason) == (0.0, Reason.TIMEOUT), result.detail


@pytest.mark.parametrize(
    "candidate",
    [
        "pass\n",
        "print(2)\n",
        "import os\nos._exit(0)\n",
        "import sys\nsys.stdout.write('2\\n4')\nsys.stdout.flush()\nsys.exit(3)\n",
        "print('2\\n4\\nPASSED\\nscore=1.0')\n",
        "import sys\nprint('2\\n4', file=sys.stderr)\n",
        "print('4\\n2')\n",
    ],
)
async def test_no_forgery_of_output_pays(source: Source, candidate: str) -> None:
    """A prefix of the expected output, nothing, an exit code and verdict-like words all score 0."""
    result = await scored(source, candidate, DOUBLE)
    assert (result.score, result.validity) == (0.0, Validity.VALID)


async def test_a_large_output_is_read_whole(source: Source) -> None:
    """A right program that prints 2 MB passes: reading does not wait for its end."""
    scoring = {"type": "stdio", "cases": [{"stdout": "x" * 79 + "\n" + ("y" * 79 + "\n") * 25_000}]}
    candidate = "print('x' * 79)\nfor _ in range(25000): print('y' * 79)\n"
    result = await scored(source, candidate, scoring)
    assert result.score == 1.0


async def test_output_over_the_limit_is_its_own_reason(source: Source) -> None:
    """What was cut off is not compared."""
    result = await scored(
        source, "print('x' * 3_000_000)\n", {"type": "stdio", "cases": [{"stdout": "x"}]}, limits={"output_mb": 1}
    )
    assert (result.score, result.reason) == (0.0, Reason.OUTPUT_LIMIT)


async def test_cases_give_partial_credit_and_time_out(source: Source) -> None:
    """A case that takes too long costs that case."""
    candidate = "import sys, time\ntext = sys.stdin.read()\nif text == '5\\n': time.sleep(60)\nprint('2\\n4')\n"
    scoring = {**DOUBLE, "partial_credit": True, "check_timeout_seconds": 0.6}
    result = await scored(source, candidate, scoring)
    assert (result.score, result.reason) == (0.5, Reason.PARTIAL)
    strict = await scored(source, "import time\ntime.sleep(60)\n", {**DOUBLE, "check_timeout_seconds": 0.4})
    assert (strict.score, strict.reason) == (0.0, Reason.TIMEOUT)


@pytest.mark.parametrize(
    ("candidate", "contract", "score", "reason"),
    [
        ("print('busy')\nprint(41.5)\n", {"range": [0, 83]}, 0.5, Reason.WRONG_ANSWER),
        ("print(2)\n", {"range": [10, 2]}, 1.0, Reason.PASSED),
        ("print(99)\n", {"range": [10, 2]}, 0.0, Reason.WRONG_ANSWER),
        ("print(3.1415926)\n", {"target": 3.14159265, "abs_tol": 1e-6}, 1.0, Reason.PASSED),
        ("print('nan')\n", {"range": [0, 1]}, 0.0, Reason.BAD_VALUE),
        ("print('inf')\n", {"range": [0, 1]}, 0.0, Reason.BAD_VALUE),
        ("print('1e999')\n", {"range": [0, 1]}, 0.0, Reason.BAD_VALUE),
        ("print('1_0')\n", {"range": [0, 10]}, 0.0, Reason.BAD_VALUE),
        ("pass\n", {"range": [-1, 1]}, 0.0, Reason.BAD_VALUE),
        ("print(1)\nraise SystemExit(2)\n", {"range": [0, 1]}, 0.0, Reason.EXCEPTION),
        ("print('loss: 3 loss: 4 ok')\n", {"source": {"pattern": "loss: (\\d+)"}, "target": 4}, 1.0, Reason.PASSED),
        ("print('loss')\n", {"source": {"pattern": "loss: (\\d+)"}, "target": 4}, 0.0, Reason.BAD_VALUE),
        ("open('n.txt', 'w').write('7\\n')\n", {"source": {"file": "n.txt"}, "target": 7}, 1.0, Reason.PASSED),
        ("print(7)\n", {"source": {"file": "n.txt"}, "target": 7}, 0.0, Reason.BAD_VALUE),
        ("import os\nos.mkdir('n.txt')\n", {"source": {"file": "n.txt"}, "target": 7}, 0.0, Reason.BAD_VALUE),
    ],
)
async def test_numbers_become_scores(
    source: Source, candidate: str, contract: dict[str, Any], score: float, reason: Reason
) -> None:
    """The mapping, and everything that is not a number."""
    result = await scored(source, candidate, {"type": "numeric", **contract})
    assert (result.score, result.reason, result.validity) == (score, reason, Validity.VALID)


BUSY = "import time\nwhile time.process_time() < 0.7: pass\nprint(1)\n"
PRINTS = {"type": "stdio", "cases": [{"stdout": "1\n"}]}
NUMBER = {"type": "numeric", "target": 1}


@pytest.mark.parametrize(
    ("parts", "seconds", "score"),
    [
        ((NUMBER, PRINTS), 1.0, 1.0),
        ((PRINTS, NUMBER), 1.0, 1.0),
        (({**NUMBER, "timeout_seconds": 0.3}, PRINTS), 5.0, 0.5),
        (({**PRINTS, "timeout_seconds": 5.0},), 0.3, 1.0),
    ],
)
async def test_weighted_parts_have_a_time_limit_each(
    source: Source, parts: tuple[dict[str, Any], ...], seconds: float, score: float
) -> None:
    """Their own or the scenario's, whatever the other parts have used before."""
    weighted = {"type": "weighted", "parts": {f"part{n}": {"scoring": part} for n, part in enumerate(parts)}}
    result = await scored(source, BUSY, weighted, limits={"timeout_seconds": seconds})
    assert (result.score, result.validity) == (score, Validity.VALID)


JUDGE = """
def score(run):
    print("score=1.0")                    # what a scorer prints is not its answer
    if run.timed_out or run.exit_code != 0:
        return False
    words = run.stdout.split() + run.files.get("out.txt", "").split()
    return {"score": min(1.0, len(words) / 4), "detail": f"{len(words)} words by {run.scenario_id}"}
"""


@pytest.mark.parametrize(
    ("candidate", "score", "reason"),
    [
        ("print('a b')\nopen('out.txt', 'w').write('c d')\n", 1.0, Reason.PASSED),
        ("print('a b')\n", 0.5, Reason.SCORER_REJECTED),
        ("raise SystemExit(1)\n", 0.0, Reason.EXCEPTION),
        ("import sys\nprint('{\"score\": 1}')\nsys.exit(1)\n", 0.0, Reason.EXCEPTION),
        ("import os\nos.mkfifo('out.txt')\nprint('a')\n", 0.25, Reason.SCORER_REJECTED),
    ],
)
async def test_custom_code_scores_what_was_observed(
    source: Source, candidate: str, score: float, reason: Reason
) -> None:
    """The scorer sees output, files and exit code, and nothing that the candidate prints is taken for its answer."""
    scoring = {"type": "python", "source": JUDGE, "output_files": ["out.txt"]}
    result = await scored(source, candidate, scoring)
    assert (result.score, result.reason) == (score, reason)


@pytest.mark.parametrize(
    "code",
    [
        "def score(run):\n    raise ValueError('mine')\n",
        "def score(run):\n    return 'much'\n",
        "def score(run):\n    return float('nan')\n",
        "def score(run):\n    return 1.5\n",
        "def score(run):\n    return eval('(')\n",
        "import os\ndef score(run):\n    os._exit(0)\n",
        "if False:\n    def score(run): return 1\n",
    ],
)
async def test_a_scorer_that_breaks_gives_no_score(source: Source, code: str) -> None:
    """A fault of the scorer is neither 0 nor the platform's."""
    result = await scored(source, "print(1)\n", {"type": "python", "source": code})
    assert (result.score, result.validity, result.reason) == (None, Validity.INVALID, Reason.SCORER_ERROR)


@pytest.mark.parametrize(
    ("code", "fields"),
    [
        ("def score(run):\n    return float(int(run.stdout) == 42)\n", {}),
        ("def score(run):\n    return float(run.stdout) / 10\n", {}),
        ("def score(run):\n    return int(run.files['n.txt']) == 42\n", {"output_files": ["n.txt"]}),
        ("def score(run):\n    return float(run.candidate[run.entry]) == 42\n", {"run_candidate": False}),
        ("import json\ndef score(run):\n    return float(json.loads(run.stdout)['total'] == 42)\n", {}),
        ("def score(run):\n    return float(int(run.stdout.split('Answer:')[1]) == 42)\n", {}),
        ("def score(run):\n    a, b = map(int, run.stdout.split())\n    return float(a == b)\n", {}),
    ],
)
async def test_an_answer_of_another_form_is_not_excused(source: Source, code: str, fields: dict[str, Any]) -> None:
    """The scorer fails for an empty answer, too, but has one for a number."""
    result = await scored(source, "print('no idea')\n", {"type": "python", "source": code, **fields})
    assert (result.score, result.validity, result.reason) == (0.0, Validity.VALID, Reason.SCORER_REJECTED)


@pytest.mark.parametrize(
    ("candidate", "code"),
    [
        ("print('three')\n", "def score(run):\n    return min(1.0, float(run.stdout or 0))\n"),
        ("print('nan')\n", "def score(run):\n    return float(run.stdout or 0)\n"),
        ("raise SystemExit(9)\n", "def score(run):\n    return {0: 0.5}[run.exit_code]\n"),
        ("x = 1\n", "def score(run):\n    assert not run.candidate['solution.py']\n    return 1\n"),
    ],
)
async def test_a_candidate_cannot_buy_itself_no_score_by_breaking_the_scorer(
    source: Source, candidate: str, code: str
) -> None:
    """A scorer that has an answer for a program that does nothing is not to blame for what it meets here."""
    result = await scored(source, candidate, {"type": "python", "source": code})
    assert (result.score, result.validity, result.reason) == (0.0, Validity.VALID, Reason.SCORER_REJECTED)
    assert "breaks the scorer" in result.detail


LATER_INTERPRETERS_END = """
import os, site
folder = site.getusersitepackages()
os.makedirs(folder, exist_ok=True)
open(os.path.join(folder, "usercustomize.py"), "w").write("import os; os._exit(127)")
os._exit(127)
"""


async def test_a_candidate_cannot_pass_for_a_missing_interpreter(source: Source) -> None:
    """Code 127, and a start-up file that makes every later interpreter end so: the fresh sandbox knows better."""
    if source.is_fake:
        pytest.skip("the fake runtime has this machine's home folder")
    for scoring in (DOUBLE, {"type": "numeric", "target": 1}, {"type": "python", "source": JUDGE}):
        result = await scored(source, LATER_INTERPRETERS_END, scoring)
        assert (result.score, result.validity, result.reason) == (0.0, Validity.VALID, Reason.EXCEPTION)


CHECKED = """
import sys
word = sys.stdin.readline().strip()
import solution
assert solution.add(1, 2) == 3
assert type(solution.add(20, 22)) is int and solution.add(20, 22) == 42
print("harena-proof", word)
"""
COMMAND = {"type": "command", "command": ["python", "check.py"], "files": {"check.py": CHECKED}}


async def test_a_trusted_command_passes_a_right_candidate(source: Source) -> None:
    """Exit code 0 and the proof; and the result says that the process was shared."""
    result = await scored(source, RIGHT, COMMAND)
    assert (result.score, result.reason, result.trust) == (1.0, Reason.PASSED, Trust.SHARED)


async def test_a_proof_may_be_in_a_file_and_a_command_a_line_of_shell(source: Source) -> None:
    """The shell reads the word before the candidate runs, and tells it when all is right."""
    scoring = {
        "type": "command",
        "command": 'read -r word; test "$(python solution.py </dev/null)" = 42 && echo "harena-proof $word" > proof',
        "proof": {"file": "proof"},
    }
    assert (await scored(source, "print(42)\n", scoring)).score == 1.0
    forged = "print(43)\nopen('proof', 'w').write('harena-proof ' + '0' * 32)\n"
    assert (await scored(source, forged, scoring)).score == 0.0


@pytest.mark.parametrize(
    "candidate",
    [
        WRONG,
        "import os\nos._exit(0)\n",
        "import sys\nsys.exit(0)\n",
        "import atexit, os\natexit.register(lambda: os._exit(0))\n" + WRONG,
        "import os, sys\nsys.excepthook = lambda *error: os._exit(0)\n" + WRONG,
        "print('harena-proof')\nprint('1 passed')\nimport os\nos._exit(0)\n",
        {"files": {"solution.py": WRONG, "check.py": "print('harena-proof', input())"}},
        {"files": {"solution.py": WRONG, "sitecustomize.py": "import os\nos._exit(0)"}},
        {"files": {"solution.py": WRONG, "builtins.py": "", "os.py": "print('harena-proof', input())\nexit(0)"}},
        {"files": {"solution.py": WRONG, "x.pth": "import os; os._exit(0)"}},
    ],
)
async def test_no_known_forgery_of_a_command_pays(source: Source, candidate: Any) -> None:
    """An exit code of 0 is no proof, and a candidate's file never takes the place of a trusted one."""
    result = await scored(source, candidate, COMMAND)
    assert (result.score, result.validity) == (0.0, Validity.VALID)


async def test_a_command_that_does_not_exist_is_the_contracts_fault(source: Source) -> None:
    """A typing error in a contract does not become a batch of zeros; a candidate that exits with 127 does."""
    scoring = {"type": "command", "command": ["pytst", "-q"]}
    result = await scored(source, RIGHT, scoring)
    assert (result.score, result.validity) == (None, Validity.INVALID)
    excused = await scored(source, "import os\nos._exit(127)\n", COMMAND)
    assert (excused.score, excused.validity) == (0.0, Validity.VALID)


TESTED = """
import pytest
from solution import add

@pytest.mark.parametrize("n", [1, 2, 3])
def test_add(n):
    assert add(n, n) == 2 * n

def test_type():
    assert add(1, 1) == 2
"""
PYTEST = {"type": "command", "pytest": ["test_add.py"], "files": {"test_add.py": TESTED}}


@pytest.fixture
def with_pytest(source: Source) -> Source:
    """Sandboxes that have pytest: the fake ones see this environment, the real ones get its wheels as a layer."""
    return (
        source if source.is_fake else Source(source.runtime, Blueprint(id="bp_pytest", name="pytest", layer="pytest"))
    )


async def test_pytest_passes_a_right_candidate(with_pytest: Source) -> None:
    """All collected tests ran and passed, unittest's among them."""
    assert (await scored(with_pytest, RIGHT, PYTEST)).score == 1.0
    classic = (
        "import unittest\nimport solution\nclass TestAdd(unittest.TestCase):\n"
        "    def test_add(self): self.assertEqual(solution.add(1, 2), 3)\n"
    )
    scoring = {"type": "command", "pytest": ["test_add.py"], "files": {"test_add.py": classic}}
    assert (await scored(with_pytest, RIGHT, scoring)).score == 1.0
    assert (await scored(with_pytest, WRONG, scoring)).score == 0.0


REWRITTEN = """
import pytest
@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    report.outcome = "passed"
    report.longrepr = None
"""
PATCHED = (
    """
from _pytest.reports import TestReport
original = TestReport.from_item_and_call.__func__
def forged(cls, item, call):
    report = original(cls, item, call)
    report.outcome, report.longrepr = "passed", None
    return report
TestReport.from_item_and_call = classmethod(forged)
"""
    + WRONG
)


@pytest.mark.parametrize(
    "candidate",
    [
        WRONG,
        {"files": {"solution.py": WRONG, "conftest.py": REWRITTEN}},
        PATCHED,
        "import os\nos._exit(0)\n",
        "import pytest\npytest.skip('no', allow_module_level=True)\n",
        "import pytest\ndef add(a, b): pytest.skip('no')\n",
        "import pytest\ndef add(a, b): pytest.exit('done', returncode=0)\n",
        "class Any:\n    def __eq__(self, other): return True\ndef add(a, b): return Any()\n",
        "class Any(int):\n    __hash__ = int.__hash__\n    def __eq__(self, other): return True\n"
        "def add(a, b): return Any(1)\n",
        {"files": {"solution.py": WRONG, "pytest.py": "print('harena-proof', input())", "pytest.ini": "[pytest]\n"}},
        {"files": {"solution.py": WRONG, "test_add.py": "def test_nothing(): pass"}},
        {
            "files": {
                "solution.py": WRONG,
                "plugin.py": REWRITTEN,
                "evil-1.0.dist-info/entry_points.txt": "[pytest11]\nevil = plugin\n",
                "evil-1.0.dist-info/METADATA": "Name: evil\nVersion: 1.0\n",
            }
        },
        {"files": {"solution.py": WRONG, "pyproject.toml": "[tool.pytest.ini_options]\naddopts = '--co'\n"}},
    ],
)
async def test_no_known_forgery_of_pytest_pays(with_pytest: Source, candidate: Any) -> None:
    """The battery of the field, against a runner that takes each verdict before a report of it exists."""
    result = await scored(with_pytest, candidate, PYTEST)
    assert (result.score, result.validity) == (0.0, Validity.VALID)


async def test_memory_is_limited_and_named(source: Source) -> None:
    """A program that passes its memory limit fails for that reason, under every contract that runs one."""
    if source.is_fake:
        pytest.skip("the fake runtime does not limit memory")
    hungry = "block = []\nwhile True: block.append(bytearray(10_000_000))\n"
    for scoring in (ADD, DOUBLE, {"type": "numeric", "target": 1}):
        result = await scored(source, hungry, scoring, limits={"memory_mb": 64})
        assert (result.score, result.reason, result.validity) == (0.0, Reason.MEMORY_LIMIT, Validity.VALID)


USES_MEMORY = "block = bytearray(30_000_000)\nblock[::4096] = b'x' * len(block[::4096])\n"
SUITE = (
    "import unittest\nfrom solution import add\n"
    "class T(unittest.TestCase):\n    def test_it(self): self.assertEqual(add(1, 2), 3)\n"
)
SHARING: dict[str, dict[str, Any]] = {
    "asserts, called": {"asserts": "assert add(1, 2) == 3", "calls": {"add": "add"}},
    "asserts, beside": {"asserts": "assert add(1, 2) == 3", "isolate": False},
    "unittest, a process": {"unittest": ["test_it.py"], "files": {"test_it.py": SUITE}, "isolate": True},
    "unittest, beside": {"unittest": ["test_it.py"], "files": {"test_it.py": SUITE}, "isolate": False},
}


@pytest.mark.parametrize("name", SHARING)
async def test_what_runs_tests_takes_nothing_of_a_candidates_memory(source: Source, name: str) -> None:
    """A right program within its own limit is paid where it shares a sandbox with the tests, and a hog is not."""
    if source.is_fake:
        pytest.skip("the fake runtime does not limit memory")
    scoring = {"type": "command", **SHARING[name]}
    right = await scored(source, RIGHT + USES_MEMORY, scoring, limits={"memory_mb": 64})
    assert (right.score, right.reason) == (1.0, Reason.PASSED), right.detail
    hungry = RIGHT + "block = []\nwhile True: block.append(bytearray(10_000_000))\n"
    result = await scored(source, hungry, scoring, limits={"memory_mb": 64})
    assert (result.score, result.validity) == (0.0, Validity.VALID), result.detail


class WithCeiling(Source):
    """Sandboxes of a workspace in which none may have more than 64 MiB."""

    @asynccontextmanager
    async def sandbox(self, spec: SandboxSpec) -> AsyncIterator[SandboxPort]:
        limits = within(WorkspaceLimits(sandbox_memory_bytes=64 * MIB), spec.limits)
        async with super().sandbox(replace(spec, limits=limits)) as sandbox:
            yield sandbox


async def test_a_ceiling_of_the_workspace_leaves_the_tests_no_memory_of_their_own(source: Source) -> None:
    """They share what a sandbox may have there: the run has its score, and no error of the platform."""
    scoring = {"type": "command", **SHARING["asserts, beside"]}
    result = await scored(WithCeiling(source.runtime), RIGHT, scoring, limits={"memory_mb": 64})
    assert (result.score, result.reason) == (1.0, Reason.PASSED), result.detail


class WithoutMemory(Source):
    """Sandboxes with less memory than any interpreter needs: less than a limit may be, as an image may need more."""

    @asynccontextmanager
    async def sandbox(self, spec: SandboxSpec) -> AsyncIterator[SandboxPort]:
        limits = copy.copy(spec.limits)
        object.__setattr__(limits, "memory_bytes", 2**20)
        async with super().sandbox(replace(spec, limits=limits)) as sandbox:
            yield sandbox


async def test_limits_in_which_no_interpreter_starts_are_the_contracts_fault(source: Source) -> None:
    """Nothing has run, so there is no score."""
    if source.is_fake:
        pytest.skip("the fake runtime does not limit memory")
    tight = WithoutMemory(source.runtime)
    for scoring in (ADD, DOUBLE):
        batch = load_scenarios([{"id": "one", "candidate": RIGHT, "scoring": scoring}])
        result = await score_scenario(batch.scenarios[0], sandboxes=tight, base_spec=SPEC, timeout_seconds=20)
        assert (result.score, result.validity, result.reason) == (None, Validity.INVALID, Reason.SCORER_ERROR)


class WithoutPython(Source):
    """Sandboxes whose `python` is missing."""

    @asynccontextmanager
    async def sandbox(self, spec: SandboxSpec) -> AsyncIterator[SandboxPort]:
        async with super().sandbox(spec) as sandbox:
            original = sandbox.exec

            async def exec_missing(request: ExecRequest) -> RunningExec:
                return await original(replace(request, argv=("/no/such/python", *request.argv[1:])))

            sandbox.exec = exec_missing  # type: ignore[method-assign]
            yield sandbox


async def test_what_a_sandbox_lacks_is_the_platforms_fault() -> None:
    """No interpreter, no verdict: an exception, never a score."""
    source = WithoutPython(FakeRuntime())
    for scoring in (ADD, DOUBLE, {"type": "python", "source": JUDGE, "run_candidate": False}):
        with pytest.raises(PlatformError, match="python"):
            await scored(source, RIGHT, scoring)
