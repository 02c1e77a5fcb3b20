"""Places for layers that are held in memory: in a template, for a workspace, on a node."""

from __future__ import annotations

from harena.runtime.guest import launch
from harena.runtime.host.held_layers import HeldLayer, HeldLayers

MOST = 100


def held(*layers: tuple[str, int], most_of_node: int = 10 * MOST) -> HeldLayers:
    made = HeldLayers(lambda template, place: None, most_of_node=most_of_node)
    for number, (workspace, size) in enumerate(layers):
        made.add(HeldLayer(workspace, 1, number, -1, size, 0o755))
    return made


def test_a_workspace_has_its_bytes_whatever_others_hold() -> None:
    layers = held(("other", MOST), ("mine", 60))
    assert layers.place("mine", 2, 40, MOST) == 0
    assert layers.place("mine", 2, 41, MOST) is None


def test_all_workspaces_together_take_a_part_of_the_machine() -> None:
    """Each has room of its own for that; none that the node lacks."""
    layers = held(*((f"w{number}", MOST) for number in range(3)), most_of_node=350)
    assert layers.place("mine", 1, 50, MOST) == 3
    assert layers.place("mine", 1, 51, MOST) is None


def test_a_template_has_so_many_places() -> None:
    layers = held(*(("mine", 0) for _ in range(launch.MOST_HELD)))
    assert layers.place("mine", 1, 0, MOST) is None
    assert layers.place("mine", 2, 0, MOST) == 0
