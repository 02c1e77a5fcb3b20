"""What a sandbox was made of: the image, the blueprint and the profile, by what they hold and not by their names."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harena.core.gateways import gateways_to_json
from harena.core.profiles import Profile

if TYPE_CHECKING:
    from harena.core.models import Blueprint

DEFAULT_IMAGE = f"python:{sys.version_info.major}.{sys.version_info.minor}.{sys.version_info.micro}"
"""what stands for the digest of the default image, which is the node's own interpreter"""


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxOrigin:
    """What one sandbox was made of. Two with the same origin begin with the same content."""

    image_digest: str = DEFAULT_IMAGE
    """`sha256:...` of the image or snapshot; for the default image the name of its interpreter, as `python:3.11.2`"""
    blueprint_digest: str = ""
    """`Blueprint.digest`; empty = no blueprint"""
    profile: Profile = "strict"
    """what programs may do inside"""


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
    }
    return hashlib.sha256(json.dumps(decides, sort_keys=True).encode("utf-8", "surrogatepass")).hexdigest()
