"""The ports: what one room asks of another without knowing it.

`SandboxPort` and `RunningExec` are what a runtime gives; `Operations` is what a node gives and a transport carries.
Everything here is called from one event loop and is not thread-safe; the sdk's facade makes it so for users.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from harena.core.catalog import CatalogKind
from harena.core.idempotency import IdempotencyKey
from harena.core.models import (
    Blueprint,
    BlueprintSummary,
    ExecRequest,
    ExecResult,
    FileInfo,
    ProcessInfo,
    SandboxInfo,
    SandboxSpec,
    SandboxStatus,
)
from harena.core.output import OutputBuffer
from harena.core.registry import RegistryOperations
from harena.core.training_ports import TrainingOperations
from harena.core.workspace import DEFAULT_WORKSPACE

if TYPE_CHECKING:
    from harena.core.records.benchmark_jobs import (
        BenchmarkEvent,
        BenchmarkJob,
        BenchmarkJobsPage,
        BenchmarkResults,
        JobSummary,
        ResultsPage,
    )
    from harena.core.records.catalog import Archived, CalibrationJob, CatalogEntry, CatalogPage
    from harena.core.results import RunResult


class RunningExec(Protocol):
    """A command that was started."""

    stdout: OutputBuffer
    stderr: OutputBuffer

    async def wait(self) -> ExecResult:
        """The result. Raises SandboxTerminatedError if the sandbox was stopped meanwhile, PlatformError if it was
        lost; never raises for what the program did. May be awaited more than once and by several tasks."""

    def kill(self) -> None:
        """Kill the whole process tree of this exec; `wait` then gives outcome CANCELLED. No effect after its end."""

    async def write_stdin(self, data: bytes) -> None:
        """Write all of `data`, waiting while the pipe is full. SandboxExecutionError if nobody reads it."""

    def close_stdin(self) -> None:
        """End of input. May be called more than once."""

    def resize(self, columns: int, rows: int) -> None:
        """Change the size of the pseudo-terminal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Death:
    """Why a sandbox ended."""

    by_request: bool
    memory: bool = False
    """the memory limit killed it"""
    detail: str = ""


class FileWatch(Protocol):
    """Files and folders of a sandbox that are watched from outside."""

    async def touched(self) -> Mapping[str, frozenset[str]]:
        """Watched paths that were opened for writing since (`written`), or moved or removed (`replaced`)."""

    def close(self) -> None:
        """End it."""


@runtime_checkable
class WatchesFiles(Protocol):
    """A sandbox that can tell who was touched, be it that no time of a file says so. Not all can."""

    async def watch_files(self, paths: Sequence[str], folders: Sequence[str] = ()) -> FileWatch:
        """Begin it, for those of them that exist."""


class SandboxPort(Protocol):
    """One running sandbox."""

    id: str
    enforcement: Mapping[str, str]

    async def exec(self, request: ExecRequest) -> RunningExec:
        """Start a command. A command that cannot be executed ends with returncode 127 (not found) or 126 and a
        message on stderr, as in a shell; a missing `cwd` likewise."""

    async def read_file(self, path: str, *, max_bytes: int | None = None) -> bytes:
        """The whole file. Raises SandboxFileError."""

    def read_stream(
        self, path: str, *, chunk_bytes: int = 1024 * 1024, max_bytes: int | None = None
    ) -> AsyncIterator[bytes]:
        """The file in pieces; one that is, or says that it is, larger than `max_bytes` is refused. Raises
        SandboxFileError."""

    async def write_file(
        self, path: str, source: bytes | AsyncIterable[bytes], *, append: bool = False, mode: int | None = None
    ) -> None:
        """Create or replace (or append to) a file, creating missing parents. Raises SandboxFileError."""

    async def stat(self, path: str) -> FileInfo:
        """About one path. Raises SandboxFileError(reason=NOT_FOUND)."""

    async def list_dir(self, path: str) -> list[FileInfo]:
        """A directory's entries, sorted by name."""

    async def make_dir(self, path: str, *, parents: bool = True) -> None:
        """Create a directory; with `parents` like `mkdir -p` (an existing directory is fine)."""

    async def remove(self, path: str, *, recursive: bool = False, missing_ok: bool = False) -> None:
        """Remove a file, a link or an empty directory; with `recursive` a whole tree."""

    async def extract_archive(self, path: str, source: AsyncIterable[bytes]) -> None:
        """Unpack a tar stream into directory `path`, inside the sandbox."""

    def create_archive(self, path: str) -> AsyncGenerator[bytes, None]:
        """A tar stream of the regular files and directories below `path`, a directory or a link to one.

        Symbolic links are left out, and what the sandbox's programs may not read; a file of two names comes under
        both. Of the root directory and its own subdirectories only what is the sandbox's own is packed: not what is
        mounted there from the image, such as /usr, nor the kernel's /proc. A path inside the image is packed whole.

        Raises SandboxFileError: before the first piece, or later, when what has come is no whole archive. Closing it
        (see `contextlib.aclosing`) or cancelling whoever waits for it ends the packing.
        """

    async def processes(self) -> list[ProcessInfo]:
        """The processes inside, the sandbox's own init left out."""

    async def signal(self, pid: int, signum: int) -> None:
        """Send a signal to a process inside. Raises SandboxValidationError for pid <= 1 or when there is none."""

    async def processor_time(self) -> tuple[float, float]:
        """(longest time that one thread inside waited for a processor, processor time of all that has run in here so
        far), in seconds, measured from outside; zeros where that cannot be known."""

    async def destroy(self, *, grace_seconds: float = 0.0) -> None:
        """End it. With grace: SIGTERM to every process first, and SIGKILL when all have ended or time is over.
        Returns when nothing of it runs any more. May be called more than once."""

    async def wait_dead(self) -> Death:
        """Returns when the sandbox has ended, for whatever reason."""


class Runtime(Protocol):
    """Sandboxes on one machine."""

    async def start(self) -> None:
        """Get ready. Raises HostUnsupportedError."""

    async def create(
        self, spec: SandboxSpec, blueprint: Blueprint | None = None, *, workspace: str = DEFAULT_WORKSPACE
    ) -> SandboxPort:
        """A fresh sandbox, from the pool where one waits. Nothing that has run code of one workspace makes or becomes
        another one's. Raises NotFoundError for an unknown image."""

    def forget_blueprint(self, blueprint_id: str, *, workspace: str = DEFAULT_WORKSPACE) -> None:
        """Keep nothing ready for a blueprint that was deleted. Its sandboxes that somebody has live on."""

    async def close(self) -> None:
        """End every sandbox and the runtime itself. May be called more than once."""


class SandboxHandle(Protocol):
    """A sandbox as a node knows it: its record, and its port while it runs."""

    @property
    def info(self) -> SandboxInfo:
        """What was last known, without asking."""

    @property
    def port(self) -> SandboxPort:
        """The running sandbox. Raises SandboxNotRunningError / SandboxTerminatedError."""

    async def refresh(self) -> SandboxInfo:
        """Ask the node."""

    async def wait_terminal(self) -> SandboxInfo:
        """Returns when the sandbox has ended."""

    async def stop(self, *, grace_seconds: float = 0.0) -> None:
        """End it and wait for its end. May be called more than once; concurrent calls share one end."""

    async def extend_lifetime(self, seconds: float) -> SandboxInfo:
        """The sandbox now ends `seconds` from now at the earliest."""


class Operations(RegistryOperations, TrainingOperations, Protocol):
    """What a node can do, and what a transport carries. One path for embedded and server."""

    async def create_sandbox(self, spec: SandboxSpec) -> SandboxHandle:
        """Create and start. Returns when it runs. Raises SandboxFailedError, NotFoundError, HostUnsupportedError."""

    async def get_sandbox(self, sandbox_id: str) -> SandboxHandle:
        """Raises SandboxNotFoundError. Ended sandboxes are remembered for a while."""

    async def list_sandboxes(
        self,
        *,
        tags: Sequence[str] = (),
        statuses: Sequence[SandboxStatus] = (),
        include_terminal: bool = False,
    ) -> list[SandboxHandle]:
        """Sandboxes that carry all `tags` and have one of `statuses` (none given: all). Ended ones only on request."""

    async def create_blueprint(
        self,
        name: str,
        *,
        image: str = "default",
        packages: Sequence[str] = (),
        files: Mapping[str, bytes] | None = None,
        env: Mapping[str, str] | None = None,
        warm: Sequence[str] | None = None,
    ) -> Blueprint:
        """Resolve, download and install the packages (wheels only) and record the recipe under `name`."""

    async def get_blueprint(self, name_or_id: str) -> Blueprint:
        """Raises NotFoundError."""

    async def delete_blueprint(self, name_or_id: str) -> None:
        """Forget every version of a name, or the one with this id. Raises NotFoundError, ValidationError (built in)."""

    async def list_blueprints(self) -> list[BlueprintSummary]:
        """All, newest first, without the contents of their files and their environments."""

    async def score(self, request: Mapping[str, Any]) -> RunResult:
        """Score one scenario now, without a job; `request` as in `harena.jobs.models.ScoreRequest`, the answer a
        `RunResult` as a dict. Raises ValidationError, NotFoundError."""

    async def create_benchmark_job(
        self, request: Mapping[str, Any], *, key: IdempotencyKey | None = None
    ) -> BenchmarkJob:
        """Check everything, then start a benchmark job; `request` as documented in `harena.jobs.models`. The
        same `key` gives the same job, also after a crash, until the job is deleted."""

    async def get_benchmark_job(self, job_id_or_name: str) -> BenchmarkJob:
        """The job's state and progress. Raises NotFoundError."""

    async def list_benchmark_jobs(
        self, *, name: str | None = None, before: int | None = None, limit: int = 100
    ) -> BenchmarkJobsPage:
        """{benchmark_jobs, next_cursor}: up to `limit` (1 to 500) jobs, of this name where one is given, newest first;
        `next_cursor` as `before` asks for what follows, None = nothing does."""

    async def wait_benchmark_job(self, job_id_or_name: str) -> BenchmarkResults:
        """Returns the results when the job has ended."""

    async def benchmark_job_results(self, job_id_or_name: str) -> BenchmarkResults:
        """The results so far."""

    async def benchmark_job_results_page(
        self, job_id_or_name: str, *, after: int = 0, limit: int = 1000
    ) -> ResultsPage:
        """{job_id, state, runs, cursor}: results in the order in which runs ended, from the first after `after`."""

    async def benchmark_job_summary(self, job_id_or_name: str) -> JobSummary:
        """{job_id, name, state, error, summary}: the results so far without the runs themselves."""

    async def delete_benchmark_job(self, job_id_or_name: str) -> None:
        """Delete a job that has ended, with its results. Raises NotFoundError, ValidationError (it runs)."""

    async def cancel_benchmark_job(self, job_id_or_name: str) -> BenchmarkJob:
        """Stop its running sandboxes and end it."""

    def benchmark_job_events(self, job_id_or_name: str, *, after: int = 0) -> AsyncIterator[BenchmarkEvent]:
        """Progress events with a growing `cursor`, from the first after `after` to the job's end."""

    async def create_catalog_entry(self, kind: CatalogKind, request: Mapping[str, Any]) -> CatalogEntry:
        """Check everything, then keep scenarios, a scoring contract or a definition as a version of a name; `request`
        and answer as documented in `harena.node.catalog`, here and below."""

    async def get_catalog_entry(self, kind: CatalogKind, reference: str, *, content: bool = False) -> CatalogEntry:
        """A version, by NAME@2 or NAME (the newest that is not archived). Raises NotFoundError."""

    async def list_catalog_entries(
        self,
        kind: CatalogKind,
        *,
        name: str | None = None,
        prefix: str = "",
        metadata: Mapping[str, str] | None = None,
        archived: bool = False,
        cursor: int | None = None,
        limit: int = 100,
    ) -> CatalogPage:
        """One page, {entries, cursor}, newest first."""

    async def archive_catalog_entry(self, kind: CatalogKind, reference: str) -> Archived:
        """Hide a version, or every version of a name: {name, archived}. Raises NotFoundError."""

    async def delete_catalog_entry(self, kind: CatalogKind, reference: str) -> None:
        """Delete the version NAME@2. Raises NotFoundError, and ValidationError with the reason IN_USE where benchmark
        jobs that have not ended refer to it."""

    async def create_calibration(
        self, request: Mapping[str, Any], *, key: IdempotencyKey | None = None
    ) -> CalibrationJob:
        """Check everything, then start a calibration, which is a benchmark job of the same id, or find the one that was
        started with this key before; `request` and answer as documented in `harena.node.calibrations`."""

    async def get_calibration(self, calibration_id: str) -> CalibrationJob:
        """How far it is, with its report once it has ended. Raises NotFoundError."""

    async def wait_calibration(self, calibration_id: str) -> CalibrationJob:
        """Returns the calibration when it has ended."""

    async def close(self) -> None:
        """End everything that this node owns."""


class WholeNode(Operations, Protocol):
    """A node that several workspaces share; its own operations are the default workspace's."""

    def in_workspace(self, workspace: str) -> Operations:
        """The node as one workspace has it: other workspaces' jobs, definitions, scenarios and blueprints do not exist.
        Its `close` ends nothing. Raises ValidationError for what is no workspace's name."""

    def pending_sandboxes(self, workspace: str) -> Sequence[SandboxHandle]:
        """Sandboxes that are being created for a workspace; their callers do not have their ids yet."""


class SandboxSource(Protocol):
    """Fresh sandboxes, one after the other or many at once; what scoring and jobs are given."""

    def sandbox(self, spec: SandboxSpec) -> AbstractAsyncContextManager[SandboxPort]:
        """`async with source.sandbox(spec) as sandbox:` - destroyed at the end, whatever happens: gone when a block is
        left that fails or is cancelled, about to go when one is that came to its end."""
