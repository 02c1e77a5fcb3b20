"""Scenarios, scoring contracts, and the scorers that apply them.

Names are loaded when they are first used: a module of this room can be had without the models of all contracts.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harena.scoring.load import load_scenarios
    from harena.scoring.reading import Mistake, ScenarioFileError
    from harena.scoring.scenario import Candidate, Expected, Scenario, ScenarioBatch, ScenarioLimits
    from harena.scoring.schema import json_schema
    from harena.scoring.score import infra_result, require, score_scenario
    from harena.scoring.verdict import StarvedError

__all__ = [
    "Candidate",
    "Expected",
    "Mistake",
    "Scenario",
    "ScenarioBatch",
    "ScenarioFileError",
    "ScenarioLimits",
    "StarvedError",
    "infra_result",
    "json_schema",
    "load_scenarios",
    "require",
    "score_scenario",
]

_HOMES = {
    "harena.scoring.load": ("load_scenarios",),
    "harena.scoring.reading": ("Mistake", "ScenarioFileError"),
    "harena.scoring.scenario": ("Candidate", "Expected", "Scenario", "ScenarioBatch", "ScenarioLimits"),
    "harena.scoring.schema": ("json_schema",),
    "harena.scoring.score": ("infra_result", "require", "score_scenario"),
    "harena.scoring.verdict": ("StarvedError",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'harena.scoring' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOME_OF[name]), name)
    return value
