"""Results as Parquet, with pyarrow (the extra `parquet`): typed columns, a row group for every few pages."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, BinaryIO

from harena.core.errors import ValidationError
from harena.core.records.benchmark_jobs import BenchmarkRun
from harena.core.records.result_rows import COLUMNS, MORE, ColumnKind, flat_row

ROWS_PER_GROUP = 10_000
"""what is held in memory at one time, about 10 MB"""


def check_parquet() -> None:
    """Raises ValidationError if pyarrow is not installed."""
    try:
        import pyarrow.parquet  # noqa: F401 - only to see whether it is there
    except ModuleNotFoundError as error:
        raise ValidationError(
            f"Parquet needs {error.name}, which is not installed: pip install 'harena[parquet]'"
        ) from error


class ParquetWriter:
    """A `ResultWriter` whose file is complete when its `with` block ends. The job itself is the file's metadata
    `harena.job`, as JSON: {job_id, name, state, error, summary}."""

    def __init__(self, out: BinaryIO) -> None:
        """`out` stays open."""
        import pyarrow
        import pyarrow.parquet

        self._arrow = pyarrow
        types = {
            ColumnKind.TEXT: pyarrow.string(),
            ColumnKind.INTEGER: pyarrow.int64(),
            ColumnKind.NUMBER: pyarrow.float64(),
            ColumnKind.BOOLEAN: pyarrow.bool_(),
            ColumnKind.NESTED: pyarrow.string(),
        }
        columns = {**COLUMNS, MORE: ColumnKind.NESTED}
        self._schema = pyarrow.schema([(name, types[kind]) for name, kind in columns.items()])
        self._file = pyarrow.parquet.ParquetWriter(out, self._schema, compression="zstd")
        self._rows: list[dict[str, Any]] = []

    def add(self, runs: Sequence[BenchmarkRun]) -> None:
        """Collect the runs, and write them once there are enough for a row group."""
        self._rows += [flat_row(run.to_dict()) for run in runs]
        if len(self._rows) >= ROWS_PER_GROUP:
            self._write()

    def end(self, told: Mapping[str, Any]) -> None:
        """Write the rows that are left, and keep `told` as the file's metadata."""
        self._write()
        self._file.add_key_value_metadata({"harena.job": json.dumps(told)})

    def __enter__(self) -> ParquetWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def _write(self) -> None:
        if self._rows:
            self._file.write_table(self._arrow.Table.from_pylist(self._rows, schema=self._schema))
            self._rows = []
