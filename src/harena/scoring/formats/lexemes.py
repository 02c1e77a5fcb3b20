"""The strings and comments of a text that may be Python, found in time that grows with its length.

The standard library's tokenizer takes the square of a line's length, and more, where quotes in it end nowhere: it looks
to the end of the line from each of them. Here the looking in vain has a budget.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_LEXEME = re.compile(r"""(#[^\n]*)|(\"{3}|'{3})|(["'])|([(\[{])|([)\]}])|\\\r?\n|(\n)""")
_TO_THE_END = {
    quote: re.compile(rf"(?:[^{quote[0]}\\]|\\.|{quote[0]}(?!{quote[1:]}))*+{quote}", re.DOTALL)
    if len(quote) > 1
    else re.compile(rf"(?:[^{quote}\\\n]|\\(?s:.))*+{quote}")
    for quote in ("'", '"', "'" * 3, '"' * 3)
}
_REST_OF_A_LINE = {quote: re.compile(rf"(?:[^{quote}\\\n]|\\(?s:.))*+") for quote in ("'", '"')}
_INDENT = re.compile(r"[ \t\f]*")
_IN_VAIN = 256 * 1024
"""characters that are looked through for the end of strings that have none"""


@dataclass(frozen=True, slots=True)
class Literals:
    """What was found in a text."""

    places: tuple[tuple[int, int], ...]
    """where strings and comments begin and end"""
    is_whole: bool
    """brackets and strings have ended, and the lines are indented as Python has it"""
    ends_in_a_string: bool
    """one over several lines has no end"""


def literals(text: str) -> Literals:
    """The strings and comments, as Python's tokenizer finds them. A quote that ends nowhere is none."""
    places: list[tuple[int, int]] = []
    depth, indents, at, vain = 0, [0], 0, _IN_VAIN
    if not _indented(text, 0, indents):
        return Literals((), is_whole=False, ends_in_a_string=False)
    while (found := _LEXEME.search(text, at)) is not None:
        at = found.end()
        if found[1]:
            places.append(found.span())
        elif quote := found[2] or found[3]:
            end = _TO_THE_END[quote].match(text, at)
            if end is not None:
                at = end.end()
                places.append((found.start(), at))
            elif found[2]:
                return Literals(tuple(places), is_whole=False, ends_in_a_string=True)
            else:
                tried = _REST_OF_A_LINE[quote].match(text, at)
                vain -= tried.end() - at if tried else 0
                if vain < 0:
                    return Literals(tuple(places), is_whole=False, ends_in_a_string=False)
        elif found[4]:
            depth += 1
        elif found[5]:
            depth -= 1
        elif found[6] and depth == 0 and not _indented(text, at, indents):
            return Literals(tuple(places), is_whole=False, ends_in_a_string=False)
    return Literals(tuple(places), is_whole=depth <= 0, ends_in_a_string=False)


def _indented(text: str, at: int, indents: list[int]) -> bool:
    """The line that begins there goes back to a column that an earlier one had, or further in."""
    space = _INDENT.match(text, at)
    if space is None or text[space.end() : space.end() + 1] in ("", "#", "\r", "\n"):
        return True
    column = len(space[0].rpartition("\f")[2].expandtabs(8))
    if column > indents[-1]:
        indents.append(column)
    while column < indents[-1]:
        if column not in indents:
            return False
        indents.pop()
    return True
