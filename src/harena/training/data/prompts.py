"""Rows to learn from, and the order in which they are used: a function of the seed, with nothing to remember."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from harena.core.errors import ValidationError
from harena.scoring.formats.answers import with_opened_reasoning
from harena.training.data.imported_rows import ProgramForm


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptRow:
    """A prompt, and what its reward recipe needs to know."""

    id: str
    prompt: str
    messages: tuple[Mapping[str, Any], ...] = ()
    """the conversation that a chat template made `prompt` of, if one did"""
    expected_output: str | None = None
    answer_problem: str | None = None
    """why no reply can be expected to equal `expected_output`, in words: it is a list, say. Recipes that compare texts
    refuse such a row"""
    reward: float | None = None
    scoring: Mapping[str, Any] | None = None
    """a scoring contract"""
    program: ProgramForm | None = None
    """how an answer becomes the program that the contract judges"""
    metadata: Mapping[str, Any] = field(default_factory=dict)


def as_judged(row: PromptRow, said: str) -> str:
    """What was said to the row's prompt, as recipes read it: where the prompt has opened a reasoning and it was never
    ended, with the mark that opened it in front."""
    return with_opened_reasoning(row.prompt, said)


def set_aside(rows: Sequence[PromptRow], share: float) -> tuple[list[PromptRow], list[PromptRow]]:
    """(rows that are learned from, rows that are held out), of both at least one. Which side a row is on depends on its
    id alone: the same in each job, whatever rows are added. Raises ValidationError where there are fewer than two."""
    if len(rows) < 2:
        raise ValidationError(f"held_out: there are {len(rows)} prompts, of which none can be held out")
    in_order = sorted(rows, key=lambda row: digest(row.id))
    held = [row for row in in_order if int(digest(row.id), 16) < share * 16**16] or in_order[:1]
    chosen = {row.id for row in (held if len(held) < len(rows) else held[:-1])}
    return [row for row in rows if row.id not in chosen], [row for row in rows if row.id in chosen]


def row_at(place: int, *, rows: int, seed: int) -> int:
    """Which row is at this place of an endless order: epoch after epoch, each shuffled anew."""
    epoch, within = divmod(place, rows)
    return _epoch(epoch, rows, seed)[within]


@lru_cache(maxsize=4)
def _epoch(epoch: int, rows: int, seed: int) -> list[int]:
    order = list(range(rows))
    random.Random(f"{seed}/{epoch}").shuffle(order)  # noqa: S311 - an order, not a secret
    return order


def sample_key(seed: int, *, place: int, sample: int, readmissions: int = 0, turn: int = 0) -> tuple[int, ...]:
    """The source of a rollout's randomness: nothing of it depends on when the rollout is made."""
    return (seed, place, sample, readmissions, turn)


def digest(text: str) -> str:
    """sha256, shortened to 16 hexadecimal digits."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
