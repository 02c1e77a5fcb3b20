"""What it takes to accept a benchmark job: everything in the request is checked before anything is stored or run.

A durable job is kept with its scenarios, so that another node can go on with it (see
`harena.jobs.benchmark.kept_requests`).
"""

from __future__ import annotations

import functools
import uuid
import zlib
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from harena.core.blueprint_source import BlueprintSource, found_in_thread
from harena.core.clock import Clock
from harena.core.errors import NotFoundError, ValidationError
from harena.core.garbage import collection_paused
from harena.core.job_lifecycle import JobState, RunState
from harena.core.job_store import NO_RUNS, JobCounts, NewBenchmarkJob, OpenRun, StoredBenchmarkJob
from harena.core.leases import Owner
from harena.core.models import SandboxSpec
from harena.core.ports import SandboxSource
from harena.core.ports.image_builds import BuildsFolders, FolderBuild
from harena.core.records.blueprints import DEFAULT_BLUEPRINT, WARM_BLUEPRINT
from harena.core.records.sandboxes import Limits
from harena.core.results import RunResult, Trust
from harena.core.rows import RowsFile, written_rows
from harena.core.spool import spool_folder
from harena.core.task_archives import archive_of
from harena.core.threads import SCENARIOS
from harena.core.webhook_store import NewDelivery
from harena.jobs.benchmark.elsewhere import ScoresElsewhere, chosen
from harena.jobs.benchmark.job_builds import JobBuilds, unavailable
from harena.jobs.benchmark.job_places import (
    Places,
    PlacesAhead,
    PreparesPlaces,
    RunPlace,
    base_spec,
    builds_of,
    check_contracts,
    check_networks,
    names_own,
    place_named,
    places_of,
    scenarios_with_places,
)
from harena.jobs.benchmark.job_scenarios import (
    JobScenarios,
    LentScenarios,
    LoadScenarios,
    held_bytes_of,
    lineage_of,
    metadata_bytes_of,
    read_job,
)
from harena.jobs.benchmark.kept_requests import KeptParts, pack_request, parts_to_store, unpacked
from harena.jobs.benchmark.left_runs import LeftRuns
from harena.jobs.benchmark.task_folders import TaskFolder, TaskFolders
from harena.jobs.rescore import rescoring, sampled
from harena.jobs.retry import GiveUp, RetryAlone, RetryPolicy, decide_interrupted
from harena.jobs.schedule import Ticket, Tickets, effective_concurrency, tickets
from harena.jobs.webhook_deliveries import new_delivery
from harena.jobs.worker import Score

if TYPE_CHECKING:
    from harena.jobs.catalog import CatalogReader
    from harena.jobs.models import JobConfig, JobRequest
    from harena.jobs.webhooks import Network
    from harena.scoring.scenario import Scenario

MAX_RUNS = 1_000_000
MOST_NAMED = 10


class Sandboxes(Protocol):
    """Where sandboxes come from."""

    def source(self, workspace: str) -> SandboxSource:
        """What makes a workspace's."""


class ScoreScenario(Protocol):
    """`harena.scoring.score.score_scenario`."""

    def __call__(
        self,
        scenario: Scenario,
        *,
        sandboxes: SandboxSource,
        base_spec: SandboxSpec,
        timeout_seconds: float,
        attempt: int = 1,
        require_trust: Trust | None = None,
        alone: bool = False,
        place: SandboxSpec | None = None,
    ) -> Awaitable[RunResult]:
        """One attempt, scored. `place`: where the candidate runs, of a scenario that says so. Raises PlatformError."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptedJob:
    """A request in which nothing is wrong."""

    record: NewBenchmarkJob
    """the job as it is stored"""
    scenarios: LentScenarios
    tickets: Tickets
    """its open runs"""
    score: Score
    policy: RetryPolicy
    limits: Limits | None = None
    """what its candidates' sandboxes may use, where a scenario names no place; None = the usual"""
    request: bytes | None = None
    """what another node needs to go on with it; None = the job ends with this process"""
    delivery: NewDelivery | None = None
    """whom its end is told, as it is stored"""
    metadata_bytes: int = 0
    """what its scenarios' metadata takes in the store, at most, when they have been run"""
    held_bytes: int = 0
    """memory that its scenarios take until it has ended here"""
    priority: int = 0
    run_timeout_seconds: float | None = None
    timeout_seconds: float | None = None
    epoch: int = 1
    """epoch of the lease under which this process runs the job"""
    last_cursor: int = 0
    """cursor of the last event that is stored"""
    counts: JobCounts = NO_RUNS
    """where its runs were when this process took it"""
    cancel_requested: bool = False
    """somebody has asked for its end, and its last owner did not live to do it"""
    spent_seconds: float = 0.0
    """for which earlier owners ran it"""
    interrupted: Sequence[Ticket] = ()
    """runs that were under way when the last owner ended"""
    given_up: Sequence[Ticket] = ()
    """runs that were under way when too many owners were lost; they are not among `tickets`"""
    after_loss: bool = False
    """the last owner was lost, not stopped: what runs next may be what ended it"""
    elsewhere: ScoresElsewhere | None = None
    """where its runs are scored; None = on this machine"""
    tasks: TaskFolder | None = None
    """task directories that images are built of; whoever has the job closes it when the job has ended here"""

    @property
    def remaining_seconds(self) -> float | None:
        """Until the job times out; None = it does not."""
        return None if self.timeout_seconds is None else max(0.0, self.timeout_seconds - self.spent_seconds)


@dataclass(frozen=True, slots=True)
class _Reopened:
    """A kept request."""

    scenarios: Sequence[Scenario]
    blueprint: str | None
    tasks: TaskFolder | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Acceptance:
    """What a node accepts jobs with."""

    sandboxes: Sandboxes
    blueprints: BlueprintSource
    clock: Clock
    cores: int | None
    """None = the node follows what its machine shows"""
    owner: Owner
    score: ScoreScenario | None = None
    """None = the scoring room's"""
    load: LoadScenarios | None = None
    """None = the scoring room's"""
    durable: bool = False
    """jobs outlive this process"""
    counts_memory: bool = False
    """somebody asks what scenarios take"""
    reader: Callable[[str], CatalogReader]
    """gives the stored scenarios and contracts of a workspace"""
    hides_warm_starts: Callable[[], bool]
    """whether a Python program cannot tell a warm start from a real one here"""
    webhook_networks: Sequence[Network] | None = None
    """where webhooks may go beside the public internet; None = anywhere"""
    sandbox_networks: Sequence[Network] | None = None
    """which addresses that are not public networks of sandboxes may name; None = all"""
    may_be_machine: Callable[[str], Awaitable[bool]] | None = None
    """whether sandboxes of a workspace may have the profile `machine`; None = all may"""
    elsewhere: ScoresElsewhere | None = None
    """where runs may be scored beside this machine; None = nowhere"""
    images: BuildsFolders | None = None
    """what builds the images of task directories; None = nobody does"""
    task_folders: TaskFolders = field(default_factory=lambda: TaskFolders(None))
    """where archives of task directories are unpacked"""

    async def accept(
        self,
        workspace: str,
        request: Mapping[str, Any],
        *,
        calibration: Mapping[str, Any] | None = None,
        definition: Mapping[str, str] | None = None,
    ) -> AcceptedJob:
        """The checked job of this workspace, with a new id; with `calibration` {gold_runs, battery_version} one that
        runs what a calibration of its scenarios runs. `definition` {ref, digest} is what it was made of. Raises
        ValidationError (a scenario file's own error among them) that lists every mistake, NotFoundError for the
        blueprint, and LimitExceededError and PlatformError where task directories cannot be unpacked."""
        from harena.jobs.models import parse_request

        made = {field: rows for field, rows in request.items() if isinstance(rows, Iterator)}
        with spool_folder("harena-rows-") if made else nullcontext("") as folder:
            files = {field: RowsFile(Path(folder, field), field) for field in made}
            parsed = await SCENARIOS.run(parse_request, {**request, **files})
            archive = None
            if isinstance(parsed.scenarios, str | Path):
                archive = await SCENARIOS.run(archive_of, parsed.scenarios)
            tasks = None if archive is None else await self.task_folders.opened(workspace, archive)
            try:
                accepted = await self._accepted(workspace, parsed, made, tasks, calibration=calibration)
            except BaseException as error:  # raised again: nobody has the job, or its folder
                if tasks is None:
                    raise
                await tasks.close()
                if isinstance(error, ValidationError):  # its place is no name that whoever asks has given
                    raise ValidationError(tasks.shown(str(error)), reason=error.reason) from error
                raise
        return replace(accepted, record=replace(accepted.record, definition=definition), tasks=tasks)

    async def _accepted(
        self,
        workspace: str,
        parsed: JobRequest,
        made: Mapping[str, Iterator[Any]],
        tasks: TaskFolder | None,
        *,
        calibration: Mapping[str, Any] | None,
    ) -> AcceptedJob:
        named = None
        if parsed.blueprint_id is not None:
            named = await base_spec(self.blueprints, workspace, parsed.blueprint_id)
        # reading a large file takes a while, and sandboxes that are already running shall not wait for it
        sources = {**_sources(parsed), "calibration": calibration}
        read, parts = await SCENARIOS.run(self._read, sources, self.reader(workspace), made, tasks)
        blueprint = parsed.blueprint_id or await self._fitting(workspace, read)
        spec = named or await base_spec(self.blueprints, workspace, blueprint)
        # the blueprint by its id: a name may mean another one by the time the job is resumed
        kept = None if parts is None else await SCENARIOS.run(_pack_request, parts, spec.blueprint)
        scenarios = read.scenarios
        config = parsed.config
        chosen(config.execution, self.elsewhere)
        total = len(scenarios) * config.attempts
        if not 0 < total <= MAX_RUNS:
            raise ValidationError(f"a benchmark job has 1 to {MAX_RUNS} runs; {parsed.name!r} would have {total}")
        await SCENARIOS.run(_check_trust, scenarios, config.require_trust)
        await SCENARIOS.run(check_networks, scenarios, self.sandbox_networks)
        elsewhere, places, builds = await self._places(workspace, scenarios, spec, has_own=names_own(blueprint))
        machine = self.may_be_machine is None or await self.may_be_machine(workspace)
        await SCENARIOS.run(functools.partial(check_contracts, elsewhere, scenarios, spec, places, machine=machine))
        delivery = None
        if parsed.webhook is not None:
            delivery = new_delivery(parsed.webhook, durable=self.durable, allowed=self.webhook_networks)
        new = replace(
            self._new_job(workspace, parsed.name, blueprint, config, total),
            lineage=await SCENARIOS.run(_made_of, scenarios, read.left_out),
            delivery_id=None if delivery is None else delivery.id,
        )
        return replace(
            await self._assembled(
                new, config, scenarios, tickets(len(scenarios), config.attempts), spec, places, builds
            ),
            request=kept,
            delivery=delivery,
            metadata_bytes=await SCENARIOS.run(metadata_bytes_of, scenarios),
        )

    async def resume(
        self,
        job: StoredBenchmarkJob,
        request: bytes,
        left: LeftRuns,
        *,
        last_cursor: int,
        after_loss: bool,
    ) -> AcceptedJob:
        """The rest of a job that another process has left: `job` as claimed, `left` of its runs,
        `after_loss`: that process was lost, it did not let go. Raises NotFoundError (its blueprint has gone),
        ValidationError (this harena does not read its request), PlatformError (the disk)."""
        try:
            opened = await SCENARIOS.run(self._reopened, request, self.reader(job.workspace), job.workspace)
        except (ValueError, LookupError, zlib.error) as error:
            raise _unreadable(job, error) from error
        try:
            return await self._rest_of(job, opened, left, last_cursor=last_cursor, after_loss=after_loss)
        except BaseException:  # raised again: nobody has the job, or its folder
            if opened.tasks is not None:
                await opened.tasks.close()
            raise

    async def _rest_of(
        self, job: StoredBenchmarkJob, opened: _Reopened, left: LeftRuns, *, last_cursor: int, after_loss: bool
    ) -> AcceptedJob:
        from harena.jobs.models import JobConfig

        scenarios = opened.scenarios
        try:
            config = JobConfig.model_validate(job.config)
            everything = tickets(len(scenarios), config.attempts)
            if len(everything) != job.total:
                raise ValueError(f"it has {len(everything)} runs, and was accepted with {job.total}")
            begun = [
                (_ticket_after(everything.fresh(run.number), run, after_loss=after_loss), run) for run in left.begun
            ]
        except (ValueError, LookupError, zlib.error) as error:
            raise _unreadable(job, error) from error
        spec = await base_spec(self.blueprints, job.workspace, opened.blueprint or job.blueprint)
        cores = self._concurrency(config)
        lost = {ticket: decide_interrupted(ticket.interruptions) for ticket, _ in begun}
        again = [
            replace(ticket, alone=isinstance(decision, RetryAlone))
            for ticket, decision in lost.items()
            if not isinstance(decision, GiveUp)
        ]
        accepted = Tickets(tuple(sorted([*left.never_begun, *again], key=_first_number)), config.attempts)
        limited = replace(job, effective_concurrency=min(job.total, cores))
        _, places, builds = await self._places(job.workspace, scenarios, spec, has_own=names_own(job.blueprint))
        resumed = await self._assembled(limited, config, scenarios, accepted, spec, places, builds)
        return replace(
            resumed,
            epoch=job.lease_epoch,
            counts=job.counts,
            cancel_requested=job.cancel_requested,
            last_cursor=last_cursor,
            spent_seconds=job.active_seconds,
            interrupted=[ticket for ticket, run in begun if run.state != RunState.QUEUED],
            given_up=[ticket for ticket, decision in lost.items() if isinstance(decision, GiveUp)],
            after_loss=after_loss,
            tasks=opened.tasks,
        )

    async def _assembled(
        self,
        job: NewBenchmarkJob,
        config: JobConfig,
        scenarios: Sequence[Scenario],
        accepted: Tickets,
        spec: SandboxSpec,
        places: Places,
        builds: Mapping[RunPlace, FolderBuild],
    ) -> AcceptedJob:
        lent = LentScenarios(scenarios)
        repeated = frozenset(config.retry_on) - {"platform"}
        again = sampled(config.rescore_fraction, job.total, seed=job.id)
        return AcceptedJob(
            record=job,
            scenarios=lent,
            tickets=accepted,
            score=rescoring(self._scorer(job.workspace, lent, spec, places, builds, config), again),
            policy=RetryPolicy(retry_attempts=config.retry_attempts, retry_reasons=repeated),
            limits=spec.limits,
            held_bytes=await SCENARIOS.run(held_bytes_of, scenarios) if self.counts_memory else 0,
            priority=config.priority,
            run_timeout_seconds=await SCENARIOS.run(run_timeout, config, scenarios, builds.values()),
            timeout_seconds=config.job_timeout_seconds,
            elsewhere=chosen(config.execution, self.elsewhere),
        )

    def _read(
        self,
        sources: dict[str, Any],
        reader: CatalogReader,
        made: Mapping[str, Iterator[Any]],
        tasks: TaskFolder | None,
    ) -> tuple[JobScenarios, KeptParts | None]:
        """The scenarios, and what is kept of them. `made`: rows that are made one by one, for files of theirs; `tasks`:
        what the archive holds that is kept."""
        for name, rows in made.items():
            with sources[name].path.open("wb") as file:
                file.writelines(written_rows(rows, name))
        with collection_paused():
            parts = parts_to_store(sources, reader) if self.durable else None
            return self._scenarios(sources if tasks is None else {**sources, "scenarios": tasks.path}, reader), parts

    async def _fitting(self, workspace: str, read: JobScenarios) -> str:
        """The blueprint of a job that names none. Where `default` is not the built-in one, it is meant."""
        try:
            meant = await found_in_thread(self.blueprints, workspace, DEFAULT_BLUEPRINT)
            await found_in_thread(self.blueprints, workspace, WARM_BLUEPRINT)
        except NotFoundError:
            return DEFAULT_BLUEPRINT
        is_bare = meant.image == "default" and meant.warm is None and not (meant.packages or meant.files or meant.env)
        return WARM_BLUEPRINT if read.starts_warm and is_bare and self.hides_warm_starts() else DEFAULT_BLUEPRINT

    def _reopened(self, request: bytes, reader: CatalogReader, workspace: str) -> _Reopened:
        with spool_folder("harena-scenarios-") as folder, collection_paused():
            kept = unpacked(request, Path(folder))
            tasks = None
            if (archive := archive_of(kept["scenarios"])) is not None:
                tasks = self.task_folders.unpacked(workspace, archive)
                kept["scenarios"] = tasks.path
            try:
                return _Reopened(self._scenarios(kept, reader).scenarios, kept["blueprint"], tasks)
            except BaseException:  # raised again: nobody else knows of the folder
                if tasks is not None:
                    tasks.remove()
                raise

    def _scenarios(self, sources: Mapping[str, Any], reader: CatalogReader) -> JobScenarios:
        if self.load is not None:
            return JobScenarios(scenarios=self.load(sources["scenarios"]))
        return read_job(sources, reader)

    def _new_job(self, workspace: str, name: str, blueprint_id: str, config: JobConfig, total: int) -> NewBenchmarkJob:
        return NewBenchmarkJob(
            id=f"job_{uuid.uuid4().hex[:16]}",
            workspace=workspace,
            name=name,
            state=JobState.QUEUED,
            created_at=self.clock.utcnow().isoformat(),
            blueprint=blueprint_id,
            config=config.model_dump(),
            effective_concurrency=min(total, self._concurrency(config)),
            total=total,
            durable=self.durable,
            owner=self.owner,
        )

    def _concurrency(self, config: JobConfig) -> int:
        """Runs of one job at one time, at most."""
        if config.execution != "local":  # what there is elsewhere, its slots know
            return config.concurrency
        return config.concurrency if self.cores is None else effective_concurrency(config.concurrency, self.cores)

    async def _places(
        self, workspace: str, scenarios: Sequence[Scenario], spec: SandboxSpec, *, has_own: bool
    ) -> tuple[Sequence[Scenario], dict[RunPlace, SandboxSpec], dict[RunPlace, FolderBuild]]:
        """(scenarios that name where their candidates run, what these places are, what is built for them)."""
        named = await SCENARIOS.run(scenarios_with_places, scenarios)
        can_build = self.images is not None
        places = await places_of(self.blueprints, workspace, named, spec, has_own=has_own, builds=can_build)
        return named, places, await SCENARIOS.run(partial(builds_of, named, can_build=can_build, has_own=has_own))

    def _scorer(
        self,
        workspace: str,
        scenarios: Sequence[Scenario],
        spec: SandboxSpec,
        places: Places,
        builds: Mapping[RunPlace, FolderBuild],
        config: JobConfig,
    ) -> Score:
        elsewhere = chosen(config.execution, self.elsewhere)
        score_scenario = self.score or scoring_room()
        if elsewhere is not None:
            score_scenario = partial(elsewhere.score, workspace)
        sandboxes = self.sandboxes.source(workspace)
        require_trust = Trust(config.require_trust) if config.require_trust else None

        made = JobBuilds(partial(self._build, workspace, config.build_network))

        async def prepare(place: RunPlace, where: SandboxSpec) -> None:
            if (build := builds.get(place)) is not None:
                made.begin(build)
            elif isinstance(self.sandboxes, PreparesPlaces):
                await self.sandboxes.prepare_place(workspace, where)

        ahead = PlacesAhead(prepare, places) if places else None

        async def score(ticket: Ticket) -> RunResult:
            scenario = scenarios[ticket.scenario_index]
            named = place_named(scenario) if places else None
            if ahead is not None:
                ahead.begins(named)
            scored = score_scenario
            if named is not None:
                where = places[named]
                if (build := builds.get(named)) is not None:
                    where = replace(where, image=await made.image_of(build))
                    scenario = scenario.in_built(build.reference)
                if config.task_network is not None and scenario.yields_place:
                    scenario = scenario.with_network(config.task_network)
                scored = partial(score_scenario, place=where)
            try:
                return await scored(
                    scenario,
                    sandboxes=sandboxes,
                    base_spec=spec,
                    timeout_seconds=config.timeout_seconds,
                    attempt=ticket.attempt,
                    require_trust=require_trust,
                    alone=ticket.alone,
                )
            except NotFoundError as error:
                if named is None or named.image is None:
                    raise
                raise unavailable(f"the image {named.image} cannot be had", error) from error

        return score

    async def _build(self, workspace: str, network: str, build: FolderBuild) -> str:
        assert self.images is not None
        return await self.images.build_folder(workspace, build, network=network)


def run_timeout(
    config: JobConfig, scenarios: Iterable[Scenario] = (), builds: Iterable[FolderBuild] = ()
) -> float | None:
    """The time of the longest build is added. Never before the time of a candidate and of what judges it is over by
    the wall clock, however often its doing has it judged again: one that waits, and then makes its judging fail or
    slow, could buy a fault of the platform with it."""
    from harena.scoring.contracts.parts import Contract
    from harena.scoring.scorers.fair_time import SLACK_SECONDS
    from harena.scoring.scorers.fault_attribution import MOST_JUDGINGS
    from harena.scoring.scorers.longest_scoring import limits_of, longest_trusted
    from harena.scoring.scorers.time_limits import wall_limit

    if config.run_timeout_seconds is None:
        return None
    candidates = wall_limit(config.timeout_seconds) + SLACK_SECONDS
    contracts = (scenario.scoring for scenario in scenarios)
    once = max(
        (limits_of(made) * candidates + longest_trusted(made) for made in contracts if isinstance(made, Contract)),
        default=candidates,
    )
    longest = max((build.timeout_seconds for build in builds), default=0.0)
    return longest + max(config.run_timeout_seconds, MOST_JUDGINGS * once)


def _unreadable(job: StoredBenchmarkJob, error: Exception) -> ValidationError:
    return ValidationError(f"the request of {job.id} as it is stored cannot be read: {error}")


def _pack_request(parts: KeptParts, blueprint: str | None) -> bytes:
    with collection_paused():
        return pack_request(parts, blueprint)


def _made_of(scenarios: Sequence[Scenario], left_out: Sequence[str]) -> dict[str, Any] | None:
    """The stored versions and the rows that were left out, as they are stored with a job."""
    lineage = lineage_of(scenarios)
    if not left_out:
        return lineage
    told = {"rows": len(left_out), "told": list(left_out[:MOST_NAMED])}
    return {**(lineage or {"scenarios": None, "digest": None, "contracts": []}), "left_out": told}


def _check_trust(scenarios: Sequence[Scenario], required: str | None) -> None:
    if required != Trust.SEPARATE:
        return
    shared = [scenario.id for scenario in scenarios if scenario.scoring.trust is Trust.SHARED]
    if shared:
        more = f" and {len(shared) - MOST_NAMED} more" if len(shared) > MOST_NAMED else ""
        raise ValidationError(
            f"require_trust is 'separate', and the verdict of {', '.join(shared[:MOST_NAMED])}{more} is computed "
            "beside the candidate's own files; use another scoring contract for them, or leave require_trust out"
        )


def _first_number(part: range | Ticket) -> int:
    return part.start if isinstance(part, range) else part.number


def _ticket_after(ticket: Ticket, run: OpenRun, *, after_loss: bool) -> Ticket:
    lost = after_loss and run.state != RunState.QUEUED
    return replace(
        ticket,
        failures=run.failures,
        repeats=run.repeats,
        interruptions=run.interruptions + lost,
    )


def _sources(parsed: JobRequest) -> dict[str, Any]:
    """What the scenarios are made of."""
    return {
        "scenarios": parsed.scenarios,
        "candidates": parsed.candidates,
        "format": parsed.format,
        "grader": parsed.grader,
        "skip_bad_rows": parsed.config.skip_bad_rows or None,
    }


def scoring_room() -> ScoreScenario:
    """The scoring room's own way to score, loaded when it is first asked for."""
    from harena.scoring.score import score_scenario

    return score_scenario
