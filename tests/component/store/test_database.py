"""The database file: made on first use, shared by processes, refused with a reason."""

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import text

from harena.core.errors import PlatformError
from harena.core.job_store import STORE_UNAVAILABLE
from harena.store.database import Database


async def test_creates_directories_and_keeps_what_is_there(tmp_path: Path) -> None:
    """Opening twice finds the same rows, in write-ahead mode."""
    path = tmp_path / "a" / "b" / "harena.db"
    first = await Database.open(path)
    async with first.transaction() as connection:
        await connection.execute(
            text("INSERT INTO events (job_id, cursor, at, kind, body) VALUES ('j', 1, 'now', 'k', '{}')")
        )
        assert await connection.scalar(text("PRAGMA journal_mode")) == "wal"
        assert await connection.scalar(text("PRAGMA synchronous")) == 1
    await first.close()
    second = await Database.open(path)
    async with second.transaction() as connection:
        assert await connection.scalar(text("SELECT count(*) FROM events")) == 1
    await second.close()


async def test_a_failed_transaction_leaves_nothing(database: Database) -> None:
    """A database error is the platform's, and half a transaction is none."""
    row = text("INSERT INTO events (job_id, cursor, at, kind, body) VALUES ('j', 1, 'now', 'k', '{}')")

    async def insert_twice() -> None:
        async with database.transaction() as connection:
            await connection.execute(row)
            await connection.execute(row)

    with pytest.raises(PlatformError, match="UNIQUE constraint failed"):
        await insert_twice()
    async with database.transaction() as connection:
        assert await connection.scalar(text("SELECT count(*) FROM events")) == 0


async def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    """The error names the file and the setting to change."""
    (tmp_path / "file").write_text("")
    with pytest.raises(PlatformError, match="or set HARENA_HOME to a directory") as caught:
        await Database.open(tmp_path / "file" / "harena.db")
    assert str(tmp_path / "file") in str(caught.value)


async def test_a_file_of_another_version(tmp_path: Path) -> None:
    """A database of another harena is refused, not guessed at."""
    path = tmp_path / "harena.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version=99")
    with pytest.raises(PlatformError, match="schema version 99"):
        await Database.open(path)


async def test_no_database_file(tmp_path: Path) -> None:
    """Something else of that name is refused, and left as it is."""
    path = tmp_path / "harena.db"
    path.write_bytes(b"not a database at all, but long enough to be looked at" * 100)
    with pytest.raises(PlatformError, match="file is not a database"):
        await Database.open(path)
    assert path.read_bytes().startswith(b"not a database")


def test_an_open_store_does_not_hold_up_the_exit(tmp_path: Path) -> None:
    """A process that forgets to close its database ends all the same."""
    code = (
        "import asyncio, sys, pathlib\n"
        "from sqlalchemy import text\n"
        "from harena.store.database import Database\n"
        "async def main():\n"
        "    global database, connection\n"
        "    database = await Database.open(pathlib.Path(sys.argv[1]))\n"
        "    connection = await database._engine.connect()\n"
        "    await connection.execute(text('SELECT 1'))\n"
        "asyncio.run(main())\n"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "harena.db")], check=True, timeout=20)


async def test_a_full_disk_is_told_apart_and_survived(database: Database) -> None:
    """A database that may not grow refuses whole transactions, says that the same may succeed later, and it does."""
    insert = text("INSERT INTO events (job_id, cursor, at, kind, body) VALUES ('j', :cursor, 't', 'k', :body)")
    rows = [{"cursor": number, "body": '"' + "x" * 4000 + '"'} for number in range(50)]
    async with database.transaction() as connection:
        pages = await connection.scalar(text("PRAGMA page_count"))
        await connection.execute(text(f"PRAGMA max_page_count={pages + 5}"))
    with pytest.raises(PlatformError, match="database or disk is full") as full:
        async with database.transaction() as connection:
            await connection.execute(insert, rows)
    assert full.value.reason == STORE_UNAVAILABLE
    async with database.transaction() as connection:
        assert await connection.scalar(text("SELECT count(*) FROM events")) == 0
        await connection.execute(text("PRAGMA max_page_count=1000000"))
        await connection.execute(insert, rows)
        assert await connection.scalar(text("SELECT count(*) FROM events")) == 50


async def test_what_is_refused_for_good_is_not_called_away(database: Database) -> None:
    """Asking again would not help."""
    with pytest.raises(PlatformError) as refused:
        async with database.transaction() as connection:
            await connection.execute(text("SELECT nothing FROM nowhere"))
    assert refused.value.reason is None


@pytest.mark.parametrize(
    ("query", "index"),
    [
        (
            "SELECT envelope FROM runs WHERE job_id = 'j' AND ended_cursor > 5 ORDER BY ended_cursor LIMIT 9",
            "runs_by_end",
        ),
        ("SELECT body FROM events WHERE job_id = 'j' AND cursor > 5 ORDER BY cursor LIMIT 9", "PRIMARY KEY"),
    ],
)
async def test_a_page_is_read_from_an_index(database: Database, query: str, index: str) -> None:
    """Wherever it is: no scan, and no sorting of what lies before or behind it."""
    async with database.transaction() as connection:
        plan = [row[3] for row in await connection.execute(text(f"EXPLAIN QUERY PLAN {query}"))]
    assert len(plan) == 1
    assert "SEARCH" in plan[0]
    assert index in plan[0]
