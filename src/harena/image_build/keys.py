"""Keys of steps: what a step has made is taken as it is where all that it depends on is the same.

That is the image before it, the step with its variables, working directory and user, all that the image says of its
programs by then, and the names, modes and contents of the files that it copies. Times of files do not count, and the
contents of secrets and caches do not either. What a command may reach counts.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict

from harena.core.image_configs import ImageConfig
from harena.core.network_policy import NetworkPolicy
from harena.image_build.planning import LayerStep

_VERSION = 1
_NOT_COUNTED = ("line", "text", "hidden")


def step_key(parent: str, step: LayerStep, config: ImageConfig, contents: Sequence[str]) -> str:
    """sha256 in hexadecimal digits. `parent`: the key of the step before, or the digest of the image that the stage
    begins with; `contents`: digests of what is copied or mounted."""
    told = {name: value for name, value in asdict(step).items() if name not in _NOT_COUNTED}
    if "from_" in told:
        told["from_"] = None  # the same content may come from another stage
    return _digest([_VERSION, parent, type(step).__name__, told, config.to_dict(), list(contents)])


def network_words(policy: NetworkPolicy) -> Sequence[str]:
    """What a command could reach, as a part of its key: what it has made depends on that. None where there was no
    network."""
    if not policy.is_on:
        return []
    told = {"allow": sorted(policy.allow), "deny": sorted(policy.deny), "proxy_only": policy.proxy_only}
    return [f"network {json.dumps(told)}"]


def end_key(parent: str, config: ImageConfig) -> str:
    """The key of a stage's image: its last step, and what it says of its programs."""
    return _digest([_VERSION, parent, "end", config.to_dict()])


def cache_key(name: str) -> str:
    """The key of a cache that RUN mounts."""
    return _digest([_VERSION, "cache", name])


def _digest(told: Sequence[object]) -> str:
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()
