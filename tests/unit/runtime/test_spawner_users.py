"""Users of the host that templates are given."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from harena.runtime.spawner import single_users, spawner
from harena.runtime.spawner.spawner import Spawner


@pytest.fixture(autouse=True)
def claims(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Where users are claimed, for this test."""
    monkeypatch.setattr(single_users, "CLAIMS", str(tmp_path / "run" / "ids"))
    return tmp_path / "run"


def bare() -> Spawner:
    """A spawner that has started nothing."""
    made = Spawner.__new__(Spawner)
    made.templates, made.users_given = {}, 0
    made.first_user, made.users_lock = None, -1
    return made


def end(made: Spawner) -> None:
    """As its process would, with all that it has started."""
    os.close(made.users_lock)


def draws(monkeypatch: pytest.MonkeyPatch, *blocks: int) -> None:
    """What is drawn, in this order."""
    left = list(blocks)
    monkeypatch.setattr(single_users, "_drawn", lambda: left.pop(0))


def test_no_two_living_templates_have_one_user() -> None:
    """Whatever their numbers are: those count sandboxes and questions too, and so are equal modulo anything."""
    made = bare()
    for number in range(0, 50 * 200, 50):
        made.templates[number] = SimpleNamespace(user=made._free_user())  # type: ignore[assignment]
    users = [each.user for each in made.templates.values()]
    assert len(set(users)) == len(users)
    first = made.first_user
    assert first is not None
    assert all(first <= user < first + 500 for user in users)
    end(made)


def test_a_user_comes_again_as_late_as_possible() -> None:
    """What the kernel still holds for one that has ended is not met by the next."""
    made = bare()
    given = [made._free_user() for _ in range(500)]
    assert len(set(given)) == 500
    assert made._free_user() == given[0]
    end(made)


def test_more_templates_than_users(monkeypatch: pytest.MonkeyPatch) -> None:
    """None is shared: the start fails, and says why."""
    monkeypatch.setattr(spawner, "_MOST_USERS", 2)
    made = bare()
    for number in range(2):
        made.templates[number] = SimpleNamespace(user=made._free_user())  # type: ignore[assignment]
    with pytest.raises(OSError, match="each needs a user of its own") as caught:
        made._free_user()
    assert caught.value.errno == errno.EUSERS
    end(made)


def test_two_spawners_never_have_one_user(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the numbers of their processes are, which two containers may have the same; what has ended is free."""
    draws(monkeypatch, 7, 7, 8, 7, 7, 9)
    one, other = bare(), bare()
    assert one._free_user() == 1_900_000_000 + 7 * 500 + 1
    assert other._free_user() == 1_900_000_000 + 8 * 500 + 1
    end(one)
    third, fourth = bare(), bare()
    assert third._free_user() == 1_900_000_000 + 7 * 500 + 1
    assert fourth._free_user() == 1_900_000_000 + 9 * 500 + 1
    for made in (other, third, fourth):
        end(made)


def test_where_nothing_can_be_claimed_a_block_is_drawn(claims: Path) -> None:
    """It is seldom another one's: there are four million, all of them below the ranges of images."""
    claims.write_text("no folder")
    blocks = {single_users.claimed() for _ in range(20)}
    assert len(blocks) >= 18  # one in 24,000 of these draws has one twice
    assert {lock for _, lock in blocks} == {-1}
    assert all(first % 500 == 0 for first, _ in blocks)
    assert spawner._MOST_USERS == single_users.IDS
