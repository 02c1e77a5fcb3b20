"""Builds over a real store, without sandboxes: whoever runs a command is told what to do instead."""

from __future__ import annotations

import asyncio
import io
import json
import tarfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from harena.core.clock import SystemClock
from harena.core.image_configs import BuiltImage
from harena.core.ports.image_builds import BuildCommand, BuildOutcome
from harena.image_build.builds import Builds
from harena.image_store.images import Images
from harena.image_store.manifests import this_platform

WORKSPACE = "default"


class NoSandboxes:
    """Implements `BuildRunner`: a command fails with its own words, or waits for ever where these are "wait"."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.seconds: list[float] = []
        """which commands were given"""

    @asynccontextmanager
    async def run(
        self, workspace: str, image: BuiltImage, command: BuildCommand, said: Callable[[bytes], None]
    ) -> AsyncIterator[BuildOutcome]:
        """See `BuildRunner`."""
        self.begun.set()
        self.seconds.append(command.timeout_seconds)
        said(b"begun\n")
        if command.argv[-1] == "wait":
            await asyncio.Event().wait()
        yield BuildOutcome(why=command.argv[-1])


def builds_over(images: Images) -> tuple[Builds, NoSandboxes]:
    """Builds, and what runs their commands."""
    runner = NoSandboxes()
    return Builds(images.building, runner, SystemClock(), platform=this_platform()), runner


async def archive(dockerfile: str, *files: tuple[str, bytes], **asked: object) -> AsyncIterator[bytes]:
    """What begins a build."""
    made = io.BytesIO()
    request = json.dumps({"dockerfile": dockerfile, **asked}).encode()
    with tarfile.open(fileobj=made, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for name, content in (("build.json", request), *((f"context/{name}", content) for name, content in files)):
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    yield made.getvalue()


def is_whole(place: Path) -> bool:
    """Each image of a store has all its blobs and layers."""
    images = [json.loads(path.read_text()) for path in (place / "images").glob("*.json")]
    return all(
        (place / "blobs/sha256" / image["config"]).exists()
        and (place / "blobs/sha256" / image["manifest"]).exists()
        and all((place / "blobs/sha256" / layer["digest"]).exists() for layer in image["layers"])
        and all((place / "layers" / layer["diff_id"] / "about.json").exists() for layer in image["layers"])
        for image in images
    )
