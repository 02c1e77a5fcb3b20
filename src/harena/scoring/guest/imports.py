"""What test code imports, loaded ahead of the candidate; part of the programs that run it (see score_command)."""

from __future__ import annotations

import ast
import importlib
import os
import sys

NO_MODULE = 85


def import_for(source: str) -> None:
    """Load the modules that the test code imports, while nothing of the candidate has run. Ends where one is missing:
    that is not the candidate's doing."""
    for node in ast.walk(ast.parse(source)):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [node.module]
        for name in names:
            try:
                importlib.import_module(name)
            except ImportError:
                sys.stderr.write("the tests import " + name + ", which is not there\n")
                sys.stderr.flush()
                os._exit(NO_MODULE)
