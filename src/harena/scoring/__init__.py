"""Scenarios, scoring contracts, and the scorers that apply them."""

from __future__ import annotations

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
