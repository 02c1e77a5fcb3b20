"""What a verifier's sandbox takes over from a candidate's.

A candidate leaves processes, start-up files and scratch files, and in an image it may change everything: the shell,
interpreters, libraries, `/etc`. So the verifier runs in a fresh sandbox of the same image, and only working places are
taken over: the folders in which tasks have their work, what the contract declares, and what the verifier's own files,
or variables that it is given, name outside of the folders that have the image's programs. Nothing of it is where the
image's programs look for programs, libraries or start-up files, or where the verifier makes something itself.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace

from harena.core.errors import SandboxFileError
from harena.core.models import ExecOutcome, ExecRequest, FileInfo
from harena.core.ports import MovesTrees, SandboxPort
from harena.scoring.contracts.harbor import HarborContract, is_of_system, is_within
from harena.scoring.scorers.image_programs import FIND_FILES, FIND_INSTALLED, FIND_LINKED, find_programs
from harena.scoring.scorers.installed_places import installed_places
from harena.scoring.scorers.searched_texts import searched
from harena.scoring.scorers.start_up_names import FILES, FOLDERS, INSTALLED, Named, named_by
from harena.scoring.scorers.verifier_leftovers import copied_paths, made_paths, unpacked_paths, written_paths
from harena.scoring.slices import aside, last_line, size_of
from harena.scoring.verdict import one_line

WORKING_PLACES = (
    "/app", "/data", "/home", "/logs/agent", "/logs/artifacts", "/mnt", "/srv", "/var/log", "/var/www", "/workspace",
)  # fmt: skip
"""folders that are taken over whole, beside the working directory"""
PLACES_OF_DEFAULT = ("/data", "/workspace")
"""likewise in the default image, where nobody can write to others; `/app` and `/logs` are links into `/data`"""
_THE_VERIFIERS = ("/tests", "/solution", "/logs/verifier")
_LOOK_SECONDS = 60.0
_MOST_NAMED = 200
"""paths that a verifier's files name"""
_MOST_FILE_BYTES = 64 * 1024 * 1024
_NAMED = re.compile(r"(?<![\w./~$}-])/[\w.@%+,-][\w.@%+,/-]*")
_WITH_MORE = ("/dev", "/etc", "/home", "/mnt", "/opt", "/root", "/srv", "/tmp", "/usr", "/var")
"""folders that have something in every image: only what is below them can be named"""
_AT_HOME = re.compile(r"(?<![\w./~$}-])(?:~|\$HOME|\$\{HOME\})/|\bPath\.home\(\)[ \t]*/[ \t]*[\"']")
_THROUGH_HOME = re.compile(
    r"expanduser\([ \t]*[\"']~[\"']|[\"']/root[\"']"
    r"|\bPath\.home\(\)(?![ \t]*/[ \t]*[\"'])|\benviron\b[^\n]{0,20}[\"']HOME[\"']"
    r"|(?<![\w./~$}-])(?:~|/root|\$HOME|\$\{HOME\})(?:/[$*?\[{`\"']|[ \t\n;]|[\"'][ \t\n;/])"
)
"""a home folder that something is joined to, or that is looked through"""
_SOURCED = re.compile(
    r"(?:(?<![\w-])source[ \t]|(?<![\w./\"'-])\\?\.[ \t]|\beval[ \t]{1,9}[\"']?(?:\$\(|`)[ \t]{0,9}(?:cat[ \t]|<))"
    r"[ \t]*[\"']?(/[\w.@%+,/-]+)"
)
_SCRATCH = ("/tmp/", "/var/tmp/")
_PART_OF_SCRATCH = re.compile(r"\bgettempdir\(|(?<![\w./~$}-])/tmp(?:/[\w.@%+,/-]*[*?\[$`{]|/?(?![\w.@%+,/-]))")
_PART_OF_OPT = re.compile(r"(?<![\w./~$}-])/opt(?:/[\w.@%+,-]*[*?\[$`{]|/?(?![\w.@%+,/-]))")
_GOES_THERE = re.compile(r"(?:\b(?:cd|pushd|mkdir|TMPDIR=)|[ \t]-\w*[CdDt]|--[\w-]+=?)[ \t]*[\"']?$")
"""what stands before `/tmp` where a line works there, and looks for nothing"""
_BEFORE_CHARACTERS = 30
_SEARCHES = 16
"""times that a text is read where it is looked through"""
_OF_PROJECTS = (".npmrc", ".yarnrc", ".yarnrc.yml", ".coveragerc", ".tool-versions", "bin")
"""start-up files and folders that a project has in its own folder, which may be the home folder"""
_LEFT_OUT = ("NOT_FOUND", "NOT_A_DIRECTORY", "PERMISSION_DENIED", "IS_DIRECTORY", "TOO_LARGE")
"""reasons for which one named path does not come, and nothing else is kept from coming"""
_TOO_WIDE = ("/var/lib", "/var/cache", "/var/spool", "/var/run", "/var/local")
_LEADS_TO_CODE = (
    "LD_LIBRARY_PATH", "LD_PRELOAD", "LD_AUDIT", "GCONV_PATH", "BASH_ENV", "ENV", "PERL5LIB", "PERL5OPT", "RUBYLIB",
    "RUBYOPT", "PYTHONHOME", "PYTHONSTARTUP", "PYTHONUSERBASE", "NODE_OPTIONS", "NODE_PATH", "GIT_EXEC_PATH",
)  # fmt: skip
"""variables by which a program of the image's loads code: none may lead to where the candidate works"""
_INTERPRETERS = ("python", "python3", "bash", "sh", "node", "perl", "ruby")
_BESIDE_PROGRAMS = ("lib", "lib32", "lib64", "libexec", "share", "node_modules", "site-packages")
"""what programs load, in the folder that their own is in"""
_MOST_INSTALLED = 10_000
_HOME_TOOLS = (
    ".local", ".cargo", ".nvm", ".rustup", ".rbenv", ".sdkman", ".asdf", ".deno", ".bun", ".opam", ".ghcup", ".poetry",
    "go", "miniconda3", "anaconda3", "miniforge3", "mambaforge", "micromamba", ".pixi", ".npm", ".volta", ".linuxbrew",
    ".pub-cache", ".yarn", ".pnpm-store", "R",
)  # fmt: skip
"""folders of a home folder, beside those that start-up files have, in which installers put programs"""
_OF_HOMES = tuple(dict.fromkeys((*FILES, *FOLDERS, *INSTALLED, *_HOME_TOOLS)))
_LOOK = """\
env -0
printf '\\0'
for name in "$@"; do
    real=$(readlink -m -- "$name"; echo .)
    there=n
    [ -e "$name" ] && there=y
    printf '%s\\0%s\\0' "${real%??}" "$there"
done
"""


class SealingError(Exception):
    """The verifier cannot be kept apart from what the candidate has left; the message says why."""


@dataclass(frozen=True, slots=True)
class Tree:
    """A folder that is taken over."""

    path: str
    kept: tuple[str, ...] = ()
    """paths below it that are the image's, whatever the candidate has there"""
    is_copied_to: bool = False
    """the verifier copies something there: only a folder is taken over, a file is its own to make"""


@dataclass(frozen=True, slots=True)
class Sealing:
    """What is taken over."""

    trees: tuple[Tree, ...]
    named: tuple[Tree, ...]
    """files or folders that the contract, or the verifier's files, name; none lies in another"""
    programs: tuple[str, ...] = ()
    """files of the image's that lie in such folders"""
    looked_through: tuple[str, ...] = ()
    """folders in which everything is taken over that the image has not"""
    kept: tuple[str, ...] = ()
    """paths that are the image's wherever they are"""
    reals: tuple[tuple[str, str], ...] = ()
    """(a working place that is a link, what it is after all links)"""

    @property
    def places(self) -> tuple[str, ...]:
        """All of them."""
        return tuple(tree.path for tree in (*self.trees, *self.named))


@dataclass(frozen=True, slots=True)
class _PlacesFound:
    environment: Mapping[str, str]
    real: Mapping[str, str]
    """what a path is after all links"""
    there: frozenset[str]
    installed: tuple[str, ...] = ()
    """folders of installed tools that the image has in working places"""


async def sealing_of(
    sandbox: SandboxPort, contract: HarborContract, verifier: str | None = None, *, is_default: bool = False
) -> Sealing:
    """What is taken over into this sandbox, in which no candidate has run. `verifier`: whom the verifier runs as, where
    that is somebody else than the sandbox's programs do; `is_default`: it is one of the default image. Raises
    SealingError."""
    if not isinstance(sandbox, MovesTrees):
        raise SealingError("this runtime cannot take over a candidate's folders into another sandbox")
    environment = {**contract.env, **contract.verifier_env}
    first = await _look(sandbox, contract, environment, ())
    second = first if verifier is None else await _look(sandbox, contract, environment, (), user=verifier)
    homes = [home for seen in (first, second) if (home := seen.environment.get("HOME", "")).startswith("/")]
    size = _SEARCHES * size_of(contract.tests)
    tests = await aside(size, searched, contract.tests)
    texts = [*tests.values(), *environment.values()]
    scratch = ("/tmp",) if await aside(size, looks_through_scratch, texts) else ()
    looked_through = homes if await aside(size, looks_through_home, texts) else ()
    places = PLACES_OF_DEFAULT if is_default else WORKING_PLACES
    trees = list(dict.fromkeys([contract.workdir, *places, *scratch, *looked_through]))
    declared = contract.working_places
    told = await aside(size, _told_by, contract, tests, (second.environment.get("HOME") or "/root").rstrip("/"))
    named = [*declared, *told.paths]
    search = _search_path(first.environment.get("PATH", ""))
    leads = _leads(first.environment)
    programs = [f"{folder}/{name}" for folder in search for name in _INTERPRETERS]
    beside = [f"{posixpath.dirname(folder)}/{name}" for folder in search for name in _BESIDE_PROGRAMS]
    asked = [*trees, "/app", *named, *search, *leads, *programs, *beside, *homes, *_THE_VERIFIERS]
    seen = await _look(sandbox, contract, environment, tuple(dict.fromkeys(asked)))
    whole = [seen.real[path] for path in trees if not _is_the_images(seen.real[path])]
    installed = await _found(sandbox, FIND_INSTALLED, whole, is_default=is_default)
    if led := [path for path in whole if posixpath.basename(path) in _BESIDE_PROGRAMS and path in installed]:
        raise SealingError(f"the candidate works in {led[0]}, where the image has packages")
    installed = tuple(path for found in installed for path in (_parts_of(found) if found in whole else [found]))
    linked = [path for path in search if not _is_the_images(seen.real[path])]
    below = [seen.real[path] for path in named if not _is_the_images(seen.real[path])]
    below = [path for path in below if not _is_in(path, whole)]
    if not is_default:
        installed += await _found(sandbox, FIND_LINKED, linked)
        own = await _found(sandbox, await aside(size, find_programs, tests.values()), below)
        own += await _found(sandbox, FIND_FILES, _the_images_alone(below, [seen.real[path] for path in declared]))
        installed += tuple(path for path in own if not _is_in(path, whole))
        tops = _at_root(below, [seen.real[path] for path in declared])
        theirs = await _found(sandbox, FIND_FILES, tops)
        installed += tuple(top for top in tops if any(is_within(path, top) for path in theirs))
    sealing = _decided(contract, trees, named, search, leads, homes, told, replace(seen, installed=installed))
    looks = not is_default and await aside(size, lambda: any(map(_PART_OF_OPT.search, texts)))
    return replace(sealing, looked_through=("/opt",) if looks and not _is_in("/opt", sealing.places) else ())


def _decided(
    contract: HarborContract,
    trees: Sequence[str],
    named: Sequence[str],
    search: Sequence[str],
    leads: Mapping[str, str],
    homes: Sequence[str],
    told: _VerifierPlaces,
    seen: _PlacesFound,
) -> Sealing:
    real = seen.real
    taken = list(dict.fromkeys(real[path] for path in trees if not _is_the_images(real[path])))
    if _is_the_images(real[contract.workdir]) and contract.workdir != "/":
        raise SealingError(f"the working directory {contract.workdir} lies where the image has its own programs")
    taken = [path for path in taken if not any(is_within(path, other) for other in taken if other != path)]
    for path, variable in leads.items():
        if any(is_within(real[path], place) for place in taken):
            raise SealingError(
                f"{variable} has programs load code from {path}, where the candidate works; leave it out of the "
                "image's and the task's environment"
            )
    workdir = real[contract.workdir]
    kept = [_prefix_of(real[folder], [*taken, workdir]) for folder in search]
    for folder in kept:
        if any(is_within(place, folder) for place in (*taken, workdir)):
            raise SealingError(f"PATH has {folder}, where the candidate works; leave it out of the environment")
    for folder, prefix in zip(search, tuple(kept), strict=True):
        is_bare = prefix == real[folder] and any(is_within(prefix, place) for place in taken)
        if is_bare and any(f"{folder}/{name}" in seen.there for name in _INTERPRETERS):
            raise SealingError(f"the interpreters in {folder} have their libraries where the candidate works")
        if is_bare:
            beside = [f"{posixpath.dirname(folder)}/{name}" for name in _BESIDE_PROGRAMS]
            kept += [real[path] for path in beside if path in seen.there]
    kept += seen.installed
    kept += [real[path] for path in _THE_VERIFIERS]
    others = list(kept)
    for place in dict.fromkeys((*(real[home] for home in homes), "/root")) if homes else ():
        kept += [f"{place}/{name}" for name in told.kept_at_home(is_project=place == workdir)]
    whole = [Tree(path, tuple(sorted(_below(path, kept)))) for path in taken]
    more = []
    for path in dict.fromkeys(real[path] for path in named):
        is_taken = any(is_within(path, place) for place in taken)
        if not is_taken and not _is_the_images(path) and not _is_in(path, others):
            more.append(Tree(path, tuple(sorted(_below(path, [*kept, *told.sourced]))), path in told.copied))
    more = [tree for tree in more if not any(is_within(tree.path, other.path) for other in more if other != tree)]
    programs = tuple(path for path in seen.installed if any(is_within(path, tree.path) for tree in more))
    links = tuple((path, real[path]) for path in dict.fromkeys(("/app", *trees)) if real[path] != path)
    return Sealing(tuple(whole), tuple(more), programs, kept=tuple(dict.fromkeys(kept)), reals=links)


def _is_the_images(path: str) -> bool:
    return path == "/" or is_of_system(path)


def _is_in(path: str, places: Iterable[str]) -> bool:
    return any(is_within(path, place) for place in places)


def _parts_of(place: str) -> list[str]:
    """What belongs to a virtual environment that is a working place itself, the work of a candidate beside it."""
    return [f"{place}/{name}" for name in ("bin", "include", "pyvenv.cfg", "conda-meta", *_BESIDE_PROGRAMS)]


def _the_images_alone(places: Iterable[str], declared: Iterable[str]) -> list[str]:
    """The places of which no file that the image has is a candidate's, since nothing declares that it is work."""
    own = tuple(declared)
    return [path for path in places if path.startswith("/opt/") and not _is_in(path, own)]


def _at_root(places: Iterable[str], declared: Iterable[str]) -> list[str]:
    """Folders at the root that not every image has, in which these places are, and nothing declares that they are work.
    Where the image has files there, they may be what judges."""
    own = tuple(declared)
    found = (path for path in places if not _is_in(path, _WITH_MORE) and not _is_in(path, own))
    return list(dict.fromkeys("/" + path.split("/")[1] for path in found))


def _prefix_of(folder: str, taken: Iterable[str]) -> str:
    """What belongs to a folder of programs: the folder above it (`/app/.venv` of `/app/.venv/bin`), unless that is a
    working place, or holds one."""
    prefix = posixpath.dirname(folder)
    return folder if any(is_within(place, prefix) for place in taken) else prefix


def _below(place: str, paths: Iterable[str]) -> set[str]:
    return {posixpath.relpath(path, place) for path in paths if path != place and is_within(path, place)}


def _search_path(path: str) -> list[str]:
    """The folders of PATH. Raises SealingError for one that is where the candidate works by its nature."""
    folders = path.split(":")
    for folder in folders:
        if not folder.startswith("/"):
            raise SealingError(f"PATH has {folder or 'an empty entry'!r}, which is the folder that a program runs in")
    return list(dict.fromkeys(posixpath.normpath(folder) for folder in folders))


def _leads(environment: Mapping[str, str]) -> dict[str, str]:
    """Path -> the variable that leads there."""
    found: dict[str, str] = {}
    for variable in _LEADS_TO_CODE:
        value = environment.get(variable, "")
        for word in re.findall(r"/[^\s:;,='\"]*", value):
            found.setdefault(posixpath.normpath(word), variable)
        if variable == "LD_LIBRARY_PATH" and value and not all(part.startswith("/") for part in value.split(":")):
            raise SealingError(f"{variable} has an entry that is the folder a program runs in")
    return found


@dataclass(frozen=True, slots=True)
class _VerifierPlaces:
    """What a verifier's files tell of the places in which it looks for the candidate's work."""

    paths: tuple[str, ...]
    named: Named
    copied: frozenset[str] = frozenset()
    """where lines of shell copy something to"""
    sourced: frozenset[str] = frozenset()
    """paths from which a shell of the verifier's takes lines (`sourced_paths`)"""

    def kept_at_home(self, *, is_project: bool) -> list[str]:
        """What of a home folder is the image's: start-up files and tools that the verifier's files do not name.
        `is_project`: it is the working directory."""
        names = [name for name in _OF_HOMES if not self.is_asked_for(name)]
        return [name for name in names if not (is_project and name in _OF_PROJECTS)]

    def is_asked_for(self, name: str) -> bool:
        return name in self.named.known and name not in INSTALLED

    def starts_up(self, below: str) -> bool:
        """A path below a home folder is of start-up files or tools, and nobody asks for it."""
        own = [name for name in _OF_HOMES if is_within(f"/{below}", f"/{name}")]
        if ".config" in own:
            return self.named.in_config is not None and below.split("/")[1:2] == []
        return bool(own) and not any(map(self.is_asked_for, own))


def _told_by(contract: HarborContract, tests: Mapping[str, str], home: str) -> _VerifierPlaces:
    """Look through the verifier's files."""
    workdir = contract.workdir
    texts = list(tests.values())
    told = _VerifierPlaces((), named_by(texts, ()), frozenset(copied_paths(tests, workdir)))
    made = {*written_paths(tests, workdir), *made_paths(tests, workdir), *unpacked_paths(tests, workdir)}
    made.update(installed_places(tests, workdir))
    settings = [f"{home}/{name}" for name in FILES if told.is_asked_for(name)]
    sourced = sourced_paths(texts, home)
    given = [*contract.env.values(), *contract.verifier_env.values()]
    paths = [path for path in named_paths([*texts, *given], home) if path not in sourced]
    paths = [path for path in paths if not (path.startswith(_SCRATCH) and _is_in(path, made))]
    places = dict.fromkeys((home, "/root"))
    paths = [
        path
        for path in paths
        if not any(told.starts_up(posixpath.relpath(path, place)) for place in places if is_within(path, place))
    ]
    paths += [path for path in settings if path not in sourced]
    paths += [f"{home}/.config/{name}" for name in sorted(told.named.in_config or ())]
    return replace(told, paths=tuple(dict.fromkeys(paths)), sourced=frozenset(sourced))


def named_paths(texts: Iterable[str], home: str = "/root") -> list[str]:
    """Paths that the verifier's files name, below folders of which not everything is taken over."""
    found: dict[str, None] = {}
    for text in texts:
        for match in _NAMED.finditer(_AT_HOME.sub(lambda _: f"{home}/", text)):
            path = posixpath.normpath(match[0].rstrip(".,/") or "/")
            if path not in (*_WITH_MORE, *_TOO_WIDE, "/", home) and not is_of_system(path):
                found.setdefault(path)
            if len(found) >= _MOST_NAMED:
                return list(found)
    return list(found)


def looks_through_scratch(texts: Iterable[str]) -> bool:
    """The verifier looks for something in `/tmp` by a pattern, a variable or a join: no text has its whole name.

    >>> looks_through_scratch(["cat /tmp/*.log"]), looks_through_scratch(["os.path.join('/tmp', name)"])
    (True, True)
    >>> looks_through_scratch(["cd /tmp && cat /tmp/out.txt"])
    False
    """
    return any(
        _GOES_THERE.search(text[max(0, match.start() - _BEFORE_CHARACTERS) : match.start()]) is None
        for text in texts
        for match in _PART_OF_SCRATCH.finditer(text)
    )


def looks_through_home(texts: Iterable[str]) -> bool:
    """The verifier looks for something in the home folder by a pattern, a variable or a join.

    >>> looks_through_home(["os.path.join(os.path.expanduser('~'), name)"]), looks_through_home(["cat ~/out.txt"])
    (True, False)
    """
    return any(_THROUGH_HOME.search(text) is not None for text in texts)


def sourced_paths(texts: Iterable[str], home: str = "/root") -> set[str]:
    """Paths from which a shell of the verifier's takes lines: a candidate's would speak in its place."""
    found = (_SOURCED.finditer(_AT_HOME.sub(lambda _: f"{home}/", text)) for text in texts)
    return {posixpath.normpath(match[1]) for matches in found for match in matches}


async def _found(
    sandbox: SandboxPort, script: str, places: Sequence[str], *, is_default: bool = False
) -> tuple[str, ...]:
    """What one of the scripts finds of the image's there."""
    if not places:
        return ()
    found: list[str] = []
    # neither root nor the image's user can look into all that the other can; the default image has one user
    for user in (None,) if is_default else ("0", None):
        request = ExecRequest(
            argv=("sh", "-c", script, "sh", *dict.fromkeys(places)),
            cwd="/",
            user=user,
            timeout_seconds=_LOOK_SECONDS,
            warm=False,
        )
        done = await (await sandbox.exec(request)).wait()
        if done.outcome is not ExecOutcome.EXITED or done.returncode != 0:
            raise SealingError(f"the image cannot be looked at: {one_line(last_line(done.stderr)) or done.outcome}")
        found += [path for path in done.stdout.decode("utf-8", "surrogateescape").split("\0") if path]
    found = list(dict.fromkeys(found))
    if len(found) > _MOST_INSTALLED:
        raise SealingError(
            f"the image has more than {_MOST_INSTALLED:,} programs, or folders of packages, in working places"
        )
    return tuple(path.removesuffix("/pyvenv.cfg").removesuffix("/conda-meta") for path in found)


async def _look(
    sandbox: SandboxPort,
    contract: HarborContract,
    environment: Mapping[str, str],
    paths: Sequence[str],
    *,
    user: str | None = None,
) -> _PlacesFound:
    request = ExecRequest(
        argv=("sh", "-c", _LOOK, "sh", *paths),
        cwd="/",
        env=environment,
        user=user,
        timeout_seconds=_LOOK_SECONDS,
        warm=False,
    )
    done = await (await sandbox.exec(request)).wait()
    if done.outcome is not ExecOutcome.EXITED or done.returncode != 0:
        raise SealingError(f"the image cannot be looked at: {one_line(last_line(done.stderr)) or done.outcome}")
    variables, _, rest = done.stdout.partition(b"\0\0")
    answers = rest.decode("utf-8", "surrogateescape").split("\0")
    pairs = [entry.partition("=") for entry in variables.decode("utf-8", "surrogateescape").split("\0")]
    real = dict(zip(paths, answers[::2], strict=False))
    there = frozenset(path for path, is_there in zip(paths, answers[1::2], strict=False) if is_there == "y")
    if len(real) != len(set(paths)) or not all(path.startswith("/") for path in real.values()):
        raise SealingError("the image cannot be looked at: its sh, env or readlink answers otherwise than others do")
    return _PlacesFound({name: value for name, _, value in pairs}, real, there)


async def adopt_times(sealing: Sealing, theirs: SandboxPort, ours: SandboxPort) -> None:
    """Give what a task's preparation has written in both sandboxes one time: what is the same then stays as it is when
    the places are taken over, and the candidate has neither made nor changed it. Raises SandboxFileError."""
    assert isinstance(theirs, MovesTrees)
    assert isinstance(ours, MovesTrees)
    for tree in (*sealing.trees, *sealing.named):
        if await _is_folder(theirs, tree.path) and await _is_folder(ours, tree.path):
            async with aclosing(theirs.pack_tree(tree.path)) as packed:
                await ours.adopt_times(tree.path, packed)


async def _about(sandbox: SandboxPort, path: str) -> tuple[FileInfo | None, str]:
    """(what is there, a link as a link; else why it cannot be told). Raises SandboxFileError for what is the platform's
    fault."""
    try:
        return await sandbox.stat(path), ""
    except SandboxFileError as error:
        if error.reason not in _LEFT_OUT:
            raise
        return None, error.reason or ""


async def _entries(sandbox: SandboxPort, path: str) -> list[FileInfo] | None:
    """What is in a folder; None where it cannot be told. Raises SandboxFileError for what is the platform's fault."""
    try:
        return await sandbox.list_dir(path)
    except SandboxFileError as error:
        if error.reason not in _LEFT_OUT:
            raise
        return None


async def _is_folder(sandbox: SandboxPort, path: str) -> bool:
    about, _ = await _about(sandbox, path)
    return about is not None and about.kind == "directory"


async def take_over(sealing: Sealing, theirs: SandboxPort, ours: SandboxPort) -> None:
    """Make the working places of `ours` what they are in `theirs`, where nothing of the candidate's runs any more.
    Raises SandboxFileError."""
    for tree in sealing.trees:
        await _take_tree(tree, theirs, ours)
    times = {}
    whole = [path for folder in sealing.looked_through for path in await _new_in(folder, theirs, ours)]
    for path in whole:
        await _take_tree(Tree(path, tuple(sorted(_below(path, sealing.kept)))), theirs, ours)
    for tree in sealing.named:
        if (folder := await _new_folder(tree, sealing.places, theirs, ours)) is not None:
            whole.append(folder)
            await _take_tree(Tree(folder, tuple(sorted(_below(folder, sealing.kept)))), theirs, ours)
        if _is_in(tree.path, whole):
            continue
        others = [path for path in sealing.places if path != tree.path]
        others += [path for path, real in sealing.reals if _is_in(real, others)]
        if (target := await _new_target(tree, others, theirs, ours)) is not None:
            await _take_named(Tree(target), others, theirs, ours)
            others.append(target)
        if (modified := await _take_named(tree, others, theirs, ours)) is not None:
            times[tree.path] = modified
    if times:
        lines = "".join(f"touch -h -d @{at:.9f} -- {shlex.quote(path)}\n" for path, at in times.items())
        request = ExecRequest(argv=("sh",), cwd="/", stdin=lines.encode(), timeout_seconds=_LOOK_SECONDS, warm=False)
        await (await ours.exec(request)).wait()  # an image whose `touch` cannot do that has other times


async def _take_tree(tree: Tree, theirs: SandboxPort, ours: SandboxPort) -> None:
    assert isinstance(theirs, MovesTrees)
    assert isinstance(ours, MovesTrees)
    try:
        if (await theirs.stat(tree.path)).kind != "directory":  # a link in its place leads to what is not taken over
            raise SandboxFileError("", reason="NOT_FOUND")
    except SandboxFileError as error:
        if error.reason not in ("NOT_FOUND", "NOT_A_DIRECTORY"):
            raise
        if not tree.kept:
            await ours.remove(tree.path, recursive=True, missing_ok=True)
        return
    if await _is_empty(theirs, tree.path) and await _is_empty(ours, tree.path):  # two processes the less
        return
    async with aclosing(theirs.pack_tree(tree.path)) as packed:
        await ours.replace_tree(tree.path, packed, kept=tree.kept)


async def _is_empty(sandbox: SandboxPort, path: str) -> bool:
    """A folder without anything in it, and with the rights that folders have."""
    about, _ = await _about(sandbox, path)
    if about is None or about.kind != "directory" or about.mode & 0o7777 != 0o755:
        return False
    return await _entries(sandbox, path) == []


def _led_to(path: str, target: str) -> str:
    """Where a link leads, by what it says alone."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), target))


async def _new_in(folder: str, theirs: SandboxPort, ours: SandboxPort) -> list[str]:
    """Folders in this one that nobody had before the candidate."""
    names = []
    for sandbox in (theirs, ours):
        entries = await _entries(sandbox, folder) or ()
        names.append({entry.name for entry in entries if entry.kind == "directory"})
    return [f"{folder}/{name}" for name in sorted(names[0] - names[1])]


async def _new_folder(tree: Tree, taken: Sequence[str], theirs: SandboxPort, ours: SandboxPort) -> str | None:
    """The topmost folder above what is named that nobody had before the candidate: all of it is its work, and what is
    named may need what lies beside it. None where there is none, and for hidden ones, in which programs have their
    settings."""
    parts = tree.path.split("/")[1:-1]
    for count in range(1, len(parts) + 1):
        folder = "/" + "/".join(parts[:count])
        if parts[count - 1].startswith("."):
            return None
        if folder in (*_WITH_MORE, *_TOO_WIDE) or is_of_system(folder):
            continue
        about, why = await _about(ours, folder)
        if about is not None:
            continue
        is_new = why == "NOT_FOUND" and await _is_folder(theirs, folder)
        return folder if is_new and not any(is_within(path, folder) for path in taken if path != tree.path) else None
    return None


async def _new_target(tree: Tree, taken: Sequence[str], theirs: SandboxPort, ours: SandboxPort) -> str | None:
    """The file, or folder, that a link leads to and that nobody had before the candidate; None where it is no such."""
    about, _ = await _about(theirs, tree.path)
    if about is None or about.kind != "link" or about.target is None:
        return None
    target = _led_to(tree.path, about.target)
    if _is_in(target, taken) or is_of_system(target) or target in (*_WITH_MORE, *_TOO_WIDE, "/"):
        return None
    found, _ = await _about(theirs, target)
    if found is None or found.kind not in ("file", "directory"):
        return None
    _, why = await _about(ours, target)
    return target if why == "NOT_FOUND" else None


async def _take_named(tree: Tree, taken: Sequence[str], theirs: SandboxPort, ours: SandboxPort) -> float | None:
    """The time of a file or link that was made so. `taken`: what else is taken over."""
    path = tree.path
    try:
        about = await theirs.stat(path)
        is_link = about.target is not None and _is_in(_led_to(path, about.target), taken)
        is_read = not is_link and about.kind in ("file", "link")  # of a link comes what it leads to, where no test is
        content = await theirs.read_file(path, max_bytes=_MOST_FILE_BYTES) if is_read else b""
    except SandboxFileError as error:
        if error.reason == "NOT_FOUND" and not tree.kept:
            await ours.remove(path, recursive=True, missing_ok=True)
        elif error.reason not in _LEFT_OUT:
            raise
        return None
    if about.kind == "directory":
        await _take_tree(tree, theirs, ours)
    elif (is_read or is_link) and not tree.is_copied_to and not tree.kept:
        mode = about.mode & 0o7777 if about.kind == "file" else 0o644
        if is_read and await _is_same(ours, path, content, mode):
            return about.modified_at if about.kind == "file" else None
        await ours.remove(path, recursive=True, missing_ok=True)
        if is_read:
            await ours.write_file(path, content, mode=mode)
            return about.modified_at if about.kind == "file" else None
        argv = ("sh", "-c", 'mkdir -p -- "${2%/*}" && ln -s -- "$1" "$2"', "sh", about.target or "", path)
        request = ExecRequest(argv=argv, cwd="/", timeout_seconds=_LOOK_SECONDS, warm=False)
        await (await ours.exec(request)).wait()
        return about.modified_at
    return None


async def _is_same(sandbox: SandboxPort, path: str, content: bytes, mode: int) -> bool:
    about, _ = await _about(sandbox, path)
    if about is None or about.kind != "file" or about.mode & 0o7777 != mode or about.size_bytes != len(content):
        return False
    try:
        return await sandbox.read_file(path, max_bytes=_MOST_FILE_BYTES) == content
    except SandboxFileError as error:
        if error.reason not in ("NOT_FOUND", "NOT_A_DIRECTORY", "PERMISSION_DENIED"):
            raise
        return False
