"""The doctor: what this host can and cannot do for sandboxes, and the exact setting to change.

    facts = examine()          # reads files and runs probes in short-lived processes; changes nothing
    findings = judge(facts)    # decides: a pure function
    findings = report()        # both

`ok` of a finding: True, it works; False, sandboxes cannot run here; None, they run, with the restriction that
`detail` states.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from dataclasses import dataclass

from harena.runtime.host import mechanisms
from harena.runtime.host.host_facts import DEVICES, HostFacts, examine

OLDEST_KERNEL = (5, 12)
"""mount_setattr: makes whole trees of mounts read-only"""
OVERLAY_KERNEL = (5, 11)
MACHINES = ("x86_64", "aarch64")
"""machines that the seccomp policy knows"""
FEW_OPEN_FILES = 4096
MOST_WATCHES = 65_536
"""number of descriptors that the epolls of one user wait for: the kernel wakes all at one time, with interrupts off"""
_NEVER_OVERCOMMITS = 2
OLDEST_PYTHON = (3, 11)
_LANDLOCK_THAT_RENAMES = 2
"""the first version in which files can be renamed into another folder"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that the host can do, cannot do, or does with a restriction."""

    name: str
    ok: bool | None
    detail: str
    fix: str = ""
    """what to change, as a command or a setting; empty where nothing has to be"""


def report() -> list[Finding]:
    """Examine this host and judge it. Takes about 50 ms; never raises for what the host lacks."""
    return judge(examine())


def judge(facts: HostFacts) -> list[Finding]:
    """Every finding, in the order in which a person would fix them."""
    return [finding for decide in _DECISIONS for finding in decide(facts)]


def usable(findings: list[Finding]) -> bool:
    """Sandboxes can run on this host."""
    return all(finding.ok is not False for finding in findings)


# -- decisions ---------------------------------------------------------------------------------------------------


def _kernel(facts: HostFacts) -> list[Finding]:
    version = _version(facts.kernel)
    wanted = ".".join(map(str, OLDEST_KERNEL))
    if facts.machine not in MACHINES:
        detail = f"{facts.machine}: there is no list of its system calls, so no filter for them"
        return [Finding(name="kernel", ok=False, detail=detail, fix=f"use {' or '.join(MACHINES)}")]
    if version >= OLDEST_KERNEL:
        return [Finding(name="kernel", ok=True, detail=f"Linux {facts.kernel} (>= {wanted}) on {facts.machine}")]
    detail = f"Linux {facts.kernel} is older than {wanted}, the first that can make a tree of mounts read-only"
    return [Finding(name="kernel", ok=False, detail=detail, fix=f"boot a kernel >= {wanted}")]


def _system_calls(facts: HostFacts) -> list[Finding]:
    findings = []
    for step, name in (
        ("clone3", "clone3"),
        ("pidfd", "pidfd"),
        ("close_range", "close_range"),
        ("seccomp_filter", "seccomp"),
    ):
        code = facts.steps.get(step)
        if code == 0:
            findings.append(Finding(name=name, ok=True, detail="works"))
        elif facts.seccomp_filtered:
            detail = f"{_why(code)}: the seccomp filter that this process is under does not allow it"
            findings.append(Finding(name=name, ok=False, detail=detail, fix=_unconfine(facts)))
        else:
            detail = f"{_why(code)}: this kernel does not have it"
            findings.append(
                Finding(name=name, ok=False, detail=detail, fix="boot a newer kernel with CONFIG_SECCOMP_FILTER")
            )
    return findings


def _user_namespaces(facts: HostFacts) -> list[Finding]:
    codes = [
        facts.steps.get(step) for step in ("user_namespace", "identity_map", "namespaces", "identity_map_from_outside")
    ]
    if codes == [0, 0, 0, 0]:
        return [Finding(name="user namespaces", ok=True, detail="can be created, together with all others")]
    code = next((code for code in codes if code), None)
    detail, fix = _why_no_user_namespace(facts, code)
    return [Finding(name="user namespaces", ok=False, detail=f"{_why(code)}: {detail}", fix=fix)]


def _why_no_user_namespace(facts: HostFacts, code: int | None) -> tuple[str, str]:
    sysctls = facts.sysctls
    if sysctls.get("user.max_user_namespaces") == 0 or code == errno.ENOSPC:
        limit = sysctls.get("user.max_user_namespaces", 0)
        return f"user.max_user_namespaces is {limit}", "sysctl -w user.max_user_namespaces=15000 (as root on the host)"
    if facts.uid != 0 and sysctls.get("kernel.unprivileged_userns_clone") == 0:
        return "only root may create them", "sysctl -w kernel.unprivileged_userns_clone=1 (as root on the host)"
    if _restricted_by_apparmor(facts):
        return "AppArmor takes every privilege away inside (Ubuntu's default since 23.10)", _unconfine(facts)
    if facts.seccomp_filtered or facts.container:
        return "this container's seccomp filter forbids it", _unconfine(facts)
    return "the kernel was built or configured without it", "boot a kernel with CONFIG_USER_NS"


def _mounts(facts: HostFacts) -> list[Finding]:
    if facts.steps.get("mount_private") is None:
        return [_not_tried("mounts")]
    for step in (
        "mount_private",
        "mount_tmpfs",
        "read_only_tree",
        "mount_devpts",
        "pivot_root",
        "nested_user_namespace",
    ):
        code = facts.steps.get(step)
        if code != 0:
            confined = facts.container or facts.apparmor or _restricted_by_apparmor(facts)
            why = "this process's confinement forbids it" if confined else "the kernel refused"
            detail = f"{step.replace('_', ' ')}: {_why(code)}: {why}"
            return [Finding(name="mounts", ok=False, detail=detail, fix=_unconfine(facts))]
    return [Finding(name="mounts", ok=True, detail="tmpfs, read-only trees, terminals and pivot_root work")]


def _proc(facts: HostFacts) -> list[Finding]:
    code = facts.steps.get("mount_proc")
    if code == 0:
        return [Finding(name="fresh /proc", ok=True, detail="can be mounted")]
    if code is None:
        return [_not_tried("fresh /proc")]
    covered = ", ".join(facts.masked_proc) or "parts of it"
    detail = f"{_why(code)}: {covered} of the /proc that is seen here are covered, and the kernel does not uncover them"
    return [Finding(name="fresh /proc", ok=False, detail=detail, fix=_unmask(facts))]


def _overlay(facts: HostFacts) -> list[Finding]:
    code = facts.steps.get("overlay")
    if code == 0:
        return [
            Finding(name="overlayfs", ok=True, detail="works in a user namespace: sandboxes see no inode of the host")
        ]
    if code == errno.EINVAL and facts.steps.get("read_only_tree") == 0:
        why = "/usr, or what is mounted below it, cannot be a layer"
    else:
        why = "the kernel has none for user namespaces"
    detail = (
        f"{_why(code)}: {why}. Sandboxes work, and see the host's own inodes: locks and notices of files in /usr are "
        "shared by all workspaces and the host, and sockets there can be reached"
    )
    wanted = ".".join(map(str, OVERLAY_KERNEL))
    return [Finding(name="overlayfs", ok=None, detail=detail, fix=f"modprobe overlay (as root), kernel >= {wanted}")]


def _warm_modules(facts: HostFacts) -> list[Finding]:
    code = facts.steps.get("ptrace")
    if code == 0:
        return [Finding(name="warm modules", ok=True, detail="a process may hold another one while it imports them")]
    if code is None:
        return [_not_tried("warm modules")]
    detail = f"{_why(code)}: blueprints' modules are not kept warm, their programs start for real"
    fix = "sysctl -w kernel.yama.ptrace_scope=1 (as root), allow ptrace in the container, use x86_64"
    return [Finding(name="warm modules", ok=None, detail=detail, fix=fix)]


def _landlock(facts: HostFacts) -> list[Finding]:
    apart = "programs of candidates are kept out of the memory of verifiers"
    if facts.landlock >= _LANDLOCK_THAT_RENAMES:
        detail = f"version {facts.landlock}: models are loaded behind it, and {apart}"
        return [Finding(name="Landlock", ok=True, detail=detail)]
    if facts.landlock:
        detail = f"version {facts.landlock}: models are loaded behind it, but not all {apart}"
        return [Finding(name="Landlock", ok=None, detail=detail, fix="kernel >= 5.19")]
    walls = "as root only, else no model of a workspace of a server is loaded"
    detail = f"missing: models are loaded behind a mount namespace ({walls}), and not all {apart}"
    return [
        Finding(name="Landlock", ok=None, detail=detail, fix="kernel >= 5.19 with landlock in the boot option lsm=")
    ]


def _loopback(facts: HostFacts) -> list[Finding]:
    code = facts.steps.get("loopback")
    if code == 0:
        return [Finding(name="loopback", ok=True, detail="a sandbox's own comes up")]
    return (
        [Finding(name="loopback", ok=False, detail=_why(code), fix=_unconfine(facts))]
        if code
        else [_not_tried("loopback")]
    )


def _devices(facts: HostFacts) -> list[Finding]:
    if not facts.missing_devices:
        return [Finding(name="devices", ok=True, detail=f"/dev/{{{','.join(DEVICES)}}} are there")]
    detail = f"missing or not usable: {', '.join(facts.missing_devices)}"
    return [
        Finding(name="devices", ok=False, detail=detail, fix="give the container a normal /dev (no --device masks)")
    ]


def _limits(facts: HostFacts) -> list[Finding]:
    findings = []
    for limit, name in (("memory_bytes", "limit: memory"), ("pids", "limit: processes"), ("cpu", "limit: cpu")):
        how = facts.enforcement.get(limit, "not enforced: unknown")
        if not how.startswith("not enforced"):
            findings.append(Finding(name=name, ok=True, detail=how + _sums(facts, limit)))
        elif facts.delegated:
            findings.append(Finding(name=name, ok=True, detail="cgroup v2, in a systemd scope that is made for it"))
        else:
            findings.append(Finding(name=name, ok=None, detail=how, fix=facts.cgroup_fix))
    return findings


def _sums(facts: HostFacts, limit: str) -> str:
    if limit not in facts.sums:
        return ""
    sandboxes, templates = (
        f"{most / (1 << 30):.1f} GiB" if limit == "memory_bytes" else str(most) for most in facts.sums[limit]
    )
    return f"; all sandboxes together at most {sandboxes}, all templates {templates}; a workspace 3/4 of each"


def _open_files(facts: HostFacts) -> list[Finding]:
    if facts.open_files >= FEW_OPEN_FILES:
        return [Finding(name="open files", ok=True, detail=f"up to {facts.open_files}")]
    detail = f"the hard limit of {facts.open_files} is enough for about {facts.open_files // 4} sandboxes at one time"
    fix = "raise `nofile` in /etc/security/limits.conf, LimitNOFILE= of the unit, or docker run --ulimit nofile=65536"
    return [Finding(name="open files", ok=None, detail=detail, fix=fix)]


def _epolls(facts: HostFacts) -> list[Finding]:
    watches = facts.sysctls.get("fs.epoll.max_user_watches", 0)
    if watches <= MOST_WATCHES:
        return [Finding(name="epoll", ok=True, detail="one event wakes few waiters")]
    detail = (
        f"fs.epoll.max_user_watches is {watches}: programs of a sandbox can have as many waiters at one descriptor as "
        "their memory holds, and each event there keeps a processor from all else, 0.1 s for each million"
    )
    fix = f"sysctl -w fs.epoll.max_user_watches={MOST_WATCHES} (as root on the host)"
    return [Finding(name="epoll", ok=None, detail=detail, fix=fix)]


def _commitments(facts: HostFacts) -> list[Finding]:
    if facts.sysctls.get("vm.overcommit_memory") != _NEVER_OVERCOMMITS:
        return [Finding(name="commitments", ok=True, detail="what programs map and do not touch takes nobody's memory")]
    detail = (
        f"vm.overcommit_memory is {_NEVER_OVERCOMMITS}: what programs of a sandbox map counts for one limit of the "
        "whole host, touched or not, and no limit of the sandbox counts it: one of them can leave no memory to others"
    )
    fix = "sysctl -w vm.overcommit_memory=0 (as root on the host)"
    return [Finding(name="commitments", ok=None, detail=detail, fix=fix)]


def _interpreter(facts: HostFacts) -> list[Finding]:
    version = ".".join(map(str, facts.python))
    if facts.python < OLDEST_PYTHON:
        detail = f"{facts.executable} is Python {version}"
        return [Finding(name="interpreter", ok=False, detail=detail, fix="use Python >= 3.11")]
    if facts.image_problem:
        fix = "make the environment with another Python (HARENA_PYTHON=/usr/bin/python3 make setup)"
        return [Finding(name="interpreter", ok=False, detail=facts.image_problem, fix=fix)]
    if facts.unreadable:
        detail = f"a sandbox's user cannot read {', '.join(facts.unreadable)}"
        fix = f"chmod -R o+rX {' '.join(facts.unreadable)}, or use an interpreter below /usr"
        return [Finding(name="interpreter", ok=False, detail=detail, fix=fix)]
    return [
        Finding(
            name="interpreter", ok=True, detail=f"{facts.executable} (Python {version}) serves as the default image"
        )
    ]


def _fast_starts(facts: HostFacts) -> list[Finding]:
    """Which mechanisms of a fast start are left out, and why."""
    name, found = "fast starts", facts.interpreter
    if facts.bad_setting:
        return [Finding(name=name, ok=False, detail=facts.bad_setting, fix="set it to on or off, or unset it")]
    why, fixes = [], []
    if not mechanisms.is_tested(found):
        kind = f"{found.cache_tag}{found.abi_flags} with byte code {found.bytecode}"
        refused = ", ".join(each.name for each in mechanisms.MECHANISMS if each.leans_on_interpreter)
        tested = ", ".join(each.cache_tag for each in mechanisms.TESTED)
        why.append(f"{kind} is no interpreter that they were tested with, so these are left out: {refused}")
        fixes.append(f"make the environment with a released interpreter of {tested}")
    if facts.switched_off:
        why.append(f"switched off: {', '.join(facts.switched_off)}")
        fixes.append(f"unset {' '.join(facts.switched_off)}")
    if why:
        detail = "; ".join([*why, "everything works, and programs start more slowly"])
        return [Finding(name=name, ok=None, detail=detail, fix="; ".join(fixes))]
    detail = f"all mechanisms are in force; they were tested with {found.cache_tag}, byte code {found.bytecode}"
    return [Finding(name=name, ok=True, detail=detail)]


_DECISIONS: tuple[Callable[[HostFacts], list[Finding]], ...] = (
    _kernel,
    _user_namespaces,
    _mounts,
    _proc,
    _system_calls,
    _loopback,
    _devices,
    _interpreter,
    _fast_starts,
    _limits,
    _open_files,
    _epolls,
    _commitments,
    _overlay,
    _warm_modules,
    _landlock,
)


def _not_tried(name: str) -> Finding:
    return Finding(name=name, ok=None, detail="not tried: an earlier step failed")


def _why(code: int | None) -> str:
    return "not reached" if code is None else f"{errno.errorcode.get(code, str(code))} ({os.strerror(code)})"


def _version(release: str) -> tuple[int, int]:
    numbers = "".join(letter if letter.isdigit() else " " for letter in release).split()
    return (int(numbers[0]), int(numbers[1])) if len(numbers) > 1 else (0, 0)


def _restricted_by_apparmor(facts: HostFacts) -> bool:
    return facts.uid != 0 and facts.sysctls.get("kernel.apparmor_restrict_unprivileged_userns") == 1


def _unconfine(facts: HostFacts) -> str:
    if _restricted_by_apparmor(facts) and not facts.container:
        return (
            "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0 (as root on the host), or run as root, or give "
            f"{facts.executable} an AppArmor profile with `userns,`"
        )
    if facts.container == "kubernetes":
        return (
            "securityContext: {seccompProfile: {type: Unconfined}, appArmorProfile: {type: Unconfined}, "
            "procMount: Unmasked}"
        )
    if facts.container == "podman":
        return "podman run --security-opt seccomp=unconfined --security-opt unmask=ALL"
    if facts.container or facts.seccomp_filtered:
        return (
            "docker run --security-opt seccomp=unconfined --security-opt apparmor=unconfined "
            "--security-opt systempaths=unconfined"
        )
    if facts.apparmor:
        return f"change the AppArmor profile {facts.apparmor!r}: it has to allow `userns,` `mount,` and `pivot_root,`"
    return "ask whoever runs this host which security module forbids it (dmesg says)"


def _unmask(facts: HostFacts) -> str:
    if facts.container == "kubernetes":
        return "securityContext: {procMount: Unmasked} (with hostUsers: false)"
    if facts.container == "podman":
        return "podman run --security-opt unmask=ALL"
    if facts.container == "docker":
        return "docker run --security-opt systempaths=unconfined"
    return (
        "docker: --security-opt systempaths=unconfined; podman: --security-opt unmask=ALL; else unmount what covers it"
    )
