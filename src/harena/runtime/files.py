"""File operations, inside the sandbox: with its programs' own rights, in its own root. Nothing is resolved outside.

Regular files are opened by init itself and handed to the owner as descriptors, so that data never passes through
init. `openat2` refuses magic links (/proc/*/fd and the like) on the way, O_NONBLOCK keeps a FIFO or a lease from
holding init up, and what is not a regular file, or lies in /proc, is refused. Everything else is done by a child of
its own, an ordinary process, whose answer comes through a pipe as NUL-terminated fields:

    "ok" field... | "error" errno text
"""

from __future__ import annotations

import ctypes
import errno
import os
import stat
import struct

from harena.runtime.kernel.syscalls import OPENAT2, syscall

_NO_MAGICLINKS = 0x02
_AT_FDCWD = -100


def open_regular(path: str, flags: int, mode: int) -> tuple[int, int, int]:
    """Open a regular file that is not in /proc. Gives (descriptor, size, permission bits). Raises OSError."""
    flags |= os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
    wants_empty = flags & os.O_TRUNC
    flags &= ~os.O_TRUNC  # only after it is known what it is
    try:
        descriptor = _openat2(path, flags, mode)
    except FileNotFoundError:
        if not flags & os.O_CREAT:
            raise
        os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
        descriptor = _openat2(path, flags, mode)
    try:
        about = os.fstat(descriptor)
        if stat.S_ISDIR(about.st_mode):
            raise OSError(errno.EISDIR, "is a directory")
        if not stat.S_ISREG(about.st_mode) or about.st_dev == os.stat("/proc/self").st_dev:
            raise OSError(errno.EACCES, "not a regular file")
        if wants_empty and about.st_size:
            os.ftruncate(descriptor, 0)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor, about.st_size, stat.S_IMODE(about.st_mode)


def _openat2(path: str, flags: int, mode: int) -> int:
    how = struct.pack("<3Q", flags, mode if flags & os.O_CREAT else 0, _NO_MAGICLINKS)
    encoded = os.fsencode(path)
    try:
        return syscall(
            "open",
            OPENAT2,
            ctypes.c_int(_AT_FDCWD),
            ctypes.c_char_p(encoded),
            ctypes.c_char_p(how),
            ctypes.c_size_t(24),
        )
    except OSError as error:
        raise OSError(error.errno or errno.EIO, os.strerror(error.errno or errno.EIO), path) from None


def operate(operation: str, arguments: tuple[object, ...], answer: int, extra: int) -> None:
    """Carry out one operation in this process and write the answer. `extra` is a second descriptor, for archives."""
    try:
        fields = ["ok", *_OPERATIONS[operation](extra, *arguments)]  # type: ignore[operator]
    except OSError as error:
        fields = ["error", str(error.errno or errno.EIO), error.strerror or str(error)]
    text = b"".join(os.fsencode(field) + b"\0" for field in fields)
    while text:
        text = text[os.write(answer, text) :]


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
    return _describe(path)


def _list(_: int, path: str) -> list[str]:
    fields: list[str] = []
    for name in sorted(os.listdir(path)):
        try:
            fields += _describe(os.path.join(path, name))
        except FileNotFoundError:
            continue  # removed meanwhile
    return fields


def _make(_: int, path: str, parents: bool) -> list[str]:
    if parents:
        os.makedirs(path, exist_ok=True)
    else:
        os.mkdir(path)
    return []


def _remove(_: int, path: str, recursive: bool) -> list[str]:
    if not stat.S_ISDIR(os.lstat(path).st_mode):
        os.unlink(path)
    elif recursive:
        import shutil

        shutil.rmtree(path)
    else:
        os.rmdir(path)
    return []


def _pack(extra: int, path: str) -> list[str]:
    import tarfile

    os.close(_openat2(path, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC, 0))  # no magic link, such as /proc/self/root
    with os.fdopen(extra, "wb") as stream, tarfile.open(fileobj=stream, mode="w|") as archive:
        for directory, _directories, names in os.walk(path):
            within = os.path.relpath(directory, path)
            archive.addfile(archive.gettarinfo(directory, within))
            for name in sorted(names):
                try:
                    # what is there now may be another thing than what was listed: neither follow it nor wait for it
                    descriptor = os.open(os.path.join(directory, name), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
                except OSError:
                    continue  # a link, a socket, gone, or not to be read
                with os.fdopen(descriptor, "rb") as file:
                    if stat.S_ISREG(os.fstat(descriptor).st_mode):
                        archive.addfile(archive.gettarinfo(arcname=os.path.join(within, name), fileobj=file), file)
    return []


def _unpack(extra: int, path: str) -> list[str]:
    import tarfile

    os.makedirs(path, exist_ok=True)
    with os.fdopen(extra, "rb") as stream, tarfile.open(fileobj=stream, mode="r|") as archive:
        for member in archive:
            if member.isreg() or member.isdir():
                member.uid = member.gid = 0
                archive.extract(member, path, set_attrs=not member.isdir(), numeric_owner=True)
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


_OPERATIONS = {
    "stat": _stat,
    "list": _list,
    "make": _make,
    "remove": _remove,
    "pack": _pack,
    "unpack": _unpack,
    "processes": _processes,
    "signal": _send_signal,
}
