"""Candidates, and what a job says about them, for the tests of training data."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from harena.scoring.load import load_scenarios
from harena.scoring.scenario import Scenario
from harena.scoring.verified_data.rule import Rule, checked_rule
from harena.scoring.verified_data.standing import Judged, judged

TESTS = {"type": "tests", "entry_point": "f", "checks": [{"args": [1], "expected": 1}]}


def a_rule(**fields: Any) -> Rule:
    """A rule without mistakes."""
    rule, mistakes = checked_rule(fields)
    assert mistakes == []
    return rule


def scenario(name: str, code: str = "def f(x): return x\n", *, problem: str = "p", **fields: Any) -> Scenario:
    """A candidate; `answer` is what it was taken from."""
    answer = fields.pop("answer", None)
    inline = {"id": problem, "statement": f"Solve {problem}.", **fields.pop("of_problem", {})}
    row = {"id": name, "candidate": code, "scoring": TESTS, "problem": inline, **fields}
    return replace(load_scenarios([row]).scenarios[0], answer=answer)


def run(of: Scenario, score: float | None = 1.0, *, attempt: int = 1, **fields: Any) -> dict[str, Any]:
    """A result as a job has it."""
    return {
        "scenario_id": of.id,
        "attempt": attempt,
        "score": score,
        "passed": score == 1.0,
        "validity": "infra" if score is None else "valid",
        "reason": "platform_error" if score is None else "passed",
        "trust": "separate",
        "rescore": None,
        "scorer_version": "tests/1",
        "evidence": f"evidence-{of.id}-{attempt}",
        "scenario_digest": of.digest,
        "candidate_digest": of.candidate.digest,
        **fields,
    }


def one(name: str, code: str, score: float | None = 1.0, *, place: int = 0, rule: Rule | None = None) -> Judged:
    """A candidate that was scored once."""
    made = scenario(name, code)
    return judged(made, place, [run(made, score)], rule or Rule(), attempts=1)


def all_of(*given: tuple[str, float], rule: Rule | None = None) -> list[Judged]:
    """Candidates of one problem, (code, score) in the order of their file; their names are c0, c1, ..."""
    return [one(f"c{place}", code, score, place=place, rule=rule) for place, (code, score) in enumerate(given)]


def names(ones: Any) -> list[str]:
    """c0, c1, ..."""
    return [each.scenario.id for each in ones]
