"""How fast worlds are made, searched and played, in one process and one thread."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harena.worlds.draws import Draws
    from harena.worlds.game import Action, State
    from harena.worlds.network import Network

PRESETS = ("small", "medium", "large", "enterprise")
LENGTH = 1000
"""steps of one episode"""


def measure(*, steps: int) -> dict[str, Any]:
    """Play `steps` drawn steps of a world of each preset, refused ones included, drawing each within the time."""
    rows = {preset: _measured(preset, steps) for preset in PRESETS}
    return {"steps": steps, "rows": rows}


def _measured(preset: str, steps: int) -> dict[str, float]:
    from harena.core.records.worlds import WorldManifest
    from harena.worlds.draws import Draws
    from harena.worlds.game import beginning, followed
    from harena.worlds.generation import generate
    from harena.worlds.shortest import reachable_goals

    began = time.perf_counter()
    network = generate(WorldManifest.checked({"name": "measured", "preset": preset, "seed": 1}))
    made = time.perf_counter()
    goals = reachable_goals(network)
    searched = time.perf_counter()
    draws, refused, state = Draws("steps", preset), 0, beginning(network)
    for number in range(steps):
        if number % LENGTH == 0:
            state = beginning(network)
        after = followed(network, state, _drawn(network, state, draws))
        refused += after is None
        state = after or state
    played = time.perf_counter()
    return {
        "make_ms": 1000 * (made - began),
        "search_ms": 1000 * (searched - made),
        "goals": len(goals),
        "steps_per_second": steps / (played - searched),
        "refused": refused / steps,
    }


def _drawn(network: Network, state: State, draws: Draws) -> Action:
    from harena.worlds.game import AUTHENTICATE, ENUMERATE, ESCALATE, MOVE, Action, seen_credentials, seen_hosts

    kind = draws.below(4)
    if kind == 0 and (found := seen_credentials(network, state)):
        return Action(AUTHENTICATE, draws.one_of(found))
    if kind == 1 and (hosts := seen_hosts(network, state)):
        return Action(MOVE, draws.one_of(hosts))
    return Action(ESCALATE if kind == 2 else ENUMERATE)


def render(results: dict[str, Any]) -> list[str]:
    """Give the table of a stored result."""
    lines = [
        f"{results['steps']} steps of each world, drawn at random, in one process and one thread.",
        "",
        "| preset | to make (ms) | to search for all goals (ms) | goals | steps per second | refused |",
        "|---|---|---|---|---|---|",
    ]
    for preset, row in results["rows"].items():
        lines.append(
            f"| {preset} | {row['make_ms']:.1f} | {row['search_ms']:.1f} | {row['goals']} "
            f"| {row['steps_per_second']:,.0f} | {100 * row['refused']:.0f} % |"
        )
    return lines
