"""Lists that come a page at a time, over any transport."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from harena.core.checked import checked_count

T = TypeVar("T")
C = TypeVar("C", int, str)
"""a cursor"""


async def collect_pages(
    page: Callable[[C | None, int], Awaitable[tuple[Sequence[T], C | None]]], limit: int | None, *, most: int
) -> list[T]:
    """All that there is, or the first `limit`. `page` is asked with the cursor where a page begins (None = the first
    one) and how many it may have, which is never above `most`; it gives them, and the cursor of what follows. Raises
    ValidationError, before anything is asked."""
    if limit is not None:
        checked_count(limit, "limit", least=1)
    found: list[T] = []
    cursor: C | None = None
    while limit is None or len(found) < limit:
        entries, cursor = await page(cursor, most if limit is None else min(most, limit - len(found)))
        found += entries
        if cursor is None:
            break
    return found
