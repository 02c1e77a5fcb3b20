"""Outcomes: ended once, seen by everybody, and never locked by who was interrupted."""

from __future__ import annotations

import concurrent.futures
import signal
import threading
import time
from collections.abc import Callable

import pytest

from harena.sdk.outcome import LOOK_SECONDS, Outcome


def test_it_ends_once() -> None:
    """The first end counts; the number grows from one outcome to the next."""
    first: Outcome[int] = Outcome()
    second: Outcome[int] = Outcome()
    assert (first.state, first.number, first.wait(0)) == ("open", None, False)
    assert second.give(2)
    assert first.give(1)
    assert not first.give(3)
    assert not first.fail(ValueError())
    assert not first.cancel()
    assert (first.get(), second.get()) == (1, 2)
    assert first.number is not None
    assert second.number is not None
    assert first.number > second.number


def test_an_error_is_raised_each_time_it_is_asked_for() -> None:
    """Whoever asks gets it; a cancelled one says that it was cancelled."""
    failed: Outcome[int] = Outcome()
    failed.fail(ValueError("why"))
    for _ in range(2):
        with pytest.raises(ValueError, match="why"):
            failed.get()
    assert str(failed.error) == "why"
    cancelled: Outcome[int] = Outcome()
    cancelled.cancel()
    with pytest.raises(concurrent.futures.CancelledError):
        cancelled.get()


def test_callbacks_are_called_once() -> None:
    """At the end, or at once where it has ended; not those that were forgotten."""
    outcome: Outcome[int] = Outcome()
    called: list[str] = []
    outcome.when_ended("kept", lambda: called.append("kept"))
    outcome.when_ended("forgotten", lambda: called.append("forgotten"))
    outcome.forget("forgotten")
    assert outcome.waiting == 1
    outcome.give(0)
    outcome.when_ended("late", lambda: called.append("late"))
    assert (called, outcome.waiting) == (["kept", "late"], 0)


def test_every_thread_that_waits_is_woken() -> None:
    """Each sleeps on a lock of its own, and nothing is left of those that gave up."""
    outcome: Outcome[int] = Outcome()
    seen: list[bool] = []
    threads = [threading.Thread(target=lambda: seen.append(outcome.wait(None))) for _ in range(5)]
    for thread in threads:
        thread.start()
    assert not outcome.wait(0)
    outcome.give(0)
    for thread in threads:
        thread.join()
    assert seen == [True] * 5
    assert outcome.waiting == 0


def test_a_signal_that_wakes_nobody_is_noticed() -> None:
    """One that another thread was given, or that came just before the main thread fell asleep: the wait goes on after
    its handler, or ends with what that raises."""
    outcome: Outcome[bool] = Outcome()
    handled, asleep = threading.Event(), threading.Event()

    def signalled() -> None:
        asleep.wait(30)
        signal.pthread_kill(threading.get_ident(), signal.SIGUSR1)  # this thread is no main thread
        outcome.give(handled.wait(30))

    class Waking(Outcome[bool]):
        def when_ended(self, token: object, callback: Callable[[], object]) -> None:
            outcome.when_ended(token, callback)
            asleep.set()

    before = signal.signal(signal.SIGUSR1, lambda *_: handled.set())
    thread = threading.Thread(target=signalled)
    thread.start()
    try:
        Waking().wait(None)
    finally:
        thread.join()
        signal.signal(signal.SIGUSR1, before)
    assert outcome.get()


@pytest.mark.parametrize("timeout", [0.0, 0.01, LOOK_SECONDS * 1.1])
def test_a_wait_ends_in_time(timeout: float) -> None:
    """Not before its time, and told apart from an end."""
    outcome: Outcome[int] = Outcome()
    began = time.monotonic()
    assert not outcome.wait(timeout)
    assert time.monotonic() - began >= timeout
    assert outcome.waiting == 0
