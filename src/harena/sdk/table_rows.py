"""Rows of data sets in CSV, and in Parquet with pyarrow (the extra `parquet`): read where the file is, and sent as
rows."""

from __future__ import annotations

import datetime
import decimal
import json
import os
from collections.abc import Iterator
from typing import Any

from harena.core.csv_rows import csv_rows
from harena.core.errors import ValidationError
from harena.core.row_endings import CSV


def table_rows(path: str | os.PathLike[str]) -> Iterator[dict[str, Any]]:
    """The rows of a file whose name ends as one of `row_endings.TABLE_ENDINGS`, one by one, as JSON has them. Raises
    ValidationError."""
    if os.fspath(path).endswith(CSV):
        return (row for _, row in csv_rows(path))
    return parquet_rows(path)


def parquet_rows(path: str | os.PathLike[str]) -> Iterator[dict[str, Any]]:
    """The rows of a file, one by one, as JSON has them: times as ISO texts, decimals as texts. Raises ValidationError
    for a file that is none, for bytes, and where pyarrow is not installed."""
    if not os.path.exists(path):
        raise ValidationError(f"{path}: cannot be read: No such file or directory; check the path")
    try:
        import pyarrow
        from pyarrow import parquet
    except ModuleNotFoundError:
        raise ValidationError(f"{path} is read with pyarrow: pip install 'harena[parquet]'") from None
    try:
        with parquet.ParquetFile(path) as file:
            rows = (row for batch in file.iter_batches() for row in batch.to_pylist())
            for number, row in enumerate(rows, 1):
                yield _plain(row, f"{path}: row {number}")
    except OSError as error:
        raise ValidationError(f"{path}: cannot be read: {error.strerror or error}; check the path") from None
    except pyarrow.lib.ArrowException as error:
        raise ValidationError(f"{path} is not Parquet: {error}") from None


def _plain(row: dict[str, Any], origin: str) -> dict[str, Any]:
    """The row, whose values may be of Arrow's types, in types of JSON."""

    def said(value: object) -> str:
        if isinstance(value, datetime.date | datetime.time):
            return value.isoformat()
        if isinstance(value, decimal.Decimal | datetime.timedelta):
            return str(value)
        raise ValidationError(f"{origin} holds {type(value).__name__}, which no row of JSON can hold; leave it out")

    plain: dict[str, Any] = json.loads(json.dumps(row, default=said))
    return plain
