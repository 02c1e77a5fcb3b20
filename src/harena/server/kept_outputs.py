"""Limit on the outputs that the server buffers for the commands of each workspace. Used from one event loop.

A command's output stays in the server's memory until its end, also where nobody reads it. Each stream has a limit of
its own; this is the limit of all streams of a workspace together. Where they hold more, those that hold the most are
ended, and what they held is dropped.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Protocol

from harena.core.clock import Clock
from harena.core.errors import LimitExceededError, PlatformError
from harena.core.output import OutputBuffer
from harena.core.threads import NODE, node_task
from harena.jobs.allocator import give_back
from harena.server.quotas import Quotas

LOOK_SECONDS = 0.2
MUCH_BYTES = 8 << 20


class Command(Protocol):
    """A command that runs."""

    stdout: OutputBuffer
    stderr: OutputBuffer

    def kill(self) -> None:
        """End it."""


class KeptOutputs:
    """Holds the running commands of one server to this limit, workspace by workspace."""

    def __init__(self, quotas: Quotas, clock: Clock) -> None:
        self._quotas = quotas
        self._clock = clock
        self._running: dict[str, list[Command]] = {}
        self._ended: set[int] = set()
        """ids of those among them that were ended for what they kept"""
        self._looking: asyncio.Task[None] | None = None
        self._giving_back: asyncio.Task[None] | None = None

    def add(self, workspace: str, command: Command) -> None:
        """Look at a command's output from now on."""
        self._running.setdefault(workspace, []).append(command)
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look())

    def remove(self, workspace: str, command: Command) -> None:
        """Nobody reads it any more: what it kept is dropped at once, and the memory of much goes back to the kernel."""
        self._ended.discard(id(command))
        if _size(command) >= MUCH_BYTES and (self._giving_back is None or self._giving_back.done()):
            self._giving_back = node_task(self._give_back(), "give memory back")
        command.stdout.discard()
        command.stderr.discard()
        running = self._running[workspace]
        running.remove(command)
        if not running:
            del self._running[workspace]

    def check(self, command: Command) -> None:
        """Raises LimitExceededError where it was ended for what it kept."""
        if id(command) in self._ended:
            raise LimitExceededError(
                "the commands of this workspace printed more than the server keeps for it (output_bytes), and this one "
                "was ended: read outputs as they come, or write them to files",
                reason="OUTPUTS",
            )

    async def _give_back(self) -> None:
        """What lies free between other things stays with the process otherwise: 630 of 630 MiB, for good."""
        await self._clock.sleep(LOOK_SECONDS)  # what waits to be sent has been let go of by then
        await NODE.run(give_back)

    async def _look(self) -> None:
        while self._running:
            for workspace in list(self._running):
                with suppress(PlatformError):  # what the workspace may use is not known at the moment
                    self._end_some(workspace, (await self._quotas.limits_of(workspace)).output_bytes)
            await self._clock.sleep(LOOK_SECONDS)

    def _end_some(self, workspace: str, most: int) -> None:
        running = self._running.get(workspace, [])
        kept = sum(_size(command) for command in running)
        if kept <= most:
            return
        for command in sorted(running, key=_size, reverse=True):
            kept -= _size(command)
            self._ended.add(id(command))
            command.stdout.discard()
            command.stderr.discard()
            command.kill()
            if kept <= most:
                return


def _size(command: Command) -> int:
    return command.stdout.size_bytes + command.stderr.size_bytes
