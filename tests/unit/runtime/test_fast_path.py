"""The fast path in machine code: its source, and what both sides take for its context."""

from __future__ import annotations

import ctypes
import hashlib
import re
from pathlib import Path

import pytest

from harena.runtime.fast_path import fast_path, fast_path_code, forker_code
from harena.runtime.guest import wire

SOURCE = Path(fast_path.__file__).parent / "fast_path_c"


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
