"""Suites whose candidate has a sandbox of its own: trust `separate`.

The suite runs in one sandbox, with the trusted files and nothing of the candidate but the names of its modules, for
which there are stand-ins (`guest_proxy`). The candidate's modules live in another one. What the suite asks, and what the
candidate answers, goes through this process as frames that are not looked into; they are decoded by the codec of
`guest_driver` on either side. So no process of the candidate can signal the suite, see its files or use up its memory
limit, and who is waited for when time is over is known.
"""  # noqa: E501

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from harena.core import json_steps
from harena.core.errors import SandboxExecutionError
from harena.core.models import ExecOutcome, ExecRequest, ExecResult
from harena.core.ports import RunningExec, SandboxPort
from harena.core.results import Reason
from harena.scoring.codec import MAX_BYTES, MalformedError
from harena.scoring.contracts.contract import CommandContract
from harena.scoring.guest.module_names import module_name
from harena.scoring.guest.suite_protocol import ELSEWHERE, NO_MODULE, NO_PYTEST
from harena.scoring.scorers.drive import FrameReader
from harena.scoring.scorers.driver_boot import room_for_files
from harena.scoring.scorers.fair_time import Stopwatch, within
from harena.scoring.scorers.program import WORKSPACE, Bench, overlaid, put_files
from harena.scoring.scorers.suite_settings import python_paths
from harena.scoring.scorers.time_limits import may_be_of_border, wall_limit
from harena.scoring.scorers.trusted_suite import (
    ENVIRONMENT,
    NO_SKIPS,
    NOTHING_CAUGHT,
    candidate_argv,
    ends_alike,
    files_on_both_sides,
    named_files,
    suite_argv,
    taking_part,
    trusted_paths,
)
from harena.scoring.slices import aside, last_line, size_of
from harena.scoring.verdict import (
    StarvedError,
    Verdict,
    broken_contract,
    failed,
    one_line,
    program_failure,
    tampered,
)

if TYPE_CHECKING:
    from harena.scoring.scorers.skip_conditions import SkipCondition

MOST_QUESTION_BYTES = 8 * MAX_BYTES
"""size limit of all questions of one suite together"""
_ADVICE = (
    "give the contract a `gold` solution, by which a weaker isolation is chosen, or set `isolate: false`; see the "
    "reference of `command`"
)
_NOT_STARTED = (126, 127, NO_PYTEST, NO_MODULE)
_MOST_TESTS = 10_000_000
"""number of tests of one suite, and of the runs of one of them"""
_T = TypeVar("_T")
_MEANWHILE_SECONDS = 0.5
_END_SECONDS = 5.0
"""time that a suite may take to end once it has given its proof, or has nobody to ask any more"""


def not_served(tests: str, what: str) -> str:
    """Why there is no score where stand-ins cannot show what these tests look at, and what their author can do."""
    detail = f"{tests} cannot be run with the candidate in a sandbox of its own: {what}"
    return one_line(f"{detail}; {_ADVICE}", 600)


class _Time:
    """Time that one side may take; it passes only while that side is waited for."""

    def __init__(self, seconds: float, sandbox: SandboxPort, bench: Bench) -> None:
        self._watch = Stopwatch(seconds)
        self._sandbox = sandbox
        self._bench = bench

    def may_be_of_border(self, answers: int) -> bool:
        """It may have gone to so many answers that crossed."""
        watch = self._watch
        return may_be_of_border(
            limit_seconds=watch.limit_seconds,
            wall_seconds=watch.wall_seconds,
            cpu_seconds=watch.used_seconds,
            answers=answers,
        )

    async def hear(self, side: FrameReader) -> bytes | None:
        """Its next frame. Raises TimeoutError, StarvedError, MalformedError."""
        self._watch.start()
        try:
            return await within(side.next_within, self._sandbox, (self._watch,), lambda: self._bench.control)
        finally:
            self._watch.stop()

    async def tell(self, side: RunningExec, body: bytes) -> None:
        """Raises TimeoutError if it does not read. One that has closed its input is met at the next read."""
        self._watch.start()
        try:
            async with asyncio.timeout(max(0.001, wall_limit(self._watch.limit_seconds) - self._watch.wall_seconds)):
                await side.write_stdin(body)
        except SandboxExecutionError:
            return
        finally:
            self._watch.stop()


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What a suite's runner says of its tests."""

    first: str = ""
    """the first test that did not pass, and why"""
    broken: str = ""
    """a test that failed before it had asked the candidate anything"""
    unserved: str = ""
    """what the suite asked for that stand-ins cannot give, if every test that failed did"""
    doubted: str = ""
    """why a pass may say nothing: the suite looked at what the candidate does in another process, or was refused"""
    believed: str = ""
    """what a pass rests on that the candidate's objects have said, which were told an operand of the suite's"""
    timed: bool = False
    """tests have failed, and the suite has looked at a clock around what it asked"""
    excused: tuple[str, ...] = ()
    """tests that were skipped before they had asked the candidate anything, or by the suite's own skip, tests that
    were expected to fail, and files that were skipped as a whole"""
    skips: tuple[tuple[str, str], ...] = ()
    """excused tests that were skipped, and the place of the suite's own skip by which they were, or that of a mark;
    empty for any other"""
    expected: tuple[str, ...] = ()
    """excused tests that have failed as a mark of theirs expects"""
    ran: tuple[str, ...] = ()
    """tests that were run; of a candidate without their parameters"""
    read: tuple[str, ...] = ()
    """files, classes and fixtures that were not skipped as a whole, where there is no candidate"""
    unread: tuple[str, ...] = ()
    """files that failed as they were read, where there is no candidate"""
    counts: Mapping[str, int] = field(default_factory=dict)
    """how often each test function was there, run or excused; empty where there are too many"""
    questions: tuple[tuple[str, bool], ...] = ()
    """what tests have asked that may be skipped by the answer, and the answers, where there is no candidate"""
    unheard: str = ""
    """a look at the candidate that has more than two answers, where there is no candidate"""
    caught: Mapping[str, int] = field(default_factory=dict)
    """how often the candidate has caught a failed assertion of the tests, by its place (`test_it.py:7`)"""
    taken: str = ""
    """what the candidate has taken of the tests that nobody gave it"""
    hollow: Mapping[str, int] = field(default_factory=dict)
    """how often the tests compared nothing with what has elements, by place (`test_it.py:7`); see
    `guest_vacuous_comparisons`"""
    unexplained: Mapping[str, int] = field(default_factory=dict)
    """how often only an empty answer of the candidate's explains that"""
    judged: Mapping[str, int] = field(default_factory=dict)
    """how many judgements each test executed, by its name (`T.test_a`)"""
    silent: tuple[str, ...] = ()
    """tests that executed none"""
    unjudged: tuple[str, ...] = ()
    """tests among these whose assertions are in loops that had nothing to go through"""
    named: tuple[str, ...] = ()
    """names by which the suite has taken functions and classes of the candidate's that call themselves so, too"""
    sought: bool = False
    """a module was asked for that nobody has, and that a candidate could have brought"""


NOTHING_TOLD = Report()


def parsed_report(line: bytes, word: str) -> Report:
    """The report that a runner wrote after the word. Raises MalformedError for one that no runner writes."""
    try:
        told = line[len(f"harena-report {word} ") :]
        written = json_steps.parse(told, parse_float=_refused, parse_constant=_refused)
        return _report(written)
    except (ValueError, LookupError, TypeError, RecursionError) as error:  # a number may have millions of digits
        raise MalformedError("no runner of suites writes such a report") from error


def _report(written: dict[str, Any]) -> Report:
    questions = _of_kind(written["questions"], list)
    return Report(
        first=_text(written["first"], 600),
        broken=_text(written["broken"], 600),
        unserved=_text(written["unserved"], 300),
        doubted=_text(written["doubted"], 300),
        believed=_text(written["believed"], 300),
        timed=_of_kind(written["timed"], bool),
        excused=_names(written["excused"]),
        skips=tuple(_pair(each) for each in _of_kind(written["skips"], list)),
        expected=_names(written["expected"]),
        ran=_names(written["ran"]),
        read=_names(written["read"]),
        unread=_names(written["unread"]),
        counts=_counts(written["counts"]),
        questions=tuple((_of_kind(key, str), _of_kind(answer, bool)) for key, answer in questions),
        unheard=_text(written["unheard"], 300),
        taken=_text(written["taken"], 300),
        named=_names(written["named"]),
        sought=_of_kind(written["sought"], bool),
        caught=_counts(written["caught"]),
        hollow=_counts(written["hollow"]),
        unexplained=_counts(written["unexplained"]),
        judged=_counts(written["judged"]),
        silent=_names(written["silent"]),
        unjudged=_names(written["unjudged"]),
    )


def _counts(written: Any) -> dict[str, int]:
    counts = _of_kind(written, dict)
    if len(counts) > _MOST_TESTS or not all(0 < _of_kind(count, int) <= _MOST_TESTS for count in counts.values()):
        raise ValueError("counts of no suite")
    return dict(counts)


def _refused(_: str) -> Any:
    raise ValueError("a report has whole numbers only")


def _of_kind(value: Any, kind: type[_T]) -> _T:
    if type(value) is not kind:
        raise TypeError(f"{type(value).__name__} in the place of {kind.__name__}")
    return value


def _pair(written: Any) -> tuple[str, str]:
    test, place = _of_kind(written, list)
    return _of_kind(test, str), _of_kind(place, str)


def _text(value: Any, room: int) -> str:
    return one_line(_of_kind(value, str), room)


def _names(value: Any) -> tuple[str, ...]:
    return tuple(_of_kind(name, str) for name in _of_kind(value, list))


@dataclass(frozen=True, slots=True)
class Attempt:
    """One run of a suite over one candidate."""

    verdict: Verdict
    unserved: str = ""
    """what of the suite cannot be served: why a failure is excused, or a pass is in doubt"""
    told: Report = NOTHING_TOLD


@dataclass(slots=True)
class _Heard:
    """What came of one conversation."""

    report: Report | None = None
    note: str = ""
    """what the test under way did that stand-ins cannot serve, if no test that could be served has failed"""

    proven: bool = False
    tampered: str = ""
    waited_for_candidate: bool = False
    """time was over, and the candidate had been asked something"""
    waited_for_suite: bool = False
    answers: int = 0
    is_of_border: bool = False
    """time was over, and may have gone to the answers that crossed, and not to what either side does"""


@dataclass(frozen=True, slots=True)
class _Outcome:
    suite: ExecResult
    candidate: ExecResult
    heard: _Heard


async def score_apart(
    bench: Bench,
    contract: CommandContract,
    shown: Mapping[str, str] | None = None,
    may_catch: Mapping[str, int] | None = NOTHING_CAUGHT,
    skips: Mapping[str, SkipCondition | None] = NO_SKIPS,
    stops_clocks: bool = False,
) -> Attempt:
    """One suite, one candidate, two sandboxes. `shown`: trusted files that the candidate is given, too, and what it
    finds there; `may_catch`: see `guest_caught_assertions`; `skips`: see `guest_suite`; `stops_clocks`: see
    `guest_clocks`. Raises PlatformError and SandboxError for what is nobody's doing."""
    theirs = await taking_part(bench, contract, is_apart=True)
    found = await _run(bench, contract, theirs, shown, may_catch, skips, stops_clocks=stops_clocks)
    report = found.heard.report or Report()
    if found.heard.tampered:
        return Attempt(tampered(found.heard.tampered))
    observation = f"{found.suite.outcome}:{found.suite.returncode}:{found.heard.proven}"
    if found.heard.proven and found.suite.outcome is ExecOutcome.EXITED and found.suite.returncode == 0:
        passed = Verdict(score=1.0, passed=True, reason=Reason.PASSED, checks_passed=1, observations=(observation,))
        return Attempt(passed, report.doubted or report.believed, report)
    # a suite that was cut off makes no report: what it did in the test that it did not outlive counts
    unserved = report.unserved if found.heard.report is not None else found.heard.note
    if found.heard.is_of_border:
        unserved = unserved or f"after {found.heard.answers:,} answers of the candidate's the time was over"
    if (failure := _candidate_failure(found)) is not None:
        return Attempt(failed(*failure, observation=observation), unserved)
    if found.suite.outcome is not ExecOutcome.EXITED or found.suite.returncode in _NOT_STARTED:
        return Attempt(await _broken_suite(bench, contract, found, observation), unserved)
    if found.suite.returncode == 0:
        detail = "exit code 0 without the proof that every test has run and passed"
        return Attempt(
            failed(Reason.EXITED_EARLY, detail, observation=observation),
            told=report if report.broken else NOTHING_TOLD,
        )
    detail = report.first or f"exit code {found.suite.returncode}: {_last_line(found.suite)}"
    if found.heard.report is None:  # it was no test that failed, and the reason may be what stands in for the candidate
        unserved = unserved or f"its process ended with exit code {found.suite.returncode} before its report"
    return Attempt(failed(Reason.SCORER_REJECTED, detail, observation=observation), unserved, report)


async def _broken_suite(bench: Bench, contract: CommandContract, found: _Outcome, observation: str) -> Verdict:
    """The suite's own sandbox has failed it: for what the candidate answered, or for any candidate."""
    theirs = await taking_part(bench, contract, is_apart=True)

    async def ended(idle: Bench) -> ExecResult:
        return (await _run(idle, contract, dict(idle.scenario.candidate.files))).suite

    if (nothing := await ends_alike(bench, found.suite, theirs, ended)) is not None:
        why = _last_line(nothing)
        if found.suite.returncode == NO_PYTEST:
            why = "the image has no pytest; add it to the blueprint's packages"
        return broken_contract(f"the suite fails with a candidate that does nothing, too: {why}")
    detail = f"what the candidate answered breaks the suite: {found.suite.outcome}"
    return failed(Reason.SCORER_REJECTED, detail, observation=observation)


def _candidate_failure(found: _Outcome) -> tuple[Reason, str] | None:
    """Why the candidate gave no answer, if it was it that did not."""
    result = found.candidate
    if found.heard.waited_for_candidate:
        seconds = result.duration_seconds
        return Reason.TIMEOUT, f"no answer within {seconds:.3g} s"
    if result.outcome is ExecOutcome.MEMORY or result.stdout_truncated:
        return program_failure(result)
    return None


def _last_line(result: ExecResult) -> str:
    return one_line(last_line(result.stderr)) or str(result.outcome)


async def _run(
    bench: Bench,
    contract: CommandContract,
    theirs: dict[str, str],
    shown: Mapping[str, str] | None = None,
    may_catch: Mapping[str, int] | None = NOTHING_CAUGHT,
    skips: Mapping[str, SkipCondition | None] = NO_SKIPS,
    *,
    stops_clocks: bool = False,
) -> _Outcome:
    trusted = {**bench.scenario.files, **contract.files}
    ours = trusted_paths(contract, bench.scenario.files)
    own = frozenset(ours)
    theirs = {path: text for path, text in overlaid(theirs, bench.scenario.files).items() if path not in own}
    word = secrets.token_hex(16)
    both_seconds = wall_limit(bench.timeout_seconds + contract.scorer_timeout_seconds) + _END_SECONDS
    on_both_sides = sorted({*await aside(size_of(contract.files), files_on_both_sides, contract), *(shown or ())})
    named = {**named_files(contract, on_both_sides), **(shown or {})}
    async with bench.sandboxes.sandbox(bench.base_spec) as beside, bench.sandbox() as apart:
        await put_files(beside, trusted)
        await put_files(apart, overlaid(theirs, named))
        suite = await beside.exec(
            ExecRequest(
                argv=suite_argv(
                    contract,
                    ours,
                    list(theirs),
                    ELSEWHERE,
                    on_both_sides,
                    may_catch=may_catch,
                    skips=skips,
                    searched=python_paths(contract, bench.scenario.files),
                    stops_clocks=stops_clocks,
                ),
                env={**ENVIRONMENT, **contract.env},
                cwd=WORKSPACE,
                stdin_stream=True,
                timeout_seconds=both_seconds,
                output_bytes=MOST_QUESTION_BYTES,
            )
        )
        candidate = await apart.exec(
            ExecRequest(
                argv=candidate_argv(
                    [module_name(path) for path in named if path.endswith(".py")], bench.spec.limits.open_files
                ),
                open_files=room_for_files(bench.spec.limits.open_files),
                env=ENVIRONMENT,
                cwd=WORKSPACE,
                stdin_stream=True,
                timeout_seconds=both_seconds,
            )
        )
        opening = word.encode() + b"\n"
        suite_time = _Time(contract.scorer_timeout_seconds, beside, bench)
        time = _Time(bench.timeout_seconds, apart, bench)
        heard = await _relay(bench, suite, candidate, opening, word, suite_time, time)
        candidate.close_stdin()
        is_late = heard.waited_for_suite or heard.waited_for_candidate
        ended = await _ended(suite, 0.0 if is_late else _END_SECONDS)
        candidate.kill()
        return _Outcome(ended, await bench.finish(apart, candidate, over=heard.waited_for_candidate), heard)


async def _relay(
    bench: Bench,
    suite: RunningExec,
    candidate: RunningExec,
    opening: bytes,
    word: str,
    suite_time: _Time,
    time: _Time,
) -> _Heard:
    """Carry questions and answers until the suite has given its proof, or has ended."""
    heard = _Heard()
    questions, answers = FrameReader(suite.stdout), FrameReader(candidate.stdout)
    try:
        await suite_time.tell(suite, opening)
        while (question := await suite_time.hear(questions)) is not None:
            if question == f"harena-proof {word}".encode():
                heard.proven = True
                return heard
            if question.startswith(f"harena-report {word} ".encode()):
                heard.report = await aside(len(question), parsed_report, question, word)
                continue
            if question.startswith(f"harena-note {word} ".encode()):
                heard.note = one_line(question.split(b" ", 2)[2].decode("utf-8", "replace"), 300)
                continue
            heard.waited_for_candidate = True
            await time.tell(candidate, _frame(question))
            answer = await time.hear(answers)
            heard.waited_for_candidate = False
            heard.answers += 1
            if answer is None:  # it has ended: the suite is told by the end of its input
                suite.close_stdin()
                await _hear_end(heard, questions, word, suite_time)
                return heard
            await suite_time.tell(suite, _frame(answer))
    except MalformedError:
        # the suite's own frames are made by a trusted program
        heard.tampered = "the candidate's process said what is no answer" if heard.waited_for_candidate else ""
    except TimeoutError:
        heard.waited_for_suite = not heard.waited_for_candidate
        heard.is_of_border = (suite_time if heard.waited_for_suite else time).may_be_of_border(heard.answers)
        if heard.waited_for_candidate:
            heard.note = await _told_meanwhile(questions, word) or heard.note
    except StarvedError:
        candidate.kill()
        if not await bench.blames_candidate():
            raise
        heard.waited_for_candidate = True
    finally:
        suite.close_stdin()
    return heard


async def _hear_end(heard: _Heard, questions: FrameReader, word: str, suite_time: _Time) -> None:
    """What the suite says of its tests once nobody answers it any more. No proof counts now."""
    try:
        while (told := await suite_time.hear(questions)) is not None:
            if told.startswith(f"harena-report {word} ".encode()):
                heard.report = await aside(len(told), parsed_report, told, word)
                return
            if told.startswith(f"harena-note {word} ".encode()):
                heard.note = one_line(told.split(b" ", 2)[2].decode("utf-8", "replace"), 300)
    except (TimeoutError, MalformedError, StarvedError):
        return  # the candidate has ended all the same, and that is its failure


async def _told_meanwhile(questions: FrameReader, word: str) -> str:
    """What the suite's other threads have said of the test under way while the candidate was waited for."""
    note = ""
    marker = f"harena-note {word} ".encode()
    try:
        while (told := await questions.next_within(_MEANWHILE_SECONDS)) is not None and told.startswith(marker):
            note = one_line(told[len(marker) :].decode("utf-8", "replace"), 300)
    except (TimeoutError, MalformedError, StarvedError):
        pass
    return note


async def _ended(running: RunningExec, grace_seconds: float) -> ExecResult:
    """How it ended, by itself within some seconds or killed then; the latter is a timeout."""
    try:
        async with asyncio.timeout(grace_seconds):
            return await running.wait()
    except TimeoutError:
        running.kill()
    return await running.wait()


def _frame(body: bytes) -> bytes:
    return b"%08x%b" % (len(body), body)
