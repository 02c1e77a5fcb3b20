# ruff: noqa: E501 (programs are text, not code of ours)
"""Trusted suites of unittest, and suites whose candidate has a sandbox of its own."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from shared_sandboxes import SHARED, judged
from test_isolated_suites import CANDIDATE, FILES
from test_isolated_suites import SUITE as PYTEST_SUITE

from harena.core.results import Reason, RunResult, Trust, Validity
from harena.scoring import load_scenarios
from harena.scoring.battery.forgery import descriptors

SUITE = """
import unittest
import pkg.more
import solution
from solution import LIMIT, FullError, Stack, double, parse, total

class TestValues(unittest.TestCase):
    def test_values(self):
        self.assertEqual((LIMIT, solution.TWICE), (7, 14))
        self.assertIs(type(double(3)), int)
        for number in (1, 2):
            with self.subTest(number=number):
                self.assertEqual(double(number), 2 * number)
        self.assertEqual(pkg.more.pair(b=2, a=1), (1, 2))

class TestObjects(unittest.TestCase):
    def setUp(self):
        self.stack = Stack(size=2)
    def test_stack(self):
        self.stack.push(1.5)
        self.stack.push(2)
        self.assertEqual(list(self.stack), [1.5, 2])
        self.assertEqual(total(self.stack), 3.5)
        with self.assertRaisesRegex(FullError, "no more than 2"):
            self.stack.push(3)

class TestErrors(unittest.IsolatedAsyncioTestCase):
    async def test_errors(self):
        with self.assertRaises(ValueError):
            parse("x")
"""
pytestmark = SHARED
BOTH = pytest.mark.parametrize("isolate", [True, False, "sandbox"])
ADDED = "import unittest\nfrom solution import add\nclass T(unittest.TestCase):\n    def test_add(self):\n        self.assertEqual(add(1, 2), 3)\n        self.assertEqual(add(2, 2), 4)\n"
RIGHT = "def add(a, b):\n    return a + b\n"


async def scored(
    candidate: Any,
    suite: str,
    kind: str = "unittest",
    *,
    by_this_interpreter: bool = False,
    with_numpy: bool = False,
    **scoring: Any,
) -> RunResult:
    """The envelope; see `judged`."""
    limits = {"timeout_seconds": scoring.pop("timeout_seconds", 20.0)}
    problem = scoring.pop("problem", {})
    contract = {"type": "command", kind: ["test_it.py"], "files": {"test_it.py": suite}, **scoring}
    row = {"id": "one", "candidate": candidate, "scoring": contract, "limits": limits, "problem": problem}
    made = load_scenarios([row]).scenarios[0]
    return await judged(made, by_this_interpreter=by_this_interpreter, with_numpy=with_numpy)


@BOTH
async def test_an_ordinary_suite_passes_a_right_candidate_only(isolate: Any) -> None:
    """Fixtures, sub-tests, coroutines and errors; a difference is seen."""
    candidate = {"files": FILES, "entry": "solution.py"}
    result = await scored(candidate, SUITE, isolate=isolate)
    trust = Trust.SEPARATE if isolate == "sandbox" else Trust.SHARED
    assert (result.score, result.trust, result.scorer_version) == (1.0, trust, "command-31")
    for edit in (("2 * number", "3 * number"), ("no more", "NO MORE"), ("return a, b", "return [a, b]")):
        files = {path: text.replace(*edit) for path, text in FILES.items()}
        wrong = await scored({"files": files, "entry": "solution.py"}, SUITE, isolate=isolate)
        assert (wrong.score, wrong.validity, wrong.reason) == (0.0, Validity.VALID, Reason.SCORER_REJECTED)


async def test_a_pytest_suite_with_a_sandbox_for_the_candidate() -> None:
    """Its trust is separate, and a job may demand it."""
    candidate = {"files": FILES, "entry": "solution.py"}
    result = await scored(candidate, PYTEST_SUITE, kind="pytest", isolate="sandbox")
    assert (result.score, result.trust) == (1.0, Trust.SEPARATE)
    wrong = {"files": {**FILES, "solution.py": CANDIDATE.replace("2 * number", "3 * number")}, "entry": "solution.py"}
    assert (await scored(wrong, PYTEST_SUITE, kind="pytest", isolate="sandbox")).score == 0.0


NOT_PASSED = {
    "skipped": "import unittest\nimport solution\nclass T(unittest.TestCase):\n    @unittest.skip('no')\n    def test(self): pass\n",
    "skips itself": "import unittest\nimport solution\nclass T(unittest.TestCase):\n    def test(self): self.skipTest('no')\n",
    "expected to fail": "import unittest\nclass T(unittest.TestCase):\n    @unittest.expectedFailure\n    def test(self): self.fail()\n",
    "no tests": "import unittest\nimport solution\n",
    "tear-down fails": "import unittest\nclass T(unittest.TestCase):\n    def tearDown(self): 1 / 0\n    def test(self): pass\n",
    "a coroutine that nobody waits for": "import unittest\nfrom solution import add\nclass T(unittest.TestCase):\n    async def test_a(self): self.assertEqual(add(1, 2), 3)\n    def test_b(self): self.assertEqual(add(1, 2), 3)\n",
    "a sub-test fails": "import unittest\nclass T(unittest.TestCase):\n    def test(self):\n        with self.subTest(): self.fail()\n",
    "class set-up fails": "import unittest\nclass T(unittest.TestCase):\n    @classmethod\n    def setUpClass(cls): 1 / 0\n    def test(self): pass\n",
}


@pytest.mark.parametrize("suite", NOT_PASSED.values(), ids=NOT_PASSED)
async def test_what_no_candidate_can_pass_has_no_score(suite: str) -> None:
    """A test that fails before it has asked the candidate anything, and a suite without a test that can pass, are the
    contract's fault."""
    result = await scored(RIGHT, suite)
    assert (result.score, result.validity, result.reason) == (None, Validity.INVALID, Reason.SCORER_ERROR), (
        result.detail
    )


FORGERIES = {
    "exit at import": "import os\nos._exit(0)\n",
    "exit when called": "import os\ndef add(a, b): os._exit(0)\n",
    "system exit": "def add(a, b): raise SystemExit(0)\n",
    "skip": "import unittest\ndef add(a, b): raise unittest.SkipTest('no')\n",
    "emptied assertions": "import unittest\nfor name in dir(unittest.TestCase):\n    if name.startswith('assert'): setattr(unittest.TestCase, name, lambda *_: None)\ndef add(a, b): return 0\n",
    "assertions emptied in a call": "import unittest\ndef add(a, b):\n    unittest.TestCase.assertEqual = unittest.TestCase._baseAssertEqual = lambda *_: None\n    return 0\n",
    "assertions exchanged below": "import unittest\ndef add(a, b):\n    unittest.TestCase._getAssertEqualityFunc = lambda *_: (lambda *_, **__: None)\n    return 0\n",
    "emptied results": "import unittest\nunittest.TestResult.addFailure = unittest.TestResult.addError = lambda *_: None\ndef add(a, b): return 0\n",
    "emptied run": "import unittest\ndef run(self, result=None):\n    result.startTest(self)\n    result.addSuccess(self)\n    return result\nunittest.TestCase.run = run\ndef add(a, b): return 0\n",
    "equals everything": "class Yes(int):\n    __eq__ = lambda *_: True\n    __ne__ = lambda *_: False\n    __hash__ = int.__hash__\ndef add(a, b): return Yes()\n",
    "stops iteration": "def add(a, b): raise StopIteration\n",
    "builtins": "import builtins\nbuiltins.isinstance = lambda *_: True\nbuiltins.repr = lambda *_: ''\ndef add(a, b): return 0\n",
    "brings tests": {"files": {"solution.py": "def add(a, b): return 0\n", "test_it.py": "", "unittest.py": ""}, "entry": "solution.py"},
    "rewrites tests": "def add(a, b):\n    open('test_it.py', 'w').write('')\n    return 3 if (a, b) == (1, 2) else 0\n",
}  # fmt: skip


@BOTH
@pytest.mark.parametrize("forgery", FORGERIES.values(), ids=FORGERIES)
async def test_no_known_forgery_pays(forgery: Any, isolate: Any) -> None:
    """Wherever the candidate lives."""
    assert (await scored(RIGHT, ADDED, isolate=isolate)).score == 1.0
    result = await scored(forgery, ADDED, isolate=isolate)
    assert (result.score, result.validity in (Validity.VALID, Validity.SUSPECT)) == (0.0, True), result.detail


SPEAKING = (
    f"import os\nfor number in {descriptors(0, 32)}:\n    try: os.write(number, b'@SAID@')\n    except OSError: pass\n"
    + RIGHT
)


async def test_a_candidate_with_a_sandbox_of_its_own_reaches_nothing() -> None:
    """Not the suite's processes and files; what it says unasked is no answer."""
    for said, validity in (("no frame at all", Validity.SUSPECT), ("0000000charena-proof", Validity.VALID)):
        result = await scored(SPEAKING.replace("@SAID@", said), ADDED, isolate="sandbox")
        assert (result.score, result.validity) == (0.0, validity)
    looking = "import os\ndef add(a, b):\n    return a + b if os.listdir('.') == ['solution.py'] else os.listdir('.')\n"
    result = await scored(looking, ADDED, isolate="sandbox")
    assert (result.score, result.detail) == (1.0, "")


async def test_time_is_told_apart() -> None:
    """The candidate's own is its failure; a suite that hangs for any candidate has no score, and one that hangs for what
    the candidate answered is the candidate's failure."""
    sleeping = "import time\ndef add(a, b): time.sleep(60)\n"
    hanging = (
        "import time, unittest\nimport solution\nclass T(unittest.TestCase):\n    def test(self): time.sleep(60)\n"
    )
    baited = "import time, unittest\nfrom solution import add\nclass T(unittest.TestCase):\n    def test(self):\n        if add(1, 2) == 0: time.sleep(60)\n"
    times = {"timeout_seconds": 1.0, "scorer_timeout_seconds": 2.0}
    slow, *others = await asyncio.gather(  # all at once: they only sleep
        scored(sleeping, ADDED, isolate="sandbox", timeout_seconds=1.0),
        *(scored(RIGHT, hanging, isolate=isolate, **times) for isolate in ("sandbox", True)),
        *(scored("def add(a, b): return 0\n", baited, isolate=isolate, **times) for isolate in ("sandbox", True)),
    )
    assert (slow.score, slow.reason) == (0.0, Reason.TIMEOUT)
    for result in others[:2]:
        assert (result.score, result.validity, result.reason) == (None, Validity.INVALID, Reason.SCORER_ERROR)
    for result in others[2:]:
        assert (result.score, result.validity) == (0.0, Validity.VALID)


async def test_a_command_that_hangs_for_any_candidate_has_no_score() -> None:
    """One that hangs with this candidate is the candidate's failure."""
    for command, candidate, score in (
        ("sleep 60", RIGHT, None),
        ("python solution.py", "import time\ntime.sleep(60)\n", 0.0),
    ):
        contract = {"type": "command", "command": command}
        row = {"id": "one", "candidate": candidate, "scoring": contract, "limits": {"timeout_seconds": 1.0}}
        made = load_scenarios([row]).scenarios[0]
        result = await judged(made)
        assert (result.score, result.reason) == (score, Reason.SCORER_ERROR if score is None else Reason.TIMEOUT)


async def test_a_module_that_the_image_lacks_is_nobodys_zero() -> None:
    """Where the contract says that it requires it, or no text asks the candidate for it beside its entry."""
    needy = "import no_such_module\n" + ADDED
    for isolate in (True, False, "sandbox"):
        for requires in (["no_such_module"], []):
            result = await scored(RIGHT, needy, requires=requires, isolate=isolate)
            assert (result.score, result.reason) == (None, Reason.SCORER_ERROR)
            assert "no_such_module" in result.detail
    lying = "raise ImportError('no_such_module')\n"
    assert (await scored(lying, ADDED, requires=["json", "email.message"])).score == 0.0


BANK = "import bank_account\n" + ADDED


@pytest.mark.parametrize(
    ("row", "tests"),
    [
        ({"problem": {"statement": "Write a module BankAccount, and add()."}}, BANK),
        ({"problem": {"statement": "Write bank_account.py"}}, BANK),
        ({"problem": {"files": {"tests/bank_account_test.txt": ""}}}, BANK),
        ({}, BANK.replace("from solution", "from bank_account")),
    ],
)
async def test_a_module_that_a_text_names_is_the_candidates_to_bring(row: dict[str, Any], tests: str) -> None:
    """So is the only one that the tests import of a candidate's; the detail tells what else the author can do."""
    contract = {"type": "command", "unittest": ["test_a.py"], "files": {"test_a.py": tests}}
    made = load_scenarios([{"id": "one", "candidate": RIGHT, "scoring": contract, **row}]).scenarios[0]
    result = await judged(made)
    assert (result.score, "`requires`" in result.detail) == (0.0, True), result.detail


@pytest.mark.parametrize("isolate", ["auto", False])
async def test_asserts_that_import_what_nobody_knows_of_score_nobody(isolate: object) -> None:
    """They use the candidate's names, too. A wrong one is not told from a right one: nothing was run."""
    for asserts, score in (
        ("import no_such_module\nassert add(1, 2) == 3", None),
        ("from no_such_module import add\nassert add(1, 2) == 3", 0.0),
        ("if add(1, 2) != 3:\n    import no_such_module\nassert add(1, 2) == 3", 1.0),
    ):
        contract = {"type": "command", "asserts": asserts, "isolate": isolate}
        made = load_scenarios([{"id": "one", "candidate": RIGHT, "scoring": contract}]).scenarios[0]
        result = await judged(made)
        assert result.score == score, (asserts, result.detail)


async def test_a_package_that_the_image_lacks_is_nobodys_zero() -> None:
    """Without a word of the contract: no candidate brings a well-known package, unless a test file is named after it."""
    needy = "import gensim\n" + ADDED
    for isolate in (True, False, "sandbox"):
        result = await scored(RIGHT, needy, isolate=isolate)
        assert (result.score, result.reason) == (None, Reason.SCORER_ERROR), (isolate, result.detail)
        assert "gensim" in result.detail
    result = await scored(RIGHT, needy.replace("gensim", "PyPDF2"))
    assert (result.score, result.reason) == (None, Reason.SCORER_ERROR), result.detail
    optional = "try:\n    import gensim\nexcept ImportError:\n    gensim = None\n" + ADDED
    assert (await scored(RIGHT, optional)).score == 1.0
    assert (await scored("def add(a, b): return 4\n", optional)).score == 0.0
    contract = {"type": "command", "unittest": ["test_gensim.py"], "files": {"test_gensim.py": needy}}
    made = load_scenarios([{"id": "one", "candidate": RIGHT, "scoring": contract}]).scenarios[0]
    assert (await judged(made)).score == 0.0


async def test_tests_may_be_the_problems_and_in_folders() -> None:
    """Named by their paths."""
    suite = ADDED.replace("import unittest\n", "import unittest\nfrom tests.numbers import WANT\n").replace(
        "3)", "WANT)"
    )
    contract = {"type": "command", "unittest": ["tests/test_add.py"], "files": {"tests/numbers.py": "WANT = 3\n"}}
    for isolate in (True, False, "sandbox"):
        for candidate, score in ((RIGHT, 1.0), ("def add(a, b): return 4\n", 0.0)):
            row = {
                "id": "one",
                "candidate": candidate,
                "scoring": {**contract, "isolate": isolate},
                "problem": {"files": {"tests/test_add.py": suite}},
            }
            made = load_scenarios([row]).scenarios[0]
            result = await judged(made)
            assert result.score == score, result.detail


SKIPS = """
import sys, unittest
from solution import add
class T(unittest.TestCase):
    def test_subtests(self):
        for value in (1, None, 2):
            with self.subTest(value=value):
                if value is None: self.skipTest("not for None")
                self.assertEqual(add(value, 1), value + 1)
    def test_first(self):
        with self.subTest("windows"):
            if sys.platform != "win32": self.skipTest("only there")
        self.assertEqual(add(2, 2), 4)
class Windows(unittest.TestCase):
    @classmethod
    def setUpClass(cls): raise unittest.SkipTest("only there")
    def test_one(self): self.fail()
    def test_two(self): self.fail()
"""
SKIPPED_BY_IT = """
import unittest
from solution import add
class T(unittest.TestCase):
    def test(self):
        found = [add(1, 2), add(2, 2)]
        for index, value in enumerate(found):
            with self.subTest(index=index):
                if not value: self.skipTest("nothing")
                self.assertEqual(value, index + 3)
    def test_more(self):
        with self.subTest():
            if add(1, 2) != 3: self.skipTest("nothing")
    def test_any(self): self.assertTrue(add)
"""


async def test_subtests_and_classes_may_be_skipped() -> None:
    """They count as tests do: not as failures if nothing was asked before, and not if the candidate is the reason."""
    for suite, candidate, score in (
        (SKIPS, RIGHT, 1.0),
        (SKIPS, "def add(a, b): return a\n", 0.0),
        (SKIPPED_BY_IT, RIGHT, 1.0),
        (SKIPPED_BY_IT, "def add(a, b): return None\n", 0.0),
        (SKIPPED_BY_IT, "def add(a, b): return 3 if b == 2 and a == 1 else None\n", 0.0),
    ):
        result = await scored(candidate, suite)
        assert (result.score, str(result.validity)) == (score, "valid"), result.detail
