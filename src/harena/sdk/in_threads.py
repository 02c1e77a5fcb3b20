"""Contexts that touch the disk as they begin and end, for the SDK's loop, which has others to serve."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, asynccontextmanager
from typing import TypeVar

T = TypeVar("T")


@asynccontextmanager
async def in_thread(made: Callable[[], AbstractContextManager[T]]) -> AsyncIterator[T]:
    """What `made` gives is made, entered and left in threads."""
    context = await asyncio.to_thread(made)
    value = await asyncio.to_thread(context.__enter__)
    try:
        yield value
    except BaseException as error:
        if not await asyncio.to_thread(context.__exit__, type(error), error, error.__traceback__):
            raise
    else:
        await asyncio.to_thread(context.__exit__, None, None, None)
