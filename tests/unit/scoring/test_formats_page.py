"""docs/reference/formats.md: every format and every comparison profile that data sets use is on it."""

from __future__ import annotations

from pathlib import Path

from harena.scoring.formats import FORMATS
from harena.scoring.formats.cases import PROFILES
from harena.scoring.formats.samples import COMPLETIONS, PROBLEM_FIELDS

PAGE = (Path(__file__).parents[3] / "docs" / "reference" / "formats.md").read_text(encoding="utf-8")


def test_every_format_is_on_the_page() -> None:
    """In the table, by the name that --format takes."""
    assert [name for name in FORMATS if f"| `{name}` |" not in PAGE] == []


def test_every_profile_is_on_the_page() -> None:
    """With what it is used for."""
    assert [name for name in PROFILES if f"| `{name}` |" not in PAGE] == []


def test_the_fields_of_answers_are_on_the_page() -> None:
    """Those that name the problem, and those that hold a completion."""
    missing = [name for name in (*PROBLEM_FIELDS, *COMPLETIONS) if f"`{name}`" not in PAGE]
    assert missing == []
