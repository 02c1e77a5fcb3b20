"""Models that need no download: recipes of tiny ones, made on the spot. No torch here."""

from __future__ import annotations

import hashlib
import json
import string
from collections.abc import Mapping
from dataclasses import asdict, dataclass

PRINTABLE = string.ascii_letters + string.digits + string.punctuation + " \n"


@dataclass(frozen=True, slots=True, kw_only=True)
class ShippedModel:
    """A Llama with fresh weights in float32, drawn from the job's seed, and a tokenizer of single characters."""

    alphabet: str = PRINTABLE
    """what it can read and write"""
    width: int = 96
    layers: int = 3
    heads: int = 4
    context_length: int = 256
    """tokens of prompt and answer together"""

    @property
    def digest(self) -> str:
        """sha256 of the recipe, in hexadecimal digits."""
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()


SHIPPED_MODELS: Mapping[str, ShippedModel] = {"tiny-llama": ShippedModel()}
"""by name; 0.35 million parameters"""
