"""Which rows share a forward pass."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from harena.training.packing import micro_batches

LENGTHS = st.lists(st.integers(min_value=1, max_value=60), max_size=40)


@given(LENGTHS, st.integers(min_value=1, max_value=300), st.booleans())
def test_every_row_once_and_no_rectangle_too_large(lengths: list[int], most: int, packed: bool) -> None:
    made = list(micro_batches(lengths, most_tokens=most, packed=packed))
    assert sorted(number for lines in made for line in lines for number in line) == list(range(len(lengths)))
    for lines in made:
        longest = max(sum(lengths[number] for number in line) for line in lines)
        assert len(lines) == 1 or longest * len(lines) <= most
        assert longest <= max(lengths)


def test_without_packing_the_order_stays() -> None:
    assert list(micro_batches([3, 1, 2], most_tokens=6, packed=False)) == [[[0], [1]], [[2]]]


def test_short_rows_share_lines() -> None:
    (lines,) = micro_batches([10, 3, 5, 2, 4, 6], most_tokens=100, packed=True)
    assert lines == [[0], [5, 4], [2, 1, 3]]
