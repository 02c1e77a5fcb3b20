"""Which rollout groups may begin, and which are trained next: pure, no clock and no I/O.

A group holds a slot from its admission until the weights that learned from it are published; there are
(S + 1) * groups_per_step slots, or fewer where a buffer of fewer groups is asked for. Groups are admitted in the order
of the prompts. S = 0 is `sync`, S = 1 `one_step_off_async`, S = k `fully_async`: one rule.

Why staleness is bounded. Version v is published after step v. Under `wait`, step v trains the groups
v * B ... (v + 1) * B - 1, in admission order. Group n is admitted when fewer than (S + 1) * B groups are under way,
that is, not before version n // B - S; so no token of it is older than S when it is trained.

Under `readmit`, step v trains the B first admitted that have ended, so that a straggler delays nobody. What is still
under way when its next chance would be more than S versions after its admission is aborted, and its prompt is admitted
anew, before everything that was not admitted yet. That is mostly a group that has not ended; of several stragglers that
end in the same moment, there may be more than the steps that are left for them can take.

Why no prompt is left out. A prompt that was aborted PATIENCE times is waited for: its group takes its place in the
order of admission, ended or not. At most (S + 1) * B - 1 groups were admitted before it and hold slots, and each step
that does not train it trains B of those. So it is trained at most S versions after that admission, and is never aborted
again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harena.core.errors import ValidationError
from harena.core.records.training_plans import StalenessPolicy

PATIENCE = 2
"""how often a prompt is aborted before the trainer waits for it"""


@dataclass(slots=True)
class Admission:
    """One group under way."""

    number: int
    """its place in the order of admission"""
    prompt: int
    """its place in the order of prompts"""
    version: int
    """policy version that was published when the prompt was admitted"""
    readmissions: int = 0
    """how often its prompt was aborted before"""
    ended: bool = False


class GroupSchedule:
    """The slots of one job. What is under way, what may begin, what is next."""

    def __init__(
        self,
        *,
        groups_per_step: int,
        max_steps_off_policy: int,
        steps: int,
        policy: StalenessPolicy = "wait",
        buffer_size: int | None = None,
        version: int = 0,
        under_way: Sequence[Admission] = (),
        next_number: int | None = None,
        next_prompt: int | None = None,
    ) -> None:
        """`buffer_size`: groups that may be under way beside those of one step; None = max_steps_off_policy steps of
        them, and more than that is never used. A job that goes on: `version` steps are done; `under_way` were admitted
        and are neither trained nor admitted anew, in order; the numbers are the first that were not given yet. Raises
        ValidationError."""
        if groups_per_step < 1 or max_steps_off_policy < 0 or steps < 0:
            raise ValidationError(
                "a schedule needs groups_per_step >= 1, max_steps_off_policy >= 0 and steps >= 0 "
                f"(got {groups_per_step}, {max_steps_off_policy} and {steps})"
            )
        self.version = version
        self._size = groups_per_step
        self._staleness = max_steps_off_policy
        self._steps = steps
        self._policy = policy
        most = max_steps_off_policy * groups_per_step
        self._ahead = most if buffer_size is None else min(buffer_size, most)
        self._next_number = version * groups_per_step if next_number is None else next_number
        self._next_prompt = version * groups_per_step if next_prompt is None else next_prompt
        self._under_way = {entry.number: entry for entry in under_way}
        self._again = self._take_late()

    @property
    def slots(self) -> int:
        """Groups that may be under way at one time."""
        return self._size + self._ahead

    @property
    def done(self) -> bool:
        """Every step is done."""
        return self.version >= self._steps

    @property
    def under_way(self) -> tuple[Admission, ...]:
        """In the order of admission."""
        return tuple(self._under_way.values())

    def admit(self) -> list[Admission]:
        """Admissions that may begin now, in order; they hold slots from now on."""
        admitted = []
        while len(self._under_way) < self.slots and (entry := self._next()) is not None:
            self._under_way[entry.number] = entry
            admitted.append(entry)
        return admitted

    def end(self, number: int) -> None:
        """The group's rollouts have their rewards."""
        self._under_way[number].ended = True

    def next_step(self) -> list[Admission] | None:
        """The groups of the next step, in the order of admission; None = they have not all ended."""
        first = [entry for entry in self.under_way if entry.ended or self._is_waited_for(entry)][: self._size]
        return first if len(first) == self._size and all(entry.ended for entry in first) else None

    def publish(self, trained: list[Admission]) -> list[Admission]:
        """The weights that learned from these groups are published; those whose rollouts must be aborted now, because
        they could not be trained within the bound any more. Their prompts are admitted again."""
        for entry in trained:
            del self._under_way[entry.number]
        self.version += 1
        late = self._take_late()
        self._again += late
        return late

    def _is_waited_for(self, entry: Admission) -> bool:
        return self._policy == "wait" or entry.readmissions >= PATIENCE

    def _take_late(self) -> list[Admission]:
        late = [entry for entry in self.under_way if self.version - entry.version > self._staleness]
        for entry in late:
            del self._under_way[entry.number]
        return late

    def _next(self) -> Admission | None:
        number = self._next_number
        if self._again:
            old = self._again.pop(0)
            self._next_number += 1
            return Admission(number, old.prompt, self.version, readmissions=old.readmissions + 1)
        if self._next_prompt >= self._steps * self._size:
            return None
        self._next_number += 1
        self._next_prompt += 1
        return Admission(number, self._next_prompt - 1, self.version)
