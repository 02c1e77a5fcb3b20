"""Requests for sandboxes and commands as JSON types: bytes are base64 text, durations seconds."""

from __future__ import annotations

from typing import Any

from harena.core.gateways import gateways_to_json
from harena.core.models import ExecRequest, SandboxSpec
from harena.core.records.record import text_of

Json = dict[str, Any]


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
