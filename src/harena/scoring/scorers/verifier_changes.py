"""What changes while a verifier runs, and may be the doing of a candidate's program that it has started.

Such a program has the verifier's user, so it can leave start-up files, modules, programs, links and rules for what the
verifier starts afterwards. Which of them is the verifier's own doing is told by a run without the candidate.

Whoever removes what it has made leaves a trace where its folder does nothing else: the time of a folder's last change
cannot be set. So the folders from which each Python loads modules as it starts are made beforehand and compared. Test
files, and configuration of test runners, are noted by Python as it loads them (`harena.scoring.guest.sitecustomize`).
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Literal

from harena.core.models import ExecOutcome, ExecRequest
from harena.core.ports import SandboxPort
from harena.scoring.scorers.reward_writers import NOTE
from harena.scoring.slices import aside

_SECONDS = 60.0
_MOST_BYTES = 4 * 1024 * 1024
"""bytes that are read of what the script says: whoever makes more names is known by the time of the folder"""
NOTED = "/noted"
"""the folder of notes, below that of the guard"""
_OF_GUARD = "/.start-"
"""what the path of the guard has in it, and no other"""
_START = "import sys; 'sitecustomize' in sys.modules or {0!r} in sys.path or sys.path.insert(0, {0!r})"
"""a line for Python's packages of a user: which guard there is, where no variable says it"""
_STATES = """\
command -v find >/dev/null || exit 0
guard=$1
shift
home=${HOME%/}
[ -z "$STARTS" ] || case $home/ in "$WORKS"/*) STARTS= ;; *) STARTS=$PATH ;; esac
if [ -n "$MAKES" ]; then
    mkdir -m 1777 -- "$guard/noted"
    for name in $MAKES; do mkdir -p -- "$home/.local/$name"; done
    IFS=:
    for folder in $STARTS; do
        for program in "$folder"/python3.[0-9] "$folder"/python3.[0-9][0-9]; do
            packages=$home/.local/lib/${program##*/}/site-packages
            [ -x "$program" ] && mkdir -p -- "$packages" && rm -f -- "$packages/harena.pth" \\
                && printf '%s\\n' "$LINE" > "$packages/harena.pth"
        done
    done
    unset IFS
fi 2>/dev/null
states() {
    for folder do
        [ -d "$folder" ] && find "$folder/" -maxdepth 0 -printf '%p\\0%i %C@\\0'
    done
    find "$home"/.local/lib/*/site-packages/harena.pth -maxdepth 0 -printf '%p\\0%i %C@\\0' 2>/dev/null
    printf '//\\0'
    for folder do
        [ -d "$folder" ] && find "$folder/" -mindepth 1 -maxdepth 1 -printf '%p\\0'
    done
    printf '//\\0'
    find "$guard/noted/" -mindepth 1 -maxdepth 1 -printf '%f\\0' 2>/dev/null
}
states "$guard" "$guard/noted" "$home/.local" "$home/.local/bin" "$home/.local/lib" "$home"/.local/lib/* \\
    "$home"/.local/lib/*/site-packages "$@" | head -c 4194304
exit 0
"""
_PROGRAMS = """\
command -v find >/dev/null || exit 0
IFS=:
for folder in $PATH; do
    [ -d "$folder" ] && find -H "$folder" -maxdepth 1 ! -type d -printf '%p\\0%i %C@\\0'
done
exit 0
"""
_BRINGS_PACKAGES = re.compile(r"\b(?:pip3?|uv|pipx|poetry|conda|easy_install)\b|\.local\b|--user\b")
_BRINGS_FILES = re.compile(
    r"\b(?:git|patch|tar|unzip|cp|mv|ln|install|rsync|cpio|curl|wget|sed|touch|chmod|chown|make|write_text|open)\b"
)
_MAKES_REPOSITORIES = re.compile(
    r"\bgit\b[^\n]{0,200}\b(?:config|clone|init|lfs|submodule|worktree|update-index|sparse-checkout|svn|annex|flow)\b"
    r"|\b(?:patch|tar|unzip|cp|mv|rsync|cpio|pre-commit|husky|npm|yarn|pnpm)\b"
)
Kind = Literal["script", "guard", "program", "folder", "test", "rules", "link", "reward", "settings", "repository"]


_LISTS_HOME = re.compile(
    r"\b(?:ls|find|du|tree)\b[^\n;&|]{0,300}(?:~|\$HOME|\$\{HOME\}|/root)(?![\w./-])|\b(?:listdir|iterdir|scandir|walk)\("
)


def lists_home(texts: Iterable[str]) -> bool:
    """The verifier may count what is in the home folder, where nothing is made beforehand then."""
    return any(_LISTS_HOME.search(text) is not None for text in texts)


@dataclass(frozen=True, slots=True, order=True)
class Change:
    """Something that is not what it was when a verifier was started; the same for each run of one."""

    kind: Kind
    """script: a file that judges; guard: what each Python loads as it starts; program: one on PATH; folder: one of
    modules or programs, or what is in it; test: a test file, or configuration of a test runner, that was loaded; rules:
    those of `make`; link: one into the verifier's places; reward: it was written by something else than the verifier;
    settings: those of a tool that the verifier's texts name, or a file that hides one of its own; repository: what one
    of git says of itself"""
    path: str
    """the path; where it is a test, its name only, since it may be in a folder of a random name"""

    def __str__(self) -> str:
        """Say it to a user."""
        return f"{self.kind} {self.path}".rstrip()

    @classmethod
    def of_file(cls, path: str, kind: Kind) -> Change:
        """The change of this file, which may be the guard's."""
        _, mark, below = path.partition(_OF_GUARD)
        return cls("guard", below.partition("/")[2]) if mark else cls(kind, path)


@dataclass(frozen=True, slots=True)
class FolderStates:
    """Folders at one moment."""

    times: Mapping[str, str] = field(default_factory=dict)
    """path -> its number, and the time of its last change"""
    names: frozenset[str] = frozenset()
    """what is in them"""
    noted: frozenset[str] = frozenset()
    """names of files that Python has noted, and what bash has (`reward_writers`)"""

    def changes_to(self, after: FolderStates) -> frozenset[Change]:
        """What is otherwise then. A note changes the folder of notes, and so does who removes it."""
        changed = {path for path in self.times if after.times.get(path) != self.times[path]}
        if after.noted:
            changed = {path for path in changed if not path.endswith(NOTED)}
        new = {path for path in after.names - self.names if posixpath.dirname(path) in changed}
        folders = (Change.of_file(path, "folder") for path in changed | new)
        notes = (Change("reward", "by a program") if name == NOTE else Change("test", name) for name in after.noted)
        return frozenset({*folders, *notes})


def changed_programs(before: Mapping[str, str], after: Mapping[str, str]) -> frozenset[Change]:
    """Programs on PATH that were there and are others now, and new ones of a name that another one has."""
    names = {posixpath.basename(path) for path in before}
    return frozenset(
        Change("program", path)
        for path, state in after.items()
        if before.get(path) != state and (path in before or posixpath.basename(path) in names)
    )


async def program_states(sandbox: SandboxPort, *, user: str | None) -> dict[str, str]:
    """Path -> its number, and the time of its last change, of each program on the PATH of `user`."""
    request = ExecRequest(argv=("sh", "-c", _PROGRAMS), cwd="/", user=user, timeout_seconds=_SECONDS, warm=False)
    done = await (await sandbox.exec(request)).wait()
    fields = done.stdout.decode("utf-8", "surrogateescape").split("\0")
    return dict(zip(fields[::2], fields[1::2], strict=False)) if done.outcome is ExecOutcome.EXITED else {}


async def folder_states(
    sandbox: SandboxPort,
    guard_path: str,
    folders: Sequence[str],
    *,
    user: str | None,
    makes: bool,
    makes_at_home: str | None = None,
) -> FolderStates:
    """Look at the folder of the guard, at those that each Python of `user` loads modules from, and at `folders`.
    `makes`: make the folder of notes, and unless `makes_at_home` is None those of the home folder that are missing. It
    says where the verifier works: outside of it, each Python on PATH has a line there by which it finds the guard where
    programs have dropped its variables. An image without GNU's find tells nothing."""
    argv = ("sh", "-c", _STATES, "sh", posixpath.dirname(guard_path), *folders)
    env = {"MAKES": " "} if makes else {}
    if makes and makes_at_home is not None:
        line = _START.format(posixpath.dirname(guard_path))
        env = {"MAKES": "bin lib share state", "STARTS": "y", "LINE": line, "WORKS": makes_at_home.rstrip("/")}
    request = ExecRequest(argv=argv, cwd="/", env=env, user=user, timeout_seconds=_SECONDS, warm=False)
    done = await (await sandbox.exec(request)).wait()
    if done.outcome is not ExecOutcome.EXITED:
        return FolderStates()
    return await aside(len(done.stdout), _parsed, done.stdout)


def changes_of_a_script(changes: Iterable[Change], texts: Sequence[str]) -> list[Change]:
    """Leave out what a script may have made itself, by words of its own that bring packages or files: there is no run
    without a candidate to tell it."""
    own: set[Kind] = set()
    if any(_BRINGS_PACKAGES.search(text) for text in texts):
        own.add("folder")
    if any(_BRINGS_FILES.search(text) for text in texts):
        own |= {"test", "rules", "settings"}
    if any(_MAKES_REPOSITORIES.search(text) for text in texts):
        own.add("repository")
    return sorted(change for change in changes if change.kind not in own)


def _parsed(told: bytes) -> FolderStates:
    parts = told[:_MOST_BYTES].decode("utf-8", "surrogateescape").split("//\0")
    times, names, noted = [*parts, "", "", ""][:3]
    fields = times.split("\0")
    states = dict(zip(fields[::2], fields[1::2], strict=False))
    return FolderStates(
        times={str(PurePosixPath(path)): state for path, state in states.items() if path},
        names=frozenset(filter(None, names.split("\0"))),
        noted=frozenset(filter(None, noted.split("\0"))),
    )
