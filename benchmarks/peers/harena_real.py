"""harena: a fresh sandbox per program, and a real interpreter start in it."""

from __future__ import annotations

from benchmarks.peers.harena_fresh import HarenaFresh
from benchmarks.peers.harena_program import unavailable as unavailable
from benchmarks.peers.port import Setting


def make(setting: Setting) -> HarenaFresh:
    """The peer."""
    del setting
    return HarenaFresh(blueprint=None)
