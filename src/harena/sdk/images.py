"""Images: what sandboxes can have as their root. The verbs block; `images.aio` has the same ones to await.

An image is pulled once and kept on the machine of the node. A tag is resolved when it is pulled, and then means that
image until it is pulled again.
"""

from __future__ import annotations

import asyncio
import base64
import os
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO

from harena.core.checked import checked_text, quote
from harena.core.errors import ImageBuildError, ImagePullError, NotFoundError, PlatformError, ValidationError
from harena.core.images import ARCHIVE_FORMATS, ArchiveFormat, parse_reference
from harena.core.records.image_builds import BuildRequest, BuildState, ImageBuild, ImageBuildEvent
from harena.core.records.images import CollectedImages, Image, ImagePull, PullState
from harena.sdk.portal import current_portal, in_thread
from harena.sdk.registry import pieces_of
from harena.sdk.twins import Twin

__all__ = [
    "CollectedImages",
    "Image",
    "ImageBuild",
    "ImageBuildEvent",
    "ImagePull",
    "aio",
    "build",
    "collect",
    "delete",
    "export_archive",
    "get",
    "import_archive",
    "list",
    "prefetch",
    "pull",
]

PAGE = 500
"""images that are asked for at one time"""
AT_ONCE = 4
"""pulls of one `prefetch` that run at one time"""
_PIECE_BYTES = 1024 * 1024
_Images = list[Image]
OnProgress = Callable[[ImagePull], object]


async def _pull(reference: str, *, refresh: bool = True, on_progress: OnProgress | None = None) -> Image:
    """Pull an image, and wait for it. Without `refresh`, its registry is not asked where it is here.

    `on_progress` is called with the pull after each change, from another thread. Raises NotFoundError, ImagePullError,
    ValidationError.
    """
    asked = str(parse_reference(checked_text(reference, "reference")))
    operations = await current_portal().operations()
    pull = await operations.pull_image(asked, refresh=refresh)
    try:
        async for event in operations.image_pull_events(pull.id):
            pull = event.pull
            if on_progress is not None:
                on_progress(pull)
    except asyncio.CancelledError:
        await operations.cancel_image_pull(pull.id)
        raise
    if pull.state is PullState.FAILED:
        said = pull.error or "the pull has failed"
        if pull.reason == "IMAGE_NOT_FOUND":
            raise NotFoundError(said, reason=pull.reason)
        raise ImagePullError(said, step="pull", reason=pull.reason)
    if pull.state is not PullState.DONE:
        raise ImagePullError(f"the pull of {asked} was cancelled", step="pull", reason="CANCELLED")
    return await operations.get_image(asked)


async def _build(
    context: str | os.PathLike[str],
    *,
    tags: str | Iterable[str] = (),
    dockerfile: str | os.PathLike[str] | None = None,
    build_args: Mapping[str, str] | None = None,
    target: str = "",
    secrets: Mapping[str, str | bytes] | None = None,
    use_cache: bool = True,
    timeout_seconds: float = 3600.0,
    memory_mb: int = 2048,
    network: str = "none",
    on_event: Callable[[ImageBuildEvent], object] | None = None,
) -> ImageBuild:
    """Build an image of a directory with a Dockerfile, and wait for it; its digest is `image` of the answer, which can
    be a sandbox's `container_image`.

    `tags`: names that it is found by; `dockerfile`: another file than `Dockerfile` in the directory; `secrets`: what
    RUN --mount=type=secret asks for, by their ids; `memory_mb`: for each RUN with the files that it writes; `network`:
    what RUN may reach, "open" or entries of a policy with commas between them ("pypi,apt,example.org:8443"). `on_event`
    is called with each step and with what commands say, from another thread. Raises ValidationError, ImageBuildError.
    """
    names = [tags] if isinstance(tags, str) else [*tags]
    from harena.sdk.build_contexts import packed_context  # not for those who build nothing

    place = Path(context)
    file = place / "Dockerfile" if dockerfile is None else Path(dockerfile)
    try:
        text = await asyncio.to_thread(file.read_text, errors="replace")
    except OSError as error:
        raise ValidationError(f"the Dockerfile {file} cannot be read: {error.strerror or error}") from None
    if not await asyncio.to_thread(place.is_dir):
        raise ValidationError(f"the context {place} is no directory")
    request = BuildRequest(
        dockerfile=text,
        references=[str(parse_reference(checked_text(name, "tags"))) for name in names],
        arguments={checked_text(name, "build_args"): str(value) for name, value in (build_args or {}).items()},
        target=target,
        secrets={name: in_base64(content) for name, content in (secrets or {}).items()},
        use_cache=use_cache,
        timeout_seconds=timeout_seconds,
        memory_mb=memory_mb,
        network=checked_text(network, "network"),
    )
    return await wait_for_build(packed_context(place, request, file), place, on_event)


async def wait_for_build(
    context: Iterator[bytes], place: Path, on_event: Callable[[ImageBuildEvent], object] | None
) -> ImageBuild:
    """Have an image built, and wait for it; the build is cancelled with whoever waits. `place`: where the context's
    files are. Raises ValidationError, ImageBuildError."""
    operations = await current_portal().operations()
    try:
        build = await operations.build_image(pieces_of(context))
    except OSError as error:
        raise PlatformError(f"{place} cannot be read: {error.strerror or error}", step="build") from error
    try:
        async for event in operations.image_build_events(build.id):
            build = event.build or build
            if on_event is not None:
                on_event(event)
    except asyncio.CancelledError:
        await operations.cancel_image_build(build.id)
        raise
    if build.state is not BuildState.DONE:
        said = build.error or "the build was cancelled"
        raise ImageBuildError(said, reason=build.reason or "CANCELLED")
    return build


def in_base64(content: str | bytes) -> str:
    """Content as a request has it."""
    return base64.b64encode(content.encode() if isinstance(content, str) else content).decode()


async def _prefetch(references: Iterable[str], *, on_progress: OnProgress | None = None) -> _Images:
    """Pull those that are not here, a few at one time, and answer all. Raises what `pull` raises for the first that
    fails, when all have ended."""
    if isinstance(references, str | bytes) or not isinstance(references, Iterable):
        raise ValidationError(f"references must be a list of texts (got {quote(references)})")
    slots = asyncio.Semaphore(AT_ONCE)

    async def one(reference: str) -> Image:
        async with slots:
            return await _pull(reference, refresh=False, on_progress=on_progress)

    wanted = [str(parse_reference(checked_text(reference, "references"))) for reference in references]
    found = await asyncio.gather(*map(one, wanted), return_exceptions=True)
    for answer in found:
        if isinstance(answer, BaseException):
            raise answer
    return [answer for answer in found if isinstance(answer, Image)]


async def _get(image: str) -> Image:
    """The image with this id, reference or digest. Raises NotFoundError."""
    operations = await current_portal().operations()
    return await operations.get_image(checked_text(image, "image"))


async def _list() -> _Images:
    """All images of the workspace, by their references."""
    operations = await current_portal().operations()
    found: _Images = []
    page = await operations.list_images(limit=PAGE)
    while page.next_cursor is not None:
        found += page.images
        page = await operations.list_images(cursor=page.next_cursor, limit=PAGE)
    return [*found, *page.images]


async def _delete(image: str) -> None:
    """Forget an image; its layers go when no sandbox and no other image needs them. Raises NotFoundError."""
    operations = await current_portal().operations()
    await operations.remove_image(checked_text(image, "image"))


async def _collect(*, unused_seconds: int | None = None) -> CollectedImages:
    """Remove what no image needs, and what is over the node's budget; with `unused_seconds` also images of the
    workspace that were not used for so long. What a sandbox uses stays."""
    operations = await current_portal().operations()
    return await operations.collect_images(unused_seconds=unused_seconds)


async def _import_archive(reference: str, path: str | os.PathLike[str]) -> Image:
    """Make an image of a file: an OCI layout as a tar archive, what `docker save` writes, or the tar archive of a root
    file system; or of a directory with an OCI layout. Raises ValidationError."""
    from harena.core.file_trees import files_of, pack_files

    place = Path(path)
    asked = str(parse_reference(checked_text(reference, "reference")))
    operations = await current_portal().operations()
    try:
        if await asyncio.to_thread(place.is_dir):
            if not await asyncio.to_thread((place / "index.json").is_file):
                raise ValidationError(f"{place} is no OCI layout: it has no index.json. Give a tar archive")
            files = await asyncio.to_thread(files_of, place)
            return await operations.import_image(asked, pieces_of(pack_files(files)))
        async with in_thread(lambda: place.open("rb")) as file:
            return await operations.import_image(asked, pieces_of(_pieces(file)))
    except FileNotFoundError:
        raise ValidationError(f"there is no file or directory {place}") from None
    except OSError as error:
        raise PlatformError(f"{place} cannot be read: {error.strerror or error}", step="import") from error


async def _export_archive(image: str, path: str | os.PathLike[str], *, form: ArchiveFormat = "oci") -> None:
    """Write an image into a new file: an OCI layout as a tar archive, or ("docker") what `docker load` reads. Raises
    NotFoundError, ValidationError (the file is there)."""
    asked = checked_form(form)
    operations = await current_portal().operations()
    await write_archive(operations.export_image(checked_text(image, "image"), form=asked), path)


def checked_form(form: ArchiveFormat) -> ArchiveFormat:
    """A form of an archive. Raises ValidationError."""
    if form not in ARCHIVE_FORMATS:
        raise ValidationError(f"form must be {' or '.join(ARCHIVE_FORMATS)} (got {quote(form)})")
    return form


async def write_archive(pieces: AsyncIterator[bytes], path: str | os.PathLike[str]) -> None:
    """Write an archive into a new file, whole or not at all. Raises what the pieces raise, ValidationError (the file is
    there), PlatformError."""
    place = Path(path)
    if await asyncio.to_thread(place.exists):
        raise ValidationError(f"{place} is there: name a new file")
    temporary = place.with_name(f".{place.name}.part")
    try:
        async with in_thread(lambda: temporary.open("wb")) as out:
            async for piece in pieces:
                await asyncio.to_thread(out.write, piece)
        await asyncio.to_thread(temporary.rename, place)
    except OSError as error:
        raise PlatformError(f"{place} cannot be written: {error.strerror or error}", step="export") from error
    finally:
        await asyncio.to_thread(temporary.unlink, missing_ok=True)


def _pieces(file: IO[bytes]) -> Iterator[bytes]:
    while piece := file.read(_PIECE_BYTES):
        yield piece


pull = Twin(_pull)
build = Twin(_build)
prefetch = Twin(_prefetch)
get = Twin(_get)
delete = Twin(_delete)
collect = Twin(_collect)
import_archive = Twin(_import_archive)
export_archive = Twin(_export_archive)
list = Twin(_list)  # noqa: A001 - the verb's name, as in `images.list()`


class _Awaitable:
    """Asynchronous versions of this module's functions."""

    pull = pull.aio
    build = build.aio
    prefetch = prefetch.aio
    get = get.aio
    delete = delete.aio
    collect = collect.aio
    import_archive = import_archive.aio
    export_archive = export_archive.aio
    list = list.aio


aio = _Awaitable()
