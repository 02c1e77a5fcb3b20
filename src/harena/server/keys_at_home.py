"""The keys and workspaces of this host's server, also for the command line, without a server: they are in the store of
results."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

from harena.core.clock import Clock
from harena.core.errors import PlatformError
from harena.core.home import prepare_home
from harena.core.threads import NODE
from harena.node import store_place
from harena.runtime.host.blueprints import hand_out
from harena.server.keys import Keys
from harena.store.access import AccessStore, set_aside
from harena.store.database import Database
from harena.store.workspaces import WorkspaceStore

T = TypeVar("T")

OLD_FILE_NAME = "access.db"
"""in harena's home, where earlier versions kept keys"""


@asynccontextmanager
async def access_at_home(home: Path) -> AsyncIterator[Database]:
    """The store of this home, open, with the keys of earlier versions taken over. Raises PlatformError."""
    try:
        await NODE.run(prepare_home, home)
    except OSError as error:
        raise PlatformError(f"harena cannot keep anything in {home}: {error.strerror}", step="home") from None
    database = await Database.open(store_place(home))
    try:
        if workspaces := await AccessStore(database).take_over(home / OLD_FILE_NAME):
            hand_out(home / "blueprints", workspaces)  # they were everybody's
        set_aside(home / OLD_FILE_NAME)
        yield database
    finally:
        await database.close()


async def with_keys(home: Path, clock: Clock, work: Callable[[Keys], Awaitable[T]]) -> T:
    """What `work(keys)` gives."""
    async with access_at_home(home) as database:
        return await work(Keys(AccessStore(database), clock))


async def with_workspaces(home: Path, work: Callable[[WorkspaceStore], Awaitable[T]]) -> T:
    """What `work(workspaces)` gives."""
    async with access_at_home(home) as database:
        return await work(WorkspaceStore(database))
