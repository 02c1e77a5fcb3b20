"""Init's loop in machine code: its source, and what both sides take for its context."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from harena.runtime import init_loop, init_loop_code, wire

SOURCE = Path(init_loop.__file__).with_suffix(".c")


def test_the_machine_code_is_of_this_source() -> None:
    """Whoever changes the one has to build the other anew: scripts/build-init-loop."""
    assert hashlib.sha256(SOURCE.read_bytes()).hexdigest() == init_loop_code.SOURCE_SHA256
    assert init_loop_code.X86_64.endswith(bytes(8)), "the place of the context's address is at the end"


def test_both_sides_have_the_same_context() -> None:
    """The fields of the C struct are those of the Python one, in order."""
    body = re.search(r"struct context \{(.*?)\n\};", SOURCE.read_text(), re.DOTALL)
    assert body is not None
    declarations = re.sub(r"/\*.*?\*/|\[\d+\]|\(void\)", "", body[1], flags=re.DOTALL)
    names = re.findall(r"(\w+)\)?\s*(?=[,;])", declarations)
    assert names == [name for name, _ in init_loop.Context._fields_]


def test_numbers_are_where_they_are_looked_for() -> None:
    """Indices into the context as ints."""
    context = init_loop.Context
    for index, field in (
        (init_loop.ERROR, context.error),
        (init_loop.STREAMS, context.descriptor_count),
        (init_loop.SIZE, context.size),
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
