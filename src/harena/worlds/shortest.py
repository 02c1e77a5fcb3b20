"""Shortest ways to goals: a breadth-first search over the states that can be reached.

Two rules keep it small. Where a principal can move depends on the principal alone, so its moves are followed only from
the first state in which the player knows of them: from later states they lead to the same states, and not earlier.
Moves home are not followed at all: they lead to the beginning, where the search has begun.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from harena.worlds.game import (
    AUTHENTICATE,
    ENUMERATE,
    ESCALATE,
    MOVE,
    Action,
    Goal,
    State,
    beginning,
    episode_return,
    followed,
    seen_credentials,
)
from harena.worlds.network import Network


@dataclass(frozen=True, slots=True)
class ReachableGoal:
    """A group of which a player can become a member."""

    name: str
    steps: int
    """steps of a shortest way"""

    @property
    def optimal_return(self) -> float:
        """The highest return of an episode."""
        return episode_return(reached=True, steps=self.steps)


def shortest_way(network: Network, goal: Goal) -> tuple[Action, ...] | None:
    """Actions of a shortest way from the beginning to a goal; None = there is none."""
    came: dict[State, tuple[State, Action] | None] = {}
    for state, before in _states(network):
        came[state] = before
        if state.principal in goal.principals:
            actions = []
            while before is not None:
                actions.append(before[1])
                before = came[before[0]]
            return tuple(reversed(actions))
    return None


def reachable_goals(network: Network) -> tuple[ReachableGoal, ...]:
    """Every group of which a player is no member at the beginning and can become one, the nearest first."""
    depth: dict[State, int] = {}
    first: dict[int, int] = {}
    for state, before in _states(network):
        depth[state] = 0 if before is None else depth[before[0]] + 1
        if state.principal not in first:
            first[state.principal] = depth[state]
    steps: dict[int, int] = {}
    for principal, least in first.items():
        for group in network.memberships[principal]:
            steps[group] = min(steps.get(group, least), least)
    found = [ReachableGoal(network.groups[group].name, least) for group, least in steps.items() if least]
    return tuple(sorted(found, key=lambda one: (one.steps, one.name)))


def _states(network: Network) -> Iterator[tuple[State, tuple[State, Action] | None]]:
    """Each state that can be reached, the nearest first, with the state and the action that lead to it."""
    begin = beginning(network)
    waiting: deque[tuple[State, tuple[State, Action] | None]] = deque([(begin, None)])
    known, has_moved = {begin}, set[int]()
    while waiting:
        state, before = waiting.popleft()
        yield state, before
        for action in _actions(network, state, has_moved):
            after = followed(network, state, action)
            if after is not None and after not in known:
                known.add(after)
                waiting.append((after, (state, action)))


def _actions(network: Network, state: State, has_moved: set[int]) -> Iterator[Action]:
    yield Action(ENUMERATE)
    yield Action(ESCALATE)
    for credential in seen_credentials(network, state):
        yield Action(AUTHENTICATE, credential)
    if state.mapped and state.principal not in has_moved:
        has_moved.add(state.principal)
        for host in network.targets[state.principal]:
            yield Action(MOVE, host)
