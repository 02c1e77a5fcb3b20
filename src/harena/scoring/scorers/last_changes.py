"""A command that changes its own trusted files when its checks are over, without those last changes.

A candidate that does nothing does not come so far, so that such a change is not told from the candidate's. The same
candidate is therefore run once more with a command whose last steps of that kind do nothing: if it passes again, and no
trusted file was touched, it has not touched any. A step counts only where it does nothing but change files, and where
no later line of any trusted text names its file: all checks are still made, with all that they read.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
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
_MOST_STEPS = 50


def without_last_changes(contract: CommandContract, paths: Collection[str]) -> CommandContract:
    """Make the contract without its last changes of these trusted files; the contract itself where it has none."""
    texts = dict(contract.files)
    command = list(contract.command or ())
    is_line = len(command) > 2 and command[1] == "-c" and PurePosixPath(command[0]).name in _SHELLS
    if is_line:
        texts[""] = command[2]
    held = {path: _held(path, texts, paths) for path in texts}
    changed = {path: text for path, text in held.items() if text != texts[path]}
    if not changed:
        return contract
    if "" in changed:
        command[2] = changed.pop("")
    return contract.model_copy(update={"files": {**contract.files, **changed}, "command": tuple(command)})


def _held(path: str, texts: Mapping[str, str], names: Collection[str]) -> str:
    text = texts[path]
    for name in names:
        mention = re.compile(rf"(?<![\w./-])(?:\./)?{re.escape(name)}(?![\w-])(?!\.\w)")
        if any(mention.search(other) for where, other in texts.items() if where != path):
            continue
        for _ in range(_MOST_STEPS):
            last = max((found.start() for found in mention.finditer(text)), default=-1)
            pattern, nothing = (_STATEMENT, "pass") if path.endswith(".py") else (_STEP, "true")
            step = next((found for found in pattern.finditer(text) if found.start("step") <= last < found.end()), None)
            if step is None:
                break
            text = text[: step.start("step")] + nothing + " " + text[step.end() :].lstrip(" \t")
    return text
