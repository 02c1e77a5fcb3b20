"""Adds up the results of a job for its tables while pages are read: a row for each problem, and the few runs that are
shown one by one."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from harena.core.pass_rates import pass_rates
from harena.core.printable import printable
from harena.core.records.evaluations import PassRate
from harena.core.results import Reason

Run = Mapping[str, Any]

MOST_WRONG_LINES = 100
"""verdicts that are known to be wrong and are named; all are counted"""


@dataclass(slots=True)
class Problem:
    """The runs of one problem's candidates."""

    first: int
    """number of the first of them in the order of acceptance"""
    runs: int = 0
    passed: int = 0
    scored: int = 0
    score_sum: float = 0.0
    slowest_seconds: float = 0.0
    cancelled: int = 0

    def row(self, name: str) -> tuple[str, int, int, float | None, int, float]:
        """(problem, runs, passed, mean score or None, unscored, slowest seconds)."""
        mean = self.score_sum / self.scored if self.scored else None
        return name, self.runs, self.passed, mean, self.runs - self.scored, self.slowest_seconds


@dataclass(slots=True)
class ResultTotals:
    """What was read so far. Memory grows with the problems, not with the runs."""

    show_runs: int = 0
    """so many runs of the most interest are kept"""
    wrong: list[str] = field(default_factory=list)
    """lines about the first wrong verdicts"""
    _problems: dict[str, Problem] = field(default_factory=dict)
    _kept: list[tuple[tuple[int, int, float], int, Run]] = field(default_factory=list)
    _order: count[int] = field(default_factory=count)

    def add(self, runs: Iterable[Run]) -> None:
        """Some more runs."""
        for run in runs:
            self._add_to_problem(run)
            if run["verdict_right"] is False and len(self.wrong) < MOST_WRONG_LINES:
                self.wrong.append(wrong_verdict_line(run))
            if self.show_runs:
                entry = (_interest(run), -next(self._order), run)
                (heapq.heappush if len(self._kept) < self.show_runs else heapq.heappushpop)(self._kept, entry)

    def problem_rows(self) -> list[tuple[str, int, int, float | None, int, float]]:
        """A row for each problem, in the order of acceptance."""
        ordered = sorted(self._problems.items(), key=lambda named: named[1].first)
        return [problem.row(name) for name, problem in ordered]

    def reached_line(self, total: int) -> str | None:
        """How many problems a job of `total` runs has reached; None where it has reached them all."""
        problems = self._problems.values()
        reached, read = sum(one.runs > one.cancelled for one in problems), sum(one.runs for one in problems)
        if read == total and reached == len(problems):
            return None
        of_all = f" of {len(problems)}" if read == total else ""  # runs that never began may not be listed
        return (
            f"reached {reached}{of_all} problems: the answers to one run one after the other, and rates are over those "
            "that were reached"
        )

    def pass_at(self) -> list[PassRate]:
        """pass@k for k = 1, 2, 4 ...; empty where no problem has two scored candidates."""
        scored = [(problem.scored, problem.passed) for problem in self._problems.values()]
        return pass_rates(scored) if max((n for n, _ in scored), default=0) > 1 else []

    def interesting_runs(self) -> list[Run]:
        """Wrong verdicts first, then runs without a score, then the slowest."""
        return [run for _, _, run in sorted(self._kept, reverse=True)]

    def _add_to_problem(self, run: Run) -> None:
        name = run["problem"] or run["scenario_id"]
        problem = self._problems.get(name)
        if problem is None:
            problem = self._problems[name] = Problem(first=run["run"])
        problem.first = min(problem.first, run["run"])
        problem.runs += 1
        problem.cancelled += run["reason"] == Reason.CANCELLED
        problem.passed += bool(run["passed"])
        problem.slowest_seconds = max(problem.slowest_seconds, run["duration_seconds"])
        if run["score"] is not None:
            problem.scored += 1
            problem.score_sum += run["score"]


def wrong_verdict_line(run: Run) -> str:
    """A run whose verdict is not the known one."""
    expected = run["expected"]
    reasons = " or ".join(expected["reason"])
    known = ("passed" if expected["passed"] else "failed") + (f" ({reasons})" if reasons else "")
    got = f"{'passed' if run['passed'] else 'failed'} ({run['reason']})"
    return printable(f"  {run['scenario_id']} (attempt {run['attempt']}): {got}, expected {known}")


def _interest(run: Run) -> tuple[int, int, float]:
    return int(run["verdict_right"] is False), int(run["score"] is None), float(run["duration_seconds"])
