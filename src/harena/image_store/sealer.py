"""The process that seals a layer: `python -I -S -c "... sealer.main()"`, see `sealing`.

It reads the upper layer of a sandbox's overlay, whose programs may be hostile and may run, and writes it as a tar
archive, as OCI has layers, or as a folder that other sandboxes begin with. While the programs stand still, large files
are copied to where they stay, and small ones to one file, from which the folder is made later. The question is its only
argument, and the answer a line of JSON on its standard output.

Nothing of what a program can make there holds it up or leads it elsewhere: each name is opened beside the descriptor of
its folder and never followed, nothing but folders and regular files is opened at all, a file has the size that it had
when it was opened (what is missing then is written as zeros), and files, bytes, depth and time are bounded. It can open
nothing but what lies in that folder, in the layers that become one with it, and in the folder that it makes (Landlock).
As root it has the capability to read what its owner may not, and for a folder those to give files their owners; another
user gets the first in the sandbox's own user namespace.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import resource
import signal
import stat
import struct
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from harena.core import landlock
from harena.image_store import tar_writer
from harena.image_store.layer_headers import SpooledLayer
from harena.image_store.layer_writer import LayerWriter, UnfitFileSystemError
from harena.image_store.layer_writer import TooLargeError as FolderTooLargeError
from harena.image_store.sealed_archives import SMALL_BYTES, Archive, Spool
from harena.image_store.tar_entries import (
    FIFO,
    FILE,
    FOLDER,
    HARD_LINK,
    MOST_DEPTH,
    MOST_EXTENDED_BYTES,
    MOST_NAME_BYTES,
    SYMLINK,
    Entry,
    padding,
    shown,
)

UPPER = b"upper"
"""name of the layer in its folder"""
_OPEN_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_OPEN_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_WHITEOUT, _OPAQUE_MARK = b".wh.", b".wh..wh..opq"
_OVERLAY = b"user.overlay."
_TMPFS_MAGIC = 0x01021994
_CLONE_NEWUSER = 0x10000000
_CHOWN, _DAC_OVERRIDE, _DAC_READ_SEARCH, _FOWNER, _FSETID = 0, 1, 2, 3, 4
_TO_READ = 1 << _DAC_READ_SEARCH
_TO_WRITE = sum(1 << number for number in (_CHOWN, _DAC_OVERRIDE, _FOWNER, _FSETID))
_PR_SET_PDEATHSIG, _PR_CAPBSET_DROP, _LAST_CAPABILITY = 1, 24, 40
_CAPABILITIES_VERSION = 0x20080522
_MOST_ID = 0xFFFFFFFE
_MOST_SECONDS = 1800
"""processor time for one layer"""
_MEMORY_BYTES = 2 << 30
_OWN = frozenset({(b"etc", b"hosts"), (b"etc", b"hostname"), (b"etc", b"resolv.conf")})
"""which each sandbox has for itself, whatever its image says"""


Owner = tuple[int, int]
"""who is root in a layer: user and group ids as they are seen here"""
Folder = tuple[int, Owner]
"""an open folder of a layer"""


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked."""

    target: str
    """the archive, which is made; or, with a tree, the file that its headers and small files pass through"""
    tree: str
    """an empty folder, in which the layer is laid out, beside the headers of its archive; "" = as an archive alone"""
    keeps_owners: bool
    """files of the tree get the owners that the sandbox has given them"""
    folder: int
    """descriptor of the folder that holds the upper layer; -1 = those of the store alone become one"""
    users: int
    """descriptor of the sandbox's user namespace, to be entered; -1 = this process's rights suffice"""
    places: dict[str, int]
    """name -> descriptor of each folder that a sandbox of the default image has, in place of such a layer"""
    below: list[int]
    """descriptors of such folders, whose layers become one with it, the uppermost first"""
    layers: list[str]
    """folders of layers of the store that become one with it, the uppermost first"""
    beneath: list[str]
    """folders of the layers of the store that it will lie on, the uppermost first"""
    most_files: int
    most_bytes: int
    without: list[str]
    """paths that are left out with what lies below them; bytes that are no UTF-8 are surrogates"""
    newest_ns: int
    """the latest time that an entry gets, in nanoseconds since 1970; -1 = each has its own"""
    says: int
    """descriptor of a pipe that gets a byte before anything of the layer is read, and one when all of it has been"""
    hears: int
    """descriptor of a pipe that has a byte when it may be read"""


@dataclass(frozen=True, slots=True)
class Answer:
    """What was sealed, or why it was not."""

    digest: str = ""
    """sha256 of the archive, in hexadecimal digits"""
    size: int = 0
    """bytes of the archive"""
    files: int = 0
    bytes: int = 0
    left_out: dict[str, int] = field(default_factory=dict)
    """what no layer can hold -> how often"""
    disk_bytes: int = 0
    """space that the tree takes, its headers included"""
    dropped: dict[str, int] = field(default_factory=dict)
    """what the file system of the tree could not keep -> how often"""
    fault: str = ""
    """what is wrong: "large", "unfit", "place" (no layers can be kept there) or "system"; "" = nothing"""
    said: str = ""
    """the fault in words"""
    errno: int = 0


class TooLargeError(ValueError):
    """The layer has more files or bytes than it may have."""


class UnfitError(ValueError):
    """It is no layer that could be sealed; the message says why."""


class LayerSealer:
    """Blocking; for one layer."""

    def __init__(
        self,
        archive: Archive,
        owner: Owner,
        most_files: int,
        most_bytes: int,
        without: Iterable[str] = (),
        beneath: Iterable[int] = (),
        newest_ns: int = -1,
    ) -> None:
        """`owner`: who is root inside the sandbox; `without`: paths that are left out; `beneath`: open folders of the
        layers that it will lie on; `newest_ns`: the latest time that an entry gets, -1 = each has its own."""
        self._archive = archive
        self._owner = owner
        self._own = 1
        self._is_merging = False
        self._beneath = [*beneath]
        self._most_files, self._most_bytes = most_files, most_bytes
        self._newest_ns = newest_ns
        self._without = {tuple(os.fsencode(path).strip(b"/").split(b"/")) for path in without}
        self._links: dict[tuple[int, int], bytes] = {}
        """device and inode of a file of several names -> the one that was written first"""
        self.files = 0
        self.bytes = 0
        self.left_out: dict[str, int] = {}

    def seal(self, roots: Sequence[int], own: int = 1, place: str = "") -> None:
        """Write everything below some folders, each of which lies over those that follow as layers do; the first `own`
        are sandboxes'. `place`: the name of the folder in the layer; "" = it is the root. Raises TooLargeError,
        UnfitError, OSError."""
        self._own = own
        self._is_merging = len(roots) > 1
        merged, is_opaque = self._opened_below([*roots])
        parts = [os.fsencode(place)] if place else []
        self._write_folder([*parts], merged, is_opaque)
        levels = [(merged, iter(self._names(merged)), is_opaque)]
        try:
            while levels:
                folders, names, hides = levels[-1]
                name = next(names, None)
                if name is None:
                    levels.pop()
                    if levels:
                        _close(folders)
                        parts.pop()
                    continue
                below = self._seal_name(folders, [*parts, name], hides=hides)
                if below is not None:
                    found, is_opaque = below
                    levels.append((found, iter(self._names(found)), hides or is_opaque))
                    parts.append(name)
        finally:
            for folders, _, _ in levels[1:]:
                _close(folders)

    def _opened_below(self, roots: list[int]) -> tuple[list[Folder], bool]:
        """(the roots down to the first opaque one, whether there is one)."""
        merged: list[Folder] = []
        of_store = (0, 0) if os.geteuid() == 0 else self._owner  # another user's layers have no owners but that user
        for root in roots:
            merged.append((root, self._owner if len(merged) < self._own else of_store))
            if _is_opaque(root):
                return merged, True
        return merged, False

    def _names(self, folders: list[Folder]) -> list[bytes]:
        names: set[bytes] = set()
        for folder, _ in folders:
            for name in os.listdir(folder):
                names.add(os.fsencode(name))
                if self.files + len(names) > self._most_files:
                    raise TooLargeError(f"it has more than {self._most_files} files")
        return sorted(names)

    def _seal_name(self, above: list[Folder], parts: list[bytes], *, hides: bool) -> tuple[list[Folder], bool] | None:
        """Write one name; gives the descriptors of what is a folder, whose names follow, and whether it is opaque.
        `hides`: a folder above it is, so that nothing of other layers shows through."""
        name = parts[-1]
        if self._without and tuple(parts) in self._without:
            return None  # a file of it that has another name, too, is written under that one
        while above:
            try:
                about = os.lstat(name, dir_fd=above[0][0])
                break
            except FileNotFoundError:
                above = above[1:]
        else:
            return None  # removed meanwhile
        folder, owner = above[0]
        if _is_whiteout(about):
            if not self._is_merging or (not hides and self._is_beneath(parts)):
                self._mark(parts[:-1], _WHITEOUT + name)
            return None
        if name.startswith(_WHITEOUT):
            self._leave_out("names that begin with .wh.")
            return None
        if tuple(parts) in _OWN:
            return None
        self._check_path(parts)
        kind = stat.S_IFMT(about.st_mode)
        if kind == stat.S_IFDIR:
            return self._seal_folder(above, parts)
        if kind == stat.S_IFREG:
            self._seal_file(folder, owner, parts)
        elif kind == stat.S_IFLNK:
            with suppress(FileNotFoundError):
                target = os.readlink(name, dir_fd=folder)
                self._write(self._entry(parts, about, SYMLINK, owner, link=target))
        elif kind == stat.S_IFIFO:
            self._write(self._entry(parts, about, FIFO, owner))
        else:
            self._leave_out("sockets" if kind == stat.S_IFSOCK else "devices")
        return None

    def _is_beneath(self, parts: list[bytes]) -> bool:
        """The layers that this one will lie on show something there. Where they do not, what was removed was in the
        layers that become one: a whiteout would be listed, in a folder that only this layer has."""
        for layer in self._beneath:
            shows = _shows(layer, parts)
            if shows is not None:
                return shows
        return False

    def _seal_folder(self, above: list[Folder], parts: list[bytes]) -> tuple[list[Folder], bool] | None:
        """The folder is in the first of those above, and what the others have of it shows through, down to where
        something hides it: whether that is so, too."""
        merged: list[Folder] = []
        is_opaque = False
        try:
            for folder, owner in above:
                try:
                    descriptor = os.open(parts[-1], _OPEN_FOLDER, dir_fd=folder)
                except OSError as error:
                    if error.errno == errno.ENOENT:
                        continue
                    if error.errno not in (errno.ENOTDIR, errno.ELOOP):
                        raise
                    is_opaque = True  # a file or a whiteout, over which the folder was made anew
                    break
                merged.append((descriptor, owner))
                is_opaque = _is_opaque(descriptor)
                if is_opaque:
                    break
            if not merged:
                return None  # something else meanwhile
            self._write_folder(parts, merged, is_opaque)
        except BaseException:
            _close(merged)
            raise
        return merged, is_opaque

    def _write_folder(self, parts: list[bytes], merged: list[Folder], is_opaque: bool) -> None:
        descriptor, owner = merged[0]
        attributes = self._attributes(descriptor)
        self._write(self._entry(parts, os.fstat(descriptor), FOLDER, owner, attributes=attributes))
        if is_opaque:
            self._mark(parts, _OPAQUE_MARK)

    def _seal_file(self, above: int, owner: Owner, parts: list[bytes]) -> None:
        try:
            file = os.open(parts[-1], _OPEN_FILE, dir_fd=above)
        except OSError as error:
            if error.errno in (errno.ENOENT, errno.ELOOP, errno.ENXIO):
                return
            raise
        try:
            about = os.fstat(file)
            if not stat.S_ISREG(about.st_mode):
                return
            if about.st_nlink > 1:
                first = self._links.setdefault((about.st_dev, about.st_ino), b"/".join(parts))
                if first != b"/".join(parts):
                    self._write(self._entry(parts, about, HARD_LINK, owner, link=first))
                    return
            self.bytes += about.st_size
            if self.bytes > self._most_bytes:
                raise TooLargeError(f"it has more than {self._most_bytes} bytes")
            self._write(
                self._entry(parts, about, FILE, owner, size=about.st_size, attributes=self._attributes(file)),
            )
            self._copy(file, about.st_size)
        finally:
            os.close(file)

    def _copy(self, file: int, size: int) -> None:
        if size > SMALL_BYTES:
            self._archive.copy(file, size)
        else:
            left = size
            while left:
                piece = os.read(file, left) or bytes(left)  # it was cut meanwhile
                left -= len(piece)
                self._archive.write(piece)
        self._archive.write(bytes(padding(size)))

    def _entry(
        self,
        parts: list[bytes],
        about: os.stat_result,
        kind: bytes,
        owner: Owner,
        *,
        size: int = 0,
        link: bytes = b"",
        attributes: dict[bytes, bytes] | None = None,
    ) -> Entry:
        user, group = _inside(about.st_uid, owner[0]), _inside(about.st_gid, owner[1])
        return Entry(
            parts=parts or [b"."],
            kind=kind,
            size=size,
            mode=stat.S_IMODE(about.st_mode),
            user=user,
            group=group,
            modified_ns=about.st_mtime_ns if self._newest_ns < 0 else min(about.st_mtime_ns, self._newest_ns),
            link=link,
            attributes=attributes or {},
        )

    def _mark(self, above: list[bytes], name: bytes) -> None:
        self._write(Entry([*above, name], FILE, 0, 0o644, 0, 0, 0, b""))

    def _write(self, entry: Entry) -> None:
        self.files += 1
        if self.files > self._most_files:
            raise TooLargeError(f"it has more than {self._most_files} files")
        self._archive.write(tar_writer.header(entry))

    def _attributes(self, descriptor: int) -> dict[bytes, bytes]:
        found: dict[bytes, bytes] = {}
        size = 0
        for text in os.listxattr(descriptor):
            name = os.fsencode(text)
            if not name.startswith(b"user.") or name.startswith(_OVERLAY):
                continue
            if b"=" in name:  # an archive's header ends the name there
                self._leave_out("extended attributes with = in their names")
                continue
            with suppress(OSError):  # removed meanwhile
                found[name] = os.getxattr(descriptor, name)
                size += len(name) + len(found[name]) + 64
                if size + 4 * MOST_NAME_BYTES > MOST_EXTENDED_BYTES:
                    del found[name]
                    self._leave_out("extended attributes beyond 1 MiB of one file")
                    break
        return found

    def _check_path(self, parts: list[bytes]) -> None:
        if len(parts) > MOST_DEPTH or sum(map(len, parts)) + len(parts) > MOST_NAME_BYTES:
            raise UnfitError(
                f"{shown(b'/'.join(parts))}... lies too deep: a path may have {MOST_DEPTH} parts and "
                f"{MOST_NAME_BYTES} bytes"
            )

    def _leave_out(self, what: str) -> None:
        self.left_out[what] = self.left_out.get(what, 0) + 1


def _close(folders: list[Folder]) -> None:
    for folder, _ in folders:
        os.close(folder)


def _shows(root: int, parts: list[bytes]) -> bool | None:
    """Whether something is there in a layer, or nothing because the layer hides it; None = the layers below it decide.
    No link is followed."""
    opened: list[int] = []
    is_opaque = _is_opaque(root)
    try:
        for place, part in enumerate(parts):
            folder = opened[-1] if opened else root
            about = os.lstat(part, dir_fd=folder)
            if place == len(parts) - 1:
                return not _is_whiteout(about)
            if not stat.S_ISDIR(about.st_mode):
                return False
            opened.append(os.open(part, _OPEN_FOLDER, dir_fd=folder))
            is_opaque = is_opaque or _is_opaque(opened[-1])
    except FileNotFoundError:
        return False if is_opaque else None
    finally:
        for descriptor in opened:
            os.close(descriptor)
    return None


def _is_whiteout(about: os.stat_result) -> bool:
    return stat.S_ISCHR(about.st_mode) and about.st_rdev == 0


def _inside(given: int, base: int) -> int:
    """An owner as the sandbox sees it; root where it is none of the sandbox's."""
    return given - base if base <= given <= _MOST_ID else 0


def _is_opaque(folder: int) -> bool:
    try:
        return os.getxattr(folder, b"user.overlay.opaque") == b"y"
    except OSError:
        return False


@dataclass(slots=True)
class _Tree:
    """Where a layer is laid out."""

    root: int
    large: int
    headers: int
    made: int

    @classmethod
    def within(cls, place: str) -> _Tree:
        """In an empty folder: `root` and `headers`, which stay, and `large`, which is empty again at the end."""
        made = os.open(place, _OPEN_FOLDER)
        for name in ("root", "large"):
            os.mkdir(name, 0o700, dir_fd=made)
        headers = os.open("headers", os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600, dir_fd=made)
        root, large = (os.open(name, _OPEN_FOLDER, dir_fd=made) for name in ("root", "large"))
        return cls(root, large, headers, made)


def seal(question: Question) -> Answer:
    """Seal the layer in this process."""
    try:
        target = os.open(question.target, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        tree = _Tree.within(question.tree) if question.tree else None
        layers = [os.open(layer, _OPEN_FOLDER) for layer in question.layers]
        beneath = [os.open(layer, _OPEN_FOLDER) for layer in question.beneath]
        holders = [one for one in (question.folder, *question.below) if one >= 0]
        places = question.places
        _give_up_rights([*holders, *places.values(), *layers, *beneath], question.users, tree)
        os.write(question.says, b"r")
        os.read(question.hears, 1)
        if not all(map(_is_tmpfs, (*holders, *places.values()))):
            raise UnfitError("what the sandbox gives for its layer is none")
        about = os.stat(".", dir_fd=holders[0]) if holders else os.fstat(next(iter((*places.values(), *layers))))
        archive = Archive(target) if tree is None else Spool(target, tree.large)
        owner = about.st_uid, about.st_gid
        most = question.most_files, question.most_bytes
        sealer = LayerSealer(archive, owner, *most, question.without, beneath, question.newest_ns)
        own = [os.open(UPPER, _OPEN_FOLDER, dir_fd=one) for one in holders]
        for name, place in places.items():
            sealer.seal([place], place=name)
        if not places:
            sealer.seal([*own, *layers], len(own))
        tar_writer.end(archive.write)
        archive.finish()
        os.write(question.says, b"c")
        sealed = Answer("", archive.size, sealer.files, sealer.bytes, sealer.left_out)
        if tree is None:
            return replace(sealed, digest=archive.digest())
        spooled = SpooledLayer(target, tree.large, tree.headers)
        writer = LayerWriter(
            tree.root, question.most_files, question.most_bytes, question.keeps_owners, moved_in=spooled.move
        )
        digest = spooled.lay_out(writer)
        os.rmdir("large", dir_fd=tree.made)
        return replace(
            sealed, digest=digest, disk_bytes=writer.disk_bytes + spooled.headers_bytes, dropped=writer.dropped
        )
    except (TooLargeError, FolderTooLargeError) as error:
        return Answer(fault="large", said=str(error))
    except UnfitError as error:
        return Answer(fault="unfit", said=str(error))
    except UnfitFileSystemError as error:
        return Answer(fault="place", said=str(error))
    except OSError as error:
        return Answer(fault="system", said=error.strerror or str(error), errno=error.errno or 0)


def main() -> None:
    """Answer the question of the command line."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    given: Any = json.loads(sys.argv[1])
    os.umask(0)
    sys.stdout.write(json.dumps(asdict(seal(Question(**given)))))
    sys.stdout.flush()
    os._exit(0)


def _is_tmpfs(holder: int) -> bool:
    buffer = ctypes.create_string_buffer(256)
    libc = ctypes.CDLL(None, use_errno=True)
    failed: int = libc.fstatfs(holder, buffer)
    kind: int = struct.unpack_from("l", buffer)[0]
    return not failed and kind == _TMPFS_MAGIC


def _give_up_rights(folders: Sequence[int], users: int, tree: _Tree | None) -> None:
    kept = _TO_READ if tree is None or users >= 0 else _TO_READ | _TO_WRITE
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY_BYTES, _MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (_MOST_SECONDS, _MOST_SECONDS))
    libc = ctypes.CDLL(None, use_errno=True)
    if users >= 0:
        if libc.setns(users, _CLONE_NEWUSER):
            raise OSError(ctypes.get_errno(), "the sandbox's user namespace cannot be entered")
        os.close(users)
    if users >= 0 or os.geteuid() == 0:
        for number in range(_LAST_CAPABILITY + 1):
            if not kept >> number & 1:
                libc.prctl(_PR_CAPBSET_DROP, number, 0, 0, 0)
        header = (ctypes.c_uint32 * 2)(_CAPABILITIES_VERSION, 0)
        sets = (ctypes.c_uint32 * 6)(kept, kept, 0, 0, 0, 0)
        libc.capset(header, sets)  # who has fewer keeps those: what is missing shows in the first file that needs it
    if landlock.version() >= (1 if tree is None else 2):  # the first version lets no file into another folder
        writable = [] if tree is None else [Path(f"/proc/self/fd/{tree.made}")]
        landlock.restrict_this_thread([Path(f"/proc/self/fd/{folder}") for folder in folders], writable)
