"""How long the node waits for a file operation inside a sandbox before it takes it for held up by a program."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

T = TypeVar("T")

PATIENCE_SECONDS = 8.0
"""time that one step may take where the machine has processors for it: a step takes microseconds"""
MOST_SECONDS = 30.0
"""time after which a step is given up however busy the machine is"""
_SLICE_SECONDS = 1.0
_STARVED_SHARE = 0.5
"""share of a slice for which a thread of the sandbox was ready to run and got no processor"""


class Patience:
    """Waits for one step after the other of a sandbox's file operations.

    A program can hold a step up for ever (it locks the file, stops the process), so each has a time limit. An
    overloaded machine holds steps up as well, and that is nobody's doing: once a step has taken nearly
    PATIENCE_SECONDS, the node looks at slices of a second, and gives up after the first one in which its own event
    loop was in time and no thread of the sandbox waited for a processor.
    """

    def __init__(self, waited: Callable[[], Awaitable[float]]) -> None:
        """`waited` tells the longest time, in seconds, that a thread of the sandbox has waited for a processor."""
        self._waited = waited

    async def wait(self, step: asyncio.Future[T], more_seconds: float = 0.0) -> T:
        """What the step gives, which has PATIENCE_SECONDS and `more_seconds`. Raises TimeoutError; does not cancel
        the step."""
        loop = asyncio.get_running_loop()
        ends = loop.time() + MOST_SECONDS + more_seconds
        await asyncio.wait([step], timeout=PATIENCE_SECONDS - _SLICE_SECONDS + more_seconds)
        before = None if step.done() else await self._measure(step)
        while not step.done():
            began = loop.time()
            await asyncio.wait([step], timeout=_SLICE_SECONDS)
            after = None if step.done() else await self._measure(step)
            took = loop.time() - began
            if not step.done() and (took_in_turn(took, before, after) or loop.time() >= ends):
                raise TimeoutError
            before = after
        return step.result()

    async def _measure(self, step: asyncio.Future[T]) -> float | None:
        """None = the spawner did not answer in time, or the step has ended meanwhile."""
        asking = asyncio.ensure_future(self._waited())
        try:
            either: tuple[asyncio.Future[Any], ...] = (step, asking)
            await asyncio.wait(either, timeout=_SLICE_SECONDS, return_when=asyncio.FIRST_COMPLETED)
            return asking.result() if asking.done() else None
        finally:
            asking.cancel()


def took_in_turn(took_seconds: float, waited_before: float | None, waited_after: float | None) -> bool:
    """Whether node, spawner and sandbox had their processors in a slice that ended after `took_seconds`: it then counts
    against the step. None stands for a measure that did not come in time."""
    if waited_before is None or waited_after is None or took_seconds > _SLICE_SECONDS * (1 + _STARVED_SHARE):
        return False
    return waited_after - waited_before < _STARVED_SHARE * took_seconds
