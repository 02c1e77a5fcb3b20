"""Files of /proc hold names that programs choose."""

from __future__ import annotations

import ast
import ctypes
import os
from collections.abc import Iterator
from pathlib import Path

import harena
from harena.runtime.kernel import proc_files
from harena.runtime.spawner import spawner
from parsed_sources import tree_of

PACKAGE = Path(harena.__file__).parent


def text_reads(path: Path) -> Iterator[str]:
    """Calls of `open` that name /proc, and do not read bytes."""
    for call in ast.walk(tree_of(path)):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "open" and call.args:
            mode = [*call.args[1:2], *(word.value for word in call.keywords if word.arg == "mode")]
            is_binary = any(isinstance(part, ast.Constant) and "b" in str(part.value) for part in mode)
            if "/proc" in ast.unparse(call.args[0]) and not is_binary:
                yield f"{path.relative_to(PACKAGE)}:{call.lineno}"


def test_no_file_of_proc_is_read_as_text() -> None:
    """Universal newlines take a character of a name for the end of a line."""
    assert [found for path in sorted(PACKAGE.rglob("*.py")) for found in text_reads(path)] == []


def test_a_name_forges_no_line_and_ends_no_look() -> None:
    """The names of this thread, as the spawner reads them."""
    libc = ctypes.CDLL(None)
    before = proc_files.read(f"/proc/{os.getpid()}/comm").strip()
    expected = spawner._resident_bytes(os.getpid())
    try:
        for name in (b"\rRssAnon", b"\rRssAnon:0", b"\rRssShmem:9", b") Z 1", b"\xff\nRssAnon:"):
            libc.prctl(15, name, 0, 0, 0)
            assert abs(spawner._resident_bytes(os.getpid()) - expected) < 64 << 20
            assert proc_files.fields_after_name(proc_files.read(f"/proc/{os.getpid()}/stat"))[0] == b"R"
    finally:
        libc.prctl(15, before, 0, 0, 0)
