"""`harena scenario calibrate`: what it asks the package for, what it prints, and how it ends."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest
from fake_face import Harena

from harena.cli import face
from harena.core.errors import PlatformError, ValidationError
from harena.core.records.calibrations import CalibrationReport


def report(**row: Any) -> dict[str, Any]:
    """A calibration of one scenario."""
    made = {
        "scenario": "add",
        "contract": "tests",
        "trust": "separate",
        "digest": "d",
        "gold": {"runs": 5, "scored": 5, "passed": 5, "flakes": 0, "flake_rate": 0.0},
        "known_wrong": {"runs": 0, "passed": []},
        "empty_score": 0.0,
        "stub_score": 0.0,
        "constants": {"tried": 14, "best": None, "best_score": 0.0, "passed": []},
        "mutants": {"tried": 8, "scored": 8, "killed": 8, "survived": []},
        "battery": {"tried": 138, "paid": [], "unscored": []},
        "unscored_by_platform": 0,
        "faults": [],
        "fit": True,
        "verdict": "fit",
        "why": "",
        "true_positive_rate": 1.0,
        "false_positive_rate": 0.0,
        **row,
    }
    head = {"version": 1, "battery_version": "b", "gold_runs": 5, "flake_rate": 0.0}
    return {**head, "fit": made["fit"], "verdicts": {made["verdict"]: 1}, "scenarios": [made]}


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the command line asks for; `answer` is what it gets, or an error that it meets."""
    seen: dict[str, Any] = {"answer": report()}

    def calibrate(source: str, *, follow: Any, **options: Any) -> CalibrationReport:
        seen.update(source=source, options=options)
        if isinstance(seen["answer"], BaseException):
            raise seen["answer"]
        follow(
            [
                {
                    "cursor": 1,
                    "kind": "job_started",
                    "at": "2030-01-02T03:04:05+00:00",
                    "total": 145,
                    "effective_concurrency": 8,
                }
            ]
        )
        return CalibrationReport.from_dict(seen["answer"])

    monkeypatch.setattr(face, "load", lambda: SimpleNamespace(calibrate=calibrate))
    return seen


def test_a_fit_scenario_ends_with_0(asked: dict[str, Any], harena: Harena, capsys: pytest.CaptureFixture[str]) -> None:
    """A table, a closing line, progress on stderr; defaults reach the package."""
    assert harena("scenario", "calibrate", "s.yaml", "--gold-runs", "7") == 0
    out, err = capsys.readouterr()
    assert "5/5" in out
    assert "0/138" in out
    assert out.endswith("fit for training: 1 of 1 scenario; flake rate 0.00%\n")
    assert "145 runs, 8 at a time" in err
    assert asked["source"] == "s.yaml"
    assert asked["options"] == {
        "candidates": None, "format": None, "grader": None, "gold_runs": 7, "blueprint_id": "default", "concurrency": 8,
        "timeout_seconds": 10.0, "store": True,
    }  # fmt: skip


def test_stored_scenarios_are_calibrated_by_name(asked: dict[str, Any], harena: Harena) -> None:
    """In place of a file."""
    assert harena("scenario", "calibrate", "ref:add@2", "--candidates", "right.jsonl") == 0
    assert (asked["source"], asked["options"]["candidates"]) == ({"ref": "add@2"}, "right.jsonl")


def test_an_unfit_scenario_ends_with_3_and_says_why(
    asked: dict[str, Any], harena: Harena, capsys: pytest.CaptureFixture[str]
) -> None:
    """In the table's form and as JSON."""
    asked["answer"] = report(fit=False, verdict="not_fit", faults=["an empty answer scores 1"], empty_score=1.0)
    assert harena("scenario", "calibrate", "s.yaml") == 3
    assert "add: an empty answer scores 1\nfit for training: 0 of 1 scenario" in capsys.readouterr().out
    assert harena("scenario", "calibrate", "s.yaml", "--format", "json", "--no-store") == 3
    assert json.loads(capsys.readouterr().out) == CalibrationReport.from_dict(asked["answer"]).to_dict()
    assert asked["options"]["store"] is False


@pytest.mark.parametrize(
    ("changes", "code", "told"),
    [
        ({"verdict": "not_judged", "why": "there is no gold"}, 3, "add: not judged: there is no gold\n"),
        ({"verdict": "no_verdict", "why": "2 runs have no score"}, 2, "add: no verdict: 2 runs have no score\n"),
        ({"fit": True, "constants": {"tried": 9, "best": "returns 0", "best_score": 0.25, "passed": []}}, 0,
         "add: note: an answer that returns 0 earns 0.25 of partial credit\n"),
        ({"fit": True, "mutants": {"tried": 9, "scored": 8, "killed": 7, "survived": ["line 3: Lt becomes LtE"]}}, 0,
         "add: note: 1 of 8 mutants of the right answer pass (line 3: Lt becomes LtE)\n"),
        ({"fit": True, "mutants": {"tried": 0, "scored": 0, "killed": 0, "survived": []}}, 0,
         "add: note: no mutant of the right answer was scored: nothing says that a small mistake is noticed\n"),
    ],
)  # fmt: skip
def test_what_is_known_is_told(
    asked: dict[str, Any],
    harena: Harena,
    capsys: pytest.CaptureFixture[str],
    changes: dict[str, Any],
    code: int,
    told: str,
) -> None:
    """Fit is not said where nothing was tried; a busy host makes nothing unfit; what a constant earns is a number."""
    asked["answer"] = report(**{"fit": False, **changes})
    assert harena("scenario", "calibrate", "s.yaml") == code
    assert told in capsys.readouterr().out


def test_what_prevents_it_has_codes_of_its_own(
    asked: dict[str, Any], harena: Harena, capsys: pytest.CaptureFixture[str]
) -> None:
    """1 for mistakes in the file, 2 for what could not run, 130 for an interruption."""
    mistaken = ValidationError("1 mistake")
    mistaken.mistakes = ["s.yaml:3: id: missing"]  # type: ignore[attr-defined]
    for answer, code in ((mistaken, 1), (ValidationError("gold_runs must be"), 2), (PlatformError("no"), 2),
                         (KeyboardInterrupt(), 130)):  # fmt: skip
        asked["answer"] = answer
        assert harena("scenario", "calibrate", "s.yaml") == code
    assert capsys.readouterr().out == "s.yaml:3: id: missing\n"
