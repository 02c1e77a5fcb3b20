"""`harena benchmark`."""

import csv
import inspect
import io
import json
from pathlib import Path

import pytest
from fake_face import FakeJobs, Harena, results_of, run_row

from fake_answers import filled
from harena.cli.job_options import job_request
from harena.core.errors import ValidationError
from harena.core.records.benchmark_jobs import BenchmarkResults
from harena.jobs.models import JobConfig

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
                "config": {"concurrency": 200, "timeout_seconds": 120.0, "retry_attempts": 1},
            },
        ),
        ("events", "job_1", 0),
    ]
    said = capsys.readouterr()
    assert "verdicts right: 2/2" in said.out
    assert "passed 2 of 2 scored (100.0%), mean score 1.000" in said.out
    assert "n: 2/2  1.0/s  passed 2/2 scored (100.0%)" in said.err


def test_options_are_passed_on_only_as_they_are_asked_for(jobs: FakeJobs, harena: Harena) -> None:
    """Whatever is not said has the job's own default."""
    assert harena(*RUN) == 0
    assert jobs.calls[0][1]["config"] == {}
    assert harena(*RUN, "--attempts", "4", "--require-trust", "separate", "--retry-on", "timeout", "exception") == 0
    assert jobs.calls[2][1]["config"] == {
        "attempts": 4,
        "require_trust": "separate",
        "retry_on": ["platform", "timeout", "exception"],
    }


def test_what_was_chosen_is_told(harena: Harena, jobs: FakeJobs, capsys: pytest.CaptureFixture[str]) -> None:
    """Rows that are left out, and the blueprint where none was asked for."""
    jobs.chosen = {"blueprint": "python-warm", "left_out": {"rows": 2, "told": ["c.yaml:3: id: is required"]}}
    assert harena(*RUN, "--skip-bad-rows") == 0
    assert jobs.calls[0][1]["config"] == {"skip_bad_rows": True}
    said = capsys.readouterr().err
    assert "left out: c.yaml:3: id: is required\nleft out: ... and 1 more\n2 rows with a mistake are left out\n" in said
    assert "blueprint python-warm: " in said
    assert harena(*RUN, "--blueprint", "python-warm") == 0
    assert "blueprint python-warm: " not in capsys.readouterr().err


def test_every_key_of_a_jobs_config_has_its_option() -> None:
    """One place for all commands; and the defaults that the help tells are the job's."""
    asked = inspect.signature(job_request, eval_str=True).parameters
    words = {"scenarios": Path("x"), "retry_on": ["timeout"]}
    given = {name: words.get(name, 1) for name in asked if name not in ("name", "grader", "candidates")}
    assert set(job_request(**given)["config"]) == set(JobConfig.model_fields)
    for name, parameter in asked.items():
        help_text = parameter.annotation.__metadata__[0].help
        if "[default: " in help_text:
            field = {"timeout": "timeout_seconds"}.get(name, name)
            assert f"[default: {JobConfig.model_fields[field].default}]" in help_text


def test_submit_prints_the_id_of_a_servers_job(
    jobs: FakeJobs, harena: Harena, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the same options as run; nobody waits for it."""
    monkeypatch.setenv("HARENA_BASE_URL", "http://127.0.0.1:1")
    words = ("--name", "n", "--scenarios", "c.jsonl", "--priority", "5", "--format", "humaneval")
    assert harena("benchmark", "submit", *words) == 0
    assert capsys.readouterr().out == "job_1\n"
    assert [call[0] for call in jobs.calls] == ["create"]
    assert (jobs.calls[0][1]["config"], jobs.calls[0][1]["format"]) == ({"priority": 5}, "humaneval")


def test_run_on_a_server_says_which_job_it_is(
    jobs: FakeJobs, harena: Harena, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its id is what to come back with, if the connection is lost for good."""
    monkeypatch.setenv("HARENA_BASE_URL", "http://127.0.0.1:1")
    assert harena(*RUN) == 0
    assert capsys.readouterr().err.startswith("n: job_1\n")


def test_submit_without_a_server_says_what_to_do(
    jobs: FakeJobs, harena: Harena, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its job would end with this process."""
    monkeypatch.delenv("HARENA_BASE_URL", raising=False)
    assert harena("benchmark", "submit", "--scenarios", "c.yaml") == 2
    said = capsys.readouterr().err
    assert "harena benchmark run" in said
    assert "HARENA_BASE_URL" in said
    assert jobs.calls == []


def test_watch_follows_from_the_first_event_or_from_now(
    jobs: FakeJobs, harena: Harena, capsys: pytest.CaptureFixture[str]
) -> None:
    """And ends with what the job came to; its exit code tells whether it completed."""
    assert harena("benchmark", "watch", "n") == 0
    said = capsys.readouterr()
    assert "n: 2/2" in said.err
    assert "passed 2 of 2 scored (100.0%)" in said.out
    assert harena("benchmark", "watch", "n", "--from-now") == 0
    assert [call for call in jobs.calls if call[0] == "events"] == [("events", "job_1", 0), ("events", "job_1", 3)]
    jobs.answer["state"] = "failed"
    assert harena("benchmark", "watch", "n") == 2


def test_watch_that_is_interrupted_leaves_the_job_alone(
    jobs: FakeJobs, harena: Harena, capsys: pytest.CaptureFixture[str]
) -> None:
    """And says how to come back."""
    jobs.interrupt = True
    assert harena("benchmark", "watch", "n") == 130
    assert "harena benchmark watch job_1" in capsys.readouterr().err
    assert "cancel" not in [call[0] for call in jobs.calls]


def test_delete(jobs: FakeJobs, harena: Harena, capsys: pytest.CaptureFixture[str]) -> None:
    """Several at once; each is said when it is done."""
    assert harena("benchmark", "delete", "job_1", "job_2") == 0
    assert jobs.calls == [("delete", "job_1"), ("delete", "job_2")]
    assert capsys.readouterr().out == "job_1: deleted\njob_2: deleted\n"


def test_results_into_a_file(jobs: FakeJobs, harena: Harena, capsys: pytest.CaptureFixture[str]) -> None:
    """By its ending or by the format; run can write one too; what is binary does not go to a terminal."""
    assert harena("benchmark", "results", "n", "--output", "r.parquet") == 0
    assert harena("benchmark", "results", "--job", "n", "--output", "r", "--format", "csv") == 0
    assert harena(*RUN, "--output", "r.jsonl") == 0
    assert [call[1:] for call in jobs.calls if call[0] == "save_results"] == [
        ("n", Path("r.parquet"), None),
        ("n", Path("r"), "csv"),
        ("job_1", Path("r.jsonl"), None),
    ]
    assert harena("benchmark", "results", "n", "--format", "parquet") == 2
    assert "--output FILE" in capsys.readouterr().err
    assert harena("benchmark", "results") == 2
    assert harena("benchmark", "results", "n", "--job", "n") == 2


def test_diff_shows_what_changed(jobs: FakeJobs, harena: Harena, capsys: pytest.CaptureFixture[str]) -> None:
    """What fails now comes first; lost runs are no change; statistics and warnings are below."""
    before = [
        run_row("a/1", 1.0, problem="p1"),
        run_row("a/2", 0.0, reason="timeout", problem="p2"),
        run_row("a/3", 1.0, problem="p3"),
        run_row("a/4", 1.0, problem="p4"),
    ]
    after = [
        *(run_row("a/1", 0.0, reason="wrong_answer", problem="p1"), run_row("a/2", 1.0, problem="p2")),
        *(
            run_row("a/3", None, reason="platform_error", problem="p3"),
            run_row("a/4", 1.0, scorer_version="tests/2", problem="p4"),
        ),
    ]
    jobs.compared = (before, after)
    assert harena("benchmark", "diff", "old", "new") == 0
    said = capsys.readouterr().out
    assert said.index("newly failing │ 1.000 (passed)") < said.index("newly passing │ 0.000 (timeout)")
    assert "3 scenarios are scored in both; 1 newly failing, 1 newly passing, 1 unscored; 1 unchanged" in said
    assert "pass rate 66.7% -> 66.7%: +0.0 points (95% interval" in said
    assert "over 3 problems (1 scored answer to each, in each job): no more than chance may do (McNemar's " in said
    assert "McNemar's exact p = 1)" in said
    assert "Agresti and Min" in said
    assert "warning: scorer_version differs in 1 scenarios (a/4)" in said
    assert harena("benchmark", "diff", "old", "new", "--format", "json", "--fail-on", "regression") == 1
    said_apart = capsys.readouterr()
    assert json.loads(said_apart.out)["changes"]["newly_failing"] == 1
    assert said_apart.err == "harena: --fail-on regression: b is worse than a\n"
    assert harena("benchmark", "diff", "old", "new", "--fail-on", "significant") == 0
    assert capsys.readouterr().err == ""


def test_diff_of_jobs_with_several_attempts(jobs: FakeJobs, harena: Harena, capsys: pytest.CaptureFixture[str]) -> None:
    """It says what rates, intervals and the test are over, and which test it is."""
    passed = ([0, 2, 0, 2, 0, 1, 3, 2], [1, 3, 0, 3, 1, 2, 3, 2])
    jobs.compared = tuple(  # type: ignore[assignment]
        [run_row(f"p{n}", float(k < count), attempt=k) for n, count in enumerate(side) for k in range(4)]
        for side in passed
    )
    assert harena("benchmark", "diff", "old", "new") == 0
    said = capsys.readouterr().out
    assert "8 scenarios are scored in both, by the majority of their attempts; 2 newly passing, 3 score;" in said
    assert (
        "over 8 problems (4 scored answers to each, in each job): no more than chance may do (sign-flip test of their "
        "pass rates, exact: p = 0.062)"
    ) in said
    assert "McNemar" not in said


def test_diff_of_jobs_with_nothing_in_common(
    jobs: FakeJobs, harena: Harena, capsys: pytest.CaptureFixture[str]
) -> None:
    """No list of everything; scenarios that are in one job only are listed where others are compared."""
    jobs.compared = ([run_row("a/1", 1.0), run_row("a/2", 1.0)], [run_row("b/1", 1.0)])
    assert harena("benchmark", "diff", "x", "y") == 0
    said = capsys.readouterr().out
    assert "a/1 " not in said
    assert "0 scenarios are scored in both; 2 only in a, 1 only in b" in said
    jobs.compared = ([run_row("a/1", 1.0), run_row("a/2", 1.0)], [run_row("a/1", 1.0)])
    assert harena("benchmark", "diff", "x", "y") == 0
    assert "a/2 " in capsys.readouterr().out


def test_diff_of_equal_jobs(jobs: FakeJobs, harena: Harena, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing to fail on."""
    jobs.compared = ([run_row("a/1", 1.0)], [run_row("a/1", 1.0)])
    assert harena("benchmark", "diff", "x", "y", "--fail-on", "regression") == 0
    assert "nothing changed" in capsys.readouterr().out


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
    assert jobs.calls[2][1]["candidates"] == "nop"
    assert "format" not in jobs.calls[2][1]


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


def test_runs_without_a_score_are_told_apart(
    jobs: FakeJobs, harena: Harena, capsys: pytest.CaptureFixture[str]
) -> None:
    """Beside right ones they are a note and exit code 0; alone they show nothing, and are no success."""
    lost = {**run_row("a/2", None, reason="starved"), "verdict_right": None}
    jobs.answer = results_of(run_row("a/1", 1.0), lost)
    assert harena(*RUN) == 0
    said = capsys.readouterr()
    assert "verdicts right: 1/2; no score: 1" in said.out
    assert "are neither right nor wrong" in said.err
    jobs.answer = results_of(lost)
    assert harena(*RUN) == 3
    said = capsys.readouterr()
    assert "verdicts right: 0/1; no score: 1" in said.out
    assert "none of the 1 runs whose verdict is known has a score" in said.err
    jobs.answer["summary"]["verdicts"] = None  # as where a judge is down
    assert harena(*RUN) == 3
    assert "no run has a score: nothing was judged" in capsys.readouterr().err


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
    """JSON, JSON lines and CSV hold the same runs, in the order of the scenarios, and nothing else is on stdout."""
    whole = filled(BenchmarkResults, jobs.answer).to_dict()
    runs = whole["runs"]
    results = ("benchmark", "results", "--job", "n", "--format")
    assert harena(*results, "json") == 0
    assert json.loads(capsys.readouterr().out) == whole
    assert harena(*results, "jsonl") == 0
    assert [json.loads(line) for line in capsys.readouterr().out.splitlines()] == runs
    assert harena(*results, "csv") == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [(row["scenario_id"], float(row["score"])) for row in rows] == [("a/right", 1.0), ("a/other", 1.0)]
    assert harena(*RUN, "--format", "json") == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["job_id"] == "job_1"
    assert "verdicts right: 2/2" in said.err


def test_a_run_command_prints_runs_in_the_order_of_the_scenarios(
    jobs: FakeJobs, harena: Harena, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whichever ended first; also where one has not ended at all."""
    names = [f"a/{letter}" for letter in "abcdefg"]
    jobs.answer = results_of(*(run_row(name, 1.0) for name in names))
    for form in ("jsonl", "json", "csv"):
        assert harena(*RUN, "--format", form) == 0
        said = capsys.readouterr().out
        places = [said.index(name) for name in names]
        assert places == sorted(places)
    del jobs.answer["runs"][2]
    assert harena(*RUN, "--format", "jsonl") == 0
    told = [json.loads(line)["scenario_id"] for line in capsys.readouterr().out.splitlines()]
    assert told == [name for name in names if name != "a/c"]


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


def test_what_candidates_say_cannot_command_the_terminal(
    jobs: FakeJobs, harena: Harena, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tables and sentences show a replacement character; JSON escapes, and keeps all of it."""
    jobs.answer = results_of(run_row("a/\x1b[31mred", 0.0, detail="\x1b]0;owned\x07\ud800"), error="\x1b[2J")
    jobs.compared = (jobs.answer["runs"], [])
    assert harena("benchmark", "results", "n", "--show-runs", "1") == 0
    assert harena(*RUN) == 3
    assert harena("benchmark", "diff", "a", "b") == 0
    said = capsys.readouterr()
    assert "owned" in said.out
    assert "\x1b" not in said.out + said.err
    assert harena("benchmark", "results", "n", "--format", "json") == 0
    assert json.loads(capsys.readouterr().out)["runs"][0]["detail"] == "\x1b]0;owned\x07\ud800"


def test_unknown_job(jobs: FakeJobs, harena: Harena, capsys: pytest.CaptureFixture[str]) -> None:
    """What the sdk raises is said in one line."""
    assert harena("benchmark", "results", "--job", "missing") == 2
    assert capsys.readouterr().err == "harena: no benchmark job has the id or name 'missing'\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("benchmark", "ls", "--state", "runing"), "'runing' is none of queued, running"),
        ((*RUN, "--format", "jsonn"), "did you mean json? Results are printed as table, json, jsonl, csv"),
        ((*RUN, "--format", "parquet"), "give --output FILE.parquet"),
    ],
)
def test_words_that_are_none(
    jobs: FakeJobs, harena: Harena, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], said: str
) -> None:
    """What there is is said; nothing is listed or run."""
    assert harena(*words) == 2
    assert said in capsys.readouterr().err
    assert jobs.calls == []


def test_ls_get_cancel(jobs: FakeJobs, harena: Harena, capsys: pytest.CaptureFixture[str]) -> None:
    """Jobs are listed, looked at and ended."""
    assert harena("benchmark", "ls") == 0
    assert "job_1 │ n    │ completed │ 2030-01-02T03:04:05 │ 2/2" in capsys.readouterr().out
    assert harena("benchmark", "get", "n") == 0
    assert json.loads(capsys.readouterr().out)["progress"]["passed"] == 1
    assert harena("benchmark", "ls", "--format", "jsonl") == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert json.loads(line)["progress"]["passed"] == 1
    assert harena("benchmark", "ls", "--format", "csv") == 0
    (row,) = csv.DictReader(io.StringIO(capsys.readouterr().out))
    assert (row["id"], row["state"], row["progress.passed"]) == ("job_1", "completed", "1")
    assert harena("benchmark", "ls", "--format", "parquet") == 2
    assert harena("benchmark", "diff", "a", "b", "--format", "csv") == 2
    assert "'csv' is not one of 'table', 'json'" in capsys.readouterr().err.replace("\n", " ")
    assert harena("benchmark", "cancel", "n") == 0
    assert capsys.readouterr().out == "job_1 (n): cancelled; 2 of 2 runs had ended\n"


def test_ls_can_be_narrowed(jobs: FakeJobs, harena: Harena, capsys: pytest.CaptureFixture[str]) -> None:
    """By name, by state, by number; without a word only the newest hundred are asked for."""
    assert harena("benchmark", "ls", "--name", "n", "--format", "json") == 0
    assert len(json.loads(capsys.readouterr().out)) == 1
    assert harena("benchmark", "ls", "--state", "running", "--format", "json") == 0
    assert json.loads(capsys.readouterr().out) == []
    assert jobs.calls == [("list", {"name": "n", "limit": 100}), ("list", {"name": None, "limit": None})]


def test_ls_tells_a_broken_contract_from_a_failed_platform(
    jobs: FakeJobs, harena: Harena, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Both are without a score; they are counted apart."""
    monkeypatch.setenv("COLUMNS", "200")
    jobs.answer["summary"].update(infra=1, invalid=2, cancelled=1)
    job = jobs.job().to_dict()
    job["progress"].update(infra=1, invalid=2)
    monkeypatch.setattr(jobs, "list", lambda **_: [type(jobs.job())(job)])
    assert harena("benchmark", "ls") == 0
    shown = capsys.readouterr().out
    assert "infra ┃ invalid" in shown
    assert [cell.strip() for cell in shown.splitlines()[-2].split("│")][-3:-1] == ["1", "2"]
    assert harena("benchmark", "results", "--job", "n") == 0
    assert "1 of 2 runs in" in capsys.readouterr().out  # one of the two was cancelled


@pytest.mark.parametrize("form", ["table", "json", "jsonl", "csv"])
def test_a_job_that_is_not_there_prints_no_begin_of_results(
    jobs: FakeJobs, harena: Harena, capsys: pytest.CaptureFixture[str], form: str
) -> None:
    """Whoever reads standard output reads nothing, and not a header without rows."""
    assert harena("benchmark", "results", "missing", "--format", form) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert "no benchmark job has the id or name 'missing'" in said.err
