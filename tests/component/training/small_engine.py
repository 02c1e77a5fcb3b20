"""An engine over a tiny model, small enough for a test to train it."""

from __future__ import annotations

from typing import Any

from harena.training.engines.local import LocalEngine
from harena.training.engines.tiny import character_tokenizer, tiny_llama

ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789 >()+-*"


def new_policy(seed: int = 0) -> tuple[Any, Any]:
    """(model, tokenizer): fresh weights."""
    tokenizer = character_tokenizer(ALPHABET)
    return tiny_llama(len(tokenizer), seed=seed, width=32, layers=2, heads=2, context_length=64), tokenizer


def new_engine(seed: int = 0, **settings: Any) -> LocalEngine:
    """An engine over fresh weights."""
    model, tokenizer = new_policy(seed)
    return LocalEngine(model, tokenizer, **settings)
