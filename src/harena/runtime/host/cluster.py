"""The doctor's page for clusters: whose cloud this is, what its pods may, and what to set where that is missing.

facts = examine()       # reads files; asks nobody over a network
findings = judge(facts, findings of the doctor)
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harena.runtime.host.doctor import Finding
from harena.runtime.kernel import proc_files

NEEDED = ("CHOWN", "DAC_OVERRIDE", "FOWNER", "KILL", "SETFCAP", "SETGID", "SETPCAP", "SETUID")
"""capabilities with which a server that is root gives each template a user of its own; deploy/ names the same"""
_BITS = {
    "CHOWN": 0,
    "DAC_OVERRIDE": 1,
    "FOWNER": 3,
    "KILL": 5,
    "SETGID": 6,
    "SETUID": 7,
    "SETPCAP": 8,
    "SYS_ADMIN": 21,
    "SETFCAP": 31,
}
TOKEN = Path("/var/run/secrets/kubernetes.io/serviceaccount/token")
_ALL_IDS = 1 << 31
"""a user namespace with more ids than this is the host's own"""
MAPPED_MOUNTS_KERNEL = (6, 3)
"""the first whose tmpfs can be mounted with mapped ids, which volumes of a pod with its own users need"""
_SHARED_FILE_SYSTEMS = ("nfs", "nfs4", "cifs", "smb3", "ceph", "lustre", "9p")

CLOUDS = {
    "gke": "GKE: a Standard cluster (Autopilot refuses it) with node image cos_containerd or ubuntu_containerd",
    "eks": (
        "EKS: managed or self-managed nodes (Fargate gives no capabilities) with Amazon Linux 2023; on Bottlerocket "
        'set settings.kernel.sysctl."user.max_user_namespaces" = "16384"'
    ),
    "aks": (
        "AKS: on Ubuntu nodes kernel.apparmor_restrict_unprivileged_userns=0, by a DaemonSet or the node pool's image; "
        "Azure Linux 3 has no such restriction"
    ),
    "openshift": (
        "OpenShift: an SCC for the service account, with the chart's capabilities and seccompProfiles: [unconfined]"
    ),
    "kubernetes": (
        "Kubernetes: hostUsers: false (>= 1.33, containerd >= 2.0 or CRI-O, runc >= 1.2), procMount: Unmasked, seccomp "
        "and AppArmor Unconfined; on Ubuntu nodes kernel.apparmor_restrict_unprivileged_userns=0"
    ),
}
"""cloud -> what it takes there that user namespaces work in a pod"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterFacts:
    """What was read. The defaults are a pod of the chart on a cluster where everything works."""

    kernel: str = "6.12.0"
    vendor: str = ""
    """what the firmware says of who made the machine"""
    in_pod: bool = True
    openshift: bool = False
    mapped_ids: int = 65536
    """user ids of this user namespace"""
    uid: int = 0
    bounding: int = sum(1 << _BITS[name] for name in NEEDED)
    """capabilities that this process can have, as bits"""
    has_token: bool = False
    """a token of the cluster's API lies in the pod"""
    home: str = "/var/lib/harena/home"
    home_kind: str = "ext4"
    """file system of the home, or of what is there of the way to it"""


def examine(home: Path) -> ClusterFacts:
    """Read what can be read; changes nothing."""
    status = dict(line.partition(":")[::2] for line in _read("/proc/self/status").splitlines())
    maps = [line.split() for line in _read("/proc/self/uid_map").splitlines()]
    return ClusterFacts(
        kernel=os.uname().release,
        vendor=" ".join(_read(f"/sys/class/dmi/id/{name}").strip() for name in ("sys_vendor", "product_name")),
        in_pod="KUBERNETES_SERVICE_HOST" in os.environ,
        openshift=Path("/run/secrets/rhsm").exists(),
        mapped_ids=sum(int(count) for _, _, count in maps),
        uid=os.geteuid(),
        bounding=int(status.get("CapBnd", "0").strip() or "0", 16),
        has_token=TOKEN.exists(),
        home=str(home),
        home_kind=_file_system(home, _read("/proc/self/mountinfo")),
    )


def judge(facts: ClusterFacts, host: Sequence[Finding]) -> list[Finding]:
    """The findings on the cluster; `host`: what the doctor has found on the machine."""
    return [_place(facts, host), _users(facts), _capabilities(facts), _token(facts), _home(facts), _cgroups(host)]


def cloud_of(facts: ClusterFacts) -> str:
    """The key in `CLOUDS` of where this runs, as far as kernel and firmware tell."""
    if facts.openshift:
        return "openshift"
    told = f"{facts.kernel} {facts.vendor}".lower()
    for cloud, words in (
        ("gke", r"-gke|google|cos-"),
        ("eks", r"amzn|amazon|bottlerocket"),
        ("aks", r"azure|microsoft|azl"),
    ):
        if re.search(words, told):
            return cloud
    return "kubernetes"


def _place(facts: ClusterFacts, host: Sequence[Finding]) -> Finding:
    broken = [finding.name for finding in host if finding.ok is False]
    where = f"{'a pod' if facts.in_pod else 'no pod'}, kernel {facts.kernel}, {facts.vendor or 'unknown firmware'}"
    if not broken:
        return Finding(name="cluster", ok=True, detail=f"{where}: sandboxes can run here")
    detail = f"{where}: sandboxes cannot run here ({', '.join(broken)})"
    return Finding(name="cluster", ok=False, detail=detail, fix=CLOUDS[cloud_of(facts)])


def _users(facts: ClusterFacts) -> Finding:
    name = "pod's users"
    if facts.mapped_ids > _ALL_IDS:
        detail = "this process has the host's own users: its root is root of the node, as far as its capabilities go"
        fix = f"hostUsers: false in the pod's spec (Kubernetes >= 1.33). {CLOUDS[cloud_of(facts)]}"
        return Finding(name=name, ok=None, detail=detail, fix=fix)
    if _version(facts.kernel) < MAPPED_MOUNTS_KERNEL:
        wanted = ".".join(map(str, MAPPED_MOUNTS_KERNEL))
        detail = (
            f"{facts.mapped_ids} users of a namespace of its own, on a kernel before {wanted}: not all volumes work"
        )
        return Finding(name=name, ok=None, detail=detail, fix=f"node images with a kernel >= {wanted}")
    return Finding(name=name, ok=True, detail=f"{facts.mapped_ids}, of a user namespace of its own")


def _capabilities(facts: ClusterFacts) -> Finding:
    name = "capabilities"
    if facts.uid:
        detail = f"user {facts.uid}, not root: all templates have this one user"
        return Finding(name=name, ok=None, detail=detail, fix="securityContext: {runAsUser: 0}, with hostUsers: false")
    missing = [one for one in NEEDED if not facts.bounding >> _BITS[one] & 1]
    if missing:
        detail = f"missing: {', '.join(missing)}"
        fix = f"securityContext: {{capabilities: {{drop: [ALL], add: [{', '.join(NEEDED)}]}}}}"
        return Finding(name=name, ok=None if "SETFCAP" not in missing else False, detail=detail, fix=fix)
    if facts.bounding >> _BITS["SYS_ADMIN"] & 1 and facts.mapped_ids > _ALL_IDS:
        detail = "SYS_ADMIN on the node itself, which harena does not need"
        return Finding(name=name, ok=None, detail=detail, fix=f"drop all, and add {', '.join(NEEDED)}")
    return Finding(name=name, ok=True, detail=f"{', '.join(NEEDED)} are there")


def _token(facts: ClusterFacts) -> Finding:
    if facts.has_token:
        detail = f"a token of the cluster's API lies at {TOKEN}; sandboxes do not see it, the server needs none"
        return Finding(name="API token", ok=None, detail=detail, fix="automountServiceAccountToken: false")
    return Finding(name="API token", ok=True, detail="none in the pod")


def _home(facts: ClusterFacts) -> Finding:
    name = "home's volume"
    if facts.home_kind in _SHARED_FILE_SYSTEMS:
        detail = (
            f"{facts.home} is on {facts.home_kind}: no layers of overlays, and locks of SQLite are not to be trusted"
        )
        fix = "a block volume (ReadWriteOnce) for HARENA_HOME, and a PostgreSQL by HARENA_DATABASE_URL"
        return Finding(name=name, ok=False, detail=detail, fix=fix)
    if facts.home_kind == "overlay":
        detail = f"{facts.home} is in the container's own files: it ends with the container, and can be no layer"
        return Finding(name=name, ok=None, detail=detail, fix="a volume at HARENA_HOME")
    return Finding(name=name, ok=True, detail=f"{facts.home} is on {facts.home_kind or 'an unknown file system'}")


def _cgroups(host: Sequence[Finding]) -> Finding:
    name = "pod's cgroups"
    if any(finding.name == "limit: memory" and finding.ok is None for finding in host):
        detail = "not writable: limits of sandboxes are upheld by rlimits and a watch, those of the pod as ever"
        fix = "containerd >= 2.1 with `cgroup_writable = true` for the runtime, chosen by a RuntimeClass"
        return Finding(name=name, ok=None, detail=detail, fix=fix)
    return Finding(name=name, ok=True, detail="writable: each sandbox has its own")


def _read(path: str) -> str:
    try:
        return proc_files.read(path).decode(errors="replace")
    except OSError:
        return ""


def _file_system(place: Path, mountinfo: str) -> str:
    """The kind of the file system that `place` is on, or will be."""
    where = os.path.realpath(place)
    best, kind = "", ""
    for line in mountinfo.splitlines():
        before, _, after = line.partition(" - ")
        point = before.split()[4].encode().decode("unicode_escape")
        if (where == point or where.startswith(point.rstrip("/") + "/")) and len(point) >= len(best):
            best, kind = point, after.split()[0]
    return kind


def _version(release: str) -> tuple[int, int]:
    found = re.match(r"(\d+)\.(\d+)", release)
    return (int(found[1]), int(found[2])) if found else (0, 0)
