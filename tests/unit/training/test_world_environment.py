"""Worlds as environments: what turns and ends are worth, and how requests name a world."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from test_rollout_turns import Thinking

from harena import WorldManifest
from harena.core.errors import HarenaError, ValidationError
from harena.training.data.datasets import prompt_row_of
from harena.training.data.prompts import PromptRow, sample_key
from harena.training.environments.environment import Step
from harena.training.environments.worlds import MOST_UNREADABLE, POLICIES, WorldEnvironment, world_reward
from harena.training.rewards import WorldEpisode, reward_recipe
from harena.training.rewards.worlds import world_row
from harena.training.rollouts.recipes import WorldEpisodes, rollouts_of
from harena.training.rollouts.rollout import Policy, RolloutRequest
from harena.training.rollouts.trajectory import Sampling, StopReason
from harena.worlds.game import Action, arguments_of, goal_of
from harena.worlds.known import network_of
from harena.worlds.sft_rows import line_of
from harena.worlds.shortest import shortest_way

MANIFEST = WorldManifest.checked({"name": "w", "seed": 2})
NETWORK = network_of(MANIFEST)
GOAL = goal_of(NETWORK)


def environment(policy: str = "heuristic_v1", **values: float) -> WorldEnvironment:
    return WorldEnvironment(NETWORK, GOAL, world_reward(policy, values))


def shortest() -> tuple[Action, ...]:
    way = shortest_way(NETWORK, GOAL)
    assert way is not None
    return way


def as_call(action: Action) -> str:
    return f'<tool_call name="{action.tool.value}">{json.dumps(arguments_of(NETWORK, action))}</tool_call>'


def as_object(action: Action) -> str:
    told = {"name": action.tool.value, "arguments": arguments_of(NETWORK, action)}
    return f"<think>what now</think><tool_call>{json.dumps(told)}</tool_call>"


@pytest.mark.parametrize("written", [lambda action: line_of(NETWORK, action), as_call, as_object])
@pytest.mark.parametrize("policy", POLICIES)
def test_the_goal_is_reached_by_a_shortest_way(policy: str, written: Callable[[Action], str]) -> None:
    """However actions are written; only the last step ends the episode, and nothing is taken off on the way."""
    played = environment(policy)
    steps = [played.step(written(action)) for action in shortest()]
    assert [step.done for step in steps] == [False] * (len(steps) - 1) + [True]
    assert all((step.reward or 0.0) >= 0 for step in steps)
    assert (played.outcome().value, played.outcome().reason) == (1.0, "success")
    assert all(step.reward == pytest.approx(sum(step.parts.values())) for step in steps)
    if policy == "goal_only_v1":
        assert all(step.reward == 0 for step in steps)


def test_what_was_earned_once_earns_nothing_again() -> None:
    """Neither looking, nor going to and fro, nor escalating at the same place."""
    played = environment()
    assert (played.step("enumerate").reward or 0) > 0
    for _ in range(5):
        assert played.step("enumerate").reward == 0
    for _ in range(3):
        for action in (*shortest()[:-1], Action(shortest()[0].tool)):
            played.step(line_of(NETWORK, action))
        played.step("move home")
    assert [played.step(line_of(NETWORK, action)).reward for action in shortest()[:-1]] == [0] * (len(shortest()) - 1)


def test_a_thought_earns_only_with_an_action_that_goes_through() -> None:
    """And only the sum that the policy says."""
    thoughtless, thoughtful = environment().step("enumerate"), environment().step("<think>look</think>enumerate")
    assert (thoughtful.reward or 0) - (thoughtless.reward or 0) == pytest.approx(0.01)
    assert environment().step("<think>look</think>escalate").parts == {"tool_error_penalty": -0.20}


@pytest.mark.parametrize("thought", ["<think>look</think>", "<think></think>", "so </think>", "[THINK]look[/THINK]"])
def test_a_thought_before_an_action_that_tells_nothing_new_earns_nothing(thought: str) -> None:
    """Else who dawdles on the way earns more than who goes it."""
    played = environment()
    assert played.step(f"{thought}enumerate").parts["reasoning_trace_bonus"] == 0.01
    for _ in range(3):
        assert played.step(f"{thought}enumerate").reward == 0
    played.step("move home")
    assert played.step(f"{thought}move home").reward == 0


@pytest.mark.parametrize("said", ["", "scan", "move", "move nowhere", "<tool_call>{</tool_call>", "authenticate key-0"])
def test_what_cannot_be_done_is_answered(said: str) -> None:
    """With what is wrong, and the penalty; the next turn may do better."""
    played = environment()
    step = played.step(said)
    assert step.observation.startswith("[error] ")
    assert (step.reward, step.done) == (-0.20, False)
    assert (played.step("enumerate").reward or 0) > 0


def test_how_an_episode_ends_is_what_its_end_is_worth() -> None:
    stalled = environment()
    assert stalled.step("stop").done
    assert (stalled.outcome().value, stalled.outcome().reason) == (-0.25, "stall")
    left = environment()
    left.step("enumerate")
    assert (left.outcome().value, left.outcome().reason) == (-0.35, "max_steps")
    lost = environment()
    ends = [lost.step("gibberish").done for _ in range(MOST_UNREADABLE)]
    assert ends == [False] * (MOST_UNREADABLE - 1) + [True]
    assert (lost.outcome().value, lost.outcome().reason) == (-1.0, "error")
    saved = environment()
    for _ in range(4):
        saved.step("gibberish")
        assert not saved.step("enumerate").done


def test_giving_up_is_never_worth_more_than_the_goal() -> None:
    """Of no policy, however the goal is reached."""
    for policy in POLICIES:
        played = environment(policy)
        total = sum(played.step(line_of(NETWORK, action)).reward or 0 for action in shortest())
        gave_up = environment(policy)
        gave_up.step("stop")
        assert total + (played.outcome().value or 0) > (gave_up.outcome().value or 0)


@pytest.mark.parametrize(
    ("name", "params", "reason"),
    [
        ("heuristic", {}, "no world reward is called 'heuristic'; there are heuristic_v1, goal_only_v1, discovery_v1"),
        ("goal_only_v1", {"host_discovery_reward": 1.0}, "goal_only_v1 has no such part"),
        ("heuristic_v1", {"host_discovery_rewards": 1.0}, "did you mean 'host_discovery_reward'"),
        ("heuristic_v1", {"tool_error_penalty": "low"}, "must be a number"),
        ("heuristic_v1", {"tool_error_penalty": True}, "must be a number"),
        ("heuristic_v1", {"tool_error_penalty": float("nan")}, "must be a number"),
    ],
)
def test_a_reward_policy_is_strict(name: str, params: dict[str, Any], reason: str) -> None:
    """Nothing falls back to anything in silence."""
    with pytest.raises(ValidationError) as refused:
        world_reward(name, params)
    assert reason in str(refused.value)


def test_parts_can_be_worth_something_else() -> None:
    assert environment(host_discovery_reward=0.0, credential_discovery_reward=0.0).step("enumerate").reward == 0.02
    played = environment("goal_only_v1", terminal_success_reward=5)
    for action in shortest():
        played.step(line_of(NETWORK, action))
    assert played.outcome().value == 5.0


def row_of(**more: Any) -> PromptRow:
    return prompt_row_of({**world_row(MANIFEST), **more}, id="row")


def test_a_row_says_the_world_and_its_goal() -> None:
    """A data set of such rows is many worlds."""
    recipe = reward_recipe("world_episode_v1", {"policy": "goal_only_v1"})
    assert isinstance(recipe, WorldEpisode)
    assert recipe.check(row_of()) == []
    assert "Become a member of: Domain Admins@alpha" in row_of().prompt
    played = recipe.environment(row_of(goal="Help Desk"))
    assert isinstance(played.step("enumerate"), Step)
    for wrong in ({"world": None}, {"world": {"name": "w", "preset": "huge"}}, {"goal": "Kings"}, {"goal": 3}):
        assert len(recipe.check(row_of(**wrong))) == 1
    with pytest.raises(ValidationError, match="has no group 'Kings'"):
        world_row(MANIFEST, "Kings")


async def test_a_single_text_is_no_episode() -> None:
    recipe = reward_recipe("world_episode_v1", {})
    with pytest.raises(HarenaError, match="rewards episodes"):
        await recipe.reward(row_of(), "enumerate")
    rollouts = rollouts_of(recipe, max_turns=3)
    assert isinstance(rollouts, WorldEpisodes)
    await rollouts.prepare([row_of()])
    with pytest.raises(ValidationError, match="the row has no world"):
        await rollouts.prepare([row_of(world=None)])
    with pytest.raises(ValidationError, match="is about episodes, and no part"):
        reward_recipe("composite_v1", {"parts": {"a": {"recipe": "world_episode_v1", "weight": 1.0}}})
    for wrong in ({"policy": "best"}, {"max_turns": 0}, {"values": {"x": 1.0}}):
        with pytest.raises(ValidationError):
            reward_recipe("world_episode_v1", wrong)


async def test_an_episode_of_a_player_that_knows_the_way() -> None:
    """What it earns is the sum of its turns and its end, and it ends at the goal."""
    engine = Thinking(*(line_of(NETWORK, action) for action in shortest()), "stop")
    engine.context_length = 100_000
    rollouts = rollouts_of(reward_recipe("world_episode_v1", {}), max_turns=len(shortest()))
    policy = Policy(engine, Sampling(max_new_tokens=8), lockstep=True)
    request = RolloutRequest(row=row_of(), prompt=(9,), sample=0, key=sample_key(1, place=0, sample=0))
    told = await rollouts.rollout(request, policy)
    alone = environment()
    steps = [alone.step(line_of(NETWORK, action)) for action in shortest()]
    assert told.stop is StopReason.ANSWER
    assert [turn.reward for turn in told.turns] == [step.reward for step in steps]
    assert told.reward.value == pytest.approx(sum(step.reward or 0 for step in steps) + 1.0)
    assert told.reward.parts["outcome"] == 1.0
    short = await rollouts_of(reward_recipe("world_episode_v1", {}), max_turns=2).rollout(request, policy)
    assert short.stop is StopReason.TURN_LIMIT
    assert short.reward.parts["outcome"] == -0.35
