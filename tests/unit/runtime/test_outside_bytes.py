"""How much the node writes into sandboxes itself, where no limit of theirs counts it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from harena.runtime.guest import files
from harena.runtime.host.box_files import NotRegularError, OpenFile, write_now
from harena.runtime.host.outside_bytes import MOST_AT_ONCE, MOST_OF_SANDBOX, SHARE_OF_LIMIT, OutsideBytes

MIB = 1 << 20


def filled(counted: OutsideBytes, sandbox: str, size: int, memory_bytes: int | None, workspace: str = "w") -> int:
    """What is written in pieces of this size until no more may be."""
    written = 0
    while counted.take(sandbox, workspace, size, memory_bytes):
        written += size
    return written


@pytest.mark.parametrize("size", [1, 4096, 60_000, MOST_AT_ONCE])
def test_a_sandbox_has_a_small_part_of_its_limit_whatever_the_pieces(size: int) -> None:
    counted = OutsideBytes(1 << 40)
    most = MOST_OF_SANDBOX - MOST_AT_ONCE - 4096
    assert most * size // (size + 4096) <= filled(counted, "a", size, None) <= MOST_OF_SANDBOX
    assert filled(counted, "b", size, 16 * MIB) <= 16 * MIB // SHARE_OF_LIMIT
    assert not counted.take("c", "w", MOST_AT_ONCE + 1, None)
    assert counted.take("a", "w", 0, None)


def test_each_page_that_is_begun_is_counted() -> None:
    """A file of one byte takes a page."""
    assert filled(OutsideBytes(1 << 40), "a", 1, None) <= MOST_OF_SANDBOX // 4096


def test_a_workspace_has_no_more_than_are_left_for_others() -> None:
    """Whatever one has taken, the next one finds room; what has ended gives its part back, once."""
    counted = OutsideBytes(64 * MIB)
    for number in range(100):
        filled(counted, f"a{number}", 100_000, None)
    taken = sum(filled(counted, f"b{number}", 100_000, None, "other") for number in range(100))
    assert 15 * MIB < taken < 22 * MIB
    for _ in range(2):
        for name in [f"{letter}{number}" for letter in "ab" for number in range(100)]:
            counted.give_back(name)
    assert filled(counted, "a0", 100_000, None) > 3 * MIB
    assert counted.take("c", "third", 100_000, None)


@pytest.mark.parametrize("is_refused", [False, True])
def test_a_file_without_a_name_is_read_from_its_beginning(is_refused: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """It lies in memory, or on the disk where the filter refuses memory that no cgroup counts."""

    def refuse(name: str, flags: int) -> int:
        raise PermissionError(1, "refused")

    if is_refused:
        monkeypatch.setattr(os, "memfd_create", refuse)
    descriptor, size, mode = files.open_nameless()
    assert (size, mode, os.fstat(descriptor).st_mode & 0o777) == (0, 0o444, 0o444)
    assert os.readlink(f"/proc/self/fd/{descriptor}").startswith("/tmp/" if is_refused else "/memfd:")
    write_now(descriptor, b"content")
    file = OpenFile(descriptor)
    file.become_read_only()
    assert os.get_blocking(file.descriptor)
    assert os.read(file.descriptor, 100) == b"content"
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.write(file.descriptor, b"x")
    if not is_refused:
        with pytest.raises(OSError, match="not permitted"):
            os.truncate(f"/proc/self/fd/{file.descriptor}", 0)
    file.close()


@pytest.mark.parametrize("flags", [os.O_PATH, os.O_RDONLY, os.O_WRONLY])
def test_a_file_that_an_init_could_not_read_is_not_opened_for_it(flags: int) -> None:
    """An init may name files that only this process may read."""
    secret = Path("/dev/shm") / f"harena-{os.getpid()}"
    secret.write_text("for the server only")
    try:
        assert_refused(OpenFile(os.open(secret, flags)))
    finally:
        secret.unlink()


def test_a_file_of_the_kernels_is_not_opened_anew() -> None:
    """What some of them say depends on who opens them."""
    assert_refused(OpenFile(os.open("/proc/self/comm", os.O_RDWR)))


def assert_refused(file: OpenFile) -> None:
    with pytest.raises(NotRegularError):
        file.become_read_only()
    file.close()
