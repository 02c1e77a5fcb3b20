"""The host process: it has imported what reads, and forks for each question. It opens nothing that anybody pushed.

    python -m harena.training.reading.host DESCRIPTOR

It has one thread. It ends, with all that it forked, when whoever asks closes the socket, and when it was idle.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import gc
import importlib
import os
import select
import signal
import socket
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harena.core.errors import HarenaError
from harena.training.reading import wire
from harena.training.reading.client import ENDED
from harena.training.reading.marked import FUNCTIONS, MODULES, be_apart
from harena.training.reading.wall import stand_behind

IDLE_SECONDS = 60.0
MOST_AT_ONCE = 16
"""processes that read; who asks for one more waits"""
_PR_SET_PDEATHSIG = 1
_ABOVE_OTHERS = 200
"""no descriptor of this process has so high a number"""


@dataclass(slots=True)
class _Reader:
    process: int
    handle: int
    """a pidfd"""
    tells: int
    """where it is told how the process ended"""
    until: float
    is_late: bool = False


def main(words: list[str]) -> None:
    """The whole life."""
    be_apart()
    for module in MODULES:
        importlib.import_module(module)
    gc.freeze()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with socket.socket(fileno=int(words[0])) as asked:
        _serve(asked)


def _serve(asked: socket.socket) -> None:
    readers: dict[int, _Reader] = {}
    while True:
        watched = select.poll()
        if len(readers) < MOST_AT_ONCE:
            watched.register(asked, select.POLLIN)
        for handle in readers:
            watched.register(handle, select.POLLIN)
        now = time.monotonic()
        nearest = min((reader.until for reader in readers.values() if not reader.is_late), default=now + IDLE_SECONDS)
        events = watched.poll(max(0.0, nearest - now) * 1000)
        if not events and not readers:
            return
        for descriptor, _ in events:
            if descriptor in readers:
                _ended(readers.pop(descriptor))
            elif (reader := _begun(asked)) is None:
                for left in readers.values():
                    os.kill(left.process, signal.SIGKILL)
                return
            else:
                readers[reader.handle] = reader
        for reader in readers.values():
            if not reader.is_late and reader.until <= time.monotonic():
                reader.is_late = True
                os.kill(reader.process, signal.SIGKILL)


def _ended(reader: _Reader) -> None:
    _, status = os.waitpid(reader.process, 0)
    with contextlib.suppress(BrokenPipeError):  # nobody waits for it any more
        os.write(reader.tells, ENDED.pack(status, reader.is_late))
    os.close(reader.tells)
    os.close(reader.handle)


def _begun(asked: socket.socket) -> _Reader | None:
    """None = nobody asks any more."""
    content, descriptors, _, _ = socket.recv_fds(asked, wire.HEADER.size, 3)
    if not content:
        return None
    asks, answers, tells = descriptors
    process = os.fork()
    if process == 0:
        try:
            _answer(asks, answers)
        finally:
            os._exit(1)
    os.close(asks)
    os.close(answers)
    (seconds,) = wire.HEADER.unpack(content)
    return _Reader(process, os.pidfd_open(process), tells, time.monotonic() + seconds)


def _answer(asks: int, answers: int) -> None:
    """Ends this process, which is the one that reads."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # a server's log is not for what libraries say of the file
    asks, answers = (fcntl.fcntl(one, fcntl.F_DUPFD_CLOEXEC, _ABOVE_OTHERS) for one in (asks, answers))
    os.closerange(3, _ABOVE_OTHERS)
    os.write(answers, b"+")
    with os.fdopen(asks, "rb") as source:
        source.seek(0)
        question = wire.Question.from_bytes(source.read())
    kind, said = _said(question)
    try:
        content = wire.written({"kind": kind, "said": said}, question.key)
    except (ValueError, TypeError, RecursionError) as error:
        refused = {"message": f"it holds what is no plain value: {error}", "reason": None}
        content = wire.written({"kind": "broken", "said": refused}, question.key)
    left = memoryview(content)
    while left:
        left = left[os.write(answers, left) :]
    os._exit(0)


def _said(question: wire.Question) -> tuple[str, Any]:
    place = Path(question.place)
    try:
        os.chdir(question.folder)
        stand_behind(place, question.limits)
        os.chdir(question.folder)  # where a mount hides it, that is another directory now
    except OSError as error:
        return "wall", {"message": f"{error}; see `harena doctor`", "reason": None}
    try:
        return "result", FUNCTIONS[question.function](place, **question.named)
    except HarenaError as error:
        return "invalid", {"message": str(error), "reason": error.reason}
    except MemoryError:
        return "memory", {"message": "", "reason": None}
    except Exception as error:  # noqa: BLE001 - libraries that parse what is hostile raise anything
        return "broken", {"message": f"{type(error).__name__}: {str(error)[:500]}", "reason": None}


if __name__ == "__main__":
    main(sys.argv[1:])
