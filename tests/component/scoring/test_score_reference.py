"""The `reference` contract: what the trusted solution says, and how often it is asked."""

from __future__ import annotations

from typing import Any

import pytest

from harena.core.models import SandboxSpec
from harena.core.results import Reason, RunResult, Validity
from harena.scoring import load_scenarios, score_scenario
from harena.scoring.contracts.contract import ReferenceContract
from harena.scoring.scorers import reference as score_reference
from harena.scoring.scorers.fair_time import Pressure
from harena.scoring.scorers.reference import Answers, with_answers
from sandbox_source import SandboxSource

CONTRACT: dict[str, Any] = {
    "type": "reference",
    "entry_point": "half",
    "solution": "def half(x):\n    return x / 2\n",
    "inputs": [{"args": [3]}, {"args": [1], "weight": 3.0, "hidden": True}],
    "comparison": "close_floats",
    "check_timeout_seconds": 2.0,
    "slowdown": 4.0,
    "partial_credit": True,
}


async def scored(source: SandboxSource, candidate: str, **changed: Any) -> RunResult:
    (scenario,) = load_scenarios([{"id": "one", "candidate": candidate, "scoring": {**CONTRACT, **changed}}]).scenarios
    return await score_scenario(scenario, sandboxes=source, base_spec=SandboxSpec(), timeout_seconds=20)


async def test_the_solution_is_asked_once_for_all_candidates() -> None:
    """In a sandbox of its own; then its answers are the expected values."""
    source = SandboxSource()
    solution = CONTRACT["solution"] + "# asked once\n"
    right = await scored(source, "def half(x): return 0.5 * x\n", solution=solution)
    assert (right.score, right.checks_planned, source.made) == (1.0, 2, 2)
    part = await scored(source, "def half(x): return 0.5\n", solution=solution)
    assert (part.score, part.reason, source.made) == (0.75, Reason.PARTIAL, 3)
    assert (await scored(source, "def half(x): return 0.5\n", solution=solution + "#\n")).score == 0.75
    assert source.made == 5


async def test_checks_are_made_once_for_a_contract() -> None:
    """Candidates that share one contract take it to no more work for its inputs than the first."""
    made: list[Any] = []

    class Counted(tuple[Any, ...]):
        def __iter__(self) -> Any:
            made.append(None)
            return super().__iter__()

    source = SandboxSource()
    contract = {**CONTRACT, "solution": CONTRACT["solution"] + "# its inputs are looked at once\n"}
    rows = [{"id": f"{n}", "problem": "p", "candidate": f"def half(x): return x / {n}\n"} for n in (2, 3, 4)]
    batch = load_scenarios({"problems": [{"id": "p", "scoring": contract}], "scenarios": rows})
    shared = batch.scenarios[0].scoring
    assert isinstance(shared, ReferenceContract)
    assert all(scenario.scoring is shared for scenario in batch.scenarios)
    object.__setattr__(shared, "inputs", Counted(shared.inputs))
    looks = []
    for scenario in batch.scenarios:
        made.clear()
        await score_scenario(scenario, sandboxes=source, base_spec=SandboxSpec(), timeout_seconds=20)
        looks.append(len(made))
    assert looks[0] > 0
    assert looks[1:] == [0, 0]


@pytest.mark.parametrize(
    ("solution", "said"),
    [
        ("def half(x):\n    return 1 / (x - 1)\n", "`solution` raised for inputs[1]"),  # which is hidden
        (
            "def half(x):\n    return object()\n",
            "`solution` returned what cannot cross the border for inputs[0]: object",
        ),
        ("def third(x):\n    return x\n", "`solution` cannot be loaded"),
        ("import os\ndef half(x):\n    os._exit(0)\n", "`solution` gave no answer to inputs[0], (3,)"),
    ],
)
async def test_a_solution_that_gives_no_answer_is_the_contracts_fault(solution: str, said: str) -> None:
    """It is said to what."""
    result = await scored(SandboxSource(), "def half(x): return 0\n", solution=solution)
    assert (result.score, result.validity, result.reason) == (None, Validity.INVALID, Reason.SCORER_ERROR)
    assert said in result.detail


def test_a_call_may_take_a_multiple_of_the_solutions_longest() -> None:
    """If that is more than the limit."""
    contract = ReferenceContract.model_validate(CONTRACT)
    quick, slow = (with_answers(contract, Answers((1.5, 0.5), longest)) for longest in (0.1, 3.0))
    assert (quick.check_timeout_seconds, slow.check_timeout_seconds) == (2.0, 12.0)
    assert [(check.expected, check.weight, check.hidden) for check in slow.checks] == [
        (1.5, 1.0, False),
        (0.5, 3.0, True),
    ]


BUSY = """\
import time
def half(x):
    used = time.process_time()
    while time.process_time() - used < 0.2: pass
    return x / 2
"""


@pytest.mark.parametrize("inputs", [[{"args": [3]}], [{"args": [3]}, {"args": [1]}]])
async def test_the_first_call_counts_too(inputs: list[Any]) -> None:
    """Its answer comes together with the word that the solution is loaded."""
    limits = {"check_timeout_seconds": 0.1, "slowdown": 20.0}
    result = await scored(SandboxSource(), BUSY, solution=BUSY, inputs=inputs, **limits)
    assert (result.score, result.reason) == (1.0, Reason.PASSED)
    assert next(reversed(score_reference._checks._values.values()))[0].check_timeout_seconds == pytest.approx(
        4.0, rel=0.9
    )


@pytest.mark.parametrize(("stalls", "longest"), [(0.0, 8.0), (1.0, 0.5)])
async def test_the_load_of_others_lengthens_no_limit(
    monkeypatch: pytest.MonkeyPatch, stalls: float, longest: float
) -> None:
    """On a host under pressure the solution's processor time is its time; what it costs alone is never more."""

    class Told:
        """A trusted program that took 8 s, of which it ran for half a second."""

        took = (8.0, 0.5)

        async def load(self, first: object, limit_seconds: float) -> bytes:
            return b"token"

        async def ask(self, *asked: object) -> tuple[bytes, bytes]:
            monkeypatch.setattr(Pressure, "_now", staticmethod(lambda: (8.0, 8.0 * stalls)))
            return b"v", b"N"

    monkeypatch.setattr(Pressure, "_now", staticmethod(lambda: (0.0, 0.0)))
    contract = ReferenceContract.model_validate({**CONTRACT, "inputs": [{"args": [3]}]})
    questions = with_answers(contract, Answers((None,), 0.0))
    answers = await score_reference._answers_of(Told(), contract.inputs, questions.checks)  # type: ignore[arg-type]
    assert answers == Answers((None,), longest)
