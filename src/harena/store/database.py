"""The database: one SQLite file that several processes may use at the same time, or PostgreSQL by URL.

SQLite has a write-ahead log with synchronous=NORMAL: what is committed survives the death of any process, kill -9
included; a power cut may lose the last commits. PostgreSQL is reached with psycopg 3 (the extra `postgres`).
"""

from __future__ import annotations

import asyncio
import fcntl
import sqlite3
import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, closing
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy import URL, Connection, Engine, Table, create_engine, event, make_url, text
from sqlalchemy.exc import ArgumentError, DataError, DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as NoConnection

from harena.core.errors import PlatformError, ValidationError
from harena.core.home import private_file, private_folder, private_opener
from harena.core.job_store import STORE_UNAVAILABLE
from harena.core.settings import QUERY_SECONDS
from harena.core.threads import NODE, work_for
from harena.store.migrate import NEWEST, bring_to_newest
from harena.store.rows import to_json
from harena.store.shares import RETRY_SECONDS, ConnectionShares

if TYPE_CHECKING:  # its import takes as long as a third of SQLAlchemy's own, and a job on a file needs none of it
    from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

BUSY_SECONDS = 30.0
"""how long a write waits for another process's write"""
CONNECT_SECONDS = 10
THREADS = 9
"""number of threads in which transactions on a database file are run at one time; only one of them can write"""
READING_THREADS = 9
"""number of threads that read a database file beside them"""
KEPT_OPEN, CONNECTIONS = 5, 18
"""connections of one pool: so many stay open, and there are so many at one time"""
READING, READING_SHARE = 7, 3
"""connections (of a file: threads) that may read at one time for all workspaces, and for one of them; with WORKING this
leaves some for the node itself"""
WORKING, WORKING_SHARE = 7, 3
"""connections that may do anything else"""
POOL_SECONDS = 10.0
"""how long to wait for a connection of the pool"""
LOCK_SECONDS = 10.0
"""how long a statement waits for what another connection to PostgreSQL has locked"""
IDLE_SECONDS = 30.0
"""how long a transaction may lie idle in PostgreSQL: one of a process that was stopped in its middle would hold a job's
lease for ever, and nobody could take the job over"""
MIGRATION_LOCK = 0x6861_7265
"""the number of the PostgreSQL advisory lock under which one process at a time migrates"""

QUERY_TIME = "QUERY_TIME"
"""the reason of a query that took longer than it may"""
STEPS_BETWEEN_LOOKS = 50_000
"""instructions of SQLite's machine, some milliseconds, after which it is asked whether time is over; to ask takes the
interpreter's lock"""

_NUL = "cannot contain NUL"
"""in what psycopg says of a text"""
_STOPPED = "57014"
"""SQLSTATE of a statement that its time limit ended"""
_POSTGRES_NAMES = ("postgres", "postgresql", "postgresql+psycopg")
_AWAY_SQLITE = frozenset(
    {
        *(sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR),
        *(sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_READONLY),
    }
)
_AWAY_POSTGRES = ("08", "40", "53", "55P03", "57", "58", "25P03")
"""beginnings of SQLSTATE: connection, rolled back by a conflict, out of room, locked for too long, stopped by an
operator, system error, idle for too long"""
_POOL: dict[str, Any] = {
    "pool_size": KEPT_OPEN,
    "max_overflow": CONNECTIONS - KEPT_OPEN,
    "pool_timeout": POOL_SECONDS,
}

Made = TypeVar("Made")


class Database:
    """Connections to one database."""

    def __init__(self, name: str, open_engine: Callable[[], AsyncEngine], in_threads: Engine | None = None) -> None:
        """`open_engine`: called once, when it is needed first. `in_threads`: an engine to the same database, for
        `run`; None = the first one is as good."""
        self.name = name
        """for people: the file, or the URL without its password"""
        self._open_engine = open_engine
        self._opened: AsyncEngine | None = None
        self._in_threads = in_threads
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="store") if in_threads else None
        self._readers = ThreadPoolExecutor(READING_THREADS, thread_name_prefix="store-read") if in_threads else None
        self._reading = ConnectionShares(READING, READING_SHARE)
        self._working = ConnectionShares(WORKING, WORKING_SHARE)
        self._query_seconds = float(QUERY_SECONDS.read() or str(QUERY_SECONDS.default))
        self._in_use = 0
        self._idle = asyncio.Event()
        self._closed = False

    @property
    def is_one_machine(self) -> bool:
        """Only processes of this machine can reach it."""
        return self._in_threads is not None

    @property
    def _engine(self) -> AsyncEngine:
        if self._opened is None:
            self._opened = self._open_engine()
        return self._opened

    @classmethod
    async def open(cls, place: Path | str) -> Database:
        """Open the database file, or the PostgreSQL of this URL, creating and migrating tables where that is needed.
        Raises PlatformError."""
        return await (_open_file(place) if isinstance(place, Path) else _open_url(place))

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[AsyncConnection]:
        """One transaction: committed at the end of the block, rolled back on any exception. Raises PlatformError, with
        the reason STORE_UNAVAILABLE where the same may succeed later."""
        async with self._working.one(), self._use():
            async with self._engine.begin() as connection:
                yield connection

    async def run(self, work: Callable[[Connection], Made]) -> Made:
        """Run a transaction that does not await in between; gives what `work` makes of a connection.

        With a file it is done in a thread, whole: to go there and back for every statement takes longer than the
        statements do. `work` may touch nothing that belongs to the event loop, and ends although nobody waits for it
        any more. Raises PlatformError, as `transaction` does."""
        async with self._working.one():
            return await self._run(self._threads, work)

    async def read(self, work: Callable[[Connection], Made], *, whole: bool = False) -> Made:
        """Run a transaction that only reads, as `run` does, beside those that write. For a workspace it has a time
        limit (QUERY_SECONDS), unless a `whole` job is read, which no filter makes shorter. Raises PlatformError, and
        ValidationError (QUERY_TIME)."""
        limited = work if whole or not work_for.get() else partial(_within, self._query_seconds, work)
        async with self._reading.one():
            return await self._run(self._readers, limited)

    async def _run(self, threads: ThreadPoolExecutor | None, work: Callable[[Connection], Made]) -> Made:
        async with self._use():
            if self._in_threads is None:
                async with self._engine.begin() as connection:
                    return await connection.run_sync(work)
            working = asyncio.get_running_loop().run_in_executor(threads, _in_one, self._in_threads, work)
            try:
                return await asyncio.shield(working)
            except asyncio.CancelledError:
                await asyncio.wait([working])
                raise

    @asynccontextmanager
    async def _use(self) -> AsyncIterator[None]:
        if self._closed:
            raise PlatformError(f"the database {self.name} was closed", step="store")
        self._in_use += 1
        try:
            yield
        except DBAPIError as error:
            if isinstance(error, DataError) and _NUL in str(error.orig):
                # SQLite keeps it. Nothing of this name can be there, and nothing that has it can be kept
                raise ValidationError(
                    "a name or another text has the character NUL, which the database cannot hold: leave it out",
                    reason="NUL",
                ) from error
            raise self._failed(f"failed: {error.orig}", away=is_away(error)) from error
        except NoConnection as error:
            raise self._failed(f"has no connection free ({CONNECTIONS} are in use)", away=True) from error
        finally:
            self._in_use -= 1
            if not self._in_use:
                self._idle.set()

    def _failed(self, what: str, *, away: bool) -> PlatformError:
        return PlatformError(
            f"the database {self.name} {what}",
            step="store",
            reason=STORE_UNAVAILABLE if away else None,
            retry_delay=timedelta(seconds=RETRY_SECONDS) if away else None,
        )

    async def close(self) -> None:
        """Let the transactions that are under way end, and close every connection."""
        self._closed = True
        while self._in_use:
            self._idle.clear()
            await self._idle.wait()
        if self._opened is not None:
            await self._opened.dispose()
        if self._in_threads is not None:
            self._in_threads.dispose()
        for threads in (self._threads, self._readers):
            if threads is not None:
                threads.shutdown()


def _in_one(engine: Engine, work: Callable[[Connection], Made]) -> Made:
    with engine.begin() as connection:
        return work(connection)


def _within(seconds: float, work: Callable[[Connection], Made], connection: Connection) -> Made:
    """What `work` makes of the connection. Raises ValidationError where its queries take longer."""
    file = None
    try:
        if connection.dialect.name == "sqlite":
            file, end = connection.connection.driver_connection, time.monotonic() + seconds
            assert isinstance(file, sqlite3.Connection)
            file.set_progress_handler(lambda: time.monotonic() > end, STEPS_BETWEEN_LOOKS)
        else:
            connection.exec_driver_sql(f"SET LOCAL statement_timeout = {max(1, round(seconds * 1000))}")
        return work(connection)
    except OperationalError as error:
        cause = error.orig
        over = getattr(cause, "sqlite_errorcode", None) == sqlite3.SQLITE_INTERRUPT
        if not over and getattr(cause, "sqlstate", None) != _STOPPED:
            raise
        raise ValidationError(
            f"this was looked for in the database for more than {seconds:g} seconds: narrow the filter (give a name, "
            "and fewer metadata) or ask for fewer entries at a time (limit)",
            reason=QUERY_TIME,
        ) from error
    finally:
        if file is not None:
            file.set_progress_handler(None, 0)


def insert_new(connection: Connection | AsyncConnection, table: Table) -> Any:
    """An INSERT that leaves rows alone which are there; its `rowcount` says how many were not."""
    if connection.dialect.name == "sqlite":
        from sqlalchemy.dialects.sqlite import insert as insert_to_sqlite

        return insert_to_sqlite(table).on_conflict_do_nothing()
    from sqlalchemy.dialects.postgresql import insert as insert_to_postgres

    return insert_to_postgres(table).on_conflict_do_nothing()


def is_away(error: DBAPIError) -> bool:
    """The database is away or full, rather than asked for something that it cannot do."""
    if error.connection_invalidated or isinstance(error, InterfaceError):
        return True
    cause = error.orig
    if (code := getattr(cause, "sqlite_errorcode", None)) is not None:
        return code & 0xFF in _AWAY_SQLITE  # the low byte is the class of an extended code
    state = getattr(cause, "sqlstate", None)
    return state.startswith(_AWAY_POSTGRES) if state else isinstance(error, OperationalError)


async def _open_file(path: Path) -> Database:
    try:
        await NODE.run(_prepare_file, path)
    except (OSError, sqlite3.Error, DBAPIError) as error:
        cause = error.orig if isinstance(error, DBAPIError) else error
        raise PlatformError(
            f"cannot open the database {path}: {cause}. Make room on its disk, or set HARENA_HOME to a directory that "
            "you can write to.",
            step="store",
        ) from error
    except PlatformError as error:
        raise PlatformError(f"cannot open the database {path}: {error}", step="store") from error
    waiting = {"timeout": BUSY_SECONDS}

    def open_engine() -> AsyncEngine:
        from sqlalchemy.ext.asyncio import create_async_engine

        url = URL.create("sqlite+aiosqlite", database=str(path))
        engine = create_async_engine(url, connect_args=waiting, json_serializer=to_json, **_POOL)
        event.listen(engine.sync_engine, "connect", _configure)
        return engine

    in_threads = create_engine(
        URL.create("sqlite", database=str(path)), connect_args=waiting, json_serializer=to_json, **_POOL
    )
    event.listen(in_threads, "connect", _configure)
    return Database(str(path), open_engine, in_threads)


async def _open_url(written: str) -> Database:
    from sqlalchemy.ext.asyncio import create_async_engine

    url = _postgres_url(written)
    name = url.set(drivername="postgresql").render_as_string(hide_password=True)
    try:
        await NODE.run(_prepare_postgres, url)
        engine = create_async_engine(
            url,
            connect_args={"connect_timeout": CONNECT_SECONDS},
            json_serializer=to_json,
            **_POOL,
            pool_pre_ping=True,  # a connection that died while it lay idle is replaced, not reported
        )
        event.listen(engine.sync_engine, "connect", _limit_waiting)
    except ModuleNotFoundError as error:
        raise PlatformError(
            f"cannot open the database {name}: {error}. Install the extra: pip install 'harena[postgres]'", step="store"
        ) from error
    except DBAPIError as error:
        raise PlatformError(
            f"cannot open the database {name}: {error.orig}. Check HARENA_DATABASE_URL and that the server runs.",
            step="store",
            reason=STORE_UNAVAILABLE if is_away(error) else None,
        ) from error
    except PlatformError as error:
        raise PlatformError(f"cannot open the database {name}: {error}", step="store") from error
    return Database(name, lambda: engine)


def _postgres_url(written: str) -> URL:
    try:
        url = make_url(written)
    except ArgumentError:
        url = URL.create("unknown")
    if url.drivername not in _POSTGRES_NAMES:
        # the URL itself may hold a password: it is not repeated
        raise PlatformError(
            "HARENA_DATABASE_URL must be postgresql://USER:PASSWORD@HOST:PORT/DATABASE; leave it unset for the SQLite "
            "file in HARENA_HOME",
            step="store",
        )
    return url.set(drivername="postgresql+psycopg")


def _configure(connection: Any, _record: Any) -> None:
    cursor = connection.cursor()
    cursor.execute("PRAGMA synchronous=NORMAL")
    cursor.close()


def _limit_waiting(connection: Any, _record: Any) -> None:
    """For all of the connection's time, so not within a transaction that may be rolled back."""
    connection.autocommit = True
    cursor = connection.cursor()
    cursor.execute(f"SET lock_timeout = {round(LOCK_SECONDS * 1000)}")
    cursor.execute(f"SET idle_in_transaction_session_timeout = {round(IDLE_SECONDS * 1000)}")
    cursor.close()
    connection.autocommit = False


def _prepare_file(path: Path) -> None:
    """Create and migrate. Under a file lock: SQLite itself does not wait when two processes switch a new file to its
    write-ahead log at the same moment."""
    private_folder(path.parent)
    with open(path.with_name(path.name + ".lock"), "wb", opener=private_opener) as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        private_file(path)  # SQLite gives what it makes beside it the same rights
        for beside in (path.with_name(path.name + ending) for ending in (".lock", "-wal", "-shm")):
            if beside.exists():
                private_file(beside)
        with closing(sqlite3.connect(path, timeout=BUSY_SECONDS)) as plain:
            version = plain.execute("PRAGMA user_version").fetchone()[0]
            if version == int(NEWEST):
                return
            if version > int(NEWEST):
                raise sqlite3.DatabaseError(
                    f"schema version {version} instead of {int(NEWEST)} (move the file away to start anew)"
                )
            plain.execute("PRAGMA journal_mode=WAL")
        engine = create_engine(URL.create("sqlite", database=str(path)), connect_args={"timeout": BUSY_SECONDS})
        event.listen(engine, "connect", _begin_by_hand)
        event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN IMMEDIATE"))
        try:
            with engine.begin() as connection:
                bring_to_newest(connection)
                connection.exec_driver_sql(f"PRAGMA user_version={int(NEWEST)}")
        finally:
            engine.dispose()


def _begin_by_hand(connection: Any, _record: Any) -> None:
    """Have transactions begun by hand: the driver begins none for statements that make tables, and half a step could
    stay."""
    connection.isolation_level = None


def _prepare_postgres(url: URL) -> None:
    engine = create_engine(url, connect_args={"connect_timeout": CONNECT_SECONDS})
    try:
        with engine.begin() as connection:
            connection.execute(text("SELECT pg_advisory_xact_lock(:number)"), {"number": MIGRATION_LOCK})
            bring_to_newest(connection)
    finally:
        engine.dispose()
