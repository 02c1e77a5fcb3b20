"""Private copies of what is mapped, in this process."""

from __future__ import annotations

import ctypes
import mmap
import os

import pytest

from harena.runtime.kernel import mappings


def of(name: str) -> list[mappings.Mapping]:
    return [mapping for mapping in mappings.shared_by_forks() if name in mapping.name]


@pytest.mark.parametrize("is_swapped", [False, True])
@pytest.mark.parametrize("flags", [mmap.MAP_PRIVATE, mmap.MAP_SHARED])
def test_a_copy_has_the_content_and_no_file(monkeypatch: pytest.MonkeyPatch, flags: int, is_swapped: bool) -> None:
    """Holes and what is past the end of the file read as zeros, whether or not the host swaps."""
    monkeypatch.setattr(mappings, "_may_be_swapped", lambda: is_swapped)
    file = os.memfd_create("copied")
    os.ftruncate(file, 64 << 10)
    os.pwrite(file, b"first", 0)
    os.pwrite(file, b"last", (64 << 10) - 4)
    memory = mmap.mmap(file, 64 << 10, flags, mmap.PROT_READ)
    os.ftruncate(file, 32 << 10)
    os.pwrite(file, b"later", 20 << 10)
    os.close(file)
    (mapping,) = of("memfd:copied")
    assert (mapping.size, mapping.permissions[:3]) == (64 << 10, "r--")
    mappings.replace_by_copy(mapping)
    assert of("memfd:copied") == []
    assert memory[:5] == b"first"
    assert memory[20 << 10 : (20 << 10) + 6] == b"later\0"
    assert memory[32 << 10 :] == bytes(32 << 10)


def test_memory_of_its_own_and_files_of_trees_are_left() -> None:
    """Anonymous private memory, /dev/zero, libraries, and a shared mapping of a file that is only read."""
    with open("/dev/zero", "rb") as zero, open("/usr/bin/env", "rb") as program:
        kept = [mmap.mmap(zero.fileno(), 4096, mmap.MAP_PRIVATE, mmap.PROT_READ), mmap.mmap(-1, 4096, mmap.MAP_PRIVATE)]
        kept.append(mmap.mmap(program.fileno(), 4096, mmap.MAP_SHARED, mmap.PROT_READ))
    shared = mmap.mmap(-1, 4096)
    places = {mapping.place for mapping in mappings.shared_by_forks()}
    assert ctypes.addressof(ctypes.c_char.from_buffer(shared)) in places
    assert ctypes.addressof(ctypes.c_char.from_buffer(kept[1])) not in places
    assert not of("/dev/zero") or [mapping.permissions for mapping in of("/dev/zero")] == ["rw-s"]
    assert of("/usr/bin/env") == []


@pytest.mark.parametrize("flags", [mmap.MAP_PRIVATE, mmap.MAP_SHARED])
def test_the_name_of_a_file_forges_no_mapping(flags: int) -> None:
    """The kernel escapes the end of a line in a name, but no other character that ends a line of text."""
    for end in ("\r", "\x0b", "\x0c", "\x1c", "\x85", "\n"):
        file = os.memfd_create(f"forged{end}1000-2000 r--p 0 00:00 0 /x")
        os.ftruncate(file, 4096)
        memory = mmap.mmap(file, 4096, flags, mmap.PROT_READ)
        (mapping,) = of("memfd:forged")
        assert (mapping.size, mapping.place > 0x2000) == (4096, True)
        assert mapping.file == mappings.file_of(file)
        memory.close()
        os.close(file)
