"""Episodes as trajectories of the Agent Trajectory Interchange Format (ATIF), written and read strictly."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from harena.core.checked import quote
from harena.core.errors import ValidationError
from harena.core.records.worlds import TrajectoryOrder, WorldManifest
from harena.core.worlds import TERMINATIONS
from harena.worlds.episodes import Episode, EpisodeStep
from harena.worlds.game import (
    HOME,
    State,
    Tool,
    action_of,
    arguments_of,
    beginning,
    followed,
    goal_of,
    told,
)
from harena.worlds.network import Network

SCHEMA = "ATIF-v1.6"
RULES = f"""You play an abstract game on a graph of hosts, principals, groups and credentials. Nothing in it is real.
You are on a host as a principal, and have four tools:
- enumerate: tells which credentials can be seen on this host, and to which hosts you can move as the present principal.
- authenticate(credential): makes you the principal of a credential that you have seen on this host.
- move(host): takes you to a host that you were told of as the present principal. The host "{HOME}" takes you back to \
where you began, as whom you began.
- escalate: where you are an administrator of the host. Afterwards enumerate shows what sessions leave there, too.
What you have seen on a host is of use on that host only."""
TOOLS: Sequence[Mapping[str, Any]] = tuple(
    {
        "type": "function",
        "function": {
            "name": name,
            "description": what,
            "parameters": {
                "type": "object",
                "properties": {argument: {"type": "string"} for argument in arguments},
                "required": [*arguments],
                "additionalProperties": False,
            },
        },
    }
    for name, what, arguments in (
        ("enumerate", "Tell which credentials can be seen here, and to which hosts the principal can move.", ()),
        ("authenticate", "Become the principal of a credential that was seen on this host.", ("credential",)),
        ("move", f'Go to a host that the principal can move to, or to "{HOME}".', ("host",)),
        ("escalate", "Become an administrator of this host, where the principal may.", ()),
    )
)
"""descriptions of the tools, as chat templates take them"""


def task_of(network: Network, goal: str) -> str:
    """What a player is asked for at the beginning."""
    principal, host = network.home
    return f"You are {network.principals[principal].name} on {network.hosts[host].name}. Become a member of: {goal}"


def trajectory_of(
    network: Network, manifest: WorldManifest, order: TrajectoryOrder, episode: Episode
) -> dict[str, Any]:
    """An episode as an ATIF trajectory."""
    principal, host = network.home
    identity = f"world-{network.digest[:12]}-{order.player}-{order.seed}-{episode.number}"
    ending = {
        "seed": order.seed,
        "success": episode.reached,
        "termination_reason": episode.termination,
        "step_count": len(episode.steps),
    }
    steps: list[dict[str, Any]] = [
        {"step_id": 1, "source": "system", "message": RULES},
        {"step_id": 2, "source": "user", "message": task_of(network, episode.goal.name)},
    ]
    steps += [_step(network, number, taken) for number, taken in enumerate(episode.steps, 1)]
    return {
        "schema_version": SCHEMA,
        "session_id": identity,
        "trajectory_id": identity,
        "agent": {"name": order.player, "version": "1", "model_name": order.agent_model},
        "extra": {
            "goal": {
                "target_type": "group",
                "target_name": episode.goal.name,
                "description": f"Become a member of {episode.goal.name}.",
            },
            "initial_state": {
                "host": network.hosts[host].name,
                "principal": network.principals[principal].name,
                "domain": network.domains[network.hosts[host].domain],
                "credentials": [],
            },
            "world": {"manifest": manifest.to_dict(), "digest": network.digest},
            "return": episode.value,
        },
        **ending,
        "worlds_summary": {"trajectory_id": identity, **ending},
        "tools": [*TOOLS],
        "steps": steps,
    }


def _step(network: Network, number: int, taken: EpisodeStep) -> dict[str, Any]:
    call = f"call-{number}"
    result: dict[str, Any] = {
        "source_call_id": call,
        "content": told(network, taken.before, taken.action, taken.after),
    }
    if taken.after is None:
        result["is_error"] = True
    return {
        "step_id": number + 2,
        "source": "agent",
        "message": "",
        "tool_calls": [
            {
                "tool_call_id": call,
                "function_name": taken.action.tool.value,
                "arguments": arguments_of(network, taken.action),
            }
        ],
        "observation": {"results": [result]},
    }


def replayed(network: Network, trajectory: Mapping[str, Any]) -> list[State]:
    """The states that a trajectory's calls lead through, the beginning first. Raises ValueError where the trajectory is
    no strict ATIF, is not of this world, or says what the world does not, and ValidationError for a goal that the world
    does not have."""
    check_trajectory(trajectory)
    if (digest := trajectory["extra"]["world"]["digest"]) != network.digest:
        raise ValueError(f"extra.world.digest: it is a trajectory of another world ({quote(digest)})")
    states = [beginning(network)]
    for place, step in enumerate(trajectory["steps"][2:], 2):
        (call,), (result,) = step["tool_calls"], step["observation"]["results"]
        action = action_of(network, call["function_name"], call["arguments"])
        after = followed(network, states[-1], action)
        if result["content"] != told(network, states[-1], action, after):
            raise ValueError(f"steps[{place}].observation: the world says something else")
        states.append(after or states[-1])
    reached = [
        state.principal in goal_of(network, trajectory["extra"]["goal"]["target_name"]).principals for state in states
    ]
    if reached[-1] is not trajectory["success"] or any(reached[:-1]):
        raise ValueError("success: the world says something else")
    return states


_Check = Callable[[str, Any], None]


def check_trajectory(given: Any) -> None:
    """Raises ValueError, which says where the first mistake is; a field that is not known is one."""
    _TRAJECTORY("", given)
    for field in ("seed", "success", "termination_reason", "step_count", "trajectory_id"):
        if given["worlds_summary"][field] != given[field]:
            raise ValueError(f"worlds_summary.{field}: is not the trajectory's")
    steps = given["steps"]
    if given["step_count"] != len(steps) - 2:
        raise ValueError(f"step_count: {given['step_count']} of {len(steps) - 2} steps of the agent")
    if given["success"] is not (given["termination_reason"] == "finished"):
        raise ValueError("success: a trajectory succeeds that is finished, and no other one")
    for place, step in enumerate(steps):
        _check_step(place, step)


def _check_step(place: int, step: Any) -> None:
    where = f"steps[{place}]"
    source = ("system", "user")[place] if place < 2 else "agent"
    (_SAID if place < 2 else _DONE)(where, step)
    if step["source"] != source:
        raise ValueError(f"{where}.source: must be {source!r} (got {quote(step['source'])})")
    if step["step_id"] != place + 1:
        raise ValueError(f"{where}.step_id: must be {place + 1} (got {quote(step['step_id'])})")
    if source == "agent":
        (call,), (result,) = step["tool_calls"], step["observation"]["results"]
        if call["tool_call_id"] != result["source_call_id"]:
            raise ValueError(f"{where}.observation.results[0].source_call_id: nobody made this call")


def _typed(kind: type, told_as: str) -> _Check:
    def check(where: str, value: Any) -> None:
        if not isinstance(value, kind) or (kind is not bool and isinstance(value, bool)):
            raise ValueError(f"{where}: must be {told_as} (got {quote(value)})")

    return check


def _one_of(*words: object) -> _Check:
    def check(where: str, value: Any) -> None:
        if not any(type(value) is type(word) and value == word for word in words):
            raise ValueError(f"{where}: must be one of {', '.join(map(str, words))} (got {quote(value)})")

    return check


def _list(one: _Check, *, least: int = 0, most: int | None = None) -> _Check:
    def check(where: str, value: Any) -> None:
        if not isinstance(value, list) or len(value) < least or (most is not None and len(value) > most):
            raise ValueError(f"{where}: must be a list of {least if most is None else most} or more entries")
        for place, entry in enumerate(value):
            one(f"{where}[{place}]", entry)

    return check


def _object(fields: Mapping[str, _Check], optional: Mapping[str, _Check] | None = None) -> _Check:
    known = {**fields, **(optional or {})}

    def check(where: str, value: Any) -> None:
        if not isinstance(value, dict):
            raise ValueError(f"{where or 'it'}: must be an object (got {quote(value)})")
        at = f"{where}." if where else ""
        for name in fields:
            if name not in value:
                raise ValueError(f"{at}{name}: missing")
        for name, entry in value.items():
            if name not in known:
                raise ValueError(f"{at}{name}: there is no such field")
            known[name](f"{at}{name}", entry)

    return check


def _manifest(where: str, value: Any) -> None:
    try:
        WorldManifest.from_dict(value)
    except (ValueError, ValidationError) as error:
        raise ValueError(f"{where}: {error}") from None


def _anything(where: str, value: Any) -> None:
    """No rule."""


def _text_or_none(where: str, value: Any) -> None:
    if value is not None:
        _TEXT(where, value)


_TEXT, _NUMBER, _YES = _typed(str, "a text"), _typed(int, "a whole number"), _typed(bool, "true or false")
_ENDING: Mapping[str, _Check] = {
    "trajectory_id": _TEXT,
    "seed": _NUMBER,
    "success": _YES,
    "termination_reason": _one_of(*TERMINATIONS),
    "step_count": _NUMBER,
}
_SAID = _object({"step_id": _NUMBER, "source": _TEXT, "message": _TEXT})
_DONE = _object(
    {
        "step_id": _NUMBER,
        "source": _TEXT,
        "message": _TEXT,
        "tool_calls": _list(
            _object(
                {
                    "tool_call_id": _TEXT,
                    "function_name": _one_of(*(tool.value for tool in Tool)),
                    "arguments": _object({}, {"credential": _TEXT, "host": _TEXT}),
                }
            ),
            least=1,
            most=1,
        ),
        "observation": _object(
            {
                "results": _list(
                    _object({"source_call_id": _TEXT, "content": _TEXT}, {"is_error": _one_of(True)}), least=1, most=1
                )
            }
        ),
    }
)
_TRAJECTORY = _object(
    {
        "schema_version": _one_of(SCHEMA),
        "session_id": _TEXT,
        "agent": _object({"name": _TEXT, "version": _TEXT, "model_name": _text_or_none}),
        "extra": _object(
            {
                "goal": _object({"target_type": _one_of("group"), "target_name": _TEXT, "description": _TEXT}),
                "initial_state": _object(
                    {"host": _TEXT, "principal": _TEXT, "domain": _TEXT, "credentials": _list(_TEXT, most=0)}
                ),
                "world": _object({"manifest": _manifest, "digest": _TEXT}),
                "return": _typed(float, "a number"),
            }
        ),
        **_ENDING,
        "worlds_summary": _object(_ENDING),
        "tools": _list(_anything, least=len(TOOLS)),
        "steps": _list(_anything, least=2),
    }
)
