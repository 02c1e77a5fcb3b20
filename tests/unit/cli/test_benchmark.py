"""`harena benchmark`."""

import csv
import io
import json

import pytest
from fake_face import FakeJobs, Harena, results_of, run_row

from harena.core.errors import ValidationError

RUN = ("benchmark", "run", "--name", "n", "--scenarios", "c.yaml")


def test_the_guides_command_line(jobs: FakeJobs, harena: Harena, capsys: pytest.CaptureFixture[str]) -> None:
    """Every option of the guide's example arrives under the request's own name, and the rewards are printed."""
    words = (*RUN, "--blueprint", "env", "--concurrency", "200", "--timeout", "120", "--retry-attempts", "1")
    assert harena(*words) == 0
    assert jobs.calls == [
        (
            "create",
            {
                "name": "n",
                "scenarios": "c.yaml",
                "blueprint_id": "env",
                "config": {"concurrency": 200, "timeout_seconds": 120.0, "retry_attempts": 1, "attempts": 1},
            },
        )
    ]
    said = capsys.readouterr()
    assert "verdicts right: 2/2" in said.out
    assert "passed 2 of 2 scored (100.0%), mean score 1.000" in said.out
    assert "n: 2/2  1.0/s  passed 2/2 (100%)" in said.err


def test_more_options(jobs: FakeJobs, harena: Harena) -> None:
    """Attempts and trust are passed on only as they are asked for."""
    assert harena(*RUN, "--attempts", "4", "--require-trust", "separate") == 0
    config = jobs.calls[0][1]["config"]
    assert (config["attempts"], config["require_trust"]) == (4, "separate")
    assert harena(*RUN, "--rescore-fraction", "0.25") == 0
    assert jobs.calls[1][1]["config"]["rescore_fraction"] == 0.25


def test_cheats_and_second_scores_are_told_by_both_denominators(
    jobs: FakeJobs, harena: Harena, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where there are any; an ordinary job has no such line."""
    harena(*RUN)
    assert "hack rate" not in capsys.readouterr().out
    jobs.answer["summary"].update(
        suspect=1, hack_rate=0.5, hack_rate_of_all=0.25, honeypots={"runs": 3, "scored": 2, "passed": 1},
        rescored={"runs": 4, "scored": 3, "disagreed": 1, "disagreement_rate": 1 / 3, "disagreement_rate_of_all": 0.25},
    )  # fmt: skip
    harena(*RUN)
    said = capsys.readouterr().out
    assert "hack rate 50.0% of scored, 25.0% of all, 1 of 2 scored honeypots passed" in said
    assert "scored again: 3 of 4; 1 disagree (33.3% of scored, 25.0% of all)" in said


def test_a_data_set_its_answers_and_its_format(
    jobs: FakeJobs, harena: Harena, capsys: pytest.CaptureFixture[str]
) -> None:
    """--format is the data set's and the results', told apart by their names."""
    words = ("--candidates", "samples.jsonl", "--format", "humaneval", "--format", "json", "--grader", "g.json")
    assert harena(*RUN, *words) == 0
    asked = jobs.calls[0][1]
    assert (asked["candidates"], asked["format"], asked["grader"]) == ("samples.jsonl", "humaneval", "g.json")
    assert json.loads(capsys.readouterr().out)["summary"]["total"] == 2
    assert harena(*RUN, "--candidates", "nop") == 0
    assert jobs.calls[1][1]["candidates"] == "nop"
    assert "format" not in jobs.calls[1][1]


@pytest.mark.parametrize(
    ("path", "name"), [("a/HumanEval.jsonl.gz", "HumanEval"), ("tasks", "tasks"), (".x", "benchmark")]
)
def test_a_job_without_a_name_has_that_of_its_scenarios(jobs: FakeJobs, harena: Harena, path: str, name: str) -> None:
    """Without its endings."""
    assert harena("benchmark", "run", "--scenarios", path) == 0
    assert jobs.calls[0][1]["name"] == name


@pytest.mark.parametrize("words", [("json", "csv"), ("mbpp", "apps")])
def test_two_formats_of_one_kind_are_refused(
    jobs: FakeJobs, harena: Harena, capsys: pytest.CaptureFixture[str], words: tuple[str, str]
) -> None:
    """Before anything runs."""
    assert harena(*RUN, "--format", words[0], "--format", words[1]) == 2
    assert f"{words[0]} and {words[1]} are two of a kind" in " ".join(capsys.readouterr().err.split()).replace("│ ", "")
    assert jobs.calls == []


def test_rewards_are_one_row_for_each_problem(
    jobs: FakeJobs, harena: Harena, capsys: pytest.CaptureFixture[str]
) -> None:
    """Candidates, passed and the mean score, without the runs that the platform lost."""
    jobs.answer = results_of(run_row("a/1", 1.0), run_row("a/2", 0.5), run_row("a/3", None), run_row("b/1", 0.0))
    harena(*RUN)
    rows = [line.replace("│", " ").split() for line in capsys.readouterr().out.splitlines()]
    assert ["a", "3", "1", "0.750", "1", "0.500"] in rows
    assert ["b", "1", "0", "0.000", "0", "0.500"] in rows


def test_a_wrong_verdict_is_said_and_exits_3(
    jobs: FakeJobs, harena: Harena, capsys: pytest.CaptureFixture[str]
) -> None:
    """The run, what it got and what was known are named."""
    jobs.answer = results_of(run_row("a/1", 1.0), run_row("a/2", 0.0, reason="timeout"))
    assert harena(*RUN) == 3
    said = capsys.readouterr()
    assert "verdicts right: 1/2" in said.out
    assert "a/2 (attempt 1): failed (timeout), expected passed (passed)" in said.err


def test_ctrl_c_cancels_and_keeps_results(jobs: FakeJobs, harena: Harena, capsys: pytest.CaptureFixture[str]) -> None:
    """The job is cancelled, what it had is printed, and the exit code is 130."""
    jobs.interrupt = True
    assert harena(*RUN) == 130
    assert ("cancel", "job_1") in jobs.calls
    said = capsys.readouterr()
    assert "cancelled" in said.out
    assert "what has finished is kept" in said.err


def test_a_job_that_failed_exits_2(jobs: FakeJobs, harena: Harena, capsys: pytest.CaptureFixture[str]) -> None:
    """The job's own error is shown."""
    jobs.answer = results_of(state="failed", error="set kernel.unprivileged_userns_clone=1")
    assert harena(*RUN) == 2
    assert "it is failed: set kernel.unprivileged_userns_clone=1" in capsys.readouterr().err


def test_a_refused_request_is_one_message(jobs: FakeJobs, harena: Harena, capsys: pytest.CaptureFixture[str]) -> None:
    """No traceback: the mistakes, and exit code 2."""
    jobs.refuse = ValidationError("2 mistakes in the scenarios; nothing was run:\n  c.yaml:3: id: missing")
    assert harena(*RUN) == 2
    said = capsys.readouterr()
    assert said.err.startswith("harena: 2 mistakes in the scenarios")
    assert "Traceback" not in said.err
    assert said.out == ""


def test_formats(jobs: FakeJobs, harena: Harena, capsys: pytest.CaptureFixture[str]) -> None:
    """JSON, JSON lines and CSV hold the same runs, and nothing else is on stdout."""
    scores = [run["score"] for run in jobs.answer["runs"]]
    results = ("benchmark", "results", "--job", "n", "--format")
    assert harena(*results, "json") == 0
    assert json.loads(capsys.readouterr().out) == jobs.answer
    assert harena(*results, "jsonl") == 0
    assert [json.loads(line)["score"] for line in capsys.readouterr().out.splitlines()] == scores
    assert harena(*results, "csv") == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [(row["scenario_id"], float(row["score"])) for row in rows] == [("a/right", 1.0), ("a/other", 1.0)]
    assert harena(*RUN, "--format", "json") == 0
    said = capsys.readouterr()
    assert json.loads(said.out) == jobs.answer
    assert "verdicts right: 2/2" in said.err


def test_show_runs_puts_what_matters_first(jobs: FakeJobs, harena: Harena, capsys: pytest.CaptureFixture[str]) -> None:
    """A wrong verdict is shown before the slowest run."""
    jobs.answer = results_of(
        run_row("a/slow", 1.0, duration_seconds=9.0), run_row("a/wrong", 0.0, detail="[odd] 1 != 2")
    )
    harena("benchmark", "results", "--job", "n", "--show-runs", "1")
    said = capsys.readouterr().out
    assert "a/wrong" in said
    assert "[odd] 1 != 2" in said
    assert "a/slow" not in said


def test_unknown_job(jobs: FakeJobs, harena: Harena, capsys: pytest.CaptureFixture[str]) -> None:
    """What the sdk raises is said in one line."""
    assert harena("benchmark", "results", "--job", "missing") == 2
    assert capsys.readouterr().err == "harena: no benchmark job has the id or name 'missing'\n"


def test_ls_get_cancel(jobs: FakeJobs, harena: Harena, capsys: pytest.CaptureFixture[str]) -> None:
    """Jobs are listed, looked at and ended."""
    assert harena("benchmark", "ls") == 0
    assert "job_1 │ n    │ completed │ 2030-01-02T03:04:05 │ 2/2" in capsys.readouterr().out
    assert harena("benchmark", "get", "n") == 0
    assert json.loads(capsys.readouterr().out)["progress"]["passed"] == 1
    assert harena("benchmark", "cancel", "n") == 0
    assert capsys.readouterr().out == "job_1 (n): cancelled; 2 of 2 runs had ended\n"


def test_ls_tells_a_broken_contract_from_a_failed_platform(
    jobs: FakeJobs, harena: Harena, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Both are without a score; they are counted apart."""
    jobs.answer["summary"].update(infra=1, invalid=2, cancelled=1)
    job = jobs.job().to_dict()
    job["progress"]["infra"] = 3
    monkeypatch.setattr(jobs, "list", lambda: [type(jobs.job())(job)])
    assert harena("benchmark", "ls") == 0
    shown = capsys.readouterr().out
    assert "infra ┃ invalid" in shown
    assert [cell.strip() for cell in shown.splitlines()[-2].split("│")][-3:-1] == ["1", "2"]
    assert harena("benchmark", "results", "--job", "n") == 0
    assert "1 of 2 runs in" in capsys.readouterr().out  # one of the two was cancelled
