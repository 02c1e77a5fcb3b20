"""Which parts of a text of shell are commands, and which are data: quoted texts, comments and here-documents."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

_HERE_DOCUMENT = re.compile(r"<<(?P<tabs>-?)[ \t]*(?P<quote>[\"'\\]?)(?P<end>[\w.-]+)[\"']?")
_PROGRAM_FOLLOWS = re.compile(r"(?:[ \t]-\w*c|\beval)[ \t]+\$?$")
_READ_BY_SHELL = re.compile(r"(?<![\w.-])(?:ba|da|z|k)?sh\b(?:[ \t]+-\w*)*[ \t]*(?:<<.*)?$")
_INTO_SCRIPT = re.compile(r">[ \t]*[\"']?[\w./${}-]*?([\w-]+\.(?:sh|bash))\b")
_ONLY_LOOKS = re.compile(
    r"\b(?:cmp|diff|comm|e?grep|cat|md5sum|sha\d+sum|cksum|wc|head|tail|read_text|read_bytes|open|filecmp|stat|test)\b|\["
)
_WORD = re.compile(r"\s*(\S+)")
_KEYWORDS = frozenset({
    "if", "then", "do", "else", "elif", "while", "until", "!", "{", "time", "exec", "command", "builtin",
})  # fmt: skip
"""words before a command"""
_CODE, _TEXT, _PARENTHESIS, _BACKTICK = "code", '"', ")", "`"
_LONGEST_LINE = 2000
"""characters: a search that may begin anywhere in a line, and end anywhere, takes their square"""
_MOST_SCRIPTS = 100
"""lines with here-documents of one text of which it is asked whether these are scripts that run: each answer reads the
text"""
_MOST_DEPTH = 20
"""programs inside each other; what is deeper counts as commands"""


def code_mask(text: str, depth: int = 0) -> bytearray:
    """1 for each character that belongs to a command, 0 for the others."""
    if depth > _MOST_DEPTH:
        return bytearray(b"\1" * len(text))
    mask = bytearray(len(text))
    stack = [_CODE]
    waiting: list[tuple[str, bool, bool]] = []  # (end, tabs before it, it is a program) of here-documents
    documents = 0
    is_program, line_end = False, -1  # of the here-documents of the line that ends there
    at = 0
    while at < len(text):
        char, where = text[at], stack[-1]
        mask[at] = where != _TEXT
        if char == "\\":
            at += 2
        elif char == where and where in (_TEXT, _BACKTICK, _PARENTHESIS):
            stack.pop()
            at += 1
        elif text.startswith("$(", at):
            mask[at : at + 2] = b"\1\1"
            stack.append(_PARENTHESIS)
            at += 2
        elif char == "`":
            stack.append(_BACKTICK)
            at += 1
        elif where == _TEXT:
            at += 1
        elif char in "\"'":
            at = _after_quote(text, at, mask, stack, depth)
        elif char == "(":
            stack.append(_PARENTHESIS)
            at += 1
        elif char == "#" and (at == 0 or text[at - 1] in " \t\n;&|("):
            end = text.find("\n", at)
            mask[at : end if end >= 0 else len(text)] = bytes((end if end >= 0 else len(text)) - at)
            at = end if end >= 0 else len(text)
        elif text.startswith("<<<", at):
            at += 3
        elif found := _HERE_DOCUMENT.match(text, at) if char == "<" else None:
            if at > line_end:
                line_end = text.find("\n", at)
                line_end = len(text) if line_end < 0 else line_end
                documents += 1
                line = text[text.rfind("\n", 0, at) + 1 : line_end]
                is_program = _is_program(line, text if documents <= _MOST_SCRIPTS else None)
            waiting.append((found["end"], bool(found["tabs"]), is_program))
            mask[at : found.end()] = b"\1" * (found.end() - at)
            at = found.end()
        elif char == "\n" and waiting:
            at = _after_documents(text, at + 1, mask, waiting, depth)
            waiting.clear()
        else:
            at += 1
    return mask


def _after_quote(text: str, at: int, mask: bytearray, stack: list[str], depth: int) -> int:
    """Where it goes on after the quote that opens here; a text in double quotes may hold commands."""
    line = text[max(text.rfind("\n", max(0, at - 100), at) + 1, at - 100) : at]
    is_program = _PROGRAM_FOLLOWS.search(line) is not None
    if text[at] == '"' and not is_program:
        stack.append(_TEXT)
        return at + 1
    end, has_escapes = at + 1, text[at] == '"' or text[max(at - 1, 0)] == "$"
    while end < len(text) and text[end] != text[at]:
        end += 2 if text[end] == "\\" and has_escapes else 1
    if is_program:
        mask[at + 1 : end] = code_mask(text[at + 1 : end], depth + 1)
    return end + 1


def _after_documents(text: str, at: int, mask: bytearray, waiting: Iterable[tuple[str, bool, bool]], depth: int) -> int:
    for end, has_tabs, is_program in waiting:
        start = at
        while at < len(text):
            stop = text.find("\n", at)
            line = text[at : stop if stop >= 0 else len(text)]
            next_line = stop + 1 if stop >= 0 else len(text)
            if (line.lstrip("\t") if has_tabs else line) == end:
                break
            at = next_line
        if is_program:
            mask[start:at] = code_mask(text[start:at], depth + 1)
        at = next_line if at < len(text) else at
    return at


def _is_program(line: str, text: str | None) -> bool:
    """The here-document of this line goes to a shell, or to a script that is run (`text`; None = that is not asked)."""
    if _READ_BY_SHELL.search(line.partition("<<")[0]):
        return True
    script = None if text is None else _INTO_SCRIPT.search(line[:_LONGEST_LINE])
    return text is not None and script is not None and not is_data(script[1], [text.replace(line, "")])


def is_data(name: str, texts: Iterable[str]) -> bool:
    """A script that is compared or read by all lines that name it, and run by none; a long line may run it."""
    word = re.escape(name)
    runs = re.compile(
        rf"(?<![\w.-])(?:ba|da|z|k)?sh\b[\"',]*[ \t]+(?:-\w+[ \t]+)*[\"'\w./${{}}-]*{word}"
        rf"|(?:\bsource|(?:^|[\s;&|(])\.)[ \t]+\S*{word}|(?:^|[;&|({{!]|\b(?:then|do|if|exec|sudo))[ \t]*\S*{word}"
    )
    lines = [line for text in texts for line in text.split("\n") if name in line]
    if any(len(line) > _LONGEST_LINE for line in lines):
        return False
    return bool(lines) and all(_ONLY_LOOKS.search(line) and not runs.search(line) for line in lines)


def simple_commands(text: str) -> Iterator[tuple[int, str]]:
    """(where it begins, the text) of what lies between separators of a shell's commands."""
    mask = code_mask(text)
    start = 0
    for at, char in enumerate(text):
        if not mask[at] or char not in ";&|\n()`":
            continue
        beside = text[at - 1 : at] + text[at + 1 : at + 2]
        if char == "&" and (">" in beside or "<" in beside):
            continue
        if char == "\n" and text[at - 1 : at] == "\\":
            continue
        yield _stripped(text, start, at)
        start = at + 1
    yield _stripped(text, start, len(text))


def _stripped(text: str, start: int, end: int) -> tuple[int, str]:
    """Without white space and the shell's own words before the command."""
    while (head := _WORD.match(text, start, end)) is not None and head[1] in _KEYWORDS:
        start = head.end()
    at = end if head is None else head.start(1)
    return at, text[at:end]


def line_number(text: str, at: int) -> int:
    """The number of the line of a text that has this place, from 1."""
    return text.count("\n", 0, at) + 1
