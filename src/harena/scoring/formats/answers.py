"""The program in what a model wrote, where that is more than the program: reasoning, an explanation, fenced code.

    <think>Twice means ...</think>
    Here it is:
    ```python
    def double(x):
        return 2 * x
    ```

A text is such an answer if a fence or the end of a reasoning stands in it outside of Python's strings and comments;
every other text is a program as it is. Reasoning is left out: all up to the `</think>` that ends it; one in a string or
a comment of a program ends none. An answer that begins with `<think>` and never ends it says nothing. Of the fenced
blocks those that are marked as Python count, or, where there are none, those without a mark; of these the last one that
defines what is asked for, or, where none does, the last one. A fence inside of a string that goes over several lines
ends no block. An answer that was cut off inside a block has that block.

Nothing is parsed or run here: a text is only cut into tokens.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from harena.scoring.formats.lexemes import literals

REASONING_BEGIN, REASONING_END = "<think>", "</think>"
PYTHON = frozenset({"python", "python3", "py", "py3", "python-3"})
"""marks of fenced blocks"""

_BEGIN = re.compile(rf"\s*{re.escape(REASONING_BEGIN)}")
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})[ \t]*([\w+#.-]*)")
_VERSION = re.compile(r"(?<=[a-z])-?[0-9][0-9.]*$")
"""of the mark of a block: `python3.11`"""
_MARKER = re.compile(rf"^[ \t]*(?:`{{3,}}|~{{3,}})|{re.escape(REASONING_END)}", re.MULTILINE)
UNENDED = "the answer never ends its reasoning: it says nothing"
_MOST_CUTS = 8
"""ends of reasoning that are looked at one by one; of a text with more, all but what is after the last is left out"""
_MOST_PARSED = 128 * 1024
"""characters of a text that is cut into tokens; a longer one with marks in it is taken for an answer"""
_MOST_ENDS = 16
"""closing fences that are tried for one block"""
_MOST_TRIED = 1 << 20
"""characters that are cut into tokens to find where the blocks of one text end; from then on a block ends at the first
fence that closes it"""
_CLOSING_INDENT = 3
"""columns that a closing fence may stand further right than its opening one, as in CommonMark"""


@dataclass(frozen=True, slots=True)
class _Block:
    language: str
    text: str
    first: int
    """number of its first line in the answer"""
    last: int
    """number of the line after its last one"""


def final_answer(text: str) -> str:
    """What is said after a reasoning at the beginning; nothing, where that reasoning never ends. A text that begins
    with none is all answer."""
    at = 0
    while _BEGIN.match(text, at):
        end = text.find(REASONING_END, at)
        if end < 0:
            return ""
        at = end + len(REASONING_END)
    return text[at:].lstrip() if at else text


def program_in(text: str, names: Collection[str] = (), *, languages: Collection[str] = PYTHON) -> str:
    """The program of an answer; `names`: functions or classes of which it shall define one. The text itself where it
    is a program. `languages`: marks of fenced blocks that count, where it is no Python that is asked for."""
    is_python = not PYTHON.isdisjoint(languages)
    said = _without_reasoning(text, is_python=is_python)
    if _MARKER.search(said) is None or (is_python and _is_program(said)):
        return said if said is text else said.lstrip("\n")
    blocks = list(_blocks(said))
    marked = [block for block in blocks if not {block.language, _VERSION.sub("", block.language)}.isdisjoint(languages)]
    unmarked = [block for block in blocks if not block.language]
    for pool in (marked, unmarked):
        defining = [block for block in pool if any(_defines(block.text, name) for name in names)]
        if defining:
            return defining[-1].text
    pool = marked or unmarked
    return pool[-1].text if pool else said.lstrip("\n")


def _without_reasoning(text: str, *, is_python: bool) -> str:
    """A chat template may have opened the reasoning in the prompt: then its end alone is in the answer."""
    said = final_answer(text)
    if said.count(REASONING_END) > _MOST_CUTS:
        return said.rpartition(REASONING_END)[2]
    while (end := _reasoning_end(said, is_python=is_python)) is not None:
        said = said[end:]
    return said


def _reasoning_end(text: str, *, is_python: bool) -> int | None:
    """Where the first `</think>` ends that is no part of a program."""
    if REASONING_END not in text or (is_python and _is_program(text)):
        return None
    inside = [block for block in _blocks(text) if is_python and REASONING_END in block.text and _is_program(block.text)]
    lines = {number for block in inside for number in range(block.first, block.last)}
    ends = [found.end() for found in re.finditer(re.escape(REASONING_END), text)]
    numbers = _line_numbers(text, ends)
    return next((end for end, number in zip(ends, numbers, strict=True) if number not in lines), None)


def _line_numbers(text: str, places: Iterable[int]) -> Iterator[int]:
    """Line numbers, counted from 0, of places in ascending order."""
    number = last = 0
    for place in places:
        number += text.count("\n", last, place)
        last = place
        yield number


def _is_program(text: str) -> bool:
    """All that looks like a marker is inside of strings and comments."""
    if len(text) > _MOST_PARSED:
        return False
    markers = [number + 1 for number in _line_numbers(text, (found.end() for found in _MARKER.finditer(text)))]
    found = literals(text)
    if not found.is_whole:
        return False
    inside: set[int] = set()
    marked = [place for place in found.places if _MARKER.search(text[slice(*place)])]
    for number, last in zip(*[_line_numbers(text, (edge for place in marked for edge in place))] * 2, strict=True):
        inside.update(range(number + 1, last + 2))
    return inside.issuperset(markers)


def _blocks(text: str) -> Iterator[_Block]:
    """The fenced blocks; of a text with a single fence, what is before it and what is after it."""
    lines = text.split("\n")
    fences = [number for number, line in enumerate(lines) if _FENCE.match(line)]
    if len(fences) == 1 and not (_FENCE.match(lines[fences[0]]) or [""] * 3)[2]:
        for first, last in ((0, fences[0]), (fences[0] + 1, len(lines))):
            if any(line.strip() for line in lines[first:last]):
                yield _Block("", "\n".join(lines[first:last]) + "\n", first, last)
        return
    after, budget = 0, _MOST_TRIED
    for number in fences:
        if number < after:
            continue
        fence = _FENCE.match(lines[number])
        assert fence is not None
        width = _indent(lines[number])
        closing = (
            later
            for later in map(fences.__getitem__, range(bisect(fences, number), len(fences)))
            if _closes(lines[later], fence[1]) and _indent(lines[later]) <= width + _CLOSING_INDENT
        )
        ends = [*islice(closing, 1)] or [len(lines)]
        texts = [_outdented(lines[number + 1 : ends[0]], width)]
        while (is_open := budget > 0 and _ends_in_a_string(texts[-1])) and len(ends) < _MOST_ENDS:
            budget -= len(texts[-1])
            more = next(closing, None)
            if more is None:
                break
            ends.append(more)
            texts.append(_outdented(lines[number + 1 : more], width))
        # where no end fits, the quotes are not those of a program
        chosen = 0 if is_open or budget <= 0 else -1
        yield _Block(fence[2].lower(), texts[chosen], number + 1, ends[chosen])
        after = ends[chosen] + 1


def _closes(line: str, opening: str) -> bool:
    fence = _FENCE.match(line)
    return fence is not None and fence[1].startswith(opening) and not line[fence.end() :].strip() and not fence[2]


def _ends_in_a_string(program: str) -> bool:
    """Within one that goes over several lines, as a docstring does."""
    if len(program) > _MOST_PARSED or ("'''" not in program and '"""' not in program):
        return False
    return literals(program).ends_in_a_string


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _outdented(lines: Sequence[str], width: int) -> str:
    return "\n".join(line[min(width, _indent(line)) :] for line in lines) + "\n"


def _defines(program: str, name: str) -> bool:
    """At its top level, as far as can be told without parsing it."""
    escaped = re.escape(name)
    pattern = rf"^(?:(?:async\s+)?def|class)\s+{escaped}\b|^{escaped}\s*(?::[^=\n]+)?=(?!=)"
    return re.search(pattern, program, re.MULTILINE) is not None
