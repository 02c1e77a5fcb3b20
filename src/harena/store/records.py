"""Records out of rows, and rows out of records: what leaves a store, and what it takes, is typed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Made = TypeVar("Made")


def record_of(kind: Callable[..., Made], row: Mapping[Any, Any]) -> Made:
    """The record whose fields are the columns that were read."""
    return kind(**row)


def row_of(record: DataclassInstance) -> dict[str, Any]:
    """The columns of a record: its fields, whose values are not copied."""
    return {field.name: getattr(record, field.name) for field in fields(record)}
