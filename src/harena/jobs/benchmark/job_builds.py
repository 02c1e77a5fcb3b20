"""Images that are built for the scenarios of one job: each once, in the order in which the scenarios name them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from harena.core.errors import HarenaError, NotFoundError, PlatformError, ValidationError
from harena.core.ports.image_builds import FolderBuild

Build = Callable[[FolderBuild], Awaitable[str]]
"""answers the digest of the image"""


class PlaceUnavailableError(ValidationError):
    """The image of one scenario cannot be had. Other scenarios have other images, so the job goes on."""


class JobBuilds:
    """Builds of one job. A run waits for its own, which is begun when a run before it begins, or by the run. Used from
    one event loop."""

    def __init__(self, build: Build) -> None:
        self._build = build
        self._made: dict[str, asyncio.Task[str]] = {}
        self._waiting: dict[str, int] = {}

    def begin(self, build: FolderBuild) -> None:
        """Have it built, if nobody has asked for that yet."""
        if build.reference not in self._made:
            task = asyncio.ensure_future(self._build(build))
            task.add_done_callback(_heard)
            self._made[build.reference] = task

    async def image_of(self, build: FolderBuild) -> str:
        """The digest of the image, when it is built. What the platform has failed at is begun anew by the next who
        asks. Raises PlaceUnavailableError, PlatformError."""
        self.begin(build)
        name = build.reference
        task = self._made[name]
        self._waiting[name] = self._waiting.get(name, 0) + 1
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:  # perhaps the job's end: what nobody waits for is not built on
            for other, made in list(self._made.items()):
                if not made.done() and self._waiting.get(other, 0) <= (other == name):
                    del self._made[other]
                    made.cancel()
            raise
        except PlatformError:
            self._forget(name, task)
            raise
        except HarenaError as error:
            if error.retry_delay is not None:
                self._forget(name, task)
                raise
            raise unavailable(f"the image of {build.context.parent.name} cannot be built", error) from error
        finally:
            self._waiting[name] -= 1

    def _forget(self, name: str, task: asyncio.Task[str]) -> None:
        if self._made.get(name) is task:
            del self._made[name]


def unavailable(what: str, error: HarenaError) -> PlaceUnavailableError:
    """The error of a scenario whose image cannot be had."""
    advice = "" if "harena image import" in str(error) else "; import it: harena image import FILE REFERENCE"
    said = f"{error}{advice}" if isinstance(error, NotFoundError) else str(error)
    return PlaceUnavailableError(f"{what}: {said}", reason=error.reason)


def _heard(task: asyncio.Task[str]) -> None:
    """What fails is told to whoever asks for the image; nobody may do so."""
    if not task.cancelled():
        task.exception()
