"""The answers of a model in a JSONL file, appended as they are sampled: who is interrupted goes on where it ended.

The first line says what was asked; each further line is one answer:

    {"model": ..., "dataset": ..., "settings": {...}, "format": 1}
    {"problem": "HumanEval/0", "sample": 0, "text": "...", "tokens": 211, "cut_off": false}
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from harena.core.errors import ValidationError
from harena.core.home import private_opener
from harena.core.outside_json import read_outside

FORMAT = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAnswer:
    """What a model said to one problem, once."""

    problem: str
    """id of the problem"""
    sample: int
    """0, 1, ... within the problem"""
    text: str
    tokens: int | None
    """number of its tokens; None = the model's server does not say"""
    cut_off: bool
    """it reached the longest length that was allowed"""

    @property
    def key(self) -> tuple[str, int]:
        """It names the answer among those that were asked for: problem and sample."""
        return self.problem, self.sample


class AnswersFile:
    """One evaluation's answers."""

    def __init__(self, path: Path, asked: Mapping[str, Any]) -> None:
        """`asked` says what is evaluated, as JSON types. Raises ValidationError for a file of another evaluation, or
        one that holds anything else; OSError."""
        self.path = path
        if path.is_dir():
            raise ValidationError(f"{path} is a folder: name a file")
        self._asked = {**asked, "format": FORMAT}
        self._answers = dict(self._read())

    def __iter__(self) -> Iterator[ModelAnswer]:
        """The answers, in the order in which they were added."""
        return iter(self._answers.values())

    def __len__(self) -> int:
        """How many there are."""
        return len(self._answers)

    def __contains__(self, key: object) -> bool:
        """Whether there is an answer with this `key`."""
        return key in self._answers

    def add(self, answers: Iterable[ModelAnswer]) -> None:
        """Append answers, and let the disk have them. Raises OSError."""
        new = [answer for answer in answers if answer.key not in self._answers]
        lines = [json.dumps(asdict(answer)) for answer in new]
        if not self.path.exists():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            lines.insert(0, json.dumps(self._asked))
        with open(self.path, "a", encoding="utf-8", opener=private_opener) as file:
            file.write("".join(f"{line}\n" for line in lines))
            file.flush()
            os.fsync(file.fileno())
        self._answers.update((answer.key, answer) for answer in new)

    def _read(self) -> Iterator[tuple[tuple[str, int], ModelAnswer]]:
        if not self.path.exists():
            return
        whole = self.path.read_bytes()
        lines = whole.split(b"\n")
        if lines[-1]:  # the process ended within a line: the answer is sampled again
            os.truncate(self.path, len(whole) - len(lines[-1]))
        if len(lines) == 1:
            self.path.unlink()
            return
        if (told := self._parsed(lines[0], 1)) != self._asked:
            differing = sorted(name for name in {*told, *self._asked} if told.get(name) != self._asked.get(name))
            raise ValidationError(
                f"{self.path} holds the answers of another evaluation (it differs in {', '.join(differing)}): "
                "name another file, or delete this one"
            )
        for number, line in enumerate(lines[1:-1], 2):
            try:
                answer = ModelAnswer(**self._parsed(line, number))
            except TypeError:
                raise self._unreadable(number) from None
            yield answer.key, answer

    def _parsed(self, line: bytes, number: int) -> dict[str, Any]:
        try:
            told = read_outside(line.decode())
        except (ValueError, RecursionError):
            raise self._unreadable(number) from None
        if not isinstance(told, dict):
            raise self._unreadable(number)
        return told

    def _unreadable(self, number: int) -> ValidationError:
        return ValidationError(
            f"{self.path}:{number}: this is no answer of an evaluation: name another file, or delete this one"
        )
