"""Whose doing it is that a program's time is over: the pure rule, over lives that are simulated second by second."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harena.scoring.scorers.time_limits import (
    FAIR_FACTOR,
    WALL_FACTOR,
    Allowance,
    Look,
    Standing,
    charged_seconds,
    may_be_of_border,
    wall_limit,
)

LIMIT = 3.0


def life(
    candidate: Callable[[float], float],
    control: Callable[[float], float],
    *,
    needs: float = float("inf"),
    limit: float = LIMIT,
    pressed: bool = True,
    idle: Callable[[float], bool] = lambda _: False,
    step: float = 0.05,
) -> tuple[Standing | None, float]:
    """(how a program ends, when), whose tree gets `candidate(t)` cores at time t, and a control that gets `control(t)`;
    it has its answer after `needs` seconds of processor time (standing None), and wants no processor at `idle(t)`."""
    allowance, wall, used = Allowance(limit), 0.0, 0.0
    while wall < 50 * limit + 100:
        used += candidate(wall) * step
        wall += step
        if used >= needs:
            return None, wall
        look = Look(wall_seconds=wall, cpu_seconds=used, control_share=control(wall), pressed=pressed, idle=idle(wall))
        if (standing := allowance.judge(look)) is not Standing.GOING:
            return standing, wall
    raise AssertionError("it never ends")


def constant(share: float) -> Callable[[float], float]:
    """The same at all times."""
    return lambda _: share


@pytest.mark.parametrize(
    ("got", "control", "pressed", "standing", "latest"),
    [
        (1.0, 1.0, False, Standing.OVER, LIMIT),
        (0.2, 0.2, True, Standing.OVER, 5 * LIMIT),
        (0.0, 1.0, False, Standing.OVER, LIMIT),
        (0.0, 1.0, True, Standing.OVER, 2.5 * LIMIT),
        (0.0, 0.2, True, Standing.OVER, 8.5 * LIMIT),
        (0.01, 0.9, True, Standing.OVER, 3 * LIMIT),
        (1.9, 0.01, True, Standing.OVER, LIMIT),
        (0.01, 0.01, True, Standing.STARVED, WALL_FACTOR * LIMIT),
        (0.01, 0.0, False, Standing.STARVED, WALL_FACTOR * LIMIT),
    ],
    ids=[
        "a loop",
        "a loop with a fifth of a core",
        "a sleeper on a quiet host",
        "a sleeper on a host under pressure",
        "a sleeper beside eight busy processes",
        "nice 19, which the control is not",
        "240 busy children in sessions of their own",
        "a host that gives nobody anything",
        "a control that gets nothing",
    ],
)
def test_who_is_to_blame(got: float, control: float, pressed: bool, standing: Standing, latest: float) -> None:
    """Only a host that starves the control, too, excuses a program."""
    ended, when = life(constant(got), constant(control), pressed=pressed)
    assert ended is standing
    assert when + 0.1 >= LIMIT
    assert when <= latest + 0.2


@given(
    share=st.floats(0.06, 1.0),
    needs=st.floats(0.1, 0.95),
    head_start=st.floats(1.0, 1.4),
)
def test_a_right_program_that_gets_what_the_control_gets_is_never_over(
    share: float, needs: float, head_start: float
) -> None:
    """However little that is: it has its answer before, also where the control is measured as a little better off."""
    ended, _ = life(constant(share), constant(min(1.0, share * head_start)), needs=needs * LIMIT)
    assert ended is None


@given(burst=st.floats(0.0, 50.0), needs=st.floats(0.1, 0.95))
def test_a_burst_of_load_is_no_zero(burst: float, needs: float) -> None:
    """The host gives nobody anything for a while, and then everything: right, or, after the wall limit, no score."""
    host = lambda wall: 0.0 if wall < burst else 1.0  # noqa: E731
    ended, _ = life(host, host, needs=needs * LIMIT)
    assert ended is None


@given(control=st.floats(0.0, 1.0), limit=st.floats(0.2, 100.0), computes=st.floats(0.0, 0.9))
def test_who_wants_no_processor_is_not_starved(control: float, limit: float, computes: float) -> None:
    """However little the control gets, also who computed before."""
    sleeps = lambda wall: wall > limit * computes  # noqa: E731
    ended, when = life(
        lambda wall: 0.0 if sleeps(wall) else 0.05, constant(control), limit=limit, idle=sleeps, step=limit / 50
    )
    assert ended is Standing.OVER
    assert when <= 3 * limit


@given(
    share=st.floats(0.06, 1.0),
    needs=st.floats(0.1, 0.6),
    sleeps=st.lists(st.tuples(st.floats(0.0, 60.0), st.floats(0.0, 0.1)), max_size=3),
)
def test_a_right_program_that_sleeps_for_less_than_its_limit_is_never_over(
    share: float, needs: float, sleeps: list[tuple[float, float]]
) -> None:
    """Whenever it sleeps."""
    idle = lambda wall: any(begin <= wall < begin + LIMIT * took for begin, took in sleeps)  # noqa: E731
    ended, _ = life(lambda wall: 0.0 if idle(wall) else share, constant(share), needs=needs * LIMIT, idle=idle)
    assert ended is None


@given(
    candidate=st.floats(0.0, 2.0),
    control=st.floats(0.16, 1.0),
    pressed=st.booleans(),
    limit=st.floats(0.2, 100.0),
)
def test_nothing_that_a_program_does_excuses_it_where_the_control_is_fed(
    candidate: float, control: float, pressed: bool, limit: float
) -> None:
    """A fed control makes each end a time-out, whatever the program uses of it."""
    assert (
        life(constant(candidate), constant(control), pressed=pressed, limit=limit, step=limit / 50)[0] is Standing.OVER
    )


@given(candidate=st.floats(0.0, 2.0), control=st.floats(0.0, 1.0), limit=st.floats(0.2, 100.0))
def test_every_program_ends(candidate: float, control: float, limit: float) -> None:
    """Not before its limit, and at its wall limit at the latest."""
    ended, when = life(constant(candidate), constant(control), limit=limit, step=limit / 50)
    assert ended in (Standing.OVER, Standing.STARVED)
    assert limit * 0.98 <= when <= wall_limit(limit) + limit / 25


@given(st.floats(0.001, 1000), st.floats(0, 3000), st.booleans())
def test_what_is_charged_is_never_more_than_the_wall_time(wall: float, cpu: float, pressed: bool) -> None:
    """And never so little that many programs together outlast the wall limit."""
    charged = charged_seconds(wall_seconds=wall, cpu_seconds=cpu, pressed=pressed)
    assert wall / WALL_FACTOR <= charged <= wall
    assert pressed or charged == wall


def test_looks_come_when_something_can_have_happened() -> None:
    """At the limit, then when a loop may have used it, and never too often or too seldom."""
    allowance = Allowance(10.0)
    assert allowance.seconds_to_look(2.0) == 8.0
    assert allowance.seconds_to_look(10.0, 9.4) == pytest.approx(0.4)
    assert allowance.seconds_to_look(12.0, 1.0) == 1.0
    assert Allowance(0.1).seconds_to_look(0.2) == 0.05
    assert FAIR_FACTOR > 1.0


@pytest.mark.parametrize(
    ("wall", "cpu", "answers", "may_be"),
    [
        (30.0, 10.0, 60_000, True),
        (190.0, 9.8, 5_000, True),
        (20.0, 2.0, 3_000, True),  # the host is busy
        (60.0, 2.0, 1_200, False),  # it sleeps in its calls
        (10.0, 10.0, 4_000, False),  # it computes in its calls
        (10.0, 10.0, 20, False),  # it computes in one of them
    ],
)
def test_a_border_is_blamed_for_many_answers_that_cost_little(
    wall: float, cpu: float, answers: int, may_be: bool
) -> None:
    """A limit of ten seconds is over."""
    assert may_be_of_border(limit_seconds=10, wall_seconds=wall, cpu_seconds=cpu, answers=answers) is may_be
