"""What a runtime gives: sandboxes, what runs in them, and their ends."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from harena.core.models import ExecRequest, ExecResult, FileInfo, ProcessorTime, SandboxOrigin, SandboxSpec
from harena.core.network_policy import NetworkPolicy
from harena.core.output import OutputBuffer
from harena.core.records.blueprints import Blueprint
from harena.core.records.gateways import GatewayLog
from harena.core.records.network import NetworkLog
from harena.core.records.sandboxes import ProcessInfo, SandboxInfo, SandboxUsage
from harena.core.workspace import DEFAULT_WORKSPACE

if TYPE_CHECKING:
    from harena.core.records.sandbox_answers import CommandOutput


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
    lacked_processes: bool = False
    """a program in there was refused a process though its sandbox had not as many as it may have: those that its
    workspace, or all of the node, may have together were used up"""


class FileWatch(Protocol):
    """Files and folders of a sandbox that are watched from outside."""

    async def touched(self) -> Mapping[str, frozenset[str]]:
        """Watched paths that were opened for writing since (`written`), or moved or removed (`replaced`)."""

    def close(self) -> None:
        """End it."""


class ReadWatch(Protocol):
    """Files of a sandbox whose readers and writers are watched from outside."""

    async def unread(self) -> frozenset[str]:
        """Watched paths of which nobody has read anything since somebody could first change them; whose name was
        always there, and at most once given to another file. A path is left out wherever that is not known."""

    def close(self) -> None:
        """End it."""


class UpperLayer(Protocol):
    """What a sandbox has written, which is still there after its end: the upper layer of its root, if it is one of an
    image; of the default image, the folders that can be written to."""

    folder: int
    """descriptor (O_PATH) of the folder that has the layer under the name `upper`, as overlayfs keeps it with
    `userxattr`; the folder belongs to who is root inside; -1 = the sandbox has no such layer, but `places`"""
    places: Mapping[str, int]
    """name of each folder of the root that can be written to, and a descriptor of it; empty where there is a layer"""
    image: str
    """digest of the image or snapshot that the sandbox is one of, with the prefix `sha256:`; "" = of neither"""
    below: list[int]
    """descriptors of such folders with layers that lie below it and above those of the image, the uppermost first"""
    users: int
    """descriptor of the user namespace whose root may read all of it; -1 = the node's root may"""

    async def close(self) -> None:
        """Let go of it. May be called more than once."""


@runtime_checkable
class HasUpperLayer(Protocol):
    """A sandbox that can give what it has written."""

    async def upper_layer(self) -> UpperLayer:
        """The layer itself, which the sandbox's programs go on to change; closed by who has asked. Raises
        SandboxValidationError (its root is the default image), SandboxNotRunningError, SandboxTerminatedError."""

    async def written(self) -> UpperLayer:
        """What `upper_layer` gives; of a sandbox of the default image, the folders that can be written to. Raises
        SandboxFileError (a program has closed one of them, even for its owner), SandboxNotRunningError,
        SandboxTerminatedError."""

    def paused(self) -> AbstractAsyncContextManager[None]:
        """Within the block no program inside runs, also none that another one starts; who enters a second one waits.
        What was stopped before is stopped again then. Entering raises PlatformError (they cannot be stopped),
        SandboxNotRunningError, SandboxTerminatedError."""

    async def check_still(self) -> None:
        """Within that block: no program has run since it was entered. Raises PlatformError: one has, as the kernel lets
        those that have a timer for it."""


@runtime_checkable
class HoldsFiles(Protocol):
    """A sandbox whose files can stay in memory as they are now, for other sandboxes to begin with at once."""

    async def hold_files(self, identity: str, seconds: float) -> int | None:
        """Hold them, under an id of a snapshot that no other one has, for so long, or until `Runtime.forget_held`. How
        many bytes they are; None = this cannot be now (a program runs, or there is no room), and nothing has changed.
        Raises as `HasUpperLayer.upper_layer`."""


@runtime_checkable
class WatchesFiles(Protocol):
    """A sandbox that can tell who was touched, be it that no time of a file says so. Not all can."""

    async def watch_files(self, paths: Sequence[str], folders: Sequence[str] = ()) -> FileWatch:
        """Begin it, for those of them that exist."""

    async def watch_reads(self, paths: Sequence[str], folders: Sequence[str] = ()) -> ReadWatch:
        """Begin it, for those of them that exist; the folders above them are to stay where they are. Who opens one of
        the files for writing waits a moment meanwhile."""


@runtime_checkable
class MovesTrees(Protocol):
    """A sandbox whose folders can be made those of another one. Not all can."""

    def pack_tree(self, path: str) -> AsyncGenerator[bytes, None]:
        """What `SandboxPort.create_archive` gives, symbolic links among it and with the fractions of times. What its
        owner has closed (`chmod 000`) is in it, and stays open."""

    async def replace_tree(self, path: str, source: AsyncIterable[bytes], *, kept: Sequence[str] = ()) -> None:
        """Make folder `path` what such a stream says. Paths below it that are `kept` stay as they are, and what the
        stream has of them is left out; a file that is what the stream says, its time too, is not touched. No link is
        followed below the folder. Raises SandboxFileError."""

    async def adopt_times(self, path: str, source: AsyncIterable[bytes]) -> None:
        """Give the files below folder `path` that are what such a stream says, but for their time, that time. Raises
        SandboxFileError."""


class SandboxPort(Protocol):
    """One running sandbox."""

    id: str
    enforcement: Mapping[str, str]
    origin: SandboxOrigin

    async def exec(self, request: ExecRequest) -> RunningExec:
        """Start a command. A command that cannot be executed ends with returncode 127 (not found) or 126 and a
        message on stderr, as in a shell; a missing `cwd` likewise. One whose standard input is more than what is left
        of the memory limit ends with outcome MEMORY."""

    async def read_file(self, path: str, *, max_bytes: int) -> bytes:
        """The whole file, in memory; one that is, or says that it is, larger than `max_bytes` is refused: a program
        makes a file of any size for nothing. Raises SandboxFileError."""

    def read_stream(
        self, path: str, *, chunk_bytes: int = 1024 * 1024, max_bytes: int | None = None
    ) -> AsyncIterator[bytes]:
        """The file in pieces; one that is, or says that it is, larger than `max_bytes` is refused. Raises
        SandboxFileError."""

    async def write_file(
        self, path: str, source: bytes | AsyncIterable[bytes], *, append: bool = False, mode: int | None = None
    ) -> None:
        """Create or replace (or append to) a file, creating missing parents. Raises SandboxFileError; its reason is
        NO_MEMORY where the file is more than what is left of the memory limit."""

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

    async def processor_time(self) -> ProcessorTime:
        """What its programs have had of the processors so far; zeros where that cannot be known."""

    async def usage(self) -> SandboxUsage:
        """What its programs use now, and have used so far."""

    async def set_network(self, policy: NetworkPolicy) -> None:
        """Have another policy from now on; connections that it does not allow end. Raises SandboxValidationError for a
        sandbox that was made without a network."""

    async def network_log(self, *, after: int = 0, limit: int = 100) -> NetworkLog:
        """What it has reached and what it was refused, behind entry number `after`. Raises SandboxValidationError for
        a sandbox that was made without a network."""

    async def gateway_log(self, *, after: int = 0, limit: int = 100) -> GatewayLog:
        """What was asked of its gateways, behind entry number `after`. Raises SandboxValidationError for a sandbox that
        was made without gateways."""

    async def destroy(self, *, grace_seconds: float = 0.0) -> None:
        """End it. With grace: SIGTERM to every process first, and SIGKILL when all have ended or time is over.
        Returns when nothing of it runs any more. May be called more than once."""

    async def wait_dead(self) -> Death:
        """Returns when the sandbox has ended, for whatever reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxMemory:
    """The memory of all sandboxes of a runtime."""

    most_bytes: int
    """what they may have together"""
    used_bytes: int
    """what they have now"""
    workspace_bytes: int
    """what those of one workspace may have together"""


@runtime_checkable
class LimitsMemoryOfAll(Protocol):
    """A runtime whose sandboxes may have only so much memory together. Not all are."""

    def memory_of_sandboxes(self) -> SandboxMemory | None:
        """What they have and may have now; None = not known. It waits for nothing."""


class Runtime(Protocol):
    """Sandboxes on one machine."""

    @property
    def isolates(self) -> bool:
        """False = programs have the whole machine in reach, as this process's user has."""

    async def start(self) -> None:
        """Get ready. Raises HostUnsupportedError."""

    async def create(
        self, spec: SandboxSpec, blueprint: Blueprint | None = None, *, workspace: str = DEFAULT_WORKSPACE
    ) -> SandboxPort:
        """A fresh sandbox, from the pool where one waits. Nothing that has run code of one workspace makes or becomes
        another one's. Raises NotFoundError for an unknown image."""

    def prepare(self, image: str, blueprint: Blueprint | None, *, workspace: str = DEFAULT_WORKSPACE) -> None:
        """Begin with what takes a while before the first sandbox of an image or blueprint. May raise as `create`
        does."""

    def forget_blueprint(self, blueprint_id: str, *, workspace: str = DEFAULT_WORKSPACE) -> None:
        """Keep nothing ready for a blueprint that was deleted. Its sandboxes that somebody has live on."""

    def forget_image(self, digest: str, *, workspace: str = DEFAULT_WORKSPACE) -> None:
        """Keep nothing ready for an image that was removed. Its sandboxes that somebody has live on."""

    def forget_held(self, identity: str, *, workspace: str = DEFAULT_WORKSPACE) -> bool:
        """Make no more sandboxes with files that are held under this id; whether there were such. Those that somebody
        has live on."""

    async def close(self) -> None:
        """End every sandbox and the runtime itself. May be called more than once."""

    def after_fork_in_child(self) -> None:
        """In a forked child: let go of what belongs to the parent, without ending it."""


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

    async def outputs(self) -> list[CommandOutput]:
        """The ends of what its newest commands printed, also when it has ended, where a server keeps them. Empty in
        the process that has the node itself: each command's result is its caller's."""


class SandboxSource(Protocol):
    """Fresh sandboxes, one after the other or many at once; what scoring and jobs are given."""

    def sandbox(self, spec: SandboxSpec) -> AbstractAsyncContextManager[SandboxPort]:
        """`async with source.sandbox(spec) as sandbox:` - destroyed at the end, whatever happens: gone when a block is
        left that fails or is cancelled, about to go when one is that came to its end."""
