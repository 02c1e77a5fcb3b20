"""What trusted tests that share their process with a candidate compare, compute and make, as it is watched there.

The functions that stand in the place of operators (`guest_comparison_rewriter`) are given plain arrays
(`guest_arrays`), say no of objects that equal everything of their class (`guest_same_class_comparisons`), what they say
of nothing is noted (`guest_vacuous_comparisons`), and what they are given to put in an order (`guest_added_methods`).
Standard library only, Python 3.8 and up.
"""

from __future__ import annotations

from harena.scoring.guest.arrays import Arrays
from harena.scoring.guest.comparison_rewriter import COMPARED, METHOD, OPERATING, PAIR, TWO_SIDED
from harena.scoring.guest.created_objects import Finding, Making
from harena.scoring.guest.same_class_comparisons import (
    searches,
    watching_equality,
    watching_methods,
    watching_pairs,
    watching_sets,
)
from harena.scoring.guest.vacuous_comparisons import FREE_OPERATED, OPERATED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from harena.scoring.guest.added_methods import Added
    from harena.scoring.guest.same_class_comparisons import Kin
    from harena.scoring.guest.vacuous_comparisons import Hollow


class WatchedBeside:
    """The watches of one run."""

    def __init__(self, hollow: Hollow, kin: Kin, added: Added, is_named: Callable[[type], bool]) -> None:
        """`is_named`: whether the tests name a class of the candidate's."""
        self._hollow, self._kin, self._added = hollow, kin, added
        hollow.noting = added.calling
        hollow.hears_calls = True
        hollow.plain = Arrays(is_named, hollow.is_installed).plain

    def functions(self, judging: Mapping[str, Callable[..., Any]]) -> dict[str, Callable[..., Any]]:
        """By their names in the tests' code; `judging`: those that stand there without a watch."""
        judging = {**judging, **{name: self._added.watching(judging[name]) for name in TWO_SIDED}}
        found = {name: judging[name] for name in OPERATING}
        found[COMPARED] = watching_equality(self._kin, found[COMPARED])
        found[OPERATED] = watching_sets(self._kin, found[OPERATED])
        found = {name: self._hollow.watching(function) for name, function in found.items()}
        found[PAIR] = watching_pairs(self._kin, judging[PAIR])
        found[METHOD] = watching_methods(self._kin, judging[METHOD])
        found[FREE_OPERATED] = judging[OPERATED]
        found = {**{name: judging[name] for name in TWO_SIDED}, **found}
        return {**found, **self._hollow.functions(), **searches(self._kin)}

    def put_statements(self, tree: Any) -> Any:
        """The tree; see `Hollow`."""
        return self._hollow.put_statements(tree)

    def put_pairs(self, tree: Any) -> Any:
        """The tree; see `Hollow`."""
        return self._hollow.put_pairs(tree)

    def put_makers(self, tree: Any) -> Any:
        """The tree, which tells what it makes; before assertions are rewritten, which takes calls to pieces."""
        return Making(self._kin).visit(tree)

    def put_calls(self, tree: Any) -> Any:
        """The tree, whose calls are watched."""
        return Finding().visit(self._hollow.put_calls(tree, is_apart=False))
