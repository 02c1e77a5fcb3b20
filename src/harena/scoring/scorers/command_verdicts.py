"""The verdict on a command in which a candidate may have run: what it takes to pass, and whose the failure is."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace

from harena.core.models import ExecOutcome, ExecRequest, ExecResult
from harena.core.results import Reason
from harena.scoring.contracts.contract import CommandContract
from harena.scoring.guest.suite_protocol import HAS_TAKEN, NO_MODULE, NO_PYTEST, TAKES
from harena.scoring.scorers.program import Bench
from harena.scoring.scorers.trusted_suite import (
    LIST_IT,
    REQUIRES_SECONDS,
    ends_alike,
    missing_modules,
    taking_part,
)
from harena.scoring.slices import SLICE, aside, last_line
from harena.scoring.verdict import Verdict, broken_contract, failed, one_line, program_failure, tampered

_COMMAND_MISSING = (126, 127, NO_PYTEST)
_LINE_ENDS = (b"\n", b"\r")


def command_verdict(result: ExecResult, proven: bool) -> Verdict:
    """The verdict on one run; `proven`: the word that only the trusted part was given was there at its end."""
    observation = f"{result.outcome}:{result.returncode}:{proven}"
    failure = program_failure(result)
    if failure is not None and result.outcome is not ExecOutcome.EXITED:
        return failed(*failure, observation=observation, unjudged=True)
    said = one_line(last_line(result.stderr)) if result.returncode == HAS_TAKEN else ""
    if said.startswith(TAKES):
        return replace(tampered(said), observations=(observation,))
    if failure is not None:
        return failed(Reason.SCORER_REJECTED, failure[1], observation=observation)
    if not proven:
        detail = "exit code 0 without the proof that every check has run and passed"
        return failed(Reason.EXITED_EARLY, detail, observation=observation)
    return Verdict(score=1.0, passed=True, reason=Reason.PASSED, checks_passed=1, observations=(observation,))


async def broken_without_candidate(
    bench: Bench, contract: CommandContract, result: ExecResult, ended: Callable[[Bench], Awaitable[ExecResult]]
) -> Verdict | None:
    """The verdict where the trusted part cannot be applied, whoever the candidate is. A candidate may end a command in
    any way, too: that it is the command's own fault is believed only of a run with a candidate that does nothing, which
    `ended` makes."""
    if (missing := await missing_modules(bench, contract)) is not None:
        return broken_contract(missing)
    exited = result.outcome is ExecOutcome.EXITED
    if exited and result.returncode == NO_MODULE:
        detail = f"{one_line(last_line(result.stderr))}: the candidate is to bring it; {LIST_IT}"
        return failed(Reason.SCORER_REJECTED, detail, observation=f"{result.outcome}:{result.returncode}:False")
    if exited and result.returncode not in _COMMAND_MISSING:
        return None
    alone = await ends_alike(bench, result, await taking_part(bench, contract), ended)
    if alone is None:
        return None
    if exited and result.returncode != NO_PYTEST:
        from harena.scoring.scorers.missing_programs import missing_of_image

        texts = [*contract.files.values(), *bench.scenario.files.values(), *(contract.command or ("python",))]
        text = "\n".join([*texts, *(f"PATH={path}" for name, path in contract.env.items() if name == "PATH")])
        if missing_of_image(alone.stderr, text, contract.files) is None and await _image_has_command(bench, contract):
            said = _last_line(alone) or f"exit code {result.returncode}"
            detail = f"the trusted command cannot go on without what the candidate is to make: {said}"
            return failed(Reason.SCORER_REJECTED, detail, observation=f"{result.outcome}:{result.returncode}:False")
    if exited:
        return broken_contract(f"the trusted command cannot be run: {_last_line(alone)}")
    _, why = program_failure(alone) or (None, str(alone.outcome))
    return broken_contract(f"the trusted command does not end well with a candidate that does nothing, too: {why}")


async def _image_has_command(bench: Bench, contract: CommandContract) -> bool:
    """False: what the contract starts is on no path of a sandbox without any candidate."""
    name = (contract.command or ("python",))[0]
    if "/" in name:
        return True
    async with bench.sandboxes.sandbox(bench.base_spec) as sandbox:
        argv = ("sh", "-c", 'command -v -- "$1"', "sh", name)
        request = ExecRequest(argv=argv, env=contract.env, cwd="/", timeout_seconds=REQUIRES_SECONDS)
        done = await (await sandbox.exec(request)).wait()
    return done.outcome is ExecOutcome.EXITED and done.returncode == 0


def _last_line(result: ExecResult) -> str:
    if result.returncode == NO_PYTEST:
        return "the image has no pytest; add it to the blueprint's packages"
    return one_line(last_line(result.stderr))


async def with_words_in_sight(contract: CommandContract, verdict: Verdict, size: int) -> Verdict:
    """A pass says by which line the candidate could have learned the word. `size`: the characters that are read where
    the trusted texts are looked through."""
    command = contract.command or ()
    if not command and not contract.files:
        return verdict
    from harena.scoring.scorers.leaked_proofs import words_in_sight

    given = await aside(size, words_in_sight, command, contract.files)
    return replace(verdict, detail=f"{verdict.detail}{given[0].told}") if given else verdict


def holds_at_end_of_line(text: bytes, line: bytes) -> bool:
    """One of the lines of a text ends so; no list of them all is made. What comes before may be a candidate's output
    without a line break: who knows the word could as well have written one."""
    start = 0
    while start < len(text):  # slice by slice: see `slices`
        at = text.find(line, start, start + SLICE)
        if at < 0:
            start += SLICE - len(line)
            continue
        end = at + len(line)
        if end == len(text) or text[end : end + 1] in _LINE_ENDS:
            return True
        start = end
    return False
