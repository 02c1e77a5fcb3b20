"""Every store of secrets that harena ships passes one suite: SQLite, and a real PostgreSQL."""

from __future__ import annotations

import pytest
from sqlalchemy import select, update

from harena.core.errors import PlatformError
from harena.store.database import Database
from harena.store.secrets import SecretStore
from harena.store.tables import secrets
from harena.testing.conformance_secret_store import SecretStoreConformance, new


class TestSecretStore(SecretStoreConformance):
    """Two connections to one database."""

    @pytest.fixture
    def store(self, database: Database) -> SecretStore:
        """The first."""
        return SecretStore(database)

    @pytest.fixture
    def other(self, other_database: Database) -> SecretStore:
        """The second."""
        return SecretStore(other_database)

    async def test_rows_that_were_changed_by_hand(self, database: Database, store: SecretStore) -> None:
        """One secret does not stand in for another one, nor does what nobody has sealed; hosts that lists show do not
        count."""
        await store.set(new("A", "value-of-a"), most=9)
        await store.set(new("B", "value-of-b", workspace="other"), most=9)
        mine = secrets.c.name == "A"
        async with database.transaction() as connection:
            sealed = (await connection.scalars(select(secrets.c.sealed).order_by(secrets.c.name))).all()
            assert not [text for text in sealed if "value-of" in text]
            await connection.execute(update(secrets).where(mine).values(hosts=["evil.example:443"]))
        opened = await store.open("w", "A")
        assert opened is not None
        assert opened.hosts == ("example.com:443",)
        for planted in (sealed[1], "sealed:1:nothing", '["w", "A", ["evil.example:443"], "x"]'):
            async with database.transaction() as connection:
                await connection.execute(update(secrets).where(mine).values(sealed=planted))
            with pytest.raises(PlatformError, match="cannot be opened") as caught:
                await store.open("w", "A")
            assert "value-of" not in str(caught.value)
