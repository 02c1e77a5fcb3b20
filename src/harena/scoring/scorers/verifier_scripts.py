"""Whether the files of a verifier stayed what they were while it ran.

A verifier that starts a program of the candidate's runs beside it, and a shell reads its script line by line: what is
added to `test.sh` meanwhile is executed. So the scripts that judge are watched, and so is whatever else it has, but for
what it gives to the candidate's program. What a verifier changes by itself is told by its texts, or by a run without
the candidate.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from harena.core.ports import FileWatch, SandboxPort, WatchesFiles
from harena.scoring.contracts.harbor import TEST_SCRIPT
from harena.scoring.scorers.verifier_data import given_files
from harena.scoring.scorers.verifier_leftovers import copied_paths, written_paths
from harena.scoring.scorers.watched_files import content_of, folders_above

_MOST_BYTES = 4 * 1024 * 1024
COLLECTED = re.compile(r"(?:test_.*|.*_test|conftest)\.py")
"""names of files that pytest and unittest load by themselves"""
_STARTS = re.compile(
    r"(?:(?<![\w.-])(?:python[\d.]*|bash|sh|dash|node|perl|ruby|source|exec)|(?:^|[\n;&|({])[ \t]*\.)[ \t]+"
)
_OPTION = re.compile(r"-\S+[ \t]+")
_MOST_OPTIONS = 64
_PATH = re.compile(r"[\"']?([\w./${}-]*)")
_NAME = re.compile(r"[\w.-]*")
_MOST_ODD = 100
"""files with other characters in their names, each of which all lines of shell are searched for"""
_IMPORTS = re.compile(r"(?m)^[ \t]*(?:from|import)[ \t]+([\w.]+)")
_MOST_CHANGING = 1024 * 1024
"""characters of pieces of lines that change something, and are looked through for the name of each file"""
_CHANGES = re.compile(r"\b(?:mv|rm|patch|dos2unix|truncate|unlink|shred|rename|replace|write_text|write_bytes)\b")
_CHANGES_BY_OPTION = (
    (re.compile(r"\b(?:sed|perl)\b"), re.compile(r"[ \t]-\w*i")),
    (re.compile(r"\bopen\("), re.compile(r"[\"'](?:[wax]|r?b?\+)")),
)
"""what a line of shell or Python changes a file with; of the latter the second behind the first. They are searched one
after the other: one expression for both tries each place of the first with each of the second"""
_PIECES = re.compile(r"[;&|\n]")
_PATTERN = re.compile(r"(?<![^\s\"'])[\"']?(/[^\s\"'*]*)\*\S*")
"""an absolute path with `*` in it"""
_DATABASES = (".db", ".sqlite", ".sqlite3")
"""files that whoever only reads them opens for writing"""
_MOST_WATCHED = 2000
"""files that do not judge by themselves, and are watched"""


@dataclass(slots=True)
class WatchedScripts:
    """The scripts of one verifier, in one sandbox."""

    contents: Mapping[str, bytes]
    """by absolute path, as they were written"""
    watch: FileWatch | None = None

    @classmethod
    async def begin(
        cls, sandbox: SandboxPort, place: str, own: Mapping[str, bytes], beside: Mapping[str, bytes]
    ) -> WatchedScripts:
        """`own`: what the verifier's files hold, by their path below `place`; `beside`: others, by their path."""
        made = cls({**{f"{place}/{path}": content for path, content in own.items()}, **beside})
        if isinstance(sandbox, WatchesFiles):
            made.watch = await sandbox.watch_files(list(made.contents), folders_above(made.contents))
        return made

    async def changed(self, sandbox: SandboxPort) -> frozenset[str]:
        """Paths that were written to or replaced, or hold another text now."""
        events = {} if self.watch is None else await self.watch.touched()
        found = {path for path, kinds in events.items() if path in self.contents or "replaced" in kinds}
        for path, content in self.contents.items():
            if len(content) <= _MOST_BYTES and await content_of(sandbox, path, max_bytes=_MOST_BYTES) != content:
                found.add(path)
        return frozenset(found)

    def close(self) -> None:
        """End it."""
        if self.watch is not None:
            self.watch.close()


def judging_files(tests: Mapping[str, str], place: str, workdir: str, *, binary: Collection[str] = ()) -> list[str]:
    """Files of a verifier that it does not change by itself, nor gives to a program of the candidate's, which may be to
    change them. What decides counts also where it is given to one: `test.sh`, what a line of it starts, what pytest and
    unittest load, and modules that its Python imports. `binary`: names of files that are no texts."""
    written = {*written_paths(tests, workdir, places=("/",)), *copied_paths(tests, workdir)}
    changing = "\0".join(piece for text in tests.values() for piece in _PIECES.split(text) if _changes(piece))
    if "*" in changing:  # it may be any file
        changing = _PATTERN.sub(lambda found: found[0] if _may_be_below(found[1], place) else "", changing)
        if "*" in changing:
            return []
    imported = {name for path, text in tests.items() if path.endswith(".py") for name in _imported(text)}
    shell = [text for path, text in tests.items() if path.endswith((".sh", ".bash"))]
    started = {name for text in shell for name in _started(text)}
    odd = [name for path in tests if not _NAME.fullmatch(name := PurePosixPath(path).name)]
    started.update(odd[_MOST_ODD:], (name for name in odd[:_MOST_ODD] if any(name in text for text in shell)))
    names = [*tests, *binary]
    given = given_files({**dict.fromkeys(binary, ""), **tests}, place, workdir)
    judging = {path for path in tests if _is_judging(PurePosixPath(path), imported, started)}
    others = [path for path in names if path not in judging and path not in given and not path.endswith(_DATABASES)]
    judging.update(others[:_MOST_WATCHED])
    return [
        path
        for path in names
        if path in judging
        and f"{place}/{path}" not in written
        and PurePosixPath(path).name not in changing[:_MOST_CHANGING]
    ]


def _may_be_below(begin: str, place: str) -> bool:
    """A pattern that begins so may mean something below this folder."""
    return begin.startswith(place) or place.startswith(begin)


def _changes(piece: str) -> bool:
    if _CHANGES.search(piece):
        return True
    for first, second in _CHANGES_BY_OPTION:
        begin = first.search(piece)
        if begin is not None and second.search(piece, begin.end()):
            return True
    return False


def _is_judging(path: PurePosixPath, imported: Collection[str], started: Collection[str]) -> bool:
    if str(path) == TEST_SCRIPT or COLLECTED.fullmatch(path.name) or path.name in started:
        return True
    return path.suffix == ".py" and path.name != "__init__.py" and path.stem in imported


def _imported(text: str) -> Iterator[str]:
    """Modules that lines of Python import, and the packages that these are in."""
    for found in _IMPORTS.finditer(text):
        yield from found[1].split(".")


def _started(text: str) -> Iterator[str]:
    """Names of files that lines of shell start. A path may stand behind the options of what starts it, or be one."""
    for found in _STARTS.finditer(text):
        at = found.end()
        for _ in range(_MOST_OPTIONS):
            path = _PATH.match(text, at)
            assert path is not None  # it may be empty
            yield from (_NAME.match(part)[0] for part in path[1].split("/"))  # type: ignore[index]  # likewise
            option = _OPTION.match(text, at)
            if option is None:
                break
            at = option.end()
