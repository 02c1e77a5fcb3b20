"""What a suite skips whatever a candidate has: found out by runs with nobody that answer its questions in turn.

A condition may mix what a candidate lacks with what it has (`not hasattr(solution, "f") or solution.SLOW`). Then a test
is skipped for a nobody that has everything, and for one that has nothing, and run for others. What each run has asked
while its tests were read, and what it was told, is known; so the runs are the leaves of a tree, and each further run
changes one answer of an earlier one. A test that one of them runs is skipped because of the candidate. If all leaves
are visited, what they all skip is skipped for everybody.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Mapping

from harena.scoring.scorers.suite_apart import Report

MOST_RUNS = 16
"""further runs for one suite"""
MOST_QUESTIONS = 8
"""questions of one run whose answers are changed"""
Run = Callable[[Mapping[str, bool]], Awaitable[Report]]


async def settled_skips(
    may_skip: frozenset[str], grounds: Iterable[tuple[Report, Run]], most_runs: int = MOST_RUNS
) -> tuple[frozenset[str], str]:
    """(the tests of `may_skip` that no run runs, why a candidate may be the cause that one of these is skipped; empty
    if none is). `grounds`: the first run of each stance, and how to run it again with other answers."""
    unsettled = ""
    waiting: deque[tuple[dict[str, bool], Report, Run]] = deque(({}, first, run) for first, run in grounds)
    while waiting and may_skip:
        told, report, run = waiting.popleft()
        may_skip -= {*report.ran, *report.read}
        unsettled = unsettled or _unsettled(told, report)
        for number, (question, answer) in enumerate(report.questions[:MOST_QUESTIONS]):
            if number < len(told):
                continue
            if not most_runs or not may_skip:
                unsettled = unsettled or f"it asks too much ({question})"
                break
            most_runs -= 1
            changed = {**dict(report.questions[:number]), question: not answer}
            waiting.append((changed, await run(changed), run))
    return may_skip, unsettled if may_skip else ""


def _unsettled(told: Mapping[str, bool], report: Report) -> str:
    if report.unheard:
        return f"it looks at the candidate ({report.unheard})"
    if len(report.questions) > MOST_QUESTIONS:
        return f"it asks too much ({report.questions[MOST_QUESTIONS][0]})"
    if dict(report.questions[: len(told)]) != dict(told):
        return "it asks something else each time"
    return ""
