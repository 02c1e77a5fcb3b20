"""How the guest's half of the `tests` conversation gets into its interpreter: compiled, where interpreters are alike.

A warm start of an interpreter takes a millisecond, so what it reads and compiles first is felt in every run. `BOOT` is
short, and takes one frame from standard input: the magic number of this interpreter and the driver as its code. Another
interpreter says `NEEDS_SOURCE` before anything else, and is sent the driver's source, and everything after it again.

To unmarshal the driver and to define its functions is still most of what the driver costs, so a warm template does that
once for all its programs (`known_program`). The conversation is the same: the code comes, and is left unread.
"""

from __future__ import annotations

import ast
import importlib.util
import marshal
from functools import cache
from types import CodeType

from harena.core.kept_code import kept_code
from harena.core.models import KnownProgram
from harena.scoring.guest import driver as guest_driver
from harena.scoring.guest_sources import source_of

BOOT = """\
import marshal, os, sys
size, got = int(os.read(0, 8), 16), b""
while len(got) < size:
    got += os.read(0, size - len(got)) or os._exit(0)
same = getattr(sys.modules.get("_frozen_importlib_external"), "MAGIC_NUMBER", None) == got[:4]
harena_guest_driver = {"__name__": "harena_guest_driver"}
exec(marshal.loads(got[4:]) if same else '''
import os
def take(size):
    got = b""
    while len(got) < size:
        got += os.read(0, size - len(got)) or os._exit(0)
    return got
os.write(1, b"00000001S")
skipped_load, skipped_call, source = (take(int(take(8), 16)) for _ in range(3))
exec(compile(source, "<driver>", "exec"))
''', harena_guest_driver)
harena_guest_driver["main"]()
"""
"""for `python -c`"""

_READY = """\
import os
left = int(os.read(0, 8), 16)
while left:
    left -= len(os.read(0, left)) or os._exit(0)
harena_guest_driver["main"]()
"""
"""what is left of BOOT where the driver is there"""

_REHEARSAL = """\
def rehearse():
    # the interpreter adapts code to what it meets by writing into it; what is adapted here is not copied by each fork
    for _ in range(20):
        arguments = decode(encode(("", "def f(x, y=None): return [x]", "f.py", "harena_rehearsal", "f")), 0)[0]
        function = load(arguments)[1]
        question = ((1, [2.0, "a", None]), {}, None, False)
        call(function, decode(encode(question), 0)[0])
        del sys.modules["harena_rehearsal"]
rehearse()
del rehearse
"""

_OWN_FILES = 3
NEEDS_SOURCE = b"S"


def room_for_files(theirs: int) -> int:
    """The limit of descriptors of a program that keeps its own above the candidate's limit."""
    return max(guest_driver.KEPT_FROM, theirs + _OWN_FILES)


def frame(body: bytes) -> bytes:
    """Put a length before a body: the form in which both halves send it."""
    return b"%08x%b" % (len(body), body)


@cache
def code_frame() -> bytes:
    """What `BOOT` takes first."""
    return frame(importlib.util.MAGIC_NUMBER + driver_code())


@cache
def source_frame() -> bytes:
    """What `BOOT` takes after it has said NEEDS_SOURCE, and has left out the two frames that had followed the code."""
    # without its import of `__future__`, which a file of the candidate's could answer before the driver has said a word
    return frame(ast.unparse(_bare(_source())).encode())


@cache
def known_program() -> KnownProgram:
    """BOOT, for templates of interpreters like this one."""
    rehearsal = marshal.dumps(compile(_REHEARSAL, "<rehearsal>", "exec", dont_inherit=True))
    return KnownProgram(
        text=BOOT,
        magic=importlib.util.MAGIC_NUMBER,
        namespace="harena_guest_driver",
        preparation=(driver_code(), rehearsal),
        program=marshal.dumps(compile(_READY, "<string>", "exec", dont_inherit=True)),
    )


@cache
def driver_code() -> bytes:
    """The driver compiled by this interpreter, as `marshal` writes it; others of this magic number can load it."""
    source = _source()
    return kept_code(__file__, source, lambda: marshal.dumps(compiled(source)))


def compiled(source: bytes) -> CodeType:
    """The driver without annotations, which nobody reads there, and so without its import of `__future__`: alone of its
    imports it is a file, and to find and read one in a fresh sandbox takes longer than the driver's whole start."""
    code: CodeType = compile(_bare(source), "<driver>", "exec", dont_inherit=True, optimize=2)
    return code


def _bare(source: bytes) -> ast.Module:
    tree = ast.parse(source)
    tree.body = _without_annotations(tree.body)
    return tree


def _without_annotations(body: list[ast.stmt]) -> list[ast.stmt]:
    """Looks at statements, and those within them, which are the only place of annotations: the first template waits for
    this, and to look into expressions, too, would take twice as long."""
    found: list[ast.stmt] = []
    for node in body:
        if isinstance(node, ast.ImportFrom) and node.module == "__future__":
            continue
        if isinstance(node, ast.AnnAssign):
            assert node.value is not None, "the driver declares no name without a value"
            node = ast.copy_location(ast.Assign(targets=[node.target], value=node.value), node)
        elif isinstance(node, ast.FunctionDef):
            node.returns = None
            rest = [each for each in (node.args.vararg, node.args.kwarg) if each is not None]
            for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs, *rest):
                argument.annotation = None
        for part in (node, *getattr(node, "handlers", ())):
            for block in ("body", "orelse", "finalbody"):
                if inner := getattr(part, block, None):
                    setattr(part, block, _without_annotations(inner))
        found.append(node)
    return found


def _source() -> bytes:
    return source_of(guest_driver).encode()
