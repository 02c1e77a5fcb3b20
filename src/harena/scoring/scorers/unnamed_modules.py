"""Modules that tests import, that nobody has, and that no text asks the candidate for: the contract's fault.

A missing module is the candidate's to bring where something names it: the problem's text, the entry, the gold solution,
a file of the tests or the problem (`test_bank.py`). A suite that imports the candidate's own module beside another one,
of which no candidate can know, gives everybody the lowest score.
"""

from __future__ import annotations

import ast
import builtins
import json
import re
import sys
from collections.abc import Iterable
from pathlib import PurePosixPath

from harena.scoring.contracts.contract import CommandContract
from harena.scoring.python_source import syntax_tree
from harena.scoring.scorers.program import Bench
from harena.scoring.scorers.trusted_names import ALWAYS_TAKEN, imported_for_certain, taken_names
from harena.scoring.scorers.trusted_suite import LIST_IT, taking_part
from harena.scoring.slices import aside, size_of
from harena.scoring.verdict import one_line

_MOST_TOLD = 5


async def unnamed_modules(bench: Bench, contract: CommandContract) -> str:
    """What is wrong with tests that import such modules; empty if these are none, or if another missing one is the
    candidate's to bring. Every run of them ends there, as the caller knows."""
    scenario = bench.scenario
    trusted = {**scenario.files, **contract.files}
    size = size_of(trusted) + len(contract.asserts or "") + len(scenario.statement)
    imported = await aside(size, imported_for_certain, contract, trusted)
    taken = await taken_names(bench, contract, trusted)
    # what the tests import by these names is none of the candidate's, whatever its files are called
    known = _stems(trusted) | taken | ALWAYS_TAKEN | sys.stdlib_module_names
    theirs = _stems([*await taking_part(bench, contract), scenario.candidate.entry]) - known
    missing = imported - theirs - known
    if not missing:
        return ""
    if imported.isdisjoint(theirs) and not await aside(size, _uses_names, contract.asserts or ""):
        return ""
    texts = [scenario.statement, json.dumps([dict(each) for each in scenario.messages], default=str)]
    texts += [scenario.candidate.entry, *contract.gold, *trusted]
    if await aside(size, _is_any_named, missing, texts):
        return ""
    names = ", ".join(sorted(missing)[:_MOST_TOLD])
    detail = f"the tests import {names}, which nobody has, and no text asks the candidate for it"
    return one_line(f"{detail}; {LIST_IT}", 600)


def _stems(paths: Iterable[str]) -> set[str]:
    """Names by which modules of these paths, and packages above them, may be imported from any folder."""
    return {part.partition(".")[0] for path in paths for part in PurePosixPath(path).parts}


def _is_any_named(names: Iterable[str], texts: Iterable[str]) -> bool:
    """One of these texts has one of these names, however its words are put together (`bank_account`, BankAccount)."""
    said = "\n".join(texts)
    for name in names:
        words = r"[\W_]*".join(re.escape(word) for word in name.split("_") if word)
        if re.search(rf"(?<![^\W_]){words}(?![^\W_])", said, re.IGNORECASE):
            return True
    return False


def _uses_names(asserts: str) -> bool:
    """This code uses names that it does not bind itself: those of the candidate's entry."""
    try:
        nodes = list(ast.walk(syntax_tree(asserts)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    used: set[str] = set()
    bound: set[str] = set(vars(builtins))
    for node in nodes:
        if isinstance(node, ast.Name):
            (used if isinstance(node.ctx, ast.Load) else bound).add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            bound.add(node.name)
        elif isinstance(node, ast.alias):
            bound.add(node.asname or node.name.partition(".")[0])
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            bound.add(node.name)
    return not used <= bound
