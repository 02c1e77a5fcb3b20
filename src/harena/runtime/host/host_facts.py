"""Facts about this host that decide whether sandboxes can run on it, and how they are found out."""

from __future__ import annotations

import os
import platform
import resource
import stat
import sys
import sysconfig
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from harena.core import landlock
from harena.core.errors import HostUnsupportedError, ValidationError
from harena.runtime.host import mechanisms, probes
from harena.runtime.host.image import default_image
from harena.runtime.kernel import cgroups, proc_files

DEVICES = ("null", "zero", "full", "random", "urandom")
SYSCTLS = (
    "user.max_user_namespaces",
    "kernel.unprivileged_userns_clone",
    "kernel.apparmor_restrict_unprivileged_userns",
    "fs.epoll.max_user_watches",
    "vm.overcommit_memory",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class HostFacts:
    """What was read and tried. The defaults are a host where everything works."""

    kernel: str = "6.12.0"
    uid: int = 1000
    steps: Mapping[str, int] = field(default_factory=lambda: dict.fromkeys(probes.STEPS, 0))
    """probe -> errno, see `probes`; missing = not reached"""
    sysctls: Mapping[str, int] = field(default_factory=dict)
    """values of the `SYSCTLS` that exist"""
    container: str | None = None
    """"docker", "podman", "kubernetes" or "container"; None = not in one, as far as can be told"""
    seccomp_filtered: bool = False
    """a filter is in force on this process already"""
    apparmor: str = ""
    """the profile that confines this process; empty = none"""
    masked_proc: tuple[str, ...] = ()
    """what is mounted over parts of /proc"""
    enforcement: Mapping[str, str] = field(
        default_factory=lambda: dict.fromkeys(cgroups.LIMIT_CONTROLLERS, "cgroup v2")
    )
    sums: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """limit name -> what all sandboxes, and all templates, may have together"""
    cgroup_fix: str = ""
    delegated: bool = False
    """the spawner will be started in a systemd scope of its own"""
    open_files: int = 1 << 20
    """the hard limit"""
    missing_devices: tuple[str, ...] = ()
    python: tuple[int, int] = (3, 12)
    executable: str = "/usr/bin/python3"
    unreadable: tuple[str, ...] = ()
    """parts of the default image that a sandbox's user could not read"""
    landlock: int = 2
    """what the kernel knows of it; 0 = nothing"""
    image_problem: str = ""
    """why this interpreter cannot be shown inside a sandbox"""
    machine: str = "x86_64"
    interpreter: mechanisms.Interpreter = mechanisms.TESTED[0]
    switched_off: tuple[str, ...] = ()
    """settings that switch a mechanism off"""
    bad_setting: str = ""
    """what is wrong with such a setting"""


def examine() -> HostFacts:
    """Read what can be read, and run the probes."""
    backend = cgroups.detect()
    status = _status()
    scope = cgroups.delegated_command(["spawner"], cgroups.probe_delegation(backend))
    parts, image_problem = _image_parts()
    off, bad_setting = _switched_off()
    return HostFacts(
        landlock=landlock.version(),
        kernel=platform.release(),
        uid=os.geteuid(),
        steps=probes.run(),
        sysctls={name: value for name in SYSCTLS if (value := _sysctl(name)) is not None},
        container=_container(),
        seccomp_filtered=status.get("Seccomp", "0") == "2",
        apparmor=_apparmor(),
        masked_proc=masked_proc(_read("/proc/self/mountinfo")),
        enforcement=backend.describe(),
        sums=backend.sums(),
        cgroup_fix=backend.fix if isinstance(backend, cgroups.NoCgroups) else "",
        delegated=scope is not None,
        open_files=resource.getrlimit(resource.RLIMIT_NOFILE)[1] % (1 << 63),  # "infinity" is -1
        missing_devices=tuple(f"/dev/{name}" for name in DEVICES if not _is_device(f"/dev/{name}")),
        python=sys.version_info[:2],
        executable=os.path.realpath(sys.executable),
        unreadable=tuple(path for path in parts if not readable_by_others(path, uid=os.geteuid())),
        image_problem=image_problem,
        machine=platform.machine(),
        interpreter=mechanisms.running(),
        switched_off=off,
        bad_setting=bad_setting,
    )


def _read(path: str) -> str:
    try:
        return proc_files.read(path).decode(errors="replace")
    except OSError:
        return ""


def _status() -> dict[str, str]:
    lines = (line.partition(":") for line in _read("/proc/self/status").split("\n"))
    return {name: value.strip() for name, _, value in lines}


def _sysctl(name: str) -> int | None:
    text = _read("/proc/sys/" + name.replace(".", "/")).strip()
    return int(text) if text.lstrip("-").isdigit() else None


def _container() -> str | None:
    if os.environ.get("KUBERNETES_SERVICE_HOST"):
        return "kubernetes"
    if os.path.exists("/run/.containerenv"):
        return "podman"
    if os.path.exists("/.dockerenv"):
        return "docker"
    return "container" if os.environ.get("container") else None  # noqa: SIM112 (systemd's name for it is lower case)


def _apparmor() -> str:
    profile = _read("/proc/self/attr/apparmor/current").strip("\0\n ")
    return "" if profile in ("", "unconfined") else profile


def masked_proc(mountinfo: str) -> tuple[str, ...]:
    """What is mounted below /proc."""
    points = (line.split(" ")[4] for line in mountinfo.split("\n") if line.count(" ") > 5)
    return tuple(dict.fromkeys(point for point in points if point.startswith("/proc/")))


def _is_device(path: str) -> bool:
    try:
        return stat.S_ISCHR(os.stat(path).st_mode) and os.access(path, os.R_OK)
    except OSError:
        return False


def _switched_off() -> tuple[tuple[str, ...], str]:
    try:
        return tuple(each.variable for each in mechanisms.switched_off(os.environ)), ""
    except ValidationError as error:
        return (), str(error)


def _image_parts() -> tuple[list[str], str]:
    """(what the default image shows of the host, and its interpreter; why there can be no such image)."""
    try:
        image = default_image(Path("/"))
    except HostUnsupportedError as error:
        return [], str(error)
    directories = [source for source, _, _, is_file in image.trees if not is_file]
    return [*directories, sysconfig.get_path("stdlib"), os.path.realpath(sys.executable)], ""


def readable_by_others(path: str, *, uid: int) -> bool:
    """Everybody may read it; an ordinary user runs sandboxes as itself, so its own right is enough."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    wanted = stat.S_IROTH | (stat.S_IXOTH if stat.S_ISDIR(mode) else 0)
    return mode & wanted == wanted or (uid != 0 and os.access(path, os.R_OK))
