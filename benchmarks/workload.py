"""The workload: seeded, small, independent Python programs with a known verdict each.

Two kinds over the same eight functions (`benchmarks.subjects`):

* asserts: the function and three generated asserts, as HumanEval and MBPP check candidates;
* stdio: the program reads one argument tuple per line and prints the results; exact output decides.

The class of a program follows from its index, so that two suites of one size hold the same mix:
loop 1 in 20, raise 1 in 20, mem 1 in 50, wrong 1 in 4, the rest ok. Suites: `clean` and `stdio` leave out loop and mem
(their time would measure the time-out, not the sandbox); `mixed` has them all.
"""

from __future__ import annotations

import inspect
import random
import string
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from benchmarks import subjects
from benchmarks.verdicts import Verdict

MEM_PROGRAM_BYTES = 1 << 30
"""what a mem program touches, page by page; far above every limit used here"""


class Kind(StrEnum):
    """How a program is checked."""

    ASSERTS = "asserts"
    STDIO = "stdio"


class Character(StrEnum):
    """What a program does, and thereby what its verdict must be."""

    OK = "ok"
    WRONG = "wrong"
    RAISE = "raise"
    LOOP = "loop"
    MEM = "mem"


EXPECTED = {
    Character.OK: Verdict.PASS,
    Character.WRONG: Verdict.FAIL,
    Character.RAISE: Verdict.FAIL,
    Character.LOOP: Verdict.TIMEOUT,
    Character.MEM: Verdict.MEMORY,
}

SUITES: dict[str, tuple[Kind, frozenset[Character]]] = {
    "clean": (Kind.ASSERTS, frozenset({Character.WRONG, Character.RAISE})),
    "mixed": (Kind.ASSERTS, frozenset({Character.WRONG, Character.RAISE, Character.LOOP, Character.MEM})),
    "stdio": (Kind.STDIO, frozenset({Character.WRONG, Character.RAISE})),
}
"""suite -> how its programs are checked, and what they may do beside being right"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """One program of the workload."""

    index: int
    kind: Kind
    character: Character
    source: str
    stdin: bytes | None
    """None = nothing to read"""
    expected_stdout: bytes | None
    """None = the exit code alone decides"""
    expected_verdict: Verdict
    entry_point: str
    """the function that is checked"""
    solution: str
    """`source` without its checks"""
    calls: tuple[tuple[tuple[Any, ...], Any], ...]
    """(arguments, what the right function returns) of each check"""


def suite(name: str, count: int, *, seed: int = 1) -> list[Program]:
    """`count` programs of the suite; the same name, count and seed give the same programs. Raises KeyError."""
    kind, allowed = SUITES[name]
    return [_program(index, kind, _character(index, allowed), seed) for index in range(count)]


def _character(index: int, allowed: frozenset[Character]) -> Character:
    # The residues are chosen so that no index belongs to two classes.
    for character, belongs in (
        (Character.LOOP, index % 20 == 7),
        (Character.RAISE, index % 20 == 10),
        (Character.MEM, index % 50 == 28),
        (Character.WRONG, index % 4 == 1),
    ):
        if belongs and character in allowed:
            return character
    return Character.OK


def _program(index: int, kind: Kind, character: Character, seed: int) -> Program:
    chance = random.Random(f"{seed}/{index}")
    subject, draw = SUBJECTS[index % len(SUBJECTS)]
    calls = [draw(chance) for _ in range(3)]
    values = [subject(*arguments) for arguments in calls]
    if kind is Kind.ASSERTS:
        checks, stdin, stdout = _asserts(subject.__name__, calls, values, character), None, None
    else:
        checks = _stdio_loop(subject.__name__, character)
        stdin = "".join(f"{arguments!r}\n" for arguments in calls).encode()
        stdout = "".join(f"{value}\n" for value in values).encode()
    solution = "\n".join([inspect.getsource(subject), *_misbehaviour(character), ""])
    return Program(
        index=index,
        kind=kind,
        character=character,
        source=solution + "\n".join([*checks, ""]),
        stdin=stdin,
        expected_stdout=stdout,
        expected_verdict=EXPECTED[character],
        entry_point=subject.__name__,
        solution=solution,
        calls=tuple(zip(calls, values, strict=True)),
    )


def _asserts(name: str, calls: list[tuple[Any, ...]], values: list[Any], character: Character) -> list[str]:
    lines = [f"assert {name}(*{call!r}) == {value!r}" for call, value in zip(calls, values, strict=True)]
    if character is Character.WRONG:
        lines[-1] = lines[-1].replace(" == ", " != ")
    return lines


def _stdio_loop(name: str, character: Character) -> list[str]:
    # eval, not ast.literal_eval: importing ast would add a third to the start of the plain interpreter, and a warm one
    # would look better than it is.
    lines = ["import sys", "for line in sys.stdin:", f"    print({name}(*eval(line)))"]
    return [*lines, "print('WRONG')"] if character is Character.WRONG else lines


def _misbehaviour(character: Character) -> list[str]:
    if character is Character.RAISE:
        return ["raise ValueError('raised on purpose')"]
    if character is Character.LOOP:
        return ["while True:", "    pass"]
    if character is Character.MEM:
        return [
            f"block = bytearray({MEM_PROGRAM_BYTES})",
            "for offset in range(0, len(block), 4096):",
            "    block[offset] = 1",
        ]
    return []


def _text(chance: random.Random) -> tuple[Any, ...]:
    half = "".join(chance.choices(string.ascii_lowercase, k=chance.randint(3, 12)))
    return (half + half[::-1] if chance.random() < 0.5 else half,)


def _numbers(chance: random.Random) -> tuple[Any, ...]:
    return ([chance.randint(-50, 50) for _ in range(chance.randint(5, 30))],)


def _matrix(chance: random.Random) -> tuple[Any, ...]:
    width = chance.randint(2, 5)
    return ([[chance.randint(0, 99) for _ in range(width)] for _ in range(chance.randint(2, 5))],)


SUBJECTS: tuple[tuple[Callable[..., Any], Callable[[random.Random], tuple[Any, ...]]], ...] = (
    (subjects.fibonacci, lambda chance: (chance.randint(5, 60),)),
    (subjects.is_palindrome, _text),
    (subjects.unique_sorted, _numbers),
    (subjects.is_prime, lambda chance: (chance.randint(2, 5_000),)),
    (subjects.greatest_common_divisor, lambda chance: (chance.randint(1, 10_000), chance.randint(1, 10_000))),
    (subjects.letter_counts, _text),
    (subjects.transpose, _matrix),
    (subjects.maximum_subarray, _numbers),
)
"""each function with what draws the arguments of one call"""
