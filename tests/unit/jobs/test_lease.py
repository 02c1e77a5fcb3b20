"""When a lease has ended: a pure function of what a watcher has seen."""

from hypothesis import given
from hypothesis import strategies as st

from harena.jobs.lease import BEAT_SECONDS, LEASE_SECONDS, LOOK_SECONDS, LeaseWatch
from harena.jobs.owner import OwnerStatus


def test_what_is_known_of_the_process_decides_at_once() -> None:
    """A dead holder's lease has ended, a living one's has not, however long its beat stands still."""
    watch = LeaseWatch()
    assert watch.has_ended("j", OwnerStatus.GONE, epoch=1, beat=1, now=0.0)
    assert not watch.has_ended("j", OwnerStatus.ALIVE, epoch=1, beat=1, now=0.0)
    assert not watch.has_ended("j", OwnerStatus.ALIVE, epoch=1, beat=1, now=10 * LEASE_SECONDS)


def test_a_beat_that_stands_still_ends_the_lease() -> None:
    """Not before LEASE_SECONDS of the watcher's own time have passed since it saw the last one."""
    watch = LeaseWatch()
    for at in range(100, 100 + int(LEASE_SECONDS)):
        assert not watch.has_ended("j", OwnerStatus.UNKNOWN, epoch=1, beat=4, now=float(at))
    assert not watch.has_ended("j", OwnerStatus.UNKNOWN, epoch=1, beat=4, now=100.0 + LEASE_SECONDS - 0.1)
    assert watch.has_ended("j", OwnerStatus.UNKNOWN, epoch=1, beat=4, now=100.0 + LEASE_SECONDS)
    assert not watch.has_ended("j", OwnerStatus.UNKNOWN, epoch=2, beat=0, now=101.0 + LEASE_SECONDS)  # a new holder


def test_one_look_is_not_enough() -> None:
    """A watcher that comes late cannot know how long the beat has stood still."""
    assert not LeaseWatch().has_ended("j", OwnerStatus.UNKNOWN, epoch=1, beat=9, now=1e9)


@given(
    late=st.lists(st.floats(0, LEASE_SECONDS - BEAT_SECONDS - 0.01), min_size=1, max_size=30),
    looks=st.lists(st.floats(0.01, 5.0), min_size=1, max_size=60),
)
def test_a_holder_that_beats_keeps_its_lease(late: list[float], looks: list[float]) -> None:
    """Beats may be late by less than a lease less a beat; whenever the watcher looks, the lease holds."""
    beats, at = [0.0], 0.0
    for delay in late * 10:
        at += BEAT_SECONDS + delay
        beats.append(at)
    watch, now = LeaseWatch(), 0.0
    for pause in looks:
        now += pause
        if now > beats[-1]:
            break
        beat = sum(1 for moment in beats if moment <= now)
        assert not watch.has_ended("j", OwnerStatus.UNKNOWN, epoch=1, beat=beat, now=now)


@given(
    jumps=st.lists(st.floats(0, 1e6), min_size=1, max_size=int(LEASE_SECONDS / LOOK_SECONDS) - 1),
    beats=st.integers(0, 9),
)
def test_a_watcher_that_was_stopped_has_seen_nothing_meanwhile(jumps: list[float], beats: int) -> None:
    """A machine that was suspended wakes up: the holder, which slept as well, is given time to beat."""
    watch, now = LeaseWatch(), 5.0
    watch.has_ended("j", OwnerStatus.UNKNOWN, epoch=1, beat=beats, now=now)
    for jump in jumps:
        now += jump
        assert not watch.has_ended("j", OwnerStatus.UNKNOWN, epoch=1, beat=beats, now=now)
    assert not watch.has_ended("j", OwnerStatus.UNKNOWN, epoch=1, beat=beats + 1, now=now + LEASE_SECONDS)


def test_what_is_forgotten_is_watched_anew() -> None:
    """Nothing is kept of jobs that were taken over."""
    watch = LeaseWatch()
    for at in range(int(LEASE_SECONDS)):
        watch.has_ended("j", OwnerStatus.UNKNOWN, epoch=1, beat=1, now=float(at))
    watch.forget("j")
    assert not watch.has_ended("j", OwnerStatus.UNKNOWN, epoch=1, beat=1, now=LEASE_SECONDS)


@given(looks=st.lists(st.sampled_from([0.25, 0.5, 1.0, 3.0, LOOK_SECONDS]), min_size=1, max_size=60))
def test_a_dead_holder_is_found_within_a_lease_and_a_look(looks: list[float]) -> None:
    """Of a beat that never moves, the first look after LEASE_SECONDS says so, and no look before."""
    watch, now, first = LeaseWatch(), 0.0, None
    for pause in looks:
        now += pause
        first = now if first is None else first
        assert watch.has_ended("j", OwnerStatus.UNKNOWN, epoch=1, beat=1, now=now) == (now - first >= LEASE_SECONDS)
