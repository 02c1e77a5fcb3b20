"""Starts a blueprint's daemons in a fresh sandbox, one after the other, and waits until each is ready."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, NamedTuple

from harena.core.clock import Clock
from harena.core.daemons import Daemon
from harena.core.errors import PlatformError
from harena.core.models import ExecOutcome, ExecRequest, ExecResult
from harena.core.ports import RunningExec, SandboxPort

_OUTPUT_BYTES = 64 * 1024
_TOLD = 300
"""characters of what a daemon has said that an error shows"""
_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 0.02, 0.5
"""between two looks whether a daemon is ready"""
SETTLE_SECONDS, SETTLE_READY_SECONDS = 0.5, 0.1
"""for which a daemon without `ready`, or with one, has run when its sandbox is handed out: a program that is not there,
or does not come up, has mostly ended by then"""


class _RunningDaemon(NamedTuple):
    """A daemon that runs, or has ended."""

    daemon: Daemon
    running: RunningExec
    ending: asyncio.Future[ExecResult]
    began: float

    def check(self) -> None:
        """Raises PlatformError where it has ended badly."""
        if self.ending.done() and (result := self.ending.result()).returncode != 0:
            raise self.never(f"it has ended with {_how(result)}")

    def never(self, why: str) -> PlatformError:
        """What is told of one that did not come up, with what it has said last."""
        words = _words(self.running.stderr.getvalue() or self.running.stdout.getvalue())
        told = f"; it has said: {words}" if words else ""
        return PlatformError(f"daemon {self.daemon.name!r} of the blueprint: {why}{told}", step="daemons")

    @property
    def settles_at(self) -> float:
        """When it has run for long enough."""
        return self.began + (SETTLE_READY_SECONDS if self.daemon.ready else SETTLE_SECONDS)


async def start_daemons(port: SandboxPort, daemons: Sequence[Daemon], clock: Clock) -> None:
    """Returns when all are ready, and none has ended badly until then. Raises PlatformError for one that ends badly, or
    does not get ready in its time, and HarenaError (the sandbox ended)."""
    started: list[_RunningDaemon] = []
    try:
        for daemon in daemons:
            request = ExecRequest(argv=daemon.command, user=daemon.user, output_bytes=_OUTPUT_BYTES, warm=False)
            running = await port.exec(request)
            one = _RunningDaemon(daemon, running, asyncio.ensure_future(running.wait()), clock.now())
            started.append(one)
            if daemon.ready:
                await _ready(port, one, clock)
        await _settled(started, clock)
    except BaseException:
        for one in started:
            one.ending.cancel()
        raise
    for one in started:
        one.ending.add_done_callback(_take_error)  # it ends with the sandbox, which tells why


async def _settled(started: Sequence[_RunningDaemon], clock: Clock) -> None:
    """A look at each before anybody's program runs, when all have run for a while."""
    while True:
        for one in started:
            one.check()
        until = max((one.settles_at for one in started if not one.ending.done()), default=0.0)
        if (left := until - clock.now()) <= 0:
            return
        await _slept(clock, left, [one.ending for one in started])


async def _slept(clock: Clock, seconds: float, endings: Sequence[asyncio.Future[ExecResult]]) -> None:
    """A pause, which the end of a daemon that has not ended yet cuts short."""
    pause = asyncio.ensure_future(clock.sleep(seconds))
    waited: list[asyncio.Future[Any]] = [pause, *(one for one in endings if not one.done())]
    try:
        await asyncio.wait(waited, return_when="FIRST_COMPLETED")
    finally:
        pause.cancel()


async def _ready(port: SandboxPort, one: _RunningDaemon, clock: Clock) -> None:
    daemon = one.daemon
    deadline = one.began + daemon.ready_seconds
    pause = _FIRST_PAUSE_SECONDS
    seen = ""
    while True:
        one.check()
        left = deadline - clock.now()
        if left > 0:
            request = ExecRequest(
                argv=daemon.ready, user=daemon.user, output_bytes=_OUTPUT_BYTES, timeout_seconds=left, warm=False
            )
            result = await (await port.exec(request)).wait()
            if result.outcome is ExecOutcome.EXITED and result.returncode == 0:
                return
            words = _words(result.stderr or result.stdout)
            seen = f": `ready` has ended with {_how(result)}" + (f" and said: {words}" if words else "")
        if clock.now() >= deadline:
            raise one.never(f"it was not ready in {daemon.ready_seconds:g} s{seen}")
        await clock.sleep(min(pause, max(0.0, deadline - clock.now())))
        pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)


def _how(result: ExecResult) -> str:
    if result.outcome is ExecOutcome.EXITED:
        hint = " (is there such a program, and may it be run?)" if result.returncode in (126, 127) else ""
        return f"exit code {result.returncode}{hint}"
    return "its time" if result.outcome is ExecOutcome.TIMEOUT else f"signal {-result.returncode}"


def _words(said: bytes) -> str:
    """The end of an output, on one line; empty where it is not to be shown."""
    words = " ".join(said.decode(errors="replace").split())[-_TOLD:]
    return words if words.isprintable() else ""


def _take_error(ending: asyncio.Future[ExecResult]) -> None:
    if not ending.cancelled():
        ending.exception()
