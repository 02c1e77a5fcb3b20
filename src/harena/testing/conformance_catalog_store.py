"""What every store of the catalogue must do, as tests; needs pytest and pytest-asyncio.

    class TestMyStore(CatalogStoreConformance):
        @pytest_asyncio.fixture
        async def store(self) -> AsyncIterator[CatalogStorePort]: ...

        @pytest_asyncio.fixture
        async def other(self, store: CatalogStorePort) -> AsyncIterator[CatalogStorePort]: ...

`store` is empty; `other` is the same one, by connections of its own.
"""

from __future__ import annotations

import asyncio
from typing import Any

from harena.core.catalog import CatalogKind, CatalogStorePort, NewCalibration, NewEntry


def entry(
    name: str, digest: str, *, workspace: str = "w", kind: CatalogKind = "scenarios", **metadata: str
) -> NewEntry:
    """A version to store."""
    return NewEntry(
        workspace=workspace,
        kind=kind,
        name=name,
        digest=digest,
        metadata=metadata,
        described={"problems": 1},
        created_at="t",
    )


async def names(store: CatalogStorePort, **asked: Any) -> list[tuple[str, int]]:
    """Names and versions of a page."""
    wanted = {"metadata": {}, "limit": 10, **asked}
    return [(found.name, found.version) for found in await store.page("w", "scenarios", **wanted)]


class CatalogStoreConformance:
    """All of it."""

    async def test_other_content_is_the_next_version_and_the_same_content_the_same_one(
        self, store: CatalogStorePort
    ) -> None:
        """Also where it is not the newest; other metadata make another version of the same content, kept once."""
        first, made = await store.add(entry("a", "d1"), b"1")
        assert (first.version, made, first.described, first.archived_at) == (1, True, {"problems": 1}, None)
        second, _ = await store.add(entry("a", "d2"), b"2")
        assert second.version == 2
        again, made = await store.add(entry("a", "d1"), b"1")
        assert (again, made) == (first, False)
        labelled, made = await store.add(entry("a", "d1", split="train"), b"1")
        assert (labelled.version, made) == (3, True)
        assert await store.content("w", "d1") == b"1"
        assert await store.content("w", "d3") is None
        assert await store.content("other", "d1") is None

    async def test_archived_versions_are_found_by_their_number_only(self, store: CatalogStorePort) -> None:
        """The newest is the newest of the others, and the same content makes a new version."""
        for digest in ("d1", "d2"):
            await store.add(entry("a", digest), b"")
        assert await store.archive("w", "scenarios", "a", 2, "later") == 1
        assert await store.archive("w", "scenarios", "a", 2, "later") == 0
        newest = await store.find("w", "scenarios", "a", None)
        archived = await store.find("w", "scenarios", "a", 2)
        assert newest is not None
        assert archived is not None
        assert (newest.version, archived.archived_at) == (1, "later")
        assert (await store.add(entry("a", "d2"), b""))[0].version == 3
        assert await store.archive("w", "scenarios", "a", None, "later") == 2
        assert await store.find("w", "scenarios", "a", None) is None
        assert await store.find("w", "scoring_contracts", "a", 1) is None
        assert await store.find("other", "scenarios", "a", 1) is None

    async def test_pages(self, store: CatalogStorePort) -> None:
        """Newest first: one line per name, or per version; by prefix, metadata and cursor."""
        await store.add(entry("math/x".replace("/", "-"), "d1", split="train"), b"")
        await store.add(entry("Math-y", "d1", split="test"), b"")
        await store.add(entry("math-x", "d2", split="train", note='a"b'), b"")
        await store.add(entry("code", "d3"), b"")
        await store.add(entry("theirs", "d3", workspace="other"), b"")
        await store.add(entry("a-contract", "d3", kind="scoring_contracts"), b"")
        assert await names(store) == [("code", 1), ("math-x", 2), ("Math-y", 1)]
        assert await names(store, prefix="math") == [("math-x", 2)]
        assert await names(store, prefix="m_th") == []
        assert await names(store, metadata={"split": "train"}) == [("math-x", 2)]
        assert await names(store, metadata={"split": "train", "note": 'a"b'}) == [("math-x", 2)]
        assert await names(store, metadata={"missing": "train"}) == []
        assert await names(store, name="math-x") == [("math-x", 2), ("math-x", 1)]
        page = await store.page("w", "scenarios", metadata={}, limit=2)
        assert await names(store, before=page[-1].sequence) == [("Math-y", 1)]
        await store.archive("w", "scenarios", "math-x", 2, "later")
        assert await names(store) == [("code", 1), ("Math-y", 1), ("math-x", 1)]
        assert await names(store, archived=True) == [("code", 1), ("math-x", 2), ("Math-y", 1), ("math-x", 1)]

    async def test_many_at_once_get_numbers_of_their_own(
        self, store: CatalogStorePort, other: CatalogStorePort
    ) -> None:
        """From two connections to one database, with different and with equal content."""
        stores = [store, other]
        made = await asyncio.gather(*(stores[n % 2].add(entry("a", f"d{n // 2}"), b"x") for n in range(8)))
        assert sorted(found.version for found, is_new in made if is_new) == [1, 2, 3, 4]
        assert len({found.version for found, _ in made}) == 4

    async def test_content_stays_with_a_version_that_is_added_while_another_goes(
        self, store: CatalogStorePort, other: CatalogStorePort
    ) -> None:
        """Content is shared by its digest: neither is it lost with a version that needs it, nor left without any."""
        for number in range(15):
            digest = f"digest-{number}"
            await store.add(entry(f"x{number}", digest), b"1")
            added = store.add(entry(f"y{number}", digest), b"1")
            await asyncio.gather(added, other.remove("w", "scenarios", f"x{number}", 1, while_in=()))
            assert await store.content("w", digest) == b"1"
            await store.add(entry(f"z{number}", digest), b"1")
            last = [store.remove("w", "scenarios", f"y{number}", 1, while_in=())]
            last.append(other.remove("w", "scenarios", f"z{number}", 1, while_in=()))
            await asyncio.gather(*last)
            assert await store.content("w", digest) is None

    async def test_a_calibration_is_reported_once(self, store: CatalogStorePort) -> None:
        """A calibration is found with its version of the scenarios, newest first."""
        for number in (1, 2):
            calibration = NewCalibration(
                job_id=f"job_{number}",
                workspace="w",
                name="a",
                version=3,
                gold_runs=5,
                created_at="t",
                sources=b"sources" if number == 1 else None,
            )
            await store.add_calibration(calibration)
        await store.report_calibration("job_1", {"fit": True})
        await store.report_calibration("job_1", {"fit": False})
        found = await store.find_calibration("w", "job_1")
        assert found is not None
        assert (found.report, found.sources, found.gold_runs) == ({"fit": True}, b"sources", 5)
        assert await store.find_calibration("other", "job_1") is None
        of_version = await store.calibrations_of("w", "a", 3)
        assert [(one.job_id, one.report) for one in of_version] == [("job_2", None), ("job_1", {"fit": True})]
        assert await store.calibrations_of("w", "a", 2) == []
