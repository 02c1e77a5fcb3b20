"""What a model wrote is never a mistake of the file it stands in: it has the lowest score, and nothing is run."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest

from harena.core.models import SandboxSpec
from harena.core.ports import SandboxPort
from harena.core.results import Reason, RunResult, Validity
from harena.scoring import load_scenarios, score_scenario
from harena.scoring.contracts.parts import MAX_TEXT, MOST_FILES, MOST_PARTS
from harena.scoring.formats.importing import import_scenarios
from harena.scoring.scenario import Candidate, Scenario

TESTS: dict[str, Any] = {"type": "tests", "entry_point": "f", "checks": [{"args": [1], "expected": 1}]}
CONTRACTS: tuple[dict[str, Any], ...] = (
    TESTS,
    {"type": "reference", "entry_point": "f", "solution": "def f(x): return x", "inputs": [{"args": [1]}]},
    {"type": "stdio", "cases": [{"stdout": "1"}]},
    {"type": "numeric", "range": [1, 0]},
    {"type": "python", "source": "def score(run): return 1"},
    {"type": "python", "source": "def score(run): return 1", "run_candidate": False},
    {"type": "command", "command": ["true"]},
    {"type": "command", "asserts": "assert f(1) == 1"},
    {"type": "command", "asserts": "assert f(1) == 1", "calls": {"f": "f"}},
    {"type": "command", "pytest": ["test_a.py"], "files": {"test_a.py": "def test_a(): pass"}},
    {"type": "string_check", "reference": "x", "operation": "ne"},
    {"type": "text_similarity", "reference": "x", "evaluation_metric": "fuzzy_match"},
    {"type": "regex", "pattern": "x?"},
    {"type": "score_model", "model": "j", "messages": [{"role": "user", "content": "{{ sample.output_text }}"}]},
    {"type": "harbor", "tests": {"test.sh": "true"}},
    {"type": "weighted", "parts": {"a": {"scoring": TESTS}}, "formula": "min(1, 0.5 + a)"},
)
INVALID: dict[str, tuple[Any, Reason, str]] = {
    "nothing": ("", Reason.EMPTY_CANDIDATE, "empty"),
    "no file": ({"files": {}}, Reason.EMPTY_CANDIDATE, "empty"),
    "long name": ({"files": {"é" * 150: "x"}, "entry": "é" * 150}, Reason.INVALID_CANDIDATE, "at most 255 bytes"),
    "long path": ({"files": {"d/" * 600 + "x": "x"}, "entry": "x"}, Reason.INVALID_CANDIDATE, "a path 1024"),
    "deep path": (
        {"files": {"d/" * MOST_PARTS + "x": "x"}, "entry": "x"},
        Reason.INVALID_CANDIDATE,
        "at most 64 parts",
    ),
    "endless path": ({"files": {"d/" * 100_000 + "x": "x"}, "entry": "x"}, Reason.INVALID_CANDIDATE, "a path 1024"),
    "many folders": (
        {"files": {"solution.py": "x", **{f"{number}/" + "d/" * 60 + "x": "" for number in range(70)}}},
        Reason.INVALID_CANDIDATE,
        "more than the 4000 folders",
    ),
    "name outside": ({"files": {"../x.py": "x"}, "entry": "../x.py"}, Reason.INVALID_CANDIDATE, "relative path"),
    "absolute name": ({"files": {"solution.py": "x", "/etc/x": "x"}}, Reason.INVALID_CANDIDATE, "relative path"),
    "no name": ({"files": {"solution.py": "x", "": "x"}}, Reason.INVALID_CANDIDATE, "relative path"),
    "NUL in a name": ({"files": {"a\0.py": "x"}, "entry": "a\0.py"}, Reason.INVALID_CANDIDATE, "relative path"),
    "name that is no text": ({"files": {"\ud800": "x"}, "entry": "\ud800"}, Reason.INVALID_CANDIDATE, "surrogate"),
    "file and folder": (
        {"files": {"solution.py": "x", "solution.py/x.py": "y"}},
        Reason.INVALID_CANDIDATE,
        "is a file and cannot also hold",
    ),
    "no entry": ({"files": {"other.py": "x"}}, Reason.MISSING_ENTRY_POINT, "'solution.py' is not among the files"),
    "entry that is no text": ({"files": {"a": "x"}, "entry": "\ud800"}, Reason.MISSING_ENTRY_POINT, "not among"),
    "long text": ("x" * (MAX_TEXT + 1), Reason.INVALID_CANDIDATE, "larger than"),
    "large text": ("\U00010000" * (MAX_TEXT // 4 + 1), Reason.INVALID_CANDIDATE, "larger than"),
    "text that is no text": ("\ud800", Reason.SYNTAX_ERROR, "lone surrogates"),
    "many files": (
        {"files": {"solution.py": "x", **{f"{number}.py": "" for number in range(MOST_FILES)}}},
        Reason.INVALID_CANDIDATE,
        "more than the 1000 allowed",
    ),
}


class NoSandboxes:
    """Where nothing may be run."""

    def sandbox(self, spec: SandboxSpec) -> AbstractAsyncContextManager[SandboxPort]:
        """Refused."""
        raise AssertionError("a sandbox was asked for")


async def scored(scenario: Scenario) -> RunResult:
    return await score_scenario(scenario, sandboxes=NoSandboxes(), base_spec=SandboxSpec(), timeout_seconds=1)


@pytest.mark.parametrize("name", INVALID)
async def test_it_has_the_lowest_score_beside_others_and_says_why(name: str) -> None:
    """Under every contract; the other rows of the batch are loaded."""
    candidate, reason, detail = INVALID[name]
    contracts = CONTRACTS[:2] if name in ("long text", "large text") else CONTRACTS  # each takes its time to digest
    rows = [{"id": str(number), "candidate": candidate, "scoring": made} for number, made in enumerate(contracts)]
    batch = load_scenarios([{"id": "right", "candidate": "def f(x): return x", "scoring": TESTS}, *rows])
    for scenario in batch.scenarios[1:]:
        result = await scored(scenario)
        assert (result.score, result.passed, result.validity) == (0.0, False, Validity.VALID)
        assert result.reason is reason
        assert detail in result.detail
        assert result.detail.isprintable()
        assert result.candidate_digest


@pytest.mark.parametrize("name", INVALID)
async def test_answers_to_stored_problems_are_scored_alike(name: str) -> None:
    """As a step of a training gives them."""
    candidate, reason, _ = INVALID[name]
    problems = {"problems": [{"id": "p", "scoring": TESTS}]}
    batch = import_scenarios(problems, candidates=[{"id": "a", "problem": "p", "candidate": candidate}])
    assert (await scored(batch.scenarios[0])).reason is reason


@pytest.mark.parametrize("text", [text for text, _, _ in INVALID.values() if isinstance(text, str)])
async def test_answers_to_other_peoples_rows_are_scored_alike(text: str) -> None:
    """As samples of a model are."""
    row = {
        "task_id": "a/0",
        "prompt": "def f(x):\n",
        "entry_point": "f",
        "test": "def check(f):\n    assert f(1) == 1\n",
    }
    batch = import_scenarios([row], candidates=[{"task_id": "a/0", "solution": text}])
    result = await scored(batch.scenarios[0])
    assert (result.score, result.validity) == (0.0, Validity.VALID)


def test_a_candidate_that_can_be_written_is_none() -> None:
    """At the bounds, and with any name that a file may have."""
    longest = "é" * 127 + "x"
    names = [longest, "/".join(["d" * 127] * 8), " .py", "-c.py", "a\nb.py", "..py", "...", "~", "con"]
    for name in names:
        assert Candidate(files={name: "x" * 1000}, entry=name).mistake is None
    assert Candidate(files={"solution.py": "x" * MAX_TEXT}).mistake is None
