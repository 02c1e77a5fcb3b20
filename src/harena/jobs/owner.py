"""Which process runs a job, and whether it still lives.

The kernel gives a pid to other processes later; a pid together with its start time, its boot and its pid namespace
names one process for ever. Processes of another machine or another pid namespace cannot be seen from here: whether they
live, only the job's lease tells (see `harena.jobs.lease`).
"""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path

from harena.core.leases import Owner


class OwnerStatus(StrEnum):
    """What can be said of an owner from here."""

    ALIVE = "alive"
    GONE = "gone"
    UNKNOWN = "unknown"


def this_process(proc: Path = Path("/proc")) -> Owner:
    """The process that calls."""
    pid = os.getpid()
    return Owner(pid=pid, started=_start_of_process(proc, pid) or "", boot=_boot(proc))


def is_alive(owner: Owner, proc: Path = Path("/proc")) -> bool:
    """Whether this very process still runs, in this boot and pid namespace. A zombie does not."""
    return owner.boot == _boot(proc) and bool(owner.started) and _start_of_process(proc, owner.pid) == owner.started


def owner_status(owner: Owner, *, one_machine: bool, proc: Path = Path("/proc")) -> OwnerStatus:
    """Whether an owner lives, as far as this process can see. `one_machine`: only processes of this machine can be
    owners, so that an owner of another boot cannot live any more."""
    if not owner.started:
        return OwnerStatus.GONE
    here = _boot(proc)
    if owner.boot == here:
        return OwnerStatus.ALIVE if is_alive(owner, proc) else OwnerStatus.GONE
    if owner.boot.partition(" ")[0] == here.partition(" ")[0]:  # this boot, another pid namespace: a container, say
        return OwnerStatus.UNKNOWN
    return OwnerStatus.GONE if one_machine else OwnerStatus.UNKNOWN


def _start_of_process(proc: Path, pid: int) -> str | None:
    try:
        stat = (proc / str(pid) / "stat").read_bytes().decode(errors="replace")
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return None
    # the command's name, field 2, is in parentheses and may hold anything; what follows it is field 3 and on
    fields = stat.rpartition(")")[2].split()
    return None if fields[0] in ("Z", "X") else fields[19]


def _boot(proc: Path) -> str:
    boot = (proc / "sys/kernel/random/boot_id").read_bytes().decode().strip()
    try:
        return f"{boot} {os.readlink(proc / 'self/ns/pid')}"
    except OSError:  # a kernel without pid namespaces has one
        return boot
