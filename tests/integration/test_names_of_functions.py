"""A suite that reads its cases from a file named after the function that it tests has as many tests for everybody."""

from __future__ import annotations

import json

import pytest
from shared_sandboxes import SHARED, judged

from harena.core.results import Reason, RunResult
from harena.scoring import load_scenarios

pytestmark = SHARED

HELPER = """
import json
from pathlib import Path
def cases_of(name):
    path = Path(__file__).parent / ".." / f"cases/{name}.json"
    with open(path) as lines: return [json.loads(line) for line in lines]
"""
SUITE = """
import pytest
from helper import cases_of
from solution import doubled
cases = cases_of(doubled.__name__)
@pytest.mark.parametrize("given,expected", cases)
def test_doubled(given, expected): assert doubled(*given) == expected
"""
INLINE = """
import json, pathlib, pytest, solution
from solution import doubled as f
HERE = pathlib.Path(__file__).parent.parent
CASES = [json.loads(line) for line in open(HERE / f"cases/{f.__name__}.json")]
@pytest.mark.parametrize("given,expected", CASES)
def test_doubled(given, expected): assert f(*given) == expected
"""
RIGHT = "def doubled(number): return 2 * number\n"
CASES = "".join(json.dumps(each) + "\n" for each in ([[1], 2], [[2], 4], [[5], 10]))
EASY = "".join(json.dumps(each) + "\n" for each in ([[1], 1], [[2], 2], [[5], 5]))
OTHER_NAMES = {
    "a function": "def easy(number): return number\ndoubled = easy\n",
    "a set name": "def doubled(number): return number\ndoubled.__name__ = 'easy'\n",
    "an object": "class Doubled:\n    __name__ = 'easy'\n    def __call__(self, number): return number\n"
    "doubled = Doubled()\n",
    "a changing object": "class Doubled:\n    @property\n    def __name__(self):\n"
    "        return 'easy'\n    def __call__(self, number): return number\ndoubled = Doubled()\n",
    "a class": "class doubled(int): pass\ndoubled.__name__ = 'easy'\n",
    "empty": "def doubled(number): return number\ndoubled.__name__ = 'empty'\n",
}  # fmt: skip


SKIPPING = """
import pytest
from helper import cases_of
from solution import doubled
@pytest.mark.parametrize("given,expected", cases_of(doubled.__name__))
def test_doubled(given, expected):
    if given == [5]: pytest.skip("it takes long")
    assert doubled(*given) == expected
"""


async def asked(program: str, suite: str = SUITE) -> RunResult:
    files = {"tests/test_it.py": suite, "tests/helper.py": HELPER, "cases/doubled.json": CASES, "cases/easy.json": EASY,
             "cases/empty.json": ""}  # fmt: skip
    scoring = {"type": "command", "pytest": ["tests/test_it.py"], "files": files}
    (made,) = load_scenarios([{"id": "one", "candidate": program, "scoring": scoring}]).scenarios
    return await judged(made)


@pytest.mark.parametrize("suite", [SUITE, INLINE, SKIPPING], ids=["a helper", "the file", "a skip"])
async def test_who_is_called_as_the_suite_says_is_paid(suite: str) -> None:
    """The name by which the suite has taken the function says nothing of the candidate's."""
    result = await asked(RIGHT, suite)
    assert result.score == 1.0, result.detail
    wrong = await asked(RIGHT.replace("2 *", "3 *"), suite)
    assert (wrong.score, wrong.reason) == (0.0, Reason.SCORER_REJECTED), wrong.detail


@pytest.mark.parametrize("program", OTHER_NAMES.values(), ids=OTHER_NAMES)
async def test_who_chooses_a_name_chooses_no_cases(program: str) -> None:
    """Nobody is paid for the cases of another function."""
    result = await asked(program)
    assert result.score in (0.0, None), result.detail
    assert result.score == 0.0 or "how many tests there are" in result.detail, result.detail
