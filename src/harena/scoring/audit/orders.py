"""Tests in another order: a right answer passes in any, unless one test needs what another has left behind."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from harena.scoring.battery.forgery import parsed_tree
from harena.scoring.contracts.contract import (
    CommandContract,
    Contract,
    ReferenceContract,
    StdioContract,
    TestsContract,
)
from harena.scoring.python_source import written
from harena.scoring.scenario import Scenario

_STATED_ORDER = re.compile(r"\b(?:order|run|dependency|incremental|depends)\b[ \t]*\(|pytest_ordering|sortTestMethods")
"""a suite that says itself in which order its tests are to run"""
_TEST = "test"
AnyContractT = TypeVar("AnyContractT", bound=Contract)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reordered:
    """The contract in another order, and the problem's files that go with it."""

    scoring: Contract
    files: Mapping[str, str] = field(default_factory=dict)
    """files of the problem that change with it, by path"""


def in_another_order(scenario: Scenario) -> Reordered | None:
    """The scenario's contract with its tests in the opposite order; None where there is no other order, or where that
    cannot be told."""
    contract = scenario.scoring
    if isinstance(contract, TestsContract) and len(contract.checks) > 1:
        return Reordered(scoring=_changed(contract, checks=contract.checks[::-1]))
    if isinstance(contract, ReferenceContract) and len(contract.inputs) > 1:
        return Reordered(scoring=_changed(contract, inputs=contract.inputs[::-1]))
    if isinstance(contract, StdioContract) and len(contract.cases) > 1:
        return Reordered(scoring=_changed(contract, cases=contract.cases[::-1]))
    if isinstance(contract, CommandContract) and contract.suite:
        return _suite(contract, scenario.files)
    return None


def _changed(contract: AnyContractT, **fields: object) -> AnyContractT:
    """A copy; what was computed of the original is left behind."""
    computed = [name for name in vars(contract) if name not in type(contract).model_fields]
    made = contract.model_copy(update=fields)
    for name in computed:
        vars(made).pop(name, None)
    return made


def _suite(contract: CommandContract, beside: Mapping[str, str]) -> Reordered | None:
    if any("::" in argument for argument in contract.suite):
        return None
    own, others = dict(contract.files), {}
    for path in set(contract.test_files.values()):
        source = own.get(path, beside.get(path))
        turned = None if source is None else _turned(source, is_unittest=contract.unittest is not None)
        if turned is None:
            continue
        if path in own:
            own[path] = turned
        else:
            others[path] = turned
    if own == dict(contract.files) and not others:
        return None
    return Reordered(scoring=_changed(contract, files=own), files=others)


def _turned(source: str, *, is_unittest: bool) -> str | None:
    """A test file with its tests in the opposite order."""
    tree = None if _STATED_ORDER.search(source) else parsed_tree(source)
    if tree is None:
        return None
    if is_unittest:
        changed = [_renamed(part) for part in tree.body if isinstance(part, ast.ClassDef)]
    else:
        changed = [_moved(tree), *(_moved(part) for part in tree.body if isinstance(part, ast.ClassDef))]
    return written(ast.fix_missing_locations(tree)) if any(changed) else None


def _is_test(part: ast.stmt) -> bool:
    return isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef) and part.name.startswith(_TEST)


def _moved(block: ast.Module | ast.ClassDef) -> bool:
    """Move the tests to the end of a block, the last one first; all that they are defined with stands before them
    there. False where something else in the block names one of them."""
    tests = [part for part in block.body if _is_test(part)]
    others = [part for part in block.body if not _is_test(part)]
    names = {getattr(test, "name", "") for test in tests}
    used = {node.id for part in others for node in ast.walk(part) if isinstance(node, ast.Name)}
    if len(tests) < 2 or len(names) < len(tests) or names & used:
        return False
    block.body = [*others, *reversed(tests)]
    return True


def _renamed(block: ast.ClassDef) -> bool:
    """Give the tests of a class, which run in the order of their names, one another's names."""
    tests = [part for part in block.body if isinstance(part, ast.FunctionDef) and _is_test(part)]
    names = sorted(test.name for test in tests)
    called = {node.attr for node in ast.walk(block) if isinstance(node, ast.Attribute)}
    bases = {base.attr if isinstance(base, ast.Attribute) else getattr(base, "id", "") for base in block.bases}
    if len(tests) < 2 or len(set(names)) < len(names) or called & set(names) or bases - {"TestCase", ""}:
        return False
    of_name = dict(zip(names, reversed(names), strict=True))
    for test in tests:
        test.name = of_name[test.name]
    return True
