"""What of a Dockerfile a sandbox can be given: files, environment, working directory, commands. Nothing is built.

FROM names an image that is not fetched, and commands of package managers need a network that sandboxes do not have:
both are left to the blueprint, and listed, so that whoever runs the task knows what the blueprint must have.
"""

from __future__ import annotations

import json
import posixpath
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from harena.scoring.formats.rows import FieldError

DOCKERFILE = "environment/Dockerfile"
_PACKAGE_MANAGERS = frozenset({"apt-get", "apt", "apk", "dnf", "yum", "pip", "pip3", "uv", "npm", "conda", "mamba"})
_CLEAN_UP = frozenset({"rm", "true", "set", "export"})
_IGNORED = frozenset({"CMD", "ENTRYPOINT", "EXPOSE", "LABEL", "MAINTAINER", "HEALTHCHECK", "STOPSIGNAL", "VOLUME"})
_VARIABLE = re.compile(r"\$\{(?P<braced>\w+)(?::(?P<sign>[-+])(?P<word>[^{}]*))?\}|\$(?P<name>[A-Za-z_]\w*)")
_FOLDERS = ("/app", "/data", "/root", "/tmp", "/workspace")
"""folders that are there before any file is copied"""
_WRITABLE = tuple(f"{folder}/" for folder in _FOLDERS)
_WORD = re.compile(r"\w+")
_WAITING = "/tmp/.copied"
_MAX_FILE_BYTES = 8 * 1024 * 1024
_MOST_CHARACTERS, _MOST_INSTRUCTIONS = 256 * 1024, 1000
"""A Dockerfile that is carried out here has no more; a build takes more."""
_MOST_TIMES, _ALLOWANCE = 4, 16 * 1024
"""What an instruction makes of variables may be so many times as long as the Dockerfile, and some characters more; and
files are copied so many times as they are, all together. So the memory for a task grows with the task itself."""
_MOST_PATH = 4096
_ENTRY_BYTES = 64
"""what a file or folder counts beside its content"""


class NoTextError(FieldError):
    """A file is no text."""


@dataclass(slots=True)
class Environment:
    """What the Dockerfile asks for, as far as it can be had."""

    base: str | None = None
    """image that it begins with; None = it has none, or none that can be named"""
    root: str = "/"
    """what relative paths begin at where no WORKDIR says: "." = the image's own working directory, not known here"""
    workdir: str | None = None
    files: dict[str, str] = field(default_factory=dict)
    """by absolute path, or from the image's working directory on (`./FILE`)"""
    commands: list[str] = field(default_factory=list)
    env: dict[str, str] = field(default_factory=dict)
    as_root: bool = False
    """it says that the user is root, whatever the image says"""
    left_to_blueprint: list[str] = field(default_factory=list)
    """the image and the commands of package managers, as they are written"""
    room: int = _ALLOWANCE
    """characters that instructions may still make"""
    copied: set[Path] = field(default_factory=set)
    """files and folders"""
    copied_bytes: int = 0
    """what they have counted each time"""
    distinct_bytes: int = 0
    """what they count once"""

    def spend(self, characters: int) -> None:
        """Count what an instruction makes. Raises FieldError."""
        self.room -= characters
        if self.room < 0:
            raise FieldError("", "what its instructions make of variables is too much; write less, or have it built")

    def copies(self, path: Path, size: int) -> None:
        """Count a file or folder that is copied. Raises FieldError."""
        self.copied_bytes += size + _ENTRY_BYTES
        if path not in self.copied:
            self.copied.add(path)
            self.distinct_bytes += size + _ENTRY_BYTES
        if self.copied_bytes > _MOST_TIMES * self.distinct_bytes:
            raise FieldError(
                "", f"the same files are copied more than {_MOST_TIMES} times; link them, or have it built"
            )

    @property
    def image(self) -> str | None:
        """The image that has all that is not carried out here; None = none has, or it is not known."""
        return self.base if len(self.left_to_blueprint) == 1 else None

    @property
    def needs_more_places(self) -> bool:
        """It has files where the default image lets nobody write."""
        places = [*self.files, *([self.workdir] if self.workdir else [])]
        return any(path.startswith("/") and not f"{path}/".startswith(_WRITABLE) for path in places)


def read_dockerfile(task: Path) -> Environment:
    """The environment of a task's Dockerfile, whose build context is its folder. Raises FieldError."""
    text = text_of(inside(task, DOCKERFILE))
    if len(text) > _MOST_CHARACTERS:
        raise FieldError(DOCKERFILE, f"has more than {_MOST_CHARACTERS} characters")
    made = Environment(room=_MOST_TIMES * len(text) + _ALLOWANCE)
    variables: dict[str, str] = {}
    instructions = _instructions(text)
    if len(instructions) > _MOST_INSTRUCTIONS:
        raise FieldError(DOCKERFILE, f"has more than {_MOST_INSTRUCTIONS} instructions")
    is_built = any(keyword == "RUN" and _installs(rest) for _, keyword, rest in instructions)
    for line, keyword, rest in instructions:
        try:
            _take(made, variables, (task / DOCKERFILE).parent, keyword, rest)
            if keyword == "FROM" and made.base is not None and not is_built:
                made.root = "."
        except FieldError as error:
            raise FieldError(f"{DOCKERFILE}:{line}", error.message) from None
        except (ValueError, OSError) as error:  # a quotation that is not closed, a name that no file has
            raise FieldError(f"{DOCKERFILE}:{line}", f"cannot be read: {_why(error)}") from None
    return made


def _why(error: Exception) -> str:
    """The error without the place of a file."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def _instructions(text: str) -> list[tuple[int, str, str]]:
    """(line, keyword, rest) of each."""
    found: list[tuple[int, str, str]] = []
    pending, start = "", 0
    for number, line in enumerate(text.split("\n"), 1):
        if line.lstrip().startswith("#") or (not pending and not line.strip()):
            continue
        start = start if pending else number
        if line.rstrip().endswith("\\"):
            pending += line.rstrip()[:-1] + " "
            continue
        keyword, _, rest = (pending + line).strip().partition(" ")
        pending = ""
        found.append((start, keyword.upper(), rest.strip()))
    return found


def _take(made: Environment, variables: dict[str, str], context: Path, keyword: str, rest: str) -> None:
    known = _BoundedVariables({**variables, **made.env}, made.spend)
    if "<<" in rest and keyword in ("RUN", "COPY", "ADD"):
        raise FieldError("", "here-documents are not read; put the text into a file and COPY it")
    if keyword == "FROM":
        if any(entry.startswith("FROM ") for entry in made.left_to_blueprint):
            raise FieldError("", "a build of several stages is not carried out; copy its result into the task")
        made.left_to_blueprint.append(f"FROM {rest}")
        words = [word for word in _filled(rest, known).split() if not word.startswith("--platform=")]
        made.base = words[0] if words and words[0] != "scratch" and not words[0].startswith("--") else None
    elif keyword == "WORKDIR":
        workdir = posixpath.normpath(_checked_place(posixpath.join(made.workdir or made.root, _filled(rest, known))))
        if not workdir.startswith("/"):
            raise FieldError("", f"{rest!r} begins at the image's WORKDIR, which is not known here; write it in full")
        made.workdir = workdir
    elif keyword in ("ENV", "ARG"):
        (made.env if keyword == "ENV" else variables).update(_assignments(rest, known))
    elif keyword in ("COPY", "ADD"):
        for path, text in _copied(made, context, _filled(rest, known)).items():
            _put(made, path, text)
    elif keyword == "RUN":
        command = _shell_line(rest)
        if installs(command):
            made.left_to_blueprint.append(f"RUN {' '.join(command.split())}")
        else:
            said = set(_WORD.findall(command))
            named = [name for name in variables if variables[name] and name in said]
            made.spend(sum(len(variables[name]) for name in named) + len(made.workdir or ""))
            given = "".join(f"export {name}={shlex.quote(variables[name])}; " for name in named)
            made.commands.append(given + (f"cd {shlex.quote(made.workdir)} && {command}" if made.workdir else command))
    elif keyword == "USER":
        if rest not in ("root", "0", "root:root", "0:0"):
            raise FieldError("", f"the user is the image's or root in a sandbox, not {rest!r}")
        made.as_root = True
    elif keyword not in _IGNORED:
        raise FieldError(
            "", f"{keyword or 'this'} is not carried out; there are FROM, WORKDIR, ENV, ARG, COPY, ADD, RUN"
        )


def _installs(rest: str) -> bool:
    try:
        return installs(_shell_line(rest))
    except FieldError:  # it is refused in its turn, with its line
        return False


def _shell_line(rest: str) -> str:
    if not rest.startswith("["):
        return rest
    try:
        return shlex.join(json.loads(rest))
    except (ValueError, TypeError, RecursionError):
        raise FieldError("", f"RUN {rest[:60]} is not a list of words") from None


def installs(command: str) -> bool:
    """Every part of a command line is a package manager's, or cleans up after one."""
    parts = [part.split() for part in re.split(r"&&|\|\||;", command) if part.strip()]
    names = [next((word for word in words if "=" not in word), "") for words in parts]
    names = [words[2] if words[:2] == ["python3", "-m"] or words[:2] == ["python", "-m"] else name
             for name, words in zip(names, parts, strict=True)]  # fmt: skip
    if not all(name in _PACKAGE_MANAGERS or name in _CLEAN_UP for name in names):
        return False
    return any(name in _PACKAGE_MANAGERS for name in names)


@dataclass(frozen=True, slots=True)
class _BoundedVariables(Mapping[str, str]):
    """Variables; whoever gets a value is told how long it is."""

    values_of: Mapping[str, str]
    spend: Callable[[int], None]

    def __getitem__(self, name: str) -> str:
        value = self.values_of[name]
        self.spend(len(value))
        return value

    def __iter__(self) -> Iterator[str]:
        return iter(self.values_of)

    def __len__(self) -> int:
        return len(self.values_of)


def _filled(text: str, known: _BoundedVariables) -> str:
    return _VARIABLE.sub(lambda found: _value(found, known), text)


def _value(found: re.Match[str], known: _BoundedVariables) -> str:
    """`$NAME`, `${NAME}`, `${NAME:-in its place}`, `${NAME:+where there is one}`"""
    value = known.get(found["braced"] or found["name"], "")
    if found["sign"] is None:
        return value
    word = _filled(found["word"], known)
    return (value or word) if found["sign"] == "-" else (word if value else "")


def _assignments(rest: str, known: _BoundedVariables) -> dict[str, str]:
    words = _filled_words(rest, known)
    if words and "=" not in words[0]:  # ENV NAME the whole rest; ARG NAME
        return {words[0]: " ".join(words[1:])}
    pairs = (word.partition("=") for word in words)
    return {name: value for name, _, value in pairs}


def _filled_words(rest: str, known: _BoundedVariables) -> list[str]:
    """The words of an ENV or ARG line, variables filled in as Docker does it: not in single quotes, and not behind a
    backslash. `$PATH` stays in a PATH: it is the image's, which is not known here."""
    words: list[str] = []
    word: str | None = None
    quote, at = "", 0
    while at < len(rest):
        sign, behind = rest[at], rest[at + 1 : at + 2]
        found = _VARIABLE.match(rest, at) if quote != "'" else None
        if found is not None:
            of_path = {"PATH": "$PATH"} if (word or "").startswith("PATH=") or words == ["PATH"] else {}
            those = _BoundedVariables({**of_path, **known.values_of}, known.spend)
            word, at = (word or "") + _value(found, those), found.end()
            continue
        if sign == quote:
            quote = ""
        elif not quote and sign in "'\"":
            quote, word = sign, word or ""
        elif sign == "\\" and behind and (not quote or (quote == '"' and behind in '"$\\')):
            word, at = (word or "") + behind, at + 1
        elif not quote and sign.isspace():
            words += [] if word is None else [word]
            word = None
        else:
            word = (word or "") + sign
        at += 1
    if quote:
        raise FieldError("", f"{rest[:60]!r} cannot be read: a quotation is not closed")
    return words if word is None else [*words, word]


def _copied(made: Environment, context: Path, rest: str) -> dict[str, str]:
    words = _words(rest)
    sources, target = words[:-1], words[-1] if words else ""
    if not sources:
        raise FieldError("", "names no source and target")
    place = _checked_place(posixpath.join(made.workdir or made.root, target))
    files: dict[str, str] = {}
    for source in sources:
        if "://" in source:
            raise FieldError("", f"{source} would have to be downloaded; put it into the task")
        path = inside(context, source)
        if path.is_dir():
            for file in sorted(_below(path, made)):
                if file.is_file():
                    text = _copy_of(inside(path, file.relative_to(path).as_posix()), made)
                    files[posixpath.normpath(posixpath.join(place, file.relative_to(path).as_posix()))] = text
        elif path.is_file():
            into_folder = target.endswith(("/", ".")) or len(sources) > 1 or _is_folder(place, made)
            files[posixpath.normpath(posixpath.join(place, path.name) if into_folder else place)] = _copy_of(path, made)
        else:
            raise FieldError("", f"{source} is not in {context}")
    if any(path.startswith("../") for path in files):
        raise FieldError("", f"{target} begins at the image's WORKDIR, which is not known here; write it in full")
    return {path if path.startswith("/") else f"./{path}": text for path, text in files.items()}


def _checked_place(path: str) -> str:
    if len(path) > _MOST_PATH:
        raise FieldError("", f"{path[:60]!r}... has more than {_MOST_PATH} characters, the most that a path may have")
    return path


def _below(folder: Path, made: Environment) -> Iterator[Path]:
    made.copies(folder, 0)
    for path in folder.rglob("*"):
        if path.is_dir():
            made.copies(path, 0)
        yield path


def _copy_of(path: Path, made: Environment) -> str:
    made.copies(path, path.stat().st_size)
    return text_of(path)


def _put(made: Environment, path: str, text: str) -> None:
    """Files are written before any command runs. One that an earlier command names, and may have written or read as
    something else, comes into its place by a command, in its turn."""
    if any(posixpath.basename(path) in command for command in made.commands):
        folder, waiting = posixpath.dirname(path), f"{_WAITING}-{len(made.files)}"
        made.commands.append(f"mkdir -p {shlex.quote(folder)} && mv -f {waiting} {shlex.quote(path)}")
        path = waiting
    made.files[path] = text


def _is_folder(place: str, made: Environment) -> bool:
    """Whether a target is a folder, as far as it is known here: then a file is copied into it."""
    path = posixpath.normpath(place)
    begin = f"{path}/" if path.startswith("/") else f"./{path}/"
    return path in (*_FOLDERS, ".", made.workdir) or any(name.startswith(begin) for name in made.files)


def _words(rest: str) -> list[str]:
    if rest.startswith("["):
        try:
            return [str(word) for word in json.loads(rest)]
        except (ValueError, TypeError, RecursionError):
            raise FieldError("", f"{rest[:60]} is not a list of words") from None
    words = shlex.split(rest)
    if any(word.startswith("--from") for word in words):
        raise FieldError("", "a build of several stages is not carried out; copy its result into the task")
    for word in words:
        if word.startswith("--chown=") and word.partition("=")[2] not in ("root", "0", "root:root", "0:0"):
            raise FieldError("", f"{word} is not carried out: files that are copied are root's")
        if word.startswith("--chmod=") and word.partition("=")[2] not in ("644", "0644", "755", "0755"):
            raise FieldError("", f"{word} is not carried out; change it by a RUN")
    return [word for word in words if not word.startswith("--")]


def inside(folder: Path, name: str) -> Path:
    """A path below the folder, links followed. Raises FieldError where it leads out."""
    try:
        path = (folder / name.lstrip("/")).resolve()
    except RuntimeError:
        raise FieldError("", f"{name} is a link that leads to itself") from None
    if not path.is_relative_to(folder.resolve()):
        raise FieldError("", f"{name} leads out of the task's folder")
    return path


def text_of(path: Path) -> str:
    """A file's text, its line ends as they are: what they are may be what a task is about. Raises FieldError."""
    try:
        if path.stat().st_size > _MAX_FILE_BYTES:
            raise FieldError(
                "", f"{path} is larger than the {_MAX_FILE_BYTES} bytes allowed; put it into the blueprint"
            )
        with path.open(encoding="utf-8", newline="") as file:
            return file.read()
    except UnicodeDecodeError:
        raise NoTextError("", f"{path} is not UTF-8 text; put it into the blueprint's files") from None
    except OSError as error:
        raise FieldError("", f"{path} cannot be read: {error.strerror}") from None
