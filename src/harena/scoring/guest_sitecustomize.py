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


class Elsewhere(PathFinder):
    """The finder of the search path; of the first level it finds modules in the working directory last, and packages'
    metadata (which names plug-ins) nowhere there."""

    here = ""

    @classmethod
    def find_spec(cls, fullname: str, path: "Any" = None, target: "Any" = None) -> "Any":
        """As the finder of the search path does."""
        if path is None:
            elsewhere = [place for place in sys.path if cls.is_elsewhere(place)]
            found = PathFinder.find_spec(fullname, elsewhere, target)
            if found is not None and found.loader is not None:
                return found
        return PathFinder.find_spec(fullname, path, target)

    @classmethod
    def find_distributions(cls, context: "Any" = None) -> "Any":
        """As the finder of the search path does, elsewhere."""
        if context is None:
            from importlib.metadata import DistributionFinder

            context = DistributionFinder.Context()
        places = [place for place in context.path if cls.is_elsewhere(place)]
        return PathFinder.find_distributions(type(context)(**dict(vars(context), path=places)))

    @classmethod
    def is_elsewhere(cls, place: str) -> bool:
        """An entry of the search path that is not the working directory."""
        return bool(place) and os.path.realpath(place) != cls.here


def install() -> None:
    """Put it in the place of the finder of the search path."""
    Elsewhere.here = os.path.realpath(os.getcwd())
    if is_trusted(getattr(sys, "orig_argv", ["", "program.py"])[1:], Elsewhere.here):
        finders: list[Any] = sys.meta_path
        finders[:] = [Elsewhere if finder is PathFinder else finder for finder in finders]


if __name__ == "sitecustomize":
    install()
