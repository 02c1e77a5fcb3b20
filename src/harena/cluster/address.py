"""Where the Ray cluster of this process is. Ray itself is not loaded here."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib.util import find_spec

from harena.core import settings

SLOTS = "harena_slots"
"""Ray's resource of which each worker takes one: a node declares how many workers it may have"""
_OF_RAY = "RAY_ADDRESS"
"""the environment variable that Ray sets for the program of a submitted job"""


def cluster_address(environ: Mapping[str, str] | None = None) -> str | None:
    """The address that HARENA_RAY_ADDRESS gives, else the one that Ray gives to what `ray job submit` runs; None = this
    process has no cluster."""
    variables = os.environ if environ is None else environ
    return settings.RAY_ADDRESS.read(variables) or variables.get(_OF_RAY) or None


def missing_ray() -> str | None:
    """What the user has to do before a cluster can be used; None = nothing."""
    if find_spec("ray") is not None:
        return None
    return "Ray is not installed where this node runs, nor wherever its cluster's workers do: pip install 'harena[ray]'"
