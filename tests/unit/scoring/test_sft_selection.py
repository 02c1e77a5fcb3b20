"""A whole batch: what is checked before anything runs, what is written, and what is reported."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from sft_candidates import a_rule, run, scenario

from harena.core.errors import ValidationError
from harena.scoring.scenario import Scenario, ScenarioBatch
from harena.scoring.verified_data.lineage import compared
from harena.scoring.verified_data.selection import Selection

GOOD, WRONG = "def f(x): return x\n", "def f(x): return 2\n"
BATCH = [
    scenario("p/1", GOOD, problem="p"),
    scenario("p/2", WRONG, problem="p"),
    scenario("q/1", WRONG, problem="q"),
    scenario("p/3", f"# again\n{GOOD}", problem="p"),
    scenario("r/1", GOOD, problem="r"),
]
SCORES = [1.0, 0.0, 0.25, 1.0, None]


def selected(batch: list[Scenario], runs: list[dict[str, Any]], *, attempts: int = 1, **fields: Any) -> Selection:
    """A finished one."""
    selection = Selection(ScenarioBatch(tuple(batch)), a_rule(**fields))
    for each in runs:
        selection.add(each)
    selection.finish(attempts=attempts)
    return selection


def runs_of(batch: list[Scenario], scores: list[float | None]) -> list[dict[str, Any]]:
    """One for each, in another order than that of the batch: runs end when they end."""
    return [run(of, score) for of, score in zip(batch, scores, strict=True)][::-1]


def written(selection: Selection) -> tuple[list[Any], list[Any]]:
    """(rows, lineage) as they are read again."""
    lines = list(selection.lines(job_id="job_1", harena_version="9"))
    assert compared([row for row, _ in lines], [origin for _, origin in lines])["ok"]
    return [json.loads(row) for row, _ in lines], [json.loads(origin) for _, origin in lines]


def test_what_passed_is_written_with_where_it_comes_from() -> None:
    """Problem by problem, in the order of the batch."""
    rows, lineage = written(selected(BATCH, runs_of(BATCH, SCORES), form="prompt-completion"))
    assert rows == [
        {"prompt": "Solve p.", "completion": GOOD},
        {"prompt": "Solve p.", "completion": f"# again\n{GOOD}"},
    ]
    first = lineage[0]
    assert {name: first[name] for name in first if name != "sha256"} == {
        "line": 1,
        "problem": "p",
        "scenario": "p/1",
        "scenario_digest": BATCH[0].digest,
        "candidate_digest": BATCH[0].candidate.digest,
        "score": 1.0,
        "trust": "separate",
        "scorer_version": "tests/1",
        "evidence": ["evidence-p/1-1"],
        "job_id": "job_1",
        "rule": {"form": "prompt-completion", "keep": "all", "dedupe": "exact", "completion": "original"},
        "harena_version": "9",
    }
    assert lineage[1]["scenario"] == "p/3"


def test_pairs_have_the_lineage_of_both() -> None:
    """The worse one's under `rejected`."""
    rows, (origin,) = written(selected(BATCH, runs_of(BATCH, SCORES), form="preference"))
    assert rows == [{"prompt": "Solve p.", "chosen": GOOD, "rejected": WRONG}]
    assert (origin["scenario"], origin["rejected"]["scenario"], origin["rejected"]["score"]) == ("p/1", "p/2", 0.0)


def test_the_report_says_what_became_of_each_candidate() -> None:
    """Both denominators, and counts that add up."""
    selection = selected(BATCH, runs_of(BATCH, SCORES), dedupe="normalized")
    report = selection.report()
    totals = report["totals"]
    assert [row["problem"] for row in report["problems"]] == ["p", "q", "r"]
    assert report["problems_without_pass"] == ["q", "r"]
    assert {name: totals[name] for name in ("problems", "problems_with_rows", "candidates", "scored", "valid")} == {
        "problems": 3, "problems_with_rows": 1, "candidates": 5, "scored": 4, "valid": 4,
    }  # fmt: skip
    assert (totals["pass_rate"], totals["pass_rate_of_all"]) == (2 / 4, 2 / 5)
    assert (totals["passed"], totals["kept"], totals["duplicates"], totals["rows"]) == (2, 1, 1, 1)
    assert totals["infra"] == 1
    standings = ("passed", "failed", "flaky", "suspect", "honeypot", "invalid", "infra", "not_run")
    for row in [*report["problems"], totals]:
        assert sum(row[name] for name in standings) == row["candidates"]
        assert row["passed"] == row["kept"] + row["duplicates"] + row["beyond_limit"] + row["unwritable"]
    assert json.loads(json.dumps(report)) == report


def test_nothing_that_ran_is_no_rate() -> None:
    """None, not 0; and no rows."""
    selection = selected(BATCH, [])
    assert written(selection) == ([], [])
    totals = selection.report()["totals"]
    assert (totals["pass_rate"], totals["pass_rate_of_all"], totals["not_run"]) == (None, 0.0, 5)


def test_answers_that_are_no_one_text_are_counted() -> None:
    """They passed, and nobody can learn from them."""
    several = scenario("p/1", {"files": {"solution.py": GOOD, "b.py": ""}})  # type: ignore[arg-type]
    selection = selected([several], [run(several)])
    assert written(selection) == ([], [])
    assert (selection.report()["totals"]["passed"], selection.report()["totals"]["unwritable"]) == (1, 1)


def test_a_honeypot_needs_no_prompt_and_gives_no_rows() -> None:
    """Its fails are no wrong answers."""
    pot = scenario("pot", WRONG, problem="p", honeypot=True, of_problem={"statement": ""})
    batch = [scenario("p/1", GOOD, problem="p"), pot]
    selection = selected(batch, [run(batch[0]), run(pot, 0.0)], form="preference")
    assert written(selection) == ([], [])
    assert selection.report()["totals"]["honeypot"] == 1


def test_several_attempts_are_in_the_lineage() -> None:
    """Each with its evidence."""
    (only,) = [scenario("a")]
    selection = selected([only], [run(only, attempt=2), run(only)], attempts=2)
    assert written(selection)[1][0]["evidence"] == ["evidence-a-1", "evidence-a-2"]


def test_every_scenario_without_a_prompt_is_named() -> None:
    """The first of them in full."""
    bare = [scenario(f"s{number}", problem=f"p{number}", of_problem={"statement": ""}) for number in range(25)]
    with pytest.raises(ValidationError, match="nothing was run") as caught:
        Selection(ScenarioBatch((*bare, scenario("good"))), a_rule())
    lines = str(caught.value).splitlines()
    assert lines[1].startswith("  scenario 's0' has no prompt: give its problem a `statement`")
    assert (len(lines), lines[-1]) == (22, "  ... and 5 scenarios more")


def test_a_template_is_checked_before_its_scenarios() -> None:
    """One sentence, and not one for each of them."""
    with pytest.raises(ValidationError, match="the prompt template names nothing of a problem"):
        Selection(ScenarioBatch(tuple(BATCH)), a_rule(), "Solve it.")


def test_a_problem_has_one_prompt() -> None:
    """Pairs and yields are by problem."""
    others = [scenario("a", problem="p"), scenario("b", problem="p", of_problem={"statement": "Solve it!"})]
    with pytest.raises(ValidationError, match="scenario 'b' has another prompt than others of 'p'"):
        Selection(ScenarioBatch(tuple(others)), a_rule())


def test_results_of_other_scenarios_are_refused() -> None:
    """They are named."""
    with pytest.raises(ValidationError, match="ran scenarios that are not among these: x/1; give the scenarios"):
        selected(BATCH, [run(scenario("x/1"))])


@pytest.mark.parametrize("change", ["scenario_digest", "candidate_digest"])
def test_results_of_what_the_files_do_not_hold_any_more_are_refused(change: str) -> None:
    """By their digests; those of an earlier harena have none. What was not scored has nothing to compare."""
    for digest in ("0" * 64, None):
        with pytest.raises(ValidationError, match="what the job ran is not what the files hold now: p/1"):
            selected(BATCH, [run(BATCH[0], **{change: digest})])
    assert selected(BATCH, [run(BATCH[0], None, **{change: ""})]).report()["totals"]["infra"] == 1


def test_the_original_answer_is_written_and_its_code_decides_what_is_new() -> None:
    """Two ways to say the same are one example."""
    said = [replace(BATCH[0], answer="It is:\n```\ndef f(x): return x\n```"), replace(BATCH[0], id="p/9", answer="So!")]
    runs = [run(of) for of in said]
    rows, _ = written(selected(said, runs, form="prompt-completion"))
    assert [row["completion"] for row in rows] == [said[0].answer]
    rows, _ = written(selected(said, runs, form="prompt-completion", completion="code", dedupe="none"))
    assert [row["completion"] for row in rows] == [GOOD, GOOD]
