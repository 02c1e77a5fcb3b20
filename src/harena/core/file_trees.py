"""Trees of files: their digest, and the tar stream in which they travel. Names, contents and whether a file may be
executed count; owners, times and empty directories do not.

A stream that comes from elsewhere is not trusted: names are checked, links and devices are refused, and sizes are
counted before anything is written.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import tarfile
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO

from harena.core.errors import ValidationError
from harena.core.home import private_opener
from harena.core.tar_reader import TarMember, TarReader, TarStreamError

MOST_FILES = 100_000
MOST_FOLDERS = 100_000
MOST_DEPTH = 64
"""longest path of a file, in parts"""
MOST_NAME_BYTES = 64 * 1024**2
"""size limit of the names in a stream, all together: each file's is kept while the tree is read"""
MOST_BYTES = 64 * 1024**3
PIECE_BYTES = 1024 * 1024
BLOCK_BYTES = 4096
"""what a file or folder takes on a disk, beside its content"""
TOO_LARGE = "TOO_LARGE"


@dataclass(frozen=True, slots=True)
class TreeFile:
    """One file of a tree."""

    name: str
    """below the tree, with slashes"""
    path: Path
    bytes: int
    executable: bool


@dataclass(frozen=True, slots=True)
class Tree:
    """What a tree is known by."""

    digest: str
    """sha256 in hexadecimal digits"""
    files: int
    bytes: int
    folders: int
    """below the tree's own"""

    @property
    def disk_bytes(self) -> int:
        """At most what it takes on a disk: each file's last block is counted whole, and each folder as a block."""
        return self.bytes + BLOCK_BYTES * (self.files + self.folders)


def files_of(place: Path) -> list[TreeFile]:
    """The files below a directory, in the order of their names; of a file, that file alone. Links to files are followed
    (a Hugging Face cache is made of them). Raises ValidationError for what cannot be kept."""
    if not place.exists():
        raise ValidationError(f"there is no file or directory {place}")
    if place.is_file():
        return [_file(place, place.name)]
    found = []
    waiting = [(place, "")]
    while waiting:
        folder, name = waiting.pop()
        for entry in _entries(folder):
            below = f"{name}{entry.name}"
            if not entry.is_dir():
                found.append(_file(Path(entry.path), below))
            elif entry.is_symlink():
                raise ValidationError(f"{entry.path} is a link to a directory: put the directory itself there")
            elif below.count("/") + 2 > MOST_DEPTH:
                raise ValidationError(f"{place} has directories more than {MOST_DEPTH - 1} deep")
            else:
                waiting.append((Path(entry.path), f"{below}/"))
    found.sort(key=lambda file: file.name)
    if not found:
        raise ValidationError(f"{place} has no files")
    if len(found) > MOST_FILES:
        raise ValidationError(f"{place} has more than {MOST_FILES} files, the most that an object may have")
    return found


def tree_of(files: list[TreeFile]) -> Tree:
    """Reads every file. Raises OSError."""
    whole = hashlib.sha256()
    for file in files:
        with file.path.open("rb") as content:
            digest = hashlib.file_digest(content, "sha256").hexdigest()
        whole.update(f"{digest} {'x' if file.executable else '-'} {len(file.name)} {file.name}\n".encode())
    folders = {parent for file in files for parent in folders_above(PurePosixPath(file.name))}
    return Tree(whole.hexdigest(), len(files), sum(file.bytes for file in files), len(folders))


def pack_files(files: list[TreeFile]) -> Iterator[bytes]:
    """A tar stream of them, the same for the same tree; no file is open while nobody asks for the next piece. Raises
    OSError, ValidationError for a file that changes its size meanwhile."""
    for file in files:
        member = tarfile.TarInfo(file.name)
        member.size, member.mode = file.bytes, 0o755 if file.executable else 0o644
        yield member.tobuf(tarfile.PAX_FORMAT)
        left = file.bytes
        while left and (piece := _piece(file.path, file.bytes - left, min(left, PIECE_BYTES))):
            left -= len(piece)
            yield piece
        if left:
            raise ValidationError(f"{file.path} became shorter while it was read: send it again when nobody writes it")
        if file.bytes % tarfile.BLOCKSIZE:  # an empty piece would be taken for the end
            yield b"\0" * (-file.bytes % tarfile.BLOCKSIZE)
    yield b"\0" * (2 * tarfile.BLOCKSIZE)


def _piece(place: Path, begin: int, most: int) -> bytes:
    with place.open("rb") as content:
        content.seek(begin)
        return content.read(most)


def unpack(
    source: IO[bytes],
    folder: Path,
    *,
    most_bytes: int = MOST_BYTES,
    private: bool = False,
    charge: Callable[[int], object] = lambda _: None,
) -> None:
    """Write what a tar stream holds into a new directory, for its owner alone where it is `private`. `charge` is told
    before each file, and the folders above it, how many bytes these may take on a disk, and raises where they may not.
    Raises ValidationError for a stream that is none, or whose files would be more than may be or lie elsewhere, and
    OSError; what was written by then stays."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.mkdir(mode=0o700 if private else 0o777)
    left, files, names = most_bytes, 0, MOST_NAME_BYTES
    folders: set[bytes] = set()
    listed = 0
    archive = TarReader(source)
    try:
        for member in archive:
            name = _checked_name(member)
            if member.is_folder:
                listed += 1
                if listed > MOST_FOLDERS:
                    raise ValidationError(f"the object has more than {MOST_FOLDERS} directories", reason=TOO_LARGE)
                continue
            names -= len(_bytes_of(member.name))
            if names < 0:
                raise ValidationError(
                    f"the object's files have names of more than {MOST_NAME_BYTES} bytes in all", reason=TOO_LARGE
                )
            left, files = left - member.size, files + 1
            if left < 0:
                raise ValidationError(f"the object is larger than {most_bytes} bytes", reason=TOO_LARGE)
            if files > MOST_FILES:
                raise ValidationError(f"the object has more than {MOST_FILES} files", reason=TOO_LARGE)
            there = len(folders)
            folders.update(folders_above(name))
            if len(folders) > MOST_FOLDERS:
                raise ValidationError(f"the object has more than {MOST_FOLDERS} directories", reason=TOO_LARGE)
            charge(-(-member.size // BLOCK_BYTES) * BLOCK_BYTES + BLOCK_BYTES * (1 + len(folders) - there))
            _write(archive, member, folder / name, private=private)
    except TarStreamError as error:
        raise ValidationError(f"what was sent is no whole tar stream: {error}") from None


def remove_tree(place: Path) -> bool:
    """Removes a directory with all that is below it, however deep that lies: what is two levels down is moved up
    before. Whether nothing is left; what may not be removed stays."""
    removed = True
    while removed:
        try:
            entries = _entries(place)
            if not entries:
                place.rmdir()
                return True
        except OSError:
            return not os.path.lexists(place)
        removed = False
        for entry in entries:
            with contextlib.suppress(OSError):
                if entry.is_dir(follow_symlinks=False):
                    _move_up(entry.path, place)
                    os.rmdir(entry.path)
                else:
                    os.unlink(entry.path)
                removed = True
    return False


def _entries(folder: str | Path) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as found:
        return list(found)


def folders_above(name: PurePosixPath) -> Iterator[bytes]:
    """Each directory above a file, as a digest: a path holds those above it once more, and a stream of some megabytes
    names 100,000 directories, 64 deep."""
    place = hashlib.blake2b(digest_size=16)
    for part in name.parts[:-1]:
        place.update(_bytes_of(part) + b"/")
        yield place.digest()


def _bytes_of(name: str) -> bytes:
    return name.encode("utf-8", "surrogateescape")


def _move_up(folder: str, place: Path) -> None:
    for entry in _entries(folder):
        if entry.is_dir(follow_symlinks=False):
            os.rename(entry.path, place / uuid.uuid4().hex)
        else:
            os.unlink(entry.path)


def _file(path: Path, name: str) -> TreeFile:
    try:
        about = path.stat()
        name.encode()
    except OSError as error:
        raise ValidationError(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeEncodeError:
        raise ValidationError(f"{name!r}: names of files are UTF-8; rename it") from None
    if not stat.S_ISREG(about.st_mode):
        raise ValidationError(f"{path} is neither a file nor a directory: leave it out")
    return TreeFile(name, path, about.st_size, bool(about.st_mode & 0o100))


def _checked_name(member: TarMember) -> PurePosixPath:
    name = PurePosixPath(member.name)
    if not (member.is_file or member.is_folder):
        raise ValidationError(f"{member.name!r:.200} is neither a plain file nor a directory: leave it out")
    if "\0" in member.name or name.is_absolute() or ".." in name.parts or (member.is_file and not name.parts):
        raise ValidationError(f"{member.name!r:.200} is a name that could lie outside of the object")
    if len(name.parts) > MOST_DEPTH:
        raise ValidationError(f"{member.name!r:.200} has more than {MOST_DEPTH} parts: put it less deep")
    return name


def _make_folders(folder: Path, *, mode: int) -> None:
    missing = []
    while not folder.is_dir():
        missing.append(folder)
        folder = folder.parent
    for made in reversed(missing):
        made.mkdir(mode=mode)


def _write(archive: TarReader, member: TarMember, target: Path, *, private: bool) -> None:
    try:
        _make_folders(target.parent, mode=0o700 if private else 0o777)
        with open(target, "xb", opener=private_opener) as out:
            while piece := archive.read(PIECE_BYTES):
                out.write(piece)
            mode = 0o755 if member.mode & 0o100 else 0o644
            os.fchmod(out.fileno(), mode & 0o700 if private else mode)
            out.flush()
            os.fsync(out.fileno())
    except (FileExistsError, NotADirectoryError):
        raise ValidationError(f"{member.name!r:.200} comes twice, or below a file") from None
