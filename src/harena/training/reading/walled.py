"""Reading a model's files in a thread that can open them, what Python needs, and nothing else of this machine.

Names that lead out of the object are refused before (`harena.training.data.names_inside`); this wall stands where a
library takes a name from a place that nobody thought of. It is made of Landlock, or, as root, of a mount namespace in
which harena's home has nothing but that model. Without both, a worker for a workspace of a server reads nothing; a user
who has everything to themselves reads their files as they are, and `harena doctor` says so.
"""

from __future__ import annotations

import sys
import sysconfig
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Generic, TypeVar

from harena.core import landlock
from harena.core.denied_calls import give_up_network
from harena.core.errors import HostUnsupportedError
from harena.core.hidden_folder import hide_folder
from harena.core.home import harena_home
from harena.core.workspace import given_limits

_SYSTEM = ("/usr", "/lib", "/lib64", "/bin", "/etc", "/proc", "/sys", "/dev", "/opt")
_WRITABLE = ("/dev/null", "/dev/shm")
T = TypeVar("T")


def within(folder: Path, work: Callable[[], T], *, most_seconds: float | None = None) -> T:
    """What `work` gives, which may open what is below the folder and what the interpreter has. Raises TimeoutError, and
    HostUnsupportedError where others' files may be in reach."""
    writable = [Path(place) for place in _WRITABLE]

    def without_network() -> T:
        give_up_network()
        return work()

    if landlock.version():
        return landlock.in_restricted_thread(without_network, readable(folder), writable, most_seconds=most_seconds)
    hidden = _Hidden(folder, without_network)
    try:
        return landlock.in_own_thread(hidden, most_seconds=most_seconds)
    except OSError as error:
        if hidden.stands:
            raise
        if given_limits() is None:
            return work()
        raise HostUnsupportedError(
            "models of a workspace are loaded only where nothing else can be opened, and this host has no wall: "
            f"no Landlock, and no mount namespace ({error}). Boot a kernel >= 5.13 with landlock in lsm=, or run the "
            "server as root",
            step="landlock",
        ) from error


class _Hidden(Generic[T]):
    """Work behind a mount namespace."""

    def __init__(self, folder: Path, work: Callable[[], T]) -> None:
        self._folder = folder
        self._work = work
        self.stands = False

    def __call__(self) -> T:
        hide_folder(harena_home(), readable(self._folder, system=()), as_root=True)
        self.stands = True
        return self._work()


def readable(folder: Path, *, system: Iterable[str] = _SYSTEM) -> list[Path]:
    """The folder, with what its links lead to (as those of a Hugging Face cache do; a stored object has none), and the
    interpreter's places."""
    home = harena_home().resolve()
    linked: set[Path] = set()
    if not folder.resolve().is_relative_to(home / "objects" / "trees"):
        linked = {file.resolve() for file in folder.rglob("*") if file.is_symlink()}
    # a directory that holds harena's home would open all of it again
    places = [Path(place) for place in system if not home.is_relative_to(Path(place).resolve())]
    return [folder, *sorted(linked), *places, *sorted(_of_python())]


def _of_python() -> set[Path]:
    paths = [sys.prefix, sys.base_prefix, sys.exec_prefix, *sys.path, str(Path(__file__).parents[3])]
    paths += [path for name in ("stdlib", "platstdlib", "purelib", "platlib") if (path := sysconfig.get_path(name))]
    home = harena_home().resolve()
    places = {Path(path).resolve() for path in paths if path}
    return {place for place in places if not home.is_relative_to(place)}
