"""The rollout groups of one job that are under way: begun, kept in the ledger rollout by rollout, ended."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace

from harena.training.data.prompts import PromptRow, row_at, sample_key
from harena.training.loop.ledger import Ledger
from harena.training.loop.resume import ResumeState, is_cut
from harena.training.loop.rl_settings import RLSettings
from harena.training.loop.schedule import Admission
from harena.training.loop.time_split import TimeSplit, WatchedSampler
from harena.training.ports import Sampler
from harena.training.rollouts.rollout import Policy, RolloutRequest, Rollouts
from harena.training.rollouts.trajectory import Group, RewardValidity, SampleRequest, Trajectory


class RolloutGroups:
    """Makes the rollouts of admitted groups, but for those that the ledger has already."""

    def __init__(
        self,
        sampler: Sampler,
        rows: Sequence[PromptRow],
        rollouts: Rollouts,
        settings: RLSettings,
        *,
        split: TimeSplit,
        ledger: Ledger | None,
        past: ResumeState,
        on_rollout: Callable[[Trajectory], None],
    ) -> None:
        """`on_rollout` is told of each rollout that is made now."""
        self._policy = Policy(WatchedSampler(sampler, split), settings.sampling, lockstep=settings.in_lockstep)
        self._rows = rows
        self._prompts = [sampler.tokenizer.encode(row.prompt) for row in rows]
        self._rollouts = rollouts
        self._settings = settings
        self._split = split
        self._ledger = ledger
        self._on_rollout = on_rollout
        self._stored = past.stored
        # in lockstep the last bits of what is sampled depend on what is sampled beside it: what is stored of a step
        # that was cut short keeps its place there, and is neither rewarded again nor put in the place of what is stored
        self._beside = settings.in_lockstep and is_cut(past, group_size=settings.group_size)
        self._tasks: dict[int, asyncio.Task[Group]] = {}

    def begin(self, entry: Admission) -> None:
        """Begin the rollouts of a group."""
        self._tasks[entry.number] = asyncio.create_task(self._group(entry), name=f"group {entry.number}")

    async def wait_for_one(self, entries: Sequence[Admission]) -> list[int]:
        """Until one of these groups has ended: the numbers of those that have. Raises what a rollout raised: the job
        cannot go on."""
        await asyncio.wait([self._tasks[entry.number] for entry in entries], return_when=asyncio.FIRST_COMPLETED)
        ended = [entry.number for entry in entries if self._tasks[entry.number].done()]
        for number in ended:
            self._tasks[number].result()
        return ended

    def take(self, number: int) -> Group:
        """A group that has ended."""
        return self._tasks.pop(number).result()

    async def take_after_outage(self, entry: Admission) -> Group:
        """A group that has ended. Rewards that it lost to the platform are asked for once more, where what was said is
        all that it takes, and kept if they come."""
        group, again = self.take(entry.number), getattr(self._rollouts, "again", None)
        row = self._rows[self._row(entry)]

        async def rewarded(trajectory: Trajectory) -> Trajectory:
            if again is None or trajectory.reward.validity is not RewardValidity.INFRA:
                return trajectory
            made = replace(trajectory, reward=await again(row, trajectory, self._settings.sampling))
            if self._ledger is not None:
                self._ledger.replace_lost(entry.number, made)
            return made

        asked = [rewarded(trajectory) for trajectory in group.trajectories]
        return replace(group, trajectories=tuple(await asyncio.gather(*asked)))

    def abort(self, number: int) -> None:
        """End its rollouts."""
        self._tasks.pop(number).cancel()

    async def close(self) -> None:
        """End everything."""
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    async def _group(self, entry: Admission) -> Group:
        rollouts = [asyncio.ensure_future(self._rollout(entry, sample)) for sample in range(self._settings.group_size)]
        try:
            trajectories = await asyncio.gather(*rollouts)
        finally:
            for rollout in rollouts:
                rollout.cancel()
            await asyncio.gather(*rollouts, return_exceptions=True)  # they end what they hold
        row = self._rows[self._row(entry)]
        return Group(number=entry.number, prompt_id=row.id, trajectories=tuple(trajectories))

    async def _rollout(self, entry: Admission, sample: int) -> Trajectory:
        row = self._row(entry)
        key = sample_key(self._settings.seed, place=entry.prompt, sample=sample, readmissions=entry.readmissions)
        if (stored := self._stored.pop((entry.number, sample), None)) is not None:
            if self._beside:
                await self._sample_again(stored, key)
            return stored
        request = RolloutRequest(row=self._rows[row], prompt=self._prompts[row], sample=sample, key=key)
        with self._split.rollout():
            trajectory = await self._rollouts.rollout(request, self._policy)
        if self._ledger is not None:
            self._ledger.add_rollout(entry.number, trajectory)
        self._on_rollout(trajectory)
        return trajectory

    async def _sample_again(self, stored: Trajectory, key: tuple[int, ...]) -> None:
        """Ask for each of its turns as it was asked for; what is said is known."""
        with self._policy.seat() as seat:
            for turn, (begin, end) in enumerate(turns(stored)):
                sampling = replace(self._policy.sampling, max_new_tokens=end - begin)
                await seat.sample(
                    SampleRequest(prompt=stored.tokens[:begin], key=(*key[:-1], key[-1] + turn), sampling=sampling)
                )

    def _row(self, entry: Admission) -> int:
        return row_at(entry.prompt, rows=len(self._rows), seed=self._settings.seed)


def turns(trajectory: Trajectory) -> list[tuple[int, int]]:
    """Where the policy spoke: from which place in `tokens`, to before which."""
    if trajectory.turns:
        return [(turn.start, turn.end) for turn in trajectory.turns]
    begin = trajectory.mask.index(1) if any(trajectory.mask) else len(trajectory.mask)
    if trajectory.starts or not all(trajectory.mask[begin:]):
        return []  # of an agent, whose exchanges no other rollout waits for
    return [(begin, len(trajectory.mask))] if begin < len(trajectory.mask) else []
