"""Lines of a trusted command whose answer its candidate can arrange; they are told to its author, and decide nothing.

A candidate runs as the command's own user, in its folder. No kernel tells whether a log has grown because a tool of the
command found nothing or because somebody emptied it, and what the command has made before it runs the candidate the
candidate can read and replace. Commands that are honest do the same, so that no pass is refused for it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from harena.scoring.contracts.patterns import compiled
from harena.scoring.scorers.leaked_proofs import SHELLS, words_in_sight
from harena.scoring.scorers.shell_code import line_number, simple_commands
from harena.scoring.scorers.shell_words import lines_that_take_words

_WRITES = re.compile(r"(?<![<>&\d])[12]?>\|?[ \t]*[\"']?((?![&/]dev/)[\w./-]+)")
_ASKS = re.compile(
    r"(?:\[\[?|test)[ \t]+(?:![ \t]+)?(?:-[efs][ \t]+[\"']?([\w./-]+)|[\"']?([\w./-]+)[\"']?[ \t]+-[no]t\b)"
)
_RUNNER = re.compile(
    r"(?:\S*/)?(?:python[\d.]*[ \t]+(?:-\S+[ \t]+)*-m[ \t]*(?:pytest|unittest|nose2?)|pytest|py\.test)\b"
)
_SCRIPT = re.compile(r"(?:\S*/)?python[\d.]*[ \t]+(?:-[^c\s]\S*[ \t]+)*[\"']?(?:\./)?([\w./-]+\.py)\b")
_PROOF = "harena-proof"
_MOST_TEXT = 50_000
"""characters of a text that is looked at"""
_MOST_MADE = 100
"""files that a text makes of which it is looked whether later lines use them"""
_MOST_NAMES, _LONGEST_NAME = 100, 255
"""files of the candidate's that are looked for in the texts: each is looked for everywhere"""
_Part = tuple[int, int, str]
"""(where a simple command begins, its line, its text)"""


def weak_lines(command: Sequence[str], files: Mapping[str, str], candidate: Collection[str]) -> list[str]:
    """One sentence for each. `files`: the trusted ones; `candidate`: paths of the candidate's."""
    found = [given.told for given in words_in_sight(command, files)]
    candidate = [path for path in candidate if len(path) <= _LONGEST_NAME][:_MOST_NAMES]
    loading = _loading(files, candidate)
    for place, text in _shell_texts(command, files):
        if len(text) <= _MOST_TEXT:
            parts = [(at, line_number(text, at), part) for at, part in simple_commands(text)]
            found += _prepared(place, parts, candidate)
            found += _exit_codes(place, parts, loading, proof=text.rfind(_PROOF))
            names = [name for path in candidate for name in {path, PurePosixPath(path).stem}]
            found += dict.fromkeys(lines_that_take_words(place, text, names, _WRITES))
    return found


def _loading(files: Mapping[str, str], candidate: Collection[str]) -> set[str]:
    """The trusted Python files that import a module of the candidate's."""
    stems = "|".join(re.escape(PurePosixPath(path).stem) for path in candidate if path.endswith(".py"))
    imports = compiled(rf"(?m)^[ \t]*(?:from|import)[ \t]+(?:{stems})\b")
    return {path for path, text in files.items() if stems and path.endswith(".py") and imports.search(text)}


def _exit_codes(place: str, parts: Sequence[_Part], loading: Collection[str], *, proof: int) -> Iterator[str]:
    """Lines before the proof whose exit code is that of a process which has loaded the candidate."""
    for at, line, part in parts:
        script = _SCRIPT.match(part)
        runs_candidate = _RUNNER.match(part) or (script is not None and script[1] in loading)
        if at < proof and runs_candidate:
            yield (
                f"line {line} of {place} runs the candidate in the process whose exit code it asks "
                "for: a candidate that ends that with 0 (os._exit(0)) passes; give the tests as `pytest` or `unittest` "
                "of the contract, or start the candidate as a program of its own and compare what it prints"
            )


def _shell_texts(command: Sequence[str], files: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    if len(command) > 2 and command[1] == "-c" and PurePosixPath(command[0]).name in SHELLS:
        yield "the command", command[2]
    yield from ((path, text) for path, text in files.items() if path.endswith((".sh", ".bash")))


@dataclass(frozen=True, slots=True)
class _CreatedFile:
    line: int
    before_candidate: bool
    named: re.Pattern[str]
    """where a line uses it"""


def _prepared(place: str, parts: Sequence[_Part], candidate: Collection[str]) -> Iterator[str]:
    """Lines whose answer the candidate can prepare."""
    names = "|".join(re.escape(name) for path in candidate for name in {path, PurePosixPath(path).stem})
    runs = compiled(rf"(?<![\w.-])(?:{names})(?![\w-])")
    made: dict[str, _CreatedFile] = {}
    has_run = False
    for _, line, part in parts:
        has_run = has_run or runs.search(part) is not None
        asked = _ASKS.match(part)
        if asked is not None and (name := asked[1] or asked[2]) in made:
            yield (
                f"line {line} of {place} asks only whether {name} is there, or for its size or time: the candidate can "
                "prepare that, by a link or by emptying it; ask for the exit code of what wrote it, or for its content"
            )
        elif has_run:
            for name, how in list(made.items()):
                if how.before_candidate and how.named.search(part):
                    del made[name]
                    yield (
                        f"line {how.line} of {place} makes {name} before the candidate runs, and line {line} uses it "
                        "later: the candidate can read and replace it; use a trusted file, or make it when it has ended"
                    )
        for found in _WRITES.finditer(part):
            if found[1] not in made and len(made) < _MOST_MADE:
                named = re.compile(rf"(?<![\w.>/-]){re.escape(found[1])}(?![\w.-])")
                made[found[1]] = _CreatedFile(line, not has_run, named)
