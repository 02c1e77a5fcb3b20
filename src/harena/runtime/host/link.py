"""The client's side of the spawner: starts it, speaks to it, and tells who is concerned when something has ended."""

from __future__ import annotations

import asyncio
import contextlib
import marshal
import os
import socket
import struct
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from harena.core.errors import HostUnsupportedError, PlatformError, SandboxUnavailableError
from harena.core.threads import NODE
from harena.runtime.kernel import cgroups
from harena.runtime.spawner.spawner import (
    MAX_BATCH,
    TEMPLATE_GONE,
    TEMPLATES_OUT_OF_MEMORY,
    TEMPLATES_OUT_OF_PROCESSES,
)

_START = "import sys; sys.path.insert(0, sys.argv.pop(1)); from harena.runtime.spawner.spawner import main; main()"
_SOURCE = str(Path(__file__).resolve().parents[3])
_MESSAGE_BYTES = 16 << 10
_REQUEST_BYTES = 96 << 10  # what the spawner reads at once
_NOTHING: dict[str, Any] = {"time": (0.0, 0.0, False), "oom": (0, 0), "held": 0}
"""answers of a spawner that has ended"""
Limits = tuple[int | None, int | None, float | None]  # memory bytes, processes, cores


class TemplateGoneError(PlatformError):
    """The template ended before it could make the sandbox; a new one can."""


class TemplatesFullError(PlatformError):
    """Templates have together all memory or processes that they may have; one more can start when others have ended."""


class Closable(Protocol):
    """A descriptor, and who closes it."""

    def fileno(self) -> int:
        """The descriptor."""

    def close(self) -> None:
        """Close it."""


@dataclass(frozen=True, slots=True)
class SentDescriptor:
    """A descriptor that is closed when it has been sent."""

    descriptor: int

    def fileno(self) -> int:
        """The descriptor."""
        return self.descriptor

    def close(self) -> None:
        """Close it."""
        os.close(self.descriptor)


@dataclass(slots=True)
class Order:
    """A sandbox to be made: `created` becomes done when it is in its cgroups, `dead` when it has ended."""

    number: int
    template: int
    settings: bytes
    limits: Limits
    channel: socket.socket
    created: asyncio.Future[None]
    dead: Callable[[int, int, bool], None]  # given the kills by its memory limit, and by limits above it
    layer: SentDescriptor | None = None
    """folder of an upper layer that the template holds from then on"""

    @property
    def descriptors(self) -> list[Closable]:
        """What is sent with the order, and closed then."""
        return [self.channel] if self.layer is None else [self.channel, self.layer]


class SpawnerLink:
    """One spawner. Everything runs in the event loop that called `start`."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._numbers = 0
        self._orders: list[Order] = []
        self._kills: list[int] = []
        self._pending: dict[int, Order] = {}
        self._living: dict[int, Callable[[int, int, bool], None]] = {}
        self._templates: dict[int, asyncio.Future[dict[str, str]]] = {}
        self._on_template_death: dict[int, Callable[[], None]] = {}
        self._answers: dict[int, asyncio.Future[Any]] = {}
        self._outbox: deque[tuple[bytes, Sequence[Closable]]] = deque()
        self._flushing = False
        self.closed = False
        self.privileged = False
        self.counts_memory = False
        """memory is limited by a cgroup"""
        self.memory_directory = ""
        """the cgroup of all sandboxes together, where their memory is limited; "" = none"""
        self._control: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._pidfd = -1
        self._reaped: asyncio.Future[None] = self._loop.create_future()
        self._gone: asyncio.Future[None] = self._loop.create_future()
        self._ready: asyncio.Future[bool] = self._loop.create_future()

    def next_number(self) -> int:
        """A number that was not used before on this link."""
        self._numbers += 1
        return self._numbers

    async def start(self) -> None:
        """Start the spawner. Raises HostUnsupportedError / PlatformError with what it said."""
        facts = await NODE.run(lambda: cgroups.probe_delegation(cgroups.detect()))
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours.setblocking(False)
        argv = [sys.executable, "-I", "-S", "-c", _START, _SOURCE, str(theirs.fileno()), str(os.getpid())]
        argv = cgroups.delegated_command(argv, facts) or argv
        with theirs:
            self._process = subprocess.Popen(  # noqa: ASYNC220 (posix_spawn of a known program; does not wait)
                argv, stdin=subprocess.DEVNULL, pass_fds=[theirs.fileno()], start_new_session=True
            )
        self._pidfd = os.pidfd_open(self._process.pid)
        self._loop.add_reader(self._pidfd, self._spawner_ended)
        self._control = ours
        self._loop.add_reader(ours.fileno(), self._receive)
        try:
            self.privileged = await self._ready
        except PlatformError:
            await self.close()
            raise

    # -- what the client asks ------------------------------------------------------------------------------------

    async def start_template(
        self, number: int, plan: dict[str, object], configuration: dict[str, object], on_death: Callable[[], None]
    ) -> dict[str, str]:
        """Make a template. Gives limit name -> how it is enforced. Raises HostUnsupportedError with the failed step,
        TemplatesFullError."""
        if self.closed:
            raise _spawner_lost()
        ready: asyncio.Future[dict[str, str]] = self._loop.create_future()
        self._templates[number] = ready
        self._on_template_death[number] = on_death
        self._send(("template", number, plan, configuration))
        return await ready

    def drop_template(self, number: int) -> None:
        """End a template and every sandbox of it."""
        self._send(("drop", number))

    def order(self, order: Order) -> None:
        """Have a sandbox made; orders of one turn of the loop travel together."""
        if self.closed:
            for one in order.descriptors:
                one.close()
            order.created.set_exception(_spawner_lost())
            return
        self._orders.append(order)
        self._schedule_flush()

    def kill(self, number: int) -> None:
        """End a sandbox at once; its `dead` is called when that has happened."""
        if not self.closed and (number in self._living or number in self._pending):
            self._kills.append(number)
            self._schedule_flush()

    def let_go(self, template: int, place: int) -> None:
        """A template need not hold the layer in this place any more."""
        self._send(("let_go", template, place))

    async def ask(self, what: str, number: int) -> Any:
        """Ask a sandbox's `time` (longest wait for a processor and processor time, in seconds; whether it is idle),
        `oom` (kills so far by its memory limit, and by limits above it) or `held` (bytes of memory)."""
        nothing = _NOTHING[what]
        if self.closed:
            return nothing
        question = self.next_number()
        answer = self._answers[question] = self._loop.create_future()
        self._send((what, question, number))
        return await answer or nothing

    async def close(self) -> None:
        """End the spawner and with it everything that it made; returns when it has ended."""
        if self._control is not None and not self.closed:
            self._control.shutdown(socket.SHUT_WR)
            await self._gone
        await self.reaped()

    async def reaped(self) -> None:
        """Returns when the spawner, whose end is known, is no zombie any more."""
        if self._process is not None:
            await asyncio.shield(self._reaped)

    def _spawner_ended(self) -> None:
        """Its pidfd is readable: it is a zombie, and waiting for it does not wait. No thread: this may be at exit."""
        assert self._process is not None
        self._loop.remove_reader(self._pidfd)
        os.close(self._pidfd)
        self._pidfd = -1
        self._process.wait()
        self._lose()
        self._reaped.set_result(None)

    def forget(self) -> None:
        """In a forked child: let go of the parent's descriptors."""
        if self._pidfd >= 0:
            os.close(self._pidfd)
            self._pidfd = -1
        if self._control is not None:
            os.close(self._control.detach())
        if self._process is not None:
            self._process.returncode = 0  # not this process's child: nothing to wait for, nothing to warn about

    # -- wire ----------------------------------------------------------------------------------------------------

    def _schedule_flush(self) -> None:
        if not self._flushing:
            self._flushing = True
            self._loop.call_soon(self._flush)

    def _flush(self) -> None:
        self._flushing = False
        if self._kills:
            kills, self._kills = self._kills, []
            self._send(("kill", kills))
        while self._orders and not self.closed:
            most = MAX_BATCH // 2 if any(order.layer for order in self._orders) else MAX_BATCH
            batch, self._orders = self._orders[:most], self._orders[most:]
            for order in batch:
                self._pending[order.number] = order
            self._send(
                ("create", [(*_fields_of(order), order.layer is not None) for order in batch]),
                [one for order in batch for one in order.descriptors],
            )

    def _send(self, message: tuple[object, ...], channels: Sequence[Closable] = ()) -> None:
        if self.closed:
            return
        encoded = marshal.dumps(message, 2)  # type: ignore[arg-type]
        if len(encoded) > _REQUEST_BYTES:
            raise PlatformError(
                f"a request of {len(encoded)} bytes to the spawner; a blueprint's environment and warm list must "
                f"stay below {_REQUEST_BYTES} bytes together",
                step="spawner",
            )
        self._outbox.append((encoded, channels))
        if len(self._outbox) == 1:
            self._drain()

    def _drain(self) -> None:
        """Send what waits. Never blocks: the spawner may itself be waiting for this side to read."""
        if self._control is None or self.closed:
            return
        while self._outbox:
            encoded, channels = self._outbox[0]
            descriptors = struct.pack(f"{len(channels)}i", *(channel.fileno() for channel in channels))
            try:
                self._control.sendmsg(
                    [encoded], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, descriptors)] if channels else []
                )
            except BlockingIOError:
                self._loop.add_writer(self._control.fileno(), self._drain)
                return
            except OSError:
                self._lose()
                return
            self._outbox.popleft()
            for channel in channels:
                channel.close()
        self._loop.remove_writer(self._control.fileno())

    def _receive(self) -> None:
        assert self._control is not None
        for _ in range(64):
            try:
                message = self._control.recv(_MESSAGE_BYTES)
            except BlockingIOError:
                return
            except OSError:
                message = b""
            if not message:
                self._lose()
                return
            self._handle(*marshal.loads(message))  # noqa: S302 (from our own spawner)

    def _handle(self, kind: str, *arguments: Any) -> None:
        if kind == "created":
            self._created(*arguments)
        elif kind == "dead":
            number, *counted = arguments
            dead = self._living.pop(number, None)
            if dead is not None:
                dead(*counted)
        elif kind == "answer":
            answer = self._answers.pop(arguments[0], None)
            if answer is not None and not answer.done():
                answer.set_result(arguments[1])
        elif kind == "template":
            number, error, enforcement = arguments
            ready = self._templates.pop(number, None)
            if ready is not None and not ready.done():
                if error in (TEMPLATES_OUT_OF_MEMORY, TEMPLATES_OUT_OF_PROCESSES):
                    ready.set_exception(TemplatesFullError(f"template: {error}", step="template"))
                elif error:
                    ready.set_exception(HostUnsupportedError(_explain(error), step=error.partition(":")[0]))
                else:
                    ready.set_result(enforcement)
        elif kind == "template_dead":
            on_death = self._on_template_death.pop(arguments[0], None)
            if on_death is not None:
                on_death()
        elif kind == "ready":
            self.counts_memory = bool(arguments[1])
            self.memory_directory = str(arguments[2])
            self._ready.set_result(arguments[0])
        elif kind == "failed":
            self._ready.set_exception(
                HostUnsupportedError(_explain(f"the spawner could not start: {arguments[0]}"), step="spawner")
            )

    def _created(self, number: int, error: str) -> None:
        order = self._pending.pop(number)
        if error:
            if not order.created.done():
                kind = TemplateGoneError if error == TEMPLATE_GONE else PlatformError
                step = "template" if error == TEMPLATES_OUT_OF_PROCESSES else error.partition(":")[0]
                order.created.set_exception(kind(f"sandbox start: {error}", step=step))
            return
        self._living[number] = order.dead
        if not order.created.done():
            order.created.set_result(None)

    def _lose(self) -> None:
        """The spawner has ended: nothing that it made lives any more."""
        if self.closed:
            return
        self.closed = True
        assert self._control is not None
        self._loop.remove_reader(self._control.fileno())
        self._loop.remove_writer(self._control.fileno())
        self._control.close()
        for _encoded, channels in self._outbox:
            for channel in channels:
                channel.close()
        for order in self._orders:
            for one in order.descriptors:
                one.close()
        for order in (*self._pending.values(), *self._orders):
            if not order.created.done():
                order.created.set_exception(_spawner_lost())
        for ready in self._templates.values():
            if not ready.done():
                ready.set_exception(_spawner_lost())
        for answer in self._answers.values():
            if not answer.done():
                answer.set_result(0)
        if not self._ready.done():
            self._ready.set_exception(PlatformError("the spawner ended while it started", step="spawner"))
        living, self._living = self._living, {}
        for dead in living.values():
            dead(0, 0, False)
        for on_death in list(self._on_template_death.values()):
            on_death()
        with contextlib.suppress(asyncio.InvalidStateError):
            self._gone.set_result(None)


def _fields_of(order: Order) -> tuple[int, int, bytes, Limits]:
    return order.number, order.template, order.settings, order.limits


def _spawner_lost() -> SandboxUnavailableError:
    return SandboxUnavailableError(
        "the node's spawner process has ended (killed from outside?); its sandboxes are gone, create new ones",
        step="spawner",
        reason="NODE_LOST",
    )


_ADVICE = {
    "clone3": "user namespaces are forbidden here",
    "unshare": "user namespaces may not be nested here",
    "mount /tmp/proc": "this container masks /proc",
    "write /proc": "the user namespace's map cannot be written",
}


def _explain(error: str) -> str:
    advice = next((text for start, text in _ADVICE.items() if start in error), "")
    return (
        f"cannot start a sandbox on this host: {error}{'; ' + advice if advice else ''}. "
        "Run `harena doctor`: it names the setting to change"
    )
