"""A data set: what its rows can be used for, found out once, when it is published.

    sft           each row is a conversation, or a prompt and its answer
    prompts       each row is something to be answered
    trajectories  each row is what an agent did: ATIF, or a conversation in which the assistant acts

A data set that can be used for nothing is refused, and the first row that stands in the way is named.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from harena.core.errors import ValidationError
from harena.core.records.objects import DatasetDescription, SplitDescription
from harena.scoring.formats.final_number import last_number
from harena.scoring.formats.gsm8k import MARKED
from harena.training.data.datasets import prompt_row_of
from harena.training.data.demonstrations import conversation_to_learn
from harena.training.data.prompts import PromptRow
from harena.training.data.row_files import Mistakes, Row, rows_of, splits_of
from harena.training.objects.atif import check_trajectory
from harena.training.reading import apart

Use = Literal["sft", "prompts", "trajectories"]
_MATH = re.compile(r"(?:^|/)MATH(?:-lighteval|-500)?$")
"""data sets of worked solutions whose answers are in boxes: `lighteval/MATH`"""
MOST_SPLITS = 1000
"""splits of one data set: each is read by itself, and has its place in what is stored of it"""


def read_dataset(folder: Path) -> DatasetDescription:
    """The splits of a data set. Raises ValidationError."""
    files = [entry for entry in folder.iterdir() if entry.name != ".gitattributes"]
    only = files[0] if len(files) == 1 and files[0].is_file() else None
    place = only or folder
    splits = splits_of(place)
    if len(splits) > MOST_SPLITS:
        raise ValidationError(
            f"the data set has {len(splits)} splits (the first folder below it, else the beginning of a file's "
            f"name), and may have {MOST_SPLITS}: put files of one split into one folder"
        )
    parts = {split or "": read_part(place, split=split) for split in splits}
    return DatasetDescription(path=only.name if only else "", parts=parts)


def read_part(place: Path, *, split: str | None) -> SplitDescription:
    """What the rows of one split can be used for; None = of rows that have none. Raises ValidationError."""
    return SplitDescription.from_dict(_part_read(place, split=split))


@apart
def _part_read(place: Path, *, split: str | None) -> dict[str, Any]:
    unread = Mistakes(str(place))
    rows = rows_of(place, unread, split=split)
    if unread.count:  # all that has to be corrected is told at once
        for row, why in _of_no_use(rows):
            unread.add(row.origin, why)
    unread.check()
    if not rows:
        raise ValidationError("the data set has no rows: there is nothing to learn from")
    cannot: dict[str, tuple[int, str]] = {}
    for use, read in _READERS.items():
        if (wrong := _first_wrong(rows, read)) is not None:
            cannot[use] = wrong
    if len(cannot) == len(_READERS):
        furthest = max(cannot.values(), key=lambda found: found[0])
        others = Mistakes(str(place))
        for row, why in _of_no_use(rows):
            if f"{row.origin}: {why}" != furthest[1]:
                others.add(row.origin, why)
        raise ValidationError(
            f"the data set can be used neither for SFT nor as prompts nor trajectories: {furthest[1]}{others.listed()}"
        )
    return {
        "rows": len(rows),
        "uses": [use for use in _READERS if use not in cannot],
        "cannot": {use: text for use, (_, text) in cannot.items()},
        "reward_recipe": _recipe(rows) if "prompts" not in cannot else None,
    }


def _of_no_use(rows: Sequence[Row]) -> Iterator[tuple[Row, str]]:
    """Rows that can be used for nothing, and why not for the first use."""
    for row in rows:
        reasons = [wrong[1] for read in _READERS.values() if (wrong := _first_wrong([row], read)) is not None]
        if len(reasons) == len(_READERS):
            yield row, reasons[0].removeprefix(f"{row.origin}: ")


def _first_wrong(rows: Sequence[Row], read: Callable[[Mapping[str, Any]], object]) -> tuple[int, str] | None:
    """(its number, where it is and what is wrong) of the first row that cannot be read so."""
    for number, row in enumerate(rows):
        try:
            read(row.values)
        except ValueError as error:
            return number, f"{row.origin}: {error}"
    return None


def _as_prompt(values: Mapping[str, Any]) -> object:
    if values.get("steps") is not None:
        raise ValueError("it is a trajectory, and no prompt")
    return prompt_row_of(values, id="row")


_READERS: Mapping[Use, Callable[[Mapping[str, Any]], object]] = {
    "sft": conversation_to_learn,
    "prompts": _as_prompt,
    "trajectories": check_trajectory,
}


def _recipe(rows: Sequence[Row]) -> str:
    """The reward recipe that every row has what it takes for."""
    made = [prompt_row_of(row.values, id="row") for row in rows]
    if all(row.scoring is not None for row in made):
        return "code_tests_v1"
    if made and all(map(_is_of_gsm8k, made)):
        return "gsm8k_v1"
    if made and all(map(_is_of_math, made)):
        return "math_v1"
    if all(row.expected_output is not None for row in made):
        return "exact_match_v1"
    return "row_reward_v1"


def _is_of_math(row: PromptRow) -> bool:
    """Its right answer is in a box, or its prompt asks for one, or it says that it is of MATH."""
    if not (row.expected_output or "").strip():
        return False
    asked = [row.prompt, *(str(message.get("content")) for message in row.messages), row.expected_output or ""]
    source = str(row.metadata.get("data_source", ""))
    return any("\\boxed" in text for text in asked) or _MATH.search(source) is not None


def _is_of_gsm8k(row: PromptRow) -> bool:
    """Its right answer is the number behind `####`, with or without the reasoning before it; or a number, and the row
    says that it is of that data set."""
    expected = row.expected_output or ""
    if last_number(expected) is None:
        return False
    return MARKED.search(expected) is not None or "gsm8k" in str(row.metadata.get("data_source", "")).lower()
