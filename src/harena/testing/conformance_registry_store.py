"""What every store of objects must do, as tests; needs pytest and pytest-asyncio.

    class TestMyStore(RegistryStoreConformance):
        @pytest_asyncio.fixture
        async def store(self) -> AsyncIterator[RegistryStorePort]: ...

        @pytest_asyncio.fixture
        async def other(self, store: RegistryStorePort) -> AsyncIterator[RegistryStorePort]: ...

`store` is empty; `other` is the same one, by connections of its own.
"""

from __future__ import annotations

import asyncio
from dataclasses import asdict

from harena.core.file_trees import BLOCK_BYTES
from harena.core.registry import NewObject, ObjectKind, ObjectVersion, RegistryStorePort


def row(name: str, version: str, digest: str = "d", *, workspace: str = "w", kind: ObjectKind = "dataset") -> NewObject:
    """A version that is to be."""
    return NewObject(
        workspace=workspace,
        kind=kind,
        name=name,
        version=version,
        digest=digest,
        files=1,
        bytes=2**40,
        folders=3,
        described={"parts": {"": {"rows": 1}}},
        created_at="t",
    )


class RegistryStoreConformance:
    """All of it."""

    async def test_a_row_comes_back_as_it_was(self, store: RegistryStorePort) -> None:
        """A version is found by its whole name, and by no other."""
        added = await store.add(row("a", "1"))
        assert added == ObjectVersion(**asdict(row("a", "1")), sequence=added.sequence)
        assert await store.find("w", "dataset", "a", "1") == added
        assert await store.find("other", "dataset", "a", "1") is None
        assert await store.find("w", "model", "a", "1") is None
        assert await store.find("w", "dataset", "a", "2") is None

    async def test_a_version_is_there_once(self, store: RegistryStorePort, other: RegistryStorePort) -> None:
        """One of several concurrent publishers creates it, and all are told what is stored."""
        made = await asyncio.gather(
            *(stores.add(row("a", "1", f"d{n}")) for n in range(4) for stores in (store, other))
        )
        assert len({found.digest for found in made}) == 1
        assert len(await store.versions("w", "dataset", "a")) == 1

    async def test_what_is_used_and_what_is_removed(self, store: RegistryStorePort) -> None:
        """A workspace's own; a tree is there as long as any workspace has it."""
        assert await store.usage("w") == (0, 0)
        for workspace, version in (("w", "1"), ("w", "2"), ("other", "1")):
            await store.add(row("a", version, f"d{version}", workspace=workspace))
        assert await store.usage("w") == (2, 2**41 + 8 * BLOCK_BYTES)  # of one file and three folders each
        assert not await store.remove("w", "dataset", "a", "1")
        assert await store.usage("w") == (1, 2**40 + 4 * BLOCK_BYTES)
        assert await store.find("w", "dataset", "a", "1") is None
        assert await store.has_tree("d1")
        await store.remove("other", "dataset", "a", "1")
        assert not await store.has_tree("d1")

    async def test_versions_and_pages(self, store: RegistryStorePort) -> None:
        """Newest first; of one workspace, and of one kind or name where that is asked for."""
        for name, version in (("a", "1"), ("b", "1"), ("a", "2")):
            await store.add(row(name, version))
        await store.add(row("a", "9", workspace="other"))
        await store.add(row("c", "1", kind="model"))
        assert await store.versions("w", "dataset", "a") == ["2", "1"]
        page = await store.page("w", kind=None, name=None, before=None, limit=2)
        assert [(found.name, found.version) for found in page] == [("c", "1"), ("a", "2")]
        rest = await store.page("w", kind="dataset", name=None, before=page[-1].sequence, limit=9)
        assert [(found.name, found.version) for found in rest] == [("b", "1"), ("a", "1")]
        named = await store.page("w", kind="dataset", name="b", before=None, limit=9)
        assert [found.name for found in named] == ["b"]

    async def test_what_is_published_once(self, store: RegistryStorePort, other: RegistryStorePort) -> None:
        """One of several workspaces that publish a name and version at one time does, and the others are told."""
        names = ("w", "x", "y")
        for workspace in names:
            await store.add(row("a", "1", f"d{workspace}", workspace=workspace))
        made = await asyncio.gather(
            *(
                stores.publish(name, "dataset", "a", "1")
                for name, stores in zip(names, (store, other, store), strict=True)
            )
        )
        (shown,) = [found for found in made if isinstance(found, ObjectVersion)]
        assert shown.organization == await store.organization("z") == "default"
        found = await other.find("z", "dataset", "a", "1", published=True)
        assert found == shown
        assert await store.versions("z", "dataset", "a", published=True) == ["1"]
        page = await store.page("z", kind=None, name=None, before=None, limit=9, published=True)
        assert [*page] == [shown]
        assert await store.find("z", "dataset", "a", "1") is None
        assert await store.publish("z", "dataset", "a", "1") is None
        await store.withdraw(shown.workspace, "dataset", "a", "1")
        assert await store.find("z", "dataset", "a", "1", published=True) is None

    async def test_a_name_is_published_by_one(self, store: RegistryStorePort, other: RegistryStorePort) -> None:
        """Where workspaces publish different versions of a name at one time, one of them succeeds."""
        names = ("w", "x", "y")
        for workspace in names:
            await store.add(row("a", f"1-{workspace}", f"d{workspace}", workspace=workspace))
        made = await asyncio.gather(
            *(
                stores.publish(name, "dataset", "a", f"1-{name}")
                for name, stores in zip(names, (store, other, store), strict=True)
            )
        )
        (shown,) = [found for found in made if isinstance(found, ObjectVersion)]
        assert await store.versions("z", "dataset", "a", published=True) == [shown.version]
