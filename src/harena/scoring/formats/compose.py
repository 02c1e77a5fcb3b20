"""docker-compose files of task directories, where one service is all that a task needs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harena.scoring.formats.dockerfile import inside, text_of
from harena.scoring.formats.rows import FieldError, shown
from harena.scoring.reading import read_yaml

NAMES = ("docker-compose.yaml", "docker-compose.yml", "compose.yaml", "compose.yml")
_VARIABLE = re.compile(r"\$(?:\{(\w+)(?::?(-)([^{}]*))?\}|(\w+))|\$\$")
_OF_THE_HARNESS = re.compile(r"(?:T_BENCH|HARBOR|HOST|CONTAINER|MAIN|TEST|CPUS|MEMORY|PREBUILT|CONTEXT)_?\w*")
"""variables that the programs which run such tasks set: names of images and of folders of theirs"""
_WITHOUT_EFFECT = frozenset({
    "attach", "command", "container_name", "depends_on", "deploy", "entrypoint", "expose", "healthcheck", "hostname",
    "init", "labels", "logging", "networks", "platform", "ports", "profiles", "pull_policy", "restart", "shm_size",
    "stdin_open", "stop_grace_period", "stop_signal", "tmpfs", "tty", "ulimits", "volumes",
})  # fmt: skip
_READ = frozenset({"build", "cpus", "env_file", "environment", "image", "mem_limit", "network_mode", "user",
                   "working_dir"})  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class ComposeTask:
    """The one service."""

    image: str | None
    """what it runs where nothing is built"""
    context: Path | None
    """None = nothing is built"""
    dockerfile: Path | None
    arguments: Mapping[str, str] = field(default_factory=dict)
    target: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)
    workdir: str | None = None
    user: str | None = None
    has_no_network: bool = False


def compose_file(folder: Path) -> Path | None:
    """The file, where the folder has one."""
    return next((folder / name for name in NAMES if (folder / name).is_file()), None)


def read_compose(task: Path, file: Path, variables: Mapping[str, str]) -> ComposeTask:
    """`variables`: those that the harness sets; others are their defaults. Raises FieldError for what one sandbox
    cannot be: several services, mounts of the host's folders, rights beyond a container's."""
    try:
        return _read(task, file, variables)
    except FieldError as error:
        name = error.field or "services"
        raise FieldError(f"{file.name}: {name}", error.message) from None


def _read(task: Path, file: Path, variables: Mapping[str, str]) -> ComposeTask:
    document = read_yaml(text_of(inside(task, file.relative_to(task).as_posix())), file.name).content
    containers = document.get("services") if isinstance(document, Mapping) else None
    if not isinstance(containers, Mapping) or not containers:
        raise FieldError("services", "must be a mapping of services")
    if len(containers) > 1:
        raise FieldError(
            "services",
            f"{', '.join(map(str, containers))}: a task of several containers is not carried out, one sandbox runs a "
            "task; start what the others do in the image of one (RUN, test.sh, solve.sh)",
        )
    ((name, container),) = containers.items()
    if not isinstance(container, Mapping):
        raise FieldError(str(name), "must be a mapping")
    for key in container:
        if key not in _WITHOUT_EFFECT and key not in _READ:
            raise FieldError(f"{name}.{key}", "is not carried out; leave it out, or say it in the Dockerfile")
    _check_volumes(str(name), container.get("volumes") or [])
    if container.get("env_file"):
        raise FieldError(f"{name}.env_file", "is not read; write the variables under environment")
    context, dockerfile, arguments, target = _build(task, file, str(name), container.get("build"), variables)
    image = container.get("image")
    if context is None and not (isinstance(image, str) and _filled(image, variables)):
        if not (file.parent / "Dockerfile").is_file():
            raise FieldError(str(name), "has neither build nor image")
        context, dockerfile = file.parent, file.parent / "Dockerfile"
    user = container.get("user")
    return ComposeTask(
        image=_filled(image, variables) if context is None and isinstance(image, str) else None,
        context=context,
        dockerfile=dockerfile,
        arguments=arguments,
        target=target,
        environment=_pairs(f"{name}.environment", container.get("environment"), variables),
        workdir=_filled(str(container["working_dir"]), variables) if container.get("working_dir") else None,
        user=None if user in (None, "") else _filled(str(user), variables),
        has_no_network=container.get("network_mode") == "none",
    )


def _build(
    task: Path, file: Path, name: str, said: Any, variables: Mapping[str, str]
) -> tuple[Path | None, Path | None, Mapping[str, str], str]:
    if said is None:
        return None, None, {}, ""
    if isinstance(said, str):
        said = {"context": said}
    if not isinstance(said, Mapping):
        raise FieldError(f"{name}.build", f"must be a folder or a mapping, not {shown(said)}")
    for key in said:
        if key not in ("args", "cache_from", "context", "dockerfile", "labels", "network", "pull", "target"):
            raise FieldError(f"{name}.build.{key}", "is not carried out")
    written = _filled(str(said.get("context") or "."), variables) or "."
    if "://" in written:
        raise FieldError(f"{name}.build.context", f"{written} would have to be downloaded; put it into the task")
    context = inside(task, (file.parent.relative_to(task) / written).as_posix())
    dockerfile = inside(task, (context.relative_to(task.resolve()) / _dockerfile(said, variables)).as_posix())
    if not dockerfile.is_file():
        raise FieldError(f"{name}.build.dockerfile", f"{dockerfile.name} is not in {context.name or context}")
    target = _filled(str(said.get("target") or ""), variables)
    return context, dockerfile, _pairs(f"{name}.build.args", said.get("args"), variables), target


def _dockerfile(said: Mapping[str, Any], variables: Mapping[str, str]) -> str:
    return _filled(str(said.get("dockerfile") or "Dockerfile"), variables)


def _check_volumes(name: str, volumes: Any) -> None:
    """Named volumes are folders of the sandbox; folders of the harness are those that harena has itself."""
    if not isinstance(volumes, list):
        raise FieldError(f"{name}.volumes", f"must be a list, not {shown(volumes)}")
    for volume in volumes:
        source = volume.get("source", "") if isinstance(volume, Mapping) else str(volume).partition(":")[0]
        found = _VARIABLE.match(str(source))
        is_harness = found is not None and _OF_THE_HARNESS.fullmatch(found[1] or found[4] or "") is not None
        is_mount = str(source).startswith((".", "/", "~", "$")) and (isinstance(volume, Mapping) or ":" in volume)
        if is_mount and not is_harness:
            raise FieldError(f"{name}.volumes", f"{source} is a folder of the host, which no sandbox sees; COPY it")


def _pairs(place: str, said: Any, variables: Mapping[str, str]) -> dict[str, str]:
    if said is None:
        return {}
    if isinstance(said, list):
        pairs = dict(str(entry).partition("=")[::2] for entry in said)
    elif isinstance(said, Mapping):
        pairs = {str(key): _plain(value) for key, value in said.items()}
    else:
        raise FieldError(place, f"must be a mapping or a list, not {shown(said)}")
    return {key: _filled(value, variables) for key, value in pairs.items()}


def _plain(value: Any) -> str:
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _filled(text: str, variables: Mapping[str, str]) -> str:
    """Variables of the host are never read."""

    def value(found: re.Match[str]) -> str:
        if found[0] == "$$":
            return "$"
        return variables.get(found[1] or found[4], "") or found[3] or ""

    return _VARIABLE.sub(value, text)
