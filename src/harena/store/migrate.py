"""Brings a database to this version's tables, with alembic. Run before the first use, by whoever opens it.

A database at the newest version is recognised without loading alembic: opening is on the road of every first job.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Column, MetaData, PrimaryKeyConstraint, String, Table, inspect, text

from harena.core.errors import PlatformError
from harena.store.tables import metadata

if TYPE_CHECKING:
    from sqlalchemy import Connection

STEPS = "migrations/versions"
KNOWN = tuple(sorted(step.name[len("step_") :][:4] for step in (Path(__file__).parent / STEPS).glob("step_*.py")))
NEWEST = KNOWN[-1]
BEFORE_MIGRATIONS = "0001"
"""the version of a database that has tables and no record of its version: what harena 0.1 made"""


def version_of(connection: Connection) -> str | None:
    """The version that the database says it has; None = it has no tables of ours. Raises PlatformError for one that
    a newer harena has made."""
    tables = set(inspect(connection).get_table_names())
    if "alembic_version" in tables:
        version = connection.scalar(text("SELECT version_num FROM alembic_version"))
        if version is not None and version not in KNOWN:
            raise PlatformError(
                f"schema version {version} is newer than {NEWEST}, which this harena knows; use the harena that made "
                "this database, or another database",
                step="store",
            )
        if version is not None:
            return str(version)
    return BEFORE_MIGRATIONS if "benchmark_jobs" in tables else None


def bring_to_newest(connection: Connection) -> None:
    """Run the missing steps in the connection's transaction. The caller lets in one process at a time."""
    bring_to(connection, NEWEST)


def bring_to(connection: Connection, wanted: str) -> None:
    """Migrate up to a version; versions before the newest are for tests. A database without tables gets the newest
    ones as they are, without alembic, which takes longer to load than they take to make."""
    version = version_of(connection)
    if version == wanted:
        return
    if version is None and wanted == NEWEST:
        _make_newest(connection)
        return
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", "harena.store:migrations")
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    if version == BEFORE_MIGRATIONS:
        command.stamp(config, version)
    command.upgrade(config, wanted)


def _make_newest(connection: Connection) -> None:
    """What all steps make of nothing, and alembic's record of the version."""
    metadata.create_all(connection, checkfirst=False)
    version = Column("version_num", String(32), nullable=False)
    versions = Table("alembic_version", MetaData(), version, PrimaryKeyConstraint(version, name="alembic_version_pkc"))
    versions.create(connection)
    connection.execute(versions.insert().values(version_num=NEWEST))
