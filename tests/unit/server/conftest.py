"""A server over a fake runtime, and plain HTTP to it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest_asyncio
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
