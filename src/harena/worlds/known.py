"""A cache of the networks that were generated last: a manifest gives the same network each time."""

from __future__ import annotations

from functools import lru_cache

from harena.core.records.worlds import WorldManifest
from harena.worlds.generation import generate
from harena.worlds.network import Network

MOST_KNOWN = 16


def network_of(manifest: WorldManifest) -> Network:
    """The network of a manifest. May take a tenth of a second."""
    return _made(manifest.preset, manifest.seed, manifest.num_users, manifest.num_hosts, tuple(manifest.domains))


@lru_cache(maxsize=MOST_KNOWN)
def _made(preset: str, seed: int, num_users: int, num_hosts: int, domains: tuple[str, ...]) -> Network:
    told = {"preset": preset, "seed": seed, "num_users": num_users, "num_hosts": num_hosts, "domains": domains}
    return generate(WorldManifest.checked({"name": "known", **told}))
