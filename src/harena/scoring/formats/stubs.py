"""Whether a program gives a function or class a body, or only says its signature.

    def double(x: int) -> int:
        \"\"\"Twice the number.\"\"\"
        ...

Nothing is parsed or run here: a text is only cut into tokens.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from harena.scoring.formats.lexemes import literals

_PART = re.compile(r"[\n()\[\]{}:]|[^\n()\[\]{}:]+")
_HEADER = re.compile(r"(?:(?:async[ \t]+)?def|class)[ \t]+(\w+)")
_NOTHING = re.compile(
    r"(?:[\s;\\]|\.\.\.|pass\b|[rRuU]\b|raise[ \t]+NotImplementedError\b(?:\(\s*\))?)*|@.*", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class _Line:
    """A logical line; of the header of a definition what is behind its colon."""

    indent: int
    defines: str
    says: str


def has_body(program: str, name: str) -> bool:
    """Whether a definition of the name does more than `...`, `pass`, a docstring and to raise NotImplementedError. Also
    where that cannot be told."""
    lines = list(_lines(_without_literals(program)))
    defined = [index for index, line in enumerate(lines) if line.defines == name]
    return not defined or any(_does_something(lines, index) for index in defined)


def _does_something(lines: list[_Line], header: int) -> bool:
    if _NOTHING.fullmatch(lines[header].says) is None:
        return True
    for line in lines[header + 1 :]:
        if line.indent <= lines[header].indent and (line.says or line.defines):
            return False
        if _NOTHING.fullmatch(line.says) is None:
            return True
    return False


def _without_literals(program: str) -> str:
    outside, at = [], 0
    for first, last in literals(program).places:
        outside.append(program[at:first])
        at = last
    return "".join([*outside, program[at:]])


def _lines(code: str) -> Iterator[_Line]:
    """The logical lines of code without strings and comments."""
    parts: list[str] = []
    depth, header_parts = 0, 0
    for found in _PART.finditer(code + "\n"):
        part = found[0]
        depth = max(0, depth + (part in "([{") - (part in ")]}"))
        if part == "\n" and (depth == 0 or found.end() > len(code)):
            yield _line("".join(parts[:header_parts]), "".join(parts[header_parts:]))
            parts, header_parts = [], 0
            continue
        if part == ":" and depth == 0 and not header_parts:
            header_parts = len(parts) + 1
        parts.append(part)


def _line(before: str, behind: str) -> _Line:
    """`before`: up to the first colon outside of brackets."""
    whole = before + behind
    indent = len(whole) - len(whole.lstrip())
    header = _HEADER.match(before.strip())
    return _Line(indent, "" if header is None else header[1], (whole if header is None else behind).strip())


__all__ = ["has_body"]
