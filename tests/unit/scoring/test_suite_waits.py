"""How a suite's process suite_waits: in parts, between which threads of the candidate's are heard."""

from __future__ import annotations

import pytest

from harena.scoring.guest import suite_waits
from harena.scoring.guest.suite_waits import Waits


class Process:
    """A suite's process, whose clock stands unless it suite_waits."""

    def __init__(self, *, may_listen: bool = True, comes_after: float = float("inf")) -> None:
        self.may_listen, self.comes_after = may_listen, comes_after
        self.now = 0.0
        self.asked: list[float | None] = []
        self.listened = 0
        self.told: list[str] = []
        self.waits = Waits(
            lambda: self.may_listen, self.listen, lambda: None, self.told.append, lambda _: self.told.append("")
        )

    def listen(self) -> None:
        self.listened += 1

    def attempt(self, seconds: float | None) -> bool:
        """What it suite_waits for comes as a thread of the candidate's is heard, after so many seconds."""
        self.asked.append(seconds)
        self.now += seconds or 0.0
        return self.listened > 0 and self.now >= self.comes_after


@pytest.fixture(autouse=True)
def _clock_that_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suite_waits, "_monotonic", lambda: 0.0)


def test_a_wait_is_many_short_ones() -> None:
    """All together they take as long, and the candidate's threads are heard after each."""
    process = Process()
    assert not process.waits.until(process.attempt, 1.0)
    assert process.now == pytest.approx(1.0)
    assert max(part or 0.0 for part in process.asked) <= 0.05
    assert process.listened == len(process.asked) - 1 < 40


def test_what_comes_at_the_very_end_has_come() -> None:
    """It is tried once more after the candidate's threads were heard for the last time."""
    process = Process(comes_after=0.0)
    assert process.waits.until(process.attempt, 0.0)
    assert (process.asked, process.listened) == ([0.0, 0], 1)


def test_nobody_is_heard_where_nobody_may_be() -> None:
    """Another thread than the main one suite_waits as ever."""
    process = Process(may_listen=False)
    assert not process.waits.until(process.attempt, None)
    assert (process.asked, process.listened, process.told) == ([None], 0, [])


@pytest.mark.parametrize(("seconds", "comes_after"), [(None, 1.0), (60.0, 1.0), (1.0, float("inf"))])
def test_it_is_told_that_the_suite_stands(seconds: float | None, comes_after: float) -> None:
    """Should it never go on; and no more once it goes on."""
    process = Process(comes_after=comes_after)
    assert process.waits.until(process.attempt, seconds) is (comes_after == 1.0)
    assert len(process.told) == 2
    assert process.told[0]
    assert not process.told[1]


def test_an_outer_wait_stands_on() -> None:
    """What ends in a wait within it takes nothing back."""
    process = Process()

    def outer(seconds: float | None) -> bool:
        if process.told and not process.listened % 7:
            process.waits.until(process.attempt, 1.0)
        return len(process.asked) > 100

    assert process.waits.until(outer, None)
    assert process.told[-1] == ""
    assert "" not in process.told[:-1]


def test_short_waits_are_told_to_nobody() -> None:
    """They are no frames in the conversation."""
    process = Process(comes_after=0.1)
    assert process.waits.until(process.attempt, None)
    assert process.told == []
