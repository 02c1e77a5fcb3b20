"""Inserts many rows with one statement, which costs little more than one row.

SQLAlchemy gives a driver one execution for each row. With SQLite, each of them releases the GIL and acquires it
again, which beside a busy event loop costs more than the row; with PostgreSQL each is a message of its own.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import JSON, Column, Connection, Table

MOST_PARAMETERS = 10_000
"""most parameters of one statement; SQLite takes 32,766, PostgreSQL 65,535"""
_PLACEHOLDERS = {"qmark": "?", "pyformat": "%s", "format": "%s"}

Row = Mapping[str, Any]


def to_json(value: Any) -> str:
    """JSON, with what JSON does not know (a scenario's own metadata may hold anything) as text: a value that cannot be
    written must not take the other results of its batch with it, and one that cannot be read must not hide them."""
    try:
        return json.dumps(value, default=str, allow_nan=False)
    except ValueError:
        return json.dumps(_finite(value), default=str, allow_nan=False)


def _finite(value: Any) -> Any:
    """The value with numbers that are none (NaN, infinities) as text."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {name: _finite(part) for name, part in value.items()}
    return [_finite(part) for part in value] if isinstance(value, list | tuple) else value


def insert_rows(connection: Connection, table: Table, rows: Sequence[Row], *, fixed: Row, otherwise: str = "") -> None:
    """Insert rows that have the same columns, and beside them those of `fixed`. `otherwise`: what is done instead where
    one is there already, in SQL."""
    if not rows:
        return
    columns = [table.c[name] for name in (*fixed, *rows[0])]
    into = f"INSERT INTO {table.name} ({', '.join(column.name for column in columns)}) VALUES "  # noqa: S608 - our own names
    group = _group([_placeholder(connection)] * len(columns))
    for piece in _pieces(rows, len(columns)):
        values = [_driver_value(column, {**fixed, **row}) for row in piece for column in columns]
        connection.exec_driver_sql(into + ", ".join([group] * len(piece)) + otherwise, tuple(values))


def put_rows(
    connection: Connection,
    table: Table,
    rows: Sequence[Row],
    *,
    key: str,
    fixed: Row,
    unless_set: str,
    stay: Collection[str],
) -> None:
    """Insert rows that have the same columns, and beside them those of `fixed`. One that is there already, by `fixed`
    and `key`, gets their other columns but for those that `stay`, where `unless_set` is NULL in it."""
    if not rows:
        return
    mine, name = [key, *fixed], table.name
    changed = ", ".join(f"{column} = excluded.{column}" for column in rows[0] if column not in (*mine, *stay))
    kept = f" ON CONFLICT ({', '.join(mine)}) DO UPDATE SET {changed} WHERE {name}.{unless_set} IS NULL"
    insert_rows(connection, table, rows, fixed=fixed, otherwise=kept)


def update_rows(
    connection: Connection, table: Table, rows: Sequence[Row], *, key: str, fixed: Row, unless_set: str
) -> None:
    """In the rows of `table` that are as `fixed` says and where `unless_set` is NULL: each is found by its `key`, and
    gets the other columns of the one of `rows` with that key. All of `rows` have the same columns."""
    if not rows:
        return
    columns = [table.c[key], *(table.c[name] for name in rows[0] if name != key)]
    mark, name = _placeholder(connection), table.name
    # only in the first group: the others follow it
    types = [column.type.compile(dialect=connection.dialect) for column in columns]
    typed = connection.dialect.name == "postgresql"
    first = _group([f"CAST({mark} AS {kind})" if typed else mark for kind in types])
    changed = ", ".join(f"{column.name} = new.column{place}" for place, column in enumerate(columns[1:], 2))
    where = "".join(f"{name}.{column} = {mark} AND " for column in fixed)
    found = f"{where}{name}.{key} = new.column1 AND {name}.{unless_set} IS NULL"
    for piece in _pieces(rows, len(columns)):
        groups = ", ".join([first, *[_group([mark] * len(columns))] * (len(piece) - 1)])
        values = [_driver_value(column, row) for row in piece for column in columns]
        text = f"UPDATE {name} SET {changed} FROM (VALUES {groups}) AS new WHERE {found}"  # noqa: S608 - our own names
        connection.exec_driver_sql(text, (*values, *fixed.values()))


def _pieces(rows: Sequence[Row], columns: int) -> Iterator[Sequence[Row]]:
    """In powers of two: drivers keep prepared statements by their text, and a text for each number of rows would fill
    the memory of a server (3 MB for each job of a thousand runs) and be prepared anew each time."""
    most, first = 1 << ((MOST_PARAMETERS // columns).bit_length() - 1), 0
    while left := len(rows) - first:
        size = min(most, 1 << (left.bit_length() - 1))
        yield rows[first : first + size]
        first += size


def _placeholder(connection: Connection) -> str:
    return _PLACEHOLDERS[connection.dialect.paramstyle]


def _group(marks: Sequence[str]) -> str:
    return f"({', '.join(marks)})"


def _driver_value(column: Column[Any], row: Row) -> Any:
    """A value in the form that the driver takes. Members of an enumeration become text."""
    value = row[column.name]
    if value is None:
        return None
    if isinstance(column.type, JSON):
        return to_json(value)
    return str(value) if isinstance(value, str) else value
