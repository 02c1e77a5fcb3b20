"""Output files that are there whole or not at all."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from harena.core.errors import PlatformError
from harena.core.whole_files import output_mistakes, replaced


def mistakes(outputs: dict[str, Path], *, inputs: tuple[Path, ...] = (), overwrite: bool = False) -> list[str]:
    return output_mistakes(outputs, inputs=inputs, overwrite=overwrite)


def test_what_can_be_written_leaves_nothing_behind(tmp_path: Path) -> None:
    """The look does not make the file, nor any other."""
    assert mistakes({"output": tmp_path / "a.jsonl", "report": tmp_path / "r.json"}) == []
    assert list(tmp_path.iterdir()) == []


def test_each_hindrance_says_what_to_do(tmp_path: Path) -> None:
    """A folder, a file that is there, no folder, a pipe, an input, one file twice."""
    taken, pipe = tmp_path / "taken", tmp_path / "pipe"
    taken.write_text("x")
    os.mkfifo(pipe)
    for path, says in (
        (tmp_path, "is a folder; name a file"),
        (taken, "exists; name another file, or allow it to be replaced"),
        (tmp_path / "no" / "a", "make it first"),
        (pipe, "is no regular file"),
        (Path("/dev/null"), "is no regular file"),
        (tmp_path / ("n" * 300), "cannot be written: File name too long"),
        (tmp_path / "a\x00b", "cannot be written: embedded null byte"),
    ):
        (mistake,) = mistakes({"output": path})
        assert mistake.startswith(f"output: {path}")
        assert says in mistake
    assert mistakes({"output": taken}, overwrite=True) == []
    (mistake,) = mistakes({"output": taken}, inputs=(taken, Path("\x00")), overwrite=True)
    assert mistake == f"output: {taken} is an input too; name another file"
    (mistake,) = mistakes({"output": tmp_path / "a", "report": tmp_path / "x" / ".." / "a"})
    assert "is the file of output too" in mistake


def test_a_folder_that_takes_nothing_is_found_out(tmp_path: Path) -> None:
    """/proc refuses root, too."""
    (mistake,) = mistakes({"output": Path("/proc/out.jsonl")})
    assert "/proc/out.jsonl cannot be written: " in mistake


def test_files_take_their_places_together(tmp_path: Path) -> None:
    """With the rights that any new file would have; through a link to where it leads."""
    old, link, new = tmp_path / "old", tmp_path / "link", tmp_path / "new"
    old.write_text("before")
    link.symlink_to(old)
    with replaced([link, new]) as (first, second):
        first.write(b"1")
        second.write(b"2")
        assert old.read_text() == "before"
        assert not new.exists()
    assert (old.read_text(), new.read_text(), link.is_symlink()) == ("1", "2", True)
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE(new.stat().st_mode) == 0o666 & ~umask
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "new", "old"]


def test_what_fails_half_way_changes_nothing(tmp_path: Path) -> None:
    """An error, an interruption, a disk that is full."""
    old = tmp_path / "old"
    old.write_text("before")
    for error, raised in ((KeyboardInterrupt, KeyboardInterrupt), (OSError(28, "No space left"), PlatformError)):
        with pytest.raises(raised):
            write_and_fail([old, tmp_path / "new"], error)
        assert old.read_text() == "before"
        assert [path.name for path in tmp_path.iterdir()] == ["old"]
    with pytest.raises(PlatformError, match="new could not be written: No space left"):
        write_and_fail([tmp_path / "new"], OSError(28, "No space left"))


def write_and_fail(paths: list[Path], error: BaseException | type[BaseException]) -> None:
    """Something is written, and then it goes wrong."""
    with replaced(paths) as files:
        files[0].write(b"1")
        raise error
