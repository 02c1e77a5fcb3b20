"""Files of a task directory: texts, and in base64 what is none."""

from __future__ import annotations

import base64
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from harena.scoring.formats.dockerfile import NoTextError, inside, text_of
from harena.scoring.formats.rows import FieldError

SOLUTION_ENTRY = "solve.sh"
_MOST_TIMES, _NAME_BYTES = 4, 4096
"""what links have read may be so many times as much as the files, and some bytes more for each name"""
ENCODED = ".base64"
"""ending of a solution's file that is no text, as it comes"""


def script_of(text: str) -> str:
    """A script of the task's own. One whose lines all end with a carriage return was checked out so: no shell takes
    them for anything but a part of its words."""
    is_checked_out_so = "\r\n" in text and text.count("\r\n") == text.count("\n")
    return text.replace("\r\n", "\n") if is_checked_out_so else text


def files_of(task: Path, name: str) -> tuple[dict[str, str], dict[str, str]]:
    """Every file below a folder of the task's own: the texts, and in base64 those that are none. Raises FieldError."""
    texts, binaries = {}, {}
    folder = task / name
    found = {
        path.relative_to(folder).as_posix(): inside(task, path.relative_to(task).as_posix())
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }
    _check_repeats(name, list(found.values()))
    for name, place in found.items():
        try:
            text = text_of(place)
        except NoTextError:
            binaries[name] = base64.b64encode(place.read_bytes()).decode()
        else:
            texts[name] = script_of(text) if name.endswith(".sh") else text
    return texts, binaries


def _check_repeats(folder: str, places: Sequence[Path]) -> None:
    """Links give a file many names, and each is read by itself: so the memory for a task grows with the task."""
    sizes = {place: place.stat().st_size for place in places}
    most = _MOST_TIMES * sum(sizes.values()) + _NAME_BYTES * len(places)
    if sum(sizes[place] for place in places) > most:
        raise FieldError(
            "", f"links in {folder} have the same files read more than {_MOST_TIMES} times; leave some out"
        )


def with_binaries(script: str, binaries: Mapping[str, str]) -> str:
    """The script, behind lines that unpack the solution's files that are no text: a candidate's files are texts."""
    if not binaries:
        return script
    names = (shlex.quote(f"/solution/{name}") for name in binaries)
    lines = "".join(f"base64 -d < {name}{ENCODED} > {name}\n" for name in names)
    first, newline, rest = script.partition("\n")
    return f"{first}{newline}{lines}{rest}" if first.startswith("#!") else lines + script
