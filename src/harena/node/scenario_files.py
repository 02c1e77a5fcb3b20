"""Scenario files, for the package's face: checked without opening a node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harena.scoring.scenario import ScenarioBatch


def load_scenarios(source: str | Path | Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> ScenarioBatch:
    """The scenarios of a file, or of objects made in Python; `.scenarios` of the answer holds them.

    Raises ScenarioFileError, a ValidationError whose `mistakes` name file, line and field. Nothing is run.
    """
    from harena.scoring.load import load_scenarios as load

    return load(source)


def scenario_schema() -> dict[str, Any]:
    """The JSON Schema of scenario files."""
    from harena.scoring.schema import json_schema

    return json_schema()
