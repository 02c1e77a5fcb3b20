"""Scoring what a program prints or writes: the `stdio` and `numeric` contracts."""

from __future__ import annotations

from contextlib import AsyncExitStack

from harena.core.errors import HarenaError
from harena.core.models import ExecResult
from harena.core.ports import SandboxPort
from harena.core.results import Reason
from harena.scoring.compare import compare_output, parse_number
from harena.scoring.contracts.contract import Case, NumericContract, StdioContract
from harena.scoring.scorers.program import Bench, output_file, put_files, run_candidate
from harena.scoring.scorers.python import ScorerBrokenError, ScorerFailedError, search_pattern
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


async def score_stdio(bench: Bench, contract: StdioContract) -> Verdict:
    """Each case is a process of its own. Raises PlatformError and SandboxError for what is not the program's doing."""
    outcomes: list[CheckOutcome] = []
    async with AsyncExitStack() as stack:
        sandbox: SandboxPort | None = None
        for case in contract.cases:
            if bench.seconds_left <= 0:
                detail = f"the {bench.timeout_seconds:.3g} s for all cases are over"
                outcomes.append(CheckOutcome(passed=False, reason=Reason.TIMEOUT, detail=detail, ran=False))
                break
            if sandbox is None or contract.fresh or not outcomes[-1].passed:
                await stack.aclose()
                sandbox = await stack.enter_async_context(bench.sandbox())
                await put_files(sandbox, bench.files())
            limit = min(bench.seconds_left, contract.check_timeout_seconds or bench.seconds_left)
            result = await run_candidate(bench, sandbox, args=contract.args, stdin=case.stdin, timeout_seconds=limit)
            size = len(result.stdout) + len(case.stdout)
            outcomes.append(await aside(size, _judge, case, contract, result))
            if not outcomes[-1].passed and not contract.partial_credit:
                break
    return from_checks(outcomes, [case.weight for case in contract.cases], partial_credit=contract.partial_credit)


def _judge(case: Case, contract: StdioContract, result: ExecResult) -> CheckOutcome:
    failure = program_failure(result)
    observation = f"{result.outcome}:{result.returncode}:{digest(result.stdout)}"
    if failure is not None:
        return CheckOutcome(passed=False, reason=failure[0], detail=failure[1], observation=observation)
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
            return failed(*failure, observation=observation)
        text: str | None = await aside(len(result.stdout), text_of, result.stdout)
        if contract.source.file is not None:
            text = await output_file(sandbox, contract.source.file)
    try:
        number = await _number(bench, contract, text)
    except _NoNumberError as error:
        return failed(Reason.BAD_VALUE, str(error), observation=observation)
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
    return min(1.0, max(0.0, (number - low) / (high - low)))


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
