"""Asking the host process: it is started when it is first needed, and ends with this process or when it is idle."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from harena.core import settings
from harena.core.errors import PlatformError, ValidationError
from harena.core.home import harena_home
from harena.training.reading import wire

_GRACE_SECONDS = 20.0
"""after the limit of time, in which the host ends the process that reads"""
_KEPT_VARIABLES = ("PATH", "LANG", "LC_ALL", settings.HOME.name, "HOME", "PYTHONPATH", "LD_LIBRARY_PATH", "TZ")
"""environment variables that the reader gets; keys and passwords are not passed on"""
ENDED = struct.Struct("=iB")
"""how the process that read ended: its status as waitpid gives it, and whether it took too long"""


def ask(function: str, place: Path, named: Mapping[str, Any]) -> Any:
    """What a marked function returns or raises, in a process of its own. Not for an event loop."""
    limits = limits_of(os.environ)
    question = wire.Question(
        function=function,
        place=str(place),
        folder=os.getcwd(),
        named=dict(named),
        key=f"~{secrets.token_hex(8)}",
        limits=limits,
    )
    with _HOST.in_use():
        told = _asked(question) or _asked(question)  # one that was idle may have ended in this moment
    if told is not None:
        return _answer(question, *told)
    raise wire.not_started("it ends as soon as it is asked")


def limits_of(environ: Mapping[str, str]) -> wire.Limits:
    """Limits that the operator set. Raises PlatformError for one that is no number above 0."""
    return wire.Limits(
        memory_bytes=_number(settings.READING_MEMORY_BYTES, environ),
        seconds=float(_number(settings.READING_SECONDS, environ)),
        answer_bytes=_number(settings.READING_ANSWER_BYTES, environ),
    )


def _number(setting: settings.Setting, environ: Mapping[str, str]) -> int:
    text = setting.read(environ)
    if text is None:
        text = str(setting.default)
    if not (text.isdecimal() and int(text) > 0):
        raise PlatformError(f"{setting.name} must be a whole number above 0 (got {text!r:.40})", step="reading")
    return int(text)


def _asked(question: wire.Question) -> tuple[bytes, int, bool] | None:
    """(the answer, how its process ended, whether it took too long); None = the host ended before it began."""
    answering, answers, telling, tells = pipes = [*os.pipe(), *os.pipe()]
    try:
        if not _sent(question, answers, tells):
            return None
        os.close(answers)
        os.close(tells)
        pipes = [answering, telling]
        until = time.monotonic() + question.limits.seconds + _GRACE_SECONDS
        begun = _read_all(answering, 1, until, whole=False)
        if not begun:
            return None
        content = _read_all(answering, question.limits.answer_bytes + 1, until)
        if len(content) > question.limits.answer_bytes:
            os.close(answering)  # whoever writes on meets a broken pipe
            pipes = [telling]
            return content, 0, False
        status, late = ENDED.unpack(_read_all(telling, ENDED.size, until))
        return content, status, bool(late)
    except (struct.error, TimeoutError):
        return b"", 0, True
    finally:
        for descriptor in pipes:
            os.close(descriptor)


def _sent(question: wire.Question, answers: int, tells: int) -> bool:
    asks = os.memfd_create("question", os.MFD_CLOEXEC)
    try:
        with os.fdopen(os.dup(asks), "wb") as out:
            out.write(question.to_bytes())
        return _HOST.send(wire.HEADER.pack(question.limits.seconds), (asks, answers, tells))
    finally:
        os.close(asks)


def _read_all(descriptor: int, most: int, until: float, *, whole: bool = True) -> bytes:
    """Up to `most` bytes, or the end. Raises TimeoutError."""
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    pieces: list[bytes] = []
    left = most
    while left:
        if not poll.poll(max(0.0, until - time.monotonic()) * 1000):
            raise TimeoutError
        piece = os.read(descriptor, min(left, 1 << 20))
        if not piece:
            break
        pieces.append(piece)
        left -= len(piece)
        if not whole:
            break
    return b"".join(pieces)


def _answer(question: wire.Question, content: bytes, status: int, late: bool) -> Any:
    limits = question.limits
    if late or status & 0x7F == signal.SIGXCPU:
        raise ValidationError(_more_than(f"{limits.seconds:g} seconds", settings.READING_SECONDS.name))
    if len(content) > limits.answer_bytes:
        raise ValidationError(_more_than(f"{limits.answer_bytes} bytes of content", settings.READING_ANSWER_BYTES.name))
    try:
        told = wire.read(content, question.key)
        kind, said = told["kind"], told["said"]
        if kind == "result":
            return said
        message, reason = str(said["message"]), said["reason"]
    except (ValueError, KeyError, TypeError, json.JSONDecodeError):
        how = f"signal {status & 0x7F}" if status & 0x7F else f"exit code {status >> 8}"
        raise ValidationError(
            "it cannot be read: the process that read it died "
            f"({how}; it has {limits.memory_bytes} bytes of memory: {settings.READING_MEMORY_BYTES.name})"
        ) from None
    if kind == "invalid":
        raise ValidationError(message, reason=reason if isinstance(reason, str) else None)
    if kind == "memory":
        raise ValidationError(_more_than(f"{limits.memory_bytes} bytes of memory", settings.READING_MEMORY_BYTES.name))
    if kind == "wall":
        raise wire.not_started(message)
    raise ValidationError(f"it cannot be read: {message}")


def _more_than(most: str, variable: str) -> str:
    return f"it cannot be read: that takes more than the {most} that {variable} allows"


class _Host:
    """The host process of this process. Used from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._users = 0
        os.register_at_fork(after_in_child=self._forget)

    def send(self, content: bytes, descriptors: tuple[int, ...]) -> bool:
        """Whether it was taken: not by a host that has just ended. Raises PlatformError."""
        with self._lock:
            if self._socket is None:
                self._start()
            assert self._socket is not None
            try:
                socket.send_fds(self._socket, [content], list(descriptors))
            except (BrokenPipeError, ConnectionResetError):
                self._drop()
                return False
            except OSError as error:
                self._drop()
                raise wire.not_started(error) from error
            return True

    @contextlib.contextmanager
    def in_use(self) -> Iterator[None]:
        """Nobody ends it within the block."""
        with self._lock:
            self._users += 1
        try:
            yield
        finally:
            with self._lock:
                self._users -= 1

    def end(self) -> None:
        """It ends, unless it reads for somebody. Another one is started when something is asked."""
        with self._lock:
            if not self._users:
                self._drop()

    def _start(self) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        env = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
        env[settings.HOME.name] = str(harena_home().absolute())
        package = str(Path(__file__).parents[3])
        env["PYTHONPATH"] = os.pathsep.join(filter(None, (env.get("PYTHONPATH"), package)))
        command = [sys.executable, "-P", "-m", "harena.training.reading.host", str(theirs.fileno())]
        try:
            self._process = subprocess.Popen(
                command, pass_fds=(theirs.fileno(),), cwd="/", env=env, stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            ours.close()
            raise wire.not_started(error) from error
        finally:
            theirs.close()
        self._socket = ours

    def _drop(self) -> None:
        if self._socket is not None:
            self._socket.close()
        if self._process is not None:
            self._process.wait()
        self._socket = self._process = None

    def _forget(self) -> None:
        """A forked process asks a host of its own."""
        self._lock = threading.Lock()
        if self._socket is not None:
            self._socket.close()
        self._socket = self._process = None
        self._users = 0


_HOST = _Host()
end_host: Callable[[], None] = _HOST.end
