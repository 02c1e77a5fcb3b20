"""A command that changes its own trusted files when its checks are over, without those last changes.

A candidate that does nothing does not come so far, so that such a change is not told from the candidate's. The same
candidate is therefore run once more with a command whose last steps of that kind do nothing: if it passes again, and no
trusted file was touched, it has not touched any. A step counts only where it does nothing but change files, and where
no later line of any trusted text names its file: all checks are still made, with all that they read.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import PurePosixPath

from harena.scoring.contracts.contract import CommandContract

_STEP = re.compile(
    r"(?:^|[;&{(\n]|\b(?:then|do|else)\b)[ \t]*"
    r"(?P<step>(?:mv|rm|unlink|touch|chmod|truncate|gzip|shred|(?:echo|printf)\b[^;&|\n()`$<>]*>)"
    r"[^;&|\n()`$<>]*(?:>[^;&|\n()`$<>]*)?)(?=[;&)}\n]|$)"
)
"""a simple command of a shell that only changes files"""
_STATEMENT = re.compile(
    r"(?m)^[ \t]*(?P<step>(?:os\.(?:remove|unlink|rename|replace|chmod|utime|truncate)|shutil\.move)\([^()\n]*\)"
    r"|(?:pathlib\.)?Path\([^()\n]*\)\.(?:unlink|rename|replace|touch|chmod|write_text|write_bytes)\([^()\n]*\)"
    r"|open\([^()\n]*,[ \t]*['\"][wax]b?['\"]\)\.write\([^()\n]*\))[ \t]*(?=\n|$)"
)
"""a statement of Python that only changes files"""
_SHELLS = ("sh", "bash", "dash")
_MOST_STEPS, _MOST_NAMES = 50, 50
_MOST_TEXT, _LONGEST_LINE = 64 * 1024, 2000
"""characters in which steps are looked for: it takes the square of a line's length"""


def without_last_changes(contract: CommandContract, paths: Collection[str]) -> CommandContract:
    """Make the contract without its last changes of these trusted files; the contract itself where it has none."""
    texts = dict(contract.files)
    command = list(contract.command or ())
    is_line = len(command) > 2 and command[1] == "-c" and PurePosixPath(command[0]).name in _SHELLS
    if is_line:
        texts[""] = command[2]
    held = dict(texts)
    for name in sorted(paths)[:_MOST_NAMES]:
        mention = re.compile(rf"(?<![\w./-])(?:\./)?{re.escape(name)}(?![\w-])(?!\.\w)")
        naming = [path for path, text in texts.items() if mention.search(text)]
        if len(naming) == 1:  # no other text reads it
            held[naming[0]] = _held(held[naming[0]], mention, is_python=naming[0].endswith(".py"))
    changed = {path: text for path, text in held.items() if text != texts[path]}
    if not changed:
        return contract
    if "" in changed:
        command[2] = changed.pop("")
    return contract.model_copy(update={"files": {**contract.files, **changed}, "command": tuple(command)})


def _held(text: str, mention: re.Pattern[str], *, is_python: bool) -> str:
    """The text without its last steps that change what `mention` finds; a long text, or line, as it is."""
    pattern, nothing = (_STATEMENT, "pass") if is_python else (_STEP, "true")
    for _ in range(_MOST_STEPS if len(text) <= _MOST_TEXT else 0):
        last = max((found.start() for found in mention.finditer(text)), default=-1)
        begin, end = max(text.rfind("\n", 0, last + 1), 0), text.find("\n", last + 1)
        end = len(text) if end < 0 else end
        if last < 0 or end - begin > _LONGEST_LINE:
            break
        steps = pattern.finditer(text, begin, end)
        step = next((found for found in steps if found.start("step") <= last < found.end()), None)
        if step is None:
            break
        text = text[: step.start("step")] + nothing + " " + text[step.end() :].lstrip(" \t")
    return text
