"""The sign-flip test: whether the problems' rates moved by more than chance explains, with every attempt counted."""

from __future__ import annotations

import math
import random
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence

from harena.core.records.job_diff import SignFlips

MOST_EXACT = 20
"""differences that are not 0, up to which every choice of signs is counted"""
_DRAWS = 9_999
_LEAST_DRAWS = 999
_MOST_TERMS = 2_000_000
"""terms of all drawn sums together, which bounds the time that many different rates take"""
_SEED = 1935
_SAME = 1e-9
"""sums that differ by less are equal: rates are fractions, and sums of them are rounded"""


def sign_flips(differences: Sequence[float]) -> SignFlips:
    """Two-sided p-value of the paired differences, of which each would be as likely with the other sign if both sides
    were equally good: the share of all choices of signs whose sum is at least as far from 0.

    The randomisation test of R. A. Fisher, "The Design of Experiments", 1935, section 21. Up to `MOST_EXACT`
    differences that are not 0 (the others change no sum) every choice is counted. Above, signs are drawn from a fixed
    seed, and the p-value is (b + 1) / (m + 1) where b of m drawn sums are as far from 0 (B. Phipson and G. K. Smyth,
    "Permutation p-values should never be zero", Statistical Applications in Genetics and Molecular Biology 9, 2010).
    """
    sizes = sorted(size for size in map(abs, differences) if size > _SAME)
    seen = abs(math.fsum(differences)) - _SAME
    if len(sizes) <= MOST_EXACT:
        return SignFlips(p_value=_exact(sizes, seen), exact=True, flips=2 ** len(sizes))
    return _drawn(sizes, seen)


def _exact(sizes: Sequence[float], seen: float) -> float:
    """A sum of all is one of each half: of these there are few, and counting the pairs takes a search for each."""
    first, second = _sums(sizes[: len(sizes) // 2]), _sums(sizes[len(sizes) // 2 :])
    if seen <= 0:
        return 1.0
    second.sort()
    far = sum(len(second) - bisect_left(second, seen - sum_) + bisect_right(second, -seen - sum_) for sum_ in first)
    return far / (len(first) * len(second))


def _sums(sizes: Sequence[float]) -> list[float]:
    """One for each choice of signs."""
    sums = [0.0]
    for size in sizes:
        sums = [sum_ + signed for sum_ in sums for signed in (size, -size)]
    return sums


def _drawn(sizes: Sequence[float], seen: float) -> SignFlips:
    """The share of drawn sums; among differences of one size, as many are positive as random bits are 1."""
    groups = Counter(round(size, 9) for size in sizes)
    exactly = {round(size, 9): size for size in sizes}
    draws = min(_DRAWS, max(_LEAST_DRAWS, _MOST_TERMS // len(groups)))
    bits = random.Random(_SEED).getrandbits  # noqa: S311 - a draw that everybody can repeat, not a secret
    far = 0
    for _ in range(draws):
        total = sum(exactly[size] * (2 * bits(count).bit_count() - count) for size, count in groups.items())
        far += abs(total) >= seen
    return SignFlips(p_value=(far + 1) / (draws + 1), exact=False, flips=draws)
