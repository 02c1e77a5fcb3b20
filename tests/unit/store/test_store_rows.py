"""Rows in pieces: whole, in order, and of few sizes."""

from hypothesis import given
from hypothesis import strategies as st

from harena.store import rows


@given(count=st.integers(0, 5000), columns=st.integers(1, 30))
def test_a_text_is_not_made_for_each_number_of_rows(count: int, columns: int) -> None:
    """Sizes are powers of two that fit into a statement; nothing is lost between two pieces."""
    given_rows = [{"n": number} for number in range(count)]
    pieces = [list(piece) for piece in rows._pieces(given_rows, columns)]
    assert [row for piece in pieces for row in piece] == given_rows
    for piece in pieces:
        assert len(piece) & (len(piece) - 1) == 0
        assert 0 < len(piece) * columns <= rows.MOST_PARAMETERS
