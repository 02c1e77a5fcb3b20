"""`python -c PROGRAM`, no isolation and no limits: what most people use, and the baseline of every ratio."""

from __future__ import annotations

from benchmarks.peers.child import run_child
from benchmarks.peers.port import Setting
from benchmarks.plain_python import ENVIRONMENT, PlainPython
from benchmarks.verdicts import Ending


class PlainSubprocess:
    """A new session per program, SIGKILL to its group at the deadline."""

    def __init__(self) -> None:
        self._python = PlainPython()

    async def start(self) -> None:
        """Nothing to do: the environment was made by the constructor."""

    async def run(self, program: str, stdin: bytes | None, timeout_seconds: float, memory_bytes: int) -> Ending:
        """`memory_bytes` is ignored: a bare subprocess has no limit."""
        del memory_bytes
        argv = [self._python.executable, "-c", program]
        return await run_child(argv, stdin=stdin, timeout_seconds=timeout_seconds, env=ENVIRONMENT)

    async def close(self) -> None:
        """Remove the environment."""
        self._python.close()


def make(setting: Setting) -> PlainSubprocess:
    """The peer."""
    del setting
    return PlainSubprocess()


def unavailable() -> str | None:
    """Runs everywhere."""
    return None
