"""Requests for sandboxes and commands, and blueprints, as JSON types and back: what is no `Record`.

Bytes are base64 text, moments ISO 8601 with their time zone, durations seconds, enumerations their values. What is read
here comes from a server that the caller trusts to be harena, and may be another version: unknown keys are left alone,
and what cannot be understood raises KeyError, TypeError or ValueError.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from harena.core.daemons import daemons_to_json, read_daemons
from harena.core.gateways import gateways_to_json, read_gateways
from harena.core.models import Blueprint, ExecRequest, Limits, Package, SandboxSpec
from harena.core.network_policy import read_policy

Json = dict[str, Any]


def text_of(content: bytes) -> str:
    """Bytes as base64."""
    return base64.b64encode(content).decode("ascii")


def bytes_of(text: str) -> bytes:
    """The bytes that base64 text stands for. Raises ValueError."""
    return base64.b64decode(text, validate=True)


def spec_to_json(spec: SandboxSpec) -> Json:
    """What a sandbox shall be."""
    return {
        "image": spec.image,
        "blueprint": spec.blueprint,
        "env": dict(spec.env),
        "cwd": spec.cwd,
        "tags": list(spec.tags),
        "annotations": dict(spec.annotations),
        "limits": spec.limits.to_dict(),
        "profile": spec.profile,
        "files": {path: text_of(content) for path, content in spec.files.items()},
        **({} if spec.network is None else {"network": spec.network.to_json()}),
        **({} if spec.gateways is None else {"gateways": gateways_to_json(spec.gateways)}),
    }


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


def blueprint_to_json(blueprint: Blueprint) -> Json:
    """A recipe, with the content of its files."""
    return {
        "id": blueprint.id,
        "name": blueprint.name,
        "image": blueprint.image,
        "profile": blueprint.profile,
        "packages": [package.to_dict() for package in blueprint.packages],
        "requested": list(blueprint.requested),
        "files": {path: text_of(content) for path, content in blueprint.files.items()},
        "env": dict(blueprint.env),
        "warm": None if blueprint.warm is None else list(blueprint.warm),
        "layer": blueprint.layer,
        "created_at": _moment(blueprint.created_at),
        "network": blueprint.network.to_json(),
        "gateways": gateways_to_json(blueprint.gateways),
        "daemons": daemons_to_json(blueprint.daemons),
        "limits": blueprint.limits.to_dict(),
        "recipe": blueprint.recipe,
        "log": blueprint.log,
        "digest": blueprint.digest,
    }


def blueprint_from_json(read: Mapping[str, Any]) -> Blueprint:
    """A blueprint from JSON."""
    return Blueprint(
        id=read["id"],
        name=read["name"],
        image=read["image"],
        profile=read.get("profile", "strict"),
        packages=tuple(map(Package.from_dict, read["packages"])),
        requested=tuple(read["requested"]),
        files={path: bytes_of(content) for path, content in read["files"].items()},
        env=dict(read["env"]),
        warm=None if read["warm"] is None else tuple(read["warm"]),
        layer=read["layer"],
        created_at=_read_moment(read["created_at"]),
        network=read_policy(read.get("network")),
        gateways=read_gateways(read.get("gateways")),
        daemons=read_daemons(read.get("daemons")),
        limits=Limits.from_dict(read.get("limits", {})),
        recipe=read.get("recipe", ""),
        log=read.get("log", ""),
        digest=read.get("digest", ""),
    )


def _moment(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()


def _read_moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)
