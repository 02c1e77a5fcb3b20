"""A folder that is made what a tar stream says: nothing is followed out of it, nothing written to that is there."""

from __future__ import annotations

import io
import os
import stat
import tarfile
from pathlib import Path

import pytest

from harena.runtime.guest import files


@pytest.fixture(autouse=True)
def working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An operation goes into its folder, in a process of its own: here it is this one."""
    monkeypatch.chdir(tmp_path)


def operated(operation: str, *arguments: object, given: bytes = b"") -> tuple[list[str], bytes]:
    """(answer, what came through the second descriptor) of a file operation."""
    answer, extra = os.memfd_create("answer"), os.memfd_create("extra")
    os.write(extra, given)
    os.lseek(extra, 0, os.SEEK_SET)
    kept = os.dup(extra)
    here = os.open(".", os.O_RDONLY | os.O_DIRECTORY)
    try:
        files.operate(operation, arguments, answer, extra)
        os.lseek(answer, 0, os.SEEK_SET)
        os.lseek(kept, 0, os.SEEK_SET)
        told = os.read(answer, 1 << 20)[:-1].decode(errors="surrogateescape").split("\0")
        return told, os.read(kept, 1 << 24)
    finally:
        os.fchdir(here)
        for descriptor in (answer, kept, here):
            os.close(descriptor)


def archive(*members: tuple[str, bytes, str]) -> bytes:
    """A stream of (name, kind, content or target)."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as out:
        for name, kind, content in members:
            member = tarfile.TarInfo(name)
            member.type, member.mode = kind, 0o755 if kind == tarfile.DIRTYPE else 0o644
            if kind == tarfile.REGTYPE:
                member.size = len(content.encode())
                out.addfile(member, io.BytesIO(content.encode()))
            else:
                member.linkname = content
                out.addfile(member)
    return made.getvalue()


def test_what_is_packed_comes_out_the_same(tmp_path: Path) -> None:
    """Links, modes, times, odd names, deep folders and removed files."""
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    (theirs / "sub/deep").mkdir(parents=True)
    (theirs / "sub/deep/file").write_text("x" * 100_000)
    (theirs / "run.sh").write_text("#!/bin/sh\n")
    (theirs / "run.sh").chmod(0o750)
    os.utime(theirs / "run.sh", (1_000_000_000.25, 1_000_000_000.25))
    (theirs / "link").symlink_to("sub/deep/file")
    (theirs / "nowhere").symlink_to("/is/not/there")
    (theirs / os.fsdecode(b"\xff\n")).write_text("odd")
    os.mkfifo(theirs / "pipe")
    (theirs / "closed").mkdir()
    (theirs / "closed/in").write_text("in")
    (theirs / "closed").chmod(0o500)
    ours.mkdir()
    (ours / "old").write_text("old")
    (ours / "run.sh").write_text("old")
    told, stream = operated("pack", str(theirs), True)
    assert told == ["ok"]
    assert operated("replace_tree", str(ours), (), given=stream)[0] == ["ok"]
    assert sorted(os.listdir(ours)) == sorted(set(os.listdir(theirs)) - {"pipe"})
    assert (ours / "sub/deep/file").read_text() == "x" * 100_000
    about = (ours / "run.sh").stat()
    assert (stat.S_IMODE(about.st_mode), about.st_mtime) == (0o750, 1_000_000_000.25)
    assert (os.readlink(ours / "link"), os.readlink(ours / "nowhere")) == ("sub/deep/file", "/is/not/there")
    assert stat.S_IMODE((ours / "closed").stat().st_mode) == 0o500


@pytest.mark.parametrize(
    "members",
    [
        [("../out", tarfile.REGTYPE, "x")],
        [("a/../../out", tarfile.REGTYPE, "x")],
        [("link", tarfile.SYMTYPE, "OUT"), ("link/out", tarfile.REGTYPE, "x")],
        [("link", tarfile.SYMTYPE, "OUT/victim"), ("link", tarfile.REGTYPE, "x")],
        [("a", tarfile.DIRTYPE, ""), ("a/link", tarfile.SYMTYPE, "OUT"), ("a/link/sub", tarfile.DIRTYPE, "")],
        [("file", tarfile.REGTYPE, "x"), ("file", tarfile.SYMTYPE, "OUT")],
        [("hard", tarfile.LNKTYPE, "OUT/victim"), ("hard", tarfile.REGTYPE, "x"), ("hard", tarfile.REGTYPE, "y")],
        [("link", tarfile.SYMTYPE, "OUT"), ("link", tarfile.DIRTYPE, ""), ("link/out", tarfile.REGTYPE, "x")],
        [
            ("a", tarfile.DIRTYPE, ""),
            ("a/x", tarfile.REGTYPE, "x"),
            ("a", tarfile.SYMTYPE, "OUT"),
            ("a/y", tarfile.REGTYPE, "x"),
        ],
    ],
)
def test_a_tree_is_replaced_within_its_folder(tmp_path: Path, members: list[tuple[str, bytes, str]]) -> None:
    """Whatever the stream says."""
    outside, ours = tmp_path / "outside", tmp_path / "in/ours"
    outside.mkdir()
    (outside / "victim").write_text("kept")
    ours.mkdir(parents=True)
    stream = archive(*[(name, kind, text.replace("OUT", str(outside))) for name, kind, text in members])
    assert operated("replace_tree", str(ours), (), given=stream)[0][0] == "error"
    assert os.listdir(outside) == ["victim"]
    assert (outside / "victim").read_text() == "kept"
    assert os.listdir(tmp_path / "in") == ["ours"]


def test_paths_that_are_kept_stay_what_they_are(tmp_path: Path) -> None:
    ours = tmp_path / "ours"
    (ours / ".venv/bin").mkdir(parents=True)
    (ours / ".venv/bin/python").write_text("ours")
    (ours / "bin/sub").mkdir(parents=True)
    (ours / "bin/sub/tool").write_text("ours")
    (ours / "bin/other").write_text("ours")
    stream = archive(
        (".", tarfile.DIRTYPE, ""),
        (".venv", tarfile.DIRTYPE, ""),
        (".venv/bin", tarfile.SYMTYPE, "/elsewhere"),
        ("bin", tarfile.DIRTYPE, ""),
        ("bin/sub", tarfile.DIRTYPE, ""),
        ("bin/sub/tool", tarfile.REGTYPE, "theirs"),
        ("bin/new", tarfile.REGTYPE, "theirs"),
    )
    assert operated("replace_tree", str(ours), (".venv", "bin/sub"), given=stream)[0] == ["ok"]
    assert (ours / ".venv/bin/python").read_text() == "ours"
    assert (ours / "bin/sub/tool").read_text() == "ours"
    assert sorted(os.listdir(ours / "bin")) == ["new", "sub"]


def test_a_link_in_the_place_of_what_lies_above_a_kept_path_is_refused(tmp_path: Path) -> None:
    ours, outside = tmp_path / "ours", tmp_path / "outside"
    (ours / "a/kept").mkdir(parents=True)
    outside.mkdir()
    stream = archive(("a", tarfile.SYMTYPE, str(outside)), ("a/x", tarfile.REGTYPE, "x"))
    assert operated("replace_tree", str(ours), ("a/kept",), given=stream)[0][0] == "error"
    assert (ours / "a").is_dir()
    assert not (ours / "a").is_symlink()
    assert os.listdir(outside) == []


def states(folder: Path) -> dict[str, tuple[int, int]]:
    """Number and time of the last change of each file below."""
    about = {str(path.relative_to(folder)): path.lstat() for path in folder.rglob("*") if not path.is_dir()}
    return {name: (one.st_ino, one.st_ctime_ns) for name, one in about.items()}


def test_a_file_that_is_what_comes_stays_untouched(tmp_path: Path) -> None:
    """Whoever asks what has changed since finds nothing, and of what has changed all."""
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    for folder in (theirs, ours):
        (folder / "sub").mkdir(parents=True)
        for name in ("same", "sub/same", "text", "mode", "time", "shorter", "longer"):
            (folder / name).write_text("x" * 600_000)
            os.utime(folder / name, (1_000_000_000.1, 1_000_000_000.1))
        (folder / "link").symlink_to("same")
        os.utime(folder / "link", (1_000_000_000.1, 1_000_000_000.1), follow_symlinks=False)
        (folder / "other").symlink_to("same" if folder == ours else "text")
    (ours / "gone").write_text("x")
    (ours / "sub").chmod(0o500)
    (theirs / "text").write_text("x" * 599_999 + "y")
    (theirs / "shorter").write_text("x" * 599_999)
    (theirs / "longer").write_text("x" * 600_001)
    for name in ("text", "shorter", "longer"):
        os.utime(theirs / name, (1_000_000_000.1, 1_000_000_000.1))
    (theirs / "mode").chmod(0o755)
    os.utime(theirs / "time", (1_000_000_001, 1_000_000_001))
    before = states(ours)
    assert operated("replace_tree", str(ours), (), given=operated("pack", str(theirs), True)[1])[0] == ["ok"]
    after = states(ours)
    assert {name for name in after if before.get(name) == after[name]} == {"same", "sub/same", "link"}
    assert sorted(after) == sorted(set(before) - {"gone"})
    for name in ("text", "shorter", "longer", "mode", "time"):
        ours_now, theirs_now = (ours / name).stat(), (theirs / name).stat()
        assert (ours / name).read_bytes() == (theirs / name).read_bytes()
        assert (ours_now.st_mode, int(ours_now.st_mtime)) == (theirs_now.st_mode, int(theirs_now.st_mtime))
    assert os.readlink(ours / "other") == "text"


def test_another_kind_takes_the_place_of_what_is_there(tmp_path: Path) -> None:
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    for number, folder in enumerate((theirs, ours)):
        folder.mkdir()
        for at in range(3):
            path, kind = folder / f"is{at}", (at + number) % 3
            if kind == 0:
                path.write_text("a file")
            elif kind == 1:
                path.mkdir()
                (path / "in").write_text("in")
            else:
                path.symlink_to("is0" if at else "is1")
    assert operated("replace_tree", str(ours), (), given=operated("pack", str(theirs), True)[1])[0] == ["ok"]
    assert (ours / "is0").read_text() == "a file"
    assert not (ours / "is0").is_symlink()
    assert os.listdir(ours / "is1") == ["in"]
    assert not (ours / "is1").is_symlink()
    assert os.readlink(ours / "is2") == "is0"


def test_holes_of_a_file_are_neither_packed_nor_written(tmp_path: Path) -> None:
    """A disk image takes what it holds, and not what it says."""
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    theirs.mkdir()
    for name, parts in {"empty": [], "begin": [0], "some": [1 << 20, 5 << 20, (1 << 30) - 7]}.items():
        with (theirs / name).open("wb") as file:
            file.truncate(1 << 30)
            for at in parts:
                file.seek(at)
                file.write(b"content")
    (theirs / "after").write_text("after")
    stream = operated("pack", str(theirs), True)[1]
    assert len(stream) < 1 << 20
    for _ in range(2):
        assert operated("replace_tree", str(ours), (), given=stream)[0] == ["ok"]
        assert (ours / "after").read_text() == "after"
        for name in ("empty", "begin", "some"):
            about = (ours / name).stat()
            assert about.st_size == 1 << 30
            assert about.st_blocks * 512 < 1 << 20
            with (theirs / name).open("rb") as one, (ours / name).open("rb") as other:
                for at in (0, 1 << 20, 5 << 20, (1 << 30) - 7, 3 << 20):
                    one.seek(at)
                    other.seek(at)
                    assert one.read(4096) == other.read(4096)


@pytest.mark.parametrize("parts", ["", "x", "-1,1", "0", "0,2", "0,1,5", "0,-1,0,2", f"{1 << 63},1", "9" * 5000 + ",1"])
def test_parts_that_are_none_are_refused(tmp_path: Path, parts: str) -> None:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as out:
        member = tarfile.TarInfo("file")
        member.size, member.pax_headers = 1, {"HARENA.parts": parts}
        out.addfile(member, io.BytesIO(b"x"))
    told, _ = operated("replace_tree", str(tmp_path / "ours"), (), given=made.getvalue())
    assert told[0] == "error"


def test_a_file_with_many_holes_is_packed_as_it_reads(tmp_path: Path) -> None:
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    theirs.mkdir()
    with (theirs / "comb").open("wb") as file:
        for number in range(1100):
            file.seek(number * 8192)
            file.write(b"x")
    stream = operated("pack", str(theirs), True)[1]
    assert operated("replace_tree", str(ours), (), given=stream)[0] == ["ok"]
    assert (ours / "comb").read_bytes() == (theirs / "comb").read_bytes()


def test_bits_that_hand_on_a_group_are_kept(tmp_path: Path) -> None:
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    (theirs / "shared").mkdir(parents=True)
    (theirs / "shared").chmod(0o2775)
    (theirs / "tool").write_text("x")
    (theirs / "tool").chmod(0o4755)
    assert operated("replace_tree", str(ours), (), given=operated("pack", str(theirs), True)[1])[0] == ["ok"]
    assert stat.S_IMODE((ours / "shared").stat().st_mode) == 0o2775
    assert stat.S_IMODE((ours / "tool").stat().st_mode) == 0o4755


def test_only_what_is_the_same_adopts_a_time(tmp_path: Path) -> None:
    theirs, ours, outside = tmp_path / "theirs", tmp_path / "ours", tmp_path / "outside"
    for folder in (theirs, ours):
        folder.mkdir()
        for name in ("same", "text", "mode"):
            (folder / name).write_text("text")
    (theirs / "text").write_text("next")
    (theirs / "mode").chmod(0o755)
    (theirs / "new").write_text("new")
    (theirs / "link").mkdir()
    outside.mkdir()
    for folder in (theirs / "link", outside):
        (folder / "same").write_text("text")
    (ours / "link").symlink_to(outside)
    for path in [path for path in theirs.rglob("*") if path.is_file()]:
        os.utime(path, (1_000_000_000, 1_000_000_000))
    assert operated("adopt_times", str(ours), given=operated("pack", str(theirs), True)[1])[0] == ["ok"]
    times = {path.name: path.stat().st_mtime == 1_000_000_000 for path in ours.iterdir()}
    assert times == {"same": True, "text": False, "mode": False, "link": False}
    assert (outside / "same").stat().st_mtime != 1_000_000_000


def test_times_are_kept_to_the_nanosecond(tmp_path: Path) -> None:
    """Of use and of change, of links too, which lose neither their own nor that of what they lead to."""
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    (theirs / "folder").mkdir(parents=True)
    (theirs / "file").write_text("text")
    (theirs / "old").write_text("old")
    (theirs / "link").symlink_to("file")
    with (theirs / "holes").open("wb") as file:
        file.truncate(4 << 20)
    times = {
        "file": (1_041_379_200_000_000_007, 981_173_106_789_012_345),
        "old": (-1_000_000_001, -5_000_000_003),
        "link": (1_041_379_200_123_456_789, 1_009_843_200_000_000_001),
        "holes": (1_041_379_200_000_000_001, 1_009_843_200_999_999_999),
        "folder": (1_041_379_200_000_000_011, 1_009_843_200_555_555_555),
    }
    for name, each in times.items():
        os.utime(theirs / name, ns=each, follow_symlinks=False)
    stream = operated("pack", str(theirs), True)[1]
    for _ in range(2):
        assert operated("replace_tree", str(ours), (), given=stream)[0] == ["ok"]
        for name, (used, changed) in times.items():
            about = (ours / name).lstat()
            assert (name, about.st_mtime_ns) == (name, changed)
            assert name == "folder" or about.st_atime_ns >= used
    (ours / "file").unlink()
    assert operated("replace_tree", str(ours), (), given=stream)[0] == ["ok"]
    assert (ours / "file").stat().st_atime_ns == times["file"][0]


def test_a_link_that_is_the_same_adopts_a_time(tmp_path: Path) -> None:
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    for folder, target in ((theirs, "a"), (ours, "b")):
        folder.mkdir()
        (folder / "same").symlink_to("nowhere")
        (folder / "other").symlink_to(target)
    for name in ("same", "other"):
        os.utime(theirs / name, ns=(10**18, 10**18 + 1), follow_symlinks=False)
    assert operated("adopt_times", str(ours), given=operated("pack", str(theirs), True)[1])[0] == ["ok"]
    assert {name: (ours / name).lstat().st_mtime_ns == 10**18 + 1 for name in ("same", "other")} == {
        "same": True,
        "other": False,
    }


@pytest.mark.parametrize("times", ["", "1", "1 2 3", "x 1", "9" * 5000 + " 1", "1.5 2"])
def test_times_that_are_none_are_refused(tmp_path: Path, times: str) -> None:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as out:
        member = tarfile.TarInfo("file")
        member.size, member.pax_headers = 1, {"HARENA.times": times}
        out.addfile(member, io.BytesIO(b"x"))
    told, _ = operated("replace_tree", str(tmp_path / "ours"), (), given=made.getvalue())
    assert told[0] == "error"
