"""Whether one sandbox runs, what it died of, and what it has used: all that its spawner knows of it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from harena.core.errors import (
    PlatformError,
    SandboxNotRunningError,
    SandboxTerminatedError,
    SandboxUnavailableError,
)
from harena.core.models import ProcessorTime
from harena.core.ports import Death
from harena.core.shared_future import SharedFuture

if TYPE_CHECKING:
    from harena.runtime.host.link import SpawnerLink

_NODE_WITHOUT_MEMORY = (
    "the memory of all sandboxes together, or of its workspace's, was used up, and the kernel ended a program in here "
    "that had met no limit of its own; run fewer sandboxes at a time, or lower their memory_mb"
)


class BoxLife:
    """Made with its sandbox, and ended with it. Used from one event loop."""

    def __init__(self, link: SpawnerLink, number: int, sandbox_id: str, loop: asyncio.AbstractEventLoop) -> None:
        """`number`: what the spawner calls it by."""
        self.number = number
        self.ready: asyncio.Future[None] = loop.create_future()
        """init has made all that the sandbox needs"""
        self.is_stopping = False
        """somebody has asked it to end"""
        self.failure = ""
        """why it ends, or could not start"""
        self._link = link
        self._id = sandbox_id
        self._dead: SharedFuture[Death] = SharedFuture(loop=loop)
        self._oom_kills = 0
        self._used_before = 0.0
        """processor time of what has run in here until its files were held"""

    # -- its end -------------------------------------------------------------------------------------------------

    @property
    def is_dead(self) -> bool:
        """The spawner has said that nothing of it runs any more."""
        return self._dead.done()

    @property
    def is_alive(self) -> bool:
        """It has not ended and nobody has asked it to."""
        return not (self.is_stopping or self._dead.done() or self.failure)

    def check_running(self) -> None:
        """Raise SandboxNotRunningError, or what `end_error` gives, if it has ended or is to end."""
        if self._dead.done() or self.is_stopping:
            death = self._dead.result() if self._dead.done() else None
            if death is not None and death.memory:
                raise SandboxNotRunningError(f"sandbox {self._id} has ended: out of memory")
            raise self.end_error()

    def end_error(self) -> Exception:
        """What is raised where its end was in the way."""
        if self.is_stopping:
            return SandboxTerminatedError(f"sandbox {self._id} was stopped")
        return SandboxUnavailableError(
            f"sandbox {self._id} was lost: {self.failure or 'its init or its node was killed from outside'}",
            reason="NODE_OUT_OF_MEMORY" if self.failure == _NODE_WITHOUT_MEMORY else "SANDBOX_LOST",
        )

    def kill(self) -> None:
        """Have the spawner end it, without waiting."""
        self._link.kill(self.number)

    def fail(self, why: str) -> None:
        """End it because of what it, or its init, has done. The first reason is the one that is told."""
        self.failure = self.failure or why
        self.kill()

    async def wait_dead(self) -> Death:
        """Wait until it is dead, and tell what it died of."""
        return await self._dead.wait()

    def judge_death(self, oom_kills: int, kills_from_above: int, lacked_processes: bool) -> Death:
        """What it has died of, after so many processes that its memory limit has killed, and limits above it."""
        if kills_from_above and not self.is_stopping:
            self.failure = self.failure or _NODE_WITHOUT_MEMORY
        by_memory = oom_kills > self._oom_kills and not self.is_stopping
        detail = self.failure or ("out of memory" if by_memory else "" if self.is_stopping else "it ended by itself")
        return Death(by_request=self.is_stopping, memory=by_memory, detail=detail, lacked_processes=lacked_processes)

    def end(self, death: Death) -> None:
        """It is dead from now on; whoever waits for that is woken in a later turn of the loop."""
        self._dead.set_result(death)

    def end_start(self, death: Death) -> None:
        """It will never be ready, unless it was."""
        if not self.ready.done():
            failed = PlatformError(f"sandbox start: {death.detail}", step=death.detail.partition(":")[0])
            self.ready.set_exception(self.end_error() if self.is_stopping else failed)

    # -- what it has used ----------------------------------------------------------------------------------------

    @property
    def counts_memory(self) -> bool:
        """A cgroup counts what its programs hold."""
        return self._link.counts_memory

    async def processor_time(self) -> ProcessorTime:
        """Ask what its programs have had of the processors so far."""
        waited, used, is_idle = await self._link.ask("time", self.number)
        return ProcessorTime(
            waited_seconds=float(waited), used_seconds=float(used) + self._used_before, is_idle=bool(is_idle)
        )

    async def held_bytes(self) -> int:
        """Ask for the memory that its programs and files hold now."""
        return int(await self._link.ask("held", self.number))

    async def waited(self) -> float:
        """Ask for the longest wait of a runnable thread for a processor."""
        return (await self.processor_time()).waited_seconds

    async def was_out_of_memory(self) -> bool:
        """Whether its memory limit has killed something since the last time this was asked. Raises
        SandboxUnavailableError, and ends it, if a limit above its own has: that is nobody's doing in here."""
        kills, from_above = await self._link.ask("oom", self.number)
        if from_above:
            self.fail(_NODE_WITHOUT_MEMORY)
            raise self.end_error()
        more = int(kills) > self._oom_kills
        self._oom_kills = max(int(kills), self._oom_kills)
        return more

    def go_on_as(self, number: int, used_before: float) -> None:
        """Be the sandbox that the spawner calls by this number from now on, and have the former one ended.
        `used_before`: the processor time of all that has run in here so far."""
        former, self.number = self.number, number
        self._used_before = used_before
        self._oom_kills = 0
        self._link.kill(former)
