"""Many scenarios, as the rows that they were written in: a checked one is a dozen objects, its row some hundred bytes.

A hundred thousand checked ones would hold 230 MB for as long as their job runs, and each collection of garbage would
look at all of them. What is asked for is made anew, in some 10 microseconds; those that were asked for last are kept.
"""

from __future__ import annotations

import json
import sys
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, overload

from harena.core.catalog import Lineage
from harena.core.json_steps import parse
from harena.core.network_policy import NO_NETWORK, NetworkPolicy
from harena.scoring.contracts.contract import WeightedContract
from harena.scoring.contracts.parts import Contract
from harena.scoring.memory_size import HeldBytes
from harena.scoring.scenario import Scenario

KEPT = 1000
"""number of scenarios that are kept once they are made: as many as a job may run at one time"""
KEPT_BYTES = 1 << 21
"""size of their rows; the last one is always kept"""
_MADE = 2
"""times the memory of its row that a scenario takes once it is made, or less"""
_ENTRY_BYTES = 24
"""memory of two lists for one scenario"""


def metadata_bytes(metadata: Mapping[str, Any]) -> int:
    """Size of a scenario's metadata as JSON."""
    return len(json.dumps(dict(metadata), default=str)) if metadata else 0


def policies_of(scenario: Scenario) -> set[NetworkPolicy]:
    """What a scenario says that its sandboxes may reach."""
    built = () if scenario.build is None else scenario.build.networks
    said = {scenario.network, scenario.verifier_network, *built}
    return {policy for policy in said if policy is not None and policy != NO_NETWORK}


def kinds_of(contract: Contract) -> set[type[Contract]]:
    """The kinds of a contract and of its parts."""
    parts = contract.parts.values() if isinstance(contract, WeightedContract) else ()
    return {type(contract)}.union(*(kinds_of(part.scoring) for part in parts))


class CompactScenarios(Sequence[Scenario]):
    """Scenarios that were checked. `again` makes one of its row, which is JSON. Nothing of it refers to itself: it
    goes with the last who uses it."""

    def __init__(self, again: Callable[[Any], Scenario]) -> None:
        self.ids: list[str] = []
        """ids of all scenarios, in their order"""
        self.lineages: set[Lineage] = set()
        """lineages of all scenarios"""
        self.metadata_bytes = 0
        """size of all their metadata, as JSON"""
        self.policies: set[NetworkPolicy] = set()
        """what scenarios say that their sandboxes may reach"""
        self.kinds: set[type[Contract]] = set()
        """kinds of their contracts"""
        self._placed: list[int] = []
        self._rows: list[bytes | Scenario] = []
        self._again = again
        self._lately: OrderedDict[int, Scenario] = OrderedDict()
        self._lately_bytes = 0
        """size of their rows"""
        self._held = HeldBytes()
        self._held_bytes = 0
        self._rows_bytes = 0
        self._longest_row = 0

    def add(self, scenario: Scenario, row: Any) -> None:
        """One more, which was made of this row. Where a stored contract is in it, it is kept itself: stores are asked
        when a job is accepted, and not when it runs."""
        self.ids.append(scenario.id)
        self.lineages.add(scenario.lineage)
        self.metadata_bytes += metadata_bytes(scenario.metadata)
        self.policies |= policies_of(scenario)
        self.kinds |= kinds_of(scenario.scoring)
        if scenario.place:
            self._placed.append(len(self._rows))
        is_whole = scenario.lineage.contract is None
        kept = json.dumps(row, separators=(",", ":")).encode() if is_whole else scenario
        self._rows.append(kept)
        self._held_bytes += _ENTRY_BYTES + sys.getsizeof(scenario.id)
        if isinstance(kept, bytes):
            self._rows_bytes += sys.getsizeof(kept)
            self._longest_row = max(self._longest_row, len(kept))
        else:
            self._held_bytes += self._held.of(kept)

    def add_shared(self, shared: Any) -> None:
        """Something that `again` makes scenarios of, beside their rows."""
        self._held_bytes += self._held.of(shared)

    @property
    def held_bytes(self) -> int:
        """Memory that it takes, at most, with the scenarios that are kept once they are made."""
        made = min(self._rows_bytes, max(KEPT_BYTES, self._longest_row))
        return self._held_bytes + self._rows_bytes + _MADE * made

    def placed(self) -> tuple[Scenario, ...]:
        """The scenarios that name the image or the blueprint of their candidates."""
        return tuple(self._made(number) for number in self._placed)

    @overload
    def __getitem__(self, index: int) -> Scenario: ...
    @overload
    def __getitem__(self, index: slice) -> list[Scenario]: ...
    def __getitem__(self, index: int | slice) -> Scenario | list[Scenario]:
        if isinstance(index, slice):
            return [self._made(number) for number in range(*index.indices(len(self)))]
        if index in self._lately:
            self._lately.move_to_end(index)
            return self._lately[index]
        made = self._made(index)
        self._keep(index, made)
        return made

    def __iter__(self) -> Iterator[Scenario]:
        return map(self._made, range(len(self)))

    def __len__(self) -> int:
        return len(self._rows)

    def _keep(self, index: int, made: Scenario) -> None:
        lately = self._lately
        lately[index] = made
        self._lately_bytes += self._row_bytes(index)
        while len(lately) > 1 and (len(lately) > KEPT or self._lately_bytes > KEPT_BYTES):
            oldest, _ = lately.popitem(last=False)
            self._lately_bytes -= self._row_bytes(oldest)

    def _row_bytes(self, index: int) -> int:
        row = self._rows[index]
        return len(row) if isinstance(row, bytes) else 0

    def _made(self, index: int) -> Scenario:
        row = self._rows[index]
        return self._again(parse(row)) if isinstance(row, bytes) else row
