"""What is asked of a sandbox, and what its commands and files are: frozen values that all rooms pass on."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Literal, NamedTuple

from harena.core.checked import (
    check_absolute,
    check_environment,
    check_size,
    check_user,
    check_words,
    checked_count,
    checked_timeout,
    quote,
)
from harena.core.errors import SandboxValidationError
from harena.core.network_policy import NO_NETWORK, NetworkPolicy
from harena.core.profiles import Profile
from harena.core.records.record import Record
from harena.core.records.sandboxes import Limits

if TYPE_CHECKING:
    from harena.core.gateways import Gateway

MIB = 1024 * 1024


class ProcessRules(NamedTuple):
    """What programs of a sandbox see of each other: the fields of `SandboxSpec`."""

    hides_processes: bool = False
    own_domains: bool = False


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
    own_domains: bool = False
    """each program that is linked dynamically can look into those processes only that it has started (memory,
    descriptors, environment): in the default image, on x86-64 with Linux 5.19; see `harena.runtime.host.own_domains`"""
    network: NetworkPolicy | None = None
    """what it may reach; None = as its blueprint says, and nothing without one"""
    gateways: tuple[Gateway, ...] | None = None
    """upstreams to which secrets of the workspace are sent in place of its tokens; None = as its blueprint says"""

    @property
    def process_rules(self) -> ProcessRules:
        """What its programs see of each other."""
        return ProcessRules(self.hides_processes, self.own_domains)

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
                f"warm must be True, False or None: as the blueprint says (got {quote(self.warm)})"
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
class ProcessorTime:
    """What the programs of a sandbox have had of the processors so far, measured from outside."""

    waited_seconds: float = 0.0
    """the longest time that one of their threads was ready to run and had no processor"""
    used_seconds: float = 0.0
    """processor time of all that has run in there"""
    is_idle: bool = False
    """Nothing in there wants a processor at the moment: all threads sleep or are stopped. False where that cannot be
    known, and where they may wait for another process of the platform's."""


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
