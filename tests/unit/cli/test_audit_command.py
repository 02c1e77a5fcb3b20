"""`harena audit`: what it asks the package for, what it prints and writes, and how it ends."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fake_face import Harena

from harena import audits
from harena.cli import face
from harena.core.errors import PlatformError, ValidationError
from harena.core.records.audits import AuditReport
from harena.core.records.calibrations import CalibrationReport

ROWS = ('{"id": "weak", "candidate": "x", "scoring": {}}', '{"id":  "sound", "candidate": "x", "scoring": {}}')
FINDING = {"kind": "constant", "severity": "error", "says": "an answer passes", "advice": "Add inputs."}
NO_GOLD = {"kind": "no_gold", "severity": "warning", "says": "none", "advice": "Add one."}


def report(**fields: Any) -> dict[str, Any]:
    """An audit of two problems, of which one is weak."""
    numbers = {"gold_runs": 5, "gold_passed": 5, "mutants": 4, "forgeries": 9, "forgeries_paid": 0, "idle_score": 0.0}
    same = {"contract": "tests", "trust": "separate", "unproven": False, **numbers}
    return {
        "version": 1,
        "data_set": "rows.jsonl",
        "source_digest": "d",
        "battery_version": "b",
        "gold_runs": 5,
        "fail_on": "error",
        "fit": False,
        "fit_problems": 1,
        "unproven_problems": 0,
        "kinds": {"constant": 1},
        "flake_rate": 0.0,
        "problems": [
            {"problem": "weak", "fit": False, "findings": [FINDING], "mutants_killed": 1, **same},
            {"problem": "sound", "fit": True, "findings": [], "mutants_killed": 4, **same},
        ],
        **fields,
    }


SOUND = report(fit=True, fit_problems=1, kinds={}, problems=report()["problems"][1:])


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the command line asks for; `answer` is what it gets, or an error that it meets."""
    seen: dict[str, Any] = {"answer": report(), "meanwhile": lambda: None}

    def audit(source: str, *, follow: Any, started: Any, **options: Any) -> AuditReport:
        seen.update(source=source, options=options)
        if isinstance(seen["answer"], BaseException):
            raise seen["answer"]
        started("job-1")
        seen["meanwhile"]()
        follow([])
        return AuditReport.from_dict(seen["answer"])

    monkeypatch.setattr(face, "load", lambda: SimpleNamespace(audit=audit, audits=audits))
    return seen


def test_a_weak_problem_ends_with_1(asked: dict[str, Any], harena: Harena, capsys: pytest.CaptureFixture[str]) -> None:
    """A table, a line for each finding and what to do, the sum of it; defaults reach the package."""
    assert harena("audit", "rows.jsonl") == 1
    out, _ = capsys.readouterr()
    assert out.index("weak") < out.index("sound")
    assert "weak: error: an answer passes\n    Add inputs.\n" in out
    assert out.endswith("fit: 1 of 2 problems (constant 1)\n")
    assert asked["source"] == "rows.jsonl"
    assert asked["options"] == {
        "candidates": None, "format": None, "grader": None, "gold_runs": 5, "blueprint_id": "default",
        "concurrency": 8, "timeout_seconds": 5.0, "fail_on": "error", "resume": None,
    }  # fmt: skip


def test_a_fit_data_set_ends_with_0(asked: dict[str, Any], harena: Harena, capsys: pytest.CaptureFixture[str]) -> None:
    """And what is left out of the table is told."""
    asked["answer"] = SOUND
    assert harena("audit", "rows.jsonl", "--fail-on", "warning", "--show", "0") == 0
    assert "... and 1 more problems" in capsys.readouterr().out
    assert asked["options"]["fail_on"] == "warning"


def test_json_is_the_report(asked: dict[str, Any], harena: Harena, capsys: pytest.CaptureFixture[str]) -> None:
    """As the package has it."""
    assert harena("audit", "rows.jsonl", "--format", "json") == 1
    assert json.loads(capsys.readouterr().out) == asked["answer"]


def test_what_nobody_has_proved_is_not_fit(
    asked: dict[str, Any],
    harena: Harena,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """It is said, it fails, and its row is left out; unless whoever runs the audit says that it may stay."""
    monkeypatch.chdir(tmp_path)
    Path("rows.jsonl").write_text("\n".join(ROWS) + "\n")
    sound = report()["problems"][1]
    bare = {"problem": "weak", "fit": False, "unproven": True, "gold_runs": 0, "findings": [NO_GOLD]}
    problems = [{**sound, **bare}, sound]
    asked["answer"] = report(problems=problems, unproven_problems=1, kinds={"no_gold": 1})
    assert harena("audit", "rows.jsonl", "--fix", "fit.jsonl", "--html", "a.html", "--badge", "a.svg") == 1
    told = capsys.readouterr().out
    assert "unproven: 1 of 2 problems have no right answer" in told
    assert "fit: 1 of 2 problems (no_gold 1)" in told
    assert Path("fit.jsonl").read_text() == ROWS[1] + "\n"
    assert "unproven" in Path("a.html").read_text()
    assert "1/2 fit, 1 unproven" in Path("a.svg").read_text()
    assert harena("audit", "rows.jsonl", "--fix", "all.jsonl", "--keep-unproven") == 0
    assert Path("all.jsonl").read_text() == "\n".join(ROWS) + "\n"


def test_an_audit_says_unproven_only_of_what_nothing_is_found_against() -> None:
    """From the findings of a calibration."""
    runs = {"contract": "tests", "trust": "separate", "fit": False, "faults": [], "empty_score": 0.0, "stub_score": 0.0,
            "known_wrong": {"runs": 0, "passed": []}, "battery": {"tried": 1, "paid": [], "unscored": []},
            "gold": {"runs": 0, "scored": 0, "passed": 0, "flakes": 0, "flake_rate": None},
            "true_positive_rate": None, "false_positive_rate": None}  # fmt: skip
    found = {"unproven": [NO_GOLD], "paid": [FINDING, NO_GOLD], "fit": []}
    calibrated = CalibrationReport.from_dict(
        {"version": 1, "battery_version": "b", "gold_runs": 2, "fit": False, "flake_rate": None,
         "scenarios": [{"scenario": name, "findings": findings, **runs} for name, findings in found.items()]}
    )  # fmt: skip
    for fail_on in audits.FAIL_ON:
        audited = audits.audit_of(calibrated, fail_on=fail_on)
        assert {one.problem: one.verdict for one in audited.problems} == {
            "unproven": "unproven", "paid": "not fit", "fit": "fit",
        }  # fmt: skip
        assert (audited.fit, audited.fit_problems, audited.unproven_problems) == (False, 1, 1)


def test_strength_that_is_unknown_is_said(
    asked: dict[str, Any], harena: Harena, capsys: pytest.CaptureFixture[str]
) -> None:
    """No mutant: not fit, and why; notes have a line each, but for what is said of a whole contract."""
    sound = report()["problems"][1]
    none = {"kind": "no_mutants", "severity": "warning", "says": "no mutant could be made", "advice": "Look."}
    notes = [
        {"kind": kind, "severity": "note", "says": says, "advice": "Look."}
        for kind, says in (("survivors", "3 of 4 are noticed"), ("shared_trust", "one sandbox"))
    ]
    problems = [{**sound, "problem": "weak", "fit": False, "unproven": True, "mutants": 0, "mutants_killed": 0,
                 "findings": [none]}, {**sound, "findings": notes}]  # fmt: skip
    asked["answer"] = report(problems=problems, unproven_problems=1, kinds={"no_mutants": 1})
    assert harena("audit", "rows.jsonl") == 1
    told = capsys.readouterr().out
    assert "unproven: 1 of 2 problems have a right answer of which no mutant can be made" in told
    assert "no right answer" not in told
    assert "sound: note: 3 of 4 are noticed\n" in told
    assert "one sandbox" not in told


@pytest.mark.parametrize(("gold_passed", "counted"), [(5, (8, 6)), (4, (0, 0)), (0, (0, 0))])
def test_mutants_count_where_the_right_answer_passes_each_time(gold_passed: int, counted: tuple[int, int]) -> None:
    """What fails anyway fails with a mistake, too."""
    row = {"scenario": "one", "contract": "tests", "trust": "separate", "fit": False, "faults": [], "empty_score": 0.0,
           "stub_score": 0.0, "known_wrong": {"runs": 0, "passed": []},
           "battery": {"tried": 1, "paid": [], "unscored": []},
           "gold": {"runs": 5, "scored": 5, "passed": gold_passed, "flakes": 0, "flake_rate": 0.0},
           "mutants": {"tried": 8, "scored": 8, "killed": 6, "survived": []},
           "true_positive_rate": None, "false_positive_rate": None}  # fmt: skip
    calibrated = CalibrationReport.from_dict(
        {"version": 1, "battery_version": "b", "gold_runs": 5, "fit": False, "flake_rate": 0.0, "scenarios": [row]}
    )
    audited = audits.audit_of(calibrated)
    assert (audited.problems[0].mutants, audited.problems[0].mutants_killed) == counted
    assert ("mutants noticed" in audits.page(audited)) == bool(counted[0])


@pytest.mark.parametrize(
    ("server", "words", "says"),
    [
        ("", (), "nothing is kept of it"),
        ("http://127.0.0.1:1", (), "job-1 is cancelled, and makes no report: start the audit again"),
        ("http://127.0.0.1:1", ("--resume", "job-1"), "job-1 goes on at the server: --resume job-1"),
    ],
)
def test_an_interrupted_audit_says_what_became_of_it(
    asked: dict[str, Any],
    harena: Harena,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    server: str,
    words: tuple[str, ...],
    says: str,
) -> None:
    """By Ctrl-C, which ends a job that this command has begun."""
    monkeypatch.setenv("HARENA_BASE_URL", server)
    asked["meanwhile"] = lambda: signal.raise_signal(signal.SIGINT)
    assert harena("audit", "rows.jsonl", *words) == 130
    assert says in capsys.readouterr().err


@pytest.mark.parametrize(("server", "says"), [("", "nothing is kept of it"), ("http://127.0.0.1:1", "job-1 goes on")])
def test_sigterm_is_told(
    asked: dict[str, Any],
    harena: Harena,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    server: str,
    says: str,
) -> None:
    """A server's job goes on; the handler of before is there again."""
    before = signal.getsignal(signal.SIGTERM)
    monkeypatch.setenv("HARENA_BASE_URL", server)
    asked["meanwhile"] = lambda: signal.raise_signal(signal.SIGTERM)
    assert harena("audit", "rows.jsonl") == 143
    assert says in capsys.readouterr().err
    assert signal.getsignal(signal.SIGTERM) is before


def test_files_are_written(
    asked: dict[str, Any], harena: Harena, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page, the badge, OpenEnv's report and the rows that are fit; none is replaced unless that is allowed."""
    monkeypatch.chdir(tmp_path)
    Path("rows.jsonl").write_text("\n".join(ROWS) + "\n")
    words = ["audit", "rows.jsonl", "--html", "a.html", "--badge", "a.svg", "--openenv", "a.json", "--fix", "a.jsonl"]
    assert harena(*words) == 1
    assert Path("a.jsonl").read_text() == ROWS[1] + "\n"
    assert "an answer passes" in Path("a.html").read_text()
    assert "1/2 fit" in Path("a.svg").read_text()
    assert json.loads(Path("a.json").read_text())["verdict"] == "fail"
    del asked["options"]
    assert harena(*words) == 2
    assert "options" not in asked  # nothing was run
    assert harena(*words, "--overwrite") == 1


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("rows.jsonl", "--fix", "rows.jsonl"), "is an input too"),
        (("rows.yaml", "--fix", "fit.jsonl"), "one to a line"),
        (("rows.jsonl", "--html", "missing/a.html"), "there is no folder"),
    ],
)
def test_what_cannot_be_written_is_said_before_anything_runs(
    asked: dict[str, Any],
    harena: Harena,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
    says: str,
) -> None:
    """With exit code 2."""
    monkeypatch.chdir(tmp_path)
    for name in ("rows.jsonl", "rows.yaml"):
        Path(name).write_text(ROWS[0])
    assert harena("audit", *words) == 2
    assert says in capsys.readouterr().err
    assert "source" not in asked


class MistakenError(ValidationError):
    """A data set with mistakes."""

    mistakes = (
        "rows.jsonl:1: test: missing",
        "rows.jsonl:2: \x1b[2J",
        "rows.jsonl:3: no data format is like this; there are\n      humaneval: prompt, test",
    )


@pytest.mark.parametrize(
    ("error", "code", "says"),
    [
        (MistakenError("no"), 2, "rows.jsonl:1: test: missing\n"),
        (MistakenError("no"), 2, "rows.jsonl:2: \ufffd[2J\n"),
        (MistakenError("no"), 2, "there are\n      humaneval: prompt, test\n"),
        (PlatformError("the job failed", step="audit"), 2, "the job failed"),
        (KeyboardInterrupt(), 130, ""),
    ],
)
def test_errors_end_it(
    asked: dict[str, Any],
    harena: Harena,
    capsys: pytest.CaptureFixture[str],
    error: BaseException,
    code: int,
    says: str,
) -> None:
    """Mistakes are listed, on standard error, without what moves a terminal's cursor."""
    asked["answer"] = error
    assert harena("audit", "rows.jsonl") == code
    assert says in capsys.readouterr().err
