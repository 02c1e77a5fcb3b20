"""By what a candidate's entry is run."""

from __future__ import annotations

from typing import Any

import pytest

from harena.core.models import SandboxSpec
from harena.core.results import Reason, RunResult, Validity
from harena.scoring import load_scenarios, score_scenario
from harena.scoring.scorers.languages import language_of
from sandbox_source import SandboxSource

STDIO = {"type": "stdio", "cases": [{"stdin": "20\n", "stdout": "42\n"}]}


def row(entry: str, source: str, scoring: dict[str, Any]) -> dict[str, Any]:
    return {"id": "one", "candidate": {"files": {entry: source}, "entry": entry}, "scoring": scoring}


async def scored(entry: str, source: str, scoring: dict[str, Any] = STDIO) -> RunResult:
    (scenario,) = load_scenarios([row(entry, source, scoring)]).scenarios
    return await score_scenario(scenario, sandboxes=SandboxSource(), base_spec=SandboxSpec(), timeout_seconds=20)


@pytest.mark.parametrize(
    ("entry", "source", "interpreter"),
    [
        ("main.py", "", "python"),
        ("main.py", "#!/bin/sh\n", "python"),
        ("main.sh", "", "bash"),
        ("main.sh", "#!/bin/sh\n", "sh"),
        ("main.sh", "#!/usr/bin/env python3\n", "bash"),
        ("a.b/main.js", "", "node"),
        ("main", "", "python"),
        ("main", "#!/usr/bin/env -S python3.11 -u\n", "python"),
        ("main", "#!/bin/dash -e\n", "sh"),
        ("main", "#!/usr/bin/perl\n", "perl"),
        ("main", "#!/opt/evil\n", "python"),
        ("main", "#!\n", "python"),
    ],
)
def test_the_ending_of_the_name_tells_the_language(entry: str, source: str, interpreter: str) -> None:
    """The first line does where there is no ending, and says which shell it is."""
    assert language_of(entry, source).interpreter == interpreter


async def test_a_shell_script_is_run_as_one() -> None:
    """By its name; its failure is its own."""
    assert (await scored("main.sh", "read -r n; echo $((2 * n + 2))\n")).score == 1.0
    assert (await scored("main.sh", "echo 41\n")).score == 0.0
    result = await scored("main.sh", "exit 127\n")
    assert (result.score, result.validity, result.reason) == (0.0, Validity.VALID, Reason.EXCEPTION)
    number = {"type": "numeric", "target": 42}
    assert (await scored("main.sh", "echo 42\n", number)).score == 1.0


async def test_an_interpreter_that_is_not_there_is_the_candidates_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    """It could choose one so that it had no score; what to do is told."""
    monkeypatch.setattr("harena.scoring.scorers.languages._BY_ENDING", {".rb": language_of("a.rb", "")})
    monkeypatch.setenv("PATH", "/nowhere")
    result = await scored("main.rb", "puts 42\n")
    assert (result.score, result.validity, result.reason) == (0.0, Validity.VALID, Reason.MISSING_ENTRY_POINT)
    assert "the image has no `ruby`" in result.detail


SCORER = {"type": "python", "source": "def score(run): return 1"}


@pytest.mark.parametrize("scoring", [STDIO, {"type": "numeric", "target": 1}, SCORER])
async def test_an_unknown_ending_is_the_candidates_choice(scoring: dict[str, Any]) -> None:
    """It has the lowest score, and ends no job of others; a text that nobody runs may have any name."""
    for contract in (scoring, {"type": "weighted", "parts": {"a": {"scoring": scoring}}}):
        result = await scored("main.cob", "DISPLAY 42.", contract)
        assert (result.score, result.validity, result.reason) == (0.0, Validity.VALID, Reason.MISSING_ENTRY_POINT)
        assert "'main.cob' cannot be run: its name ends in '.cob', and known are .py, .sh" in result.detail
    text = {"type": "string_check", "reference": "x", "operation": "eq"}
    assert (await scored("answer.txt", "x", text)).score == 1.0
