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


OPTIONAL = ()
"""names that the verifier's programs import with one of the standard library to take their place"""


def is_below(place: str, folder: str) -> bool:
    """It is the folder, or lies in it."""
    real = os.path.realpath(folder)
    return real != os.sep and (os.path.realpath(place) + os.sep).startswith(os.path.join(real, ""))


def is_a_librarys(fullname: str) -> bool:
    """An import statement of the standard library, or of an installed package, is looking for it. What these import
    for others (`importlib.import_module`, loaders of tests) stands in no statement."""
    frame: Any = sys._getframe(2)
    while frame is not None and frame.f_code.co_filename.startswith("<frozen importlib"):
        frame = frame.f_back
    if frame is None or not any(name.partition(".")[0] == fullname for name in frame.f_code.co_names):
        return False
    path = frame.f_code.co_filename
    if path.startswith("<frozen "):
        return True
    own = os.path.dirname(os.path.realpath(os.__file__))
    return is_below(path, own) or "site-packages" in path.split(os.sep) or "dist-packages" in path.split(os.sep)


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
            if fullname in OPTIONAL or is_a_librarys(fullname):
                return None
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
        return bool(place) and (is_below(place, sys.prefix) or not is_below(place, cls.here))


def install() -> None:
    """Put it in the place of the finder of the search path."""
    Elsewhere.here = os.path.realpath(os.getcwd())
    if is_trusted(getattr(sys, "orig_argv", ["", "program.py"])[1:], Elsewhere.here):
        finders: list[Any] = sys.meta_path
        finders[:] = [Elsewhere if finder is PathFinder else finder for finder in finders]


if __name__ == "sitecustomize":
    install()
