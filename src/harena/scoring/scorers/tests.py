"""Scoring by the `tests` contract: conversations until every check has been asked, or one ends the run."""

from __future__ import annotations

from harena.core.ports import SandboxPort
from harena.core.results import Reason
from harena.scoring.codec import MalformedError
from harena.scoring.contracts.contract import Check, TestsContract
from harena.scoring.scenario import Candidate
from harena.scoring.scorers.drive import ArgumentsFailedError, Conversation, LoadFailedError, SetupFailedError, judge
from harena.scoring.scorers.program import Bench, Deadline, put_files
from harena.scoring.slices import aside
from harena.scoring.verdict import CheckOutcome, Verdict, broken_contract, failed, from_checks, tampered

_END_SECONDS = 4.0
"""A process that has closed its side is about to end: how it ends (at its memory limit, say) is its reason. On a loaded
host that takes longer than a second."""
_ACCEPTING = "def accept(*arguments, **keywords): pass\n"


async def score_tests(bench: Bench, contract: TestsContract) -> Verdict:
    """The verdict. Raises PlatformError and SandboxError for what is not the program's doing."""
    planned = len(contract.checks)
    outcomes: list[CheckOutcome] = []
    beside = {path: text for path, text in bench.files().items() if path != bench.scenario.candidate.entry}
    try:
        while len(outcomes) < planned:
            if bench.seconds_left <= 0:
                detail = f"the {bench.timeout_seconds:.3g} s for all checks are over"
                outcomes.append(CheckOutcome(passed=False, reason=Reason.TIMEOUT, detail=detail, ran=False))
                break
            async with bench.sandbox() as sandbox:
                await put_files(sandbox, beside)
                await _converse(bench, sandbox, contract, outcomes)
            if not contract.partial_credit and not outcomes[-1].passed:
                break
    except MalformedError as error:
        detail = f"the candidate's side of the border spoke out of turn: {error}"
        return tampered(detail, planned=planned, outcomes=outcomes)
    except LoadFailedError as error:
        return failed(error.reason, error.detail, planned=planned, run=0, observation=error.reason.value)
    except SetupFailedError as error:
        return await _setup_failure(bench, contract, str(error))
    except ArgumentsFailedError as error:
        return await _arguments_failure(bench, contract, error.check, str(error))
    return from_checks(outcomes, [check.weight for check in contract.checks], partial_credit=contract.partial_credit)


async def _converse(bench: Bench, sandbox: SandboxPort, contract: TestsContract, outcomes: list[CheckOutcome]) -> None:
    """One process, asked the checks that are left; adds their outcomes until one has no answer or ends the run."""
    deadline = Deadline(bench.seconds_left)
    conversation = await Conversation.open(bench, sandbox, contract, deadline)
    timed_out = False
    try:
        if await _ask_the_rest(conversation, contract, deadline, outcomes):
            if not await conversation.close():
                raise MalformedError("it said more than it was asked")
            return
    except TimeoutError:
        timed_out = True
    except (LoadFailedError, SetupFailedError, ArgumentsFailedError, MalformedError):
        await conversation.abort(grace_seconds=0.0)
        raise
    result = await conversation.abort(grace_seconds=0.0 if timed_out else _END_SECONDS, over=timed_out)
    reason, detail = conversation.failure(result, timed_out=timed_out)
    outcomes.append(CheckOutcome(passed=False, reason=reason, detail=detail, observation=reason.value, ran=False))


async def _ask_the_rest(
    conversation: Conversation, contract: TestsContract, deadline: Deadline, outcomes: list[CheckOutcome]
) -> bool:
    """False if the process ended before it had answered."""
    token = await conversation.load(contract.checks[len(outcomes)], deadline.left(contract.check_timeout_seconds))
    if token is None:
        return False
    while len(outcomes) < len(contract.checks):
        check = contract.checks[len(outcomes)]
        answer = await conversation.ask(check, token, deadline.left(contract.check_timeout_seconds))
        token = None
        if answer is None:
            return False
        outcomes.append(await aside(len(answer[1]), judge, check, contract, *answer))
        if not outcomes[-1].passed and not contract.partial_credit:
            break
    return True


async def _setup_failure(bench: Bench, contract: TestsContract, detail: str) -> Verdict:
    """Whose fault it is that `setup` failed: the candidate's, if it works without the candidate's files."""
    alone = bench.with_candidate(Candidate(files={"solution.py": ""}), files=bench.scenario.files)
    async with alone.sandboxes.sandbox(alone.spec) as sandbox:
        await put_files(sandbox, {path: text for path, text in alone.files().items() if path != "solution.py"})
        conversation = await Conversation.open(alone, sandbox, contract, Deadline(bench.timeout_seconds))
        try:
            await conversation.load(contract.checks[0], bench.timeout_seconds)
        except SetupFailedError as error:
            return broken_contract(f"the contract's `setup` failed: {error}")
        except LoadFailedError:
            pass  # the empty candidate has no entry point: `setup` itself is fine
        finally:
            await conversation.abort(grace_seconds=0.0)
    return failed(Reason.EXCEPTION, f"the candidate's files break the contract's `setup`: {detail}", run=0)


async def _arguments_failure(bench: Bench, contract: TestsContract, check: Check, detail: str) -> Verdict:
    """Whose fault it is that arguments could not be built: the candidate's (it took the memory, or lowered the
    recursion limit), if they can be built for a program of ours."""
    ours = contract.model_copy(update={"entry_point": "accept", "setup": None})
    alone = bench.with_candidate(Candidate(files={"solution.py": _ACCEPTING}), files=bench.scenario.files)
    async with alone.sandboxes.sandbox(alone.spec) as sandbox:
        await put_files(sandbox, {path: text for path, text in alone.files().items() if path != "solution.py"})
        conversation = await Conversation.open(alone, sandbox, ours, Deadline(bench.timeout_seconds))
        try:
            token = await conversation.load(check, bench.timeout_seconds)
            if token is not None:
                await conversation.ask(check, token, bench.timeout_seconds)
        except ArgumentsFailedError as error:
            index = contract.checks.index(check)
            return broken_contract(f"the arguments of checks[{index}] cannot be built: {error}")
        finally:
            await conversation.abort(grace_seconds=0.0)
    return failed(Reason.EXITED_EARLY, f"the candidate's process could not take the arguments: {detail}", run=0)
