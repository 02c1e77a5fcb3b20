"""The page on operating a server, followed: its blocks are run as they stand, with real servers and a PostgreSQL."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, text
from test_server import END_SECONDS, harena_command, started

import harena
from harena.sdk import portal

sys.path.extend(str(Path(__file__).parents[1] / folder) for folder in (".", "conformance"))

import old_stores

from postgres_server import PostgresServer, postgres_server

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/how-to/operate.md"
UNIT = ROOT / "deploy/systemd/harena.service"
BLOCKS = dict(re.findall(r"^```sh (\S+)\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL))
KEY = "dGhpcyBpcyBubyBzZWNyZXQsIGl0J3MgZm9yIHRlc3Q="
SCENARIO = {
    "id": "three",
    "candidate": {"files": {"solution.py": "print(open('/data/word').read())"}},
    "scoring": {"type": "stdio", "cases": [{"stdin": "", "stdout": "3"}]},
}


@pytest.fixture(scope="module")
def postgres() -> Iterator[PostgresServer]:
    with postgres_server() as server:
        yield server


def follow(block: str, **env: str | Path) -> str:
    """Run a block of the page, as a person would who has set these variables."""
    words = ["bash", "-eu", "-c", BLOCKS[block]]
    given = {**os.environ, **{name: str(value) for name, value in env.items()}}
    ended = subprocess.run(words, env=given, capture_output=True, text=True, timeout=END_SECONDS, check=False)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@contextmanager
def serving(monkeypatch: pytest.MonkeyPatch, home: Path, database: str | None) -> Iterator[str]:
    """A server of this home and database, whose client the sdk of this process is."""
    monkeypatch.setenv("HARENA_HOME", str(home))
    monkeypatch.setenv("HARENA_SECRET_KEY", KEY)
    if database is not None:
        monkeypatch.setenv("HARENA_DATABASE_URL", database)
    process, url = started()
    monkeypatch.setenv("HARENA_BASE_URL", url)
    try:
        yield url
    finally:
        portal.shutdown()
        process.send_signal(signal.SIGTERM)
        _, log = process.communicate(timeout=END_SECONDS)
        monkeypatch.delenv("HARENA_BASE_URL")
    assert process.returncode == 0, log


def fill(folder: Path) -> str:
    """Something of each place: a blueprint with a file, a job with its result, an object, a secret. The job's id."""
    harena.blueprints.create("kept", files={"/data/word": b"3"}, warm=[])
    job = harena.benchmark_jobs.create(name="kept", scenarios=[SCENARIO], blueprint_id="kept")
    harena.benchmark_jobs.wait(job)
    rows = folder / "rows.jsonl"
    rows.write_text(json.dumps({"prompt": "1 + 2", "answer": "3"}) + "\n")
    harena.registry.push("dataset", rows, "rows@1")
    harena.secrets.set("token", "s3cret", hosts=["api.example.org"])
    return job.id


def check_all_is_there(job: str) -> None:
    """And can be used: the blueprint's file is where it was."""
    [run] = harena.benchmark_jobs.wait(job).runs
    assert (run.scenario_id, run.score) == ("three", 1.0)
    assert [secret.name for secret in harena.secrets.list()] == ["token"]
    assert [(found.name, found.version) for found in harena.registry.list("dataset")] == [("rows", "1")]
    again = harena.benchmark_jobs.create(name="again", scenarios=[SCENARIO], blueprint_id="kept")
    assert [run.score for run in harena.benchmark_jobs.wait(again).runs] == [1.0]


@pytest.mark.thorough
def test_backup_and_restore(postgres: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything of a running server, into an empty database and a new home."""
    first, second = postgres.create("first"), postgres.create("second")
    with serving(monkeypatch, tmp_path / "home", first):
        job = fill(tmp_path)
        follow("backup", BACKUP=tmp_path / "backup")
    with serving_after("restore", monkeypatch, tmp_path, second) as url:
        assert json.loads(follow("check", HARENA_BASE_URL=url))["status"] == "ok"
        check_all_is_there(job)
    assert (tmp_path / "backup" / "database").stat().st_mode & 0o077 == 0


@contextmanager
def serving_after(block: str, monkeypatch: pytest.MonkeyPatch, folder: Path, database: str | None) -> Iterator[str]:
    home: dict[str, Any] = {"HARENA_HOME": folder / "restored"}
    if database is not None:
        home["HARENA_DATABASE_URL"] = database
    follow(block, BACKUP=folder / "backup", **home)
    with serving(monkeypatch, folder / "restored", database) as url:
        yield url


@pytest.mark.thorough
def test_backup_and_restore_with_sqlite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same where the database is a file of the home."""
    with serving(monkeypatch, tmp_path / "home", None):
        job = fill(tmp_path)
        follow("backup-sqlite", BACKUP=tmp_path / "backup")
    with serving_after("restore-sqlite", monkeypatch, tmp_path, None):
        check_all_is_there(job)


def version_of(url: str) -> str:
    engine = create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
    with engine.connect() as connection:
        found = connection.execute(text("select version_num from alembic_version")).scalar_one()
    engine.dispose()
    return str(found)


@pytest.mark.thorough
def test_upgrade_and_the_way_back(postgres: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A database of an earlier version is migrated by the first start; its backup is the version before."""
    url, before = postgres.create("upgraded"), postgres.create("before")
    old_stores.make(url, "0002")
    (tmp_path / "home").mkdir()
    follow("backup", BACKUP=tmp_path / "backup", HARENA_DATABASE_URL=url, HARENA_HOME=tmp_path / "home")
    with serving(monkeypatch, tmp_path / "home", url) as address:
        follow("check", HARENA_BASE_URL=address)
        found = {job.name: job.state for job in harena.benchmark_jobs.list()}
        assert found["old"] == "interrupted"
    assert version_of(url) > "0002"
    follow("restore", BACKUP=tmp_path / "backup", HARENA_DATABASE_URL=before, HARENA_HOME=tmp_path / "went-back")
    assert version_of(before) == "0002"


def test_the_rights_of_the_unit_are_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sandboxes with all their limits, warm programs and a network, with the capabilities that the unit leaves."""
    if os.geteuid():
        pytest.skip("needs root: the unit of systemd runs as root")
    monkeypatch.setenv("HARENA_HOME", str(tmp_path / "home"))
    [line] = re.findall(r"^CapabilityBoundingSet=(.*)$", UNIT.read_text(), re.MULTILINE)
    left = ",".join(["-all", *(f"+{name.removeprefix('CAP_').lower()}" for name in line.split())])
    command = ["setpriv", "--bounding-set", left, "--inh-caps", left, "--no-new-privs"]
    program = "import os, resource; print(os.getuid(), resource.getrlimit(resource.RLIMIT_NPROC)[0] > 1000)"
    words = [sys.executable, "-m", "harena.cli.main", "exec", "--blueprint", "python-warm", "--network", "pypi"]
    ended = subprocess.run(
        [*command, *words, "python3", "-c", program], capture_output=True, text=True, timeout=END_SECONDS, check=False
    )
    assert (ended.returncode, ended.stdout) == (0, "0 True\n"), ended.stderr


def test_the_unit_is_one_for_systemd(tmp_path: Path) -> None:
    """`systemd-analyze verify` has nothing to say; only the program's place is another here."""
    copy = tmp_path / "harena.service"
    copy.write_text(UNIT.read_text().replace("/opt/harena/.venv/bin/harena", sys.executable))
    ended = subprocess.run(
        ["systemd-analyze", "verify", str(copy)], capture_output=True, text=True, timeout=END_SECONDS, check=False
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    assert harena_command("serve", "--help").returncode == 0
