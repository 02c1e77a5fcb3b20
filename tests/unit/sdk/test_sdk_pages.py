"""Lists that come a page at a time."""

from __future__ import annotations

import pytest

from harena.core.errors import ValidationError
from harena.sdk.pages import collect_pages


class Pages:
    """Seven numbers; notes what it is asked for."""

    def __init__(self) -> None:
        self.asked: list[tuple[int | None, int]] = []

    async def __call__(self, cursor: int | None, size: int) -> tuple[list[int], int | None]:
        self.asked.append((cursor, size))
        first = cursor or 0
        after = min(first + size, 7)
        return list(range(first, after)), after if after < 7 else None


@pytest.mark.parametrize(
    ("limit", "asked"),
    [
        (None, [(None, 3), (3, 3), (6, 3)]),
        (2, [(None, 2)]),
        (3, [(None, 3)]),
        (5, [(None, 3), (3, 2)]),
        (7, [(None, 3), (3, 3), (6, 1)]),
        (100, [(None, 3), (3, 3), (6, 3)]),
    ],
)
async def test_as_much_is_asked_for_as_is_wanted(limit: int | None, asked: list[tuple[int | None, int]]) -> None:
    """No page is larger than one may be, and none is fetched of which nothing is wanted."""
    pages = Pages()
    assert await collect_pages(pages, limit, most=3) == list(range(7))[:limit]
    assert pages.asked == asked


async def test_a_wrong_limit_is_refused_before_anything_is_asked() -> None:
    pages = Pages()
    with pytest.raises(ValidationError, match="limit must be a whole number of 1 or more"):
        await collect_pages(pages, 0, most=3)
    assert pages.asked == []
