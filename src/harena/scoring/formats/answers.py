"""The program in what a model wrote, where that is more than the program: reasoning, an explanation, fenced code.

    <think>Twice means ...</think>
    Here it is:
    ```python
    def double(x):
        return 2 * x
    ```

A text is such an answer if a fence or the end of a reasoning stands in it outside of Python's strings and comments;
every other text is a program as it is. What is before the last `</think>` is left out. Of the fenced blocks those
that are marked as Python count, or, where there are none, those without a mark; of these the last one that defines what
is asked for, or, where none does, the last one. An answer that was cut off inside a block has that block.

Nothing is parsed or run here: a text is only cut into tokens.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections import deque
from collections.abc import Collection, Iterator
from dataclasses import dataclass

REASONING_END = "</think>"

_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})[ \t]*([\w+#.-]*)")
_MARKER = re.compile(rf"^[ \t]*(?:`{{3,}}|~{{3,}})|{re.escape(REASONING_END)}", re.MULTILINE)
_MOST_MARKERS = 10_000
"""in the strings and comments of one program"""
_PYTHON = frozenset({"python", "python3", "py", "py3", "python-3"})


@dataclass(frozen=True, slots=True)
class _Block:
    language: str
    text: str


def program_in(text: str, names: Collection[str] = (), *, languages: Collection[str] = _PYTHON) -> str:
    """The program of an answer; `names`: functions or classes of which it shall define one. The text itself where it
    is a program. `languages`: marks of fenced blocks that count, where it is no Python that is asked for."""
    if _MARKER.search(text) is None or _is_program(text):
        return text
    said = text.rpartition(REASONING_END)[2]
    blocks = list(_blocks(said))
    pool = [block for block in blocks if block.language in languages] or [
        block for block in blocks if not block.language
    ]
    if not pool:
        return said.lstrip("\n")
    defining = [block for block in pool if any(_defines(block.text, name) for name in names)]
    return (defining or pool)[-1].text


def _is_program(text: str) -> bool:
    """All that looks like a marker is inside of strings and comments."""
    markers = deque(_marked_lines(text))
    if len(markers) > _MOST_MARKERS:
        return False
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type in (tokenize.STRING, tokenize.COMMENT) and _MARKER.search(token.string):
                while markers and token.start[0] <= markers[0] <= token.end[0]:
                    markers.popleft()
            if markers and markers[0] < token.start[0]:
                return False  # it is passed: what follows need not be read
    except (tokenize.TokenError, SyntaxError, ValueError, RecursionError):
        return False
    return not markers


def _marked_lines(text: str) -> list[int]:
    """The numbers of the lines on which markers end; each part of the text is looked at once."""
    marked = []
    line, seen = 1, 0
    for found in _MARKER.finditer(text):
        line += text.count("\n", seen, found.end())
        seen = found.end()
        marked.append(line)
    return marked


def _blocks(text: str) -> Iterator[_Block]:
    """The fenced blocks; of a text with a single fence, what is before it and what is after it."""
    lines = text.split("\n")
    fences = [number for number, line in enumerate(lines) if _FENCE.match(line)]
    if len(fences) == 1 and not (_FENCE.match(lines[fences[0]]) or [""] * 3)[2]:
        for part in (lines[: fences[0]], lines[fences[0] + 1 :]):
            if any(line.strip() for line in part):
                yield _Block("", "\n".join(part) + "\n")
        return
    opened: tuple[str, str, int] | None = None  # the fence, its language, how far it is indented
    block: list[str] = []
    for line in lines:
        fence = _FENCE.match(line)
        if opened is None:
            if fence:
                opened, block = (fence[1], fence[2].lower(), len(line) - len(line.lstrip())), []
        elif fence and fence[1].startswith(opened[0]) and not fence[2]:
            yield _Block(opened[1], "\n".join(block) + "\n")
            opened = None
        else:
            block.append(_outdented(line, opened[2]))
    if opened is not None:
        yield _Block(opened[1], "\n".join(block) + "\n")


def _outdented(line: str, width: int) -> str:
    return line[min(width, len(line) - len(line.lstrip())) :]


def _defines(program: str, name: str) -> bool:
    """At its top level, as far as can be told without parsing it."""
    escaped = re.escape(name)
    return re.search(rf"^(?:(?:async\s+)?def|class)\s+{escaped}\b|^{escaped}\s*=", program, re.MULTILINE) is not None
