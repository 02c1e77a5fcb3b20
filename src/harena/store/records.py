"""Records out of rows, and rows out of records: what leaves a store, and what it takes, is typed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any, TypeVar

from harena.core.leases import Lease, Owner

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Made = TypeVar("Made")
Row = dict[str, Any]
"""columns of one row, by name"""


def record_of(kind: Callable[..., Made], row: Mapping[Any, Any]) -> Made:
    """The record whose fields are the columns that were read."""
    return kind(**row)


def row_of(record: DataclassInstance) -> Row:
    """The columns of a record: its fields, whose values are not copied."""
    return {field.name: getattr(record, field.name) for field in fields(record)}


def owner_columns(owner: Owner) -> Row:
    """The columns of a job's owner."""
    return {"owner_pid": owner.pid, "owner_started": owner.started, "owner_boot": owner.boot}


def owner_of(row: Mapping[Any, Any]) -> Owner:
    """The owner of a row of jobs."""
    return Owner(pid=row["owner_pid"], started=row["owner_started"], boot=row["owner_boot"])


def lease_of(row: Mapping[Any, Any]) -> Lease:
    """The lease of a row of jobs."""
    return Lease(owner=owner_of(row), epoch=row["lease_epoch"], beat=row["lease_beat"])


def record_with_lease(kind: Callable[..., Made], row: Mapping[Any, Any]) -> Made:
    """The record of a job, whose other fields are columns of the same name."""
    columns = {name: value for name, value in row.items() if name not in LEASE_COLUMNS}
    return kind(**columns, lease=lease_of(row))


OWNER_COLUMNS = ("owner_pid", "owner_started", "owner_boot")
LEASE_COLUMNS = (*OWNER_COLUMNS, "lease_epoch", "lease_beat")
