"""A server over a fake runtime, and plain HTTP to it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import aiohttp
import pytest
import pytest_asyncio
from served import Served
from server_world import World, world

from harena.testing import FakeClock


@pytest_asyncio.fixture
async def here(tmp_path: Path) -> AsyncIterator[World]:
    """A server whose clock stands still."""
    async with world(tmp_path, clock=FakeClock(auto_jump=False)) as made:
        yield made


@pytest_asyncio.fixture
async def http(here: World) -> AsyncIterator[aiohttp.ClientSession]:
    """Requests without the sdk."""
    async with aiohttp.ClientSession(here.url) as session:
        yield session


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server with keys, for blocking requests."""
    made = Served(tmp_path_factory.mktemp("served"))
    yield made
    made.close()
