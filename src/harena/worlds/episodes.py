"""Episodes, played by a strategy or replayed from the calls of a model. No I/O: the same network, order and number give
the same episode."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from harena.core.records.worlds import TrajectoryOrder
from harena.core.worlds import Termination
from harena.worlds.draws import Draws
from harena.worlds.game import Action, Goal, State, action_of, beginning, episode_return, followed
from harena.worlds.network import Network
from harena.worlds.strategies import PLAYERS, begun

Call = tuple[str, Mapping[str, str]]
"""a tool and its arguments"""


class EpisodeStep(NamedTuple):
    """One step of an episode."""

    before: State
    action: Action
    after: State | None
    """None = the action was refused"""


@dataclass(frozen=True, slots=True)
class Episode:
    """One episode from its beginning to its end."""

    number: int
    goal: Goal
    steps: tuple[EpisodeStep, ...]
    termination: Termination

    @property
    def reached(self) -> bool:
        """The goal was reached."""
        return self.termination == "finished"

    @property
    def value(self) -> float:
        """The episode's return."""
        return episode_return(reached=self.reached, steps=len(self.steps))


def play(network: Network, goal: Goal, order: TrajectoryOrder, number: int) -> Episode:
    """The episode of this number of an order."""
    player = PLAYERS[order.strategy]
    memory = begun(network, Draws("episode", network.digest, order.strategy, order.seed, number))
    steps: list[EpisodeStep] = []
    termination: Termination = "max_steps_reached"
    while len(steps) < order.max_steps:
        action = player(memory)
        if action is None:
            termination = "stalled"
            break
        before = memory.state
        after = followed(network, before, action)
        steps.append(EpisodeStep(before, action, after))
        memory.note(action, after or before)
        if memory.state.principal in goal.principals:
            termination = "finished"
            break
    return Episode(number, goal, tuple(steps), termination)


def replayed_calls(network: Network, goal: Goal, order: TrajectoryOrder, number: int, calls: Sequence[Call]) -> Episode:
    """Replay a player's calls as an episode. Calls after its end are ignored. Raises ValueError for a call that no tool
    takes."""
    steps: list[EpisodeStep] = []
    state = beginning(network)
    for tool, arguments in calls[: order.max_steps]:
        action = action_of(network, tool, arguments)
        after = followed(network, state, action)
        steps.append(EpisodeStep(state, action, after))
        state = after or state
        if state.principal in goal.principals:
            return Episode(number, goal, tuple(steps), "finished")
    is_cut = len(steps) == order.max_steps
    return Episode(number, goal, tuple(steps), "max_steps_reached" if is_cut else "stalled")


def kept_episodes(network: Network, goal: Goal, order: TrajectoryOrder) -> Iterator[Episode]:
    """Episodes of an order, in the order of their numbers, without those that it leaves out."""
    for number in range(order.count):
        episode = play(network, goal, order, number)
        if episode.reached or not order.only_successful:
            yield episode
