"""harena: warm execs in kept sandboxes, one per worker. Programs of one worker share a sandbox, one after the other."""

from __future__ import annotations

import asyncio

from benchmarks.peers.harena_program import WARM_BLUEPRINT, close_node, run_program
from benchmarks.peers.harena_program import unavailable as unavailable
from benchmarks.peers.port import Setting
from benchmarks.verdicts import Ending
from harena import Limits, Sandbox


class HarenaKept:
    """The memory limit belongs to the sandbox, so all programs must ask for the one in the setting."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._idle: asyncio.Queue[Sandbox] = asyncio.Queue()

    async def start(self) -> None:
        """Create the sandboxes, and wait until each of them answers."""
        limits = Limits(memory_bytes=self._setting.memory_bytes)
        kept = [Sandbox.run(blueprint=WARM_BLUEPRINT, limits=limits) for _ in range(self._setting.concurrency)]
        for sandbox in kept:
            await sandbox.exec(["true"])
            self._idle.put_nowait(sandbox)

    async def run(self, program: str, stdin: bytes | None, timeout_seconds: float, memory_bytes: int) -> Ending:
        """One exec in a sandbox that is idle. Raises ValueError for another memory limit than the setting's."""
        if memory_bytes != self._setting.memory_bytes:
            raise ValueError(f"kept sandboxes have {self._setting.memory_bytes} bytes, not {memory_bytes}")
        sandbox = await self._idle.get()
        try:
            return await run_program(sandbox, program, stdin, timeout_seconds)
        finally:
            self._idle.put_nowait(sandbox)

    async def close(self) -> None:
        """End the node, and the sandboxes with it."""
        await close_node()


def make(setting: Setting) -> HarenaKept:
    """The peer."""
    return HarenaKept(setting)
