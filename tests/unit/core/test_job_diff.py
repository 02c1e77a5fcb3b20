"""Two jobs compared: what is a change, what is none, and what can be said of the whole."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harena.core.job_diff import diff, gather, mcnemar_exact
from harena.core.records.job_diff import ChangeKind, ComparedJob, ComparedJobs, JobDiff

JOBS = ComparedJobs(**{side: ComparedJob(id=f"job_{side}", name=side, state="completed") for side in "ab"})


def run(scenario: str, score: float | None, *, attempt: int = 1, reason: str = "", **more: Any) -> dict[str, Any]:
    """A run as results have it."""
    told = reason or ("platform_error" if score is None else "passed" if score == 1 else "wrong_answer")
    return {
        "scenario_id": scenario,
        "attempt": attempt,
        "score": score,
        "passed": score == 1,
        "reason": told,
        "scorer_version": "tests/1",
        **more,
    }


def compared(a: list[dict[str, Any]], b: list[dict[str, Any]]) -> JobDiff:
    return diff(JOBS, gather(a), gather(b))


def changes(answer: JobDiff) -> dict[str, str]:
    return {entry["scenario_id"]: entry["change"] for entry in answer["scenarios"]}


def test_each_kind_of_change() -> None:
    """And what did not change is not listed."""
    a = [run("up", 0), run("down", 1), run("score", 0.25), run("reason", 0), run("same", 1), run("gone", 1),
         run("lost", 1)]  # fmt: skip
    b = [run("up", 1), run("down", 0), run("score", 0.5), run("reason", 0, reason="timeout"), run("same", 1),
         run("new", 1), run("lost", None)]  # fmt: skip
    answer = compared(a, b)
    assert changes(answer) == {
        "up": ChangeKind.NEWLY_PASSING,
        "down": ChangeKind.NEWLY_FAILING,
        "score": ChangeKind.SCORE,
        "reason": ChangeKind.REASON,
        "lost": ChangeKind.UNSCORED,
        "gone": ChangeKind.ONLY_IN_A,
        "new": ChangeKind.ONLY_IN_B,
    }
    assert (answer["compared"], answer["unchanged"]) == (5, 1)
    assert answer["changes"]["newly_passing"] == 1
    assert answer["pass_rate"]["difference"] == 0
    assert answer["mean_score"]["difference"] == pytest.approx(0.05)


def test_what_the_platform_lost_is_no_change_of_score() -> None:
    """Neither a scenario without any score, nor single lost attempts beside scored ones."""
    a = [run("s", 1, attempt=1), run("s", 1, attempt=2)]
    b = [run("s", 1, attempt=1), run("s", None, attempt=2)]
    assert compared(a, b)["scenarios"] == []
    answer = compared(a, [run("s", None), run("s", None, attempt=2)])
    assert (answer["compared"], answer["pass_rate"]) == (0, None)
    assert changes(answer) == {"s": ChangeKind.UNSCORED}
    assert not answer.regressed
    assert "1 scenarios have no score in b" in " ".join(answer["warnings"])


def test_attempts_of_a_scenario_are_taken_together() -> None:
    """It passes where more than half do; those that disagree are flaky."""
    a = [run("s", score, attempt=number) for number, score in enumerate([1, 1, 0])]
    b = [run("s", score, attempt=number) for number, score in enumerate([1, 0, 0])]
    answer = compared(a, b)
    assert changes(answer) == {"s": ChangeKind.NEWLY_FAILING}
    assert answer.flaky.to_dict() == {"a": ["s"], "b": ["s"]}
    assert answer["pass_rate"]["difference"] == pytest.approx(-1 / 3)


def test_other_scoring_is_warned_of() -> None:
    """Another contract or scorer under the same scenario; results that do not know theirs warn of nothing."""
    a = [run("s", 1, scenario_digest="aa"), run("t", 1)]
    b = [run("s", 1, scenario_digest="bb", scorer_version="tests/2"), run("t", 1, scenario_digest="cc")]
    said = compared(a, b)["warnings"]
    assert [line.split(" differs in ")[0] for line in said] == ["scorer_version", "scenario_digest"]
    assert all("1 scenarios (s)" in line for line in said)


def test_mcnemar_by_hand() -> None:
    """Known tails of the binomial distribution, and no overflow for many."""
    assert mcnemar_exact(0, 0) == 1
    assert mcnemar_exact(5, 0) == mcnemar_exact(0, 5) == pytest.approx(2 / 32)
    assert mcnemar_exact(2, 8) == pytest.approx(2 * (1 + 10 + 45) / 1024)
    assert mcnemar_exact(3, 3) == 1
    assert mcnemar_exact(49_000, 51_000) == pytest.approx(2.58e-10, rel=0.02)
    assert mcnemar_exact(0, 100_000) == 0


def test_the_interval_is_agresti_and_mins() -> None:
    """Half an observation in each cell: here 20 gained, 5 lost, of 100."""
    a = [run(f"s{number}", float(number < 40)) for number in range(100)]
    b = [run(f"s{number}", float(5 <= number < 60)) for number in range(100)]
    rate = compared(a, b)["pass_rate"]
    centre, variance = 15 / 102, (26 - 15**2 / 102) / 102**2
    assert rate["difference"] == pytest.approx(0.15)
    assert (rate["low"], rate["high"]) == pytest.approx(
        (centre - 1.96 * variance**0.5, centre + 1.96 * variance**0.5), abs=1e-4
    )


def test_one_pair_proves_nothing() -> None:
    """The interval of a single change holds 0, and that of many equal ones does not."""
    assert not compared([run("s", 1)], [run("s", 0)]).significantly_worse
    many = [f"s{number}" for number in range(30)]
    answer = compared([run(name, 1) for name in many], [run(name, 0) for name in many])
    assert answer.significantly_worse
    assert answer.regressed


RUNS = st.lists(
    st.builds(
        run,
        st.sampled_from(["s1", "s2", "s3", "s4"]),
        st.sampled_from([None, 0.0, 0.5, 1.0]),
        reason=st.sampled_from(["", "timeout"]),
        scorer_version=st.sampled_from(["1", "2"]),
    ),
    max_size=12,
)


@given(RUNS)
def test_a_job_does_not_differ_from_itself(runs: list[dict[str, Any]]) -> None:
    """Whatever is in it, in whatever order it ended."""
    answer = compared(runs, runs[::-1])
    assert answer["scenarios"] == []
    assert [line for line in answer["warnings"] if "differs" in line] == []
    if answer["compared"]:
        assert answer["pass_rate"]["difference"] == pytest.approx(0)
        assert answer["pass_rate"]["low"] <= 0 <= answer["pass_rate"]["high"]
    assert answer["mcnemar"]["p_value"] == 1
    assert answer.sign_flips is None or answer.sign_flips.p_value == 1


MIRRORED = {
    "newly_passing": "newly_failing",
    "newly_failing": "newly_passing",
    "only_in_a": "only_in_b",
    "only_in_b": "only_in_a",
}


@given(RUNS, RUNS)
def test_the_other_way_round_is_the_mirror_image(a: list[dict[str, Any]], b: list[dict[str, Any]]) -> None:
    """Every change, every difference and every interval."""
    there, back = compared(a, b), compared(b, a)
    assert changes(back) == {name: MIRRORED.get(change, change) for name, change in changes(there).items()}
    assert back["mcnemar"]["p_value"] == there["mcnemar"]["p_value"]
    assert (back.sign_flips, back.problems) == (there.sign_flips, there.problems)
    assert (back.flaky.a, back.flaky.b) == (there.flaky.b, there.flaky.a)
    for rate in ("pass_rate", "mean_score"):
        if there[rate] is None:
            assert back[rate] is None
        else:
            assert back[rate]["difference"] == pytest.approx(-there[rate]["difference"])
            assert (back[rate]["low"], back[rate]["high"]) == pytest.approx((-there[rate]["high"], -there[rate]["low"]))
            assert there[rate]["low"] <= there[rate]["difference"] <= there[rate]["high"]


@given(RUNS, RUNS)
def test_every_scenario_is_counted_once(a: list[dict[str, Any]], b: list[dict[str, Any]]) -> None:
    """Changed or unchanged."""
    answer = compared(a, b)
    assert sum(answer["changes"].values()) + answer["unchanged"] == len({one["scenario_id"] for one in (*a, *b)})


def test_candidates_of_one_problem_are_no_independent_samples() -> None:
    """Eight answers to each of nine problems tell as much of other problems as one that passes as often."""
    passed = {"a": [0, 0, 2, 4, 8, 0, 1, 8, 3], "b": [0, 8, 2, 8, 8, 0, 8, 8, 3]}
    eight = {
        side: [run(f"p{n}/{k}", float(k < count), problem=f"p{n}") for n, count in enumerate(counts) for k in range(8)]
        for side, counts in passed.items()
    }
    answer = compared(eight["a"], eight["b"])
    assert answer.compared == 72
    assert answer.pass_rate is not None
    differences = [(right - left) / 8 for left, right in zip(passed["a"], passed["b"], strict=True)]
    assert answer.pass_rate.difference == pytest.approx(sum(differences) / 9)
    # as if each problem had one score
    (one,) = [
        compared(*[[run(f"p{n}", count / 8) for n, count in enumerate(passed[side])] for side in ("a", "b")]).mean_score
    ]
    assert one is not None
    assert (answer.pass_rate.low, answer.pass_rate.high) == (pytest.approx(one.low), pytest.approx(one.high))
    assert answer.pass_rate.low < 0.02
    assert (answer.mcnemar.newly_passing, answer.mcnemar.newly_failing) == (3, 0)


def test_with_several_attempts_every_one_of_them_counts() -> None:
    """Five of eight problems pass more often and none less: of majorities only two changed sides."""
    passed = {"a": [0, 2, 0, 2, 0, 1, 3, 2], "b": [1, 3, 0, 3, 1, 2, 3, 2]}
    answer = compared(
        *(
            [run(f"p{n}", float(k < count), attempt=k) for n, count in enumerate(counts) for k in range(4)]
            for counts in passed.values()
        )
    )
    assert answer.problems.to_dict() == {"count": 8, "least_answers": 4, "most_answers": 4}
    assert answer.mcnemar.p_value == 0.5
    assert answer.sign_flips is not None
    assert answer.sign_flips.to_dict() == {"p_value": 2 / 32, "exact": True, "flips": 32}


def test_with_one_attempt_mcnemars_test_is_the_test() -> None:
    answer = compared([run("s", 1), run("t", 0)], [run("s", 1), run("t", 1)])
    assert answer.problems.to_dict() == {"count": 2, "least_answers": 1, "most_answers": 1}
    assert answer.sign_flips is None
