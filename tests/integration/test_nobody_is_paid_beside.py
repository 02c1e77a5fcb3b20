# ruff: noqa: E501 (programs are text, not code of ours)
"""Without a gold solution no run in which the candidate shares the tests' process pays: it finds that one has failed, or
ends without a score. And a function, class or module of a library that a candidate hands out buys no such end."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from shared_sandboxes import SHARED, judged
from test_unittest_suites import scored

from harena.core.results import RunResult, Trust, Validity
from harena.scoring import load_scenarios

pytestmark = SHARED
NUMBER = "class V:\n    def __init__(self, n): self.n = n\n    def __eq__(self, other): return self.n == getattr(other, 'n', other)\n"
UNSERVED = {
    "an answer that compares": ("assert f(5) == 25", NUMBER + "def f(n): return V(n * n)\n", "n * n", "n + n"),
    "an answer that is ordered": ("assert f(5) > 24", "class M:\n    def __init__(self, n): self.n = n\n    def __gt__(self, other): return self.n > other\ndef f(n): return M(n * n)\n", "n * n", "n + n"),
    "an answer that counts": ("assert len(f(2)) == 4", "class B:\n    def __init__(self, n): self.n = n\n    def __len__(self): return self.n\ndef f(n): return B(n * n)\n", "n * n", "n"),
    "a warning": ("import warnings\nwith warnings.catch_warnings(record=True) as w:\n    warnings.simplefilter('always')\n    f(1)\nassert len(w) == 1", "import warnings\ndef f(n): warnings.warn('old')\n", "warnings.warn('old')", "pass"),
}  # fmt: skip


async def asserted(candidate: str, tests: str, entry: str = "solution.py", **more: Any) -> RunResult:
    """The envelope of one candidate over asserts."""
    scoring = {"type": "command", "asserts": tests, **more}
    row = {"id": "one", "candidate": {"files": {entry: candidate}, "entry": entry}, "scoring": scoring}
    return await judged(load_scenarios([row]).scenarios[0])


@pytest.mark.parametrize("name", UNSERVED)
async def test_asserts_that_cannot_be_served_pay_nobody(name: str) -> None:
    """A right program has no score and the reason, and is paid with a gold or where the author has chosen one process;
    a wrong one has failed."""
    tests, candidate, right, wrong = UNSERVED[name]
    assert right in candidate
    alone, chosen, by_gold, failed = await asyncio.gather(
        asserted(candidate, tests),
        asserted(candidate, tests, isolate=False),
        asserted(candidate, tests, gold=candidate),
        asserted(candidate.replace(right, wrong), tests),
    )
    assert (alone.score, alone.validity, "`gold`" in alone.detail) == (None, Validity.INVALID, True), alone.detail
    assert (chosen.score, by_gold.score) == (1.0, 1.0), (chosen.detail, by_gold.detail)
    assert (failed.score, failed.validity) == (0.0, Validity.VALID), failed.detail


LOOKED_AT = {
    "calls of a mock": ("with mock.patch('time.sleep') as s:\n        solution.f()\n    s.assert_not_called()", "", "__import__('time').sleep(0)"),
    "standard error": ("b = io.StringIO()\n    with contextlib.redirect_stderr(b):\n        solution.f()\n    assert b.getvalue() == ''", "", "print('x', file=__import__('sys').stderr)"),
}  # fmt: skip


@pytest.mark.parametrize("name", LOOKED_AT)
async def test_who_passes_both_where_little_is_seen_is_paid(name: str) -> None:
    """All that a suite can see apart was right, and the rest is right beside it: that is paid, as sure as a process that
    both share; who fails there has failed."""
    body, right, wrong = LOOKED_AT[name]
    suite = f"import contextlib, io, solution\nfrom unittest import mock\ndef test_a():\n    {body}\n"
    program = "def f():\n    {}\n    return 1\n"
    paid, failed = await asyncio.gather(
        scored({"files": {"solution.py": program.format(right or "pass")}}, suite, "pytest"),
        scored({"files": {"solution.py": program.format(wrong)}}, suite, "pytest"),
    )
    assert (paid.score, paid.trust) == (1.0, Trust.SHARED), paid.detail
    assert (failed.score, failed.validity) == (0.0, Validity.VALID), failed.detail


IMPORTS = {
    "a module": "import math\nassert f(5) == math.factorial(5)",
    "a module by a name": "import math as m\nfor i in range(4):\n    assert f(i) == m.factorial(i)",
    "a pattern": "import re\nassert re.fullmatch('1[0-9]+', str(f(5)))",
    "a part of a package": "import os.path\nassert os.path.join('a', str(f(5))) == 'a/120'",
    "some modules": "import collections, json\nassert json.dumps(f(5)) == '120' and collections.Counter([f(5)]) == {120: 1}",
}  # fmt: skip


@pytest.mark.parametrize("name", IMPORTS)
async def test_asserts_that_import_a_module_are_judged_apart(name: str) -> None:
    """A wrong program was run beside them, because its process has that module, too, and gave it a name."""
    right, wrong = await asyncio.gather(
        asserted("import math\ndef f(n): return math.factorial(n)\n", IMPORTS[name]),
        asserted("def f(n): return 0\n", IMPORTS[name]),
    )
    assert (right.score, right.trust) == (1.0, Trust.SEPARATE), right.detail
    assert (wrong.score, wrong.validity, wrong.trust) == (0.0, Validity.VALID, Trust.SEPARATE), wrong.detail


HANDED = {
    "a function": "logging.info", "a function in C": "math.sin", "a builtin": "min", "what evaluates": "eval",
    "a class": "pathlib.Path", "a module": "re", "a logger": "logging.getLogger()", "a function with state": "random.choice",
    "a descriptor": "str.__len__", "a method of an object": "logging.getLogger().info", "a method in C": "[].append",
}  # fmt: skip
IMPORTED = "import logging, math, pathlib, random, re, sys\n"
LOOKS = "f(5) == pytest.approx(25.0)", "24 < f(5) < 26", "len([f(5)]) == 1 and f(5) == n * n"


@pytest.mark.parametrize("name", HANDED)
async def test_what_a_library_has_buys_nothing(name: str) -> None:
    """A candidate that hands it out apart, and has the answer in the tests' process, has failed apart."""
    here = IMPORTED + "def f(n): return n * n if {} else " + HANDED[name] + "\n"
    suites = [f"import pytest\nfrom solution import f\nn = 5\ndef test_a():\n    assert {look}\n" for look in LOOKS]
    found = await asyncio.gather(
        asserted(here.format("sys.argv[0].endswith('solution.py')"), "n = 5\nassert f(n) == n * n"),
        *(
            scored({"files": {"solution.py": here.format("'test_it' in sys.modules")}}, each, "pytest")
            for each in suites
        ),
    )
    # an object of a class that the candidate has described may be a right answer to asserts in one process
    is_described = name in ("a class", "a module", "a logger")
    for each in found[is_described:]:
        assert (each.score, each.validity, each.trust) == (0.0, Validity.VALID, Trust.SEPARATE), each.detail
    assert found[0].score != 1.0


SERVED = {
    "identity": "assert f() is {0} and f() is not print",
    "equality": "assert f() == {0} and f() != print and not f() == print",
    "membership": "assert f() in [print, {0}] and {{{0}: 1}}[f()] == 1",
    "a table": "assert [f(), 1] == [{0}, 1] and {{'a': f()}} == {{'a': {0}}}",
    "assertIs": "c = unittest.TestCase()\n    c.assertIs(f(), {0})\n    c.assertIsNot(f(), print)\n    c.assertEqual(f(), {0})",
}  # fmt: skip


@pytest.mark.parametrize("thing", ["logging.info", "math.sin", "random.choice", "pathlib.Path", "eval", "str.__len__"])
async def test_what_a_library_has_is_the_suites_own(thing: str) -> None:
    """In each way in which a suite may ask; one that is another is not."""
    suite = "import logging, math, pathlib, random, unittest\nfrom solution import f\n"
    suite += "".join(f"def test_{at}():\n    {body.format(thing)}\n" for at, body in enumerate(SERVED.values()))
    right, wrong = await asyncio.gather(
        scored({"files": {"solution.py": f"{IMPORTED}def f(): return {thing}\n"}}, suite, "pytest"),
        scored({"files": {"solution.py": f"{IMPORTED}def f(): return max\n"}}, suite, "pytest"),
    )
    assert (right.score, right.trust) == (1.0, Trust.SEPARATE), right.detail
    assert (wrong.score, wrong.validity, wrong.trust) == (0.0, Validity.VALID, Trust.SEPARATE), wrong.detail


USED = {
    "it is called": ("def f(): return logging.getLevelName\n", "assert f()(10) == 'DEBUG'"),
    "its state is the candidate's": ("def f():\n    random.seed(3)\n    return random.randint\ndef g():\n    random.seed(3)\n    return random.randint(1, 999)\n", "r = f()\n    assert r(1, 999) == g()"),
    "it is given to a library": ("def f(): return pathlib.PurePath\n", "assert [str(p) for p in map(f(), 'ab')] == ['a', 'b']"),
    "a key": ("def f(): return str.swapcase\n", "assert sorted('aB', key=f()) == ['a', 'B']"),
    "its kind": ("def f(): return logging.info\n", "assert callable(f()) and isinstance(f(), types.FunctionType) and type(f()) is types.FunctionType"),
    "its name": ("def f(): return logging.info\n", "assert f().__name__ == 'info' and f().__module__ == 'logging'"),
    "of a class": ("def f(): return pathlib.PurePosixPath\n", "assert isinstance(pathlib.PurePosixPath('a'), f()) and not isinstance(3, f())"),
}  # fmt: skip


@pytest.mark.parametrize("name", USED)
async def test_what_a_library_has_does_what_it_does(name: str) -> None:
    """It runs where the candidate is, so a right program is paid whatever the suite does with it."""
    program, body = USED[name]
    suite = f"import pathlib, types\nfrom solution import *\nimport solution\ng = getattr(solution, 'g', None)\ndef test_a():\n    {body}\n"
    found = await scored({"files": {"solution.py": IMPORTED + program}}, suite, "pytest")
    assert (found.score, found.trust) == (1.0, Trust.SEPARATE), found.detail


async def test_an_entry_that_no_test_can_import_pays_nobody() -> None:
    """It could be judged in the tests' process alone."""
    tests = "assert f(5) == 25"
    right = await asserted("def f(n): return n * n\n", tests, "main")
    assert (right.score, "`isolate: false`" in right.detail) == (None, True), right.detail
    wrong = await asserted("def f(n): return n + n\n", tests, "main")
    assert (wrong.score, wrong.validity) == (0.0, Validity.VALID), wrong.detail
