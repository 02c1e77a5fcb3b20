"""Scoring by a model's judgement: `score_model` and `label_model`.

A judge that cannot be asked is a fault of the platform: worth another try, and never a 0. One that answers something
else than it was told to is asked once more; then the run has no score. But no candidate can buy itself a run without a
score, by what confuses the judge, is too long for it, or makes it think for ever: whatever keeps it from a verdict is
the candidate's doing where it gives one of an empty answer.

What a candidate writes is part of the question, and may try to talk the judge into something: a judge's verdict is as
good as the judge. A judge that quotes a verdict beside its own has given none.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from harena.core.results import Reason
from harena.scoring import judge
from harena.scoring.contracts_judge import JudgeContract, LabelModelContract, ScoreModelContract
from harena.scoring.judge import JudgeOverdueError, JudgeRefusedError
from harena.scoring.program import Bench
from harena.scoring.slices import aside
from harena.scoring.templates import SampleError, filled
from harena.scoring.verdict import Verdict, broken_contract, digest, failed, one_line

_TRIES = 2
_ONE_OBJECT = "Answer with one JSON object and nothing else"
_MOST_BRACES = 1000
"""of an answer that is read"""
_END_OF_REASONING = "</think>"

Ask = Callable[[Sequence[Mapping[str, str]], Mapping[str, Any], float], str]


async def score_judge(bench: Bench, contract: JudgeContract, ask: Ask = judge.ask) -> Verdict:
    """The verdict. Raises PlatformError where the judge cannot be asked."""
    candidate = bench.scenario.candidate
    try:
        messages = _messages(contract, None if candidate.is_empty else candidate.source)
    except SampleError as error:
        return failed(Reason.BAD_VALUE, one_line(str(error)))
    try:
        return await _judged(contract, messages, ask)
    except JudgeRefusedError as error:  # also about an empty answer
        return broken_contract(one_line(str(error)))


async def _judged(contract: JudgeContract, messages: list[dict[str, str]], ask: Ask) -> Verdict:
    """The verdict. Raises PlatformError, and JudgeRefusedError where an empty answer is refused, too."""
    try:
        score, said = await _asked(contract, messages, ask)
    except JudgeRefusedError as error:
        return await _blamed(contract, ask, one_line(str(error)))
    except JudgeOverdueError as first:
        if not await _answers_about_nothing(contract, ask):
            raise
        try:  # it may have been busy: the candidate is to blame where time is over again, after it was not
            score, said = await _asked(contract, messages, ask)
        except JudgeOverdueError:
            return failed(Reason.SCORER_REJECTED, f"what is judged keeps the judge from a verdict: {first}")
    if score is not None:
        return _verdict(contract, score, said)
    return await _blamed(contract, ask, f"the judge did not answer as it was told to, but {one_line(said, 100)!r}")


async def _blamed(contract: JudgeContract, ask: Ask, what: str) -> Verdict:
    """The verdict where there is none of the judge's: whose fault that is."""
    if await _answers_about_nothing(contract, ask):
        return failed(Reason.SCORER_REJECTED, f"what is judged keeps the judge from a verdict: {what}")
    return broken_contract(what)


def _messages(contract: JudgeContract, answer: str | None) -> list[dict[str, str]]:
    """What the judge is asked about an answer, or about none. Raises SampleError."""
    messages = [
        {"role": message.role, "content": filled(message.content, contract.item, answer)}
        for message in contract.messages
    ]
    return [*messages, {"role": "system", "content": instruction(contract)}]


async def _asked(contract: JudgeContract, messages: list[dict[str, str]], ask: Ask) -> tuple[float | None, str]:
    """(the score, or None where the judge does not answer as it is told to; what it said last)."""
    parameters = {"model": contract.model, **contract.sampling_params.model_dump(exclude_none=True)}
    said = ""
    for _ in range(_TRIES):
        said = await asyncio.to_thread(ask, messages, parameters, contract.judge_timeout_seconds)
        score = await aside(len(said), judged, contract, said)
        if score is not None:
            return score, said
    return None, said


async def _answers_about_nothing(contract: JudgeContract, ask: Ask) -> bool:
    """The judge judges an empty answer as it is told to: so no answer can talk it into giving no score at all."""
    score, _ = await _asked(contract, _messages(contract, None), ask)
    return score is not None


def instruction(contract: JudgeContract) -> str:
    """What the judge is told of how to write its answer."""
    if isinstance(contract, LabelModelContract):
        labels = ", ".join(json.dumps(label, ensure_ascii=False) for label in contract.labels)
        return f'{_ONE_OBJECT}: {{"label": L}}, where L is one of {labels}.'
    assert isinstance(contract, ScoreModelContract)
    low, high = contract.range
    return (
        f'Answer with one JSON object and nothing else: {{"score": N}}, where N is a number from {low:g} to {high:g}.'
    )


def judged(contract: JudgeContract, said: str) -> float | None:
    """The score from 0 to 1 that an answer holds, after its reasoning; None if it holds none, or two: which one is the
    judge's own, and which is quoted, nobody can tell."""
    before, found, after = said.partition(_END_OF_REASONING)
    field = "label" if isinstance(contract, LabelModelContract) else "score"
    stated = [value[field] for value in _objects(after if found else before) if field in value]
    scores = [_score(contract, value) for value in stated]
    return scores[0] if scores and all(score == scores[0] for score in scores) else None


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """The JSON objects in a text, those inside of others left out."""
    decoder = json.JSONDecoder()
    at = text.find("{")
    for _ in range(_MOST_BRACES):
        if at < 0:
            return
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            end = at + 1
        else:
            yield value
        at = text.find("{", end)


def _score(contract: JudgeContract, value: Any) -> float | None:
    if isinstance(contract, LabelModelContract):
        return float(value in contract.passing_labels) if value in contract.labels else None
    assert isinstance(contract, ScoreModelContract)
    number, (low, high) = value, contract.range
    if isinstance(number, bool) or not isinstance(number, int | float):
        return None
    # no other question is asked of it: an integer may have 4,000 digits, which no float holds
    return (number - low) / (high - low) if low <= number <= high else None


def _verdict(contract: JudgeContract, score: float, said: str) -> Verdict:
    passed = score >= (contract.pass_mark if isinstance(contract, ScoreModelContract) else 1.0)
    return Verdict(
        score=score,
        passed=passed,
        reason=Reason.PASSED if passed else Reason.SCORER_REJECTED,
        detail="" if passed else one_line(f"the judge: {said}"),
        checks_passed=int(passed),
        observations=(digest(said.encode("utf-8", "surrogatepass")), repr(score)),
    )
