"""Whether a trusted command that ends with 126 or 127 lacks a program of the image, or one of its candidate's.

Both end alike with a candidate that does nothing. The contract is at fault only where nothing that a candidate does
could have made the program be found: a name that the trusted text has, that is looked for on the image's PATH, and that
no function, alias or expansion stands for; a path where candidates do not write; or a trusted file. All else scores 0.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable

_TOOL = re.compile(
    r"(?m)^(?:(?:\S+: (?:line )?\d+|(?:\S*/)?(?:sh|bash|dash|ash|ksh)|harena): (?:exec: )?"
    r"([^\s:]+): (?:command )?not found"
    r"|(?:\S*/)?(?:env|timeout|nice|nohup|xargs|setsid|stdbuf|sudo|time|chroot|ionice|taskset): "
    r"(?:(?:failed to run command|failed to execute|cannot run command) )?['\u2018]?([^\s:'\u2019]+)['\u2019]?: "
    r"(?:No such file or directory|Permission denied))"
)
"""what shells and tools that start others say of a program that they do not find"""
_FILE = re.compile(
    r"(?m)(?:^|: )([^\s:]*/[^:\n]*): "
    r"(?:No such file or directory|[Pp]ermission denied|not found|cannot execute|Is a directory|bad interpreter)"
)
_SHELLS_FILE = re.compile(
    r"(?m)^(?:\S+: (?:line )?\d+|(?:\S*/)?(?:sh|bash|dash)): (?:exec: )?([^\s:]*/[^:\n]*): "
    r"(?:No such file or directory|[Pp]ermission denied|not found|cannot execute|Is a directory|bad interpreter)"
)
"""what a shell says of a path that it cannot start, source or read from"""
_SCRIPT = re.compile(r"(?m)^(?:\S*/)?(?:sh|bash|dash): (?:0: cannot open )?([^\s:/]+): No such file(?: or directory)?$")
"""what a shell says that is to run a script of this name, in the folder where it is started"""
_SOURCED = re.compile(r"(?m)(?:^|[;&|({]|\b(?:then|do|else)\b)[ \t]*(?:\.|source)[ \t]+[\"']?([^\s\"';&|)]+)")
_EVALUATED = re.compile(
    r"(?m)\beval\b|\bBASH_ENV\b|\balias\b"
    r"|(?:^|[;&|{`!]|(?<!\()\((?!\()"
    r"|\b(?:then|do|else|elif|if|while|until|exec|command|time|env|nice|xargs)\b)[ \t]*[\"']?[$`]"
)
"""commands that are made while the text runs: also an expansion where a command begins"""
_PATH = re.compile(r"(?<![$\w{])PATH\b(?:=[\"']?([^\s;&|\"')]*))?")
_THEIRS = ("/tmp", "/var/tmp", "/dev/shm", "/workspace", "/root", "/home", "/app")
"""where candidates write"""
_WORKSPACE = "/workspace"
_MOST_SAID = 4096
NOT_FOUND_CODES = (126, 127)
"""exit codes of a shell that cannot start a program"""


def not_found(errors: str) -> list[str]:
    """Programs and files of which a shell, or a tool that starts others, says that they are nowhere, or no program.

    >>> not_found("c.sh: line 3: jq: command not found\\n")
    ['jq']
    """
    found = [(match.start(), match[1] or match[2]) for match in _TOOL.finditer(errors)]
    found += [(match.start(), match[1]) for match in _SHELLS_FILE.finditer(errors)]
    found += [(match.start(), f"./{match[1]}") for match in _SCRIPT.finditer(errors)]
    return [name for _, name in sorted(found)]


def missing_of_image(said: bytes, text: str, trusted: Iterable[str]) -> str | None:
    """What the image, or the contract, lacks; None where a candidate could have brought it, or where nothing tells.
    `said`: the errors of a run with a candidate that does nothing; `text`: all of the trusted text; `trusted`: paths of
    its files."""
    errors = said[-_MOST_SAID:].decode("utf-8", "replace")
    found = [(match.start(), match[1] or match[2]) for match in _TOOL.finditer(errors)]
    found += [(match.start(), match[1]) for match in _FILE.finditer(errors)]
    if not found:
        return None
    _, name = max(found)
    trusted = list(trusted)
    if "/" in name:
        place = posixpath.normpath(posixpath.join(_WORKSPACE, name))
        is_trusted = any(place.endswith(f"/{posixpath.normpath(each)}") for each in trusted)
        return name if is_trusted or not place.startswith(tuple(f"{each}/" for each in _THEIRS)) else None
    is_named = re.search(rf"(?<![$\w./-]){re.escape(name)}(?![\w-])", text) is not None
    return name if is_named and not _could_be_brought(text, trusted) else None


def _could_be_brought(text: str, trusted: list[str]) -> bool:
    """A name that the image does not have may be found in what the candidate made."""
    own = {posixpath.basename(each) for each in trusted}
    if _EVALUATED.search(text) or any(posixpath.basename(path) not in own for path in _SOURCED.findall(text)):
        return True
    return any(not _is_of_image(folder) for path in _PATH.findall(text) for folder in path.split(":"))


def _is_of_image(folder: str) -> bool:
    if folder in ("$PATH", "${PATH}"):
        return True
    place = posixpath.normpath(folder)
    return folder.startswith("/") and "$" not in folder and not f"{place}/".startswith(tuple(f"{e}/" for e in _THEIRS))
