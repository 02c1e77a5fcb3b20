"""The measures of training: what they draw, and what they say."""

from __future__ import annotations

from statistics import quantiles
from typing import Any

import pytest
from benchmarks.measures import cluster, training_latency, training_step
from benchmarks.training_sides import CHECKS, PROMPTS, contract, program


def test_latencies_have_the_quantiles_that_are_stated_and_belong_to_their_sample() -> None:
    slow = training_latency.Slow(None, seed=1, median_seconds=2.0)
    drawn = [slow.latency(place, sample) for place in range(2500) for sample in range(8)]
    cuts = quantiles(drawn, n=100)
    assert cuts[49] == pytest.approx(2.0, rel=0.05)
    assert cuts[98] == pytest.approx(16.0, rel=0.1)
    assert slow.latency(3, 4) == drawn[3 * 8 + 4] != slow.latency(3, 4, readmissions=1)
    assert training_latency.Slow(None, seed=2, median_seconds=2.0).latency(3, 4) != drawn[3 * 8 + 4]


def test_both_sides_run_the_same_programs_and_a_quarter_is_right() -> None:
    assert len(PROMPTS) == len(set(PROMPTS)) == 32
    right = 0
    for number in range(400):
        scope: dict[str, Any] = {}
        exec(program(f"text {number}"), scope)
        passed = [scope["f"](*check["args"]) == check["expected"] for check in contract()["checks"]]
        assert len(passed) == len(CHECKS)
        right += all(passed)
    assert 60 < right < 140


def test_what_is_said_of_a_step() -> None:
    row = {"step": 0.5, "generate": 0.2, "reward": 0.1, "train": 0.2}
    labels = ("harena, none", "trl, none", "harena, execution", "trl, execution")
    told = training_step.render(
        {"steps": 2, "rounds": 1, "tokens": 8, "rows": dict.fromkeys(labels, row), "ratios": {"whole step": 0.42}}
    )
    assert "**whole step: 0.42 of TRL's.**" in told
    assert told[-1] == "| trl, execution | 500 | 200 | 100 | 200 |"


def test_what_is_said_of_latency() -> None:
    row = {
        "seconds_per_step": 0.5, "speed_up": 2.0, "ideal_speed_up": 2.2, "share_of_ideal": 0.91, "reward": 0.9,
        "reward_difference": -0.01, "staleness": 1.0, "samples": 640.0, "again": 0.125,
    }  # fmt: skip
    told = training_latency.render({"steps": 10, "seeds": 2, "own_seconds": 0.06, "rows": {"sync": row}})
    assert told[-1] == "| sync | 500 | 2.00 | 2.20 | 0.91 | 0.900 | -0.010 | 1 | 12 % |"


def test_what_is_said_of_a_cluster() -> None:
    """Rates beside those of one worker, the difference of pairs with its error, and every count of the kills."""
    pair = {"local": 0.8, "ray": 0.9, "local_first": 0.3, "ray_first": 0.3}
    told = cluster.render(
        {
            "steps": 40,
            "scaling": {"1": {"programs_per_second": 4.0}, "2": {"programs_per_second": 7.6}},
            "pairs": [pair, {**pair, "ray": 0.7}],
            "kills": {
                "kills": 20, "steps": 63, "steps_done": 63, "rollouts": 4032, "rollouts_due": 4032, "twice": 0,
                "begun_anew": 640.0,
            },
        }
    )  # fmt: skip
    assert "| 2 | 7.60 | 0.95 |" in told
    assert "000, standard error 0.100. First step: 0.300." in told[-3]
    assert "20 raylets killed in a job of 63 steps: 63 steps done, 4032 of 4032 rollouts" in told[-1]
