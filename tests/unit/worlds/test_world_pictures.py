"""Pictures of worlds."""

from __future__ import annotations

from itertools import pairwise
from typing import Any
from xml.etree import ElementTree

import pytest

from harena import TrajectoryOrder, WorldManifest
from harena.worlds.episodes import play
from harena.worlds.game import goal_of
from harena.worlds.generation import generate
from harena.worlds.network import Network
from harena.worlds.pictures import svg_map, text_map

SVG = "{http://www.w3.org/2000/svg}"


def world(preset: Any = "small", **more: Any) -> Network:
    return generate(WorldManifest.checked({"name": "w", "preset": preset, **more}))


@pytest.mark.parametrize("preset", ["small", "medium", "large", "enterprise"])
def test_every_host_is_drawn_once_within_the_picture(preset: str) -> None:
    network = world(preset)
    root = ElementTree.fromstring(svg_map(network))
    width, height = int(root.attrib["width"]), int(root.attrib["height"])
    hosts = [circle for circle in root.iter(f"{SVG}circle") if circle.find(f"{SVG}title") is not None]
    places = {(int(circle.attrib["cx"]), int(circle.attrib["cy"])) for circle in hosts}
    assert len(hosts) == len(places) == len(network.hosts)
    assert all(0 < x < width and 0 < y < height for x, y in places)
    assert len([*root.iter(f"{SVG}polyline")]) == 1


def test_the_way_of_an_episode_is_its_hosts() -> None:
    network = world(seed=5)
    order = TrajectoryOrder.checked({"max_steps": 300})
    episode = play(network, goal_of(network), order, 0)
    (way,) = ElementTree.fromstring(svg_map(network, episode)).iter(f"{SVG}polyline")
    hosts = [network.home[1], *((taken.after or taken.before).host for taken in episode.steps)]
    moves = sum(one != other for one, other in pairwise(hosts))
    assert len(way.attrib["points"].split()) == moves + 1


def test_the_map_in_lines_is_short() -> None:
    """Whatever the world; and it names the goals."""
    for preset in ("small", "enterprise"):
        network = world(preset)
        episode = play(network, goal_of(network), TrajectoryOrder.checked({"max_steps": 1000}), 0)
        lines = text_map(network, episode).splitlines()
        assert len(lines) < 150
        assert max(map(len, lines)) <= 100
        assert any("Help Desk@alpha" in line for line in lines)
        assert any(line.startswith("episode 0, ") for line in lines)
