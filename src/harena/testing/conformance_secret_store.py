"""What every store of secrets must do, as tests; needs pytest and pytest-asyncio.

    class TestMyStore(SecretStoreConformance):
        @pytest_asyncio.fixture
        async def store(self) -> AsyncIterator[SecretStorePort]: ...

        @pytest_asyncio.fixture
        async def other(self, store: SecretStorePort) -> AsyncIterator[SecretStorePort]: ...

`store` is empty; `other` is the same one, by connections of its own.
"""

from __future__ import annotations

import asyncio

from harena.core.secrets import NewSecret, OpenSecret, SecretStorePort


def new(name: str, value: str = "v", *, workspace: str = "w", at: str = "t1") -> NewSecret:
    """A secret that is to be."""
    return NewSecret(workspace=workspace, name=name, value=value, hosts=("example.com:443",), at=at)


class SecretStoreConformance:
    """All of it."""

    async def test_a_secret_opens_as_it_was_set(self, store: SecretStorePort, other: SecretStorePort) -> None:
        """A secret is found by its workspace and name, and by no other; also what looks as if it were sealed."""
        for value in ("v", "sealed:1:v", '["w", "A", [], "x"]', "line\nline"):
            kept = await store.set(new("A", value), most=9)
            assert kept is not None
            assert await other.open("w", "A") == OpenSecret(name="A", value=value, hosts=("example.com:443",))
            assert await other.find("w", "A") == kept
        assert await store.open("other", "A") is None
        assert await store.open("w", "B") is None
        assert await store.find("other", "A") is None
        assert value not in repr(await store.open("w", "A"))
        assert value not in repr(new("A", value))

    async def test_setting_replaces(self, store: SecretStorePort) -> None:
        """The first time stays, the second is told."""
        await store.set(new("A", "old"), most=1)
        kept = await store.set(new("A", "new", at="t2"), most=1)
        assert kept is not None
        assert (kept.created_at, kept.updated_at) == ("t1", "t2")
        opened = await store.open("w", "A")
        assert opened is not None
        assert opened.value == "new"

    async def test_a_workspace_has_so_many(self, store: SecretStorePort) -> None:
        """Another one has its own; one that is removed makes room."""
        assert await store.set(new("A"), most=1) is not None
        assert await store.set(new("B"), most=1) is None
        assert await store.set(new("B", workspace="other"), most=1) is not None
        assert await store.remove("w", "A")
        assert not await store.remove("w", "A")
        assert await store.set(new("B"), most=1) is not None

    async def test_pages(self, store: SecretStorePort) -> None:
        """By name, of one workspace; one more than asked for says that there are more."""
        for name in ("C", "A", "B"):
            await store.set(new(name), most=9)
        await store.set(new("D", workspace="other"), most=9)
        assert [one.name for one in await store.page("w", after="", limit=2)] == ["A", "B", "C"]
        assert [one.name for one in await store.page("w", after="B", limit=2)] == ["C"]

    async def test_two_that_set_at_one_time(self, store: SecretStorePort, other: SecretStorePort) -> None:
        """One of the two values is kept, whole."""
        await asyncio.gather(*(each.set(new("A", f"{n}" * 1000), most=9) for n, each in enumerate((store, other) * 4)))
        opened = await store.open("w", "A")
        assert opened is not None
        assert len(set(opened.value)) == 1
        assert len(opened.value) == 1000
