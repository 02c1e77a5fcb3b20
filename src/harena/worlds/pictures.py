"""Pictures of worlds: SVG, and a few lines for a terminal. Both can show the way of an episode."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from html import escape

from harena.worlds.episodes import Episode
from harena.worlds.game import arguments_of, beginning, goal_of
from harena.worlds.network import Network
from harena.worlds.shortest import reachable_goals, shortest_way

_GOALS_SHOWN, _STEPS_SHOWN, _ROWS_SHOWN = 12, 40, 8
_HOSTS_IN_ROW = 16
_MOST_LEADS = 400
"""lines between hosts; a picture of more says nothing"""
_CELL, _MARGIN, _TITLE = 56, 24, 34


def text_map(network: Network, episode: Episode | None = None) -> str:
    """The network in lines: its domains, hosts by what lies on them, goals, and a way."""
    lines = []
    for number, domain in enumerate(network.domains):
        hosts = [place for place, host in enumerate(network.hosts) if host.domain == number]
        users = sum(one.domain == number for one in network.principals)
        groups = sum(one.domain == number for one in network.groups)
        lines.append(f"{domain}: {len(hosts)} hosts, {users} principals, {groups} groups")
        rows = [hosts[first : first + 40] for first in range(0, len(hosts), 40)]
        lines += ["  " + "".join(_mark(network, host) for host in row) for row in rows[:_ROWS_SHOWN]]
        if len(rows) > _ROWS_SHOWN:
            lines.append(f"  ... {len(hosts) - 40 * _ROWS_SHOWN} more hosts")
    lines += ["", "@ home   * an open credential   + a session   # both   . neither", ""]
    goals = reachable_goals(network)
    lines.append(f"goals (steps of a shortest way), {len(goals)} of them:")
    lines += [f"  {goal.steps:4}  {goal.name}" for goal in goals[:_GOALS_SHOWN]]
    if len(goals) > _GOALS_SHOWN:
        lines.append(f"        ... {len(goals) - _GOALS_SHOWN} more")
    if episode is not None:
        lines += ["", f"episode {episode.number}, {episode.termination} after {len(episode.steps)} steps:"]
        lines += [*_told_steps(network, episode)]
    return "\n".join(lines) + "\n"


def _mark(network: Network, host: int) -> str:
    plain, everything = network.shown[host]
    if host == network.home[1]:
        return "@"
    return ".*+#"[(1 if plain else 0) + (2 if len(everything) > len(plain) else 0)]


def _told_steps(network: Network, episode: Episode) -> Iterator[str]:
    for number, taken in enumerate(episode.steps[:_STEPS_SHOWN], 1):
        words = [taken.action.tool.value, *arguments_of(network, taken.action).values()]
        state = taken.after or taken.before
        where = f"{network.principals[state.principal].name} on {network.hosts[state.host].name}"
        yield f"  {number:4}  {' '.join(words):28}{'refused' if taken.after is None else where}"
    if len(episode.steps) > _STEPS_SHOWN:
        yield f"        ... {len(episode.steps) - _STEPS_SHOWN} more steps"


def svg_map(network: Network, episode: Episode | None = None) -> str:
    """The network as SVG: a panel for each domain, a circle for each host, and a way: that of the episode, or a
    shortest one to the first domain's administrators."""
    places, panels, width, height = _laid_out(network)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        'font-family="sans-serif" font-size="9">',
        f"<title>{escape(', '.join(network.domains))}: {len(network.hosts)} hosts</title>",
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
    ]
    for domain, (top, size) in zip(network.domains, panels, strict=True):
        parts.append(
            f'<rect x="8" y="{top}" width="{width - 16}" height="{size}" rx="8" fill="#f4f4f2" stroke="#ccc"/>'
            f'<text x="20" y="{top + 20}" font-size="13" font-weight="bold">{escape(domain)}</text>'
        )
    leads = sorted(_leads(network))
    for one, other in leads if len(leads) <= _MOST_LEADS else ():
        (x, y), (u, v) = places[one], places[other]
        parts.append(f'<line x1="{x}" y1="{y}" x2="{u}" y2="{v}" stroke="#ddd"/>')
    for host, (x, y) in enumerate(places):
        fill = {"@": "#2b6cb0", "*": "#f6c453", "+": "#e07a5f", "#": "#b5485d"}.get(_mark(network, host), "#fff")
        about, name = escape(_about(network, host)), escape(network.hosts[host].name)
        parts.append(
            f'<circle cx="{x}" cy="{y}" r="9" fill="{fill}" stroke="#555"><title>{about}</title></circle>'
            f'<text x="{x}" y="{y + 20}" text-anchor="middle">{name}</text>'
        )
    parts += _way(places, _hosts_of_way(network, episode))
    return "\n".join([*parts, "</svg>"]) + "\n"


def _laid_out(network: Network) -> tuple[list[tuple[int, int]], list[tuple[int, int]], int, int]:
    """Where each host is, (top, height) of each domain's panel, and the width and height of all."""
    largest = max(sum(host.domain == domain for host in network.hosts) for domain in range(len(network.domains)))
    columns = min(_HOSTS_IN_ROW, max(4, math.isqrt(largest * 3)))
    places, panels, top = [(0, 0)] * len(network.hosts), [], 8
    for domain in range(len(network.domains)):
        hosts = [place for place, host in enumerate(network.hosts) if host.domain == domain]
        for number, host in enumerate(hosts):
            row, column = divmod(number, columns)
            places[host] = (_MARGIN + _CELL * column + _CELL // 2, top + _TITLE + _CELL * row + _CELL // 3)
        size = _TITLE + _CELL * math.ceil(len(hosts) / columns)
        panels.append((top, size))
        top += size + 12
    return places, panels, 2 * _MARGIN + _CELL * columns, top


def _leads(network: Network) -> set[tuple[int, int]]:
    """Pairs of hosts: a credential that lies on the first lets its principal move to the second."""
    found = set()
    for credential in network.credentials:
        for target in network.targets[credential.principal]:
            if target != credential.host:
                found.add((min(target, credential.host), max(target, credential.host)))
    return found


def _about(network: Network, host: int) -> str:
    plain, everything = network.shown[host]
    return f"{network.hosts[host].name}: {len(plain)} open credentials, {len(everything) - len(plain)} sessions"


def _hosts_of_way(network: Network, episode: Episode | None) -> list[int]:
    if episode is not None:
        hosts = [taken.before.host for taken in episode.steps[:1]]
        return hosts + [(taken.after or taken.before).host for taken in episode.steps]
    way = shortest_way(network, goal_of(network)) or ()
    return [beginning(network).host, *(action.place for action in way if action.tool.value == "move")]


def _way(places: Sequence[tuple[int, int]], hosts: Sequence[int]) -> Iterator[str]:
    """A line through the hosts, with a mark at its end."""
    stops = [host for host, _ in itertools.groupby(hosts)]
    if not stops:
        return
    points = " ".join(f"{places[host][0]},{places[host][1]}" for host in stops)
    x, y = places[stops[-1]]
    yield f'<polyline points="{points}" fill="none" stroke="#2f855a" stroke-width="2" stroke-opacity="0.7"/>'
    yield f'<circle cx="{x}" cy="{y}" r="13" fill="none" stroke="#2f855a" stroke-width="3"/>'
