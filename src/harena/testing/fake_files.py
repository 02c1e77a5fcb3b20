"""File operations of a fake sandbox: a directory of the host stands for the sandbox's `/`. No isolation."""

from __future__ import annotations

import errno
import io
import os
import posixpath
import re
import shutil
import stat
import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from harena.core.errors import SandboxFileError
from harena.core.models import FileInfo, FileKind

ROOTS = ("tmp", "workspace", "data", "root")
"""the top-level directories that a fake sandbox has, and whose absolute paths are mapped"""

_REASONS = {
    errno.ENOENT: "NOT_FOUND",
    errno.EISDIR: "IS_DIRECTORY",
    errno.ENOTDIR: "NOT_A_DIRECTORY",
    errno.EEXIST: "EXISTS",
    errno.EACCES: "PERMISSION_DENIED",
    errno.EPERM: "PERMISSION_DENIED",
    errno.ENOSPC: "NO_SPACE",
}


class FakeFiles:
    """The tree below `root`. Paths are the sandbox's; relative ones start at `/workspace`."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._roots_in_text = re.compile(
            rf"(?<![\w./-])(?!{re.escape(str(root))})/({'|'.join(ROOTS)})(?![\w.-])", re.ASCII
        )
        for name in ROOTS:
            (root / name).mkdir(parents=True)

    def host_path(self, path: str) -> Path:
        """Where `path` really is; `..` stops at the root, symbolic links are followed wherever they lead."""
        inside = posixpath.normpath(posixpath.join("/workspace", path)).lstrip("/")
        return self.root / inside

    def rewrite(self, word: str) -> str:
        """Replace the sandbox's absolute paths in a word of a command (best effort, also inside program text)."""
        return self._roots_in_text.sub(lambda match: f"{self.root}{match[0]}", word)

    def read(self, path: str, max_bytes: int | None) -> bytes:
        """The whole file."""
        if max_bytes is not None:
            self.check_size(path, max_bytes)
        with _file_errors(path, "read"):
            return self.host_path(path).read_bytes()

    def check_size(self, path: str, max_bytes: int) -> None:
        """Raises SandboxFileError for a larger file."""
        with _file_errors(path, "read"):
            size_bytes = self.host_path(path).stat().st_size
        if size_bytes > max_bytes:
            message = f"cannot read {path}: it has {size_bytes} bytes, more than the {max_bytes} asked for"
            raise SandboxFileError(message, filepath=path, reason="TOO_LARGE")

    def chunks(self, path: str, chunk_bytes: int) -> Iterator[bytes]:
        """The file in pieces."""
        with _file_errors(path, "read"), self.host_path(path).open("rb") as file:
            while chunk := file.read(chunk_bytes):
                yield chunk

    @contextmanager
    def writer(self, path: str, *, append: bool, mode: int | None) -> Iterator[Callable[[bytes], None]]:
        """A function that writes the next piece; parents are created."""

        def write(piece: bytes) -> None:
            with _file_errors(path, "write"):
                file.write(piece)

        with _file_errors(path, "write"):
            host_path = self.host_path(path)
            _make_parents(host_path)
            file = host_path.open("ab" if append else "wb")
        with file:
            yield write
        if mode is not None:
            host_path.chmod(mode)

    def stat(self, path: str) -> FileInfo:
        """About one path; links are not followed."""
        with _file_errors(path, "stat"):
            return self._about(self.host_path(path))

    def entries(self, path: str) -> list[FileInfo]:
        """A directory's entries, sorted by name."""
        with _file_errors(path, "list"):
            host_path = self.host_path(path)
            return [self._about(host_path / name) for name in sorted(os.listdir(host_path))]

    def make_dir(self, path: str, *, parents: bool) -> None:
        """Create a directory."""
        with _file_errors(path, "create directory"):
            host_path = self.host_path(path)
            if parents:
                _make_parents(host_path / "_")
            else:
                host_path.mkdir()

    def remove(self, path: str, *, recursive: bool, missing_ok: bool) -> None:
        """Remove a file, a link, a directory or a tree."""
        with _file_errors(path, "remove"):
            host_path = self.host_path(path)
            if missing_ok and not os.path.lexists(host_path):
                return
            if host_path.is_symlink() or not host_path.is_dir():
                host_path.unlink()
            elif recursive:
                shutil.rmtree(host_path)
            else:
                host_path.rmdir()

    def unpack(self, path: str, archive: bytes) -> None:
        """Unpack a tar archive into `path`."""
        with _file_errors(path, "unpack into"):
            host_path = self.host_path(path)
            _make_parents(host_path / "_")
            try:
                with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
                    tar.extractall(host_path, filter="data")
            except tarfile.TarError as error:
                message = f"cannot unpack into {path}: not a tar archive, or one that leaves the directory ({error})"
                raise SandboxFileError(message, filepath=path, reason="IO_FAILED") from error

    def pack(self, path: str) -> bytes:
        """A tar archive of the regular files and directories below `path`, names relative to it."""
        with _file_errors(path, "pack"):
            host_path = self.host_path(path)
            os.listdir(host_path)  # a missing or wrong kind of path fails here, with its errno
            packed = io.BytesIO()
            with tarfile.open(fileobj=packed, mode="w", dereference=True) as tar:  # a file of two names comes twice
                for found in sorted(host_path.rglob("*")):
                    if found.is_symlink() or not (found.is_file() or found.is_dir()):
                        continue
                    tar.add(found, arcname=str(found.relative_to(host_path)), recursive=False)
            return packed.getvalue()

    def _about(self, host_path: Path) -> FileInfo:
        status = host_path.lstat()
        kinds: dict[int, FileKind] = {stat.S_IFREG: "file", stat.S_IFDIR: "directory", stat.S_IFLNK: "link"}
        kind = kinds.get(stat.S_IFMT(status.st_mode), "other")
        return FileInfo(
            path="/" + str(host_path.relative_to(self.root)).removeprefix("."),
            name=host_path.name,
            kind=kind,
            size_bytes=status.st_size,
            mode=stat.S_IMODE(status.st_mode),
            modified_at=status.st_mtime,
            target=str(host_path.readlink()) if kind == "link" else None,
        )


def _make_parents(host_path: Path) -> None:
    try:
        host_path.parent.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:  # a file stands where a directory is needed
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(host_path.parent)) from error


@contextmanager
def _file_errors(path: str, verb: str) -> Iterator[None]:
    """Turn what the operating system says into SandboxFileError."""
    try:
        yield
    except OSError as error:
        reason = _REASONS.get(error.errno or 0, "IO_FAILED")
        raise SandboxFileError(f"cannot {verb} {path}: {error.strerror}", filepath=path, reason=reason) from error
