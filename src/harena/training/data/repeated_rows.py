"""Finds the rows of an evaluation that are learned from, too, by their ids and by what they ask.

Data sets are read in a process apart, which answers with names and digests, not with rows.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from harena.training.data.conversations import conversation_of, prompt_conversation_of
from harena.training.data.datasets import prompt_row_of
from harena.training.data.imported_rows import imported
from harena.training.data.prompts import digest, set_aside
from harena.training.data.row_files import Mistakes, Row, rows_of
from harena.training.reading import apart


@apart
def evaluated_rows(path: Path, *, split: str | None, share: float | None, most: int | None) -> list[list[str | None]]:
    """[what a row is called, its id, digest of what it asks] of the first `most` rows that are evaluated: of all, or
    of the `share` of them that is held out. None = it says no id, or asks nothing. Raises ValidationError."""
    rows = _rows(path, split)
    chosen = rows if share is None else _sides(rows, share)[1]
    told = ((row, own_id(row.values)) for row in chosen[:most])
    return [[own or row.origin, own, asked_digest(row.values)] for row, own in told]


@apart
def met_rows(
    path: Path, *, split: str | None, share: float | None, ids: Sequence[str], asked: Sequence[str]
) -> dict[str, Any]:
    """{ids, asked, rows}: those of the given ones that rows which are learned from have, and how many rows these are.
    `share` is held out of the data set. Raises ValidationError."""
    rows = _rows(path, split)
    learned = rows if share is None else _sides(rows, share)[0]
    wanted_ids, wanted_asked = set(ids), set(asked)
    return {
        "ids": sorted(wanted_ids.intersection(filter(None, (own_id(row.values) for row in learned)))),
        "asked": sorted(wanted_asked.intersection(filter(None, (asked_digest(row.values) for row in learned)))),
        "rows": len(learned),
    }


def own_id(values: Mapping[str, Any]) -> str | None:
    """The id that a row says, in any of the formats; None = it says none."""
    try:
        return prompt_row_of(values, id="").id or None
    except ValueError:
        return None if values.get("id") is None else str(values["id"])


def asked_digest(values: Mapping[str, Any]) -> str | None:
    """A digest of what a row asks, white space at the ends of its messages aside; None = it asks nothing. A row to
    learn from asks what stands before its last answer."""
    try:
        messages = prompt_conversation_of(imported(values)).messages
    except ValueError:
        try:
            conversation = conversation_of(values)
        except ValueError:
            return None
        messages = conversation.messages[: conversation.answers[-1]]
    asked = [{**message, "content": str(message.get("content") or "").strip()} for message in messages]
    return digest(json.dumps(asked, sort_keys=True)) if asked else None


def _rows(path: Path, split: str | None) -> list[Row]:
    return rows_of(path, Mistakes(str(path)), split=split)  # what is wrong with rows has been told


def _sides(rows: Sequence[Row], share: float) -> tuple[list[Row], list[Row]]:
    """(learned from, held out), as the worker sets prompts aside."""
    prompts = [prompt_row_of(row.values, id=f"{number}") for number, row in enumerate(rows, 1)]
    held_out = {prompt.id for prompt in set_aside(prompts, share)[1]}
    told = list(zip(rows, prompts, strict=True))
    return [row for row, one in told if one.id not in held_out], [row for row, one in told if one.id in held_out]
