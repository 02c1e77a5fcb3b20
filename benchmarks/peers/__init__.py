"""Ways to run one program, one file each, behind `benchmarks.peers.port.Peer`."""

from __future__ import annotations

import importlib

from benchmarks.peers.port import Peer, Setting

BASELINE = "plain_subprocess"

PEERS = ("plain_subprocess", "plain_rlimit", "bubblewrap", "harena_real", "harena_warm", "harena_kept")
"""in the order in which a round runs and reports them"""


def make(name: str, setting: Setting) -> Peer:
    """The peer called `name`. Imports only that peer, so that a plain run never carries the weight of the SDK."""
    if name not in PEERS:
        raise ValueError(f"unknown peer {name!r}: choose from {', '.join(PEERS)}")
    peer: Peer = importlib.import_module(f"benchmarks.peers.{name}").make(setting)
    return peer


def unavailable(name: str) -> str | None:
    """Why the peer cannot run on this machine, or None."""
    reason: str | None = importlib.import_module(f"benchmarks.peers.{name}").unavailable()
    return reason
