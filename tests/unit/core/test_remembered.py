"""What has ended is remembered for a while, and nothing holds it after that."""

from __future__ import annotations

import gc
import weakref

from harena.core.remembered import Remembered
from harena.testing import FakeClock


class Item:
    pass


async def test_what_has_ended_is_forgotten_when_its_time_is_over() -> None:
    clock = FakeClock()
    remembered: Remembered[Item] = Remembered(clock, 60)
    for name in ("a", "b"):
        remembered.keep(name, Item())
    remembered.forget_later("a")
    await clock.sleep(59)
    remembered.forget_later("a")  # its end is told once more: its time is the same
    assert remembered.get("a") is not None
    await clock.sleep(2)
    assert (remembered.get("a"), len(remembered)) == (None, 1)
    assert remembered.get("b") is not None


async def test_a_place_that_another_item_has_taken_is_held_by_no_timer() -> None:
    """A thousand items that end and are pushed out at once take no memory for the hour that each would be kept."""
    remembered: Remembered[Item] = Remembered(FakeClock(), 3600)
    held: weakref.WeakSet[Item] = weakref.WeakSet()
    for number in range(1000):
        item = Item()
        held.add(item)
        remembered.keep(str(number), item)
        remembered.forget_later(str(number))
        if len(remembered) > 10:
            remembered.forget(next(name for name, _ in remembered))
    del item
    gc.collect()
    assert (len(remembered), len(held)) == (10, 10)
    remembered.forget_later("0")  # one that is forgotten has no timer either
    assert len(remembered._timers) == 10
