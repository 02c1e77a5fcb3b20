"""Some of the rollouts that a step learned from, one line of JSON each, to be read by people.

    {"step", "prompt", "group", "sample", "text", "reward", "turns", ..., "advantage": number or null,
     "said": {"count", "text": [...], "logprob": [...], "version": [...]}}

`said` has an entry for each of the first tokens that the policy chose; of a step whose tokens no checkpoint needs any
more it is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from harena.core.records.training_plans import AdvantageRule
from harena.training.loop.batch import advantages_of
from harena.training.loop.ledger import Ledger

MOST_TOKENS = 512
"""tokens of one rollout that are written: a job keeps hundreds of rollouts in one file"""
_DIGITS = 4


def sample_lines(
    ledger: Ledger,
    step: int,
    *,
    limit: int,
    prompts: Mapping[str, str],
    rule: AdvantageRule,
    spelt: Callable[[Sequence[int]], list[str]],
) -> list[dict[str, Any]]:
    """The lines of step `step` (from 0), at most `limit`; `prompts`: texts by their ids; `spelt` writes tokens."""
    lines = ledger.samples(step, limit=limit)
    advantages = {number: _advantages(ledger, number, rule) for number in {line["group"] for line in lines}}
    return [
        {
            "step": step + 1,
            "prompt": prompts.get(line["prompt_id"]),
            **line,
            "advantage": advantages[line["group"]].get(line["sample"]),
            **_said(ledger, line["group"], line["sample"], spelt),
        }
        for line in lines
    ]


def _advantages(ledger: Ledger, number: int, rule: AdvantageRule) -> dict[int, float]:
    """sample -> advantage, of a group that was learned from."""
    rewards = ledger.rewards_of(number)
    if len(rewards) < (1 if rule == "none" else 2):
        return {}
    return dict(zip(rewards, advantages_of([*rewards.values()], rule), strict=True))


def _said(
    ledger: Ledger, number: int, sample: int, spelt: Callable[[Sequence[int]], list[str]]
) -> dict[str, dict[str, Any]]:
    found = ledger.said_tokens(number, sample)
    if found is None:
        return {}
    told = {
        "count": len(found.tokens),
        "text": spelt(found.tokens[:MOST_TOKENS]),
        "logprob": [round(value, _DIGITS) for value in found.logprobs[:MOST_TOKENS]],
        "version": found.versions[:MOST_TOKENS],
    }
    return {"said": told}
