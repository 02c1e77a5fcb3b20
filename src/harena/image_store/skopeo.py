"""Asks skopeo, which speaks to registries and reads and writes archives of images."""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from harena.core.clock import Clock
from harena.core.errors import HarenaError, ImagePullError
from harena.core.images import ImageReference
from harena.core.threads import IMAGES
from harena.image_store import programs
from harena.image_store.manifests import MOST_BYTES, broken
from harena.image_store.registries import Registries, fault, is_passing, last_message

T = TypeVar("T")

PAUSES = (0.5, 2.0, 5.0)
"""seconds before each further try"""
LOOKED_AT_SECONDS = 0.2
"""between two looks at how much has arrived"""
STALLED_SECONDS = 120.0
"""a download of which nothing arrives for so long is given up"""
_ASKED_SECONDS = 120
"""limit of time for one question to a registry, with its answer"""


@dataclass(frozen=True, slots=True)
class RegistryManifest:
    """A manifest, or an index, as a registry has it."""

    place: str
    """repository that has answered: the registry's or a mirror's"""
    raw: bytes

    @property
    def digest(self) -> str:
        """sha256 with its prefix."""
        return f"sha256:{hashlib.sha256(self.raw).hexdigest()}"


@dataclass(frozen=True, slots=True)
class Skopeo:
    """Used from one event loop."""

    registries: Registries
    clock: Clock

    async def manifest(self, reference: ImageReference) -> RegistryManifest:
        """What a reference names: its mirrors are asked first. Raises NotFoundError, ImagePullError,
        HostUnsupportedError (skopeo is missing)."""
        places = self.registries.places(reference)
        behind = reference.pull_name.removeprefix(reference.name)
        for place in places[:-1]:
            with suppress(ImagePullError, HarenaError):  # whatever is wrong with a mirror, the registry decides
                return await self._inspect(place, behind, reference.digest, str(reference), tries=1)
        return await self._inspect(places[-1], behind, reference.digest, str(reference), tries=1 + len(PAUSES))

    async def manifest_at(self, place: str, digest: str, asked: str) -> RegistryManifest:
        """The manifest with this digest in a repository. Raises as `manifest`."""
        return await self._inspect(place, f"@{digest}", digest, asked, tries=1 + len(PAUSES))

    async def download(
        self, place: str, digest: str, asked: str, layout: Path, blobs: Path, look: Callable[[], int]
    ) -> None:
        """Download what is missing of an image into `blobs`, and write an OCI layout that speaks of it. `look` is
        called while it runs, and says how much has arrived. Raises as `manifest`."""
        source = ["--src-tls-verify=false"] if not self.registries.has_tls(place) else []
        auth = ["--src-authfile", self.registries.auth_file] if self.registries.auth_file else []

        async def once() -> None:
            await self._watched(
                self.copied([*source, *auth, f"docker://{place}@{digest}"], layout, blobs), asked, layout, look
            )

        await self._tried(once, 1 + len(PAUSES))

    async def read_archive(self, source: str, layout: Path, blobs: Path, asked: str) -> None:
        """Write the image of an archive or layout (`docker-archive:FILE`, `oci:FOLDER`) as `download` does. Raises
        ImagePullError."""
        command = self.copied([source], layout, blobs)
        finished = await self._finished(command, layout)
        if finished.status:
            error = fault(finished.said, asked)
            raise (
                error
                if error.reason == "IMAGE_SPACE"
                else broken(f"skopeo cannot read it: {last_message(finished.said)}")
            )

    async def write_archive(self, layout: Path, blobs: Path, target: str, asked: str) -> None:
        """Write the image of an OCI layout as an archive. Raises ImagePullError."""
        command = [*self._program(), "copy", "--quiet", "--src-shared-blob-dir", str(blobs), f"oci:{layout}", target]
        await self._run(command, asked, layout)

    def copied(self, source: Sequence[str], layout: Path, blobs: Path) -> list[str]:
        """The command that copies into a layout."""
        return [
            *(*self._program(), "copy", "--quiet", "--dest-shared-blob-dir", str(blobs)),
            "--dest-oci-accept-uncompressed-layers",  # as they are: their digests stay what the manifest says
            *(*source, f"oci:{layout}"),
        ]

    def _program(self) -> list[str]:
        has_policy = any(
            os.path.exists(path)
            for path in ("/etc/containers/policy.json", os.path.expanduser("~/.config/containers/policy.json"))
        )
        return [programs.path_of("skopeo", "skopeo"), *([] if has_policy else ["--insecure-policy"])]

    async def _inspect(
        self, place: str, behind: str, digest: str | None, asked: str, *, tries: int
    ) -> RegistryManifest:
        tls = [] if self.registries.has_tls(place) else ["--tls-verify=false"]
        auth = ["--authfile", self.registries.auth_file] if self.registries.auth_file else []
        command = [
            *(*self._program(), f"--command-timeout={_ASKED_SECONDS}s", "inspect", "--raw"),
            *(*tls, *auth, f"docker://{place}{behind}"),
        ]

        async def once() -> RegistryManifest:
            finished = await programs.run(command, most_output=MOST_BYTES)
            if finished.status:
                raise fault(finished.said, asked)
            found = RegistryManifest(place, finished.output)
            if digest is not None and found.digest != digest:
                raise broken(f"the registry of {asked} has sent a manifest with the digest {found.digest}")
            return found

        return await self._tried(once, tries)

    async def _tried(self, once: Callable[[], Awaitable[T]], tries: int) -> T:
        for pause in PAUSES[: tries - 1]:
            try:
                return await once()
            except HarenaError as error:
                if not is_passing(error):
                    raise
            await self.clock.sleep(pause)
        return await once()

    async def _watched(self, command: Sequence[str], asked: str, layout: Path, look: Callable[[], int]) -> None:
        running = asyncio.ensure_future(self._run(command, asked, layout))
        try:
            arrived, since = await IMAGES.run(look), self.clock.now()
            while not running.done():
                await asyncio.wait([running], timeout=LOOKED_AT_SECONDS)
                if (now := await IMAGES.run(look)) != arrived:
                    arrived, since = now, self.clock.now()
                elif self.clock.now() - since > STALLED_SECONDS:
                    raise ImagePullError(
                        f"the registry of {asked} sends nothing for {STALLED_SECONDS:.0f} seconds: pull it again, what "
                        "has arrived is kept",
                        step="pull",
                        reason="REGISTRY",
                    )
            await running
        finally:
            running.cancel()
            await asyncio.wait([running])

    async def _run(self, command: Sequence[str], asked: str, layout: Path) -> None:
        finished = await self._finished(command, layout)
        if finished.status:
            raise fault(finished.said, asked)

    async def _finished(self, command: Sequence[str], layout: Path) -> programs.Finished:
        finished = await programs.run(command, most_output=MOST_BYTES, temporary=str(layout.parent))
        home = str(layout.parents[2])  # what is answered holds no path of the node's
        return programs.Finished(finished.status, finished.output, finished.said.replace(home, "images"))
