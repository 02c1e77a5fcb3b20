"""Test code over a candidate in a sandbox of its own: a suite with one test, which runs the code.

The suite is an ordinary one (`suite_apart`): nothing of the candidate is in the process of the tests, and what they
compare is compared there.
"""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePosixPath

from harena.core.results import Trust
from harena.scoring.contracts.contract import CommandContract
from harena.scoring.guest.module_names import module_name
from harena.scoring.python_source import syntax_tree
from harena.scoring.scenario import Candidate
from harena.scoring.scorers.assert_names import AssertNames
from harena.scoring.scorers.program import Bench
from harena.scoring.scorers.suite_apart import Attempt, score_apart
from harena.scoring.scorers.trusted_suite import LIST_IT
from harena.scoring.slices import aside

_CODE, _TEST = "harena_asserts", "test_harena_asserts"
_START_SECONDS = 2.0
"""time that the suite may take beside what `timeout_seconds` gives the tests and the candidate in one process"""
_SUITE = """import unittest

from harena.scoring.guest.asserts_apart import prepared

run = prepared({code!r}, {entry!r}, {names})


class TestAsserts(unittest.TestCase):
    def test_asserts(self):
        run()
"""


def can_be_apart(contract: CommandContract, entry: str) -> bool:
    """The candidate's entry can be imported, and by a name that no module of the tests' or of Python's has."""
    path = PurePosixPath(entry)
    taken = {*sys.stdlib_module_names, *contract.requires, _CODE, _TEST}
    return path.suffix == ".py" and path.parts[0].partition(".")[0] not in taken


def modules_beside(contract: CommandContract) -> list[str]:
    """The names of the trusted modules beside test code."""
    return sorted({path.partition("/")[0].removesuffix(".py") for path in contract.files if path.endswith(".py")})


async def score_asserts_apart(bench: Bench, contract: CommandContract, names: AssertNames) -> Attempt:
    """One piece of test code, one candidate, two sandboxes. Raises PlatformError and SandboxError for what is nobody's
    doing."""
    asserts = contract.asserts or ""
    candidate = bench.scenario.candidate
    fields = {**names.fields(), "aliases": contract.calls, "modules": modules_beside(contract)}
    lent = await aside(len(asserts), _lent, asserts, names)
    suite = _SUITE.format(code=_CODE, entry=module_name(candidate.entry), names=repr(json.loads(json.dumps(fields))))
    modules = {path: text for path, text in contract.files.items() if path.endswith(".py")}
    made = contract.model_copy(
        update={
            "asserts": None,
            "calls": {},
            "scorer_timeout_seconds": min(contract.scorer_timeout_seconds, bench.timeout_seconds + _START_SECONDS),
            "unittest": (f"{_TEST}.py",),
            "files": {**modules, f"{_CODE}.py": asserts, f"{_TEST}.py": suite},
        }
    )
    # what the tests import is the candidate's to use where it has nothing by that name, and so are trusted files
    entry = candidate.files.get(candidate.entry, "") + lent
    data = {path: text for path, text in contract.files.items() if path not in modules}
    given = Candidate(files={**candidate.files, candidate.entry: entry}, entry=candidate.entry)
    attempt = await score_apart(bench.with_files(given, {**bench.scenario.files, **data}), made, modules)
    detail = attempt.verdict.detail.removeprefix(f"{_TEST}.TestAsserts.test_asserts: ")
    if detail.startswith(ModuleNotFoundError.__name__):
        detail = f"{detail}: the candidate is to bring it; {LIST_IT}"
    return replace(attempt, verdict=replace(attempt.verdict, detail=detail, trust=Trust.SEPARATE))


def _lent(asserts: str, names: AssertNames) -> str:
    """Lines that import what the tests import, where a candidate has nothing by that name. They use no name that a
    candidate may have given to something else (an interpreter has its `globals`)."""
    mine = "__import__('builtins').globals()"
    missing = "__import__('builtins').ImportError"
    return "".join(f"\nif {name!r} not in {mine}:\n    try:\n        {line}\n    except {missing}:\n        pass\n"
                   for name, line in _imports(asserts) if name in names.lent)  # fmt: skip


def _imports(asserts: str) -> Iterator[tuple[str, str]]:
    try:
        tree = syntax_tree(asserts)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module == "__future__":
            continue  # it is no import, but tells how the tests' own text is to be read
        if isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                line = ast.unparse(ast.Import([alias]) if isinstance(node, ast.Import)
                                   else ast.ImportFrom(node.module, [alias], node.level))  # fmt: skip
                yield alias.asname or alias.name.partition(".")[0], line
