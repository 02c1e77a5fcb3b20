"""Suites that need more than the candidate's time where they share its process, whoever the candidate is.

A test costs some tens of milliseconds there, in which trusted code looks at what is compared, so that some hundred
small tests are over the time of a candidate that does next to nothing. Whether a suite is one of these is asked of two
candidates that do nothing, once for each contract and when the first candidate is overdue; so an endless loop has no
more time in any other suite.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection

from harena.core.models import ExecOutcome, ExecResult
from harena.scoring.contracts.contract import CommandContract
from harena.scoring.scorers.program import Bench
from harena.scoring.scorers.suite_without_candidate import Remembered, suite_key
from harena.scoring.scorers.trusted_suite import idle_bench

_LARGE_SHARE = 0.2
"""part of the candidate's time that such a suite takes with one that does nothing, at the least"""
_START_SECONDS = 1.5
"""processor time in which Python and pytest start, with room for a crowded host: it is no suite's own (0.3 to 0.6 s)"""
_long = Remembered()


async def takes_long(
    bench: Bench, contract: CommandContract, paths: Collection[str], run: Callable[[Bench], Awaitable[ExecResult]]
) -> bool:
    """The suite takes a large part of the candidate's time by itself. `paths`: files of the candidate's that take part;
    `run` runs it in one process with a candidate."""

    async def asked() -> bool:
        for raises in (False, True):  # tests may go on as long as a function answers None, or raises
            idle = idle_bench(bench, paths, raises=raises)
            idle.spec = bench.spec
            idle.timeout_seconds = bench.timeout_seconds + contract.scorer_timeout_seconds
            result = await run(idle)
            if result.outcome is not ExecOutcome.TIMEOUT:
                return result.usage.cpu_seconds > _START_SECONDS + _LARGE_SHARE * bench.timeout_seconds
        return False

    return await _long.get(bench, await suite_key(bench, contract, "long"), asked)
