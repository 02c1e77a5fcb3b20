"""Offline RL: learning from trajectories that are recorded already (ATIF, or chat rows of agents), with their rewards.

An episode's reward is its row's `reward`, else 1 or 0 by its `success` (of the trajectory, its `worlds_summary` or its
`metadata`), else 1. Its advantage is that reward against its siblings' (`harena.training.loop.advantages`): the
episodes of one prompt, or all episodes of the data set.

Where each step recorded its token ids and their log-probabilities (`metrics`: `prompt_token_ids`,
`completion_token_ids`, `logprobs`, all of this model's tokenizer), those are trained on as they are. Otherwise the
chat template writes the conversation, and nobody knows how probable it was to whoever sampled it. Then the policy at
the start of the job stands for them: r = pi / pi at the start, and clipping bounds how far from it the job goes. An
algorithm without a bound (importance_sampling) is refused there: its weights would mean nothing.

Two forms: `offline_groups` for training on what was done, and `imitation_rows` for RL whose rollouts are rewarded by
`trajectory_imitation_v1`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from harena.core.errors import ValidationError
from harena.core.records.training_plans import AdvantageRule, Aggregation, Baseline, LossSpec
from harena.scoring.formats.asked_fields import given
from harena.scoring.formats.rows import numbered
from harena.training.data.conversations import Conversation, conversation_of, messages_of_steps, with_system
from harena.training.data.datasets import LoadReport
from harena.training.data.prompts import PromptRow
from harena.training.data.row_files import Mistakes, rows_of
from harena.training.data.templates import ChatTemplate
from harena.training.loop.advantages import advantages
from harena.training.loop.batch import TrainingRow
from harena.training.ports import Engine

"""whose rewards an episode's is compared with: those of the same prompt, or all"""
_RECORDED = ("prompt_token_ids", "completion_token_ids", "logprobs")


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """One that is recorded. Its rows have log-probabilities only where they were recorded."""

    rows: tuple[TrainingRow, ...]
    reward: float


@dataclass(frozen=True, slots=True, kw_only=True)
class OfflineGroup:
    """Episodes that are compared with each other."""

    prompt: str
    episodes: tuple[Episode, ...]


def offline_groups(
    paths: Sequence[Path],
    template: ChatTemplate,
    *,
    max_length: int,
    baseline: Baseline = "prompt",
    split: str | None = None,
) -> tuple[list[OfflineGroup], LoadReport]:
    """Episodes of trajectory data sets. One whose rows are longer than `max_length` is left out whole, and counted:
    cut, it would be another episode. Raises ValidationError: one, with every mistake, its file and line."""
    mistakes, report = Mistakes(", ".join(map(str, paths))), LoadReport()
    groups: dict[str, list[Episode]] = {}
    for path in paths:
        for row in rows_of(path, mistakes, split=split):
            report.rows += 1
            try:
                prompt, episode = _episode(row.values, template)
            except ValueError as error:
                mistakes.add(row.origin, str(error))
                continue
            longest = max(len(one.tokens) for one in episode.rows)
            report.longest = max(report.longest, longest)
            report.split_rows += len(episode.rows) > 1
            if longest > max_length:
                report.too_long += 1
                report.left_out += 1
                continue
            report.sequences += len(episode.rows)
            report.tokens += sum(len(one.tokens) for one in episode.rows)
            report.learnt_tokens += sum(sum(one.mask) for one in episode.rows)
            groups.setdefault(prompt if baseline == "prompt" else "", []).append(episode)
    mistakes.check()
    if not groups:
        few = f"all are longer than {max_length} tokens" if report.rows else "there are no rows"
        raise ValidationError(f"{mistakes.name}: there is no trajectory to learn from: {few}")
    return [OfflineGroup(prompt=prompt, episodes=tuple(of)) for prompt, of in groups.items()], report


def offline_rows(groups: Sequence[OfflineGroup], *, rule: AdvantageRule, aggregation: Aggregation) -> list[TrainingRow]:
    """What is trained on, each row with its episode's advantage. Rows of advantage 0 are there too: they count in the
    denominator. Raises ValidationError where no episode has an advantage."""
    made: list[TrainingRow] = []
    for group in groups:
        rewards = [episode.reward for episode in group.episodes]
        alone = len(rewards) < 2 or min(rewards) == max(rewards)
        values = [0.0] * len(rewards) if alone and rule != "none" else advantages(rewards, rule)
        for episode, advantage in zip(group.episodes, values, strict=True):
            length = sum(sum(row.mask) for row in episode.rows)
            weight = 1.0 / length if aggregation == "sequence" else 1.0
            made += [replace(row, advantage=advantage, weight=weight) for row in episode.rows]
    if not any(row.advantage for row in made):
        raise ValidationError(nothing_to_learn(len(groups)))
    return made


def nothing_to_learn(groups: int) -> str:
    """What is said where no episode has an advantage."""
    return (
        f"there is nothing to learn from {groups} groups: every episode is alone with its prompt, or has the "
        'reward of its siblings. Compare with the whole data set (baseline "dataset"), or take rewards as they '
        'are (advantage "none")'
    )


async def with_logprobs(engine: Engine, rows: Sequence[TrainingRow], loss: LossSpec) -> list[TrainingRow]:
    """Every row with log-probabilities: recorded ones, else those under the engine's weights as they are now; so before
    a checkpoint is loaded. Raises ValidationError for an algorithm that needs recorded ones."""
    unknown = [place for place, row in enumerate(rows) if not row.logprobs]
    if (mistake := unrecorded_mistake(loss, len(unknown), len(rows), "rows")) is not None:
        raise ValidationError(mistake)
    made = list(rows)
    found = await engine.logprobs([rows[place] for place in unknown]) if unknown else []
    for place, learnt in zip(unknown, found, strict=True):
        values = iter(learnt)
        made[place] = replace(rows[place], logprobs=tuple(next(values) if bit else 0.0 for bit in rows[place].mask))
    return made


def unrecorded_mistake(loss: LossSpec, unrecorded: int, of: int, what: str) -> str | None:
    """What is wrong where so many of these have no log-probabilities; None = the algorithm does without them."""
    if not unrecorded or loss.clip_low is not None or loss.clip_high is not None:
        return None
    return (
        f"{loss.algorithm} is not clipped and needs the log-probabilities that tokens were sampled with; "
        f"{unrecorded} of {of} {what} have none: use grpo, ppo, cispo or gspo"
    )


def was_recorded(values: Mapping[str, Any]) -> bool:
    """Each of the agent's steps kept its token ids and their log-probabilities. Raises ValueError."""
    return _recorded_rows(values.get("steps")) is not None


def imitation_rows(
    paths: Sequence[Path], template: ChatTemplate, *, max_prompt_tokens: int, split: str | None = None
) -> tuple[list[PromptRow], LoadReport]:
    """One prompt for each thing that an assistant did: the conversation before it, what it did as the expected output
    (as the chat template writes it), and the episode's reward. Prompts that are too long are left out, and counted.
    Raises ValidationError: one, with every mistake."""
    mistakes, report = Mistakes(", ".join(map(str, paths))), LoadReport()
    made: list[PromptRow] = []
    taken: set[str] = set()
    for path in paths:
        for row in rows_of(path, mistakes, split=split):
            report.rows += 1
            try:
                name = _name_of(row.values, report.rows - 1, taken)
                prompts = list(_imitated(row.values, template, name))
            except ValueError as error:
                mistakes.add(row.origin, str(error))
                continue
            for prompt, length in prompts:
                report.longest = max(report.longest, length)
                report.too_long += length > max_prompt_tokens
                report.left_out += length > max_prompt_tokens
                if length <= max_prompt_tokens:
                    report.sequences += 1
                    report.tokens += length
                    made.append(prompt)
    mistakes.check()
    if not made:
        few = f"all prompts are longer than {max_prompt_tokens} tokens" if report.rows else "there are no rows"
        raise ValidationError(f"{mistakes.name}: there is no prompt to answer: {few}")
    return made, report


def reward_of(values: Mapping[str, Any]) -> float:
    """Reward of a recorded episode, see above. Raises ValueError."""
    stated = values.get("reward")
    if stated is not None:
        if isinstance(stated, bool | int | float) and math.isfinite(stated):
            return float(stated)
        raise ValueError(f"its reward is a finite number, not {stated!r}")
    for place in (values, values.get("worlds_summary"), values.get("metadata")):
        if isinstance(place, Mapping) and place.get("success") is not None:
            if not isinstance(place["success"], bool):
                raise ValueError(f"its success is true or false, not {place['success']!r}")
            return float(place["success"])
    return 1.0


def recorded_conversation(values: Mapping[str, Any]) -> Conversation:
    """The messages of an episode; where it has no system message, one is made of its goal and its initial state.
    Raises ValueError."""
    conversation = conversation_of(values)
    if conversation.messages[0]["role"] not in ("system", "developer"):
        messages = with_system(conversation.messages, _situation(values))
        return Conversation(messages=messages, tools=conversation.tools)
    return conversation


def _situation(values: Mapping[str, Any]) -> str:
    found: dict[str, Any] = {}
    for place in (values.get("metadata"), values.get("extra")):
        if isinstance(place, Mapping):
            found |= {name: place[name] for name in ("goal", "initial_state") if place.get(name) is not None}
    goal, state = found.get("goal"), found.get("initial_state")
    if isinstance(goal, Mapping):
        said = given(goal, ("description",))
        goal = said[1] if said else " ".join(str(value) for value in goal.values())
    lines = [f"Goal: {goal}"] if goal else []
    if state:
        lines.append(f"Initial state: {state if isinstance(state, str) else json.dumps(state, ensure_ascii=False)}")
    return "\n".join(lines)


def _episode(values: Mapping[str, Any], template: ChatTemplate) -> tuple[str, Episode]:
    conversation = recorded_conversation(values)
    first = conversation.answers[0]
    prompt = json.dumps([dict(message) for message in conversation.messages[:first]], sort_keys=True)
    recorded = _recorded_rows(values.get("steps"))
    rows = recorded if recorded is not None else template.rows(conversation)
    if any(not row.tokens or row.mask[0] for row in rows):
        raise ValueError("its first token is learnt: nothing stands before it")
    return prompt, Episode(rows=tuple(rows), reward=reward_of(values))


def _recorded_rows(steps: Any) -> list[TrainingRow] | None:
    """Training rows from steps that kept token ids; None where one of the agent's steps kept none."""
    if not isinstance(steps, list):
        return None
    rows: list[TrainingRow] = []
    for place, step in enumerate(steps):
        if step.get("source") != "agent" or not messages_of_steps([step]):
            continue
        metrics = step.get("metrics")
        columns = [metrics.get(name) for name in _RECORDED] if isinstance(metrics, Mapping) else [None]
        if None in columns:
            return None
        rows.append(_recorded_row(columns, f"steps[{place}].metrics"))
    return rows or None


def _recorded_row(columns: Sequence[Any], where: str) -> TrainingRow:
    for name, column in zip(_RECORDED, columns, strict=True):
        kinds = int | float if name == "logprobs" else int
        if not isinstance(column, list) or not all(isinstance(value, kinds) for value in column):
            raise ValueError(f"{where}.{name} is a list of numbers")
    given_ids, said, logprobs = columns
    if len(said) != len(logprobs) or not given_ids or not said or not all(value <= 0 for value in logprobs):
        raise ValueError(f"{where} has not one log-probability (0 at most) for each of its completion's tokens")
    zeros = (0,) * len(given_ids)
    return TrainingRow(
        tokens=(*given_ids, *said),
        mask=(*zeros, *(1,) * len(said)),
        logprobs=(*map(float, zeros), *map(float, logprobs)),
    )


def _name_of(values: Mapping[str, Any], number: int, taken: set[str]) -> str:
    """Its id, else its number; episodes of one task may share an id."""
    wanted = str(values["id"]) if values.get("id") is not None else numbered(number)
    name = wanted if wanted not in taken else f"{wanted}#{number}"
    taken.add(name)
    return name


def _imitated(values: Mapping[str, Any], template: ChatTemplate, name: str) -> Iterator[tuple[PromptRow, int]]:
    """(prompt, its tokens). Raises ValueError."""
    conversation, reward = recorded_conversation(values), reward_of(values)
    for place in conversation.answers:
        before = Conversation(messages=conversation.messages[:place], tools=conversation.tools)
        encoded = template.prompt(before)
        made = PromptRow(
            id=f"{name}/{place}",
            prompt=encoded.text,
            messages=before.messages,
            expected_output=template.answer(conversation, place),
            reward=reward,
        )
        yield made, len(encoded.tokens)
