"""Sampled re-scoring: a share of a job's runs is executed and scored once more, in fresh sandboxes.

What the first score is stays what it is; whether the second one agrees is noted beside it. The disagreement rate of a
job says how far its scores can be trusted to be the candidates' and not chance's.
"""

from __future__ import annotations

import random
from dataclasses import replace

from harena.core.errors import HarenaError
from harena.core.results import Rescore, RunResult
from harena.jobs.schedule import Ticket
from harena.jobs.worker import Score, one_line


def sampled(fraction: float, total: int, *, seed: str) -> frozenset[int]:
    """The numbers of the runs to score again: the share of `total` that was asked for, at least one unless it is 0.

    The same seed gives the same sample; no candidate knows it.
    """
    if fraction <= 0:
        return frozenset()
    count = min(total, max(1, round(fraction * total)))
    return frozenset(random.Random(seed).sample(range(total), count))  # noqa: S311 (a sample, not a secret)


def rescoring(score: Score, chosen: frozenset[int]) -> Score:
    """Scores as `score` does, and those runs that are `chosen` a second time.

    A run that has no score is not scored again; a platform failure of the second try is noted and not raised, because
    the run has its score already.
    """

    async def score_twice(ticket: Ticket) -> RunResult:
        result = await score(ticket)
        if ticket.number not in chosen or result.score is None:
            return result
        try:
            again = await score(ticket)
        except HarenaError as error:
            return replace(result, rescore=Rescore(score=None, error=one_line(error)))
        return replace(result, rescore=Rescore(score=again.score, reason=again.reason))

    return score_twice if chosen else score
