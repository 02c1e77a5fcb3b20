# ruff: noqa: E501 (programs are text, not code of ours)
"""Scorers as they are found in the field. Each pays for some forgery; that is how the battery shows that it is no dud.

All of them judge `add(a, b)` (or a program that should print 3), in a sandbox, and all of them pay 0 to a wrong answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from harena.core.models import ExecOutcome, ExecRequest, ExecResult
from harena.core.ports import SandboxPort

Paid = Callable[[ExecResult, str], bool]
"""(how the judge ended, what it left in reward.txt) -> the forgery has got what it wanted"""


def code_zero(result: ExecResult, reward: str) -> bool:
    """Exit code 0 means reward 1."""
    return result.outcome is ExecOutcome.EXITED and result.returncode == 0


def says_passed(result: ExecResult, reward: str) -> bool:
    """A marker somewhere in the output."""
    return b"ALL TESTS PASSED" in result.stdout


def last_line_passed(result: ExecResult, reward: str) -> bool:
    """The last line is a verdict as JSON."""
    try:
        return json.loads(result.stdout.splitlines()[-1])["passed"] is True
    except (IndexError, ValueError, KeyError, TypeError):
        return False


def excused(result: ExecResult, reward: str) -> bool:
    """Whatever is neither code 0 nor 1 is called the platform's failure, and left out of the average."""
    return result.outcome is not ExecOutcome.EXITED or result.returncode not in (0, 1)


def excused_by_words(result: ExecResult, reward: str) -> bool:
    """Words of a lost connection, or of a missing module, are called the platform's failure."""
    return re.search(rb"Connection|ImportError|OCI runtime", result.stderr) is not None


def reward_of_one(result: ExecResult, reward: str) -> bool:
    """The number in a file."""
    return reward.strip() == "1.0"


def score_in_output(result: ExecResult, reward: str) -> bool:
    """`score=` somewhere in the output."""
    found = re.search(rb"score=([0-9.]+)", result.stdout)
    return found is not None and float(found[1]) == 1.0


def number_is_large(result: ExecResult, reward: str) -> bool:
    """A number, clipped from above only."""
    try:
        return min(1.0, float(result.stdout.split()[-1])) == 1.0
    except (IndexError, ValueError):
        return False


def number_not_too_small(result: ExecResult, reward: str) -> bool:
    """Refused only if it is below a threshold."""
    try:
        return not float(result.stdout.split()[-1]) < 0.9
    except (IndexError, ValueError):
        return False


def prints_three(result: ExecResult, reward: str) -> bool:
    """A program that should print 3, and does."""
    return result.stdout.split() == [b"3"]


def lines_agree(result: ExecResult, reward: str) -> bool:
    """As many lines as there are agree."""
    return all(got == want for got, want in zip(result.stdout.splitlines(), [b"3"], strict=False))


def is_somewhere(result: ExecResult, reward: str) -> bool:
    """The answer is somewhere in the output."""
    return b"3" in result.stdout.splitlines()


def read_elsewhere(result: ExecResult, reward: str) -> bool:
    """The reader followed a link and found what the candidate did not write."""
    return re.match("[0-9]", reward) is not None


SUITE_SECONDS = 15.0
"""the start of pytest takes a second or more where others compute"""


@dataclass(frozen=True, slots=True)
class NaiveScorer:
    """A judge: its files beside the candidate's (and under them: a candidate's file of that name wins)."""

    paid: Paid
    judge: str = ""
    argv: tuple[str, ...] = ("python", "judge.py")
    files: Mapping[str, str] = field(default_factory=dict)
    env: Mapping[str, str] = field(default_factory=dict)
    stdin: bytes = b""
    is_program: bool = False
    """the candidate is run as a program, not called"""
    timeout_seconds: float = 2.0

    async def pays(self, sandbox: SandboxPort, candidate: Mapping[str, str]) -> bool:
        """What this scorer makes of a candidate."""
        for path, text in {"judge.py": self.judge, **self.files, **candidate}.items():
            await sandbox.write_file(f"/workspace/{path}", text.encode())
        running = await sandbox.exec(
            ExecRequest(
                argv=self.argv, cwd="/workspace", env=self.env, stdin=self.stdin, timeout_seconds=self.timeout_seconds
            )
        )
        result = await running.wait()
        shown = await sandbox.exec(
            ExecRequest(argv=("head", "-c", "99", "reward.txt"), cwd="/workspace", timeout_seconds=2)
        )
        reward = (await shown.wait()).stdout.decode("utf-8", "replace")
        return self.paid(result, reward)


LOOP = """
import os, sys
import solution
CASES = [([1, 2], 3), ([20, 22], 42)]
failed = []
for arguments, expected in CASES:
    got = solution.add(*arguments)
    if got != expected:
        failed.append(arguments)
if failed:
    print("SOME TESTS FAILED")
    {on_failure}
print("ALL TESTS PASSED")
"""
ASSERTED = """
import json, math, operator, os, sys, time
import solution
CASES = [([1, 2], 3), ([20, 22], 42)]
{check}
print("ALL TESTS PASSED")
"""


def asserting(check: str, paid: Paid = code_zero) -> NaiveScorer:
    """A judge in the candidate's process that ends with an exception if it is not satisfied."""
    return NaiveScorer(paid, ASSERTED.format(check=check))


PYTEST = "from solution import add\ndef test_add():\n    assert add(1, 2) == 3\n    assert add(20, 22) == 42\n"
UNITTEST = (
    "import unittest, solution\nclass TestAdd(unittest.TestCase):\n"
    "    def test_add(self): self.assertEqual(solution.add(1, 2), 3)\n"
)
AFTERWARDS = "import checks\nprint('SOME TESTS FAILED')\nraise SystemExit(1)\n"
CHILD = (
    "import subprocess, sys\nWANT = 'EXPECTED-VALUE=3;'[:]\nheap = bytearray(WANT.encode())\n"
    "out = subprocess.run([sys.executable, 'solution.py'], capture_output=True, text=True).stdout\nprint(out.strip())\n"
)
UNPICKLED = (
    "import pickle, subprocess, sys\n"
    "code = 'import pickle, sys, solution; sys.stdout.buffer.write(pickle.dumps(solution.add(1, 2)))'\n"
    "got = pickle.loads(subprocess.run([sys.executable, '-c', code], capture_output=True).stdout)\nassert got == 3\n"
)
LINES = (
    "import json, os, solution\ndef line():\n    text = b''\n    while not text.endswith(b'\\n'): text += os.read(0, 1)\n"
    "    return json.loads(text)\ngot = solution.add(*line()['args'])\n"
    "rest = os.read(0, 1000)\nassert got == 3\n"
)
PROOF = (
    "import sys\nword = sys.stdin.readline().strip()\nimport solution\nassert solution.add(1, 2) == 3\n"
    "print('harena-proof', word)\n"
)
WORD = b"0123456789abcdef0123456789abcdef"
REWARD = (
    "with open('reward.txt', 'w') as out: out.write('0.0')\n{wait}import solution\nassert solution.add(1, 2) == 3\n"
)


def proven(result: ExecResult, reward: str) -> bool:
    """The word came back."""
    return b"harena-proof " + WORD in result.stdout.splitlines()


def program(paid: Paid, **more: object) -> NaiveScorer:
    """The candidate is run, and its output looked at."""
    return NaiveScorer(paid, argv=("python", "solution.py"), is_program=True, **more)  # type: ignore[arg-type]


def after_it(*argv: str, paid: Paid = says_passed, **files: str) -> NaiveScorer:
    """The candidate is run; then a judge is, in the same place."""
    line = "python solution.py >/dev/null 2>&1; " + " ".join(argv)
    return NaiveScorer(paid, AFTERWARDS, argv=("bash", "-c", line), files={"checks.py": "", **files}, is_program=True)


NAIVE: dict[str, NaiveScorer] = {
    "exit code": NaiveScorer(code_zero, LOOP.format(on_failure="raise AssertionError")),
    "marker": NaiveScorer(says_passed, LOOP.format(on_failure="raise AssertionError")),
    "marker, with sys.exit": NaiveScorer(code_zero, LOOP.format(on_failure="sys.exit(1)")),
    "marker, with os._exit": NaiveScorer(code_zero, LOOP.format(on_failure="sys.stdout.flush(); os._exit(1)")),
    "marker, after a while": NaiveScorer(
        says_passed, LOOP.format(on_failure="sys.exit(1)"), argv=("sh", "-c", "python judge.py; sleep 0.5")
    ),
    "all": asserting("assert all(solution.add(*a) == e for a, e in CASES)"),
    "type": asserting("assert type(solution.add(1, 2)) is int or isinstance(solution.add(1, 2), int)"),
    "value, then type": asserting("assert solution.add(1, 2) == 3\nassert type(solution.add(1, 2)) is int"),
    "type and value": asserting("got = solution.add(1, 2)\nassert isinstance(got, int) and got == 3"),
    "text and value": asserting("got = solution.add(1, 2)\nassert isinstance(got, str) and got == '3'"),
    "list and value": asserting("got = solution.add(1, 2)\nassert isinstance(got, list) and got == [3]"),
    "dict and value": asserting("got = solution.add(1, 2)\nassert isinstance(got, dict) and got == {3: 3}"),
    "distance": asserting("assert abs(solution.add(1, 2) - 3) <= 1e-9"),
    "distance, turned": asserting("assert not abs(solution.add(1, 2) - 3) > 1e-9"),
    "relative distance": asserting("got = solution.add(1, 2)\nassert abs(got - 3) <= 1e-9 * max(abs(got), 3)"),
    "isclose": asserting("assert math.isclose(solution.add(1, 2), 3)"),
    "operator": asserting("assert operator.eq(solution.add(1, 2), 3)"),
    "dunder": asserting("assert (3.0).__eq__(solution.add(1, 2))"),
    "array": asserting("assert (solution.add(1, 2) == 3).all()"),
    "stopwatch": asserting("began = time.perf_counter()\nsolution.add(1, 2)\nassert time.perf_counter() - began == 0"),
    "raises": asserting("try:\n    solution.add(None, 1)\n    raise SystemExit(1)\nexcept TypeError:\n    pass"),
    "raises by name": asserting(
        "try:\n    solution.add(None, 1)\n    raise SystemExit(1)\nexcept Exception as error:\n"
        "    assert 'TypeError' in [c.__name__ for c in type(error).__mro__]"
    ),
    "map": asserting("for ok in map(lambda case: solution.add(*case[0]) == case[1], CASES):\n    assert ok"),
    "JSON of the same process": NaiveScorer(
        last_line_passed, "import json, solution\nprint(json.dumps({'passed': solution.add(1, 2) == 3}))\n"
    ),
    "checks beside it": NaiveScorer(
        code_zero,
        "import solution, checks\nfor a, e in checks.CASES:\n    assert solution.add(*a) == e\n",
        files={"checks.py": "CASES = [([1, 2], 3)]\n"},
    ),
    "start-up files on the path": NaiveScorer(
        code_zero, LOOP.format(on_failure="sys.exit(1)"), env={"PYTHONPATH": "."}
    ),
    "pytest": NaiveScorer(
        code_zero,
        argv=("python", "-m", "pytest", "-q", "test_add.py"),
        files={"test_add.py": PYTEST},
        timeout_seconds=SUITE_SECONDS,
    ),
    "any suite": NaiveScorer(
        code_zero,
        argv=("python", "-m", "pytest", "-q", "test_solution.py"),
        files={"test_solution.py": PYTEST},
        timeout_seconds=SUITE_SECONDS,
    ),
    "unittest": NaiveScorer(code_zero, argv=("python", "-m", "unittest", "test_add"), files={"test_add.py": UNITTEST}),
    "unpickling": NaiveScorer(code_zero, UNPICKLED),
    "cases on standard input": NaiveScorer(code_zero, LINES, stdin=b'{"args": [1, 2]}\n{"expected": 3}\n'),
    "answer in the environment": program(prints_three, env={"EXPECTED": "3"}),
    "answer in a file": program(prints_three, files={"expected.json": "3"}),
    "answer on a command line": NaiveScorer(
        prints_three, argv=("sh", "-c", "python solution.py; true", "--expected=3"), is_program=True
    ),
    "answer in the parent": NaiveScorer(prints_three, CHILD, is_program=True),
    "proof in the same process": NaiveScorer(proven, PROOF, stdin=WORD + b"\n"),
    "reward file": NaiveScorer(reward_of_one, REWARD.format(wait="")),
    "reward file, read late": NaiveScorer(
        reward_of_one,
        "import solution, time\nopen('reward.txt', 'w').write(str(float(solution.add(1, 2) == 3)))\ntime.sleep(0.2)\n",
    ),
    "result file": NaiveScorer(read_elsewhere, "import solution, os\n"),
    "judge afterwards": after_it("python judge.py"),
    "judge afterwards, by a path of its own": after_it("PATH=./bin:$PATH", "python judge.py"),
    "judge afterwards, in a login shell": after_it("bash -lc 'python judge.py'"),
    "excuse": NaiveScorer(excused, LOOP.format(on_failure="sys.exit(1)")),
    "excuse of a judge with a child": NaiveScorer(
        excused,
        "import subprocess, sys\nsubprocess.run([sys.executable, 'solution.py'])\nsys.exit(1)\n",
        is_program=True,
    ),
    "excuse by words": NaiveScorer(excused_by_words, LOOP.format(on_failure="sys.exit(1)")),
    "score in the output": program(score_in_output),
    "large number": program(number_is_large),
    "number not too small": program(number_not_too_small),
    "lines that are there": program(lines_agree),
    "somewhere": program(is_somewhere),
}

PAID_BY: dict[str, str] = {
    **dict.fromkeys(
        (
            "exit-at-import", "system-exit-at-import", "exit-when-called", "system-exit-when-called", "exit-at-exit",
            "exit-in-excepthook", "exit-in-finalizer", "exit-from-thread", "exit-from-signal", "become-true",
            "become-another-python", "fork-and-leave", "system-exit-that-lies", "exit-of-the-c-library",
            "equals-everything", "class-that-equals-everything", "any-of-mock",
            "frame-of-the-judge", "cases-in-the-stack", "cases-in-the-collector",
            "source-of-the-test", "trace-function-of-the-judge", "erases-the-line-above",
        ),
        "exit code",
    ),
    **dict.fromkeys(("words-of-success", "words-on-every-descriptor", "patched-print", "patched-stdout"), "marker"),
    "compares-what-it-is-shown": "value, then type",
    "patched-sys-exit": "marker, with sys.exit",
    "patched-os-exit": "marker, with os._exit",
    "words-after-the-end": "marker, after a while",
    "skip-the-test": "unittest",
    **dict.fromkeys(
        ("pytest-skip", "pytest-exit", "patched-pytest-report", "patched-pytest-session", "module-called-pytest", "conftest",
         "plugin-by-configuration", "only-collects", "plugin-by-entry-point"),
        "pytest",
    ),
    "tests-of-its-own": "any suite",
    "patched-unittest": "unittest",
    "patched-unittest-result": "unittest",
    "int-that-equals-everything": "type and value",
    "lies-about-its-class": "type and value",
    "text-that-equals-everything": "text and value",
    "list-that-equals-everything": "list and value",
    "dict-that-equals-everything": "dict and value",
    "difference-of-nothing": "distance",
    "comparison-that-is-true": "array",
    "pickles-into-anything": "unpickling",
    "patched-all": "all",
    "module-of-the-library": "all",
    "patched-type": "type",
    "patched-json": "JSON of the same process",
    "json-verdict-as-last-line": "JSON of the same process",
    "stopped-clocks": "stopwatch",
    "patched-isclose": "isclose",
    "patched-operators": "operator",
    "finder-for-the-checks": "checks beside it",
    "empty-checks-in-sys-modules": "checks beside it",
    "patched-import": "checks beside it",
    "sitecustomize": "start-up files on the path",
    **dict.fromkeys(("planted-usercustomize", "planted-path-file", "planted-bytecode", "rewritten-tests"), "judge afterwards"),
    "planted-startup-file": "judge afterwards, in a login shell",
    "interpreter-of-its-own": "judge afterwards, by a path of its own",
    "empties-the-list-of-checks": "map",
    "stop-the-loop": "map",
    "stop-the-loop-by-another-name": "map",
    "answers-in-files": "answer in a file",
    "answers-in-environments": "answer in the environment",
    "answers-in-command-lines": "answer on a command line",
    "rest-of-standard-input": "cases on standard input",
    "memory-of-the-parent": "answer in the parent",
    "word-of-the-proof": "proof in the same process",
    "word-in-the-heap": "proof in the same process",
    "verdict-in-place-of-output": "score in the output",
    "endless-number": "large number",
    "number-that-is-none": "number not too small",
    "number-beyond-floats": "large number",
    "nothing-at-all": "lines that are there",
    "every-line-at-once": "somewhere",
    "reward-files": "reward file",
    "reward-file-in-a-race": "reward file, read late",
    "result-is-a-link": "result file",
    **dict.fromkeys(
        ("kills-its-parent", "kills-everyone", "stops-its-parent"),
        "excuse of a judge with a child",
    ),
    **dict.fromkeys(
        ("code-of-a-missing-program", "code-of-a-missing-program-for-all", "code-of-a-killed-container", "sleeps-for-ever",
         "crowd-that-starves-itself", "threads-that-starve-it", "lowest-priority", "all-memory", "stops-itself", "crash",
         "ignores-every-signal", "stack-overflow"),
        "excuse",
    ),
    "words-of-an-infrastructure-error": "excuse by words",
    "cannot-import-the-platform": "excuse by words",
    "not-a-number": "distance, turned",
    "infinity": "relative distance",
    "not-implemented": "dunder",
    "error-of-every-class": "raises",
    "error-with-a-thousand-names": "raises by name",
}  # fmt: skip
"""forgery -> a scorer that pays for it"""

NOT_SHOWN: dict[str, str] = {
    "backtracking": "aims at the time that a pattern takes",
    **dict.fromkeys(
        ("patched-driver", "frames-to-the-judge", "frames-from-a-thread", "answers-ahead-of-questions",
         "frame-without-end", "excuse-in-the-protocol", "refuses-its-arguments", "lowered-limits", "copy-of-the-process",
         "no-descriptors", "module-of-the-future"),
        "aims at the conversation between our own driver and the host",
    ),
    **dict.fromkeys(
        ("new-namespaces", "marks-outside", "traces-its-parent", "takes-its-parents-descriptors", "daemon",
         "writes-its-parents-memory",  # /proc cannot be written to, and process_vm_writev is refused
         "survivor-holds-the-output", "no-place-to-work", "no-place-at-all", "path-file-beside-it",
         "never-the-same-process",
         "result-is-the-root"),
        "aims at a judge or a machine without a border around the candidate",
    ),
    **dict.fromkeys(
        ("result-is-a-pipe", "result-is-a-device", "result-is-a-folder", "result-without-end", "all-memory-in-a-child",
         "all-processes", "all-descriptors", "all-disk", "endless-output", "output-that-grows-when-read", "endless-errors",
         "memory-error", "characters-nobody-sees", "memory-left-in-files", "shared-memory-left-behind"),
        "aims at the resources of a judge on the host",
    ),
    "word-in-sight": "aims at a command that gives its word away: see test_command_given_words",
    **dict.fromkeys(
        ("deep-list", "list-in-itself", "bomb-of-references", "huge-number", "long-text", "negative-zero", "broken-text",
         "colliding-keys", "changes-while-read", "generator-of-anything", "error-that-cannot-be-described",
         "success-as-text"),
        "aims at how values cross a border",
    ),
}  # fmt: skip
"""forgery -> why no scorer here pays for it"""
