"""Files in a home folder that programs read when they start: after a candidate they are again what they were before.

A verifier runs in the sandbox that a candidate has worked in. Its shell, interpreter and tools would read what lies
there: the user's own packages (`usercustomize`, `.pth`), configuration, programs on PATH. What was not there before is
removed, and a file that was is written back. What the verifier's own files name is left: the task may be about it.
"""

from __future__ import annotations

import hashlib
import re
import secrets
import sys
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Set
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Protocol

from harena.core.errors import SandboxFileError
from harena.core.models import FileInfo
from harena.scoring.guest import sitecustomize as guest_sitecustomize
from harena.scoring.guest_sources import source_of
from harena.scoring.scorers.shell_code import code_mask, is_data

_FILES = (
    ".bashrc", ".bash_profile", ".bash_login", ".bash_aliases", ".bash_env", ".profile", ".zshrc", ".zshenv",
    ".zprofile", ".inputrc", ".pythonrc", ".pythonrc.py", ".pythonstartup", ".pdbrc", ".pydistutils.cfg", ".netrc",
    ".gitconfig", ".curlrc", ".wgetrc", ".npmrc", ".yarnrc", ".yarnrc.yml", ".perlrc", ".perldb", ".irbrc", ".gemrc",
    ".condarc", ".tool-versions", ".coveragerc", ".ssh/config", ".ssh/rc", ".ssh/environment",
    ".sqliterc", ".psqlrc", ".my.cnf", ".vimrc", ".exrc", ".nanorc", ".gdbinit", ".lldbinit", ".Rprofile", ".Renviron",
)  # fmt: skip
_FOLDERS = (
    ".local/lib", ".local/bin", ".config",
    ".jq", ".gnupg", ".vim", ".ipython", ".jupyter", ".docker",
    ".pip", ".node_modules", ".node_libraries", ".pyenv", ".cargo/bin", "bin",
)  # fmt: skip
_OF_PROJECTS = (".npmrc", ".yarnrc", ".yarnrc.yml", ".coveragerc", ".tool-versions", "bin")
"""start-up files and folders that a project has in its own folder"""
_NAMED_FOR_OTHER_REASONS = (".local/bin/env",)
"""what an installer of tools leaves, which verifiers read after they have run it"""


_NAMED_IN_WORDS = {
    "bin": re.compile(r"(?:~|\$HOME|\$\{HOME\}|/root|/home/\w+|\.home\(\) / [\"'])/?bin\b"),
    ".gitconfig": re.compile(r"\bgit\b\W+config\b[^\n]*--global\b|\bGIT_CONFIG_GLOBAL\b"),
}
"""how a text names what has no name of its own in it"""
_CONFIG = re.compile(r"(?<![\w.\]\)$-])\.config(?![\w-]|\.\w)(?:/([\w.-]+)|[\"'] ?[,/] ?[\"']([\w.-]+))?")
_PROFILES = (".profile", ".bash_profile", ".bash_login")
_LOGIN_SHELL = re.compile(r"\b(?:ba|da|z)?sh[\"']?,?[ \t]+[\"']?(?:-[a-km-z]*l\w*|--login)\b")
_SETS_ONE = re.compile(
    r"(?:export[ \t]+)?([A-Z][A-Z0-9_]*)=(?:[\w./:,@%+-]*|\"[\w ./:,@%+-]*\"|'[\w ./:,@%+-]*')[ \t]*"
)
_STEERS = re.compile(
    r"(?:LD_|PYTHON|PYTEST|BASH|PERL|RUBY|GEM_|NODE|NPM|GIT_|JAVA|JDK|_JAVA|GO|CARGO|RUST|MAKE|UV_|PIP_|VIRTUAL|LESS|GCC"
    r"|MALLOC|GLIBC|XDG_|TMP).*|ENV|IFS|PS\d|PROMPT_COMMAND|PATH|CDPATH|HOME|SHELL|SHELLOPTS|GLOBIGNORE|PAGER|CC|CXX"
    r"|C\w*FLAGS|CPATH|POSIXLY_CORRECT|GREP_OPTIONS|TAR_OPTIONS"
)


_SUBSTITUTE = re.compile(
    r"try:\s*\n[ \t]*(?:import|from)[ \t]+(\w+)[^\n]*\n[ \t]*except[^\n]*:\s*\n[ \t]*(?:import|from)[ \t]+(\w+)"
)
"""a module that is imported, and the one that takes its place"""
_PROGRAM_NAME = re.compile(r"(?<![\w.-])[\w.-]+\.py\b")
_SETS_SEARCH_PATH = re.compile(
    r"(?m)(?:^|[;&|({`\"']|\b(?:export|env|then|do|else))[ \t]*(?:\w+=\S{0,1000}[ \t]+)*PYTHONPATH=(?=[^\s;&|)])"
)
"""an assignment, where a command begins"""

Listed = Callable[[str], Awaitable[list[FileInfo]]]


class Files(Protocol):
    """Files of a sandbox, as its operations give them. All raise SandboxFileError."""

    def read_file(self, path: str) -> Awaitable[bytes]:
        """The whole file."""

    def write_file(self, path: str, source: bytes, /) -> Awaitable[None]:
        """Create or replace a file, creating missing parents."""

    def remove(self, path: str, *, recursive: bool = False, missing_ok: bool = False) -> Awaitable[None]:
        """Remove a file, a link, or a whole tree."""


class TooManyFilesError(Exception):
    """A candidate has left more start-up files than are removed one by one."""


@dataclass(frozen=True, slots=True)
class StartUpFiles:
    """What was there before the candidate."""

    home: str
    files: dict[str, bytes]
    """start-up files that were there: path below the home folder -> content"""
    folders: frozenset[str]
    holds_project: bool = False
    """the home folder is the working directory: what a project has there is no start-up file"""

    @classmethod
    async def of(cls, sandbox: Files, listed: Listed, home: str, *, holds_project: bool = False) -> StartUpFiles:
        """Read the start-up files that are there now. `listed`: what gives the entries of a folder."""
        kinds = await _kinds(listed, home, holds_project=holds_project)
        files = {
            path: await sandbox.read_file(f"{home}/{path}")
            for path, kind in kinds.items()
            if kind == "file" and path not in _FOLDERS
        }
        folders = frozenset(path for path in kinds if path in _FOLDERS or path not in (*_FILES, *files))
        return cls(home, files, folders, holds_project)

    async def restore(self, sandbox: Files, listed: Listed, texts: Iterable[str], *, most: int | None = None) -> None:
        """Make it as it was, but for what these texts name. Raises TooManyFilesError: there are more than `most`."""
        texts = list(texts)
        named = _named(texts)
        kinds = await _kinds(listed, self.home, holds_project=self.holds_project)
        if most is not None and len(kinds.keys() - self.files.keys()) > most:
            raise TooManyFilesError("the candidate leaves too many start-up files")
        kept = set()
        for path, kind in kinds.items():
            if path.startswith(".") and "/" not in path and path != ".config" and _is_named(path, texts):
                continue
            place = f"{self.home}/{path}"
            if path == ".config" and path in named and path not in self.folders and kind == "directory":
                await self._keep_named(sandbox, listed, place, texts)
            if path in named or path in self.folders:
                continue
            before = self.files.get(path)
            if path in _PROFILES and kind == "file" and _only_sets(before, await sandbox.read_file(place), texts):
                kept.add(path)
                continue
            if before is None or kind != "file" or await sandbox.read_file(place) != before:
                await sandbox.remove(place, recursive=True, missing_ok=True)
        for path, content in self.files.items():
            if path not in named | kept and not _is_named(path, texts):
                await sandbox.write_file(f"{self.home}/{path}", content)

    async def _keep_named(self, sandbox: Files, listed: Listed, place: str, texts: Iterable[str]) -> None:
        """Keep of a folder of settings only what the texts name in it, unless one of them names the whole folder."""
        meant = set()
        for text in texts:
            for found in _CONFIG.finditer(text):
                if not (name := found[1] or found[2]):
                    return
                meant.add(name)
        for name in (await _entries(listed, place)).keys() - meant:
            await sandbox.remove(f"{place}/{name}", recursive=True, missing_ok=True)


async def _kinds(listed: Listed, home: str, *, holds_project: bool = False) -> dict[str, str]:
    """What there is of `_FILES` and `_FOLDERS`, and each other hidden file, links as links."""
    places = {"": await _entries(listed, home or "/")}
    wanted = [path for path in (*_FILES, *_FOLDERS) if not (holds_project and path in _OF_PROJECTS)]
    for folder in {path.partition("/")[0] for path in wanted if "/" in path} & places[""].keys():
        places[folder] = await _entries(listed, f"{home}/{folder}")
    found: dict[str, str] = {}
    # other hidden files: what programs call their start-up files nobody can list. Below a program's own folder are data
    found.update({} if holds_project else {
        name: kind for name, kind in places[""].items()
        if name[:1] == "." and kind != "directory" and name not in {path.partition("/")[0] for path in wanted}
    })  # fmt: skip
    for path in wanted:
        folder, _, name = path.rpartition("/")
        if name in places.get(folder, {}):
            found[path] = places[folder][name]
    return found


async def _entries(listed: Listed, folder: str) -> dict[str, str]:
    try:
        return {entry.name: entry.kind for entry in await listed(folder)}
    except SandboxFileError as error:
        if error.reason == "IO_FAILED":
            raise
        return {}


def _only_sets(before: bytes | None, now: bytes, texts: Collection[str]) -> bool:
    """A profile that only sets variables which steer no tool, for a verifier that asks a login shell. Who ends the
    shell there, or names other programs, would answer in its place."""
    if not now.startswith(before or b"") or not any(_LOGIN_SHELL.search(text) for text in texts):
        return False
    for line in now[len(before or b"") :].decode("utf-8", "replace").split("\n"):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        found = _SETS_ONE.fullmatch(line.strip())
        if found is None or _STEERS.fullmatch(found[1]) or any(f"{found[1]}=" in text for text in texts):
            return False
    return True


def _is_named(path: str, texts: Iterable[str]) -> bool:
    """By whole words: `app.config` does not name `.config`, nor `right.jq` `.jq`."""
    # a candidate decides how many paths there are: few of them occur at all
    name = rf"(?<![\w.\]\)$-]){re.escape(path)}(?![\w-]|\.\w)"
    return any(path in text and re.search(name, text) is not None for text in texts)


def _named(texts: Iterable[str]) -> Set[str]:
    named = set()
    for text in texts:
        for other in _NAMED_FOR_OTHER_REASONS:
            text = text.replace(other, "")
        named |= {path for path in (*_FILES, *_FOLDERS) if path.startswith(".") and _is_named(path, [text])}
        named |= {path for path, words in _NAMED_IN_WORDS.items() if words.search(text)}
    return named


def guard(
    folder: str,
    environment: dict[str, str],
    texts: Iterable[str] = (),
    *,
    trusted: Iterable[str] = (),
    optional: Iterable[str] = (),
    left: Iterable[str] = (),
    began: float | None = None,
    copied: Mapping[str, str] | None = None,
    beside_candidate: bool = False,
    hides_processes: bool = False,
) -> tuple[str, bytes, dict[str, str]]:
    """(path, content) of a file, and the variables with which each Python loads it as it starts; see
    `guest_sitecustomize`. `folder`: one that is made after the candidate has ended; `texts`: the verifier's programs;
    `trusted`: paths of its modules; `optional`: names that it does without; `left`: configuration that the
    candidate has left; `began`: when the candidate began, by the files' times; `copied`: the verifier's files, which it
    may copy; `beside_candidate`: the candidate runs at
    the same time, so that what the contract adds to the search path is in the file, and in no variable;
    `hides_processes`: the sandbox does (see `SandboxSpec`)."""
    texts = list(texts)
    place = f"{folder}/.start-{secrets.token_hex(8)}"
    theirs = environment.get("PYTHONPATH", "")
    searched = tuple(entry or "." for entry in theirs.split(":")) if theirs and beside_candidate else ()
    path = str(PurePosixPath(place) / "sitecustomize.py")
    source = source_of(guest_sitecustomize)
    given: dict[str, tuple[object, ...]] = {
        "OPTIONAL": tuple(sorted({*_with_a_substitute(texts), *optional})),
        "TRUSTED": tuple(trusted),
        "SEARCHED": searched,
        "HIDDEN": (True,) if hides_processes else (),
        "LEFT": tuple(left),
        "BEGAN": () if began is None else (began,),
        "NAMED": tuple(sorted({name for text in texts for name in _PROGRAM_NAME.findall(text)})),
        "COPIED": tuple(
            (_own_name(path), hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest())
            for path, text in sorted((copied or {}).items())
            if path.endswith(".py") and (text or path.endswith("/__init__.py"))
        ),
    }
    for name, value in given.items():
        before, line, after = source.partition(f"\n{name} = ()\n")
        assert line, f"guest_sitecustomize declares no {name}"
        source = f"{before}\n{name} = {value!r}\n{after}"
    variables = {**environment, "PYTHONPATH": place if searched or not theirs else f"{place}:{theirs}"}
    return path, source.encode(), variables


def _own_name(path: str) -> str:
    """By which a copy is known: of a package with that of its folder."""
    parts = PurePosixPath(path).parts
    return "/".join(parts[-2:]) if parts[-1] == "__init__.py" else parts[-1]


def guarded_shell(text: str, guard_folder: str) -> str:
    """A command of shell that sets the search path of Python keeps the guard in it; data of the script stays."""
    if "PYTHONPATH=" not in text:
        return text
    mask = code_mask(text)
    return _SETS_SEARCH_PATH.sub(
        lambda found: f"{found[0]}{guard_folder}:" if mask[found.end() - 1] else found[0], text
    )


def guarded_scripts(texts: Mapping[str, str], guard_folder: str, commands: Iterable[str] = ()) -> dict[str, str]:
    """A contract's files, its scripts so that they keep the guard, but for those that it only compares with.
    `commands`: more lines that may run them."""
    everything = [*texts.values(), *commands]
    return {
        path: guarded_shell(text, guard_folder)
        if path.endswith((".sh", ".bash")) and not is_data(PurePosixPath(path).name, everything)
        else text
        for path, text in texts.items()
    }


def _with_a_substitute(texts: Iterable[str]) -> set[str]:
    """Modules in whose place a program takes one of the standard library: these are no work of a candidate's."""
    pairs = [pair for text in texts for pair in _SUBSTITUTE.findall(text)]
    return {wanted for wanted, other in pairs if other in sys.stdlib_module_names and wanted != other}
