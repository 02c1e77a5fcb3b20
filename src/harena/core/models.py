"""The nouns of the execution plane: frozen values that every room passes on without copying them into another shape."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from harena.core.checked import (
    LEAST_CORES,
    MOST_BYTES,
    MOST_CORES,
    MOST_PIDS,
    check_absolute,
    check_environment,
    check_size,
    check_user,
    check_words,
    checked_count,
    checked_seconds,
    checked_timeout,
    shown,
)
from harena.core.errors import SandboxValidationError
from harena.core.network_policy import NO_NETWORK, NetworkPolicy
from harena.core.profiles import Profile
from harena.core.records.record import Record

if TYPE_CHECKING:
    from harena.core.daemons import Daemon
    from harena.core.gateways import Gateway

MIB = 1024 * 1024

DEFAULT_BLUEPRINT = "default"
"""name of the bare image with the host's own interpreter; exists without being created"""
WARM_BLUEPRINT = "python-warm"
"""name of the blueprint whose interpreter is kept warm; exists without being created"""
_MOST_ON_A_PAGE = 1000
_MOST_WORDS = 100_000
"""entries of lists that users or their packages fill, as the OpenAPI document says"""


class SandboxStatus(StrEnum):
    """Where a sandbox is in its life."""

    PENDING = "pending"
    CREATING = "creating"
    PREPARING = "preparing"
    """no sandbox of harena has it: programs that were written for cwsandbox name it (see `harena.aliases`)"""
    RUNNING = "running"
    PAUSED = "paused"
    """no sandbox of harena has it, as with PREPARING"""
    TERMINATING = "terminating"
    COMPLETED = "completed"
    """stopped because somebody asked"""
    FAILED = "failed"
    """could not start, or ended by itself"""
    TERMINATED = "terminated"
    """ended by its lifetime limit"""
    UNSPECIFIED = "unspecified"
    """a status that a later server has told, and this client does not know"""

    @property
    def is_terminal(self) -> bool:
        """No transition leaves this status."""
        return self in _TERMINAL


_TERMINAL = frozenset({SandboxStatus.COMPLETED, SandboxStatus.FAILED, SandboxStatus.TERMINATED})


@dataclass(frozen=True, slots=True)
class _Range:
    """Whole numbers that a limit may be."""

    least: int
    most: int
    why: str
    may_be_none: bool = False


_WHOLE = {
    "memory_bytes": _Range(8 * MIB, MOST_BYTES, "bytes; a sandbox needs 8 MiB to start", may_be_none=True),
    "pids": _Range(4, MOST_PIDS, "processes and threads; a sandbox needs 4", may_be_none=True),
    "disk_bytes": _Range(MIB, MOST_BYTES, "bytes, at least 1 MiB"),
    "inodes": _Range(100, 1 << 40, "files, directories and links"),
    "output_bytes": _Range(0, MOST_BYTES, "bytes; 0 keeps nothing"),
    "open_files": _Range(64, 1_048_576, "descriptors per process"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits(Record):
    """What one sandbox may use. None = no limit of that kind. Raises SandboxValidationError for other types and for
    numbers that no sandbox can have."""

    memory_bytes: int | None = 512 * MIB
    """all processes of the sandbox, its files (they live in memory) and its commands' standard inputs together"""
    pids: int | None = 256
    """processes and threads at one time"""
    cpu: float | None = None
    """cores; 0.5 = half of one core"""
    disk_bytes: int = 512 * MIB
    """bytes that can be written to the sandbox's writable directories"""
    inodes: int = 200_000
    """files, directories and links in the writable directories"""
    output_bytes: int = 64 * MIB
    """kept per stream and exec; the rest is read, dropped and reported as truncated"""
    open_files: int = 1024
    """descriptors per process"""
    lifetime_seconds: float | None = 24 * 3600.0
    """wall time after which the sandbox is ended"""

    def __post_init__(self) -> None:
        for name, allowed in _WHOLE.items():
            value = getattr(self, name)
            if value is None and allowed.may_be_none:
                continue
            if type(value) is not int or not allowed.least <= value <= allowed.most:
                none = ", or None" if allowed.may_be_none else ""
                raise SandboxValidationError(
                    f"limits: {name} must be a whole number from {allowed.least} to {allowed.most}{none} "
                    f"({allowed.why}); got {shown(value)}"
                )
        if self.cpu is not None and (
            isinstance(self.cpu, bool)
            or not isinstance(self.cpu, int | float)
            or not math.isfinite(self.cpu)
            or not LEAST_CORES < self.cpu <= MOST_CORES
        ):
            raise SandboxValidationError(
                f"limits: cpu must be a number of cores above {LEAST_CORES} and up to {MOST_CORES}, or None "
                f"(no limit); got {shown(self.cpu)}"
            )
        if self.lifetime_seconds is not None:
            checked_seconds(self.lifetime_seconds, "limits: lifetime_seconds")


NO_LIMITS_SAID = Limits()
"""what a sandbox has where nobody says anything"""


LIMIT_NAMES = frozenset(each.name for each in fields(Limits))


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxSpec:
    """What a sandbox shall be. `image` and `blueprint` are names; the node resolves them.

    The image "default" is the host's /usr with the interpreter that runs harena; "python:3.11" names the same where
    the version matches. Any other is an OCI image, which is pulled where it is not here.
    """

    image: str = "default"
    blueprint: str | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: str | None = None
    """default working directory of execs; None = the image's (`/workspace`)"""
    tags: tuple[str, ...] = ()
    annotations: Mapping[str, str] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)
    files: Mapping[str, bytes] = field(default_factory=dict)
    """path -> content, written before the sandbox is handed out"""
    profile: Profile = "strict"
    """what programs may do inside: `machine`, for a sandbox of an image, has what installing packages takes"""
    user: str | None = None
    """in an image: whom programs run as where an exec names nobody, see `ExecRequest.user`; None = the image's USER"""
    hides_processes: bool = False
    """programs see of each other's processes, and of their command lines, only those that they may trace. Of a guarded
    command's (see `ExecRequest`) they see none"""
    network: NetworkPolicy | None = None
    """what it may reach; None = as its blueprint says, and nothing without one"""
    gateways: tuple[Gateway, ...] | None = None
    """upstreams to which secrets of the workspace are sent in place of its tokens; None = as its blueprint says"""

    @property
    def policy(self) -> NetworkPolicy:
        """What it may reach, where nobody else has a say in it."""
        return NO_NETWORK if self.network is None else self.network


DEFAULT_ORIGIN_IMAGE = f"python:{sys.version_info.major}.{sys.version_info.minor}.{sys.version_info.micro}"
"""what stands for the digest of the default image, which is the node's own interpreter"""


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxOrigin:
    """What one sandbox was made of. Two with the same origin begin with the same content."""

    image_digest: str = DEFAULT_ORIGIN_IMAGE
    """`sha256:...` of the image or snapshot; for the default image the name of its interpreter, as `python:3.11.2`"""
    blueprint_digest: str = ""
    """`Blueprint.digest`; empty = no blueprint"""
    profile: Profile = "strict"
    """what programs may do inside"""


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxInfo(Record):
    """What is known of a sandbox at one moment."""

    MOST_ITEMS: ClassVar[Mapping[str, int]] = {"tags": _MOST_WORDS}

    id: str
    """names the sandbox on its server"""
    status: SandboxStatus
    """where it is in its life"""
    image: str
    """name of its image"""
    blueprint: str | None
    """name or id of its blueprint; null = it has none"""
    tags: tuple[str, ...]
    """the user's own words, by which lists are narrowed"""
    annotations: Mapping[str, str]
    """the user's own notes"""
    limits: Limits
    """what it may use"""
    enforcement: Mapping[str, str]
    """limit name -> how this host enforces it ("cgroup v1", "rlimit per process", "not enforced: ..."); with an image's
    layers also `users` -> how many users it has"""
    created_at: datetime
    """when it was asked for"""
    profile: Profile = "strict"
    """what programs may do inside"""
    image_digest: str = ""
    """`sha256:...` of what its image was when it was made, or the interpreter of the default one, as `python:3.11.2`;
    empty = it was not made, or its server does not tell"""
    blueprint_digest: str = ""
    """digest of its blueprint; empty = it has none, or its server does not tell"""
    started_at: datetime | None = None
    """when programs could run in it; null = they never could"""
    stopped_at: datetime | None = None
    """when nothing of it ran any more; null = it has not ended"""
    expires_at: datetime | None = None
    """when it is ended by its lifetime limit; null = never"""
    status_reason: str | None = None
    """why it failed or ended, for people; null = nothing is to be said"""

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Self:
        """Build the record from an answer. A status of a later version is read as UNSPECIFIED."""
        info = super(SandboxInfo, cls).from_dict(given)
        return info if isinstance(info.status, SandboxStatus) else replace(info, status=SandboxStatus.UNSPECIFIED)


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxesPage(Record):
    """One page of sandboxes, the oldest first."""

    MOST_ITEMS: ClassVar[Mapping[str, int]] = {"sandboxes": _MOST_ON_A_PAGE}

    sandboxes: list[SandboxInfo]
    """up to as many as were asked for"""
    next_cursor: str | None
    """asks for what follows; null = this was the last page"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecRequest:
    """One command. `argv` is executed as it is, without a shell. Raises SandboxValidationError for what no sandbox
    can start, and for times and sizes that are none."""

    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    """added to the sandbox's own environment"""
    cwd: str | None = None
    user: str | None = None
    """whom it runs as in a sandbox of an image: `user` or `user:group`, numbers or names of the sandbox's /etc/passwd
    and /etc/group; None = as the image says (USER), else root"""
    timeout_seconds: float | None = None
    """wall time; then the whole process tree of this exec is killed"""
    stdin: bytes | None = None
    """given at once, as a file that can be read only, or with `stdin_stream` as a pipe that ends after it; without
    either it is /dev/null"""
    stdin_stream: bool = False
    """the caller will write to standard input and close it"""
    output_bytes: int | None = None
    """per stream; None = the sandbox's limit"""
    cpu_seconds: float | None = None
    """CPU time per process (RLIMIT_CPU, rounded up to whole seconds)"""
    open_files: int | None = None
    """descriptors per process, for a program of harena's own that lowers it for what it runs; None = the sandbox's
    limit"""
    terminal: tuple[int, int] | None = None
    """(columns, rows): run on a pseudo-terminal, stdout and stderr merged; without `stdin`"""
    warm: bool | None = None
    """None = as the blueprint says; False = always a real start"""
    guarded: bool = False
    """python, sh and bash are started so that no other process in the sandbox can trace them or open their memory:
    for a trusted command that starts a candidate's programs"""

    def __post_init__(self) -> None:
        check_words(self.argv)
        check_environment(self.env, "env")
        check_absolute(self.cwd, "cwd")
        check_user(self.user)
        checked_timeout(self.timeout_seconds)
        checked_timeout(self.cpu_seconds, "cpu_seconds")
        if self.output_bytes is not None:
            checked_count(self.output_bytes, "output_bytes", least=0)
        if self.terminal is not None:
            check_size(*self.terminal)
            if self.stdin is not None:
                raise SandboxValidationError(
                    "stdin and terminal: a terminal takes what is typed, not a given input; leave stdin out, and write "
                    "to the command (stdin_stream) once it runs"
                )
        if self.warm is not None and not isinstance(self.warm, bool):
            raise SandboxValidationError(
                f"warm must be True, False or None: as the blueprint says (got {shown(self.warm)})"
            )


class ExecOutcome(StrEnum):
    """How an exec ended. All of these are data about the program."""

    EXITED = "exited"
    SIGNALED = "signaled"
    TIMEOUT = "timeout"
    CANCELLED = "cancelled"
    MEMORY = "memory"
    """killed because the sandbox reached its memory limit"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceUsage(Record):
    """Resources used by the exec's main process and the children that it waited for; for a killed exec, by its whole
    tree."""

    user_seconds: float = 0.0
    """processor time in programs"""
    system_seconds: float = 0.0
    """processor time in the kernel"""
    peak_memory_bytes: int = 0
    """the most memory that one process has held"""

    @property
    def cpu_seconds(self) -> float:
        """User and system time together."""
        return self.user_seconds + self.system_seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecResult:
    """What a command did. `returncode` is its exit code, or minus the signal that ended it."""

    outcome: ExecOutcome
    returncode: int
    stdout: bytes
    stderr: bytes
    stdout_truncated: bool = False
    stderr_truncated: bool = False
    duration_seconds: float = 0.0
    usage: ResourceUsage = field(default_factory=ResourceUsage)
    run_delay_seconds: float = 0.0
    """time that the exec was runnable and got no processor, measured outside the sandbox (0 = unknown), and time for
    which the node was stopped and perhaps the machine with it"""
    warm: bool = False
    """the program was forked from a warm interpreter"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecReport(Record):
    """How a command ended, as the last frame of its output says: the output has travelled before it."""

    outcome: ExecOutcome
    """what ended it"""
    returncode: int
    """its exit code, or minus the signal that ended it"""
    stdout_bytes: int
    """bytes of its standard output that were sent"""
    stderr_bytes: int
    """bytes of its standard error that were sent"""
    stdout_truncated: bool
    """it has written more than was kept"""
    stderr_truncated: bool
    """it has written more than was kept"""
    duration_seconds: float
    """wall time from its start to its end"""
    usage: ResourceUsage
    """what it used"""
    run_delay_seconds: float
    """time for which it waited for a processor; 0 = unknown"""
    warm: bool
    """the program was forked from a warm interpreter"""

    @classmethod
    def of(cls, result: ExecResult) -> Self:
        """Build the report of a result."""
        return cls(
            outcome=result.outcome,
            returncode=result.returncode,
            stdout_bytes=len(result.stdout),
            stderr_bytes=len(result.stderr),
            stdout_truncated=result.stdout_truncated,
            stderr_truncated=result.stderr_truncated,
            duration_seconds=result.duration_seconds,
            usage=result.usage,
            run_delay_seconds=result.run_delay_seconds,
            warm=result.warm,
        )

    def result(self, *, stdout: bytes, stderr: bytes) -> ExecResult:
        """Build the result with the output that has arrived. Raises ValueError if that is not as long as was sent, or
        the outcome is none that this version knows."""
        for name, told, content in (("stdout", self.stdout_bytes, stdout), ("stderr", self.stderr_bytes, stderr)):
            if told != len(content):
                raise ValueError(f"{name}_bytes is {told}, and {len(content)} bytes have arrived")
        return ExecResult(
            outcome=ExecOutcome(self.outcome),
            returncode=self.returncode,
            stdout=stdout,
            stderr=stderr,
            stdout_truncated=self.stdout_truncated,
            stderr_truncated=self.stderr_truncated,
            duration_seconds=self.duration_seconds,
            usage=self.usage,
            run_delay_seconds=self.run_delay_seconds,
            warm=self.warm,
        )


@dataclass(slots=True)
class ProcessResult:
    """What `Process.result()` gives: decoded output (UTF-8, undecodable bytes replaced) and the bytes themselves."""

    stdout: str
    stderr: str
    returncode: int
    stdout_bytes: bytes = b""
    stderr_bytes: bytes = b""
    command: list[str] = field(default_factory=list)
    stdout_truncated: bool = False
    stderr_truncated: bool = False
    duration_seconds: float = 0.0
    usage: ResourceUsage = field(default_factory=ResourceUsage)
    outcome: ExecOutcome = ExecOutcome.EXITED
    warm: bool = False


FileKind = Literal["file", "directory", "link", "other"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileInfo(Record):
    """One directory entry, never following a symbolic link. Names that are not UTF-8 keep their bytes as halves of
    surrogate pairs."""

    path: str
    """where it is, from the root"""
    name: str
    """the last part of its path"""
    kind: FileKind
    """what it is; pipes, sockets and devices are `other`"""
    size_bytes: int
    """length of its content"""
    mode: int
    """permission bits"""
    modified_at: float
    """seconds since the epoch"""
    target: str | None = None
    """where a link points; null = it is no link"""


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectoryListing(Record):
    """A directory's entries."""

    entries: list[FileInfo]
    """sorted by name"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessInfo(Record):
    """A process inside a sandbox, as the sandbox itself sees it."""

    pid: int
    """its number inside"""
    parent_pid: int
    """number of the process that has started it, or has taken it over"""
    state: str
    """the kernel's letter: R, S, D, T, Z ..."""
    command: tuple[str, ...]
    """its words"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessListing(Record):
    """The processes inside a sandbox."""

    processes: list[ProcessInfo]
    """in the order of their numbers"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Package(Record):
    """One installed wheel, pinned."""

    name: str
    """its normalised name"""
    version: str
    """its version as the wheel says it"""
    sha256: str
    """hash of the wheel's file"""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownProgram:
    """A text for `python -c` that comes again and again, so that a warm template can do ahead what it begins with.

    `preparation` and `program` are marshalled code for interpreters of one magic number; any other runs the text.
    Together they must do what the text does: nobody compares them.
    """

    text: str
    magic: bytes
    """bytecode version of the interpreter, as in `importlib.util.MAGIC_NUMBER`"""
    namespace: str
    """names the namespace in which `preparation` runs, and is the variable of `__main__` in which `program` finds it"""
    preparation: tuple[bytes, ...]
    """run once, in the template, one after the other; may import only what every interpreter has loaded"""
    program: bytes
    """run in place of the text"""


MOST_RECIPE_CHARACTERS, MOST_LOG_CHARACTERS = 128 * 1024, 64 * 1024
"""what is kept with a blueprint of the file that it was made of, and of what its build has said"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Blueprint:
    """A recipe for sandboxes: packages, files, environment and what to keep warm."""

    id: str
    name: str
    image: str = "default"
    profile: Profile = "strict"
    """what programs may do inside"""
    packages: tuple[Package, ...] = ()
    """every wheel that is installed, dependencies included"""
    requested: tuple[str, ...] = ()
    """the requirements as they were asked for"""
    files: Mapping[str, bytes] = field(default_factory=dict)
    env: Mapping[str, str] = field(default_factory=dict)
    warm: tuple[str, ...] | None = None
    """modules imported once in the template; None = every exec is a real start; () = a bare warm interpreter"""
    layer: str | None = None
    """digest of the layer that holds the packages; None = no packages"""
    created_at: datetime | None = None
    network: NetworkPolicy = NO_NETWORK
    """what its sandboxes may reach, where they do not say that themselves"""
    gateways: tuple[Gateway, ...] = ()
    """gateways of its sandboxes, where they do not say that themselves"""
    daemons: tuple[Daemon, ...] = ()
    """programs that each sandbox starts before any other, in this order"""
    limits: Limits = NO_LIMITS_SAID
    """limits of its sandboxes; one that is as by default says nothing, and a sandbox that asks for another has that"""
    recipe: str = ""
    """what its file said, as JSON; empty = it was made of none"""
    log: str = ""
    """the end of what the build of its image has said; empty = none was built for it"""
    digest: str = ""
    """sha256 over all that decides what its sandboxes are; empty = its server does not tell"""

    @property
    def file_sizes(self) -> dict[str, int]:
        """Path of each file -> its bytes; a node reads no content for it."""
        sizes: Mapping[str, int] | None = getattr(self.files, "sizes", None)
        return {path: len(content) for path, content in self.files.items()} if sizes is None else dict(sizes)

    @property
    def file_bytes(self) -> int:
        """Bytes of all its files together."""
        return sum(self.file_sizes.values())


@dataclass(frozen=True, slots=True)
class BlueprintSummary(Record):
    """What a list tells of a blueprint: neither the contents of its files nor its environment."""

    MOST_ITEMS: ClassVar[Mapping[str, int]] = dict.fromkeys(("packages", "requested", "warm"), _MOST_WORDS)

    id: str
    """names this version"""
    name: str
    """names its newest version"""
    image: str
    """name of the image that its sandboxes have"""
    packages: tuple[Package, ...]
    """every wheel that is installed, dependencies included"""
    requested: tuple[str, ...]
    """the requirements as they were asked for"""
    warm: tuple[str, ...] | None
    """modules imported once in the template; null = every exec is a real start"""
    layer: str | None
    """digest of the layer that holds the packages; null = no packages"""
    created_at: datetime | None
    """when it was made; null = it is built in"""
    files: int
    """number of its files"""
    file_bytes: int
    """bytes of all of them"""
    profile: Profile = "strict"
    """what programs may do inside"""
    digest: str = ""
    """sha256 over all that decides what its sandboxes are; empty = its server does not tell"""


@dataclass(frozen=True, slots=True)
class BlueprintsPage(Record):
    """The newest version of each name, newest first, or the versions of one name."""

    MOST_ITEMS: ClassVar[Mapping[str, int]] = {"blueprints": _MOST_ON_A_PAGE}

    blueprints: Sequence[BlueprintSummary]
    """up to as many as were asked for"""
    next_cursor: str | None
    """what the next page is asked for with; null = this is the last one"""
