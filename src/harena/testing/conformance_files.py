"""Conformance: files."""

from __future__ import annotations

import asyncio
import io
import posixpath
import tarfile
from collections.abc import Awaitable, Callable
from contextlib import aclosing

import pytest

from harena.core.errors import SandboxFileError
from harena.core.ports import SandboxPort
from harena.testing.conformance_base import gather_bytes, pieces, run

MIB = 1024 * 1024


async def archived(sandbox: SandboxPort, path: str) -> dict[str, tuple[tarfile.TarInfo, bytes]]:
    """(member, content) of everything in the archive of `path`, by name."""
    packed = io.BytesIO(await gather_bytes(sandbox.create_archive(path)))
    found = {}
    with tarfile.open(fileobj=packed) as tar:
        for member in tar:
            assert member.isreg() or member.isdir(), f"{member.name} is of type {member.type!r}"
            file = tar.extractfile(member) if member.isreg() else None
            found[posixpath.normpath(member.name)] = (member, b"" if file is None else file.read())
    found.pop(".", None)
    return found


ON_MISSING: dict[str, Callable[[SandboxPort, str], Awaitable[object]]] = {
    "read_file": lambda sandbox, path: sandbox.read_file(path, max_bytes=1 << 20),
    "read_stream": lambda sandbox, path: gather_bytes(sandbox.read_stream(path)),
    "stat": lambda sandbox, path: sandbox.stat(path),
    "list_dir": lambda sandbox, path: sandbox.list_dir(path),
    "remove": lambda sandbox, path: sandbox.remove(path),
    "remove tree": lambda sandbox, path: sandbox.remove(path, recursive=True),
    "create_archive": lambda sandbox, path: gather_bytes(sandbox.create_archive(path)),
    "make_dir": lambda sandbox, path: sandbox.make_dir(f"{path}/below", parents=False),
}


class FileConformance:
    """Reading, writing, listing, removing and archives."""

    @pytest.mark.parametrize("content", [b"", b"text\n", bytes(range(256)) * 20_000], ids=["empty", "text", "5MB"])
    async def test_write_and_read(self, sandbox: SandboxPort, content: bytes) -> None:
        """What was written is read, byte for byte."""
        await sandbox.write_file("/workspace/file", content)
        assert await sandbox.read_file("/workspace/file", max_bytes=1 << 23) == content

    @pytest.mark.parametrize("folder", ["/workspace", "/tmp", "/data", "/root"])
    async def test_writable_folders(self, sandbox: SandboxPort, folder: str) -> None:
        """The four writable folders are writable, and programs see the same files."""
        await sandbox.write_file(f"{folder}/file", b"from outside")
        assert (await run(sandbox, "cat", "file", cwd=folder)).stdout == b"from outside"
        await run(sandbox, "cp", "file", "copy", cwd=folder)
        assert await sandbox.read_file(f"{folder}/copy", max_bytes=1 << 20) == b"from outside"

    async def test_write_replaces(self, sandbox: SandboxPort) -> None:
        """A second write replaces the first, also when it is shorter."""
        await sandbox.write_file("/workspace/file", b"a long first text")
        await sandbox.write_file("/workspace/file", b"short")
        assert await sandbox.read_file("/workspace/file", max_bytes=1 << 20) == b"short"

    async def test_append(self, sandbox: SandboxPort) -> None:
        """append adds at the end and creates what is missing."""
        await sandbox.write_file("/workspace/log", b"one ", append=True)
        await sandbox.write_file("/workspace/log", pieces(b"two ", b"three"), append=True)
        assert await sandbox.read_file("/workspace/log", max_bytes=1 << 20) == b"one two three"

    async def test_parents_are_created(self, sandbox: SandboxPort) -> None:
        """Missing directories above a written file are created."""
        await sandbox.write_file("/data/a/b/c/file", b"x")
        assert (await sandbox.stat("/data/a/b")).kind == "directory"

    async def test_mode(self, sandbox: SandboxPort) -> None:
        """mode sets the permission bits, so that a script can be run."""
        await sandbox.write_file("/workspace/script", b"#!/bin/sh\necho ran\n", mode=0o755)
        assert (await sandbox.stat("/workspace/script")).mode == 0o755
        assert (await run(sandbox, "./script")).stdout == b"ran\n"

    async def test_streams_both_ways(self, sandbox: SandboxPort) -> None:
        """Large files travel in pieces, both ways."""
        parts = [bytes([number]) * MIB for number in range(9)]
        await sandbox.write_file("/workspace/big", pieces(*parts))
        assert (await sandbox.stat("/workspace/big")).size_bytes == 9 * MIB
        received = [part async for part in sandbox.read_stream("/workspace/big", chunk_bytes=256 * 1024)]
        assert b"".join(received) == b"".join(parts)
        assert max(map(len, received)) <= 256 * 1024

    async def test_stream_of_an_empty_file(self, sandbox: SandboxPort) -> None:
        """An empty file is an empty stream."""
        await sandbox.write_file("/workspace/empty", pieces())
        assert await gather_bytes(sandbox.read_stream("/workspace/empty")) == b""

    async def test_read_limit(self, sandbox: SandboxPort) -> None:
        """A file larger than max_bytes is refused, one of exactly that size is read."""
        await sandbox.write_file("/workspace/file", b"12345")
        assert await sandbox.read_file("/workspace/file", max_bytes=5) == b"12345"
        with pytest.raises(SandboxFileError) as caught:
            await sandbox.read_file("/workspace/file", max_bytes=4)
        assert (caught.value.reason, caught.value.filepath) == ("TOO_LARGE", "/workspace/file")

    @pytest.mark.parametrize("operation", ON_MISSING)
    async def test_missing_path(self, sandbox: SandboxPort, operation: str) -> None:
        """What does not exist is SandboxFileError with reason NOT_FOUND and the path."""
        path = "/workspace/absent/deeper"
        with pytest.raises(SandboxFileError) as caught:
            await ON_MISSING[operation](sandbox, path)
        assert caught.value.reason == "NOT_FOUND"
        assert caught.value.filepath is not None
        assert caught.value.filepath.startswith(path)
        assert path in str(caught.value)

    async def test_directory_where_a_file_is_needed(self, sandbox: SandboxPort) -> None:
        """Reading or writing a directory is IS_DIRECTORY."""
        await sandbox.make_dir("/workspace/folder")
        for attempt in (
            sandbox.read_file("/workspace/folder", max_bytes=1 << 20),
            gather_bytes(sandbox.read_stream("/workspace/folder")),
            sandbox.write_file("/workspace/folder", b"x"),
        ):
            with pytest.raises(SandboxFileError) as caught:
                await attempt
            assert (caught.value.reason, caught.value.filepath) == ("IS_DIRECTORY", "/workspace/folder")

    async def test_file_where_a_directory_is_needed(self, sandbox: SandboxPort) -> None:
        """Listing a file, or writing below one, is NOT_A_DIRECTORY."""
        await sandbox.write_file("/workspace/file", b"x")
        for attempt in (
            sandbox.list_dir("/workspace/file"),
            sandbox.write_file("/workspace/file/below", b"x"),
            sandbox.make_dir("/workspace/file/below"),
        ):
            with pytest.raises(SandboxFileError) as caught:
                await attempt
            assert caught.value.reason == "NOT_A_DIRECTORY"

    async def test_stat(self, sandbox: SandboxPort) -> None:
        """stat tells files, directories and links apart and does not follow links."""
        await sandbox.write_file("/workspace/file", b"12345", mode=0o640)
        await run(sandbox, "ln", "-s", "nowhere", "link")
        file, folder, link = [await sandbox.stat(f"/workspace{name}") for name in ("/file", "", "/link")]
        assert (file.path, file.name, file.kind, file.size_bytes, file.mode, file.target) == (
            "/workspace/file",
            "file",
            "file",
            5,
            0o640,
            None,
        )
        assert (folder.path, folder.kind) == ("/workspace", "directory")
        assert (link.kind, link.target) == ("link", "nowhere")
        assert file.modified_at > 1_500_000_000

    async def test_list(self, sandbox: SandboxPort) -> None:
        """A directory's entries come sorted by name, with their own paths."""
        for name in ("b", "a", ".hidden", "ü x"):
            await sandbox.write_file(f"/data/{name}", b"")
        await sandbox.make_dir("/data/c")
        entries = await sandbox.list_dir("/data")
        assert [entry.name for entry in entries] == [".hidden", "a", "b", "c", "ü x"]
        assert [entry.path for entry in entries] == ["/data/.hidden", "/data/a", "/data/b", "/data/c", "/data/ü x"]
        assert entries[3].kind == "directory"
        assert await sandbox.list_dir("/data/c") == []

    async def test_make_dir(self, sandbox: SandboxPort) -> None:
        """Like mkdir -p by default; without parents an existing directory is an error."""
        await sandbox.make_dir("/data/a/b")
        await sandbox.make_dir("/data/a/b")
        await sandbox.make_dir("/data/a/c", parents=False)
        assert [entry.name for entry in await sandbox.list_dir("/data/a")] == ["b", "c"]
        with pytest.raises(SandboxFileError) as caught:
            await sandbox.make_dir("/data/a", parents=False)
        assert caught.value.reason == "EXISTS"

    async def test_remove(self, sandbox: SandboxPort) -> None:
        """Files, empty directories and links are removed; a link's target stays."""
        await sandbox.write_file("/workspace/kept/file", b"x")
        await sandbox.make_dir("/workspace/empty")
        await sandbox.write_file("/workspace/file", b"x")
        await run(sandbox, "ln", "-s", "kept", "link")
        for name in ("empty", "file", "link"):
            await sandbox.remove(f"/workspace/{name}")
        assert [entry.name for entry in await sandbox.list_dir("/workspace")] == ["kept"]
        await sandbox.remove("/workspace/file", missing_ok=True)

    async def test_remove_tree(self, sandbox: SandboxPort) -> None:
        """A directory that is not empty goes only with `recursive`, and what links inside it point to stays."""
        await sandbox.write_file("/workspace/tree/a/file", b"x")
        await sandbox.write_file("/workspace/kept/file", b"x")
        await run(sandbox, "ln", "-s", "../kept", "tree/link")
        with pytest.raises(SandboxFileError):
            await sandbox.remove("/workspace/tree")
        assert await sandbox.read_file("/workspace/tree/a/file", max_bytes=1 << 20) == b"x"
        await sandbox.remove("/workspace/tree", recursive=True)
        assert [entry.name for entry in await sandbox.list_dir("/workspace")] == ["kept"]
        assert await sandbox.read_file("/workspace/kept/file", max_bytes=1 << 20) == b"x"

    async def test_extract_archive(self, sandbox: SandboxPort) -> None:
        """A tar stream is unpacked into a directory that need not exist, in pieces of any size."""
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w") as tar:
            for name, content in (("top", b"1"), ("sub/inner", b"22" * 4000)):
                member = tarfile.TarInfo(name)
                member.size = len(content)
                member.mode = 0o644
                tar.addfile(member, io.BytesIO(content))
        archive = packed.getvalue()
        await sandbox.extract_archive("/data/new", pieces(*(archive[i : i + 777] for i in range(0, len(archive), 777))))
        assert await sandbox.read_file("/data/new/top", max_bytes=1 << 20) == b"1"
        assert await sandbox.read_file("/data/new/sub/inner", max_bytes=1 << 20) == b"22" * 4000

    async def test_extract_what_is_no_archive(self, sandbox: SandboxPort) -> None:
        """Something else than a tar stream is an error with the path, and the sandbox stays usable."""
        with pytest.raises(SandboxFileError) as caught:
            await sandbox.extract_archive("/data", pieces(b"certainly no tar archive" * 100))
        assert caught.value.filepath is not None
        assert (await run(sandbox, "echo", "x")).stdout == b"x\n"

    async def test_create_archive(self, sandbox: SandboxPort) -> None:
        """A directory comes back as a tar stream of its files and directories, links left out."""
        await sandbox.write_file("/workspace/tree/top", b"1", mode=0o755)
        await sandbox.write_file("/workspace/tree/sub/inner", b"2" * 100_000)
        await sandbox.make_dir("/workspace/tree/empty")
        await run(sandbox, "ln", "-s", "/etc/passwd", "tree/link")
        members = await archived(sandbox, "/workspace/tree")
        assert sorted(members) == ["empty", "sub", "sub/inner", "top"]
        assert members["sub/inner"][1] == b"2" * 100_000
        assert members["top"][0].mode & 0o777 == 0o755
        assert members["empty"][0].isdir()

    async def test_archived_sizes(self, sandbox: SandboxPort) -> None:
        """Files of every size come whole, also around the sizes of blocks and buffers."""
        sizes = (0, 1, 511, 512, 513, 65_535, 65_536, 65_537, 262_144, 5 * MIB + 1)
        for size in sizes:
            await sandbox.write_file(f"/workspace/tree/{size}", b"x" * size)
        members = await archived(sandbox, "/workspace/tree")
        assert {int(name): content for name, (_, content) in members.items()} == {size: b"x" * size for size in sizes}

    async def test_archived_names(self, sandbox: SandboxPort) -> None:
        """Names of any length and any characters."""
        names = ["ü x", "-", "a\nb", "n" * 255, "/".join("d" * 200 for _ in range(5)) + "/end"]
        for name in names:
            await sandbox.write_file(f"/workspace/tree/{name}", name.encode())
        members = await archived(sandbox, "/workspace/tree")
        files = {name: content for name, (member, content) in members.items() if member.isreg()}
        assert files == {name: name.encode() for name in names}

    async def test_archived_hard_links(self, sandbox: SandboxPort) -> None:
        """A file of two names comes as two files: an archive holds no links of any kind."""
        await sandbox.write_file("/workspace/tree/one", b"x" * 1000)
        await run(sandbox, "ln", "tree/one", "tree/two")
        members = await archived(sandbox, "/workspace/tree")
        assert [member.isreg() for member, _ in members.values()] == [True, True]
        assert {name: content for name, (_, content) in members.items()} == {"one": b"x" * 1000, "two": b"x" * 1000}

    async def test_archive_of_a_linked_directory(self, sandbox: SandboxPort) -> None:
        """A link to a directory stands for the directory where it is what was asked for, and only there."""
        await sandbox.write_file("/workspace/tree/file", b"x")
        await run(sandbox, "ln", "-s", "tree", "link")
        assert sorted(await archived(sandbox, "/workspace/link")) == ["file"]
        assert sorted(await archived(sandbox, "/workspace")) == ["tree", "tree/file"]

    async def test_archive_of_the_root(self, sandbox: SandboxPort) -> None:
        """All that is the sandbox's own, and nothing of its image or of the kernel."""
        folders = ("workspace", "tmp", "data", "root")
        for folder in folders:
            await sandbox.write_file(f"/{folder}/file", folder.encode())
        members = await archived(sandbox, "/")
        for folder in folders:
            assert members[f"{folder}/file"][1] == folder.encode()
        assert [name for name in members if name.split("/")[0] in ("usr", "proc", "sys")] == []

    async def test_archive_of_a_file(self, sandbox: SandboxPort) -> None:
        """Only directories are packed."""
        await sandbox.write_file("/workspace/file", b"x")
        with pytest.raises(SandboxFileError) as caught:
            await archived(sandbox, "/workspace/file")
        assert (caught.value.reason, caught.value.filepath) == ("NOT_A_DIRECTORY", "/workspace/file")

    async def test_archive_given_up(self, sandbox: SandboxPort) -> None:
        """Whoever has seen enough closes the stream; nothing goes on inside, and the next one is whole."""
        await sandbox.write_file("/workspace/tree/file", b"x" * 5 * MIB)
        async with aclosing(sandbox.create_archive("/workspace/tree")) as stream:
            assert await anext(stream)
        async with asyncio.timeout(10):
            while await sandbox.processes():
                pass
        assert (await archived(sandbox, "/workspace/tree"))["file"][1] == b"x" * 5 * MIB

    async def test_archive_round_trip(self, sandbox: SandboxPort) -> None:
        """An archive that came out of a sandbox can be unpacked into one."""
        await sandbox.write_file("/workspace/tree/sub/file", bytes(range(256)))
        await sandbox.extract_archive("/data/copy", sandbox.create_archive("/workspace/tree"))
        assert await sandbox.read_file("/data/copy/sub/file", max_bytes=1 << 20) == bytes(range(256))
