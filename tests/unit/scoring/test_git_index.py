"""Indexes of git that are brought up to date after a move."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harena.scoring.scorers.git_index import State, asks_git, moved, parsed_states

WAS = State((1, 2), (3, 4), 5, 6, 7, 8, 9)
NOW = State((10, 11), (3, 4), 12, 13, 7, 8, 9)


def entry(name: bytes, state: State) -> bytes:
    made = struct.pack(">10I", *state.fields(0o100644)) + b"\1" * 20 + len(name).to_bytes(2, "big") + name
    return made + b"\0" * (8 - len(made) % 8)


def index(*entries: bytes) -> bytes:
    return b"DIRC" + struct.pack(">II", 2, len(entries)) + b"".join(entries) + b"\0" * 20


def test_what_was_true_stays_true() -> None:
    """Other entries stay, and so do the object names, modes and names of all."""
    other = State((1, 2), (3, 4), 5, 77, 7, 8, 9)
    given = index(entry(b"a", WAS), entry(b"b", other), entry(b"c", WAS))
    before, after = {b"/r/a": WAS, b"/r/b": WAS, b"/r/c": WAS}, {b"/r/a": NOW, b"/r/b": NOW}
    assert moved(given, b"/r", before, after) == index(entry(b"a", NOW), entry(b"b", other), entry(b"c", WAS))


def test_a_file_of_another_size_is_another_file() -> None:
    grown = State((10, 11), (3, 4), 12, 13, 7, 8, 10)
    assert moved(index(entry(b"a", WAS)), b"/r", {b"/r/a": WAS}, {b"/r/a": grown}) is None


@given(st.binary(max_size=300), st.sampled_from([2, 3, 4]), st.integers(0, 5))
def test_no_index_is_more_than_what_it_says(rest: bytes, version: int, count: int) -> None:
    states = {b"/r/" + rest[at : at + 1]: WAS for at in range(len(rest))}
    made = moved(b"DIRC" + struct.pack(">II", version, count) + rest, b"/r", states, states)
    assert made is None or len(made) == 12 + len(rest)


@pytest.mark.parametrize("cut", range(0, 120, 7))
def test_an_index_that_is_cut_stays_as_it_is(cut: int) -> None:
    whole = index(entry(b"a", WAS))
    assert moved(whole[: len(whole) - 1 - cut], b"/r", {b"/r/a": WAS}, {b"/r/a": NOW}) is None


def test_states_are_read_as_find_prints_them() -> None:
    told = b"/r/a\x001.5000000000 -2.0000000010 5 6 7 8 9\0/r/b\0?\0"
    assert parsed_states(told) == {b"/r/a": State((1, 500000000), (-2, 1), 5, 6, 7, 8, 9)}


def test_who_names_git_may_ask_it() -> None:
    assert [asks_git([text]) for text in ("git diff-index", "['git', 'x']", "cat .gitignore", "digit")] == [
        True, True, False, False,
    ]  # fmt: skip
