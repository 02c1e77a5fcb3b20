"""What of an answer a task's verification is given."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any, cast

import pytest

from harena.scoring.formats.answers import final_answer
from harena.training.environments import task_episodes
from harena.training.environments.environment import StillWaitingError
from harena.training.environments.sandbox import Workplace
from harena.training.environments.task_episodes import TaskEnvironment
from harena.training.environments.tasks import task_of
from harena.training.rollouts.trajectory import Candidate, Reward

PROGRAM = "def f(x):\n    return 2 * x\n"
TESTS = {"type": "tests", "entry_point": "f", "checks": [{"args": [2], "expected": 4}]}
TEXT = {"type": "string_check", "input": "{{ sample.output_text }}", "operation": "eq", "reference": "42"}
BOTH = {"type": "weighted", "parts": {"a": {"scoring": TEXT}, "b": {"scoring": TESTS}}}


@pytest.mark.parametrize("scoring", [TESTS, BOTH, {"type": "stdio", "cases": [{"stdin": "", "stdout": ""}]}])
@pytest.mark.parametrize(
    "said",
    [
        PROGRAM,
        f"```python\n{PROGRAM}```",
        f"Here:\n```python\n{PROGRAM}```\nDone.",
        f"<think>hm</think>\n{PROGRAM}",
        f"<think>```python\npass\n```</think>\n```python\n{PROGRAM}```",
        f"{PROGRAM}<|im_end|>",
    ],
)
async def test_a_contract_that_runs_programs_is_given_the_one_in_an_answer(
    monkeypatch: pytest.MonkeyPatch, scoring: dict[str, Any], said: str
) -> None:
    """A chat model writes words and fences around it, which are no program."""
    assert await _judged(monkeypatch, scoring, said) == PROGRAM


async def test_a_contract_that_judges_texts_is_given_all_that_was_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """It leaves reasoning out itself."""
    said = f"<think>hm</think>\n```python\n{PROGRAM}```"
    assert await _judged(monkeypatch, TEXT, said) == said


def test_a_judge_is_shown_all_that_was_observed() -> None:
    """Whatever the policy says, or lets the environment say, about the end of a reasoning."""
    verification = {"method": "llm_judge", "model": "m", "rubric": "Did the tests pass?"}
    task = task_of({"name": "t", "version": "1.0.0", "instruction": "do it", "verification": verification})
    environment = TaskEnvironment(task, acting="tools", seconds=10.0)
    noise = "\x01" * 30_000 + " </think> [/THINK] <|END_THINKING|> "
    environment._told = ["<think>hm</think>I run them.", "3 failed", "I look.", noise, f"<think>{'x' * 600}</think>ok"]
    shown = environment._conversation()
    assert final_answer(shown) == shown
    assert [json.loads(line) for line in shown.split("\n")] == [
        {"said": "I run them."}, {"observed": "3 failed"}, {"said": "I look."}, {"observed": noise}, {"said": "ok"},
    ]  # fmt: skip


def test_a_verification_that_waits_is_told_from_a_slow_one() -> None:
    """By the time for which it was at work, or waited for a processor."""
    verification = {"method": "script", "script": {"source": "#!/bin/sh\ntrue\n"}, "timeout": 20}
    task = task_of({"name": "t", "version": "1.0.0", "instruction": "do it", "verification": verification})
    environment = TaskEnvironment(task, acting="tools", seconds=10.0)
    assert isinstance(environment._overdue(1.0), StillWaitingError)
    assert not isinstance(environment._overdue(19.0), StillWaitingError)


async def test_a_tools_command_has_no_more_time_than_the_episode() -> None:
    """It is stopped, and the policy told so; else the environment was late, which was the policy's fault."""
    verification = {"method": "env_flag", "expected": "x"}
    task = task_of({"name": "t", "version": "1.0.0", "instruction": "do it", "verification": verification})
    for left, most in ((1e6, 30.0), (20.0, 18.0)):
        environment = TaskEnvironment(task, acting="tools", seconds=left)
        environment._opened = Workplace(sandbox=cast(Any, None), directory="/w", command_seconds=30.0)
        environment._ends_at = time.monotonic() + left
        assert (await environment.step("done")).done
        assert environment.at.command_seconds <= most


async def _judged(monkeypatch: pytest.MonkeyPatch, scoring: dict[str, Any], said: str) -> Candidate:
    seen: list[Candidate] = []

    async def judged(candidate: Candidate, judged_by: Mapping[str, Any], **options: Any) -> Reward:
        seen.append(candidate)
        return Reward(value=1.0)

    monkeypatch.setattr(task_episodes, "judged", judged)
    verification = {"method": "scoring", "scoring": scoring}
    task = task_of({"name": "t", "version": "1.0.0", "instruction": "do it", "verification": verification})
    environment = TaskEnvironment(task, acting="text", seconds=10.0)
    await environment.step(said)
    assert (await environment.outcome()).value == 1.0
    return seen[0]
