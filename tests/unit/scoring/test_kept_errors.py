"""Exceptions that are kept by numbers: each is itself as long as somebody has it, and few hold their frames."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest

from harena.scoring.guest.numbered_exceptions import KeptErrors

MANY = 500


class _OwnError(Exception):
    pass


class _Local:
    """What a frame holds."""


def _raised(kept: KeptErrors, number: int, error: Exception, alive: list[Any]) -> None:
    local = _Local()
    alive.append(weakref.ref(local))
    kept.keep(number, error)
    kept.raised(number)
    try:
        raise error
    except type(error):
        return


@pytest.mark.parametrize("cls", [_OwnError, ValueError])
def test_an_exception_that_somebody_has_is_itself(cls: type[Exception]) -> None:
    """However many there are, of whatever class, raised or not."""
    kept = KeptErrors(4, 2)
    errors = [cls(number) for number in range(MANY)]
    for number, error in enumerate(errors):
        kept.keep(number, error)
        if number % 2:
            kept.raised(number)
    gc.collect()
    assert all(kept.get(number) is error for number, error in enumerate(errors))
    kept.rest()
    assert all(kept.get(number) is error for number, error in enumerate(errors))
    assert len(kept) == MANY


@pytest.mark.parametrize("cls", [_OwnError, ValueError])
def test_what_nobody_has_is_gone_and_was_there(cls: type[Exception]) -> None:
    """The newest are held, and a number of one that is gone is told from one that never was."""
    kept = KeptErrors(4, 2)
    for number in range(MANY):
        kept.keep(number, cls(number))
    assert [number for number in range(MANY) if kept.get(number) is not None] == list(range(MANY - 4, MANY))
    assert 0 in kept
    assert MANY not in kept
    kept.rest()
    assert (len(kept), 0 in kept) == (0, False)


@pytest.mark.parametrize("cls", [_OwnError, ValueError])
def test_few_frames_are_held(cls: type[Exception]) -> None:
    """Those of the newest that were raised, and those of others while somebody has the exception."""
    kept = KeptErrors(64, 2)
    alive: list[Any] = []
    others: list[Any] = []
    for number in range(MANY):
        _raised(kept, number, cls(number), alive)
    gc.collect()
    assert sum(each() is not None for each in alive) == 2
    for number in range(MANY, 2 * MANY):
        _raised(kept, number, cls(number), alive)
        others.append(kept.get(number))
    assert all(kept.get(number) is not None for number in range(MANY, 2 * MANY))
    others.clear()
    gc.collect()
    assert sum(each() is not None for each in alive) == 2


def test_the_numbers_of_those_that_are_gone_are_few() -> None:
    """Where they are forgotten as they become many."""
    kept = KeptErrors(4)
    most = 0
    for number in range(20_000):
        kept.keep(number, ValueError(number))
        kept.forget_gone_if_many()
        most = max(most, len(kept))
    assert most < 2_000
