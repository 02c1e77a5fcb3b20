"""What is run of an answer to a prompt that is the beginning of the program."""

from __future__ import annotations
import __future__

import re

from harena.scoring.carry import parsed

_FEATURE = f"(?:{'|'.join(__future__.all_feature_names)})"
_FUTURE = re.compile(rf"^from __future__ import {_FEATURE}(?:, ?{_FEATURE})*", re.MULTILINE)


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
    found = dict.fromkeys(match[0] + "\n" for match in _FUTURE.finditer(code))
    return "".join(found), _FUTURE.sub("", code)
