"""Entries of candidates that have the name of a module of Python's, under test code that imports no entry.

`asserts` find the candidate's names without an import, so what its file is called says nothing: `math.py` is as good as
`solution.py`. But a file of that name would hide Python's module from the tests, and takes no part. So it goes by
another name, unless something imports a module by the name that it has.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from harena.scoring.contracts.contract import CommandContract
from harena.scoring.guest.module_names import imported
from harena.scoring.python_source import syntax_tree
from harena.scoring.scenario import Candidate
from harena.scoring.scorers.program import Bench
from harena.scoring.slices import aside, size_of

_OTHER_NAMES = ("solution.py", "candidate.py", "program.py", "answer.py")


@dataclass(frozen=True, slots=True)
class NamedEntry:
    """What is judged in the place of an entry with a name of Python's."""

    bench: Bench
    contract: CommandContract
    unclear: str = ""
    """why nothing can be judged: nobody can tell whose module is meant"""


async def with_own_name(bench: Bench, contract: CommandContract) -> NamedEntry:
    """The candidate, and the gold solution, with an entry that can be imported by its name."""
    candidate = bench.scenario.candidate
    path = PurePosixPath(candidate.entry)
    if len(path.parts) > 1 or path.suffix != ".py" or path.stem not in sys.stdlib_module_names:
        return NamedEntry(bench, contract)
    trusted = {**bench.scenario.files, **contract.files}
    others = {**trusted, **{each: text for each, text in candidate.files.items() if each != candidate.entry}}
    texts = [contract.asserts or "", *(text for each, text in others.items() if each.endswith(".py"))]
    free = next((name for name in _OTHER_NAMES if name not in others and name not in contract.gold), "")
    if not free or await aside(size_of(others), _any_imports, texts, path.stem):
        return NamedEntry(
            bench,
            contract,
            f"the entry {candidate.entry!r} has the name of a module of the standard library's that is imported, so "
            "nobody can tell which one is meant: give the entry another name",
        )
    renamed = Candidate(files=_renamed(candidate.files, candidate.entry, free), entry=free)
    gold = _renamed(contract.gold, candidate.entry, free)
    made = bench.with_files(renamed, bench.scenario.files)
    return NamedEntry(made, contract.model_copy(update={"gold": gold}))


def _renamed(files: Mapping[str, str], old: str, new: str) -> dict[str, str]:
    return {new if path == old else path: text for path, text in files.items()}


def _any_imports(texts: Iterable[str], name: str) -> bool:
    return any(each.partition(".")[0] == name for text in texts for each in _imports(text))


def _imports(text: str) -> list[str]:
    try:
        return list(imported(syntax_tree(text)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
