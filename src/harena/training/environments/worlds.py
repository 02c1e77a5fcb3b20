"""A world as an environment: the policy plays it turn by turn, and a reward policy says what each turn is worth.

An action is a call of a tool (`harena.training.environments.tool_calls`), or a line, as `move host-3`. The line `stop`
gives up. What cannot be read is answered with what is wrong with it; after MOST_UNREADABLE such turns in a row the
episode is over.

What a reward policy gives, it gives once: a host or a credential that is told of for the first time in the episode, a
host that is escalated on for the first time, an answer that was not read before. So no turn that is repeated earns
anything, and what an episode can earn beside its goal is bounded by the world.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields

from harena.core.checked import quote
from harena.core.errors import ValidationError
from harena.core.near_names import nearest_name
from harena.scoring.formats.answers import final_answer, names_reasoning
from harena.training.data.prompts import PromptRow
from harena.training.environments.environment import Step
from harena.training.environments.tool_calls import ToolCall, Unreadable, parse_call
from harena.training.rollouts.trajectory import Reward
from harena.worlds.game import (
    ESCALATE,
    Action,
    Goal,
    action_of,
    arguments_of,
    beginning,
    followed,
    seen_credentials,
    seen_hosts,
    told,
)
from harena.worlds.network import Network
from harena.worlds.sft_rows import action_in

STOP = "stop"
MOST_UNREADABLE = 3
"""turns in a row that cannot be read, after which the episode is over"""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldReward:
    """What a turn, and an episode's end, are worth."""

    reasoning_trace_bonus: float = 0.0
    """a turn that says what it thinks before an action whose answer was not read before in the episode"""
    tool_observation_reward: float = 0.0
    """an answer of a tool that was not read before in the episode"""
    host_discovery_reward: float = 0.0
    """each host that was not known before"""
    credential_discovery_reward: float = 0.0
    """each credential that was not known before"""
    privilege_escalation_reward: float = 0.0
    """a host that was not escalated on before"""
    stop_tool_bonus: float = 0.0
    """the turn that reaches the goal"""
    tool_error_penalty: float = 0.0
    """a turn that was refused, or that cannot be read"""
    terminal_success_reward: float = 0.0
    """the goal was reached"""
    terminal_stall_penalty: float = 0.0
    """the policy gave up"""
    terminal_max_steps_penalty: float = 0.0
    """the episode had no turns left"""
    terminal_error_penalty: float = 0.0
    """several turns in a row could not be read"""


_TERMINAL = {
    "terminal_success_reward": 1.0,
    "terminal_stall_penalty": -0.25,
    "terminal_max_steps_penalty": -0.35,
    "terminal_error_penalty": -1.0,
}
_DISCOVERY = {
    "host_discovery_reward": 0.10,
    "credential_discovery_reward": 0.20,
    "privilege_escalation_reward": 0.35,
}
POLICIES: Mapping[str, Mapping[str, float]] = {
    "heuristic_v1": {
        "reasoning_trace_bonus": 0.01,
        "tool_observation_reward": 0.02,
        **_DISCOVERY,
        "stop_tool_bonus": 0.15,
        "tool_error_penalty": -0.20,
        **_TERMINAL,
    },
    "goal_only_v1": _TERMINAL,
    "discovery_v1": {**_DISCOVERY, **_TERMINAL},
}
"""reward policies by name, with what each part is worth where a request says nothing else"""
_NAMES = tuple(field.name for field in fields(WorldReward))


def world_reward(name: str, params: Mapping[str, object]) -> WorldReward:
    """The reward policy of this name, with these parts worth something else. Raises ValidationError for an unknown
    policy, for a part that it does not have, and for what is no number."""
    if (known := POLICIES.get(name)) is None:
        raise ValidationError(f"no world reward is called {quote(name)}; there are {', '.join(POLICIES)}")
    wrong = []
    for part, value in params.items():
        if part not in known:
            close = nearest_name(str(part), known)
            advice = f"did you mean {close!r}?" if close is not None else f"it has {', '.join(known)}"
            wrong.append(f"{quote(part)}: {name} has no such part; {advice}")
        elif isinstance(value, bool) or not isinstance(value, int | float) or not -1e6 <= value <= 1e6:
            wrong.append(f"{part}: must be a number from -1e6 to 1e6 (got {quote(value)})")
    if wrong:
        raise ValidationError(f"world reward {name}: {'; '.join(wrong)}")
    return WorldReward(**{**known, **params})  # type: ignore[arg-type] # checked above


def _action_of(network: Network, turn: str) -> Action:
    """The action that a turn means. Raises ValueError."""
    call = parse_call(turn)
    if isinstance(call, Unreadable):
        raise ValueError(call.why)
    if isinstance(call, ToolCall):
        return action_of(network, call.name, call.arguments)
    return action_in(network, final_answer(turn).strip())


def actions_of(network: Network, turns: Sequence[str]) -> Sequence[tuple[str, Mapping[str, str]]]:
    """(tool, arguments) of each turn of an episode that means an action; those that cannot be read, and the one that
    gives up, mean none."""
    found = []
    for turn in turns:
        with suppress(ValueError):
            action = _action_of(network, turn)
            found.append((action.tool.value, arguments_of(network, action)))
    return found


class WorldEnvironment:
    """One episode in a world. Implements `Environment`."""

    def __init__(self, network: Network, goal: Goal, reward: WorldReward) -> None:
        self._network = network
        self._goal = goal
        self._reward = reward
        self._state = beginning(network)
        self._hosts = {network.home[1]}
        self._credentials: set[int] = set()
        self._escalated: set[int] = set()
        self._answers: set[str] = set()
        self._unreadable = 0
        self._ending = "terminal_max_steps_penalty"

    def reset(self, row: PromptRow) -> None:
        """Begin; the prompt says everything."""

    def step(self, action: str) -> Step:
        """Take the action that the policy's turn means."""
        said = final_answer(action).strip()
        if said.splitlines()[:1] == [STOP]:
            self._ending = "terminal_stall_penalty"
            return Step(done=True)
        try:
            asked = _action_of(self._network, action)
        except ValueError as error:
            self._unreadable += 1
            if self._unreadable >= MOST_UNREADABLE:
                self._ending = "terminal_error_penalty"
            return self._answered(f"[error] {error}", ["tool_error_penalty"], done=self._unreadable >= MOST_UNREADABLE)
        self._unreadable = 0
        before = self._state
        after = followed(self._network, before, asked)
        answer = told(self._network, before, asked, after)
        if after is None:
            return self._answered(f"[error] {answer}", ["tool_error_penalty"])
        self._state = after
        earned = self._earned(asked, answer)
        if "tool_observation_reward" in earned and action.strip() != said and names_reasoning(action):
            earned.append("reasoning_trace_bonus")
        reached = after.principal in self._goal.principals
        if reached:
            self._ending = "terminal_success_reward"
            earned.append("stop_tool_bonus")
        return self._answered(answer, earned, done=reached)

    def outcome(self) -> Reward:
        """What the end is worth, as it stands."""
        value = float(getattr(self._reward, self._ending))
        return Reward(value=value, parts={self._ending: value}, reason=self._ending.split("_", 1)[1].rsplit("_", 1)[0])

    def _earned(self, asked: Action, answer: str) -> list[str]:
        """The parts that the new state earns, one for each thing that is new."""
        earned = []
        if answer not in self._answers:
            self._answers.add(answer)
            earned.append("tool_observation_reward")
        for known, seen, part in (
            (self._hosts, {*seen_hosts(self._network, self._state)}, "host_discovery_reward"),
            (self._credentials, {*seen_credentials(self._network, self._state)}, "credential_discovery_reward"),
        ):
            if asked.tool.value == "enumerate":
                earned += [part] * len(seen - known)
                known |= seen
        if asked.tool is ESCALATE and self._state.host not in self._escalated:
            self._escalated.add(self._state.host)
            earned.append("privilege_escalation_reward")
        return earned

    def _answered(self, observation: str, earned: list[str], *, done: bool = False) -> Step:
        parts: dict[str, float] = {}
        for part in earned:
            if value := getattr(self._reward, part):
                parts[part] = parts.get(part, 0.0) + value
        return Step(observation=observation, reward=sum(parts.values()), done=done, parts=parts)
