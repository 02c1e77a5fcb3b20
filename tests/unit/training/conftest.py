"""A tiny model for tests, small enough for a test to train it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
import torch

from harena.training.engines.local import LocalEngine
from harena.training.engines.tiny import character_tokenizer, tiny_llama

ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789 >()+-*"


def new_engine(seed: int = 0, **settings: Any) -> LocalEngine:
    """An engine over fresh weights."""
    tokenizer = character_tokenizer(ALPHABET)
    model = tiny_llama(len(tokenizer), seed=seed, width=32, layers=2, heads=2, context_length=64)
    return LocalEngine(model, tokenizer, **settings)


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
