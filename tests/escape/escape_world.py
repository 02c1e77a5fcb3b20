"""The world that hostile programs are let loose in: a host with things worth having, a neighbour sandbox, and a witness
that looks at all of it after every attempt."""

from __future__ import annotations

import asyncio
import os
import secrets
import socket
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from attacks import NEIGHBOUR, PRELUDE

from footprint import mounts
from harena.core.errors import HarenaError, SandboxNotRunningError
from harena.core.models import ExecOutcome, ExecRequest, ExecResult, SandboxSpec
from harena.core.network_policy import read_policy
from harena.core.ports import RunningExec, SandboxPort
from harena.core.profiles import Profile
from harena.core.records.blueprints import Blueprint
from harena.core.records.sandboxes import Limits
from harena.runtime.host.linux import LinuxRuntime
from harena.runtime.host.patience import MOST_SECONDS

IMAGE = "localhost/escape:1"
"""its layers have harena's interpreter, and some programs"""
NAMED = "named.test"
"""a host that leads to the loopback of this machine"""
WARM = Blueprint(id="bp_escape", name="escape", warm=())


seen_owners: list[int] = []
"""pids of the spawners of the module under test, whose cgroup directories must be gone at its end"""

MACHINE = pytest.param(
    "machine", marks=pytest.mark.skipif(os.geteuid() != 0, reason="needs several users, as root always has them")
)
"""the world of the profile `machine`"""


@dataclass
class World:
    """One runtime, one kind of exec, and everybody who must not be harmed."""

    runtime: LinuxRuntime
    kind: str
    host: dict[str, Any]
    canary: subprocess.Popen[bytes]
    canary_file: Path
    neighbour: SandboxPort | None = None
    neighbour_secret: str = ""
    opened: list[SandboxPort] = field(default_factory=list)
    mounts_before: list[str] = field(default_factory=mounts)

    @property
    def blueprint(self) -> Blueprint | None:
        """None = real starts."""
        return WARM if self.kind == "warm" else None

    @property
    def image(self) -> str:
        """What sandboxes have for a root."""
        return IMAGE if self.kind in ("image", "machine") else "default"

    @property
    def profile(self) -> Profile:
        """What programs may do inside."""
        return "machine" if self.kind == "machine" else "strict"

    async def settle_neighbour(self) -> None:
        """Have a sandbox that holds something in every place where a sandbox can; another one if that one was lost."""
        if self.neighbour is not None and getattr(self.neighbour, "alive", True):
            return
        self.neighbour_secret = secret = "neighbour-secret-" + secrets.token_hex(16)
        self.neighbour = await self.runtime.create(
            SandboxSpec(image=self.image, profile=self.profile, env={"SECRET": secret}), self.blueprint
        )
        await self.neighbour.write_file("/data/secret", secret.encode())
        program = await self.neighbour.exec(ExecRequest(argv=("python3", "-c", NEIGHBOUR), env={"SECRET": secret}))
        first = await program.stdout.next_chunk(0)
        assert first is not None, (await program.wait()).stderr
        port, pid, name = first.decode().split()
        self.host.update(neighbour_port=int(port), neighbour_pid=int(pid), neighbour_abstract=name)

    async def sandbox(self, network: Any = None, **limits: Any) -> SandboxPort:
        """A fresh sandbox; it is destroyed after the test."""
        spec = SandboxSpec(
            image=self.image, profile=self.profile, limits=Limits(**limits), network=read_policy(network)
        )
        sandbox = await self.runtime.create(spec, self.blueprint)
        self.opened.append(sandbox)
        return sandbox

    async def start(self, sandbox: SandboxPort, program: str, *arguments: str, **request: Any) -> RunningExec:
        """Start a hostile program. 30 seconds at most, unless the test says otherwise."""
        request = {"timeout_seconds": 30.0, **request}
        return await sandbox.exec(ExecRequest(argv=("python3", "-c", PRELUDE + program, *arguments), **request))

    async def attack(self, sandbox: SandboxPort, program: str, *arguments: str, **request: Any) -> ExecResult:
        """Run a hostile program to its end."""
        return await (await self.start(sandbox, program, *arguments, **request)).wait()

    async def attempt(self, program: str, *arguments: str, **request: Any) -> ExecResult:
        """In a fresh sandbox: the program has run to its last line and did not get out."""
        sandbox = await self.sandbox()
        result = await self.attack(sandbox, program, *arguments, **request)
        assert result.warm == (self.kind == "warm")
        assert b"ESCAPED" not in result.stdout, result.stdout.decode(errors="replace")
        assert result.stdout.endswith(b"done\n"), (result.outcome, result.returncode, result.stdout, result.stderr)
        await sandbox.destroy()
        await self.unharmed()
        return result

    async def unharmed(self) -> None:
        """The host is as it was, the neighbour has noticed nothing, and the next sandbox is fresh and works."""
        assert self.canary.poll() is None, "a process of the host was killed"
        assert self.canary_file.read_text() == self.host["secret"], "a file of the host was changed"
        assert sorted(path.name for path in self.canary_file.parent.iterdir()) == [self.canary_file.name]
        assert mounts() == self.mounts_before, "the host's mounts were changed"
        assert socket.gethostname() == self.host["name"]
        await self._neighbour_unharmed()
        await self._next_is_fresh()

    async def _neighbour_unharmed(self) -> None:
        assert self.neighbour is not None
        program = f"import os\nos.kill({self.host['neighbour_pid']}, 0)\nos.openpty()\nprint('here')"
        try:
            result = await asyncio.wait_for(_run(self.neighbour, program), 30)
            kept = await asyncio.wait_for(self.neighbour.read_file("/data/secret", max_bytes=1 << 20), 30)
        except (SandboxNotRunningError, TimeoutError) as error:
            pytest.fail(f"the neighbour was harmed: {error!r}")
        assert (result.outcome, result.stdout) == (ExecOutcome.EXITED, b"here\n"), result
        assert kept == self.neighbour_secret.encode()

    async def _next_is_fresh(self) -> None:
        sandbox = await self.runtime.create(SandboxSpec(image=self.image, profile=self.profile), self.blueprint)
        try:
            assert await sandbox.processes() == []
            for folder in ("/tmp", "/workspace", "/data", "/dev/shm"):
                assert await sandbox.list_dir(folder) == []
            result = await _run(sandbox, "import os; print(os.getpid() > 1, len(os.listdir('/proc/self/fd')))")
            assert result.stdout == b"True 4\n", result
        finally:
            await sandbox.destroy()


@asynccontextmanager
async def answered(seconds: float = MOST_SECONDS + 10.0) -> AsyncIterator[None]:
    """What is asked of a sandbox in this block is answered soon: with a result, or with an error of the sandbox's own;
    on a machine that gives sandbox or node no processor, after MOST_SECONDS.
    A lost sandbox is no answer: whoever can make one turns his wrong answers into faults of the platform."""
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError:
        pytest.fail("a request to a sandbox hangs", pytrace=False)
    except HarenaError as error:
        if error.reason in ("SANDBOX_LOST", "NODE_LOST"):
            pytest.fail(f"the sandbox was lost: {error}", pytrace=False)


async def _run(sandbox: SandboxPort, program: str) -> ExecResult:
    return await (await sandbox.exec(ExecRequest(argv=("python3", "-c", program), timeout_seconds=30))).wait()
