"""pass@k: the chance that one of k answers to a problem passes, as a mean over problems, and how certain it is."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from math import comb

from harena.core.records.evaluations import PassRate

MOST_DRAWN = 256
"""the greatest k of pass@k: binomials of more take long"""
_95_PERCENT = 1.959963984540054
"""quantile of the normal distribution for an interval of 95 %"""


def pass_rates(problems: Iterable[tuple[int, int]]) -> list[PassRate]:
    """pass@k for k = 1, 2, 4 ... up to the number of scored answers that every problem has. `problems`: how many
    answers to each were scored, and how many passed; a problem of which nothing was scored does not count.

    The rate is the mean over problems of the unbiased estimate 1 - C(n - c, k) / C(n, k), where c of n passed (M. Chen
    et al., "Evaluating large language models trained on code", arXiv:2107.03374, 2021).
    """
    scored = [(n, c) for n, c in problems if n]
    least = min((n for n, _ in scored), default=0)
    rates: list[PassRate] = []
    k = 1
    while k <= min(least, MOST_DRAWN):
        rates.append(_rate(k, [1 - comb(n - c, k) / comb(n, k) for n, c in scored]))
        k *= 2
    return rates


def _rate(k: int, values: Sequence[float]) -> PassRate:
    """The mean, and its 95 % confidence interval over problems.

    The interval is that of A. Agresti and B. Coull, "Approximate is better than 'exact' for interval estimation of
    binomial proportions", The American Statistician 52, 1998: Wald's with two passed and two failed problems added.
    Where several answers make fractions of the values, the same four are added to them, and the plain standard error
    over problems is taken (E. Miller, "Adding error bars to evals", arXiv:2411.00640, 2024).
    """
    count = len(values)
    centre = (math.fsum(values) + 2) / (count + 4)
    squares = (math.fsum(value * value for value in values) + 2) / (count + 4)
    half = _95_PERCENT * math.sqrt(max(0.0, squares - centre * centre) / (count + 4))
    return PassRate(k=k, rate=math.fsum(values) / count, low=max(0.0, centre - half), high=min(1.0, centre + half))
