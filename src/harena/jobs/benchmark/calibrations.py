"""Calibrations of a node: an ordinary benchmark job, the report that its runs make, and where that is kept.

    request      {scenarios, candidates = None, format = None, grader = None, name = "calibration", gold_runs = 5,
                  blueprint_id = "default", config = {concurrency = 8, timeout_seconds = 10, retry_attempts = 3}}: as of
                  a benchmark job
    calibration  {id, job_id (the same), scenarios: "NAME@2" or None, gold_runs, created_at, state (the job's; None = it
                  was deleted), ended, fit, report}; `fit` and `report` are None until it has ended, and where its job
                  did not complete; the report, and what fitness means, are those of `harena.scoring.calibration`

The report is made when it is first asked for after the job's end, by any process that has the store; it is kept with
the version of the scenarios for good, also when the job is deleted.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from harena.core.catalog import (
    CatalogStorePort,
    NewCalibration,
    StoredCalibration,
    StoredReport,
    is_reference,
    parse_reference,
    referred,
)
from harena.core.clock import Clock
from harena.core.errors import HostUnsupportedError, NotFoundError, ValidationError
from harena.core.job_lifecycle import ENDED_STATES
from harena.core.threads import SCENARIOS
from harena.jobs.benchmark.job_scenarios import read_batch, sources_to_store
from harena.jobs.benchmark.kept_json import pack, unpack

if TYPE_CHECKING:
    from harena.core.idempotency import IdempotencyKey
    from harena.core.records.catalog import CalibrationJob, CalibrationOutline, StoredScenarios
    from harena.jobs.benchmark.benchmark_jobs import BenchmarkJobs
    from harena.jobs.catalog import CatalogReader
    from harena.scoring.calibration import Calibration

DEFAULT_CONFIG = {"concurrency": 8, "timeout_seconds": 10.0, "retry_attempts": 3}
"""some forgeries take all the time that they are given; a run that the host has starved is tried again"""
DEFAULT_GOLD_RUNS = 5
MOST_LISTED = 100
_SOURCES = ("scenarios", "candidates", "format", "grader")
_FIELDS = (*_SOURCES, "name", "gold_runs", "blueprint_id", "config")


class Calibrations:
    """What one node's store knows of calibrations. Used from one event loop."""

    def __init__(
        self,
        jobs: BenchmarkJobs,
        store: Callable[[], Awaitable[CatalogStorePort]],
        reader: Callable[[str], CatalogReader],
        clock: Clock,
        *,
        durable: bool,
        isolates: bool = True,
    ) -> None:
        """`durable`: jobs outlive this process, and so does what their reports are made from. `isolates`: programs are
        kept from the machine that they run on; where they are not, no forgery is run that could do it harm."""
        self._jobs = jobs
        self._store = store
        self._reader = reader
        self._clock = clock
        self._durable = durable
        self._isolates = isolates
        self._planned: dict[str, Calibration] = {}
        """by job: what this process has begun and not yet reported, where nothing is stored of that"""

    async def create(
        self, workspace: str, request: Mapping[str, Any], *, key: IdempotencyKey | None = None
    ) -> CalibrationJob:
        """Check everything, then start it, or give the one that was started with this `key` before, also by another
        process. Raises ValidationError, NotFoundError; nothing has been started then."""
        from harena.scoring.battery import battery_version

        store = await self._store()
        if key is not None:
            key = replace(key, noun="calibrations")
            earlier = await self._jobs.created_with(workspace, key)
            known = None if earlier is None else await store.find_calibration(workspace, earlier)
            if known is not None:
                return await self._settled(known)
        self._check_isolated()
        unknown = [name for name in request if name not in _FIELDS]
        if unknown:
            raise ValidationError(
                f"this calibration cannot run:\n  {', '.join(map(str, unknown))[:200]}: unknown key; valid keys are "
                f"{', '.join(_FIELDS)}"
            )
        gold_runs = request.get("gold_runs", DEFAULT_GOLD_RUNS)
        sources: dict[str, Any] = {name: request.get(name) for name in _SOURCES}
        if sources["scenarios"] is None:
            raise ValidationError("this calibration cannot run:\n  scenarios: missing")
        reader = self._reader(workspace)
        planned, kept, version = await SCENARIOS.run(_planned, sources, gold_runs, reader, keep=self._durable)
        config = request.get("config") or {}
        job = await self._jobs.create(
            workspace,
            {
                **{name: source for name, source in sources.items() if source is not None},
                "name": request.get("name", "calibration"),
                "blueprint_id": request.get("blueprint_id", "default"),
                "config": {**DEFAULT_CONFIG, **config} if isinstance(config, Mapping) else config,
            },
            calibration={"gold_runs": gold_runs, "battery_version": battery_version()},
            key=key,
        )
        begun = job.lineage.scenarios if job.lineage is not None else None
        if begun != version:  # by a process that ended before it could note it; another version is the newest by now
            sources["scenarios"] = {"ref": begun}
            planned, kept, version = await SCENARIOS.run(_planned, sources, gold_runs, reader, keep=self._durable)
        if not self._durable:  # else it is made again of what is stored: it has all scenarios, and nobody may ever ask
            self._planned[job.id] = planned
        name, number = parse_reference(version) if version is not None else (None, None)
        calibration = NewCalibration(
            job_id=job.id,
            workspace=workspace,
            name=name,
            version=number,
            gold_runs=gold_runs,
            created_at=self._clock.utcnow().isoformat(),
            sources=kept,
        )
        await store.add_calibration(calibration)
        return _answer(calibration, None, job.state)

    def _check_isolated(self) -> None:
        from harena.scoring import battery

        if not self._isolates and not all(forgery.is_harmless for forgery in battery.BATTERY):
            raise HostUnsupportedError(
                "a calibration runs programs that attack the machine they run on, and this runtime does not isolate "
                "them; use one that does",
                step="calibrate",
            )

    async def get(self, workspace: str, calibration: str) -> CalibrationJob:
        """How far it is. Raises NotFoundError."""
        found = await (await self._store()).find_calibration(workspace, calibration)
        if found is None:
            raise NotFoundError(f"no calibration has the id {calibration!r}")
        return await self._settled(found)

    async def wait(self, workspace: str, calibration: str) -> CalibrationJob:
        """The calibration, when it has ended. Raises NotFoundError; PlatformError as the job's own wait."""
        found = await self.get(workspace, calibration)
        if not found.ended:
            await self._jobs.wait_for_end(workspace, calibration)
        return await self.get(workspace, calibration)

    async def of_version(self, workspace: str, name: str, version: int) -> list[CalibrationJob]:
        """Calibrations of a version of stored scenarios, newest first."""
        found = await (await self._store()).calibrations_of(workspace, name, version, limit=MOST_LISTED)
        return [await self._settled(calibration) for calibration in found]

    async def _settled(self, calibration: StoredCalibration) -> CalibrationJob:
        """The calibration, with its report made and kept if it can be."""
        job_id, workspace = calibration.job_id, calibration.workspace
        if calibration.report is not None:
            return _answer(calibration, calibration.report, "completed")
        try:
            state = (await self._jobs.get(workspace, job_id)).state
        except NotFoundError:
            self._planned.pop(job_id, None)
            return _answer(calibration, None, None)
        if state != "completed":
            if state in ENDED_STATES:  # it will have no report
                self._planned.pop(job_id, None)
            return _answer(calibration, None, state)
        planned = self._planned.get(job_id)
        if planned is None:
            if calibration.sources is None:
                return _answer(calibration, None, state)  # what it was made from went with the process that began it
            packed, gold_runs, reader = calibration.sources, calibration.gold_runs, self._reader(workspace)
            planned = await SCENARIOS.run(lambda: _read_plan(unpack(packed), gold_runs, reader))
        outcomes = await self._jobs.outcomes(workspace, job_id)
        report = await SCENARIOS.run(planned.report, outcomes)
        await (await self._store()).report_calibration(job_id, report)
        self._planned.pop(job_id, None)
        return _answer(calibration, report, state)


def _planned(
    sources: dict[str, Any], gold_runs: int, reader: CatalogReader, *, keep: bool
) -> tuple[Calibration, bytes | None, str | None]:
    """(what is to be run, what it can be made from again, the stored version)."""
    if is_reference(sources["scenarios"]):  # from here on it is one version, whatever is stored meanwhile
        sources["scenarios"] = {"ref": reader.version(referred(sources["scenarios"]))}
    planned = _read_plan(sources, gold_runs, reader)
    kept = pack(sources_to_store(sources, reader)) if keep else None
    return planned, kept, sources["scenarios"]["ref"] if is_reference(sources["scenarios"]) else None


def _read_plan(sources: Mapping[str, Any], gold_runs: int, reader: CatalogReader) -> Calibration:
    from harena.scoring.calibration import Calibration

    return Calibration(read_batch(sources, reader, unsolved_too=True), gold_runs=gold_runs)


def _answer(calibration: NewCalibration, stored: StoredReport | None, state: str | None) -> CalibrationJob:
    from harena.core.records.calibrations import CalibrationReport
    from harena.core.records.catalog import CalibrationJob

    report = None if stored is None else CalibrationReport.from_dict(stored)
    return CalibrationJob(
        id=calibration.job_id,
        job_id=calibration.job_id,
        scenarios=None if calibration.name is None else f"{calibration.name}@{calibration.version}",
        gold_runs=calibration.gold_runs,
        created_at=calibration.created_at,
        state=state,
        ended=state is None or state in ENDED_STATES,
        fit=None if report is None else report.fit,
        report=report,
    )


def with_calibrations(entry: StoredScenarios, found: Sequence[CalibrationJob]) -> StoredScenarios:
    """An entry of stored scenarios with the calibrations of its version, newest first, and the newest report."""
    newest = next((one.report for one in found if one.report is not None), None)
    return replace(entry, calibrations=[_outline(one) for one in found], calibration=newest)


def _outline(calibration: CalibrationJob) -> CalibrationOutline:
    from harena.core.records.catalog import CalibrationOutline

    report = calibration.report
    return CalibrationOutline(
        id=calibration.id,
        created_at=calibration.created_at,
        state=calibration.state,
        gold_runs=calibration.gold_runs,
        fit=calibration.fit,
        flake_rate=None if report is None else report.flake_rate,
        battery_version=None if report is None else report.battery_version,
    )
