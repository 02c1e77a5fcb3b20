"""What a candidate's entry is run by: a closed table, by the ending of its name, or where it has none by its `#!` line.

Interpreters other than Python's are there where the image has them. A missing one is told, and the
score is 0: the candidate's own name or first line chose the language, and could choose it to have no score.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath

CHOSEN_LANGUAGE = "(the candidate chose the language)"
"""ends what is said of an entry that nothing can run"""
IDLE_SCRIPT = "true\n"
"""the shell script of a candidate that does nothing"""


@dataclass(frozen=True, slots=True)
class Language:
    """How programs of one language are run."""

    interpreter: str
    """by its name on PATH"""
    nothing: tuple[str, ...]
    """arguments with which the interpreter does nothing"""

    @property
    def does_nothing(self) -> tuple[str, ...]:
        """A command of it that does nothing."""
        return (self.interpreter, *self.nothing)


PYTHON = Language("python", ("-c", ""))
PYTHON3 = Language("python3", ("-c", ""))
"""Python in an image that has it by this name alone"""
_BASH, _SH = Language("bash", ("-c", ":")), Language("sh", ("-c", ":"))
_PERL, _RUBY = Language("perl", ("-e", "")), Language("ruby", ("-e", ""))
SHELLS = (_BASH, _SH)
_NODE, _LUA, _PHP = Language("node", ("-e", "")), Language("lua", ("-e", "")), Language("php", ("-r", ""))

_BY_ENDING = {
    ".py": PYTHON,
    ".sh": _BASH,
    ".bash": _BASH,
    ".pl": _PERL,
    ".rb": _RUBY,
    ".js": _NODE,
    ".mjs": _NODE,
    ".cjs": _NODE,
    ".lua": _LUA,
    ".php": _PHP,
}
_BY_PROGRAM = {
    **{language.interpreter: language for language in _BY_ENDING.values()},
    **dict.fromkeys(("sh", "dash", "ash"), _SH),
}
_SHELL_ENDINGS = (".sh",)
"""endings whose `#!` line says which shell it is"""

NOTHING_BY_ENDING = {
    **dict.fromkeys((".js", ".mjs", ".cjs", ".ts", ".c", ".cc", ".cpp", ".go", ".rs", ".java"), "// nothing\n"),
    ".lua": "-- nothing\n",
    ".php": "<?php\n",
}
"""files that do nothing, where Python's remarks and statements are mistakes"""


def unknown_ending(entry: str) -> str | None:
    """What is wrong with an entry that is to be run, if nothing in the table runs it."""
    ending = PurePosixPath(entry).suffix
    if not ending or ending in _BY_ENDING:
        return None
    return f"{entry!r} cannot be run: its name ends in {ending!r}, and known are {', '.join(_BY_ENDING)}"


def language_of(entry: str, source: str) -> Language:
    """The language of an entry whose ending is known; without an ending, and without a known `#!` line, Python."""
    ending = PurePosixPath(entry).suffix
    by_first_line = _BY_PROGRAM.get(_program(source))
    if ending in _SHELL_ENDINGS:
        return by_first_line if by_first_line in SHELLS else _BASH
    return _BY_ENDING.get(ending) or by_first_line or PYTHON


def _program(source: str) -> str:
    """`#!/usr/bin/env -S python3 -u` -> python"""
    first = source.partition("\n")[0]
    if not first.startswith("#!"):
        return ""
    words = [PurePosixPath(word).name for word in first[2:].split() if not word.startswith("-")]
    name = words[1] if words[:1] == ["env"] and len(words) > 1 else "".join(words[:1])
    return name.rstrip("0123456789.") or name
