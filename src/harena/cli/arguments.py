"""Several values after one option: `--packages numpy pytest` means `--packages numpy --packages pytest`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

MANY_VALUES: dict[tuple[str, str], frozenset[str]] = {
    ("blueprint", "create"): frozenset({"--packages", "--warm", "--env", "--file"}),
}
"""(group, command) -> the options that take every word up to the next option"""


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
