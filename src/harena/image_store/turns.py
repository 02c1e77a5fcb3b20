"""Which work on images only few may do at one time."""

from __future__ import annotations

from dataclasses import dataclass, field

from harena.core.turns import Turns

_UNPACKED_AT_ONCE, _UNPACKED_BY_ONE = 4, 2
"""layers and archives that are unpacked at one time, by the node and by one workspace; each takes a processor"""
_FETCHED_AT_ONCE, _FETCHED_BY_ONE = 64, 4
"""Images that are pulled, imported or exported at one time: each takes programs, and room beyond the budget. One turn
lasts as long as a slow registry or upload, so that a few workspaces with nothing else do not take all."""
_SEALED_AT_ONCE, _SEALED_BY_ONE = 4, 2
"""layers of sandboxes that are sealed at one time, each by a process of its own"""


@dataclass(frozen=True, slots=True)
class ImageTurns:
    """What the stores of all workspaces of a node share."""

    fetching: Turns = field(default_factory=lambda: Turns(_FETCHED_AT_ONCE, _FETCHED_BY_ONE))
    unpacking: Turns = field(default_factory=lambda: Turns(_UNPACKED_AT_ONCE, _UNPACKED_BY_ONE))
    sealing: Turns = field(default_factory=lambda: Turns(_SEALED_AT_ONCE, _SEALED_BY_ONE))
