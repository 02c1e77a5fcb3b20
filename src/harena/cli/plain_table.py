"""Tables of plain text as rich draws them, without rich: to load it and have it draw a few hundred rows takes a tenth
of a second, a twentieth of a small job's whole command."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import TextIO

_PLAIN = re.compile(r"(?![ ])[ !-9;-Z\]-~]*(?<! )")
"""what is drawn as it is: ASCII, nothing at its ends, and no sign with which rich's markup or its emojis begin"""
_TERMINALS = ("FORCE_COLOR", "TTY_COMPATIBLE")
"""variables with which rich takes what is no terminal for one"""


def plain_table(
    title: str, header: Sequence[str], cells: Sequence[Sequence[str]], to_right: Sequence[bool], *, most_width: int
) -> str | None:
    """The drawn table; None where it takes more than this: other than plain text, or lines that are too long."""
    widths = [max(map(len, column)) for column in zip(header, *cells, strict=True)]
    if sum(widths) + 3 * len(widths) + 1 > most_width or len(title) > most_width:
        return None
    if not all(_PLAIN.fullmatch(text) for row in ([title], header, *cells) for text in row):
        return None

    def line(row: Sequence[str], edge: str) -> str:
        parts = zip(row, widths, to_right, strict=True)
        padded = [text.rjust(width) if right else text.ljust(width) for text, width, right in parts]
        return f"{edge} " + f" {edge} ".join(padded) + f" {edge}\n"

    def rule(left: str, bar: str, cross: str, right: str) -> str:
        return left + cross.join(bar * (width + 2) for width in widths) + f"{right}\n"

    drawn = [f"{title}\n" if title else "", rule("┏", "━", "┳", "┓"), line(header, "┃"), rule("┡", "━", "╇", "┩")]
    return "".join([*drawn, *(line(row, "│") for row in cells), rule("└", "─", "┴", "┘")])


def takes_plain_text(out: TextIO) -> bool:
    """Rich would write neither colours nor other signs for the lines there."""
    encoding = (getattr(out, "encoding", None) or "utf-8").lower()
    return not out.isatty() and encoding.startswith("utf") and not any(name in os.environ for name in _TERMINALS)
