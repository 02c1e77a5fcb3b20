"""`Sandbox`: one isolated, fresh place to run programs in."""

from __future__ import annotations

import asyncio
import builtins
import contextlib
import functools
import math
import signal as signals
from collections.abc import Generator, Iterable, Mapping, Sequence
from concurrent.futures import TimeoutError as FutureTimeoutError
from datetime import datetime
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, Unpack

from harena.core.checked import (
    MOST_PIDS,
    checked_count,
    checked_seconds,
    checked_text,
    checked_texts,
    checked_timeout,
    content_bytes,
    words_of,
)
from harena.core.errors import (
    NotFoundError,
    SandboxNotFoundError,
    SandboxNotRunningError,
    SandboxTimeoutError,
    SandboxValidationError,
    ValidationError,
)
from harena.core.models import ExecRequest
from harena.core.network_policy import MOST_PAGE, GivenNetwork, NetworkPolicy, read_policy
from harena.core.records.gateways import GatewayLog
from harena.core.records.sandboxes import ProcessInfo, SandboxInfo, SandboxStatus, SandboxUsage
from harena.sdk import server_choice
from harena.sdk.defaults import SandboxDefaults, as_defaults
from harena.sdk.files import FileVerbs
from harena.sdk.keywords import hinting
from harena.sdk.metrics import ExecStats
from harena.sdk.options import SandboxOptions, checked_main, checked_statuses, checked_tags, plan
from harena.sdk.portal import Portal, current_portal
from harena.sdk.process import Process, TerminalSession
from harena.sdk.refs import OperationRef
from harena.sdk.sandbox_lifecycle import SandboxLifecycle, start_all
from harena.sdk.session import Session
from harena.sdk.streams import IteratorSource, StreamReader

if TYPE_CHECKING:
    from harena.core.ports import SandboxHandle, SandboxPort
    from harena.core.records.network import NetworkLog
    from harena.core.records.sandbox_answers import CommandOutput
    from harena.core.records.snapshots import Snapshot

MOST_FORKS = 1000
"""sandboxes of one `fork`"""
_FORK_SECONDS = 3600
"""life of the snapshot of a fork whose process is killed before all is made"""


class Sandbox(FileVerbs):
    """One isolated, fresh place to run programs in.

    `Sandbox.run()` returns at once and creates in the background; every verb waits for the sandbox by itself, and a
    sandbox that was only made (`Sandbox(...)`, `session.sandbox()`) starts with its first verb. Verbs return at once
    too: `.result(timeout)` waits, `await` works in any event loop. Everything may be called from any thread.

    Dropping the last reference does not end a sandbox made by `Sandbox.run` (`Sandbox.list` finds it again), but does
    end one made by a session, once its commands have ended. All of an embedded node's sandboxes end with the process.
    """

    __slots__ = ("_lifecycle",)

    def __init__(
        self, *, defaults: SandboxDefaults | Mapping[str, Any] | None = None, **options: Unpack[SandboxOptions]
    ) -> None:
        """A sandbox that is not started yet. Raises SandboxValidationError, TypeError for bad options."""
        self._lifecycle = SandboxLifecycle(current_portal(), plan(as_defaults(defaults), options, "Sandbox"))

    # -- beginnings --

    @classmethod
    def run(
        cls, *words: str, defaults: SandboxDefaults | Mapping[str, Any] | None = None, **options: Unpack[SandboxOptions]
    ) -> Self:
        """Create and start a sandbox in the background.

        `words`, where given, are its main command: it starts when the sandbox runs, `stream_logs` reads its output
        (standard error included), and the sandbox ends with it, as `wait_until_complete` and `returncode` tell.
        """
        if words:
            options["args"] = (*checked_main(None, options.get("args")), *words)
        sandbox = cls(defaults=defaults, **options)
        sandbox._lifecycle.start()
        return sandbox

    @classmethod
    def run_many(
        cls,
        count: int,
        *,
        defaults: SandboxDefaults | Mapping[str, Any] | None = None,
        **options: Unpack[SandboxOptions],
    ) -> builtins.list[Self]:
        """Create and start `count` sandboxes of the same kind, all at once."""
        checked_count(count, "count", least=0)
        planned = plan(as_defaults(defaults), options, "Sandbox.run_many")
        portal = current_portal()
        lifecycles = [SandboxLifecycle(portal, planned) for _ in range(count)]
        start_all(portal, lifecycles)
        return [cls.of(lifecycle) for lifecycle in lifecycles]

    @classmethod
    def session(
        cls,
        defaults: SandboxDefaults | Mapping[str, Any] | None = None,
        *,
        report_to: builtins.list[str] | None = None,
        auth: Any = None,
    ) -> Session:
        """A session whose sandboxes have these defaults."""
        return Session(defaults, report_to, auth=auth)

    @classmethod
    def list(
        cls,
        *,
        tags: Iterable[str] | None = None,
        status: SandboxStatus | str | Iterable[SandboxStatus | str] | None = None,
        show_terminated: bool = False,
        base_url: str | None = None,
    ) -> OperationRef[builtins.list[Self]]:
        """The node's sandboxes that carry all `tags` and have (one of the) `status`.

        Ended ones are left out unless `show_terminated`, or a `status` that is an end, asks for them. `base_url` as in
        `Sandbox.run`.
        """
        if base_url:
            server_choice.choose(base_url, "Sandbox.list")
        return current_portal().submit(cls.listed, checked_tags(tags), checked_statuses(status), show_terminated)

    @classmethod
    def from_id(cls, sandbox_id: str, *, base_url: str | None = None) -> OperationRef[Self]:
        """The sandbox with this id; `base_url` as in `Sandbox.run`. Raises SandboxNotFoundError."""
        checked_text(sandbox_id, "sandbox_id")
        if base_url:
            server_choice.choose(base_url, "Sandbox.from_id")
        return current_portal().submit(cls.found, sandbox_id)

    @classmethod
    def delete(cls, sandbox_id: str, *, missing_ok: bool = False, base_url: str | None = None) -> OperationRef[None]:
        """End the sandbox with this id; `base_url` as in `Sandbox.run`. Raises SandboxNotFoundError unless
        `missing_ok`."""
        checked_text(sandbox_id, "sandbox_id")
        if base_url:
            server_choice.choose(base_url, "Sandbox.delete")
        return current_portal().submit(cls._delete, sandbox_id, missing_ok, cancellable=False)

    def start(self) -> OperationRef[None]:
        """Start it, unless it was started before; done when it runs."""
        return self._lifecycle.start()

    def wait(self, timeout: float | None = None) -> Self:
        """Wait until it runs. Raises SandboxTimeoutError after `timeout` seconds, SandboxFailedError ..."""
        try:
            self._lifecycle.start().result(timeout)
        except FutureTimeoutError:
            raise SandboxTimeoutError(f"the sandbox did not run after timeout={timeout} seconds") from None
        return self

    def __await__(self) -> Generator[Any, None, Self]:
        yield from self._lifecycle.start().__await__()
        return self

    # -- ends --

    @hinting
    def stop(
        self,
        *,
        graceful_shutdown_seconds: float = 0.0,
        missing_ok: bool = False,
        snapshot_on_stop: bool | str = False,
    ) -> OperationRef[None]:
        """End it; done when nothing of it runs any more. Several calls share one end.

        With `graceful_shutdown_seconds`, every process is first sent SIGTERM and given so long. `missing_ok`: no
        SandboxNotFoundError if the node does not know it any more. `snapshot_on_stop` takes a snapshot before, of this
        name where it is a text; what that raises leaves the sandbox as it is.
        """
        if snapshot_on_stop:
            name = None if snapshot_on_stop is True else checked_text(snapshot_on_stop, "snapshot_on_stop")
            return self._lifecycle.portal.submit(
                self._stop_with_snapshot, name, graceful_shutdown_seconds, missing_ok, cancellable=False
            )
        if graceful_shutdown_seconds != 0 or isinstance(graceful_shutdown_seconds, bool):
            checked_seconds(graceful_shutdown_seconds, "graceful_shutdown_seconds (0 = at once)")
        return self._lifecycle.stop(graceful_shutdown_seconds, missing_ok)

    def wait_until_complete(
        self, timeout: float | None = None, *, raise_on_termination: bool = True
    ) -> OperationRef[Self]:
        """Wait for its end: of its main command where it has one, else of the sandbox.

        Raises SandboxTimeoutError, SandboxFailedError, and (unless `raise_on_termination` is False)
        SandboxTerminatedError where it was stopped through this object or its lifetime was over.
        """

        async def complete() -> Self:
            await self._lifecycle.complete(checked_timeout(timeout, "timeout"), raise_on_termination)
            return self

        return self._lifecycle.portal.submit(complete)

    def extend_lifetime(self, seconds: float) -> OperationRef[datetime | None]:
        """End it `seconds` from now at the earliest. The result is when it will end (None = never by itself)."""
        return self._lifecycle.portal.submit(self._extend_lifetime, checked_seconds(seconds, "seconds"))

    def __enter__(self) -> Self:
        self._lifecycle.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        stopped = self.stop()
        try:
            stopped.result()
        except Exception:  # an error that is on its way already says more than a failed clean-up
            if kind is None:
                raise

    async def __aenter__(self) -> Self:
        await self._lifecycle.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            await self.stop()
        except Exception:  # as in `__exit__`
            if kind is None:
                raise

    # -- snapshots --

    @hinting
    def snapshot(
        self, *, name: str | None = None, ttl_seconds: float | None = None, in_memory: bool = False
    ) -> OperationRef[Snapshot]:
        """Take a snapshot of its files, which `Sandbox.run(snapshot=...)` begins with. Its programs stand still
        meanwhile, and go on; they, their memory and connections are no part of it. In the default image its files are
        those of `/workspace`, `/data`, `/root` and `/tmp`.

        `name` must be free; after `ttl_seconds` the snapshot is removed. With `in_memory` it is a branching point, for
        sandboxes that begin with it soon: where nothing runs in this one, it is made in a moment, whatever its size, is
        in no list, and goes after `ttl_seconds` (600) or with the node; else it goes over the disk. Such a one has no
        name. Raises SandboxValidationError,
        ValidationError, LimitExceededError.
        """
        if name is not None:
            checked_text(name, "name")
        if in_memory and name is not None:
            raise ValidationError("a snapshot in memory is in no list, so it has no name: leave name or in_memory out")
        seconds = None if ttl_seconds is None else math.ceil(checked_seconds(ttl_seconds, "ttl_seconds"))
        return self._lifecycle.portal.submit(
            functools.partial(self._snapshot, in_memory=in_memory), name, seconds, cancellable=False
        )

    def fork(self, count: int) -> OperationRef[builtins.list[Self]]:
        """Make `count` sandboxes that begin with its files as they are now, with its limits, environment, working
        directory, tags and annotations; done when all run. Each writes without the others seeing it; no program is
        copied. They are everybody's who made them to stop, and end with the process as those of `Sandbox.run` do. Where
        one cannot be made, none is left. `count` is 1,000 at most.
        """
        checked_count(count, "count", least=0, most=MOST_FORKS)
        return self._lifecycle.portal.submit(self._fork, count, cancellable=False)

    # -- commands --

    @hinting
    def exec(
        self,
        command: Sequence[str],
        *,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        user: str | None = None,
        check: bool = False,
        timeout_seconds: float | None = None,
        stdin: bool | bytes | str = False,
        cpu_seconds: float | None = None,
        output_bytes: int | None = None,
        warm: bool | None = None,
    ) -> Process:
        """Start a command, without a shell.

        `env` is added to the sandbox's environment; in a sandbox of an image it runs as `user` (a name or number,
        perhaps `user:group`), without which the image's USER counts; `stdin` is everything that the command shall read,
        or True for a `Process.stdin` to write to; after `timeout_seconds` of wall time everything that the command
        started is killed;
        `cpu_seconds` limits the processor time of each process; of each output stream at most `output_bytes` are kept;
        `warm=False` asks for a real interpreter start where the blueprint has a warm one. `check=True` makes anything
        but exit code 0 a SandboxExecutionError.
        """
        request = ExecRequest(
            argv=words_of(command),
            env=checked_texts(env, "env"),
            cwd=cwd,
            user=user,
            timeout_seconds=timeout_seconds,
            stdin=None if isinstance(stdin, bool) else content_bytes(stdin, "stdin, where it is not True or False,"),
            stdin_stream=stdin is True,
            output_bytes=output_bytes,
            cpu_seconds=cpu_seconds,
            warm=warm,
        )
        lifecycle = self._lifecycle
        if lifecycle.ready is None:
            lifecycle.start()
        process = Process(lifecycle.portal, lifecycle, request, check=check)
        lifecycle.exec_begun()
        return process

    def shell(
        self, command: Sequence[str] | None = None, *, width: int | None = None, height: int | None = None
    ) -> TerminalSession:
        """Start a command (`/bin/bash`) on a pseudo-terminal of `width` columns (80) and `height` rows (24)."""
        size = (80 if width is None else width, 24 if height is None else height)
        argv = ("/bin/bash",) if command is None else words_of(command)
        terminal = TerminalSession(
            self._lifecycle.portal, self._lifecycle, ExecRequest(argv=argv, terminal=size, stdin_stream=True)
        )
        self._lifecycle.exec_begun()
        return terminal

    def stream_logs(self, *, follow: bool = False, tail_lines: int | None = None) -> StreamReader[str]:
        """The main command's output: the last `tail_lines` lines (all) of it so far, and with `follow` what comes."""
        lifecycle = self._lifecycle
        if tail_lines is not None:
            checked_count(tail_lines, "tail_lines", least=0)
        return StreamReader(lifecycle.portal, IteratorSource(lambda: lifecycle.logs(follow, tail_lines)))

    def processes(self) -> OperationRef[builtins.list[ProcessInfo]]:
        """The processes inside."""
        return self._lifecycle.portal.submit(self._processes)

    def usage(self) -> OperationRef[SandboxUsage]:
        """What its programs use: processor time so far, and memory now."""
        return self._lifecycle.portal.submit(self._usage)

    def outputs(self) -> OperationRef[builtins.list[CommandOutput]]:
        """The ends of what its newest commands printed, whoever started them, as its server keeps them; also when it
        has ended. Empty without a server: there each command's result is all that there is."""
        return self._lifecycle.portal.submit(self._outputs)

    def kill(self, pid: int, signal: int = signals.SIGKILL) -> OperationRef[None]:
        """Send a signal to a process inside, by the `pid` that `processes` gives."""
        checked_count(pid, "pid, a process id greater than 1,", least=2, most=MOST_PIDS)
        checked_count(signal, "signal", least=0, most=signals.NSIG - 1)
        return self._lifecycle.portal.submit(self._kill, pid, int(signal))

    # -- its network --

    def set_network(self, network: GivenNetwork) -> OperationRef[None]:
        """Have another policy from now on, as the option `network` takes it; connections that it does not allow end.

        The sandbox must have been made with a network, be it `{"allow": []}`, which reaches nothing.
        """
        return self._lifecycle.portal.submit(self._set_network, read_policy(network))

    def network_log(self, *, after: int = 0, limit: int = MOST_PAGE) -> OperationRef[NetworkLog]:
        """What it has reached and what it was refused: up to `limit` (100) entries behind number `after`, oldest first,
        with the bytes and connections of all of them. The newest thousand entries are kept."""
        checked_count(after, "after", least=0)
        checked_count(limit, "limit", least=0, most=MOST_PAGE)
        return self._lifecycle.portal.submit(self._network_log, after, limit)

    def gateway_log(self, *, after: int = 0, limit: int = 100) -> OperationRef[GatewayLog]:
        """What was asked of the sandbox's gateways: up to `limit` (at most 200) entries behind number `after`, oldest
        first, without tokens, credentials and queries. The newest thousand are kept."""
        checked_count(after, "after", least=0)
        checked_count(limit, "limit", least=1, most=200)
        return self._lifecycle.portal.submit(self._gateway_log, after, limit)

    # -- what is known of it --

    @property
    def info(self) -> SandboxInfo | None:
        """What was last known, limits and how this host enforces them included; waits for a creation under way.

        None when it was not started, or could not be. Where an event loop runs in this thread it does not wait, and
        raises RuntimeError: `await sandbox.start()` first. So do the other properties that wait.
        """
        return self._lifecycle.settled_info()

    @property
    def sandbox_id(self) -> str | None:
        """Its id; waits for a creation under way. None when it was not started, or could not be."""
        info = self._lifecycle.settled_info()
        return None if info is None else info.id

    @property
    def status(self) -> SandboxStatus | None:
        """Its status as it was last known; None when it was not started. Never waits."""
        lifecycle = self._lifecycle
        if lifecycle.ready is None:
            return None
        if not lifecycle.ready.done():
            return SandboxStatus.CREATING
        return SandboxStatus.FAILED if lifecycle.handle is None else lifecycle.handle.info.status

    def get_status(self) -> SandboxStatus:
        """Ask the node. Raises SandboxNotRunningError when it was not started, and whatever its start failed with."""
        if self._lifecycle.ready is None:
            raise SandboxNotRunningError("this sandbox was not started: it has no status yet")
        return self._lifecycle.portal.submit(self._get_status).result()

    @property
    def status_reason(self) -> str | None:
        """Why it has this status, where there is something to say."""
        lifecycle = self._lifecycle
        if lifecycle.handle is not None:
            return lifecycle.handle.info.status_reason
        if lifecycle.ready is None or not lifecycle.ready.done():
            return None
        return str(lifecycle.ready.error())

    @property
    def tags(self) -> tuple[str, ...]:
        """Its tags."""
        lifecycle = self._lifecycle
        if lifecycle.plan is not None:
            return lifecycle.plan.spec.tags
        assert lifecycle.handle is not None
        return lifecycle.handle.info.tags

    @property
    def created_at(self) -> datetime | None:
        """When the node began to create it (UTC); waits for a creation under way."""
        info = self._lifecycle.settled_info()
        return None if info is None else info.created_at

    @property
    def started_at(self) -> datetime | None:
        """Since when it runs (UTC); waits for a creation under way."""
        info = self._lifecycle.settled_info()
        return None if info is None else info.started_at

    @property
    def returncode(self) -> int | None:
        """The main command's exit code, once it has ended."""
        main = self._lifecycle.main
        return None if main is None else main.returncode

    @property
    def exec_stats(self) -> ExecStats:
        """{"exec_count", "completed_ok", "completed_nonzero", "failures"} of the commands run through this object.

        Failures are time-outs, cancelled commands and failures of the platform.
        """
        return self._lifecycle.counter.as_dict()

    def __repr__(self) -> str:
        lifecycle = self._lifecycle
        if lifecycle.portal.inherited:
            return "<Sandbox of the process that forked this one>"
        name = lifecycle.handle.info.id if lifecycle.handle is not None else "without an id"
        return f"<Sandbox {name} {self.status or 'not started'}>"

    def _repr_html_(self) -> str:
        """What a notebook shows: what is known of it without asking."""
        import html

        from harena.core.html_views import fields_table

        handle = None if self._lifecycle.portal.inherited else self._lifecycle.handle
        if handle is None:
            return f"<p>{html.escape(repr(self))}</p>"
        return fields_table("Sandbox", {**handle.info, "status": self.status})

    # -- on the sdk's loop --

    async def running_port(self) -> SandboxPort:
        """The running sandbox, started and waited for where needed. On the sdk's loop only."""
        return await self._lifecycle.running_port()

    def _bound_portal(self) -> Portal:
        return self._lifecycle.portal

    @classmethod
    def of(cls, lifecycle: SandboxLifecycle) -> Self:
        """The sandbox whose lifecycle this is."""
        sandbox = cls.__new__(cls)
        sandbox._lifecycle = lifecycle
        return sandbox

    @classmethod
    def _with_handle(cls, handle: SandboxHandle) -> Self:
        return cls.of(SandboxLifecycle(current_portal(), None, handle=handle))

    @classmethod
    async def listed(
        cls, tags: tuple[str, ...], statuses: tuple[SandboxStatus, ...], show_terminated: bool
    ) -> builtins.list[Self]:
        """Implementation of `list`, on the sdk's loop."""
        operations = await current_portal().operations()
        include_terminal = show_terminated or any(status.is_terminal for status in statuses)
        handles = await operations.list_sandboxes(tags=tags, statuses=statuses, include_terminal=include_terminal)
        return [cls._with_handle(handle) for handle in handles]

    @classmethod
    async def found(cls, sandbox_id: str) -> Self:
        """Implementation of `from_id`, on the sdk's loop."""
        operations = await current_portal().operations()
        return cls._with_handle(await operations.get_sandbox(sandbox_id))

    @classmethod
    async def _delete(cls, sandbox_id: str, missing_ok: bool) -> None:
        operations = await current_portal().operations()
        try:
            await (await operations.get_sandbox(sandbox_id)).stop()
        except SandboxNotFoundError:
            if not missing_ok:
                raise

    async def _snapshot(self, name: str | None, ttl_seconds: int | None, *, in_memory: bool = False) -> Snapshot:
        handle = await self._lifecycle.running_handle()
        operations = await self._lifecycle.portal.operations()
        return await operations.create_snapshot(handle.info.id, name=name, ttl_seconds=ttl_seconds, in_memory=in_memory)

    async def _stop_with_snapshot(self, name: str | None, grace_seconds: float, missing_ok: bool) -> None:
        try:
            await self._snapshot(name, None)
        except SandboxNotFoundError:
            if not missing_ok:
                raise
        await self._lifecycle.stop(grace_seconds, missing_ok).on_loop()

    async def _fork(self, count: int) -> builtins.list[Self]:
        portal = self._lifecycle.portal
        taken = await self._snapshot(None, _FORK_SECONDS, in_memory=True)
        lifecycles = [SandboxLifecycle(portal, plan) for plan in [await self._lifecycle.again(taken)] * count]
        try:
            start_all(portal, lifecycles)
            begun = await asyncio.gather(*(one.start().on_loop() for one in lifecycles), return_exceptions=True)
            failures = [each for each in begun if isinstance(each, BaseException)]
            if failures:
                ends = (one.stop(0.0, missing_ok=True).on_loop() for one in lifecycles)
                await asyncio.gather(*ends, return_exceptions=True)
                raise failures[0]
        finally:
            operations = await portal.operations()
            with contextlib.suppress(NotFoundError):
                await operations.remove_snapshot(taken.id)
        return [self.of(one) for one in lifecycles]

    async def _extend_lifetime(self, seconds: float) -> datetime | None:
        return (await (await self._lifecycle.running_handle()).extend_lifetime(seconds)).expires_at

    async def _get_status(self) -> SandboxStatus:
        return (await (await self._lifecycle.running_handle()).refresh()).status

    async def _processes(self) -> builtins.list[ProcessInfo]:
        return await (await self.running_port()).processes()

    async def _usage(self) -> SandboxUsage:
        return await (await self.running_port()).usage()

    async def _outputs(self) -> builtins.list[CommandOutput]:
        return await (await self._lifecycle.running_handle()).outputs()

    async def _set_network(self, policy: NetworkPolicy) -> None:
        await (await self.running_port()).set_network(policy)

    async def _network_log(self, after: int, limit: int) -> NetworkLog:
        return await (await self.running_port()).network_log(after=after, limit=limit)

    async def _gateway_log(self, after: int, limit: int) -> GatewayLog:
        return await (await self.running_port()).gateway_log(after=after, limit=limit)

    async def _kill(self, pid: int, signum: int) -> None:
        port = await self.running_port()
        try:
            await port.signal(pid, signum)
        except SandboxValidationError as error:
            why = str(error).rpartition(": ")[2]
            raise SandboxValidationError(
                f"signal {signum} could not be sent to process {pid}: {why}; `processes()` shows those inside"
            ) from error


Session.sandbox_class = Sandbox
