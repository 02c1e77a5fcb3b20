"""The shared object that each program of some sandboxes loads."""

from __future__ import annotations

import struct

from harena.runtime.host.own_domains import NAME, shared_object


def test_the_file_is_one_that_any_loader_takes() -> None:
    """Of two pages, none both writable and executable; and no program's stack becomes executable by it."""
    made = shared_object("x86_64")
    assert made[:4] == b"\x7fELF"
    assert struct.unpack_from("<HH", made, 16) == (3, 62)
    count = struct.unpack_from("<H", made, 56)[0]
    segments = [struct.unpack_from("<IIQQQQQQ", made, 64 + 56 * index) for index in range(count)]
    loaded = [segment for segment in segments if segment[0] == 1]
    assert [flags for _, flags, *_ in loaded] == [5, 6]
    for _, _, offset, address, _, in_file, in_memory, align in loaded:
        assert offset == address
        assert offset % align == 0
        assert in_file == in_memory
        assert offset + in_file <= len(made)
    assert [flags for kind, flags, *_ in segments if kind == 0x6474E551] == [6]
    ((_, _, offset, _, _, size, *_),) = [segment for segment in segments if segment[0] == 2]
    entries = dict(struct.iter_unpack("<QQ", made[offset : offset + size]))
    start, first = entries[12], made[entries[12] :]
    assert 0 < start < loaded[0][5]
    assert first.startswith(bytes.fromhex("f30f1efa"))
    assert set(entries) == {0, 5, 6, 10, 11, 12}  # it asks for no library, no symbol and no relocation


def test_other_machines_have_none() -> None:
    assert shared_object("aarch64") == b""


def test_its_name_is_one_that_sanitizers_let_come_first() -> None:
    assert "libasan.so" in NAME
