"""HumanEval and HumanEval+."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from data_set_rows import EVALPLUS, HUMANEVAL, HUMANEVAL_PLUS_TEST, MBPP, mistakes_of, only, written

from harena.core.results import Trust
from harena.scoring.compare import compare_values
from harena.scoring.contracts.contract import CommandContract, ReferenceContract, TestsContract
from harena.scoring.formats import import_scenarios
from harena.scoring.values import from_python


def changed(row: dict[str, Any], **fields: Any) -> list[dict[str, Any]]:
    return [{name: value for name, value in {**row, **fields}.items() if value is not ...}]


@pytest.mark.parametrize("name", ["HumanEval.jsonl", "HumanEval.jsonl.gz", "HumanEval.json"])
def test_the_data_set_and_samples(tmp_path: Path, name: str) -> None:
    """A completion follows the prompt, a solution is whole, and each is a scenario of its problem."""
    samples = [
        {"task_id": "HumanEval/900", "completion": "    return x + x\n"},
        {"task_id": "HumanEval/900", "solution": "def double(x): return 2 * x\n"},
    ]
    batch = import_scenarios(
        written(tmp_path / name, [HUMANEVAL]), candidates=written(tmp_path / "samples.jsonl", samples)
    )
    assert batch.form == "humaneval"
    first, second = batch.scenarios
    assert (first.id, second.id) == ("HumanEval/900/1", "HumanEval/900/2")
    assert first.candidate.source == HUMANEVAL["prompt"] + "    return x + x\n"
    assert second.candidate.source == "def double(x): return 2 * x\n"
    assert first.problem_id == second.problem_id == "HumanEval/900"
    assert first.scoring is second.scoring
    assert first.expected is None


def test_check_becomes_calls_with_known_answers() -> None:
    """The trust is `separate`: no expected value is ever beside the candidate."""
    scenario = only([HUMANEVAL])
    contract = scenario.scoring
    assert isinstance(contract, TestsContract)
    assert contract.trust is Trust.SEPARATE
    assert (contract.entry_point, contract.comparison, contract.timeout_seconds) == ("double", "equal", 1.5)
    assert [(check.args, check.expected) for check in contract.checks] == [((2,), 4), (([1],), [1, 1])]
    assert "shared_because" not in scenario.metadata


def test_without_answers_the_rows_own_solution_is_known_to_pass() -> None:
    """And an empty one is known not to."""
    oracle, nop = only([HUMANEVAL]), only([HUMANEVAL], candidates="nop")
    assert oracle.id == "HumanEval/900/oracle"
    assert oracle.candidate.source == HUMANEVAL["prompt"] + HUMANEVAL["canonical_solution"]
    assert oracle.expected is not None
    assert oracle.expected.passed
    assert nop.candidate.is_empty
    assert nop.expected is not None
    assert not nop.expected.passed


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("    for n in range(9):\n        assert candidate(n) == n * 2\n", "line 2 of the tests"),
        ("    assert candidate(1) == candidate(1)\n", "is not a literal"),
        ("    pass\n", "no assert"),
    ],
)
def test_a_check_that_must_be_run_is_shared_and_says_why(body: str, why: str) -> None:
    """The data set's own code, in a sandbox."""
    scenario = only(changed(HUMANEVAL, test=f"def check(candidate):\n{body}"))
    contract = scenario.scoring
    assert isinstance(contract, CommandContract)
    assert contract.trust is Trust.SHARED
    assert contract.calls == {"_candidate": "double"}
    assert str(contract.asserts).startswith(HUMANEVAL["prompt"] + "\n\ndouble = _candidate\n")
    assert str(contract.asserts).endswith(f"def check(candidate):\n{body}\n\ncheck(_candidate)\n")
    assert why in scenario.metadata["shared_because"]


def test_a_prompt_that_is_no_program_does_not_stand_before_the_tests() -> None:
    """Chat prompts, for instance."""
    row = changed(HUMANEVAL, prompt="Write double(x)!", test="def check(candidate):\n    for n in []: pass\n")
    contract = only(row, candidates=[{"solution": "def double(x): ..."}]).scoring
    assert isinstance(contract, CommandContract)
    assert "Write" not in str(contract.asserts)


def test_test_code_of_humaneval_plus_is_read_from_its_lists() -> None:
    """Floats need only be close; numpy, which the code imports, is not needed."""
    contract = only([HUMANEVAL_PLUS_TEST]).scoring
    assert isinstance(contract, TestsContract)
    assert [(check.args, check.expected) for check in contract.checks] == [((2,), 4), ((0.1,), 0.2), (("a",), "aa")]
    assert (contract.comparison, contract.rel_tol, contract.abs_tol) == ("close_floats", 1e-7, 1e-6)


def test_test_code_of_humaneval_plus_that_computes_is_run() -> None:
    """A reference function in the tests, for instance."""
    test = HUMANEVAL_PLUS_TEST["test"].replace("candidate(*inp), exp, 0", "candidate(*inp), ref(*inp), 0")
    assert only(changed(HUMANEVAL, test=test)).scoring.trust is Trust.SHARED
    longer = HUMANEVAL_PLUS_TEST["test"].replace("results = [4,", "results = [")
    assert "two lists of one length" in only(changed(HUMANEVAL, test=longer)).metadata["shared_because"]


@pytest.mark.parametrize(
    ("fields", "field", "message"),
    [
        ({"prompt": 3}, "prompt", "must be text, not 3"),
        ({"prompt": " "}, "prompt", "must not be empty"),
        ({"test": None}, "test", "is required"),
        ({"test": "def check(:"}, "test", "cannot be scored: asserts: is not Python"),
        ({"entry_point": "a b"}, "entry_point", "must be the name of a function"),
        ({"canonical_solution": []}, "canonical_solution", "must be text, not a list"),
        ({"canonical_solution": ...}, "", "holds no solution of its own; give answers with --candidates"),
    ],
)
def test_each_wrong_field_is_named_with_its_line(
    tmp_path: Path, fields: dict[str, Any], field: str, message: str
) -> None:
    """File, line, field, and what to do."""
    rows = [HUMANEVAL, *changed({**HUMANEVAL, "task_id": "HumanEval/901"}, **fields)]
    ((line, wrong, said),) = mistakes_of(written(tmp_path / "rows.jsonl", rows))
    assert (line, wrong) == (2, field)
    assert message in said


def test_evalplus_expects_what_the_canonical_solution_returns() -> None:
    """Which is computed in a sandbox, when it is scored."""
    batch = import_scenarios([EVALPLUS])
    contract = batch.scenarios[0].scoring
    assert batch.form == "evalplus"
    assert isinstance(contract, ReferenceContract)
    assert contract.trust is Trust.SEPARATE
    assert contract.solution == EVALPLUS["prompt"] + EVALPLUS["canonical_solution"]
    assert [inputs.args for inputs in contract.inputs] == [(2,), (0,), (0.1,), ([1],)]
    assert (contract.check_timeout_seconds, contract.slowdown, contract.abs_tol) == (4.0, 4.0, 1e-6)
    tolerant = only(changed(EVALPLUS, atol=0.01)).scoring
    assert isinstance(tolerant, ReferenceContract)
    assert tolerant.abs_tol == 0.01


def test_any_root_of_a_polynomial_is_right() -> None:
    """It is put into the polynomial."""
    scenario = only(changed(EVALPLUS, entry_point="find_zero", base_input=[[[1, 2]]], plus_input=[[[-6, 11, -6, 1]]]))
    contract = scenario.scoring
    assert isinstance(contract, CommandContract)
    assert "[[1, 2], [-6, 11, -6, 1]]" in str(contract.asserts)
    assert "any root" in scenario.metadata["shared_because"]


@pytest.mark.parametrize(
    ("fields", "field", "message"),
    [
        ({"base_input": [1]}, "base_input", "must be a list of argument lists"),
        ({"base_input": "[[1]"}, "base_input", "is not JSON"),
        ({"base_input": [], "plus_input": {}}, "base_input", "must not be empty"),
        ({"plus_input": 3}, "plus_input", "must be a list of argument lists, not 3"),
        ({"atol": "x"}, "atol", "must be a number, at least 0, not 'x'"),
        ({"canonical_solution": "    return (\n"}, "base_input", "solution: is not Python"),
        ({"entry_point": "find_zero"}, "base_input", "list of coefficients"),
        ({"task_id": "Mbpp/252", "base_input": [["no"]]}, "base_input", "does not have the arguments of Mbpp/252"),
    ],
)
def test_each_wrong_field_of_evalplus_is_named(fields: dict[str, Any], field: str, message: str) -> None:
    """In rows made in Python the place is the row's index."""
    ((line, wrong, said),) = mistakes_of(changed(EVALPLUS, **fields))
    assert (line, wrong) == (None, f"[0].{field}")
    assert message in said


@pytest.mark.parametrize(
    ("task", "given", "restored"),
    [
        (2, [[3, 4], [5]], ((3, 4), (5,))),
        (63, [[[1, 2], [3, 4]]], ([(1, 2), (3, 4)],)),
        (75, [[[6, 24]], 6], ([(6, 24)], 6)),
        (106, [[5], [9, 10]], ([5], (9, 10))),
        (124, ["1", "2j"], (1.0, 2j)),
        (252, ["1+2j"], (1 + 2j,)),
        (259, [[[1, 3]], [[6, 7]]], (((1, 3),), ((6, 7),))),
        (278, [[1, [2, 3], 4]], ((1, (2, 3), 4),)),
        (307, [[1, []], 0, 50], ((1, []), 0, 50)),
        (580, [[4, [7]]], ((4, (7,)),)),
        (600, [[1]], ([1],)),
    ],
)
def test_arguments_of_mbpp_plus_are_what_they_were(task: int, given: list[Any], restored: tuple[Any, ...]) -> None:
    """JSON has no tuples and no complex numbers."""
    fields = {"task_id": f"Mbpp/{task}", "base_input": [given], "plus_input": []}
    contract = only(changed(EVALPLUS, canonical_solution="def double(x): return x", **fields)).scoring
    assert isinstance(contract, ReferenceContract)
    assert contract.inputs[0].args == restored
    assert contract.solution == "def double(x): return x"


CHECK = "def check(candidate):\n    assert candidate(2) == 4\n"


@pytest.mark.parametrize(
    "test",
    [
        CHECK + "\nassert double(3) == 6\n",
        CHECK + "\nfor n in range(9):\n    assert double(n) == 2 * n\n",
        "def check(candidate):\n    assert candidate(9) == 18\nfirst = check\n" + CHECK,
        "def check(candidate):\n    assert candidate(9) == 18\n" + CHECK,
        "@more\n" + CHECK,
        CHECK + "\ncheck = more(check)\n",
        CHECK + "\nfrom more import check\n",
        "def sorted(x):\n    return 0\n" + CHECK,
        "X = more()\n" + CHECK,
    ],
)
def test_nothing_beside_check_is_left_out(test: str) -> None:
    """It could be what the candidate fails; so the whole test code is run."""
    scenario = only(changed(HUMANEVAL, test=test))
    assert isinstance(scenario.scoring, CommandContract)
    assert test in str(scenario.scoring.asserts)


@pytest.mark.parametrize(
    "test", ["'Tests.'\nimport math\nMETADATA = {'author': 'x'}\n" + CHECK, CHECK + "\ncheck(double)\n"]
)
def test_what_checks_nothing_may_stand_beside_check(test: str) -> None:
    """Imports, a docstring, literals, and the call that runs it."""
    assert only(changed(HUMANEVAL, test=test)).scoring.trust is Trust.SEPARATE


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    for i", "    inputs.append([5])\n    results.append(10)\n    for i"),
        ("    for i", "    inputs += [[5]]\n    for i"),
        ("    for i", "    assert candidate(7) == 14\n    for i"),
        ("exp, 0)\n", "exp, 0)\n    else:\n        assert candidate(7) == 14\n"),
        ("exp, 0)\n", "exp, 0)\n    assert candidate(7) == 14\n"),
        ("enumerate(zip(inputs, results))", "enumerate(zip(inputs * 2, results))"),
        ("candidate(*inp)", "candidate(*inp[:1])"),
        ("exp, 0)", "exp, TOLERANCE)"),
        ("    assert exact_match\n", "    assert exact_match and type(out) is type(exp)\n"),
        ("def assertion", "@more\ndef assertion"),
        ("\ndef check", "\ndef assertion(out, exp, atol):\n    assert out is exp\n\ndef check"),
    ],
)
def test_a_loop_of_humaneval_plus_that_is_not_the_known_one_is_run(old: str, new: str) -> None:
    """Whatever is not read could be what fails."""
    assert old in HUMANEVAL_PLUS_TEST["test"]
    scenario = only(changed(HUMANEVAL, test=HUMANEVAL_PLUS_TEST["test"].replace(old, new)))
    assert isinstance(scenario.scoring, CommandContract)


CLOSE = "np.testing.assert_allclose(out, exp, rtol=1e-07, atol=atol)"
TYPED = (
    "assert type(out) == type(exp)\n        if isinstance(exp, (list, tuple)):\n"
    "            assert len(out) == len(exp)\n        assert np.allclose(out, exp, rtol=1e-07, atol=atol)"
)


@pytest.mark.parametrize(
    ("close", "tolerance", "expected", "right", "wrong"),
    [
        (CLOSE, "0", [0.5, 1.5], [(0.5, 1.5), [0.5000001, 1.5], [0.5, 3 / 2]], [(0.5,), (0.5, 1.6), {0.5, 1.5}, 0.5]),
        (CLOSE, "0", (0.5,), [[0.5], (0.5,)], [[0.6], []]),
        (CLOSE, "0", [], [[], ()], [[0.5], 0]),
        (CLOSE, "0", [1, 2], [[1, 2], [1.0, 2.0]], [(1, 2), [1.0000001, 2]]),
        (CLOSE, "0", [[0.5]], [[[0.5]]], [([0.5],), [(0.5,)]]),
        (CLOSE, "0", ["a", 0.5], [["a", 0.5]], [("a", 0.5)]),
        (CLOSE, "0", 5, [5, 5.0], [5.0000001, [5]]),
        (CLOSE, "1e-4", 5, [5, 5.00001], [5.1, 6]),
        (CLOSE, "1e-4", [1, [2]], [[1, [2]], (1.00001, (2,))], [(1, (3,)), [1, 2]]),
        (CLOSE, "1e-4", 2**60, [2**60], [2**60 + 1]),
        (TYPED, "0", [0.5, 1.5], [[0.5, 1.5], [0.5000001, 1.5]], [(0.5, 1.5)]),
        (TYPED, "1e-4", [1, 2], [[1, 2]], [(1, 2)]),
    ],
)
def test_assertion_of_evalplus_says_whether_tuples_are_lists(
    close: str, tolerance: str, expected: Any, right: list[Any], wrong: list[Any]
) -> None:
    """Where numpy compares, only values count; where numbers are exact, or types are compared, a list is no tuple."""
    assertion = (
        "def assertion(out, exp, atol):\n    exact_match = out == exp\n"
        "    if atol == 0 and is_floats(exp):\n        atol = 1e-6\n"
        f"    if not exact_match and atol != 0:\n        {close}\n    else:\n        assert exact_match\n"
    )
    looped = "for i, (inp, exp) in enumerate(zip(inputs, results)):\n"
    lists = f"inputs = [[1]]\nresults = [{expected!r}]\n"
    called = f"    assertion(NAME(*inp), exp, {tolerance})\n"
    body = (lists + looped + called).replace("NAME", "candidate").splitlines()
    check = "def check(candidate):\n" + "".join(f"    {line}\n" for line in body)
    rows = [
        changed(HUMANEVAL, test=assertion + check),
        changed(MBPP, test=assertion + lists + looped + called.replace("NAME", "shared")),
    ]
    for row in rows:
        contract = only(row).scoring
        assert isinstance(contract, TestsContract)
        (check_made,) = contract.checks
        comparison = check_made.comparison or contract.comparison
        said = [
            compare_values(answer, check_made.expected, comparison, contract.tolerance(check_made))
            for answer in map(from_python, (*right, *wrong))
        ]
        assert said == [True] * len(right) + [False] * len(wrong)


CODER = 'def encode(s):\n    return s[::-1]\n\ndef double(s):\n    """decode"""\n'


def test_a_value_of_the_tests_may_have_a_builtins_name() -> None:
    """`str = ...` is text, and may be given to another process."""
    body = "    for n in range(3):\n        str = 'a' * n\n        assert candidate(encode(str)) == str\n"
    contract = only(changed(HUMANEVAL, prompt=CODER, test=f"def check(candidate):\n{body}")).scoring
    assert isinstance(contract, CommandContract)
    assert contract.calls == {"_candidate": "double"}


def test_helpers_of_the_prompt_are_not_the_candidates_to_redefine() -> None:
    """Where tests share its process, they are defined again after it."""
    body = "    assert candidate(len) == encode('x')\n    for n in (): pass\n"
    contract = only(changed(HUMANEVAL, prompt=CODER, test=f"def check(candidate):\n{body}")).scoring
    assert isinstance(contract, CommandContract)
    assert not contract.calls
    assert str(contract.asserts).startswith("def encode(s):\n    return s[::-1]\n\ndef check")
