"""Ranges of ids that templates are given."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from harena.runtime.spawner import template_users
from harena.runtime.spawner.template_users import IDS, TemplateUsers, subordinate


def claimed() -> TemplateUsers:
    """What a template under root gets."""
    return template_users.claimed(privileged=True, otherwise=1_900_000_001)


@pytest.fixture
def claims(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Where claims are, for this test."""
    monkeypatch.setattr(template_users, "CLAIMS", str(tmp_path / "ids"))
    return tmp_path / "ids"


def test_no_two_have_one_range_and_none_has_a_single_id(claims: Path) -> None:
    """Single ids are 1.9e9 + 500 for each of at most 2**22 processes; the last two ids of all are nobody's."""
    made = [claimed() for _ in range(100)]
    firsts = sorted(each.first for each in made)
    assert len(set(firsts)) == 100
    assert all(first % IDS == 0 for first in firsts)
    assert firsts[0] >= 1_900_000_000 + 500 * 2**22
    assert template_users._END_OF_RANGES * IDS + IDS - 1 < 2**32 - 2 + IDS
    assert firsts[-1] + IDS - 1 < 2**32 - 2
    assert {each.count for each in made} == {IDS}
    for each in made:
        each.let_go()


def test_a_range_that_was_let_go_of_is_free(claims: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(template_users, "_END_OF_RANGES", template_users._FIRST_RANGE + 2)
    first, second = claimed(), claimed()
    without = claimed()
    assert (without.first, without.group, without.count) == (1_900_000_001, 1_900_000_001, 1)
    assert "no range of ids is free" in without.said()
    second.let_go()
    assert claimed().first == second.first
    first.let_go()
    assert first.said() == "65536 ids, of a range of its own"


def test_without_a_place_for_claims_there_is_one_id(claims: Path) -> None:
    claims.write_text("")
    without = claimed()
    assert (without.first, without.count, without.lock) == (1_900_000_001, 1, -1)
    assert "File exists" in without.said()


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("me:100000:65536\n", 100000),
        ("you:1:65536\n1000:231072:65535\n", 231072),
        ("me:100000:1000\nme:500000:65536", 500000),
        ("me:100000\nme:x:65536\n:::\n\nmeme:1:65536\n", None),
        ("me:100000:65534\n", None),
        ("", None),
    ],
)
def test_subordinate_ids_are_those_of_the_user(text: str, first: int | None) -> None:
    assert subordinate(text, ["me", "1000"]) == first


def test_an_ordinary_user_without_the_programs_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    alone = template_users.claimed(privileged=False, otherwise=5)
    assert (alone.first, alone.count) == (os.geteuid(), 1)
    assert "newuidmap and newgidmap are not there" in alone.said()
    assert "apt-get install uidmap" in alone.said()
