"""Runs a trusted piece of test code in the module of a candidate, and gives the proof that it ran to its end.

For data sets whose tests are code (`check(candidate)`, lists of asserts) that cannot be read as calls with known
answers. The candidate shares this process, so none of this is out of its reach; it is out of reach of the
forgeries that are known: ending the process, hooks at its end, builtins of its own, ends of loops, and objects that
equal everything.
"""

from __future__ import annotations

import builtins
import os
import sys

from harena.scoring.guest.equals import equals_everything
from harena.scoring.guest.imports import import_for
from harena.scoring.guest.loops import LOOPS


def main() -> None:
    """argv: the path of the candidate's entry. Standard input: the proof's word, and below it the test code."""
    word, _, source = sys.stdin.buffer.read().decode().partition("\n")
    out = os.dup(1)
    leave, write = os._exit, os.write
    names = vars(builtins)
    kept = dict(names)
    entry = sys.argv[1]
    here = os.path.realpath(os.getcwd())
    path = os.path.join(here, entry)
    import_for(source)
    sys.argv[:] = [path]
    sys.path.insert(0, here)
    module = type(sys)(os.path.splitext(entry)[0].replace("/", "."))
    module.__file__ = path
    sys.modules[module.__name__] = module
    with open(path, encoding="utf-8-sig") as file:
        program = file.read()
    exec(compile(program, path, "exec", dont_inherit=True), vars(module))  # noqa: S102 (the purpose of this process)
    names.update(kept)
    # a copy, so that the candidate's own `abs` or `sorted` is not the tests'
    own = {name: value for name, value in vars(module).items() if name not in kept or name.startswith("__")}
    own.update(LOOPS)
    exec(compile(source, "<asserts>", "exec", dont_inherit=True), own)  # noqa: S102 (the purpose of this process)
    names.update(kept)
    if equals_everything(here, []):
        leave(1)
    write(out, b"\nharena-proof " + word.encode() + b"\n")
    leave(0)
