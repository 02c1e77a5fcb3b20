"""Episodes as rows to learn from, with and without calls of tools."""

from __future__ import annotations

import json
from typing import Any

import pytest

from harena import TrajectoryOrder, WorldManifest
from harena.core.errors import ValidationError
from harena.core.worlds import ROW_FORMS
from harena.training.data.conversations import conversation_of
from harena.training.objects.atif import check_trajectory
from harena.worlds.atif import replayed
from harena.worlds.episodes import Episode, kept_episodes
from harena.worlds.game import goal_of
from harena.worlds.generation import generate
from harena.worlds.network import Network
from harena.worlds.rows import row_line
from harena.worlds.sft_rows import action_in, line_of

MANIFEST = WorldManifest.checked({"name": "w", "preset": "small", "seed": 1})


def played(form: str, **more: Any) -> tuple[Network, TrajectoryOrder, list[Episode]]:
    network = generate(MANIFEST)
    asked = TrajectoryOrder.checked({"form": form, "max_steps": 300, "count": 3, **more})
    return network, asked, [*kept_episodes(network, goal_of(network, asked.goal), asked)]


@pytest.mark.parametrize("strategy", ["recon-first", "random"])
@pytest.mark.parametrize("form", ROW_FORMS)
def test_rows_can_be_learnt_from(form: str, strategy: str) -> None:
    """Every action of the episode is learnt from, and each row is what an agent did."""
    network, asked, episodes = played(form, strategy=strategy)
    for episode in episodes:
        line = row_line(network, MANIFEST, asked, episode)
        assert line.endswith(b"\n")
        assert line.count(b"\n") == 1
        check_trajectory(json.loads(line))
        conversation = conversation_of(json.loads(line))
        assert len(conversation.answers) == len(episode.steps)
        assert bool(conversation.tools) is (form != "text")


def test_trajectories_replay() -> None:
    network, asked, episodes = played("atif")
    for episode in episodes:
        assert len(replayed(network, json.loads(row_line(network, MANIFEST, asked, episode)))) == len(episode.steps) + 1


def test_plain_text_has_no_calls_and_ends_with_what_was_done() -> None:
    network, asked, episodes = played("text", only_successful=True)
    for episode in episodes:
        row = json.loads(row_line(network, MANIFEST, asked, episode))
        messages = row["messages"]
        assert [message["role"] for message in messages] == ["system", *["user", "assistant"] * len(episode.steps)]
        assert all(set(message) == {"role", "content"} for message in messages)
        assert [action_in(network, message["content"]) for message in messages[2::2]] == [
            taken.action for taken in episode.steps
        ]
        assert row["metadata"]["success"] is True


def test_calls_of_tools_are_answered_by_their_numbers() -> None:
    network, asked, episodes = played("messages", strategy="random")
    for episode in episodes:
        messages = json.loads(row_line(network, MANIFEST, asked, episode))["messages"]
        assert messages[-1]["role"] == "assistant"
        for call, answer in zip(messages[2::2], messages[3::2], strict=False):
            assert answer["tool_call_id"] == call["tool_calls"][0]["id"]
        refused = [message["content"].startswith("[error] ") for message in messages[3::2]]
        assert refused == [taken.after is None for taken in episode.steps[:-1]]


def test_every_action_is_a_line_and_back() -> None:
    network, _, episodes = played("text", strategy="random")
    for episode in episodes:
        for taken in episode.steps:
            assert action_in(network, f"  {line_of(network, taken.action)}\nand more") == taken.action


@pytest.mark.parametrize("text", ["", "  \n", "scan", "move", "move host-1 host-2", "enumerate now", "authenticate"])
def test_a_line_that_means_nothing_says_why(text: str) -> None:
    with pytest.raises(ValueError, match=r"takes|one line|no tool"):
        action_in(generate(MANIFEST), text)


def test_a_goal_that_is_reached_from_the_beginning_is_none() -> None:
    network = generate(MANIFEST)
    with pytest.raises(ValidationError, match="a member of Users@alpha from the beginning"):
        goal_of(network, "Users")
