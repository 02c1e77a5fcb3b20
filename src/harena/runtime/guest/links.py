"""Paths that lead through links of users: init has rights over all users, and who has made a link has not.

Where a sandbox has several users, a link that is not root's leads no further than its maker could go: each folder
behind it, and what it leads to, is looked at with the permission bits that count for that user; groups are not. A path
is followed from descriptor to descriptor then, so that nobody changes it meanwhile. Where all is root's, the kernel
follows paths. Magic links (`/proc/*/fd` and the like) are followed in neither way.
"""

from __future__ import annotations

import ctypes
import errno
import os
import stat
import struct

from harena.runtime.kernel import privileges
from harena.runtime.kernel.syscalls import OPENAT2, syscall

NO_MAGICLINKS, NO_SYMLINKS, BENEATH = 0x02, 0x04, 0x08
READ, WRITE, SEARCH = 4, 2, 1
"""what may be done with a file, as the permission bits of others say it"""
_AT_FDCWD = -100
_MOST_LINKS = 40
_FOLDER = os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC
_has_users = False


def know(*, has_users: bool) -> None:
    """Say whether the sandbox has users beside root."""
    global _has_users
    _has_users = has_users


def has_users() -> bool:
    """Whether links may be others' than root's."""
    return _has_users


def openat2(path: str, flags: int, mode: int, folder: int = _AT_FDCWD, resolve: int = NO_MAGICLINKS) -> int:
    """`openat2(2)`. Raises OSError, which names the path."""
    how = struct.pack("<3Q", flags, mode if flags & os.O_CREAT else 0, resolve)
    encoded = os.fsencode(path)
    try:
        return syscall(
            "open",
            OPENAT2,
            ctypes.c_int(folder),
            ctypes.c_char_p(encoded),
            ctypes.c_char_p(how),
            ctypes.c_size_t(24),
        )
    except OSError as error:
        raise OSError(error.errno or errno.EIO, os.strerror(error.errno or errno.EIO), path) from None


def opened(path: str, flags: int, mode: int, need: int) -> int:
    """Open what a path leads to. `need`: what a user whose link is on the way would have to be allowed. Raises
    OSError."""
    if not _has_users:
        return openat2(path, flags, mode)
    try:
        return openat2(path, flags, mode, resolve=NO_MAGICLINKS | NO_SYMLINKS)
    except OSError as error:
        if error.errno != errno.ELOOP:
            raise
    folder, name, user = reached(path, follows=True)
    try:
        if user:
            return _opened_for(user, need, folder, name, flags, mode)
        return openat2(name, flags, mode, folder, NO_MAGICLINKS | NO_SYMLINKS)
    finally:
        os.close(folder)


def _opened_for(user: int, need: int, folder: int, name: str, flags: int, mode: int) -> int:
    no_links = NO_MAGICLINKS | NO_SYMLINKS
    try:
        descriptor = openat2(name, flags & ~(os.O_CREAT | os.O_EXCL), mode, folder, no_links)
    except FileNotFoundError:
        if not flags & os.O_CREAT:
            raise
        check(folder, user, WRITE | SEARCH)
        return openat2(name, flags | os.O_EXCL, mode, folder, no_links)
    try:
        if flags & os.O_EXCL:
            raise OSError(errno.EEXIST, os.strerror(errno.EEXIST), name)
        check(descriptor, user, need)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def make_folders(path: str) -> None:
    """Make a folder and those above it, where they are missing. Raises OSError."""
    folder, name, user = reached(path, follows=True, makes=True)
    try:
        if not _is_there(folder, name):
            _make_folder(folder, name, user)
        elif not stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
            raise OSError(errno.EEXIST, os.strerror(errno.EEXIST), path)
    finally:
        os.close(folder)


def _make_folder(folder: int, name: str, user: int) -> None:
    """What is made behind a user's link is that user's."""
    if not user:
        os.mkdir(name, dir_fd=folder)
        return
    check(folder, user, WRITE | SEARCH)
    os.seteuid(user)
    try:
        os.mkdir(name, dir_fd=folder)
    finally:
        os.seteuid(0)
        privileges.set_dumpable(False)  # a change of user may give this, and takes that
        privileges.die_with_parent()


def _is_there(folder: int, name: str) -> bool:
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def check(descriptor: int, user: int, need: int) -> None:
    """Raises OSError where the user may not do that with a file."""
    about = os.fstat(descriptor)
    bits = about.st_mode >> 6 if about.st_uid == user else about.st_mode
    if need & ~bits:
        raise OSError(
            errno.EXDEV,
            "a link of the user %d leads to what that user may not use: name the place itself, or remove the link"
            % user,
        )


def reached(path: str, *, follows: bool, makes: bool = False) -> tuple[int, str, int]:
    """(folder, name of the last part in it, user): a user whose link is on the way, 0 = only root's. The folder is open
    and the caller's. `follows`: the last part is no link; it need not be there. `makes`: folders that are missing on
    the way are made. Raises OSError."""
    user, links = 0, 0
    parts = [*reversed(path.split("/"))]
    folder = os.open("/" if path.startswith("/") else ".", _FOLDER)
    try:
        while True:
            name = parts.pop()
            while parts and parts[0] in ("", "."):  # of the end: they change nothing but that it is a folder
                parts.pop(0)
            is_last = not parts
            if name in ("", ".") and not is_last:
                continue
            if name in ("", ".", "..") and is_last:
                return folder, name or ".", user
            try:
                entry = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
            except FileNotFoundError:
                if is_last:
                    return folder, name, user
                if not makes:
                    raise
                _make_folder(folder, name, user)
                parts.append(name)
                continue
            about = os.fstat(entry)
            if stat.S_ISLNK(about.st_mode) and (follows or not is_last):
                links += 1
                if links > _MOST_LINKS:
                    os.close(entry)
                    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
                if about.st_dev == os.stat("/proc/self").st_dev:
                    os.close(entry)
                    entry = openat2(name, _FOLDER, 0, folder)
                else:
                    try:
                        user = _whose(about.st_uid, user)
                        target = os.readlink("", dir_fd=entry)
                    finally:
                        os.close(entry)
                    parts += reversed(target.split("/"))
                    if target.startswith("/"):
                        entry = os.open("/", _FOLDER)
                    else:
                        continue
            elif is_last:
                os.close(entry)
                return folder, name, user
            elif not stat.S_ISDIR(about.st_mode):
                os.close(entry)
                raise OSError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)
            os.close(folder)
            folder = entry
            if user:
                check(folder, user, SEARCH)
    except BaseException:  # raised again
        os.close(folder)
        raise


def _whose(owner: int, user: int) -> int:
    """The user that counts behind one more link. Raises OSError: what two users may do together nobody may."""
    if not _has_users or owner in (0, user):  # files of the host's have owners that are no user here
        return user
    if user:
        raise OSError(errno.EXDEV, "links of the users %d and %d lead there: name the place itself" % (user, owner))
    return owner
