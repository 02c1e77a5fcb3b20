"""Audits on running sandboxes: every planted fault is found, and no sound problem is accused."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from planted_problems import FLAKY, PLANTED, SOUND

import harena
from harena.core.records.audits import AuditedProblem
from harena.scoring import battery
from harena.scoring.battery import BATTERY

pytestmark = pytest.mark.usefixtures("home", "few_forgeries")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """One node for all of them, in a home of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HARENA_HOME", str(tmp_path_factory.mktemp("home")))
        yield
        harena.shutdown()


FEW = ("exit-at-import", "words-of-success", "reward-files", "equals-everything", "json-verdict-as-last-line")


@pytest.fixture
def few_forgeries(monkeypatch: pytest.MonkeyPatch) -> None:
    """The whole battery has a test of its own."""
    chosen = tuple(forgery for forgery in BATTERY if forgery.name in FEW)
    monkeypatch.setattr(battery, "BATTERY", chosen)


def audited(rows: Sequence[dict[str, Any]], gold_runs: int = 2) -> dict[str, AuditedProblem]:
    """Problem -> what its audit says."""
    report = harena.audit({"scenarios": list(rows)}, gold_runs=gold_runs, timeout_seconds=2, blueprint_id="python-warm")
    assert len(report.problems) == report.fit_problems + sum(not problem.fit for problem in report.problems)
    return {problem.problem: problem for problem in report.problems}


def test_every_planted_fault_is_found() -> None:
    """By its kind, in its problem."""
    assert len(PLANTED) + len(FLAKY) >= 25
    found = audited([row for _, rows in PLANTED.values() for row in rows])
    missed = {
        fault: (kind, found[rows[-1]["problem"]["id"]].findings)
        for fault, (kind, rows) in PLANTED.items()
        if kind not in [finding.kind for finding in found[rows[-1]["problem"]["id"]].findings]
    }
    assert missed == {}
    told = {name: said.says for name in ("unique", "vowels_in") for said in found[name].findings}
    assert ("call of set" in told["unique"], "call of lower" in told["vowels_in"]) == (True, True)
    assert (found["joined"].verdict, found["biggest_of"].verdict) == ("unproven", "fit")


def test_no_sound_problem_is_accused() -> None:
    """They have notes at most."""
    found = audited(SOUND)
    assert len(found) >= 25
    accused = {name: problem.findings for name, problem in found.items() if problem.severity in ("error", "warning")}
    assert accused == {}


def test_right_answers_that_pass_now_and_then_are_flaky() -> None:
    """So many runs miss it once in eight million audits."""
    found = audited([row for rows in FLAKY.values() for row in rows], gold_runs=24)
    assert [name for name, problem in found.items() if "flaky" not in [said.kind for said in problem.findings]] == []


def test_a_data_set_is_audited_from_its_file_to_the_rows_that_are_fit(tmp_path: Path) -> None:
    """Rows of HumanEval: tests that never call the candidate, that catch what they raise, that a look-up passes, and
    sound ones."""
    rows = [
        _humaneval("asks-nothing", "assert 1 + 1 == 2"),
        _humaneval("hides-failures", "try:\n        assert candidate(3) == 7\n    except BaseException:\n        pass"),
        _humaneval("shows-all", "assert candidate(3) == 7\n    assert candidate(0) == 1"),
        _humaneval("sound", "for n in (3, 0, -4, 12):\n        assert candidate(n) == n + n + 1"),
    ]
    file, fit = tmp_path / "rows.jsonl", tmp_path / "fit.jsonl"
    file.write_text("".join(row + "\n" for row in rows))
    jobs: list[str] = []
    events: list[Any] = []
    report = harena.audit(file, gold_runs=2, timeout_seconds=2, started=jobs.append, follow=events.extend)
    assert report.data_set == "rows.jsonl"
    assert [report.job_id] == jobs
    assert harena.benchmark_jobs.get(jobs[0])["name"] == "audit of rows.jsonl"
    assert events[-1].kind == "job_ended"
    errors = {one.problem: [said.kind for said in one.findings if said.severity == "error"] for one in report.problems}
    assert errors == {
        "asks-nothing": ["never_called"],
        "hides-failures": ["stub", "blind_tests"],
        "shows-all": ["look_up"],
        "sound": [],
    }
    assert report.problems[-1].problem == "sound"
    assert harena.audits.write_fit_rows(report, file, fit) == 1
    assert fit.read_text() == rows[3] + "\n"
    again = harena.audit(file, resume=report.job_id)
    assert again == report


def test_a_cancelled_audit_is_not_gone_on_with() -> None:
    """It is said what to do, and its progress is not shown again."""
    begun = harena.calibrations.create({"scenarios": SOUND[:1]}, name="audit of it")
    harena.benchmark_jobs.cancel(begun.id)
    harena.calibrations.wait(begun)
    events: list[Any] = []
    with pytest.raises(harena.PlatformError, match=r"is cancelled.*nothing goes on with it: start another one"):
        harena.audit({"scenarios": SOUND[:1]}, resume=begun.id, follow=events.extend)
    assert events == []


def _humaneval(name: str, test: str) -> str:
    prompt = 'def odd(x):\n    """Twice a number and one.\n\n    >>> odd(3)\n    7\n    >>> odd(0)\n    1\n    """\n'
    return json.dumps(
        {
            "task_id": name,
            "prompt": prompt,
            "canonical_solution": "    return 2 * x + 1\n",
            "test": f"def check(candidate):\n    {test}\n",
            "entry_point": "odd",
        }
    )
