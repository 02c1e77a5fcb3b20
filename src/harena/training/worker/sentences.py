"""What a worker says to people about how its job gets on. Pure: numbers in, sentences out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

UNTAUGHT_STEPS = 3
"""steps in a row without anything to learn from, after which it is said"""


def counted(number: int, noun: str) -> str:
    """`1 row`, `2 rows`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def rows_said(report: Mapping[str, int]) -> str:
    """What became of a data set's rows (`LoadReport`); of those that are too long, always."""
    said = f"{counted(report['sequences'], 'sequence')} of {counted(report['rows'], 'row')}"
    if report["too_long"]:
        said += f"; {report['too_long']} too long: {report['cut']} cut, {report['left_out']} left out"
    return said


def prompts_said(prompts: int, held_out: int) -> str:
    """What an RL job learns from."""
    return counted(prompts, "prompt") + (f", evaluated on {held_out}" if held_out else "")


def first_batch_said(content: Mapping[str, Any]) -> str:
    """What the first answers earned; `content` as the loop tells it (first_batch)."""
    earned = ", ".join(f"{count} earned {reward:g}" for reward, count in content["rewards"])
    others = content["other_rewards"]
    parts = [*filter(None, [earned, f"{others} earned something else" if others else ""])]
    if content["unscored"]:
        parts.append(f"{content['unscored']} have no reward")
    groups, compared = content["groups"], content["compared_groups"]
    said = f"the first {counted(content['answers'], 'answer')}, before anything is learned: {', '.join(parts)}; "
    if compared:
        return (
            f"{said}{compared} of {counted(groups, 'prompt')} {'has' if compared == 1 else 'have'} answers to compare"
        )
    return (
        f"{said}no prompt has answers that earned differently, and those are what is learned from. Where the model "
        "never passes, teach it by SFT first, or give it easier problems; where it always passes, harder ones"
    )


def went_on_said(content: Mapping[str, Any]) -> str:
    """Where a job goes on that was begun before; `content` as the loop tells it (resumed_from)."""
    step, again, stored = content["step"], content["steps_again"], content["rollouts_stored"]
    said = f"goes on after step {step}" if step else "begins again: there was no checkpoint yet"
    kept = []
    if again:
        kept.append(f"{counted(again, 'step')} trained again from stored rollouts")
    if stored:
        kept.append(f"{counted(stored, 'rollout')} of unfinished steps kept")
    return "; ".join([said, *kept])


def paused_said(content: Mapping[str, Any]) -> str:
    """Why a job waits; `content` as the loop tells it (paused)."""
    why = f"; the last one: {content['why']}" if content["why"] else ""
    lost = f"the platform lost {content['masked']} of the last {content['window']} rollouts"
    return f"{lost}: the job waits until rewards can be had again{why}"


def readmitted_said(content: Mapping[str, Any]) -> str:
    """Groups that were aborted; `content` as the loop tells it (readmitted)."""
    groups, step = counted(len(content["groups"]), "group"), content["step"] + 1
    return f"step {step}: {groups} aborted, which would have been too stale; their prompts are asked again"


@dataclass(slots=True)
class ConstantRewardWarning:
    """Steps in a row in which no group had rewards to compare.

    The warning comes again only after twice as many of them as the last time: a job that learns from one step in ten
    gives it twice, however long it is.
    """

    steps: int = 0
    told_at: int = UNTAUGHT_STEPS

    def after(self, metrics: Mapping[str, float], reasons: Sequence[str]) -> str | None:
        """One more step, and why some of its rollouts were rewarded as they were; a warning when there were
        `UNTAUGHT_STEPS` of them in a row, and twice as many the next time."""
        constant = metrics.get("constant_group_share", 0.0)
        if constant <= 0.0 or constant + metrics.get("too_small_group_share", 0.0) < 1.0:
            self.steps = 0
            return None
        self.steps += 1
        if self.steps < self.told_at:
            return None
        self.told_at *= 2
        seen = Counter(reason for reason in reasons if reason)
        mostly = f", most often {seen.most_common(1)[0][0]}" if seen else ""
        return (
            f"no step of the last {self.steps} had anything to learn from: in every group all rewards are equal "
            f"(mean reward {metrics.get('reward', float('nan')):.3g}{mostly}). Read samples.jsonl: is the answer what "
            "the recipe judges (`template`, `extract`)? What helps is a model that succeeds now and then (SFT first), "
            "easier or harder prompts, partial credit, or room for longer answers (max_new_tokens)"
        )
