"""Which rows share a forward pass."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from harena.training.loop.packing import micro_batches

LENGTHS = st.lists(st.integers(min_value=1, max_value=60), max_size=40)


@given(LENGTHS, st.integers(min_value=1, max_value=300), st.booleans())
def test_every_row_once_and_no_rectangle_too_large(lengths: list[int], most: int, packed: bool) -> None:
    made = list(micro_batches(lengths, most_tokens=most, packed=packed))
    assert sorted(number for lines in made for line in lines for number in line) == list(range(len(lengths)))
    for lines in made:
        longest = max(sum(lengths[number] for number in line) for line in lines)
        assert len(lines) == 1 or longest * len(lines) <= most
        assert longest <= max(lengths)


def test_without_packing_rows_of_much_the_same_length_are_together() -> None:
    """Of equals in the order they came in."""
    assert list(micro_batches([9, 1, 8, 2, 1], most_tokens=18, packed=False)) == [[[1], [4], [3]], [[2], [0]]]


def test_short_rows_share_lines() -> None:
    (lines,) = micro_batches([10, 3, 5, 2, 4, 6], most_tokens=100, packed=True)
    assert lines == [[0], [5, 4], [2, 1, 3]]
