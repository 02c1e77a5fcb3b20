"""The node's side of a process that serves listeners of sandboxes: starts it with the first of them, and speaks to it.

Should the process end while the node lives, or hang, it is started anew: the node keeps a copy of every listener.
Connections that were open are lost then, and so are the logs.
"""

from __future__ import annotations

import asyncio
import os
import socket
import struct
import subprocess
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any, Generic, Protocol, TypeVar

from harena.core.errors import NotFoundError, PlatformError
from harena.core.records.record import Record
from harena.egress import messages

_START = "import sys; sys.path[:] = sys.argv.pop(1).split(':'); from {} import main; main()"
ANSWER_SECONDS = 30.0
"""for which a process may answer nothing; as often it is asked whether it still serves"""
_KEPT_VARIABLES = ("LANG", "LC_ALL", "PATH", "TZ", "RES_OPTIONS", "LD_LIBRARY_PATH")
"""what the process is given of the node's environment: others may hold secrets, and it reads what programs send"""
_MOST_STARTS = 5
"""number of starts, one after the other, of which none has taken what it shall serve"""
_READY = 0
"""number of the question that is asked behind that; those of callers begin at 1"""


class Admitted(Protocol):
    """What a sandbox is served with."""

    @property
    def listeners(self) -> tuple[int, ...]:
        """Descriptors, which are the link's."""


AdmittedT = TypeVar("AdmittedT", bound=Admitted)
LogT = TypeVar("LogT", bound=Record)


class ProcessLink(ABC, Generic[AdmittedT]):
    """Starts one process and speaks to it. Used from one event loop."""

    MODULE: str
    """what the process runs"""
    SERVES: str
    """what it serves of a sandbox, in one word of errors"""

    def __init__(self, begin: dict[str, Any], answer_seconds: float = ANSWER_SECONDS) -> None:
        """`begin`: the message that a new process is told first. `answer_seconds`: for which it may answer nothing;
        then it hangs, and is ended."""
        self._begin = begin
        self._answer_seconds = answer_seconds
        self._admitted: dict[str, AdmittedT] = {}
        self._control: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._outbox: list[tuple[bytes, tuple[int, ...]]] = []
        self._incoming = messages.Incoming()
        self._answers: dict[int, asyncio.Future[Any]] = {}
        self._numbers = 0
        self._starts = 0
        self._closed = False
        self._heard = False
        """whether the process has said anything since it was looked at"""
        self._look_again: asyncio.TimerHandle | None = None

    @property
    def pid(self) -> int | None:
        """Number of the process, while there is one."""
        return None if self._process is None else self._process.pid

    @abstractmethod
    def _admissions(self, sandbox_id: str, known: AdmittedT) -> Iterable[tuple[dict[str, Any], tuple[int, ...]]]:
        """The messages that admit a sandbox, with their descriptors."""

    async def _admit_all(self, sandbox_id: str, known: AdmittedT) -> None:
        try:
            self._start()
        except BaseException:  # raised again: the descriptors are nobody else's
            _close_all(known.listeners)
            raise
        self._admitted[sandbox_id] = known
        try:
            # all are sent before anything is waited for: what forgets the sandbox meanwhile closes its descriptors, and
            # their numbers are those of another sandbox's then
            asked = [self._send_question(*admission) for admission in self._admissions(sandbox_id, known)]
            await asyncio.gather(*map(self._answered, asked))
            if sandbox_id not in self._admitted:
                raise PlatformError("the sandbox ended while its listeners were being served", step=self.SERVES)
        except BaseException:  # a cancellation, too: the descriptors are nobody else's
            self.forget(sandbox_id)
            raise

    def forget(self, sandbox_id: str) -> None:
        """The sandbox has ended, and nothing is known of it any more."""
        known = self._admitted.pop(sandbox_id, None)
        if known is None:
            return
        _close_all(known.listeners)
        if self._control is not None:
            self._send({"do": "forget", "id": sandbox_id})

    async def close(self) -> None:
        """End the process. May be called more than once."""
        self._closed = True
        for sandbox_id in list(self._admitted):
            self.forget(sandbox_id)
        process = self._process
        self._lose()
        if process is not None:
            ended = asyncio.get_running_loop().run_in_executor(None, process.wait)
            try:
                async with asyncio.timeout(2.0):
                    await asyncio.shield(ended)
            except TimeoutError:
                process.kill()
                await ended

    def after_fork_in_child(self) -> None:
        """In a forked child: let go of what belongs to the parent, without ending it."""
        self._closed = True
        if self._control is not None:
            os.close(self._control.detach())
            self._control = None
        for known in self._admitted.values():
            _close_all(known.listeners)
        self._admitted.clear()
        if self._process is not None:
            self._process.returncode = 0  # not this process's child
            self._process = None

    # -- the process ---------------------------------------------------------------------------------------------

    def _start(self) -> None:
        """Start it where there is none, and tell it of all that is served. Raises PlatformError, OSError."""
        if self._closed:
            raise self._gone()
        if self._control is not None:
            return
        if self._starts >= _MOST_STARTS:
            raise PlatformError(
                f"the process that serves the sandboxes' {self.SERVES} has ended {_MOST_STARTS} times as it started; "
                f"run `python -m {self.MODULE}` to see why",
                step=self.SERVES,
            )
        self._starts += 1
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours.setblocking(False)
        start = _START.format(self.MODULE)
        argv = [sys.executable, "-I", "-c", start, ":".join(path for path in sys.path if path), str(theirs.fileno())]
        environment = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
        with theirs:
            self._process = subprocess.Popen(
                argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, pass_fds=[theirs.fileno()], env=environment,
                cwd="/", start_new_session=True,
            )  # fmt: skip
        self._control = ours
        self._incoming = messages.Incoming()
        asyncio.get_running_loop().add_reader(ours.fileno(), self._receive)
        self._send(self._begin)
        for sandbox_id, known in self._admitted.items():
            for message, descriptors in self._admissions(sandbox_id, known):
                self._send(message, descriptors)
        self._send({"do": "ready", "q": _READY})
        self._heard = False
        self._look_later()

    def _look_later(self) -> None:
        loop = asyncio.get_running_loop()
        self._look_again = loop.call_later(self._answer_seconds, self._look)

    def _look(self) -> None:
        """End a process that hangs: what waits in the kernel for ever neither serves anybody nor ends by itself."""
        if not self._heard:
            self._start_anew()
            return
        self._heard = False
        self._send({"do": "ready", "q": _READY})
        self._look_later()

    def _lose(self) -> None:
        """The process has ended, or shall."""
        loop = asyncio.get_running_loop()
        if self._look_again is not None:
            self._look_again.cancel()
            self._look_again = None
        if self._control is not None:
            loop.remove_reader(self._control.fileno())
            loop.remove_writer(self._control.fileno())
            self._control.close()
            self._control = None
        for _, descriptors in self._outbox:
            _close_all(descriptors)
        self._outbox.clear()
        answers, self._answers = self._answers, {}
        for answer in answers.values():
            if not answer.done():
                answer.set_exception(self._gone())

    def _receive(self) -> None:
        assert self._control is not None
        try:
            content = self._control.recv(messages.PACKET_BYTES)
        except BlockingIOError:
            return
        except OSError:
            content = b""
        if not content:
            self._start_anew()
            return
        try:
            message = self._incoming.add(content)
            if message is None:
                return
            answer = self._answers.pop(message["q"], None)
        except (ValueError, KeyError, TypeError, RecursionError):
            self._start_anew()  # it is not what was started
            return
        self._starts = 0
        self._heard = True
        if answer is None or answer.done():
            return
        if "error" in message:
            text = f"the sandbox's {self.SERVES}: {str(message['error'])[:1000]}"
            is_unknown = message.get("unknown") is True
            answer.set_exception(NotFoundError(text) if is_unknown else PlatformError(text, step=self.SERVES))
        else:
            answer.set_result(message.get("answer"))

    def _start_anew(self) -> None:
        self._lose()
        self._reap()
        if self._admitted and not self._closed:
            with suppress(PlatformError, OSError):  # the next who asks is told
                self._start()

    def _reap(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            with suppress(OSError):
                process.kill()
            asyncio.get_running_loop().run_in_executor(None, process.wait)

    # -- messages ------------------------------------------------------------------------------------------------

    def _find_admitted(self, sandbox_id: str) -> AdmittedT:
        if sandbox_id not in self._admitted:
            raise NotFoundError(f"sandbox {sandbox_id} has no {self.SERVES} that is served here")
        return self._admitted[sandbox_id]

    async def _ask(self, message: dict[str, Any]) -> Any:
        return await self._answered(self._send_question(message, ()))

    def _send_question(self, message: dict[str, Any], descriptors: Sequence[int]) -> int:
        """The number of a question that is on its way."""
        self._start()
        self._numbers += 1
        number = self._numbers
        self._send({**message, "q": number}, descriptors)
        self._answers[number] = asyncio.get_running_loop().create_future()
        return number

    async def _answered(self, number: int) -> Any:
        try:
            async with asyncio.timeout(self._answer_seconds):
                return await self._answers[number]
        except TimeoutError:
            raise PlatformError(
                f"the process that serves the sandboxes' {self.SERVES} has not answered within "
                f"{self._answer_seconds:g} s; try it again, it is started anew where it hangs",
                step=self.SERVES,
            ) from None
        finally:
            self._answers.pop(number, None)

    def _send(self, message: dict[str, Any], descriptors: Sequence[int] = ()) -> None:
        try:
            first, *others = messages.packets(message)
        except ValueError as error:
            raise PlatformError(f"the sandbox's {self.SERVES}: {error}", step=self.SERVES) from None
        is_idle = not self._outbox
        copies = tuple(map(os.dup, descriptors))  # they may be closed before it is their turn
        self._outbox += [(first, copies), *((other, ()) for other in others)]
        if is_idle:
            self._drain()

    def _drain(self) -> None:
        if self._control is None:
            return
        loop = asyncio.get_running_loop()
        while self._outbox:
            content, descriptors = self._outbox[0]
            packed = struct.pack(f"{len(descriptors)}i", *descriptors)
            rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, packed)] if descriptors else []
            try:
                self._control.sendmsg([content], rights)
            except BlockingIOError:
                loop.add_writer(self._control.fileno(), self._drain)
                return
            except OSError:
                pass  # that it has ended is told by reading
            self._outbox.pop(0)
            _close_all(descriptors)
        loop.remove_writer(self._control.fileno())

    def _gone(self) -> PlatformError:
        return PlatformError(f"the process that serves the sandboxes' {self.SERVES} has ended", step=self.SERVES)

    async def _log(self, kind: type[LogT], sandbox_id: str, after: int, limit: int) -> LogT:
        """What the process has done for a sandbox. Raises NotFoundError, PlatformError."""
        self._find_admitted(sandbox_id)
        answer = await self._ask({"do": "log", "id": sandbox_id, "after": after, "limit": limit})
        try:
            return kind.from_dict(answer)
        except ValueError as error:
            raise PlatformError(
                f"the log of a sandbox's {self.SERVES} cannot be understood: {error}", step=self.SERVES
            ) from None


def _close_all(descriptors: Sequence[int]) -> None:
    for descriptor in descriptors:
        os.close(descriptor)
