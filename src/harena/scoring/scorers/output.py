"""Scoring what a program prints or writes: the `stdio` and `numeric` contracts."""

from __future__ import annotations

import time
from contextlib import AsyncExitStack

from harena.core.errors import HarenaError
from harena.core.models import ExecOutcome, ExecRequest, ExecResult
from harena.core.ports import SandboxPort
from harena.core.results import Reason
from harena.scoring.compare import compare_output, parse_number
from harena.scoring.contracts.contract import Case, NumericContract, StdioContract
from harena.scoring.contracts.formula import share_of
from harena.scoring.scorers.program import WORKSPACE, Bench, output_file, put_files, run_candidate
from harena.scoring.scorers.python import search_pattern
from harena.scoring.scorers.scorer_process import ScorerBrokenError, ScorerFailedError
from harena.scoring.slices import aside, last_text_line, text_of
from harena.scoring.verdict import (
    CheckOutcome,
    Verdict,
    broken_contract,
    digest,
    failed,
    from_checks,
    one_line,
    program_failure,
)

_FIND_SECONDS = 10.0
_FIND = """\
since="$1"; shift
[ -d "$1" ] || echo moved
[ "$(cat /proc/sysvipc/* 2>/dev/null | wc -l)" -le 3 ] || echo shared memory, semaphores or messages
for place in "$@" "$HOME" /tmp /var/tmp /data /dev/shm; do
    [ ! -d "$place" ] || find "$place" -newerct "@$since" -print -quit || echo unknown
done
"""
"""whether anything was changed that a program can leave in the default image. No program sets a time of change; each of
the three tables of the kernel has a line above it"""
_CLOCK_OF_FILES = 5
"""CLOCK_REALTIME_COARSE of Linux: a file that changes from now on has no earlier time of change"""


async def score_stdio(bench: Bench, contract: StdioContract) -> Verdict:
    """Each case is a process of its own. Raises PlatformError and SandboxError for what is not the program's doing.

    Cases share a sandbox as long as nobody can gain or lose by it: see `_CaseSandboxes`."""
    begun = bench.charged_seconds
    outcomes = await _cases(bench, contract, fresh=contract.fresh)
    if outcomes is None:
        bench.charge_back(begun)
        outcomes = await _cases(bench, contract, fresh=True) or []
    return from_checks(outcomes, [case.weight for case in contract.cases], partial_credit=contract.partial_credit)


async def _cases(bench: Bench, contract: StdioContract, *, fresh: bool) -> list[CheckOutcome] | None:
    """What each case came to; None: one failed beside what others had left, so that each shall have its own sandbox."""
    outcomes: list[CheckOutcome] = []
    async with AsyncExitStack() as stack:
        places = _CaseSandboxes(bench, stack, contract.check_timeout_seconds)
        for case in contract.cases:
            if bench.seconds_left <= 0:
                detail = f"the {bench.timeout_seconds:.3g} s for all cases are over"
                outcomes.append(CheckOutcome(passed=False, reason=Reason.TIMEOUT, detail=detail, ran=False))
                break
            if fresh or (outcomes and not outcomes[-1].passed):
                places.renew()
            before = bench.charged_seconds
            result = await places.run(contract, case)
            took = bench.charged_seconds - before
            size = len(result.stdout) + len(case.stdout)
            outcomes.append(await aside(size, _judge, case, contract, result))
            if not outcomes[-1].passed and places.cases > 1:
                if result.outcome is not ExecOutcome.TIMEOUT:
                    outcomes[-1] = await places.judged_alone(contract, case, took)
                if outcomes[-1].passed or (result.outcome is ExecOutcome.TIMEOUT and await places.hold_something()):
                    return None
            if not outcomes[-1].passed and not contract.partial_credit:
                break
    return outcomes


class _CaseSandboxes:
    """The sandboxes of one program's cases.

    A sandbox serves several, one after the other, while the processor time of all of them is less than one case's
    limit: what one saves for the next gains no time then. Whether one has lost by what another left is asked where one
    fails: it runs once more, in a fresh sandbox. One that took all of its time does so only if something was left.
    Neither costs a right program anything."""

    def __init__(self, bench: Bench, stack: AsyncExitStack, limit_seconds: float | None) -> None:
        self._bench = bench
        self._stack = stack
        self._limit_seconds = limit_seconds
        self._sandbox: SandboxPort | None = None
        self._longest_seconds = 0.0
        self.cases = 0
        """number of cases that the present sandbox has served"""
        self._since = 0
        """when the present sandbox was ready, in nanoseconds of the clock of files"""
        self._used_seconds = 0.0
        """processor time that the present sandbox has used, as far as it is known"""

    def renew(self) -> None:
        """The next case has a sandbox of its own."""
        self.cases = 0

    async def run(self, contract: StdioContract, case: Case) -> ExecResult:
        """What the program does with one case."""
        limit = self._limit_seconds
        if limit is not None and self._used_seconds + self._longest_seconds > limit:
            self.renew()
        begun = self._bench.charged_seconds
        result = await self._run(contract, case)
        if self.cases > 1 and limit is not None and self._used_seconds > limit:
            self.renew()
            self._bench.charge_back(begun)
            result = await self._run(contract, case)
        return result

    async def _run(self, contract: StdioContract, case: Case) -> ExecResult:
        bench = self._bench
        if self._sandbox is None or self.cases == 0:
            await self._stack.aclose()
            self._sandbox = await self._stack.enter_async_context(bench.sandbox())
            await put_files(self._sandbox, bench.files())
            self._since = time.clock_gettime_ns(_CLOCK_OF_FILES) - 1
        seconds = min(bench.seconds_left, self._limit_seconds or bench.seconds_left)
        result = await run_candidate(
            bench, self._sandbox, args=contract.args, stdin=case.stdin, timeout_seconds=seconds
        )
        self.cases += 1
        self._longest_seconds = max(self._longest_seconds, result.usage.cpu_seconds)
        self._used_seconds = bench.used_before(self._sandbox) + result.usage.cpu_seconds
        return result

    async def judged_alone(self, contract: StdioContract, case: Case, took: float) -> CheckOutcome:
        """What a case that failed beside what others had left comes to in a fresh sandbox. It costs what it takes there
        beyond what it `took` before: a program that tells the two apart could else use any time."""
        begun = self._bench.charged_seconds
        self.renew()
        result = await self._run(contract, case)
        self._bench.charge_back(begun + max(0.0, self._bench.charged_seconds - begun - took))
        return await aside(len(result.stdout) + len(case.stdout), _judge, case, contract, result)

    async def hold_something(self) -> bool:
        """The program has left processes, files, attributes of files or objects that processes share, or has changed
        its own files."""
        if self._sandbox is None or await self._sandbox.processes():
            return True
        since = f"{self._since // 10**9}.{self._since % 10**9:09d}"
        argv = ("sh", "-c", _FIND, "sh", since, WORKSPACE)
        request = ExecRequest(argv=argv, cwd="/", timeout_seconds=_FIND_SECONDS, warm=False)
        done = await (await self._sandbox.exec(request)).wait()
        return done.outcome is not ExecOutcome.EXITED or done.returncode != 0 or bool(done.stdout)


def _judge(case: Case, contract: StdioContract, result: ExecResult) -> CheckOutcome:
    failure = program_failure(result)
    observation = f"{result.outcome}:{result.returncode}:{digest(result.stdout)}"
    if failure is not None:
        # what it says on standard error may be what it was given
        is_said = case.hidden and result.outcome is ExecOutcome.EXITED and result.returncode > 0
        detail = f"exit code {result.returncode}" if is_said and not result.stdout_truncated else failure[1]
        return CheckOutcome(passed=False, reason=failure[0], detail=detail, observation=observation)
    if compare_output(result.stdout, case.stdout, contract.comparison, contract.tolerance):
        return CheckOutcome(passed=True, reason=Reason.PASSED, observation=observation)
    printed = one_line(result.stdout[:400].decode("utf-8", "replace"), 80)
    detail = "" if case.hidden else f"expected {one_line(case.stdout, 80)!r}, got {printed!r}"
    return CheckOutcome(passed=False, reason=Reason.WRONG_ANSWER, detail=detail, observation=observation)


class _NoNumberError(HarenaError):
    """The program gave no number."""


async def score_numeric(bench: Bench, contract: NumericContract) -> Verdict:
    """One run, one number. Raises PlatformError and SandboxError for what is not the program's doing."""
    async with bench.sandbox() as sandbox:
        await put_files(sandbox, bench.files())
        result = await run_candidate(
            bench, sandbox, args=contract.args, stdin=contract.stdin, timeout_seconds=bench.timeout_seconds
        )
        failure = program_failure(result)
        seen = await aside(len(result.stdout), digest, result.stdout)
        observation = f"{result.outcome}:{result.returncode}:{seen}"
        if failure is not None:
            return failed(*failure, observation=observation, unjudged=True)
        text: str | None = await aside(len(result.stdout), text_of, result.stdout)
        if contract.source.file is not None:
            text = await output_file(sandbox, contract.source.file)
    try:
        number = await _number(bench, contract, text)
    except _NoNumberError as error:
        return failed(Reason.BAD_VALUE, str(error), observation=observation, unjudged=True)
    except ScorerBrokenError as error:
        return broken_contract(one_line(str(error)))
    score = numeric_score(contract, number)
    passed = score >= contract.pass_mark
    return Verdict(
        score=score,
        passed=passed,
        reason=Reason.PASSED if passed else Reason.WRONG_ANSWER,
        detail="" if passed else f"the number is {number!r}, which scores {score:.6g}",
        checks_passed=int(passed),
        observations=(observation, repr(number)),
    )


def numeric_score(contract: NumericContract, number: float) -> float:
    """From a finite number to 0..1."""
    if contract.range is None:
        assert contract.target is not None
        is_stated = not contract.model_fields_set.isdisjoint(("rel_tol", "abs_tol"))
        near = contract.tolerance.near_as_written if is_stated else contract.tolerance.near
        return float(near(number, contract.target))
    low, high = contract.range
    return share_of(number, low, high)


async def _number(bench: Bench, contract: NumericContract, text: str | None) -> float:
    if text is None:
        raise _NoNumberError(f"there is no readable file {contract.source.file!r}")
    if contract.source.pattern is not None:
        try:
            found = await search_pattern(bench, contract.source.pattern, text)
        except ScorerFailedError:
            found = None  # a search that the program's output made too slow: its own doing
        if found is None:
            raise _NoNumberError(f"nothing matches {contract.source.pattern!r}")
        text = found
    else:
        text = last_text_line(text)
    number = parse_number(text.strip())
    if number is None:
        raise _NoNumberError(f"{one_line(text, 80)!r} is not a finite number")
    return number
