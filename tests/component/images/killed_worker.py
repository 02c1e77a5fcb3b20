"""Pulls, imports or builds one image, and at one of its steps kills its own process or the program that it has just
started, for tests of what is left then. Step 0: none is killed."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from build_world import WORKSPACE, archive, builds_over

from harena.core.clock import SystemClock
from harena.core.errors import HarenaError
from harena.core.records.image_builds import BuildState
from harena.image_store.images import Images

STEPS = frozenset({"os.rename", "os.mkdir", "os.remove", "os.rmdir", "subprocess.Popen", "os.utime"})
"""events of the interpreter at which it may be killed; and each file that is opened below HOME"""
DOCKERFILE = "FROM scratch\n" + "".join(f"COPY f{number} /d/\n" for number in range(3)) + "WORKDIR /w\n"
NAME = "localhost/made:1"


async def pull(images: Images, source: str) -> None:
    """From a registry."""
    await images.root_of(WORKSPACE, source)


async def take_in(images: Images, source: str) -> None:
    """Import a root file system."""

    async def pieces() -> AsyncIterator[bytes]:
        yield Path(source).read_bytes()

    await images.import_(WORKSPACE, NAME, pieces())


async def build(images: Images, _: str) -> None:
    """Of files, each in a layer of its own."""
    builds, _runner = builds_over(images)
    files = [(f"f{number}", bytes([number + 1]) * 30_000) for number in range(3)]
    begun = await builds.build_image(WORKSPACE, archive(DOCKERFILE, *files, references=[NAME]))
    ended = await builds.wait(WORKSPACE, begun.id)
    await builds.close()
    if ended.state is not BuildState.DONE:
        raise HarenaError(ended.error or "it says nothing")


WORKS = {"pull": pull, "import": take_in, "build": build}


async def work(kind: str, home: str, source: str, who: str, wanted: int) -> str:
    """Gives the number of its steps, or the reason with which it failed."""
    images = Images(Path(home), SystemClock(), for_server=False)
    seen = 0

    def step(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal seen
        if who == "node" and (event in STEPS or (event == "open" and str(arguments[0]).startswith(home))):
            seen += 1
            if seen == wanted:
                os.kill(os.getpid(), signal.SIGKILL)

    starts = asyncio.create_subprocess_exec

    async def started(*command: Any, **options: Any) -> asyncio.subprocess.Process:
        nonlocal seen
        process = await starts(*command, **options)
        seen += 1
        if seen == wanted:
            os.killpg(process.pid, signal.SIGKILL)
        return process

    if who == "helper":
        asyncio.create_subprocess_exec = started  # type: ignore[assignment]
    sys.addaudithook(step)
    try:
        await WORKS[kind](images, source)
    except HarenaError as error:
        return f"failed {error}"
    finally:
        await images.close()
    return str(seen)
