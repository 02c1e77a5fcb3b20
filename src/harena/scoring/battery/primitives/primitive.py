"""What a primitive of a composed forgery is: one thing that a hostile program does, wherever it is put.

A forgery of the battery is one known attack, whole. A primitive is a part of one; `composition` draws a few of them and
a place for each. Its `act` is a block of statements that may be run at any place. It finds these names there: `os` and
`sys`; `scan(value)`, which looks for something of the form of an answer in a text, bytes or an object and keeps it;
`FOUND`, what has been kept. A composed forgery answers with what it has found, or else with `value`, or else with
something wrong. So it is paid where a primitive reads an answer, or where one changes what is made of a wrong one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from harena.scoring.battery.forgery import ANY, CALLED, JUDGED, TEXTS

SUITES = frozenset({"command"})
PROGRAMS = ANY
"""contracts whose candidate is a program that runs"""
VALUED = CALLED
"""contracts that ask a function of the candidate for a value"""
WRITTEN = TEXTS | JUDGED
"""contracts whose candidate is a text"""


class Kind(StrEnum):
    """What sort of thing a primitive does."""

    READ = "read a place"
    SHADOW = "shadow a name"
    LEAVE = "leave a file"
    PRIORITY = "change a priority"
    SIGNAL = "send a signal"
    OUTPUT = "shape an output"
    HOLD = "hold a resource"
    VALUE = "lie in a value"
    END = "end somehow"
    WRITE = "write a text"


class Place(StrEnum):
    """Where in a program an act runs."""

    IMPORT = "at import"
    ENTRY = "in the entry function"
    EXIT = "at exit"
    THREAD = "in a thread"
    CHILD = "in a child"
    DECORATOR = "in a decorator"
    GETATTR = "in __getattr__"
    METACLASS = "in a metaclass"
    DESTRUCTOR = "in a destructor"
    HANDLER = "in a signal handler"


EVERYWHERE = frozenset(Place)


@dataclass(frozen=True, slots=True, kw_only=True)
class Primitive:
    """One thing that a hostile program does."""

    name: str
    kind: Kind
    act: str = ""
    """statements; an exception of theirs ends nothing, unless the kind is END"""
    top: str = ""
    """definitions that the act or the value needs, once in a program"""
    value: str = ""
    """an expression for what the entry function returns; it may use `arguments`"""
    text: str = ""
    """for kind WRITE: what is added to an answer that is text"""
    files: Mapping[str, str] = field(default_factory=dict)
    """beside the program"""
    contracts: frozenset[str] = PROGRAMS
    """types of scoring contract that it applies to"""
    places: frozenset[Place] = EVERYWHERE
