"""What a job that was killed goes on with: pure but for reading its ledger."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from harena.core.errors import PlatformError
from harena.training.loop.ledger import Ledger, PlannedStep
from harena.training.loop.schedule import Admission
from harena.training.rollouts.trajectory import Group, Trajectory


@dataclass(frozen=True, slots=True)
class ResumeState:
    """What is known of a job that continues from the checkpoint of step `done` (0: from its first weights)."""

    done: int = 0
    again: Sequence[PlannedStep] = ()
    """steps that were written down after the checkpoint, to be trained again from the same groups"""
    under_way: Sequence[Admission] = ()
    """groups that no step has learned from, in the order of their admission"""
    stored: dict[tuple[int, int], Trajectory] = field(default_factory=dict)
    """(group, sample) -> rollout, of those groups"""
    next_number: int | None = None
    next_prompt: int | None = None
    """the first that were not given yet; None = what follows from the steps"""

    @property
    def version(self) -> int:
        """Steps that are done when those of `again` are."""
        return self.done + len(self.again)


def resume_state(ledger: Ledger | None, *, done: int) -> ResumeState:
    """Raises PlatformError where the ledger knows less than the checkpoint."""
    if ledger is None:
        return ResumeState(done)
    planned, admissions = ledger.planned(), ledger.admissions()
    if len(planned) < done:
        raise PlatformError(
            f"the checkpoint is of step {done}, and the ledger knows {len(planned)} steps: they are not of the same "
            "job, or the ledger was lost. Put both back, or start in an empty folder",
            step="store",
        )
    left = waiting(admissions, trained={number for entry in planned for number in entry.groups})
    return ResumeState(
        done,
        again=planned[done:],
        under_way=left,
        stored={(entry.number, sample): t for entry in left for sample, t in ledger.rollouts(entry.number).items()},
        next_number=max((entry.number for entry in admissions), default=-1) + 1,
        next_prompt=max((entry.prompt for entry in admissions), default=-1) + 1,
    )


def groups_of(ledger: Ledger, planned: PlannedStep) -> list[Group]:
    """What a step learned from, in its order. Raises PlatformError where a group is missing."""
    found = [ledger.group(number) for number in planned.groups]
    missing = [number for number, entry in zip(planned.groups, found, strict=True) if entry is None]
    if missing:
        raise PlatformError(
            f"the ledger has lost the groups {missing} of step {planned.step}: start in an empty folder", step="store"
        )
    return [entry[0] for entry in found if entry is not None]


def waiting(admissions: Iterable[Admission], *, trained: set[int]) -> list[Admission]:
    """The last admission of each prompt, unless a step has learned from it; in the order of admission."""
    last: dict[int, Admission] = {}
    for entry in admissions:
        last[entry.prompt] = entry
    return sorted((entry for entry in last.values() if entry.number not in trained), key=lambda entry: entry.number)


def is_cut(past: ResumeState, *, group_size: int) -> bool:
    """Some rollouts of the groups under way are stored, and others are missing."""
    return 0 < len(past.stored) < len(past.under_way) * group_size
