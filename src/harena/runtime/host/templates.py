"""Templates, the processes that the sandboxes of a blueprint are forked from: what they are known by and told.

Nothing here starts a process: `harena.runtime.host.linux` does.
"""

from __future__ import annotations

import asyncio
import marshal
import resource
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from harena.core.models import ProcessRules, SandboxOrigin
from harena.core.records.blueprints import Blueprint
from harena.core.records.sandboxes import Limits
from harena.runtime.guest import launch
from harena.runtime.host import image as images
from harena.runtime.host import image_places
from harena.runtime.host.held_layers import Chain
from harena.runtime.host.link import Limits as CgroupLimits
from harena.runtime.host.pool import Budget, Repeats
from harena.runtime.kernel import privileges

if TYPE_CHECKING:
    from harena.core.profiles import Profile

_HOSTNAME = b"sandbox"
_RLIMIT_NICE, _RLIMIT_RTPRIO = 13, 14
_LOCKED_BYTES = 8 << 20
"""limit of locked memory, by the kernel's default: pages of the host's files are not counted for the sandbox that keeps
them in memory"""


class TemplateKey(NamedTuple):
    """What a template is for."""

    workspace: str
    image: str
    blueprint: str
    """its id; "" = none"""
    profile: Profile
    has_network: bool
    """its sandboxes have a network or gateways"""


class Template:
    """One template, and what was claimed of it."""

    def __init__(
        self,
        number: int,
        key: TemplateKey,
        image: images.Image,
        environment: Mapping[str, str],
        warm: bool,
        imports: bool,
        budgets: Sequence[Budget],
        layers: launch.Layers | None,
        origin: SandboxOrigin,
    ) -> None:
        self.number = number
        self.origin = origin
        self.budgets = budgets
        """limits of what its pools keep ready: its own, and the node's"""
        self.repeats = Repeats()
        self.key = key
        self.is_forgotten = False
        """its blueprint was deleted, or it was too slow to make a sandbox: it ends with the last that it has made"""
        self.claimed: set[object] = set()
        """numbers of sandboxes that somebody was given, and a token for each that somebody waits for; not those that
        wait in a pool"""
        self.used_at = asyncio.get_running_loop().time()
        self.image = image
        self.layers = layers
        """what a root of each sandbox's own is made of; None = all have the template's"""
        self.environment = environment
        self.warm = warm
        self.imports = imports
        """its memory holds modules of a blueprint"""
        self.enforcement: Mapping[str, str] = {}

    @property
    def has_users(self) -> bool:
        """Its sandboxes have more than one."""
        return self.enforcement.get("users", "one").split()[0].isdecimal()


def layers_of(image: images.Image, has_network: bool) -> launch.Layers:
    """What sandboxes of an image with layers are told of their root. Looks at the host's disk."""
    return {
        "count": len(image.layers),
        "files": [(path, content) for path, content, _ in images.network_files(has_network=has_network)],
        "mount_points": image_places.missing_mount_points(image.layers),
        "directories": image_places.missing_directories(image.layers, image.workdir, for_all_users=bool(image.user)),
        "held": [],
        "root_mode": 0o755,
    }


def layers_with(layers: launch.Layers, chain: Chain, *, goes_on: bool) -> launch.Layers:
    """The root of a sandbox that has held layers, too. What an image lacks is there, or was removed; `goes_on`: it has
    every file of the sandbox that has written the uppermost one."""
    return {
        **layers,
        "files": [] if goes_on else layers["files"],
        "mount_points": [],
        "directories": [],
        "held": [layer.place for layer in chain],
        "root_mode": chain[0].root_mode,
    }


def says_what_runs(blueprint: Blueprint) -> bool:
    """Whether anything of it has a say in what an interpreter runs as it starts and imports its warm modules."""
    return bool(blueprint.warm or blueprint.env or blueprint.layer is not None)


def settings_of_fork(
    limits: Limits,
    template: Template,
    *,
    rules: ProcessRules,
    listeners: list[tuple[int, bytes, int]],
    chain: Chain = (),
    goes_on: bool = False,
) -> tuple[bytes, CgroupLimits]:
    """(what the template's fork is told, what its cgroups are given)."""
    unenforced = {name for name, how in template.enforcement.items() if how.startswith(("rlimit", "not enforced"))}
    # Open files are limited for each program, not for init: the kernel counts descriptors on their way per user, and
    # compares with the sender's own limit. A neighbour of the same user could otherwise keep init from answering.
    rlimits = [(_RLIMIT_NICE, 0), (_RLIMIT_RTPRIO, 0)]
    rlimits.append((resource.RLIMIT_MEMLOCK, _LOCKED_BYTES))
    if "memory_bytes" in unenforced and limits.memory_bytes is not None:
        rlimits.append((resource.RLIMIT_AS, limits.memory_bytes))
    own_users = "pids" in unenforced and limits.pids is not None
    if own_users:
        rlimits.append((resource.RLIMIT_NPROC, limits.pids or 0))
    options = f"size={limits.disk_bytes},nr_inodes={limits.inodes},mode=755"
    hard = {which: resource.getrlimit(which)[1] for which, _ in rlimits}
    rlimits = [(which, value if hard[which] < 0 else min(value, hard[which])) for which, value in rlimits]
    layers = template.layers
    if layers is not None and chain:
        layers = layers_with(layers, chain, goes_on=goes_on)
    settings: dict[str, object] = {
        "tmpfs": options.encode(),
        "hostname": _HOSTNAME,
        "rlimits": rlimits,
        "own_users": own_users,
        "layers": layers,
        "attach": goes_on,
        "hides_processes": rules.hides_processes,
        "own_domains": rules.own_domains and layers is None and images.OWN_DOMAINS in template.image.directories,
        "rights": rights_of_init(template),
        "listeners": listeners,
    }
    return marshal.dumps(settings, 2), (limits.memory_bytes, limits.pids, limits.cpu)


def rights_of_init(template: Template) -> bytes:
    """What an init keeps."""
    if template.key.profile == "machine":
        return privileges.CAPSET_OF_MACHINE
    return privileges.CAPSET_OF_INIT if template.has_users else privileges.CAPSET_NOTHING


def enforcement_of(described: Mapping[str, str]) -> dict[str, str]:
    """How each limit is enforced here; what no cgroup does falls back to what the kernel offers any process."""
    found = dict(described)
    if found["memory_bytes"].startswith("not enforced"):
        found["memory_bytes"] = (
            "rlimit: address space of each process (RLIMIT_AS), and a look at the sum every 0.1 s; "
            + found["memory_bytes"]
        )
    if found["pids"].startswith("not enforced"):
        found["pids"] = "rlimit: processes per sandbox (RLIMIT_NPROC in a user namespace of its own)"
    return {
        **found,
        "disk_bytes": "size of the sandbox's tmpfs",
        "inodes": "inodes of the sandbox's tmpfs",
        "open_files": "rlimit per process (RLIMIT_NOFILE)",
        "output_bytes": "outside the sandbox",
        "lifetime_seconds": "outside the sandbox",
    }
