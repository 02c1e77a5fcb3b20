"""The digest of a blueprint: it names what its sandboxes are by what it holds."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING

from harena.core.daemons import daemons_to_json
from harena.core.gateways import gateways_to_json

if TYPE_CHECKING:
    from harena.core.records.blueprints import Blueprint


def blueprint_digest(blueprint: Blueprint) -> str:
    """sha256, as hexadecimal, over all of a blueprint that decides what its sandboxes are: neither its id, its name nor
    the moment when it was made. Reads its files."""
    files: Mapping[str, bytes] = blueprint.files
    decides = {
        "image": blueprint.image,
        "profile": blueprint.profile,
        "packages": sorted([package.name, package.version, package.sha256] for package in blueprint.packages),
        "files": {path: hashlib.sha256(content).hexdigest() for path, content in files.items()},
        "env": dict(blueprint.env),
        "warm": None if blueprint.warm is None else list(blueprint.warm),
        **({"network": blueprint.network.to_json()} if blueprint.network.is_on else {}),
        **({"gateways": gateways_to_json(blueprint.gateways)} if blueprint.gateways else {}),
        **({"daemons": daemons_to_json(blueprint.daemons)} if blueprint.daemons else {}),
        **({"limits": asdict(blueprint.limits)} if blueprint.limits != type(blueprint.limits)() else {}),
    }
    return hashlib.sha256(json.dumps(decides, sort_keys=True).encode("utf-8", "surrogatepass")).hexdigest()
