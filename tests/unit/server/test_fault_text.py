"""A fault is logged whole where it is short, and cut in its middle where a request made it deep or long."""

from __future__ import annotations

import sys

from harena.server.fault_text import MOST_CHAINED, MOST_CHARACTERS, fault_text


def text_of(error: BaseException) -> str:
    """Its text, as it would be in the log."""
    try:
        raise error
    except BaseException:  # noqa: BLE001 (whatever is given is what is logged)
        kind, value, trace = sys.exc_info()
        assert kind is not None
        assert value is not None
        return fault_text((kind, value, trace))


def deep(number: int) -> None:
    """Two functions that call each other, which Python's own text does not shorten."""
    if number == 0:
        raise ValueError("at the end")
    deeper(number - 1)


def deeper(number: int) -> None:
    deep(number)


def test_a_short_fault_is_whole() -> None:
    """With its cause, as Python prints it."""
    try:
        try:
            int("x")
        except ValueError as error:
            raise LookupError("no such number") from error
    except LookupError as error:
        text = text_of(error)
    assert "invalid literal for int()" in text
    assert "direct cause of the following exception" in text
    assert text.endswith("LookupError: no such number")
    assert "left out" not in text


def test_a_deep_fault_keeps_both_ends() -> None:
    """Its first and its last frames, and how many are left out."""
    try:
        deep(400)
    except ValueError as error:
        text = text_of(error)
    assert text.startswith("Traceback")
    assert "test_a_deep_fault_keeps_both_ends" in text
    assert text.endswith("ValueError: at the end")
    assert "frames left out]" in text
    assert len(text) <= MOST_CHARACTERS


def test_a_long_message_is_cut() -> None:
    """So is a chain of many exceptions."""
    assert len(text_of(ValueError("x" * 1_000_000))) < MOST_CHARACTERS + 100
    error = ValueError("number 0")
    for number in range(1, 50):
        following = ValueError(f"number {number}")
        following.__cause__ = error
        error = following
    text = text_of(error)
    assert text.count("ValueError: number") == MOST_CHAINED
    assert text.endswith("ValueError: number 49")
