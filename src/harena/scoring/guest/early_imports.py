"""What test code imports, loaded ahead of the candidate; part of the programs that run it (see score_command)."""

from __future__ import annotations

import ast
import importlib
import os
import sys

from harena.scoring.guest.suite_protocol import NO_MODULE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


def import_for(source: str, theirs: Iterable[str] = ()) -> None:
    """Load the modules that the test code imports, while nothing of the candidate has run. Ends where one is missing
    without which no line of it runs: that is not the candidate's doing. What is imported further within may be missing,
    and its own line tells it. `theirs`: paths of the candidate's files, whose modules are not loaded here."""
    candidates = {path[: -len(".py")] for path in theirs if path.endswith(".py")}
    tree = ast.parse(source)
    for node in ast.walk(tree):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [node.module]
        for name in names:
            if not candidates.isdisjoint(_places(name)):
                continue
            try:
                importlib.import_module(name)
            except ImportError:
                if node not in tree.body:
                    continue
                sys.stderr.write("the tests import " + name + ", which is not there\n")
                sys.stderr.flush()
                os._exit(NO_MODULE)


def _places(name: str) -> list[str]:
    """Where the modules lie that an import of this one runs, without their endings."""
    parts = name.split(".")
    below = ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]
    return [*below, *(f"{place}/__init__" for place in below)]
