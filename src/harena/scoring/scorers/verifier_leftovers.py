"""What a candidate leaves in the places of a verifier's own: where it writes, and where its tools look for their rules.

A candidate may leave what it likes. Three things would speak for the verifier: something in the place of a scratch file
that it writes to, so that it reads what was prepared; rules that hide those which its tools would have found
(`GNUmakefile` beside `Makefile`); and configuration by which its test runner runs other tests, or none. The first two
are removed where nothing else can be meant by them, the third is read by `guest_sitecustomize` without what chooses
tests. What a verifier's own files name is left: the task may be about it.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from itertools import pairwise
from pathlib import PurePosixPath

from harena.scoring.scorers.make_rules import MAKEFILES, MOST_COMMENTED, uncommented, without_comments

_WRITES_TO = re.compile(
    r"(?:(?<![-=<>])(?:>\|?(?!>)|(?P<adds>>>))|\btee|(?<!unzip)[ \t]-o"
    r"|--(?:output|output-file|out-file|outfile|log-file|junit-?xml|ctrf"
    r"|json-report-file)(?:=|(?=[ \t]))|\bof=)[ \t]*[\"']?(?P<to>[\w./+${}][\w./+${}-]*)"
)
"""a redirection of a shell, or an option of which it is known that it names a file that is written"""
_ASSIGNED = re.compile(r"(?m)(?:^|[;&|({]|\b(?:export|local|readonly|then|do))[ \t]*(\w+)=[\"']?([\w./+${}-]+)")
_LOOPS = re.compile(r"(?<![\w-])(?:for[ \t]+(\w+)[ \t]+in[ \t]+([^;\n]{0,4096})|read[ \t]+(?:-\w+[ \t]+)*(\w+))")
"""variables that take several values, one after the other"""
_PLAIN = re.compile(r"[\w./+-]+")
_ANY = re.compile(r"\$\{?\w*\}?|\*+")
_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")
_MAKES = re.compile(r"\b(?:rm|mkdir|touch|trap|chmod)\b")
_REMOVES = re.compile(r"\brm\b")
_ENDS_A_PIECE = re.compile(r"[;&|\n]")
_LOOKS = re.compile(
    r"[ \t]*(?:(?:if|then|do|else|!|\{)[ \t]+)*(?:ls|stat|du|file)[ \t]"
    r"(?:[^\n;&|<>]|>[ \t]{0,8}/dev/null|>&\d|&>[ \t]{0,8}/dev/null){1,300}(?:[;&\n]|\|\||\Z)"
)
"""says to whoever watches what is there, and reads nothing of it"""
_FUNCTION = re.compile(r"\w[ \t]*\(\)|\bfunction\b")
_GIVES_OPTIONS = re.compile(r"[ \t\"',](?:-c|--config-file|--rootdir|--inifile)[ \t\"',=]")
_NAMES_MAKE = re.compile(r"(?<![\w.-])g?make(?![\w.-])")
_STARTS_OTHERS = re.compile(
    r"(?<![\w./-])(?:bash|sh|dash|zsh|source|exec|eval|npm|npx|yarn|pnpm|cmake|ninja|tox|nox|just|cargo|go|rake|env|xargs"
    r"|timeout|sudo|nohup)(?![\w.:-])|(?<![\w./$}-])\.{1,2}/\w"
    r"|(?:(?m:^)|[;&|(`{!]|\b(?:if|then|do|else)[ \t])[ \t]*[\"']?(?:/(?!usr/|bin/|tests/|logs/)|[~$])"
    r"|\[[ \t]*f?[\"']/(?!usr/|bin/|tests/|logs/)"
)
"""programs that may run `make` without a word of it, and paths where a command begins"""
_MOST_VALUES = 20
_MOST_TARGETS, _MOST_FOLDERS, _MOST_FOUND = 100, 20, 10_000
"""files that scripts write to, folders that they go to, and paths that both together give: what is beyond that is not
looked at, so that the time for a text grows with its length only"""
_LONGEST_PATH = 4096
_MOST_TEXTS = 256 * 1024
"""characters of one script, and of all, that are looked at: a search holds the interpreter for as long as it takes"""
_SCRATCH = ("/tmp/", "/var/tmp/")
_CHANGES_TO = re.compile(r"(?m)(?:^|[;&|(])[ \t]*(?:cd|pushd)[ \t]+[\"']?(/[\w./-]*)")
STEERING = ("conftest.py", "pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "tox.ini", "setup.cfg",
            "pyproject.toml", *MAKEFILES)  # fmt: skip
_OPTIONS = frozenset(STEERING) - {"conftest.py", *MAKEFILES}
"""files in which pytest looks for options"""
OF_TEST_RUNNERS = (*_OPTIONS, "conftest.py")
_REMAKES = (*(f"*{name}.{ending}" for name in ("akefile", ".mk") for ending in
            ("sh", "c", "cc", "cpp", "C", "o", "s", "S", "p", "f", "F", "r", "m", "mod", "l", "y", "ln", "w", "web",
             "cweb", "tex", "texinfo", "texi", "txinfo", "elc", "el", "sym", "def", "h", "info", "dvi", "a")),
            "*akefile,v", "*.mk,v", "s.*akefile", "s.*.mk")  # fmt: skip
"""files of which `make` makes its own rules anew by itself, by rules that are built in (`Makefile` of `Makefile.sh`)"""
_TESTS = ("test_*.py", "*_test.py")
"""names of files that pytest and unittest load by themselves"""
_NAMED = " -o ".join(f"-name '{name}'" for name in (*STEERING, *_REMAKES))
_NAMED_TESTS = " -o ".join(f"-name '{name}'" for name in _TESTS)
_ABOVE = (
    ".npmrc", ".yarnrc", ".yarnrc.yml", "package.json", "node_modules", "tsconfig.json", ".babelrc", ".babelrc.json",
    "babel.config.js", "babel.config.json", "jest.config.js", "jest.config.json", "vitest.config.js", ".mocharc.json",
    ".mocharc.js", ".mocharc.yml", "go.mod", "go.work", "Cargo.toml", ".cargo", ".coveragerc", ".flake8", ".pylintrc",
    "mypy.ini", "ruff.toml", ".ruff.toml", ".eslintrc", ".eslintrc.js", ".eslintrc.json", ".rspec", "Gemfile",
    "pom.xml", "build.gradle", "settings.gradle", ".tool-versions", ".python-version", "pyvenv.cfg", ".git",
)  # fmt: skip
"""what other tools look for in the folders above the one that they are started in"""
_NAMED_ABOVE = " -o ".join(f"-name {name}" for name in (*STEERING, *_ABOVE))
FIND_STEERING = rf"""
command -v find >/dev/null || exit 0
walked() {{
    [ -d "$1" ] && find "$1/" -xdev \( -type d -name node_modules -prune \) \
        -o \( {_NAMED} -o \( \( {_NAMED_TESTS} \) ! -path '*-packages/*' \) \) "${{@:2}}"
}}
above() {{
    local folder=$(readlink -f -- "$1")
    while [ -n "$folder" ]; do
        folder=${{folder%/*}}
        find "$folder/" -maxdepth 1 -mindepth 1 \( {_NAMED_ABOVE} \) "${{@:2}}"
    done
}}
for place in "$@"; do
    walked "$place" -printf '%p\0%i %C@\0'
    above "$place" -printf '%p\0%i %C@\0'
done
printf '//\0'
for place in "$@"; do
    walked "$place" -type f -exec sha256sum -z -- {{}} +
    above "$place" -type f -exec sha256sum -z -- {{}} +
done 2>/dev/null
exit 0
"""
"""(path, its number and the time of its last change) of each, and after `//` (digest, path): see `fingerprints`. It is
a script of bash"""
CLEAR_WRITTEN = """\
loosely() {
    if [ -L "$1" ]; then
        [ -f "$1" ] && [ -w "$1" ] || rm -f -- "$1"
    elif [ -d "$1" ]; then
        [ "$2" = '*' ] || rm -rf -- "$1"
    elif [ -f "$1" ]; then
        [ -w "$1" ] || chmod u+w -- "$1"
    elif [ -e "$1" ]; then
        rm -f -- "$1"
    fi
}
for place in "$@"; do
    case "$place" in *'*'*)
        folder=${place%/*}
        [ -w "$folder" ] || chmod u+w -- "$folder" 2>/dev/null
        IFS=
        for match in $place; do loosely "$match" "${place##*/}"; done
        unset IFS
        continue;;
    esac
    if [ -L "$place" ] || { [ -e "$place" ] && { [ ! -f "$place" ] || [ ! -w "$place" ] || [ -n "$OTHER" ]; }; }; then
        chmod u+w -- "${place%/*}" 2>/dev/null
        rm -rf -- "$place"
    fi
done
exit 0
"""
"""a plain file that can be written to is emptied by the verifier itself. Of a name with `*` in it, which only the
running script knows, what could not be written to is opened; links to such, pipes, and folders where the name says more
than `*` are removed. OTHER: the verifier is another user than whoever runs this, who cannot tell what it could write
to"""
OPEN_TO_OTHERS = """\
command -v find >/dev/null || exit 0
opened() {
    local target=$1 kept
    shift
    if [ -L "$target" ] || [ ! -e "$target" ]; then return; fi
    for kept do case "$kept/" in "$target"/*) return;; esac; done
    find "$target" -xdev \\( -type d -o -type f \\) -exec sh -c '
        target=$1
        shift
        for path do
            if [ -d "$path" ] || [ "$path" = "$target" ]; then chmod a+rwX -- "$path"; continue; fi
            case "$NAMES" in *"/${path##*/}/"*) chmod a+rw -- "$path";; esac
        done' sh "$target" {} +
}
count=$1 targets=("${@:2:$1}")
shift $((count + 1))
for target in "${targets[@]}"; do
    IFS=
    case "$target" in
        *'*'*) for match in $target; do opened "$match" "$@"; done;;
        *) opened "$target" "$@";;
    esac
    unset IFS
done
exit 0
"""
"""A verifier that is another user than the candidate may write to so many of the first places, and in them to folders
and to what has one of NAMES; not to the other places as a whole, nor to what these lie in. It is a script of bash"""
MAKE_WRITABLE = """\
writable() {
    [ -L "$1" ] || [ -w "$1" ] || chmod u+rwX -- "$1" 2>/dev/null
}
count=$1
shift
while [ "$count" -gt 0 ]; do
    case "$1" in
        *'*'*) IFS=; for match in $1; do if [ -f "$match" ]; then writable "$match"; fi; done; unset IFS;;
        *) if [ -e "$1" ]; then writable "$1"; fi;;
    esac
    folder=${1%/*}
    if [ -n "$folder" ] && [ -d "$folder" ]; then writable "$folder"; fi
    shift
    count=$((count - 1))
done
command -v find >/dev/null || exit 0
for place in "$@"; do
    [ -d "$place" ] && find "$place/" -xdev ! -perm -200 \\( -type f -o -type d \\) -exec sh -c '
        for path do
            case "$NAMES" in *"/${path##*/}/"*) chmod u+rwX -- "$path";; esac
            if [ -d "$path" ]; then
                IFS=/
                for name in $NAMES; do
                    if [ -n "$name" ] && [ -e "$path/$name" ]; then chmod u+rwX -- "$path"; fi
                done
            elif [ ! -w "${path%/*}" ]; then
                case "$NAMES" in *"/${path##*/}/"*) chmod u+rwX -- "${path%/*}";; esac
            fi
        done' sh {} + 2>/dev/null
done
exit 0
"""
"""so many of the first places, which the verifier writes to, and what has one of NAMES below the others, with the
folders that these are in: where a copy fails, the verifier would take the candidate's file for its own"""
MAKE_ALL_WRITABLE = """\
command -v find >/dev/null || exit 0
for place in "$@"; do
    [ -d "$place" ] && find "$place/" -xdev \\( -type f ! -perm -600 -o -type d ! -perm -700 \\) \\
        -exec chmod u+rwX -- {} \\; 2>/dev/null
done
exit 0
"""
"""what a verifier as root could read and write to elsewhere, where no mode binds root"""
_ASKS_FOR_MODES = re.compile(
    r"\b(?:stat|st_mode|getfacl|lsattr|PermissionError|accessSync|os\.access|ls[ \t]+-\w*l)\b|\bS_I[RWX]"
    r"|-(?:perm|writable)\b|(?:\[|\btest)[ \t]+!?[ \t]*-[wxrugk][ \t]|\b(?:rsync|git)\b"
)
_COPIES = re.compile(
    r"(?m)(?:^|[;&|({]|\b(?:then|do|else|sudo|if|!))[ \t]*(?:cp|mv|install|rsync|ln)[ \t]+([^;&|\n<>()]+)"
)


_PIECES = re.compile(r"[^;&|\n()]+")
_CHANGES = re.compile(r"[ \t]*(?:cd|pushd)[ \t]+[\"']?([\w./+${}-]+)")
_MAKING = re.compile(
    r"(?<![\w.-])(curl|wget|git[ \t]+clone|python[\d.]*[ \t]+-m[ \t]+(?:venv|virtualenv)|virtualenv|uv[ \t]+venv)"
    r"(?![\w.-])"
)
_COMPILES = re.compile(
    r"(?<![\w.-])(?:gcc|cc|c99|tcc|clang|g\+\+|c\+\+|clang\+\+|(?:[\w-]+-)?(?:gcc|g\+\+)(?:-\d+)?|rustc|ld|ghc"
    r"|go[ \t]+build|gfortran|nasm|zig[ \t]+cc|ocamlopt|ocamlc|fpc|ldc2|dmd|nim[ \t]+c)(?![\w.-])"
)
_BUILT = re.compile(r"[ \t]-o[ \t]*[\"']?([\w./+${}][\w./+${}-]*)")
_BUILT_BY_WORDS = re.compile(r"[\"']-o[\"'][ \t]*,[ \t\n]*f?[\"']([\w./+-]+)[\"']")
"""likewise in a list of words of Python"""
_UNPACKS = re.compile(r"[ \t]*(?:(?:if|then|do|else|sudo|!)[ \t]+)*(?:tar|bsdtar|unzip|7z|unsquashfs|cpio)(?![\w.-])")
_INTO = re.compile(r"[ \t](?:-[dCD]|--(?:directory|one-top-level))(?:[ \t]+|=)?([\"']?[\w./+${}][\w./+${}-]*[\"']?)")
"""the folder into which a program unpacks"""
_NEAR = re.compile(r"://(?:[^/@]*@)?(?:localhost|127\.|0\.0\.0\.0|\[::)")
_REDIRECTED = re.compile(r"\d*[<>]")
_VERSION = re.compile(r"(?:python)?\d+(?:\.\d+)*|python")


def written_paths(texts: Mapping[str, str], workdir: str, *, places: tuple[str, ...] = _SCRATCH) -> list[str]:
    """Files below `places` that the lines of shell of a verifier write to, wherever it may be then; but for those that
    it has read before, which are the candidate's. Not for an event loop where the texts are long."""
    scripts = _scripts(texts)
    shell = "\n".join(scripts)
    folders, values = _folders(workdir, shell), _values(shell)
    found: dict[str, None] = {}
    for script in scripts:
        before = _Before(script, looks_read=places == _SCRATCH)  # what is only looked at stays there
        done: set[str] = set()
        for match in _first_targets(script):
            target = match["to"]
            if target in done:
                continue
            # what is added to a file that was not removed hides nothing of what was there
            if before.reads(target, match.start()):
                continue
            if match["adds"] and not before.removes(target, match.start()):
                continue
            done.add(target)
            for path in _resolved(target, values):
                if path.startswith("/"):
                    found[path] = None
                elif path.strip("./"):
                    found.update(dict.fromkeys(str(PurePosixPath(folder) / path) for folder in folders))
            if len(found) > _MOST_FOUND:
                break
    named = (f"{path}*" if path.endswith("/") else path for path in found)  # what follows stands in quotes
    return [path for path in named if path.startswith(places) and ".." not in path.split("/")]


def copied_paths(texts: Mapping[str, str], workdir: str) -> list[str]:
    """Files that the lines of shell of a verifier copy or move something to, wherever they may be then. Not for an
    event loop where the texts are long."""
    scripts = _scripts(texts)
    shell = "\n".join(scripts)
    folders, values = _folders(workdir, shell), _values(shell)
    names = dict.fromkeys(PurePosixPath(path).name for path in texts)
    found: dict[str, None] = {}
    for copied in _COPIES.finditer(shell):
        words = [word.strip("\"'") for word in copied[1].split() if not word.startswith("-")]
        sources = dict.fromkeys(word.rpartition("/")[2] for word in words[:-1] if "*" not in word)
        if any("*" in word for word in words[:-1]):
            sources.update(names)
        targets = _resolved(words[-1], values) if len(words) > 1 else ()
        found.update(dict.fromkeys(_copied_to(targets, folders, [name for name in sources if name])))
        if len(found) > _MOST_FOUND:
            break
    return [path for path in found if ".." not in path.split("/") and path != "/"]


def folders_of_work(texts: Mapping[str, str], workdir: str) -> list[str]:
    """Where the lines of shell of a verifier may be: the working directory, and the folders that they change to."""
    return _folders(workdir, "\n".join(_scripts(texts)))


def unpacked_paths(texts: Mapping[str, str], workdir: str) -> list[str]:
    """Folders into which the lines of shell of a verifier unpack archives; but for those that it has looked at before.
    Not for an event loop where the texts are long."""
    return _paths_made(texts, workdir, _unpacked_by)


def made_paths(texts: Mapping[str, str], workdir: str) -> list[str]:
    """What the lines of shell of a verifier download, clone or make as a virtual environment: programs that leave what
    is there as it is where they fail; but for what it has looked at before. Not for an event loop where the texts are
    long."""
    return _paths_made(texts, workdir, _made_by)


def built_paths(texts: Mapping[str, str], workdir: str) -> list[str]:
    """What compilers make that the texts of a verifier start: where one fails it leaves what is there as it is. Not for
    an event loop where the texts are long.

    >>> built_paths({"test.sh": "cd /app && gcc -O2 -o runner test.c lib.c\\n./runner"}, "/app")
    ['/app/runner']
    """
    found = _paths_made(texts, workdir, _built_by)
    for text in texts.values():
        if _COMPILES.search(text):
            found += [str(PurePosixPath(workdir, path)) for path in _BUILT_BY_WORDS.findall(text)[:_MOST_TARGETS]]
    return [path for path in dict.fromkeys(found) if ".." not in path.split("/") and path.count("/") > 1]


def _built_by(piece: str) -> list[str]:
    """The output of one command that compiles something."""
    if len(piece) > _LONGEST_PATH or _COMPILES.search(piece) is None:
        return []
    return _BUILT.findall(piece)


def _paths_made(texts: Mapping[str, str], workdir: str, made_by: Callable[[str], list[str]]) -> list[str]:
    found: dict[str, None] = {}
    for script in _scripts(texts):
        before, values, folder, asked = _Before(script), _values(script), workdir, set[str]()
        for piece in _PIECES.finditer(script):
            if len(found) > _MOST_FOUND or len(asked) > _MOST_TARGETS:
                break
            if (changes := _CHANGES.match(piece[0])) is not None:
                (folder,) = _resolved(changes[1], values)[:1] or ["*"]
                folder = str(PurePosixPath(workdir, folder))
            for target in made_by(piece[0]):
                asked.add(target)
                if before.reads(target, piece.start()):
                    continue
                found.update((str(PurePosixPath(folder, path)), None) for path in _resolved(target, values))
    return [path for path in found if "*" not in path and ".." not in path.split("/") and path.count("/") > 1]


def _unpacked_by(piece: str) -> list[str]:
    """The folders of one command that unpacks something."""
    unpacks = _UNPACKS.match(piece)
    if unpacks is None or len(piece) > _LONGEST_PATH:
        return []
    return [place.strip("\"'") for place in _INTO.findall(piece, unpacks.end())]


def _made_by(piece: str) -> list[str]:
    """The targets of one command that is known to make something."""
    making = _MAKING.search(piece)
    if making is None or len(piece) > _LONGEST_PATH:
        return []
    words = [word.strip("\"'") for word in piece[making.end() :].split()]
    plain = [word for word in words if not word.startswith("-") and not _REDIRECTED.match(word)]
    program = making[1].split()[0]
    if program == "git":
        values = {following for word, following in pairwise(words) if word in ("-b", "--branch", "--depth")}
        cloned = [word for word in plain if word not in values]
        return cloned[1:2] or [PurePosixPath(word).name.removesuffix(".git") for word in cloned[:1]]
    if program == "uv" or "venv" in making[1] or program == "virtualenv":
        named = [word for word in plain if not _VERSION.fullmatch(word)]
        return named[-1:] or ([".venv"] if program == "uv" else [])
    return _downloaded(program, words)


def _downloaded(program: str, words: list[str]) -> list[str]:
    """Files that curl or wget write. Without one that is named it is the last part of the address."""
    letter, names = ("o", ("--output",)) if program == "curl" else ("O", ("--output-document",))
    folder, targets = "", []
    takes_names = program == "wget" or any(
        word == "--remote-name" or re.fullmatch(r"-[A-Za-z]*O[A-Za-z]*", word) for word in words
    )
    for word, following in pairwise([*words, ""]):
        own, _, value = word.partition("=")
        short = re.fullmatch(rf"-[A-Za-z#]*{letter}(.*)", word) if not word.startswith("--") else None
        if own in names or (short is not None and letter == "o"):
            targets.append((short[1] if short is not None else value) or following)
        elif short is not None:
            targets.append(short[1] or following)
        elif own in ("--output-dir", "--directory-prefix") or (program == "wget" and own == "-P"):
            folder = value or following
    if not targets and takes_names:
        # of a server beside the verifier, which may serve the very file
        targets = [PurePosixPath(word.split("?")[0]).name for word in words if "://" in word and not _NEAR.search(word)]
    return [str(PurePosixPath(folder, target)) for target in targets if target and target != "-"]


def folders_copied_to(texts: Mapping[str, str], workdir: str) -> list[str]:
    """Where the lines of shell of a verifier copy or move a folder to, which comes to lie in it where there is one; but
    for what it has looked at before. Not for an event loop where the texts are long."""
    found: dict[str, None] = {}
    for script in _scripts(texts):
        before, values, asked = _Before(script), _values(script), set[str]()
        folders = _folders(workdir, script)
        for copied in _COPIES.finditer(script):
            if len(found) > _MOST_FOUND or len(asked) > _MOST_TARGETS:
                break
            words = [word.strip("\"'") for word in copied[1].split() if not word.startswith("-")]
            if len(words) != 2 or words[0].endswith(("/.", "/*")):
                continue
            asked.add(words[1])
            if before.reads(words[1], copied.start()):
                continue
            for path in _resolved(words[1].rstrip("/"), values):
                found.update(dict.fromkeys(str(PurePosixPath(folder, path)) for folder in folders))
    return [path for path in found if "*" not in path and ".." not in path.split("/") and path != "/"]


def names_in(folders: Iterable[str], paths: Iterable[str]) -> list[str]:
    """Where a verifier would look for its files, if they had been copied to these folders and not into one in them."""
    names = {name: None for path in paths for name in (path, PurePosixPath(path).name)}
    return [f"{folder}/{name}" for folder in folders for name in names][:_MOST_FOUND]


def _scripts(texts: Mapping[str, str]) -> list[str]:
    """The scripts of shell without comments, as far as they are looked at."""
    scripts: list[str] = []
    left = _MOST_TEXTS
    for path, text in texts.items():
        if path.endswith((".sh", ".bash")) and left:
            scripts.append(uncommented(text[: min(left, MOST_COMMENTED)]))
            left -= min(left, len(text), MOST_COMMENTED)
    return scripts


def _copied_to(targets: Iterable[str], folders: Iterable[str], sources: Iterable[str]) -> Iterator[str]:
    """A path of `targets` may be the file's, or that of its folder."""
    for target in targets:
        for folder in folders if not target.startswith("/") else ("/",):
            place = PurePosixPath(folder, target)
            yield str(place)
            yield from (str(place / name) for name in sources)


def _folders(workdir: str, shell: str) -> list[str]:
    """Where a script may be, the first ones."""
    return [*dict.fromkeys((workdir, *_CHANGES_TO.findall(shell)))][:_MOST_FOLDERS]


def _values(shell: str) -> dict[str, list[str]]:
    """What is assigned to each variable, the first ones."""
    values: dict[str, list[str]] = {}
    for match in _ASSIGNED.finditer(shell):
        held = values.setdefault(match[1], [])
        if len(held) < _MOST_VALUES and len(match[2]) <= _LONGEST_PATH:
            held.append(match[2])
    for match in _LOOPS.finditer(shell):
        held = values.setdefault(match[1] or match[3], [])
        words = [word.strip("\"'") for word in (match[2] or "*").split()]
        held += [word if _PLAIN.fullmatch(word) else "*" for word in words][: _MOST_VALUES - len(held)]
    return values


def _first_targets(script: str) -> Iterator[re.Match[str]]:
    """Where the script writes, to the first of its files."""
    seen: set[str] = set()
    for match in _WRITES_TO.finditer(script):
        if len(match["to"]) > _LONGEST_PATH:
            continue
        if len(seen) < _MOST_TARGETS:
            seen.add(match["to"])
        if match["to"] in seen:
            yield match


class _Before:
    """What stands before a place of a script. Each file is looked for once, however many places are asked about: where
    each place has the text before it searched anew, 1,500 characters of redirections take a minute."""

    def __init__(self, script: str, *, looks_read: bool = True) -> None:
        function = _FUNCTION.search(script)
        self._script = script
        self._looks_read = looks_read
        self._function = len(script) + 1 if function is None else function.end()
        self._ends = [match.start() for match in _ENDS_A_PIECE.finditer(script)]
        self._verbs: dict[tuple[re.Pattern[str], int], int | None] = {}
        """(which verbs, a piece) -> the end of its first one"""
        self._first: dict[tuple[bool, str], int | None] = {}

    def reads(self, target: str, end: int) -> bool:
        """The lines before `end` name this file, and do not make or remove it. What a function does comes later."""
        return self._function > end and self._is_before(end, True, target)

    def removes(self, target: str, end: int) -> bool:
        """The lines before `end` remove it."""
        return self._is_before(end, False, target)

    def _is_before(self, end: int, reads: bool, target: str) -> bool:
        asked = (reads, target)
        if asked not in self._first:
            named = re.finditer(rf"(?<![\w./-]){re.escape(target)}(?![\w-])", self._script)
            is_it = self._is_read if reads else self._is_removed
            self._first[asked] = next((match.end() for match in named if is_it(match.start())), None)
        first = self._first[asked]
        return first is not None and first <= end

    def _is_read(self, at: int) -> bool:
        return not (
            self._is_made(at) or self._has_verb(_MAKES, at) or (not self._looks_read and self._is_looked_at(at))
        )

    def _is_removed(self, at: int) -> bool:
        return self._has_verb(_REMOVES, at)

    def _is_looked_at(self, at: int) -> bool:
        """A line says what is there, and nobody takes it for more."""
        piece = bisect_left(self._ends, at)
        return _LOOKS.match(self._script, self._ends[piece - 1] + 1 if piece else 0) is not None

    def _has_verb(self, verbs: re.Pattern[str], at: int) -> bool:
        """One of them stands before, in the same piece of a line."""
        piece = bisect_left(self._ends, at)
        if (verbs, piece) not in self._verbs:
            ends = self._ends[piece] if piece < len(self._ends) else len(self._script)
            found = verbs.search(self._script, self._ends[piece - 1] + 1 if piece else 0, ends)
            self._verbs[verbs, piece] = None if found is None else found.end()
        first = self._verbs[verbs, piece]
        return first is not None and first <= at

    def _is_made(self, at: int) -> bool:
        """What stands right before says that the file is written, or that it is a value."""
        script = self._script
        if script[at - 1 : at] in ("'", '"'):
            at -= 1
        while at and script[at - 1] in " \t":
            at -= 1
        is_tee = script.endswith("tee", 0, at) and not re.match(r"\w", script[max(0, at - 4) : max(0, at - 3)])
        return is_tee or script.endswith((">", "-o", "="), 0, at)


def _resolved(target: str, values: Mapping[str, list[str]]) -> list[str]:
    """What a word of shell may stand for, by the assignments of the same text; `*` where these do not tell."""
    waiting, found = [target], []
    for _ in range(_MOST_VALUES):
        if not waiting:
            break
        word = waiting.pop()
        variable = _VARIABLE.search(word)
        if variable is None:
            found.append(word)
        else:
            named = values.get(variable[1] or variable[2]) or ("*",)
            waiting += [word[: variable.start()] + value + word[variable.end() :] for value in named]
    return [_ANY.sub("*", word) for word in (*found, *waiting)]


def parsed(told: str) -> dict[str, str]:
    """What FIND_STEERING says."""
    states, _, digests = told.partition("//\0")
    fields = states.split("\0")
    found = {path.replace("//", "/"): state for path, state in zip(fields[::2], fields[1::2], strict=False) if path}
    for row in digests.split("\0"):
        digest, _, path = row.partition("  ")
        if (path := path.replace("//", "/")) in found:
            found[path] = f"{found[path].partition(' #')[0]} #{digest}"
    return found


def left_by_candidate(before: Mapping[str, str], after: Mapping[str, str], tests: Mapping[str, str]) -> list[str]:
    """Steering files that the candidate made, or gave another content, but for those that the verifier's texts name."""
    known = set(STEERING + _ABOVE) - set(MAKEFILES)
    texts = [without_comments(path, text) for path, text in tests.items()]
    named = {name for name in known if any(name in text for text in texts)}
    names = ((path, PurePosixPath(path).name) for path in _changed(before, after))
    return [path for path, name in names if name not in named and not _is_test(name)]


def _changed(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[str]:
    """Files that hold something else than before. What has no digest is told by its number and time."""
    for path, state in after.items():
        was = before.get(path)
        digests = ("" if was is None else was.partition("#")[2]), state.partition("#")[2]
        if digests[0] != digests[1] if all(digests) else was != state:
            yield path


def left_options(before: Mapping[str, str], after: Mapping[str, str], tests: Mapping[str, str]) -> list[str]:
    """Files with options of pytest that the candidate made or changed and that the verifier's texts name for another
    reason than to give them to pytest: they stay, and choose no tests."""
    given = [text for text in tests.values() if _GIVES_OPTIONS.search(text)]
    names = ((path, PurePosixPath(path).name) for path in _changed(before, after))
    return [path for path, name in names if name in _OPTIONS and not any(name in text for text in given)]


def asks_for_modes(texts: Iterable[str]) -> bool:
    """The verifier may look at whether files can be written to, or keep that."""
    return any(_ASKS_FOR_MODES.search(text) is not None for text in texts)


def has_tests(tests: Iterable[str], before: Iterable[str]) -> bool:
    """The verifier, or the environment, has files that test runners collect."""
    return any(_is_test(PurePosixPath(path).name) for path in (*tests, *before))


def left_tests(before: Mapping[str, str], after: Mapping[str, str]) -> set[str]:
    """Digests of the test files that the candidate made or changed."""
    known = {state.partition("#")[2] for state in before.values()}
    changed = _changed(before, after)
    return {after[path].partition("#")[2] for path in changed if _is_test(PurePosixPath(path).name)} - known - {""}


def _is_test(name: str) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in _TESTS)


def steering_above(left: Iterable[str], real: str, workdir: str) -> list[str]:
    """Steering files in folders that hold the working directory only after all links: nobody means to put any there."""
    own = {str(path) for path in PurePosixPath(workdir).parents}
    above = {str(path) for path in PurePosixPath(real).parents} - own
    return [path for path in left if str(PurePosixPath(path).parent) in above]


def is_remaking(name: str) -> bool:
    """A file of which `make` would make a file of rules."""
    return any(fnmatchcase(name, pattern) for pattern in _REMAKES)


def may_make(tests: Mapping[str, str], environment: Mapping[str, str]) -> bool:
    """The verifier may run `make`: it names it, or starts a program of which it is not known what that runs.

    >>> may_make({"test.sh": "# make sure that it is there\\ngrep -q 42 /app/score"}, {"/app/Makefile": "score:"})
    False
    >>> may_make({"test.sh": "make -s check"}, {}), may_make({"test.sh": "bash /app/run.sh"}, {})
    (True, True)
    """
    texts = [without_comments(path, text) for path, text in tests.items()]
    others = [text for path, text in environment.items() if PurePosixPath(path).name not in MAKEFILES]
    return any(_NAMES_MAKE.search(text) for text in (*texts, *others)) or any(map(_STARTS_OTHERS.search, texts))


def hiding_makefiles(
    before: Mapping[str, str], now: Mapping[str, str], left: Iterable[str], tests: Iterable[str]
) -> list[str]:
    """The files with rules of `make` that the candidate has left and that hide the environment's or the verifier's, or
    that `make` would make these of. Who has removed the environment's has put others in their place."""
    own = {PurePosixPath(path).name for path in tests} & set(MAKEFILES)
    found = []
    for path in left:
        folder, name = PurePosixPath(path).parent, PurePosixPath(path).name
        if is_remaking(name):
            found.append(path)
        elif name in MAKEFILES and str(path) not in before:
            later = MAKEFILES[MAKEFILES.index(name) + 1 :]
            if own & set(later) or any(str(folder / other) in before and str(folder / other) in now for other in later):
                found.append(path)
    return found


def changes_folder_to(workdir: str, shell: str) -> list[str]:
    """Where a script of shell may be, the first ones."""
    return _folders(workdir, shell)


def shell_values(shell: str) -> dict[str, list[str]]:
    """What lines of shell assign to each variable, the first ones."""
    return _values(shell)


def words_resolved(word: str, values: Mapping[str, list[str]]) -> list[str]:
    """What a word of shell may stand for; `*` where these values do not tell."""
    return _resolved(word, values)


def paths_made(texts: Mapping[str, str], workdir: str, made_by: Callable[[str], list[str]]) -> list[str]:
    """What the lines of shell of a verifier make, but for what they have looked at before. `made_by`: the words for it
    of one command."""
    return _paths_made(texts, workdir, made_by)
