"""Finds the files that a verifier gives to the programs of a candidate, which may be what these are to change.

Any other file that it has, be it a script, a module, a table of cases or what a check expects, is its own: what such a
program writes there would speak for the candidate.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import PurePosixPath

from harena.scoring.scorers.verifier_leftovers import changes_folder_to, shell_values, words_resolved

_PIECES = re.compile(r"[;&|\n(){}`]+")
_WORD = re.compile(r"[^\s\"']+")
_ADDED_TO = re.compile(r">>[ \t]*[\"']?([^\s\"';&|)]+)")
_LOOPS = re.compile(r"(?<![\w-])for[ \t]+(\w+)[ \t]+in[ \t]+([^;\n]{1,4096})")
_REDIRECTED = re.compile(r"\d*(?:>>?|<)[ \t]*\S+")
_KEYWORDS = frozenset({
    "if", "then", "do", "else", "elif", "while", "until", "!", "time", "exec", "command", "env", "sudo", "nohup",
    "nice", "stdbuf", "xargs", "timeout", "ionice", "strace", "setsid", "$",
})  # fmt: skip
"""words before the name of a program"""
_BEFORE = re.compile(r"-\S*|\w+=\S*|\d+(?:\.\d+)?[smhd]?")
"""likewise: their options and values"""
_INTERPRETERS = re.compile(
    r"(?:python|pypy|node|deno|bun|ruby|perl|php|lua|ba|da|z|k)?sh|(?:python|pypy|node|perl|php|lua|ruby)[\d.]*|deno|bun|java|go|cargo"
    r"|npm|npx|yarn|pnpm|Rscript|julia|dotnet|ghc|runghc|make|swift|kotlin|scala"
)
_OF_RUNNERS = re.compile(
    r"[ \t]-m[ \t]*(?:pytest|unittest|doctest|coverage|json\.tool|pip|venv|compileall|timeit|trace|http\.server|mypy)\b"
)
_OPERAND = re.compile(r"[ \t](?:-C|-f|-I|--directory|--file|--makefile)[ \t=]*\S+")
"""where `make` and others find their own rules, and no file that they are given"""
_STARTS = re.compile(r"\b(?:run|Popen|check_output|check_call|call|system|popen|spawn\w*|exec\w*)\(")
"""a call by which a program starts another one"""
_REACH = 1000
"""characters of such a call, at most"""
_ASSIGNS = re.compile(
    r"^[ \t]*(?:(?:const|let|var|my|local)[ \t]+)?\$?([A-Za-z_]\w*)[ \t]*(?::[^=\n]{1,100})?:?=[ \t]*(?!=)(.*)"
)
_MOST_TEXT = 64 * 1024
_MOST_WORDS = 2000
_MOST_CALLS = 200
_MOST_FILES = 2000
_MOST_VARIABLES = 200
_MOST_VALUES = 20


def given_files(tests: Mapping[str, str], place: str, workdir: str) -> set[str]:
    """Names of files that lines of shell give to a program of a candidate's, or add something to, or that a program of
    the verifier's gives to what it starts. Not for an event loop where the texts are long.

    >>> tests = {"test.sh": "python3 main.py /tests/a.json; cmp out /tests/b.json", "a.json": "", "b.json": ""}
    >>> given_files(tests, "/tests", "/app")
    {'a.json'}
    """
    names = {PurePosixPath(path).name for path in tests}
    given: set[str] = set()
    patterns: dict[str, None] = {}
    for path, text in tests.items():
        if len(text) > _MOST_TEXT:
            continue
        if path.endswith((".sh", ".bash")):
            patterns.update(dict.fromkeys(_words_given(text, names, place, workdir)))
        elif "." in PurePosixPath(path).name and _STARTS.search(text):
            given |= _given_by_program(text, tests)
    for pattern in list(patterns)[:_MOST_WORDS]:
        given.update(path for path in list(tests)[:_MOST_FILES] if _is_meant(pattern, path, place))
    return given


def _is_meant(pattern: str, path: str, place: str) -> bool:
    """The word may be the path of this file, or that of a folder that it is in."""
    own = f"{place}/{path}"
    if "*" in pattern:
        return pattern.startswith(place) and fnmatchcase(own, pattern)
    return own == pattern or own.startswith(pattern + "/")


def _words_given(text: str, names: set[str], place: str, workdir: str) -> Iterator[str]:
    """Words, as absolute paths, that lines of shell give to programs of a candidate's, or add something to."""
    values = shell_values(text)
    for loop in _LOOPS.finditer(text):
        values[loop[1]] = [word.strip("\"'") for word in loop[2].split()[:_MOST_VALUES] if "$" not in word]
    folders = changes_folder_to(workdir, text)

    def paths(word: str) -> Iterator[str]:
        for resolved in words_resolved(word.rstrip("/"), values) if word else ():
            if resolved.startswith("/"):
                yield resolved
            elif place in folders:
                yield f"{place}/{resolved.removeprefix('./')}"

    def is_own(word: str) -> bool:
        return word.rpartition("/")[2] in names or any(path.startswith(f"{place}/") for path in paths(word))

    for added in _ADDED_TO.finditer(text):
        yield from paths(added[1])
    for piece in _PIECES.split(text):
        words = _WORD.findall(_REDIRECTED.sub(" ", _OPERAND.sub(" ", piece)))
        at = next((at for at, word in enumerate(words) if word not in _KEYWORDS and not _BEFORE.fullmatch(word)), None)
        if at is None or not _is_theirs(piece, words[at], words[at + 1 :], is_own):
            continue
        for word in words[at:][:_MOST_WORDS]:
            yield from paths(word.partition("=")[2] if word.startswith("-") else word)


def _is_theirs(piece: str, program: str, rest: Iterable[str], is_own: Callable[[str], bool]) -> bool:
    """The command of this piece starts a program of a candidate's. `is_own`: a word means a file of the verifier's."""
    if not _INTERPRETERS.fullmatch(program.rpartition("/")[2]):
        return ("/" in program or "$" in program) and not program.startswith(("/usr/", "/bin/")) and not is_own(program)
    script = next((word for word in rest if not word.startswith("-")), "")
    return not is_own(script) and _OF_RUNNERS.search(piece) is None


def _given_by_program(text: str, tests: Mapping[str, str]) -> set[str]:
    """Files whose name, or whose folder's, stands in a call by which a program starts another one, be it by a
    variable."""
    said = "\n".join(_call(text, found.end()) for found in islice(_STARTS.finditer(text), _MOST_CALLS))
    words = set(re.findall(r"[A-Za-z_]\w*", said))
    assigned = (_ASSIGNS.match(line) for line in text.split("\n"))
    variables = [(found[1], found[2]) for found in assigned if found is not None][:_MOST_VARIABLES]
    for _ in range(2):  # a variable of a variable
        more = [value for name, value in variables if name in words]
        words |= {word for value in more for word in re.findall(r"[A-Za-z_]\w*", value)}
        said += "\n" + "\n".join(more)
    given = set()
    for path in list(tests)[:_MOST_FILES]:
        about = PurePosixPath(path)
        is_named = about.name in said
        if is_named or any(re.search(rf"(?<![\w.-]){re.escape(part)}(?![\w.-])", said) for part in about.parts[:-1]):
            given.add(path)
    return given


def _call(text: str, begin: int) -> str:
    """The text of a call, up to the parenthesis that ends it."""
    depth = 1
    for at in range(begin, min(len(text), begin + _REACH)):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        if not depth:
            return text[begin:at]
    return text[begin : begin + _REACH]
