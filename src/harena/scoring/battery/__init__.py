"""The exploit battery: known ways to a score without an answer, to be tried against any scenario.

    for forgery in applicable(scenario):
        candidate = rendered(forgery, Target.of(scenario))

A scenario on which one of them scores above what an empty answer scores pays for cheating; `harena scenario calibrate`
tries them all.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from harena.scoring.battery.comparisons import COMPARISONS
from harena.scoring.battery.digging import DIGGING
from harena.scoring.battery.exits import EXITS
from harena.scoring.battery.files import FILES
from harena.scoring.battery.forgery import MARK, Forgery, Target, contract_type, defined_functions, rendered
from harena.scoring.battery.imports import IMPORTS
from harena.scoring.battery.mutants import Mutant, mutants
from harena.scoring.battery.outputs import OUTPUTS
from harena.scoring.battery.patches import PATCHES
from harena.scoring.battery.processes import PROCESSES
from harena.scoring.battery.resources import RESOURCES
from harena.scoring.battery.stubs import stubs
from harena.scoring.battery.texts import TEXT_FORGERIES
from harena.scoring.battery.values import VALUES
from harena.scoring.scenario import Scenario

__all__ = [
    "BATTERY",
    "MARK",
    "Forgery",
    "Mutant",
    "Target",
    "applicable",
    "battery_version",
    "contract_type",
    "defined_functions",
    "mutants",
    "rendered",
    "stubs",
]

BATTERY: tuple[Forgery, ...] = (
    *EXITS, *COMPARISONS, *PATCHES, *IMPORTS, *DIGGING, *OUTPUTS, *PROCESSES, *FILES, *RESOURCES, *VALUES,
    *TEXT_FORGERIES,
)  # fmt: skip
"""every forgery; their names differ"""
TRIED = "stubs-2 mutants-2 audits-2"
"""changes when other stubs or mutants are made of a scenario"""


def applicable(scenario: Scenario) -> Iterator[Forgery]:
    """The forgeries that are worth a try against this scenario's contract."""
    kind = contract_type(scenario.scoring)
    return (forgery for forgery in BATTERY if kind in forgery.contracts)


def battery_version() -> str:
    """A digest of every forgery, and what else is tried: a calibration holds for the battery that was tried."""
    parts = (
        f"{entry.name}\0{entry.top}\0{entry.body}\0{entry.text}\0{sorted(entry.files.items())}\0{sorted(entry.contracts)}"
        for entry in BATTERY
    )
    return hashlib.sha256("\0\0".join((TRIED, *parts)).encode("utf-8", "surrogatepass")).hexdigest()[:16]
