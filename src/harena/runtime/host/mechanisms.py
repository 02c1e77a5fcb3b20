"""The mechanisms that make starts fast: what each is, the setting that switches it off, and which are in force here.

Everything works without each of them, slower; `docs/explanation/mechanisms.md` has what each earns and costs. Those
that lean on the insides of CPython are in force only with interpreters that they were tested with (`TESTED`): another
one may be different in exactly what they lean on, and would then run programs wrongly and not just slowly.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from importlib.util import MAGIC_NUMBER

from harena.core.errors import ValidationError

_ON, _OFF = "on", "off"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mechanisms:
    """Which are in force."""

    machine_code: bool = True
    warm_programs: bool = True
    hidden_frames: bool = True
    warm_imports: bool = True
    known_programs: bool = True
    rehearsals: bool = True
    made_ahead: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Mechanism:
    """One of them."""

    name: str
    """the field of `Mechanisms`"""
    does: str
    instead: str
    """what is done where it is off"""
    leans_on_interpreter: bool

    @property
    def variable(self) -> str:
        """The setting: an environment variable, "on" (as where it is not set) or "off"."""
        return f"HARENA_{self.name.upper()}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Interpreter:
    """What tells one kind of interpreter from another: in all releases of a series byte code and structs are the same,
    and a release in the making or of another make differs in one of these."""

    cache_tag: str
    bytecode: int
    """the first two bytes of the magic number of compiled files"""
    abi_flags: str = ""
    """"d" for a debug build, "t" for one without the global lock"""


MECHANISMS = (
    Mechanism(
        name="machine_code",
        does="templates and inits do what is common in machine code, which writes to few pages",
        instead="they do it in Python",
        leans_on_interpreter=True,  # it forks without telling the interpreter where that has nothing to do
    ),
    Mechanism(
        name="warm_programs",
        does="a Python program of a blueprint with a warm list runs in a fork of a started interpreter",
        instead="every program is really started",
        leans_on_interpreter=True,
    ),
    Mechanism(
        name="hidden_frames",
        does="a warm program finds no frame below itself, and recurses as deep as in a real start",
        instead="one frame of harena's is below it; data sets without a blueprint do not start warm",
        leans_on_interpreter=True,
    ),
    Mechanism(
        name="warm_imports",
        does="what a blueprint imports is imported once, and the memory of that process is forked",
        instead="programs of a blueprint that imports or sets anything are really started",
        leans_on_interpreter=True,
    ),
    Mechanism(
        name="known_programs",
        does="what the driver of scored programs begins with is done once, in the template",
        instead="each run does it",
        leans_on_interpreter=False,
    ),
    Mechanism(
        name="rehearsals",
        does="a template walks its forks' way again and again, and makes their streams, before the first fork",
        instead="each fork does for itself what it needs",
        leans_on_interpreter=False,
    ),
    Mechanism(
        name="made_ahead",
        does="sandboxes of a kind that is in demand are made before somebody asks for one",
        instead="each is made when it is asked for",
        leans_on_interpreter=False,
    ),
)

TESTED = (
    Interpreter(cache_tag="cpython-311", bytecode=3495),
    Interpreter(cache_tag="cpython-312", bytecode=3531),
    Interpreter(cache_tag="cpython-313", bytecode=3571),
)
"""what tests/integration/test_warm_in_sandbox.py and test_warm_differential.py have passed with: CPython 3.11.7, 3.12.1
and 3.13.0"""


def running() -> Interpreter:
    """The interpreter of this process, which is that of the default image."""
    return Interpreter(
        cache_tag=sys.implementation.cache_tag or sys.implementation.name,
        bytecode=int.from_bytes(MAGIC_NUMBER[:2], "little"),
        abi_flags=sys.abiflags,
    )


def in_force(environ: Mapping[str, str] | None = None, interpreter: Interpreter | None = None) -> Mechanisms:
    """All that neither a setting nor an interpreter that was not tested switches off. Raises ValidationError for a
    setting that says neither word."""
    off = {each.name for each in switched_off(os.environ if environ is None else environ)}
    if not is_tested(running() if interpreter is None else interpreter):
        off |= {each.name for each in MECHANISMS if each.leans_on_interpreter}
    return without(*off)


def hides_warm_starts() -> bool:
    """Whether a Python program cannot tell a warm start from a real one here. Raises ValidationError, as `in_force`."""
    uses = in_force()
    return uses.warm_programs and uses.hidden_frames


def is_tested(interpreter: Interpreter) -> bool:
    """Whether those that lean on the insides of an interpreter may be in force with this one."""
    return interpreter in TESTED


def switched_off(environ: Mapping[str, str]) -> list[Mechanism]:
    """The mechanisms that settings switch off. Raises ValidationError."""
    return [each for each in MECHANISMS if _says(each.variable, environ) == _OFF]


def without(*names: str) -> Mechanisms:
    """All but these."""
    return replace(Mechanisms(), **dict.fromkeys(names, False))


def _says(variable: str, environ: Mapping[str, str]) -> str:
    said = environ.get(variable, _ON)
    if said not in (_ON, _OFF):
        raise ValidationError(f"{variable}={said!r}: it is {_ON!r} or {_OFF!r} (see docs/explanation/mechanisms.md)")
    return said


assert [each.name for each in MECHANISMS] == [field.name for field in fields(Mechanisms)]
