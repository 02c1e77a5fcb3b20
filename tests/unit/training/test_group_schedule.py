"""The slots of rollout groups: order, bound of staleness, nobody left out."""

from __future__ import annotations

import heapq
import random
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harena.core.errors import ValidationError
from harena.core.records.training_plans import StalenessPolicy
from harena.training.loop.resume import waiting
from harena.training.loop.schedule import PATIENCE, Admission, GroupSchedule


class Trace:
    """What a simulated job did."""

    def __init__(self) -> None:
        self.trained: list[list[Admission]] = []
        self.staleness: list[int] = []
        self.aborted = 0
        self.most_under_way = 0


def gone_on(admissions: list[Admission], trained: set[int], **given: Any) -> GroupSchedule:
    """What a job that was killed begins with: it knows what was admitted, and what steps have learned from."""
    left = waiting((replace(entry, ended=False) for entry in admissions), trained=trained)
    return GroupSchedule(
        **given,
        version=len(trained) // given["groups_per_step"],
        under_way=left,
        next_number=len(admissions),
        next_prompt=max((entry.prompt for entry in admissions), default=-1) + 1,
    )


def simulate(
    *,
    size: int,
    staleness: int,
    steps: int,
    policy: StalenessPolicy,
    durations: list[float],
    step_seconds: float,
    kills: random.Random | None = None,
) -> Trace:
    """Groups take what `durations` says for their prompt, a step takes `step_seconds`. With `kills` the job is killed
    before one of three events: groups that had ended are known, others begin anew."""
    given: Any = {"groups_per_step": size, "max_steps_off_policy": staleness, "steps": steps, "policy": policy}
    schedule = GroupSchedule(**given)
    trace, now = Trace(), 0.0
    ends: list[tuple[float, int]] = []
    alive: set[int] = set()
    admissions: list[Admission] = []
    done: set[int] = set()
    while not schedule.done:
        if kills is not None and kills.random() < 0.3:
            schedule = gone_on(admissions, {entry.number for batch in trace.trained for entry in batch}, **given)
            alive = {entry.number for entry in schedule.under_way}
            ends = [
                (now if entry.number in done else now + durations[entry.prompt % len(durations)], entry.number)
                for entry in schedule.under_way
            ]
            heapq.heapify(ends)
        admitted = schedule.admit()
        admissions += admitted
        for entry in admitted:
            assert entry.version == schedule.version
            seconds = durations[entry.prompt % len(durations)]
            heapq.heappush(ends, (now + seconds, entry.number))
            alive.add(entry.number)
        trace.most_under_way = max(trace.most_under_way, len(schedule.under_way))
        while ends and ends[0][0] <= now:
            _, number = heapq.heappop(ends)
            if number in alive:
                schedule.end(number)
                done.add(number)
        batch = schedule.next_step()
        if batch is None:
            assert ends, "nothing runs, and the step waits for something"
            now = max(now, ends[0][0])
            continue
        trace.trained.append(batch)
        trace.staleness += [schedule.version - entry.version for entry in batch]
        now += step_seconds
        for late in schedule.publish(batch):
            alive.discard(late.number)
            trace.aborted += 1
    return trace


@given(
    size=st.integers(1, 5),
    staleness=st.integers(0, 4),
    steps=st.integers(1, 12),
    policy=st.sampled_from(["wait", "readmit"]),
    seed=st.integers(0, 10_000),
    stragglers=st.integers(1, 5),
    step_seconds=st.sampled_from([0.0, 0.1, 1.0, 10.0]),
    killed=st.booleans(),
)
def test_staleness_is_bounded_and_every_prompt_is_trained_once(
    size: int,
    staleness: int,
    steps: int,
    policy: StalenessPolicy,
    seed: int,
    stragglers: int,
    step_seconds: float,
    killed: bool,
) -> None:
    """One prompt of seven, or several, take a hundred times as long as their siblings, each time they are tried. Also
    where the job is killed again and again."""
    rng = random.Random(seed)
    durations = [rng.uniform(0.5, 1.5) for _ in range(7)]
    for place in rng.sample(range(7), stragglers):
        durations[place] = rng.choice((100.0, durations[place] * 100))  # some end in the same moment
    trace = simulate(
        size=size, staleness=staleness, steps=steps, policy=policy, durations=durations, step_seconds=step_seconds,
        kills=rng if killed else None,
    )  # fmt: skip
    assert max(trace.staleness) <= staleness
    assert trace.most_under_way <= (staleness + 1) * size
    prompts = [entry.prompt for batch in trace.trained for entry in batch]
    assert len(trace.trained) == steps
    assert sorted(prompts) == list(range(steps * size))
    for batch in trace.trained:  # in the order of admission
        assert [entry.number for entry in batch] == sorted(entry.number for entry in batch)
    assert all(entry.readmissions <= PATIENCE for batch in trace.trained for entry in batch)
    # nobody is left out: slots are always full, so this is when a prompt is admitted first; it is aborted S + 1
    # versions later at most, and admitted again at once
    for version, batch in enumerate(trace.trained):
        for entry in batch:
            first = max(0, entry.prompt // size - staleness)
            assert version <= first + PATIENCE * (staleness + 1) + staleness
    if policy == "wait":
        assert prompts == sorted(prompts)
        assert trace.aborted == 0


def test_stragglers_that_end_together_do_not_pass_the_bound() -> None:
    """Two groups of version 0 end when only one step is left that may learn from them: one of them is aborted."""
    schedule = GroupSchedule(groups_per_step=1, max_steps_off_policy=2, steps=9, policy="readmit")
    trained = []
    assert len(schedule.admit()) == 3
    for number in (2, 3):
        schedule.end(number)
        batch = schedule.next_step()
        assert batch is not None
        trained += batch
        assert schedule.publish(batch) == []
        schedule.admit()
    schedule.end(0)
    schedule.end(1)
    batch = schedule.next_step()
    assert batch is not None
    assert [entry.number for entry in batch] == [0]
    assert [entry.number for entry in schedule.publish(batch)] == [1]
    again, *_ = schedule.admit()
    assert (again.prompt, again.version, again.readmissions) == (1, 3, 1)


def test_a_schedule_goes_on_with_what_was_under_way() -> None:
    """What could not be trained within the bound any more is aborted, ended or not."""
    left = [Admission(4, 4, 1), Admission(6, 6, 2), Admission(7, 5, 3, readmissions=1)]
    schedule = GroupSchedule(
        groups_per_step=2, max_steps_off_policy=1, steps=9, policy="readmit", version=3, under_way=left, next_number=8,
        next_prompt=7,
    )  # fmt: skip
    assert [entry.number for entry in schedule.under_way] == [6, 7]
    assert [(entry.number, entry.prompt, entry.readmissions) for entry in schedule.admit()] == [(8, 4, 1), (9, 7, 0)]


def test_sync_trains_in_order_with_the_newest_weights() -> None:
    """S = 0: a plain sequential loop."""
    trace = simulate(size=4, staleness=0, steps=5, policy="wait", durations=[1.0, 9.0, 2.0], step_seconds=1.0)
    assert trace.staleness == [0] * 20
    assert [[entry.prompt for entry in batch] for batch in trace.trained] == [
        [4 * step + place for place in range(4)] for step in range(5)
    ]


def test_a_straggler_is_admitted_again_and_trained() -> None:
    """Under `readmit` its siblings go on; it is aborted when it would pass the bound, and comes back."""
    durations = [500.0, 1.0, 1.0, 1.0, 1.0]
    trace = simulate(size=2, staleness=1, steps=20, policy="readmit", durations=durations, step_seconds=1.0)
    assert trace.aborted > 0
    again = [entry for batch in trace.trained for entry in batch if entry.readmissions]
    assert again
    assert all(entry.prompt % 5 == 0 for entry in again)


def test_a_schedule_goes_on_where_it_was() -> None:
    """After a resume at version 3, the next prompt is the one that step 3 learns from."""
    schedule = GroupSchedule(groups_per_step=2, max_steps_off_policy=0, steps=5, version=3)
    assert [(entry.number, entry.prompt, entry.version) for entry in schedule.admit()] == [(6, 6, 3), (7, 7, 3)]


@pytest.mark.parametrize(("size", "staleness", "steps"), [(0, 0, 1), (1, -1, 1), (1, 0, -1)])
def test_bad_schedules(size: int, staleness: int, steps: int) -> None:
    with pytest.raises(ValidationError, match="groups_per_step"):
        GroupSchedule(groups_per_step=size, max_steps_off_policy=staleness, steps=steps)


@pytest.mark.parametrize(("buffer_size", "slots"), [(None, 8), (0, 4), (3, 7), (4, 8), (99, 8)])
def test_a_buffer_bounds_what_is_under_way_beside_a_step(buffer_size: int | None, slots: int) -> None:
    """Never more groups than a step and the buffer have; and never staler than the bound."""
    schedule = GroupSchedule(groups_per_step=4, max_steps_off_policy=1, steps=6, buffer_size=buffer_size)
    while not schedule.done:
        schedule.admit()
        assert len(schedule.under_way) <= slots == schedule.slots
        for entry in schedule.under_way:
            if not entry.ended:
                schedule.end(entry.number)
        batch = schedule.next_step()
        assert batch is not None
        assert all(schedule.version - entry.version <= 1 for entry in batch)
        schedule.publish(batch)
    assert schedule.under_way == ()
