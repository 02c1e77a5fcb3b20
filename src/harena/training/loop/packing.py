"""Which rows share a forward pass, and which of them a line of it. Pure.

A forward pass is a rectangle: lines of one length, filled up with padding. Without packing a line is a row, and rows of
much the same length share a rectangle: answers differ in length, and padding costs what tokens cost. With it several
short rows lie one behind the other in a line, each seeing only itself and with positions from 0, so that they give what
they give alone. The longest row says how long lines are: longer ones would save nothing, for attention in a
line costs its length squared.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

Lines = list[list[int]]
"""for each line the numbers of its rows, in order"""


def micro_batches(lengths: Sequence[int], *, most_tokens: int, packed: bool) -> Iterator[Lines]:
    """Every row once. Each rectangle has `most_tokens` at most, padding included, or one line."""
    lines = (
        _packed(lengths) if packed else [[number] for number in sorted(range(len(lengths)), key=lengths.__getitem__)]
    )
    piece: Lines = []
    longest = 0
    for line in lines:
        length = sum(lengths[number] for number in line)
        longest = max(longest, length)
        if piece and longest * (len(piece) + 1) > most_tokens:
            yield piece
            piece, longest = [], length
        piece.append(line)
    if piece:
        yield piece


def _packed(lengths: Sequence[int]) -> Lines:
    """Longest rows first, each into the first line that has room for it."""
    capacity = max(lengths, default=0)
    lines: Lines = []
    room: list[int] = []
    for number in sorted(range(len(lengths)), key=lambda number: -lengths[number]):
        place = next((place for place, left in enumerate(room) if left >= lengths[number]), None)
        if place is None:
            lines.append([])
            room.append(capacity)
            place = len(lines) - 1
        lines[place].append(number)
        room[place] -= lengths[number]
    return lines
