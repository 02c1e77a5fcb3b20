"""`harena demo`: five candidates for one problem, a cheat among them, scored as many do it and as harena does."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import typer

from harena.cli import face
from harena.core.printable import printable

UNEXPECTED_EXIT = 1
SECONDS = 2.0
"""time of one candidate"""
STATEMENT = """median(numbers) gives the middle one of a list of numbers;
of an even number of them, the mean of the middle two."""
CHECKS = [([3, 1, 2], 2), ([5], 5), ([4, 1, 3, 2], 2.5), ([-1, -7], -4.0)]
CONTRACT = {
    "type": "tests",
    "entry_point": "median",
    "checks": [{"args": [numbers], "expected": median} for numbers, median in CHECKS],
}
TESTS = "".join(f"assert median({numbers}) == {median}\n" for numbers, median in CHECKS)
"""tests in the form that many scorers give them: behind the candidate, in one program, whose exit code decides"""


@dataclass(frozen=True, slots=True)
class Contender:
    """One candidate of the demo."""

    name: str
    does: str
    program: str
    is_right: bool = False


CONTENDERS = (
    Contender(
        "right",
        "sorts, and takes the middle",
        "def median(numbers):\n    n = sorted(numbers)\n    half = len(n) // 2\n"
        "    return n[half] if len(n) % 2 else (n[half - 1] + n[half]) / 2\n",
        is_right=True,
    ),
    Contender("wrong", "forgets the even case", "def median(n):\n    return sorted(n)[len(n) // 2]\n"),
    Contender("crash", "calls what no list has", "def median(numbers):\n    return numbers.middle()\n"),
    Contender("endless", "never comes to an end", "def median(numbers):\n    while True:\n        pass\n"),
    Contender("cheat", "ends the process at once: os._exit(0)", "import os\n\nos._exit(0)\n"),
)
NEXT = """
Next:
  harena doctor                     what this machine can do, and what to change
  harena audit problems.jsonl       can the rewards of your data set be cheated?
  harena eval MODEL problems.jsonl  how good is a model at it?
  harena train rl --model MODEL --dataset problems.jsonl
                                    make it better; first with --plan
  harena ui                         jobs, runs and curves in a browser
"""


def demo() -> None:
    """Score five candidates for one problem, one of them a cheat, as many do it and as harena does.

    Nothing is needed, and it takes some seconds. Exit code 0: every verdict is the known one. 1: one is not. 2: no
    sandbox can be made here; `harena doctor` says why.
    """
    harena = face.load()
    write = sys.stdout.write
    write(f"{STATEMENT}\n\nFive candidates, each in a fresh sandbox, scored twice:\n\n")
    write(f"  {'candidate':<10}{'what it does':<40}{'exit code':<11}harena\n")
    surprises, fooled = 0, []
    for contender in CONTENDERS:
        naive = _naive_reward(harena, contender.program)
        result = harena.score(contender.program, CONTRACT, timeout_seconds=SECONDS)
        told = "no score" if result.score is None else f"{result.score:.0f}"
        reason = printable(str(getattr(result.reason, "value", result.reason)))
        write(f"  {contender.name:<10}{contender.does:<40}{naive:<11}{told}  {reason}\n")
        sys.stdout.flush()
        surprises += result.score != float(contender.is_right)
        fooled += [contender] if naive and not contender.is_right else []
    for contender in fooled:
        write(
            f"\n{contender.name}: a scorer that appends the tests to the candidate and pays for exit code\n"
            "0, as those of many data sets do, pays 1 for it: the process ended before any\n"
            "test, and said that all was well. harena asks the candidate from another\n"
            f"process, compares there, and counts the answers: {len(CHECKS)} were due, none came.\n"
        )
    write(NEXT)
    raise typer.Exit(UNEXPECTED_EXIT if surprises else 0)


def _naive_reward(harena: Any, program: str) -> int:
    """What an exit code says: 1 for 0. The program runs in a sandbox all the same."""
    with harena.Sandbox.run() as sandbox:
        sandbox.write_file("/workspace/test.py", f"{program}\n{TESTS}".encode()).result()
        try:
            done = sandbox.exec(["python", "/workspace/test.py"], timeout_seconds=SECONDS).result()
        except harena.SandboxCommandTimeoutError:
            return 0
        return int(done.returncode == 0)
