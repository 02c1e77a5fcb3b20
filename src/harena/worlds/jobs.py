"""Jobs that make trajectories of worlds and publish them as data sets.

What a job makes is a pure function of what is stored of it (where a model plays, as far as its arithmetic is one), and
publishing the same content twice changes nothing. So a job needs neither an owner nor a lease: whoever is asked about
one that has not ended, or starts over the store that has it, does it, from its beginning; where two do it at one time,
both come to the same rows, and the first who writes the end has ended it. A process that is killed loses nothing but
time.
"""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol
from weakref import WeakValueDictionary

from harena.core.clock import Clock
from harena.core.errors import (
    HarenaError,
    LimitExceededError,
    NotFoundError,
    PlatformError,
    SandboxUnavailableError,
    ValidationError,
)
from harena.core.file_trees import files_of, pack_files
from harena.core.records.worlds import TrajectoryOrder, WorldJob, WorldJobsPage, WorldJobState, WorldManifest
from harena.core.registry import MOST_CHARACTERS, VERSION_TAKEN, checked_version
from harena.core.server_places import without_server_places
from harena.core.spool import spooled
from harena.core.threads import WORLD_GAMES, node_task
from harena.core.workspace import CheckRoom
from harena.core.world_store import NewWorldJob, StoredWorld, StoredWorldJob, WorldStorePort
from harena.core.worlds import (
    AGENT,
    DEFAULT_GOAL,
    DEFAULT_MAX_STEPS,
    DEFAULT_SEED,
    DEFAULT_STRATEGY,
    MOST_OPEN_JOBS,
    SCRIPTED,
    WORLD_JOBS,
    PlayMode,
    RowForm,
    Strategy,
)
from harena.worlds.episodes import Call, play, replayed_calls
from harena.worlds.game import goal_of
from harena.worlds.known import network_of
from harena.worlds.network import Network
from harena.worlds.rows import row_line
from harena.worlds.shortest import shortest_way

OPEN = tuple(state.value for state in WorldJobState if not state.is_over)
ENDED = tuple(state.value for state in WorldJobState if state.is_over)
ROWS_FILE = "train.jsonl"
MOST_AT_ONCE = 2
"""jobs that one node does at one time, each of another workspace: to play takes the processor, and the interpreter's
lock from whatever else the process does"""
_NOTED_EVERY = 10
"""episodes after which a job's row says how far it is"""
_SUFFIX = "-trajectories"
_log = logging.getLogger("harena.node")

Publish = Callable[[str, str, str, AsyncIterable[bytes]], Awaitable[object]]
"""(workspace, name, version, tar stream): publishes a data set; the same content twice changes nothing"""


class AgentPlayers(Protocol):
    """Models that play in worlds."""

    async def pinned(self, workspace: str, world: str, order: TrajectoryOrder) -> TrajectoryOrder:
        """The order, whose model is a version from now on. Raises ValidationError and NotFoundError for a model or a
        capability that cannot play."""

    async def played(self, workspace: str, world: str, order: TrajectoryOrder) -> Sequence[Sequence[Call]]:
        """What the model does in each of the episodes. Raises ValidationError, NotFoundError, PlatformError."""


@dataclass(slots=True)
class _Counts:
    """How far a job is."""

    played: int = 0
    reached: int = 0
    rows: int = 0

    def to_columns(self) -> dict[str, Any]:
        """The columns of the job's row that have them."""
        return {"played": self.played, "reached": self.reached, "rows": self.rows}


class WorldJobs:
    """The jobs that a store knows, and those of them that this process does. Used from one event loop."""

    def __init__(
        self,
        store: Callable[[], Awaitable[WorldStorePort]],
        find_world: Callable[[str, str], Awaitable[StoredWorld]],
        publish: Publish,
        clock: Clock,
        check_room: CheckRoom,
        agents: AgentPlayers,
    ) -> None:
        """`find_world` finds a workspace's world by its id or name; `check_room` is asked before a job is kept;
        `agents` play where an order names a model."""
        self._agents = agents
        self._store = store
        self._find_world = find_world
        self._publish = publish
        self._clock = clock
        self._check_room = check_room
        self._doing: dict[str, asyncio.Task[None]] = {}
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()  # by workspace
        self._places = asyncio.Semaphore(MOST_AT_ONCE)
        self._closed = False

    async def start(self) -> None:
        """Go on with every job that has not ended; for a node whose jobs outlive it."""
        for row in await (await self._store()).jobs_in(OPEN):
            self._do(row.workspace, row.id)

    async def create(
        self,
        workspace: str,
        world: str,
        *,
        goal: str = DEFAULT_GOAL,
        count: int = 1,
        strategy: Strategy = DEFAULT_STRATEGY,
        max_steps: int = DEFAULT_MAX_STEPS,
        seed: int = DEFAULT_SEED,
        threads: int = 1,
        only_successful: bool = False,
        form: RowForm = "atif",
        mode: PlayMode = SCRIPTED,
        agent_model: str | None = None,
        capability: str | None = None,
        dataset: str | None = None,
    ) -> WorldJob:
        """Check an order, keep it and begin with it. Raises NotFoundError, ValidationError, LimitExceededError."""
        found = await self._find_world(workspace, world)
        order = TrajectoryOrder.checked(
            {
                "goal": goal,
                "count": count,
                "strategy": strategy,
                "max_steps": max_steps,
                "seed": seed,
                "threads": threads,
                "only_successful": only_successful,
                "form": form,
                "mode": mode,
                "agent_model": agent_model,
                "capability": capability,
            }
        )
        manifest = WorldManifest.from_dict(found.manifest)
        await WORLD_GAMES.run_for(workspace, lambda: _check_goal(manifest, order))
        if order.mode == AGENT:
            order = await self._agents.pinned(workspace, found.id, order)
        token = secrets.token_hex(8)
        name = dataset or f"{manifest.name[: MOST_CHARACTERS - len(_SUFFIX)]}{_SUFFIX}"
        checked_version("dataset", name, token)
        new = NewWorldJob(
            id=f"wjob_{token}",
            workspace=workspace,
            world=found.id,
            manifest=found.manifest,
            trajectories=order.to_dict(),
            dataset=f"{name}@{token}",
            state=WorldJobState.QUEUED,
            created_at=self._clock.utcnow().isoformat(),
        )
        await self._check_room(workspace, len(json.dumps([new.manifest, new.trajectories])))
        if not await (await self._store()).add_job(new, most_open=MOST_OPEN_JOBS, open_states=OPEN):
            raise LimitExceededError(
                f"the workspace has {MOST_OPEN_JOBS} jobs of worlds that have not ended, which is as many as it may "
                "have: wait for some of them, or cancel them",
                reason=WORLD_JOBS,
            )
        self._do(workspace, new.id)
        return await self.get(workspace, new.id)

    async def get(self, workspace: str, job: str) -> WorldJob:
        """Look a job up. Raises NotFoundError."""
        return _answer(await self._find(workspace, job))

    async def list(
        self, workspace: str, *, world: str | None = None, limit: int = 100, cursor: int | None = None
    ) -> WorldJobsPage:
        """Read one page of the workspace's jobs, the newest first."""
        page = await (await self._store()).jobs(workspace, world=world, before=cursor, limit=limit)
        return WorldJobsPage(world_jobs=[*map(_answer, page)], next_cursor=page[-1].sequence if page.more else None)

    async def wait(self, workspace: str, job: str) -> WorldJob:
        """Wait for the end of a job. Raises NotFoundError; PlatformError where its end cannot be recorded, and
        SandboxUnavailableError where this node is closed before."""
        while not (found := _answer(await self._find(workspace, job))).state.is_over:
            if self._closed:
                raise SandboxUnavailableError("this node has been closed", reason="NODE_CLOSED")
            task = self._do(workspace, found.id)
            await asyncio.wait([task])
            if not task.cancelled() and (error := task.exception()) is not None:
                raise PlatformError(
                    f"world job {found.id} cannot be gone on with: {error}", step="world job"
                ) from error
        return found

    async def cancel(self, workspace: str, job: str) -> WorldJob:
        """End a job that has not ended. Raises NotFoundError."""
        found = await self._find(workspace, job)
        await self._end(found.id, WorldJobState.CANCELLED)
        if (task := self._doing.pop(found.id, None)) is not None:
            task.cancel()
            await asyncio.wait([task])
        return _answer(await self._row(workspace, job))

    async def delete(self, workspace: str, job: str) -> None:
        """Remove a job that has ended. Raises NotFoundError, ValidationError."""
        found = await self._row(workspace, job)
        if not await (await self._store()).remove_job(workspace, found.id, while_in=ENDED):
            raise ValidationError(f"world job {found.id} has not ended: cancel it first, or wait for its end")

    async def close(self) -> None:
        """Stop doing jobs; what was not ended is gone on with by whoever is asked about it next."""
        self._closed = True
        tasks, self._doing = [*self._doing.values()], {}
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def _find(self, workspace: str, job: str) -> StoredWorldJob:
        """A job's row; one that has not ended is done from now on, if it is not yet. Raises NotFoundError."""
        found = await self._row(workspace, job)
        if found.state in OPEN and not self._closed:
            self._do(workspace, found.id)
        return found

    async def _row(self, workspace: str, job: str) -> StoredWorldJob:
        found = await (await self._store()).find_job(workspace, job)
        if found is None:
            raise NotFoundError(f"the workspace has no world job {job!r:.140}")
        return found

    def _do(self, workspace: str, job: str) -> asyncio.Task[None]:
        """The task that does a job."""
        task = self._doing.get(job)
        if task is None or task.done():
            task = self._doing[job] = node_task(self._done(workspace, job), f"world job {job}", workspace=workspace)
            task.add_done_callback(lambda ended: self._forget(job, ended))
        return task

    def _forget(self, job: str, ended: asyncio.Task[None]) -> None:
        if self._doing.get(job) is ended:
            del self._doing[job]
        if not ended.cancelled() and (error := ended.exception()) is not None:
            _log.error("world job %s cannot be gone on with: %s", job, error, exc_info=error)

    async def _done(self, workspace: str, job: str) -> None:
        """Do a job, when it is its workspace's turn."""
        async with self._turns.setdefault(workspace, asyncio.Lock()):
            row = await self._row(workspace, job)
            if row.state not in OPEN:
                return
            try:
                by_agent = await self._played_by_agent(row)  # for an hour, in no place of others'
                async with self._places:
                    counts = await self._make(row, by_agent)
            except SandboxUnavailableError:  # the node is closed: another one goes on
                raise
            except (HarenaError, OSError) as error:
                await self._end(job, WorldJobState.FAILED, error=_told(job, error))
            else:
                await self._end(job, WorldJobState.COMPLETED, **counts.to_columns())

    async def _played_by_agent(self, row: StoredWorldJob) -> Sequence[Sequence[Call]] | None:
        """What a model does in each episode; None = none plays. Raises HarenaError."""
        order = TrajectoryOrder.from_dict(row.trajectories)
        if order.mode != AGENT:
            return None
        store = await self._store()
        await store.write_job(row.id, {"state": WorldJobState.RUNNING, "error": None}, while_in=OPEN)
        return await self._agents.played(row.workspace, row.world, order)

    async def _make(self, row: StoredWorldJob, by_agent: Sequence[Sequence[Call]] | None) -> _Counts:
        """Play, write and publish. Raises HarenaError for what makes the job fail."""
        manifest, order = WorldManifest.from_dict(row.manifest), TrajectoryOrder.from_dict(row.trajectories)
        store, counts = await self._store(), _Counts()
        await store.write_job(row.id, {"state": WorldJobState.RUNNING, "error": None}, while_in=OPEN)
        network = await WORLD_GAMES.run_for(row.workspace, lambda: network_of(manifest))
        async with spooled("harena-world-") as folder:
            await self._play(row, network, manifest, order, by_agent, Path(folder) / ROWS_FILE, counts)
            if not await store.write_job(row.id, counts.to_columns(), while_in=OPEN):
                return counts  # somebody has ended it
            if not counts.rows:
                kept = "reached the goal" if order.only_successful else "has an action"
                raise ValidationError(
                    f"none of the {order.count} episodes {kept} within {order.max_steps} steps: give more steps "
                    "(max_steps), another player, or keep all (only_successful false)"
                )
            name, _, version = row.dataset.partition("@")
            files = await WORLD_GAMES.run(files_of, Path(folder))
            try:
                await self._publish(row.workspace, name, version, _pieces(pack_files(files)))
            except ValidationError as error:
                # the version is this job's alone: an earlier life of it, in which a model played a little differently,
                # has published it and has not lived to say so
                if order.mode != AGENT or error.reason != VERSION_TAKEN:
                    raise
        return counts

    async def _play(
        self,
        row: StoredWorldJob,
        network: Network,
        manifest: WorldManifest,
        order: TrajectoryOrder,
        by_agent: Sequence[Sequence[Call]] | None,
        place: Path,
        counts: _Counts,
    ) -> None:
        """Write the rows in the order of their numbers, up to `threads` of them in the making at one time."""
        store, goal = await self._store(), goal_of(network, order.goal)

        def made(number: int) -> tuple[bool, bytes]:
            if by_agent is None:
                episode = play(network, goal, order, number)
            else:
                episode = replayed_calls(network, goal, order, number, by_agent[number])
            if (order.only_successful and not episode.reached) or not episode.steps:
                return episode.reached, b""
            return episode.reached, row_line(network, manifest, order, episode)

        for first in range(0, order.count, order.threads):
            numbers = range(first, min(order.count, first + order.threads))
            tasks = [WORLD_GAMES.run_for(row.workspace, partial(made, number)) for number in numbers]
            played = await asyncio.gather(*tasks)
            await WORLD_GAMES.run(_append, place, [line for _, line in played])
            for reached, line in played:
                counts.played += 1
                counts.reached += reached
                counts.rows += bool(line)
            if counts.played // _NOTED_EVERY > (counts.played - len(numbers)) // _NOTED_EVERY:
                await store.write_job(row.id, counts.to_columns(), while_in=OPEN)

    async def _end(self, job: str, state: WorldJobState, **more: Any) -> None:
        ended_at = self._clock.utcnow().isoformat()
        await (await self._store()).write_job(job, {"state": state, "ended_at": ended_at, **more}, while_in=OPEN)


def _check_goal(manifest: WorldManifest, order: TrajectoryOrder) -> None:
    """Raises ValidationError for a goal that the world does not have, or that nobody can reach."""
    network = network_of(manifest)
    goal = goal_of(network, order.goal)
    if shortest_way(network, goal) is None:
        raise ValidationError(f"goal: no way leads to {goal.name}; `harena world get` lists the goals that there are")


def _told(job: str, error: HarenaError | OSError) -> str:
    """The error as whoever asks may see it: of a fault the first line, and nothing of where files lie; the log has the
    rest."""
    whole = str(error)
    told = without_server_places(whole if isinstance(error, ValidationError | NotFoundError) else whole.split("\n")[0])
    if told != whole:
        _log.warning("world job %s failed: %s", job, whole)
    return told


def _append(place: Path, lines: Sequence[bytes]) -> None:
    with place.open("ab") as out:
        out.writelines(lines)


async def _pieces(pieces: Iterator[bytes]) -> AsyncIterator[bytes]:
    while piece := await WORLD_GAMES.run(next, pieces, b""):
        yield piece


def _answer(row: StoredWorldJob) -> WorldJob:
    return WorldJob.from_dict(
        {
            "id": row.id,
            "world": row.world,
            "manifest": row.manifest,
            "order": row.trajectories,
            "dataset": row.dataset,
            "state": row.state,
            "played": row.played,
            "reached": row.reached,
            "rows": row.rows,
            "error": row.error,
            "created_at": row.created_at,
            "ended_at": row.ended_at,
        }
    )
