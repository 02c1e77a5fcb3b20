"""Random draws that are the same on every version of Python and every machine: SplitMix64, by Steele, Lea and Flood."""

from __future__ import annotations

import hashlib
from collections.abc import MutableSequence, Sequence
from typing import TypeVar

T = TypeVar("T")

_MASK = (1 << 64) - 1


class Draws:
    """One stream of draws. Streams of different keys are independent."""

    __slots__ = ("_state",)

    def __init__(self, *key: int | str) -> None:
        told = "\0".join(f"{type(part).__name__}:{part}" for part in key)
        self._state = int.from_bytes(hashlib.sha256(told.encode()).digest()[:8], "big")

    def below(self, number: int) -> int:
        """A whole number from 0, below `number`. The bias is below 2**-40 for the numbers that worlds have."""
        self._state = state = (self._state + 0x9E3779B97F4A7C15) & _MASK
        state = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        state = ((state ^ (state >> 27)) * 0x94D049BB133111EB) & _MASK
        return (((state ^ (state >> 31)) & _MASK) * number) >> 64

    def one_of(self, values: Sequence[T]) -> T:
        """One of the values, of which there is at least one."""
        return values[self.below(len(values))]

    def some_of(self, values: Sequence[T], number: int) -> list[T]:
        """`number` different ones, or all where there are fewer, in the order in which they were drawn."""
        left = list(values)
        for place in range(min(number, len(left))):
            other = place + self.below(len(left) - place)
            left[place], left[other] = left[other], left[place]
        return left[:number]

    def shuffle(self, values: MutableSequence[T]) -> None:
        """Bring the values into a drawn order."""
        for place in range(len(values) - 1, 0, -1):
            other = self.below(place + 1)
            values[place], values[other] = values[other], values[place]

    def happens(self, percent: int) -> bool:
        """Draw whether an event happens that has a probability of `percent` %."""
        return self.below(100) < percent
