"""Trees of files: their digest, and the stream in which they travel."""

from __future__ import annotations

import io
import os
import tarfile
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from harena.core.errors import ValidationError
from harena.core.file_trees import MOST_DEPTH, MOST_FOLDERS, files_of, pack_files, remove_tree, tree_of, unpack
from harena.core.tar_reader import MOST_EXTENDED_BYTES, TarReader, TarStreamError


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
    stream = b"".join(pack_files(files_of(place)))
    unpack(io.BytesIO(stream), tmp_path / "back")
    assert digest(tmp_path / "back") == digest(place)
    assert b"".join(pack_files(files_of(tmp_path / "back"))) == stream


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
    stream = pack_files(files_of(place))
    (place / "b" / "two").write_bytes(b"2")
    with pytest.raises(ValidationError, match="two became shorter while it was read"):
        b"".join(stream)


def test_more_than_may_be_is_refused(place: Path, tmp_path: Path) -> None:
    """By the sizes that the stream announces, before they are written."""
    stream = b"".join(pack_files(files_of(place)))
    with pytest.raises(ValidationError, match="larger than 999 bytes"):
        unpack(io.BytesIO(stream), tmp_path / "back", most_bytes=999)
    assert not (tmp_path / "back" / "b" / "two").exists()


def archive(form: int, members: dict[str, bytes | None]) -> bytes:
    """What the library writes; None = a directory."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=form) as made:
        for name, content in members.items():
            about = tarfile.TarInfo(name)
            about.type = tarfile.DIRTYPE if content is None else tarfile.REGTYPE
            about.size, about.mode, about.mtime = len(content or b""), 0o755, 12.5
            made.addfile(about, io.BytesIO(content or b""))
    return out.getvalue()


def header(kind: bytes, content: bytes) -> bytes:
    """An extended one."""
    about = tarfile.TarInfo("././@PaxHeader")
    about.type, about.size = kind, len(content)
    return about.tobuf(tarfile.USTAR_FORMAT) + content + b"\0" * (-len(content) % 512)


@pytest.mark.parametrize("form", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_members_are_those_that_the_library_reads(form: int) -> None:
    """Long names, names that are not ASCII, directories, contents of every padding."""
    long = "/".join(["d" * 60] * (3 if form == tarfile.USTAR_FORMAT else 20))
    members = {f"{long}/f": b"x", "d": None, "d/e": b"y" * 511, "\u00e9/z": b"z" * 512, "empty": b"", "g": b"w" * 2000}
    stream = archive(form, members)
    reader = TarReader(io.BytesIO(stream))
    ours = [
        (one.name, one.size, one.mode, one.is_folder, b"".join(iter(lambda: reader.read(99), b""))) for one in reader
    ]
    with tarfile.open(fileobj=io.BytesIO(stream)) as library:
        theirs = [
            (one.name, one.size, one.mode, one.isdir(), b"" if one.isdir() else library.extractfile(one).read())  # type: ignore[union-attr]
            for one in library
        ]
    assert ours == theirs
    assert len(ours) == len(members)


HOSTILE_STREAMS = {
    "digits, which the library searches in quadratic time": header(b"x", b"1" * 60_000),
    "a header of a mebibyte": header(b"x", b"1" * 2**20),
    "a long name of a mebibyte": header(b"L", b"n" * 2**20),
    "a long name": header(b"L", b"n/" * (MOST_EXTENDED_BYTES // 2)) + archive(tarfile.USTAR_FORMAT, {"a": b"1"}),
    "a record that ends behind the header": header(b"x", b"99 path=a\n"),
    "a record of no length": header(b"x", b"0 path=a\n"),
    "a size that is none": header(b"x", b"10 size=-1\n") + archive(tarfile.USTAR_FORMAT, {"a": b"1"}),
    "a name for all": header(b"g", b"10 path=ab\n") + archive(tarfile.USTAR_FORMAT, {"a": b"1"}),
    "a sparse file": header(b"x", b"22 GNU.sparse.major=1\n") + archive(tarfile.USTAR_FORMAT, {"a": b"1"}),
    "headers alone": header(b"x", b"10 path=ab\n"),
    "a wrong sum": bytes(reversed(archive(tarfile.USTAR_FORMAT, {"a": b"1"})[:512])),
    "half a header": archive(tarfile.USTAR_FORMAT, {"a": b"1"})[:300],
    "half a member": archive(tarfile.USTAR_FORMAT, {"a": b"1" * 900})[:1100],
    "a path that is too deep": archive(tarfile.PAX_FORMAT, {"a/" * MOST_DEPTH + "x": b"1"}),
    "headers of a member without end": header(b"x", b"10 path=ab\n") * 1000
    + archive(tarfile.USTAR_FORMAT, {"a": b"1"}),
    "headers for all without end": header(b"g", b"") * 1000 + archive(tarfile.USTAR_FORMAT, {"a": b"1"}),
    "long links without end": header(b"K", b"") * 1000 + archive(tarfile.USTAR_FORMAT, {"a": b"1"}),
    "directories that are listed without end": archive(tarfile.USTAR_FORMAT, {"a": None})[:512] * 1001,
    "directories without end": b"".join(
        archive(tarfile.PAX_FORMAT, {f"{n}/" + "/".join(map(str, range(60))) + "/x": b""})[:1536]
        for n in range(MOST_FOLDERS // 60)
    ),
}


@pytest.mark.parametrize("name", HOSTILE_STREAMS)
def test_a_stream_that_costs_more_than_it_may_is_refused(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At once: nothing of it is searched, and no more than one header is in memory."""
    monkeypatch.setattr("harena.core.file_trees.MOST_FOLDERS", 1000)
    with pytest.raises(ValidationError):
        unpack(io.BytesIO(HOSTILE_STREAMS[name]), tmp_path / "out")


def peak(work: Callable[[], object]) -> int:
    """The most bytes that Python's objects took meanwhile."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def records(number: int) -> bytes:
    """60,000 bytes of a pax header, each of whose keys comes nowhere else."""
    return b"".join(b"20 k%08d%04d=xx\n" % (number, key) for key in range(3000))


@pytest.mark.parametrize("kind", [b"x", b"g"])
def test_headers_of_pax_take_the_memory_of_one(kind: bytes) -> None:
    """Neither those before one member nor those before all of them are kept: nobody uses what they say."""
    member = archive(tarfile.USTAR_FORMAT, {"a": b"1"})[:1024]
    one, many = (b"".join(header(kind, records(n)) + member for n in range(count)) for count in (1, 12))
    before_a_member = b"".join(header(kind, records(number)) for number in range(12)) + member

    def read(stream: bytes) -> list[str]:
        return [found.name for found in TarReader(io.BytesIO(stream))]

    def refused() -> None:
        with pytest.raises(TarStreamError, match="extended headers, or more than 131072 bytes of them"):
            read(before_a_member)

    alone = peak(lambda: read(one))
    assert alone < 4 * MOST_EXTENDED_BYTES
    assert peak(lambda: read(many)) < 2 * alone
    assert peak(refused) < 2 * alone


def test_a_member_has_as_many_headers_as_writers_give_it(tmp_path: Path) -> None:
    """One for all members, one of pax, a long name and a long link."""
    stream = header(b"g", b"14 comment=ab\n") + header(b"K", b"l" * 200) + header(b"L", b"n" * 200)
    stream += header(b"x", b"12 path=b/c\n") + archive(tarfile.USTAR_FORMAT, {"a": b"1"})
    unpack(io.BytesIO(stream), tmp_path / "out")
    assert [file.name for file in files_of(tmp_path / "out")] == ["b/c"]


def test_directories_take_memory_by_their_number(tmp_path: Path) -> None:
    """Rather than by their paths, each of which holds those above it once more."""

    def taken(chains: int) -> int:
        names = ["/".join([f"{number}", *["d" * 60] * 60, "f"]) for number in range(chains)]
        stream = b"".join(tarfile.TarInfo(name).tobuf(tarfile.PAX_FORMAT) for name in names)
        return peak(lambda: unpack(io.BytesIO(stream), tmp_path / f"of {chains}"))

    assert taken(25) - taken(5) < 20 * 60 * 300


def test_names_of_a_stream_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All together: each is kept while the tree is read."""
    monkeypatch.setattr("harena.core.file_trees.MOST_NAME_BYTES", 10)
    unpack(io.BytesIO(archive(tarfile.USTAR_FORMAT, {"12345": b"", "1/345": b""})), tmp_path / "in")
    with pytest.raises(ValidationError, match="names of more than 10 bytes"):
        unpack(io.BytesIO(archive(tarfile.USTAR_FORMAT, {"12345": b"", "123456": b""})), tmp_path / "out")


def test_a_directory_is_removed_however_deep_it_is(tmp_path: Path) -> None:
    """Deeper than Python recurses, and than the kernel takes a path."""
    (tmp_path / "all" / "b").mkdir(parents=True)
    (tmp_path / "outside").write_bytes(b"")
    (tmp_path / "all" / "b" / "link").symlink_to(tmp_path)
    above = os.open(tmp_path / "all", os.O_RDONLY)
    for _ in range(1500):
        os.mkdir("a", dir_fd=above)
        below = os.open("a", os.O_RDONLY, dir_fd=above)
        os.close(os.open("f", os.O_WRONLY | os.O_CREAT, dir_fd=below))
        os.close(above)
        above = below
    os.close(above)
    assert remove_tree(tmp_path / "all")
    assert [entry.name for entry in tmp_path.iterdir()] == ["outside"]
    assert remove_tree(tmp_path / "never there")


def test_what_is_unpacked_is_charged_before_it_is_made(tmp_path: Path) -> None:
    """In whole blocks, each folder once; what is refused is not there."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, size in (("a/b/f", 1), ("a/b/g", 4096), ("h", 4097)):
            made = tarfile.TarInfo(name)
            made.size = size
            archive.addfile(made, io.BytesIO(b"x" * size))
    charges: list[int] = []
    out.seek(0)
    unpack(out, tmp_path / "all", charge=charges.append)
    assert charges == [4096 * 4, 4096 * 2, 4096 * 3]
    tree = tree_of(files_of(tmp_path / "all"))
    assert sum(charges) >= tree.disk_bytes

    def refuse(size: int) -> None:
        if size == 4096 * 2:
            raise ValidationError("no room")

    out.seek(0)
    with pytest.raises(ValidationError, match="no room"):
        unpack(out, tmp_path / "some", charge=refuse)
    assert [file.name for file in files_of(tmp_path / "some")] == ["a/b/f"]


def test_no_piece_of_a_packed_tree_is_empty(tmp_path: Path) -> None:
    """Whoever asks for pieces until an empty one comes would lose what follows a file of whole blocks."""
    for name, size in (("a", 512), ("b", 0), ("c", 1024), ("d", 5)):
        (tmp_path / name).write_bytes(b"x" * size)
    pieces = [*pack_files(files_of(tmp_path))]
    assert all(pieces)
    with tarfile.open(fileobj=io.BytesIO(b"".join(pieces))) as found:
        assert [one.size for one in found] == [512, 0, 1024, 5]
