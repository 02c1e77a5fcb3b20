"""harena: a fresh sandbox per program, whose program is forked from a warm interpreter."""

from __future__ import annotations

from benchmarks.peers.harena_fresh import HarenaFresh
from benchmarks.peers.harena_program import WARM_BLUEPRINT
from benchmarks.peers.harena_program import unavailable as unavailable
from benchmarks.peers.port import Setting


def make(setting: Setting) -> HarenaFresh:
    """The peer."""
    del setting
    return HarenaFresh(blueprint=WARM_BLUEPRINT)
