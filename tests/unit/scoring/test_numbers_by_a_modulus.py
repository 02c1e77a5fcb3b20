"""Whether an object that counts by a modulus is honest does not depend on the numbers that are drawn to ask it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harena.scoring.guest import plain_operands

DRAWS = 300


class Told:
    """In the place of a candidate whose object says of numbers what the function says."""

    def __init__(self, says: Callable[[int], bool]) -> None:
        self.says = says

    def ask(self, verb: str, target: Any, name: str, operands: tuple[int, ...]) -> bool:
        return self.says(*operands)


def holds_of_a_family(says: Callable[[int], bool], wanted: int) -> int:
    """How often it is taken for one that says yes to whatever is like the wanted number."""
    found = 0
    for _ in range(DRAWS):
        others = plain_operands._others_than(wanted, "__eq__")
        said = list(map(says, others))
        found += plain_operands._holds_of_a_family(Told(says), None, "__eq__", wanted, others, said)
    return found


def test_a_number_by_a_modulus_is_told_from_a_family() -> None:
    """10 is 3 by 7, and so is every seventh number, of a family of few by chance more than half."""
    assert holds_of_a_family(lambda number: number % 7 == 10 % 7, 10) == 0
    assert holds_of_a_family(lambda number: number % 3 == 10 % 3, 10) == 0


def test_who_says_yes_to_many_is_a_family() -> None:
    """To all, to all of a size, or to every second."""
    assert holds_of_a_family(lambda number: True, 10) == DRAWS
    assert holds_of_a_family(lambda number: 5 < number < 20, 10) == DRAWS
    assert holds_of_a_family(lambda number: number % 2 == 0, 10) > 0
