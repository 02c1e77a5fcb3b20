"""Calibrating scenarios before they are trained on: start, follow, wait, and keep the report."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harena.core.errors import PlatformError
from harena.core.records.calibrations import CalibrationReport

if TYPE_CHECKING:
    from harena.core.records.catalog import CalibrationJob
    from harena.sdk.scenario_input import ScenarioInput

SUFFIX = ".calibration.json"
"""added to a scenario file's name: where its calibration is stored"""

Follow = Callable[[Iterable[Any]], object]
"""is given the events of the job, and returns when they end"""


def calibrate(
    source: str | os.PathLike[str] | Mapping[str, Any] | Sequence[Mapping[str, Any]],
    *,
    candidates: ScenarioInput | None = None,
    format: str | None = None,  # noqa: A002 - the option's name, as on the command line
    grader: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    gold_runs: int = 5,
    blueprint_id: str | None = None,
    concurrency: int = 8,
    timeout_seconds: float = 10.0,
    store: bool = True,
    follow: Follow | None = None,
) -> CalibrationReport:
    """Run right answers `gold_runs` times, empty ones and the exploit battery; whether the scenarios are fit.

    `source` is a scenario file, a data set, the content of one, or stored scenarios, {"ref": "NAME@2"}; `candidates`
    are right answers to its problems, where it holds none, `format` and `grader` those of a benchmark job;
    `timeout_seconds` is the wall time of each run (a scenario's own may be shorter). The report has the `job_id` whose
    runs are in the store. With `store` it is also written beside a file, as FILE.calibration.json; that of stored
    scenarios is kept with their version. Blocks; `follow` gets the job's events meanwhile.

    Raises ValidationError for the scenarios or the numbers, PlatformError if the job could not run to its end, and
    OSError if the calibration cannot be written.
    """
    from harena.sdk import calibrations

    begun = calibrations.create(
        source,
        candidates=candidates,
        format=format,
        grader=grader,
        gold_runs=gold_runs,
        blueprint_id=blueprint_id,
        config={"concurrency": concurrency, "timeout_seconds": timeout_seconds},
    )
    report = ended_report(begun, follow, step="calibrate")
    if store and isinstance(source, str | os.PathLike):
        Path(os.fspath(source) + SUFFIX).write_text(json.dumps(report.to_dict(), indent=2) + "\n", encoding="utf-8")
    return report


def ended_report(
    begun: CalibrationJob, follow: Follow | None, *, step: str, keeps_job: bool = False
) -> CalibrationReport:
    """The report of a calibration at its end. `keeps_job`: its job goes on where nobody waits for it any more. Raises
    PlatformError, in this `step`, where there is none."""
    from harena.sdk import benchmark_jobs, calibrations

    try:
        if follow is not None and not begun.ended:
            follow(benchmark_jobs.events(begun.id))
        ended = calibrations.wait(begun)
    except KeyboardInterrupt:
        if not keeps_job:
            benchmark_jobs.cancel(begun.id)
        raise
    if ended.report is None:
        why = benchmark_jobs.get(begun.id)["error"] if ended.state is not None else "its job was deleted"
        raise PlatformError(
            f"the calibration's job {begun.id} is {ended.state or 'gone'}: {why or 'it was ended'}; nothing goes on "
            "with it: start another one",
            step=step,
        )
    return replace(ended.report, job_id=begun.id)
