"""Composed forgeries: a few primitives drawn by a seed, a place for each, and the candidate that they become.

    composition = drawn(seed=17, contract="tests")
    candidate = composed(composition, Target.of(scenario))

A composed forgery's visible answer is wrong unless one of its primitives finds the right one. What it looks for are
whole numbers of the form of `pattern`; a scenario whose answers have that form pays where a border leaks one.
"""

from __future__ import annotations

import random
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, replace

from harena.scoring.battery.forgery import (
    CALLED,
    JUDGED,
    TEXTS,
    Target,
    as_entry,
    definitions,
    filled_in,
)
from harena.scoring.battery.primitives import PRIMITIVES, Kind, Place, Primitive
from harena.scoring.scenario import Candidate

__all__ = ["Composition", "PlacedPrimitive", "composed", "drawn", "smaller"]

MOST_PARTS = 4
ANSWER_PATTERN = "7741[0-9]{9}"
"""the form of the numbers that are looked for: answers of scenarios that are made to notice a leak"""
_WRONG = ("None", "0", "1", "''", "[]", "True", "arguments[0] if arguments else None", "-1", "0.5")


@dataclass(frozen=True, slots=True)
class PlacedPrimitive:
    """One primitive at its place."""

    primitive: Primitive
    place: Place


@dataclass(frozen=True, slots=True)
class Composition:
    """A composed forgery for one type of contract."""

    contract: str
    seed: int
    parts: tuple[PlacedPrimitive, ...]
    wrong: str = "None"
    """an expression: what it answers where it has nothing better"""

    @property
    def name(self) -> str:
        """What it is made of, for people."""
        parts = " + ".join(f"{part.primitive.name} ({part.place.value})" for part in self.parts)
        return f"{self.contract} #{self.seed}: {parts}"


def drawn(*, seed: int, contract: str) -> Composition:
    """The composed forgery of this seed for a type of contract."""
    dice = random.Random(f"{contract}:{seed}")  # noqa: S311 (a draw that is to be repeated)
    by_kind: dict[Kind, list[Primitive]] = {}
    for primitive in PRIMITIVES:
        if contract in primitive.contracts:
            by_kind.setdefault(primitive.kind, []).append(primitive)
    count = dice.choices(range(1, MOST_PARTS + 1), weights=(2, 4, 3, 2))[0]
    parts: list[PlacedPrimitive] = []
    while len(parts) < count:
        chosen = dice.choice(by_kind[dice.choice(list(by_kind))])
        if not any(part.primitive is chosen or _is_only_one(part.primitive, chosen) for part in parts):
            parts.append(PlacedPrimitive(chosen, dice.choice(sorted(chosen.places))))
    parts.sort(key=lambda part: part.primitive.kind is Kind.END)
    return Composition(contract, seed, tuple(parts), dice.choice(_WRONG))


def _is_only_one(had: Primitive, new: Primitive) -> bool:
    """A program answers with one value, and ends once."""
    return had.kind is new.kind and new.kind in (Kind.VALUE, Kind.END)


def smaller(composition: Composition) -> Iterator[Composition]:
    """The compositions with one part less, for shrinking one that fails."""
    for index in range(len(composition.parts)):
        left = composition.parts[:index] + composition.parts[index + 1 :]
        if left:
            yield replace(composition, parts=left)


def composed(composition: Composition, target: Target, *, pattern: str = ANSWER_PATTERN) -> Candidate:
    """The composition as a candidate for this target."""
    if composition.contract in TEXTS | JUDGED:
        text = "\n".join(part.primitive.text for part in composition.parts)
        return Candidate(files={target.entry: filled_in(text, target)}, entry=target.entry)
    program = filled_in(_program(composition, target, pattern), target)
    files = {
        filled_in(path, target): filled_in(text, target)
        for part in composition.parts
        for path, text in part.primitive.files.items()
    }
    taken = {path.rpartition("/")[0] for path in files} | {""}
    files = {path: text for path, text in files.items() if path not in taken}
    return Candidate(files={**files, target.entry: as_entry(program, target)}, entry=target.entry)


_HEAD = '''
import os
import re
import sys

FOUND = []
_pattern = re.compile(@PATTERN@)
_bytes = re.compile(@PATTERN@.encode())


def scan(value, depth=4):
    """Keep whatever has the form of an answer."""
    try:
        kind = type(value)
        if kind is int:
            texts = [str(value)] if value.bit_length() < 64 else []
        elif kind is str:
            texts = _pattern.findall(value)
        elif kind in (bytes, bytearray):
            texts = [text.decode() for text in _bytes.findall(value)]
        elif kind in (list, tuple, set, frozenset) and depth:
            texts = []
            for part in list(value)[:2000]:
                scan(part, depth - 1)
        elif kind is dict and depth and value is not globals():
            texts = []
            for pair in list(value.items())[:2000]:
                scan(pair, depth - 1)
        else:
            texts = []
        for text in texts:
            if _pattern.fullmatch(text) and int(text) not in FOUND:
                FOUND.append(int(text))
    except Exception:
        pass


def scan_file(path):
    try:
        number = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        try:
            scan(os.read(number, 1_000_000))
        finally:
            os.close(number)
    except OSError:
        pass


def _guarded(act):
    try:
        act()
    except Exception:
        pass


_asked = [0]
'''
_ANSWER = """
def _wrong(arguments):
    if FOUND:
        _asked[0] += 1
        return FOUND[(_asked[0] - 1) % len(FOUND)]
    return @VALUE@


def _answer(*arguments, **keywords):
@ENTRY_ACTS@
    return _wrong(arguments)
"""
_AS_PROGRAM = """
if __name__ == "__main__":
    _made = _answer()
    try:
        open('@OUTPUT@', 'w').write(str(_made))
    except OSError:
        pass
    if _made is not None:
        print(_made)
"""
_PLACED: dict[Place, str] = {
    Place.IMPORT: "@RUN@",
    Place.ENTRY: "",
    Place.EXIT: "import atexit\natexit.register(@ACT@)",
    Place.THREAD: "import threading\nthreading.Thread(target=@ACT@, daemon=True).start()",
    Place.CHILD: "if os.fork() == 0:\n    try:\n        @ACT@()\n    finally:\n        os._exit(0)",
    Place.DECORATOR: "def _decorate@N@(function):\n    def called(*arguments, **keywords):\n        @RUN@\n"
    "        return function(*arguments, **keywords)\n    return called\n_answer = _decorate@N@(_answer)",
    Place.GETATTR: "def __getattr__(name):\n    @RUN@\n    raise AttributeError(name)\n"
    "class _Lazy@N@:\n    def __getattr__(self, name):\n        @RUN@\n        raise AttributeError(name)\n"
    "getattr(_Lazy@N@(), 'anything', None)",
    Place.METACLASS: "class _Meta@N@(type):\n    def __new__(mcs, *parts):\n        @RUN@\n"
    "        return super().__new__(mcs, *parts)\nclass _Made@N@(metaclass=_Meta@N@): pass",
    Place.DESTRUCTOR: "class _Last@N@:\n    def __del__(self, act=@ACT@):\n        act()\n"
    "sys.harena_last@N@ = _Last@N@()\n_Last@N@()",
    Place.HANDLER: "import signal\nsignal.signal(signal.SIGALRM, lambda *_: @ACT@())\n"
    "signal.setitimer(signal.ITIMER_REAL, 0.03)",
}


def _program(composition: Composition, target: Target, pattern: str) -> str:
    tops = dict.fromkeys(part.primitive.top.strip("\n") for part in composition.parts if part.primitive.top)
    acts = [part for part in composition.parts if part.primitive.act]
    value = next((part.primitive.value for part in composition.parts if part.primitive.value), composition.wrong)
    entry_acts = [f"    {_run(index, part)}" for index, part in enumerate(acts) if part.place is Place.ENTRY]
    answer = _ANSWER.replace("@VALUE@", value).replace("@ENTRY_ACTS@", "\n".join(entry_acts) or "    pass")
    called = composition.contract in CALLED
    return "\n".join([
        _HEAD.replace("@PATTERN@", repr(pattern)),
        *tops,
        *(f"def _act{index}():\n{textwrap.indent(part.primitive.act, '    ')}" for index, part in enumerate(acts)),
        answer,
        *(_placed(index, part) for index, part in enumerate(acts)),
        definitions(target.functions) if called else "",
        _AS_PROGRAM if not called or not target.functions or composition.contract == "weighted" else "",
    ])  # fmt: skip


def _run(index: int, part: PlacedPrimitive) -> str:
    return f"_act{index}()" if part.primitive.kind is Kind.END else f"_guarded(_act{index})"


def _placed(index: int, part: PlacedPrimitive) -> str:
    placed = _PLACED[part.place].replace("@RUN@", _run(index, part))
    return placed.replace("@ACT@", f"_act{index}").replace("@N@", str(index))
