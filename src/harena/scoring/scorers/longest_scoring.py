"""How long the scoring of one candidate may take at most: what it runs, and what judges that.

A run that is given less time than its own limits sum up to could end without a score, by a candidate that makes its
judging slow.
"""

from __future__ import annotations

from harena.scoring.contracts.contract import (
    CommandContract,
    Contract,
    HarborContract,
    NumericContract,
    PythonContract,
    ReferenceContract,
    StdioContract,
    WeightedContract,
)
from harena.scoring.contracts.judge import JudgeContract
from harena.scoring.contracts.text import TextContract
from harena.scoring.scorers.time_limits import wall_limit

_WITH_AND_WITHOUT = 2
"""what fails with a candidate is tried once more with one that does nothing"""
_OF_GOLD = 2
"""number of tries of a gold solution in one isolation: a failure counts if it comes again"""
_ISOLATIONS = 3 * _OF_GOLD
"""number of runs of a suite with its gold, in each of its isolations"""
_OF_LONG = 3
"""number of runs of a suite that may take long by itself: with two that do nothing, and with the candidate again"""
_CONFIRMATIONS = 2
"""number of confirmations of a pass: with the candidate and with its gold"""
_CONTROLS = 12
"""number of runs with other literals, for who passes (`literal_control.MOST_RUNS`)"""


def limits_of(contract: Contract) -> int:
    """How many time limits its candidate has, one after the other: each part of a `weighted` contract has its own, and
    the cases of `stdio` may all be run once more. Asserts may be run in each of their ways, with a gold also with that,
    and a pass is confirmed; suites, and asserts without `calls`, are run with other literals then; the gold of a
    `python` or `harbor` contract may be run once."""
    if isinstance(contract, WeightedContract):
        return sum(limits_of(part.scoring) for part in contract.parts.values())
    if isinstance(contract, CommandContract) and contract.asserts is not None:
        ways = 1 if contract.isolate is False else 3 if contract.calls else 2
        with_gold = (1 + _OF_GOLD) * ways + _CONFIRMATIONS
        controls = 0 if contract.calls else _CONTROLS
        without = ways if contract.isolate is False or contract.calls else ways + 1
        return controls + (with_gold if contract.gold else without)
    if isinstance(contract, CommandContract) and contract.suite:
        return 1 + _CONTROLS
    if isinstance(contract, PythonContract) and contract.gold and contract.run_candidate:
        return 2
    if isinstance(contract, HarborContract) and contract.gold:
        return 2
    return 2 if isinstance(contract, StdioContract) else 1


def longest_trusted(contract: Contract) -> float:
    """Seconds of what is not the candidate's, each by its own limit. A scorer is loaded for its own contracts alone."""
    if isinstance(contract, WeightedContract):
        return sum(longest_trusted(part.scoring) for part in contract.parts.values())
    if isinstance(contract, JudgeContract):
        from harena.scoring.scorers.judgement import longest_judging

        return longest_judging(contract)
    if isinstance(contract, PythonContract):
        from harena.scoring.scorers.scorer_blame import MOST_ANSWERS

        return (_WITH_AND_WITHOUT + MOST_ANSWERS) * wall_limit(contract.scorer_timeout_seconds)
    if isinstance(contract, NumericContract | TextContract):
        from harena.scoring.scorers.python import PATTERN_SECONDS

        return _WITH_AND_WITHOUT * wall_limit(PATTERN_SECONDS)
    if isinstance(contract, CommandContract) and contract.asserts is not None and contract.isolate is not False:
        runs = (1 + _OF_GOLD) * _WITH_AND_WITHOUT + _CONFIRMATIONS + (0 if contract.calls else _CONTROLS)
        return 0.0 if contract.calls and not contract.gold else runs * wall_limit(contract.scorer_timeout_seconds)
    if isinstance(contract, CommandContract) and contract.suite:
        runs = _ISOLATIONS + _WITH_AND_WITHOUT + _CONFIRMATIONS + _CONTROLS + _OF_LONG
        return runs * wall_limit(contract.scorer_timeout_seconds)
    if isinstance(contract, HarborContract):
        from harena.scoring.scorers.harbor import CLEANING_SECONDS

        return (_WITH_AND_WITHOUT + bool(contract.gold)) * (
            wall_limit(contract.verifier_timeout_seconds) + CLEANING_SECONDS
        )
    if isinstance(contract, ReferenceContract):
        from harena.scoring.scorers.reference import SOLUTION_SECONDS

        return wall_limit(SOLUTION_SECONDS)
    return 0.0
