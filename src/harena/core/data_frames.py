"""Rows as a data frame, where pandas is installed: harena itself does not need it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from harena.core.errors import ValidationError


def data_frame(rows: Sequence[Mapping[str, Any]]) -> Any:
    """Make a `pandas.DataFrame` of rows, in their order. Raises ValidationError where pandas is not installed.

    It is loaded here, by name, because only the caller who asks for a data frame needs it.
    """
    try:
        pandas = import_module("pandas")
    except ModuleNotFoundError as error:
        raise ValidationError(
            f"a data frame needs {error.name}, which is not installed: pip install pandas; or use to_rows()"
        ) from error
    return pandas.DataFrame([{name: _encodable(value) for name, value in row.items()} for row in rows])


def _encodable(value: Any) -> Any:
    """Texts of programs may hold half of a surrogate pair, which a frame's columns cannot."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value
