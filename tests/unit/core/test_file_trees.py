"""Trees of files: their digest, and the stream in which they travel."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest

from harena.core.errors import ValidationError
from harena.core.file_trees import files_of, packed, tree_of, unpack


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Two files, in two folders, and an empty folder."""
    made = tmp_path / "tree"
    (made / "b" / "empty").mkdir(parents=True)
    (made / "b" / "two").write_bytes(b"2" * 1000)
    (made / "a").write_bytes(b"")
    return made


def digest(place: Path) -> str:
    """Of what lies there."""
    return tree_of(files_of(place)).digest


def test_a_digest_tells_names_contents_and_rights(place: Path) -> None:
    """And nothing else: not times, not empty folders."""
    before = digest(place)
    os.utime(place / "a", (1, 1))
    (place / "b" / "empty").rmdir()
    assert digest(place) == before
    seen = {before}
    (place / "a").chmod(0o755)
    seen.add(digest(place))
    (place / "a").rename(place / "c")
    seen.add(digest(place))
    (place / "c").write_bytes(b"x")
    seen.add(digest(place))
    assert len(seen) == 4
    assert (tree_of(files_of(place)).files, tree_of(files_of(place)).bytes) == (2, 1001)


def test_a_stream_is_the_same_for_the_same_tree(place: Path, tmp_path: Path) -> None:
    """And gives the tree back."""
    stream = b"".join(packed(files_of(place)))
    unpack(io.BytesIO(stream), tmp_path / "back")
    assert digest(tmp_path / "back") == digest(place)
    assert b"".join(packed(files_of(tmp_path / "back"))) == stream


def test_a_file_is_a_tree_of_its_own(place: Path) -> None:
    """Under its last name."""
    assert [file.name for file in files_of(place / "b" / "two")] == ["two"]


def test_links_to_files_are_followed_and_no_others(place: Path) -> None:
    """A Hugging Face cache is made of the first; the second could go anywhere, for ever."""
    (place / "link").symlink_to(place / "b" / "two")
    assert {file.name: file.bytes for file in files_of(place)}["link"] == 1000
    (place / "round").symlink_to(place)
    with pytest.raises(ValidationError, match="round is a link to a directory"):
        files_of(place)


def test_what_cannot_be_kept_is_named(place: Path, tmp_path: Path) -> None:
    """Before anything is sent."""
    with pytest.raises(ValidationError, match="there is no file or directory"):
        files_of(tmp_path / "none")
    (tmp_path / "hollow").mkdir()
    with pytest.raises(ValidationError, match="hollow has no files"):
        files_of(tmp_path / "hollow")
    os.mkfifo(place / "pipe")
    with pytest.raises(ValidationError, match="pipe is neither a file nor a directory"):
        files_of(place)


def test_a_file_that_shrinks_while_it_is_read(place: Path) -> None:
    """It is said, rather than sent as something else."""
    stream = packed(files_of(place))
    (place / "b" / "two").write_bytes(b"2")
    with pytest.raises(ValidationError, match="two became shorter while it was read"):
        b"".join(stream)


def test_more_than_may_be_is_refused(place: Path, tmp_path: Path) -> None:
    """By the sizes that the stream announces, before they are written."""
    stream = b"".join(packed(files_of(place)))
    with pytest.raises(ValidationError, match="larger than 999 bytes"):
        unpack(io.BytesIO(stream), tmp_path / "back", most_bytes=999)
    assert not (tmp_path / "back" / "b" / "two").exists()
