"""A program that does what a suite does with objects of a candidate's in another process, and beside it, and prints as
JSON what differs: {operation: [what plain Python gives, what the stand-in gives, what is noted]}.

Its argument is the file of a table: the candidate's text, and operations, each with a maker of the object `x`."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

from harena.scoring.guest.caught_assertions import Caught
from harena.scoring.guest.proxy import Candidate, Finder
from harena.scoring.scorers.trusted_suite import candidate_program


def compared(folder: Path, candidate: str, operations: list[str]) -> dict[str, tuple[str, str, list[str]]]:
    """(what plain Python gives, what the stand-in gives, what is noted) of each operation."""
    (folder / "table.json").write_text(json.dumps({"candidate": candidate, "operations": operations}))
    command = [sys.executable, __file__, "table.json"]
    same_hashes = {**os.environ, "PYTHONHASHSEED": "0"}  # as images have
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=True, env=same_hashes)
    found = json.loads(done.stdout.rpartition("\nfound ")[2])
    assert list(found) == operations
    return {name: tuple(parts) for name, parts in found.items()}


def shown(found: Any) -> str:
    """A result as text, the same for an object and its stand-in."""
    if type(found) in (list, tuple, set):
        return f"{type(found).__name__}{[shown(each) for each in found]}"
    if hasattr(found, "v") and not isinstance(found, (int, str, tuple, list)):
        return f"{type(found).__name__}({found.v!r})"
    return f"{type(found).__name__} {found!r}" if isinstance(found, BaseException) else repr(found)


async def outcome(operation: str, names: dict[str, Any]) -> str:
    """What one operation comes to; each is the body of a function, as tests are."""
    lines = "\n".join("    " + line for line in operation.splitlines())
    here: dict[str, Any] = dict(names)
    exec(f"async def test():\n{lines}\n", here)
    try:
        return shown(await here["test"]())
    except Exception as error:  # noqa: BLE001 (an error is what some operations come to)
        return type(error).__name__


async def main() -> None:
    """Do all of them."""
    table = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    Path("solution.py").write_text(table["candidate"], encoding="utf-8")
    real = types.ModuleType("solution")
    sys.modules["solution"] = real  # which a data class asks for while it is made
    exec(table["candidate"], vars(real))
    del sys.modules["solution"]
    candidate = Candidate(Caught(".", (), {}), program=(candidate_program(), ""))
    sys.meta_path.insert(0, Finder(candidate, {"solution": "solution.py"}, {}, lambda name: frozenset()))
    import solution  # type: ignore[import-not-found]

    found = {}
    for operation in table["operations"]:
        plain = await outcome(operation, {"solution": real})
        notes = len(candidate.notes)
        apart = await outcome(operation, {"solution": solution})
        found[operation] = [plain, apart, candidate.notes[notes:]]
    candidate.end()
    sys.stdout.write("\nfound " + json.dumps(found) + "\n")


if __name__ == "__main__":
    asyncio.run(main())
