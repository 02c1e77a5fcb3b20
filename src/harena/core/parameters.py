"""Bounds of what an operation's address carries: they stand in the port's signature, and the server checks them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

MOST_WORD = 1000
"""characters of a name, tag or id"""
MOST_CURSOR = (1 << 63) - 1
"""what the store can count to"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """How much a parameter may hold; None = there is no bound of this kind."""

    ge: int | None = None
    le: int | None = None
    min_length: int | None = None
    max_length: int | None = None
    pattern: str | None = None
    one_of: Any = None
    """an enumeration; the parameter itself is the text of a member"""
    pairs: bool = False
    """a mapping, which travels as NAME=VALUE, given repeatedly"""
    hidden: bool = False
    """nothing that is said about a mistake shows it"""


Id = Annotated[str, Bounds(max_length=MOST_WORD)]
"""a name or id, as a part of an address"""
OptionalWord = Annotated[str | None, Bounds(max_length=MOST_WORD)]
After = Annotated[int, Bounds(ge=0, le=MOST_CURSOR)]
"""what follows this cursor is asked for"""
Cursor = Annotated[int | None, Bounds(ge=0, le=MOST_CURSOR)]
"""the `next_cursor` of a page; None = the first page is asked for"""
Limit = Annotated[int, Bounds(ge=1, le=500)]
"""entries of one page"""
