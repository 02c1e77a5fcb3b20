"""Reads one page of a list: rows until it has as many, or as many bytes, as a page may."""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import JSON, Connection, Select, Text, cast

from harena.core.pages import PAGE_BYTES, PageRoom, PageRows, encoded_bytes
from harena.store.records import Row

FETCHED_AT_ONCE = 8
"""rows that the driver holds beside the page"""


def read_page(
    connection: Connection, statement: Select[Any], limit: int, most_bytes: int = PAGE_BYTES
) -> PageRows[Row]:
    """The first `limit` rows of the statement, fewer where those have more than `most_bytes`; one at least. What is
    not on the page is not read, but for the next few rows."""
    columns = list(statement.selected_columns)
    parsed = [column.name for column in columns if isinstance(column.type, JSON)]
    # the size of JSON is known before anything is made of it
    as_text = (cast(column, Text).label(column.name) if column.name in parsed else column for column in columns)
    asked = statement.with_only_columns(*as_text).limit(limit + 1)
    asked = asked.execution_options(stream_results=True, max_row_buffer=FETCHED_AT_ONCE)
    room = PageRoom(most_bytes)
    page: PageRows[Row] = PageRows()
    with connection.execute(asked) as found:
        for row in map(dict, found.mappings()):
            if len(page) == limit or not room.takes(sum(map(_stored_bytes, row.values()))):
                page.more = True
                break
            page.append(row | {name: json.loads(row[name]) for name in parsed if row[name] is not None})
    return page


def _stored_bytes(value: Any) -> int:
    if isinstance(value, str):
        return encoded_bytes(value)
    return len(value) if isinstance(value, bytes) else 0  # numbers are few and small
