"""Builds under way, and what a workspace sees of its own."""

from __future__ import annotations

import asyncio
import secrets
import sys
from collections import Counter, deque
from collections.abc import AsyncIterable, AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from harena.core import settings
from harena.core.clock import Clock, Timer
from harena.core.errors import HarenaError, LimitExceededError, NotFoundError, PlatformError, ValidationError
from harena.core.images import parse_reference
from harena.core.network_policy import NetworkPolicy, policy_in_words
from harena.core.ports.image_builds import BuildRoom, BuildRunner
from harena.core.records.image_builds import MOST_LOG_BYTES, BuildState, ImageBuild, ImageBuildEvent
from harena.core.remembered import Remembered
from harena.core.server_places import told_to_clients
from harena.core.threads import IMAGES, node_task
from harena.core.turns import Turns
from harena.image_build.building import Builder, BuildLimits, Reports
from harena.image_build.contexts import Received, read_archive
from harena.image_build.planning import BuildOptions, BuildPlan, LayerStep, plan_build
from harena.image_build.reading import read_dockerfile

KEPT_SECONDS = 3600.0
"""for which a build that has ended can be asked for"""
_MOST_OPEN = 8
"""builds of one workspace that have not ended, those that are being sent among them"""
_MOST_KEPT = 20
"""builds of one workspace that are remembered"""
_AT_ONCE, _AT_ONCE_OF_ONE = 32, 2
"""Builds that run at one time, of the node and of one workspace. A build may last a day; its threads and sandboxes
count as its workspace's: the number of all is for what nobody counts, as plans."""
_MOST_INDEXED_BYTES = 512 * 1024 * 1024
"""memory for contexts of one workspace's builds that have not ended; some 200 KiB are usual, and 360 MiB the most of
one"""
_MOST_CONTEXTS = _AT_ONCE_OF_ONE
"""Contexts of the largest size that those of one workspace's builds that have not ended take together on the disk: as
many as run at one time. No budget of the workspace counts them."""
_RETRY_SECONDS = 5.0
_PIECE = 64 * 1024
_OWN_FAULT = "the build ended by a fault of harena's own, which the log of the node has: tell its operator"
_UNSAID_SECONDS = 0.1
"""for which what a command says is gathered"""
_EVENT_BYTES = 300
"""what an event takes beside its text"""

Rooms = Callable[[str], AbstractAsyncContextManager[BuildRoom]]
"""gives a build of a workspace its room"""


@dataclass(slots=True, eq=False)
class _Build:
    id: str
    workspace: str
    references: list[str]
    indexed_bytes: int = 0
    """memory that its context takes until its end"""
    state: BuildState = BuildState.WAITING
    steps: int | None = None
    steps_done: int = 0
    steps_cached: int = 0
    step: str | None = None
    image: str | None = None
    error: str | None = None
    reason: str | None = None
    task: asyncio.Task[None] | None = None
    events: deque[ImageBuildEvent] = field(default_factory=deque)
    event_bytes: int = 0
    unsaid: bytearray = field(default_factory=bytearray)
    """what commands have said since the last event"""
    saying: Timer | None = None
    cursor: int = 0
    waiting: list[asyncio.Future[None]] = field(default_factory=list)

    def record(self) -> ImageBuild:
        """The build as it is answered."""
        return ImageBuild(
            id=self.id,
            state=self.state,
            references=self.references,
            steps=self.steps,
            steps_done=self.steps_done,
            steps_cached=self.steps_cached,
            step=self.step,
            image=self.image,
            error=self.error,
            reason=self.reason,
        )

    def change(self, kind: str = "", text: str = "") -> None:
        """Something is another than it was."""
        self.flush()
        self._add(
            ImageBuildEvent(cursor=self.cursor + 1, kind=kind or self.state.value, build=self.record(), text=text)
        )

    def say(self, said: bytes, clock: Clock) -> None:
        """A command has said something. It becomes an event soon: a program may write byte by byte."""
        self.unsaid += said
        if len(self.unsaid) >= _PIECE:
            self.flush()
        elif self.saying is None:
            self.saying = clock.call_later(_UNSAID_SECONDS, self.flush)

    def flush(self) -> None:
        """Make events of what was said."""
        if self.saying is not None:
            self.saying.cancel()
            self.saying = None
        said, self.unsaid = self.unsaid, bytearray()
        for begin in range(0, len(said), _PIECE):
            text = said[begin : begin + _PIECE].decode(errors="replace")
            self._add(ImageBuildEvent(cursor=self.cursor + 1, kind="output", build=None, text=text))

    def since(self, after: int) -> list[ImageBuildEvent]:
        """Events behind a cursor, as far as they are kept."""
        begin = max(0, after + 1 - self.events[0].cursor) if self.events else 0
        return [*islice(self.events, begin, None)]

    def _add(self, event: ImageBuildEvent) -> None:
        self.cursor = event.cursor
        self.events.append(event)
        self.event_bytes += sys.getsizeof(event.text) + _EVENT_BYTES
        while self.event_bytes > MOST_LOG_BYTES and len(self.events) > 1:
            self.event_bytes -= sys.getsizeof(self.events.popleft().text) + _EVENT_BYTES
        for waiting in self.waiting:
            if not waiting.done():
                waiting.set_result(None)


class Builds:
    """Implements `ImageBuildOperations` with the workspace as the first argument. Used from one event loop."""

    def __init__(
        self,
        rooms: Rooms,
        runner: BuildRunner,
        clock: Clock,
        *,
        platform: str,
        check_network: Callable[[NetworkPolicy], None] | None = None,
    ) -> None:
        """`platform`: what runs here, as linux/amd64. `check_network` raises SandboxValidationError for a policy that
        this node does not serve; None = it serves all."""
        self._check_network = check_network
        self._rooms = rooms
        self._runner = runner
        self._clock = clock
        self._platform = platform
        self._builds: Remembered[_Build] = Remembered(clock, KEPT_SECONDS)
        self._arriving: dict[str, int] = {}
        """workspace -> builds whose context is being sent"""
        self._context_bytes: Counter[str] = Counter()
        """workspace -> bytes of contexts that have come, of builds that have not ended"""
        self._turns = Turns(_AT_ONCE, _AT_ONCE_OF_ONE)

    async def build_image(self, workspace: str, tree: AsyncIterable[bytes]) -> ImageBuild:
        """Receive a build's archive, read its recipe, and start the build. Raises ValidationError,
        LimitExceededError."""
        self._check_room(workspace)
        self._arriving[workspace] = self._arriving.get(workspace, 0) + 1
        try:
            async with AsyncExitStack() as stack:
                room = await stack.enter_async_context(self._rooms(workspace))
                file = room.path / "context.tar"
                await self._receive(workspace, tree, file, stack)
                received, plan = await IMAGES.run_for(workspace, partial(self._read, file))
                references = [str(parse_reference(one)) for one in received.request.references]
                build = _Build(f"build_{secrets.token_hex(8)}", workspace, references, received.context.memory_bytes)
                self._check_memory(build)
                self._keep(build)
                work = self._run(build, received, plan, room, stack.pop_all())
                build.task = node_task(work, f"build {build.id}", workspace=workspace)
                await asyncio.sleep(0)  # it has begun: one that is cancelled before would never let its room go
                return build.record()
        finally:
            self._arriving[workspace] -= 1
            if not self._arriving[workspace]:
                del self._arriving[workspace]

    async def get(self, workspace: str, build: str) -> ImageBuild:
        """Tell how far a build is. Raises NotFoundError."""
        return self._find(workspace, build).record()

    async def wait(self, workspace: str, build: str) -> ImageBuild:
        """Wait until a build is over. Raises NotFoundError."""
        found = self._find(workspace, build)
        while not found.state.is_over:
            await self._change(found)
        return found.record()

    async def cancel(self, workspace: str, build: str) -> ImageBuild:
        """Cancel a build, and wait until it is over. Raises NotFoundError."""
        found = self._find(workspace, build)
        if not found.state.is_over and found.task is not None:
            found.task.cancel()
            while not found.state.is_over:
                await self._change(found)
        return found.record()

    async def events(self, workspace: str, build: str, *, after: int = 0) -> AsyncIterator[ImageBuildEvent]:
        """Follow a build from the first event after `after` to its end. Raises NotFoundError."""
        found = self._find(workspace, build)
        while True:
            for event in found.since(after):
                after = event.cursor
                yield event
            if found.cursor <= after:
                if found.state.is_over:
                    return
                await self._change(found)

    async def close(self) -> None:
        """End all."""
        tasks = [build.task for _, build in self._builds if build.task is not None and not build.task.done()]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    # -- how --

    def _check_room(self, workspace: str) -> None:
        own = [one for _, one in self._builds if one.workspace == workspace and not one.state.is_over]
        if len(own) + self._arriving.get(workspace, 0) >= _MOST_OPEN:
            raise LimitExceededError(
                f"{_MOST_OPEN} builds of this workspace have not ended: wait for some of them",
                reason="BUSY",
                retry_delay=timedelta(seconds=_RETRY_SECONDS),
            )

    def _check_memory(self, build: _Build) -> None:
        own = [one for _, one in self._builds if one.workspace == build.workspace and not one.state.is_over]
        if sum(one.indexed_bytes for one in (*own, build)) > _MOST_INDEXED_BYTES:
            raise LimitExceededError(
                "builds of this workspace that have not ended have too many files in their contexts, all together: "
                "wait for some of them",
                reason="BUSY",
                retry_delay=timedelta(seconds=_RETRY_SECONDS),
            )

    async def _receive(self, workspace: str, tree: AsyncIterable[bytes], file: Path, held: AsyncExitStack) -> None:
        """`held`: what goes with the build's room."""
        most, size = _number(settings.BUILD_CONTEXT_BYTES), 0

        def gone() -> None:
            self._context_bytes -= Counter({workspace: size})

        held.callback(gone)
        try:
            out: BinaryIO = await IMAGES.run(file.open, "xb")
            try:
                async for piece in tree:
                    size += len(piece)
                    self._context_bytes[workspace] += len(piece)
                    if size > most:
                        raise ValidationError(
                            f"the context has more than {most} bytes ({settings.BUILD_CONTEXT_BYTES.name}): leave "
                            "files out (.dockerignore)",
                            reason="CONTEXT_TOO_LARGE",
                        )
                    if self._context_bytes[workspace] > _MOST_CONTEXTS * most:
                        raise LimitExceededError(
                            f"contexts of this workspace's builds that have not ended have more than "
                            f"{_MOST_CONTEXTS * most} bytes together ({_MOST_CONTEXTS} times "
                            f"{settings.BUILD_CONTEXT_BYTES.name}): wait for some of them",
                            reason="BUSY",
                            retry_delay=timedelta(seconds=_RETRY_SECONDS),
                        )
                    await IMAGES.run(out.write, piece)
            finally:
                await IMAGES.run(out.close)
        except OSError as error:
            raise _disk(error) from error

    def _read(self, file: Path) -> tuple[Received, BuildPlan]:
        try:
            received = read_archive(file)
        except OSError as error:
            raise _disk(error) from error
        request = received.request
        if self._check_network is not None:
            self._check_network(policy_in_words(request.network))
        asked = BuildOptions(request.arguments, request.target, self._platform)
        return received, plan_build(read_dockerfile(request.dockerfile), asked)

    async def _run(
        self, build: _Build, received: Received, plan: BuildPlan, room: BuildRoom, held: AsyncExitStack
    ) -> None:
        state, image = BuildState.FAILED, None
        why: str | None = _OWN_FAULT
        try:
            async with held:
                image = await self._build(build, received, plan, room)
            state, why = BuildState.DONE, None
        except asyncio.CancelledError:
            state, why = BuildState.CANCELLED, None
            raise
        except TimeoutError:
            why = f"the build took longer than its {received.request.timeout_seconds:g} seconds: allow it more"
            build.reason = "BUILD_TIME"
        except HarenaError as error:
            # what a command printed is the sandbox's own; of a fault, where the server has its files is left out
            why = told_to_clients(error)
            build.reason = error.reason
        except OSError as error:
            why = str(_disk(error))
        finally:
            build.error = why
            build.state, build.image, build.step = state, image if state is BuildState.DONE else None, None
            build.change()
            self._builds.forget_later(build.id)

    async def _build(self, build: _Build, received: Received, plan: BuildPlan, room: BuildRoom) -> str:
        """The digest of the image. A build has no turn while it pulls, and its time stands still while it waits for
        one."""

        def planned(steps: int) -> None:
            build.steps, build.state = steps, BuildState.RUNNING
            build.change()

        def began(step: LayerStep) -> None:
            build.step = step.text
            build.change("step", f"[{build.steps_done + 1}/{build.steps}] {step.text}")

        def ended(was_here: bool) -> None:
            build.steps_done += 1
            build.steps_cached += was_here
            build.change("step", "it was here already" if was_here else "done")

        limits = BuildLimits(
            *map(_number, (settings.IMAGE_MOST_BYTES, settings.IMAGE_MOST_FILES, settings.IMAGE_BYTES))
        )
        reports = Reports(planned, began, ended, lambda said: build.say(said, self._clock))
        deadline = self._clock.now() + received.request.timeout_seconds
        builder = Builder(
            room, self._runner, build.workspace, received, plan, limits, reports, lambda: deadline - self._clock.now()
        )
        build.state = BuildState.PULLING
        build.change()
        async with asyncio.timeout(received.request.timeout_seconds):
            await builder.pull()
        waits_from = self._clock.now()
        async with self._turns.turn(build.workspace):
            deadline += self._clock.now() - waits_from
            async with asyncio.timeout(deadline - self._clock.now()):
                made = await builder.build()
                if build.references:
                    await room.keep(made, build.references)
        return made.digest

    def _find(self, workspace: str, build: str) -> _Build:
        found = self._builds.get(build)
        if found is None or found.workspace != workspace:
            raise NotFoundError(f"no build {build!r:.100}: builds are forgotten an hour after their end")
        return found

    async def _change(self, build: _Build) -> None:
        waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        build.waiting.append(waiting)
        try:
            await waiting
        finally:
            build.waiting.remove(waiting)

    def _keep(self, build: _Build) -> None:
        self._builds.keep(build.id, build)
        own = [one for _, one in self._builds if one.workspace == build.workspace]
        if len(own) > _MOST_KEPT:
            self._builds.forget(next((one.id for one in own if one.state.is_over), ""))


def _number(setting: settings.Setting) -> int:
    text = setting.read() or str(setting.default)
    if not text.isdecimal():
        raise ValidationError(f"{setting.name} must be a whole number (got {text!r:.40})")
    return int(text)


def _disk(error: OSError) -> PlatformError:
    return PlatformError(f"the disk failed while an image was built: {error.strerror or error}", step="build")
