"""The worlds that manifests give, the rules of the game on them, and shortest ways."""

from __future__ import annotations

from collections import deque
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harena import WorldManifest
from harena.core.errors import ValidationError
from harena.worlds.draws import Draws
from harena.worlds.game import (
    AUTHENTICATE,
    ENUMERATE,
    ESCALATE,
    HOME_PLACE,
    MOVE,
    Action,
    State,
    action_of,
    arguments_of,
    beginning,
    episode_return,
    followed,
    goal_of,
    told,
)
from harena.worlds.generation import generate
from harena.worlds.network import Network
from harena.worlds.shortest import reachable_goals, shortest_way

DIGESTS = {
    ("small", 0): "5facdc24215bd808",
    ("medium", 1): "98804a1009f8949b",
    ("large", 2): "c72203e24568ed6d",
    ("enterprise", 3): "a010aed07021fe3b",
}
"""(preset, seed) -> the beginning of the world's digest. One that changes breaks worlds that people keep."""


def world(preset: str = "small", seed: int = 0, **more: Any) -> Network:
    return generate(WorldManifest.checked({"name": "w", "preset": preset, "seed": seed, **more}))


@st.composite
def manifests(draw: st.DrawFn, *, most_domains: int = 4, most_each: int = 12) -> WorldManifest:
    """Small ones, the smallest among them."""
    domains = [f"d{number}" for number in range(draw(st.integers(1, most_domains)))]
    return WorldManifest.checked(
        {
            "name": "drawn",
            "seed": draw(st.integers(0, 2**31 - 1)),
            "domains": domains,
            "num_hosts": draw(st.integers(4 * len(domains), most_each * len(domains))),
            "num_users": draw(st.integers(6 * len(domains), 2 * most_each * len(domains))),
        }
    )


@pytest.mark.parametrize(("preset", "seed"), DIGESTS)
def test_a_manifest_is_the_same_world_everywhere(preset: str, seed: int) -> None:
    """On every version of Python and every machine, today and later."""
    assert world(preset, seed).digest[:16] == DIGESTS[preset, seed]


def test_draws_are_pinned() -> None:
    """SplitMix64's first number for the state 0 is in its authors' paper."""
    draws = Draws("known")
    draws._state = 0
    assert draws.below(1 << 64) == 0xE220A8397B1DCDAF
    many = [Draws("a", seed).below(10) for seed in range(2000)]
    assert all(120 < many.count(number) < 280 for number in range(10))
    assert Draws("1").below(1 << 64) != Draws(1).below(1 << 64)


def test_other_seeds_are_other_worlds() -> None:
    assert len({world(seed=seed).digest for seed in range(200)}) == 200


@settings(max_examples=150, deadline=None)
@given(manifests())
def test_every_domains_administrators_can_be_reached(manifest: WorldManifest) -> None:
    """In every world, also in the smallest."""
    network = generate(manifest)
    reached = {goal.name: goal.steps for goal in reachable_goals(network)}
    for domain in manifest.domains:
        assert reached[f"Domain Admins@{domain}"] > 0
    assert network.digest == generate(manifest).digest
    assert len(network.hosts) == manifest.num_hosts
    assert len(network.principals) == manifest.num_users


def every_action(network: Network) -> list[Action]:
    moves = [Action(MOVE, place) for place in range(HOME_PLACE, len(network.hosts))]
    credentials = [Action(AUTHENTICATE, place) for place in range(len(network.credentials))]
    return [Action(ENUMERATE), Action(ESCALATE), *moves, *credentials]


def plain_distances(network: Network) -> dict[int, int]:
    """Principal -> steps to be it, by a search that leaves nothing out."""
    begin, actions = beginning(network), every_action(network)
    depth: dict[State, int] = {begin: 0}
    waiting, found = deque([begin]), {begin.principal: 0}
    while waiting:
        state = waiting.popleft()
        for action in actions:
            after = followed(network, state, action)
            if after is not None and after not in depth:
                depth[after] = depth[state] + 1
                found.setdefault(after.principal, depth[after])
                waiting.append(after)
    return found


@settings(max_examples=40, deadline=None)
@given(manifests(most_domains=2, most_each=9))
def test_the_search_for_shortest_ways_leaves_out_nothing_that_matters(manifest: WorldManifest) -> None:
    """It gives what a search over all actions gives."""
    network = generate(manifest)
    distances = plain_distances(network)
    by_group: dict[str, int] = {}
    for principal, steps in distances.items():
        for group in network.memberships[principal]:
            name = network.groups[group].name
            by_group[name] = min(steps, by_group.get(name, steps))
    assert {goal.name: goal.steps for goal in reachable_goals(network)} == {
        name: steps for name, steps in by_group.items() if steps
    }


@settings(max_examples=60, deadline=None)
@given(manifests())
def test_a_shortest_way_leads_to_its_goal(manifest: WorldManifest) -> None:
    """Step by step, none of them refused, and as calls of tools carry them."""
    network = generate(manifest)
    for found in reachable_goals(network):
        goal = goal_of(network, found.name)
        way = shortest_way(network, goal)
        assert way is not None
        assert len(way) == found.steps
        state = beginning(network)
        for action in way:
            assert state.principal not in goal.principals
            assert action_of(network, action.tool.value, arguments_of(network, action)) == action
            after = followed(network, state, action)
            assert after is not None
            assert told(network, state, action, after)
            state = after
        assert state.principal in goal.principals
        assert found.optimal_return == episode_return(reached=True, steps=len(way))


def test_what_was_seen_on_a_host_is_of_use_there_only() -> None:
    """And nothing that was not seen is of use at all."""
    network = world()
    begin = beginning(network)
    unseen = [Action(AUTHENTICATE, place) for place in range(len(network.credentials))]
    unseen += [Action(MOVE, place) for place in range(len(network.hosts))]
    assert all(followed(network, begin, action) is None for action in unseen)
    mapped = followed(network, begin, Action(ENUMERATE))
    assert mapped is not None
    target = next(host for host in network.targets[mapped.principal] if host != mapped.host)
    moved = followed(network, mapped, Action(MOVE, target))
    assert moved == State(target, mapped.principal, False, 0, True)
    assert all(followed(network, moved, action) is None for action in unseen if action.tool is AUTHENTICATE)
    assert followed(network, moved, Action(MOVE, HOME_PLACE)) == begin
    assert followed(network, moved, Action(MOVE, target)) is None


def test_guarded_credentials_are_seen_after_escalation_only() -> None:
    network = world()
    for place, credential in enumerate(network.credentials):
        there = State(credential.host, -1, False, 1, False)
        seen = place in network.shown[there.host][0]
        assert seen is not credential.guarded
        assert place in network.shown[there.host][1]


def test_escalation_takes_an_administrator() -> None:
    network = world()
    for principal in range(len(network.principals)):
        for host in range(len(network.hosts)):
            after = followed(network, State(host, principal, False, 0, False), Action(ESCALATE))
            assert (after is not None) is (host in network.admin[principal])


@pytest.mark.parametrize(
    ("name", "arguments", "reason"),
    [
        ("scan", {}, "there is no tool 'scan'"),
        ("enumerate", {"host": "host-1"}, "takes no arguments"),
        ("move", {}, 'a text named "host"'),
        ("move", {"host": 1}, 'a text named "host"'),
        ("move", {"host": "host-999"}, "has not been told"),
        ("authenticate", {"credential": "key-999"}, "has not been seen"),
        ("authenticate", {"credential": "key-1", "more": 1}, 'a text named "credential"'),
    ],
)
def test_a_call_that_means_nothing_says_why(name: str, arguments: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        action_of(world(), name, arguments)


def test_what_is_not_there_is_refused_as_what_cannot_be_used() -> None:
    """A player that guesses names learns nothing of the network."""
    network = world()
    begin = beginning(network)
    action = action_of(network, "authenticate", {"credential": "key-0"})
    refused = told(network, begin, action, followed(network, begin, action))
    with pytest.raises(ValueError, match="credential has not been seen") as guessed:
        action_of(network, "authenticate", {"credential": "key-999"})
    assert str(guessed.value) == refused


def test_a_goal_is_a_groups_name() -> None:
    network = world("medium")
    assert goal_of(network).name == "Domain Admins@alpha"
    assert goal_of(network, "Domain Admins@beta").principals != goal_of(network).principals
    with pytest.raises(ValidationError, match="goal: the world has no group 'Kings'"):
        goal_of(network, "Kings")
