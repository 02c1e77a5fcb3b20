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
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Protocol

from harena.core.errors import SandboxFileError
from harena.core.models import FileInfo
from harena.scoring.contracts.harbor import is_within
from harena.scoring.guest import first_module
from harena.scoring.guest import sitecustomize as guest_sitecustomize
from harena.scoring.guest_sources import source_of
from harena.scoring.scorers.make_rules import MAKEFILES
from harena.scoring.scorers.shell_code import code_mask, is_data
from harena.scoring.scorers.start_up_names import (
    FILES,
    FOLDERS,
    INSTALLED,
    PROGRAMS,
    Named,
    folders_on_path,
    named_by,
    variables_assigned,
)
from harena.scoring.scorers.verifier_leftovers import STEERING
from harena.scoring.scorers.watched_files import ReadsFiles, content_of
from harena.scoring.slices import aside

_PROFILES = (".profile", ".bash_profile", ".bash_login")
_SETS_ONE = re.compile(
    r"(?:export[ \t]+)?([A-Z][A-Z0-9_]*)=(?:[\w./:,@%+-]*|\"[\w ./:,@%+-]*\"|'[\w ./:,@%+-]*')[ \t]*"
)
_STEERS = re.compile(
    r"(?:LD_|PYTHON|PYTEST|BASH|PERL|RUBY|GEM_|NODE|NPM|GIT_|JAVA|JDK|_JAVA|GO|CARGO|RUST|MAKE|UV_|PIP_|VIRTUAL|LESS|GCC"
    r"|MALLOC|GLIBC|XDG_|TMP).*|ENV|IFS|PS\d|PROMPT_COMMAND|PATH|CDPATH|HOME|SHELL|SHELLOPTS|GLOBIGNORE|PAGER|CC|CXX"
    r"|C\w*FLAGS|CPATH|POSIXLY_CORRECT|GREP_OPTIONS|TAR_OPTIONS"
)


_SUBSTITUTE = re.compile(
    r"try:\s*\n[ \t]*(?:import|from)[ \t]+(\w++)[^\n]*+\n[ \t]*+except[^\n]*:\s*\n[ \t]*(?:import|from)[ \t]+(\w+)"
)
"""a module that is imported, and the one that takes its place"""
_COMMENT = re.compile(r"(?m)^[ \t]*#[^\n]*")
_PROGRAM_NAME = re.compile(r"(?<![\w.-])[\w.-]+\.py\b")
_FROM_ABOVE = re.compile(r"(?m)^[ \t]*from[ \t]+(\.)\.")
_IMPORTED = (
    re.compile(r"(?m)(?:^|[;:\"'(])[ \t]*(?:from|import)[ \t]+([A-Za-z_]\w*)"),
    re.compile(r"(?m)^[ \t]*import[ \t]+[\w.]+(?:[ \t]+as[ \t]+\w+)?[ \t]*,[ \t]*([A-Za-z_]\w*)"),
    re.compile(r"[\"']([A-Za-z_]\w*)[.\"':]"),
    re.compile(r"(?<![\w-])-m[ \t]*+[\"']?,?[ \t]*+[\"']?([A-Za-z_]\w*)"),
)
"""first names of modules that a program may import: in statements, in texts, and behind `-m`"""
_SETS_SEARCH_PATH = re.compile(
    r"(?m)(?:^|[;&|({`\"']|\b(?:export|env|then|do|else|(?:declare|typeset|readonly|local)(?:[ \t]+-\w+)*))"
    r"[ \t]*[@+-]{0,3}(?:\w+=\S{0,1000}[ \t]+)*PYTHONPATH=(?=[^\s;&|)])"
)
"""an assignment, where a command begins"""
_SETS_FOR_MAKE = re.compile(r"(?m)^ {0,8}(?:(?:export|override)[ \t]+)?PYTHONPATH[ \t]{0,8}[:?+]{0,3}=[ \t]*(?=\S)")
_IGNORES_VARIABLES = re.compile(r"(?<![\w.-])(?P<program>python[\d.]*)(?P<options>(?:[ \t]+-[A-Za-z]{1,16}(?![\w-]))+)")
"""options of Python behind which its variables, the guard's too, may count for nothing"""
_OPTION = re.compile(r"[ \t]+-([A-Za-z]+)")
_CLEARS_SEARCH_PATH = re.compile(
    r"(?m)(?<![\w./$-])(?:(?P<unset>unset[ \t]+(?:-v[ \t]+)?)PYTHONPATH(?!\w)"
    r"|(?P<kept>env[ \t]+)-u[ \t]*PYTHONPATH(?!\w)"
    r"|(?P<none>env[ \t]+(?:-i|-|--ignore-environment))(?=[ \t][^\n]{0,500}\bpy(?:thon|test|\.test))"
    r"|PYTHONPATH=(?=[\s;&|)]|$))"
)
"""what leaves Python without a search path of the environment's"""

_OF_ANY_PYTHON = """\
import sys
if sys.version_info[0] > 2:
    exec({!r})
else:
    import imp
    own = [place for place in sys.path if not __file__.startswith(place + "/encodings.py")]
    imp.load_module("encodings", *imp.find_module("encodings", own))
"""
"""Python 2, which the guard does not know, finds what it would find without it"""
_SEARCHES = 16
"""times that a text is read where it is looked through: texts of 1,024 characters are small"""
_MOST_DATA = 20
"""scripts of which it is asked whether they are data only: each answer reads all texts"""
_ENTRY_BYTES = 64
"""what a name of a folder counts where many are looked through"""
MOST_LEFT = 5000
"""start-up files that are removed one by one, or kept"""
MOST_KEPT_BYTES = 16 * 1024 * 1024
"""content that is kept of all start-up files that were there before the candidate"""
_MOST_ADDED_BYTES = 64 * 1024
_MOST_ADDED_LINES = 1000
"""what a candidate may add to a profile: one to which more was added is removed"""

_PROGRAMS_OF_SYSTEM = (
    "/opt/python/bin", "/usr/local/bin", "/usr/bin", "/bin", "/usr/local/sbin", "/usr/sbin", "/sbin",
)  # fmt: skip
_PYTHONS = re.compile(r"(?:python|pip|pypy)[\d.]*")
_INSTALLS_UV = "astral.sh/uv"
"""how a verifier says that it brings its own"""

_NO_FOLDER = ("NOT_FOUND", "NOT_A_DIRECTORY")
"""reasons of file errors where no folder is"""

Listed = Callable[[str], Awaitable[list[FileInfo]]]


class Files(ReadsFiles, Protocol):
    """Files of a sandbox, as its operations give them. All raise SandboxFileError."""

    def write_file(self, path: str, source: bytes, /) -> Awaitable[None]:
        """Create or replace a file, creating missing parents."""

    def remove(self, path: str, *, recursive: bool = False, missing_ok: bool = False) -> Awaitable[None]:
        """Remove a file, a link, or a whole tree."""


class StartUpFilesError(Exception):
    """There are more start-up files, or more is in them, than can be kept or removed; the message says which."""


@dataclass(frozen=True, slots=True)
class StartUpFiles:
    """What was there before the candidate."""

    home: str
    files: dict[str, bytes]
    """start-up files that were there: path below the home folder -> content"""
    folders: frozenset[str]
    large: Mapping[str, int] = field(default_factory=dict)
    """hidden files that were there, and are too large to be kept: path -> bytes. No tool starts with such a file; it is
    left where it is as large as before"""
    closed: frozenset[str] = frozenset()
    """folders that could not be listed"""

    @classmethod
    async def of(cls, sandbox: Files, listed: Listed, home: str) -> StartUpFiles:
        """Read the start-up files that are there now. `listed`: what gives the entries of a folder. Raises
        StartUpFilesError."""
        closed: set[str] = set()
        found = await _found(listed, home, closed)
        paths = [path for path, entry in found.items() if entry.kind == "file" and path not in FOLDERS]
        if len(found) > MOST_LEFT:
            raise StartUpFilesError(f"there are more than {MOST_LEFT:,} hidden files in {home or '/'}")
        files: dict[str, bytes] = {}
        large: dict[str, int] = {}
        room = MOST_KEPT_BYTES
        for path in sorted(paths, key=lambda path: path not in FILES):  # the known ones take their room first
            try:
                files[path] = await sandbox.read_file(f"{home}/{path}", max_bytes=room)
            except SandboxFileError as error:
                if error.reason != "TOO_LARGE":
                    raise
                if path in FILES or found[path].size_bytes <= MOST_KEPT_BYTES:
                    raise StartUpFilesError(
                        f"the hidden files in {home or '/'} up to {path} have more than {MOST_KEPT_BYTES:,} bytes"
                    ) from None
                large[path] = found[path].size_bytes
            else:
                room -= len(files[path])
        kept = {*FILES, *files, *large}
        folders = frozenset(path for path in found if path in FOLDERS or path not in kept)
        return cls(home, files, folders, large, frozenset(closed))

    async def restore(self, sandbox: Files, listed: Listed, texts: Iterable[str], *, most: int = MOST_LEFT) -> None:
        """Make it as it was, but for what these texts name. Raises StartUpFilesError: there are more than `most`."""
        texts = list(texts)
        closed: set[str] = set()
        found = await _found(listed, self.home, closed)
        if len(found.keys() - self.files.keys()) > most:
            raise StartUpFilesError("the candidate leaves too many start-up files")
        size = _SEARCHES * sum(len(text) + 1 for text in texts)
        named = await aside(size + _ENTRY_BYTES * len(found), named_by, texts, {*found, *self.files})
        kept = set()
        for path, entry in found.items():
            is_installed = path in INSTALLED
            if path[:1] == "." and "/" not in path and path != ".config" and path in named.hidden and not is_installed:
                continue
            place = f"{self.home}/{path}"
            is_file = entry.kind == "file"
            if path == ".config" and path in named.known - self.folders and entry.kind == "directory":
                await _keep_in_config(sandbox, listed, place, named, most, closed)
            if path in PROGRAMS and entry.kind == "directory" and path in named.known - self.folders:
                await _remove_programs(sandbox, listed, place, texts, most, closed)
            if (
                (path in named.known and not is_installed)
                or path in self.folders
                or (is_file and self.large.get(path) == entry.size_bytes)
            ):
                continue
            before = self.files.get(path)
            if path in _PROFILES and is_file and named.has_login_shell:
                most_bytes = len(before or b"") + _MOST_ADDED_BYTES
                now = await content_of(sandbox, place, max_bytes=most_bytes)
                if now is not None and await aside(size + len(now), _only_sets, before, now, texts):
                    kept.add(path)
                    continue
            if before is None or not is_file or await content_of(sandbox, place, max_bytes=len(before)) != before:
                await sandbox.remove(place, recursive=True, missing_ok=True)
        if closed - self.closed:
            raise StartUpFilesError("the candidate leaves folders that cannot be looked into")
        for path, content in self.files.items():
            if path in INSTALLED or path not in named.known | named.hidden | kept:
                await sandbox.write_file(f"{self.home}/{path}", content)


async def _remove_programs(
    sandbox: Files,
    listed: Listed,
    place: str,
    texts: Collection[str],
    most: int,
    closed: set[str],
    *,
    before: Collection[str] = (),
) -> None:
    """Remove from a folder of programs, which a verifier names since it puts it on PATH, those that hide the system's,
    and those by which a verifier judges; not what was there before."""
    theirs = await _entries(listed, place, closed)
    theirs = {name: entry for name, entry in theirs.items() if name not in before}
    hidden: set[str] = set()
    for folder in _PROGRAMS_OF_SYSTEM if theirs else ():
        hidden |= theirs.keys() & (await _entries(listed, folder, set())).keys()
    hidden |= theirs.keys() & {"pytest", "py.test"}
    hidden |= {name for name in theirs if _PYTHONS.fullmatch(name)}
    if any(_INSTALLS_UV in text for text in texts):
        hidden |= theirs.keys() & {"uv", "uvx"}
    if len(hidden) > most:
        raise StartUpFilesError("the candidate leaves too many programs")
    for name in hidden:
        await sandbox.remove(f"{place}/{name}", recursive=True, missing_ok=True)


async def programs_on_path(
    listed: Listed, home: str, texts: Collection[str], own: Collection[str]
) -> dict[str, frozenset[str]]:
    """What is now in the folders that lines of the texts put on PATH, by folder; not in those below `own`, in which the
    candidate works, or in the system's."""
    size = _SEARCHES * sum(len(text) + 1 for text in texts)
    folders = await aside(size, folders_on_path, texts, home)
    left = [path for path in folders if not any(is_within(path, place) for place in (*own, *_PROGRAMS_OF_SYSTEM))]
    closed: set[str] = set()
    found = {path: frozenset(await _entries(listed, path, closed)) for path in left}
    return {path: names for path, names in found.items() if path not in closed}


async def hiding_programs(listed: Listed, home: str, texts: Collection[str], own: Collection[str]) -> frozenset[str]:
    """Paths in such folders of programs that hide one of the system's."""
    on_path = await programs_on_path(listed, home, texts, own)
    hidden: set[str] = set()
    for folder in _PROGRAMS_OF_SYSTEM if any(on_path.values()) else ():
        hidden |= (await _entries(listed, folder, set())).keys()
    return frozenset(f"{folder}/{name}" for folder, names in on_path.items() for name in names & hidden)


async def remove_hiding_programs(
    sandbox: Files,
    listed: Listed,
    before: Mapping[str, frozenset[str]],
    texts: Collection[str],
    *,
    most: int = MOST_LEFT,
) -> None:
    """Remove from such folders the programs that were not there before and hide the system's, and those by which a
    verifier judges. Raises StartUpFilesError."""
    closed: set[str] = set()
    for folder, names in before.items():
        await _remove_programs(sandbox, listed, folder, texts, most, closed, before=names)
    if closed:
        raise StartUpFilesError("the candidate leaves folders that cannot be looked into")


async def _keep_in_config(
    sandbox: Files, listed: Listed, place: str, named: Named, most: int, closed: set[str]
) -> None:
    """Keep of a folder of settings only what the texts name in it, unless one of them names the whole folder."""
    if named.in_config is None:
        return
    others = (await _entries(listed, place, closed)).keys() - named.in_config
    if len(others) > most:
        raise StartUpFilesError("the candidate leaves too many settings")
    for name in others:
        await sandbox.remove(f"{place}/{name}", recursive=True, missing_ok=True)


async def _found(listed: Listed, home: str, closed: set[str]) -> dict[str, FileInfo]:
    """What there is of `FILES` and `FOLDERS`, and each other hidden file, links as links. `closed` takes the folders
    that cannot be listed: a program opens by name what is in them."""
    places = {"": await _entries(listed, home or "/", closed)}
    wanted = (*FILES, *FOLDERS, *INSTALLED)
    above = {str(folder) for path in wanted for folder in PurePosixPath(path).parents if str(folder) != "."}
    for folder in sorted(above):  # a folder comes before those in it
        parent, _, name = folder.rpartition("/")
        if name in places.get(parent, {}):
            places[folder] = await _entries(listed, f"{home}/{folder}", closed)
    return await aside(_ENTRY_BYTES * len(places[""]), _chosen, places, wanted)


def _chosen(places: Mapping[str, Mapping[str, FileInfo]], wanted: Iterable[str]) -> dict[str, FileInfo]:
    found: dict[str, FileInfo] = {}
    known = {path.partition("/")[0] for path in wanted}
    # other hidden files: what programs call their start-up files nobody can list. Below a program's own folder are data
    found.update(
        (name, entry)
        for name, entry in places[""].items()
        if name[:1] == "." and entry.kind != "directory" and name not in known
    )
    for path in wanted:
        folder, _, name = path.rpartition("/")
        if name in places.get(folder, {}):
            found[path] = places[folder][name]
    return found


async def _entries(listed: Listed, folder: str, closed: set[str]) -> dict[str, FileInfo]:
    try:
        entries = await listed(folder)
    except SandboxFileError as error:
        if error.reason == "IO_FAILED":
            raise
        if error.reason not in _NO_FOLDER:
            closed.add(folder)
        return {}
    return await aside(_ENTRY_BYTES * len(entries), _by_name, entries)


def _by_name(entries: Iterable[FileInfo]) -> dict[str, FileInfo]:
    return {entry.name: entry for entry in entries}


def _only_sets(before: bytes | None, now: bytes, texts: Collection[str]) -> bool:
    """A profile that only sets variables which steer no tool, for a verifier that asks a login shell. Who ends the
    shell there, or names other programs, would answer in its place."""
    if not now.startswith(before or b""):
        return False
    lines = now[len(before or b"") :].decode("utf-8", "replace").split("\n")
    lines = [line for line in map(str.strip, lines) if line and not line.startswith("#")]
    if len(lines) > _MOST_ADDED_LINES:
        return False
    names = set()
    for line in lines:
        found = _SETS_ONE.fullmatch(line)
        if found is None or _STEERS.fullmatch(found[1]):
            return False
        names.add(found[1])
    return not variables_assigned(names, texts)


def guard(
    folder: str,
    environment: dict[str, str],
    texts: Iterable[str] = (),
    *,
    trusted: Iterable[str] = (),
    optional: Iterable[str] = (),
    left: Iterable[str] = (),
    left_tests: Iterable[str] = (),
    programs: Iterable[str] = (),
    originals: Iterable[str] = (),
    has_tests: bool = True,
    began: float | None = None,
    copied: Mapping[str, str] | None = None,
    beside_candidate: bool = False,
    hides_processes: bool = False,
    keeps_memory: bool = True,
    writes_tests: bool = False,
    rewards: Iterable[str] = (),
    writers: Iterable[str] = (),
) -> tuple[str, bytes, dict[str, str]]:
    """(path, content) of a file, and the variables with which each Python loads it as it starts; see
    `guest_sitecustomize`. `folder`: one that is made after the candidate has ended; `texts`: the verifier's programs;
    `trusted`: paths of its modules; `optional`: names that it does without; `left`: configuration that the candidate
    has left; `left_tests`: digests of its test files; `programs`: paths of the image's; `originals`: paths among
    `left` of what the environment has, too (see `original_copies`); `has_tests`: the verifier, or the environment, has
    test files; `began`: when the candidate began, by the files' times; `copied`: the verifier's files, which it may
    copy; `beside_candidate`: the candidate runs at the same time, so that what the contract adds to the search path is
    in the file, and in no variable; `hides_processes`: the sandbox does (see `SandboxSpec`); `keeps_memory`: its
    Python programs do, from all others; `writes_tests`: the
    verifier's lines of shell write files that test runners collect; `rewards`: what its programs of the names `writers`
    write."""
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
        "KEPT": (True,) if keeps_memory else (),
        "LEFT": tuple(left),
        "LEFT_TESTS": tuple(left_tests),
        "PROGRAMS": tuple(programs),
        "ORIGINALS": tuple(original_copies(place, originals)),
        "SUITES": (True,) if has_tests or writes_tests else (),
        "WRITES": (True,) if writes_tests else (),
        "REWARDS": tuple(rewards),
        "WRITERS": tuple(writers),
        "BEGAN": () if began is None else (began,),
        "NAMED": tuple(sorted({name for text in texts for name in _PROGRAM_NAME.findall(_COMMENT.sub("", text))})),
        "IMPORTED": tuple(
            sorted({name for text in texts for pattern in (*_IMPORTED, _FROM_ABOVE) for name in pattern.findall(text)})
        ),
        "COPIED": tuple(
            (_own_name(path), hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest())
            for path, text in sorted((copied or {}).items())
            if (path.endswith(".py") and (text or path.endswith("/__init__.py")))
            or PurePosixPath(path).name in STEERING
        ),
    }
    for name, value in given.items():
        before, line, after = source.partition(f"\n{name} = ()\n")
        assert line, f"guest_sitecustomize declares no {name}"
        source = f"{before}\n{name} = {value!r}\n{after}"
    variables = {**environment, "PYTHONPATH": place if searched or not theirs else f"{place}:{theirs}"}
    return path, source.encode(), variables


def original_copies(place: str, paths: Iterable[str]) -> list[tuple[str, str]]:
    """(path, where the guard's folder `place` has what the environment has there) of each path."""
    found = []
    for path in dict.fromkeys(paths):
        name = hashlib.sha256(path.encode("utf-8", "surrogateescape")).hexdigest()[:16]
        found.append((path, f"{place}/{name}/{PurePosixPath(path).name}"))
    return found


def without_compiled_files(path: str) -> tuple[str, bytes]:
    """(path, content) of the file that keeps a Python from keeping the guard of this path compiled beside it: where a
    program has dropped the variable that forbids it, the guard's folder would change."""
    return f"{PurePosixPath(path).parent}/__pycache__", b""


def first_module_of(path: str, environment: Mapping[str, str], texts: Iterable[str]) -> tuple[str, bytes] | None:
    """(path, content) of the file beside the guard's, of this path, by which no folder of PYTHONPATH gives a module
    before the guard is in its place; None where the variables and the verifier's texts have no such folders."""
    place = str(PurePosixPath(path).parent)
    if environment["PYTHONPATH"] == place and not any("PYTHONPATH" in text for text in texts):
        return None
    return f"{place}/encodings.py", _OF_ANY_PYTHON.format(source_of(first_module)).encode()


def _own_name(path: str) -> str:
    """By which a copy is known: of a package with that of its folder."""
    parts = PurePosixPath(path).parts
    return "/".join(parts[-2:]) if parts[-1] == "__init__.py" else parts[-1]


def guarded_shell(text: str, guard_folder: str) -> str:
    """A command of shell that sets the search path of Python keeps the guard in it, and one that has Python ignore it
    does not; data of the script stays."""
    if not _sets_or_clears(text):
        return text
    if _IGNORES_VARIABLES.search(text):
        before = code_mask(text)
        text = _IGNORES_VARIABLES.sub(lambda found: _with_variables(found) if before[found.start()] else found[0], text)
    if _SETS_SEARCH_PATH.search(text):
        then = code_mask(text)
        text = _SETS_SEARCH_PATH.sub(
            lambda found: f"{found[0]}{guard_folder}:" if then[found.end() - 1] else found[0], text
        )
    if not _CLEARS_SEARCH_PATH.search(text):
        return text
    mask = code_mask(text)
    return _CLEARS_SEARCH_PATH.sub(
        lambda found: _kept_guard(found, guard_folder) if mask[found.end() - 1] else found[0], text
    )


def guarded_makefile(text: str, guard_folder: str) -> str:
    """Rules of make that set the search path of Python, or run commands which do, keep the guard in it."""
    own = _SETS_FOR_MAKE.sub(lambda found: f"{found[0]}{guard_folder}:", text)
    return own if own != text else guarded_shell(text, guard_folder)


def _sets_or_clears(text: str) -> bool:
    if "PYTHONPATH" in text or ("env" in text and _CLEARS_SEARCH_PATH.search(text) is not None):
        return True
    return "python" in text and _IGNORES_VARIABLES.search(text) is not None


def _with_variables(found: re.Match[str]) -> str:
    """`-E`, `-I` and `-s` are left out of options, up to `-m` and `-c`, behind which words are the program's. What `-I`
    keeps out, modules beside the program, the guard keeps behind all others."""
    kept, is_open = [], True
    for letters in _OPTION.findall(found["options"]):
        left = "".join(letter for letter in letters if letter not in "EIs") if is_open else letters
        is_open = is_open and not {"c", "m", "W", "X"} & set(letters)
        kept.append(f" -{left}" if left else "")
    return found["program"] + "".join(kept)


def _kept_guard(found: re.Match[str], guard_folder: str) -> str:
    """What clears everything else."""
    setting = f"PYTHONPATH={guard_folder}"
    if found["unset"] is not None:
        return f"export {setting}; {found['unset']}"  # other variables may follow
    if found["kept"] is not None:
        return f"{found['kept']}{setting}"
    return setting if found["none"] is None else f"{found['none']} {setting}"


def guarded_scripts(texts: Mapping[str, str], guard_folder: str, commands: Iterable[str] = ()) -> dict[str, str]:
    """A contract's files, its scripts so that they keep the guard, but for those that it only compares with.
    `commands`: more lines that may run them."""
    everything = [*texts.values(), *commands]
    made = {path: how for path in texts if (how := _guarded_as(path)) is not None and _sets_or_clears(texts[path])}
    data = {path for path in list(made)[:_MOST_DATA] if is_data(PurePosixPath(path).name, everything)}
    return {**texts, **{path: how(texts[path], guard_folder) for path, how in made.items() if path not in data}}


def _guarded_as(path: str) -> Callable[[str, str], str] | None:
    """How a file of this name keeps the guard; scripts may have no ending."""
    name = PurePosixPath(path).name
    if name in MAKEFILES or name.endswith((".mk", ".mak")):
        return guarded_makefile
    return guarded_shell if name.endswith((".sh", ".bash")) or "." not in name else None


def _with_a_substitute(texts: Iterable[str]) -> set[str]:
    """Modules in whose place a program takes one of the standard library: these are no work of a candidate's."""
    pairs = [pair for text in texts for pair in _SUBSTITUTE.findall(text)]
    return {wanted for wanted, other in pairs if other in sys.stdlib_module_names and wanted != other}
