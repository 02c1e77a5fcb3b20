"""Images that jobs of a node build of task directories on this machine."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from harena.core.errors import ImageBuildError, PlatformError, ValidationError
from harena.core.ports.image_builds import FolderBuild
from harena.core.records.image_builds import BuildRequest, BuildState, ImageBuild
from harena.core.threads import IMAGES
from harena.core.turns import Turns

if TYPE_CHECKING:
    from harena.image_build.builds import Builds

_AT_ONCE, _AT_ONCE_OF_ONE = 256, 4
"""Most builds, of all jobs of a node and of those of one workspace, that have begun and have not ended. A build may
last a day, so that no workspace waits for the builds of others. How many of them run at one time is decided by
`Builds`, where a workspace may begin twice as many."""
_MOST_DOCKERFILE = 4 * 1024 * 1024
"""most bytes of a Dockerfile: the request that begins a build can hold no more"""
_TOLD = 300
"""characters of the end of a build's output that an error quotes"""


class FolderBuilds:
    """Implements `BuildsFolders`. Used from one event loop."""

    def __init__(self, builds: Callable[[], Builds]) -> None:
        self._builds = builds
        self._turns = Turns(_AT_ONCE, _AT_ONCE_OF_ONE)

    async def build_folder(self, workspace: str, build: FolderBuild, *, network: str) -> str:
        """Build a task's folder with a Dockerfile as a build of the workspace, and give the image's reference. Raises
        ImageBuildError, PlatformError."""
        from harena.image_build.source_trees import ignoring_budget
        from harena.sdk.build_contexts import packed_context

        async with self._turns.turn(workspace):
            builds = self._builds()
            try:
                text = await IMAGES.run(_text_of, build.dockerfile)
                request = BuildRequest(
                    dockerfile=text,
                    references=[build.reference],
                    arguments=dict(build.arguments),
                    target=build.target,
                    timeout_seconds=build.timeout_seconds,
                    memory_mb=build.memory_mb,
                    network=network,
                )
                spend = ignoring_budget().spend
                packed = packed_context(build.context, request, build.dockerfile, spend=spend)
                begun = await builds.build_image(workspace, _pieces(packed))
            except OSError as error:
                raise PlatformError(  # without the place, which is a server's own
                    f"the files that {build.context.parent.name} is built of cannot be read: {error.strerror or error}",
                    step="build",
                ) from error
            except ValidationError as error:
                raise ImageBuildError(str(error), reason=error.reason) from error
            try:
                ended = await builds.wait(workspace, begun.id)
            except asyncio.CancelledError:
                await builds.cancel(workspace, begun.id)
                raise
            if ended.state is BuildState.DONE and ended.image is not None:
                return ended.image
            raise await _failed(builds, workspace, ended)


def _text_of(dockerfile: Path) -> str:
    with dockerfile.open("rb") as file:
        text = file.read(_MOST_DOCKERFILE + 1)
    if len(text) > _MOST_DOCKERFILE:
        raise ValidationError(f"{dockerfile.name} has more than {_MOST_DOCKERFILE} bytes", reason="CONTEXT")
    return text.decode(errors="replace").replace("\r\n", "\n").replace("\r", "\n")


async def _failed(builds: Builds, workspace: str, ended: ImageBuild) -> Exception:
    said: deque[str] = deque(maxlen=100)
    async for event in builds.events(workspace, ended.id, after=0):
        if event.kind == "output":
            said.append(event.text)
    told = " ".join("".join(said).split())[-_TOLD:]
    message = ended.error or "the build was cancelled"
    if told:
        message = f"{message} It said: {told}"
    return ImageBuildError(message, reason=ended.reason or "CANCELLED")


async def _pieces(packed: Iterator[bytes]) -> AsyncIterator[bytes]:
    while piece := await IMAGES.run(next, packed, b""):
        yield piece
