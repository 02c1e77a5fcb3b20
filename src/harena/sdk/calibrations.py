"""Calibrations: whether scenarios are fit for training. Each is a benchmark job of the same id, and its report.

The verbs block; `calibrations.aio` has the same ones to await. `harena.calibrate` does it all in one call.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from harena.core.checked import checked_text, quote
from harena.core.errors import ValidationError
from harena.core.records.blueprints import Blueprint
from harena.core.records.catalog import CalibrationJob
from harena.sdk.options import checked_blueprint
from harena.sdk.portal import current_portal
from harena.sdk.scenario_input import ScenarioInput, plain_sources
from harena.sdk.twins import Twin

if TYPE_CHECKING:
    from harena.core.requests import CalibrationFields
    from harena.sdk.config_types import BenchmarkConfig

__all__ = ["CalibrationJob", "aio", "create", "get", "wait"]


async def _create(
    scenarios: ScenarioInput,
    *,
    candidates: ScenarioInput | None = None,
    format: str | None = None,  # noqa: A002 - the option's name, as on the command line
    grader: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    name: str = "calibration",
    gold_runs: int = 5,
    blueprint_id: str | Blueprint | None = None,
    config: BenchmarkConfig | None = None,
) -> CalibrationJob:
    """Check everything, then start running right answers `gold_runs` times, empty ones and the exploit battery.

    The sources are those of a benchmark job; `candidates` are right answers, where the scenarios hold none. `config` is
    a job's, with concurrency 8 and timeout_seconds 10 where nothing is said. Raises ValidationError that lists every
    mistake.
    """
    if config is not None and not isinstance(config, Mapping):
        raise ValidationError(f"config must be a mapping, as {{'concurrency': 8}} (got {quote(config)})")
    request = {
        **plain_sources(scenarios, candidates=candidates, form=format, grader=grader),
        "name": checked_text(name, "name"),
        "gold_runs": gold_runs,
        "config": dict(config or {}),
    }
    if (blueprint := checked_blueprint(blueprint_id)) is not None:
        request["blueprint_id"] = blueprint
    operations = await current_portal().operations()
    return await operations.create_calibration(cast("CalibrationFields", request))


async def _get(calibration_id: str | CalibrationJob) -> CalibrationJob:
    """How far it is. Raises NotFoundError."""
    operations = await current_portal().operations()
    return await operations.get_calibration(_id(calibration_id))


async def _wait(calibration_id: str | CalibrationJob) -> CalibrationJob:
    """The calibration, when it has ended. Raises NotFoundError."""
    operations = await current_portal().operations()
    return await operations.wait_calibration(_id(calibration_id))


def _id(calibration: str | CalibrationJob) -> str:
    if isinstance(calibration, CalibrationJob):
        return calibration.id
    return checked_text(calibration, "the calibration's id")


create = Twin(_create)
get = Twin(_get)
wait = Twin(_wait)


class _Awaitable:
    """Asynchronous versions of this module's functions."""

    create = create.aio
    get = get.aio
    wait = wait.aio


aio = _Awaitable()
