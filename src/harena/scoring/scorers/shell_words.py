"""Lines of shell in which what a candidate prints is an operator or a pattern.

Where an expansion has no quotes, `[ $x = 7 ]` takes each word of it for one of its own, and `1 -o 1` is true whatever
stands behind it. The right side of `==` in `[[ ]]` is a pattern, and `*` matches everything; so is the first word of
`grep`, and each line of a file that `-f` names.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from harena.scoring.contracts.patterns import compiled
from harena.scoring.scorers.shell_code import code_mask, line_number, simple_commands

_ASSIGNED = re.compile(r"(?<![\w$-])([A-Za-z_]\w*)=[\"']?(?=\$\(|`|\$\{?\w)")
_READS = re.compile(
    r"\b(?:read|mapfile|readarray)\b(?:[ \t]+-\w+)*[ \t]+([A-Za-z_]\w*)[^\n]{0,300}?<[ \t]*([^\n;]{1,300})"
)
_TESTS = re.compile(r"(?<![\w\[$-])(?:\[\[?|test)(?=[ \t])")
_COMPARES = re.compile(r"(?<![=!<>])(?:==?|!=|=~)(?=[ \t])")
_EXPANDED = re.compile(r"\$\{?([A-Za-z_]\w*)")
_SUBSTITUTED = re.compile(r"\$\((?!\()")
_COUNTS = re.compile(
    r"(?:^|\|)[ \t]*(?:wc|stat|cksum|md5sum|sha\d+sum|date|nproc|e?grep[ \t]+(?:-\w+[ \t]+){0,5}-\w*c"
    r"|tr[ \t]+-\w*cd?[ \t]+[\"']?(?:0-9|\[:digit:\]))[^|]*$"
)
"""what prints a number, or a digest, of something"""
_GREP = re.compile(r"(?:\S*/)?[efz]?grep(?=[ \t])")
_OPTION = re.compile(r"[ \t]+(-{1,2}[\w-]+(?:=\S*)?)(?=[ \t])")
_OF_FILE = re.compile(r"(?:[ \t]-\w*f[ \t]*|--file=)[\"']?([\w./$-]+)")
_PATTERN = re.compile(r"[ \t]+[\"']?(?:\$\{?([A-Za-z_]\w*)|\$$|\$(?=\())")
_ONE_WORD = re.compile(r"\S{1,300}")
_LONGEST_LINE = 2000
_MOST_NAMES, _MOST_TESTS = 100, 500


@dataclass(slots=True)
class _Candidates:
    """What of a script is the candidate's word."""

    runs: re.Pattern[str]
    """where a line names its files"""
    files: set[str] = field(default_factory=set)
    variables: set[str] = field(default_factory=set)

    def says(self, text: str) -> bool:
        """What this text prints, or expands to, is the candidate's to choose."""
        if _COUNTS.search(text):
            return False
        if self.runs.search(text) or any(found[1] in self.variables for found in _EXPANDED.finditer(text)):
            return True
        return any(word in self.files for word in re.findall(r"[\w./-]+", text))


def lines_that_take_words(place: str, text: str, candidate: Collection[str], written: re.Pattern[str]) -> Iterator[str]:
    """One sentence for each such line. `candidate`: names of the candidate's files; `written`: where a line
    writes to a file."""
    names = "|".join(re.escape(name) for name in candidate)
    if not names:
        return
    theirs = _Candidates(compiled(rf"(?<![\w.-])(?:{names})(?![\w-])"))
    mask = code_mask(text)
    parts = list(simple_commands(text))
    _learn(theirs, text, mask, written)
    for found in islice(_TESTS.finditer(text), _MOST_TESTS):
        if not mask[found.start()] or not _begins(text, found.start()):
            continue
        double = found[0] == "[["
        words, end = _words(text, found.end(), {"[[": "]]", "[": "]"}.get(found[0], ""))
        weak = _weak_in_pattern(text, words, end, theirs) if double else _weak_in_words(text, words, theirs)
        if weak:
            line = line_number(text, found.start())
            how = "a pattern, on the right of a comparison in `[[ ]]`"
            if not double:
                how = "words of `[ ]`, where it may be an operator (`1 -o 1`)"
            yield f"line {line} of {place} takes what the candidate prints for {how}: put it between double quotes"
    yield from _patterns(place, text, parts, theirs)


def _learn(theirs: _Candidates, text: str, mask: Sequence[int], written: re.Pattern[str]) -> None:
    """Find the files and variables that have what the candidate prints, in the order of the lines."""
    at = 0
    for line in text.split("\n"):
        if 0 < len(line) <= _LONGEST_LINE and len(theirs.files) + len(theirs.variables) < _MOST_NAMES:
            if theirs.says(line):
                theirs.files.update(found[1].removeprefix("./") for found in written.finditer(line))
            for found in _ASSIGNED.finditer(line):
                if mask[at + found.start()] and theirs.says(_value(line, found.end())):
                    theirs.variables.add(found[1])
            for found in _READS.finditer(line):
                if theirs.says(found[2]):
                    theirs.variables.add(found[1])
        at += len(line) + 1


def _value(line: str, at: int) -> str:
    """The inner of a substitution that begins there, else the word."""
    if (found := _SUBSTITUTED.match(line, at)) is not None:
        return line[found.end() : _closed(line, found.end())]
    if line[at : at + 1] == "`":
        end = line.find("`", at + 1, at + _LONGEST_LINE)
        return line[at + 1 : end if end >= 0 else at + _LONGEST_LINE]
    word = _ONE_WORD.match(line, at)
    return "" if word is None else word[0]


def _closed(text: str, at: int) -> int:
    """Where the parenthesis ends whose inner begins there."""
    depth = 1
    for here in range(at, min(len(text), at + _LONGEST_LINE)):
        depth += {"(": 1, ")": -1}.get(text[here], 0)
        if depth == 0:
            return here
    return min(len(text), at + _LONGEST_LINE)


def _begins(text: str, at: int) -> bool:
    """A command begins there."""
    before = text[max(0, at - 40) : at].rstrip(" \t")
    return (
        not before
        or before[-1] in ";&|\n({`!"
        or re.search(r"\b(?:if|then|do|else|elif|while|until)$", before) is not None
    )


def _closes(text: str, at: int, closing: str) -> bool:
    return closing != "" and text.startswith(closing, at) and text[at - 1] in " \t"


def _words(text: str, at: int, closing: str) -> tuple[list[tuple[int, str]], int]:
    """((where, the expansion without quotes), ..., where the command ends)."""
    found: list[tuple[int, str]] = []
    is_quoted = False
    end = min(len(text), at + _LONGEST_LINE)
    while at < end:
        char = text[at]
        if char == "\\":
            at += 2
            continue
        if char == '"':
            is_quoted = not is_quoted
        elif char == "'" and not is_quoted:
            close = text.find("'", at + 1, end)
            at = close if close >= 0 else end
        elif char in "$`":
            value = _value(text, at)
            if not is_quoted and (char == "`" or _SUBSTITUTED.match(text, at) or _EXPANDED.match(text, at)):
                found.append((at, value))
            if (inner := _SUBSTITUTED.match(text, at)) is not None:
                at = _closed(text, inner.end())
            elif char == "`":
                at += len(value) + 1
        elif not is_quoted and (char == "\n" or (char in ";&|" and closing != "]]") or _closes(text, at, closing)):
            break
        at += 1
    return found, at


def _weak_in_words(text: str, words: Sequence[tuple[int, str]], theirs: _Candidates) -> bool:
    return any(_says(text, at, value, theirs) for at, value in words)


def _weak_in_pattern(text: str, words: Sequence[tuple[int, str]], end: int, theirs: _Candidates) -> bool:
    """One of the expansions is behind a comparison, in its word."""
    for at, value in words:
        begin = max(text.rfind(" ", 0, at), text.rfind("\t", 0, at))
        before = text[max(0, begin - 3) : begin].rstrip()
        if begin < end and re.search(r"(?:==?|!=|=~)$", before) and _says(text, at, value, theirs):
            return True
    return False


def _says(text: str, at: int, value: str, theirs: _Candidates) -> bool:
    variable = _EXPANDED.match(text, at)
    return variable[1] in theirs.variables if variable is not None else theirs.says(value)


def _patterns(place: str, text: str, parts: Sequence[tuple[int, str]], theirs: _Candidates) -> Iterator[str]:
    for number, (start, part) in enumerate(parts):
        grep = _GREP.match(part)
        if grep is None or len(part) > _LONGEST_LINE:
            continue
        at, options = grep.end(), ""
        while (option := _OPTION.match(part, at)) is not None:
            at, options = option.end(), f"{options} {option[1]}"
        line = line_number(text, start)
        file = _OF_FILE.search(part)
        if file is not None and theirs.says(file[1]):
            yield (
                f"line {line} of {place} takes the lines of {file[1]}, which the candidate has written, for patterns "
                "of grep: an empty one matches everything; compare with diff or cmp"
            )
            continue
        pattern = _PATTERN.match(part, at)
        if pattern is None or (re.search(r"-\w*F", options) and re.search(r"-\w*x", options)):
            continue
        inner = parts[number + 1][1] if pattern[1] is None and number + 1 < len(parts) else ""
        if pattern[1] in theirs.variables if pattern[1] else theirs.says(inner):
            yield (
                f"line {line} of {place} takes what the candidate prints for a pattern of grep: `.*` matches "
                "everything; compare with `=` between double quotes, or use -Fx"
            )
