"""From the rewards of a group to the advantages of its rollouts.

    group_mean   A_i = r_i - mean(r)                          (Dr. GRPO, arXiv 2503.20783)
    group_std    A_i = (r_i - mean(r)) / (std(r) + 1e-4)      (GRPO, arXiv 2402.03300; population standard deviation)
    rloo         A_i = r_i - mean of the others' rewards      (RLOO, arXiv 2402.14740)
    none         A_i = r_i

A rollout without a reward has left its group: it is not among the rewards here.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean, pstdev
from typing import get_args

from harena.core.errors import ValidationError
from harena.core.records.training_plans import AdvantageRule

RULES: tuple[AdvantageRule, ...] = get_args(AdvantageRule)
STD_FLOOR = 1e-4


def advantages(rewards: Sequence[float], rule: AdvantageRule) -> list[float]:
    """One advantage for each reward, in their order. Raises ValidationError for fewer than two rewards, where the rule
    compares siblings."""
    if rule == "none":
        return list(rewards)
    if len(rewards) < 2:
        raise ValidationError(f"advantage {rule!r} compares siblings, and a group has {len(rewards)} with a reward")
    mean = fmean(rewards)
    if rule == "group_mean":
        return [reward - mean for reward in rewards]
    if rule == "group_std":
        scale = pstdev(rewards, mean) + STD_FLOOR
        return [(reward - mean) / scale for reward in rewards]
    return [(reward - mean) * len(rewards) / (len(rewards) - 1) for reward in rewards]
