"""MBPP problems: a text, and asserts that a solution must pass."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FILE = "MBPP_FILE"
"""names a file of MBPP's own rows, one JSON object to a line, in place of the data set of the Hugging Face hub"""
DATASET = "google-research-datasets/mbpp"


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One problem of MBPP."""

    task_id: int
    text: str
    tests: tuple[str, ...]

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Problem:
        """Read a row, under the names of both forms of the data set. Raises KeyError."""
        text = row["text"] if "text" in row else row["prompt"]
        return cls(task_id=int(row["task_id"]), text=text, tests=tuple(row["test_list"]))


def load_problems(count: int) -> list[Problem]:
    """The first `count` problems of the training split. Raises SystemExit that says what to do."""
    rows: Iterable[Mapping[str, Any]]
    if place := os.environ.get(FILE):
        rows = [json.loads(line) for line in Path(place).read_text(encoding="utf-8").splitlines()]
    else:
        try:
            from datasets import load_dataset

            rows = load_dataset(DATASET, split="train")
        except Exception as error:  # no package, no network, no cache: each has an error of its own
            raise SystemExit(f"{DATASET} cannot be loaded ({error}): name a file of its rows in {FILE}") from error
    return [Problem.of(row) for row, _ in zip(rows, range(count), strict=False)]
