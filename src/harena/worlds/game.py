"""The rules of the game, as one pure step.

A player is on a host, acts as a principal, and has four tools:

    enumerate     tells what can be seen here: credentials, and hosts that the present principal can move to
    authenticate  makes the player act as the principal of a credential that was seen here
    move          goes to a host that the present principal can move to, once the player has been told of it; `home` is
                  always open, and brings the player back to the beginning
    escalate      works where the present principal is an administrator of the host: credentials that sessions have left
                  there can be seen, too

What was seen on a host can be used on that host only: a player that moves away has to enumerate again. So a state is
five small values, a breadth-first search finds the shortest way to a goal, and the highest return is known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from harena.core.errors import ValidationError
from harena.core.worlds import DEFAULT_GOAL, STEP_COST
from harena.worlds.network import Network

HOME = "home"
HOME_PLACE = -1
"""the place that `move` has for HOME"""


class Tool(StrEnum):
    """What a player can do."""

    ENUMERATE = "enumerate"
    AUTHENTICATE = "authenticate"
    MOVE = "move"
    ESCALATE = "escalate"


ENUMERATE, AUTHENTICATE, MOVE, ESCALATE = Tool
_ARGUMENTS: Mapping[Tool, str | None] = {ENUMERATE: None, AUTHENTICATE: "credential", MOVE: "host", ESCALATE: None}


class Action(NamedTuple):
    """One use of a tool. `place`: of the credential, or of the host; 0 where a tool takes nothing."""

    tool: Tool
    place: int = 0


class State(NamedTuple):
    """The host that a player is on, the principal that it acts as, and what it has been told there."""

    host: int
    principal: int
    escalated: bool
    seen: int
    """0 = nothing was enumerated here; 1 = what lies open; 2 = what sessions leave, too"""
    mapped: bool
    """it has been told where the principal can move"""


def beginning(network: Network) -> State:
    """The state at home."""
    principal, host = network.home
    return State(host, principal, False, 0, False)


def followed(network: Network, state: State, action: Action) -> State | None:
    """The state that an action leads to; None = it is refused, and nothing changes."""
    host, principal, escalated, seen, mapped = state
    tool, place = action
    if tool is ENUMERATE:
        return State(host, principal, escalated, max(seen, 2 if escalated else 1), True)
    if tool is MOVE:
        if place == HOME_PLACE:
            return beginning(network)
        if not mapped or place == host or place not in network.can_move[principal]:
            return None
        return State(place, principal, False, 0, True)
    if tool is AUTHENTICATE:
        if not seen or place not in network.shown[host][seen - 1]:
            return None
        other = network.credentials[place].principal
        return None if other == principal else State(host, other, False, seen, False)
    return None if escalated or host not in network.admin[principal] else State(host, principal, True, seen, mapped)


def seen_credentials(network: Network, state: State) -> tuple[int, ...]:
    """Credentials that the player has been told of here."""
    return network.shown[state.host][state.seen - 1] if state.seen else ()


def seen_hosts(network: Network, state: State) -> tuple[int, ...]:
    """Hosts that the player has been told it can move to; the one where it is may be among them."""
    return network.targets[state.principal] if state.mapped else ()


@dataclass(frozen=True, slots=True)
class Goal:
    """What a player has to achieve: to act as a member of a group."""

    name: str
    """name of the group, with its domain"""
    principals: frozenset[int]
    """the members of the group"""


def goal_of(network: Network, name: str = DEFAULT_GOAL) -> Goal:
    """The goal of this name: a group's with its domain, as `Domain Admins@alpha`; without one, the first domain's.
    Raises ValidationError, which names the groups that there are."""
    wanted = name if "@" in name else f"{name}@{network.domains[0]}"
    for place, group in enumerate(network.groups):
        if group.name == wanted:
            goal = Goal(wanted, network.members(place))
            if network.home[0] in goal.principals:
                raise ValidationError(f"goal: who plays is a member of {wanted} from the beginning")
            return goal
    raise ValidationError(
        f"goal: the world has no group {name!r:.140}; there are, of its first domain, "
        + ", ".join(group.name for group in network.groups if group.domain == 0)[:600]
    )


def episode_return(*, reached: bool, steps: int) -> float:
    """What an episode is worth: 1 for the goal, less STEP_COST for each step."""
    return round((1.0 if reached else 0.0) - STEP_COST * steps, 6)


def arguments_of(network: Network, action: Action) -> dict[str, str]:
    """The arguments of an action's tool by their names, as a call of it carries them."""
    if action.tool is AUTHENTICATE:
        return {"credential": network.credentials[action.place].name}
    if action.tool is MOVE:
        return {"host": HOME if action.place == HOME_PLACE else network.hosts[action.place].name}
    return {}


def action_of(network: Network, name: object, arguments: Mapping[str, Any]) -> Action:
    """The action that a call of a tool means. Raises ValueError, which says what is wrong with the call; it tells
    nothing of the network, so a host or credential that is not there is refused as one is that cannot be used."""
    try:
        tool = Tool(str(name))
    except ValueError:
        raise ValueError(f"there is no tool {name!r:.60}; there are {', '.join(Tool)}") from None
    wanted = _ARGUMENTS[tool]
    if wanted is None:
        if arguments:
            raise ValueError(f"{tool} takes no arguments")
        return Action(tool)
    if set(arguments) != {wanted} or not isinstance(arguments[wanted], str):
        raise ValueError(f'{tool} takes one argument, a text named "{wanted}"')
    told = arguments[wanted]
    if tool is MOVE:
        place = HOME_PLACE if told == HOME else network.place_of_host.get(told)
    else:
        place = network.place_of_credential.get(told)
    if place is None:
        raise ValueError(refusal(tool))
    return Action(tool, place)


def refusal(tool: Tool) -> str:
    """Why a tool refuses."""
    return {
        AUTHENTICATE: "this credential has not been seen here, or is the present principal's",
        MOVE: "the present principal has not been told that it can move to this host, or is there",
        ESCALATE: "the present principal is no administrator of this host, or has escalated",
    }.get(tool, "refused")


def told(network: Network, state: State, action: Action, after: State | None) -> str:
    """What a player reads of an action: what it has changed, or why it was refused."""
    if after is None:
        return refusal(action.tool)
    place = network.hosts[after.host].name
    who = network.principals[after.principal].name
    if action.tool is MOVE:
        return f"now on {place} as {who}"
    if action.tool is AUTHENTICATE:
        return f"now {who} on {place}"
    if action.tool is ESCALATE:
        return f"{who} has escalated on {place}"
    lines = [f"on {place} ({network.domains[network.hosts[after.host].domain]}) as {who}"]
    lines += [
        f"groups: {', '.join(sorted(network.groups[group].name for group in network.memberships[after.principal]))}"
    ]
    found = [
        f"{network.credentials[one].name} of {network.principals[network.credentials[one].principal].name}"
        for one in seen_credentials(network, after)
    ]
    lines.append(f"credentials: {', '.join(found) or 'none'}")
    lines.append(f"hosts: {', '.join(network.hosts[host].name for host in seen_hosts(network, after)) or 'none'}")
    if after.host in network.admin[after.principal] and not after.escalated:
        lines.append("can escalate here")
    return "\n".join(lines)
