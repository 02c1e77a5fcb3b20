"""A job whose platform fails too often waits until it works again, instead of learning from what is left.

The share is that of the last `window` rollouts that ended: as soon as more than `limit` of a window were lost to the
platform, no step is trained and no group admitted. Rollouts that are under way end. The job goes on when it is told to,
or when a probe says that rewards can be had again; the window is empty then.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from itertools import cycle

from harena.core.clock import Clock
from harena.core.errors import PlatformError
from harena.core.results import Validity
from harena.sdk.scores import score
from harena.training.data.prompts import PromptRow

FIRST_PROBE_SECONDS, PROBE_SECONDS = 1.0, 30.0
"""before the first probe; each waits twice as long as the one before, up to the second number"""
Probe = Callable[[], Awaitable[bool]]
Works = Callable[[PromptRow], Awaitable[bool]]


class Pause:
    """Whether one job has to wait, and until when."""

    def __init__(self, *, limit: float, window: int, clock: Clock, probe: Probe | None = None) -> None:
        """`limit`: a share; `window`: rollouts. Without a `probe` it waits until it is told."""
        self._most = limit * window
        self._ended: deque[bool] = deque(maxlen=window)
        self.why = ""
        """why the last lost rollout was lost"""
        self._clock = clock
        self._probe = probe
        self._told = asyncio.Event()

    @property
    def masked(self) -> int:
        """Rollouts of the window that were lost to the platform."""
        return sum(self._ended)

    @property
    def needed(self) -> bool:
        """They are too many."""
        return self.masked > self._most

    def add(self, *, masked: bool, why: str = "") -> None:
        """A rollout has ended. `why`: what was the matter with the platform."""
        self._ended.append(masked)
        if masked:
            self.why = why

    def end(self) -> None:
        """Go on. Without effect where there is no pause."""
        self._told.set()

    async def wait(self) -> str:
        """Until the job may go on; what ended the pause: "told" or "probe"."""
        self._told.clear()
        reason, seconds = "told", FIRST_PROBE_SECONDS
        while not self._told.is_set():
            await self._told_or_later(seconds)
            seconds = min(2 * seconds, PROBE_SECONDS)
            if not self._told.is_set() and self._probe is not None and await self._probe():
                reason = "probe"
                break
        self._ended.clear()
        return reason

    async def _told_or_later(self, seconds: float) -> None:
        told = asyncio.ensure_future(self._told.wait())
        waits: list[asyncio.Future[object]] = [told]  # type: ignore[list-item]
        if self._probe is not None:
            waits.append(asyncio.ensure_future(self._clock.sleep(seconds)))
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for future in waits:
                future.cancel()
            await asyncio.gather(*waits, return_exceptions=True)


class RewardProbe:
    """A probe: the platform works, and an answer gets a reward, which may take more than the platform: a judge, or what
    prepares a task. Each time it is asked about the next row, so that one that is broken by itself holds nothing up."""

    def __init__(self, platform: Probe, works: Works | None, rows: Sequence[PromptRow]) -> None:
        """`works`: of rollouts that can tell (`Rollouts.works`)."""
        self._platform = platform
        self._works = works
        self._rows = cycle(rows)

    async def __call__(self) -> bool:
        """Ask whether the platform works again and a row can be rewarded."""
        return await self._platform() and (self._works is None or await self._works(next(self._rows)))


async def platform_works() -> bool:
    """A probe: a program whose answer is known gets the score that it must, in a sandbox of its own."""
    contract = {"type": "tests", "entry_point": "f", "checks": [{"args": [20], "expected": 22}]}
    try:
        result = await score.aio("def f(x):\n    return x + 2\n", contract, retry_attempts=0)
    except PlatformError:
        return False
    return bool(result.validity == Validity.VALID and result.passed)
