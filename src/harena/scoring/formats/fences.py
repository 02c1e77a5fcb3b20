"""The fenced blocks of an answer, in the forms in which models write them.

A block begins at a line that begins with a fence (behind the mark of a list item, too), or that ends with one: a marked
one behind words, or any behind a colon. It ends at a fence alone on its line; a block that may hold the program ends
also at a fence with words or a chat token behind it, at one behind its last line of code, and where a marked fence
begins the next block. A fence in a string that goes over several lines, or in a here-document of a shell, ends no
block. Nothing is parsed or run: a text is only cut into tokens.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from harena.scoring.formats.lexemes import literals

PYTHON = frozenset({"python", "python3", "py", "py3", "python-3", "ipython", "jupyter-python", "tool_code"})
"""marks of fenced blocks"""
SHELLS = frozenset({"sh", "bash", "shell", "console", "zsh", "shellscript", "shell-session", "shellsession"})
JAVASCRIPT = frozenset({"javascript", "js", "node", "nodejs", "node.js", "mjs", "cjs", "jsx", "ecmascript"})
NO_LANGUAGE = frozenset({"code", "text", "txt", "plaintext", "plain"})
"""marks that say nothing of the language"""
MOST_PARSED = 128 * 1024
"""characters of a text that is cut into tokens; a longer one with marks in it is taken for an answer"""

_FENCE = re.compile(r"[ \t]*(`{3,}(?=[^`]*$)|~{3,})(.*)")
_MARK = re.compile(r"[ \t]*\{?\.?([\w+#-][\w+#.-]*)")
_BEHIND_WORDS = re.compile(r"[^`]*[^`\s][ \t]*(`{3,})([A-Za-z][\w+#.-]*)[ \t\r]*$")
_LIST_ITEM = re.compile(r"[ \t]*(?:[-*+]|[0-9]{1,9}[.)])[ \t]+(?=`{3}|~{3})")
"""the begin of a list item that begins with a fence: what follows stands as far in as the fence does"""
_BEHIND_CODE = re.compile(r"([^`]*[^`\s])[ \t]*(`{3,})[ \t]*(?:<[^`]*)?\r?$")
_VERSION = re.compile(r"(?<=[a-z])-?[0-9][0-9.]*$")
"""version at the end of the mark of a block: `python3.11`"""
_WRAPPERS = frozenset({"", "markdown", "md"})
"""marks of blocks in which others may begin"""
_MOST_ENDS = 16
"""closing fences that are tried for one block"""
_MOST_TRIED = 1 << 20
"""characters that are cut into tokens to find where the blocks of one text end; from then on a block ends at the first
fence that closes it"""
_CLOSING_INDENT = 3
"""columns that a closing fence may stand further right than its opening one, as in CommonMark"""
_HERE = re.compile(r"(?<!<)<<(-?)[ \t]*([\"']?)(\w+)\2")


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block."""

    language: str
    text: str
    first: int
    """number of its first line in the answer"""
    last: int
    """number of the line after its last one"""


class _Kind(Enum):
    BARE = auto()
    MARKED = auto()
    WITH_TEXT = auto()
    """text behind it that is no mark"""
    BEHIND_WORDS = auto()
    BEHIND_CODE = auto()


@dataclass(frozen=True, slots=True)
class _Fence:
    number: int
    kind: _Kind
    ticks: str
    indent: int
    language: str = ""
    before: str = ""


def is_marked(language: str, languages: Collection[str]) -> bool:
    """Whether a block's mark is one of these, whatever version it names, or a file of theirs: `solution.py`."""
    return not {language, _VERSION.sub("", language), language.rpartition(".")[2]}.isdisjoint(languages)


def blocks(text: str, languages: Collection[str] = PYTHON) -> Iterator[Block]:
    """The fenced blocks; of a text with a single fence, what is before it and what is after it. `languages`: marks of
    the program that is asked for."""
    lines = text.split("\n")
    fences = [fence for number, line in enumerate(lines) if (fence := _fence(number, line)) is not None]
    if len(fences) == 1 and not _begins(fences[0], languages):
        yield from _around(lines, fences[0])
        return
    after, budget = 0, _MOST_TRIED
    for place, fence in enumerate(fences):
        if fence.number < after or (fence.kind is _Kind.BEHIND_CODE and not fence.before.endswith(":")):
            continue
        later = map(fences.__getitem__, range(place + 1, len(fences)))
        closing = _closing(fence, later, languages)
        found: list[Block] = []
        is_open = True
        while is_open and len(found) < _MOST_ENDS:
            end = next(closing, None)
            found.append(_block(lines, fence, end))
            is_open = budget > 0 and _is_open(found[-1].text, languages)
            budget -= len(found[-1].text) if is_open else 0
            if end is None:
                break
        # where no end fits, the quotes are not those of a program
        chosen = found[0 if is_open or budget <= 0 else -1]
        yield chosen
        after = chosen.last


def _fence(number: int, line: str) -> _Fence | None:
    """Fence in a line; None where there is none."""
    if "```" not in line and "~~~" not in line:
        return None
    indent = _indent(line)
    if (item := _LIST_ITEM.match(line)) is not None:
        indent = item.end()
        line = " " * indent + line[indent:]
    if (found := _FENCE.match(line)) is not None:
        behind, mark = found[2].strip(), _MARK.match(found[2])
        language = mark[1].lower() if mark else ""
        is_mark = mark is not None and (not found[2][0].isspace() or behind.lower() in PYTHON | SHELLS)
        kind = _Kind.MARKED if is_mark else _Kind.WITH_TEXT if behind else _Kind.BARE
        return _Fence(number, kind, found[1], indent, language)
    if (found := _BEHIND_WORDS.match(line)) is not None:
        return _Fence(number, _Kind.BEHIND_WORDS, found[1], indent, found[2].lower())
    if (found := _BEHIND_CODE.match(line)) is not None:
        return _Fence(number, _Kind.BEHIND_CODE, found[2], indent, "", found[1])
    return None


def _begins(fence: _Fence, languages: Collection[str]) -> bool:
    """Whether the only fence of a text is the beginning of a block that was cut off."""
    if fence.kind is _Kind.WITH_TEXT:
        return is_marked(fence.language, languages)
    return fence.kind in (_Kind.MARKED, _Kind.BEHIND_WORDS)


def _around(lines: Sequence[str], fence: _Fence) -> Iterator[Block]:
    before = [*lines[: fence.number], *([fence.before] if fence.before else [])]
    for first, part in ((0, before), (fence.number + 1, lines[fence.number + 1 :])):
        if any(line.strip() for line in part):
            yield Block("", "\n".join(part) + "\n", first, first + len(part))


def _closing(opening: _Fence, later: Iterator[_Fence], languages: Collection[str]) -> Iterator[_Fence]:
    """The fences at which a block may end."""
    is_wrapper = opening.language in _WRAPPERS
    may_be_asked_for = is_wrapper or is_marked(opening.language, languages)
    for fence in later:
        closes = fence.ticks.startswith(opening.ticks)
        if fence.kind in (_Kind.MARKED, _Kind.BEHIND_WORDS):
            ends = is_wrapper or (may_be_asked_for and closes and fence.kind is _Kind.MARKED)
        elif fence.kind is _Kind.BEHIND_CODE:
            ends = may_be_asked_for and closes and not _ends_in_a_comment(fence.before)
        else:
            ends = closes and fence.indent <= opening.indent + _CLOSING_INDENT
            ends = ends and (fence.kind is _Kind.BARE or may_be_asked_for)
        if ends:
            yield fence


def _block(lines: Sequence[str], opening: _Fence, end: _Fence | None) -> Block:
    first = opening.number + 1
    last = len(lines) if end is None else end.number
    inside = list(lines[first:last])
    if end is not None and end.before:
        inside.append(end.before)
    begins_another = end is not None and end.kind in (_Kind.MARKED, _Kind.BEHIND_WORDS)
    # a model that leaves the indentation of its list does so from the first line on
    indent = min(opening.indent, next((_indent(line) for line in inside if line.strip()), 0))
    text = "\n".join(line[min(indent, _indent(line)) :] for line in inside) + "\n"
    return Block(opening.language, text, first, last if begins_another else last + 1)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _ends_in_a_comment(line: str) -> bool:
    return "#" in line and any(end == len(line) and line[at] == "#" for at, end in literals(line).places)


def _is_open(program: str, languages: Collection[str]) -> bool:
    """Whether a program ends within what goes over several lines: a string, as a docstring is, or a here-document."""
    if len(program) > MOST_PARSED:
        return False
    if not PYTHON.isdisjoint(languages):
        return ("'''" in program or '"""' in program) and literals(program).ends_in_a_string
    return not SHELLS.isdisjoint(languages) and here_documents(program)[1]


def here_documents(script: str) -> tuple[set[int], bool]:
    """(numbers of the lines of a shell's here-documents, whether the last one never ends)."""
    inside: set[int] = set()
    ends: list[tuple[str, str]] = []
    for number, line in enumerate(script.split("\n")):
        if ends:
            inside.add(number)
            if (line.lstrip("\t") if ends[0][0] else line) == ends[0][1]:
                ends.pop(0)
        elif "<<" in line:
            ends = [(found[1], found[3]) for found in _HERE.finditer(line)]
    return inside, bool(ends)
