"""Images that jobs of a node build of task directories on this machine."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from typing import TYPE_CHECKING

from harena.core.errors import ImageBuildError, PlatformError, ValidationError
from harena.core.ports.image_builds import FolderBuild
from harena.core.records.image_builds import BuildRequest, BuildState, ImageBuild
from harena.core.threads import IMAGES

if TYPE_CHECKING:
    from harena.image_build.builds import Builds

_AT_ONCE = 4
"""builds of all jobs of a node that have been begun and have not ended: a workspace may have twice as many"""
_TOLD = 300
"""characters of what a build has said at its end that an error quotes"""


class FolderBuilds:
    """Implements `BuildsFolders`. Used from one event loop."""

    def __init__(self, builds: Callable[[], Builds]) -> None:
        self._builds = builds
        self._slots = asyncio.Semaphore(_AT_ONCE)

    async def build_folder(self, workspace: str, build: FolderBuild, *, network: str) -> str:
        """Build a task's folder with a Dockerfile as a build of the workspace, and give the image's reference. Raises
        ImageBuildError, PlatformError."""
        from harena.sdk.build_contexts import packed_context

        async with self._slots:
            builds = self._builds()
            try:
                text = await IMAGES.run(lambda: build.dockerfile.read_text(errors="replace"))
                request = BuildRequest(
                    dockerfile=text,
                    references=[build.reference],
                    arguments=dict(build.arguments),
                    target=build.target,
                    timeout_seconds=build.timeout_seconds,
                    memory_mb=build.memory_mb,
                    network=network,
                )
                packed = packed_context(build.context, request, build.dockerfile)
                begun = await builds.begin(workspace, _pieces(packed))
            except OSError as error:
                raise PlatformError(
                    f"{error.filename or build.context} cannot be read: {error.strerror or error}", step="build"
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


async def _failed(builds: Builds, workspace: str, ended: ImageBuild) -> Exception:
    said: deque[str] = deque(maxlen=100)
    async for event in builds.events(workspace, ended.id, 0):
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
