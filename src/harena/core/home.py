"""Where harena keeps what outlives a process: layers, blueprints, results. Nobody but its owner may look into it."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

from harena.core import settings

PRIVATE_FOLDER_MODE = 0o700
PRIVATE_FILE_MODE = 0o600
_OF_OTHERS = 0o077
_MOUNTED = frozenset({"layers", "images", "interpreters", "empty"})
"""Sandboxes have mounts of what is below these, under another user of the host: only the way there is closed. Earlier
versions kept copies of libraries in `interpreters`; nodes of theirs may still run."""
_KEPT = frozenset({"blueprints", "objects", "training"})
SPOOL = "spool"
"""folder of files that are kept for a short time, by `harena.core.spool`"""
INCOMING = Path("objects", "incoming")
"""the place of objects that are being pushed; see `harena.core.spool`, too"""
_DATABASES = ("harena.db", "access.db")


def harena_home() -> Path:
    """`$HARENA_HOME`, or `~/.local/share/harena` where it is not set. The directory need not exist yet."""
    configured = settings.HOME.read()
    return Path(configured).expanduser() if configured else Path.home() / ".local" / "share" / "harena"


def private_folder(folder: Path) -> None:
    """Make a directory that only its owner can enter, whatever the umask, and so those above it that are missing; what
    is there stays as it is. Raises OSError."""
    try:
        folder.mkdir(mode=PRIVATE_FOLDER_MODE)
    except FileNotFoundError:
        if folder.parent == folder:
            raise
        private_folder(folder.parent)
        folder.mkdir(mode=PRIVATE_FOLDER_MODE, exist_ok=True)
    except FileExistsError:
        if not folder.is_dir():
            raise
        return
    folder.chmod(PRIVATE_FOLDER_MODE)  # an umask may have taken rights of the owner's, too


def private_file(path: Path) -> None:
    """Make an empty file that only its owner can read, whatever the umask; of one that is there, only the rights
    change. Raises OSError.

    A file that is there is not opened: to close it again would drop the locks that SQLite has on it in this process.
    """
    try:
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, PRIVATE_FILE_MODE)
    except FileExistsError:
        _close_path(path)
        return
    try:
        os.fchmod(descriptor, PRIVATE_FILE_MODE)  # an umask may have taken rights of the owner's, too
    finally:
        os.close(descriptor)


def private_opener(path: str, flags: int) -> int:
    """For `open(..., opener=private_opener)`: a file that it creates is its owner's only, whatever the umask."""
    return os.open(path, flags | os.O_CLOEXEC, PRIVATE_FILE_MODE)


def prepare_home(home: Path) -> None:
    """Make harena's home, and take from everybody else what earlier versions, or another umask, let them have of it.

    A directory that harena shares with other things (one with the sticky bit, as /tmp; the user's own home) stays as it
    is: only what harena has made there is closed. A tree is walked only where its top is open, as it is in a home of
    an earlier version. Raises OSError.
    """
    private_folder(home)
    about = home.stat()
    if about.st_uid == os.geteuid() and not about.st_mode & stat.S_ISVTX and not _is_of_others_too(home):
        _close_path(home)
    for entry in os.scandir(home):
        name = entry.name
        if name in _MOUNTED and name != "empty":
            _close_path(Path(entry.path))
        elif name in _KEPT:
            _close_tree(Path(entry.path))
        elif name.startswith(_DATABASES) and entry.is_file(follow_symlinks=False):
            _close_path(Path(entry.path))


def _is_of_others_too(home: Path) -> bool:
    resolved = home.resolve()
    return resolved in (Path("/"), Path.home().resolve())


def _close_tree(top: Path) -> None:
    if top.is_symlink() or not top.stat().st_mode & _OF_OTHERS:
        return
    # the top comes last: a process that is killed before has left it open, and the next one walks again
    for folder, _, names in os.walk(top, topdown=False):
        for name in names:
            _close_path(Path(folder, name))
        _close_path(Path(folder))


def _close_path(path: Path) -> None:
    with suppress(FileNotFoundError):  # removed by its owner in this moment
        about = path.lstat()
        if about.st_mode & _OF_OTHERS and (stat.S_ISREG(about.st_mode) or stat.S_ISDIR(about.st_mode)):
            with suppress(OSError):  # another user's, whose it stays, or a file system that is read only
                path.chmod(stat.S_IMODE(about.st_mode) & ~_OF_OTHERS)
