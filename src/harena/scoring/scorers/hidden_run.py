"""What is found out of one candidate by a run of the tests without what they expect; see `changed_expectations`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from harena.scoring.contracts.contract import CommandContract
from harena.scoring.scorers.program import Bench

RunOnce = Callable[[Bench, CommandContract], Awaitable[bool]]
"""runs the tests of a contract once over the bench's candidate, in one process; whether it has taken anything of the
tests, or has ended them before they could say so"""
REPEATS = "it passes the tests, and does not know their answers where the expected values are hidden: it repeats them"


@dataclass(slots=True)
class HiddenRun:
    """Whether one candidate knows what tests expect, found out when it is asked for the first time."""

    run: RunOnce
    found: list[bool | None] = field(default_factory=list)
    repeats: list[bool] = field(default_factory=list)
    """whether it answers with what the tests compute, where they compute something else"""
