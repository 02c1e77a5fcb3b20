"""An interpreter's shared library, bound ahead.

An interpreter that is built as a shared library refers to its own functions and types through tables that the dynamic
loader fills by name: for CPython 3.11, 13,000 entries as it is loaded and 1,400 as its functions are first called, a
twentieth of each start. The results are known, because what is referred to lies in the same file. A copy of the library
gets them, as the loader would have put them (ELF, x86-64; System V ABI, AMD64 supplement, "Relocation"):

    R_X86_64_64, R_X86_64_GLOB_DAT    become R_X86_64_RELATIVE: where the library lies, plus the symbol's address in it
    R_X86_64_JUMP_SLOT                stays; bound lazily, its slot holds an address to which the loader adds the same

What changes: a program that the loader is told to look into first (LD_PRELOAD) no longer replaces the library's own.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import struct
import sys
import sysconfig
import tempfile
from pathlib import Path

from harena.core.home import private_folder

_FOLDER_MODE = 0o755
"""mode of the directory that a template shows the library from: its user is another; the directory above is closed"""
_FORMAT = "1"  # of what is kept; part of its name
_HEADER = struct.Struct("<18xH12xQ16xH")  # e_machine, e_phoff, e_phnum
_ABOUT_SECTIONS = ((40, 8), (60, 4))  # e_shoff; e_shnum and e_shstrndx
_SEGMENT = struct.Struct("<IIQQQQQQ")
_DYNAMIC = struct.Struct("<qQ")
_RELOCATION = struct.Struct("<QQq")
_SYMBOL = struct.Struct("<IBBHQQ")
_LOAD, _DYNAMIC_SEGMENT, _X86_64 = 1, 2, 62
_PLTRELSZ, _SYMTAB, _RELA, _RELASZ, _JMPREL, _FLAGS, _FLAGS_1 = 2, 6, 7, 8, 23, 30, 0x6FFFFFFB
_BIND_NOW, _NOW_1 = 8, 1
_ABSOLUTE, _COPY, _GLOB_DAT, _JUMP_SLOT, _RELATIVE = 1, 5, 6, 7, 8
_OBJECT, _FUNCTION = 1, 2


def library_path() -> Path | None:
    """The shared library of this interpreter; None where it has none."""
    name = sysconfig.get_config_var("INSTSONAME")
    if not sysconfig.get_config_var("Py_ENABLE_SHARED") or not name:
        return None
    path = Path(os.path.realpath(sys.base_prefix)) / "lib" / name
    return path if path.is_file() else None


def prepared(home: Path) -> Path | None:
    """This interpreter's library, bound ahead; made once and kept below `home`. None where that cannot be had, and the
    library has to do as it is."""
    library = library_path()
    if library is None:
        return None
    executable = Path(os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable))
    try:
        status = library.stat()
        key = f"{_FORMAT}\0{library}\0{status.st_size}\0{status.st_mtime_ns}\0{executable}"
        kept = home / "interpreters" / hashlib.sha256(key.encode()).hexdigest()[:32] / library.name
        if not kept.exists():
            content = bind(library.read_bytes(), executable.read_bytes())
            private_folder(home)
            private_folder(home / "interpreters")
            private_folder(kept.parent)
            _write(kept, content or b"")
        if kept.parent.stat().st_mode & 0o777 != _FOLDER_MODE:
            kept.parent.chmod(_FOLDER_MODE)
        return kept if kept.stat().st_size else None  # nothing in it: there was nothing to gain
    except (OSError, ValueError, struct.error):
        return None  # a full disk, or a file of another make: it starts a little slower


def _write(path: Path, content: bytes) -> None:
    descriptor, name = tempfile.mkstemp(dir=path.parent)
    try:
        with open(descriptor, "wb") as file:
            file.write(content)
            os.fchmod(file.fileno(), 0o755)
        # Whole or not at all, and never in place of another process's: a template that is being made may have opened
        # that one, and what has lost its name cannot be mounted.
        with contextlib.suppress(FileExistsError):
            os.link(name, path)
    finally:
        os.unlink(name)


def bind(library: bytes, executable: bytes) -> bytes | None:
    """What the loader maps of `library`, with its references to itself bound; None where there is nothing to gain:
    another format or machine, or a library that is bound whole as it is loaded. `executable` uses it: what that has
    copies of has to be looked up. Raises ValueError and struct.error for files that are not what they say."""
    elf = _Elf.of(library)
    if elf is None or not {_PLTRELSZ, _SYMTAB, _JMPREL, _RELA, _RELASZ} <= elf.dynamic.keys():
        return None
    if elf.dynamic.get(_FLAGS, 0) & _BIND_NOW or elf.dynamic.get(_FLAGS_1, 0) & _NOW_1:
        return None
    bound = bytearray(library[: max(offset + size for _, offset, size in elf.loaded)])
    for _, slot, kind, symbol, _ in elf.relocations(_JMPREL, _PLTRELSZ):
        value = elf.own_symbol(symbol, (_FUNCTION,))
        if kind == _JUMP_SLOT and value is not None:
            struct.pack_into("<Q", bound, elf.place(slot), value)
    if not _has_copies(executable):
        for offset, slot, kind, symbol, addend in elf.relocations(_RELA, _RELASZ):
            value = elf.own_symbol(symbol, (_FUNCTION, _OBJECT)) if kind in (_ABSOLUTE, _GLOB_DAT) else None
            if value is not None:
                target = value + (addend if kind == _ABSOLUTE else 0)
                _RELOCATION.pack_into(bound, offset, slot, _RELATIVE, target)
    for offset, size in _ABOUT_SECTIONS:  # which lie behind what is loaded
        bound[offset : offset + size] = bytes(size)
    return bytes(bound)


def _has_copies(executable: bytes) -> bool:
    elf = _Elf.of(executable)
    if elf is None or not {_RELA, _RELASZ} <= elf.dynamic.keys():
        return True
    return any(kind == _COPY for _, _, kind, _, _ in elf.relocations(_RELA, _RELASZ))


class _Elf:
    """What is needed of a file for this machine."""

    @classmethod
    def of(cls, content: bytes) -> _Elf | None:
        if len(content) < 64 or content[:6] != b"\x7fELF\x02\x01":
            return None
        machine, offset, count = _HEADER.unpack_from(content)
        return cls(content, offset, count) if machine == _X86_64 else None

    def __init__(self, content: bytes, segment_offset: int, segment_count: int) -> None:
        self._content = content
        self.loaded: list[tuple[int, int, int]] = []
        """(address, offset in the file, size) of each segment"""
        self.dynamic: dict[int, int] = {}
        for index in range(segment_count):
            kind, _, offset, address, _, size, _, _ = _SEGMENT.unpack_from(
                content, segment_offset + index * _SEGMENT.size
            )
            if kind == _LOAD:
                self.loaded.append((address, offset, size))
            elif kind == _DYNAMIC_SEGMENT:
                self.dynamic.update(_DYNAMIC.iter_unpack(content[offset : offset + size]))

    def place(self, address: int) -> int:
        """Where in the file."""
        for start, offset, size in self.loaded:
            if start <= address < start + size:
                return offset + address - start
        raise ValueError(f"address {address:#x} lies in no segment")

    def relocations(self, table: int, size: int) -> list[tuple[int, int, int, int, int]]:
        """(offset in the file, address, kind, symbol, addend) for each entry of a table."""
        first = self.place(self.dynamic[table])
        entries = _RELOCATION.iter_unpack(self._content[first : first + self.dynamic[size]])
        return [
            (first + index * _RELOCATION.size, slot, info & 0xFFFFFFFF, info >> 32, addend)
            for index, (slot, info, addend) in enumerate(entries)
        ]

    def own_symbol(self, number: int, kinds: tuple[int, ...]) -> int | None:
        """The address of a symbol, if it is one of `kinds` and lies in this file."""
        place = self.place(self.dynamic[_SYMTAB]) + number * _SYMBOL.size
        _, info, _, section, value, _ = _SYMBOL.unpack_from(self._content, place)
        return value if section and info & 15 in kinds else None
