"""Time limits of programs that are simulated, beside a control that is: real waits, in time that jumps."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import pytest

from harena.core.clock import GRACE_SECONDS, Standstill
from harena.core.errors import SandboxUnavailableError
from harena.core.models import (
    ExecOutcome,
    ExecRequest,
    ExecResult,
    ProcessorTime,
    ResourceUsage,
    SandboxOrigin,
    SandboxSpec,
)
from harena.core.output import OutputBuffer
from harena.core.ports import Death
from harena.core.results import Reason, RunResult
from harena.scoring import StarvedError, load_scenarios, score_scenario
from harena.scoring.scorers.fair_time import Control, Pressure, Stopwatch, within
from harena.scoring.scorers.time_limits import wall_limit

LIMIT = 3.0
STDIO = {"type": "stdio", "cases": [{"stdout": "1"}]}


class JumpingLoop(asyncio.SelectorEventLoop):
    """Jumps to the next deadline when nothing else is to do."""

    ahead = 0.0

    def time(self) -> float:
        return super().time() + self.ahead

    def _run_once(self) -> None:
        if not self._ready and self._scheduled:  # type: ignore[attr-defined]
            self.ahead += max(0.0, self._scheduled[0].when() - self.time())  # type: ignore[attr-defined]
        super()._run_once()  # type: ignore[misc]


def run(coroutine: Coroutine[Any, Any, Any]) -> Any:
    with asyncio.Runner(loop_factory=JumpingLoop) as runner:
        return runner.run(coroutine)


class Program:
    """Ends when it has had `needs` seconds of processor time, at `share` of a core, or when it is killed."""

    def __init__(self, box: Box, needs: float) -> None:
        self.stdout, self.stderr = OutputBuffer(1000), OutputBuffer(1000)
        self._box = box
        self._loop = asyncio.get_running_loop()
        self.began = self._loop.time()
        self._ended: asyncio.Future[ExecOutcome] = self._loop.create_future()
        if box.share > 0:
            self._loop.call_later(min(needs / box.share, 1e6), self._end, ExecOutcome.EXITED)

    def _end(self, outcome: ExecOutcome) -> None:
        if not self._ended.done():
            self._ended.set_result(outcome)

    def kill(self) -> None:
        if self._box.can_be_killed:
            self._end(ExecOutcome.CANCELLED)
        elif not self._ended.done():
            self._ended.set_exception(SandboxUnavailableError("its init did not kill it", reason="SANDBOX_LOST"))

    async def wait(self) -> ExecResult:
        outcome = await asyncio.shield(self._ended)
        wall = self._loop.time() - self.began
        ended = outcome is ExecOutcome.EXITED
        return ExecResult(
            outcome=outcome,
            returncode=0 if ended else -9,
            stdout=b"1" if ended else b"",
            stderr=b"",
            duration_seconds=wall,
            usage=ResourceUsage(user_seconds=wall * self._box.share),
        )


class Box:
    """A sandbox whose candidate gets `share` cores; the control in another says what it gets."""

    id = "sb_simulated"
    origin = SandboxOrigin()

    def __init__(self, world: World) -> None:
        self.world = world
        self.share = world.candidate
        self.can_be_killed = world.can_be_killed
        self.program: Program | None = None

    async def exec(self, request: ExecRequest) -> Any:
        if request.argv[0:2] == ("python", "-c"):
            return Said(self.world.control())
        self.program = Program(self, self.world.needs)
        return self.program

    async def write_file(self, path: str, source: bytes) -> None: ...

    async def processor_time(self) -> ProcessorTime:
        assert self.program is not None
        wall = asyncio.get_running_loop().time() - self.program.began
        return ProcessorTime(
            waited_seconds=self.world.waits * wall, used_seconds=self.share * wall, is_idle=self.world.sleeps
        )

    async def wait_dead(self) -> Death:
        return Death(by_request=False, memory=False)


class Said:
    """The control's exec, which has ended."""

    def __init__(self, share: float) -> None:
        self.share = share

    async def wait(self) -> ExecResult:
        said = f"{self.share}\n".encode()
        return ExecResult(outcome=ExecOutcome.EXITED, returncode=0, stdout=said, stderr=b"")


class World:
    """A host: what a candidate and an honest loop beside it get; a source of sandboxes."""

    def __init__(
        self,
        candidate: float,
        control: Callable[[], float],
        *,
        needs: float = float("inf"),
        waits: float = 1.0,
        sleeps: bool = False,
        can_be_killed: bool = True,
    ) -> None:
        self.sleeps = sleeps
        self.candidate, self.control, self.needs, self.waits = candidate, control, needs, waits
        self.can_be_killed = can_be_killed

    @asynccontextmanager
    async def sandbox(self, spec: SandboxSpec) -> AsyncIterator[Any]:
        """A fresh one."""
        yield Box(self)

    async def scored(self, *, alone: bool = False) -> tuple[RunResult, float]:
        """The verdict, and when it came."""
        made = load_scenarios([{"id": "s", "candidate": "print(1)", "scoring": STDIO}]).scenarios[0]
        began = asyncio.get_running_loop().time()
        result = await score_scenario(made, sandboxes=self, base_spec=SandboxSpec(), timeout_seconds=LIMIT, alone=alone)
        return result, asyncio.get_running_loop().time() - began


def fed(share: float) -> Callable[[], float]:
    return lambda: share


@pytest.mark.parametrize(
    ("candidate", "control", "waits"),
    [(1.0, 1.0, 0.0), (0.2, 0.2, 0.8), (0.0, 1.0, 0.0), (0.01, 1.0, 0.99), (0.01, 0.2, 0.99), (1.9, 0.01, 0.99)],
    ids=["loop", "a loop's fifth", "sleeper", "nice 19", "nice 19 beside 8 busy ones", "240 sessions"],
)
def test_a_candidate_that_does_not_end_gets_0_at_the_first_try(candidate: float, control: float, waits: float) -> None:
    """Whatever it does with its time, and however long its threads say that they waited."""
    result, seconds = run(World(candidate, fed(control), waits=waits).scored())
    assert (result.score, result.reason) == (0.0, Reason.TIMEOUT), result.detail
    assert seconds < wall_limit(LIMIT)


@pytest.mark.parametrize("share", [1.0, 0.5, 0.2, 0.1, 0.06])
def test_a_right_program_on_a_loaded_host_is_right(share: float) -> None:
    """It needs 0.9 of its limit of processor time, and gets what an honest loop beside it gets."""
    result, seconds = run(World(share, fed(share), needs=0.9 * LIMIT, waits=1 - share).scored())
    assert (result.score, result.reason) == (1.0, Reason.PASSED), result.detail
    assert seconds == pytest.approx(0.9 * LIMIT / share, abs=0.5)


def test_a_host_that_starves_the_control_too_is_to_blame() -> None:
    """No score, also where nothing else of the job runs."""
    for alone in (False, True):
        with pytest.raises(StarvedError, match="the host is overloaded"):
            run(World(0.01, fed(0.01)).scored(alone=alone))


@pytest.mark.parametrize("share", [0.0, 0.01, 0.05])
def test_who_sleeps_or_stops_itself_is_not_starved(share: float) -> None:
    """A host that is too busy for anybody keeps nobody from sleeping: a time-out, with or without others beside it."""
    for alone in (False, True):
        result, seconds = run(World(0.0, fed(share), waits=0.0, sleeps=True).scored(alone=alone))
        assert (result.score, result.reason) == (0.0, Reason.TIMEOUT), result.detail
        assert seconds < 3 * LIMIT


def test_who_crowds_out_the_control_is_the_candidate() -> None:
    """Its processor time is not seen (it left it to children that nobody waits for), and the control is fed as soon as
    it has ended: tried again first, and then its own doing."""

    measured = 0

    def control() -> float:
        nonlocal measured
        measured += 1
        return 1.0 if measured > looks else 0.01

    looks = 10**6
    with pytest.raises(StarvedError):
        run(World(0.01, control).scored())
    looks, measured = measured, 0  # the last one is that after its end
    result, _ = run(World(0.01, control).scored(alone=True))
    assert (result.score, result.reason) == (0.0, Reason.TIMEOUT)


def test_a_candidate_that_cannot_be_ended_has_had_its_time() -> None:
    """240 sessions keep the sandbox's own init from killing them: the sandbox is lost, and it was the candidate."""
    result, _ = run(World(1.9, fed(0.01), can_be_killed=False).scored())
    assert (result.score, result.reason) == (0.0, Reason.TIMEOUT)


class StillLoop(JumpingLoop):
    """Its time passes by waiting only, whatever the machine does meanwhile."""

    def time(self) -> float:
        return self.ahead


class Talk:
    """A conversation with a program that answers `seconds` after it was asked, and computes for `computes` of them."""

    def __init__(self, seconds: float, computes: float) -> None:
        self.seconds, self.computes = seconds, computes
        self.answers = 0

    async def processor_time(self) -> ProcessorTime:
        """See SandboxPort."""
        return ProcessorTime(used_seconds=self.computes * self.answers)

    async def answer(self, seconds: float) -> int:
        """The next one."""
        async with asyncio.timeout(seconds):
            await asyncio.sleep(self.seconds)
        self.answers += 1
        return self.answers


async def answers_within(talk: Talk, watches: list[Stopwatch], most: int) -> int:
    """How many answers it gives until its time is over; at most so many."""
    control = Control(World(0.0, fed(1.0)), SandboxSpec())
    while talk.answers < most:
        for watch in watches:
            watch.start()
        try:
            await within(talk.answer, talk, watches, lambda: control)  # type: ignore[arg-type]
        except TimeoutError:
            break
        finally:
            for watch in watches:
                watch.stop()
    return talk.answers


@pytest.mark.parametrize(
    ("seconds", "computes", "most_seconds"),
    [(0.0004, 0.0002, 2 * LIMIT), (0.01, 0.01, LIMIT), (0.01, 0.005, 2 * LIMIT), (0.04, 0.0, 2.8 * LIMIT)],
    ids=["quick ones", "a loop", "half a loop", "sleeps"],
)
@pytest.mark.parametrize("used_before", [0.0, None])
def test_a_limit_is_kept_among_many_short_answers(
    seconds: float, computes: float, most_seconds: float, used_before: float | None
) -> None:
    """No single one takes as long as the time from one look at the program to the next."""

    async def asked() -> int:
        watches = [Stopwatch(LIMIT, used_before=used_before), Stopwatch(10 * LIMIT, used_before=0.0)]
        return await answers_within(Talk(seconds, computes), watches, int(wall_limit(LIMIT) / seconds))

    with asyncio.Runner(loop_factory=StillLoop) as runner:
        answers = runner.run(asked())
    early = 0.0 if used_before == 0.0 else 0.3 * LIMIT  # what was used before it was first looked at is not known
    assert 0.95 * LIMIT <= answers * seconds <= most_seconds + early


def test_the_way_of_many_short_answers_is_no_time_of_the_program() -> None:
    """Each comes after a millisecond, of which the program computes for a tenth: a quarter of its limit in all."""

    async def asked() -> int:
        return await answers_within(Talk(0.001, 0.0001), [Stopwatch(LIMIT)], round(LIMIT / 4 / 0.0001))

    with asyncio.Runner(loop_factory=StillLoop) as runner:
        assert runner.run(asked()) == round(LIMIT / 4 / 0.0001)


STOPPED_FOR = 8.0


async def heard_after_a_stop(at: float, told_after: float | None) -> tuple[bool, float]:
    """This process is stopped `at` seconds after the program's start, which answers meanwhile; that is read so many
    seconds after the process goes on. Gives whether it was heard, and when the waiting ended."""
    loop, told = asyncio.get_running_loop(), asyncio.Event()
    assert isinstance(loop, StillLoop)

    def stop() -> None:
        loop.ahead += STOPPED_FOR
        if told_after is not None:
            loop.call_later(told_after, told.set)

    async def answer(seconds: float) -> None:
        async with asyncio.timeout(seconds):
            await told.wait()

    loop.call_later(at, stop)
    watch, control = Stopwatch(LIMIT), Control(World(0.0, fed(1.0)), SandboxSpec())
    watch.start()
    try:
        await within(answer, Talk(0.0, 0.0), [watch], lambda: control)  # type: ignore[arg-type]
    except TimeoutError:
        return False, loop.time()
    return True, loop.time()


@pytest.mark.parametrize("at", [0.1, 1.0, 2.0, LIMIT - 0.1, LIMIT - 0.001])
@pytest.mark.parametrize("told_after", [0.0, 0.5, 1.5])
def test_a_program_that_answers_while_this_process_is_stopped_has_answered_in_time(
    at: float, told_after: float
) -> None:
    """Also where a thread reads the answer, and a busy machine lets that wait for more than a moment."""
    with asyncio.Runner(loop_factory=StillLoop) as runner:
        assert runner.run(heard_after_a_stop(at, told_after)) == (True, pytest.approx(at + STOPPED_FOR + told_after))


@pytest.mark.parametrize("at", [0.1, 1.0, LIMIT - 0.1])
def test_a_stop_of_this_process_gives_a_program_no_more_than_its_time(at: float) -> None:
    """One that never answers is over as late as without the stop, but for the moment in which answers are read."""
    with asyncio.Runner(loop_factory=StillLoop) as runner:
        heard, ended = runner.run(heard_after_a_stop(at, None))
    assert not heard
    assert ended <= STOPPED_FOR + LIMIT + GRACE_SECONDS + 2 * Standstill.BEAT_SECONDS


def test_pressure_is_read_once_for_many_that_ask_at_once() -> None:
    """Most programs take a few milliseconds: they cost no read of their own."""

    async def asked() -> tuple[bool, bool]:
        made = [Pressure() for _ in range(100)]
        same = len({pressure._made_at for pressure in made}) < 20
        return same, any(pressure.is_high() is None for pressure in made)

    assert run(asked()) == (True, False)
