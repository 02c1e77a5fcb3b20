"""From endings to verdicts."""

from __future__ import annotations

import pytest
from benchmarks.verdicts import Ending, Verdict, verdict_of


def ending(
    returncode: int = 0,
    stdout: bytes = b"",
    stderr: bytes = b"",
    *,
    timed_out: bool = False,
    out_of_memory: bool = False,
) -> Ending:
    """An ending with the given differences from a silent success."""
    return Ending(returncode=returncode, stdout=stdout, stderr=stderr, timed_out=timed_out, out_of_memory=out_of_memory)


def test_exit_code_zero_passes_where_no_output_is_expected() -> None:
    """Whatever an asserts program prints does not matter."""
    assert verdict_of(ending(stdout=b"noise\n"), None) is Verdict.PASS


@pytest.mark.parametrize("printed", [b"4", b"4\n\n", b"", b"4\nWRONG\n", b" 4\n"])
def test_output_must_match_to_the_byte(printed: bytes) -> None:
    """Nearly right output fails."""
    assert verdict_of(ending(stdout=b"4\n"), b"4\n") is Verdict.PASS
    assert verdict_of(ending(stdout=printed), b"4\n") is Verdict.FAIL


@pytest.mark.parametrize("returncode", [1, 3, -11, -9])
def test_any_other_end_fails_even_with_the_right_output(returncode: int) -> None:
    """Right output does not make up for a crash."""
    assert verdict_of(ending(returncode, stdout=b"4\n"), b"4\n") is Verdict.FAIL


def test_deadline_wins_over_everything() -> None:
    """A program that was killed at its deadline timed out, whatever else is known of it."""
    assert verdict_of(ending(-9, stdout=b"4\n", timed_out=True, out_of_memory=True), b"4\n") is Verdict.TIMEOUT


def test_memory_is_told_by_the_peer() -> None:
    """A peer that killed the program at its limit says so."""
    assert verdict_of(ending(-9, out_of_memory=True), None) is Verdict.MEMORY


def test_memory_is_told_by_an_uncaught_memory_error() -> None:
    """Under an address-space limit the allocation fails inside the program."""
    trace = b'Traceback (most recent call last):\n  File "<string>", line 9, in <module>\nMemoryError\n'
    assert verdict_of(ending(1, stderr=trace), None) is Verdict.MEMORY


def test_a_mention_of_memory_is_not_the_memory_limit() -> None:
    """Only an uncaught MemoryError counts: not one that was handled, nor one named further up."""
    assert verdict_of(ending(0, stderr=b"MemoryError\n"), None) is Verdict.PASS
    assert verdict_of(ending(1, stderr=b"MemoryError\nValueError: no\n"), None) is Verdict.FAIL
