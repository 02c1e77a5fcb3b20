"""Secrets of webhooks lie encrypted in the database, also those of earlier versions."""

from __future__ import annotations

import json
import stat
import zlib
from pathlib import Path

import pytest
from cryptography.fernet import Fernet
from sqlalchemy import create_engine, select, text

from harena.core import settings
from harena.core.errors import PlatformError
from harena.core.sealed_text import is_sealed
from harena.store.database import Database
from harena.store.migrate import bring_to, bring_to_newest
from harena.store.sealing import seal, unseal
from harena.store.tables import webhook_deliveries

SECRET = "whsec_dGhpcyBpcyBhIHNlY3JldA=="


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Without a key."""
    monkeypatch.delenv(settings.SECRET_KEY.name, raising=False)
    monkeypatch.setenv("HARENA_HOME", str(tmp_path / "some" / "home"))
    return tmp_path / "some" / "home"


async def test_a_secret_is_not_in_the_database(home: Path) -> None:
    """Nor in its log; it is read as it was given."""
    database = await Database.open(home / "harena.db")
    row = {"id": "msg_1", "job_id": "job_1", "url": "http://x", "receiver": "x:80", "secret": SECRET, "durable": True}
    async with database.transaction() as connection:
        await connection.execute(webhook_deliveries.insert(), {**row, "state": "waiting"})
        assert await connection.scalar(select(webhook_deliveries.c.secret)) == SECRET
        assert is_sealed(await connection.scalar(text("SELECT secret FROM webhook_deliveries")))
    held = b"".join(path.read_bytes() for path in home.glob("harena.db*"))
    await database.close()
    assert b"msg_1" in held
    assert SECRET.encode() not in held
    assert stat.S_IMODE(home.with_name("home.key").stat().st_mode) == 0o600
    assert not list(home.glob("*key*")), "a copy of the home has no key"


def test_the_environments_key_counts_and_can_be_replaced(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two servers with the same one read each other's; the first of several seals, and all of them open."""
    old, new = Fernet.generate_key().decode(), Fernet.generate_key().decode()
    monkeypatch.setenv(settings.SECRET_KEY.name, old)
    sealed = seal(SECRET)
    assert not home.with_name("home.key").exists()
    monkeypatch.setenv(settings.SECRET_KEY.name, f"{new}, {old}")
    assert unseal(sealed) == SECRET
    again = seal(SECRET)
    monkeypatch.setenv(settings.SECRET_KEY.name, new)
    assert (unseal(again), is_sealed(unseal(sealed))) == (SECRET, True)
    monkeypatch.setenv(settings.SECRET_KEY.name, "no key")
    with pytest.raises(PlatformError, match="must be one or more Fernet keys"):
        seal(SECRET)


def test_secrets_that_are_stored_already_are_sealed(tmp_path: Path) -> None:
    """Of deliveries and inside definitions; everything else stays."""
    engine = create_engine(f"sqlite:///{tmp_path / 'old.db'}")
    definition = {"request": {"name": "n", "webhook": {"url": "http://x", "secret": SECRET}}}
    with engine.begin() as connection:
        bring_to(connection, "0009")
        connection.execute(
            text(
                "INSERT INTO webhook_deliveries (id, job_id, url, receiver, secret, durable, state) VALUES "
                "('a', 'a', 'u', 'r', :secret, 1, 'waiting'), ('b', 'b', 'u', 'r', NULL, 1, 'waiting')"
            ),
            {"secret": SECRET},
        )
        connection.execute(
            text(
                "INSERT INTO catalog (workspace, kind, name, version, digest, metadata, described, created_at) VALUES "
                "('w', 'benchmark_job_defs', 'n', 1, 'd', '{}', '{}', 't')"
            )
        )
        connection.execute(
            text("INSERT INTO catalog_contents (workspace, digest, content) VALUES ('w', 'd', :content)"),
            {"content": zlib.compress(json.dumps(definition).encode())},
        )
        bring_to_newest(connection)
        stored = connection.execute(text("SELECT secret FROM webhook_deliveries ORDER BY id")).scalars().all()
        content = connection.execute(text("SELECT content FROM catalog_contents")).scalar_one()
    engine.dispose()
    assert is_sealed(stored[0])
    assert (unseal(stored[0]), stored[1]) == (SECRET, None)
    kept = json.loads(zlib.decompress(content))["request"]
    assert is_sealed(kept["webhook"]["secret"])
    assert unseal(kept["webhook"].pop("secret")) == SECRET
    assert kept == {"name": "n", "webhook": {"url": "http://x"}}
