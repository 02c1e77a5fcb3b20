"""Workspaces: what one has (jobs, blueprints, scenarios) does not exist for another; and what each may use."""

from __future__ import annotations

import math
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from harena.core import settings
from harena.core.checked import quote
from harena.core.errors import SandboxValidationError, ValidationError
from harena.core.models import MIB
from harena.core.records.sandboxes import Limits

DEFAULT_WORKSPACE = "default"
"""An embedded node's, and that of a server without keys."""
DEFAULT_ORGANIZATION = "default"
"""the organisation of each workspace that was put into no other one"""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def checked_workspace(name: object) -> str:
    """A workspace's name, which is also a directory's. Raises ValidationError."""
    return checked_word(name, "workspace")


def checked_organization(name: object) -> str:
    """An organisation's name, which is also a directory's. Raises ValidationError."""
    return checked_word(name, "organization")


def checked_word(value: object, field: str) -> str:
    """A name that is plain enough for a path, a URL and a log. Raises ValidationError."""
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        raise ValidationError(
            f"{field} {quote(value)}: use 1 to 64 letters, digits, dots, dashes and underscores, a letter or digit "
            "first"
        )
    return value


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceLimits:
    """What one workspace may use of a server. The defaults are those of a server that is told nothing."""

    requests_per_second: float = 2000.0
    """average rate of requests, for each of its API keys"""
    request_burst: int = 10_000
    """requests that a key may send at once, after it was quiet"""
    request_bytes: int = 1024 * MIB
    """size limit of one request's body, where that is JSON or lines of scenarios; files have no such bound"""
    sandboxes: int = 10_000
    """number of sandboxes that live at one time; sandboxes of jobs are counted by `runs` instead"""
    open_jobs: int = 1000
    """benchmark jobs that have not ended"""
    runs: int | None = None
    """number of runs of benchmark jobs under way at one time; None = as many as the node has slots"""
    open_runs: int = 10_000_000
    """runs of its benchmark jobs that have not ended, all jobs together"""
    job_memory_bytes: int = 4 * 1024 * MIB
    """memory that scenarios of its benchmark jobs that have not ended take in one server, all jobs together"""
    request_memory_bytes: int = 1024 * MIB
    """memory of its requests under way: their bodies, and what these are read into; likewise of answers being sent"""
    request_disk_bytes: int = 4 * 1024 * MIB
    """disk space of lines of scenarios that are arriving; and, as much again, of the task directories of jobs that have
    not ended"""
    objects: int = 100_000
    """versions of models, data sets and so on that it has published"""
    object_bytes: int = 4 * 1024 * 1024 * MIB
    """total size of their files, each with 4096 bytes more; a version is only published where there is room for 4096
    bytes for each of its folders, too. What two versions share counts twice. While versions arrive there must be room
    for the stream of each beside its files"""
    stored_bytes: int = 16 * 1024 * MIB
    """size in the database of its jobs, their results, scenarios, contracts, definitions and all else it has stored"""
    blueprints: int = 10_000
    """versions of blueprints"""
    blueprint_bytes: int = 16 * 1024 * MIB
    """total size of their records, which hold the files that they bring; packages are shared by all workspaces"""
    package_bytes: int = 64 * 1024 * MIB
    """total size of the packages that its blueprints were the first to install; a deleted blueprint leaves them"""
    training_bytes: int = 1024 * 1024 * MIB
    """total size of the files of its training jobs (checkpoints, logs) with which another job is still accepted"""
    leases: int = 10_000
    """number of leases open at one time; each client that has sandboxes needs one"""
    output_bytes: int = 4 * 1024 * MIB
    """total size of outputs of commands under way that the server keeps"""
    sandbox_memory_bytes: int = 64 * 1024 * MIB
    """largest memory limit of one sandbox; the fields below are also maxima for one sandbox. A sandbox that asks for no
    limit gets this one"""
    sandbox_pids: int = 32_768
    """largest number of processes and threads of one sandbox"""
    sandbox_cpu: float = 4096.0
    """largest number of cores of one sandbox; 4096 = no ceiling"""
    sandbox_disk_bytes: int = 64 * 1024 * MIB
    """largest disk limit of one sandbox"""
    sandbox_inodes: int = 10_000_000
    """largest number of files, directories and links of one sandbox"""
    sandbox_output_bytes: int = 256 * MIB
    """size limit of one output stream of one command, kept in the server's memory"""
    sandbox_open_files: int = 1_048_576
    """largest number of open descriptors of one process"""
    sandbox_lifetime_seconds: float = 30 * 24 * 3600.0
    """longest lifetime of one sandbox"""
    machine_profile: int = 0
    """1 = its sandboxes may have the profile `machine`, in which programs can do the whole host more harm; 0 = they may
    not, and its images are built without"""


OwnLimits = Mapping[str, float | int]
"""what was set for one workspace, by the fields of `WorkspaceLimits`; of the others it has what all may use"""
LimitChanges = Mapping[str, float | int | None]
"""limits to set for one workspace; None = what all may use, and those that are not named stay as they are"""

_PREFIX = "sandbox_"
_DEFAULT = Limits()
_NO_CEILING = {"cpu": 4096.0}
"""so many are never reached: no limit is written, because to keep one costs each sandbox some time"""


def within(ceilings: WorkspaceLimits, limits: Limits) -> Limits:
    """What a sandbox gets that asks for these limits: a ceiling where it asks for no limit of that kind, or for the
    default, which may be more. Raises SandboxValidationError for what is over a ceiling otherwise."""
    changes: dict[str, float | int] = {}
    mistakes = []
    for field in fields(Limits):
        asked, most = getattr(limits, field.name), getattr(ceilings, _PREFIX + field.name)
        if asked is None and most == _NO_CEILING.get(field.name):
            continue
        if asked is None or (asked > most and asked == getattr(_DEFAULT, field.name)):
            changes[field.name] = most
        elif asked > most:
            mistakes.append(
                f"limits: {field.name} is {quote(asked)}, and a sandbox may have {most} here ({_PREFIX}{field.name})"
            )
    if mistakes:
        raise SandboxValidationError("\n  ".join(mistakes))
    return replace(limits, **changes) if changes else limits  # type: ignore[arg-type]


NO_MACHINE = (
    "the profile `machine` may not be had in this workspace (machine_profile): leave it out of sandbox and blueprint "
    '(of a task write profile = "strict" into [metadata]), or ask the operator of the server, who allows it to a '
    "workspace by `harena workspaces set NAME machine_profile=1`, or to all by `harena serve --limit machine_profile=1`"
)


def check_profile(ceilings: WorkspaceLimits, profile: str) -> None:
    """Raises SandboxValidationError, with the reason MACHINE_PROFILE, where a workspace may not have sandboxes of this
    profile."""
    if profile == "machine" and not ceilings.machine_profile:
        raise SandboxValidationError(f"profile: {NO_MACHINE}", reason="MACHINE_PROFILE")


def fill_limits(limits: Limits, others: Limits) -> Limits:
    """The limits, and where one is as by default, that of the others."""
    names = [field.name for field in fields(Limits)]
    said = {name: getattr(others, name) for name in names if getattr(limits, name) == getattr(_DEFAULT, name)}
    return limits if others == _DEFAULT else replace(limits, **said)


LIMITS = tuple(field.name for field in fields(WorkspaceLimits))
LIMITS_WITH_COLUMNS = LIMITS[: LIMITS.index("runs") + 1]
"""limits that earlier versions stored in a column each; all others share one column"""
CheckRoom = Callable[[str, int], Awaitable[None]]
"""(workspace, bytes that are about to be kept for it); raises LimitExceededError"""
OrganizationOf = Callable[[str], Awaitable[str]]
"""the organisation that a workspace belongs to now; raises PlatformError"""
LimitsOf = Callable[[str], Awaitable[WorkspaceLimits]]
"""what a workspace may use now; raises PlatformError"""

_FRACTIONS = frozenset({"requests_per_second", "sandbox_cpu", "sandbox_lifetime_seconds"})
_RANGES: Mapping[str, tuple[float, float]] = {
    "requests_per_second": (0.001, 1e6),
    "request_burst": (1, 10**6),
    "request_bytes": (1, 2**40),
    "sandboxes": (0, 10**6),
    "open_jobs": (0, 10**6),
    "runs": (0, 10**6),
    "open_runs": (0, 10**12),
    "job_memory_bytes": (0, 2**60),
    "request_memory_bytes": (MIB, 2**50),
    "request_disk_bytes": (MIB, 2**60),
    "stored_bytes": (0, 2**60),
    "blueprints": (0, 10**6),
    "blueprint_bytes": (0, 2**60),
    "package_bytes": (0, 2**60),
    "training_bytes": (0, 2**60),
    "leases": (0, 10**6),
    "objects": (0, 10**9),
    "object_bytes": (0, 2**60),
    "output_bytes": (0, 2**60),
    "sandbox_memory_bytes": (8 * MIB, 2**60),
    "sandbox_pids": (4, 4_194_304),
    "sandbox_cpu": (0.002, 4096),
    "sandbox_disk_bytes": (MIB, 2**60),
    "sandbox_inodes": (100, 2**40),
    "sandbox_output_bytes": (0, 2**60),
    "sandbox_open_files": (64, 1_048_576),
    "sandbox_lifetime_seconds": (1, 1e9 - 1),
    "machine_profile": (0, 1),
}


def parse_limits(words: Iterable[str], names: Sequence[str] = LIMITS) -> LimitChanges:
    """Limits as `NAME=NUMBER` or, for what all may use, `NAME=default` (None). Raises ValidationError that lists every
    mistake."""
    found: dict[str, float | int | None] = {}
    mistakes = []
    for word in words:
        name, _, number = word.partition("=")
        if name not in names:
            mistakes.append(f"{quote(word)}: there is no such limit; there are {', '.join(names)}")
        elif number == "default":
            found[name] = None
        elif (value := _number(name, number)) is None:
            least, most = _RANGES[name]
            mistakes.append(f"{quote(word)}: give a number from {least:g} to {most:g}, or {name}=default")
        else:
            found[name] = value
    if mistakes:
        raise ValidationError("\n  ".join(["these limits cannot be set:", *mistakes]))
    return found


def written_limits(limits: WorkspaceLimits) -> str:
    """The form that `given_limits` reads, for a process that is started for the workspace."""
    given = ((name, getattr(limits, name)) for name in LIMITS)
    return ",".join(f"{name}={number!r}" for name, number in given if number is not None)


def given_limits(environ: Mapping[str, str] | None = None) -> WorkspaceLimits | None:
    """What the workspace of this process may use, by its environment (HARENA_WORKSPACE_LIMITS); None = everything. What
    is not named is as on a server, but for the profile `machine`, which whoever runs this process may have. Raises
    ValidationError."""
    text = settings.WORKSPACE_LIMITS.read(environ)
    if text is None:
        return None
    try:
        given = parse_limits(word for word in (part.strip() for part in text.split(",")) if word)
    except ValidationError as error:
        raise ValidationError(f"{settings.WORKSPACE_LIMITS.name}: {error}") from None
    own: dict[str, Any] = {"machine_profile": 1}
    own.update((name, number) for name, number in given.items() if number is not None)
    return WorkspaceLimits(**own)


def _number(name: str, text: str) -> float | int | None:
    least, most = _RANGES[name]
    try:
        value = float(text) if name in _FRACTIONS else int(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and least <= value <= most else None
