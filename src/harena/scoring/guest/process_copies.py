"""Asks an object of a candidate's in a copy of this process, so that nothing that it does there is seen here.

What an object is asked about besides the tests' own values (`guest_decoy_comparisons`) may change it, or what it shares
with others: it counts, logs, registers, prints, or keeps what it was told. The copy (`fork`) has all that as it was;
nothing that it writes to a file, a pipe or a socket leaves it, it starts no processes, and it ends with the last
answer. One that does not end is ended, and has not answered.

Copies are asked about the known value as about others, and nothing says which it is: a candidate that knows that it is
in a copy, and in which, cannot tell them apart either. It does know: by memory that processes share, by the numbers and
times of processes, and by files.

Part of the programs that run trusted tests in one process with a candidate. Standard library only, Python 3.8 and up.
Everything that it uses is taken before the candidate runs.
"""

from __future__ import annotations

import _socket
import builtins
import fcntl
import gc
import io
import os
import random
import select
import signal
import stat
import sys
import time
import warnings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

RAISED, FAILED = "!", "?"
"""instead of an answer: the object has raised; and it has not answered, or for a reason that lies in the copy"""
_MOST_COPIES, _MOST_ENDED = 2000, 20
"""copies that one process makes, and those among them that had to be ended"""
_FAR_SECONDS, _MOST_SECONDS = 0.25, 5.0
"""processor time for a question about a number far from the known one, and for any other, the known one among them"""
_BLOCKED_SECONDS = 3.0
"""without an answer, and without a use of the processor: it waits for what is not in a copy"""
_MOST_COPIED_BYTES = 1 << 20
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_CHANGING = frozenset({
    "os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.truncate", "os.link", "os.symlink", "os.chmod", "os.chown",
    "os.utime", "os.setxattr", "os.removexattr", "os.system", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn",
    "os.spawn", "os.kill", "os.killpg", "subprocess.Popen", "socket.connect", "socket.sendto", "socket.sendmsg",
    "socket.bind", "signal.pthread_kill", "pty.spawn",
})  # fmt: skip
"""what a program does to the world around it, as Python's audit events name it"""
_fork, _exit, _waitpid, _kill, _pipe, _read, _write, _close = (
    os.fork, os._exit, os.waitpid, os.kill, os.pipe, os.read, os.write, os.close,
)  # fmt: skip
_dup2, _open, _fstat, _lseek, _pread, _listdir = os.dup2, os.open, os.fstat, os.lseek, os.pread, os.listdir
_memfd = getattr(os, "memfd_create", None)
_poll, _cpu_time, _clock, _control = select.poll, time.clock_gettime, time.monotonic, fcntl.fcntl
_handler_of, _socketpair, _frames, _add_hook = (
    signal.getsignal,
    _socket.socketpair,
    sys._current_frames,
    sys.addaudithook,
)
_random_state, _set_random_state = random.getstate, random.setstate
_catch_warnings, _simple_filter = warnings.catch_warnings, warnings.simplefilter
_stop_collecting, _really_open = gc.disable, io.open
_SILENT = {os.stat(path).st_rdev for path in (os.devnull, "/dev/zero", "/dev/urandom") if os.path.exists(path)}


class NoCopyError(Exception):
    """There is no copy to ask, or it cannot say what the object says here."""


class _BlockedError(Exception):
    """A copy waits."""


class Snapshots:
    """The copies of one process."""

    def __init__(self) -> None:
        self._left, self._ended_left = _MOST_COPIES, _MOST_ENDED
        self._too_large: dict[type, float] = {}
        """class -> the size from which on numbers keep its objects busy"""
        self._blocked: set[type] = set()
        """classes whose objects have waited, in a copy, for what is not there"""

    def is_too_large(self, asked: Any, value: Any, known: Any) -> bool:
        """An object of the class has not ended for a number of this size, which is far from the known one."""
        return _is_far(value, known) and abs(value) >= self._too_large.get(type(asked), float("inf"))

    def answers(
        self, asked: Any, ask: Callable[[Any], str], questions: Sequence[tuple[Any, bool]], known: Any = None
    ) -> list[str]:
        """What it says of each value, in one copy and in this order; `ask` gives a short line. A value has with it
        whether it is the known one. `known`: that, or one of its size, where far numbers are told by another. Raises
        NoCopyError where there is no copy, or the known one has no answer, or one that is not far from it takes too
        long: who is slow has not said no."""
        return self._all_known(questions, self._said(asked, ask, questions, _known_of(questions, known)))

    def answers_apart(
        self, asked: Any, ask: Callable[[Any], str], questions: Sequence[tuple[Any, bool]], known: Any = None
    ) -> list[str]:
        """What `answers` gives, each in a copy of its own. Which is the known one is told by nothing, not even by the
        number of copies: the others are asked about where that has no answer, too."""
        known = _known_of(questions, known)
        return self._all_known(questions, [self._said(asked, ask, [each], known)[0] for each in questions])

    @staticmethod
    def _all_known(questions: Sequence[tuple[Any, bool]], found: list[str]) -> list[str]:
        if any(is_it and each == FAILED for (_, is_it), each in zip(questions, found)):  # noqa: B905 (Python 3.8)
            raise NoCopyError
        return found

    def _said(
        self, asked: Any, ask: Callable[[Any], str], questions: Sequence[tuple[Any, bool]], known: Any
    ) -> list[str]:
        found: list[str] = []
        while len(found) < len(questions):
            waiting = questions[len(found) :]
            skipped = [not is_it and self.is_too_large(asked, value, known) for value, is_it in waiting]
            if skipped[0]:
                found.append(RAISED)
                continue
            until = skipped.index(True) if True in skipped else len(waiting)
            if type(asked) in self._blocked:
                raise NoCopyError
            limits = [_FAR_SECONDS if _is_far(value, known) else _MOST_SECONDS for value, _ in waiting[:until]]
            try:
                said, is_ended = self._asked_in_copy(ask, waiting[:until], limits)
            except _BlockedError:
                self._blocked.add(type(asked))
                raise NoCopyError from None
            found += said
            if is_ended:
                value = questions[len(found)][0]
                if not _is_far(value, known):
                    raise NoCopyError
                self._too_large[type(asked)] = min(abs(value), self._too_large.get(type(asked), float("inf")))
            if len(said) < until:
                found.append(FAILED)
        return found

    def says_yes(self, asked: Any, says: Callable[[], bool], value: Any = None) -> bool | None:
        """What `says` gives in a copy, where it asks the object about this value; to raise is no yes. None where there
        is no copy."""
        try:
            return self.answers(asked, lambda _: "01"[says()], [(value, False)]) == ["1"]
        except NoCopyError:
            return None

    def _asked_in_copy(
        self, ask: Callable[[Any], str], questions: Sequence[tuple[Any, bool]], limits: Sequence[float]
    ) -> tuple[list[str], bool]:
        """(its answers up to the first that it has not given, whether it was ended for the time that took)."""
        if self._left <= 0 or self._ended_left <= 0 or _handler_of(signal.SIGCHLD) not in (signal.SIG_DFL, None):
            raise NoCopyError
        self._left -= 1
        state = _random_state()
        try:
            source, sink = _pipe()
        except OSError:
            raise NoCopyError from None
        try:
            child = _forked()
        except OSError:
            _close(source)
            _close(sink)
            raise NoCopyError from None
        if not child:
            _answer(ask, questions, sink, state)
        _close(sink)
        is_ended = False
        try:
            said, is_ended = _received(child, source, limits)
        finally:
            _close(source)
            self._ended_left -= is_ended
            try:
                _kill(child, signal.SIGKILL)
                _waitpid(child, 0)
            except OSError:  # somebody has waited for every child
                pass
        return said, is_ended


def _known_of(questions: Sequence[tuple[Any, bool]], known: Any) -> Any:
    return next((value for value, is_it in questions if is_it), None) if known is None else known


def _is_far(value: Any, known: Any) -> bool:
    """Ordinary code may take for ever for such a number. Who says yes to what is near the known one is asked, too."""
    is_number = type(value) in (int, float) and type(known) in (int, float)
    return is_number and abs(value) > 4 * abs(known) + 900_000


def _forked() -> int:
    if len(_frames()) == 1:
        return _fork()
    with _catch_warnings():  # Python warns of locks that other threads hold; a copy that waits for one is ended
        _simple_filter("ignore")
        return _fork()


def _received(child: int, source: int, limits: Sequence[float]) -> tuple[list[str], bool]:
    waiting, text = _poll(), b""
    waiting.register(source, select.POLLIN)
    since, used, seen = _clock(), 0.0, 0.0
    while text.count(b"\n") < len(limits):
        if not waiting.poll(20):
            now = _used_by(child)
            if now - used > limits[text.count(b"\n")]:
                return text.decode("ascii", "replace").split("\n")[:-1], True
            if now > seen:
                seen, since = now, _clock()
            elif _clock() - since > _BLOCKED_SECONDS:
                raise _BlockedError
            continue
        piece = _read(source, 1 << 16)
        if not piece:
            break
        text += piece
        since, used = _clock(), _used_by(child)
        seen = used
    return text.decode("ascii", "replace").split("\n")[:-1][: len(limits)], False


def _used_by(child: int) -> float:
    """Processor time that it has used."""
    try:
        return _cpu_time((~child << 3) | 2)
    except OSError:
        return 0.0


def _answer(ask: Callable[[Any], str], questions: Sequence[tuple[Any, bool]], sink: int, state: Any) -> None:
    """The copy's part; it never returns."""
    try:
        _stop_collecting()
        _set_random_state(state)
        _keep_apart(sink)
        for value, _ in questions:
            try:
                said = ask(value)
            except OSError:
                said = FAILED
            except Exception:  # noqa: BLE001 (of the candidate's own methods)
                said = RAISED
            _write(sink, said.encode("ascii", "replace") + b"\n")
    finally:
        _exit(0)


def _keep_apart(sink: int) -> None:
    """Nothing that is written from here on is seen elsewhere, and nothing that others would read is taken away."""
    null = _open(os.devnull, os.O_RDWR)
    for name in _listdir("/proc/self/fd"):
        descriptor = int(name)
        if descriptor in (null, sink):
            continue
        try:
            found = _fstat(descriptor)
            other = _private(descriptor, found, null)
        except OSError:
            other = null if descriptor > 2 or _is_there(descriptor) else descriptor
        if other != descriptor:
            _dup2(other, descriptor)

    def opened(file: Any, mode: str = "r", *more: Any, **named: Any) -> Any:
        is_written = isinstance(mode, str) and set(mode) & set("wax") and "+" not in mode
        if is_written and isinstance(file, (str, bytes, os.PathLike)):
            return _really_open(os.devnull, "wb" if "b" in mode else "w", *more, **named)
        return _really_open(file, mode, *more, **named)

    builtins.open = io.open = opened
    _add_hook(_forbid)


def _is_there(descriptor: int) -> bool:
    try:
        _fstat(descriptor)
    except OSError:
        return False
    return True


def _private(descriptor: int, found: os.stat_result, null: int) -> int:
    """What stands in the place of a descriptor that is shared with the process that the copy is of."""
    kind = found.st_mode
    if stat.S_ISDIR(kind) or (stat.S_ISCHR(kind) and found.st_rdev in _SILENT):
        return descriptor
    if stat.S_ISSOCK(kind):
        near, far = _socketpair()
        far.shutdown(_socket.SHUT_WR)
        _kept.append(far)
        return near.detach()
    if not stat.S_ISREG(kind):
        return null
    flags = _control(descriptor, fcntl.F_GETFL)
    at = _lseek(descriptor, 0, os.SEEK_CUR)
    if flags & os.O_ACCMODE == os.O_WRONLY:
        return null
    if flags & os.O_ACCMODE == os.O_RDONLY:
        other = _open(f"/proc/self/fd/{descriptor}", os.O_RDONLY)
    elif _memfd is None or found.st_size > _MOST_COPIED_BYTES:
        return null
    else:
        other = _memfd("harena")
        _write(other, _pread(descriptor, _MOST_COPIED_BYTES, 0))
    _lseek(other, at, os.SEEK_SET)
    return other


_kept: list[Any] = []
"""far ends of sockets, so that these are not broken"""


def _forbid(event: str, given: tuple[Any, ...]) -> None:
    if event in _CHANGING:
        raise PermissionError(event)
    if event == "open" and given[0] != os.devnull and isinstance(given[2], int) and given[2] & _WRITING:
        raise PermissionError(event)


COPIES = Snapshots()
"""the copies of this process"""
