"""A runtime without any isolation, for tests that need sandboxes and not their walls.

Each sandbox is a temporary directory that stands for its `/` and has /tmp, /workspace, /data and /root. Commands are
plain child processes of the test. The absolute paths of those four directories are mapped into the directory in file
operations, in `cwd` and, best effort, in the words of a command (also inside the text of `python -c` and `sh -c`). A
program that reads such a path from a file or computes it gets the host's. Never run anything untrusted in it.

Limits are not enforced, output limits and time-outs excepted. Beyond the port: `FakeRuntime.fail_next_create`,
`FakeRuntime.sandboxes`, `FakeRuntime.created` and `FakeSandbox.die` let a test say what shall happen and see what did.
"""

from __future__ import annotations

import asyncio
import shutil
import sys
import tempfile
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from harena.core.errors import (
    HarenaError,
    HostUnsupportedError,
    NotFoundError,
    SandboxNotRunningError,
    SandboxTerminatedError,
    SandboxUnavailableError,
    SandboxValidationError,
)
from harena.core.models import ExecRequest, FileInfo, ProcessorTime, SandboxOrigin, SandboxSpec
from harena.core.network_policy import NetworkPolicy
from harena.core.ports import Death
from harena.core.records.blueprints import Blueprint
from harena.core.records.gateways import GatewayLog
from harena.core.records.network import NetworkLog
from harena.core.records.sandboxes import ProcessInfo, SandboxUsage
from harena.core.threads import BLUEPRINTS
from harena.core.workspace import DEFAULT_WORKSPACE
from harena.testing.fake_exec import FakeExec, describe, fake_mark, kill_marked, marked, signal_process, used_seconds
from harena.testing.fake_files import FakeFiles

_PYTHON_NAMES = frozenset({"python", "python3", f"python3.{sys.version_info.minor}"})
_PYTHON_FOLDERS = frozenset({"", "/usr/bin", "/usr/local/bin"})


@dataclass(frozen=True, slots=True)
class Creation:
    """What a fake runtime was asked to create."""

    spec: SandboxSpec
    blueprint: Blueprint | None
    workspace: str = DEFAULT_WORKSPACE


class FakeRuntime:
    """Implements `Runtime`. `layer_path` says where the packages of a blueprint's layer are, as `LayerStore.path`."""

    isolates = False
    """programs run as those of this process's user do, with the whole machine in reach"""

    def __init__(self, *, layer_path: Callable[[str], Path] | None = None) -> None:
        self.sandboxes: dict[str, FakeSandbox] = {}
        """living sandboxes, by id"""
        self.created: list[Creation] = []
        """everything that was asked for, in order"""
        self._layer_path = layer_path
        self._failures: list[BaseException] = []
        self._count = 0
        self.may_create = asyncio.Event()
        """cleared = creations wait, as they do where many are asked for at one time"""
        self.may_create.set()
        self._asked = asyncio.Semaphore(0)

    async def start(self) -> None:
        """Nothing to get ready."""

    async def create(
        self, spec: SandboxSpec, blueprint: Blueprint | None = None, *, workspace: str = DEFAULT_WORKSPACE
    ) -> FakeSandbox:
        """A fresh directory. Known images are "default" and python:*."""
        self.created.append(Creation(spec, blueprint, workspace))
        self._asked.release()
        await self.may_create.wait()
        if self._failures:
            raise self._failures.pop(0)
        if spec.image != "default" and not spec.image.startswith("python:"):
            raise NotFoundError(f"unknown image {spec.image!r}: FakeRuntime knows 'default' and python:*")
        if spec.gateways:
            raise HostUnsupportedError("FakeRuntime serves no gateways", step="gateways")
        self._count += 1
        sandbox = FakeSandbox(
            f"sb_fake_{id(self):x}_{self._count}",
            spec,
            env=self._environment(blueprint),
            forget=self.sandboxes.pop,
            blueprint_digest=blueprint.digest if blueprint else "",
        )
        self.sandboxes[sandbox.id] = sandbox
        files = {**spec.files}
        if blueprint is not None and blueprint.files:
            files = {**await BLUEPRINTS.run_for(workspace, lambda: dict(blueprint.files.items())), **spec.files}
        for path, content in files.items():
            await sandbox.write_file(path, content)
        return sandbox

    def prepare(self, image: str, blueprint: Blueprint | None, *, workspace: str = DEFAULT_WORKSPACE) -> None:
        """Do nothing: no sandbox of this runtime takes a while to start."""

    def after_fork_in_child(self) -> None:
        """Let go of the parent's sandboxes."""
        self.sandboxes = {}

    def forget_blueprint(self, blueprint_id: str, *, workspace: str = DEFAULT_WORKSPACE) -> None:
        """Do nothing: nothing is kept ready here."""

    def forget_image(self, digest: str, *, workspace: str = DEFAULT_WORKSPACE) -> None:
        """Do nothing: nothing is kept ready here."""

    def forget_held(self, identity: str, *, workspace: str = DEFAULT_WORKSPACE) -> bool:
        """Tell that nothing was held: this runtime holds no files."""
        return False

    async def close(self) -> None:
        """End every sandbox."""
        await asyncio.gather(*(sandbox.destroy() for sandbox in list(self.sandboxes.values())))

    async def asked_for(self, number: int) -> None:
        """Returns when so many more sandboxes have been asked for than others have waited for."""
        for _ in range(number):
            await self._asked.acquire()

    def fail_next_create(self, *failures: BaseException) -> None:
        """Raise these, one per call, from the next calls of `create`."""
        self._failures.extend(failures)

    def _environment(self, blueprint: Blueprint | None) -> dict[str, str]:
        env = dict(blueprint.env) if blueprint else {}
        if blueprint and blueprint.layer and self._layer_path:
            env["PYTHONPATH"] = str(self._layer_path(blueprint.layer))
        return env


class FakeSandbox:
    """Implements `SandboxPort` over a temporary directory."""

    def __init__(
        self,
        sandbox_id: str,
        spec: SandboxSpec,
        *,
        env: Mapping[str, str],
        forget: Callable[[str, None], object],
        blueprint_digest: str = "",
    ) -> None:
        self.id = sandbox_id
        self.origin = SandboxOrigin(blueprint_digest=blueprint_digest, profile=spec.profile)
        self.enforcement: Mapping[str, str] = {"isolation": "none: FakeRuntime is for tests"}
        self.spec = spec
        self.network = spec.policy
        self.files = FakeFiles(Path(tempfile.mkdtemp(prefix="harena-fake-")))
        self._env = {
            "PATH": f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin",
            "HOME": str(self.files.root / "root"),
            "TMPDIR": str(self.files.root / "tmp"),
            "LANG": "C.UTF-8",
            "PYTHONHASHSEED": "0",
            **env,
            **spec.env,
        }
        self._forget = forget
        self._mark = f"{fake_mark()}/{sandbox_id}"
        self._execs: set[FakeExec] = set()
        self._exec_count = 0
        self._death: Death | None = None
        self._dead: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def exec(self, request: ExecRequest) -> FakeExec:
        """Start a child process of this process."""
        self._check_running()
        if not request.argv:
            raise SandboxValidationError("argv is empty: give the program to run as its first word")
        self._exec_count += 1
        limit = self.spec.limits.output_bytes if request.output_bytes is None else request.output_bytes
        running = FakeExec(f"{self._mark}/{self._exec_count}", request, limit, self._execs.discard)
        self._execs.add(running)
        cwd = self.files.host_path(request.cwd or self.spec.cwd or "/workspace")
        running.start(self._argv(request.argv), {**self._env, **request.env}, cwd)
        return running

    async def read_file(self, path: str, *, max_bytes: int) -> bytes:
        """The whole file."""
        self._check_running()
        return self.files.read(path, max_bytes)

    async def read_stream(
        self, path: str, *, chunk_bytes: int = 1024 * 1024, max_bytes: int | None = None
    ) -> AsyncIterator[bytes]:
        """The file in pieces."""
        self._check_running()
        if max_bytes is not None:
            self.files.check_size(path, max_bytes)
        for chunk in self.files.chunks(path, chunk_bytes):
            yield chunk

    async def write_file(
        self, path: str, source: bytes | AsyncIterable[bytes], *, append: bool = False, mode: int | None = None
    ) -> None:
        """Create, replace or append to a file."""
        self._check_running()
        with self.files.writer(path, append=append, mode=mode) as write:
            if isinstance(source, bytes):
                write(source)
            else:
                async for piece in source:
                    write(piece)

    async def stat(self, path: str) -> FileInfo:
        """About one path."""
        self._check_running()
        return self.files.stat(path)

    async def list_dir(self, path: str) -> list[FileInfo]:
        """A directory's entries, sorted by name."""
        self._check_running()
        return self.files.entries(path)

    async def make_dir(self, path: str, *, parents: bool = True) -> None:
        """Create a directory."""
        self._check_running()
        self.files.make_dir(path, parents=parents)

    async def remove(self, path: str, *, recursive: bool = False, missing_ok: bool = False) -> None:
        """Remove a file, a directory or a tree."""
        self._check_running()
        self.files.remove(path, recursive=recursive, missing_ok=missing_ok)

    async def extract_archive(self, path: str, source: AsyncIterable[bytes]) -> None:
        """Unpack a tar stream, gathered in memory."""
        self._check_running()
        self.files.unpack(path, b"".join([piece async for piece in source]))

    async def create_archive(self, path: str) -> AsyncGenerator[bytes, None]:
        """A tar stream, made in memory."""
        self._check_running()
        yield self.files.pack(path)

    async def processes(self) -> list[ProcessInfo]:
        """The living descendants of this sandbox's execs; process ids are the host's."""
        self._check_running()
        return [about for pid in marked(self._mark) if (about := describe(pid)) is not None]

    async def signal(self, pid: int, signum: int) -> None:
        """Send a signal to one of them."""
        self._check_running()
        if pid <= 1 or pid not in marked(self._mark) or not signal_process(pid, signum):
            raise SandboxValidationError(f"no process {pid} in sandbox {self.id}: `processes()` lists those there are")

    async def processor_time(self) -> ProcessorTime:
        """Processor time of the processes that run now; that of ended ones is not known."""
        return ProcessorTime(used_seconds=sum(used_seconds(pid) for pid in marked(self._mark)))

    async def usage(self) -> SandboxUsage:
        """Processor time of what runs; memory is not measured."""
        self._check_running()
        return SandboxUsage(processor_seconds=(await self.processor_time()).used_seconds, memory_bytes=0)

    async def set_network(self, policy: NetworkPolicy) -> None:
        """Note it: programs here have the test's network."""
        self._check_running()
        self._check_network()
        self.network = policy

    async def network_log(self, *, after: int = 0, limit: int = 100) -> NetworkLog:
        """Nothing is seen here."""
        self._check_running()
        self._check_network()
        return NetworkLog(
            policy=self.network.to_json(), entries=[], next_after=after, sent_bytes=0, received_bytes=0,
            connections=0, refused=0,
        )  # fmt: skip

    def _check_network(self) -> None:
        if not self.spec.policy.is_on:
            raise SandboxValidationError(f"sandbox {self.id} was made without a network: make it with network=...")

    async def gateway_log(self, *, after: int = 0, limit: int = 100) -> GatewayLog:
        """Refused: it has none."""
        self._check_running()
        raise SandboxValidationError(f"sandbox {self.id} was made without gateways")

    async def destroy(self, *, grace_seconds: float = 0.0) -> None:
        """End every process and remove the directory."""
        if self._death is None:
            self._death = Death(by_request=True)
            if grace_seconds > 0:
                await self._end_gracefully(grace_seconds)
            await self._end(SandboxTerminatedError(f"sandbox {self.id} was stopped"))
        await asyncio.shield(self._dead)

    async def wait_dead(self) -> Death:
        """Returns when the sandbox has ended."""
        await asyncio.shield(self._dead)
        assert self._death is not None
        return self._death

    async def die(self, detail: str = "lost", *, memory: bool = False) -> None:
        """End as a sandbox does that is lost: not by request. For tests."""
        if self._death is None:
            self._death = Death(by_request=False, memory=memory, detail=detail)
            await self._end(SandboxUnavailableError(f"sandbox {self.id} was lost: {detail}"))

    async def _end(self, failure: HarenaError) -> None:
        execs = list(self._execs)
        for running in execs:
            running.fail(failure)
        for running in execs:
            await running.wait_ended()
        kill_marked(self._mark)
        shutil.rmtree(self.files.root, ignore_errors=True)
        self._forget(self.id, None)
        self._dead.set_result(None)

    async def _end_gracefully(self, seconds: float) -> None:
        for pid in marked(self._mark):
            signal_process(pid, 15)
        loop = asyncio.get_running_loop()
        deadline = loop.time() + seconds
        # there is no event to wait for: most of these processes are not children of ours
        while marked(self._mark) and loop.time() < deadline:  # noqa: ASYNC110
            await asyncio.sleep(0.005)

    def _argv(self, argv: tuple[str, ...]) -> list[str]:
        program = self.files.rewrite(argv[0])
        if Path(program).name in _PYTHON_NAMES and program.rpartition("/")[0] in _PYTHON_FOLDERS:
            program = sys.executable
        return [program, *(self.files.rewrite(word) for word in argv[1:])]

    def _check_running(self) -> None:
        if self._death is None:
            return
        if self._death.by_request:
            raise SandboxTerminatedError(f"sandbox {self.id} was stopped: create a new one")
        raise SandboxNotRunningError(f"sandbox {self.id} has ended ({self._death.detail}): create a new one")
