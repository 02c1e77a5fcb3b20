"""The eight functions that the workload's programs are built from.

Their source text is copied into the programs, so each must stand alone and import nothing.
"""

from __future__ import annotations


def fibonacci(count: int) -> int:
    """The `count`-th Fibonacci number."""
    previous, current = 0, 1
    for _ in range(count):
        previous, current = current, previous + current
    return previous


def is_palindrome(text: str) -> bool:
    """Whether the letters and digits of `text` read the same both ways."""
    kept = [character.lower() for character in text if character.isalnum()]
    return kept == kept[::-1]


def unique_sorted(numbers: list[int]) -> list[int]:
    """Each number once, in rising order."""
    return sorted(set(numbers))


def is_prime(number: int) -> bool:
    """Whether `number` is prime, by trial division."""
    if number < 2:
        return False
    divisor = 2
    while divisor * divisor <= number:
        if number % divisor == 0:
            return False
        divisor += 1
    return True


def greatest_common_divisor(left: int, right: int) -> int:
    """Euclid's algorithm."""
    while right:
        left, right = right, left % right
    return left


def letter_counts(text: str) -> dict[str, int]:
    """How often each letter occurs, letters in alphabetical order."""
    counts: dict[str, int] = {}
    for letter in sorted(text):
        if letter.isalpha():
            counts[letter] = counts.get(letter, 0) + 1
    return counts


def transpose(matrix: list[list[int]]) -> list[list[int]]:
    """Rows become columns."""
    return [list(column) for column in zip(*matrix)]  # noqa: B905 - as a model would write it


def maximum_subarray(numbers: list[int]) -> int:
    """The largest sum of a non-empty run of neighbours (Kadane)."""
    best = running = numbers[0]
    for number in numbers[1:]:
        running = max(number, running + number)
        best = max(best, running)
    return best
