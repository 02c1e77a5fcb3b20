"""A PostgreSQL for the time of a measurement: a fresh cluster with default settings, on a unix socket."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def programs() -> Path | None:
    """The folder of the newest server's programs; None where none is installed."""
    found = [path.parent for path in Path("/usr/lib/postgresql").glob("*/bin/initdb")]
    return max(found, key=lambda path: float(path.parent.name), default=None)


def unavailable() -> str | None:
    """Why none can run here; None = one can."""
    return None if programs() else "no PostgreSQL below /usr/lib/postgresql (on Debian: apt-get install postgresql)"


@contextmanager
def postgres() -> Iterator[str]:
    """The URL of a database in a new cluster, which is stopped and removed afterwards. What a commit promises is as by
    default: it is on the disk. Raises RuntimeError where no server is installed or it does not start."""
    found = programs()
    if found is None:
        raise RuntimeError(unavailable())
    folder = Path(tempfile.mkdtemp(prefix="harena-benchmark-pg-"))
    user = None if os.geteuid() else "postgres"  # the server refuses to run as root
    if user:
        shutil.chown(folder, user)
    try:
        cluster = str(folder / "cluster")
        _run(found / "initdb", "-D", cluster, "-U", "harena", "-A", "trust", user=user, folder=folder)
        options = f"-c listen_addresses= -c unix_socket_directories={folder} -c log_min_messages=fatal"
        started = ("start", "-w", "-D", cluster, "-l", str(folder / "log"), "-o", options)
        _run(found / "pg_ctl", *started, user=user, folder=folder)
        try:
            yield f"postgresql://harena@/postgres?host={folder}"
        finally:
            _run(found / "pg_ctl", "stop", "-w", "-m", "fast", "-D", cluster, user=user, folder=folder)
    finally:
        shutil.rmtree(folder)


def _run(program: Path, *words: str, user: str | None, folder: Path) -> None:
    said = folder / "said"
    with said.open("wb") as output:  # a file, because the server would hold a pipe open
        done = subprocess.run(
            [program, *words],
            user=user,
            cwd=folder,
            env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            check=False,
        )
    if done.returncode != 0:
        raise RuntimeError(f"{program.name} failed: {said.read_text()}")
