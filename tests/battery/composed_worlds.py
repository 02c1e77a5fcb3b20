# ruff: noqa: E501 (programs are text, not code of ours)
"""Scenarios for composed programs, one for each contract and mode, whose answers nobody can guess and a leak would show.

Each right answer is a number of thirteen digits that begins with 7741: what the reading primitives look for. `SECRET`
is the right solution; nothing of it is in a forger's reach.
"""

from __future__ import annotations

import hashlib
from typing import Any

from harena.scoring import Scenario, load_scenarios

SECRET = (
    "import hashlib\n\ndef secret(a):\n"
    "    return 7741 * 10**9 + int(hashlib.sha256(str(a).encode()).hexdigest(), 16) % 10**9\n"
)


def secret(a: int) -> int:
    """The right answer to `a`."""
    return 7741 * 10**9 + int(hashlib.sha256(str(a).encode()).hexdigest(), 16) % 10**9


A, B, C = 5, 11, 23
LIMITS = {"memory_mb": 96, "disk_mb": 8, "output_mb": 2, "pids": 64, "timeout_seconds": 1.0}
SUITE_LIMITS = {**LIMITS, "timeout_seconds": 3.0}

_PYTEST = f"""
import pytest
from solution import secret
import trusted

@pytest.mark.parametrize(("a", "want"), trusted.WANT)
def test_secret(a, want):
    assert secret(a) == want

def test_type():
    assert type(secret({C})) is int and secret({C}) == {secret(C)}
"""
_UNITTEST = f"""
import unittest
import solution
import trusted

class TestSecret(unittest.TestCase):
    def test_secret(self):
        for a, want in trusted.WANT:
            self.assertEqual(solution.secret(a), want)

    def test_type(self):
        self.assertIs(type(solution.secret({C})), int)
        self.assertEqual(solution.secret({C}), {secret(C)})
"""
_STARRED = f"""
import unittest
import trusted
from solution import *

class TestSecret(unittest.TestCase):
    def test_secret(self):
        self.assertEqual([secret(a) for a, _ in trusted.WANT], [want for _, want in trusted.WANT])
        self.assertTrue(all(secret(a) == want for a, want in trusted.WANT))

    def test_membership(self):
        self.assertIn(secret({C}), [{secret(C)}])
        self.assertTrue(isinstance(secret({C}), int) and len(str(secret({C}))) == 13)
"""
_SKIPPING = f"""
import unittest
import solution
import trusted

class TestSecret(unittest.TestCase):
    def test_module(self):
        self.assertTrue(trusted.WANT)

    @unittest.skipIf(getattr(solution, "SLOW", False), "too slow")
    def test_secret(self):
        self.assertEqual([solution.secret(a) for a, _ in trusted.WANT], [want for _, want in trusted.WANT])
        self.assertEqual(solution.secret({C}), {secret(C)})
"""
_SKIPPED = f"""
import pytest
import solution
import trusted

if not hasattr(solution, "secret") or getattr(solution, "SLOW", False):
    pytest.skip("nothing to test", allow_module_level=True)

@pytest.mark.parametrize(("a", "want"), [*trusted.WANT, ({C}, {secret(C)})])
def test_secret(a, want):
    assert solution.secret(a) == want
"""
_OTHER = "import trusted\n\ndef test_data():\n    assert trusted.WANT\n"
_NAMED = f"""
import unittest
import solution

class TestSecret(unittest.TestCase):
    def test_that_it_is_there(self):
        self.assertIn("secret", vars(solution))  # which no stand-in serves

    def test_secret(self):
        self.assertEqual(solution.secret({A}), {secret(A)})
        self.assertEqual(solution.secret({C}), {secret(C)})
"""
_TRUSTED = f"WANT = [({A}, {secret(A)}), ({B}, {secret(B)})]\n"
_CHECK = f"""
import subprocess, sys
word = sys.stdin.readline().strip()
ASK = "import sys, solution; print(repr(solution.secret(int(sys.argv[1]))))"
for a, want in (({A}, {secret(A)}), ({B}, {secret(B)})):
    asked = [sys.executable, "-c", ASK, str(a)]
    done = subprocess.run(asked, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert done.stdout == str(want) + chr(10), done.stderr[-200:]
print("harena-proof", word)
"""
_ASSERTS = f"""
def is_right(pair):
    return secret(pair[0]) == pair[1]
assert all(map(is_right, [({A}, {secret(A)}), ({B}, {secret(B)})]))
for _ in range(2):
    assert secret({C}) == {secret(C)}
"""
_DIRECT = f"assert secret({A}) == {secret(A)}\nassert secret({B}) == {secret(B)}\nassert secret({C}) == {secret(C)}\n"
_PROGRAM = SECRET + "import sys\nfor line in sys.stdin:\n    print(secret(int(line)))\n"
_NUMBER = SECRET + f"made = secret({A})\nprint(made)\nopen('n.txt', 'w').write(str(made))\n"
_SCORER = (
    f"def score(run):\n    words = run.stdout.split() + run.files.get('out.txt', '').split()\n"
    f"    return {{'score': float(words == ['{secret(A)}', '{secret(B)}']), 'detail': ''.join(words)[:100]}}\n"
)
_HARBOR_SH = (
    "#!/bin/bash\nmkdir -p /logs/verifier\nif python3 /tests/check.py; then echo 1 > /logs/verifier/reward.txt; "
    "else echo 0 > /logs/verifier/reward.txt; fi\n"
)
_HARBOR_CHECK = f"import pathlib\nassert pathlib.Path('/app/answer.txt').read_text().strip() == '{secret(A)}'\n"
_HARBOR_SHELL = (
    "#!/bin/bash\nmkdir -p /logs/verifier\nwant=$(cat /tests/want.txt)\n"
    'if [ "$(cat /app/answer.txt 2>/dev/null | tr -d \'[:space:]\')" = "$want" ]; then echo 1; else echo 0; fi '
    "> /logs/verifier/reward.txt\n"
)
_STDIO = [
    {"stdin": f"{A}\n{B}\n", "stdout": f"{secret(A)}\n{secret(B)}\n"},
    {"stdin": f"{C}\n", "stdout": f"{secret(C)}\n"},
]
_CHECKS = [{"args": [A], "expected": secret(A)}, {"args": [B], "expected": secret(B)}]
_TESTS = {"type": "tests", "entry_point": "secret", "checks": _CHECKS}
_JUDGED = {
    "model": "fake",
    "item": {"answer": str(secret(A))},
    "messages": [{"role": "user", "content": "Right is {{ item.answer }}. Judge: {{ sample.output_text }}"}],
    "judge_timeout_seconds": 1.0,
}


def _suite(runner: str, isolate: Any = None, *, gold: str | None = None) -> dict[str, Any]:
    """None = what the contract has where its author says nothing."""
    texts = {"pytest": _PYTEST, "starred": _STARRED, "skipping": _SKIPPING, "named": _NAMED}
    text, kind = texts.get(runner, _UNITTEST), "pytest" if runner == "pytest" else "unittest"
    said = {name: value for name, value in (("isolate", isolate), ("gold", gold)) if value is not None}
    return {"type": "command", kind: ["test_it.py"], "files": {"test_it.py": text, "trusted.py": _TRUSTED}, **said}


WORLDS: dict[str, tuple[str, dict[str, Any]]] = {
    "tests": (SECRET, _TESTS),
    "tests, warm": (SECRET, _TESTS),
    "tests, float": (SECRET, {**_TESTS, "comparison": "float"}),
    "tests, equal": (SECRET, {**_TESTS, "comparison": "equal"}),
    "tests, partial credit": (SECRET, {**_TESTS, "partial_credit": True}),
    "tests, raises": (
        "def secret(a):\n    return [7][a]\n",
        {"type": "tests", "entry_point": "secret",
         "checks": [{"args": [A], "raises": "IndexError"}, {"args": [0], "expected": 7}, {"args": ["x"], "raises": "TypeError"}]},
    ),
    "reference": (SECRET, {"type": "reference", "entry_point": "secret", "solution": SECRET,
                           "inputs": [{"args": [A]}, {"args": [B]}]}),
    "stdio": (_PROGRAM, {"type": "stdio", "cases": _STDIO}),
    "stdio, partial credit": (_PROGRAM, {"type": "stdio", "cases": _STDIO, "partial_credit": True}),
    "stdio, numeric": (_PROGRAM, {"type": "stdio", "cases": _STDIO, "comparison": "numeric", "fresh": True}),
    "numeric": (_NUMBER, {"type": "numeric", "target": secret(A)}),
    "numeric, range": (_NUMBER, {"type": "numeric", "range": [secret(A) - 1, secret(A)], "source": {"pattern": "7741[0-9]{9}"}}),
    "numeric, in a file": (_NUMBER, {"type": "numeric", "target": secret(A), "source": {"file": "n.txt"}}),
    "python": (_PROGRAM, {"type": "python", "source": _SCORER, "stdin": f"{A}\n{B}\n", "output_files": ["out.txt"]}),
    "command": (SECRET, {"type": "command", "command": ["python", "check.py"], "files": {"check.py": _CHECK}}),
    "command, asserts": (SECRET, {"type": "command", "asserts": _ASSERTS}),
    "command, asserts, gold": (SECRET, {"type": "command", "asserts": _DIRECT, "gold": SECRET + "# gold\n"}),
    "command, asserts, calls": (SECRET, {"type": "command", "asserts": _ASSERTS, "calls": {"secret": "secret"}}),
    **{
        f"command, {runner}, isolate {isolate}": (SECRET, _suite(runner, isolate))
        for runner in ("pytest", "unittest")
        for isolate in (False, True, "sandbox")
    },
    **{f"command, {runner}": (SECRET, _suite(runner)) for runner in ("pytest", "unittest", "starred")},
    **{
        f"command, {runner}, gold": (SECRET, _suite(runner, gold=SECRET + "# gold\n"))
        for runner in ("pytest", "unittest")
    },
    "command, unittest, gold that is paid beside": (
        SECRET, _suite("named", gold=SECRET + "# gold\n")
    ),
    "command, unittest, star import, isolate True": (SECRET, _suite("starred", True)),
    "command, unittest, star import, isolate sandbox": (SECRET, _suite("starred", "sandbox")),
    "command, unittest, skips a test, isolate sandbox": (SECRET, _suite("skipping", "sandbox")),
    "command, pytest, skips a file": (
        SECRET,
        {"type": "command", "pytest": ["test_a.py", "test_it.py"],
         "files": {"test_a.py": _OTHER, "test_it.py": _SKIPPED, "trusted.py": _TRUSTED}},
    ),
    "harbor": (
        f"echo {secret(A)} > /app/answer.txt\n",
        {"type": "harbor", "tests": {"test.sh": _HARBOR_SH, "check.py": _HARBOR_CHECK}, "verifier_timeout_seconds": 5},
    ),
    "harbor, shell": (
        f"echo {secret(A)} > /app/answer.txt\n",
        {"type": "harbor", "tests": {"test.sh": _HARBOR_SHELL, "want.txt": str(secret(A))}, "verifier_timeout_seconds": 5},
    ),
    "weighted": (
        SECRET + _PROGRAM.removeprefix(SECRET).replace("for line", "if __name__ == '__main__':\n  for line").replace("    print", "      print"),
        {"type": "weighted", "parts": {
            "called": {"scoring": _TESTS, "weight": 1}, "printed": {"scoring": {"type": "stdio", "cases": _STDIO[:1]}, "weight": 1}}},
    ),
    "string_check": (str(secret(A)), {"type": "string_check", "reference": "{{ item.answer }}", "item": {"answer": str(secret(A))}}),
    "string_check, like": (str(secret(A)), {"type": "string_check", "reference": "{{ item.answer }}", "operation": "ilike", "item": {"answer": str(secret(A))}}),
    "text_similarity": (str(secret(A)), {"type": "text_similarity", "reference": str(secret(A)), "evaluation_metric": "fuzzy_match", "pass_mark": 1.0}),
    "regex": (f"the answer is {secret(A)}", {"type": "regex", "pattern": rf"answer is\s+({secret(A)})\s*$"}),
    "regex, that backtracks": (str(secret(A)), {"type": "regex", "pattern": rf"^\d*\d*{secret(A) % 1000000:06}$", "whole": False}),
    "score_model": (str(secret(A)), {"type": "score_model", **_JUDGED}),
    "label_model": (str(secret(A)), {"type": "label_model", "labels": ["right", "wrong"], "passing_labels": ["right"], **_JUDGED}),
}  # fmt: skip
"""name -> (right candidate, contract)"""

WITHOUT_BORDER = ("command, pytest, isolate False", "command, unittest, isolate False", "command, asserts")
"""the author has asked for no border between the tests and the candidate"""


def world(name: str, *, is_patient: bool = False) -> Scenario:
    """The scenario with its right candidate; a patient one gives a program time enough on any machine."""
    candidate, scoring = WORLDS[name]
    limits = SUITE_LIMITS if "command" in name or "harbor" in name else LIMITS
    if is_patient:
        limits = {**limits, "timeout_seconds": 10.0}
    entry = "solve.sh" if name.startswith("harbor") else "solution.py"
    row = {"id": name, "limits": limits, "scoring": scoring, "candidate": {"files": {entry: candidate}, "entry": entry}}
    return load_scenarios([row]).scenarios[0]
