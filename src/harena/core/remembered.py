"""What has ended and can still be asked for: a while, and no more of it than a bound."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, TypeVar

from harena.core.clock import Clock, Timer

Item = TypeVar("Item")


class Remembered(Generic[Item]):
    """Items by their ids, in the order in which they came. One that has ended is forgotten after `seconds`.

    Whatever is forgotten, in whatever way, is held by nothing of this any longer: no timer keeps an item whose place
    another one has taken. Used from one event loop.
    """

    def __init__(self, clock: Clock, seconds: float) -> None:
        self._clock = clock
        self._seconds = seconds
        self._items: dict[str, Item] = {}
        self._timers: dict[str, Timer] = {}

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[tuple[str, Item]]:
        return iter(self._items.items())

    def keep(self, name: str, item: Item) -> None:
        """Remember an item, until it is forgotten."""
        self._items[name] = item

    def get(self, name: str) -> Item | None:
        """The item; None = it was never here, or is forgotten."""
        return self._items.get(name)

    def forget(self, name: str) -> None:
        """Forget an item now. No effect for one that is forgotten."""
        self._items.pop(name, None)
        timer = self._timers.pop(name, None)
        if timer is not None:
            timer.cancel()

    def forget_later(self, name: str) -> None:
        """An item has ended: it is forgotten when its time is over. No effect for one that is forgotten, or has ended
        before."""
        if name in self._items and name not in self._timers:
            self._timers[name] = self._clock.call_later(self._seconds, lambda: self.forget(name))
