"""What a contract's gold solution shows: asked once for each contract, whoever the candidate is."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from harena.scoring.contracts.contract import CommandContract
from harena.scoring.scenario import Candidate
from harena.scoring.scorers.program import Bench
from harena.scoring.scorers.suite_without_candidate import Remembered, suite_key
from harena.scoring.verdict import Verdict

known_of_gold = Remembered()
"""answers by `suite_key`"""


def gold_bench(bench: Bench, contract: CommandContract) -> Bench:
    """The bench with the contract's gold solution for its candidate."""
    entry = bench.scenario.candidate.entry
    files = dict(contract.gold)
    gold = Candidate(files=files, entry=entry if entry in files else next(iter(files)))
    return bench.with_candidate(gold, files=bench.scenario.files)


async def told_by_gold(
    bench: Bench,
    contract: CommandContract,
    ask: Callable[[Bench], Awaitable[str]],
    what: str = "told",
    *,
    best: str | None = None,
) -> str:
    """What `ask` finds out with the gold solution as the candidate, once for each contract and each `what`; `best`: see
    `Remembered.get`."""
    key = await suite_key(bench, contract, what)
    return await known_of_gold.get(bench, key, lambda: ask(gold_bench(bench, contract)), best=best)


async def known_by_gold(bench: Bench, contract: CommandContract) -> str | None:
    """What `told_by_gold` has found out before; None where it was not asked."""
    found: str | None = known_of_gold.known(await suite_key(bench, contract, "told"))
    return found


async def not_by_chance(judge: Callable[[], Awaitable[tuple[Verdict, str]]]) -> tuple[Verdict, str]:
    """(the gold solution's verdict in one isolation, why it cannot be served there). A failure that is not explained by
    what cannot be served may be that of a host which was busy for a moment: it counts if it comes twice."""
    verdict, unserved = await judge()
    if verdict.passed or verdict.score is None or unserved:
        return verdict, unserved
    return await judge()
