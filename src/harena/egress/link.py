"""The node's side of the egress process: starts it with the first sandbox that has a network, and speaks to it.

Should the process end while the node lives, it is started anew: the node keeps a copy of every listener. Connections
that were open are lost then, and so are the logs.
"""

from __future__ import annotations

import asyncio
import os
import socket
import struct
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from harena.core.errors import NotFoundError, PlatformError
from harena.core.network_policy import Network, NetworkPolicy
from harena.core.records.network import NetworkLog
from harena.egress import messages

_START = "import sys; sys.path[:] = sys.argv.pop(1).split(':'); from {} import main; main()"
_ANSWER_SECONDS = 30.0
_KEPT_VARIABLES = ("LANG", "LC_ALL", "PATH", "TZ", "RES_OPTIONS", "LD_LIBRARY_PATH")
"""what the process is given of the node's environment: others may hold secrets, and it reads what programs send"""
_MOST_STARTS = 5
"""number of starts, one after the other, of which none has taken what it shall serve"""
_READY = 0
"""number of the question that is asked behind that; those of callers begin at 1"""


@dataclass(frozen=True, slots=True)
class _Admitted:
    workspace: str
    policy: NetworkPolicy
    listeners: tuple[int, ...]
    ports: tuple[int, ...]


class EgressLink:
    """Implements `Egress`. Used from one event loop."""

    MODULE = "harena.egress.process"
    """what the process runs"""

    def __init__(
        self,
        *,
        permitted: Sequence[Network] | None = None,
        times: Mapping[str, float] | None = None,
        table: Mapping[str, Sequence[Sequence[str]]] | None = None,
    ) -> None:
        """`permitted`: the addresses that are not public, or this machine's own, which policies may name (None = all:
        who writes policies is who runs the node). `times`: those of `gate.Times` that are not the usual ones. `table`:
        name -> its answers, one after the other, instead of what this machine resolves, for tests."""
        self._begin: dict[str, Any] = {
            "do": "begin",
            "times": dict(times or {}),
            "table": table,
            "permitted": None if permitted is None else [*map(str, permitted)],
        }
        self._admitted: dict[str, Any] = {}
        """what each sandbox is served with; it has `listeners`"""
        self._control: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._outbox: list[tuple[bytes, tuple[int, ...]]] = []
        self._incoming = messages.Incoming()
        self._answers: dict[int, asyncio.Future[Any]] = {}
        self._numbers = 0
        self._starts = 0
        self._closed = False

    @property
    def pid(self) -> int | None:
        """Number of the process, while there is one."""
        return None if self._process is None else self._process.pid

    async def admit(
        self, sandbox_id: str, workspace: str, policy: NetworkPolicy, listeners: Sequence[int], ports: Sequence[int]
    ) -> None:
        """See `Egress`."""
        await self._admit_all(sandbox_id, _Admitted(workspace, policy, tuple(listeners), tuple(ports)))

    async def _admit_all(self, sandbox_id: str, known: Any) -> None:
        try:
            self._start()
        except BaseException:  # raised again: the descriptors are nobody else's
            _close_all(known.listeners)
            raise
        self._admitted[sandbox_id] = known
        try:
            # all are sent before anything is waited for: what forgets the sandbox meanwhile closes its descriptors, and
            # their numbers are those of another sandbox's then
            asked = [self._asked(*admission) for admission in self._admissions(sandbox_id, known)]
            await asyncio.gather(*map(self._answered, asked))
            if sandbox_id not in self._admitted:
                raise PlatformError("the sandbox ended while its listeners were being served", step="egress")
        except BaseException:  # a cancellation, too: the descriptors are nobody else's
            self.forget(sandbox_id)
            raise

    def _admissions(self, sandbox_id: str, known: Any) -> Iterable[tuple[dict[str, Any], tuple[int, ...]]]:
        """The messages that admit a sandbox, with their descriptors."""
        return [(_admission(sandbox_id, known), known.listeners)]

    async def change(self, sandbox_id: str, policy: NetworkPolicy) -> None:
        """See `Egress`."""
        known = self._known(sandbox_id)
        self._admitted[sandbox_id] = _Admitted(known.workspace, policy, known.listeners, known.ports)
        await self._ask({"do": "change", "id": sandbox_id, "policy": policy.to_json()})

    async def log(self, sandbox_id: str, *, after: int = 0, limit: int = 100) -> NetworkLog:
        """See `Egress`."""
        self._known(sandbox_id)
        answer = await self._ask({"do": "log", "id": sandbox_id, "after": after, "limit": limit})
        try:
            return NetworkLog.from_dict(answer)
        except ValueError as error:
            raise PlatformError(
                f"the log of a sandbox's network cannot be understood: {error}", step="egress"
            ) from None

    def forget(self, sandbox_id: str) -> None:
        """See `Egress`."""
        known = self._admitted.pop(sandbox_id, None)
        if known is None:
            return
        _close_all(known.listeners)
        if self._control is not None:
            self._send({"do": "forget", "id": sandbox_id})

    async def close(self) -> None:
        """See `Egress`."""
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
        """See `Egress`."""
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
            raise _gone()
        if self._control is not None:
            return
        if self._starts >= _MOST_STARTS:
            raise PlatformError(
                f"the process that serves the sandboxes' networks has ended {_MOST_STARTS} times as it started; run "
                f"`python -m {self.MODULE}` to see why",
                step="egress",
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

    def _lose(self) -> None:
        """The process has ended, or shall."""
        loop = asyncio.get_running_loop()
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
                answer.set_exception(_gone())

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
        if answer is None or answer.done():
            return
        if "error" in message:
            kind = NotFoundError if message.get("unknown") else PlatformError
            text = f"the sandbox's network: {str(message['error'])[:1000]}"
            answer.set_exception(NotFoundError(text) if kind is NotFoundError else PlatformError(text, step="egress"))
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

    def _known(self, sandbox_id: str) -> _Admitted:
        if sandbox_id not in self._admitted:
            raise NotFoundError(f"sandbox {sandbox_id} has no network that is served here")
        known: _Admitted = self._admitted[sandbox_id]
        return known

    async def _ask(self, message: dict[str, Any]) -> Any:
        return await self._answered(self._asked(message, ()))

    def _asked(self, message: dict[str, Any], descriptors: Sequence[int]) -> int:
        """The number of a question that is on its way."""
        self._start()
        self._numbers += 1
        number = self._numbers
        self._send({**message, "q": number}, descriptors)
        self._answers[number] = asyncio.get_running_loop().create_future()
        return number

    async def _answered(self, number: int) -> Any:
        try:
            async with asyncio.timeout(_ANSWER_SECONDS):
                return await self._answers[number]
        except TimeoutError:
            raise PlatformError(
                f"the process that serves the sandboxes' networks has not answered within {_ANSWER_SECONDS:.0f} s",
                step="egress",
            ) from None
        finally:
            self._answers.pop(number, None)

    def _send(self, message: dict[str, Any], descriptors: Sequence[int] = ()) -> None:
        try:
            first, *others = messages.packets(message)
        except ValueError as error:
            raise PlatformError(f"the sandbox's network: {error}", step="egress") from None
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


def _close_all(descriptors: Sequence[int]) -> None:
    for descriptor in descriptors:
        os.close(descriptor)


def _admission(sandbox_id: str, known: _Admitted) -> dict[str, Any]:
    return {
        "do": "admit",
        "id": sandbox_id,
        "workspace": known.workspace,
        "policy": known.policy.to_json(),
        "ports": list(known.ports),
    }


def _gone() -> PlatformError:
    return PlatformError("the process that serves the sandboxes' networks has ended", step="egress")
