"""The workload: the same for everybody, in the right mix, and each program really earns the verdict it is given."""

from __future__ import annotations

import contextlib
import io
import sys
from collections import Counter

import pytest
from benchmarks.verdicts import Ending, Verdict, verdict_of
from benchmarks.workload import SUBJECTS, SUITES, Character, Kind, Program, suite

SAFE_TO_RUN_HERE = (Character.OK, Character.WRONG, Character.RAISE)


def run_here(program: Program, monkeypatch: pytest.MonkeyPatch) -> Ending:
    """The ending that a Python process would report, without starting one."""
    stdout = io.StringIO()
    monkeypatch.setattr(sys, "stdin", io.StringIO((program.stdin or b"").decode()))
    try:
        with contextlib.redirect_stdout(stdout):
            exec(compile(program.source, "<program>", "exec"), {"__name__": "__main__"})
    except (AssertionError, ValueError) as error:
        return Ending(returncode=1, stdout=stdout.getvalue().encode(), stderr=repr(error).encode())
    return Ending(returncode=0, stdout=stdout.getvalue().encode(), stderr=b"")


@pytest.mark.parametrize("name", SUITES)
def test_same_name_count_and_seed_give_the_same_programs(name: str) -> None:
    """A suite is a function of its arguments, so two peers see the same programs."""
    assert suite(name, 60, seed=3) == suite(name, 60, seed=3)


def test_another_seed_gives_other_programs_of_the_same_characters() -> None:
    """The seed changes the numbers in the programs, never the mix."""
    one, other = suite("mixed", 100, seed=1), suite("mixed", 100, seed=2)
    assert [program.character for program in one] == [program.character for program in other]
    assert all(a.source != b.source for a, b in zip(one, other, strict=True))


def test_a_longer_suite_begins_with_the_shorter_one() -> None:
    """A program depends on its index alone, not on how many there are."""
    assert suite("mixed", 120)[:40] == suite("mixed", 40)


def test_mixed_has_every_class_in_its_share() -> None:
    """1 in 20 loops, 1 in 20 raises, 1 in 50 over-allocates, 1 in 4 is wrong."""
    counts = Counter(program.character for program in suite("mixed", 100))
    assert counts == {Character.LOOP: 5, Character.RAISE: 5, Character.MEM: 2, Character.WRONG: 25, Character.OK: 63}


@pytest.mark.parametrize("name", ["clean", "stdio"])
def test_suites_without_deadlines_neither_loop_nor_allocate(name: str) -> None:
    """What would measure the time-out instead of the sandbox is left out, the rest keeps its share."""
    counts = Counter(program.character for program in suite(name, 100))
    assert counts == {Character.RAISE: 5, Character.WRONG: 25, Character.OK: 70}


def test_all_eight_functions_are_used_alike() -> None:
    """No function dominates the suite."""
    names = [subject.__name__ for subject, _ in SUBJECTS]
    used = Counter(name for program in suite("clean", 80) for name in names if f"def {name}(" in program.source)
    assert used == dict.fromkeys(names, 10)


@pytest.mark.parametrize("name", SUITES)
def test_every_program_earns_its_expected_verdict(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the generator claims about a program is what running it shows."""
    runnable = [program for program in suite(name, 80) if program.character in SAFE_TO_RUN_HERE]
    assert runnable
    for program in runnable:
        ending = run_here(program, monkeypatch)
        assert verdict_of(ending, program.expected_stdout) is program.expected_verdict, program.source


def test_loops_and_allocations_come_before_the_checks() -> None:
    """A program that loops or over-allocates never reaches an assert that could end it early."""
    for program in suite("mixed", 100):
        if program.character in (Character.LOOP, Character.MEM):
            text = "while True" if program.character is Character.LOOP else "bytearray("
            assert program.source.rindex(text) < program.source.index("\nassert ")
    expected = {program.character: program.expected_verdict for program in suite("mixed", 100)}
    assert (expected[Character.LOOP], expected[Character.MEM]) == (Verdict.TIMEOUT, Verdict.MEMORY)


def test_kinds_differ_in_how_they_are_checked() -> None:
    """Asserts read nothing and are judged by their exit code; stdio programs read and are judged by their output."""
    assert all(
        program.kind is Kind.ASSERTS and program.stdin is None and program.expected_stdout is None
        for program in suite("clean", 20)
    )
    assert all(
        program.kind is Kind.STDIO and program.stdin is not None and program.stdin.count(b"\n") == 3
        for program in suite("stdio", 20)
    )


def test_unknown_suite_is_refused() -> None:
    """A misspelt name does not silently give another mix."""
    with pytest.raises(KeyError):
        suite("cleen", 1)
