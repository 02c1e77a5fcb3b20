"""The fast path in machine code: its source, and what both sides take for its context."""

from __future__ import annotations

import ast
import ctypes
import hashlib
import re
import subprocess
import sys
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from harena.runtime.fast_path import fast_path, fast_path_code, forker_code
from harena.runtime.guest import wire

ROOT = Path(__file__).parents[3]
sys.path.insert(0, str(ROOT / "scripts"))

import no_skips  # noqa: E402

SOURCE = Path(fast_path.__file__).parent / "fast_path_c"
COMMITTED = ("fast_path_code.py", "forker_code.py")
ANOTHER_COMPILER = 77
"""how scripts/build-fast-path ends where the pinned compiler is not installed"""


def test_the_machine_code_is_of_this_source() -> None:
    """Whoever changes the one has to build the other anew: scripts/build-fast-path."""
    source = b"".join(path.read_bytes() for path in sorted(SOURCE.iterdir()))
    assert hashlib.sha256(source).hexdigest() == fast_path_code.SOURCE_SHA256
    assert fast_path_code.X86_64.endswith(bytes(8)), "the place of the context's address is at the end"


def test_the_forkers_machine_code_is_of_its_source() -> None:
    """The same for what forks the memory of a blueprint's modules."""
    paths = [*sorted((SOURCE.parent / "forker_c").iterdir()), SOURCE / "kernel.h"]
    source = b"".join(path.read_bytes() for path in paths)
    assert hashlib.sha256(source).hexdigest() == forker_code.SOURCE_SHA256


def test_the_pinned_compiler_gives_the_committed_machine_code(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """Byte for byte, with all that the files say besides. Another compiler says nothing about them; continuous
    integration has the pinned one, or it fails."""
    allowed = no_skips.read_allowed((ROOT / ".ci" / "allowed-skips").read_text(encoding="utf-8"))
    assert not any(fnmatchcase(request.node.nodeid, pattern) for pattern in allowed)
    built = subprocess.run(
        [ROOT / "scripts" / "build-fast-path", tmp_path], capture_output=True, text=True, check=False, timeout=120
    )
    if built.returncode == ANOTHER_COMPILER:
        pytest.skip(f"the pinned compiler is not here: {built.stderr.strip()}")
    assert built.returncode == 0, built.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(COMMITTED)
    for name in COMMITTED:
        committed = (SOURCE.parent / name).read_text(encoding="utf-8")
        assert (tmp_path / name).read_text(encoding="utf-8") == committed, f"run scripts/build-fast-path: {name}"


def _blobs(tree: ast.AST) -> Iterator[bytes]:
    """Constants that may be a program: bytes that are no text, written as they are, as hexadecimal or as base 64."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, bytes):
            yield node.value
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value.replace("\n", "")
            if len(text) >= 64 and re.fullmatch(r"(?:[0-9a-f]{2})+", text, re.IGNORECASE):
                yield bytes.fromhex(text)
            elif len(text) >= 256 and re.fullmatch(r"[A-Za-z0-9+/_-]+={0,2}", text):
                yield b"\x80" * len(text)


def test_nothing_else_in_the_source_is_machine_code() -> None:
    """What is committed as bytes is built by scripts/build-fast-path, so that somebody can read where it came from."""
    found = set()
    for path in sorted((ROOT / "src").rglob("*.py")):
        if any(
            len(blob) >= 32 and sum(byte >= 0x80 for byte in blob) * 8 >= len(blob)
            for blob in _blobs(ast.parse(path.read_text(encoding="utf-8")))
        ):
            found.add(path.name)
    assert found == set(COMMITTED)
    files = [path for path in (ROOT / "src").rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    assert [path.name for path in files if b"\0" in path.read_bytes()] == []


@pytest.mark.parametrize(
    ("name", "ours"),
    [("context", fast_path.Context), ("launch", fast_path.Launch)],
)
def test_both_sides_have_the_same_structs(name: str, ours: type[ctypes.Structure]) -> None:
    """The fields of the C struct are those of the Python one, in order."""
    body = re.search(rf"struct {name} \{{(.*?)\}};", (SOURCE / "context.h").read_text(), re.DOTALL)
    assert body is not None
    declarations = re.sub(r"/\*.*?\*/|\[\w+\]|\(void\)", "", body[1], flags=re.DOTALL)
    names = re.findall(r"(\w+)\)?\s*(?=[,;])", declarations)
    assert names == [name for name, *_ in ours._fields_]


def test_numbers_are_where_they_are_looked_for() -> None:
    """Indices into the context as ints."""
    context = fast_path.Context
    for index, field in (
        (fast_path.ERROR, context.error),
        (fast_path.STREAMS, context.descriptor_count),
        (fast_path.SIZE, context.size),
    ):
        assert index * 4 == field.offset


def test_an_order_travels_unchanged() -> None:
    """Whatever words it has, with an environment of its own or the template's."""
    given = {"HOME": "/root"}
    for env in (None, {}, {"A": "b=c", "EMPTY": ""}):
        message = wire.encode_order(7, wire.WARM, ["python", "", "ä\udcff"], env, "/tmp", open_files=9, cpu_seconds=3)
        order = wire.decode_order(message, given)
        assert (order.number, order.argv, order.cwd) == (7, ["python", "", "ä\udcff"], "/tmp")
        assert (order.open_files, order.cpu_seconds) == (9, 3)
        assert order.env == (given if env is None else env)
        assert order.flags == wire.WARM | (0 if env is None else wire.OWN_ENVIRONMENT)
