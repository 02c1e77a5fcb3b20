"""The floor under every latency: starting /bin/true, measured in a lean process of its own beside the thing compared.

A big process pays for copying its page tables at every fork; the floor must not, or it would flatter what stands on it.
"""

from __future__ import annotations

import subprocess
import sys
from types import TracebackType

_LEAN = """
import os, sys, time
def posix_spawn():
    os.waitpid(os.posix_spawn('/bin/true', ['true'], {}), 0)
def fork_exec():
    pid = os.fork()
    if pid == 0:
        os.execve('/bin/true', ['true'], {})
    os.waitpid(pid, 0)
starts = {'posix_spawn': posix_spawn, 'fork_exec': fork_exec}
for line in sys.stdin:
    start = starts[line.strip()]
    began = time.perf_counter()
    start()
    print(time.perf_counter() - began, flush=True)
"""


class Floor:
    """Answers one measured start of /bin/true per call. For `with`."""

    def __init__(self) -> None:
        self._lean = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _LEAN],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
        )

    def __enter__(self) -> Floor:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._lean.stdin is not None
        assert self._lean.stdout is not None
        self._lean.stdin.close()
        self._lean.wait()
        self._lean.stdout.close()

    def posix_spawn(self) -> float:
        """Seconds of one posix_spawn + wait: the cheapest start there is."""
        return self._ask("posix_spawn")

    def fork_exec(self) -> float:
        """Seconds of one fork + exec + wait."""
        return self._ask("fork_exec")

    def _ask(self, how: str) -> float:
        assert self._lean.stdin is not None
        assert self._lean.stdout is not None
        self._lean.stdin.write(how + "\n")
        return float(self._lean.stdout.readline())
