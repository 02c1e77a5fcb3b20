"""Scoring by the `weighted` contract: each part by its own scorer, and one score of all of theirs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from harena.core.results import Reason, Trust, Validity
from harena.scoring.contracts.contract import WeightedContract
from harena.scoring.contracts.formula import ROUNDING, FormulaError, as_written, computed
from harena.scoring.contracts.parts import Contract
from harena.scoring.scorers.program import Bench
from harena.scoring.verdict import ContractFailedError, Verdict, broken_contract

_DIGITS = 14
"""after the point that a formula's score has: what it is in decimal numbers, whatever floats add to that"""
Apply = Callable[[Contract, Bench], Awaitable[Verdict]]


async def score_weighted(bench: Bench, contract: WeightedContract, apply: Apply) -> Verdict:
    """The verdict. Each part has a time limit of its own. Raises what the parts' scorers raise."""
    verdicts: dict[str, Verdict] = {}
    for name, part in contract.parts.items():
        verdicts[name] = await apply(part.scoring, bench.for_part(part.scoring))
        if verdicts[name].score is None:
            return broken_contract(f"{name}: {verdicts[name].detail}")
    return combined(contract, verdicts)


def _less_paid(formula: str, scores: Mapping[str, float], name: str) -> float:
    """The score of a part that was not judged: 0 of one that pays, and 1 of one that costs. A candidate that keeps a
    judge, a search or a scorer from its end would else be spared what it costs. Raises FormulaError."""
    return min((0.0, 1.0), key=lambda score: computed(formula, {**scores, name: score}))


def combined(contract: WeightedContract, verdicts: Mapping[str, Verdict]) -> Verdict:
    """One verdict of all. A part that was tampered with makes the whole suspect, and its score 0. Raises
    ContractFailedError where `formula` gives no score: the candidate chose the numbers in it."""
    scores = {name: verdict.score or 0.0 for name, verdict in verdicts.items()}
    if contract.formula is None:
        weights = {name: part.weight for name, part in contract.parts.items()}
        total = sum(map(as_written, weights.values()))
        score = float(sum(as_written(weights[name]) * as_written(score) for name, score in scores.items()) / total)
    else:
        try:
            for name, verdict in verdicts.items():
                if verdict.unjudged:
                    scores[name] = _less_paid(contract.formula, scores, name)
            score = round(computed(contract.formula, scores), _DIGITS)
        except FormulaError as error:
            raise ContractFailedError(f"`formula`: {error}") from None
    if not -ROUNDING <= score <= 1 + ROUNDING:
        raise ContractFailedError(f"`formula` gives {score:g}; a score is a number from 0 to 1, so divide or clip it")
    score = min(1.0, max(0.0, score))
    tampered = next((verdict for verdict in verdicts.values() if verdict.validity is Validity.SUSPECT), None)
    passed = tampered is None and score >= contract.pass_mark
    name, first = next(((name, verdict) for name, verdict in verdicts.items() if not verdict.passed), ("", None))
    reason = Reason.PASSED if passed else first.reason if first is not None else Reason.SCORER_REJECTED
    if not passed and tampered is None and 0 < score < 1:
        reason = Reason.PARTIAL
    return Verdict(
        score=0.0 if tampered is not None else score,
        passed=passed,
        reason=tampered.reason if tampered is not None else reason,
        detail="" if passed or first is None else f"{name}: {first.detail or first.reason.value}",
        validity=Validity.VALID if tampered is None else Validity.SUSPECT,
        planned=sum(verdict.planned for verdict in verdicts.values()),
        run=sum(verdict.run for verdict in verdicts.values()),
        checks_passed=sum(verdict.checks_passed for verdict in verdicts.values()),
        observations=tuple(seen for verdict in verdicts.values() for seen in verdict.observations),
        trust=Trust.SHARED if any(verdict.trust is Trust.SHARED for verdict in verdicts.values()) else None,
    )
