"""The published list of hostile behaviours is the list that is measured."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from benchmarks.hostile import BEHAVIOURS, BY_NAME, drawn_pairs
from benchmarks.hostile_requests import CLIENTS

PAGE = Path(__file__).parents[3] / "docs/reference/hostile-behaviours.md"


def test_the_published_list_is_the_measured_one() -> None:
    """Each behaviour once, in order, with its sentence."""
    rows = re.findall(r"^\| `([\w-]+)` \| (program|client) \| (.*) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert rows == [(each.name, "client" if each.program is None else "program", each.does) for each in BEHAVIOURS]
    assert len(BY_NAME) == len(BEHAVIOURS) == 32


def test_each_behaviour_is_a_program_or_a_client() -> None:
    """A program that does not parse would be a behaviour that does nothing."""
    for each in BEHAVIOURS:
        if each.program is not None:
            ast.parse(each.source())
    assert {each.name for each in BEHAVIOURS if each.program is None} == set(CLIENTS)


def test_pairs_are_drawn_by_their_seed() -> None:
    """The same ones for the same seed, none twice, none of a behaviour with itself."""
    drawn = drawn_pairs(11, 100)
    assert drawn == drawn_pairs(11, 100) != drawn_pairs(12, 100)
    assert len({frozenset((one.name, other.name)) for one, other in drawn}) == 100
    assert all(one is not other for one, other in drawn)
    with pytest.raises(ValueError, match="496"):
        drawn_pairs(1, 497)
