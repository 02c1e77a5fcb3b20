"""Scoring by the `reference` contract: a trusted solution says what is right, then the checks are those of `tests`.

The solution runs in a sandbox of its own, in which nothing of the candidate ever runs. What it answered is remembered
for the candidates that follow: they usually share one contract.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from harena.core.errors import HarenaError
from harena.scoring.bounded_cache import BoundedCache
from harena.scoring.codec import MalformedError
from harena.scoring.contracts.contract import Check, Inputs, ReferenceContract, TestsContract
from harena.scoring.digests import digest_of
from harena.scoring.scenario import Candidate
from harena.scoring.scorers.drive import Conversation, LoadFailedError, answered_value
from harena.scoring.scorers.fair_time import Pressure
from harena.scoring.scorers.program import Bench, Deadline, put_files
from harena.scoring.scorers.tests import score_tests
from harena.scoring.scorers.time_limits import charged_seconds
from harena.scoring.slices import aside, size_of
from harena.scoring.values import show
from harena.scoring.verdict import Verdict, broken_contract

_REMEMBERED = 128
SOLUTION_SECONDS = 120.0


class SolutionFailedError(HarenaError):
    """The trusted solution gave no answer; the message says to what, and why."""


@dataclass(frozen=True, slots=True)
class Answers:
    """What a solution returned for all inputs, in order."""

    values: tuple[Any, ...]
    longest_seconds: float
    """time of its longest call: wall time, or on a host under pressure processor time. It is kept for the candidates
    that follow, whose time another candidate's load must not lengthen"""


_checks = BoundedCache[TestsContract](_REMEMBERED)
"""the checks that the newest answers make, by contract and by what they were computed in. To make them of many inputs
takes several milliseconds, and most candidates share a contract"""


async def score_reference(bench: Bench, contract: ReferenceContract) -> Verdict:
    """The verdict. Raises PlatformError and SandboxError for what is not the program's doing."""
    place = bench.base_spec
    key = (
        contract.fingerprint,
        contract.exact_inputs,
        place.image,
        place.blueprint or "",
        await aside(size_of(bench.scenario.files), digest_of, dict(bench.scenario.files)),
    )
    checks = _checks.get(key)
    if checks is None:
        try:
            answers = await _ask_solution(bench, contract)
        except SolutionFailedError as error:
            return broken_contract(str(error))
        checks = with_answers(contract, answers)
        _checks.keep(key, checks)
    return await score_tests(bench, checks)


def with_answers(contract: ReferenceContract, answers: Answers) -> TestsContract:
    """The checks that the solution's answers make."""
    checks = tuple(
        Check.model_construct(
            {"args", "kwargs", "expected"},
            args=inputs.args,
            kwargs=inputs.kwargs,
            expected=value,
            weight=inputs.weight,
            hidden=inputs.hidden,
        )
        for inputs, value in zip(contract.inputs, answers.values, strict=True)
    )
    limit = contract.check_timeout_seconds
    if limit is not None and contract.slowdown is not None:
        limit = max(limit, contract.slowdown * answers.longest_seconds)
    return TestsContract.model_construct(
        type="tests",
        entry_point=contract.entry_point,
        checks=checks,
        comparison=contract.comparison,
        rel_tol=contract.rel_tol,
        abs_tol=contract.abs_tol,
        check_timeout_seconds=limit,
        partial_credit=contract.partial_credit,
    )


async def _ask_solution(bench: Bench, contract: ReferenceContract) -> Answers:
    """All answers of the solution. Raises SolutionFailedError."""
    alone = bench.with_candidate(Candidate(files={"solution.py": contract.solution}), files=bench.scenario.files)
    questions = with_answers(contract, Answers((None,) * len(contract.inputs), 0.0))
    async with alone.sandboxes.sandbox(alone.base_spec) as sandbox:
        await put_files(sandbox, alone.scenario.files)
        conversation = await Conversation.open(alone, sandbox, questions, Deadline(SOLUTION_SECONDS), is_timed=True)
        try:
            return await _answers_of(conversation, contract.inputs, questions.checks)
        except LoadFailedError as error:
            raise SolutionFailedError(f"the contract's `solution` cannot be loaded: {error}") from None
        except MalformedError as error:
            raise SolutionFailedError(f"the contract's `solution` disturbs the conversation: {error}") from None
        finally:
            await conversation.abort(grace_seconds=0.0)


async def _answers_of(conversation: Conversation, inputs: tuple[Inputs, ...], checks: tuple[Check, ...]) -> Answers:
    pressure = Pressure()
    try:
        token = await conversation.load(checks[0], SOLUTION_SECONDS)
    except TimeoutError:
        raise SolutionFailedError("the contract's `solution` does not load in time") from None
    values: list[Any] = []
    longest = 0.0
    for index, check in enumerate(checks):
        try:
            answer = None if token is None and index == 0 else await conversation.ask(check, token, SOLUTION_SECONDS)
        except TimeoutError:
            answer = None
        token, pressed = None, pressure.is_high()
        if answer is None:
            raise SolutionFailedError(
                f"the contract's `solution` gave no answer to inputs[{index}]"
                + ("" if inputs[index].hidden else f", {show(inputs[index].args)}")
            )
        wall, used = conversation.took
        longest = max(longest, charged_seconds(wall_seconds=wall, cpu_seconds=used, pressed=pressed))
        pressure = Pressure()
        values.append(_value(answer, index, is_hidden=inputs[index].hidden))
    return Answers(tuple(values), longest)


def _value(answer: tuple[bytes, bytes], index: int, *, is_hidden: bool) -> Any:
    kind, value = answered_value(*answer)
    if kind != "value":
        what = "" if is_hidden else f": {value}"
        raise SolutionFailedError(f"the contract's `solution` {kind} for inputs[{index}]{what}")
    return value
