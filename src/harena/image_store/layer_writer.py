"""Writes the entries of a layer into a directory, as a lower directory for overlayfs.

    .wh.NAME         a whiteout: a character device 0/0 called NAME, which anybody may make
    .wh..wh..opq     the directory has the extended attribute user.overlay.opaque=y (mounts have `userxattr`)
    devices          left out and counted; so are attributes that would speak to overlayfs or give privileges

Every name is opened beside the descriptor of its folder and never followed. A folder that an entry reaches through a
link of the same layer is looked for below the layer's own root (openat2). Folders get their rights at the end, since
who is not root could not write into some. This module runs in the process that unpacks.
"""

from __future__ import annotations

import ctypes
import errno
import os
import stat
import struct
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from harena.image_store import holes
from harena.image_store.tar_entries import (
    BLOCKS,
    CHARACTERS,
    FIFO,
    FILE,
    FOLDER,
    HARD_LINK,
    SYMLINK,
    BrokenLayerError,
    ByteStream,
    Entry,
    padding,
    parts_of,
    shown,
)

OPAQUE = b"user.overlay.opaque"
_WHITEOUT, _OPAQUE_MARK, _OF_AUFS = b".wh.", b".wh..wh..opq", b".wh..wh."
_OPEN_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_MOST_OPEN = 200
_MOST_LOOKED_THROUGH = 50_000_000
"""some ten seconds of processor time; an ordinary layer replaces no folder at all"""
_PIECE_BYTES = 1024 * 1024
_BLOCK_BYTES = 4096
_IMPLICIT_MODE = 0o755
_OPENAT2, _RESOLVE_IN_ROOT = 437, 0x10
"""the number is every architecture's"""
Parts = tuple[bytes, ...]


class TooLargeError(ValueError):
    """The layer has more files or bytes than it may have; the message says how many it may have."""


class UnfitFileSystemError(OSError):
    """Layers cannot be kept on this file system; the message says what it lacks."""


@dataclass(slots=True)
class LayerWriter:
    """Blocking; for one layer."""

    root: int
    """descriptor of the directory, which is empty"""
    most_files: int
    most_bytes: int
    keeps_owners: bool
    """files get the owners that the layer says"""
    moved_in: Callable[[Entry, int, bytes], bool] | None = None
    """puts a file with the content of an entry into a folder, under a name, where the stream does not have the content;
    False = it has"""
    files: int = 0
    """entries, folders included"""
    content_bytes: int = 0
    """size of the contents of files"""
    disk_bytes: int = 0
    """space that they take, each with whole blocks, and a block for each file, folder and link"""
    dropped: dict[str, int] = field(default_factory=dict)
    """what was left out -> how often"""
    _folders: dict[Parts, int] = field(default_factory=dict)
    """descriptors of the folders that were used last"""
    _looked_through: int = 0
    """folders that were looked at for those that went with a folder which another entry replaced"""
    _told: dict[Parts, Entry] = field(default_factory=dict)
    """what the layer says of folders, applied at the end"""

    def write(self, entry: Entry, stream: ByteStream) -> None:
        """Write one entry, and take its content from the stream. Raises BrokenLayerError, TooLargeError, OSError."""
        self._count(entry)
        *above, name = entry.parts or [b""]
        if not entry.parts:
            if entry.kind == FOLDER:
                self._told[()] = entry
            self._skip(entry, stream)
        elif name.startswith(_WHITEOUT) or any(part.startswith(_WHITEOUT) for part in above):
            self._skip(entry, stream)
            if not any(part.startswith(_WHITEOUT) for part in above):
                self._write_mark(tuple(above), name)
        elif entry.kind == FILE:
            self._write_file(tuple(above), name, entry, stream)
        else:
            self._write_other(tuple(above), name, entry)
            self._skip(entry, stream)

    def finish(self) -> None:
        """Give folders their rights, owners and times. Raises OSError."""
        for parts in sorted(self._told, key=len, reverse=True):
            entry = self._told[parts]
            folder = self._folder(parts)
            self._attributes(folder, entry)
            if self.keeps_owners:
                os.fchown(folder, entry.user, entry.group)
            os.fchmod(folder, entry.mode)
            os.utime(folder, ns=(entry.modified_ns, entry.modified_ns))
        if () not in self._told:
            os.fchmod(self.root, _IMPLICIT_MODE)
        for folder in self._folders.values():
            os.close(folder)
        self._folders.clear()

    # -- entries --

    def _count(self, entry: Entry) -> None:
        self.files += 1
        if self.files > self.most_files:
            raise TooLargeError(f"it has more than {self.most_files} files")
        self.content_bytes += entry.size
        if self.content_bytes > self.most_bytes:
            raise TooLargeError(f"it has more than {self.most_bytes} bytes")
        self.disk_bytes += entry.size + -entry.size % _BLOCK_BYTES
        if entry.kind != HARD_LINK:  # a disk ends at its inodes, too: empty files must not be free
            self.disk_bytes += _BLOCK_BYTES

    def _write_file(self, above: Parts, name: bytes, entry: Entry, stream: ByteStream) -> None:
        folder = self._folder(above)
        is_there = self.moved_in is not None and self.moved_in(entry, folder, name)
        if is_there:
            descriptor = os.open(name, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
        else:
            descriptor = self._fresh(
                folder, (*above, name), lambda: os.open(name, _NEW_FILE, entry.mode & 0o777, dir_fd=folder)
            )
        try:
            if is_there:
                os.fchmod(descriptor, entry.mode & 0o777)
            left = 0 if is_there else entry.size
            while left:
                piece = stream.take(min(left, _PIECE_BYTES))
                if not piece:
                    raise BrokenLayerError(f"it ends within {shown(name)}")
                left -= len(piece)
                holes.write(descriptor, piece)
            holes.end(descriptor, entry.size)
            if self.keeps_owners and (entry.user or entry.group):
                os.fchown(descriptor, entry.user, entry.group)
            if entry.attributes:
                self._attributes(descriptor, entry)
            if entry.mode & 0o7000:
                os.fchmod(descriptor, entry.mode)
            os.utime(descriptor, ns=(entry.modified_ns, entry.modified_ns))
        finally:
            os.close(descriptor)
        if padding(entry.size):
            stream.take(padding(entry.size))

    def _write_other(self, above: Parts, name: bytes, entry: Entry) -> None:
        path = (*above, name)
        if entry.kind == FOLDER:
            self._write_folder(path)
            self._told[path] = entry
            return
        if entry.kind in (CHARACTERS, BLOCKS):
            self._drop("devices")
            return
        folder = self._folder(above)
        if entry.kind == HARD_LINK:
            self._write_hard_link(folder, path, entry)
            return
        if entry.kind == SYMLINK:
            if not entry.link or b"\0" in entry.link:
                raise BrokenLayerError(f"the link {shown(name)} leads nowhere")
            self._fresh(folder, path, lambda: os.symlink(entry.link, name, dir_fd=folder))
        elif entry.kind == FIFO:
            self._fresh(folder, path, lambda: os.mkfifo(name, entry.mode & 0o777, dir_fd=folder))
        else:
            self._drop("entries of unknown kinds")
            return
        if self.keeps_owners:
            os.chown(name, entry.user, entry.group, dir_fd=folder, follow_symlinks=False)
        os.utime(name, ns=(entry.modified_ns, entry.modified_ns), dir_fd=folder, follow_symlinks=False)

    def _write_hard_link(self, folder: int, path: Parts, entry: Entry) -> None:
        target = parts_of(entry.link)
        if tuple(target) == path:
            return
        try:
            if not target:
                raise FileNotFoundError
            source = os.dup(self._folder(tuple(target[:-1]), make=False))  # it may go with what the link replaces
            try:
                self._fresh(
                    folder,
                    path,
                    lambda: os.link(target[-1], path[-1], src_dir_fd=source, dst_dir_fd=folder, follow_symlinks=False),
                )
            finally:
                os.close(source)
        except (FileNotFoundError, NotADirectoryError, PermissionError):
            raise BrokenLayerError(
                f"the hard link {shown(b'/'.join(path))} is one to {shown(entry.link)}, which is no file of its layer"
            ) from None

    def _write_folder(self, path: Parts) -> None:
        folder, name = self._folder(path[:-1]), path[-1]
        try:
            os.mkdir(name, 0o700, dir_fd=folder)
        except FileExistsError:
            there = os.lstat(name, dir_fd=folder)
            if stat.S_ISDIR(there.st_mode):
                return
            self._remove(folder, path)
            os.mkdir(name, 0o700, dir_fd=folder)
            if _is_whiteout(there):  # the layer takes away what is below, and puts a new folder there
                _make_opaque(self._folder(path))

    def _write_mark(self, above: Parts, name: bytes) -> None:
        hidden = name[len(_WHITEOUT) :]
        if name == _OPAQUE_MARK:
            _make_opaque(self._folder(above))
        elif name.startswith(_OF_AUFS):
            return
        elif hidden in (b"", b".", b".."):
            raise BrokenLayerError(f"a whiteout hides nothing: {shown(name)}")
        else:
            folder = self._folder(above)
            try:
                os.mknod(hidden, stat.S_IFCHR, os.makedev(0, 0), dir_fd=folder)
            except PermissionError as error:
                raise UnfitFileSystemError(
                    "whiteouts (character devices 0/0) cannot be made there: that takes Linux 5.8, and a file system "
                    "that is no overlay itself"
                ) from error
            except FileExistsError:
                # whatever the order, a whiteout speaks of the layers below, not of this one
                if stat.S_ISDIR(os.lstat(hidden, dir_fd=folder).st_mode):
                    _make_opaque(self._folder((*above, hidden)))

    def _attributes(self, descriptor: int, entry: Entry) -> None:
        for name, value in entry.attributes.items():
            if not name.startswith(b"user.") or name.startswith(b"user.overlay."):
                self._drop("extended attributes")
                continue
            try:
                os.setxattr(descriptor, name, value)
            except OSError as error:
                if error.errno not in (errno.ENOTSUP, errno.E2BIG, errno.ERANGE, errno.ENOSPC):
                    raise
                self._drop("extended attributes")

    def _drop(self, what: str) -> None:
        self.dropped[what] = self.dropped.get(what, 0) + 1

    def _skip(self, entry: Entry, stream: ByteStream) -> None:
        left = entry.size + padding(entry.size)
        while left:
            piece = stream.take(min(left, _PIECE_BYTES))
            if not piece:
                raise BrokenLayerError("it ends within an entry")
            left -= len(piece)

    def _fresh(self, folder: int, path: Parts, make: Callable[[], int | None]) -> int:
        """Make something, in place of what an earlier entry has made there."""
        try:
            return make() or 0
        except FileExistsError:
            self._remove(folder, path)
            return make() or 0

    def _remove(self, folder: int, path: Parts) -> None:
        name = path[-1]
        there = os.lstat(name, dir_fd=folder).st_mode
        is_folder = stat.S_ISDIR(there)
        if not is_folder and not stat.S_ISLNK(there):  # a link may have led to folders
            os.unlink(name, dir_fd=folder)
            return
        self._looked_through += len(self._folders) + len(self._told)
        if self._looked_through > _MOST_LOOKED_THROUGH:
            raise BrokenLayerError("it replaces too many folders by other entries")
        for known in [known for known in self._folders if known != path[: len(known)]]:
            os.close(self._folders.pop(known))  # others, too: a link may have led to what goes now
        for told in [told for told in self._told if told[: len(path)] == path]:
            del self._told[told]
        if is_folder:
            _remove_tree(folder, name)
        else:
            os.unlink(name, dir_fd=folder)

    # -- folders --

    def _folder(self, parts: Parts, *, make: bool = True) -> int:
        """Descriptor of a folder of the layer, which is made where it is missing. It stays open while two others are
        asked for."""
        if not parts:
            return self.root
        found = self._folders.pop(parts, None)
        if found is not None:
            self._folders[parts] = found  # the last to be closed
            return found
        depth = len(parts) - 1
        while depth and parts[:depth] not in self._folders:
            depth -= 1
        descriptor = self._folders[parts[:depth]] if depth else self.root
        while depth < len(parts):
            depth += 1
            descriptor = self._folders[parts[:depth]] = self._open_folder(descriptor, parts[:depth], make)
        while len(self._folders) > _MOST_OPEN + len(parts):
            oldest = next(iter(self._folders))
            os.close(self._folders.pop(oldest))
        return descriptor

    def _open_folder(self, above: int, parts: Parts, make: bool) -> int:
        name = parts[-1]
        try:
            return os.open(name, _OPEN_FOLDER, dir_fd=above)
        except FileNotFoundError:
            if not make:
                raise
        except OSError as error:
            if error.errno not in (errno.ELOOP, errno.ENOTDIR):
                raise
            there = os.lstat(name, dir_fd=above)
            if stat.S_ISLNK(there.st_mode):
                return self._behind_link(parts)
            if not make or not _is_whiteout(there):
                raise BrokenLayerError(f"{shown(b'/'.join(parts))} is a file, and has entries below it") from None
            os.unlink(name, dir_fd=above)
            os.mkdir(name, 0o700, dir_fd=above)
            self._told.setdefault(parts, _implicit(parts))
            opened = os.open(name, _OPEN_FOLDER, dir_fd=above)
            _make_opaque(opened)
            return opened
        self._count(_implicit(parts))
        os.mkdir(name, 0o700, dir_fd=above)
        self._told.setdefault(parts, _implicit(parts))
        return os.open(name, _OPEN_FOLDER, dir_fd=above)

    def _behind_link(self, parts: Parts) -> int:
        path = b"/".join(parts)
        try:
            return open_in_root(self.root, path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError:
            raise BrokenLayerError(
                f"{shown(path)} is a link to what is no folder of its layer, and has entries below it"
            ) from None


def _make_opaque(folder: int) -> None:
    try:
        os.setxattr(folder, OPAQUE, b"y")
    except OSError as error:
        if error.errno != errno.ENOTSUP:
            raise
        raise UnfitFileSystemError("extended attributes (user.*) cannot be set there") from error


def _implicit(parts: Parts) -> Entry:
    """A folder that no entry speaks of."""
    return Entry([*parts], FOLDER, 0, _IMPLICIT_MODE, 0, 0, 0, b"")


def _is_whiteout(found: os.stat_result) -> bool:
    return stat.S_ISCHR(found.st_mode) and found.st_rdev == 0


def _remove_tree(above: int, name: bytes) -> None:
    folder = os.open(name, _OPEN_FOLDER, dir_fd=above)
    try:
        for entry in os.listdir(folder):
            entry_name = os.fsencode(entry)
            try:
                os.unlink(entry_name, dir_fd=folder)
            except (IsADirectoryError, PermissionError):
                _remove_tree(folder, entry_name)
    finally:
        os.close(folder)
    with suppress(FileNotFoundError):
        os.rmdir(name, dir_fd=above)


def open_in_root(root: int, path: bytes, flags: int) -> int:
    """Open a path as if the directory were /, whatever links it leads through. Raises OSError."""
    how = struct.pack("=QQQ", flags, 0, _RESOLVE_IN_ROOT)
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    opened = libc.syscall(ctypes.c_long(_OPENAT2), ctypes.c_int(root), path, how, ctypes.c_size_t(len(how)))
    if opened < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return int(opened)
