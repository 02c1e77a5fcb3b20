"""The keys of this host's server, for the command line: without a server."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

from harena.core.clock import Clock
from harena.server.keys import Keys
from harena.store.access import AccessStore

T = TypeVar("T")

FILE_NAME = "access.db"
"""in harena's home"""


async def with_keys(home: Path, clock: Clock, work: Callable[[Keys], Awaitable[T]]) -> T:
    """What `work(keys)` gives."""
    store = await AccessStore.open(home / FILE_NAME)
    try:
        return await work(Keys(store, clock))
    finally:
        await store.close()
