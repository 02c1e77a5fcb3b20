"""`python -c PROGRAM` with RLIMIT_AS set between fork and exec: what careful people use without a sandbox."""

from __future__ import annotations

import functools
import resource

from benchmarks.peers.child import run_child
from benchmarks.peers.port import Setting
from benchmarks.plain_python import ENVIRONMENT, PlainPython
from benchmarks.verdicts import Ending


class PlainRlimit:
    """Like plain_subprocess; the limit costs it vfork, because code must run between fork and exec."""

    def __init__(self) -> None:
        self._python = PlainPython()

    async def start(self) -> None:
        """Nothing to do: the environment was made by the constructor."""

    async def run(self, program: str, stdin: bytes | None, timeout_seconds: float, memory_bytes: int) -> Ending:
        """An allocation above `memory_bytes` of address space fails inside the program."""
        return await run_child(
            [self._python.executable, "-c", program],
            stdin=stdin,
            timeout_seconds=timeout_seconds,
            env=ENVIRONMENT,
            before_exec=functools.partial(resource.setrlimit, resource.RLIMIT_AS, (memory_bytes, memory_bytes)),
        )

    async def close(self) -> None:
        """Remove the environment."""
        self._python.close()


def make(setting: Setting) -> PlainRlimit:
    """The peer."""
    del setting
    return PlainRlimit()


def unavailable() -> str | None:
    """Runs everywhere."""
    return None
