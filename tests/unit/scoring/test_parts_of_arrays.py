"""Arrays that show parts of one memory cross as such parts, and nobody is made to hold more than was sent."""

from __future__ import annotations

from typing import Any

import pytest

from harena.scoring.guest.object_graph import Border, GraphError

np = pytest.importorskip("numpy")


def sides() -> tuple[Border, Border]:
    """Two that speak with each other."""
    return Border(0), Border(1)


def sent(one: Border, other: Border, *values: Any) -> list[Any]:
    """What the other side has of these values."""
    return other.unpack(*one.pack(*values))


@pytest.mark.parametrize(
    "part", ["a[1]", "a[:, 1]", "a[::-1, ::2]", "a.T", "a.reshape(-1)[3:]", "a.view('f8')", "a[1:][:, 1:]", "a[0, 0:0]"]
)
@pytest.mark.parametrize("order", ["C", "F"])
def test_a_part_is_a_part_there_too(part: str, order: Any) -> None:
    """It lies where it lay, and what is written to it comes back."""
    one, other = sides()
    a = np.arange(12).reshape(3, 4).copy(order)
    shown = eval(part, {"a": a})
    whole, found = sent(one, other, a, shown)
    assert (found.tolist(), found.strides, found.shape) == (shown.tolist(), shown.strides, shown.shape)
    assert np.shares_memory(found, whole) is np.shares_memory(shown, a)
    found[...] = 7
    again = sent(other, one, found, whole)
    assert again[0] is shown
    assert again[1] is a
    assert (shown == 7).all()
    assert (a == 7).sum() == (whole == 7).sum()


def test_what_is_no_part_crosses_by_itself() -> None:
    """Objects, what is larger than a part may be, and memory that is no array's."""
    one, other = sides()
    large = np.zeros(1 << 18)
    objects = np.array([1, "a", None], dtype=object)
    for value in (large[:2], objects[:2], np.frombuffer(b"abcdefgh", "u1"), np.broadcast_to(1.5, (300, 500))):
        (found,) = sent(one, other, value)
        assert found.tolist() == value.tolist()
        assert found.flags.writeable == value.flags.writeable


@pytest.mark.parametrize(
    "state",
    [
        ["<f8!V", [2], 0, 0, [8]],
        ["<f8!V", [9], 1, 0, [8]],
        ["<f8!V", [2], 1, -8, [8]],
        ["<f8!V", [2], 1, 16, [16]],
        ["|O!V", [2], 1, 0, [8]],
        ["<f8!V", [1 << 20], 1, 0, [0]],
        ["<f8!V", [2], 3, 0, [8]],
        ["<f8!V", [2], 1],
        ["<f8", [-2], 1, 0, [8]],
    ],
    ids=lambda state: str(state),
)
def test_a_part_that_is_none_is_refused(state: list[Any]) -> None:
    """Of an array that is not there, beyond it, of other items, or one that repeats them too often."""
    here = Border(0)
    here.unpack([("m", 1)], [(1, "N", ["<f8", [4], bytes(32)])], [])
    held = here.shared[1]
    with pytest.raises((GraphError, ValueError, KeyError, IndexError, TypeError)):
        here.unpack([("m", 5)], [(5, "N", state)], [])
    assert held.tolist() == [0.0] * 4
