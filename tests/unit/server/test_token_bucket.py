"""The pace of requests: never more than is allowed, and never less where somebody waits as he was told."""

from hypothesis import given
from hypothesis import strategies as st

from harena.server.token_bucket import TokenBucket

RATES = st.floats(0.01, 1e4)
BURSTS = st.integers(1, 50)
PAUSES = st.lists(st.floats(0, 20), max_size=60)


@given(rate=RATES, burst=BURSTS, pauses=PAUSES)
def test_no_window_has_more_than_burst_and_rate_allow(rate: float, burst: int, pauses: list[float]) -> None:
    """Between any two requests that were let in, with those two."""
    bucket, now, taken = TokenBucket(burst, 0.0), 0.0, []
    for pause in pauses:
        now += pause
        for _ in range(3):
            if bucket.take(now, rate=rate, burst=burst) == 0:
                taken.append(now)
    for first in range(len(taken)):
        for last in range(first, len(taken)):
            assert last - first + 1 <= burst + rate * (taken[last] - taken[first]) + 1e-6


@given(rate=RATES, burst=BURSTS, pauses=PAUSES)
def test_who_waits_as_told_is_let_in(rate: float, burst: int, pauses: list[float]) -> None:
    """And a refusal costs nothing: asking earlier does not make the wait longer."""
    bucket, now = TokenBucket(burst, 0.0), 0.0
    for pause in pauses:
        now += pause
        while (wait := bucket.take(now, rate=rate, burst=burst)) == 0:
            pass
        half = bucket.take(now + wait / 2, rate=rate, burst=burst)
        assert 0 < half <= wait
        now += wait / 2 + half
        assert bucket.take(now, rate=rate, burst=burst) == 0


@given(rate=RATES, burst=BURSTS)
def test_a_quiet_one_may_send_a_burst_and_no_more(rate: float, burst: int) -> None:
    """However long it was quiet; a clock that goes back gives nothing."""
    bucket = TokenBucket(burst, 0.0)
    waits = [bucket.take(1e6, rate=rate, burst=burst) for _ in range(burst + 1)]
    assert waits[:-1] == [0.0] * burst
    assert waits[-1] > 0
    assert bucket.take(5.0, rate=rate, burst=burst) > 0


def test_a_smaller_burst_holds_at_once() -> None:
    """Limits can change while requests come."""
    bucket = TokenBucket(100, 0.0)
    assert [bucket.take(0.0, rate=1, burst=2) == 0 for _ in range(3)] == [True, True, False]
