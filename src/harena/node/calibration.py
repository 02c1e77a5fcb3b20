"""Calibrations, for the package's face: planned and judged without opening a node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harena.scoring.calibration import Calibration


def planned_calibration(
    source: str | Path | Mapping[str, Any] | Sequence[Mapping[str, Any]], *, gold_runs: int
) -> Calibration:
    """What is to be run for these scenarios. Raises ValidationError (a scenario file's own among them)."""
    from harena.scoring.calibration import Calibration
    from harena.scoring.load import load_scenarios

    return Calibration(load_scenarios(source), gold_runs=gold_runs)
