"""The file verbs, and archives on the host's side."""

from __future__ import annotations

import asyncio
import io
import os
import tarfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from sdk_fake_node import FakePort, NodeControl

from harena import Sandbox
from harena.core.errors import SandboxFileError, SandboxRequestTimeoutError, SandboxValidationError
from harena.sdk import archive


def test_reading_and_writing(node: NodeControl) -> None:
    """Bytes and text; appending; what a file is; listing, making and removing."""
    sandbox = Sandbox.run()
    sandbox.write_file("/data/a", b"1").result()
    sandbox.append_file("/data/a", "2").result()
    sandbox.write_file("/data/b", "ü").result()
    assert sandbox.read_file("/data/a").result() == b"12"
    assert sandbox.stat("/data/b").result().size_bytes == 2
    assert [info.name for info in sandbox.list_files("/data").result()] == ["a", "b"]
    sandbox.make_dir("/data/d").result()
    sandbox.remove("/data/a").result()
    sandbox.remove("/data/a", missing_ok=True).result()
    with pytest.raises(SandboxFileError) as caught:
        sandbox.read_file("/data/a").result()
    assert (caught.value.filepath, caught.value.reason) == ("/data/a", "NOT_FOUND")


@pytest.mark.parametrize("verb", ["read_file", "stat", "list_files", "make_dir", "remove", "read_file_streaming"])
def test_paths_are_absolute(node: NodeControl, verb: str) -> None:
    """A relative path has no meaning outside a command."""
    for bad in ("data/a", "", "/a\0b", None, 3):
        with pytest.raises(SandboxValidationError, match="absolute path"):
            getattr(Sandbox(), verb)(bad)


def test_contents_are_bytes_or_text(node: NodeControl) -> None:
    """Anything else would be written as something that nobody meant."""
    for bad in (1, None, ["a"]):
        with pytest.raises(SandboxValidationError, match="bytes or text"):
            Sandbox().write_file("/a", bad)  # type: ignore[arg-type]
        with pytest.raises(SandboxValidationError):
            Sandbox().write_file_streaming("/a", "text")  # type: ignore[arg-type]


def test_a_file_operation_can_have_a_time_limit(node: NodeControl) -> None:
    """It is the request's time-out, not a command's."""
    sandbox = Sandbox.run()
    sandbox.write_file("/a", b"1").result()
    node.do(lambda fake: fake.file_gate.clear())
    with pytest.raises(SandboxRequestTimeoutError, match=r"timeout_seconds=0\.01"):
        sandbox.read_file("/a", timeout_seconds=0.01).result()


def test_large_files_stream_out(node: NodeControl) -> None:
    """In pieces, with the end where the file ends, and an error where there is none."""
    sandbox = Sandbox.run()
    sandbox.write_file("/a", bytes(range(100))).result()
    pieces = list(sandbox.read_file_streaming("/a", chunk_bytes=30))
    assert ([len(piece) for piece in pieces], b"".join(pieces)) == ([30, 30, 30, 10], bytes(range(100)))
    with pytest.raises(SandboxFileError):
        list(sandbox.read_file_streaming("/none"))
    reader = sandbox.read_file_streaming("/a", chunk_bytes=1)
    next(reader)
    reader.close()
    assert list(reader) == []


async def test_large_files_stream_out_asynchronously(node: NodeControl) -> None:
    """The same, awaited."""
    sandbox = Sandbox.run()
    await sandbox.write_file("/a", b"abc")
    assert [piece async for piece in sandbox.read_file_streaming("/a", chunk_bytes=2)] == [b"ab", b"c"]


def test_large_files_stream_in(node: NodeControl) -> None:
    """From bytes, and from an iterable that may block; its errors are told."""
    sandbox = Sandbox.run()

    def pieces() -> Iterator[bytes]:
        yield b"a"
        yield b""
        yield b"b"

    sandbox.write_file_streaming("/a", pieces()).result()
    assert sandbox.read_file("/a").result() == b"ab"
    sandbox.write_file_streaming("/a", b"xyz").result()
    assert sandbox.read_file("/a").result() == b"xyz"

    def broken() -> Iterator[bytes]:
        yield b"a"
        raise KeyError("source")

    with pytest.raises(KeyError, match="source"):
        sandbox.write_file_streaming("/a", broken()).result()


async def test_an_asynchronous_source_is_read_on_its_own_loop(node: NodeControl) -> None:
    """Where whatever it awaits belongs."""

    loop = asyncio.get_running_loop()
    seen = []

    async def pieces() -> AsyncIterator[bytes]:
        for piece in (b"1", b"2"):
            seen.append(asyncio.get_running_loop() is loop)
            await asyncio.sleep(0)
            yield piece

    sandbox = Sandbox.run()
    await sandbox.write_file_streaming("/a", pieces())
    assert (await sandbox.read_file("/a"), seen) == (b"12", [True, True])


def test_directories_travel_both_ways(node: NodeControl, tmp_path: Path) -> None:
    """Names, contents, empty directories and the executable bit."""
    source = tmp_path / "source"
    (source / "sub" / "empty").mkdir(parents=True)
    (source / "a.txt").write_text("a")
    (source / "sub" / "run.sh").write_text("#!/bin/sh\n")
    (source / "sub" / "run.sh").chmod(0o755)
    sandbox = Sandbox.run()
    sandbox.upload_dir(source, "/data/x").result()
    sandbox.download_dir("/data/x", tmp_path / "target").result()
    target = tmp_path / "target"
    assert sorted(path.relative_to(target).as_posix() for path in target.rglob("*")) == [
        "a.txt",
        "sub",
        "sub/empty",
        "sub/run.sh",
    ]
    assert (target / "a.txt").read_text() == "a"
    assert os.access(target / "sub" / "run.sh", os.X_OK)
    sandbox.download_dir("/data/x", target).result()
    with pytest.raises(SandboxFileError, match="max_bytes=100"):
        sandbox.download_dir("/data/x", tmp_path / "no", max_bytes=100, max_entries=1).result()
    with pytest.raises(SandboxFileError, match="not a directory"):
        sandbox.upload_dir(tmp_path / "missing", "/data/y").result()


def test_a_download_that_is_refused_ends_at_once(
    node: NodeControl, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sandbox does not go on packing for as long as somebody holds the error."""
    closed: list[str] = []

    async def endless(_: FakePort, path: str) -> AsyncIterator[bytes]:
        try:
            while True:
                yield bytes(100_000)
        finally:
            closed.append(path)

    monkeypatch.setattr(FakePort, "create_archive", endless)
    with pytest.raises(SandboxFileError, match="max_bytes=100") as caught:
        Sandbox.run().download_dir("/data/x", tmp_path / "no", max_bytes=100, max_entries=1).result()
    assert (caught.value.reason, closed) == ("TOO_LARGE", ["/data/x"])


def test_what_is_neither_file_nor_directory_is_not_uploaded(tmp_path: Path) -> None:
    """A link could take a secret along; the message names it."""
    (tmp_path / "link").symlink_to("/etc/passwd")
    with pytest.raises(SandboxFileError, match="link is a symbolic link"):
        archive.pack(tmp_path, io.BytesIO())
    (tmp_path / "link").unlink()
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(SandboxFileError, match="neither a file nor a directory"):
        archive.pack(tmp_path, io.BytesIO())


def test_uploads_have_limits(tmp_path: Path) -> None:
    """Of number and of size."""
    for number in range(3):
        (tmp_path / str(number)).write_bytes(b"x" * 10)
    with pytest.raises(SandboxFileError, match="max_entries=2") as caught:
        archive.pack(tmp_path, io.BytesIO(), max_entries=2)
    assert caught.value.reason == "TOO_LARGE"
    with pytest.raises(SandboxFileError, match="max_bytes=29"):
        archive.pack(tmp_path, io.BytesIO(), max_bytes=29)
    archive.pack(tmp_path, io.BytesIO(), max_bytes=30, max_entries=3)


def _tar(*members: tuple[str, dict[str, Any], bytes]) -> io.BytesIO:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as out:
        for name, fields, content in members:
            member = tarfile.TarInfo(name)
            member.size = len(content)
            for field, value in fields.items():
                setattr(member, field, value)
            out.addfile(member, io.BytesIO(content))
    packed.seek(0)
    return packed


@pytest.mark.parametrize(
    "members",
    [
        [("/etc/evil", {}, b"x")],
        [("../evil", {}, b"x")],
        [("a/../../evil", {}, b"x")],
        [("link", {"type": tarfile.SYMTYPE, "linkname": "/etc"}, b"")],
        [("link", {"type": tarfile.LNKTYPE, "linkname": "a"}, b"")],
        [("device", {"type": tarfile.CHRTYPE}, b"")],
        [("pipe", {"type": tarfile.FIFOTYPE}, b"")],
        [("a", {}, b"x"), ("a/b", {}, b"x")],
    ],
)
def test_a_hostile_archive_writes_nothing_outside(tmp_path: Path, members: Any) -> None:
    """Names that leave, links of both kinds, devices, and a file used as a directory are refused."""
    target = tmp_path / "deep" / "target"
    with pytest.raises(SandboxFileError, match="refused"):
        archive.unpack(_tar(*members), target)
    written = {path.name for path in tmp_path.rglob("*")} - {"deep", "target"}
    assert written <= {"a"}


def test_links_that_were_there_before_are_not_followed(tmp_path: Path) -> None:
    """Neither as a directory on the way nor as the file itself."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_text("mine")
    target = tmp_path / "target"
    target.mkdir()
    (target / "dir").symlink_to(outside)
    (target / "file").symlink_to(outside / "file")
    for name in ("dir/evil", "file"):
        with pytest.raises(SandboxFileError):
            archive.unpack(_tar((name, {}, b"x")), target)
    assert sorted(path.name for path in outside.iterdir()) == ["file"]
    assert (outside / "file").read_text() == "mine"


def test_downloads_are_counted_before_they_are_written(tmp_path: Path) -> None:
    """By what the archive says, so that a bomb never lands."""
    with pytest.raises(SandboxFileError, match="max_entries=1"):
        archive.unpack(_tar(("a", {}, b""), ("b", {}, b"")), tmp_path, max_entries=1)
    with pytest.raises(SandboxFileError, match="max_bytes=3"):
        archive.unpack(_tar(("c", {}, b"1234")), tmp_path, max_bytes=3)
    assert not (tmp_path / "c").exists()


def test_special_mode_bits_do_not_come_out(tmp_path: Path) -> None:
    """No set-user-id file is made on the host, and what was written can be removed."""
    archive.unpack(_tar(("a", {"mode": 0o6755}, b"x"), ("b", {"mode": 0}, b"x")), tmp_path)
    assert (tmp_path / "a").stat().st_mode & 0o7777 == 0o755
    assert (tmp_path / "b").stat().st_mode & 0o200


def test_rubbish_is_no_archive(tmp_path: Path) -> None:
    """A clear error, whatever the sandbox sent."""
    with pytest.raises(SandboxFileError, match="cannot be read"):
        archive.unpack(io.BytesIO(b"not a tar archive" * 100), tmp_path)
