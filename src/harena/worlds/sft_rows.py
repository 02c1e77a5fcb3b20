"""Episodes as conversations to learn from: with calls of tools, or as plain text with one line for each action.

    messages   {"messages": [...], "tools": [...], "metadata": {...}}: calls and answers of tools, in the OpenAI form
    text       {"messages": [...], "metadata": {...}}: the player answers with one line, as `move host-3`, and what the
               world says is the next question; for models whose chat template knows no tools

A conversation ends with the player's last action. What the world says to that is left out, because no action follows.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from harena.core.records.worlds import TrajectoryOrder, WorldManifest
from harena.worlds.atif import RULES, TOOLS, task_of
from harena.worlds.episodes import Episode
from harena.worlds.game import HOME, Action, action_of, arguments_of, told
from harena.worlds.network import Network

IN_LINES = f"""{RULES}
Answer with one line, which is the tool and what it takes: enumerate, authenticate KEY, move HOST (or move {HOME}), \
escalate."""
_ARGUMENT: Mapping[str, str] = {"authenticate": "credential", "move": "host"}


def line_of(network: Network, action: Action) -> str:
    """An action as one line of text."""
    return " ".join([action.tool.value, *arguments_of(network, action).values()])


def action_in(network: Network, text: str) -> Action:
    """The action that a text's first line names. Raises ValueError, which says what is wrong with the line."""
    words = (text.strip().splitlines() or [""])[0].split()
    if not words:
        raise ValueError("an action is one line: the tool and what it takes, as `move host-3`")
    name, values = words[0], words[1:]
    argument = _ARGUMENT.get(name)
    if argument is not None and len(values) == 1:
        return action_of(network, name, {argument: values[0]})
    return action_of(network, name, {str(place): value for place, value in enumerate(values)})


def messages_row(network: Network, manifest: WorldManifest, order: TrajectoryOrder, episode: Episode) -> dict[str, Any]:
    """A conversation with calls of tools."""
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": RULES},
        {"role": "user", "content": task_of(network, episode.goal.name)},
    ]
    for number, taken in enumerate(episode.steps, 1):
        arguments = json.dumps(arguments_of(network, taken.action))
        function = {"name": taken.action.tool.value, "arguments": arguments}
        call = {"id": f"call-{number}", "type": "function", "function": function}
        messages.append({"role": "assistant", "content": "", "tool_calls": [call]})
        answer = told(network, taken.before, taken.action, taken.after)
        answer = f"[error] {answer}" if taken.after is None else answer
        messages.append({"role": "tool", "tool_call_id": f"call-{number}", "content": answer})
    return {"messages": messages[:-1], "tools": [*TOOLS], "metadata": _metadata(network, manifest, order, episode)}


def text_row(network: Network, manifest: WorldManifest, order: TrajectoryOrder, episode: Episode) -> dict[str, Any]:
    """A conversation of plain texts."""
    return {
        "messages": [*_said(network, episode)][:-1],
        "metadata": _metadata(network, manifest, order, episode),
    }


def _said(network: Network, episode: Episode) -> Iterator[dict[str, Any]]:
    yield {"role": "system", "content": IN_LINES}
    yield {"role": "user", "content": task_of(network, episode.goal.name)}
    for taken in episode.steps:
        yield {"role": "assistant", "content": line_of(network, taken.action)}
        answer = told(network, taken.before, taken.action, taken.after)
        yield {"role": "user", "content": f"[error] {answer}" if taken.after is None else answer}


def _metadata(network: Network, manifest: WorldManifest, order: TrajectoryOrder, episode: Episode) -> Mapping[str, Any]:
    return {
        "success": episode.reached,
        "goal": episode.goal.name,
        "seed": order.seed,
        "step_count": len(episode.steps),
        "termination_reason": episode.termination,
        "return": episode.value,
        "strategy": order.player,
        "number": episode.number,
        "world": {"name": manifest.name, "digest": network.digest},
    }
