"""What a researcher looks at, of one step. What the engine adds (entropy, k3_mu, clipped shares, importance weights) is
described in `harena.training.engines.losses`; those are of the tokens that were trained.

    reward, reward/min, reward/max         of the rollouts that have one
    length/p50, length/p99                 tokens that the policy chose, of all rollouts
    truncated_share                        rollouts that were cut off at max_new_tokens
    constant_group_share                   groups whose rewards are all equal: nothing to learn from
    too_small_group_share                  groups with fewer than two rewards
    masked_share, masked_share/<reason>    rollouts without a reward: the platform lost them, or they were too long
    reward_part/<name>                     of what the reward is made of, where a rollout has such a part
    stop_share/<reason>                    of episodes: how they ended; turns/mean: how often the policy spoke
    staleness/max, staleness/mean          versions, of groups: that which is trained minus the oldest of any token
    versions_per_rollout                   how many policy versions a rollout's tokens come from, on average
    generate_seconds/p50, /p99             of single rollouts; likewise reward_seconds
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from statistics import fmean
from typing import Any

from harena.training.loop.batch import GroupCounts
from harena.training.ports import LossReport
from harena.training.rollouts.trajectory import Group, StopReason, Trajectory

MOST_REWARDS = 5
"""different rewards of the first batch that are told one by one"""
MOST_SHOWN = 3
"""answers of the first batch that are shown"""


def step_metrics(groups: Sequence[Group], counts: GroupCounts, report: LossReport, *, version: int) -> dict[str, float]:
    """Metrics of the step that learned from `groups`; `version` is the policy version that it started from."""
    rollouts = [trajectory for group in groups for trajectory in group.trajectories]
    rewards = [trajectory.reward.value for trajectory in rollouts if trajectory.reward.value is not None]
    lengths = [float(trajectory.length) for trajectory in rollouts]
    staleness = [version - group.oldest_version for group in groups if group.oldest_version >= 0]
    masked = Counter(t.reward.reason or "unknown" for t in rollouts if t.reward.value is None)
    metrics = {
        "loss": report.loss,
        **report.metrics,
        "reward": fmean(rewards) if rewards else math.nan,
        "reward/min": min(rewards, default=math.nan),
        "reward/max": max(rewards, default=math.nan),
        "length/p50": quantile(lengths, 0.5),
        "length/p99": quantile(lengths, 0.99),
        "truncated_share": sum(t.stop == StopReason.LENGTH for t in rollouts) / len(rollouts),
        "constant_group_share": counts.constant / counts.groups,
        "too_small_group_share": counts.too_small / counts.groups,
        "masked_share": counts.masked / counts.rollouts,
        **{f"masked_share/{reason}": count / len(rollouts) for reason, count in sorted(masked.items())},
        **_parts(rollouts),
        **_episodes([rollout for rollout in rollouts if rollout.turns]),
        "staleness/max": float(max(staleness, default=0)),
        "staleness/mean": fmean(staleness) if staleness else 0.0,
        "versions_per_rollout": fmean(len({v for v in t.versions if v >= 0}) for t in rollouts),
    }
    for part in ("generate", "reward"):
        seconds = [t.seconds.get(part, 0.0) for t in rollouts]
        metrics |= {f"{part}_seconds/p50": quantile(seconds, 0.5), f"{part}_seconds/p99": quantile(seconds, 0.99)}
    return metrics


def _parts(rollouts: Sequence[Trajectory]) -> dict[str, float]:
    found: dict[str, list[float]] = {}
    for rollout in rollouts:
        for name, value in rollout.reward.parts.items():
            found.setdefault(f"reward_part/{name}", []).append(value)
    return {name: fmean(values) for name, values in sorted(found.items())}


def _episodes(episodes: Sequence[Trajectory]) -> dict[str, float]:
    if not episodes:
        return {}
    stops = Counter(episode.stop.value for episode in episodes)
    shares = {f"stop_share/{reason}": count / len(episodes) for reason, count in sorted(stops.items())}
    return {**shares, "turns/mean": fmean(len(episode.turns) for episode in episodes)}


def _teaches(group: Group) -> bool:
    rewards = {rollout.reward.value for rollout in group.valid}
    return bool(rewards - {0.0}) if len(group.trajectories) == 1 else len(rewards) > 1


def quantile(values: Sequence[float], share: float) -> float:
    """The smallest of the values that at least this share of them does not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def first_batch(groups: Sequence[Group]) -> dict[str, Any]:
    """{answers, unscored, rewards, other_rewards, groups, compared_groups, rollouts}: `rewards` are the most frequent
    ones, as [reward, how many answers earned it]; `compared_groups` have answers that earned differently, or one that
    is compared with nothing and has earned something; `rollouts` are some answers, {prompt_id, text, reward: {value,
    reason}}."""
    scored = [rollout for group in groups for rollout in group.valid]
    counts = Counter(rollout.reward.value for rollout in scored)
    shown = counts.most_common(MOST_REWARDS)
    compared = [group for group in groups if _teaches(group)]
    return {
        "answers": sum(len(group.trajectories) for group in groups),
        "unscored": sum(len(group.trajectories) for group in groups) - len(scored),
        "rewards": [[reward, count] for reward, count in shown],
        "other_rewards": len(scored) - sum(count for _, count in shown),
        "groups": len(groups),
        "compared_groups": len(compared),
        "rollouts": [
            {
                "prompt_id": rollout.prompt_id,
                "text": rollout.text,
                "reward": {"value": rollout.reward.value, "reason": rollout.reward.reason},
            }
            for rollout in scored[:MOST_SHOWN]
        ],
    }
