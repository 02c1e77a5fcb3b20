"""Programs that do the work on images: started without a shell, bounded in what they say, ended with their caller."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass

from harena.core.errors import HostUnsupportedError
from harena.core.threads import IMAGES

_MOST_SAID = 64 * 1024
_KEPT_VARIABLES = (
    *("PATH", "HOME", "LANG", "LC_ALL", "TZ", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "DOCKER_CONFIG"),
    *("REGISTRY_AUTH_FILE", "CONTAINERS_REGISTRIES_CONF", "SSL_CERT_FILE", "SSL_CERT_DIR"),
    *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"),
)


@dataclass(frozen=True, slots=True)
class Finished:
    """A program that has ended."""

    status: int
    output: bytes
    """its standard output, up to the limit"""
    said: str
    """the end of its standard error"""


def path_of(program: str, package: str) -> str:
    """The path of a program. Raises HostUnsupportedError, which says what to install."""
    path = shutil.which(program)
    if path is None:
        raise HostUnsupportedError(
            f"images need the program {program}, and it is not installed on the machine of the node: on Debian and "
            f"Ubuntu, apt-get install {package}",
            step="images",
            reason="IMAGE_TOOLS",
        )
    return path


async def run(
    command: Sequence[str],
    *,
    most_output: int,
    stdin: int | None = None,
    temporary: str | None = None,
    more_descriptors: Sequence[int] = (),
) -> Finished:
    """Run a program to its end; it is killed where its caller is cancelled, or where it says too much. Its standard
    input is this descriptor (None = empty), and it has `more_descriptors` under their own numbers. Raises OSError."""
    env: dict[str, str] = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
    if temporary is not None:
        env["TMPDIR"] = temporary
    before = await IMAGES.run(_dying_with_us)
    with ExitStack() as opened:
        if stdin is None:
            stdin = await IMAGES.run(os.open, os.devnull, os.O_RDONLY | os.O_CLOEXEC)  # not in the event loop
            opened.callback(os.close, stdin)
        process = await asyncio.create_subprocess_exec(
            *before, *command, stdin=stdin, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
            env=env, cwd="/", start_new_session=True, pass_fds=more_descriptors,
        )  # fmt: skip
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        output, said = await asyncio.gather(_begin_of(process.stdout, most_output, process), _end_of(process.stderr))
        status = await process.wait()
    except BaseException:  # raised again: whatever stopped it, also a cancellation, nobody waits for the program
        _kill(process)
        await process.wait()
        raise
    return Finished(status, output, said.decode(errors="replace"))


async def _begin_of(stream: asyncio.StreamReader, most: int, process: asyncio.subprocess.Process) -> bytes:
    pieces: list[bytes] = []
    size = 0
    while piece := await stream.read(_MOST_SAID):
        size += len(piece)
        if size > most:
            _kill(process)
            break
        pieces.append(piece)
    return b"".join(pieces)


async def _end_of(stream: asyncio.StreamReader) -> bytes:
    kept = b""
    while piece := await stream.read(_MOST_SAID):
        kept = (kept + piece)[-_MOST_SAID:]
    return kept


def _kill(process: asyncio.subprocess.Process) -> None:
    with suppress(ProcessLookupError):  # it has ended in this moment
        os.killpg(process.pid, signal.SIGKILL)


def _dying_with_us() -> list[str]:
    """setpriv, where it is there: the program dies with the thread that started it, the node's event loop."""
    setpriv = shutil.which("setpriv")
    return [] if setpriv is None else [setpriv, "--pdeathsig", "KILL", "--"]
