"""Calibrations of contracts whose right answers are not in Python: what pays for nothing is found there, too."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from battery_world import Source, scored_alone
from real_sandboxes import source

from harena.scoring import load_scenarios
from harena.scoring.battery import Target, rendered
from harena.scoring.battery.forgery import Forgery
from harena.scoring.calibration import Calibration

__all__ = ["source"]  # a fixture
pytestmark = pytest.mark.asyncio(loop_scope="module")

CASES = [{"stdin": "1 2\n", "stdout": "yes\n"}, {"stdin": "2 4\n", "stdout": "yes\n"}]
GOLDS = {
    "main.js": "console.log('yes')\n",
    "main.sh": "echo yes\n",
    "main.pl": 'print "yes\\n";\n',
    "main": "#!/bin/sh\necho yes\n",
}
CHECK = 'read -r w\n[ "$(sh ./run.sh </dev/null)" = yes ] || exit 1\necho "harena-proof $w"\n'
PRINTS = Forgery(name="prints", family="nothing", tries="Prints.", body="return 'yes'")


def calibration(entry: str, text: str, scoring: dict[str, Any]) -> Calibration:
    row = {"id": "one", "candidate": {"files": {entry: text}, "entry": entry}, "scoring": scoring}
    return Calibration(load_scenarios([{**row, "limits": {"timeout_seconds": 5.0}}]), gold_runs=2)


async def report(source: Source, planned: Calibration, roles: set[str]) -> dict[str, Any]:
    """What the trials of these roles say; every other one is stated to have failed."""
    places = asyncio.Semaphore(4)

    async def run(row: dict[str, Any]) -> dict[str, Any]:
        if row["id"].split("/")[1] not in roles:
            return {"scenario_id": row["id"], "score": 0.0, "passed": False, "validity": "valid"}
        async with places:
            result = await scored_alone(source, load_scenarios([row]).scenarios[0])
        return {"scenario_id": row["id"], "score": result.score, "passed": result.passed, "validity": result.validity}

    made: dict[str, Any] = planned.report(await asyncio.gather(*map(run, planned.rows)))["scenarios"][0]
    return made


@pytest.mark.parametrize("entry", GOLDS)
async def test_an_answer_without_a_thought_is_found_in_every_language(source: Source, entry: str) -> None:
    """The stubs were Python in a file of JavaScript, none of them ran, and such a contract was called fit."""
    planned = calibration(entry, GOLDS[entry], {"type": "stdio", "cases": CASES})
    found = await report(source, planned, {"gold", "empty", "constant"})
    assert (found["verdict"], found["constants"]["passed"]) == ("not_fit", ["prints 'yes'"]), found["faults"]


async def test_a_forgery_runs_where_a_command_starts_a_script(source: Source) -> None:
    """As a shell script that starts it."""
    scoring = {"type": "command", "command": ["bash", "check.sh"], "files": {"check.sh": CHECK}}
    planned = calibration("run.sh", "echo yes\n", scoring)
    found = await report(source, planned, {"gold", "empty", "constant"})
    assert (found["verdict"], found["constants"]["passed"]) == ("not_fit", ["prints 'yes'"]), found["faults"]
    scenario = planned.subjects[0].scenario
    forged = await scored_alone(source, scenario, rendered(PRINTS, Target.of(scenario)))
    assert forged.score == 1.0, forged.detail


async def test_fit_is_not_said_where_no_forgery_can_be_a_candidate(source: Source) -> None:
    """A library of JavaScript that a command loads."""
    check = (
        "const w = require('fs').readFileSync(0, 'utf8').split('\\n')[0]\n"
        "if (require('./lib.js').f() === 1) console.log('harena-proof', w)\n"
    )
    scoring = {"type": "command", "command": ["node", "check.js"], "files": {"check.js": check}}
    found = await report(source, calibration("lib.js", "exports.f = () => 1\n", scoring), {"gold", "empty"})
    assert (found["gold"]["passed"], found["empty_score"], found["verdict"]) == (2, 0.0, "not_judged")
    assert "forgeries are programs in Python, and its candidate is lib.js" in found["why"]
