"""APPS, TACO, CodeContests, CommonOJ, verification_info and LiveCodeBench."""

from __future__ import annotations

import base64
import json
import os
import pickle
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import pytest
from data_set_rows import (
    APPS,
    APPS_CALL,
    CODECONTESTS,
    COMMONOJ,
    LIVECODEBENCH,
    LIVECODEBENCH_CALL,
    VERIFICATION_INFO,
    mistakes_of,
    only,
    written,
)

from harena.core.results import Trust
from harena.scoring.contracts.contract import StdioContract, TestsContract
from harena.scoring.formats import cases, import_scenarios
from harena.scoring.formats.pickled_text import text_of
from harena.scoring.formats.rows import FieldError
from harena.scoring.values import Bag, from_python

CASES = json.loads(LIVECODEBENCH["private_test_cases"])


def packed(text: Any, protocol: int = pickle.DEFAULT_PROTOCOL) -> str:
    """As LiveCodeBench ships private tests."""
    return base64.b64encode(zlib.compress(pickle.dumps(text, protocol))).decode()


def stdio_of(row: dict[str, Any], **options: Any) -> StdioContract:
    contract = only([row], **options).scoring
    assert isinstance(contract, StdioContract)
    assert contract.trust is Trust.SEPARATE
    return contract


def calls_of(row: dict[str, Any], **options: Any) -> TestsContract:
    contract = only([row], **options).scoring
    assert isinstance(contract, TestsContract)
    assert contract.trust is Trust.SEPARATE
    return contract


@pytest.mark.parametrize(
    ("row", "name"),
    [
        (APPS, "apps"),
        (APPS_CALL, "apps"),
        (LIVECODEBENCH, "livecodebench"),
        (LIVECODEBENCH_CALL, "livecodebench"),
        (CODECONTESTS, "codecontests"),
        (COMMONOJ, "commonoj"),
        (VERIFICATION_INFO, "verification_info"),
    ],
)
def test_each_is_recognised(row: dict[str, Any], name: str) -> None:
    """By its fields."""
    assert import_scenarios([row], candidates=[{"code": "x = 1"}]).form == name


def test_apps_programs_read_and_print() -> None:
    """Texts, or lists of lines; the first solution is the row's own."""
    scenario = only([APPS])
    contract = stdio_of(APPS)
    assert [(case.stdin, case.stdout) for case in contract.cases] == [("2\n", "4\n"), ("3", "6")]
    assert (contract.comparison, contract.check_timeout_seconds) == ("float_tokens", 4.0)
    assert (scenario.id, scenario.candidate.source) == ("7/oracle", "print(int(input()) * 2)\n")


def test_outputs_of_taco_may_be_nested() -> None:
    """Lines of words."""
    taco = {**APPS, "input_output": {"inputs": ["1"], "outputs": [[["1", 2], "x"]]}}
    assert stdio_of(taco).cases[0].stdout == "1 2\nx"


def test_apps_calls_have_argument_lists() -> None:
    """A value may stand in a list of its own; what graders import is imported."""
    contract = calls_of(APPS_CALL)
    assert contract.entry_point == "count"
    assert [check.args for check in contract.checks] == [(["a", "a"],), ([],)]
    first, second = contract.checks
    assert (first.expected, first.alternatives) == ([Bag("dict", (("a", 2),))], (Bag("dict", (("a", 2),)),))
    assert (second.expected, second.alternatives) == (Bag("dict", ()), ())
    assert contract.comparison == "equal_json"
    assert "from typing import *" in str(contract.setup)


def test_what_calls_find_shadows_no_builtin() -> None:
    """`pow` is not that of math, `compile` not that of re; and modules are modules."""
    program = (
        cases.CALL_SETUP
        + "import builtins, types\n"
        + "own = {name: value for name, value in vars(builtins).items() if name[:2] != '__'}\n"
        + "assert not [name for name in own if globals().get(name, own[name]) is not own[name]]\n"
        + "assert pow(3, 4, 5) == 1 and eval(compile('1', '', 'eval')) == 1 and open is builtins.open\n"
        + "for name in 'string re datetime collections heapq bisect copy math random statistics itertools functools "
        + "operator io sys json time fractions'.split():\n"
        + "    assert isinstance(globals()[name], types.ModuleType), name\n"
        + "assert List and deque and inf and accumulate and StringIO and loads and mul and fractions.Fraction(1, 2)\n"
        + "assert time.time() > 0 and sys.getrecursionlimit() == 50000\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def test_keys_that_are_numbers_had_been_numbers() -> None:
    """JSON has only text."""
    row = {**APPS_CALL, "input_output": {"fn_name": "f", "inputs": [[{"1": {"a": 2}}]], "outputs": [{"-3": 1, "4": 2}]}}
    (check,) = calls_of(row).checks
    assert check.args == (Bag("dict", ((1, Bag("dict", (("a", 2),))),)),)
    assert check.expected == Bag("dict", ((-3, 1), (4, 2)))
    assert check.alternatives == (Bag("dict", (("-3", 1), ("4", 2))),)


def digits(**counts: Any) -> Bag:
    """A mapping with text for keys."""
    return Bag("dict", tuple((key.removeprefix("_"), value) for key, value in counts.items()))


@pytest.mark.parametrize(
    ("inputs", "output", "args", "answers"),
    [
        (["112"], {"1": 2, "2": 1}, ("112",), [Bag("dict", ((1, 2), (2, 1))), digits(_1=2, _2=1)]),
        (["11a"], {"1": 2, "a": 1}, ("11a",), [digits(_1=2, a=1)]),
        ([{"p": {"1": "a"}}], "a", (digits(p=digits(_1="a")),), ["a"]),
        ([{"1": {"2": 3}}], 4, (Bag("dict", ((1, digits(_2=3)),)),), [4]),
        ([5, {"1": 2}], 4, (5, digits(_1=2)), [4]),
        ([[{"1": 2}]], 4, ([digits(_1=2)],), [4]),
        ([0], [{"1": 2}], (0,), [[digits(_1=2)], Bag("dict", ((1, 2),)), digits(_1=2)]),
        ([0], {"a": {"1": 2}}, (0,), [digits(a=digits(_1=2))]),
        ([0], [[1], {"1": 2}], (0,), [[[1], digits(_1=2)]]),
    ],
)
def test_keys_are_restored_where_the_grader_of_apps_restores_them(
    inputs: list[Any], output: Any, args: tuple[Any, ...], answers: list[Any]
) -> None:
    """A program whose keys are text is right, and sees them; verification_info restores none of an argument."""
    row = {**APPS_CALL, "input_output": {"fn_name": "f", "inputs": [inputs], "outputs": [output]}}
    (check,) = calls_of(row).checks
    assert check.args == args
    assert [check.expected, *check.alternatives] == answers
    test = {"input": inputs, "output": json.dumps(output), "fn_name": "f"}
    (check,) = calls_of({**VERIFICATION_INFO, "verification_info": {"language": "python", "test_cases": [test]}}).checks
    assert check.args == tuple(from_python(inputs))
    assert [check.expected, *check.alternatives] == answers


def test_a_candidate_with_a_class_is_called_as_a_method() -> None:
    """The contract depends on the candidate, and is one object for all candidates alike."""
    answers = [{"code": "class Solution:\n    def count(self, words): ..."}, {"code": "def count(words): ..."}] * 2
    batch = import_scenarios([APPS_CALL], candidates={"8": [answer["code"] for answer in answers]})
    points = [getattr(scenario.scoring, "entry_point", None) for scenario in batch.scenarios]
    assert points == ["Solution.count", "count"] * 2
    assert batch.scenarios[0].scoring is batch.scenarios[2].scoring


def test_livecodebench_programs() -> None:
    """Public and private tests, the private ones hidden."""
    contract = stdio_of(LIVECODEBENCH, candidates=[{"question_id": "abc_1", "code_list": ["print(4)"]}])
    assert [(case.stdin, case.stdout, case.hidden) for case in contract.cases] == [
        ("2\n", "4\n", False),
        ("3", "6.0", True),
    ]
    assert (contract.comparison, contract.check_timeout_seconds) == ("decimal_lines", 6.0)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_private_tests_are_read_without_unpickling(protocol: int) -> None:
    """The pickle of a text, of every protocol."""
    row = {**LIVECODEBENCH, "private_test_cases": packed(json.dumps(CASES), protocol)}
    contract = stdio_of(row, candidates=[{"code": "x"}])
    assert [case.stdout for case in contract.cases] == ["4\n", "6.0"]


class Touches:
    """A pickle of it calls a function when it is loaded."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return os.mkdir, (str(self.path),)


def test_a_pickle_that_would_do_something_is_refused_and_does_nothing(tmp_path: Path) -> None:
    """It is never loaded."""
    target = tmp_path / "touched"
    row = {**LIVECODEBENCH, "private_test_cases": packed(Touches(target))}
    ((_, field, message),) = mistakes_of([row], candidates=[{"code": "x"}])
    assert field == "[0].private_test_cases"
    assert "never unpickled" in message
    assert not target.exists()


@pytest.mark.parametrize(
    ("written_text", "message"),
    [
        ("%%", "is neither JSON nor base64"),
        ("aGVsbG8=", "zlib does not unpack"),
        (base64.b64encode(zlib.compress(b"hello" * 50)[:-9]).decode(), "is cut short"),
        (base64.b64encode(zlib.compress(b"")).decode(), "is no pickle"),
        (packed(["a", "b"]), "never unpickled"),
        (packed(b"bytes"), "never unpickled"),
        (packed(None), "never unpickled"),
    ],
)
def test_what_is_no_packed_text_is_said(written_text: str, message: str) -> None:
    """One sentence each."""
    with pytest.raises(ValueError, match=r".") as refusal:
        text_of(written_text)
    assert message in str(refusal.value) or "pickle" in str(refusal.value)


def test_a_bomb_is_not_unpacked() -> None:
    """Only as much as is allowed."""
    with pytest.raises(ValueError, match="more than 1000 bytes"):
        text_of(packed("x" * 100_000), max_bytes=1000)


def test_livecodebench_calls_have_an_argument_on_each_line() -> None:
    """As JSON."""
    contract = calls_of(LIVECODEBENCH_CALL, candidates=[{"code": "class Solution:\n    def pair(self, x, y): ..."}])
    assert contract.entry_point == "Solution.pair"
    assert [(check.args, check.expected) for check in contract.checks] == [((1, [2, 3]), [1, 2])]


def test_codecontests_has_limits_and_three_kinds_of_tests() -> None:
    """The first solution in Python 3 is the row's own."""
    scenario = only([CODECONTESTS])
    contract = stdio_of(CODECONTESTS)
    assert [case.hidden for case in contract.cases] == [False, True]
    assert contract.check_timeout_seconds == 1.5
    assert scenario.limits.memory_mb == 245
    assert scenario.candidate.source.startswith("n = int")


def test_commonoj_and_verification_info() -> None:
    """Each with the comparison of its own grader; a solution may stand in a fence."""
    assert stdio_of(COMMONOJ, candidates=[{"code": "print('yes')"}]).comparison == "folded_lines"
    assert stdio_of(VERIFICATION_INFO).comparison == "decimal_lines"
    assert only([VERIFICATION_INFO]).candidate.source == "print(int(input()) * 2)\n"


def test_verification_info_of_calls() -> None:
    """Arguments and value are JSON, or JSON text."""
    tests = [{"fn_name": "f", "input": "[1, 2]", "output": "[3]"}, {"fn_name": "f", "input": [3, 4], "output": 7}]
    row = {**VERIFICATION_INFO, "verification_info": {"language": "python", "test_cases": tests}}
    contract = calls_of(row, candidates=[{"code": "def f(a, b): return a + b"}])
    assert [(check.args, check.expected, check.alternatives) for check in contract.checks] == [
        ((1, 2), [3], (3,)),
        ((3, 4), 7, ()),
    ]


@pytest.mark.parametrize(
    ("given", "returned", "args", "expected"),
    [
        ("2\n[3, 4]", "5", (2, [3, 4]), 5),
        ('"ab"', '"ba"', ("ab",), "ba"),
        ('"ab"\n"c"\n', "abc", ("ab", "c"), "abc"),
        ("7", "true", (7,), True),
        ('[\n  "a",\n  1\n]', "null or so", ("a", 1), "null or so"),
    ],
)
def test_arguments_of_verification_info_may_have_lines_of_their_own(
    given: str, returned: str, args: tuple[Any, ...], expected: Any
) -> None:
    """As verl and LiveCodeBench write them; before, such a row was refused. An output that is no JSON is text."""
    tests = [{"fn_name": "f", "input": given, "output": returned}]
    (check,) = calls_of({**VERIFICATION_INFO, "verification_info": {"language": "python", "test_cases": tests}}).checks
    assert (check.args, check.expected) == (args, expected)


def with_info(**fields: Any) -> dict[str, Any]:
    return {**VERIFICATION_INFO, "verification_info": {"language": "python", "test_cases": [], **fields}}


@pytest.mark.cheap
@pytest.mark.parametrize(
    ("row", "field", "message"),
    [
        ({**APPS, "input_output": "{"}, "input_output", "is not JSON"),
        ({**APPS, "input_output": []}, "input_output", "must be a mapping"),
        ({**APPS, "input_output": {"inputs": ["1"], "outputs": []}}, "input_output", "two lists of one length"),
        ({**APPS, "input_output": {"inputs": [], "outputs": []}}, "input_output", "nothing to check"),
        ({**APPS, "input_output": {"inputs": [None], "outputs": [""]}}, "input_output.inputs", "not null"),
        ({**APPS, "input_output": {"inputs": [""], "outputs": [[None]]}}, "input_output.outputs", "null for a line"),
        ({**APPS, "solutions": "[1]"}, "solutions", "must be a list of texts"),
        ({**APPS, "question": 1}, "question", "must be text, not 1"),
        (
            {**APPS_CALL, "input_output": {"fn_name": "a b", "inputs": [[]], "outputs": [1]}},
            "input_output",
            "must be the name of a function, not 'a b'",
        ),
        (
            {**APPS_CALL, "input_output": {"fn_name": "f", "inputs": [3], "outputs": [1]}},
            "input_output.inputs",
            "must be lists of arguments",
        ),
        (
            {**APPS_CALL, "input_output": {"fn_name": "f", "inputs": ["1\nx"], "outputs": [1]}},
            "input_output.inputs",
            "one JSON argument on each line",
        ),
        ({**LIVECODEBENCH, "public_test_cases": "[3]"}, "public_test_cases", "[0] must be {input, output, testtype}"),
        ({**LIVECODEBENCH, "public_test_cases": {}}, "public_test_cases", "must be a list of tests, not a mapping"),
        (
            {**LIVECODEBENCH, "public_test_cases": [{"input": 1, "output": "", "testtype": "stdin"}]},
            "public_test_cases",
            "[0].input must be text, not 1",
        ),
        (
            {**LIVECODEBENCH, "private_test_cases": [{"input": "", "output": "", "testtype": "file"}]},
            "private_test_cases",
            "[0].testtype must be 'stdin' or 'functional', not 'file'",
        ),
        (
            {**LIVECODEBENCH_CALL, "private_test_cases": LIVECODEBENCH["private_test_cases"]},
            "public_test_cases",
            "not both",
        ),
        ({**LIVECODEBENCH_CALL, "metadata": "{}"}, "metadata.func_name", "must be the name of a function, not null"),
        ({**LIVECODEBENCH, "question_content": ""}, "question_content", "must not be empty"),
        ({**CODECONTESTS, "input_file": "in.txt"}, "input_file", "leave this row out"),
        ({**CODECONTESTS, "public_tests": {"input": ["1"], "output": []}}, "public_tests", "two lists of one length"),
        ({**CODECONTESTS, "time_limit": {"seconds": "2"}}, "time_limit", "must be {seconds, nanos}"),
        ({**CODECONTESTS, "time_limit": {"seconds": -2}}, "time_limit", "must be more than 0"),
        ({**CODECONTESTS, "memory_limit_bytes": "1"}, "memory_limit_bytes", "must be a whole number"),
        ({**CODECONTESTS, "solutions": {"language": [3], "solution": []}}, "solutions", "two lists of one length"),
        ({**COMMONOJ, "test": [{"input": "x"}]}, "test", "[0] must be {input: {stdin}, output: {stdout}}"),
        ({**COMMONOJ, "test": []}, "test", "holds no tests"),
        ({**COMMONOJ, "test": [{"input": {}, "output": {}}]}, "test[0].output.stdout", "must be text"),
        (with_info(language="rust"), "verification_info", "harena runs python, not 'rust'"),
        (with_info(test_cases=3), "verification_info", "test_cases must be a list of mappings"),
        (with_info(), "verification_info", "holds no tests"),
        (with_info(test_cases=[{"input": "1"}]), "verification_info", "a test without `output`"),
        (
            with_info(test_cases=[{"output": "", "fn_name": "f"}, {"output": ""}]),
            "verification_info",
            "name 2 functions",
        ),
    ],
)
def test_each_wrong_field_is_named(tmp_path: Path, row: dict[str, Any], field: str, message: str) -> None:
    """File, line, field, and what to do."""
    source, answers = written(tmp_path / "rows.jsonl", [row]), [{"code": "x = 1"}]
    ((line, wrong, said),) = mistakes_of(source, candidates=answers)
    assert (line, wrong) == (1, field)
    assert message in said


def test_outputs_are_read_like_inputs() -> None:
    """Where the arguments are JSON text, as verl writes APPS, the output is JSON text, too; what is no JSON is text."""
    tests = {"inputs": ["[1, 2]\n3", '"a"', '"b"'], "outputs": ["[3, 4]", '"aa"', "bb"], "fn_name": "f"}
    batch = import_scenarios([{**APPS, "input_output": tests}])
    contract = batch.scenarios[0].scoring
    assert isinstance(contract, TestsContract)
    assert [check.args for check in contract.checks] == [([1, 2], 3), ("a",), ("b",)]
    assert [check.expected for check in contract.checks] == [[3, 4], "aa", "bb"]


@pytest.mark.parametrize(("row", "seconds"), [(COMMONOJ, 10.0), (VERIFICATION_INFO, 5.0), (APPS, 4.0)])
def test_each_case_has_a_time_limit(row: dict[str, Any], seconds: float) -> None:
    """One loop does not take the time of all cases."""
    (scenario,) = import_scenarios([row], candidates="nop").scenarios
    assert isinstance(scenario.scoring, StdioContract)
    assert scenario.scoring.check_timeout_seconds == seconds


def test_rows_that_pass_without_a_program_are_refused() -> None:
    """No output is expected of any run, or null of every call."""
    with pytest.raises(FieldError, match="a program that does nothing would pass"):
        cases.stdio_contract("tests", [cases.Run(stdin="1", stdout="\n"), cases.Run(stdin="2", stdout="")], "lcb", None)
    with pytest.raises(FieldError, match="a function that does nothing would pass"):
        cases.call_contracts("tests", "f", [cases.Call(args=[1], expected=None)], None)
    for output in ([None], "[null]", "null"):  # the second is JSON text, as verl writes it
        with pytest.raises(FieldError, match="a function that does nothing would pass"):
            cases.call_contracts(
                "tests", "f", [cases.call_of("1" if isinstance(output, str) else [1], output, "tests")], None
            )
    cases.stdio_contract("tests", [cases.Run(stdin="1", stdout=""), cases.Run(stdin="2", stdout="2")], "lcb", None)
