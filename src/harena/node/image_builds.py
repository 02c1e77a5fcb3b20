"""Where builds of a node run their commands: each RUN in a sandbox of its own, of the image as it is by then."""

from __future__ import annotations

import asyncio
import tarfile
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from harena.core.errors import HostUnsupportedError, PlatformError, SandboxFileError, SandboxValidationError
from harena.core.image_configs import BuiltImage
from harena.core.models import ExecOutcome, ExecRequest, ExecResult, SandboxSpec
from harena.core.network_policy import MOST_PAGE, NetworkPolicy
from harena.core.output import OutputBuffer
from harena.core.ports import HasUpperLayer, SandboxHandle, SandboxPort
from harena.core.ports.image_builds import BuildCommand, BuildOutcome
from harena.core.profiles import Profile
from harena.core.records.sandboxes import Limits
from harena.core.threads import IMAGES
from harena.runtime.host.sandboxes import Sandboxes

_MORE_SECONDS = 120.0
"""for which a sandbox lives beyond its command's time, until its layer is read"""
_MOST_PIDS, _MOST_FILES, _MOST_OPEN = 4096, 1_000_000, 65_536
_OUTPUT_BYTES = 16 * 1024 * 1024
_MOST_CACHE_BYTES = 4 << 30
_PIECE_BYTES = 1024 * 1024
_STRICT = (
    b"harena: in the profile strict, in which root can neither install packages nor change owners: the workspace may "
    b"not have the profile machine (its operator allows it: harena workspaces set NAME machine_profile=1)\n"
)
_SHOWN_REFUSALS = 20
"""hosts that a command was refused and that the log of its build names"""


class SandboxRunner:
    """Implements `BuildRunner` with the sandboxes of a node, which count as the workspace's. Used from one event
    loop."""

    def __init__(self, sandboxes: Sandboxes) -> None:
        self._sandboxes = sandboxes
        self._profile: Profile = "machine"
        """what installing packages takes, as long as sandboxes here can have it"""

    async def _created(
        self, workspace: str, image: str, limits: Limits, network: NetworkPolicy, said: Callable[[bytes], None]
    ) -> SandboxHandle:
        spec = SandboxSpec(image=image, limits=limits, profile=self._profile, network=network)
        try:
            return await self._sandboxes.create(workspace, spec)
        except HostUnsupportedError as error:
            if error.step != "users" or self._profile == "strict":
                raise
            self._profile = "strict"  # a sandbox has one user here, who is root without rights
        except SandboxValidationError as error:
            if error.reason != "MACHINE_PROFILE":
                raise
            said(_STRICT)
        return await self._sandboxes.create(workspace, replace(spec, profile="strict"))

    @asynccontextmanager
    async def run(
        self, workspace: str, image: BuiltImage, command: BuildCommand, said: Callable[[bytes], None]
    ) -> AsyncIterator[BuildOutcome]:
        """Run a build's command in a sandbox of the image, and yield its layer while the sandbox is paused, or why it
        failed; the sandbox ends with the context."""
        limits = Limits(
            memory_bytes=command.memory_bytes,
            disk_bytes=command.memory_bytes,
            inodes=_MOST_FILES,
            pids=_MOST_PIDS,
            open_files=_MOST_OPEN,
            output_bytes=_OUTPUT_BYTES,
            lifetime_seconds=command.timeout_seconds + _MORE_SECONDS,
        )
        handle = await self._created(workspace, image.digest, limits, command.network, said)
        try:
            sandbox = handle.port
            await _prepare(sandbox, command)
            why = await _run(sandbox, command, said)
            if command.network.is_on:
                await _tell_refusals(sandbox, said)
            if why:
                yield BuildOutcome(why=why)
                return
            left = command.kept_bytes
            for path, file in command.kept:
                left -= await _keep(sandbox, path, file, min(left, _MOST_CACHE_BYTES))
            empty = [path for path in command.places if await _is_empty(sandbox, path)]
            if not isinstance(sandbox, HasUpperLayer):
                raise PlatformError("this runtime cannot tell what a sandbox has written", step="build")
            async with sandbox.paused():
                layer = await sandbox.upper_layer()
                try:
                    yield BuildOutcome(layer=layer, empty=empty)
                    await sandbox.check_still()
                finally:
                    await layer.close()
        finally:
            await handle.stop()


def user_of(named: str, enforcement: Mapping[str, str]) -> str | None:
    """The user that a command runs as: root where nobody is named, whoever the image so far names; None = a sandbox
    here has one user, who is root."""
    has_several = enforcement.get("users", "one").split()[0].isdecimal()
    return (named or "0:0") if has_several else None


async def _prepare(sandbox: SandboxPort, command: BuildCommand) -> None:
    for path, file in command.trees:
        await _empty(sandbox, path)
        if file is not None:
            await sandbox.extract_archive(path, _pieces(file))
    for path, (content, mode) in command.files.items():
        await sandbox.write_file(path, content, mode=mode)


async def _empty(sandbox: SandboxPort, path: str) -> None:
    """A directory without anything in it; one that is there keeps its rights."""
    await sandbox.make_dir(path)
    for entry in await sandbox.list_dir(path):
        await sandbox.remove(entry.path, recursive=True, missing_ok=True)


async def _is_empty(sandbox: SandboxPort, path: str) -> bool:
    try:
        return not await sandbox.list_dir(path)
    except SandboxFileError:  # it is none any more
        return False


async def _run(sandbox: SandboxPort, command: BuildCommand, said: Callable[[bytes], None]) -> str:
    """Why the command has failed; "" = it has not."""
    user = user_of(command.user, sandbox.enforcement)
    if user is None and command.user:
        said(f"harena: as root, not as {command.user}: this node has one user for each sandbox\n".encode())
    running = await sandbox.exec(
        ExecRequest(
            argv=tuple(command.argv),
            env=dict(command.environment),
            cwd=command.workdir,
            user=user,
            timeout_seconds=command.timeout_seconds,
            warm=False,
        )
    )
    following = [asyncio.ensure_future(_follow(one, said)) for one in (running.stdout, running.stderr)]
    try:
        result = await running.wait()
        await asyncio.wait(following)
    finally:
        for task in following:
            task.cancel()
    return _why(result)


async def _tell_refusals(sandbox: SandboxPort, said: Callable[[bytes], None]) -> None:
    """Name the hosts that the command was refused: apt ends with 0 where it reaches none of its mirrors."""
    told: dict[str, str] = {}
    log = await sandbox.network_log(limit=MOST_PAGE)
    while log.entries:
        for entry in log.entries:
            if not entry.allowed:
                told.setdefault(f"{entry.host}:{entry.port}" if entry.port else entry.host, entry.reason)
        log = await sandbox.network_log(after=log.next_after, limit=MOST_PAGE)
    for host, reason in [*told.items()][:_SHOWN_REFUSALS]:
        said(f"harena: refused: {host}: {reason}\n".encode(errors="replace"))
    if len(told) > _SHOWN_REFUSALS:
        said(f"harena: refused: {len(told) - _SHOWN_REFUSALS} more hosts\n".encode())


async def _follow(output: OutputBuffer, said: Callable[[bytes], None]) -> None:
    async for piece in output:
        said(piece)


def _why(result: ExecResult) -> str:
    if result.outcome is ExecOutcome.MEMORY:
        return "the command has reached the build's memory limit, which its files count for: raise memory_mb"
    if result.outcome is ExecOutcome.TIMEOUT:
        return "the command ran until the build's time was over"
    if result.outcome is ExecOutcome.SIGNALED:
        return f"the command was ended by signal {-result.returncode}"
    if result.outcome is not ExecOutcome.EXITED:
        return f"the command was ended ({result.outcome.value})"
    return f"the command has ended with exit code {result.returncode}" if result.returncode else ""


async def _keep(sandbox: SandboxPort, path: str, file: Path, most: int) -> int:
    """Write what a directory holds into a tar file; nothing where that is too much, or where it has gone. Gives the
    bytes that it has."""
    out: BinaryIO = await IMAGES.run(file.open, "wb")
    size = 0
    try:
        async with aclosing(sandbox.create_archive(path)) as pieces:
            async for piece in pieces:
                size += len(piece)
                if size > most:
                    raise SandboxFileError(f"{path} has more than {most} bytes")
                await IMAGES.run(out.write, piece)
    except SandboxFileError:
        await IMAGES.run(out.seek, 0)
        await IMAGES.run(out.truncate)
        size = await IMAGES.run(out.write, bytes(2 * tarfile.BLOCKSIZE))  # the cache is empty from now on
    finally:
        await IMAGES.run(out.close)
    return size


async def _pieces(file: Path) -> AsyncIterator[bytes]:
    source: BinaryIO = await IMAGES.run(file.open, "rb")
    try:
        while piece := await IMAGES.run(source.read, _PIECE_BYTES):
            yield piece
    finally:
        await IMAGES.run(source.close)
