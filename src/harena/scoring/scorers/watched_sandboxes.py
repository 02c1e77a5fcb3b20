"""Sandboxes of one judging that are remembered, and what is asked of them when they have ended."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from harena.core.errors import HarenaError
from harena.core.models import SandboxSpec
from harena.core.ports import SandboxPort, SandboxSource

LACKED_PROCESSES = (
    "the processes that all sandboxes of the workspace, or of this node, may have together were used up, and a program "
    "was refused one though its sandbox had fewer than it may have; run fewer sandboxes at a time, or lower their pids"
)
_END_NEWS_SECONDS = 30.0
"""for which the end of a sandbox that was given back is waited for; where many processes are, an end takes long"""


class Creations:
    """A source of sandboxes that remembers what was raised where one was created. Implements `SandboxSource`."""

    def __init__(self, source: SandboxSource) -> None:
        self.source = source
        self.failure: Exception | None = None
        self._made: list[SandboxPort] = []

    @asynccontextmanager
    async def sandbox(self, spec: SandboxSpec) -> AsyncIterator[SandboxPort]:
        """Make a sandbox, and keep the error if that fails: nothing of the candidate was in it then."""
        async with AsyncExitStack() as stack:
            try:
                made = await stack.enter_async_context(self.source.sandbox(spec))
            except Exception as error:  # raised again: whatever it is, nothing of the candidate was in the sandbox
                self.failure = error
                raise
            self._made.append(made)
            yield made

    async def lacked_processes(self) -> bool:
        """Whether a program in one of them was refused a process by no limit of its sandbox. They have all ended."""
        for made in self._made:
            try:
                async with asyncio.timeout(_END_NEWS_SECONDS):
                    if (await made.wait_dead()).lacked_processes:
                        return True
            except (TimeoutError, HarenaError):
                continue
        return False
