"""Directories to and from tar archives on the host's side.

Only regular files and directories travel. An archive that comes out of a sandbox is an untrusted program's work: names
are checked, links and devices are refused, and sizes are counted before anything is written.
"""

from __future__ import annotations

import os
import stat
import tarfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import IO

from harena.core.errors import SandboxFileError
from harena.core.tar_reader import TarMember, TarReader, TarStreamError

MAX_ENTRIES = 200_000
MAX_BYTES = 2 * 1024**3

_COPY_BYTES = 1024 * 1024


def pack(directory: Path, target: IO[bytes], *, max_entries: int = MAX_ENTRIES, max_bytes: int = MAX_BYTES) -> None:
    """Write the tree below `directory` to `target` as a tar archive. Raises SandboxFileError, OSError."""
    if not directory.is_dir():
        raise SandboxFileError(f"{directory} is not a directory on this host", filepath=str(directory))
    entries = total = 0
    with tarfile.open(fileobj=target, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path, about in _walk(directory):
            entries += 1
            total += about.st_size if stat.S_ISREG(about.st_mode) else 0
            _check_size(entries, total, max_entries, max_bytes, str(directory))
            _add(archive, path, path.relative_to(directory).as_posix(), about)


def unpack(source: IO[bytes], directory: Path, *, max_entries: int = MAX_ENTRIES, max_bytes: int = MAX_BYTES) -> None:
    """Write what `source` holds below `directory` (made where missing). Raises SandboxFileError, OSError.

    Files that exist are replaced. Nothing is written outside `directory`, and no link is made or followed below it.
    """
    directory.mkdir(parents=True, exist_ok=True)
    entries = total = 0
    try:
        archive = TarReader(source)
        for member in archive:
            name = _checked_name(member)
            entries += 1
            total += member.size
            _check_size(entries, total, max_entries, max_bytes, "the sandbox's archive")
            _write(archive, member, directory, name)
    except TarStreamError as error:
        raise _refused("the sandbox's archive", f"cannot be read ({error})") from error


def _walk(directory: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """Every entry below, parents first, in the order of names. Raises SandboxFileError for links and devices."""
    with os.scandir(directory) as found:
        entries = sorted(found, key=lambda entry: entry.name)
    for entry in entries:
        about = entry.stat(follow_symlinks=False)
        path = Path(entry.path)
        if stat.S_ISDIR(about.st_mode):
            yield path, about
            yield from _walk(path)
        elif stat.S_ISREG(about.st_mode):
            yield path, about
        else:
            kind = "a symbolic link" if stat.S_ISLNK(about.st_mode) else "neither a file nor a directory"
            raise _refused(str(path), f"is {kind}: only files and directories are uploaded; leave it out")


def _add(archive: tarfile.TarFile, path: Path, name: str, about: os.stat_result) -> None:
    member = tarfile.TarInfo(name)
    member.mode = stat.S_IMODE(about.st_mode) & 0o777
    member.mtime = int(about.st_mtime)
    if stat.S_ISDIR(about.st_mode):
        member.type = tarfile.DIRTYPE
        archive.addfile(member)
        return
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "rb") as content:
        member.size = os.fstat(content.fileno()).st_size
        archive.addfile(member, content)


def _checked_name(member: TarMember) -> PurePosixPath:
    name = PurePosixPath(member.name)
    if not (member.is_file or member.is_folder):
        raise _refused(member.name, "is neither a plain file nor a directory")
    if not member.name or "\0" in member.name or name.is_absolute() or ".." in name.parts:
        raise _refused(member.name, "is a name that could leave the target directory")
    return name


def _write(archive: TarReader, member: TarMember, directory: Path, name: PurePosixPath) -> None:
    target = directory
    for part in name.parts[:-1] if member.is_file else name.parts:
        target = target / part
        _make_directory(target, member.name)
    if member.is_folder:
        return
    target = target / name.name
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        descriptor = os.open(target, flags, 0o600)
    except OSError as error:
        raise SandboxFileError(f"cannot write {target}: {error.strerror}", filepath=str(target)) from error
    with os.fdopen(descriptor, "wb") as out:
        while piece := archive.read(_COPY_BYTES):
            out.write(piece)
        os.fchmod(descriptor, (member.mode & 0o777) | 0o200)


def _make_directory(path: Path, name: str) -> None:
    try:
        path.mkdir()
    except FileExistsError:
        if path.is_symlink() or not path.is_dir():
            raise _refused(name, f"would be written through {path}, which is not a directory") from None


def _check_size(entries: int, total: int, max_entries: int, max_bytes: int, where: str) -> None:
    if entries > max_entries:
        raise _refused(where, f"holds more than max_entries={max_entries} files and directories")
    if total > max_bytes:
        raise _refused(where, f"holds more than max_bytes={max_bytes} bytes")


def _refused(path: str, why: str) -> SandboxFileError:
    reason = "TOO_LARGE" if "max_" in why else "IO_FAILED"
    return SandboxFileError(f"refused: {path} {why}", filepath=path, reason=reason)
