"""Keeping time limits: when to look at a program, the control beside it, and what follows. See `time_limits`."""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from harena.core.clock import Standstill
from harena.core.errors import PlatformError
from harena.core.models import ExecOutcome, ExecRequest, ExecResult, ProcessorTime, SandboxSpec
from harena.core.ports import RunningExec, SandboxPort, SandboxSource
from harena.core.pressure import stalled_seconds
from harena.scoring.scorers.time_limits import (
    DELAYED_SHARE,
    FED_SHARE,
    PRESSED_SHARE,
    Allowance,
    Look,
    Standing,
    wall_limit,
)
from harena.scoring.verdict import StarvedError

_FRESH_SECONDS = 1.0
"""a control that was measured so lately is not measured again"""
_CONTROL_PATIENCE_SECONDS = 30.0
_READ_AGAIN_SECONDS = 0.02
_BASE_SHARE = 0.125
"""share of a limit after which a program is looked at for the first time, where what it used before is not known"""
_HOPELESS_SHARE = 0.01
_RECOVERED_SHARE, _RECOVERED_FACTOR = 0.1, 3.0
"""A control that gets so much, and so many times as much as before, was held up by what has just ended."""
_SHORTEST_WAIT_SECONDS = 0.001
_LATE_SECONDS = 0.05
"""A timer that is met later waits so long for what came before it."""
SLACK_SECONDS = 30.0
"""a runtime ends a program by itself so long after its wall limit, should this process be stopped"""
_CONTROL = """\
import time
wall, used = time.monotonic(), time.process_time()
while time.process_time() - used < 0.05 and time.monotonic() - wall < 1.0:
    pass
print((time.process_time() - used) / (time.monotonic() - wall))
"""


Heard = TypeVar("Heard")


class Control:
    """An honest loop in sandboxes of its own, as those of candidates are, but without a limit of its processor time:
    a program that its own limit slows down is slow. All candidates of one source ask the same one."""

    def __init__(self, sandboxes: SandboxSource, spec: SandboxSpec) -> None:
        self._sandboxes = sandboxes
        self._spec = replace(spec, limits=replace(spec.limits, cpu=None))
        self._measuring: asyncio.Task[float] | None = None
        self._share = 0.0
        self._measured_at = float("-inf")

    @property
    def last_share(self) -> float:
        """What was last measured; 0 = nothing."""
        return self._share

    async def share(self, *, fresh: bool = False) -> float:
        """What part of one core it gets now. `fresh`: measured from now on. Raises PlatformError."""
        if fresh and self._measuring is not None:
            await asyncio.wait([self._measuring])
        if not fresh and asyncio.get_running_loop().time() - self._measured_at < _FRESH_SECONDS:
            return self._share
        if self._measuring is None:
            self._measuring = asyncio.create_task(self._measure(), name="control loop")
            self._measuring.add_done_callback(self._measured)
        return await asyncio.shield(self._measuring)

    def _measured(self, task: asyncio.Task[float]) -> None:
        self._measuring = None
        if not task.cancelled() and task.exception() is None:
            self._share, self._measured_at = task.result(), asyncio.get_running_loop().time()

    async def _measure(self) -> float:
        async with self._sandboxes.sandbox(self._spec) as sandbox:
            request = ExecRequest(argv=("python", "-c", _CONTROL), cwd="/", timeout_seconds=_CONTROL_PATIENCE_SECONDS)
            result = await (await sandbox.exec(request)).wait()
        if result.outcome is ExecOutcome.TIMEOUT:
            return _HOPELESS_SHARE
        try:
            return max(0.0, min(1.0, float(result.stdout)))
        except ValueError:
            raise PlatformError(
                f"the control loop ended with {result.outcome} {result.returncode}", step="score"
            ) from None


_controls: weakref.WeakKeyDictionary[SandboxSource, dict[tuple[str, str | None], Control]] = weakref.WeakKeyDictionary()


def control_of(sandboxes: SandboxSource, spec: SandboxSpec) -> Control:
    """The one control of a source, for each image that its candidates run in."""
    known = _controls.setdefault(sandboxes, {})
    return known.setdefault((spec.image, spec.blueprint), Control(sandboxes, spec))


class Pressure:
    """How short the host's processors have been since this was made. Several that are made or asked at nearly the same
    time read the kernel's file once: most programs take a few milliseconds."""

    _read_at = float("-inf")
    _read: float | None = None

    def __init__(self) -> None:
        self._made_at, self._stalled = self._now()

    @classmethod
    def _now(cls) -> tuple[float, float | None]:
        """(when it was read, for how long something has been stalled by then)."""
        now = asyncio.get_running_loop().time()
        if not 0 <= now - cls._read_at < _READ_AGAIN_SECONDS:
            cls._read_at, cls._read = now, stalled_seconds()
        return cls._read_at, cls._read

    def is_high(self) -> bool:
        """Programs may have been slowed down, or nobody can say."""
        read_at, stalled = self._now()
        if stalled is None or self._stalled is None:
            return True
        return stalled - self._stalled > PRESSED_SHARE * (read_at - self._made_at)


class Stopwatch:
    """A limit for one program, which may be stopped and go on. The program is what runs in one sandbox since the first
    start; `used_before` is the processor time that the sandbox had used by then (None = not known: then what it uses
    is counted from an early look on)."""

    def __init__(self, limit_seconds: float, *, used_before: float | None = 0.0) -> None:
        self.limit_seconds = limit_seconds
        self._allowance = Allowance(limit_seconds)
        self._used_before = used_before
        self._used = 0.0
        self._wall = 0.0
        self._began: float | None = None
        self._still = 0.0
        self._looked_at = 0.0
        self._messages = 0
        self._pressure = Pressure()
        self._standstill = Standstill.of_running_loop()

    def start(self) -> None:
        """The program's time runs. What this process stands still meanwhile is no wall time: the whole machine, and the
        program with it, may have been stopped. The processor time that the program used meanwhile counts."""
        if self._began is None:
            self._standstill.watch(self)
            self._began, self._still = asyncio.get_running_loop().time(), self._standstill.seconds()

    def stop(self) -> None:
        """It does not run now."""
        self._wall, self._began = self.wall_seconds, None
        self._standstill.unwatch(self)

    def heard(self) -> None:
        """A message has come to its end: the program has read it, or has answered."""
        self._messages += 1

    @property
    def wall_seconds(self) -> float:
        """For which it has run."""
        if self._began is None:
            return self._wall
        still = self._standstill.seconds() - self._still
        return self._wall + max(0.0, asyncio.get_running_loop().time() - self._began - still)

    @property
    def used_seconds(self) -> float:
        """Processor time, as last looked at."""
        return self._used

    def seconds_to_look(self) -> float:
        """How long the program may go on before it is looked at; what it says meanwhile puts that off by nothing. Less
        than nothing where it should have been looked at."""
        if self._used_before is None:
            return _BASE_SHARE * self.limit_seconds - self.wall_seconds
        due = self._looked_at + self._allowance.seconds_to_look(self._looked_at, self._used)
        return due - self.wall_seconds

    def seen(self, found: ProcessorTime, share: float | None) -> Look:
        """A look at its sandbox, and at what the control gets."""
        used, waited = found.used_seconds, found.waited_seconds
        if self._used_before is None:
            self._used_before = used
        self._used = max(self._used, used - self._used_before)
        wall = self._looked_at = self.wall_seconds
        pressed = waited > DELAYED_SHARE * wall or self._pressure.is_high()
        return Look(
            wall_seconds=wall,
            cpu_seconds=self._used,
            control_share=share,
            pressed=pressed,
            messages=self._messages,
            idle=found.is_idle,
        )

    def needs_control(self, look: Look) -> bool:
        """Ask the inner allowance whether a control has to be run."""
        return self._allowance.needs_control(look)

    def judge(self, look: Look) -> Standing:
        """Ask the inner allowance for its judgement."""
        return self._allowance.judge(look)


async def look(sandbox: SandboxPort, watches: Sequence[Stopwatch], control: Callable[[], Control]) -> Standing:
    """What one look at the program in a sandbox shows: the worst that one of its limits says. Raises PlatformError."""
    found = await sandbox.processor_time()
    looks = [watch.seen(found, None) for watch in watches]
    if any(watch.needs_control(seen) for watch, seen in zip(watches, looks, strict=True)):
        share = await control().share()
        found = await sandbox.processor_time()
        looks = [watch.seen(found, share) for watch in watches]
    standings = [watch.judge(seen) for watch, seen in zip(watches, looks, strict=True)]
    if Standing.OVER in standings:
        return Standing.OVER
    return Standing.STARVED if Standing.STARVED in standings else Standing.GOING


async def within(
    wait: Callable[[float], Awaitable[Heard]],
    sandbox: SandboxPort,
    watches: Sequence[Stopwatch],
    control: Callable[[], Control],
) -> Heard:
    """What `wait(seconds)` gives, which raises TimeoutError (or StarvedError, where this process was stopped) when the
    seconds are over and can be called again. Raises TimeoutError when a limit is over, StarvedError. A program that is
    due to be looked at is so before it is waited for: the quickest of answers does not put that off."""
    while True:
        seconds = min(watch.seconds_to_look() for watch in watches)
        if seconds > 0:
            try:
                heard = await wait(max(_SHORTEST_WAIT_SECONDS, seconds))
            except (TimeoutError, StarvedError):
                if min(watch.seconds_to_look() for watch in watches) > 0:
                    continue  # this process stood still: nobody's time is over
            else:
                for watch in watches:
                    watch.heard()
                return heard
        standing = await look(sandbox, watches, control)
        if standing is Standing.OVER:
            raise TimeoutError
        if standing is Standing.STARVED:
            raise StarvedError(starvation(watches))


def starvation(watches: Sequence[Stopwatch]) -> str:
    """One sentence for people."""
    watch = max(watches, key=lambda watch: watch.wall_seconds)
    return (
        f"the program got {watch.used_seconds:.2f} s of processor time in {watch.wall_seconds:.1f} s, and a loop of "
        "the platform beside it got as little: the host is overloaded; lower the job's concurrency"
    )


async def is_fed(control: Control) -> bool:
    """An honest loop gets its processor now; or much more of it than it got when it was last measured."""
    before = control.last_share
    now = await control.share(fresh=True)
    return now >= FED_SHARE or now >= max(_RECOVERED_SHARE, _RECOVERED_FACTOR * before)


async def run_within(
    running: RunningExec, sandbox: SandboxPort, watch: Stopwatch, control: Callable[[], Control]
) -> ExecResult | None:
    """The result of a command that ends by itself; None = its time is over, and it is killed. Raises StarvedError (it
    is killed then, too), and what waiting for it raises."""

    loop = asyncio.get_running_loop()

    async def ended(seconds: float) -> ExecResult:
        due = loop.time() + seconds
        try:
            async with asyncio.timeout_at(due):
                return await running.wait()
        except TimeoutError:
            if loop.time() - due <= _LATE_SECONDS:
                raise
        # a process that was stopped meets its timers before it reads what came meanwhile
        async with asyncio.timeout(_LATE_SECONDS):
            return await running.wait()

    watch.start()
    try:
        return await within(ended, sandbox, (watch,), control)
    except TimeoutError:
        running.kill()
        return None
    except StarvedError:
        running.kill()
        raise
    finally:
        watch.stop()


__all__ = [
    "SLACK_SECONDS",
    "Control",
    "Pressure",
    "Stopwatch",
    "control_of",
    "is_fed",
    "run_within",
    "wall_limit",
    "within",
]
