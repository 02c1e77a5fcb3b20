"""Published objects, and the catalogue of the same store, for tests of what reads both."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from harena.core.clock import SystemClock
from harena.core.errors import NotFoundError
from harena.core.records.worlds import WorldManifest
from harena.jobs.catalog import Catalog
from harena.store.catalog import CatalogStore
from harena.store.database import Database
from harena.store.registry import RegistryStore
from harena.training.objects.registry import Registry


class Store(Registry):
    """Published objects, and the catalogue of the same store."""

    catalog: Catalog


@asynccontextmanager
async def opened(home: Path, *, most_bytes: int) -> AsyncIterator[Store]:
    """Over a database and a folder in `home`."""
    database = await Database.open(home / "harena.db")

    async def objects() -> RegistryStore:
        return RegistryStore(database)

    async def entries() -> CatalogStore:
        return CatalogStore(database)

    store = Store(objects, home / "objects", SystemClock(), most_bytes=most_bytes)
    store.catalog = Catalog(entries, SystemClock())
    try:
        yield store
    finally:
        await database.close()


async def world_of(workspace: str, world: str) -> WorldManifest:
    """The only world of every workspace. Raises NotFoundError for another."""
    if world != "lab":
        raise NotFoundError(f"the workspace has no world {world!r}")
    return WorldManifest.checked({"name": world, "seed": 5})


@asynccontextmanager
async def model_of(workspace: str, job: str) -> AsyncIterator[tuple[str, Path]]:
    """What the jobs of every workspace have learned: that of `taught` is in the folder of its name. Raises
    NotFoundError."""
    if Path(job).name != "taught":
        raise NotFoundError(f"no training job has the id or name {job!r}")
    yield "train_1", Path(job)
