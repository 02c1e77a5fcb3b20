"""Calibrating scenarios before they are trained on: an ordinary benchmark job, and what its runs say."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from harena.core.errors import PlatformError

SUFFIX = ".calibration.json"
"""added to a scenario file's name: where its calibration is stored"""

Follow = Callable[[Iterable[Any]], object]
"""is given the events of the job, and returns when they end"""


def calibrate(
    source: str | os.PathLike[str] | Mapping[str, Any] | Sequence[Mapping[str, Any]],
    *,
    gold_runs: int = 5,
    blueprint_id: str | None = None,
    concurrency: int = 8,
    timeout_seconds: float = 10.0,
    store: bool = True,
    follow: Follow | None = None,
) -> dict[str, Any]:
    """Run right answers `gold_runs` times, empty ones and the exploit battery; whether the scenarios are fit.

    `source` is a scenario file or its content; `timeout_seconds` the wall time of each run (a scenario's own may be
    shorter). The answer is what `harena.scoring.calibration.Calibration.report` says, with the `job_id` whose runs are
    in the store; with `store`, it is also written beside a file, as FILE.calibration.json. Blocks; `follow` gets the
    job's events meanwhile.

    Raises ValidationError for the scenarios or the numbers, PlatformError if the job could not run to its end, and
    OSError if the calibration cannot be written.
    """
    from harena.node.calibration import planned_calibration
    from harena.sdk import benchmark_jobs

    given = os.fspath(source) if isinstance(source, str | os.PathLike) else source
    calibration = planned_calibration(given, gold_runs=gold_runs)
    job = benchmark_jobs.create(
        name="calibration",
        scenarios=calibration.rows,
        blueprint_id=blueprint_id,
        config={"concurrency": concurrency, "timeout_seconds": timeout_seconds},
    )
    try:
        if follow is not None:
            follow(benchmark_jobs.events(job.id))
        results = benchmark_jobs.wait(job.id).to_dict()
    except KeyboardInterrupt:
        benchmark_jobs.cancel(job.id)
        raise
    if results["state"] != "completed":
        raise PlatformError(
            f"the calibration's job {job.id} is {results['state']}: {results.get('error') or 'it was ended'}",
            step="calibrate",
        )
    report = {**calibration.report(results["runs"]), "job_id": job.id}
    if store and isinstance(given, str):
        Path(given + SUFFIX).write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    return report
