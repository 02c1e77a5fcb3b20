"""Sampled re-scoring: a share of a job's runs is executed and scored once more, in fresh sandboxes.

The first score stands, and the result notes beside it whether the second one agrees. The disagreement rate of a job
says how far its scores come from the candidates and not from chance.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import replace
from hashlib import blake2b

from harena.core.errors import HarenaError
from harena.core.results import Rescore, RunResult
from harena.jobs.schedule import Ticket
from harena.jobs.worker import Score, one_line

ROUNDS = 6
"""Rounds of the permutation; with four its output already looks random."""


class Sample(Set[int]):
    """Exactly `count` of the numbers below `total`, chosen by a seed. It is a pseudo-random permutation (a Feistel
    network) of which the first `count` places are taken: whether a number is among them is computed and not stored."""

    def __init__(self, count: int, total: int, *, seed: str) -> None:
        self._count = count
        self._total = total
        self._seed = seed.encode()
        self._half_bits = max(1, ((total - 1).bit_length() + 1) // 2)

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[int]:
        return (number for number in range(self._total) if number in self)

    def __contains__(self, number: object) -> bool:
        if not isinstance(number, int) or not 0 <= number < self._total:
            return False
        place = self._permuted(number)
        while place >= self._total:  # the network permutes a power of four: places outside are passed on
            place = self._permuted(place)
        return place < self._count

    def _permuted(self, number: int) -> int:
        mask = (1 << self._half_bits) - 1
        left, right = number >> self._half_bits, number & mask
        for turn in range(ROUNDS):
            mixed = blake2b(b"%d %d %b" % (turn, right, self._seed), digest_size=8).digest()
            left, right = right, left ^ (int.from_bytes(mixed) & mask)
        return left << self._half_bits | right


def sampled(fraction: float, total: int, *, seed: str) -> Set[int]:
    """The numbers of the runs to score again: the share of `total` that was asked for, at least one unless it is 0.

    The same seed gives the same sample; no candidate knows it. The work and the memory do not grow with `total`.
    """
    if fraction <= 0:
        return frozenset()
    return Sample(min(total, max(1, round(fraction * total))), total, seed=seed)


def rescoring(score: Score, chosen: Set[int]) -> Score:
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
