"""MBPP in its four shapes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from data_set_rows import MBPP, MBPP_FUSION, MBPP_SANITISED, mistakes_of, only, written

from harena.core.results import Trust
from harena.scoring.contracts.contract import CommandContract, TestsContract
from harena.scoring.formats import import_scenarios

PLUS_TEST = (
    "import numpy as np\n\ndef is_floats(x):\n    return False\n\n"
    "def assertion(out, exp, atol):\n    exact_match = out == exp\n    assert exact_match\n\n"
    "inputs = [[1, 2], [0.1, 0.2]]\nresults = [3, 0.3]\n"
    "for i, (inp, exp) in enumerate(zip(inputs, results)):\n    assertion(add(*inp), exp, 0)\n"
)


def checks_of(row: dict[str, Any]) -> TestsContract:
    contract = only([row]).scoring
    assert isinstance(contract, TestsContract)
    return contract


def test_full_rows_have_asserts_of_one_function(tmp_path: Path) -> None:
    """Which is the entry point; the statement shows the asserts, and the challenge tests are left out."""
    batch = import_scenarios(
        written(tmp_path / "mbpp.jsonl", [MBPP]),
        candidates=written(tmp_path / "samples.jsonl", [{"task_id": 902, "completion": "def shared(a, b): ..."}]),
    )
    (scenario,) = batch.scenarios
    assert (batch.form, scenario.id) == ("mbpp", "902/1")
    assert scenario.candidate.source == "def shared(a, b): ..."
    contract = scenario.scoring
    assert isinstance(contract, TestsContract)
    assert contract.entry_point == "shared"
    assert [(check.expected, check.comparison) for check in contract.checks] == [((4,), "members"), ((), None)]
    assert scenario.statement.endswith("\n".join(MBPP["test_list"]))


def test_sanitised_and_fusion_rows() -> None:
    """Imports of the tests are not needed by checks; labels may be JSON text."""
    sanitised = checks_of(MBPP_SANITISED)
    assert (sanitised.checks[0].rel_tol, sanitised.checks[0].comparison) == (1e-6, "close_floats")
    assert checks_of(MBPP_FUSION).entry_point == "add"


def test_plus_rows_are_read_from_their_lists() -> None:
    """Beside which the asserts of `test_list` say nothing more."""
    contract = checks_of({**MBPP_SANITISED, "test": PLUS_TEST})
    assert [(check.args, check.expected) for check in contract.checks] == [((1, 2), 3), ((0.1, 0.2), 0.3)]
    assert (contract.entry_point, contract.comparison) == ("add", "close_floats")
    sets = PLUS_TEST.replace("exact_match = out == exp", "exact_match = set(out) == set(exp)")
    assert checks_of({**MBPP_SANITISED, "test": sets}).comparison == "members"


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"test_list": ["assert add(1, 2) == len([0, 0, 0])"]}, "test_list[0]: "),
        ({"test_list": ["assert add(1, 2) == 3", "assert sub(1, 2) == -1"]}, "2 functions: add, sub"),
        ({"test_setup_code": "class Pair:\n    pass"}, "does more than import"),
        ({"test": PLUS_TEST.replace("exact_match = out == exp", "exact_match = out >= exp")}, "a way of its own"),
        ({"test": PLUS_TEST.replace("exp, 0)", "ref(*inp), 0)")}, "is not a loop"),
        ({"test": PLUS_TEST.replace("for i", "inputs.append([5, 5])\nresults.append(9)\nfor i")}, "is not a loop"),
        ({"test": PLUS_TEST.replace("for i", "results += [9]\nfor i")}, "is not a loop"),
        ({"test": "assert add(5, 5) == 10\n" + PLUS_TEST}, "is not a loop"),
        ({"test": PLUS_TEST.replace("zip(inputs, results)", "zip(inputs[:1], results)")}, "is not a loop"),
        ({"test": PLUS_TEST + "else:\n    assert add(5, 5) == 10\n"}, "is not a loop"),
        ({"test": PLUS_TEST.replace("assert exact_match", "assert exact_match or exp")}, "a way of its own"),
    ],
)
def test_asserts_that_must_be_run_say_why_and_what_crosses_is_shared(fields: dict[str, Any], why: str) -> None:
    """Set-up, asserts, and nothing else. With classes of the set-up, which do not cross, the candidate has a sandbox of
    its own."""
    scenario = only([{**MBPP_SANITISED, **fields}])
    assert isinstance(scenario.scoring, CommandContract)
    is_apart = "test_setup_code" in fields
    assert scenario.scoring.trust is (Trust.SEPARATE if is_apart else Trust.SHARED)
    assert ("shared_because" in scenario.metadata) is not is_apart
    assert is_apart or why in scenario.metadata["shared_because"]
    if "test" not in fields:
        assert str(scenario.scoring.asserts).startswith("import math\n")
    needs_its_classes = "test_setup_code" in fields
    assert bool(scenario.scoring.calls) is not needs_its_classes


@pytest.mark.parametrize(
    ("fields", "field", "message"),
    [
        ({"test_list": []}, "test_list", "is required: a list of asserts"),
        ({"test_list": [1]}, "test_list", "must be a list of texts"),
        ({"test_list": ["assert ("]}, "test_list", "[0] cannot be read: it is not Python"),
        ({"text": 3}, "text", "must be text, not 3"),
        ({"test_setup_code": []}, "test_setup_code", "must be text, not a list"),
        ({"labels": "{"}, "labels", "is not JSON"),
        ({"code": 1}, "code", "must be text, not 1"),
    ],
)
def test_each_wrong_field_is_named_with_its_line(
    tmp_path: Path, fields: dict[str, Any], field: str, message: str
) -> None:
    """File, line, field, and what to do."""
    ((line, wrong, said),) = mistakes_of(written(tmp_path / "rows.jsonl", [{**MBPP, **fields}]))
    assert (line, wrong) == (1, field)
    assert message in said
