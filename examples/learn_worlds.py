"""A tiny policy learns to explore worlds, and is judged in worlds that it never saw.

    python examples/learn_worlds.py [--seed 0] [--updates 200] [--out FOLDER]

The policy scores each action that lies open by sixteen numbers of what it remembers of its own episode (has it been
told what is here, was it this principal before, how often did it move there, ...) and draws from the softmax of the
scores: sixteen weights, zero in the beginning, which is a random player. It sees no more of a world than its tools have
told it. It learns on goals near and far, since a random player reaches the near ones now and then, and is judged by the
farthest. Episodes of one world are a group; a group's advantages are harena's (`harena.training.loop.advantages`), and
the gradient is REINFORCE's (Williams 1992). Beside it a control learns in the same way from rewards that were shuffled
within each group, and so has nothing to learn from.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import numpy as np

from harena.core.records.worlds import WorldManifest
from harena.training.loop.advantages import advantages
from harena.worlds.draws import Draws
from harena.worlds.game import (
    AUTHENTICATE,
    ENUMERATE,
    ESCALATE,
    HOME_PLACE,
    MOVE,
    Action,
    Goal,
    State,
    episode_return,
    followed,
    goal_of,
    seen_credentials,
    seen_hosts,
)
from harena.worlds.generation import generate
from harena.worlds.network import Network
from harena.worlds.shortest import shortest_way
from harena.worlds.strategies import Memory, begun

FEATURES = (
    *("enumerate: news", "enumerate: no news"),
    *("escalate: was told that it can", "escalate: otherwise"),
    *("authenticate: new principal", "authenticate: known principal", "authenticate: times used"),
    "authenticate: how much the principal may still find",
    *("move: not looked at yet as this principal", "move: looked at", "move: times"),
    "move: how much others whose credentials lie there may still find",
    *("home", "stays here", "move: nothing is left here", "home: nothing is left here"),
)
GOALS = ("Help Desk", "Server Admins", "Domain Admins")
"""from near to far: a random player reaches the first now and then, and so there is something to learn from"""
LEARNING_STEPS, JUDGED_STEPS = 250, 500
"""most steps of an episode that is learned from, and of one that is judged"""
GROUP, WORLDS = 8, 12
"""episodes of a world, and worlds, of one update"""
STEP_LENGTH = 0.6
"""how far the weights go with the first update, along the mean of the last gradients, and evenly less until the last"""
MOMENTUM = 0.7
MOST_TIMES = 10
"""a count above it counts as this"""


@dataclass(frozen=True)
class World:
    """A world, its goal, and the return that no player can exceed."""

    network: Network
    goal: Goal
    best: float


@dataclass(frozen=True)
class Played:
    """One episode: what it earned, and the gradient of its log-probability."""

    earned: float
    reached: bool
    steps: int
    gradient: np.ndarray


def drawn_world(seed: int, preset: str, goal_name: str = GOALS[-1]) -> World:
    """The world of this seed."""
    network = generate(WorldManifest.checked({"name": "drawn", "preset": preset, "seed": seed}))
    goal = goal_of(network, goal_name)
    way = shortest_way(network, goal)
    if way is None:
        raise ValueError(f"no way leads to {goal.name} in world {seed}")
    return World(network, goal, episode_return(reached=True, steps=len(way)))


class Notes:
    """What a player writes down of its episode, from what its tools have told it."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self.hosts: dict[int, tuple[int, ...]] = {}
        """principal that it was -> hosts that it was told of as this principal"""
        self.tried: set[tuple[int, int]] = set()
        """(principal, host): it was there as this principal, and looked around"""
        self.lie: dict[tuple[int, int], set[int]] = {}
        """(principal, host) -> principals whose credentials it saw there as this principal"""

    def note(self, state: State) -> None:
        """It is in this state now."""
        if state.mapped:
            self.hosts[state.principal] = seen_hosts(self.network, state)
        if state.seen:
            self.tried.add((state.principal, state.host))
            found = self.lie.setdefault((state.principal, state.host), set())
            found.update(self.network.credentials[place].principal for place in seen_credentials(self.network, state))

    def untried(self, principal: int) -> float:
        """How much this principal may still find: 1 for one that it never was, else by the number of hosts that it was
        told of and has not looked at as this principal."""
        if principal not in self.hosts:
            return 1.0
        return _share(sum((principal, host) not in self.tried for host in self.hosts[principal]))

    def leads_on(self, host: int, principal: int) -> float:
        """How much others may still find whose credentials this principal saw on a host."""
        return max(
            (self.untried(other) for other in self.lie.get((principal, host), ()) if other != principal), default=0.0
        )


def open_actions(memory: Memory, notes: Notes) -> tuple[list[Action], np.ndarray]:
    """Every action that names something that was told here, and its features, a row each."""
    network, state = memory.network, memory.state
    actions: list[Action] = []
    rows: list[list[float]] = []

    def add(action: Action, **told: float) -> None:
        actions.append(action)
        rows.append([told.get(name, 0.0) for name in _SHORT])

    own, elsewhere = notes.untried(state.principal), notes.leads_on(state.host, state.principal)
    is_dry = not own and not elsewhere
    is_news = not state.mapped or state.seen < (2 if state.escalated else 1)
    add(Action(ENUMERATE), news=is_news, no_news=not is_news)
    can_escalate = state.mapped and not state.escalated and state.host in network.admin[state.principal]
    add(Action(ESCALATE), can=can_escalate, cannot=not can_escalate)
    for place in seen_credentials(network, state):
        who = network.credentials[place].principal
        is_new = who not in memory.principals
        used = _share(memory.uses.get(place, 0))
        add(Action(AUTHENTICATE, place), new=is_new, known=not is_new, used=used, untried=notes.untried(who))
    for host in seen_hosts(network, state):
        is_first = (state.principal, host) not in notes.tried
        times = _share(memory.moves.get((state.principal, Action(MOVE, host)), 0))
        lead = notes.leads_on(host, state.principal)
        add(
            Action(MOVE, host),
            first=is_first,
            again=not is_first,
            times=times,
            lead=lead,
            here=host == state.host,
            dry=is_dry,
        )
    first_principal, first_host = network.home
    lead = max(notes.leads_on(first_host, first_principal), notes.untried(first_principal))
    add(Action(MOVE, HOME_PLACE), home=True, lead=lead, home_dry=is_dry)
    return actions, np.array(rows)


_SHORT = (
    *("news", "no_news", "can", "cannot", "new", "known", "used", "untried"),
    *("first", "again", "times", "lead", "home", "here", "dry", "home_dry"),
)


def _share(times: int) -> float:
    return min(times, MOST_TIMES) / MOST_TIMES


def play(world: World, weights: np.ndarray, draw: random.Random, most_steps: int) -> Played:
    """One episode of the policy."""
    memory, notes = begun(world.network, Draws("policy", draw.randrange(2**30))), Notes(world.network)
    gradient = np.zeros(len(FEATURES))
    steps, reached = 0, False
    while steps < most_steps and not reached:
        actions, rows = open_actions(memory, notes)
        scores = rows @ weights
        shares = np.exp(scores - scores.max())
        shares /= shares.sum()
        chosen = draw.choices(range(len(actions)), weights=shares.tolist())[0]
        gradient += rows[chosen] - shares @ rows
        steps += 1
        after = followed(world.network, memory.state, actions[chosen])
        memory.note(actions[chosen], after or memory.state)
        notes.note(memory.state)
        reached = memory.state.principal in world.goal.principals
    return Played(episode_return(reached=reached, steps=steps), reached, steps, gradient)


def gradient_of(weights: np.ndarray, worlds: Sequence[World], draw: random.Random, *, shuffled: bool) -> np.ndarray:
    """The gradient of the mean return, from GROUP episodes of each world."""
    total = np.zeros(len(FEATURES))
    for world in worlds:
        group = [play(world, weights, draw, LEARNING_STEPS) for _ in range(GROUP)]
        earned = [one.earned for one in group]
        if shuffled:
            draw.shuffle(earned)
        for one, advantage in zip(group, advantages(earned, "group_std"), strict=True):
            total += advantage * one.gradient
    return total / len(worlds)


def judged(weights: np.ndarray, worlds: Sequence[World], draw: random.Random) -> dict[str, float]:
    """An episode in each world: the share that reached the goal, the mean return, and that return's share of the best
    one."""
    played = [play(world, weights, draw, JUDGED_STEPS) for world in worlds]
    earned, best = fmean(one.earned for one in played), fmean(world.best for world in worlds)
    return {"reached": fmean(one.reached for one in played), "return": earned, "of_best": earned / best}


def learn(seed: int, updates: int, *, shuffled: bool, preset: str = "small") -> tuple[np.ndarray, list[float]]:
    """The weights after so many updates on worlds drawn from the seed, and the mean return of each tenth update."""
    draw = random.Random(f"learn-worlds-{seed}")
    weights, mean, curve = np.zeros(len(FEATURES)), np.zeros(len(FEATURES)), []
    watched = [drawn_world(draw.randrange(2**30), preset) for _ in range(WORLDS)]
    for update in range(updates):
        worlds = [drawn_world(draw.randrange(2**30), preset, goal) for goal in GOALS * (WORLDS // len(GOALS))]
        mean = MOMENTUM * mean + (1 - MOMENTUM) * gradient_of(weights, worlds, draw, shuffled=shuffled)
        if (length := float(np.linalg.norm(mean))) > 0:
            weights = weights + STEP_LENGTH * (1 - update / updates) * mean / length
        if (update + 1) % 10 == 0:
            curve.append(judged(weights, watched, draw)["return"])
            print(f"{'control' if shuffled else 'policy '} update {update + 1}: return {curve[-1]:.3f}", flush=True)
    return weights, curve


def proof(seed: int, updates: int, unseen: int) -> dict[str, object]:
    """Learn, with the control beside, and judge all players in the same worlds, of which none was learned on."""
    began = time.monotonic()
    learned, curve = learn(seed, updates, shuffled=False)
    control, control_curve = learn(seed, updates, shuffled=True)
    draw = random.Random(f"judge-worlds-{seed}")
    told: dict[str, object] = {"seed": seed, "updates": updates, "curve": curve, "control_curve": control_curve}
    for preset in ("small", "medium"):
        worlds = [drawn_world(2**30 + draw.randrange(2**30), preset) for _ in range(unseen)]
        players = {"random": np.zeros(len(FEATURES)), "control": control, "policy": learned}
        told[preset] = {name: judged(weights, worlds, draw) for name, weights in players.items()}
    told["weights"] = dict(zip(FEATURES, learned.round(3).tolist(), strict=True))
    told["seconds"] = round(time.monotonic() - began, 1)
    return told


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--updates", type=int, default=200)
    parser.add_argument("--unseen", type=int, default=100, help="worlds that all players are judged in")
    parser.add_argument("--out", type=Path, help="a folder for worlds.json")
    asked = parser.parse_args()
    told = proof(asked.seed, asked.updates, asked.unseen)
    for preset in ("small", "medium"):
        players = told[preset]
        assert isinstance(players, dict)
        for name, found in players.items():
            print(
                f"{preset:7} {name:8} reached {found['reached']:.2f}, return {found['return']:.3f}, "
                f"{found['of_best']:.1%} of the best"
            )
    print(f"{told['seconds']} s")
    if asked.out is not None:
        asked.out.mkdir(parents=True, exist_ok=True)
        (asked.out / "worlds.json").write_text(json.dumps(told, indent=1) + "\n")


if __name__ == "__main__":
    main()
