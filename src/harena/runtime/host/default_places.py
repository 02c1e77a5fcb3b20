"""The folders of the default image that can be written to: what a snapshot of such a sandbox is made of.

The root is the host's, and only these folders are a sandbox's own. A sandbox that begins with a snapshot of them is one
of the default image, into which they are copied by a process inside, so that what they take counts for its limits.
"""

from __future__ import annotations

import asyncio
import os
import stat
import subprocess
import sys
import tarfile
from collections.abc import AsyncGenerator, Generator, Iterator
from contextlib import aclosing, closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from harena.core.errors import PlatformError
from harena.core.threads import CONTENT, NODE
from harena.runtime.guest import launch
from harena.runtime.guest.files import own_headers, parts_with_content
from harena.runtime.host import box_files
from harena.runtime.kernel import namespaces
from harena.runtime.kernel.syscalls import StepError

if TYPE_CHECKING:
    from harena.runtime.host.sandbox_files import SandboxFiles

DEFAULT_PLACES = tuple(sorted(target[1:] for _, target, _ in launch.WRITABLE if target.count("/") == 1))
"""their names in the root; what lies in /dev/shm is no file of a snapshot, in images neither"""
_MODES = {target[1:]: mode for _, target, mode in launch.WRITABLE}
_PIECE_BYTES = 1 << 20
_PROGRAM = (
    "import sys; sys.path.insert(0, {!r}); from harena.runtime.host import default_places; "
    "default_places.write_to_output({!r})"
)
_READ_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC


async def lay_out(sandbox: SandboxFiles, layer: Path) -> None:
    """Fill the places of a new sandbox with what the layer of a snapshot has there. Raises SandboxFileError."""
    for place in DEFAULT_PLACES:
        folder = layer / place
        if await CONTENT.run_for(sandbox.id, partial(_says_something, folder, _MODES[place])):
            await sandbox.replace_tree(f"/{place}", _packed(sandbox.id, folder))


def _says_something(folder: Path, mode: int) -> bool:
    """It is not the empty folder that a new sandbox has there."""
    try:
        with os.scandir(folder) as entries:
            return stat.S_IMODE(folder.stat().st_mode) != mode or next(entries, None) is not None
    except PermissionError:
        return True
    except FileNotFoundError:
        return False


async def _packed(sandbox_id: str, folder: Path) -> AsyncGenerator[bytes]:
    """The folder as the stream that `replace_tree` takes."""
    if os.geteuid() != 0:
        async for piece in _packed_by_process(folder):
            yield piece
        return
    with closing(_pieces(folder)) as pieces:
        while piece := await CONTENT.run_for(sandbox_id, lambda: next(pieces, b"")):
            yield piece


async def _packed_by_process(folder: Path) -> AsyncGenerator[bytes]:
    """Have a process pack it that may read what its own user has closed. Raises PlatformError."""
    program = _PROGRAM.format(str(Path(__file__).parents[3]), str(folder))
    read_end, write_end = box_files.new_pipe()
    words = [sys.executable, "-I", "-S", "-c", program]
    try:
        process = await NODE.run(partial(subprocess.Popen, words, stdout=write_end, stdin=subprocess.DEVNULL))
    except BaseException:  # raised again: nobody will read from it
        os.close(read_end)
        raise
    finally:
        os.close(write_end)
    try:
        async with aclosing(box_files.pipe_chunks(read_end)) as chunks:
            async for chunk in chunks:
                yield chunk
    except BaseException:  # nobody wants it any more
        process.kill()
        await asyncio.shield(NODE.run(process.wait))
        raise
    status = await NODE.run(process.wait)
    if status:  # else half of the files would be taken for all of them
        raise PlatformError(f"the files of a snapshot could not be read (status {status})", step="begin")


def write_to_output(top: str) -> None:
    """Write the stream of a folder to standard output, with the rights of who is root of this user's own files."""
    user, group = os.geteuid(), os.getegid()
    with suppress(StepError):  # the first file that needs it says so
        namespaces.unshare(namespaces.NEWUSER)
        namespaces.map_identity("self", 0, user, group)
    for piece in _pieces(Path(top)):
        sys.stdout.buffer.write(piece)
    sys.stdout.buffer.flush()


def _pieces(top: Path) -> Generator[bytes]:
    """Pieces of a megabyte or so. Raises OSError."""
    gathered: list[bytes] = []
    size = 0
    for part in _parts(top):
        gathered.append(part)
        size += len(part)
        if size >= _PIECE_BYTES:
            yield b"".join(gathered)
            gathered, size = [], 0
    gathered.append(bytes(2 * tarfile.BLOCKSIZE))
    yield b"".join(gathered)


def _parts(top: Path, folder: str = ".") -> Iterator[bytes]:
    """A folder and what is below it. Of each folder on the way down the next entry is known, and not all: a program may
    have made millions. No layer is deeper than its sealer allows."""
    with _opened(top / folder, _READ_FOLDER) as descriptor:
        about = os.fstat(descriptor)
        entries = os.scandir(descriptor)
    with entries:
        yield _header(folder, about, tarfile.DIRTYPE)
        below = "" if folder == "." else f"{folder}/"
        for entry in entries:
            name = below + entry.name
            if entry.is_dir(follow_symlinks=False):
                yield from _parts(top, name)
            elif entry.is_symlink():
                yield _header(name, os.lstat(top / name), tarfile.SYMTYPE, target=os.readlink(top / name))
            elif entry.is_file(follow_symlinks=False):
                yield from _file(top / name, name)


def _file(path: Path, name: str) -> Iterator[bytes]:
    with _opened(path, _READ_FILE) as file:
        about = os.fstat(file)
        parts = parts_with_content(file, about)
        size = about.st_size if parts is None else sum(length for _, length in parts)
        yield _header(name, about, tarfile.REGTYPE, size, parts=parts)
        for begin, length in [(0, size)] if parts is None else parts:
            while length:
                piece = os.pread(file, min(length, _PIECE_BYTES), begin)
                if not piece:
                    raise OSError(f"{path} became shorter while it was read")
                begin, length = begin + len(piece), length - len(piece)
                yield piece
        yield bytes(-size % tarfile.BLOCKSIZE)


@contextmanager
def _opened(path: Path, flags: int) -> Iterator[int]:
    descriptor = os.open(path, flags)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _header(
    name: str,
    about: os.stat_result,
    kind: bytes,
    size: int = 0,
    target: str = "",
    parts: list[tuple[int, int]] | None = None,
) -> bytes:
    member = tarfile.TarInfo(name)
    member.type, member.size, member.mode, member.linkname = kind, size, stat.S_IMODE(about.st_mode), target
    member.mtime = about.st_mtime
    member.pax_headers = own_headers(about, parts)
    return member.tobuf(encoding="utf-8", errors="surrogateescape")
