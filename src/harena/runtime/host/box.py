"""One sandbox, seen from outside: its commands, what it has written as a layer, and its end.

Its files are in `sandbox_files`, its pauses, its network and what the spawner knows of it in `box_...`. Everything that
init says is parsed with suspicion: a message that is not exactly what it should be ends the sandbox.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import socket
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from typing import TYPE_CHECKING
from weakref import WeakSet

from harena.core.errors import SandboxFileError, SandboxValidationError
from harena.core.input_files import input_file_in_turns
from harena.core.models import ExecRequest, ProcessorTime, ProcessRules, SandboxOrigin
from harena.core.ports import Death
from harena.core.records.sandboxes import Limits, SandboxUsage
from harena.runtime.guest import wire
from harena.runtime.host import box_files
from harena.runtime.host.box_life import BoxLife
from harena.runtime.host.box_network import BoxNetwork
from harena.runtime.host.box_pauses import BoxPauses
from harena.runtime.host.default_places import DEFAULT_PLACES
from harena.runtime.host.exec_orders import ExecOrders
from harena.runtime.host.execs import LinuxExec
from harena.runtime.host.init_channel import LAST_MESSAGES, InitChannel
from harena.runtime.host.outside_bytes import OUTSIDE_BYTES
from harena.runtime.host.patience import Patience
from harena.runtime.host.sandbox_files import SandboxFiles, pieces_of
from harena.runtime.host.terminals import LeftTerminals
from harena.runtime.host.upper_layer import UpperLayer

if TYPE_CHECKING:
    from harena.core.network_policy import NetworkPolicy
    from harena.core.records.gateways import GatewayLog
    from harena.core.records.network import NetworkLog
    from harena.runtime.host.held_layers import Chain
    from harena.runtime.host.link import SpawnerLink

_INPUT = "/dev/stdin"
_KILL_PATIENCE_SECONDS = 10.0
_END_PATIENCE_SECONDS = 0.1


Hold = Callable[["LinuxSandbox", UpperLayer, str, float], Awaitable[int | None]]
"""carries out `hold_files`; the layer is the caller's to close, but for what it has taken of it"""


class LinuxSandbox(SandboxFiles):
    """Implements `SandboxPort`."""

    def __init__(
        self,
        link: SpawnerLink,
        number: int,
        channel: socket.socket,
        *,
        workspace: str,
        limits: Limits,
        environment: Mapping[str, str],
        workdir: str,
        warm: bool,
        enforcement: Mapping[str, str],
        user: str | None = None,
        holds_modules: bool = False,
        image_digest: str | None = None,
        origin: SandboxOrigin | None = None,
        ports: tuple[int, ...] | None = None,
        gateways: int = 0,
        chain: Chain = (),
        hold: Hold | None = None,
        rules: ProcessRules | None = None,
    ) -> None:
        """`user`: as whom programs run, "" = root; None = there is nobody else. `holds_modules`: its init is a fork of
        memory into which a blueprint's modules were imported. `image_digest`: the image of whose layers it has a root
        of its own; None = it is one of the default image. `origin`: None = the default image and no blueprint. `ports`:
        those of all its addresses at which it has listeners; None = it has no network. `gateways`: how many it has.
        `chain`: layers that it has above those of its image; `hold`: see `hold_files`; `rules`: what its programs
        see of each other."""
        sandbox_id = "sb_" + secrets.token_hex(8)
        loop = self.loop = asyncio.get_running_loop()
        life = BoxLife(link, number, sandbox_id, loop)
        self.network = BoxNetwork(
            sandbox_id,
            workspace,
            ports,
            gateways,
            check_running=life.check_running,
            is_dead=lambda: life.is_dead,
        )
        messages = InitChannel(
            channel,
            loop,
            handle=lambda message, descriptors: self._handle(message, descriptors),
            fail=life.fail,
            let_go=lambda descriptor: self._let_go(box_files.OpenFile(descriptor)),
            most_descriptors=lambda: max(4, self.network.awaited),
        )
        patience = Patience(life.waited)
        # modules count as a program that has run: they decide what init does, and what it sends
        super().__init__(sandbox_id, workspace, limits, workdir, life, messages, patience, loop, has_run=holds_modules)
        self.ready = life.ready
        self.enforcement = enforcement
        self.origin = origin or SandboxOrigin()
        self.orders = ExecOrders(environment, user, warm=warm, open_files=limits.open_files, enforcement=enforcement)
        self.chain = chain
        """layers of other sandboxes, which it has above those of its image"""
        self.rules = rules or ProcessRules()
        self.begun_with = ""
        """digest of the snapshot with whose files it began, as one of the default image; "" = with none"""
        self.successor_of: LinuxSandbox | None = None
        """the sandbox that goes on as this one, which nobody else has"""
        self.left_terminals = LeftTerminals(loop, workspace)
        self._execs: dict[int, LinuxExec] = {}
        self._pauses = BoxPauses(sandbox_id, life, messages, patience, loop)
        self._image_digest = image_digest
        self._hold = hold
        self._given_layers: WeakSet[UpperLayer] = WeakSet()
        """its upper layer, as others have it who read it later: what is written until then has to be in there"""

    @property
    def number(self) -> int:
        """What the spawner calls it by."""
        return self._life.number

    # -- commands ------------------------------------------------------------------------------------------------

    async def exec(self, request: ExecRequest) -> LinuxExec:
        """Start a command, as soon as the sandbox is not paused. Raises SandboxNotRunningError."""
        self._check_running()
        if not self._pauses.goes_on.is_set():
            await self._pauses.goes_on.wait()
            self._check_running()
        if request.stdin is None or request.stdin_stream or request.terminal is not None:
            return self._start(request)
        if not self._takes_small_change(len(request.stdin)):
            return await self._started_with(request, request.stdin)
        given = await input_file_in_turns(request.stdin)
        try:
            self._check_running()  # it may have ended in one of the turns
            return self._start(request, given)
        finally:
            os.close(given)

    async def _started_with(self, request: ExecRequest, content: bytes) -> LinuxExec:
        """Start it with a standard input that a process in here has written, so that the memory limit counts it. Where
        that cannot be done, the command ends as one does that cannot be executed, or that is out of memory."""
        try:
            self._check_fits(_INPUT, len(content))
            file = await self._open_in_init(_INPUT, "", 0)
        except SandboxFileError as error:
            return self._refused(request, error)
        try:
            await self._write_pieces(_INPUT, file, pieces_of(content))
            await self._step(_INPUT, file.become_read_only)
            self._check_running()
            return self._start(request, file.descriptor)
        except SandboxFileError as error:
            self._check_running()
            await self._close_file(file)  # what it takes is free for the next command
            return self._refused(request, error)
        finally:
            self._let_go(file)

    def _refused(self, request: ExecRequest, error: SandboxFileError) -> LinuxExec:
        """A program decides how much memory is left, so this is a command's end and no failure of the platform."""
        refused = LinuxExec(self, self._next_number(), request, self.limits.output_bytes)
        refused.refused(f"harena: cannot start a process: {error}\n", is_memory=error.reason == "NO_MEMORY")
        return refused

    def _start(self, request: ExecRequest, *given: int) -> LinuxExec:
        """`given`: the file that is the program's standard input, where that is complete."""
        number = self._next_number()
        kept = self.limits.output_bytes if request.output_bytes is None else request.output_bytes
        running = LinuxExec(self, number, request, kept)
        theirs = running.open_descriptors()
        try:
            order = self.orders.encode(number, request, self.workdir)
            self._execs[number] = running
            self._has_run = True
            self._channel.send(order, [*given, *theirs])
        except BaseException as error:  # init knows nothing of it
            self._execs.pop(number, None)
            running.abandon()
            if isinstance(error, OSError):
                raise box_files.no_more_descriptors(error) from None
            raise
        finally:
            for descriptor in theirs:
                os.close(descriptor)
        running.started()
        return running

    def request_kill(self, number: int) -> None:
        """Have init kill an exec's tree; if it has not done so in time, the whole sandbox is ended from outside."""
        if number in self._execs and not self._life.is_dead:
            self._channel.send(("k", number))
            self.loop.call_later(_KILL_PATIENCE_SECONDS, self._kill_overdue, number)

    def _kill_overdue(self, number: int) -> None:
        if number in self._execs and not self._life.is_dead:
            self._life.fail("init did not kill a command in time")

    async def processor_time(self) -> ProcessorTime:
        """Ask what its programs have had of the processors so far. With a network they may wait for the process that
        carries it, and then nobody can say that they are idle."""
        found = await self._life.processor_time()
        return replace(found, is_idle=False) if self.network.has_listeners else found

    async def usage(self) -> SandboxUsage:
        """Ask what its programs use."""
        used, held = (await self._life.processor_time()).used_seconds, await self._life.held_bytes()
        return SandboxUsage(processor_seconds=used, memory_bytes=held)

    async def was_out_of_memory(self) -> bool:
        """Whether the memory limit has killed something since the last time this was asked."""
        return await self._life.was_out_of_memory()

    # -- pauses, and its upper layer -----------------------------------------------------------------------------

    def paused(self) -> AbstractAsyncContextManager[None]:
        """Stop all programs for as long as the context is open; commands that are asked for meanwhile wait. Raises
        PlatformError."""
        return self._pauses.paused()

    async def check_still(self) -> None:
        """Have init confirm that no program has run since `paused`. Raises PlatformError."""
        await self._pauses.check_still()

    async def upper_layer(self) -> UpperLayer:
        """Open what the sandbox has written, as a layer that the caller closes. Raises SandboxValidationError where it
        has none of its own."""
        layer = self._named_layer()
        self._given_layers.add(layer)
        await self._open_layer(layer)
        return layer

    def _named_layer(self) -> UpperLayer:
        """One that is still to be opened. Raises as `upper_layer`."""
        self._check_running()
        if self._image_digest is None:
            raise SandboxValidationError(
                f"sandbox {self.id} is one of the default image, whose root is the host's and has no layer of its own: "
                "begin with an image (container_image, or FROM of a Dockerfile)"
            )
        return UpperLayer(self._image_digest, self._close_layer)

    async def written(self) -> UpperLayer:
        """Open what the sandbox has written: its layer, or the places of the default image. The caller closes it.
        Raises SandboxFileError."""
        if self._image_digest is not None:
            return await self.upper_layer()
        self._check_running()
        layer = UpperLayer(self.begun_with, self._close_layer)
        await self._open_layer(layer)
        return layer

    async def _open_layer(self, layer: UpperLayer) -> None:
        try:
            if self._image_digest is None:
                for place in DEFAULT_PLACES:
                    layer.places[place] = (await self._open(f"/{place}", os.O_RDONLY | os.O_DIRECTORY)).take()
            else:
                layer.folder = (await self._ask_for_file("upper layer", "u", wire.UPPER_LAYER)).take()
            layer.below = [os.dup(one.folder) for one in self.chain]
            if os.geteuid() != 0:
                layer.users = (await self._ask_for_file("user namespace", "u", wire.USER_NAMESPACE)).take()
        except BaseException:
            await layer.close()
            raise

    async def _close_layer(self, descriptor: int) -> None:
        """The last descriptor of a layer frees all its files."""
        await asyncio.shield(self._closing(box_files.OpenFile(descriptor)))

    async def hold_files(self, identity: str, seconds: float) -> int | None:
        """Hold the layer by going on as another sandbox, that has it for the uppermost of those below its own: so
        nothing may be going on in this one that would not notice. Gives the bytes that are held; None = it cannot be
        done here."""
        self._check_running()
        if self._hold is None or self.network.has_listeners:
            return None  # its listeners are in a network namespace that is to go
        layer = self._named_layer()
        async with self._pauses.turn:
            self._check_running()
            await self._open_layer(layer)
            self._pauses.goes_on.clear()
            try:
                return await self._hold(self, layer, identity, seconds)
            finally:
                self._pauses.goes_on.set()
                await layer.close()

    async def quiet(self) -> int | None:
        """The number of its latest request, which changes with the next; None if something is going on in here, or may
        be: `hold_files` must not have it go on as another one then."""
        return None if self._is_busy() else await self._pauses.ask_quiet()

    def is_still_quiet(self, number: int) -> bool:
        """Nothing has been asked of it since `quiet`."""
        return self._channel.latest_number == number and not self._is_busy() and self.alive

    def _is_busy(self) -> bool:
        is_read = any(not layer.is_closed for layer in self._given_layers)
        is_asked = bool(self._execs) or self._pauses.is_asked or self._channel.has_unsent
        return self._has_open_files() or is_read or is_asked or self._is_watched

    async def become(self, other: LinuxSandbox, number: int) -> bool:
        """Go on as a sandbox that was just made, if nothing has been asked of this one since `quiet`; else that one
        ends."""
        goes_on = False
        try:
            used = (await self._life.processor_time()).used_seconds
            goes_on = self.is_still_quiet(number) and other.still_lives()
        finally:
            if not goes_on:  # a cancellation, too: nobody else knows of it
                other.discard()
        if not goes_on:
            return False
        self._channel.go_on_with(other.hand_over_to(self))
        self.chain = other.chain
        self._life.go_on_as(other.number, used)
        return True

    def hand_over_to(self, successor: LinuxSandbox) -> socket.socket:
        """Give the channel to the sandbox that goes on in this one's place, and to its owner the news of its end."""
        self.successor_of = successor
        return self._channel.hand_over()

    # -- the network ---------------------------------------------------------------------------------------------

    async def set_network(self, policy: NetworkPolicy) -> None:
        """Give the sandbox's listeners another policy. Raises SandboxValidationError where it has no network."""
        await self.network.change(policy)

    async def network_log(self, *, after: int = 0, limit: int = 100) -> NetworkLog:
        """Read what the sandbox's programs reached. Raises SandboxValidationError where it has no network."""
        return await self.network.log(after=after, limit=limit)

    async def gateway_log(self, *, after: int = 0, limit: int = 100) -> GatewayLog:
        """Read what was asked of the sandbox's gateways. Raises SandboxValidationError where it has none."""
        return await self.network.gateway_log(after=after, limit=limit)

    # -- the end -------------------------------------------------------------------------------------------------

    async def destroy(self, *, grace_seconds: float = 0.0) -> None:
        """End the sandbox; its programs are asked to end first, and get `grace_seconds` for that. Returns when it is
        gone."""
        life = self._life
        if not life.is_stopping and grace_seconds > 0 and not life.is_dead:
            life.is_stopping = True
            self._channel.send(("t",))
            await asyncio.wait([asyncio.ensure_future(life.wait_dead())], timeout=grace_seconds)
        life.is_stopping = True
        if not life.is_dead:
            self._channel.close()  # init ends when its owner has gone: nobody else need be woken for it
            self.loop.call_later(_END_PATIENCE_SECONDS, life.kill)
        await life.wait_dead()

    async def wait_dead(self) -> Death:
        """Wait until the sandbox is dead, and tell what it died of."""
        return await self._life.wait_dead()

    def died(self, oom_kills: int, kills_from_above: int = 0, lacked_processes: bool = False) -> None:
        """The spawner says that nothing of it runs any more."""
        life = self._life
        if life.is_dead:
            return
        death = life.judge_death(oom_kills, kills_from_above, lacked_processes)
        self._channel.receive(LAST_MESSAGES)  # what init said before its end
        self._channel.close()
        self.network.end()
        OUTSIDE_BYTES.give_back(self.id)
        life.end(death)
        for running in list(self._execs.values()):
            running.lost(None if death.memory else life.end_error())
        self._execs.clear()
        self.left_terminals.close()
        self._end_opens()
        self._pauses.end()
        life.end_start(death)

    @property
    def alive(self) -> bool:
        """It has not ended and nobody has asked it to."""
        return self._life.is_alive

    def still_lives(self) -> bool:
        """Whether it is `alive` by what the kernel says now: the news of its death come later, through the spawner."""
        self._channel.receive(1)
        return self._life.is_alive and self._channel.is_open

    def expect_end(self) -> None:
        """The whole node is being closed: the end that comes was asked for."""
        self._life.is_stopping = True

    def discard(self) -> None:
        """End it without waiting."""
        self._life.is_stopping = True
        self._life.kill()

    def abandon(self) -> str:
        """Its start has failed: let go of it. Gives what its init said, if anything."""
        self._channel.receive()
        self.discard()
        self._channel.close()
        self.network.end()
        if not self.ready.done():
            self.ready.cancel()
        return self._life.failure

    def forget(self) -> None:
        """In a forked child: let go of the parent's descriptors."""
        self._channel.forget()
        self.network.forget()
        OUTSIDE_BYTES.give_back(self.id)
        for running in self._execs.values():
            running.forget()
        self.left_terminals.forget()

    # -- what init says ------------------------------------------------------------------------------------------

    def _handle(self, message: bytes, descriptors: list[int]) -> bool:
        kind = message[:1]
        if kind == b"X" and len(message) == wire.EXITED.size and not descriptors:
            _, number, status, user, system, peak, warm = wire.EXITED.unpack(message)
            running = self._execs.pop(number, None)
            if running is not None:
                running.exited(status, user, system, peak, bool(warm))
            return running is not None
        if kind == b"O" and len(message) == wire.OPENED.size and len(descriptors) <= 1:
            _, number, code, _size, _mode = wire.OPENED.unpack(message)
            return self._take_opened(number, code, descriptors)
        if kind == b"D" and len(message) == wire.DONE.size and not descriptors:
            _, number, code = wire.DONE.unpack(message)
            self._pauses.take(number, code)
            return True
        if kind == b"N" and len(message) == wire.STARTED_REALLY.size and not descriptors:
            running = self._execs.get(wire.STARTED_REALLY.unpack(message)[1])
            if running is not None:
                running.started_really()
            return True
        if message == wire.READY and not self.ready.done() and not self.network.awaited:
            self.ready.set_result(None)
            return True
        if message == wire.LISTENERS and not self.ready.done():
            return self.network.take(descriptors)
        if kind == wire.FAILED:
            self._life.failure = message[1:1000].decode(errors="replace")
            self._life.kill()
            return True
        return False
