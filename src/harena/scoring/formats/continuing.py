"""What is run of an answer to a prompt that is the beginning of the program."""

from __future__ import annotations
import __future__

import re
from collections.abc import Sequence
from itertools import islice

from harena.scoring.contracts.carry import parsed
from harena.scoring.formats.lexemes import literals

_SOLUTION_CLASS = re.compile(r"^class\s+Solution\b", re.MULTILINE)
_MOST_READ, _MOST_TRIED = 128 * 1024, 16
_FEATURE = f"(?:{'|'.join(__future__.all_feature_names)})"
_FEATURES = rf"{_FEATURE}(?: as \w+)?(?:,\s*{_FEATURE}(?: as \w+)?)*"
_FUTURE = re.compile(
    rf"^(from __future__ import (?:\(\s*{_FEATURES},?\s*\)|{_FEATURES}))(?!\w)(?:[ \t]*;[ \t]*)?", re.MULTILINE
)


def continued(prefix: str, code: str, *, is_rest: bool) -> str:
    """The program. `is_rest`: the answer is known to follow the prompt. Else a fenced block, which is either the rest
    of the prompt or, not indented, the whole of it once more; then the prompt is kept for what it imports and defines.
    """
    if is_rest or _is_indented(code):
        return prefix + code
    whole = whole_prompt(prefix)
    if not whole:
        return code
    future, rest = _future_imports(code)
    return f"{future}{whole}\n{rest}"


def has_solution_class(program: str, function: str) -> bool:
    """Whether it has the function as a method of `class Solution`: it defines that class at its top level, and not the
    function alone beside it. Outside of strings, so that a docstring names none."""
    found = [match.start() for match in _SOLUTION_CLASS.finditer(program)]
    if not found or len(program) > _MOST_READ:
        return bool(found)
    places = literals(program).places
    if not _is_outside(found, places):
        return False
    defined = re.compile(rf"^([ \t]*)(?:async[ \t]+)?def[ \t]+{re.escape(function)}\b", re.MULTILINE)
    definitions = [
        match for match in islice(defined.finditer(program), _MOST_TRIED) if _is_outside([match.start()], places)
    ]
    return not definitions or any(match[1] for match in definitions)


def _is_outside(found: Sequence[int], places: Sequence[tuple[int, int]]) -> bool:
    """Whether one of the first of these is in no string."""
    return any(not any(begin < place < end for begin, end in places) for place in found[:_MOST_TRIED])


def whole_prompt(prefix: str) -> str:
    """The prompt as a program by itself. Where its last function lacks a body (a docstring is one, a comment is none),
    all that stands before that function. Empty where the prompt is no Python."""
    begun = prefix.rstrip()
    last = begun.rpartition("\n")[2]
    indent = last[: len(last) - len(last.lstrip())]
    for body in ("", f"{indent}pass\n", f"{indent}    pass\n"):
        try:
            tree = parsed(f"{begun}\n{body}" if body else prefix)
        except ValueError:
            continue
        if not body:
            return prefix
        unfinished = tree.body[-1]
        decorators = getattr(unfinished, "decorator_list", [])
        begins = min(part.lineno for part in (unfinished, *decorators))
        return "".join(line + "\n" for line in prefix.split("\n")[: begins - 1])
    return ""


def _is_indented(code: str) -> bool:
    """Its first line is that has more than a comment."""
    for line in code.split("\n"):
        if line.strip() and not line.startswith("#"):
            return line[0].isspace()
    return False


def _future_imports(code: str) -> tuple[str, str]:
    """(the imports of `__future__`, which must stand first in a program; the code without them)."""
    found = dict.fromkeys(match[1] + "\n" for match in _FUTURE.finditer(code))
    return "".join(found), _FUTURE.sub("", code)
