"""Users of the host that templates are given."""

from __future__ import annotations

import errno
import os
from types import SimpleNamespace

import pytest

from harena.runtime.spawner import spawner
from harena.runtime.spawner.spawner import Spawner


def bare() -> Spawner:
    """A spawner that has started nothing."""
    made = Spawner.__new__(Spawner)
    made.templates, made.users_given = {}, 0
    return made


def test_no_two_living_templates_have_one_user() -> None:
    """Whatever their numbers are: those count sandboxes and questions too, and so are equal modulo anything."""
    made = bare()
    for number in range(0, 50 * 200, 50):
        made.templates[number] = SimpleNamespace(user=made._free_user())  # type: ignore[assignment]
    users = [each.user for each in made.templates.values()]
    assert len(set(users)) == len(users)
    first = 1_900_000_000 + os.getpid() * 500
    assert all(first <= user < first + 500 for user in users)


def test_a_user_comes_again_as_late_as_possible() -> None:
    """What the kernel still holds for one that has ended is not met by the next."""
    made = bare()
    given = [made._free_user() for _ in range(500)]
    assert len(set(given)) == 500
    assert made._free_user() == given[0]


def test_more_templates_than_users(monkeypatch: pytest.MonkeyPatch) -> None:
    """None is shared: the start fails, and says why."""
    monkeypatch.setattr(spawner, "_UIDS_PER_SPAWNER", 2)
    made = bare()
    for number in range(2):
        made.templates[number] = SimpleNamespace(user=made._free_user())  # type: ignore[assignment]
    with pytest.raises(OSError, match="each needs a user of its own") as caught:
        made._free_user()
    assert caught.value.errno == errno.EUSERS
