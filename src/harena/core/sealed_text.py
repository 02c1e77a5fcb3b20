"""How a sealed text is told from one that is readable. Sealing itself is the store's, which has the key."""

from __future__ import annotations

SEALED_PREFIX = "sealed:1:"


def is_sealed(text: str) -> bool:
    """Whether it has to be opened before it is of use."""
    return text.startswith(SEALED_PREFIX)
