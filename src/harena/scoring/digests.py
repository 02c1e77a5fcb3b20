"""Names of values by what they are: two are equal exactly where their values are, type by type."""

from __future__ import annotations

import hashlib
from typing import Any

from harena.scoring.codec import canonical
from harena.scoring.values import from_python


def digest_of(made: Any) -> str:
    """sha256 of a plain Python value, as hexadecimal: of what `canonical(from_python(made))` is. Raises NotationError
    for a value that has no place in a scenario."""
    return hashlib.sha256(_canonical(made)).hexdigest()


def _canonical(made: Any) -> bytes:
    """Written at once, without host values in between: every run has several digests."""
    kind = type(made)
    if kind is str:
        text = made.encode("utf-8", "surrogatepass")
        return b"s%d:%b" % (len(text), text)
    if kind is int:
        return b"i%x;" % made
    if kind is list or kind is tuple:
        return b"%b%d:%b" % (b"l" if kind is list else b"t", len(made), b"".join(map(_canonical, made)))
    if kind is dict:
        parts = sorted([_canonical(key) + _canonical(item) for key, item in made.items()])
        return b"d%d:%b" % (len(parts), b"".join(parts))
    return canonical(from_python(made))
