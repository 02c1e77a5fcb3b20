# ruff: noqa: E501 (programs are text, not code of ours)
"""Files of a contract that a candidate reads, where it has a sandbox of its own and no gold says how it is to be run."""

from __future__ import annotations

import pytest
from shared_sandboxes import SHARED
from test_unittest_suites import scored

from harena.core.results import Validity

pytestmark = SHARED
ONE = "def one(): return 1\n"
COUNTS = "import pathlib\ndef words(path): return len(pathlib.Path(path).read_text().split())\n" + ONE
LISTS = "import os\ndef names(path): return sorted(name for name in os.listdir(path) if name[-4:] == '.csv')\n" + ONE
THREE = {"sample.txt": "a b c\n"}
BELOW = {"data/one.csv": "1\n", "data/two.csv": "2\n"}
NAMED: dict[str, tuple[str, str, dict[str, str]]] = {
    "by name": (COUNTS, "def test_a(): assert solution.words('sample.txt') == 3\n", THREE),
    "beside the test": (COUNTS, "import pathlib\nP = pathlib.Path(__file__).parent / 'sample.txt'\ndef test_a(): assert solution.words(P) == 3\n", THREE),
    "as bytes": (COUNTS, "def test_a(): assert solution.one() == 1 and solution.words(str(b'sample.txt', 'ascii')) == 3\n", THREE),
    "in a list": ("def words(paths): return [len(open(path).read()) for path in paths]\n" + ONE, "def test_a(): assert solution.words(['data/one.csv', 'data/two.csv']) == [2, 2]\n", BELOW),
    "a failure is caught": ("def words(path):\n    try: return len(open(path).read().split())\n    except OSError: return 0\n" + ONE, "def test_a(): assert solution.words('sample.txt') == 3\n", THREE),
    "a folder": (LISTS, "def test_a(): assert solution.names('data') == ['one.csv', 'two.csv']\n", BELOW),
    "the folder": (LISTS.replace("listdir(path", "listdir(path + '/data'"), "import os\ndef test_a(): assert solution.names(os.path.dirname(os.path.abspath(__file__))) == ['one.csv', 'two.csv']\n", BELOW),
    "a module": (COUNTS, "def test_a(): assert solution.words('example.py') == 3\n", {"example.py": "x = 1\n"}),
    "the test": (COUNTS, "def test_a(): assert solution.words(__file__) > 3\n", {}),
    "of its own accord": ("def words(): return len(open('sample.txt').read().split())\n" + ONE, "def test_a(): assert solution.words() == 3\n", THREE),
    "as it is imported": ("import os\nWITH = open(os.path.join(os.path.dirname(__file__), 'data', 'one.csv')).read()\n" + ONE, "def test_a(): assert solution.WITH == '1\\n'\n", BELOW),
}  # fmt: skip


@pytest.mark.parametrize("part", range(3))
async def test_who_reads_a_file_of_the_contract_is_never_wrong_for_its_absence(part: int) -> None:
    """Whether the tests give its path, or nobody but the candidate reads it: no score, and the reason."""
    for name in list(NAMED)[part::3]:
        candidate, suite, files = NAMED[name]
        suite = "import solution\n" + suite
        given = {"files": {"test_it.py": suite, **files}}
        found = await scored({"files": {"solution.py": candidate}}, suite, "pytest", **given)
        assert (found.score, found.validity) == (None, Validity.INVALID), (name, found.detail)
        assert "`gold`" in found.detail, (name, found.detail)


@pytest.mark.parametrize("name", ["by name", "of its own accord"])
async def test_a_file_that_candidates_read_is_theirs_where_the_author_says_so(name: str) -> None:
    """In the problem's `files`, or by a gold; who is wrong has the lowest score in any case."""
    candidate, suite, files = NAMED[name]
    suite = "import solution\n" + suite
    given = {"files": {"test_it.py": suite, **files}}
    program, wrong = {"files": {"solution.py": candidate}}, {"files": {"solution.py": "def words(*path): return 7\n"}}
    for scoring in ({"problem": {"files": files}}, {**given, "gold": {"solution.py": candidate}}):
        found = await scored(program, suite, "pytest", **scoring)
        assert found.score == 1.0, found.detail
    found = await scored(wrong, suite, "pytest", **given)
    assert (found.score, found.validity) == (0.0, Validity.VALID), found.detail


READS_ANSWERS = "import json\ndef f(x): return dict(json.load(open('cases.json')))[x]\n"
READ: dict[str, str] = {
    "by name": "def test_a():\n    for x, y in json.load(open('cases.json')): assert solution.f(x) == y\n",
    "by an ending": "import pathlib\ndef test_a():\n    for x, y in json.loads(pathlib.Path('cases').with_suffix('.json').read_text()): assert solution.f(x) == y\n",
    "by a part": "N = 'cases'\ndef test_a():\n    for x, y in json.load(open(f'{N}.json')): assert solution.f(x) == y\n",
}


@pytest.mark.parametrize("name", READ)
async def test_who_looks_up_in_a_file_what_the_tests_expect_is_not_excused(name: str) -> None:
    """Where the tests read it themselves."""
    suite = "import json, solution\n" + READ[name]
    files = {"test_it.py": suite, "cases.json": "[[1, 57], [2, 99]]"}
    found = await scored({"files": {"solution.py": READS_ANSWERS}}, suite, "pytest", files=files)
    assert (found.score, found.validity) == (0.0, Validity.VALID), found.detail
