"""Scoring by a model's judgement: `score_model` and `label_model`.

A judge that cannot be asked is a fault of the platform: worth another try, and never a 0. One that answers something
else than it was told to is asked once more; then the run has no score. What a candidate writes is part of the question,
and may try to talk the judge into something: a judge's verdict is as good as the judge.
"""

from __future__ import annotations

import asyncio
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from harena.core.results import Reason
from harena.scoring import judge
from harena.scoring.contracts_judge import JudgeContract, LabelModelContract, ScoreModelContract
from harena.scoring.judge import JudgeRefusedError
from harena.scoring.program import Bench
from harena.scoring.templates import SampleError, filled
from harena.scoring.verdict import Verdict, broken_contract, digest, failed, one_line

_TRIES = 2
_ONE_OBJECT = "Answer with one JSON object and nothing else"
_OBJECT = re.compile(r"\{[^{}]*\}")

Ask = Callable[[Sequence[Mapping[str, str]], Mapping[str, Any], float], str]


async def score_judge(bench: Bench, contract: JudgeContract, ask: Ask = judge.ask) -> Verdict:
    """The verdict. Raises PlatformError where the judge cannot be asked."""
    answer = bench.scenario.candidate.source
    try:
        messages = _messages(contract, answer)
    except SampleError as error:
        return failed(Reason.BAD_VALUE, one_line(str(error)))
    try:
        score, said = await _asked(contract, messages, ask)
        if score is not None:
            return _verdict(contract, score, said)
        if await _answers_about_nothing(contract, ask):
            detail = f"what is judged keeps the judge from answering as it was told to: {one_line(said, 100)!r}"
            return failed(Reason.SCORER_REJECTED, detail)
    except JudgeRefusedError as error:
        return broken_contract(one_line(str(error)))
    return broken_contract(f"the judge did not answer as it was told to, but {one_line(said, 100)!r}")


def _messages(contract: JudgeContract, answer: str) -> list[dict[str, str]]:
    """What the judge is asked about an answer. Raises SampleError."""
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
        score = judged(contract, said)
        if score is not None:
            return score, said
    return None, said


async def _answers_about_nothing(contract: JudgeContract, ask: Ask) -> bool:
    """The judge judges an empty answer as it is told to: so no answer can talk it into giving no score at all."""
    try:
        messages = _messages(contract, "")
    except SampleError:  # a template that takes the answer apart has nothing to show of an empty one
        return False
    score, _ = await _asked(contract, messages, ask)
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
    """The score from 0 to 1 that an answer holds, in its last JSON object; None if it holds none."""
    found = _OBJECT.findall(said)
    try:
        value = json.loads(found[-1])
    except (IndexError, ValueError):
        return None
    if isinstance(contract, LabelModelContract):
        label = value.get("label")
        return float(label in contract.passing_labels) if label in contract.labels else None
    assert isinstance(contract, ScoreModelContract)
    number, (low, high) = value.get("score"), contract.range
    if isinstance(number, bool) or not isinstance(number, int | float) or not math.isfinite(number):
        return None
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
