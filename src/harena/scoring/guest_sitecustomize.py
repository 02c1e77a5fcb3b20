"""Loaded by each Python that a verifier starts, as `sitecustomize`: a trusted program imports what it means.

`python -m`, `python -c`, a program on standard input and one that lies elsewhere look for modules in the working
directory, where a candidate has left its files. These keep their names, but do not hide modules that are found
elsewhere. A program that lies in the working directory is the candidate's, and starts as everywhere. Standard library
only, Python 3.8 syntax; before 3.10 a program cannot tell how it was started, and nothing is done.
"""

import os
import sys
from importlib.machinery import PathFinder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def is_trusted(words: "list[str]", here: str) -> bool:
    """The command line starts a program that does not lie in the working directory."""
    words = list(words)
    while words and words[0].startswith("-") and words[0] != "-":
        option = words.pop(0)
        if not option.startswith("--") and option[1:2] not in ("W", "X") and any(letter in option for letter in "cm"):
            return True
        if option in ("-W", "-X", "--check-hash-based-pycs"):
            words = words[1:]
    if not words or words[0] == "-":
        return True
    return os.path.join(os.path.dirname(os.path.realpath(words[0])), "").find(os.path.join(here, "")) != 0


class Elsewhere:
    """Finds modules of the first level in all places but the working directory."""

    here = ""

    @classmethod
    def find_spec(cls, name: str, path: "Any" = None, target: "Any" = None) -> "Any":
        """None where there is no module but in the working directory."""
        if path is not None:
            return None
        found = PathFinder.find_spec(name, [place for place in sys.path if cls.is_elsewhere(place)], target)
        return None if found is None or found.loader is None else found

    @classmethod
    def is_elsewhere(cls, place: str) -> bool:
        """An entry of the search path that is not the working directory."""
        return bool(place) and os.path.realpath(place) != cls.here


def install() -> None:
    """Put it before the finder of the search path."""
    Elsewhere.here = os.path.realpath(os.getcwd())
    if is_trusted(getattr(sys, "orig_argv", ["", "program.py"])[1:], Elsewhere.here):
        finders: list[Any] = sys.meta_path
        finders.insert(finders.index(PathFinder) if PathFinder in finders else len(finders), Elsewhere)


if __name__ == "sitecustomize":
    install()
