"""A real PostgreSQL for tests: a fresh cluster in a temporary directory, on a unix socket, as an ordinary user."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

MISSING = (
    "NOT TESTED ON POSTGRESQL: no server below /usr/lib/postgresql (on Debian and Ubuntu, as root: "
    "apt-get install postgresql)"
)
SETTINGS = {
    "listen_addresses": "",
    "fsync": "off",
    "max_connections": "50",
    "shared_buffers": "16MB",
    "log_min_messages": "fatal",
}


def binaries() -> Path | None:
    """The newest server's programs."""
    found = [path.parent for path in Path("/usr/lib/postgresql").glob("*/bin/initdb")]
    return max(found, key=lambda path: float(path.parent.name), default=None)


class PostgresServer:
    """One cluster; `stop` and `start` as often as a test likes."""

    def __init__(self, programs: Path, folder: Path) -> None:
        self.folder = folder
        self._programs = programs
        # the server refuses to run as root
        self._user = None if os.geteuid() else next(n for n in ("postgres", "nobody") if _exists(n))
        if self._user:
            shutil.chown(folder, self._user)
        self._run("initdb", "-D", str(folder / "cluster"), "-U", "harena", "-A", "trust", "-N", "-E", "UTF8")

    def url(self, database: str = "postgres") -> str:
        """Where a database of it is reached."""
        return f"postgresql://harena@/{database}?host={self.folder}"

    def start(self) -> None:
        """Returns when it answers."""
        settings = " ".join(f"-c {name}={value or chr(39) * 2}" for name, value in SETTINGS.items())
        options = f"{settings} -c unix_socket_directories={self.folder}"
        cluster, log = str(self.folder / "cluster"), str(self.folder / "log")
        self._run("pg_ctl", "start", "-w", "-D", cluster, "-l", log, "-o", options)

    def stop(self) -> None:
        """At once, as a crash would."""
        self._run("pg_ctl", "stop", "-w", "-m", "immediate", "-D", str(self.folder / "cluster"))

    def create(self, database: str, *, template: str = "template1") -> str:
        """A fresh database with what the database `template` has, which nobody may be connected to; its URL."""
        self._run("createdb", "-h", str(self.folder), "-U", "harena", "-T", template, database)
        return self.url(database)

    def _run(self, program: str, *words: str) -> None:
        done = subprocess.run(
            [self._programs / program, *words],
            user=self._user,
            cwd=self.folder,
            env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE if program != "pg_ctl" else subprocess.DEVNULL,  # the server would hold the pipe
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise AssertionError(f"{program} failed: {done.stdout or (self.folder / 'log').read_text()}")


def _exists(user: str) -> bool:
    try:
        pwd.getpwnam(user)
    except KeyError:
        return False
    return True


@contextmanager
def postgres_server() -> Iterator[PostgresServer]:
    """A running server, gone afterwards. Skips, loudly, where none is installed."""
    programs = binaries()
    if programs is None:
        pytest.skip(MISSING)
    folder = Path(tempfile.mkdtemp(prefix="harena-pg-"))
    try:
        server = PostgresServer(programs, folder)
        server.start()
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder)
