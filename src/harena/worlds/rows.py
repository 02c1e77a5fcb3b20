"""The rows of an order of trajectories, as lines of JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from harena.core.records.worlds import TrajectoryOrder, WorldManifest
from harena.core.worlds import RowForm
from harena.worlds.atif import trajectory_of
from harena.worlds.episodes import Episode
from harena.worlds.network import Network
from harena.worlds.sft_rows import messages_row, text_row

WRITERS: Mapping[RowForm, Callable[[Network, WorldManifest, TrajectoryOrder, Episode], dict[str, Any]]] = {
    "atif": trajectory_of,
    "messages": messages_row,
    "text": text_row,
}


def row_line(network: Network, manifest: WorldManifest, order: TrajectoryOrder, episode: Episode) -> bytes:
    """An episode in the form that the order names: one line, with its end."""
    row = WRITERS[order.form](network, manifest, order, episode)
    return json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
