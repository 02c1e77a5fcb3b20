"""Test code over a candidate's functions: the `command` contract with `asserts`.

With `calls` the candidate is in a process of its own, in which not everything can be served: objects of its own, state
of two functions, an argument that changes while the answer is used. What the contract's gold solution shows of that is
believed, never what a candidate does: where the gold is not paid like that, the candidate shares the tests' process.
Where it is not paid there either, the tests are wrong, and no candidate has a score.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Literal

from harena.scoring.contracts.contract import CommandContract
from harena.scoring.scorers.assert_names import AssertNames, assert_names
from harena.scoring.scorers.program import Bench
from harena.scoring.scorers.suite import told_by_gold
from harena.scoring.slices import aside
from harena.scoring.verdict import Verdict, broken_contract, one_line

Run = Callable[[Bench, CommandContract], Awaitable[Verdict]]
_Way = Literal["as it is", "beside"]


async def score_asserts(bench: Bench, contract: CommandContract, run: Run) -> Verdict:
    """One piece of test code over one candidate; `run` runs it once. Raises PlatformError and SandboxError for what is
    nobody's doing."""
    if not contract.calls and (unclear := (await shared_names(contract, bench.scenario.candidate.entry)).unclear):
        return broken_contract(unclear)
    verdict = await run(bench, contract)
    if verdict.passed or verdict.score is None or not contract.gold:
        return verdict
    found = await told_by_gold(bench, contract, lambda gold: _way(gold, contract, run))
    if found == "as it is":
        return verdict
    if found != "beside":
        return broken_contract(one_line(f"the gold solution is not paid: {found}", 600))
    return await run(bench.again(), _beside(contract))


async def shared_names(contract: CommandContract, entry: str) -> AssertNames:
    """The owners of the names that tests use in the candidate's process."""
    asserts = contract.asserts or ""
    gold = contract.gold.get(entry, next(iter(contract.gold.values()), None))
    return await aside(len(asserts) + len(gold or ""), assert_names, asserts, gold)


async def _way(gold: Bench, contract: CommandContract, run: Run) -> _Way | str:
    """How the gold solution is paid, else why it is not."""
    verdict = await run(gold, contract)
    if verdict.passed:
        return "as it is"
    if contract.calls and (await run(gold.again(), _beside(contract))).passed:
        return "beside"
    return verdict.detail or str(verdict.reason)


def _beside(contract: CommandContract) -> CommandContract:
    return contract.model_copy(update={"isolate": False})
