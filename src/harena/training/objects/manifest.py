"""Reading capability.yaml and task.yaml: every mistake is noted with the file and the field."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from harena.core.checked import quote
from harena.core.errors import ValidationError
from harena.core.registry import SEMANTIC_PATTERN
from harena.scoring.reading import ScenarioFileError, read_document

KEBAB = r"[a-z0-9][a-z0-9-]*"
MOST_BYTES = 1024 * 1024


class Manifest:
    """One manifest's fields, and what is wrong with them."""

    def __init__(self, folder: Path, file_name: str, *, what: str) -> None:
        """Raises ValidationError where there is none, or it cannot be read, or is no mapping."""
        self.folder = folder
        self._file = file_name
        self._what = what
        self.mistakes: list[str] = []
        path = folder / file_name
        if not path.is_file():
            raise ValidationError(f"a {what} is a directory with {file_name}, and there is none")
        if path.stat().st_size > MOST_BYTES:
            raise ValidationError(f"{file_name} is larger than {MOST_BYTES} bytes, which no manifest needs")
        try:
            written = read_document(path).content
        except ScenarioFileError as error:
            self.mistakes = str(error).split("\n  ")[1:]
            self.check()
            raise
        if not isinstance(written, Mapping) or not all(isinstance(key, str) for key in written):
            raise ValidationError(f"{file_name} holds no mapping from names to values")
        self.fields: Mapping[str, Any] = written

    def check(self) -> None:
        """Raises ValidationError that lists all that was noted."""
        if self.mistakes:
            raise ValidationError("\n  ".join([f"this {self._what} cannot be published:", *self.mistakes]))

    def wrong(self, field: str, text: str) -> None:
        """Note a mistake."""
        self.mistakes.append(f"{self._file}: {field}: {text}")

    def known(self, names: Collection[str]) -> None:
        """Note every field that is none of these."""
        for field in self.fields:
            if field not in names:
                close = difflib.get_close_matches(field, names, n=1, cutoff=0.6)
                there = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(names)}"
                self.wrong(field, f"unknown field; {there}")

    def text(self, field: str, *, need: bool = True) -> str:
        """A text that is not empty; "" where it is missing or wrong, which is noted where it is needed."""
        value = self.fields.get(field)
        if isinstance(value, str) and value.strip():
            return value
        if need or value is not None:
            self.wrong(field, f"must be text that is not empty (got {quote(value)})")
        return ""

    def file(self, field: str, value: str) -> Path | None:
        """A file of the object, by its name in it; a mistake is noted."""
        parts = Path(value).parts
        if Path(value).is_absolute() or ".." in parts:
            self.wrong(field, f"must be the name of a file in the directory (got {quote(value)})")
        elif not (self.folder / value).is_file():
            self.wrong(field, f"there is no file {quote(value)} in the directory")
        else:
            return self.folder / value
        return None

    def identity(self, name: str, version: str) -> None:
        """Note a name or version that is none, or another than what it is published under."""
        for field, given, pattern, like in (
            ("name", name, KEBAB, "small letters, digits and '-', as my-solver"),
            ("version", version, SEMANTIC_PATTERN, "three numbers in quotes, as '1.0.0'"),
        ):
            value = self.fields.get(field)
            if not isinstance(value, str) or not re.fullmatch(pattern, value):
                self.wrong(field, f"must be {like} (got {quote(value)})")
            elif value != given:
                self.wrong(field, f"is {value!r}, and it is to be published as {name}@{version}: make them the same")
