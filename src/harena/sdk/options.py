"""What a sandbox can be asked to be: one list of options for `Sandbox`, `Session.sandbox` and `Session.function`."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypedDict

from harena.core.checked import (
    check_absolute,
    checked_command,
    checked_environment,
    checked_text,
    checked_texts,
    checked_timeout,
    content_bytes,
    quote,
)
from harena.core.errors import SandboxValidationError
from harena.core.gateways import GivenGateways, read_gateways
from harena.core.models import SandboxSpec
from harena.core.network_policy import GivenNetwork, read_policy
from harena.core.profiles import Profile, checked_profile
from harena.core.records.blueprints import Blueprint
from harena.core.records.sandboxes import LIMIT_NAMES, Limits, SandboxStatus
from harena.core.snapshots import SCHEME
from harena.sdk import server_choice
from harena.sdk.keywords import nearest_name
from harena.sdk.quantities import cores, size_bytes

if TYPE_CHECKING:
    from harena.core.records.snapshots import Snapshot
    from harena.sdk.defaults import SandboxDefaults


@dataclass(frozen=True)
class ResourceOptions:
    """Amounts as Kubernetes writes them, by name: "cpu" (cores), "memory" and "ephemeral-storage" (bytes).

    `limits` is what the sandbox may use. `requests` reserves nothing on one machine; it is checked, and may not be
    more than `limits`. `gpu` is not supported.
    """

    requests: Mapping[str, str | float] | None = None
    limits: Mapping[str, str | float] | None = None
    gpu: Mapping[str, Any] | None = None


class SandboxOptions(TypedDict, total=False):
    """Everything that a sandbox can be asked to be. None is the same as not given."""

    container_image: str | None
    """name of the image: "default", or a reference as Docker reads it"""
    snapshot: str | Snapshot | None
    """a snapshot, its name or its id, with whose files it begins; in place of `container_image`"""
    blueprint: str | Blueprint | None
    """a blueprint, its name or its id; in place of `container_image` and `snapshot`"""
    profile: Profile | None
    """what programs may do inside: "strict", or for a sandbox of an image "machine", in which packages can be installed
    and services started"""
    command: str | None
    """first word of the main command; see `Sandbox.run`"""
    args: Sequence[str] | None
    """the main command's other words, or all of them where there is no `command`"""
    tags: Iterable[str] | None
    """added to those of the defaults"""
    environment_variables: Mapping[str, str] | None
    """merged over those of the defaults"""
    annotations: Mapping[str, str] | None
    """merged over those of the defaults"""
    resources: ResourceOptions | Mapping[str, Any] | None
    """limits of the sandbox, as `ResourceOptions` or as {"cpu": ..., "memory": ...}"""
    limits: Limits | Mapping[str, Any] | None
    """every limit that harena has, by the names of `Limits`"""
    mounted_files: Iterable[Mapping[str, Any]] | Mapping[str, bytes | str] | None
    """[{"mount_path": path, "file_content": bytes}] or {path: bytes}, written before the first command"""
    max_lifetime_seconds: float | None
    """wall time after which the sandbox is ended; a day where nothing is said"""
    network: GivenNetwork | None
    """"none" (nothing; where nothing is said), "open" (all public hosts) or {"allow": [hosts, *.hosts, CIDRs,
    host:port, presets], "deny": [...]}"""
    gateways: GivenGateways | None
    """{NAME: {"url": ..., "secret": ...}}: in the sandbox `$NAME` is a token and `$NAME_URL` an address, where the
    workspace's secret takes the token's place on the way to the upstream at `url`"""
    working_dir: str | None
    """where commands run that do not say; absolute"""
    request_timeout_seconds: float | None
    """SandboxRequestTimeoutError when the sandbox does not run after so long; None = wait"""
    base_url: str | None
    """the server that this process's sandboxes are on; refused where they are elsewhere by now, or HARENA_BASE_URL
    names another one"""
    auth: Any
    """accepted from code that was written for another node, without an effect"""
    create_retry_budget_seconds: float | None
    """likewise"""
    poll_retry_budget_seconds: float | None
    """likewise"""
    poll_rpc_timeout_seconds: float | None
    """likewise"""
    data_plane_mode: Any
    """likewise"""


OPTION_NAMES = frozenset(SandboxOptions.__annotations__)

NOT_SUPPORTED = frozenset(
    {
        *("runner_ids", "placement_mode", "placement_spillover", "profile_ids", "profile_names", "runtime_class"),
        *("services", "ports", "secrets", "security_context", "image_pull_credentials", "template_id"),
        *("volumes", "s3_mount", "object_storage_access", "file_system_snapshot", "containers"),
    }
)
"""Options of clients of clusters; refused, because what they ask for would not happen."""

_MEANT = {
    "image": "container_image",
    "env": "environment_variables",
    "environment": "environment_variables",
    "blueprint_id": "blueprint",
    "cwd": "working_dir",
    "files": "mounted_files",
    "lifetime": "max_lifetime_seconds",
    "timeout": "max_lifetime_seconds",
    "max_timeout_seconds": "max_lifetime_seconds",
    "memory": "resources",
    "cpu": "resources",
}
_LIMITS_MEANT = {
    "memory": "memory_bytes",
    "mem": "memory_bytes",
    "ram": "memory_bytes",
    "disk": "disk_bytes",
    "ephemeral-storage": "disk_bytes",
    "output": "output_bytes",
    "processes": "pids",
    "threads": "pids",
    "cpus": "cpu",
    "cores": "cpu",
    "nofile": "open_files",
    "files": "inodes",
    "timeout": "lifetime_seconds",
    "lifetime": "lifetime_seconds",
    "max_lifetime_seconds": "lifetime_seconds",
}


def check_names(given: Mapping[str, Any], where: str, valid: frozenset[str] = OPTION_NAMES) -> None:
    """Raises TypeError for a name that does not exist, SandboxValidationError for one that is not supported here."""
    if given.keys() <= valid:
        return
    meant = _LIMITS_MEANT if valid is LIMIT_NAMES else _MEANT
    for name, value in given.items():
        if name in NOT_SUPPORTED and valid is not LIMIT_NAMES:
            if value is not None:
                raise SandboxValidationError(
                    f"{where}: {name} is not supported here: harena runs sandboxes on one machine, without ports "
                    "to the outside and without volumes of a cluster; leave it out"
                )
        elif name not in valid:
            hint = nearest_name(str(name), valid, meant.get(str(name)))
            raise TypeError(f"{where} got an unexpected keyword argument {name!r}; {hint}")


@dataclass(frozen=True, slots=True)
class Plan:
    """What options and defaults together ask for."""

    spec: SandboxSpec
    main: tuple[str, ...] | None
    """the command that the sandbox is started for"""
    request_timeout_seconds: float | None


def plan(defaults: SandboxDefaults, options: SandboxOptions, where: str) -> Plan:
    """Merge and check. Raises SandboxValidationError, TypeError."""
    check_names(options, where)
    get: Callable[[str], Any] = options.get
    if base_url := get("base_url") or defaults.base_url:
        server_choice.choose(base_url, where)
    lifetime = get("max_lifetime_seconds")
    resources = get("resources")
    limits = get("limits")
    working_dir = get("working_dir") or defaults.working_dir
    check_absolute(working_dir, "working_dir")
    image = get("container_image")
    blueprint = _blueprint(defaults, get("blueprint"), image, get("snapshot"), where)
    timeout = get("request_timeout_seconds")
    network = defaults.network if get("network") is None else get("network")
    gateways = defaults.gateways if get("gateways") is None else get("gateways")
    spec = SandboxSpec(
        image=_image(defaults.container_image, image, get("snapshot"), where),
        blueprint=checked_blueprint(blueprint),
        env=defaults.merge_environment_variables(get("environment_variables")),
        cwd=working_dir,
        tags=tuple(defaults.merge_tags(get("tags"))),
        annotations=defaults.merge_annotations(get("annotations")),
        limits=combined_limits(
            defaults.limits if limits is None else limits,
            defaults.resources if resources is None else resources,
            defaults.max_lifetime_seconds if lifetime is None else lifetime,
        ),
        files=mounted(get("mounted_files")),
        profile=checked_profile(defaults.profile if get("profile") is None else get("profile")),
        network=None if network is None else read_policy(network),
        gateways=None if gateways is None else read_gateways(gateways),
    )
    return Plan(
        spec,
        _main_command(
            defaults.command if get("command") is None else get("command"),
            defaults.args if get("args") is None else get("args"),
        ),
        checked_timeout(defaults.request_timeout_seconds if timeout is None else timeout, "request_timeout_seconds"),
    )


def _image(default: str, image: str | None, snapshot: str | Snapshot | None, where: str) -> str:
    """What the root is made of."""
    if snapshot is None:
        return checked_text(default if image is None else image, "container_image")
    if image is not None:
        raise SandboxValidationError(
            f"{where}: both container_image and snapshot are given, and a sandbox begins with one of them; leave "
            "container_image out"
        )
    return SCHEME + checked_text(snapshot if isinstance(snapshot, str) else snapshot.id, "snapshot")


def _blueprint(
    defaults: SandboxDefaults,
    blueprint: str | Blueprint | None,
    image: str | None,
    snapshot: str | Snapshot | None,
    where: str,
) -> str | Blueprint | None:
    """The blueprint of a sandbox; that of the defaults gives way to an image or a snapshot that the sandbox names. An
    image beside a blueprint is compared with the blueprint's own by the node."""
    if blueprint is None:
        return defaults.blueprint if image is None and snapshot is None else None
    if snapshot is not None:
        raise SandboxValidationError(
            f"{where}: both blueprint and snapshot are given, and a sandbox begins with the files of one: leave one "
            "out, or make a blueprint that begins with the snapshot (base: {snapshot: NAME})"
        )
    return blueprint


def combined_limits(
    limits: Limits | Mapping[str, Any] | None,
    resources: ResourceOptions | Mapping[str, Any] | None,
    lifetime_seconds: float | None,
) -> Limits:
    """One `Limits` from the three places that speak of limits. Raises SandboxValidationError, TypeError."""
    base = limits_from(limits)
    changes: dict[str, Any] = {}
    if resources is not None:
        amounts = _checked_resources(resources)
        for name, value in amounts.items():
            stated = getattr(base, name)
            if limits is not None and stated != getattr(_NO_LIMITS_STATED, name) and stated != value:
                raise SandboxValidationError(f"limits and resources say different things about {name}: give it once")
        changes.update(amounts)
    if lifetime_seconds is not None:
        changes["lifetime_seconds"] = checked_timeout(lifetime_seconds, "max_lifetime_seconds")
    return dataclasses.replace(base, **changes) if changes else base


def mounted(files: Iterable[Mapping[str, Any]] | Mapping[str, bytes | str] | None) -> dict[str, bytes]:
    """path -> content. Raises SandboxValidationError."""
    if files is None:
        return {}
    if isinstance(files, str | bytes) or not isinstance(files, Iterable):
        raise SandboxValidationError(f"mounted_files must be {{path: bytes}} or a list of entries (got {quote(files)})")
    entries: dict[str, bytes] = {}
    pairs = files.items() if isinstance(files, Mapping) else [_mount(entry) for entry in files]
    for path, content in pairs:
        check_absolute(path, "mounted_files: mount_path")
        entries[path] = content_bytes(content, f"mounted_files: the content of {path}")
    return entries


def check_path(path: str) -> None:
    """Raises SandboxValidationError unless it is an absolute path inside a sandbox."""
    check_absolute("" if path is None else path, "path")


def checked_tags(tags: Iterable[str] | None) -> tuple[str, ...]:
    """Raises SandboxValidationError."""
    if tags is None:
        return ()
    if isinstance(tags, str):
        raise SandboxValidationError(f"tags must be a list of texts, not one text: [{quote(tags)}]")
    if isinstance(tags, bytes | Mapping) or not isinstance(tags, Iterable):
        raise SandboxValidationError(f"tags must be a list of texts (got {quote(tags)})")
    return tuple(checked_text(tag, "tags") for tag in tags)


def checked_annotations(annotations: Mapping[str, str] | None) -> dict[str, str]:
    """Raises SandboxValidationError."""
    return checked_texts(annotations, "annotations")


def checked_variables(variables: Mapping[str, str] | None) -> dict[str, str]:
    """Raises SandboxValidationError."""
    return {} if variables is None else checked_environment(variables, "environment_variables")


def checked_blueprint(blueprint: str | Blueprint | None) -> str | None:
    """The name or id of a blueprint. Raises SandboxValidationError."""
    if isinstance(blueprint, Blueprint):
        return blueprint.id
    return None if blueprint is None else checked_text(blueprint, "blueprint")


def checked_main(command: str | None, args: Sequence[str] | None) -> tuple[str, ...]:
    """`args` as words, `command` checked beside them. Raises SandboxValidationError."""
    if command is not None:
        checked_text(command, "command")
    if args is None:
        return ()
    if isinstance(args, str | bytes | Mapping) or not isinstance(args, Iterable):
        raise SandboxValidationError(
            f"args must be a list of words, not text: ['ls', '-l'], or ['bash', '-c', ...] (got {quote(args)})"
        )
    words = tuple(args)
    return checked_command(words) if words else ()


def checked_statuses(
    status: SandboxStatus | str | Iterable[SandboxStatus | str] | None,
) -> tuple[SandboxStatus, ...]:
    """One status or several. Raises SandboxValidationError."""
    if status is None:
        return ()
    try:
        several = (status,) if isinstance(status, str) else tuple(status)
        return tuple(SandboxStatus(str(one).lower()) for one in several)
    except (TypeError, ValueError):
        valid = ", ".join(str(one) for one in SandboxStatus)
        raise SandboxValidationError(f"status must be one or several of {valid} (got {status!r})") from None


_NO_LIMITS_STATED = Limits()
_RESOURCES = {
    "cpu": ("cpu", cores),
    "memory": ("memory_bytes", size_bytes),
    "ephemeral-storage": ("disk_bytes", size_bytes),
}


def limits_from(limits: Limits | Mapping[str, Any] | None) -> Limits:
    """Limits as they are given. Raises SandboxValidationError."""
    if isinstance(limits, Limits):
        return limits
    if limits is None:
        return _NO_LIMITS_STATED
    if not isinstance(limits, Mapping):
        raise SandboxValidationError(
            f"limits must be Limits or a mapping of its fields, as {{'pids': 64}} (got {quote(limits)})"
        )
    check_names(limits, "limits", LIMIT_NAMES)
    return Limits(**limits)


def _checked_resources(resources: ResourceOptions | Mapping[str, Any]) -> dict[str, float | int]:
    if not isinstance(resources, ResourceOptions):
        if not isinstance(resources, Mapping):
            raise SandboxValidationError(f"resources must be a mapping or ResourceOptions (got {resources!r})")
        if not resources.keys() & {"limits", "requests", "gpu"}:
            resources = {"limits": resources}
        check_names(resources, "resources", frozenset({"limits", "requests", "gpu"}))
        resources = ResourceOptions(**resources)
    if resources.gpu:
        raise SandboxValidationError("resources: gpu is not supported here: sandboxes see no devices; leave it out")
    limits = _amounts(resources.limits, "limits")
    for name, value in _amounts(resources.requests, "requests").items():
        if value > limits.get(name, value):
            raise SandboxValidationError(f"resources: requests ask for more {name} than limits allow")
    return limits


def _amounts(given: Mapping[str, Any] | None, where: str) -> dict[str, float | int]:
    if given is not None and not isinstance(given, Mapping):
        raise SandboxValidationError(f"resources: {where} must be a mapping of amounts (got {quote(given)})")
    check_names(given or {}, f"resources: {where}", frozenset(_RESOURCES))
    amounts: dict[str, float | int] = {}
    for name, value in (given or {}).items():
        limit, parse = _RESOURCES[name]
        amounts[limit] = parse(value, name)
    return amounts


def _mount(entry: Mapping[str, Any]) -> tuple[str, Any]:
    if not isinstance(entry, Mapping) or entry.keys() != {"mount_path", "file_content"}:
        raise SandboxValidationError('mounted_files: each entry must be {"mount_path": path, "file_content": bytes}')
    return entry["mount_path"], entry["file_content"]


def _main_command(command: str | None, args: Sequence[str] | None) -> tuple[str, ...] | None:
    words = (*((command,) if command is not None else ()), *checked_main(command, args))
    return checked_command(words) if words else None
