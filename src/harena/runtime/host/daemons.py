"""Starts a blueprint's daemons in a fresh sandbox, one after the other, and waits until each is ready."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

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


async def start_daemons(port: SandboxPort, daemons: Sequence[Daemon], clock: Clock) -> None:
    """Returns when all are ready. Raises PlatformError for one that ends badly, or does not get ready in its time, and
    HarenaError (the sandbox ended)."""
    for daemon in daemons:
        request = ExecRequest(argv=daemon.command, user=daemon.user, output_bytes=_OUTPUT_BYTES, warm=False)
        running = await port.exec(request)
        ending = asyncio.ensure_future(running.wait())
        try:
            await _ready(port, daemon, running, ending, clock)
        except BaseException:
            ending.cancel()
            raise
        ending.add_done_callback(_seen)  # it ends with the sandbox, which tells why


async def _ready(
    port: SandboxPort, daemon: Daemon, running: RunningExec, ending: asyncio.Future[ExecResult], clock: Clock
) -> None:
    deadline = clock.now() + daemon.ready_seconds
    pause = _FIRST_PAUSE_SECONDS
    said = b""
    while True:
        if ending.done() and (result := ending.result()).returncode != 0:
            raise _never(daemon, f"it has ended with exit code {result.returncode}", result.stderr or result.stdout)
        if not daemon.ready:
            return
        left = deadline - clock.now()
        if left > 0:
            request = ExecRequest(
                argv=daemon.ready, user=daemon.user, output_bytes=_OUTPUT_BYTES, timeout_seconds=left, warm=False
            )
            result = await (await port.exec(request)).wait()
            if result.outcome is ExecOutcome.EXITED and result.returncode == 0:
                return
            said = result.stderr or result.stdout
        if clock.now() >= deadline:
            raise _never(daemon, f"it was not ready in {daemon.ready_seconds:g} s", said)
        await clock.sleep(min(pause, max(0.0, deadline - clock.now())))
        pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)


def _never(daemon: Daemon, why: str, said: bytes) -> PlatformError:
    words = " ".join(said.decode(errors="replace").split())[-_TOLD:]
    told = f"; it was said: {words}" if words.isprintable() and words else ""
    return PlatformError(f"daemon {daemon.name!r} of the blueprint: {why}{told}", step="daemons")


def _seen(ending: asyncio.Future[ExecResult]) -> None:
    if not ending.cancelled():
        ending.exception()
