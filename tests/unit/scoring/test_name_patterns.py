"""Patterns of file names: they match as `fnmatch`'s do, take linear time, and leave nothing in the process."""

from __future__ import annotations

import fnmatch
import re
from random import Random

import pytest

from harena.scoring.contracts.contract import CommandContract
from harena.scoring.contracts.parts import MOST_FILES, MOST_PATTERN_CHARACTERS, MOST_PATTERNS
from harena.scoring.name_patterns import NamePatterns
from harena.scoring.scorers.trusted_suite import kept_files

_LATE_NEGATION = re.compile(r"\[[^!\]]+!")
"""fnmatch takes a `!` for a negation that stands behind an empty range (`[b-a!c]`)"""


@pytest.mark.parametrize(
    ("pattern", "name"),
    [
        ("*.db", "d/x.db"), ("*.db", "x.dbs"), ("tests/*", "tests/a/b"), ("tests/*", "test/a"), ("", ""), ("", "a"),
        ("*", ""), ("**", "a/b"), ("?", "\U0010ffff"), ("?", ""), ("a?c", "a\nc"), ("[", "["), ("[!]", "[!]"),
        ("[]]", "]"), ("[!]]", "]"), ("[!]]", "a"), ("[a-c]x", "bx"), ("[!a-c]x", "bx"), ("[c-a]", "b"),
        ("[!c-a]", "b"),
        ("[-a]", "-"), ("[a-]", "-"), ("[a-b-c]", "-"), ("[--a]", "3"), ("[a-dc-f]", "e"), ("[!a-dc-f]", "g"),
        ("[^a]", "^"), ("[[]", "["), ("\\*", "\\x"), ("[\\]", "\\"), ("[&&|~]", "|"), ("é[à-ü]*", "éßx"),
        ("conftest.py", "conftest.py"), ("conftest.py", "d/conftest.py"), ("*a*b*", "xaxxb"), ("*a*b", "baba"),
    ],
)  # fmt: skip
def test_a_pattern_matches_as_ever(pattern: str, name: str) -> None:
    assert NamePatterns([pattern]).matches(name) == fnmatch.fnmatchcase(name, pattern)


def test_patterns_that_are_drawn_match_as_ever() -> None:
    """A name matches some of the patterns exactly where it matches one of them."""
    random = Random(3)
    for _ in range(4000):
        patterns = ["".join(random.choices("ab-]![*?c", k=random.randint(0, 7))) for _ in range(random.randint(0, 4))]
        patterns = [pattern for pattern in patterns if not _LATE_NEGATION.search(pattern)]
        made = NamePatterns(patterns)
        for _ in range(5):
            name = "".join(random.choices("abc-]![", k=random.randint(0, 6)))
            expected = any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)
            assert made.matches(name) == expected, (name, patterns)


def test_one_name_is_read_once_whatever_the_patterns_are() -> None:
    """Where a regular expression goes back and tries again."""

    class Letters(str):
        __slots__ = ("read",)

        def __iter__(self):  # type: ignore[no-untyped-def]
            self.read = 0
            for letter in str.__iter__(self):
                self.read += 1
                yield letter

    name = Letters("a" * 1000)
    assert not NamePatterns(["*a" * 400 + "b", "*" + "a?" * 200 + "b"]).matches(name)
    assert name.read == 1000


def test_nothing_of_a_contracts_patterns_is_kept() -> None:
    """Also not where each contract brings others."""
    kept = getattr(fnmatch, "_compile_pattern").cache_info().currsize  # noqa: B009 (it has no other name)
    for number in range(5):
        allow = [f"d{number}-{each}/*" for each in range(MOST_PATTERNS)]
        contract = CommandContract(type="command", pytest=("test_a.py",), allow=tuple(allow))
        there = {f"d{number}-3/conftest.py": "", "conftest.py": ""}
        assert kept_files(contract, there) == {f"d{number}-3/conftest.py": ""}
    assert getattr(fnmatch, "_compile_pattern").cache_info().currsize == kept  # noqa: B009 (likewise)


@pytest.mark.parametrize("field", ["changeable", "allow"])
@pytest.mark.parametrize(
    ("patterns", "said"),
    [
        (["a"] * (MOST_PATTERNS + 1), "at most 100 items"),
        (["a" * 1025], "at most 1024 characters"),
        (["a" * 1000] * 9, "have 9000 characters in all, more than the 8192 allowed"),
    ],
)
def test_patterns_of_a_contract_are_bounded(field: str, patterns: list[str], said: str) -> None:
    """By their number, the length of each, and that of all."""
    with pytest.raises(ValueError, match=said):
        CommandContract.model_validate({"type": "command", "command": ["true"], field: patterns})


def test_as_many_patterns_as_there_may_be_hold_little() -> None:
    """What is made of them is no larger for being of other letters than of the same."""
    pattern = "".join(chr(0x4E00 + number) for number in range(80))
    made = NamePatterns([pattern[number:] + pattern[:number] for number in range(MOST_PATTERNS)])
    assert sum(number.bit_length() for number in made._taking) < 20 * 8 * 1024**2
    assert not any(made.matches("x" * number) for number in range(MOST_FILES))
    assert MOST_PATTERNS * len(pattern) <= MOST_PATTERN_CHARACTERS
