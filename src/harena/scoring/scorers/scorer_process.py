"""One question to a scorer: a program of the contract's author in a sandbox in which nothing of the candidate runs."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from harena.core import json_steps
from harena.core.errors import HarenaError, PlatformError
from harena.core.models import ExecOutcome, ExecRequest, ExecResult
from harena.scoring.contracts.contract import PythonContract
from harena.scoring.guest import scorer as guest_scorer
from harena.scoring.guest import scorer_faults, scorer_orders, scorer_shapes
from harena.scoring.guest_sources import source_of
from harena.scoring.scorers.program import Bench
from harena.scoring.slices import aside, json_parts, last_line, size_of
from harena.scoring.verdict import one_line

_TIMES_FOR_ORDERS = 4
"""how much longer two runs may take that ask about each comparison"""


@dataclass(frozen=True, slots=True)
class Failure:
    """How a scorer failed, as the process that ran it tells."""

    detail: str
    has_read: bool = False
    """something of the candidate's was read before"""
    fault: str = ""
    """what its author did wrong, where the source shows that no answer could cause it"""
    steady: str = ""
    """an error of a kind that an answer seldom causes; equal for every answer, it is its author's"""
    is_endless: bool = False
    """it did not come to an end of its own"""


class ScorerFailedError(HarenaError):
    """The scorer gave no answer; the message says how it ended."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.detail)
        self.failure = failure


class ScorerBrokenError(HarenaError):
    """The scorer has no answer for a candidate that does nothing, too: the contract's fault."""


@cache
def _scorer_program() -> str:
    return source_of(guest_scorer) + "\n\nmain()\n"


def _json(request: Mapping[str, Any]) -> bytes:
    return b"".join(part.encode("utf-8", "surrogatepass") for part in json_parts(request, ensure_ascii=False))


async def ask_scorer(bench: Bench, request: Mapping[str, Any], timeout_seconds: float) -> dict[str, Any]:
    """One answer of the scorer program, from a fresh sandbox with the job's own limits.

    Raises ScorerFailedError, and PlatformError where the platform is to blame."""
    nonce = secrets.token_hex(16)
    told = await aside(size_of(request), _json, {**request, "nonce": nonce})
    async with bench.sandboxes.sandbox(bench.trusted_spec) as sandbox:
        result = await bench.run_trusted(
            sandbox,
            ExecRequest(
                argv=("python", "-c", _scorer_program()),
                stdin=told,
                timeout_seconds=timeout_seconds,
            ),
        )
    if result.outcome is ExecOutcome.EXITED and result.returncode in (126, 127):
        raise PlatformError(_how_it_ended(result), step="start the scorer's interpreter")
    mark = f"{nonce} ".encode("ascii")
    before, _, answer = result.stdout.rpartition(mark)
    has_read = result.stdout.startswith(mark + b"read\n")
    is_whole = result.outcome is ExecOutcome.EXITED and result.returncode == 0
    if not is_whole or not answer.endswith(b"}\n") or before not in (b"", mark + b"read\n"):
        raise ScorerFailedError(Failure(_how_it_ended(result), has_read=has_read, is_endless=True))
    made: dict[str, Any] = await aside(len(answer), json_steps.parse, answer)
    if "failure" in made:
        raise ScorerFailedError(_failure(made["failure"], has_read=has_read))
    return made


def _how_it_ended(result: ExecResult) -> str:
    said = last_line(result.stderr)
    return one_line(f"the scorer ended with {result.outcome} {result.returncode}: {said}")


def _failure(told: Mapping[str, Any], *, has_read: bool) -> Failure:
    where = f" in line {told['line']}" if told["line"] else ""
    what = f"{told['kind']}{where}: {told['text']}" if told["kind"] else told["text"]
    return Failure(
        one_line(f"the scorer failed: {what}"),
        has_read=has_read,
        fault=one_line(told["fault"]),
        steady=what if told["is_steady"] else "",
        is_endless=told["is_endless"],
    )


def run_shown(contract: PythonContract, seen: Mapping[str, Any]) -> dict[str, Any]:
    """What the scorer program is told of a run."""
    return {**seen, "output_files": contract.output_files}


async def score_of_run(
    bench: Bench, contract: PythonContract, seen: Mapping[str, Any], *, is_idle: bool = False
) -> tuple[float, str]:
    """(score from 0 to 1, detail). `is_idle`: the run is none of a candidate's. Raises ScorerFailedError, and
    PlatformError where the platform is to blame."""
    request = {
        "source": contract.source,
        "faults": source_of(scorer_faults),
        "run": run_shown(contract, seen),
        "is_idle": is_idle,
    }
    answer = await ask_scorer(bench, request, contract.scorer_timeout_seconds)
    return answer["score"], answer["detail"]


async def paid_score(bench: Bench, contract: PythonContract, seen: Mapping[str, Any]) -> tuple[float, str]:
    """(score, detail) of a candidate's run. A score that rests on a NaN is what it is wherever the NaN stands among the
    numbers, see `guest.scorer_orders`. Raises ScorerFailedError, and PlatformError where the platform is to blame."""
    request = {
        "source": contract.source,
        "faults": source_of(scorer_faults),
        "run": run_shown(contract, seen),
        "is_idle": False,
    }
    orders = source_of(scorer_orders)
    answer = await ask_scorer(bench, {**request, "if_paid": orders}, contract.scorer_timeout_seconds)
    score, detail = answer["score"], answer["detail"]
    if not answer.get("may_rest_on_nan"):
        return score, detail
    try:
        told = await ask_scorer(
            bench, {**request, "orders": orders}, _TIMES_FOR_ORDERS * contract.scorer_timeout_seconds
        )
    except ScorerFailedError:  # out of time or memory: it says nothing
        return score, detail
    lowest = told["lowest"]
    if lowest is None or lowest >= score:
        return score, detail
    said = "a NaN is compared, which counts as less or as more than every number, whichever is worth less"
    return lowest, f"{detail}; {said}" if detail else said


async def score_of_any_form(bench: Bench, contract: PythonContract, seen: Mapping[str, Any]) -> str | None:
    """What the scorer's author did wrong, as answers of any form show, "" if they show nothing; None where one of them
    gets a score. Raises ScorerFailedError, and PlatformError where the platform is to blame."""
    request = {
        "source": contract.source,
        "faults": source_of(scorer_faults),
        "shapes": source_of(scorer_shapes),
        "run": run_shown(contract, seen),
    }
    answer = await ask_scorer(bench, request, contract.scorer_timeout_seconds)
    return None if "score" in answer else one_line(answer["fault"])
