"""What a snapshot of a sandbox of the default image has is read entry by entry, however many there are."""

from __future__ import annotations

import io
import os
import tarfile
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pytest

from harena.runtime.host import default_places

FILES = 300


class Counted:
    """`os.scandir`, counting the entries that it gives and the folders that are open."""

    given = is_open = 0

    def __init__(self, of: Any) -> None:
        self._found = scandir(of)
        Counted.is_open += 1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: type[BaseException] | BaseException | TracebackType | None) -> None:
        Counted.is_open -= 1
        self._found.close()

    def __iter__(self) -> Iterator[os.DirEntry[Any]]:
        return self

    def __next__(self) -> os.DirEntry[Any]:
        found = next(self._found)
        Counted.given += 1
        return found


scandir = os.scandir


def test_entries_of_a_folder_are_not_gathered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As many are known as have been written, and a folder is open for each level; then all is closed."""
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "link").symlink_to("b")
    for number in range(FILES):
        (tmp_path / f"file-{number}").write_bytes(b"x" * number)
        (tmp_path / "a" / "b" / f"folder-{number}").mkdir()
    monkeypatch.setattr(os, "scandir", Counted)
    written = []
    for part in default_places._parts(tmp_path):
        written.append(part)
        assert Counted.given <= len(written)
        assert Counted.is_open <= 4
    assert Counted.is_open == 0
    with tarfile.open(fileobj=io.BytesIO(b"".join(written) + bytes(1024))) as archive:
        members = {member.name: member for member in archive}
    assert len(members) == 2 * FILES + 4
    assert (members["a/link"].linkname, members["file-7"].size) == ("b", 7)


def test_one_entry_is_enough_to_tell_that_there_is_something(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And no entry, with the mode that a new sandbox's folder has, that there is nothing."""
    (tmp_path / "full").mkdir(mode=0o755)
    (tmp_path / "empty").mkdir(mode=0o755)
    for number in range(FILES):
        (tmp_path / "full" / str(number)).touch()
    monkeypatch.setattr(os, "scandir", Counted)
    Counted.given = 0
    assert default_places._says_something(tmp_path / "full", 0o755)
    assert not default_places._says_something(tmp_path / "empty", 0o755)
    assert default_places._says_something(tmp_path / "empty", 0o700)
    assert not default_places._says_something(tmp_path / "none", 0o755)
    assert Counted.given == 1
