"""A training worker as its node sees it: a process that tells lines over a pipe, and can be ended.

Its standard input is a pipe that nothing is written to: its end tells the worker that the node has gone, by whatever
death. What the worker and its libraries print goes to a file in the job's folder.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from asyncio import StreamReader, StreamReaderProtocol
from collections.abc import Mapping, Sequence
from io import BufferedWriter
from pathlib import Path

from harena.core.clock import Clock
from harena.core.errors import PlatformError
from harena.core.home import private_opener
from harena.core.threads import TRAINING
from harena.core.training_lines import MOST_CHARACTERS, BrokenLine, WorkerLine, decode_line

GRACE_SECONDS = 3.0
"""between asking a worker to end, so that it ends its sandboxes itself, and killing it"""
TAIL_BYTES = 4000
TAIL_LINES = 20
LOG_FILE = "worker.log"
_AT_A_TIME = 1 << 16


class WorkerProcess:
    """One worker. Used from one event loop."""

    def __init__(self, process: asyncio.subprocess.Process, told: StreamReader, folder: Path, clock: Clock) -> None:
        self.pid = process.pid
        self.was_silent = False
        """it was killed for telling nothing"""
        self._process = process
        self._told = told
        self._folder = folder
        self._clock = clock
        self._rest = b""

    @classmethod
    async def start(cls, command: Sequence[str], folder: Path, env: Mapping[str, str], clock: Clock) -> WorkerProcess:
        """Run `command`, with the folder and the number of the pipe's descriptor as its last words. Raises
        PlatformError."""
        reading, writing = os.pipe()
        try:
            with await TRAINING.run(_open_log, folder / LOG_FILE) as log:
                process = await asyncio.create_subprocess_exec(
                    *command, str(folder), str(writing), stdin=asyncio.subprocess.PIPE, stdout=log, stderr=log,
                    pass_fds=(writing,), cwd=folder, env=dict(env), start_new_session=True,
                )  # fmt: skip
        except BaseException as error:
            os.close(reading)
            if not isinstance(error, OSError):
                raise
            raise PlatformError(f"a training worker could not be started: {error}", step="start worker") from error
        finally:
            os.close(writing)
        told = StreamReader(limit=MOST_CHARACTERS)
        await asyncio.get_running_loop().connect_read_pipe(
            lambda: StreamReaderProtocol(told), os.fdopen(reading, "rb", buffering=0)
        )
        return cls(process, told, folder, clock)

    async def lines(self) -> list[WorkerLine]:
        """What it told since the last call, at least one line; [] = it tells nothing any more. Raises BrokenLine."""
        while True:
            piece = await self._told.read(_AT_A_TIME)
            if not piece:
                return []
            *whole, self._rest = (self._rest + piece).split(b"\n")
            if len(self._rest) > MOST_CHARACTERS:
                raise BrokenLine(f"a line of more than {MOST_CHARACTERS} characters")
            if whole:
                return [decode_line(line) for line in whole]

    async def end(self) -> int:
        """Ask it to end, and kill it and all that it started where it does not. Its exit code, or minus the signal that
        ended it."""
        self._signal(signal.SIGTERM)
        timer = self._clock.call_later(GRACE_SECONDS, self.kill)
        try:
            return await self._process.wait()
        finally:
            timer.cancel()
            self.kill()

    def kill(self) -> None:
        """At once, with all of its session. What is left of its sandboxes ends with it."""
        self._signal(signal.SIGKILL)

    def kill_as_silent(self) -> None:
        """It is stuck."""
        self.was_silent = True
        self.kill()

    async def tail(self) -> str:
        """The end of what it printed."""
        return await TRAINING.run(_end_of, self._folder / LOG_FILE)

    def _signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)


def _open_log(log: Path) -> BufferedWriter:
    return open(log, "ab", opener=private_opener)


def _end_of(log: Path) -> str:
    try:
        with open(log, "rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - TAIL_BYTES))
            text = file.read().decode(errors="replace")
    except OSError:
        return ""
    return "\n".join(text.splitlines()[-TAIL_LINES:])


def how_it_ended(code: int) -> str:
    """For people."""
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        return f"was killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"was killed by signal {-code}"
