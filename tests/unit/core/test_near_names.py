"""Near names are looked for in bounded time, and long ones are shown in part."""

from __future__ import annotations

import difflib
from typing import Any

import pytest

from harena.core import near_names
from harena.core.mistakes import nearest_key
from harena.core.near_names import MOST_CHARACTERS, MOST_SUGGESTED, cut, nearest_name
from harena.scoring.formats import import_scenarios
from harena.scoring.load import load_scenarios
from harena.scoring.reading import ScenarioFileError

ROW = {"prompt": "def f():\n", "entry_point": "f", "test": "def check(c):\n    assert c() == 1\n"}
SCORED = {
    "candidate": "x = 1",
    "scoring": {"type": "tests", "entry_point": "f", "checks": [{"args": [], "expected": 1}]},
}


@pytest.fixture
def compared(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """(characters of the name, characters of all that it was compared with) of each search."""
    searches: list[tuple[int, int]] = []
    search = difflib.get_close_matches

    def noted(word: str, possibilities: list[str], **named: Any) -> list[str]:
        searches.append((len(word), sum(map(len, possibilities))))
        return search(word, possibilities, **named)

    monkeypatch.setattr(near_names.difflib, "get_close_matches", noted)
    return searches


def test_what_is_near_is_found() -> None:
    """Among names of a size that people write."""
    known = [f"problem-{number}" for number in range(900)]
    assert nearest_name("problm-17", known) == "problem-17"
    assert nearest_name("else", known) is None
    assert nearest_name("a" * MOST_CHARACTERS, ["a" * MOST_CHARACTERS]) == "a" * MOST_CHARACTERS


def test_long_names_have_no_near_one(compared: list[tuple[int, int]]) -> None:
    """And many or long ones are not all looked at."""
    assert nearest_name("a" * 10_000_000, ["a" * 10_000_000]) is None
    assert nearest_key("a" * 10_000_000, ["name", "config"]) == "valid keys are name, config"
    assert compared == []
    assert nearest_name("name", (f"{number:05}" for number in range(5000))) is None
    assert nearest_name("ab" * 95, ["ba" * 95] * 1000) is not None
    assert nearest_name("name", ["n" * 10_000_000]) is None
    assert compared == [(4, 5000), (190, 13 * 190)]


def test_long_names_are_shown_in_part() -> None:
    """A mistake is a sentence."""
    assert cut("a" * 1000) == "a" * 197 + "..."
    long = "n" * 1_000_000
    with pytest.raises(ScenarioFileError) as refusal:
        load_scenarios([{"id": "a", **SCORED, long: 1}, {"id": "b", "candidate": "x", "problem": long}])
    assert len(refusal.value.mistakes) == 2
    assert all(len(str(mistake)) < 3000 for mistake in refusal.value.mistakes)


def test_answers_to_unknown_problems(compared: list[tuple[int, int]]) -> None:
    """Near names of the first ones are told."""
    rows = [{**ROW, "task_id": f"task-{number}"} for number in range(5)]
    answers = [{"task_id": f"taks-{number}", "completion": "x"} for number in range(2000)]
    with pytest.raises(ScenarioFileError) as refusal:
        import_scenarios(rows, candidates=answers, form="humaneval")
    told = [str(mistake) for mistake in refusal.value.mistakes]
    assert "did you mean 'task-0'?" in told[0]
    assert len(compared) == sum("did you mean" in one for one in told) == MOST_SUGGESTED
    assert len(told) == 1001


def test_scenarios_of_unknown_problems(compared: list[tuple[int, int]]) -> None:
    """Likewise in harena's own format."""
    problem = {"id": "adding", "scoring": SCORED["scoring"]}
    rows = [{"id": str(number), "candidate": "x", "problem": f"addin{number}"} for number in range(100)]
    with pytest.raises(ScenarioFileError) as refusal:
        load_scenarios({"problems": [problem], "scenarios": rows})
    assert len(refusal.value.mistakes) == 100
    assert len(compared) == MOST_SUGGESTED
