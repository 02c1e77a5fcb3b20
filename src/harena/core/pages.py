"""Pages of lists: how many bytes one may hold, whatever its entries are; a page that is cut goes on at its cursor."""

from __future__ import annotations

import base64
from collections.abc import Callable
from datetime import datetime
from typing import TypeVar

from harena.core.errors import ValidationError

Entry = TypeVar("Entry")
Made = TypeVar("Made")

PAGE_BYTES = 8 * 1024 * 1024
"""size of the entries of one page, as they are stored or answered; a page has one entry at least"""


def encoded_bytes(text: str) -> int:
    """Size of text in UTF-8."""
    return len(text) if text.isascii() else len(text.encode(errors="surrogatepass"))


def moment_cursor(moment: datetime, word: str) -> str:
    """The cursor of an entry of a list that is in order of time, and of ids where the time is the same."""
    return base64.urlsafe_b64encode(f"{moment.isoformat()} {word}".encode()).decode()


def read_moment_cursor(cursor: str) -> tuple[datetime, str]:
    """What `moment_cursor` was made of. Raises ValidationError."""
    try:
        written, _, word = base64.urlsafe_b64decode(cursor.encode()).decode().partition(" ")
        moment = datetime.fromisoformat(written)
        if moment.tzinfo is None:
            raise ValueError("no time zone")
    except ValueError:
        raise ValidationError(f"cursor {cursor!r}: give the next_cursor of a page, unchanged") from None
    return moment, word


class PageRows(list[Entry]):
    """The rows of one page."""

    more: bool = False
    """others follow behind the last one"""

    def mapped(self, make: Callable[[Entry], Made]) -> PageRows[Made]:
        """A page of what is made of each row."""
        page = PageRows(map(make, self))
        page.more = self.more
        return page


class PageRoom:
    """What is left of one page while it is filled."""

    def __init__(self, most_bytes: int = PAGE_BYTES) -> None:
        self._left = most_bytes
        self._is_empty = True

    def takes(self, size: int) -> bool:
        """Whether an entry of so many bytes, the next one, is on this page."""
        self._left -= size
        fits = self._is_empty or self._left >= 0
        self._is_empty = False
        return fits
