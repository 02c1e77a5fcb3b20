"""The slots of a node: never more runs than slots, none left empty, the right job next."""

from hypothesis import given
from hypothesis import strategies as st

from harena.jobs.slots import Share, Slots, next_share


def share(priority: int = 0, order: int = 0, running: int = 0, *, waiting: bool = True) -> Share:
    """A job's part."""
    return Share(priority, order, lambda: None, running, waiting)


def test_priority_then_evenness_then_arrival() -> None:
    """What decides, in this order; who does not wait is not asked."""
    low, even, busy = share(-1, 1), share(0, 3, running=1), share(0, 2, running=2)
    late = share(0, 4, running=1)
    assert next_share([low, busy, late, even], 1) is even
    assert next_share([low, share(5, 9, running=7)], 1).priority == 5  # type: ignore[union-attr]
    assert next_share([share(9, 1, waiting=False), low], 1) is low
    assert next_share([low], 0) is None
    assert next_share([], 1) is None


@given(
    capacity=st.integers(1, 4),
    priorities=st.lists(st.integers(-2, 2), min_size=1, max_size=4),
    choices=st.lists(st.tuples(st.sampled_from(["want", "end", "idle", "leave"]), st.integers(0, 3)), max_size=80),
)
def test_slots_are_neither_overdrawn_nor_forgotten(
    capacity: int, priorities: list[int], choices: list[tuple[str, int]]
) -> None:
    """Whatever jobs do: at most `capacity` run; and when slots are free, whoever's turn it is has been woken."""
    slots = Slots(capacity)
    woken: set[int] = set()
    shares = [
        slots.join(priority=priority, wake=lambda index=index: woken.add(index))  # type: ignore[misc]
        for index, priority in enumerate(priorities)
    ]
    left: set[int] = set()
    for choice, number in choices:
        index = number % len(shares)
        mine = shares[index]
        if index in left:
            continue
        woken.discard(index)
        if choice == "want":
            before, turn = slots.free, mine.running
            granted = slots.acquire(mine)
            assert mine.running == turn + granted
            assert not granted or before > 0
        elif choice == "end" and mine.running:
            slots.release(mine)
        elif choice == "idle":
            slots.pass_on(mine)
        elif choice == "leave" and not mine.running:
            slots.leave(mine)
            left.add(index)
        assert 0 <= slots.free <= capacity
        turn_of = next_share([entry for number, entry in enumerate(shares) if number not in left], slots.free)
        # it was woken, or it is the one that acts now and asks again by itself
        assert turn_of is None or turn_of is mine or shares.index(turn_of) in woken


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
