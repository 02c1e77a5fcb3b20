"""Docstrings stand alone: a reader of one needs neither the line before it nor the docstring of a neighbour."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from parsed_sources import tree_of

REPOSITORY = Path(__file__).parents[2]
ROOT = REPOSITORY / "src" / "harena"
FRAGMENT = re.compile(r"(of|as|the same|that|those|see)\b", re.IGNORECASE)
"""how a docstring begins that continues a sentence which only its author has in mind, or sends its reader elsewhere"""


def _docstrings(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and text of every string that stands as a statement: docstrings, and those below fields and constants."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.lineno, node.value.value.strip()


def fragments(tree: ast.AST) -> list[tuple[int, str]]:
    """Docstrings of a file that open as fragments, with their lines."""
    return sorted((line, text) for line, text in _docstrings(tree) if FRAGMENT.match(text))


def test_fragments_are_found() -> None:
    source = 'def f():\n    """Of the body."""\n\nLIMIT = 3\n"""that one lists"""\n\ndef g():\n    """Assign it."""\n'
    source += 'def h():\n    """See `Port`."""\n\ndef i():\n    """Seek it."""\n'
    assert fragments(ast.parse(source)) == [(2, "Of the body."), (5, "that one lists"), (10, "See `Port`.")]


@pytest.mark.parametrize("room", sorted(path.name for path in ROOT.iterdir() if path.is_dir() or path.suffix == ".py"))
def test_no_docstring_opens_as_a_fragment(room: str) -> None:
    """It begins with a verb or with the noun that it describes."""
    if room.startswith("__pycache__"):
        return
    place = ROOT / room
    found = [
        f"{path.relative_to(ROOT)}:{line}: {text.splitlines()[0]}"
        for path in (sorted(place.rglob("*.py")) if place.is_dir() else [place])
        if path.suffix == ".py"
        for line, text in fragments(tree_of(path))
    ]
    assert found == []


@pytest.mark.parametrize("folder", ["benchmarks", "examples", "scripts"])
def test_no_docstring_beside_the_package_opens_as_a_fragment(folder: str) -> None:
    """What a newcomer runs first is read first."""
    found = [
        f"{path.relative_to(REPOSITORY)}:{line}: {text.splitlines()[0]}"
        for path in sorted((REPOSITORY / folder).rglob("*.py"))
        for line, text in fragments(tree_of(path))
    ]
    assert found == []
