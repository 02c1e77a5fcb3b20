"""What a candidate leaves in the places of a verifier's own: where it writes, and where its tools look for their rules.

A candidate may leave what it likes. Three things would speak for the verifier: something in the place of a scratch file
that it writes to, so that it reads what was prepared; rules that hide those which its tools would have found
(`GNUmakefile` beside `Makefile`); and configuration by which its test runner runs other tests, or none. The first two
are removed where nothing else can be meant by them, the third is read by `guest_sitecustomize` without what chooses
tests. What a verifier's own files name is left: the task may be about it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath

_WRITES_TO = re.compile(
    r"(?:(?<![-=<>])(?:>\|?(?!>)|(?P<adds>>>))|\btee|(?<!unzip)[ \t]-o"
    r"|--(?:output|output-file|out-file|outfile|log-file|junit-?xml|ctrf"
    r"|json-report-file)(?:=|(?=[ \t]))|\bof=)[ \t]*[\"']?(?P<to>[\w./+${}][\w./+${}-]*)"
)
"""a redirection of a shell, or an option of which it is known that it names a file that is written"""
_ASSIGNED = re.compile(r"(?m)(?:^|[;&|({]|\b(?:export|local|readonly|then|do))[ \t]*(\w+)=[\"']?([\w./+${}-]+)")
_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")
_MAKES = re.compile(r"(?:>|\btee|-o|=)[ \t]*[\"']?$|\b(?:rm|mkdir|touch|trap|chmod)\b[^;&|]*$")
_FUNCTION = re.compile(r"\w[ \t]*\(\)|\bfunction\b")
_MOST_VALUES = 20
_SCRATCH = ("/tmp/", "/var/tmp/")
_CHANGES_TO = re.compile(r"(?m)(?:^|[;&|(])[ \t]*(?:cd|pushd)[ \t]+[\"']?(/[\w./-]*)")
MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
"""in the order in which `make` looks for them"""
STEERING = ("conftest.py", "pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "tox.ini", "setup.cfg",
            "pyproject.toml", *MAKEFILES)  # fmt: skip
_NAMED = " -o ".join(f"-name {name}" for name in STEERING)
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
    [ -d "$1" ] && find "$1/" -xdev \( -type d -name node_modules -prune \) -o \( {_NAMED} \) "${{@:2}}"
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
for place in "$@"; do
    if [ -L "$place" ] || { [ -e "$place" ] && { [ ! -f "$place" ] || [ ! -w "$place" ]; }; }; then
        chmod u+w -- "${place%/*}" 2>/dev/null
        rm -rf -- "$place"
    fi
done
exit 0
"""
"""a plain file that can be written to is emptied by the verifier itself"""
MAKE_WRITABLE = """\
writable() {
    [ -L "$1" ] || [ -w "$1" ] || chmod u+rwX -- "$1" 2>/dev/null
}
count=$1
shift
while [ "$count" -gt 0 ]; do
    if [ -e "$1" ]; then writable "$1"; fi
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
_COPIES = re.compile(
    r"(?m)(?:^|[;&|({]|\b(?:then|do|else|sudo|if|!))[ \t]*(?:cp|mv|install|rsync|ln)[ \t]+([^;&|\n<>()]+)"
)


def written_paths(texts: Mapping[str, str], workdir: str, *, places: tuple[str, ...] = _SCRATCH) -> list[str]:
    """Files below `places` that the lines of shell of a verifier write to, wherever it may be then; but for those that
    it has read before, which are the candidate's."""
    scripts = [_without_comments(text) for path, text in texts.items() if path.endswith((".sh", ".bash"))]
    shell = "\n".join(scripts)
    folders = dict.fromkeys((workdir, *_CHANGES_TO.findall(shell)))
    values: dict[str, list[str]] = {}
    for name, value in _ASSIGNED.findall(shell):
        values.setdefault(name, []).append(value)
    found: dict[str, None] = {}
    for script in scripts:
        for match in _WRITES_TO.finditer(script):
            before, target = script[: match.start()], match["to"]
            # what is added to a file that was not removed hides nothing of what was there
            if _is_read(before, target) or (match["adds"] and not _is_removed(before, target)):
                continue
            for path in _resolved(target, values):
                if path.startswith("/"):
                    found[path] = None
                elif path.strip("./"):
                    found.update(dict.fromkeys(str(PurePosixPath(folder) / path) for folder in folders))
    return [path for path in found if path.startswith(places) and ".." not in path.split("/")]


def copied_paths(texts: Mapping[str, str], workdir: str) -> list[str]:
    """Files that the lines of shell of a verifier copy or move something to, wherever they may be then."""
    scripts = [_without_comments(text) for path, text in texts.items() if path.endswith((".sh", ".bash"))]
    shell = "\n".join(scripts)
    values: dict[str, list[str]] = {}
    for name, value in _ASSIGNED.findall(shell):
        values.setdefault(name, []).append(value)
    folders = dict.fromkeys((workdir, *_CHANGES_TO.findall(shell)))
    names = dict.fromkeys(PurePosixPath(path).name for path in texts)
    found: dict[str, None] = {}
    for copied in _COPIES.findall(shell):
        words = [word.strip("\"'") for word in copied.split() if not word.startswith("-")]
        sources = [name for word in words[:-1] for name in ((word.rpartition("/")[2],) if "*" not in word else names)]
        for target in _resolved(words[-1], values) if len(words) > 1 else ():
            for folder in folders if not target.startswith("/") else ("/",):
                place = PurePosixPath(folder, target)
                found.update(dict.fromkeys(str(path) for path in (place, *(place / name for name in sources if name))))
    return [path for path in found if ".." not in path.split("/") and path != "/"]


def _without_comments(text: str) -> str:
    lines = []
    for line in text.split("\n"):
        for match in re.finditer(r"(?:^|(?<=[ \t;]))#", line):
            before = line[: match.start()]
            if before.count('"') % 2 == 0 and before.count("'") % 2 == 0:
                line = before
                break
        lines.append(line)
    return "\n".join(lines)


def _resolved(target: str, values: Mapping[str, list[str]]) -> list[str]:
    """What a word of shell may stand for, by the assignments of the same text; [] where these do not tell."""
    waiting, found = [target], []
    for _ in range(_MOST_VALUES):
        if not waiting:
            break
        word = waiting.pop()
        variable = _VARIABLE.search(word)
        if variable is None:
            found.append(word)
        else:
            named = values.get(variable[1] or variable[2], ())
            waiting += [word[: variable.start()] + value + word[variable.end() :] for value in named]
    return [word for word in found if "$" not in word and "{" not in word]


def _is_removed(before: str, target: str) -> bool:
    return re.search(rf"\brm\b[^;&|\n]*(?<![\w./-]){re.escape(target)}(?![\w-])", before) is not None


def _is_read(before: str, target: str) -> bool:
    """The lines that come before name this file, and do not make or remove it. What a function does comes later."""
    if _FUNCTION.search(before):
        return False
    named = re.finditer(rf"(?<![\w./-]){re.escape(target)}(?![\w-])", before)
    return any(not _MAKES.search(before[before.rfind("\n", 0, match.start()) + 1 : match.start()]) for match in named)


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
    """Steering files that the candidate made or changed, but for those that the verifier names, or brings itself."""
    known = set(STEERING + _ABOVE) - set(MAKEFILES)
    named = {name for name in known if any(name in text for text in tests.values())}
    named |= {PurePosixPath(path).name for path in tests} - set(MAKEFILES)
    return [
        path for path, state in after.items() if before.get(path) != state and PurePosixPath(path).name not in named
    ]


def steering_above(left: Iterable[str], real: str, workdir: str) -> list[str]:
    """Steering files in folders that hold the working directory only after all links: nobody means to put any there."""
    own = {str(path) for path in PurePosixPath(workdir).parents}
    above = {str(path) for path in PurePosixPath(real).parents} - own
    return [path for path in left if str(PurePosixPath(path).parent) in above]


def hiding_makefiles(before: Mapping[str, str], left: Iterable[str], tests: Iterable[str]) -> list[str]:
    """The files with rules of `make` that the candidate has left and that hide the environment's or the verifier's."""
    own = {PurePosixPath(path).name for path in tests} & set(MAKEFILES)
    found = []
    for path in left:
        folder, name = PurePosixPath(path).parent, PurePosixPath(path).name
        if name in MAKEFILES and str(path) not in before:
            later = MAKEFILES[MAKEFILES.index(name) + 1 :]
            if own & set(later) or any(str(folder / other) in before for other in later):
                found.append(path)
    return found
