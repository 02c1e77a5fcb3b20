"""Tiny engines for tests, closed after each."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
import torch
from small_engine import new_engine

from harena.training.engines.local import LocalEngine


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> None:
    """Sums of floats depend on how they are cut among threads."""
    torch.set_num_threads(1)


@pytest.fixture
async def engines() -> AsyncIterator[Callable[..., LocalEngine]]:
    """Makes engines, and closes them."""
    made: list[LocalEngine] = []

    def make(seed: int = 0, **settings: Any) -> LocalEngine:
        made.append(new_engine(seed, **settings))
        return made[-1]

    yield make
    for engine in made:
        await engine.close()
