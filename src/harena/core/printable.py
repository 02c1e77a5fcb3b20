"""Text of others in one line of a terminal or a log."""

from __future__ import annotations


def printable(text: str) -> str:
    """One line of text for a terminal. Names come from data sets and details from candidates: what would move the
    cursor, change colours, turn the reading direction, or cannot be encoded, is the replacement character."""
    return text if text.isprintable() else "".join(char if char.isprintable() else "\ufffd" for char in text)


def printable_lines(text: str) -> str:
    """Several lines, each as a terminal may have it: mistakes and lists of formats have line breaks of their own."""
    return "\n".join(printable(line) for line in text.split("\n"))
