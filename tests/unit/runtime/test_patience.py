"""For how long a file operation may do nothing: time jumps here from one timer of the loop to the next."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Coroutine

import pytest

from harena.runtime.host.patience import MOST_SECONDS, PATIENCE_SECONDS, Patience, took_in_turn


class JumpingSelector(selectors.SelectSelector):
    """Waits for no time at all, and lets the loop's clock say that it did."""

    now = 0.0
    late = 0.0
    """by how much each wait takes longer than was asked for, as where this process gets no processor"""

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout:
            self.now += timeout + (self.late if timeout >= 0.5 else 0.0)
        return super().select(0)


class JumpingLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self.jumping = JumpingSelector()
        super().__init__(self.jumping)

    def time(self) -> float:
        return self.jumping.now


Main = Callable[[JumpingLoop], Coroutine[object, object, None]]


def jumped(main: Main, late: float = 0.0) -> float:
    """Run it; gives the seconds that the loop's clock went on."""
    loop = JumpingLoop()
    loop.jumping.late = late
    try:
        loop.run_until_complete(main(loop))
        return loop.time()
    finally:
        loop.close()


def waiting(
    share: float, answers_after: float | None = 0.0
) -> Callable[[JumpingLoop], Coroutine[object, object, None]]:
    """Wait for a step that never ends, in a sandbox where a thread waits for a processor for this share of the time.
    The spawner tells that after `answers_after` seconds; None = never."""

    async def main(loop: JumpingLoop) -> None:
        async def waited() -> float:
            if answers_after is None:
                await loop.create_future()
            await asyncio.sleep(answers_after or 0.0)
            return share * loop.time()

        with pytest.raises(TimeoutError):
            await Patience(waited).wait(loop.create_future())

    return main


def test_a_step_that_is_held_up_ends_in_time() -> None:
    """Nothing in there waits for a processor."""
    assert jumped(waiting(share=0.0)) == pytest.approx(PATIENCE_SECONDS, abs=0.1)


@pytest.mark.parametrize(
    ("main", "late"),
    [
        (waiting(share=0.9), 0.0),
        (waiting(share=0.0), 3.0),
        (waiting(share=0.0, answers_after=None), 0.0),
    ],
    ids=["the sandbox starves", "the node's loop is late", "the spawner does not answer"],
)
def test_a_step_on_an_overloaded_machine_has_longer(main: Main, late: float) -> None:
    """And yet not for ever."""
    assert MOST_SECONDS <= jumped(main, late) <= MOST_SECONDS + 8.0


@pytest.mark.parametrize("after", [0.0, 1.0, PATIENCE_SECONDS - 0.5, PATIENCE_SECONDS + 10.0])
def test_a_step_gives_its_result(after: float) -> None:
    """Also that of a step which had to wait for its processor."""

    async def main(loop: JumpingLoop) -> None:
        async def waited() -> float:
            return 0.9 * loop.time()

        step: asyncio.Future[str] = loop.create_future()
        loop.call_later(after, step.set_result, "done")
        assert await Patience(waited).wait(step) == "done"

    assert jumped(main) == pytest.approx(after, abs=0.1)


def test_a_large_step_has_more_time() -> None:
    """So much more as its content may take."""

    async def main(loop: JumpingLoop) -> None:
        async def waited() -> float:
            return 0.0

        step: asyncio.Future[str] = loop.create_future()
        loop.call_later(PATIENCE_SECONDS + 50.0, step.set_result, "done")
        assert await Patience(waited).wait(step, 60.0) == "done"

    jumped(main)


def test_a_failed_step_raises_its_error() -> None:
    """Not a TimeoutError."""

    async def main(loop: JumpingLoop) -> None:
        async def waited() -> float:
            return 0.0

        step: asyncio.Future[str] = loop.create_future()
        loop.call_later(1.0, step.set_exception, OSError(5, "no"))
        with pytest.raises(OSError, match="no"):
            await Patience(waited).wait(step)

    jumped(main)


@pytest.mark.parametrize(
    ("took", "before", "after", "counts"),
    [
        (1.0, 5.0, 5.0, True),
        (1.0, 5.0, 5.4, True),
        (1.0, 5.0, 5.6, False),
        (1.6, 5.0, 5.0, False),
        (1.0, None, 5.0, False),
        (1.0, 5.0, None, False),
        (1.0, 9.0, 1.0, True),  # the thread that had waited longest has ended
    ],
)
def test_which_slices_count(took: float, before: float | None, after: float | None, counts: bool) -> None:
    """One second each; see Patience."""
    assert took_in_turn(took, before, after) is counts
