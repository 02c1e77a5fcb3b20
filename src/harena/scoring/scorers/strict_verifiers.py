"""Whether a verifier that leaves no reward without a candidate is strict, or broken.

A strict one writes a reward for what is right alone (`set -e; ./check; echo 1 > reward.txt`): who gets none is wrong. A
broken one lacks a program, or has a mistake: nobody can be right. Both end alike with a candidate that does nothing.
The task's own solution tells them apart. Where none is known, a verifier is strict if its texts show that a reward is
written in some cases only, and if its run without a candidate says of nothing of its own that it is missing or wrong.
One that brings packages is not told apart so: what fails without a network may say nothing at all.

A verifier that writes a 0 whoever comes, since a tool of its own is missing, is broken, too. The solution tells that,
asked where a run says that something is missing.
"""

from __future__ import annotations

import posixpath
import re
import sys
from collections.abc import Mapping

from harena.scoring.scorers.missing_programs import NOT_FOUND_CODES, not_found
from harena.scoring.scorers.public_packages import PUBLIC_PACKAGES
from harena.scoring.scorers.reward_writers import writes_in_some_cases

_BRINGS = re.compile(
    r"\b(?:curl|wget|apt|apt-get|aptitude|apk|dnf|yum|pip|pip3|pipx|uv|uvx|poetry|conda|mamba|npm|npx|yarn|pnpm|gem"
    r"|bundle|cargo|go[ \t]+(?:get|install|mod)|git[ \t]+(?:clone|fetch|pull))\b"
)
_SHELL = re.compile(r"(?m)^\S*: (?:-c: )?(?:line )?\d+: (?:syntax error|unexpected EOF|bad substitution|Syntax error)")
_MODULE = re.compile(r"No module named '?([\w.]+)|Cannot find module '(?=[^./'])([^']+)'")
_MISTAKE = r"(?:SyntaxError|IndentationError|TabError|NameError|UnboundLocalError)\b"
_TRACE = re.compile(rf'(?m)^ *File "([^"\n]+)", line \d+[^\n]*\n(?:(?! *File ")[^\n]*\n){{0,8}}?{_MISTAKE}')
"""a mistake in this file, as Python says it"""
_SHORT_TRACE = re.compile(rf"(?m)^([^\s:]+):\d+: {_MISTAKE}")
"""a mistake in this file, as pytest says it"""
_TEST_TOOLS = frozenset({"_pytest", "coverage", "pip", "pytest", "uv"})
_THEIRS = ("/app", "/data", "/dev/shm", "/home", "/mnt", "/root", "/srv", "/tmp", "/var/tmp", "/workspace")
"""where candidates leave programs"""
_PATH = re.compile(r"\bPATH=")
_MOST_SAID = 64 * 1024


def is_strict(tests: Mapping[str, str], workdir: str, returncode: int | None, said: bytes) -> bool:
    """A verifier of these files, which has left no reward where there was no candidate, works. `said`: what it printed
    then. Not for an event loop where the texts are long.

    >>> is_strict({"test.sh": "set -e\\n./check\\necho 1 > /logs/verifier/reward.txt\\n"}, "/app", 1, b"")
    True
    >>> is_strict({"test.sh": "jq . && echo 1 > /logs/verifier/reward.txt\\n"}, "/app", 127, b"sh: 1: jq: not found\\n")
    False
    """
    if not writes_in_some_cases(tests) or any(_BRINGS.search(text) for text in tests.values()):
        return False
    if returncode in NOT_FOUND_CODES and not not_found(said[-_MOST_SAID:].decode("utf-8", "replace")):
        return False
    return not lacking(tests, workdir, said)


def lacking(tests: Mapping[str, str], workdir: str, said: bytes) -> str:
    """What a verifier of these files says that it has not, or that is wrong with a file of its own; empty = nothing.
    Not for an event loop where the texts are long.

    >>> lacking({"test.sh": "uvx pytest /tests"}, "/app", b"/tests/test.sh: line 1: uvx: command not found\\n")
    'uvx: not found'
    >>> lacking({"test.sh": "./main"}, "/app", b"/tests/test.sh: line 1: ./main: No such file or directory\\n")
    ''
    """
    told = said[-_MOST_SAID:].decode("utf-8", "replace")
    has_path = any(_PATH.search(text) for text in tests.values())
    missing = [name for name in not_found(told) if not _is_theirs(name, workdir, has_path=has_path)]
    if missing:
        return f"{missing[-1]}: not found"
    if (mistake := _SHELL.search(told)) is not None:
        return mistake[0]
    modules = [found for found in _MODULE.finditer(told) if _is_of_image(found[1] or found[2])]
    if modules:
        return modules[-1][0]
    own = {posixpath.basename(path) for path in tests}
    mistakes = [found for pattern in (_TRACE, _SHORT_TRACE) for found in pattern.finditer(told)]
    return next((f"a mistake in {found[1]}" for found in mistakes if posixpath.basename(found[1]) in own), "")


def _is_theirs(program: str, workdir: str, *, has_path: bool) -> bool:
    """A candidate could have left it where it is looked for."""
    if "/" not in program:
        return has_path
    place = posixpath.normpath(posixpath.join(workdir, program))
    return place.startswith(tuple(f"{each}/" for each in (workdir, *_THEIRS)))


def _is_of_image(module: str) -> bool:
    """An image has this module, or it is one that anybody may install."""
    root = module.partition(".")[0].partition("/")[0]
    return root in sys.stdlib_module_names or root in PUBLIC_PACKAGES or root in _TEST_TOOLS
