"""The lifecycle of a sandbox on the event loop of the SDK: creation, use, end. Users see it through `Sandbox`.

It is kept alive by the `Sandbox` objects, processes, readers and tasks that use it. One that a session created ends
when nothing can reach it any more; others go on until somebody stops them, their lifetime is over, or the process ends.
"""

from __future__ import annotations

import asyncio
import codecs
import contextlib
import itertools
import threading
import time
from collections.abc import AsyncIterator, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from harena.core.errors import (
    HarenaError,
    SandboxFailedError,
    SandboxNotFoundError,
    SandboxNotRunningError,
    SandboxRequestTimeoutError,
    SandboxTerminatedError,
    SandboxTimeoutError,
)
from harena.core.models import ExecRequest, ExecResult, SandboxSpec
from harena.core.records.sandboxes import SandboxInfo, SandboxStatus
from harena.core.snapshots import SCHEME
from harena.sdk.metrics import ExecCounter
from harena.sdk.options import Plan
from harena.sdk.portal import Portal
from harena.sdk.process import Process
from harena.sdk.refs import OperationRef

if TYPE_CHECKING:
    from harena.core.ports import SandboxHandle, SandboxPort
    from harena.core.records.snapshots import Snapshot
    from harena.sdk.session import Session

_serials = itertools.count(1)


def _check_holds_no_loop() -> None:
    try:
        asyncio.get_running_loop()
    except RuntimeError:  # there is none
        return
    raise RuntimeError(
        "the sandbox is still being created, and to wait for it here would hold up this thread's event loop: "
        "`await sandbox.start()` first, then ask; `sandbox.status` never waits"
    )


class SandboxLifecycle:
    """One sandbox, from its plan to its end."""

    __slots__ = (
        *("__weakref__", "_ending", "_starting", "counter", "finished", "handle", "main", "owned", "plan", "portal"),
        *("ready", "serial", "session", "stop_asked"),
    )

    def __init__(self, portal: Portal, plan: Plan | None, *, handle: SandboxHandle | None = None) -> None:
        self.portal = portal
        self.plan = plan
        self.handle = handle
        self.serial = next(_serials)
        self.session: Session | None = None
        self.owned = False
        """a session created it, and it ends when nothing can reach it"""
        self.counter = ExecCounter()
        self.main: Process | None = None
        """the command that the sandbox was started for"""
        self.finished: OperationRef[None] | None = None
        """the main command has ended, and with it the sandbox"""
        self.stop_asked = False
        self.ready: OperationRef[None] | None = None if handle is None else portal.settled(None)
        """it runs, or could not be started; None = not asked for yet"""
        self._starting = threading.Lock()
        self._ending: asyncio.Task[None] | None = None

    def __del__(self) -> None:
        session = self.session
        if self.owned and self.handle is not None and self._ending is None and session is not None:
            self.portal.call_if_open(session.release, self.handle)

    # -- from any thread --

    def start(self) -> OperationRef[None]:
        """Begin the creation unless it has begun; the same reference for everybody."""
        if self.ready is None:
            self.portal.check_not_inherited()
            with self._starting:
                if self.ready is None:
                    ready: OperationRef[None] = OperationRef(self.portal, cancellable=False)
                    self.portal.call(self.portal.launch, ready, self._create)
                    self.ready = ready
        return self.ready

    def stop(self, grace_seconds: float, missing_ok: bool) -> OperationRef[None]:
        """End it. What was never started is only marked."""
        self.portal.check_not_inherited()
        self.stop_asked = True
        session = self.session
        if session is not None:
            session.forget(self)
        if self.portal.closed or self.ready is None:
            return self.portal.settled(None)
        stopped = self.portal.submit(self.end, grace_seconds, missing_ok, cancellable=False)
        if session is not None:
            session.note_end(stopped)
        return stopped

    def settled_info(self) -> SandboxInfo | None:
        """What is known once the creation that is under way has ended; None if there is no sandbox. Raises RuntimeError
        where waiting for it would hold up the event loop that runs in this thread."""
        ready = self.ready
        if self.handle is None and ready is not None and not ready.done():
            _check_holds_no_loop()
            try:
                ready.result()
            except Exception:  # noqa: BLE001 - whoever uses the sandbox is told
                return None
        return None if self.handle is None else self.handle.info

    def is_same(self, other: SandboxLifecycle) -> bool:
        """Both are the same sandbox of the node."""
        ours, theirs = self.handle, other.handle
        return self is other or (ours is not None and theirs is not None and ours.info.id == theirs.info.id)

    def exec_begun(self) -> None:
        """A command was asked for."""
        self.counter.begun()
        if self.session is not None:
            self.session.metrics.exec_begun(self.serial)

    # -- on the sdk's loop --

    async def running_port(self) -> SandboxPort:
        """The running sandbox; starts it where needed and waits for it."""
        if self.handle is None:
            await self.start().on_loop()
        assert self.handle is not None
        if self._ending is not None:
            raise SandboxTerminatedError(f"sandbox {self.handle.info.id} was stopped: create a new one")
        return self.handle.port

    def exec_ended(self, result: ExecResult | None) -> None:
        """Count a command's end."""
        self.counter.ended(result)
        if self.session is not None:
            self.session.metrics.exec_ended(result)

    async def running_handle(self) -> SandboxHandle:
        """The node's side of it, started where needed."""
        if self.handle is None:
            await self.start()
        assert self.handle is not None
        return self.handle

    async def again(self, snapshot: Snapshot) -> Plan:
        """The plan of another sandbox of this kind that begins with a snapshot and has none of this one's files."""
        image = SCHEME + snapshot.id
        if self.plan is not None:
            spec = replace(self.plan.spec, image=image, files={})
            return Plan(spec, None, self.plan.request_timeout_seconds)
        info = (await self.running_handle()).info
        spec = SandboxSpec(image=image, tags=info.tags, annotations=info.annotations, limits=info.limits)
        return Plan(spec, None, None)

    async def _create(self) -> None:
        plan = self.plan
        assert plan is not None
        if self.stop_asked:
            raise SandboxNotRunningError("this sandbox was stopped before it was started: create a new one")
        began = time.monotonic()
        operations = await self.portal.operations()
        timer = asyncio.timeout(plan.request_timeout_seconds)
        try:
            async with timer:
                self.handle = await operations.create_sandbox(plan.spec)
        except TimeoutError:
            if not timer.expired():
                raise
            raise SandboxRequestTimeoutError(
                f"the sandbox did not run after request_timeout_seconds={plan.request_timeout_seconds:g}"
            ) from None
        if self.session is not None:
            self.session.metrics.sandbox_started(self.serial, time.monotonic() - began)
        if plan.main is not None:
            words = ("/bin/sh", "-c", 'exec "$@" 2>&1', "sh", *plan.main)
            self.main = Process(self.portal, _Uncounted(self), ExecRequest(argv=words))
            self.finished = self.portal.submit(self._follow_main, cancellable=False)

    async def _follow_main(self) -> None:
        """A sandbox that was started for a command ends with it."""
        assert self.main is not None
        with contextlib.suppress(HarenaError):  # the sandbox has ended before it, which its status says
            await self.main
        if self.session is not None:
            self.session.forget(self)
        await self.end(0.0, missing_ok=True)

    async def end(self, grace_seconds: float, missing_ok: bool) -> None:
        """End it and wait for that; concurrent calls share one end."""
        if self.handle is None:
            assert self.ready is not None
            try:
                await self.ready
            except Exception:  # noqa: BLE001 - it never ran, and whoever uses it is told why
                return
            assert self.handle is not None
        ending = self._ending
        if ending is None or (ending.done() and (ending.cancelled() or ending.exception() is not None)):
            loop = asyncio.get_running_loop()
            ending = self._ending = loop.create_task(self.handle.stop(grace_seconds=grace_seconds))
        try:
            await asyncio.shield(ending)
        except SandboxNotFoundError:
            if not missing_ok:
                raise

    async def complete(self, timeout: float | None, raise_on_termination: bool) -> None:
        """Wait for its end, whatever it is. Raises SandboxTimeoutError, SandboxFailedError, SandboxTerminatedError."""
        timer = asyncio.timeout(timeout)
        try:
            async with timer:
                handle = await self.running_handle()
                if self.finished is not None:
                    await self.finished
                info = await handle.wait_terminal()
        except TimeoutError:
            if not timer.expired():
                raise
            raise SandboxTimeoutError(f"the sandbox had not ended after timeout={timeout:g} seconds") from None
        if info.status is SandboxStatus.FAILED:
            raise SandboxFailedError(
                f"sandbox {info.id} failed: {info.status_reason}", sandbox_id=info.id, status_reason=info.status_reason
            )
        if raise_on_termination and (self.stop_asked or info.status is SandboxStatus.TERMINATED):
            why = info.status_reason or "somebody stopped it"
            raise SandboxTerminatedError(f"sandbox {info.id} was ended before it had completed: {why}")

    async def logs(self, follow: bool, tail_lines: int | None) -> AsyncIterator[str]:
        """The main command's output, standard error included; nothing where there is no main command."""
        return self._logs(follow, tail_lines)

    async def _logs(self, follow: bool, tail_lines: int | None) -> AsyncIterator[str]:
        await self.running_handle()
        if self.main is None:
            return
        buffer = (await self.main.running_exec()).stdout
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        chunks = buffer.chunks_since(0)
        text = decoder.decode(b"".join(chunks))
        if tail_lines is not None:
            text = "".join(text.splitlines(keepends=True)[-tail_lines:] if tail_lines else ())
        if text:
            yield text
        index = len(chunks)
        while follow and (chunk := await buffer.next_chunk(index)) is not None:
            index += 1
            if text := decoder.decode(chunk):
                yield text
        if text := decoder.decode(b"", final=True):
            yield text


class _Uncounted:
    """The main command's owner: it is the sandbox's purpose, not one of its execs."""

    __slots__ = ("_lifecycle",)

    def __init__(self, lifecycle: SandboxLifecycle) -> None:
        self._lifecycle = lifecycle

    async def running_port(self) -> SandboxPort:
        """The running sandbox."""
        return await self._lifecycle.running_port()

    def exec_ended(self, result: ExecResult | None) -> None:
        """Not counted."""


def start_all(portal: Portal, lifecycles: Iterable[SandboxLifecycle]) -> None:
    """Begin the creation of several sandboxes with one call to the loop."""
    references: list[tuple[OperationRef[None], SandboxLifecycle]] = []
    for lifecycle in lifecycles:
        lifecycle.ready = OperationRef(portal, cancellable=False)
        references.append((lifecycle.ready, lifecycle))

    def launch() -> None:
        for ready, lifecycle in references:
            portal.launch(ready, lifecycle._create)

    portal.call(launch)
