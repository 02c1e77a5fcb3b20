"""Every data set with calls or cases, over generated values: its own solution is paid, a constant is not.

Pure decisions: arguments and answers go through both halves of the codec, and comparison is the contract's. What no
contract of known answers can say (`command`) is for the integration tests.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import data_set_rows as sets
import pytest
from hypothesis import HealthCheck, assume, event, given, settings
from hypothesis import strategies as st

from harena.scoring import codec
from harena.scoring.compare import PYTHON_COMPARISONS, Tolerance, compare_output, compare_values
from harena.scoring.contracts.calls import Check
from harena.scoring.contracts.contract import ReferenceContract, StdioContract, TestsContract
from harena.scoring.formats import import_scenarios
from harena.scoring.guest import driver

Calls = list[tuple[Any, Any]]
Function = Callable[..., Any]
SOLUTION = "def last(a, b):\n    return b if a is None else a\n"
SAYS_ITS_INPUT = "import sys\nprint(sys.stdin.read())\n"
NO_ANSWER = "no answer at all"

leaves = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.integers(-(10**40), 10**40),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=6),
)
json_values = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab é", max_size=3), inner, max_size=3)
)
calls = st.lists(st.tuples(json_values, json_values), min_size=1, max_size=4)


hashable = st.recursive(leaves | st.binary(max_size=3), lambda inner: st.lists(inner, max_size=2).map(tuple))
literals = st.recursive(
    hashable,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=2).map(tuple)
        | st.sets(hashable, min_size=1, max_size=3)
        | st.dictionaries(hashable, inner, max_size=3)
    ),
)
"""what is written in Python"""


def last(a: Any, b: Any) -> Any:
    """What SOLUTION defines."""
    return b if a is None else a


def humaneval(made: Calls) -> dict[str, Any]:
    """Asserts in a function."""
    asserts = "".join(f"    assert candidate({a!r}, {b!r}) == {last(a, b)!r}\n" for a, b in made)
    head, _, body = SOLUTION.partition("\n")
    prompt = f"{head}\n    '''The last.'''\n"
    return {**sets.HUMANEVAL, "prompt": prompt, "canonical_solution": body, "entry_point": "last",
            "test": f"def check(candidate):\n{asserts}"}  # fmt: skip


def evalplus(made: Calls) -> dict[str, Any]:
    """Inputs alone."""
    row = humaneval(made)
    del row["test"]
    inputs, half = [list(call) for call in made], len(made) // 2
    return {**row, "contract": "", "atol": 0, "base_input": inputs[:half], "plus_input": inputs[half:]}


def mbpp(made: Calls) -> dict[str, Any]:
    """Asserts in a list."""
    tests = [f"assert last({a!r}, {b!r}) == {last(a, b)!r}" for a, b in made]
    return {**sets.MBPP, "code": SOLUTION, "test_list": tests, "challenge_test_list": []}


def apps(made: Calls) -> dict[str, Any]:
    """Calls as JSON."""
    answers = {"fn_name": "last", "inputs": [list(call) for call in made], "outputs": [last(*call) for call in made]}
    return {**sets.APPS_CALL, "solutions": [SOLUTION], "input_output": answers, "starter_code": ""}


def livecodebench(made: Calls) -> dict[str, Any]:
    """Calls as lines of JSON."""
    cases = [
        {"input": "\n".join(map(json.dumps, call)), "output": json.dumps(last(*call)), "testtype": "functional"}
        for call in made
    ]
    return {**sets.LIVECODEBENCH_CALL, "public_test_cases": json.dumps(cases), "metadata": '{"func_name": "last"}',
            "starter_code": "class Solution:\n    def last(self, a, b):\n"}  # fmt: skip


def verification_info(made: Calls) -> dict[str, Any]:
    """Calls in a text of JSON."""
    cases = [
        {
            "input": json.dumps(call),
            "output": json.dumps(last(*call)),
            "type": "function_call",
            "fn_name": "last",
        }
        for call in made
    ]
    told = json.dumps({"language": "python", "test_cases": cases})
    return {
        **sets.VERIFICATION_INFO,
        "gold_standard_solution": f"```python\n{SOLUTION}```\n",
        "verification_info": told,
    }


CALLED = {made.__name__: made for made in (humaneval, evalplus, mbpp, apps, livecodebench, verification_info)}


RUN: dict[str, Callable[[list[str]], dict[str, Any]]] = {
    "apps": lambda told: {
        **sets.APPS, "solutions": [SAYS_ITS_INPUT], "input_output": json.dumps({"inputs": told, "outputs": told}),
    },
    "livecodebench": lambda told: {
        **sets.LIVECODEBENCH, "private_test_cases": "",
        "public_test_cases": json.dumps([{"input": line, "output": line, "testtype": "stdin"} for line in told]),
    },
    "codecontests": lambda told: {
        **sets.CODECONTESTS, "public_tests": {"input": told, "output": told},
        "private_tests": {"input": [], "output": []}, "solutions": {"language": [3], "solution": [SAYS_ITS_INPUT]},
    },
    "commonoj": lambda told: {
        **sets.COMMONOJ, "test": [{"input": {"stdin": line}, "output": {"stdout": line}} for line in told],
    },
    "verification_info": lambda told: {
        **sets.VERIFICATION_INFO,
        "verification_info": json.dumps({"language": "python", "test_cases": [
            {"input": line, "output": line, "type": "stdin_stdout", "fn_name": None} for line in told]}),
    },
}  # fmt: skip


def _answer(contract: TestsContract | ReferenceContract, args: Any, function: Function) -> Any:
    """What the host has of an answer."""
    given = driver.decode(codec.encode(args), 0)[0]
    return codec.decode(driver.encode(function(*given), contract.comparison in PYTHON_COMPARISONS))


def paid(contract: TestsContract | ReferenceContract, function: Function) -> bool:
    """Whether the function's answers are all right."""
    for check in contract.checks if isinstance(contract, TestsContract) else contract.inputs:
        tolerance, comparison = Tolerance(contract.rel_tol, contract.abs_tol), contract.comparison
        if isinstance(check, Check):
            wanted, comparison = check.expected, check.comparison or comparison
            assert check.rel_tol is check.abs_tol is None
        else:
            wanted = _answer(contract, check.args, last)
        if not compare_values(_answer(contract, check.args, function), wanted, comparison, tolerance):
            return False
    return True


def contract_of(row: dict[str, Any]) -> Any:
    """Of the row's scenario."""
    (scenario,) = import_scenarios([row], candidates="nop").scenarios
    return scenario.scoring


@pytest.mark.parametrize("name", CALLED)
@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=60)
@given(made=calls)
def test_calls_of_every_kind_of_value_are_paid_for_the_own_solution_alone(name: str, made: Calls) -> None:
    """Also where only some have null for an argument, or null for an answer."""
    # else a function that does nothing would be right, and the row is refused; APPS writes [answer] for an answer, too
    assume(any(last(*call) not in (None, [None]) for call in made))
    contract = contract_of(CALLED[name](made))
    if not isinstance(contract, TestsContract | ReferenceContract):
        assert contract.type == "command"
        event("in the tests' own process")
        return
    assert paid(contract, last)
    assert not paid(contract, lambda a, b: NO_ANSWER)
    assert not paid(contract, lambda a, b: None)


@pytest.mark.parametrize("name", ["humaneval", "mbpp"])
@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=60)
@given(made=st.lists(st.tuples(literals, literals), min_size=1, max_size=4))
def test_calls_that_are_written_in_python_are_paid_for_the_own_solution_alone(name: str, made: Calls) -> None:
    """Tuples, sets, bytes and keys of every kind."""
    contract = contract_of(CALLED[name](made))
    assert isinstance(contract, TestsContract)
    assert paid(contract, last)
    assert not paid(contract, lambda a, b: NO_ANSWER)


@pytest.mark.parametrize("name", RUN)
@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=60)
@given(made=calls)
def test_outputs_of_every_kind_of_value_are_paid_for_the_own_solution_alone(name: str, made: Calls) -> None:
    """A program that says what it is told; the rows hold a value as JSON in each line."""
    told = [json.dumps(last(*call), ensure_ascii=False) + "\n" for call in made]
    contract = contract_of(RUN[name](told))
    assert isinstance(contract, StdioContract)
    tolerance = Tolerance(contract.rel_tol, contract.abs_tol)
    for case in contract.cases:
        said = case.stdin.encode()
        assert compare_output(said, case.stdout, contract.comparison, tolerance)
        assert not compare_output(NO_ANSWER.encode(), case.stdout, contract.comparison, tolerance)
