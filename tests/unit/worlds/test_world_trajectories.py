"""Players' episodes, and their trajectories as ATIF."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harena import TrajectoryOrder, WorldManifest
from harena.core.errors import ValidationError
from harena.core.worlds import STRATEGIES, TERMINATIONS
from harena.training.data.conversations import conversation_of
from harena.training.objects.atif import check_trajectory as check_for_training
from harena.worlds.atif import check_trajectory, replayed, trajectory_of
from harena.worlds.episodes import kept_episodes, play
from harena.worlds.game import beginning, followed, goal_of
from harena.worlds.generation import generate
from harena.worlds.shortest import shortest_way

WRONG: dict[str, list[Any]] = {
    "goal": ["", "a" * 257, 3],
    "count": [0, 101, 1.0, True],
    "strategy": ["best", 3],
    "max_steps": [0, 1001, "10"],
    "seed": [-1, 2**31],
    "threads": [0, 17],
    "only_successful": [1, "yes"],
    "form": ["csv", 1],
}


def order(**given: Any) -> TrajectoryOrder:
    return TrajectoryOrder.checked(given)


def manifest(preset: str = "small", seed: int = 0) -> WorldManifest:
    return WorldManifest.checked({"name": "w", "preset": preset, "seed": seed})


@pytest.mark.parametrize(("field", "value"), [(field, value) for field, values in WRONG.items() for value in values])
def test_a_wrong_field_of_an_order_is_named(field: str, value: Any) -> None:
    with pytest.raises(ValidationError) as refused:
        order(**{field: value})
    _, *told = str(refused.value).split("\n  ")
    assert [line.partition(":")[0] for line in told] == [field]


def test_an_unknown_field_of_an_order_is_named() -> None:
    with pytest.raises(ValidationError, match="'maxsteps': there is no such field; did you mean 'max_steps'"):
        order(maxsteps=3)


orders = st.builds(
    order,
    strategy=st.sampled_from(STRATEGIES),
    seed=st.integers(0, 1000),
    max_steps=st.integers(1, 300),
    count=st.integers(1, 4),
    only_successful=st.booleans(),
)


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 1000), orders)
def test_every_trajectory_replays_to_the_same_states(seed: int, asked: TrajectoryOrder) -> None:
    """Written as JSON and read strictly, its calls lead through the states that the player was in; and no success is
    shorter than the shortest way."""
    asked_of = manifest(seed=seed)
    network = generate(asked_of)
    goal = goal_of(network, asked.goal)
    shortest = shortest_way(network, goal)
    assert shortest is not None
    for episode in kept_episodes(network, goal, asked):
        written = json.loads(json.dumps(trajectory_of(network, asked_of, asked, episode)))
        states = [beginning(network), *(taken.after or taken.before for taken in episode.steps)]
        assert replayed(network, written) == states
        check_for_training(written)
        assert episode.termination in TERMINATIONS
        assert len(episode.steps) <= asked.max_steps
        if episode.reached:
            assert len(episode.steps) >= len(shortest)
            assert written["extra"]["return"] <= 1 - 0.001 * len(shortest)
        else:
            assert not asked.only_successful


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_an_episode_is_told_by_its_order_and_number(strategy: Any) -> None:
    """Whatever was played before it; other numbers and seeds give others."""
    network = generate(manifest("medium"))
    goal = goal_of(network)
    played = [play(network, goal, order(strategy=strategy), number) for number in (0, 1, 2)]
    assert play(network, goal, order(strategy=strategy, count=9, threads=3), 2) == played[2]
    others = {play(network, goal, order(strategy=strategy, seed=seed), 0).steps for seed in range(9)}
    assert len({one.steps for one in played}) > 1
    assert len(others) > 1


def test_looking_around_first_reaches_more_than_drawing() -> None:
    """In ten small worlds; this is drawn, and always the same."""
    reached = dict.fromkeys(STRATEGIES, 0)
    for seed in range(10):
        network = generate(manifest(seed=seed))
        for strategy in STRATEGIES:
            asked = order(strategy=strategy, max_steps=1000, count=3)
            reached[strategy] += sum(one.reached for one in kept_episodes(network, goal_of(network), asked))
    assert reached["recon-first"] >= 29
    assert reached["recon-first"] > reached["smart-random"] > reached["random"]


def test_a_player_knows_no_more_than_it_was_told() -> None:
    """Every action but those that are drawn blindly is one that its tools have told it of, so none is refused."""
    network = generate(manifest("large"))
    for strategy in STRATEGIES:
        for episode in kept_episodes(network, goal_of(network), order(strategy=strategy, max_steps=500, count=3)):
            refused = [taken for taken in episode.steps if taken.after is None]
            assert bool(refused) is (strategy == "random")
            for before, action, after in episode.steps:
                assert followed(network, before, action) == after


def test_a_trajectory_can_be_learnt_from() -> None:
    """It is a conversation with tools."""
    asked_of, asked = manifest(), order(max_steps=20)
    network = generate(asked_of)
    (episode,) = kept_episodes(network, goal_of(network), asked)
    conversation = conversation_of(trajectory_of(network, asked_of, asked, episode))
    assert [message["role"] for message in conversation.messages[:4]] == ["system", "user", "assistant", "tool"]
    assert len(conversation.answers) == len(episode.steps)
    assert [tool["function"]["name"] for tool in conversation.tools] == [
        "enumerate",
        "authenticate",
        "move",
        "escalate",
    ]


def _change(place: str, value: Any) -> Callable[[dict[str, Any]], None]:
    """Set what lies at this place; a value `...` removes it."""

    def change(given: dict[str, Any]) -> None:
        *way, last = [int(part) if part.isdigit() else part for part in place.split(".")]
        target: Any = given
        for part in way:
            target = target[part]
        if value is ...:
            del target[last]
        else:
            target[last] = value

    return change


FORGED: list[tuple[str, Any, str]] = [
    ("schema_version", "ATIF-v9", "schema_version: must be one of ATIF-v1.6"),
    ("more", 1, "more: there is no such field"),
    ("agent.more", 1, "agent.more: there is no such field"),
    ("session_id", ..., "session_id: missing"),
    ("seed", True, "seed: must be a whole number"),
    ("success", "yes", "success: must be true or false"),
    ("termination_reason", "bored", "termination_reason: must be one of"),
    ("worlds_summary.step_count", 999, "worlds_summary.step_count: is not the trajectory's"),
    ("extra.world.manifest.seed", -1, "extra.world.manifest: this is no world's manifest"),
    ("extra.world.digest", "0" * 64, "extra.world.digest: it is a trajectory of another world"),
    ("steps.2.step_id", 9, r"steps\[2\].step_id: must be 3"),
    ("steps.2.source", "user", r"steps\[2\].source: must be 'agent'"),
    ("steps.2.tool_calls", [], r"steps\[2\].tool_calls: must be a list of 1"),
    ("steps.2.tool_calls.0.function_name", "scan", r"function_name: must be one of"),
    ("steps.2.tool_calls.0.arguments.port", 22, r"arguments.port: there is no such field"),
    ("steps.2.observation.results.0.content", "nothing", r"steps\[2\].observation: the world says something else"),
    ("steps.2.observation.results.0.source_call_id", "call-9", "nobody made this call"),
    ("steps.2.observation.results.0.is_error", False, "is_error: must be one of True"),
    ("steps.1", ..., r"step_count: \d+ of \d+ steps"),
    ("extra.goal.target_name", "Users", "from the beginning"),
]


@pytest.mark.parametrize(("place", "value", "reason"), FORGED, ids=[place for place, _, _ in FORGED])
def test_a_changed_trajectory_is_refused(place: str, value: Any, reason: str) -> None:
    """The mistake is named by its place."""
    asked_of, asked = manifest(), order(max_steps=20)
    network = generate(asked_of)
    (episode,) = kept_episodes(network, goal_of(network), asked)
    written = trajectory_of(network, asked_of, asked, episode)
    replayed(network, written)
    changed = copy.deepcopy(written)
    _change(place, value)(changed)
    with pytest.raises((ValueError, ValidationError), match=reason):
        replayed(network, changed)


def test_success_cannot_be_claimed() -> None:
    """Neither for an episode that did not reach its goal, nor the other way round."""
    asked_of, asked = manifest(), order(max_steps=5)
    network = generate(asked_of)
    (episode,) = kept_episodes(network, goal_of(network), asked)
    written = trajectory_of(network, asked_of, asked, episode)
    assert written["success"] is False
    for part in (written, written["worlds_summary"]):
        part |= {"success": True, "termination_reason": "finished"}
    check_trajectory(written)
    with pytest.raises(ValueError, match="success: the world says something else"):
        replayed(network, written)
