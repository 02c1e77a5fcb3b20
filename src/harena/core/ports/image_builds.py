"""Builds of images: what a node can do for one workspace, and what a build asks of a store and of a runtime."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from harena.core.network_policy import NO_NETWORK, NetworkPolicy
from harena.core.parameters import After, Id

if TYPE_CHECKING:
    from harena.core.image_configs import BuiltImage, ImageConfig
    from harena.core.ports.runtime import UpperLayer
    from harena.core.records.image_builds import ImageBuild, ImageBuildEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildCommand:
    """A command of RUN, with what is laid into its sandbox before."""

    argv: Sequence[str]
    environment: Mapping[str, str]
    workdir: str
    user: str
    memory_bytes: int
    timeout_seconds: float
    files: Mapping[str, tuple[bytes, int]] = field(default_factory=dict)
    """path -> content and mode; none of them lies in a layer"""
    links: Mapping[str, str] = field(default_factory=dict)
    """path -> where it leads"""
    trees: Sequence[tuple[str, Path | None]] = ()
    """directories, each with a tar file of what it holds; None = nothing"""
    kept: Sequence[tuple[str, Path]] = ()
    """directories that are written as tar files, which are there and empty, when the command has ended well"""
    kept_bytes: int = 0
    """what these files may have together; of what is more nothing is kept"""
    places: Sequence[str] = ()
    """directories that every sandbox has and the image lacks"""
    network: NetworkPolicy = NO_NETWORK
    """what it may reach"""


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildOutcome:
    """How a command has ended."""

    why: str = ""
    """why it has failed; "" = it has not"""
    layer: UpperLayer | None = None
    """what it has written; None = it has failed"""
    empty: Sequence[str] = ()
    """places (see `BuildCommand`) that are still empty"""


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderBuild:
    """An image that is built of a folder on this machine, which the user of this process has named."""

    reference: str
    """name that it is found by, in which a digest of the Dockerfile and of the context stands"""
    context: Path
    dockerfile: Path
    arguments: Mapping[str, str] = field(default_factory=dict)
    """values of ARG"""
    target: str = ""
    """name of a stage; "" = the last one"""
    memory_mb: int = 2048
    """memory of each RUN, with the files that it writes"""
    timeout_seconds: float = 3600.0


class BuildsFolders(Protocol):
    """Builds images for a job's scenarios."""

    async def build_folder(self, workspace: str, build: FolderBuild, *, network: str) -> str:
        """The digest of the image. `network`: what RUN may reach, as `BuildRequest.network`. Raises ImageBuildError,
        with the end of what the build has said, and what pulling a base image raises."""


class BuildRoom(Protocol):
    """What a store of images gives to one build of a workspace, for as long as that takes."""

    @property
    def path(self) -> Path:
        """A directory of the build's own, which goes with it."""

    async def base(self, reference: str) -> BuiltImage:
        """The image that the workspace means by a reference; it is pulled where it is not here. Raises as
        `ImageSource.root_of`."""

    async def cached(self, key: str) -> BuiltImage | None:
        """What a step made when it was last made; None = it is not here. It is needed until the build ends."""

    async def commit(
        self,
        parent: BuiltImage | None,
        layer: Path | UpperLayer | None,
        config: ImageConfig,
        key: str = "",
        *,
        without: Sequence[str] = (),
        newest_seconds: int | None = None,
    ) -> BuiltImage:
        """An image with one layer more, a tar file or what a sandbox has written, which the next build finds by the
        key. `without`: paths of a sandbox that are left out, with what lies below. `newest_seconds`: what a sandbox has
        written after this time, in seconds since 1970, has this time in the layer. Raises ImagePullError,
        PlatformError."""

    def layer_archive(self, image: BuiltImage) -> Path:
        """The uppermost layer of an image that `commit` has made of a tar file."""

    async def keep(self, image: BuiltImage, references: Sequence[str]) -> None:
        """Give an image names in the workspace."""


class BuildRunner(Protocol):
    """Runs commands of builds in sandboxes."""

    def run(
        self, workspace: str, image: BuiltImage, command: BuildCommand, said: Callable[[bytes], None]
    ) -> AbstractAsyncContextManager[BuildOutcome]:
        """A command that has ended, for as long as its layer is read. Raises HarenaError."""


class ImageBuildOperations(Protocol):
    """Builds of images of one workspace."""

    async def build_image(self, tree: AsyncIterable[bytes]) -> ImageBuild:
        """Begin to build an image from a Dockerfile. The body is a tar stream: first `build.json` with what is built
        (dockerfile, references, arguments, target, secrets, ...), then the context below `context/`. It is answered
        when the whole stream has come and the Dockerfile has been read.

        Raises ValidationError, which names the line and the instruction, and ImagePullError (there is no room)."""

    async def get_image_build(self, build: Id) -> ImageBuild:
        """A build; with `wait_seconds` when it has ended, or after that time. It is forgotten an hour after its end.

        Raises NotFoundError."""

    async def wait_image_build(self, build: str) -> ImageBuild:
        """Returns the build when it has ended."""

    async def cancel_image_build(self, build: Id) -> ImageBuild:
        """End a build. No effect on one that has ended.

        Raises NotFoundError."""

    def image_build_events(self, build: Id, *, after: After = 0) -> AsyncIterator[ImageBuildEvent]:
        """What a build does and what its commands say, with a growing `cursor`, from the first after `after` to its
        end. Of more than some megabytes of output, what is oldest is left out.

        Raises NotFoundError before the first one."""
