"""What a process has mapped that would lead from one fork of it to another, and private copies of that.

A fork has its own copy of memory that is anonymous and private, and reads the files of trees to which nobody can write.
All else belongs to an object of the kernel that every fork refers to: memory that is mapped as shared, and files of
the kernel's own (memfd, SysV segments, /dev/zero as shared memory, sockets). Even a private mapping of a memfd that can
only be read is one: reading a hole makes a page that stays, is charged to whoever read, and is seen by others.
"""

from __future__ import annotations

import ctypes
import errno
import os
import re

from harena.runtime.kernel import proc_files
from harena.runtime.kernel.syscalls import check, libc

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_PAGE = 4096
_WINDOW = 1 << 30
_READ_BYTES = 1 << 20
_PROT_READ, _PROT_WRITE = 1, 2
_PRIVATE_ANONYMOUS, _NO_RESERVE = 0x22, 0x4000
_MOVE_TO_FIXED = 3
_NO_FILE = b"00:00"
_HEADER = re.compile(
    rb"(?P<start>[0-9a-f]+)-(?P<end>[0-9a-f]+) (?P<permissions>[r-][w-][x-][ps]) [0-9a-f]+ "
    rb"(?P<device>[0-9a-f]+:[0-9a-f]+) (?P<inode>[0-9]+)(?: +(?P<name>[^\n]*))?\Z"
)
_FIELD = re.compile(rb"[A-Za-z_]+:")


class Mapping:
    """One range of addresses."""

    __slots__ = ("file", "name", "permissions", "place", "size")

    def __init__(self, place: int, size: int, permissions: str, name: str, file: tuple[int, int]) -> None:
        self.place = place
        self.size = size
        self.permissions = permissions
        """permissions in the notation of /proc/PID/maps"""
        self.name = name
        """name of the file; whoever has mapped it may have chosen it"""
        self.file = file
        """its device and its inode"""


def shared_by_forks(process: object = "self") -> list[Mapping]:
    """The mappings of a process that its forks would have in common. Raises OSError; ValueError for what no kernel
    writes: a name must not decide what is found."""
    found = []
    begun: re.Match[bytes] | None = None
    for line in proc_files.lines("/proc/%s/smaps" % process):
        header = _HEADER.match(line)
        if header is not None:
            if begun is not None:
                raise ValueError("smaps: a mapping without flags")
            begun = header
        elif begun is None or _FIELD.match(line) is None:
            raise ValueError("smaps: an unknown line")
        elif line.startswith(b"VmFlags:"):
            mapping, flags = _mapping(begun), line.split()
            is_shared = b"sh" in flags and b"mw" in flags  # or may be made writable
            if is_shared or not (begun["device"] == _NO_FILE or _is_of_a_tree(mapping.name)):
                found.append(mapping)
            begun = None
    if begun is not None:
        raise ValueError("smaps: a mapping without flags")
    return found


def _mapping(header: re.Match[bytes]) -> Mapping:
    start, end = int(header["start"], 16), int(header["end"], 16)
    major, _, minor = header["device"].partition(b":")
    file = (os.makedev(int(major, 16), int(minor, 16)), int(header["inode"]))
    name = (header["name"] or b"").decode(errors="replace")
    return Mapping(start, end - start, header["permissions"].decode(), name, file)


def file_of(descriptor: int) -> tuple[int, int]:
    """What `Mapping.file` is of mappings of this file."""
    about = os.fstat(descriptor)
    return about.st_dev, about.st_ino


def _is_of_a_tree(name: str) -> bool:
    """Whether a mapped file lies in a directory. The kernel's own files have no path, or one as if it were deleted; so
    has a file that somebody has removed meanwhile."""
    return name.startswith("/") and not name.endswith(" (deleted)") and not name.startswith("/dmabuf:")


def replace_by_copy(mapping: Mapping) -> None:
    """In this process: put anonymous private memory into its place, with the content that is in memory now. What is
    not there, a hole or past the end of the file, reads as zeros. Raises OSError."""
    protection = sum(bit for letter, bit in (("r", 1), ("w", 2), ("x", 4)) if letter in mapping.permissions)
    place, length = ctypes.c_void_p(mapping.place), ctypes.c_size_t(mapping.size)
    check("mprotect", libc.mprotect(place, length, protection | _PROT_READ))
    libc.mmap.restype = libc.mremap.restype = ctypes.c_void_p
    flags = _PRIVATE_ANONYMOUS | _NO_RESERVE
    copy = libc.mmap(None, length, _PROT_READ | _PROT_WRITE, flags, -1, ctypes.c_long(0))
    check("mmap", -1 if copy in (None, ctypes.c_void_p(-1).value) else 0)
    swapped = _may_be_swapped()
    for start, end, is_there in _ranges(mapping):
        if is_there:
            ctypes.memmove(copy + start, mapping.place + start, end - start)
        elif swapped:
            _copy_by_reading(copy, mapping.place, start, end)
    check("mprotect", libc.mprotect(ctypes.c_void_p(copy), length, protection))
    moved = libc.mremap(ctypes.c_void_p(copy), length, length, _MOVE_TO_FIXED, place)
    check("mremap", 0 if moved == mapping.place else -1)


def _ranges(mapping: Mapping) -> Iterator[tuple[int, int, bool]]:
    """(first byte, end, whether it is in memory), counted from its place."""
    for window in range(0, mapping.size, _WINDOW):
        size = min(_WINDOW, mapping.size - window)
        pages = (ctypes.c_ubyte * (-(-size // _PAGE)))()
        check("mincore", libc.mincore(ctypes.c_void_p(mapping.place + window), ctypes.c_size_t(size), pages))
        states = bytes(pages)
        first = 0
        while first < len(states):
            end = states.find(1 - states[first], first)
            end = len(states) if end < 0 else end
            yield window + first * _PAGE, min(window + end * _PAGE, mapping.size), states[first] == 1
            first = end


def _may_be_swapped() -> bool:
    """Whether something on this host is: it does not count as being in memory."""
    sizes = {line.split()[0]: line.split()[1] for line in proc_files.lines("/proc/meminfo") if line.startswith(b"Swap")}
    return sizes.get(b"SwapTotal:") != sizes.get(b"SwapFree:")


def _copy_by_reading(copy: int, place: int, start: int, end: int) -> None:
    """Through a file, which says what cannot be read, where a look at the memory would end the process."""
    memory = os.open("/proc/self/mem", os.O_RDONLY | os.O_CLOEXEC)
    try:
        while start < end:
            try:
                content = os.pread(memory, min(_READ_BYTES, end - start), place + start)
            except OSError as error:
                if error.errno != errno.EIO:
                    raise
                content = b""
            if content.count(0) != len(content):  # what is zero anyway takes no memory
                ctypes.memmove(copy + start, content, len(content))
            start += len(content) or _PAGE
    finally:
        os.close(memory)
