"""Whose fault it is that a candidate could not be judged: the rule for everything that is raised while one is.

Whatever a candidate does comes to this process as bytes: output, replies, files, names, and the way in which a sandbox
or a judge fails. Any of it may make the host raise, foreseen or not. If that left a run without a score, a candidate
could buy itself out of a bad one. So an error passes as the platform's only if it is plainly that:

* it was raised where a sandbox was created, before anything of the candidate was in it;
* it is one of PLATFORM_ERRORS, each of which has its reason there;
* it is an ImportError: a file of harena's own, or of a package that it uses, has gone below the running process.
  Nothing of a candidate's is imported here.

After any other error the same contract judges a candidate that does nothing, in fresh sandboxes. If that fails, too,
the fault is the contract's or the platform's, and there is no score. If it works, the candidate is judged once more,
because the platform may have failed for a moment; an error that comes again is the candidate's doing: it has the lowest
score, and the verdict says what happened. What the platform's own code calls its failure has to come a third time.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import NoReturn

from harena.core.errors import (
    HarenaError,
    HostUnsupportedError,
    LimitExceededError,
    PlatformError,
    SandboxResourceExhaustedError,
    SandboxTerminatedError,
    SandboxUnavailableError,
)
from harena.core.results import Reason
from harena.scoring.contracts.contract import Contract, HarborContract
from harena.scoring.contracts.judge import JudgeContract
from harena.scoring.contracts.text import TextContract
from harena.scoring.scenario import Candidate
from harena.scoring.scorers.judge import JudgeBusyError, JudgeFaultError
from harena.scoring.scorers.languages import IDLE_SCRIPT
from harena.scoring.scorers.program import Bench
from harena.scoring.scorers.watched_sandboxes import LACKED_PROCESSES, Creations
from harena.scoring.verdict import ContractFailedError, StarvedError, Verdict, broken_contract, failed, one_line

PLATFORM_ERRORS: tuple[type[HarenaError], ...] = (
    StarvedError,  # decided by what was measured outside of the sandbox
    HostUnsupportedError,  # about the host; the same for every candidate
    SandboxResourceExhaustedError,  # the node has no room for a sandbox
    LimitExceededError,  # the workspace may have no further sandbox
    SandboxTerminatedError,  # somebody outside has stopped the sandbox; nothing inside can ask for that
    JudgeBusyError,  # the judge's server was not reached
    JudgeFaultError,  # `score_judge` has compared it with an empty answer, which met the same
)
"""errors that no candidate can cause; the list is closed"""

_FAILURES_OF_THE_PLATFORM = 3
"""platform errors with one candidate after which it is to blame; after each but the last an idle one was judged"""
MOST_JUDGINGS = 2 * _FAILURES_OF_THE_PLATFORM - 1
"""largest number of judgings of one candidate, and of the idle ones between"""
Apply = Callable[[Contract, Bench], Awaitable[Verdict]]

_log = logging.getLogger("harena.scoring")


async def blamed(contract: Contract, bench: Bench, apply: Apply, *, planned: int) -> Verdict:
    """The verdict of `apply`, or whose fault it is that there is none. Raises HarenaError for the platform's."""
    try:
        return await _blamed(contract, bench, apply, planned=planned)
    except ImportError as error:
        _raise_as_platforms(error)


async def _blamed(contract: Contract, bench: Bench, apply: Apply, *, planned: int) -> Verdict:
    first = verdict = await _tried(contract, bench, apply)
    failures = 0
    while isinstance(verdict, Exception):
        failures += 1
        if failures >= _FAILURES_OF_THE_PLATFORM or (failures > 1 and not isinstance(verdict, PlatformError)):
            return replace(_candidates_doing(verdict), planned=planned)
        idle = await _tried(contract, idle_for(contract, bench), apply)
        if isinstance(idle, Exception):
            if isinstance(first, ContractFailedError):
                return broken_contract(one_line(str(first)))
            _raise_as_platforms(verdict)
        if idle.score is None:
            return broken_contract(idle.detail)
        again = bench.again()
        verdict = await _tried(contract, again, apply)
        bench.meter = again.meter
    return verdict


async def _tried(contract: Contract, bench: Bench, apply: Apply) -> Verdict | Exception:
    """The verdict, or what was raised, where it may have been the candidate's doing. Raises HarenaError."""
    watched = Creations(bench.sandboxes)
    bench.sandboxes = watched
    try:
        verdict = await apply(contract, bench)
        if not verdict.passed and await watched.lacked_processes():
            raise StarvedError(LACKED_PROCESSES)
        return verdict
    except ImportError:
        raise
    except PLATFORM_ERRORS:
        raise
    except Exception as error:  # noqa: BLE001 - the rule is about everything that is raised while judging
        if error is watched.failure:
            _raise_as_platforms(error)
        if isinstance(error, SandboxUnavailableError) and error.reason == "NODE_OUT_OF_MEMORY":
            # counted outside of the sandbox; whoever fills the node with others like it is judged alone in the end
            raise StarvedError(one_line(str(error), 400)) from None
        if await watched.lacked_processes():  # such as an interpreter that did not start
            raise StarvedError(LACKED_PROCESSES) from None
        _log.info("judging scenario %s raised", bench.scenario.id, exc_info=error)
        return error
    finally:
        bench.sandboxes = watched.source


def idle_for(contract: Contract, bench: Bench) -> Bench:
    """Make a bench for a candidate that does nothing, of the kind that the contract takes. It is not metered."""
    candidate = bench.scenario.candidate
    if isinstance(contract, TextContract | JudgeContract):
        nothing = Candidate(files={candidate.entry: ""}, entry=candidate.entry)
    elif isinstance(contract, HarborContract) or candidate.entry.endswith(".sh"):
        nothing = Candidate(files={candidate.entry: IDLE_SCRIPT}, entry=candidate.entry)
    else:
        from harena.scoring.scorers.trusted_suite import idle_bench

        try:
            return idle_bench(bench)
        except ImportError:
            raise
        except Exception as error:  # noqa: BLE001 - it reads the candidate's text, which shall not choose who is blamed
            _log.info("a candidate that does nothing has nothing of this one's names", exc_info=error)
            nothing = Candidate(files={candidate.entry: "pass\n"}, entry=candidate.entry)
    return bench.with_candidate(nothing, files=bench.scenario.files)


def _candidates_doing(error: Exception) -> Verdict:
    what = f"{type(error).__name__}: {one_line(str(error))}"
    detail = f"what the candidate did makes its judging fail, and not that of one that does nothing: {what}"
    return failed(Reason.SCORER_REJECTED, one_line(detail, 500), run=0, observation=f"fault:{type(error).__name__}")


def _raise_as_platforms(error: Exception) -> NoReturn:
    if isinstance(error, HarenaError):
        raise error
    raise PlatformError(f"judging failed: {type(error).__name__}: {one_line(str(error))}", step="score") from error
