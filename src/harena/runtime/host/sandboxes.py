"""The sandboxes of one node: their records, their lifetimes, and who may still ask about them.

A record lives in one of two places. While its sandbox runs, it is among the living, with one task that waits for the
sandbox's death and one timer for its lifetime; nothing is polled. When the sandbox has ended, for whatever reason, that
task writes the last status and moves the record to the remembered ones, of which the newest MOST_REMEMBERED are kept,
and MOST_REMEMBERED_BYTES of what their makers noted about them; where there are more, the workspace that has most of
them loses its oldest.

    PENDING -> RUNNING                     it is being created
    RUNNING -> TERMINATING -> COMPLETED    somebody asked
            -> TERMINATING -> TERMINATED   its lifetime is over
            -> FAILED                      it ended by itself; status_reason says why
    PENDING -> FAILED                      it could not be created
    PENDING -> TERMINATING -> COMPLETED    somebody asked before it ran

Used from one event loop.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from harena.core.blueprint_source import BlueprintSource, found_in_thread
from harena.core.checked import checked_seconds, quote
from harena.core.clock import Clock, Timer
from harena.core.default_image import is_default
from harena.core.errors import (
    HarenaError,
    HostUnsupportedError,
    LimitExceededError,
    NotFoundError,
    PlatformError,
    SandboxNotFoundError,
    SandboxNotRunningError,
    SandboxResourceExhaustedError,
    SandboxStartError,
    SandboxTerminatedError,
    SandboxUnavailableError,
    SandboxValidationError,
    ValidationError,
)
from harena.core.models import SandboxSpec
from harena.core.network_policy import NetworkPolicy
from harena.core.ports import Death, Runtime, SandboxPort, SandboxSource
from harena.core.records.blueprints import Blueprint
from harena.core.records.sandboxes import SandboxInfo, SandboxStatus
from harena.core.snapshots import snapshot_in
from harena.core.workspace import LimitsOf, check_profile, fill_limits, within
from harena.runtime.host.daemons import start_daemons

if TYPE_CHECKING:
    from harena.core.records.sandbox_answers import CommandOutput

MOST_REMEMBERED = 10_000
MOST_REMEMBERED_BYTES = 64 * 1024**2
MOST_NOTED = 256 * 1024
"""characters of a sandbox's tags and annotations"""
LOOKED_AT_ONCE = 1000
"""records and tags that a list looks at before other work has its turn"""
MOST_ENDING = 8
"""lent sandboxes whose end goes on while nobody waits for it; whoever gives back one more waits until one has gone"""
_DEFAULT_IMAGE = SandboxSpec().image
_log = logging.getLogger("harena.node")


class SandboxRecord:
    """One sandbox of this node. Implements `SandboxHandle`."""

    __slots__ = (
        *("_clock", "_coming", "_deadline", "_death", "_ended", "_ending", "_forget", "_info", "_news", "_port"),
        *("_status", "_timer", "_wanted", "id", "pending_id", "workspace"),
    )

    def __init__(
        self, info: SandboxInfo, workspace: str, clock: Clock, forget: Callable[[SandboxRecord], None]
    ) -> None:
        """Record a sandbox that is being created; `forget` is called once, at the end."""
        self.id = self.pending_id = info.id
        """`id` is the runtime's as soon as there is one; `pending_id` is what it was called before that"""
        self.workspace = workspace
        self._info = info
        self._news: dict[str, Any] = {}
        """what has changed since, put together with it when somebody asks: nobody asks about most sandboxes"""
        self._status = info.status
        self._port: SandboxPort | None = None
        self._clock = clock
        self._forget = forget
        self._coming: asyncio.Future[None] | None = asyncio.get_running_loop().create_future()
        """done when its creation has ended; None from then on"""
        self._ended: asyncio.Future[None] | None = None
        self._ending: asyncio.Task[None] | None = None
        self._wanted: tuple[SandboxStatus, str | None] = (SandboxStatus.COMPLETED, None)
        self._timer: Timer | None = None
        self._deadline: float | None = None
        self._death: asyncio.Task[None] | None = None

    @property
    def info(self) -> SandboxInfo:
        """What is known now."""
        if self._news:
            self._info, self._news = replace(self._info, **self._news), {}
        return self._info

    def drop_notes(self) -> None:
        """It was forgotten; who answers a repeated request with it holds it on."""
        self._info = replace(self.info, tags=(), annotations={})

    @property
    def port(self) -> SandboxPort:
        """The running sandbox."""
        if self._status is SandboxStatus.RUNNING and self._port is not None:
            return self._port
        about = f"sandbox {self.id} is {self._status}"
        reason = f" ({self.info.status_reason})" if self.info.status_reason else ""
        if self._status is SandboxStatus.FAILED:
            raise SandboxNotRunningError(f"{about}{reason}: create a new one", reason="SANDBOX_FAILED")
        if self._status is SandboxStatus.PENDING:
            raise SandboxNotRunningError(f"{about}: it is still being created; wait until it runs")
        raise SandboxTerminatedError(f"{about}{reason}: create a new one", reason="SANDBOX_TERMINATED")

    async def runs(self, port: SandboxPort, *, has_blueprints_root: bool = True) -> None:
        """It was created: wait for its death, and count its lifetime. `has_blueprints_root`: its files are those that
        its blueprint's digest names. Raises SandboxTerminatedError where somebody has stopped it meanwhile, when it has
        gone."""
        self._port = port
        self.id = port.id
        digest = port.origin.blueprint_digest if has_blueprints_root else ""
        made_of = {"image_digest": port.origin.image_digest, "blueprint_digest": digest}
        self._news.update(id=port.id, started_at=self._clock.utcnow(), enforcement=port.enforcement, **made_of)
        if self._ending is None:
            self._move(SandboxStatus.RUNNING, None)
        self._death = asyncio.get_running_loop().create_task(self._wait_dead())
        if self._info.limits.lifetime_seconds is not None:
            self._set_deadline(self._clock.now() + self._info.limits.lifetime_seconds)
        self._creation_has_ended()
        if self._ending is not None:
            await asyncio.shield(self._ending)
            raise SandboxTerminatedError(
                f"sandbox {self.id} was stopped while it was being created: create a new one",
                reason="SANDBOX_TERMINATED",
            )

    def never_ran(self, reason: str) -> None:
        """Its creation failed, or was given up."""
        self._finish(*(self._wanted if self._ending is not None else (SandboxStatus.FAILED, reason)))
        self._creation_has_ended()

    def _creation_has_ended(self) -> None:
        if self._coming is not None:
            coming, self._coming = self._coming, None
            coming.set_result(None)

    @property
    def is_coming(self) -> bool:
        """It is being created."""
        return self._coming is not None

    async def refresh(self) -> SandboxInfo:
        """The node is here: what is known is what is so."""
        return self.info

    async def wait_terminal(self) -> SandboxInfo:
        """Returns when it has ended."""
        if not self._status.is_terminal:
            if self._ended is None:
                self._ended = asyncio.get_running_loop().create_future()
            await asyncio.shield(self._ended)
        return self.info

    async def outputs(self) -> list[CommandOutput]:
        """None: nothing of a command is kept here beside its result."""
        return []

    async def stop(self, *, grace_seconds: float = 0.0) -> None:
        """End it. Callers that come later wait for the same end; the first one's grace counts."""
        if not grace_seconds >= 0:
            raise SandboxValidationError(f"grace_seconds is {grace_seconds}: give zero or more seconds")
        if not self._status.is_terminal:
            await asyncio.shield(self._begin_end(SandboxStatus.COMPLETED, None, grace_seconds))

    async def extend_lifetime(self, seconds: float) -> SandboxInfo:
        """End `seconds` from now at the earliest; never sooner than was already agreed."""
        checked_seconds(seconds, "what a lifetime is extended by")
        if self._status is not SandboxStatus.RUNNING:
            _ = self.port  # raises what is the matter
        if self._deadline is not None and (wished := self._clock.now() + seconds) > self._deadline:
            self._set_deadline(wished)
        return self.info

    def _set_deadline(self, deadline: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        seconds = deadline - self._clock.now()
        self._deadline = deadline
        self._timer = self._clock.call_later(seconds, self._lifetime_over)
        self._news["expires_at"] = self._clock.utcnow() + timedelta(seconds=seconds)

    def _lifetime_over(self) -> None:
        # nobody waits for this end: a failure of it is in the record, and must not be reported a second time
        self._begin_end(SandboxStatus.TERMINATED, "its lifetime is over", 0.0).add_done_callback(_take_exception)

    def _begin_end(self, status: SandboxStatus, reason: str | None, grace_seconds: float) -> asyncio.Task[None]:
        if self._ending is None:
            self._wanted = (status, reason)
            self._move(SandboxStatus.TERMINATING, reason)
            self._ending = asyncio.get_running_loop().create_task(self._destroy(grace_seconds))
        return self._ending

    async def _destroy(self, grace_seconds: float) -> None:
        if self._coming is not None:  # what is half made cannot be ended: it is when it has been made
            await asyncio.wait((self._coming,))
        if self._port is None or self._death is None:
            return
        try:
            await self._port.destroy(grace_seconds=grace_seconds)
        except HarenaError as error:
            if not self._status.is_terminal:
                self._finish(SandboxStatus.FAILED, f"it could not be ended: {error}")
                self._death.cancel()
            raise
        if not self._death.done():  # mostly it has been told first
            await asyncio.wait((self._death,))

    async def _wait_dead(self) -> None:
        assert self._port is not None
        try:
            death = await self._port.wait_dead()
        except Exception as error:  # noqa: BLE001 - a record that cannot be watched must end, whatever the reason
            self._finish(SandboxStatus.FAILED, str(error) or type(error).__name__)
            return
        if death.by_request:
            self._finish(*self._wanted)
        else:
            self._finish(SandboxStatus.FAILED, _cause(death, self._info))

    def _move(self, status: SandboxStatus, reason: str | None) -> None:
        self._status = status
        self._news.update(status=status, status_reason=reason)

    def _finish(self, status: SandboxStatus, reason: str | None) -> None:
        self._move(status, reason)
        self._news["stopped_at"] = self._clock.utcnow()
        self._port = None
        if self._timer is not None:
            self._timer.cancel()
        if self._ended is not None and not self._ended.done():
            self._ended.set_result(None)
        self._forget(self)


@dataclass(frozen=True, slots=True)
class _NeverReady:
    """A sandbox whose daemons were not ready. What it was asked to be may be why: its limits, say."""

    asked: SandboxSpec
    until: float
    """it is remembered so long"""
    said: str


class Sandboxes:
    """Creates, finds, lists and ends sandboxes. `source` gives what scoring and jobs make theirs with."""

    def __init__(
        self,
        runtime: Runtime,
        blueprints: BlueprintSource,
        clock: Clock,
        *,
        most_remembered: int = MOST_REMEMBERED,
        limits_of: LimitsOf | None = None,
        waits: bool = False,
        check_network: Callable[[NetworkPolicy], None] | None = None,
    ) -> None:
        """`check_network` raises SandboxValidationError for a policy that this node does not serve; None = it serves
        all. `limits_of`: what a workspace's sandboxes may use at most; None = what they ask for. `waits`: a creation
        waits while its workspace has as many as it may; else that was asked before, as servers do for clients."""
        self._runtime = runtime
        self._blueprints = blueprints
        self._clock = clock
        self._most_remembered = most_remembered
        self._limits_of = limits_of
        self._waits = waits
        self._check_network = check_network
        self._never_ready: dict[tuple[str, str], _NeverReady] = {}
        """(workspace, id of a blueprint) -> its latest sandbox whose daemons were not ready"""
        self._waiting: deque[asyncio.Future[None]] = deque()
        """creations that wait for the end of a sandbox"""
        self._living: dict[str, SandboxRecord] = {}
        """by `pending_id`, in order of creation"""
        self._running: dict[str, SandboxRecord] = {}
        """by `id`, those of the living that were created"""
        self._lent: set[SandboxPort] = set()
        self._endings: set[asyncio.Task[None]] = set()
        self._remembered: OrderedDict[str, SandboxRecord] = OrderedDict()
        self._remembered_of: dict[str, OrderedDict[str, int]] = {}
        """workspace -> id of each of its remembered sandboxes -> characters of its notes"""
        self._noted: Counter[str] = Counter()
        """workspace -> the sum of them"""
        self._closed = False

    async def create(self, workspace: str, spec: SandboxSpec) -> SandboxRecord:
        """A running sandbox; its blueprint is one of the workspace's. Raises ValidationError, NotFoundError,
        LimitExceededError (it may have none), HostUnsupportedError, SandboxResourceExhaustedError or SandboxStartError
        (a SandboxFailedError)."""
        spec, blueprint = await self._planned(workspace, spec)
        await self._wait_for_room(workspace)
        record = self._pending(workspace, spec)
        self._living[record.pending_id] = record
        try:
            port = await self._make(workspace, spec, blueprint)
        except (ValidationError, NotFoundError) as error:  # it was never to be
            self._living.pop(record.pending_id, None)
            record.never_ran(str(error))
            raise
        except Exception as error:  # raised again below: whatever stopped the start, a bug too, belongs into the record
            reason = str(error) or type(error).__name__
            record.never_ran(reason)
            raise _start_error(error, record.id, reason) from error
        except BaseException:  # a cancellation, raised again: the record of what never ran ends, too
            record.never_ran("its creation was cancelled")
            raise
        self._running[port.id] = record
        await record.runs(port, has_blueprints_root=blueprint is None or _is_root_of(spec, blueprint))
        return record

    async def prepare(self, workspace: str, blueprint_id: str) -> None:
        """Begin with what takes a while before the first sandbox of a blueprint that is about to be asked for. What is
        wrong is told to whoever asks for it."""
        if self._closed:
            return
        with suppress(HarenaError):
            blueprint = await found_in_thread(self._blueprints, workspace, blueprint_id)
            self._runtime.prepare(blueprint.image, blueprint, workspace=workspace)

    async def prepare_place(self, workspace: str, spec: SandboxSpec) -> None:
        """Begin with what takes a while before sandboxes that are about to be asked for by this spec. An image that is
        not here is pulled; what is wrong is told to whoever asks for a sandbox."""
        with suppress(HarenaError):
            planned, blueprint = await self._planned(workspace, spec)
            self._runtime.prepare(planned.image, blueprint, workspace=workspace)

    async def _planned(self, workspace: str, spec: SandboxSpec) -> tuple[SandboxSpec, Blueprint | None]:
        """(what is made, of which blueprint)."""
        self._check_open()
        if (noted := _characters_of_notes(spec)) > MOST_NOTED:
            raise SandboxValidationError(
                f"tags and annotations have {noted} characters; a sandbox may have {MOST_NOTED}: keep what is larger "
                "in a file of the sandbox, or elsewhere"
            )
        blueprint = None
        if spec.blueprint is not None:
            blueprint = await found_in_thread(self._blueprints, workspace, spec.blueprint)
            self._check_open()
            spec = replace(spec, limits=fill_limits(spec.limits, blueprint.limits))
        ceilings = None if self._limits_of is None else await self._limits_of(workspace)
        if ceilings is not None:
            spec = replace(spec, limits=within(ceilings, spec.limits))
            self._check_open()
        if blueprint is not None and spec.image == _DEFAULT_IMAGE:
            spec = replace(spec, image=blueprint.image)
        elif blueprint is not None and not _is_root_of(spec, blueprint) and snapshot_in(spec.image) is None:
            raise SandboxValidationError(
                f"both the image {quote(spec.image)} and the blueprint {quote(blueprint.name)} are given, and that "
                f"is of the image {quote(blueprint.image)}: leave one out, or make a blueprint of the other image"
            )
        if blueprint is not None and blueprint.profile != "strict":
            spec = replace(spec, profile=blueprint.profile)
        if ceilings is not None:
            check_profile(ceilings, spec.profile)
        if blueprint is not None and spec.network is None and blueprint.network.is_on:
            spec = replace(spec, network=blueprint.network)
        if blueprint is not None and spec.gateways is None and blueprint.gateways:
            spec = replace(spec, gateways=blueprint.gateways)
        if self._check_network is not None and spec.network is not None:
            self._check_network(spec.network)
        return spec, blueprint

    async def _wait_for_room(self, workspace: str) -> None:
        """The workspace may have one more sandbox in this moment. Raises LimitExceededError where it may have none."""
        if self._limits_of is None or not self._waits:
            return
        most = (await self._limits_of(workspace)).sandboxes
        if not most:
            raise LimitExceededError(
                f"the workspace {workspace} may have no sandboxes: ask for some (harena workspaces set)",
                reason="SANDBOXES",
            )
        while sum(record.workspace == workspace for record in self._living.values()) >= most:
            room: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(room)
            await room
            self._check_open()

    def _wake_waiting(self) -> None:
        waiting, self._waiting = self._waiting, deque()
        for room in waiting:
            if not room.done():  # else it was cancelled
                room.set_result(None)

    def _pending(self, workspace: str, spec: SandboxSpec) -> SandboxRecord:
        info = _describe(
            f"sb_{secrets.token_hex(8)}", spec, status=SandboxStatus.PENDING, created_at=self._clock.utcnow()
        )
        return SandboxRecord(info, workspace, self._clock, self._forget)

    async def _make(self, workspace: str, spec: SandboxSpec, blueprint: Blueprint | None) -> SandboxPort:
        if blueprint is not None and blueprint.daemons:
            return await self._with_daemons(workspace, spec, blueprint)
        port = await self._runtime.create(spec, blueprint, workspace=workspace)
        if self._closed:  # while the runtime was busy with it
            await port.destroy()
            self._check_open()
        return port

    async def _with_daemons(self, workspace: str, spec: SandboxSpec, blueprint: Blueprint) -> SandboxPort:
        """A sandbox whose daemons are ready. One that is asked for as another one was, whose daemons were not, is not
        tried for as long as that took, a minute at most: runs of a job would each wait for it. Another workspace has
        other secrets, and neither fails for this one nor is told what its daemons said."""
        began = self._clock.now()
        asked = replace(spec, tags=(), annotations={})
        never = self._never_ready.get((workspace, blueprint.id))
        if never is not None and began < never.until and asked == never.asked:
            left = never.until - began
            raise PlatformError(f"{never.said} (the next attempt is possible in {left:.0f} s)", step="daemons")
        port = await self._runtime.create(spec, blueprint, workspace=workspace)
        try:
            self._check_open()
            await start_daemons(port, blueprint.daemons, self._clock)
        except BaseException as error:  # a cancellation, too: what is half made is nobody's
            if isinstance(error, PlatformError) and error.step == "daemons" and not spec.files:  # which may be large
                now = self._clock.now()
                kept = {key: each for key, each in self._never_ready.items() if each.until > now}
                never = _NeverReady(asked, now + min(60.0, now - began), str(error))
                self._never_ready = {**kept, (workspace, blueprint.id): never}
            await asyncio.shield(asyncio.ensure_future(port.destroy()))
            raise
        return port

    @asynccontextmanager
    async def lend(self, workspace: str, spec: SandboxSpec) -> AsyncIterator[SandboxPort]:
        """A sandbox for a block. It has no record, because nobody knows its id, and no lifetime but the block's.

        A block that fails or is cancelled is left when its sandbox has gone. One that comes to its end is left when the
        sandbox's end has begun: what ran in it has been seen, and to take it down the kernel mostly waits. Raises as
        `create` does, and, where the block fails, what `SandboxPort.destroy` raises."""
        spec, blueprint = await self._planned(workspace, spec)
        try:
            port = await self._make(workspace, spec, blueprint)
        except (ValidationError, NotFoundError, SandboxUnavailableError):
            raise
        except Exception as error:  # raised again below: whatever stopped the start, a bug too, belongs into a record
            record = self._pending(workspace, spec)
            record.never_ran(reason := str(error) or type(error).__name__)
            self._remember(record)
            raise _start_error(error, record.id, reason) from error
        self._lent.add(port)
        try:
            yield port
        except BaseException:  # a cancellation among them; who is cancelled meanwhile leaves an end that goes on
            await asyncio.shield(self._end_lent(port))
            raise
        self._end_lent(port)
        while len(self._endings) > MOST_ENDING:
            await asyncio.wait(self._endings, return_when="FIRST_COMPLETED")

    def _end_lent(self, port: SandboxPort) -> asyncio.Task[None]:
        ending = asyncio.create_task(port.destroy())
        self._endings.add(ending)
        ending.add_done_callback(partial(self._lent_has_ended, port))
        return ending

    def _lent_has_ended(self, port: SandboxPort, ending: asyncio.Task[None]) -> None:
        self._endings.discard(ending)
        if ending.cancelled():
            return
        if (error := ending.exception()) is None:
            self._lent.discard(port)
        else:  # `close` tries again, and raises
            _log.warning("sandbox %s could not be ended: %s", port.id, error)

    def get(self, sandbox_id: str, *, workspace: str | None = None) -> SandboxRecord:
        """Living or remembered, of this workspace (None = of any). Raises SandboxNotFoundError."""
        record = self._running.get(sandbox_id) or self._living.get(sandbox_id) or self._remembered.get(sandbox_id)
        if record is None or workspace not in (None, record.workspace):
            message = (
                f"no sandbox {sandbox_id!r} on this node: sandboxes end with the process that holds their node, "
                f"and the last {self._most_remembered} that ended are remembered"
            )
            raise SandboxNotFoundError(message, sandbox_id=sandbox_id)
        return record

    def pending(self, workspace: str) -> list[SandboxRecord]:
        """Sandboxes of the workspace that are being created, including those that were stopped meanwhile."""
        return [record for record in self._living.values() if record.is_coming and record.workspace == workspace]

    def list(self, *, statuses: Sequence[SandboxStatus] = (), include_terminal: bool = False) -> list[SandboxRecord]:
        """Sandboxes of all workspaces, in order of creation (ended ones first, in order of their end). A terminal
        status in `statuses` is a request for ended ones."""
        records = list(self._living.values())
        if _asks_for_ended(statuses, include_terminal):
            records = [*self._remembered.values(), *records]
        return [record for record in records if not statuses or record.info.status in statuses]

    async def list_of(
        self,
        workspace: str,
        *,
        tags: Sequence[str] = (),
        statuses: Sequence[SandboxStatus] = (),
        include_terminal: bool = False,
    ) -> Sequence[SandboxRecord]:
        """Sandboxes of a workspace that have all the tags, in the order of `list`. Other work has its turn after
        LOOKED_AT_ONCE records and tags: a workspace may have millions of tags."""
        records = [record for record in self._living.values() if record.workspace == workspace]
        if _asks_for_ended(statuses, include_terminal):
            ended = [self._remembered[sandbox_id] for sandbox_id in self._remembered_of.get(workspace, ())]
            records = [*ended, *records]
        wanted, found, looked_at = set(tags), [], 0
        for record in records:
            info = record.info
            if (not statuses or info.status in statuses) and wanted.issubset(info.tags):
                found.append(record)
            looked_at += 1 + (len(info.tags) if wanted else 0)
            if looked_at >= LOOKED_AT_ONCE:
                looked_at = 0
                await asyncio.sleep(0)
        return found

    def source(self, workspace: str) -> SandboxSource:
        """What makes sandboxes that live as long as a block, from the workspace's blueprints."""
        return _Source(self, workspace)

    async def close(self) -> None:
        """End all, at the same time; no new ones from now on. May be called more than once.

        Raises PlatformError if some could not be ended, after all others were.
        """
        self._closed = True
        self._wake_waiting()
        # those that are being created end by themselves: see `_made`
        stops = [record.stop() for record in self._living.values() if record.info.status is not SandboxStatus.PENDING]
        ends = await asyncio.gather(*stops, *(port.destroy() for port in self._lent), return_exceptions=True)
        failures = [end for end in ends if isinstance(end, BaseException)]
        if failures:
            message = f"{len(failures)} of {len(ends)} sandboxes could not be ended; the first: {failures[0]}"
            raise PlatformError(message, step="destroy sandbox") from failures[0]

    def abandon(self) -> None:
        """Forget all without ending any: they belong to another process (after a fork)."""
        self._closed = True
        self._living.clear()
        self._running.clear()
        self._lent.clear()
        self._remembered.clear()
        self._remembered_of.clear()
        self._noted.clear()

    def _check_open(self) -> None:
        if self._closed:
            raise SandboxUnavailableError("this node has been closed: open another one", reason="NODE_CLOSED")

    def _forget(self, record: SandboxRecord) -> None:
        self._running.pop(record.id, None)
        if self._living.pop(record.pending_id, None) is not None:
            self._remember(record)
        self._wake_waiting()

    def _remember(self, record: SandboxRecord) -> None:
        self._remembered[record.id] = record
        noted = _characters_of_notes(record.info)
        self._remembered_of.setdefault(record.workspace, OrderedDict())[record.id] = noted
        self._noted[record.workspace] += noted
        while len(self._remembered) > self._most_remembered:
            self._drop_oldest_of(max(self._remembered_of, key=lambda name: len(self._remembered_of[name])))
        while self._noted.total() > MOST_REMEMBERED_BYTES:
            self._drop_oldest_of(max(self._noted, key=self._noted.__getitem__))

    def _drop_oldest_of(self, workspace: str) -> None:
        mine = self._remembered_of[workspace]
        sandbox_id, noted = mine.popitem(last=False)
        self._noted[workspace] -= noted
        if not mine:
            del self._remembered_of[workspace], self._noted[workspace]
        self._remembered.pop(sandbox_id).drop_notes()


def _characters_of_notes(about: SandboxSpec | SandboxInfo) -> int:
    return sum(map(len, about.tags)) + sum(len(name) + len(note) for name, note in about.annotations.items())


def _is_root_of(spec: SandboxSpec, blueprint: Blueprint) -> bool:
    """Its files are those of the blueprint's image; a fork of one of the blueprint's sandboxes begins with others."""
    return spec.image == blueprint.image or (is_default(spec.image) and is_default(blueprint.image))


def _asks_for_ended(statuses: Sequence[SandboxStatus], include_terminal: bool) -> bool:
    return include_terminal or any(status.is_terminal for status in statuses)


def _start_error(error: Exception, sandbox_id: str, reason: str) -> Exception:
    """What to raise for a sandbox that could not be created."""
    if isinstance(error, HostUnsupportedError | SandboxResourceExhaustedError | SandboxUnavailableError):
        return error
    return SandboxStartError(f"a sandbox could not be started: {reason}", sandbox_id=sandbox_id, status_reason=reason)


class _Source:
    """Implements `SandboxSource` for one workspace."""

    def __init__(self, sandboxes: Sandboxes, workspace: str) -> None:
        self._sandboxes = sandboxes
        self._workspace = workspace

    def sandbox(self, spec: SandboxSpec) -> AbstractAsyncContextManager[SandboxPort]:
        """Lend a sandbox of the workspace for as long as the context is open."""
        return self._sandboxes.lend(self._workspace, spec)


def _describe(
    sandbox_id: str,
    spec: SandboxSpec,
    *,
    status: SandboxStatus,
    created_at: datetime,
    started_at: datetime | None = None,
    stopped_at: datetime | None = None,
    enforcement: Mapping[str, str] = MappingProxyType({}),
    status_reason: str | None = None,
) -> SandboxInfo:
    return SandboxInfo(
        id=sandbox_id,
        status=status,
        image=spec.image,
        blueprint=spec.blueprint,
        tags=spec.tags,
        annotations=spec.annotations,
        limits=spec.limits,
        enforcement=enforcement,
        created_at=created_at,
        profile=spec.profile,
        started_at=started_at,
        stopped_at=stopped_at,
        status_reason=status_reason,
    )


def _cause(death: Death, info: SandboxInfo) -> str:
    if death.memory:
        limit = info.limits.memory_bytes
        amount = f" of {limit} bytes" if limit is not None else ""
        return f"it reached its memory limit{amount} and was killed" + (f": {death.detail}" if death.detail else "")
    return death.detail or "it ended by itself"


def _take_exception(task: asyncio.Task[None]) -> None:
    if not task.cancelled():
        task.exception()
