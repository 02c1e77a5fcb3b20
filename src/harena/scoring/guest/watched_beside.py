"""What trusted tests that share their process with a candidate compare and compute, as it is watched there.

What the functions that stand in the place of operators (`guest_compared`) say of nothing is noted (`guest_hollow`).
Standard library only, Python 3.8 and up.
"""

from __future__ import annotations

from harena.scoring.guest.compared import OPERATING
from harena.scoring.guest.hollow import FREE_OPERATED, OPERATED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from harena.scoring.guest.hollow import Hollow


class WatchedBeside:
    """The watches of one run."""

    def __init__(self, hollow: Hollow) -> None:
        self._hollow = hollow

    def functions(self, judging: Mapping[str, Callable[..., Any]]) -> dict[str, Callable[..., Any]]:
        """By their names in the tests' code; `judging`: those that stand there without a watch."""
        found = {name: judging[name] for name in OPERATING}
        found = {name: self._hollow.watching(function) for name, function in found.items()}
        found[FREE_OPERATED] = judging[OPERATED]
        return {**found, **self._hollow.functions()}

    def put_statements(self, tree: Any) -> Any:
        """The tree; see `Hollow`."""
        return self._hollow.put_statements(tree)

    def put_pairs(self, tree: Any) -> Any:
        """The tree; see `Hollow`."""
        return self._hollow.put_pairs(tree)

    def put_calls(self, tree: Any) -> Any:
        """The tree, whose calls are watched."""
        return self._hollow.put_calls(tree, is_apart=False)
