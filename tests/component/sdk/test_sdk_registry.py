"""`harena.registry` over a node that keeps objects."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "server"))

from server_world import fake_node

from harena import registry
from harena.core.clock import SystemClock
from harena.core.errors import NotFoundError, PlatformError, ValidationError
from harena.core.ports import Operations
from harena.sdk import portal, transport
from harena.testing.conformance_registry import ROWS, capability, jsonl, write


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """Of a node behind the sdk."""

    async def opened() -> Operations:
        return fake_node(tmp_path / "home", SystemClock())

    (tmp_path / "home").mkdir()
    before = transport.set_factory(opened)
    yield tmp_path / "home"
    portal.shutdown()
    transport.set_factory(before)


def test_a_capability_says_its_name_itself(home: Path, tmp_path: Path) -> None:
    """And a file is a data set; both come back as they were."""
    made = registry.push("capability", capability(tmp_path / "c"))
    assert (made.ref, made.described["prompt"]) == ("solver@1.0.0", "You add numbers.")
    (tmp_path / "rows.jsonl").write_text(jsonl(ROWS))
    rows = registry.push("dataset", tmp_path / "rows.jsonl", "sums@1")
    assert [found.ref for found in registry.list()] == ["sums@1", "solver@1.0.0"]
    assert [found.ref for found in registry.list("dataset", limit=1)] == ["sums@1"]
    assert registry.get("dataset", "sums") == rows
    assert registry.pull("dataset", "sums", tmp_path / "back") == rows
    assert (tmp_path / "back" / "rows.jsonl").read_text() == jsonl(ROWS)


async def test_the_same_verbs_can_be_awaited(home: Path, tmp_path: Path) -> None:
    """`aio` has all of them."""
    made = await registry.aio.push("dataset", write(tmp_path / "d", {"rows.jsonl": jsonl(ROWS)}), "sums@1")
    assert await registry.aio.list("dataset") == [made]
    assert await registry.aio.get("dataset", "sums@1") == made
    assert await registry.aio.pull("dataset", "sums@1", tmp_path / "back") == made


def test_a_directory_is_replaced_where_that_is_asked_for(home: Path, tmp_path: Path) -> None:
    """Else what is there stays."""
    registry.push("dataset", write(tmp_path / "d", {"rows.jsonl": jsonl(ROWS)}), "sums@1")
    target = write(tmp_path / "t", {"mine": "x"})
    with pytest.raises(ValidationError, match=r"t is there: name a new directory, or allow .* \(overwrite\)"):
        registry.pull("dataset", "sums@1", target)
    assert (target / "mine").exists()
    registry.pull("dataset", "sums@1", target, overwrite=True)
    assert [path.name for path in target.iterdir()] == ["rows.jsonl"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["d", "home", "t"]


def test_what_comes_is_checked(home: Path, tmp_path: Path) -> None:
    """Files that were changed behind the node's back are not taken for the object."""
    made = registry.push("dataset", write(tmp_path / "d", {"rows.jsonl": jsonl(ROWS)}), "sums@1")
    kept = home / "objects" / "trees" / made.digest[:2] / made.digest / "rows.jsonl"
    kept.write_text(jsonl(ROWS[:1]))
    with pytest.raises(PlatformError, match="what came is not the object"):
        registry.pull("dataset", "sums@1", tmp_path / "back")
    assert not (tmp_path / "back").exists()


@pytest.mark.parametrize(
    ("kind", "place", "ref", "error", "says"),
    [
        ("dataset", "d", None, ValidationError, "give the dataset a name and a version"),
        ("dataset", "d", "sums", ValidationError, "'sums' has no version: write sums@VERSION"),
        ("dataset", "none", "sums@1", ValidationError, "there is no file or directory"),
        ("capability", "d", None, ValidationError, "a capability is a directory with capability.yaml"),
        ("rows", "d", "a@1", ValidationError, "'rows' is no kind of object"),
        ("task", "named", None, ValidationError, r"version: three numbers, as 1.0.0 \(got 1\)"),
    ],
)
def test_bad_words(
    home: Path, tmp_path: Path, kind: str, place: str, ref: str | None, error: type[Exception], says: str
) -> None:
    """Refused before anything is sent."""
    write(tmp_path / "d", {"rows.jsonl": jsonl(ROWS)})
    write(tmp_path / "named", {"task.yaml": "name: add\nversion: 1\n"})
    with pytest.raises(error, match=says):
        registry.push(kind, tmp_path / place, ref)  # type: ignore[arg-type]
    with pytest.raises(NotFoundError):
        registry.pull("dataset", "sums", tmp_path / "back")
