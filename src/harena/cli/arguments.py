"""Rewrites command lines before they are parsed: several values of one option, and references to stored scenarios.

Several values after one option: `--packages numpy pytest` means `--packages numpy --packages pytest`. In place of a
scenario file, `ref:NAME@2` means stored scenarios (a file of such a name is given by its absolute path).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

MANY_VALUES: dict[tuple[str, str], frozenset[str]] = {
    ("blueprint", "create"): frozenset({"--packages", "--warm", "--env", "--file"}),
    ("benchmark", "run"): frozenset({"--retry-on"}),
    ("benchmark", "submit"): frozenset({"--retry-on"}),
    ("sft", "validate"): frozenset({"--retry-on"}),
}
"""(group, command) -> the options that take every word up to the next option"""


STORED = "ref:"


def stored_or_file(given: Path) -> str | dict[str, str]:
    """A file's path, or {"ref": "NAME@2"}."""
    words = str(given)
    return {"ref": words.removeprefix(STORED)} if words.startswith(STORED) else words


def spread(words: Sequence[str]) -> list[str]:
    """The command line in the form that the parser knows. Pure; other commands pass through as they are."""
    many = MANY_VALUES.get(tuple(words[:2])) if len(words) >= 2 else None  # type: ignore[arg-type]
    return list(words) if many is None else list(_spread(words, many))


def _spread(words: Sequence[str], many: frozenset[str]) -> Iterator[str]:
    option: str | None = None
    values = 0
    for index, word in enumerate(words):
        if word == "--":
            yield from words[index:]
            return
        if word.startswith("-"):
            option, values = (word if word in many else None), 0
            yield word
        elif option is None or values == 0:
            values += 1
            yield word
        else:
            yield option
            yield word
