"""Records out of rows: what leaves a store is typed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

Made = TypeVar("Made")


def record_of(kind: Callable[..., Made], row: Mapping[Any, Any]) -> Made:
    """The record whose fields are the columns that were read."""
    return kind(**row)
