"""Players that need no model. Each draws its next action from those that it prefers:

    random        any tool, with anything that was seen here; the tool may refuse
    smart-random  any action that changes something, and home only where there is no other
    greedy        in this order: to authenticate as a principal that it never was, to escalate, to enumerate, to move
                  where it has not moved as this principal; where nothing is new it plays as smart-random, and it gives
                  up when nothing has been new for a while
    recon-first   enumerates and escalates before it does anything else, and then does what it has done least often

No player looks at more of the network than its tools have told it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from harena.core.worlds import Strategy
from harena.worlds.draws import Draws
from harena.worlds.game import (
    AUTHENTICATE,
    ENUMERATE,
    ESCALATE,
    HOME_PLACE,
    MOVE,
    Action,
    State,
    beginning,
    seen_credentials,
    seen_hosts,
)
from harena.worlds.network import Network

_PATIENCE = 100
"""steps without anything new after which greedy gives up"""


@dataclass
class Memory:
    """What a player knows of an episode so far."""

    network: Network
    draws: Draws
    state: State
    principals: set[int] = field(default_factory=set)
    """principals that the player has acted as"""
    moves: dict[tuple[int, Action], int] = field(default_factory=dict)
    """(principal, move) -> how often the player made that move as this principal"""
    uses: dict[int, int] = field(default_factory=dict)
    """credential -> how often it was used"""
    idle: int = 0
    """steps since the player became a new principal, or moved where it had not moved as that principal"""

    def note(self, action: Action, after: State) -> None:
        """Remember an action and the state that it has led to."""
        known = len(self.principals) + len(self.moves)
        if action.tool is MOVE:
            move = self.state.principal, action
            self.moves[move] = self.moves.get(move, 0) + 1
        elif action.tool is AUTHENTICATE:
            self.uses[action.place] = self.uses.get(action.place, 0) + 1
        self.state = after
        self.principals.add(after.principal)
        self.idle = self.idle + 1 if known == len(self.principals) + len(self.moves) else 0


Player = Callable[[Memory], Action | None]
"""None = it gives up"""


def begun(network: Network, draws: Draws) -> Memory:
    """A player's memory at the beginning."""
    state = beginning(network)
    return Memory(network, draws, state, {state.principal})


def _useful(memory: Memory) -> Iterator[Action]:
    """Actions that change something, as far as a player can know."""
    network, state = memory.network, memory.state
    if not state.mapped or state.seen < (2 if state.escalated else 1):
        yield Action(ENUMERATE)
    if state.mapped and not state.escalated and state.host in network.admin[state.principal]:
        yield Action(ESCALATE)
    for place in seen_credentials(network, state):
        if network.credentials[place].principal != state.principal:
            yield Action(AUTHENTICATE, place)
    for host in seen_hosts(network, state):
        if host != state.host:
            yield Action(MOVE, host)
    if (state.principal, state.host) != network.home:
        yield Action(MOVE, HOME_PLACE)


def _random(memory: Memory) -> Action:
    network, state = memory.network, memory.state
    kinds = [ENUMERATE, ESCALATE, MOVE]
    credentials = seen_credentials(network, state)
    tool = memory.draws.one_of([*kinds, AUTHENTICATE] if credentials else kinds)
    if tool is AUTHENTICATE:
        return Action(tool, memory.draws.one_of(credentials))
    if tool is MOVE:
        return Action(tool, memory.draws.one_of([HOME_PLACE, *seen_hosts(network, state)]))
    return Action(tool)


def _smart_random(memory: Memory) -> Action | None:
    useful = [*_useful(memory)]
    onward = [action for action in useful if action.place != HOME_PLACE]
    return memory.draws.one_of(onward or useful) if useful else None


def _greedy(memory: Memory) -> Action | None:
    network, useful = memory.network, [*_useful(memory)]
    who = memory.state.principal
    new_people = [
        action
        for action in useful
        if action.tool is AUTHENTICATE and network.credentials[action.place].principal not in memory.principals
    ]
    for best in (
        new_people,
        [action for action in useful if action.tool is ESCALATE],
        [action for action in useful if action.tool is ENUMERATE],
        [action for action in useful if action.tool is MOVE and (who, action) not in memory.moves],
    ):
        if best:
            return memory.draws.one_of(best)
    return None if memory.idle >= _PATIENCE else _smart_random(memory)


def _recon_first(memory: Memory) -> Action | None:
    useful = [*_useful(memory)]
    for tool in (ENUMERATE, ESCALATE):
        if found := [action for action in useful if action.tool is tool]:
            return found[0]
    who = memory.state.principal
    counted = [
        (
            memory.moves.get((who, action), 0) if action.tool is MOVE else memory.uses.get(action.place, 0),
            action.place == HOME_PLACE,
            action.tool is MOVE,
            action,
        )
        for action in useful
    ]
    least = min((entry[:3] for entry in counted), default=None)
    return None if least is None else memory.draws.one_of([entry[3] for entry in counted if entry[:3] == least])


PLAYERS: Mapping[Strategy, Player] = {
    "random": _random,
    "greedy": _greedy,
    "recon-first": _recon_first,
    "smart-random": _smart_random,
}
"""strategy -> its player"""
