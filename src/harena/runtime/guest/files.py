"""File operations, inside the sandbox and in its own root. Nothing is resolved outside. Where all files are root's they
have its programs' own rights; where there are several users, root's over all, but behind no link of a user's (`links`).

Regular files are opened by init itself and handed to the owner as descriptors, so that data never passes through
init. `openat2` refuses magic links (/proc/*/fd and the like) on the way, O_NONBLOCK keeps a FIFO or a lease from
holding init up, and what is not a regular file, or lies in /proc, is refused. Everything else is done by a child of
its own, an ordinary process, whose answer comes through a pipe as NUL-terminated fields:

    "ok" field... | "error" errno text
"""

from __future__ import annotations

import errno
import os
import stat

from harena.runtime.guest import links
from harena.runtime.guest.links import READ, SEARCH, WRITE

TYPE_CHECKING = False
if TYPE_CHECKING:
    import tarfile
    from collections.abc import Callable, Iterator
    from typing import IO

_BLOCK_BYTES = 512  # of which a tar archive is made
_TAR_FILE, _TAR_LINK, _TAR_DIRECTORY = b"0", b"2", b"5"
_GATHERED_BYTES = 1 << 16
_COPIED_BYTES = 1 << 18
_LEAST_HOLE_BYTES, _MOST_PARTS = 1 << 20, 20_000  # a file with smaller holes, or more parts, is packed as it reads
_PARTS_HEADER = "HARENA.parts"  # name of the header that says where the parts of a file with holes are
_TIMES_HEADER = "HARENA.times"  # name of the header with the times of last use and last change, in nanoseconds
_SAME_TIME_SECONDS = 1e-6  # a time that was a float on its way may have lost a nanosecond
_LEFT_OUT = (
    errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENXIO,  # gone, or another thing than what was listed
    errno.EACCES, errno.EPERM, errno.EWOULDBLOCK,  # not to be read, or leased
)  # fmt: skip


def import_all() -> None:
    """Import at once what the operations need. Where a sandbox cannot see the interpreter's library, a later import
    would find nothing, or what an image or a program has put in its place."""
    import encodings.ascii
    import encodings.latin_1  # noqa: F401
    import shutil  # noqa: F401
    import tarfile  # noqa: F401


def open_regular(path: str, flags: int, mode: int) -> tuple[int, int, int]:
    """Open a regular file that is not in /proc, or with O_DIRECTORY a folder. Gives (descriptor, size, permission
    bits). Raises OSError."""
    flags |= os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
    wants_empty = flags & os.O_TRUNC
    flags &= ~os.O_TRUNC  # only after it is known what it is
    need = {os.O_RDONLY: READ, os.O_WRONLY: WRITE}.get(flags & os.O_ACCMODE, READ | WRITE)
    try:
        descriptor = links.opened(path, flags, mode, need)
    except FileNotFoundError:
        if not flags & os.O_CREAT:
            raise
        links.make_folders(os.path.dirname(os.path.abspath(path)))
        descriptor = links.opened(path, flags, mode, need)
    except PermissionError:  # somebody else's file in /tmp may not be opened as one to be made (fs.protected_regular)
        if not flags & os.O_CREAT or flags & os.O_EXCL:
            raise
        try:
            descriptor = links.opened(path, flags & ~os.O_CREAT, mode, need)
        except FileNotFoundError:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path) from None
    try:
        about = os.fstat(descriptor)
        if stat.S_ISDIR(about.st_mode):
            if not flags & os.O_DIRECTORY:
                raise OSError(errno.EISDIR, "is a directory")
        elif not stat.S_ISREG(about.st_mode) or about.st_dev == os.stat("/proc/self").st_dev:
            raise OSError(errno.EACCES, "not a regular file")
        if wants_empty and about.st_size:
            os.ftruncate(descriptor, 0)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor, about.st_size, stat.S_IMODE(about.st_mode)


def open_nameless() -> tuple[int, int, int]:
    """An empty file that only its descriptor leads to, to be written once and read by programs. It lies in memory;
    where no cgroup counts such memory and the filter refuses it, on the sandbox's disk. Gives what `open_regular` does.
    Raises OSError."""
    try:
        descriptor = os.memfd_create("stdin", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    except OSError:
        descriptor = os.open("/tmp", os.O_RDWR | os.O_TMPFILE | os.O_CLOEXEC)
    os.fchmod(descriptor, 0o444)  # it may be opened by name (/dev/stdin), as another user
    return descriptor, 0, 0o444


def enter(path: str) -> None:
    """Make a folder this process's working directory. No magic link is followed: this process may still have
    descriptors that are no program's. Raises OSError."""
    descriptor = links.openat2(path, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC, 0)
    try:
        os.fchdir(descriptor)
    finally:
        os.close(descriptor)


def operate(operation: str, arguments: tuple[object, ...], answer: int, extra: int) -> None:
    """Carry out one operation in this process and write the answer. `extra` is a second descriptor, for archives."""
    try:
        fields = ["ok", *_OPERATIONS[operation](extra, *arguments)]  # type: ignore[operator]
    except OSError as error:
        fields = ["error", str(error.errno or errno.EIO), error.strerror or str(error)]
    _write_all(answer, b"".join(os.fsencode(field) + b"\0" for field in fields))


def _write_all(descriptor: int, content: bytes) -> None:
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _describe(path: str) -> list[str]:
    about = os.lstat(path)
    kind, target = "other", ""
    if stat.S_ISREG(about.st_mode):
        kind = "file"
    elif stat.S_ISDIR(about.st_mode):
        kind = "directory"
    elif stat.S_ISLNK(about.st_mode):
        kind, target = "link", os.readlink(path)
    return [path, kind, str(about.st_size), str(stat.S_IMODE(about.st_mode)), repr(about.st_mtime), target]


def _stat(_: int, path: str) -> list[str]:
    return [path, *_describe(_go_above(path, SEARCH))[1:]]


def _list(_: int, path: str) -> list[str]:
    fields: list[str] = []
    _go_into(path, READ | SEARCH)
    for name in sorted(os.listdir(".")):
        try:
            fields += [os.path.join(path, name), *_describe(name)[1:]]
        except FileNotFoundError:
            continue  # removed meanwhile
    return fields


def _go_into(path: str, need: int) -> None:
    """Make the folder to which a path leads the working directory, so that it is that one, whatever becomes of its
    name."""
    os.fchdir(links.opened(path, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC, 0, need))


def _go_above(path: str, need: int) -> str:
    """Make the folder in which a path ends the working directory. Gives its last part, which is not followed."""
    if not links.has_users():
        return path
    folder, name, user = links.reached(path, follows=False)
    if user:
        links.check(folder, user, need)
    os.fchdir(folder)
    return name


def _make(_: int, path: str, parents: bool) -> list[str]:
    if parents:
        links.make_folders(path)
    else:
        os.mkdir(_go_above(path, WRITE | SEARCH))
    return []


def _remove(_: int, path: str, recursive: bool) -> list[str]:
    path = _go_above(path, WRITE | SEARCH)
    if not stat.S_ISDIR(os.lstat(path).st_mode):
        os.unlink(path)
    elif recursive:
        import shutil

        shutil.rmtree(path)
    else:
        os.rmdir(path)
    return []


def _pack(extra: int, path: str, with_links: bool = False) -> list[str]:
    _go_into(path, READ | SEARCH)  # no magic link, such as /proc/self/root; what is packed is what is checked
    start = os.stat(".").st_dev
    if start == os.stat("/proc/self").st_dev:
        raise OSError(errno.EACCES, "lies in /proc")
    own = tuple(os.stat(place).st_dev for place in ("/", "/tmp") if os.path.isdir(place))
    archive = _Archive(extra, own if start in own else (), with_links=with_links)
    waiting = ["."]
    while waiting:
        directory = waiting.pop()
        try:
            files, directories = archive.add_directory(directory)
        except OSError as error:
            if directory == ".":
                raise
            _check_left_out(directory, error)
            continue
        for name in files:
            archive.add_file(name)
        waiting += reversed(directories)
    archive.end()
    return []


def _check_left_out(name: str, error: OSError) -> None:
    """Raise an error that is no reason to leave something out: nobody would see that the archive is incomplete."""
    if error.errno not in _LEFT_OUT:
        raise OSError(error.errno, "%s: %s" % (name, error.strerror)) from None


class _Archive:
    """A tar archive on its way into a pipe: headers and small files are gathered, large files go in parts.

    `file_systems` are the devices that it keeps to; with none of them it enters whatever is mounted. `with_links`:
    symbolic links are in it, too, times are whole, and what its owner has closed is opened for it.
    """

    def __init__(self, descriptor: int, file_systems: tuple[int, ...], *, with_links: bool = False) -> None:
        import tarfile

        self._with_links = with_links
        self._new_member = tarfile.TarInfo
        self._descriptor = descriptor
        self._file_systems = file_systems
        self._parts: list[bytes] = []
        self._size = 0

    def add_directory(self, name: str) -> tuple[list[str], list[str]]:
        """Gives the paths of the files and of the directories in it, sorted. Raises OSError."""
        files: list[str] = []
        links: list[str] = []
        directories: list[str] = []
        descriptor, about = self._opened(name, os.O_DIRECTORY)
        try:
            if self._leaves_out(about):
                return [], []
            before = "" if name == "." else name + "/"
            with os.scandir(descriptor) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        directories.append(before + entry.name)
                    elif entry.is_file(follow_symlinks=False):
                        files.append(before + entry.name)
                    elif self._with_links and entry.is_symlink():
                        links.append(before + entry.name)
        finally:
            os.close(descriptor)
        self._gather(self._header(name, about, _TAR_DIRECTORY, 0))
        for link in sorted(links):
            self._add_link(link)
        return sorted(files), sorted(directories)

    def _add_link(self, name: str) -> None:
        try:
            about, target = os.lstat(name), os.readlink(name)
        except OSError as error:
            _check_left_out(name, error)
            return
        self._gather(self._header(name, about, _TAR_LINK, 0, target))

    def add_file(self, name: str) -> None:
        """Nothing happens where there is none any more, or it may not be read. Raises OSError."""
        try:
            # what is there now may be another thing than what was listed: neither follow it nor wait for it
            descriptor, about = self._opened(name, os.O_NONBLOCK | os.O_NOCTTY)
        except OSError as error:
            _check_left_out(name, error)
            return
        try:
            if not stat.S_ISREG(about.st_mode) or self._leaves_out(about):
                return
            if about.st_size <= _GATHERED_BYTES:
                content = os.read(descriptor, about.st_size)
                size = len(content)  # it may have become shorter since
                self._gather(self._header(name, about, _TAR_FILE, size) + content)
            elif self._with_links and (parts := parts_with_content(descriptor, about)) is not None:
                size = sum(length for _, length in parts)
                self._gather(self._header(name, about, _TAR_FILE, size, parts=parts))
                for begin, length in parts:
                    os.lseek(descriptor, begin, os.SEEK_SET)
                    self._copy(name, descriptor, length)
            else:
                size = about.st_size
                self._gather(self._header(name, about, _TAR_FILE, size))
                self._copy(name, descriptor, size)
            self._gather(bytes(-size % _BLOCK_BYTES))
        finally:
            os.close(descriptor)

    def _opened(self, name: str, flags: int) -> tuple[int, os.stat_result]:
        """(a descriptor, what it is of). Raises OSError."""
        flags |= os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
        about = None
        try:
            descriptor = os.open(name, flags)
        except PermissionError:
            about = os.lstat(name)
            if not self._with_links or not (stat.S_ISREG(about.st_mode) or stat.S_ISDIR(about.st_mode)):
                raise
            # it stays open: what is in a folder is reached through it
            os.chmod(name, stat.S_IMODE(about.st_mode) | (0o500 if stat.S_ISDIR(about.st_mode) else 0o400))
            descriptor = os.open(name, flags)
        return descriptor, os.fstat(descriptor) if about is None else about

    def end(self) -> None:
        """Nothing more is added."""
        self._gather(bytes(2 * _BLOCK_BYTES))
        self._flush()
        os.close(self._descriptor)

    def _leaves_out(self, about: os.stat_result) -> bool:
        return bool(self._file_systems) and about.st_dev not in self._file_systems

    def _header(
        self,
        name: str,
        about: os.stat_result,
        kind: bytes,
        size: int,
        target: str = "",
        parts: list[tuple[int, int]] | None = None,
    ) -> bytes:
        member = self._new_member(name)
        member.linkname = target
        member.type, member.size, member.mode = kind, size, stat.S_IMODE(about.st_mode)
        member.uid, member.gid, member.mtime = about.st_uid, about.st_gid, int(about.st_mtime)
        if self._with_links:
            member.mtime = about.st_mtime  # a float, which has lost some nanoseconds
            member.pax_headers = own_headers(about, parts)
        return member.tobuf(encoding="utf-8", errors="surrogateescape")

    def _copy(self, name: str, descriptor: int, size: int) -> None:
        self._flush()
        while size:
            part = os.read(descriptor, min(size, _COPIED_BYTES))
            if not part:  # its header is on its way already
                raise OSError(errno.EIO, name + " became shorter while it was packed")
            _write_all(self._descriptor, part)
            size -= len(part)

    def _gather(self, part: bytes) -> None:
        self._parts.append(part)
        self._size += len(part)
        if self._size >= _GATHERED_BYTES:
            self._flush()

    def _flush(self) -> None:
        _write_all(self._descriptor, b"".join(self._parts))
        self._parts.clear()
        self._size = 0


def own_headers(about: os.stat_result, parts: list[tuple[int, int]] | None) -> dict[str, str]:
    """The headers of a member by which harena keeps a file's times exactly and, with `parts`, its holes: tarfile reads
    the formats of GNU tar where it may seek only."""
    headers = {_TIMES_HEADER: "%d %d" % (about.st_atime_ns, about.st_mtime_ns)}
    if parts is not None:
        headers[_PARTS_HEADER] = ",".join("%d,%d" % part for part in parts)
    return headers


def parts_with_content(descriptor: int, about: os.stat_result) -> list[tuple[int, int]] | None:
    """(begin, length) of each part of a file that is not a hole; None where it has no large holes, or too many."""
    if about.st_blocks * 512 + _LEAST_HOLE_BYTES > about.st_size:
        return None
    parts: list[tuple[int, int]] = []
    at = 0
    while at < about.st_size:
        try:
            begin = os.lseek(descriptor, at, os.SEEK_DATA)
        except OSError as error:
            if error.errno != errno.ENXIO:  # which says that a hole follows
                raise
            break
        at = min(os.lseek(descriptor, begin, os.SEEK_HOLE), about.st_size)
        parts.append((begin, at - begin))
        if len(parts) > _MOST_PARTS:
            os.lseek(descriptor, 0, os.SEEK_SET)
            return None
    return [*parts, (about.st_size, 0)]


def _parts_of(member: tarfile.TarInfo) -> list[tuple[int, int]] | None:
    """(begin, length) of each, the last of them the end; None for a file that has no holes. Raises OSError."""
    told = member.pax_headers.get(_PARTS_HEADER)
    if told is None:
        return None
    try:
        numbers = [int(number) for number in told.split(",")]
    except ValueError:
        numbers = [-1]
    if min(numbers) < 0 or max(numbers) >= 1 << 62 or len(numbers) % 2 or sum(numbers[1::2]) != member.size:
        raise OSError(errno.EINVAL, "%s: its parts are not those of a file" % member.name)
    return list(zip(numbers[::2], numbers[1::2]))


def _unpack(extra: int, path: str) -> list[str]:
    """Write what a tar stream holds below a folder. A file takes the place of a link or a file of its name, which is
    not written to: whoever has put it there may not be who writes."""
    import tarfile

    links.make_folders(path)
    _go_into(path, READ | WRITE | SEARCH)
    below = _Below()
    with os.fdopen(extra, "rb") as stream, tarfile.open(fileobj=stream, mode="r|") as archive:
        for member in archive:
            if not (member.isreg() or member.isdir()):
                continue
            above, name = os.path.split(member.name)
            if member.name.startswith("/") or name == "..":
                raise OSError(errno.EINVAL, "%s: leads out of the directory" % member.name)
            if name in ("", ".") and member.isdir():
                continue
            folder = below.folder(above, member.name)
            if member.isdir():
                try:
                    os.mkdir(name, dir_fd=folder)
                except FileExistsError:
                    pass
            else:
                _unpack_file(_content_of(member, archive), folder, name, member.mode & 0o7777, member.mtime)
    return []


class _Below:
    """Folders below one that is open: what is made in them lies there, whatever programs do to their names meanwhile.
    Links are followed that lead to a folder below it."""

    def __init__(self) -> None:
        """The working directory is the one."""
        self._top = os.getcwd()
        self._root = os.open(".", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        self._last = ""
        self._folder = self._root

    def folder(self, name: str, member: str) -> int:
        """The folder of this name, which is made where it is missing; open until the next one is asked for. Raises
        OSError, which names the `member`."""
        if name == self._last:
            return self._folder
        place = os.path.realpath(os.path.join(self._top, name))
        if os.path.commonpath((self._top, place)) != self._top:
            raise OSError(errno.EINVAL, "%s: leads out of the directory" % member)
        if self._folder != self._root:
            os.close(self._folder)
        self._last, self._folder = "", self._root
        self._folder = self._opened(os.path.relpath(place, self._top))
        self._last = name
        return self._folder

    def _opened(self, name: str) -> int:
        """No link is followed any more."""
        if name == ".":
            return self._root
        flags = os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC
        try:
            return links.openat2(name, flags, 0, self._root, links.BENEATH | links.NO_MAGICLINKS | links.NO_SYMLINKS)
        except FileNotFoundError:
            pass
        above, own = os.path.split(name)
        folder = self._opened(above or ".")
        try:
            os.mkdir(own, dir_fd=folder)
        except FileExistsError:
            pass
        finally:
            if folder != self._root:
                os.close(folder)
        return links.openat2(name, flags, 0, self._root, links.BENEATH | links.NO_MAGICLINKS | links.NO_SYMLINKS)


def _unpack_file(content: IO[bytes], folder: int, name: str, mode: int, modified: float) -> None:
    flags = os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
    try:
        os.unlink(name, dir_fd=folder)
    except FileNotFoundError:
        pass
    except OSError as error:
        if error.errno != errno.EBUSY:
            raise
        flags |= os.O_TRUNC  # something is mounted there, which no program can do
    if not flags & os.O_TRUNC:
        flags |= os.O_CREAT | os.O_EXCL
    times = (int(modified) * 10**9, int(modified) * 10**9)
    _write_into(os.open(name, flags, 0o600, dir_fd=folder), content, mode, times)


def _replace_tree(extra: int, path: str, kept: tuple[str, ...] = ()) -> list[str]:
    """Make a folder what a tar stream says, but for the paths below it that are `kept`. No link is followed below it,
    and no file that is there is written to: one that is what the stream says, its time too, stays untouched."""
    links.make_folders(path)
    _go_into(path, READ | WRITE | SEARCH)
    top = os.getcwd()
    folders: list[tuple[str, int, tuple[int, int], tuple[int, int]]] = []
    seen: set[str] = set()
    above_kept = {folder for keep in kept for folder in _folders_above(keep)}
    for name, member, archive in _members(extra, kept):
        if name in seen:
            raise OSError(errno.EINVAL, "%s: comes twice" % member.name)
        seen.add(name)
        target = top if name == "." else os.path.join(top, name)
        above = os.path.dirname(target)
        if name != "." and os.path.realpath(above) != above:
            raise OSError(errno.EINVAL, "%s: lies behind a link" % member.name)
        owner, mode, times = (member.uid, member.gid), member.mode & 0o7777, _times_of(member)
        holds_kept = name == "." or name in above_kept
        if member.isdir():
            _make_way(target, stat.S_IFDIR, owner, holds_kept)
            if not os.path.isdir(target):
                _as_owner(owner, target, os.mkdir, target, 0o700)
            elif os.stat(target).st_mode & 0o700 != 0o700:
                _as_owner(owner, target, os.chmod, target, 0o700)
            folders.append((target, mode, times, owner))
        elif member.issym():
            _make_way(target, stat.S_IFLNK, owner, holds_kept)
            if os.path.islink(target) and os.readlink(target) != member.linkname:
                os.unlink(target)
            if not os.path.islink(target):
                _as_owner(owner, target, os.symlink, member.linkname, target)
            if os.lstat(target).st_mtime_ns != times[1]:
                _as_owner(owner, target, _set_time, target, times)
        elif member.isreg():
            _make_way(target, stat.S_IFREG, owner, holds_kept)
            content = _content_of(member, archive)
            parts = _parts_of(member)
            if parts is not None:
                if os.path.lexists(target):
                    os.unlink(target)
                _as_owner(owner, target, _write_parts, content, parts, target, mode, times)
                continue
            before = _opened_if(target, member.size, mode)
            try:
                is_new = before is None or _is_other_time(os.fstat(before), member)
                alike, part = _read_alike(None if is_new else before, content)
                if is_new or part or alike != member.size:
                    if os.path.lexists(target):
                        os.unlink(target)
                    given = (before, alike, part, content)
                    _as_owner(owner, target, _write_member, given, target, mode, times)
            finally:
                if before is not None:
                    os.close(before)
    _clear(top, "", frozenset(kept), above_kept | seen, seen)
    for target, mode, times, owner in reversed(folders):
        _as_owner(owner, target, _finish_folder, target, mode, times)
    return []


def _adopt_times(extra: int, path: str) -> list[str]:
    """Files and links below a folder that are what a tar stream says but for their time get that, too. No link is
    followed."""
    _go_into(path, READ | WRITE | SEARCH)
    top = os.getcwd()
    for name, member, archive in _members(extra, ()):
        target = os.path.join(top, name)
        above = os.path.dirname(target)
        if member.issym() and os.path.realpath(above) == above and _is_link_to(target, member):
            if _is_other_time(os.lstat(target), member):
                _as_owner((member.uid, member.gid), target, _set_time, target, _times_of(member))
            continue
        if not member.isreg() or _PARTS_HEADER in member.pax_headers or os.path.realpath(above) != above:
            continue
        before = _opened_if(target, member.size, member.mode & 0o7777)
        if before is None:
            continue
        try:
            about = os.fstat(before)
            if _is_other_time(about, member) and (about.st_uid, about.st_gid) == (member.uid, member.gid):
                alike, part = _read_alike(before, _content_of(member, archive))
                if alike == member.size and not part:
                    _as_owner((member.uid, member.gid), target, _set_time, before, _times_of(member))
        finally:
            os.close(before)
    return []


def _members(extra: int, kept: tuple[str, ...]) -> Iterator[tuple[str, tarfile.TarInfo, tarfile.TarFile]]:
    """(path below the folder, member, archive) of a stream, but for what is kept."""
    import tarfile

    all_kept = frozenset(kept)
    with os.fdopen(extra, "rb") as stream, tarfile.open(fileobj=stream, mode="r|") as archive:
        for member in archive:
            name = os.path.normpath(member.name)
            if name.startswith(("/", "../")) or name == "..":
                raise OSError(errno.EINVAL, "%s: leads out of the directory" % member.name)
            if name not in all_kept and not any(above in all_kept for above in _folders_above(name)):
                yield name, member, archive


def _folders_above(name: str) -> Iterator[str]:
    at = name.rfind("/")
    while at > 0:
        yield name[:at]
        at = name.rfind("/", 0, at)


def _make_way(target: str, kind: int, owner: tuple[int, int], holds_kept: bool) -> None:
    """Remove what is there of another kind, or somebody else's. Raises OSError where it holds what is kept."""
    import shutil

    try:
        about = os.lstat(target)
    except FileNotFoundError:
        return
    if stat.S_IFMT(about.st_mode) == kind and (holds_kept or (about.st_uid, about.st_gid) == owner):
        return
    if holds_kept:
        raise OSError(errno.EEXIST, target + ": holds what is kept")
    if stat.S_ISDIR(about.st_mode):
        shutil.rmtree(target)
    else:
        os.unlink(target)


def _opened_if(target: str, size: int, mode: int) -> int | None:
    """A descriptor of the regular file that is there, if it has this size and these permission bits."""
    try:
        descriptor = os.open(target, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        return None
    about = os.fstat(descriptor)
    if stat.S_ISREG(about.st_mode) and about.st_size == size and stat.S_IMODE(about.st_mode) == mode:
        return descriptor
    os.close(descriptor)
    return None


def _content_of(member: tarfile.TarInfo, archive: tarfile.TarFile) -> IO[bytes]:
    content = archive.extractfile(member)
    if content is None:
        raise OSError(errno.EINVAL, "%s: is no file" % member.name)
    return content


def _read_alike(before: int | None, content: IO[bytes]) -> tuple[int, bytes]:
    """(bytes in which both are alike, what follows them in `content` and was read; empty = nothing follows)."""
    alike = 0
    while True:
        part = content.read(_COPIED_BYTES)
        if not part or before is None or os.pread(before, len(part), alike) != part:
            return alike, part
        alike += len(part)


def _as_owner(owner: tuple[int, int], target: str, work: Callable[..., None], *arguments: object) -> None:
    """Do it as the owner that the sandbox has for what is made at `target`, where it has several users; else, and where
    the owner may not, as root, who gives it to the owner where the profile allows that."""
    if owner != (0, 0):
        try:
            os.setegid(owner[1])
            os.seteuid(owner[0])
            work(*arguments)
            return
        except PermissionError:
            pass
        except OSError as error:
            if error.errno != errno.EINVAL:  # the sandbox has no such user
                raise
        finally:
            if os.geteuid():
                os.seteuid(0)
            if os.getegid():
                os.setegid(0)
    work(*arguments)
    about = os.lstat(target)
    if (about.st_uid, about.st_gid) != owner:
        try:
            os.chown(target, *owner, follow_symlinks=False)
            if stat.S_IMODE(about.st_mode) & (stat.S_ISUID | stat.S_ISGID):  # which a change of the owner takes away
                os.chmod(target, stat.S_IMODE(about.st_mode))
        except OSError as error:
            if error.errno not in (errno.EPERM, errno.EINVAL):  # the sandbox has no such user
                raise


def _times_of(member: tarfile.TarInfo) -> tuple[int, int]:
    """(last use, last change) in nanoseconds. Raises OSError."""
    told = member.pax_headers.get(_TIMES_HEADER)
    try:
        if told is not None:
            used, changed = told.split(" ")
            return int(used), int(changed)
        return int(member.mtime * 10**9), int(member.mtime * 10**9)
    except (ValueError, OverflowError):
        raise OSError(errno.EINVAL, "%s: has no time that could be one" % member.name) from None


def _is_other_time(about: os.stat_result, member: tarfile.TarInfo) -> bool:
    if _TIMES_HEADER in member.pax_headers:
        return about.st_mtime_ns != _times_of(member)[1]
    return abs(about.st_mtime - member.mtime) > _SAME_TIME_SECONDS


def _is_link_to(target: str, member: tarfile.TarInfo) -> bool:
    """There is such a link of the same owner."""
    if not os.path.islink(target) or os.readlink(target) != member.linkname:
        return False
    about = os.lstat(target)
    return (about.st_uid, about.st_gid) == (member.uid, member.gid)


def _finish_folder(target: str, mode: int, times: tuple[int, int]) -> None:
    os.chmod(target, mode)
    _set_time(target, times)


def _set_time(place: int | str, times: tuple[int, int]) -> None:
    """Set the times of a file, a folder or a link itself."""
    try:
        if isinstance(place, int):
            os.utime(place, ns=times)
        else:
            os.utime(place, ns=times, follow_symlinks=False)
    except (ValueError, OverflowError):  # no file system has such a time
        return


def _write_into(descriptor: int, content: IO[bytes], mode: int, times: tuple[int, int]) -> None:
    """Fill a new file, and close it."""
    try:
        part = content.read(_COPIED_BYTES)
        while part:
            _write_all(descriptor, part)
            part = content.read(_COPIED_BYTES)
        os.fchmod(descriptor, mode)
        _set_time(descriptor, times)
    finally:
        os.close(descriptor)


def _write_member(
    given: tuple[int | None, int, bytes, IO[bytes]], target: str, mode: int, times: tuple[int, int]
) -> None:
    """`given`: a file, how much of its begin is the new one's, what follows, and where the rest is read."""
    before, alike, part, content = given
    descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        copied = 0
        while before is not None and copied < alike:
            first = os.pread(before, min(_COPIED_BYTES, alike - copied), copied)
            _write_all(descriptor, first)
            copied += len(first)
        while part:
            _write_all(descriptor, part)
            part = content.read(_COPIED_BYTES)
        os.fchmod(descriptor, mode)
        _set_time(descriptor, times)
    finally:
        os.close(descriptor)


def _write_parts(
    content: IO[bytes], parts: list[tuple[int, int]], target: str, mode: int, times: tuple[int, int]
) -> None:
    """Write a file with holes."""
    descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        os.ftruncate(descriptor, parts[-1][0])
        for begin, length in parts:
            os.lseek(descriptor, begin, os.SEEK_SET)
            while length:
                part = content.read(min(length, _COPIED_BYTES))
                if not part:
                    raise OSError(errno.EINVAL, target + ": less comes than was said")
                _write_all(descriptor, part)
                length -= len(part)
        os.fchmod(descriptor, mode)
        _set_time(descriptor, times)
    finally:
        os.close(descriptor)


def _clear(top: str, below: str, kept: frozenset[str], entered: set[str], seen: set[str]) -> None:
    """Remove what is in a folder and was not `seen`, but for `kept` paths below `top` and `entered` folders."""
    import shutil

    with os.scandir(os.path.join(top, below)) as found:
        entries = list(found)
    for entry in entries:
        name = below + entry.name
        is_folder = entry.is_dir(follow_symlinks=False)
        if name in kept:
            continue
        if is_folder and name in entered:
            _clear(top, name + "/", kept, entered, seen)
        elif is_folder:
            shutil.rmtree(entry.path)
        elif name not in seen:
            os.unlink(entry.path)


def _pour(extra: int, _path: str) -> list[str]:
    """Write what comes through a pipe into the file whose descriptor is the next one."""
    part = os.read(extra, _COPIED_BYTES)
    while part:
        _write_all(extra + 1, part)
        part = os.read(extra, _COPIED_BYTES)
    return []


def _processes(_: int) -> list[str]:
    fields: list[str] = []
    own = os.getpid()
    for name in sorted((name for name in os.listdir("/proc") if name.isdigit()), key=int):
        if int(name) in (1, own):
            continue
        try:
            with open("/proc/" + name + "/stat", "rb") as file:
                text = file.read()
            with open("/proc/" + name + "/cmdline", "rb") as file:
                command = file.read()
        except OSError:
            continue  # ended meanwhile
        state, parent = text[text.rindex(b")") + 2 :].split()[:2]
        words = [os.fsdecode(word) for word in command.split(b"\0")[:-1]]
        fields += [name, parent.decode(), state.decode(), str(len(words)), *words]
    return fields


def _send_signal(_: int, pid: int, signum: int) -> list[str]:
    os.kill(pid, signum)
    return []


WRITES = ("pour", "unpack", "replace_tree")
"""operations that fill memory"""

_OPERATIONS = {
    "stat": _stat,
    "list": _list,
    "make": _make,
    "remove": _remove,
    "pack": _pack,
    "unpack": _unpack,
    "replace_tree": _replace_tree,
    "adopt_times": _adopt_times,
    "pour": _pour,
    "processes": _processes,
    "signal": _send_signal,
}
