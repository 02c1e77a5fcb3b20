"""Scorers as their authors write them: rubrics of floats, classes of their own, and some that run what they get."""

from __future__ import annotations

import pytest
from scorers_in_use import scored

from harena.core.results import Validity
from harena.scoring.contracts.contract import PythonContract
from harena.scoring.formats.graders import contract_of

RUBRIC = """
def score(run):
    total = 0.0
    for weight, word in ((0.4, "a"), (0.2, "b"), (0.3, "c"), (0.1, "d")):
        total += weight * (word in run.answer)
    return total
"""
CLASSES = """
from __future__ import annotations
import pickle, typing
from dataclasses import dataclass

@dataclass
class Point:
    x: int
    y: Point | None = None

def score(run):
    point = pickle.loads(pickle.dumps(Point(int(run.answer))))
    return float(point == Point(3) and "x" in typing.get_type_hints(Point))
"""
IMPORTED = """
import pathlib, sys, tempfile

def score(run):
    folder = tempfile.mkdtemp()
    pathlib.Path(folder, "sol_x.py").write_text(run.answer)
    sys.path.insert(0, folder)
    sys.modules.pop("sol_x", None)
    from sol_x import add
    return float(add(2, 3) == 5)
"""
SAME = """
def same(one, other):
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    return all(map(same, one, other)) if isinstance(one, list) else one == other
"""
BY_METADATA = (
    f"import json\n{SAME}def score(run): return same([json.loads(run.answer), {{}}], [run.metadata['a'], run.files])"
)
BY_ITEM = (
    f"import json\n{SAME}def grade(sample, item):\n"
    "    return float(type(sample) is dict and same(json.loads(sample['output_text']), item['want']))\n"
)
GOLD = "def add(a, b): return a + b"


async def test_the_rounding_of_a_rubric_is_no_mistake() -> None:
    """The weights add up to a little more than 1."""
    right = await scored(RUBRIC, "a b c d")
    assert (right.score, right.passed, right.validity) == (1.0, True, Validity.VALID), right.detail
    less = await scored(RUBRIC, "a b c")
    assert less.score == pytest.approx(0.9)
    assert not less.passed
    wide = await scored("def score(run): return sum([0.1] * 10)", "x")
    assert wide.passed


async def test_classes_of_a_scorer_have_a_module() -> None:
    """As dataclasses with later annotations, pickle and typing want it."""
    assert (await scored(CLASSES, "3")).score == 1.0
    wrong = await scored(CLASSES, "4")
    assert (wrong.score, wrong.validity) == (0.0, Validity.VALID), wrong.detail


@pytest.mark.parametrize(
    "wrong", ["def sub(a, b): return 0", "import nothing_there", "raise ImportError", "def add(", "add = None.x"]
)
async def test_a_text_that_cannot_be_imported_is_a_wrong_answer(wrong: str) -> None:
    """The gold shows that the scorer works."""
    assert (await scored(IMPORTED, GOLD, gold=GOLD)).score == 1.0
    result = await scored(IMPORTED, wrong, gold=GOLD)
    assert (result.score, result.validity) == (0.0, Validity.VALID), result.detail


async def test_what_a_scorer_compares_is_of_plain_types() -> None:
    """Metadata, files and items were of classes of our own, and never of the type of what an answer says."""
    grader = contract_of({"type": "python", "name": "same", "source": BY_ITEM}, {"want": {"b": 1}}, "grader")
    assert isinstance(grader, PythonContract)
    for source in (BY_METADATA, grader.source):
        right = await scored(source, '{"b": 1}')
        assert (right.score, right.validity) == (1.0, Validity.VALID), right.detail
        wrong = await scored(source, '{"b": 2}')
        assert (wrong.score, wrong.validity) == (0.0, Validity.VALID), wrong.detail


@pytest.mark.parametrize("asked", ["item['none']", "sample['none']", "sample['choices'][0]['none']"])
async def test_a_key_that_no_sample_and_no_item_has_is_the_graders_mistake(asked: str) -> None:
    """It has no score, whatever the answer is."""
    source = f"def grade(sample, item):\n    text = sample['output_text']\n    return float({asked} == text)\n"
    grader = contract_of({"type": "python", "name": "one", "source": source}, {"want": 1}, "grader")
    assert isinstance(grader, PythonContract)
    assert (await scored(grader.source, "{}")).validity is Validity.INVALID
