"""Problems of one data set that are one another's again: found in time that grows with their number, not its square.

Two problems are alike whose checks are the same ones, whatever the function is called. Two whose statements share most
of their words may be: whether they are is told by a run, of the one's right answer against the other's tests.
"""

from __future__ import annotations

import re
import zlib
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from harena.scoring.audit.visible import statement_of
from harena.scoring.battery.forgery import CALLED, Target
from harena.scoring.contracts.contract import Contract, StdioContract, TestsContract
from harena.scoring.digests import digest_of
from harena.scoring.scenario import Candidate, Scenario

SKETCH = 12
"""smallest hashes of a statement by which it is looked for"""
MOST_IN_BUCKET = 50
"""statements that share a hash; more of them share a phrase, and say nothing"""
LEAST_SHARED = 0.6
"""share of the phrases of both that two statements have in common, to be compared by a run"""
LEAST_CHECKS = 2
"""checks that two problems must have in common, for the checks alone to tell that they are one"""
_WORD = re.compile(r"\w+")
_PHRASE = 2
"""words"""


def like_problems(scenarios: Sequence[Scenario]) -> dict[int, list[int]]:
    """Index of a problem -> indices of earlier ones that it may be again, at most three."""
    found: defaultdict[int, list[int]] = defaultdict(list)
    same: dict[str, int] = {}
    buckets: defaultdict[int, list[int]] = defaultdict(list)
    phrases = [_phrases(statement_of(scenario)) for scenario in scenarios]
    for index, scenario in enumerate(scenarios):
        candidates: dict[int, None] = {}
        checks = _checks(scenario.scoring)
        if checks is not None:
            earlier = same.setdefault(checks, index)
            if earlier != index:
                candidates[earlier] = None
        sketch = sorted(phrases[index])[:SKETCH]
        near = {other for mark in sketch for other in buckets[mark] if len(buckets[mark]) <= MOST_IN_BUCKET}
        for other in sorted(near):
            shared = len(phrases[index] & phrases[other])
            if shared >= LEAST_SHARED * len(phrases[index] | phrases[other]):
                candidates[other] = None
        for mark in sketch:
            buckets[mark].append(index)
        if candidates:
            found[index] = list(candidates)[:3]
    return dict(found)


def _phrases(statement: str) -> set[int]:
    words = _WORD.findall(statement.lower())
    return {zlib.crc32(" ".join(words[at : at + _PHRASE]).encode("utf-8", "replace")) for at in range(len(words) - 1)}


def _checks(contract: Contract) -> str | None:
    """A digest of what is asked and what must be answered, without names."""
    told: list[Any]
    if isinstance(contract, TestsContract):
        told = [[check.args, check.kwargs, check.expected, check.raises] for check in contract.checks]
    elif isinstance(contract, StdioContract):
        told = [[case.stdin.split(), case.stdout.split()] for case in contract.cases]
    else:
        return None
    return digest_of(sorted(map(digest_of, told))) if len(told) >= LEAST_CHECKS else None


def renamed(earlier: Scenario, scenario: Scenario) -> Candidate | None:
    """The right answer to the earlier problem as a candidate of the other one; None where it cannot be one."""
    had, wanted = Target.of(earlier), Target.of(scenario)
    if had.contract != wanted.contract or len(had.functions) != len(wanted.functions):
        return None
    source = earlier.candidate.source
    if wanted.contract in CALLED and had.functions != wanted.functions:
        if len(had.functions) != 1 or "." in had.functions[0] + wanted.functions[0]:
            return None
        source += f"\n\n{wanted.functions[0]} = {had.functions[0]}\n"
    entry = scenario.candidate.entry
    return Candidate(files={**earlier.candidate.files, entry: source}, entry=entry)
