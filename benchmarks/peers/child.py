"""Running one host process from an event loop, as cheaply as Python can: what the unsandboxed peers share.

`subprocess.Popen` without a preexec function starts by vfork; asyncio's own subprocess support of Python 3.11 would
add a thread per child, and slow the baseline down.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence

from benchmarks.verdicts import Ending

_STDIN_LIMIT = 65_536
"""bytes that fit into a pipe without a reader"""


async def run_child(
    argv: Sequence[str],
    *,
    stdin: bytes | None,
    timeout_seconds: float,
    env: Mapping[str, str],
    before_exec: Callable[[], None] | None = None,
) -> Ending:
    """Run `argv` in a session of its own; SIGKILL to its process group at the deadline. Raises OSError, ValueError."""
    if stdin is not None and len(stdin) > _STDIN_LIMIT:
        raise ValueError(f"stdin has {len(stdin)} bytes: it is written at once, so it may have {_STDIN_LIMIT} at most")
    process = subprocess.Popen(  # noqa: ASYNC220 - it blocks for the milliseconds of a vfork and exec
        argv,
        stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=env,
        start_new_session=True,
        bufsize=0,
        preexec_fn=before_exec,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    if stdin is not None:
        assert process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # the program ended without reading
            process.stdin.write(stdin)
        process.stdin.close()
    collector = _Collector(process.stdout.fileno(), process.stderr.fileno())
    try:
        timed_out = not await collector.finished(timeout_seconds)
        if timed_out:
            os.killpg(process.pid, signal.SIGKILL)
            await collector.finished(None)
        # Both pipes have ended, so the process is ending too; waiting here blocks for microseconds.
        returncode = process.wait()
    finally:
        collector.close()
        process.stdout.close()
        process.stderr.close()
    return Ending(returncode=returncode, stdout=collector.text(0), stderr=collector.text(1), timed_out=timed_out)


class _Collector:
    """Reads two pipes to their ends."""

    def __init__(self, *descriptors: int) -> None:
        self._loop = asyncio.get_running_loop()
        self._open = set(descriptors)
        self._chunks: list[list[bytes]] = [[] for _ in descriptors]
        self._ended = asyncio.Event()
        for descriptor, chunks in zip(descriptors, self._chunks, strict=True):
            self._loop.add_reader(descriptor, self._read, descriptor, chunks)

    def _read(self, descriptor: int, chunks: list[bytes]) -> None:
        chunk = os.read(descriptor, 65_536)
        if chunk:
            chunks.append(chunk)
            return
        self._loop.remove_reader(descriptor)
        self._open.discard(descriptor)
        if not self._open:
            self._ended.set()

    async def finished(self, timeout_seconds: float | None) -> bool:
        """True when both pipes have ended, False when the time is over first."""
        try:
            async with asyncio.timeout(timeout_seconds):
                await self._ended.wait()
        except TimeoutError:
            return False
        return True

    def text(self, index: int) -> bytes:
        """What one pipe carried."""
        return b"".join(self._chunks[index])

    def close(self) -> None:
        """Stop reading."""
        for descriptor in self._open:
            self._loop.remove_reader(descriptor)
