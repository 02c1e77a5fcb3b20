"""Reading a model's files in a thread that can open them, what Python needs, and nothing else of this machine.

Names that lead out of the object are refused before (`harena.training.data.names_inside`); this wall stands where a library
takes a name from a place that nobody thought of. It needs Landlock; without it the files are read as they are, and
`harena doctor` says so.
"""

from __future__ import annotations

import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from harena.core import landlock
from harena.core.home import harena_home

_SYSTEM = ("/usr", "/lib", "/lib64", "/bin", "/etc", "/proc", "/sys", "/dev", "/opt")
_WRITABLE = ("/dev/null", "/dev/shm")
T = TypeVar("T")


def within(folder: Path, work: Callable[[], T]) -> T:
    """What `work` gives, which may open what is below the folder and what the interpreter has."""
    if not landlock.version():
        return work()
    return landlock.in_restricted_thread(work, readable(folder), [Path(place) for place in _WRITABLE])


def readable(folder: Path) -> list[Path]:
    """The folder, with what its links lead to (as those of a Hugging Face cache do), and the interpreter's places."""
    linked = {file.resolve() for file in folder.rglob("*") if file.is_symlink()}
    return [folder, *sorted(linked), *(Path(place) for place in _SYSTEM), *sorted(_of_python())]


def _of_python() -> set[Path]:
    paths = [sys.prefix, sys.base_prefix, sys.exec_prefix, *sys.path, str(Path(__file__).parents[2])]
    paths += [path for name in ("stdlib", "platstdlib", "purelib", "platlib") if (path := sysconfig.get_path(name))]
    home = harena_home().resolve()
    places = {Path(path).resolve() for path in paths if path}
    # a directory that holds harena's home would open all of it again
    return {place for place in places if not home.is_relative_to(place)}
