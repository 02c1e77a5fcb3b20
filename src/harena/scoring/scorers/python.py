"""Scoring by custom code: the `python` contract. The code runs in a sandbox of its own, on observations only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harena.core.results import Reason
from harena.scoring.contracts.contract import PythonContract
from harena.scoring.scorers.observed_run import observed
from harena.scoring.scorers.program import Bench
from harena.scoring.scorers.scorer_blame import why_broken
from harena.scoring.scorers.scorer_process import ScorerBrokenError, ScorerFailedError, ask_scorer, paid_score
from harena.scoring.slices import aside, json_parts, size_of
from harena.scoring.verdict import Verdict, broken_contract, digest_of_parts, failed, one_line

PATTERN_SECONDS = 10.0


def _digest(seen: Mapping[str, Any]) -> str:
    return digest_of_parts(part.encode() for part in json_parts(seen, sort_keys=True))


async def search_pattern(bench: Bench, pattern: str, text: str) -> str | None:
    """The first group (or the whole) of the last match. Not searched here, because a program can print what makes a
    search take for ever. Raises ScorerFailedError, ScorerBrokenError."""
    found = (await _ask_pattern(bench, {"pattern": pattern, "text": text}))["found"]
    return None if found is None else str(found)


async def matches_pattern(bench: Bench, pattern: str, text: str, *, whole: bool, multiline: bool) -> bool:
    """Whether the pattern is found in the text, or matches the whole of it. Raises ScorerFailedError,
    ScorerBrokenError."""
    request = {"pattern": pattern, "text": text, "mode": "whole" if whole else "anywhere", "multiline": multiline}
    return bool((await _ask_pattern(bench, request))["found"])


async def _ask_pattern(bench: Bench, request: dict[str, Any]) -> dict[str, Any]:
    try:
        return await ask_scorer(bench, request, PATTERN_SECONDS)
    except ScorerFailedError as error:
        try:
            await ask_scorer(bench, {**request, "text": ""}, PATTERN_SECONDS)
        except ScorerFailedError:
            raise ScorerBrokenError(f"no text can be searched for the pattern: {error}") from None
        raise


ROUNDING = 1e-9
"""how far below the pass mark a sum of floats may end that is meant to be it"""


async def score_python(bench: Bench, contract: PythonContract) -> Verdict:
    """Run, observe, ask the scorer. Raises PlatformError and SandboxError for what is not the program's doing."""
    seen, failure = await observed(bench, contract)
    try:
        score, said = await _scored(bench, contract, seen)
    except ScorerBrokenError as error:
        return broken_contract(one_line(str(error), 500))
    except ScorerFailedError as error:
        detail = f"what the candidate did breaks the scorer, which is the lowest score: {error}"
        return failed(Reason.SCORER_REJECTED, one_line(detail, 500), unjudged=True)
    passed = score >= contract.pass_mark - ROUNDING
    reason, detail = (Reason.PASSED, "") if passed else failure or (Reason.SCORER_REJECTED, "")
    return Verdict(
        score=score,
        passed=passed,
        reason=reason,
        detail=one_line(said) or detail,
        checks_passed=int(passed),
        observations=(await aside(size_of(seen), _digest, seen), repr(score)),
    )


async def _scored(bench: Bench, contract: PythonContract, seen: Mapping[str, Any]) -> tuple[float, str]:
    """(score, detail). Raises ScorerFailedError where the candidate made the scorer fail, ScorerBrokenError where that
    is the scorer's fault, and PlatformError."""
    try:
        return await paid_score(bench, contract, seen)
    except ScorerFailedError as error:
        if broken := await why_broken(bench, contract, seen, error.failure):
            raise ScorerBrokenError(broken) from None
        if error.failure.has_read:
            raise
    # it failed before it read anything: the platform may have failed for a moment, or the run fills its memory
    return await paid_score(bench, contract, seen)
