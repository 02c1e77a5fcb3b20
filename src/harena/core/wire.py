"""The nouns as JSON types and back: one shape for every transport.

Bytes are base64 text, moments ISO 8601 with their time zone, durations seconds, enumerations their values. What is read
here comes from a server that the caller trusts to be harena, and may be another version: unknown keys are left alone,
and what cannot be understood raises KeyError, TypeError or ValueError.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from datetime import datetime
from typing import Any

from harena.core.daemons import daemons_to_json, read_daemons
from harena.core.gateways import gateways_to_json, read_gateways
from harena.core.models import (
    Blueprint,
    BlueprintsPage,
    BlueprintSummary,
    ExecOutcome,
    ExecRequest,
    ExecResult,
    FileInfo,
    Limits,
    Package,
    ProcessInfo,
    ResourceUsage,
    SandboxInfo,
    SandboxSpec,
    SandboxStatus,
)
from harena.core.network_policy import read_policy

Json = dict[str, Any]


def text_of(content: bytes) -> str:
    """Bytes as base64."""
    return base64.b64encode(content).decode("ascii")


def bytes_of(text: str) -> bytes:
    """The bytes that base64 text stands for. Raises ValueError."""
    return base64.b64decode(text, validate=True)


def limits_to_json(limits: Limits) -> Json:
    """Every field by its name."""
    return asdict(limits)


def limits_from_json(read: Mapping[str, Any]) -> Limits:
    """Limits from JSON; fields that are not named have their defaults."""
    return Limits(**{field.name: read[field.name] for field in fields(Limits) if field.name in read})


def spec_to_json(spec: SandboxSpec) -> Json:
    """What a sandbox shall be."""
    return {
        "image": spec.image,
        "blueprint": spec.blueprint,
        "env": dict(spec.env),
        "cwd": spec.cwd,
        "tags": list(spec.tags),
        "annotations": dict(spec.annotations),
        "limits": limits_to_json(spec.limits),
        "profile": spec.profile,
        "files": {path: text_of(content) for path, content in spec.files.items()},
        **({} if spec.network is None else {"network": spec.network.to_json()}),
        **({} if spec.gateways is None else {"gateways": gateways_to_json(spec.gateways)}),
    }


def info_to_json(info: SandboxInfo) -> Json:
    """What is known of a sandbox."""
    return {
        "id": info.id,
        "status": info.status.value,
        "image": info.image,
        "blueprint": info.blueprint,
        "tags": list(info.tags),
        "annotations": dict(info.annotations),
        "limits": limits_to_json(info.limits),
        "enforcement": dict(info.enforcement),
        "created_at": _moment(info.created_at),
        "profile": info.profile,
        "image_digest": info.image_digest,
        "blueprint_digest": info.blueprint_digest,
        "started_at": _moment(info.started_at),
        "stopped_at": _moment(info.stopped_at),
        "expires_at": _moment(info.expires_at),
        "status_reason": info.status_reason,
    }


def info_from_json(read: Mapping[str, Any]) -> SandboxInfo:
    """A sandbox's info from JSON. A status of a later version is read as UNSPECIFIED."""
    known = set(SandboxStatus)
    return SandboxInfo(
        id=read["id"],
        status=SandboxStatus(read["status"]) if read["status"] in known else SandboxStatus.UNSPECIFIED,
        image=read["image"],
        blueprint=read["blueprint"],
        tags=tuple(read["tags"]),
        annotations=dict(read["annotations"]),
        limits=limits_from_json(read["limits"]),
        enforcement=dict(read["enforcement"]),
        created_at=datetime.fromisoformat(read["created_at"]),
        profile=read.get("profile", "strict"),  # servers before it have no other
        image_digest=read.get("image_digest", ""),
        blueprint_digest=read.get("blueprint_digest", ""),
        started_at=_read_moment(read["started_at"]),
        stopped_at=_read_moment(read["stopped_at"]),
        expires_at=_read_moment(read["expires_at"]),
        status_reason=read["status_reason"],
    )


def request_to_json(request: ExecRequest) -> Json:
    """A command."""
    return {
        "argv": list(request.argv),
        "env": dict(request.env),
        "cwd": request.cwd,
        "user": request.user,
        "timeout_seconds": request.timeout_seconds,
        "stdin": None if request.stdin is None else text_of(request.stdin),
        "stdin_stream": request.stdin_stream,
        "output_bytes": request.output_bytes,
        "cpu_seconds": request.cpu_seconds,
        "terminal": None if request.terminal is None else list(request.terminal),
        "warm": request.warm,
        "guarded": request.guarded,
    }


def result_to_json(result: ExecResult) -> Json:
    """How a command ended. Its output is not in it, only how much there was: that has travelled already."""
    return {
        "outcome": result.outcome.value,
        "returncode": result.returncode,
        "stdout_bytes": len(result.stdout),
        "stderr_bytes": len(result.stderr),
        "stdout_truncated": result.stdout_truncated,
        "stderr_truncated": result.stderr_truncated,
        "duration_seconds": result.duration_seconds,
        "usage": asdict(result.usage),
        "run_delay_seconds": result.run_delay_seconds,
        "warm": result.warm,
    }


def result_from_json(read: Mapping[str, Any], *, stdout: bytes, stderr: bytes) -> ExecResult:
    """An exec's result from JSON, with its output. Raises ValueError if the output is not as long as was sent."""
    for name, content in (("stdout_bytes", stdout), ("stderr_bytes", stderr)):
        if read[name] != len(content):
            raise ValueError(f"{name} is {read[name]}, and {len(content)} bytes have arrived")
    usage = read["usage"]
    return ExecResult(
        outcome=ExecOutcome(read["outcome"]),
        returncode=read["returncode"],
        stdout=stdout,
        stderr=stderr,
        stdout_truncated=read["stdout_truncated"],
        stderr_truncated=read["stderr_truncated"],
        duration_seconds=read["duration_seconds"],
        usage=ResourceUsage(**{field.name: usage[field.name] for field in fields(ResourceUsage)}),
        run_delay_seconds=read["run_delay_seconds"],
        warm=read["warm"],
    )


def file_to_json(file: FileInfo) -> Json:
    """A directory entry. Names that are not UTF-8 keep their bytes as halves of surrogate pairs."""
    return asdict(file)


def file_from_json(read: Mapping[str, Any]) -> FileInfo:
    """A file's entry from JSON."""
    return FileInfo(**{field.name: read[field.name] for field in fields(FileInfo)})


def process_to_json(process: ProcessInfo) -> Json:
    """A process inside."""
    return {**asdict(process), "command": list(process.command)}


def process_from_json(read: Mapping[str, Any]) -> ProcessInfo:
    """A process from JSON."""
    return ProcessInfo(
        pid=read["pid"], parent_pid=read["parent_pid"], state=read["state"], command=tuple(read["command"])
    )


def blueprint_to_json(blueprint: Blueprint) -> Json:
    """A recipe, with the content of its files."""
    return {
        "id": blueprint.id,
        "name": blueprint.name,
        "image": blueprint.image,
        "profile": blueprint.profile,
        "packages": [asdict(package) for package in blueprint.packages],
        "requested": list(blueprint.requested),
        "files": {path: text_of(content) for path, content in blueprint.files.items()},
        "env": dict(blueprint.env),
        "warm": None if blueprint.warm is None else list(blueprint.warm),
        "layer": blueprint.layer,
        "created_at": _moment(blueprint.created_at),
        "network": blueprint.network.to_json(),
        "gateways": gateways_to_json(blueprint.gateways),
        "daemons": daemons_to_json(blueprint.daemons),
        "limits": limits_to_json(blueprint.limits),
        "recipe": blueprint.recipe,
        "log": blueprint.log,
        "digest": blueprint.digest,
    }


def summary_to_json(summary: BlueprintSummary) -> Json:
    """What a list tells of a recipe."""
    return {**asdict(summary), "created_at": _moment(summary.created_at)}


def blueprints_page_to_json(page: BlueprintsPage) -> Json:
    """Some of a list of recipes."""
    return {"blueprints": [*map(summary_to_json, page.blueprints)], "next_cursor": page.next_cursor}


def blueprints_page_from_json(read: Mapping[str, Any]) -> BlueprintsPage:
    """Some of a list of recipes, from JSON."""
    return BlueprintsPage([*map(summary_from_json, read["blueprints"])], read["next_cursor"])


def summary_from_json(read: Mapping[str, Any]) -> BlueprintSummary:
    """What a list tells of a recipe, from JSON."""
    return BlueprintSummary(
        id=read["id"],
        name=read["name"],
        image=read["image"],
        profile=read.get("profile", "strict"),
        packages=_packages(read["packages"]),
        requested=tuple(read["requested"]),
        warm=None if read["warm"] is None else tuple(read["warm"]),
        layer=read["layer"],
        created_at=_read_moment(read["created_at"]),
        files=read["files"],
        file_bytes=read["file_bytes"],
        digest=read.get("digest", ""),
    )


def _packages(read: Sequence[Mapping[str, Any]]) -> tuple[Package, ...]:
    return tuple(Package(**{field.name: entry[field.name] for field in fields(Package)}) for entry in read)


def blueprint_from_json(read: Mapping[str, Any]) -> Blueprint:
    """A blueprint from JSON."""
    return Blueprint(
        id=read["id"],
        name=read["name"],
        image=read["image"],
        profile=read.get("profile", "strict"),
        packages=_packages(read["packages"]),
        requested=tuple(read["requested"]),
        files={path: bytes_of(content) for path, content in read["files"].items()},
        env=dict(read["env"]),
        warm=None if read["warm"] is None else tuple(read["warm"]),
        layer=read["layer"],
        created_at=_read_moment(read["created_at"]),
        network=read_policy(read.get("network")),
        gateways=read_gateways(read.get("gateways")),
        daemons=read_daemons(read.get("daemons")),
        limits=limits_from_json(read.get("limits", {})),
        recipe=read.get("recipe", ""),
        log=read.get("log", ""),
        digest=read.get("digest", ""),
    )


def _moment(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()


def _read_moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)
