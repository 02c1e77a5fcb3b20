"""Lines of a Dockerfile, put together to instructions: parser directives, comments, continued lines, here-documents.

Everything has a bound, since who writes a Dockerfile may be anybody.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from harena.image_build.faults import DockerfileError, fault, shown

MOST_BYTES = 1024 * 1024
"""size limit of a Dockerfile"""
MOST_INSTRUCTIONS = 2000
MOST_HERE_DOCUMENTS = 32
"""number limit for one instruction"""
INSTRUCTIONS = (
    *("ADD", "ARG", "CMD", "COPY", "ENTRYPOINT", "ENV", "EXPOSE", "FROM", "HEALTHCHECK", "LABEL", "MAINTAINER"),
    *("ONBUILD", "RUN", "SHELL", "STOPSIGNAL", "USER", "VOLUME", "WORKDIR"),
)
_WITH_HERE_DOCUMENTS = ("ADD", "COPY", "RUN")
_DIRECTIVE = re.compile(r"#[ \t]*([A-Za-z][A-Za-z0-9]*)[ \t]*=[ \t]*(\S(?:.*\S)?)[ \t]*")
_DIRECTIVES = ("check", "escape", "syntax")
_HERE_DOCUMENT = re.compile(r"([0-9]*)<<(-?)([^<\s]+)")
_BLANKS = " \t\r"


@dataclass(frozen=True, slots=True)
class HereDocument:
    """Text that follows an instruction, to a line that holds its name alone."""

    name: str
    content: str
    expands: bool
    """variables in it are expanded: its name was written without quotes"""
    strips_tabs: bool
    """written with `<<-`; its content has them no more"""


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction, as it is written."""

    line: int
    """number of its first line; the first of a file is 1"""
    name: str
    """in upper case"""
    rest: str
    """what follows the name, with continued lines joined"""
    here_documents: Sequence[HereDocument] = ()


@dataclass(frozen=True, slots=True)
class Lines:
    """A Dockerfile as instructions."""

    escape: str
    """backslash, or a backtick where a directive says so"""
    instructions: Sequence[Instruction]


def read_lines(text: str) -> Lines:
    """Raises DockerfileError."""
    if len(text.encode(errors="replace")) > MOST_BYTES:
        raise DockerfileError(f"the Dockerfile has more than {MOST_BYTES} bytes: shorten it", reason="DOCKERFILE")
    if "\0" in text:
        raise fault(text[: text.index("\0")].count("\n") + 1, "NUL", "a text has no NUL byte", "Remove it.")
    lines = text.removeprefix("\ufeff").split("\n")
    escape, begin = _directives(lines)
    return Lines(escape, _Reader(lines, begin, escape).all())


def _directives(lines: Sequence[str]) -> tuple[str, int]:
    """The escape character, and the number of the first line that is no directive."""
    seen: dict[str, str] = {}
    for number, line in enumerate(lines):
        found = _DIRECTIVE.fullmatch(line.strip(_BLANKS)) if len(line) < 1000 else None
        if found is None or found[1].lower() not in _DIRECTIVES:
            return seen.get("escape", "\\"), number
        name, value = found[1].lower(), found[2]
        if name in seen:
            raise fault(number + 1, f"# {name}", "a parser directive stands once", "Remove one of them.")
        if name == "escape" and value not in ("\\", "`"):
            raise fault(
                number + 1, "# escape", f"{shown(value)} is no escape character", "Write a backslash or a backtick."
            )
        seen[name] = value
    return seen.get("escape", "\\"), len(lines)


class _Reader:
    def __init__(self, lines: Sequence[str], begin: int, escape: str) -> None:
        self._lines = lines
        self._place = begin
        self._escape = escape

    def all(self) -> Sequence[Instruction]:
        found: list[Instruction] = []
        while (text := self._logical()) is not None:
            line, written = text
            name, *behind = written.split(maxsplit=1) or [""]
            rest = behind[0] if behind else ""
            if name.upper() not in INSTRUCTIONS:
                raise fault(line, shown(name), "there is no such instruction", f"There are {', '.join(INSTRUCTIONS)}.")
            if len(found) == MOST_INSTRUCTIONS:
                raise fault(line, name.upper(), f"a Dockerfile has {MOST_INSTRUCTIONS} at most", "Join some of them.")
            documents = self._here_documents(line, name.upper(), rest) if "<<" in rest else ()
            found.append(Instruction(line, name.upper(), rest.strip(_BLANKS), documents))
        return found

    def _logical(self) -> tuple[int, str] | None:
        """The next instruction with its continued lines joined, and the number of its first line."""
        parts: list[str] = []
        line = 0
        while self._place < len(self._lines):
            written = self._lines[self._place].rstrip("\r")
            self._place += 1
            bare = written.strip(_BLANKS)
            if not bare or bare.startswith("#"):
                continue  # also between continued lines
            if not parts:
                line, written = self._place, written.lstrip(_BLANKS)
            end = written.rstrip(_BLANKS)
            if not end.endswith(self._escape) or (len(end) > 1 and end[-2] == self._escape):
                return line, "".join([*parts, written])
            parts.append(end[:-1])
        return (line, "".join(parts)) if parts else None

    def _here_documents(self, line: int, name: str, rest: str) -> Sequence[HereDocument]:
        if name == "ONBUILD":
            return ()
        if name not in _WITH_HERE_DOCUMENTS or rest.lstrip(_BLANKS).startswith("["):
            return ()
        found: list[HereDocument] = []
        for strips, given in here_document_names(rest, self._escape):
            if len(found) == MOST_HERE_DOCUMENTS:
                raise fault(line, name, f"it has more than {MOST_HERE_DOCUMENTS} here-documents", "Use files instead.")
            word = given.strip("\"'")
            found.append(HereDocument(word, self._content(line, name, word, strips), word == given, strips))
        return found

    def _content(self, line: int, name: str, word: str, strips: bool) -> str:
        begin = self._place
        pieces: list[str] = []
        while self._place < len(self._lines):
            written = self._lines[self._place].rstrip("\r")
            self._place += 1
            if strips:
                written = written.lstrip("\t")
            if written == word:
                return "".join(f"{piece}\n" for piece in pieces)
            pieces.append(written)
        raise fault(
            line, name, f"its here-document {shown(word)} has no end",
            f"Write a line with {word} alone behind its text, which begins at line {begin + 1}.",
        )  # fmt: skip


def here_document_names(rest: str, escape: str) -> Sequence[tuple[bool, str]]:
    """Here-documents that an instruction names: whether tabs go, and the name with its quotes. Words in quotes, and
    here-strings (`<<<`), name none."""
    return [
        (bool(found[2]), found[3]) for word in _shell_words(rest, escape) if (found := _HERE_DOCUMENT.fullmatch(word))
    ]


def _shell_words(text: str, escape: str) -> Sequence[str]:
    """Words at blanks and at operators of a shell, with their quotes; only what is needed to find here-documents."""
    words: list[str] = []
    current: list[str] = []
    quote = ""
    place = 0
    while place < len(text):
        char = text[place]
        place += 1
        if quote:
            current.append(char)
            if char == escape and quote == '"' and place < len(text):
                current.append(text[place])
                place += 1
            elif char == quote:
                quote = ""
        elif char in "\"'":
            quote = char
            current.append(char)
        elif char == escape and place < len(text):
            current += (char, text[place])
            place += 1
        elif char in " \t\r\n;|&()>":
            words.append("".join(current))
            current = []
        else:
            current.append(char)
    return [*words, "".join(current)]
