"""Archives of task directories: what comes out is what went in, and what could lead out of a task is refused."""

from __future__ import annotations

import io
import os
import tarfile
from pathlib import Path

import pytest

from harena.core.errors import ValidationError
from harena.core.task_archives import MOST_ARCHIVE_BYTES, unpack_tasks
from harena.sdk.http.uploads import JobUpload
from harena.sdk.task_archives import packed_tasks


def archive(*entries: tuple[str, str | bytes | None]) -> io.BytesIO:
    """name -> a file's content (bytes), where a link leads (text), or None for a folder."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for name, what in entries:
            member = tarfile.TarInfo(name)
            if what is None:
                member.type = tarfile.DIRTYPE
            elif isinstance(what, str):
                member.type, member.linkname = tarfile.SYMTYPE, what
            else:
                member.size = len(what)
            tar.addfile(member, io.BytesIO(what) if isinstance(what, bytes) else None)
    out.seek(0)
    return out


def taken(folder: Path) -> dict[str, tuple[int, bytes | str | None]]:
    """path -> (mode, content) of all that lies below."""
    found: dict[str, tuple[int, bytes | str | None]] = {}
    for path in sorted(folder.rglob("*")):
        content = os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else None
        found[path.relative_to(folder).as_posix()] = (path.lstat().st_mode, content)
    return found


@pytest.mark.parametrize("whole", [True, False], ids=["a folder of tasks", "one task"])
def test_tasks_arrive_as_they_are(tmp_path: Path, whole: bool) -> None:
    """Rights, links, empty folders and names that are no text; what is no task stays where it is."""
    given, arrived = tmp_path / "given", tmp_path / "arrived"
    (given / "one/environment/empty").mkdir(parents=True)
    (given / "one/task.toml").write_text("")
    (given / "one/environment/tool").write_text("#!/bin/sh\n")
    (given / "one/environment/tool").chmod(0o751)
    (given / "one/environment/empty").chmod(0o750)
    (given / "one/environment/linked").symlink_to("../task.toml")
    (given / os.fsdecode(b"one/environment/\xff")).write_bytes(b"\0\xff")
    expected = taken(given)
    if whole:
        (given / "results").mkdir()
        (given / "results/large").write_text("no task")
    arrived.mkdir()
    packed = b"".join(packed_tasks(given if whole else given / "one"))
    charged: list[int] = []
    unpack_tasks(io.BytesIO(packed), arrived, charged.append)
    assert taken(arrived) == expected
    assert sum(charged) >= 4096 * len(expected)
    assert packed == b"".join(packed_tasks(given if whole else given / "one"))


@pytest.mark.parametrize(
    ("entries", "says"),
    [
        ([("t/x", "/etc/passwd")], "a link to '/etc/passwd'"),
        ([("t/x", "../../etc")], "could lead out of its task"),
        ([("t/x", "../other/y")], "could lead out of its task"),
        ([("x", "t")], "could lead out of its task"),
        ([("t/d/l", ".."), ("t/e", "d/l/../..")], r"'t/e' is a link to 'd/l/../..'"),
        ([("t/l", "d"), ("t/l/x", b"")], "comes twice in the archive, or below a file"),
        ([("t/l/x", b""), ("t/l", "d")], "comes twice in the archive, or below a file"),
        ([("t/x", "."), ("t/x/x/x/l", "../../..")], r"'t/x/x/x/l' lies below the link 't/x'"),
        ([("t/x/l", "../y"), ("t/x", "d")], r"'t/x/l' lies below the link 't/x'"),
        ([("t/x", b""), ("t/x", b"")], "'t/x' comes twice"),
        ([("../x", b"")], "outside of the task directories"),
        ([("/x", b"")], "outside of the task directories"),
        ([("t/" + "x" * 256, b"")], "shorten it"),
        ([("t/" + "x/" * 64, b"")], "shorten it"),
    ],
)
def test_what_could_lead_out_of_a_task_is_refused(
    tmp_path: Path, entries: list[tuple[str, str | bytes | None]], says: str
) -> None:
    place = tmp_path / "deep/place"
    place.mkdir(parents=True)
    with pytest.raises(ValidationError, match=says):
        unpack_tasks(archive(*entries), place, lambda _: None)
    assert [path.name for path in tmp_path.iterdir()] == ["deep"]


def test_an_archive_of_the_folder_itself_is_taken(tmp_path: Path) -> None:
    """As `tar cf FILE -C FOLDER .` makes it."""
    unpack_tasks(archive((".", None), ("./t", None), ("./t/x", b"1")), tmp_path, lambda _: None)
    assert (tmp_path / "t/x").read_bytes() == b"1"


def test_what_is_no_archive_is_told(tmp_path: Path) -> None:
    for content in (b"", b"no tar " * 100, archive(("t/x", b"x" * 9999)).read()[:5000]):
        with pytest.raises(ValidationError, match="no whole tar archive"):
            unpack_tasks(io.BytesIO(content), tmp_path, lambda _: None)
    device = io.BytesIO()
    with tarfile.open(fileobj=device, mode="w") as tar:
        member = tarfile.TarInfo("t/null")
        member.type = tarfile.CHRTYPE
        tar.addfile(member)
    device.seek(0)
    with pytest.raises(ValidationError, match="neither a file, a directory nor a link"):
        unpack_tasks(device, tmp_path, lambda _: None)


def test_a_client_says_what_it_cannot_send(tmp_path: Path) -> None:
    """Before anything is sent."""
    with pytest.raises(ValidationError, match=r"no task\.toml or task\.yaml in it"):
        JobUpload.open_request({"name": "n", "scenarios": tmp_path})
    (tmp_path / "task.toml").write_text("")
    with (tmp_path / "large").open("wb") as large:
        large.truncate(MOST_ARCHIVE_BYTES)
    with pytest.raises(ValidationError, match=f"more than {MOST_ARCHIVE_BYTES} bytes"):
        JobUpload.open_request({"name": "n", "scenarios": tmp_path})


def test_folders_above_a_file_are_counted(tmp_path: Path) -> None:
    """Each takes a block of the disk, and one entry of an archive may name dozens of them."""
    charged: list[int] = []
    deep: list[tuple[str, bytes | None]] = [(f"t/{number}/" + "d/" * 30 + "x", b"") for number in range(3)]
    deep += [("t/0/d", None), ("t/e/f", None)]
    unpack_tasks(archive(*deep), tmp_path, charged.append)
    assert sum(charged) == 4096 * sum(1 for _ in tmp_path.rglob("*"))


def hard_link(name: str, target: str) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type, member.linkname = tarfile.LNKTYPE, target
    return member


@pytest.mark.parametrize(
    ("target", "says"),
    [
        ("t/none", "no file before it"),
        ("t", "no file before it"),
        ("/etc/passwd", "outside of the task directories"),
        ("../passwd", "outside of the task directories"),
        ("t/d/l/passwd", "no file before it"),
        ("", "a hard link to nothing"),
    ],
)
def test_a_hard_link_leads_to_a_file_of_the_archive(tmp_path: Path, target: str, says: str) -> None:
    (tmp_path / "passwd").write_text("of another")
    place = tmp_path / "place"
    place.mkdir()
    packed = archive(("t/a", b"1"), ("t/d/l", ".."))
    with tarfile.open(fileobj=packed, mode="a") as tar:
        tar.addfile(hard_link("t/x", target))
    packed.seek(0)
    with pytest.raises(ValidationError, match=says):
        unpack_tasks(packed, place, lambda _: None)


def sparse(records: dict[str, str], content: bytes) -> io.BytesIO:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as tar:
        member = tarfile.TarInfo("t/x")
        member.size, member.pax_headers = len(content), {f"GNU.sparse.{name}": value for name, value in records.items()}
        tar.addfile(member, io.BytesIO(content))
    out.seek(0)
    return out


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"1\n0\n1\n".ljust(512, b"\0") + b"xx", "not what follows"),
        (b"1\n9\n4\n".ljust(512, b"\0") + b"xxxx", "not what follows"),
        (b"2\n4\n1\n0\n1\n".ljust(512, b"\0") + b"xx", "one after the other"),
        (b"5\n4\n1\n".ljust(512, b"\0"), "does not name them all"),
        (b"9" * 600_000, "does not name them all"),
        (b"x\n".ljust(512, b"\0"), "no number"),
    ],
)
def test_parts_that_are_none_are_refused(tmp_path: Path, content: bytes, says: str) -> None:
    packed = sparse({"major": "1", "minor": "0", "name": "t/x", "realsize": "10"}, content)
    with pytest.raises(ValidationError, match=says):
        unpack_tasks(packed, tmp_path, lambda _: None)
