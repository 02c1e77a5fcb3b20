"""Large bodies of JSON are parsed by processes of their own, so that no other request waits for them.

Parsing takes the interpreter, of which a process has one: a second for each million values, be they ever so wrong,
in which the event loop had to wait for every turn of its own. Here it takes another process's. A mistake comes back as
what is told of it; a value comes back in pieces (`value_pieces`), each of which takes a millisecond to be read.

There are few processes, so that parsing takes few processors. They are divided among workspaces: a free one goes to
the workspace that has fewest, of these to who waited longest.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any, BinaryIO

from harena.core.errors import LimitExceededError, PlatformError, ValidationError
from harena.core.threads import BODIES, NODE, work_for
from harena.scoring.slices import Turns
from harena.server.body_process import MISTAKE, PIECE, QUESTION
from harena.server.value_pieces import Piece, Step, put_together

MOST_PROCESSES = 2
IDLE_SECONDS = 10.0
"""for which a process stays after its last body"""
ANSWER_SECONDS = 600.0
"""in which the next piece of an answer comes: the largest body takes a few, and a hundred times as long where others
take the processors"""
RETRY_SECONDS = 1.0
_KEPT_VARIABLES = ("PATH", "LANG", "LC_ALL", "PYTHONPATH", "LD_LIBRARY_PATH")
"""environment variables that a process gets; keys and passwords are not passed on"""
_PACKAGES = str(Path(__file__).parents[2])


class BodyProcesses:
    """The processes of one server, started when they are needed. Used from any thread."""

    def __init__(self, most: int = MOST_PROCESSES) -> None:
        self._turns = Turns(most)
        self._lock = threading.Lock()
        self._idle: list[_BodyProcess] = []
        """the one that was used last is the last"""
        os.register_at_fork(after_in_child=self._forget)

    def read(self, body: bytes, where: str) -> Any:
        """One JSON value, for the present workspace; `where` it was found is how its errors begin. Waits for a turn.
        Raises ValidationError, LimitExceededError where its process ended, PlatformError where none can be started."""
        with self._turns.one(work_for.get()):
            process = self._taken()
            try:
                if process is not None and (told := self._told(process, body, where)):
                    return told[0]
                # one that was idle may have ended in the meantime
                if told := self._told(_BodyProcess(), body, where):
                    return told[0]
            except (EOFError, OSError, MemoryError) as error:
                raise LimitExceededError(
                    f"the process that read {where} has ended before it had ({type(error).__name__}): ask again in a "
                    "moment, or send less at one time",
                    reason="BUSY",
                    retry_delay=timedelta(seconds=RETRY_SECONDS),
                ) from error
        raise PlatformError("the process that reads large bodies ends as soon as it is asked", step="large bodies")

    def end_idle(self, seconds: float = 0.0) -> None:
        """End those that nobody has used for so long."""
        with self._lock:
            until = time.monotonic() - seconds
            over = [process for process in self._idle if process.used_at <= until]
            self._idle = [process for process in self._idle if process not in over]
        for process in over:
            process.end()

    @property
    def pids(self) -> list[int]:
        """Numbers of the processes that nobody uses now."""
        return [process.pid for process in self._idle]

    def _taken(self) -> _BodyProcess | None:
        with self._lock:
            return self._idle.pop() if self._idle else None

    def _told(self, process: _BodyProcess, body: bytes, where: str) -> tuple[Any] | None:
        """The value alone, or None where the process ended before it said anything. Raises ValidationError, EOFError,
        OSError, MemoryError."""
        whole = False
        try:
            if not process.ask(body, where):
                return None
            try:
                value = put_together(process.pieces())
            except ValidationError:
                whole = True
                raise
            whole = True
            return (value,)
        finally:
            if whole:
                with self._lock:
                    self._idle.append(process)
            else:
                process.end()

    def _forget(self) -> None:
        """A forked process has processes of its own."""
        self._lock, self._idle = threading.Lock(), []


class _BodyProcess:
    """One of them. Used by one thread at a time."""

    def __init__(self) -> None:
        """Start it. Raises PlatformError."""
        ours, theirs = socket.socketpair()
        env = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
        env["PYTHONPATH"] = os.pathsep.join(filter(None, (env.get("PYTHONPATH"), _PACKAGES)))
        command = [sys.executable, "-P", "-m", "harena.server.body_process", str(theirs.fileno())]
        try:
            self._process = subprocess.Popen(
                command, pass_fds=(theirs.fileno(),), cwd="/", env=env, stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, process_group=0,
            )  # fmt: skip
        except OSError as error:
            ours.close()
            raise PlatformError(
                f"the process that reads large bodies could not be started: {error}", step="large bodies"
            ) from error
        finally:
            theirs.close()
        ours.settimeout(ANSWER_SECONDS)
        self._socket = ours
        self._answers: BinaryIO = ours.makefile("rb")
        self._first = b""
        self.pid = self._process.pid
        self.used_at = time.monotonic()

    def ask(self, body: bytes, where: str) -> bool:
        """Whether it answers. Raises OSError."""
        name = where.encode()
        try:
            self._socket.sendall(QUESTION.pack(len(name), len(body)) + name)
            self._socket.sendall(body)
            self._first = self._answers.read(PIECE.size)
        except (BrokenPipeError, ConnectionResetError):
            return False
        return bool(self._first)

    def pieces(self) -> Iterator[Piece]:
        """Give the pieces of the value that was asked for. Raises ValidationError, EOFError, OSError."""
        head = self._first
        while len(head) == PIECE.size:
            step, size = PIECE.unpack(head)
            content = self._answers.read(size)
            if len(content) < size:
                break
            self.used_at = time.monotonic()
            if step == MISTAKE:
                message, reason = json.loads(content)
                raise ValidationError(message, reason=reason)
            yield Step(step), content
            head = self._answers.read(PIECE.size)
        raise EOFError("the answer broke off")

    def end(self) -> None:
        """It ends now, whatever it does."""
        self._answers.close()
        self._socket.close()
        self._process.kill()
        self._process.wait()


PROCESSES = BodyProcesses()
"""the only ones that a server has"""
_ending: set[asyncio.Future[None]] = set()


async def read_large(body: bytes, where: str, then: Callable[[Any], Any] = lambda value: value) -> Any:
    """What `then` makes of one JSON value, in the thread of the present workspace that waits for its process. Raises as
    `BodyProcesses.read`, and LimitExceededError where too much of the workspace's is to be read."""
    try:
        return await BODIES.run(lambda: then(PROCESSES.read(body, where)))
    finally:
        look_for_idle()


def look_for_idle() -> None:
    """End in a while the processes that are idle by then."""
    asyncio.get_running_loop().call_later(IDLE_SECONDS + 1, _end_idle)


def _end_idle() -> None:
    if PROCESSES.pids:
        ending = asyncio.ensure_future(NODE.run_for("", lambda: PROCESSES.end_idle(IDLE_SECONDS)))
        _ending.add(ending)
        ending.add_done_callback(_ending.discard)
