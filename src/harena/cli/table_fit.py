"""What a table shows where lines are narrow: texts go on in a next line between words, and then columns are left out,
the least important first. A word, which may be an id or a state to be copied, is never folded."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TextIO

_LONGEST_WORD = 40
"""columns of a text's word that is not folded; a longer one is no name that anybody types"""
_LEAST_COLUMNS = 3
"""a table of fewer says less than a block for each record"""


@dataclass(frozen=True, slots=True)
class FittedTable:
    """A table that a line takes."""

    shown: Sequence[int]
    """places of the columns that are left"""
    widths: Sequence[int]
    """one for each of them, without what is between them"""
    folds: bool
    """a cell is wider than its column: it goes on in a next line"""


def line_width(out: TextIO) -> int | None:
    """Columns of a line: the variable COLUMNS, else the terminal's; None where there is neither, as in a pipe."""
    asked = os.environ.get("COLUMNS", "")
    if asked.isdecimal() and int(asked) > 0:
        return int(asked)
    if not out.isatty():
        return None
    try:
        return os.get_terminal_size(out.fileno()).columns or None
    except (OSError, ValueError):  # a terminal only by name, as tests have them
        return None


def fitted(
    header: Sequence[str], cells: Sequence[Sequence[str]], most_width: int, least: Sequence[str] = ()
) -> FittedTable | None:
    """The table in lines of this width; None where too few of its columns would be left. `least`: names of the columns
    that are left out first, in this order, before those at the right; the first column always stays."""
    columns = list(zip(header, *cells, strict=True))
    widest = [max(map(_width, column)) for column in columns]
    narrowest = [_narrowest(column, width) for column, width in zip(columns, widest, strict=True)]
    shown = list(range(len(header)))
    leaving = [header.index(name) for name in least if name in header]
    leaving += [place for place in reversed(shown) if place not in (0, *leaving)]
    while (room := most_width - 3 * len(shown) - 1) < sum(narrowest[place] for place in shown):
        if len(shown) <= max(_LEAST_COLUMNS, (len(header) + 1) // 2):
            return None
        shown.remove(leaving.pop(0))
    widths = _widened([narrowest[place] for place in shown], [widest[place] for place in shown], room)
    return FittedTable(
        shown, widths, folds=any(widest[place] > width for place, width in zip(shown, widths, strict=True))
    )


def unlimited(header: Sequence[str], cells: Sequence[Sequence[str]], usual_width: int) -> FittedTable:
    """All columns, in lines of the usual width or as wide as words make them."""
    columns = list(zip(header, *cells, strict=True))
    needed = sum(_narrowest(column, max(map(_width, column))) for column in columns) + 3 * len(header) + 1
    found = fitted(header, cells, max(usual_width, needed))
    assert found is not None, "every word has room"
    return found


def blocks(title: str, header: Sequence[str], cells: Sequence[Sequence[str]]) -> str:
    """A record to a block, a cell to a line, whole."""
    label = max(map(_width, header), default=0)
    made = ["".join(f"{name}:{' ' * (label - _width(name))} {cell}\n" for name, cell in zip(header, row, strict=True))
            for row in cells]  # fmt: skip
    return "\n".join([*([f"{title}\n"] if title else []), *made])


def _narrowest(column: Sequence[str], widest: int) -> int:
    """Width of the longest word; of a text, which more than one word tells, very long ones may be folded."""
    name, *cells = column
    longest = max((_width(word) for cell in cells for word in cell.split()), default=0)
    if any(" " in cell.strip() for cell in cells):
        longest = min(longest, _LONGEST_WORD)
    return min(widest, max([longest, *map(_width, name.split())]))


def _widened(widths: Sequence[int], widest: Sequence[int], room: int) -> list[int]:
    """Room that is left goes to the narrowest of the columns that need more."""
    made = list(widths)
    for _ in range(room - sum(made)):
        needy = [place for place, width in enumerate(made) if width < widest[place]]
        if not needy:
            break
        made[min(needy, key=made.__getitem__)] += 1
    return made


def _width(text: str) -> int:
    """Columns that a text takes; rich, which knows of wide signs, is loaded only where there may be some."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)
