"""A fresh sandbox per program: created (or claimed), used once, ended. What harena_real and harena_warm share."""

from __future__ import annotations

from benchmarks.peers.harena_program import close_node, run_program
from benchmarks.verdicts import Ending
from harena import Limits, Sandbox


class HarenaFresh:
    """`blueprint` None = the default image with a real interpreter start."""

    def __init__(self, blueprint: str | None) -> None:
        self._blueprint = blueprint

    async def start(self) -> None:
        """The node, its template and its pool start with the first sandbox; the drive's warm-up pays for them."""

    async def run(self, program: str, stdin: bytes | None, timeout_seconds: float, memory_bytes: int) -> Ending:
        """Create, execute, and wait for the end of the sandbox, so that nobody else pays for its clean-up."""
        sandbox = Sandbox.run(blueprint=self._blueprint, limits=Limits(memory_bytes=memory_bytes))
        try:
            return await run_program(sandbox, program, stdin, timeout_seconds)
        finally:
            await sandbox.stop()

    async def close(self) -> None:
        """End the node."""
        await close_node()
