"""A library bound ahead: what is changed in it, what is left, and that the interpreter runs with it."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from harena.runtime.host import bound_ahead

JUMP_SLOT, ABSOLUTE, GLOB_DAT, RELATIVE, COPY = 7, 1, 6, 8, 5
FUNCTION, OBJECT, INDIRECT = 2, 1, 10
BASE = 0x1000
# symbol: (type, section, address); 3 lies in another file, 4 has to be asked where its function is
SYMBOLS = ((0, 0, 0), (FUNCTION, 1, 0x1234), (OBJECT, 1, 0x2345), (FUNCTION, 0, 0), (INDIRECT, 1, 0x3456))


def elf(
    *,
    plt: tuple[tuple[int, int], ...] = (),
    rela: tuple[tuple[int, int, int], ...] = (),
    machine: int = 62,
    flags: int = 0,
) -> bytes:
    """One segment: header, program headers, dynamic table, symbols, relocations, then 16 slots of 0x77s."""
    symbols = b"".join(struct.pack("<IBBHQQ", 0, kind, 0, section, value, 0) for kind, section, value in SYMBOLS)
    start = 64 + 2 * 56
    size_of_dynamic = 7 * 16
    at_symbols = start + size_of_dynamic
    at_plt = at_symbols + len(symbols)
    at_rela = at_plt + 24 * len(plt)
    at_slots = at_rela + 24 * len(rela)
    total = at_slots + 16 * 8
    dynamic = b"".join(
        struct.pack("<qQ", tag, value)
        for tag, value in (
            (2, 24 * len(plt)), (23, BASE + at_plt), (6, BASE + at_symbols), (7, BASE + at_rela), (8, 24 * len(rela)),
            (30, flags), (0, 0),
        )
    )  # fmt: skip
    slot = BASE + at_slots
    tables = b"".join(
        struct.pack("<QQq", slot + 8 * index, symbol << 32 | kind, 0) for index, (kind, symbol) in enumerate(plt)
    ) + b"".join(
        struct.pack("<QQq", slot + 8 * index, symbol << 32 | kind, addend)
        for index, (kind, symbol, addend) in enumerate(rela)
    )
    header = b"\x7fELF\x02\x01\x01".ljust(16, b"\0") + struct.pack(
        "<HHIQQQIHHHHHH", 3, machine, 1, 0, 64, 999, 0, 64, 56, 2, 64, 5, 4
    )
    segments = struct.pack("<IIQQQQQQ", 1, 5, 0, BASE, BASE, total, total, 4096) + struct.pack(
        "<IIQQQQQQ", 2, 6, start, BASE + start, BASE + start, size_of_dynamic, size_of_dynamic, 8
    )
    return header + segments + dynamic + symbols + tables + b"\x77" * 16 * 8


def relocations(content: bytes, count: int) -> list[tuple[int, int, int]]:
    """(kind, symbol, addend) of the entries before the slots."""
    first = len(content) - 16 * 8 - 24 * count
    found = struct.iter_unpack("<QQq", content[first : first + 24 * count])
    return [(info & 0xFFFFFFFF, info >> 32, addend) for _, info, addend in found]


def test_slots_of_own_functions_are_filled() -> None:
    """Those of other files, and of functions that choose themselves, are left to the loader."""
    library = elf(plt=((JUMP_SLOT, 1), (JUMP_SLOT, 3), (JUMP_SLOT, 4), (JUMP_SLOT, 2)))
    bound = bound_ahead.bind(library, elf())
    assert bound is not None
    slots = struct.unpack("<16Q", bound[-16 * 8 :])
    untouched = 0x7777777777777777
    assert slots == (0x1234, *[untouched] * 15)


def test_references_to_own_symbols_become_relative() -> None:
    """With the symbol's address, and the addend where one counts."""
    given = ((ABSOLUTE, 1, 8), (GLOB_DAT, 2, 8), (ABSOLUTE, 3, 8), (GLOB_DAT, 4, 0), (RELATIVE, 0, 5))
    bound = bound_ahead.bind(elf(rela=given), elf())
    assert bound is not None
    assert relocations(bound, 5) == [(RELATIVE, 0, 0x1234 + 8), (RELATIVE, 0, 0x2345), *given[2:]]


def test_what_the_executable_copies_is_looked_up() -> None:
    """An object that the executable has a copy of is not the library's any more."""
    given = ((ABSOLUTE, 1, 8), (GLOB_DAT, 2, 0))
    library = elf(rela=given, plt=((JUMP_SLOT, 1),))
    bound = bound_ahead.bind(library, elf(rela=((COPY, 2, 0),)))
    assert bound is not None
    assert relocations(bound, 2) == list(given)
    assert struct.unpack_from("<Q", bound, len(bound) - 16 * 8)[0] == 0x1234


def test_nothing_beside_the_tables_changes() -> None:
    """Only what tells of sections, which a loaded library does not have."""
    library = elf()
    bound = bound_ahead.bind(library + b"debug", elf())
    assert bound is not None
    assert [index for index in range(len(library)) if bound[index] != library[index]] == [40, 41, 60, 62]
    assert len(bound) == len(library)


@pytest.mark.parametrize(
    "content", [b"", b"#!/bin/sh", elf(machine=183), elf(flags=8)], ids=["empty", "text", "arm64", "bound when loaded"]
)
def test_others_are_left_alone(content: bytes) -> None:
    """Nothing to gain, or another machine's."""
    assert bound_ahead.bind(content, elf()) is None


def test_a_broken_file_is_no_disaster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The library then does as it is."""
    library = elf(plt=((JUMP_SLOT, 1),))
    for size in range(64, len(library) - 16 * 8, 7):
        path = tmp_path / f"libpython{size}.so"
        path.write_bytes(library[:size])
        monkeypatch.setattr(bound_ahead, "library_path", lambda path=path: path)
        prepared = bound_ahead.prepared(tmp_path / "home")
        assert prepared is None or prepared.stat().st_size


def test_the_interpreter_runs_with_it(tmp_path: Path) -> None:
    """And looks up fewer symbols. An interpreter without a library of its own needs none."""
    prepared = bound_ahead.prepared(tmp_path)
    if bound_ahead.library_path() is None:
        assert prepared is None
        return
    if prepared is None:
        pytest.fail("this interpreter's library could not be bound ahead")
    assert bound_ahead.prepared(tmp_path) == prepared
    executable = os.path.realpath(sys._base_executable)  # type: ignore[attr-defined]
    lookups = {}
    for name, environment in (("as it is", {}), ("bound", {"LD_LIBRARY_PATH": str(prepared.parent)})):
        done = subprocess.run(
            [executable, "-I", "-c", "import ctypes, json, decimal; print(json.dumps([1, 2.5]))"],
            env={**environment, "LD_DEBUG": "statistics"}, capture_output=True, text=True, check=True,
        )  # fmt: skip
        assert done.stdout == "[1, 2.5]\n"
        last = done.stderr.rpartition("final number of relocations:")[2]
        lookups[name] = int(last.split()[0])
    assert lookups["bound"] < lookups["as it is"] - 300, "those of the modules remain"


def test_a_second_process_leaves_the_first_ones_file(tmp_path: Path) -> None:
    """A template that is being made holds it open, and mounts it a moment later."""
    path = tmp_path / "lib.so"
    bound_ahead._write(path, b"first")
    before = path.stat().st_ino
    bound_ahead._write(path, b"second")
    assert (path.read_bytes(), path.stat().st_ino) == (b"first", before)
    assert [each.name for each in tmp_path.iterdir()] == ["lib.so"]
