"""Names what the thread of an event loop does meanwhile that a disk, a lock of a file or a name server can hold up."""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

WAITING = {
    "posix": frozenset({
        "access", "chmod", "chown", "fdatasync", "fsync", "ftruncate", "link", "listdir", "lstat", "mkdir", "readlink",
        "remove", "rename", "replace", "rmdir", "scandir", "sendfile", "stat", "statvfs", "symlink", "sync", "truncate",
        "unlink", "utime", "waitpid",
    }),
    "fcntl": frozenset({"flock", "lockf"}),
    "_socket": frozenset({"getaddrinfo", "gethostbyname", "getnameinfo"}),
    "time": frozenset({"sleep"}),
}  # fmt: skip
"""functions of modules of C; `open` is heard of with its path, see KERNELS_OWN"""
OBJECTS = {
    "sqlite3": frozenset({"execute", "executemany", "executescript", "commit", "rollback", "fetchone", "fetchall"}),
    "_io": frozenset({"read", "read1", "readall", "readinto", "readline", "readlines", "truncate", "flush"}),
}
"""methods of objects of C"""
KERNELS_OWN = re.compile(
    r"/proc/(loadavg|meminfo|pressure/\w+|sys/kernel/random/boot_id|[0-9]+/stat)$|/sys/fs/cgroup/(?:.+/)?memory[./]|/proc/self/fd/"
)
"""files of no disk, which no program of a sandbox can hold up: what the kernel counts, and (the last) memory that this
process has just filled itself"""
READERS_OF_PROC = frozenset({"harena.jobs.owner"})
"""modules that ask for other things of /proc than files that are opened, and for nothing else"""
_IMPORTS = ("importlib", "_frozen_importlib")

_heard: Callable[[str], None] | None = None
_thread = 0


def _audit(event: str, given: tuple[Any, ...]) -> None:
    heard = _heard
    if heard is None or event != "open" or threading.get_ident() != _thread:
        return
    path = given[0]
    if isinstance(path, bytes):
        path = path.decode(errors="replace")
    if isinstance(path, str) and not KERNELS_OWN.match(path):
        _note(sys._getframe(1), f"open {path}", heard)


def _profile(frame: FrameType, event: str, called: Any) -> None:
    heard = _heard
    if heard is None or event != "c_call" or threading.get_ident() != _thread:
        return
    name, owner = called.__name__, getattr(called, "__self__", None)
    is_function = name in WAITING.get(getattr(called, "__module__", None) or "", ())
    is_method = name in OBJECTS.get(type(owner).__module__, ())
    if is_function or (is_method and not _holds_up_nobody(owner)):
        _note(frame, name, heard)


def _holds_up_nobody(file: Any) -> bool:
    if type(file).__name__ in ("TextIOWrapper", "StringIO", "BytesIO"):  # the log; memory
        return True
    return KERNELS_OWN.match(str(getattr(file, "name", ""))) is not None


def _note(frame: FrameType | None, what: str, heard: Callable[[str], None]) -> None:
    """Of what harena itself does, not its fakes and not what loads modules."""
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if module.startswith((*_IMPORTS, "harena.testing")) or (what == "readlink" and module in READERS_OF_PROC):
            return
        if module.startswith("harena."):
            caller = frame.f_back
            above = caller.f_code.co_qualname if caller is not None else ""
            heard(f"{module}.{frame.f_code.co_qualname}: {what} (asked by {above})")
            return
        frame = frame.f_back


sys.addaudithook(_audit)  # there is no way to take it away: it does nothing while nobody watches


def listen(found: set[str]) -> None:
    """From now on, what this thread does. Call it in the thread of the loop."""
    global _heard, _thread
    _heard, _thread = found.add, threading.get_ident()
    sys.setprofile(_profile)


def end() -> None:
    """Call it in the thread that `listen` was called in."""
    global _heard
    _heard = None
    sys.setprofile(None)


@contextmanager
def watched(found: set[str]) -> Iterator[None]:
    """What this thread does meanwhile."""
    listen(found)
    try:
        yield
    finally:
        end()
