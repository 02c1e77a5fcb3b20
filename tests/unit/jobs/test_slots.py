"""The slots of a node: never more runs than slots, none left empty, the right workspace and job next."""

from collections import Counter
from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from harena.core.records.sandboxes import Limits
from harena.jobs.slots import JobShare, Slots, WorkspaceShare, next_share


def share(
    priority: int = 0,
    order: int = 0,
    running: int = 0,
    *,
    waiting: bool = True,
    workspace_share: WorkspaceShare | None = None,
    turn: int = 0,
) -> JobShare:
    """A job's part; of one workspace unless another is given."""
    return JobShare(workspace_share or ALONE, priority, order, lambda: None, running, waiting, turn)


ALONE = WorkspaceShare()


def test_priority_then_evenness_then_turns_then_arrival() -> None:
    """What decides within a workspace, in this order; who does not wait is not asked."""
    low, even, busy = share(-1, 1), share(0, 3, running=1), share(0, 2, running=2)
    late, served = share(0, 4, running=1), share(0, 1, running=1, turn=7)
    assert next_share([low, busy, late, served, even], 1) is even
    assert next_share([low, busy, served], 1) is served
    assert next_share([low, share(5, 9, running=7)], 1).priority == 5  # type: ignore[union-attr]
    assert next_share([share(9, 1, waiting=False), low], 1) is low
    assert next_share([low], 0) is None
    assert next_share([], 1) is None


def test_workspaces_come_before_priorities() -> None:
    """The one with fewer runs, then the one whose turn was longest ago; none beyond what it may have."""
    busy, idle = WorkspaceShare(0, running=2, turn=9), WorkspaceShare(1, running=1, turn=8)
    urgent, patient = share(100, workspace_share=busy), share(-100, workspace_share=idle)
    assert next_share([urgent, patient], 1) is patient
    idle.running = 2
    assert next_share([urgent, patient], 1) is patient
    idle.turn = 10
    assert next_share([urgent, patient], 1) is urgent
    busy.most = 2
    assert next_share([urgent, patient], 1) is patient
    idle.most = 0
    assert next_share([urgent, patient], 1) is None


@given(
    capacity=st.integers(1, 4),
    jobs=st.lists(st.tuples(st.integers(-2, 2), st.sampled_from("abc")), min_size=1, max_size=5),
    most=st.dictionaries(st.sampled_from("abc"), st.integers(0, 3)),
    choices=st.lists(
        st.tuples(st.sampled_from(["want", "end", "idle", "leave", "allow"]), st.integers(0, 4)), max_size=80
    ),
)
def test_slots_are_neither_overdrawn_nor_forgotten(
    capacity: int, jobs: list[tuple[int, str]], most: dict[str, int], choices: list[tuple[str, int]]
) -> None:
    """Whatever jobs do: at most `capacity` run, and no workspace gets more than it may have; and when slots are free,
    whoever's turn it is has been woken."""
    slots = Slots(capacity)
    woken: set[int] = set()
    for workspace, number in most.items():
        slots.allow(workspace, number)
    shares = [
        slots.join(priority=priority, wake=lambda index=index: woken.add(index), workspace=workspace)  # type: ignore[misc]
        for index, (priority, workspace) in enumerate(jobs)
    ]
    left: set[int] = set()
    for choice, number in choices:
        index = number % len(shares)
        mine, workspace = shares[index], jobs[index][1]
        if choice == "allow":
            most[workspace] = number
            slots.allow(workspace, number)
        if index in left:
            continue
        if choice in ("want", "idle"):  # it answers: a run that ends leaves it woken
            woken.discard(index)
        if choice == "want":
            before, turn = slots.free, mine.running
            granted = slots.acquire(mine)
            assert mine.running == turn + granted
            assert not granted or (before > 0 and mine.workspace_share.running <= most.get(workspace, capacity))
        elif choice == "end" and mine.running:
            slots.release(mine)
        elif choice == "idle":
            slots.pass_on(mine)
        elif choice == "leave" and not mine.running:
            slots.leave(mine)
            left.add(index)
        assert slots.free == capacity - sum(entry.running for entry in shares)
        assert 0 <= slots.free <= capacity
        turn_of = next_share([entry for number, entry in enumerate(shares) if number not in left], slots.free)
        # it was woken, or it is the one that acts now and asks again by itself
        assert turn_of is None or (turn_of is mine and choice != "allow") or shares.index(turn_of) in woken


def test_slots_that_become_free_together_are_all_used() -> None:
    """A workspace may have two runs more: the job that is woken wants one slot only, and the other job is woken."""
    woken: list[str] = []
    slots = Slots(2)
    slots.allow("default", 0)
    first = slots.join(priority=0, wake=lambda: woken.append("first"))
    urgent = slots.join(priority=1, wake=lambda: woken.append("urgent"))
    assert (slots.acquire(first), slots.acquire(urgent), woken) == (False, False, [])
    slots.allow("default", 2)
    assert (slots.acquire(urgent), woken) == (True, ["urgent", "first"])
    slots.pass_on(urgent)
    assert slots.acquire(first)


@dataclass
class Node:
    """Jobs that always want more, over some slots."""

    capacity: int
    slots: Slots = field(init=False)
    shares: list[tuple[str, JobShare]] = field(default_factory=list)
    runs: list[tuple[str, JobShare]] = field(default_factory=list)
    overtaken: Counter[str] = field(default_factory=Counter)
    """slots that others were given since this workspace has had no run"""

    def __post_init__(self) -> None:
        self.slots = Slots(self.capacity)

    def join(self, workspace: str, priority: int) -> None:
        self.shares.append((workspace, self.slots.join(priority=priority, wake=lambda: None, workspace=workspace)))

    def fill(self) -> None:
        """Everybody asks until all slots are taken."""
        for _, share in self.shares:
            share.waiting = True  # all have asked before the first is answered
        while self.slots.free:
            for workspace, share in self.shares:
                while self.slots.acquire(share):  # as a job does: until it is refused
                    self.runs.append((workspace, share))
                    self.overtaken[workspace] = 0
                    for other in {name for name, _ in self.shares} - {name for name, _ in self.runs}:
                        self.overtaken[other] += 1

    def end(self, number: int) -> None:
        _, share = self.runs.pop(number % len(self.runs))
        self.slots.release(share)


@given(
    capacity=st.integers(1, 6),
    jobs=st.lists(st.tuples(st.sampled_from("abcd"), st.integers(-100, 100)), min_size=1, max_size=8),
    ends=st.lists(st.integers(0, 100), max_size=60),
)
def test_workspaces_share_evenly_and_none_is_starved(
    capacity: int, jobs: list[tuple[str, int]], ends: list[int]
) -> None:
    """Whatever ends when, and whatever their priorities and numbers of jobs: the shares of workspaces that want more
    differ by one run at most, and one without a run waits for one turn of each other, at most."""
    node = Node(capacity)
    for workspace, priority in jobs:
        node.join(workspace, priority)
    workspaces = {workspace for workspace, _ in jobs}
    node.fill()
    for number in ends:
        node.end(number)
        node.fill()
        running = Counter(dict.fromkeys(workspaces, 0))
        running.update(workspace for workspace, _ in node.runs)
        assert running.total() == capacity
        assert max(running.values()) - min(running.values()) <= 1
        assert max(node.overtaken.values(), default=0) < len(workspaces)


@given(capacity=st.integers(1, 6), before=st.integers(1, 4), priority=st.integers(-100, 100))
def test_a_workspace_that_comes_late_has_its_share_after_one_round(capacity: int, before: int, priority: int) -> None:
    """It gets the next slot that is freed, or that after those that came before and have none either: although the
    others came first, want more, and have a higher priority."""
    node = Node(capacity)
    for name in "abcd"[:before]:
        node.join(name, 100)
    node.fill()
    node.join("late", priority)
    node.fill()
    for _ in range(max(1, before + 1 - capacity)):
        node.end(0)
        node.fill()
    assert "late" in {workspace for workspace, _ in node.runs}


def test_a_stream_of_small_jobs_does_not_push_out_a_large_one() -> None:
    """With one slot, a job that runs for long and jobs of one run each take turns, in and across workspaces."""
    for workspaces in ("aa", "ab"):
        slots = Slots(1)
        large = slots.join(priority=0, wake=lambda: None, workspace=workspaces[0])
        assert slots.acquire(large)
        had = 0
        for _ in range(10):
            small = slots.join(priority=0, wake=lambda: None, workspace=workspaces[1])
            assert not slots.acquire(small)
            slots.release(large)
            while not slots.acquire(small):
                assert slots.acquire(large)
                had += 1
                slots.release(large)
            assert not slots.acquire(large)
            slots.release(small)
            slots.leave(small)
            assert slots.acquire(large)
            had += 1
        assert had >= 10


def test_equal_jobs_share_evenly_and_a_late_one_is_not_kept_waiting() -> None:
    """A job that comes when another holds every slot gets each slot that is freed, until both have half."""
    slots = Slots(4)
    first, second = (slots.join(priority=0, wake=lambda: None) for _ in range(2))
    while slots.acquire(first):
        pass
    assert (first.running, slots.acquire(second)) == (4, False)
    for _ in range(2):
        slots.release(first)
        assert not slots.acquire(first)
        while slots.acquire(second):
            pass
    assert (first.running, second.running) == (2, 2)


def test_slots_may_become_more_and_fewer() -> None:
    """Who waits is woken when there are more; what runs in too many ends as it would, and nothing begins meanwhile."""
    woken: list[str] = []
    slots = Slots(1)
    first = slots.join(priority=0, wake=lambda: woken.append("first"))
    assert slots.acquire(first)
    assert not slots.acquire(first)
    assert slots.wanted
    slots.resize(3)
    assert woken == ["first"]
    assert slots.acquire(first)
    assert slots.acquire(first)
    slots.resize(1)
    assert (slots.running, slots.free) == (3, -2)
    for _ in range(2):
        slots.release(first)
        assert not slots.acquire(first)
    slots.release(first)
    assert slots.acquire(first)


def test_the_largest_limit_of_those_that_run_or_wait_is_known() -> None:
    """What a job is that wants nothing now counts for nothing; no limit is more than any."""
    slots = Slots(1)
    assert slots.largest_limit_bytes == 0
    usual = slots.join(priority=0, wake=lambda: None)
    large = slots.join(priority=0, wake=lambda: None, limits=Limits(memory_bytes=1 << 33))
    assert slots.largest_limit_bytes == 0
    assert slots.acquire(usual)
    assert slots.largest_limit_bytes == Limits().memory_bytes
    assert not slots.acquire(large)
    assert slots.largest_limit_bytes == 1 << 33
    slots.pass_on(large)
    usual.allow(Limits(memory_bytes=None))
    assert slots.largest_limit_bytes > 1 << 60
    slots.release(usual)
    assert slots.largest_limit_bytes == 0
