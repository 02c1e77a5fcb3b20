"""No candidate gets "no score" in the place of 0 from a `python` scorer that works."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest
from data_set_rows import only
from hypothesis import given, settings
from hypothesis import strategies as st
from scorers_in_use import ORDINARY, SandboxSource, scored, source_of

from harena.core.models import SandboxSpec
from harena.core.results import Reason, RunResult, Validity
from harena.scoring import load_scenarios, score_scenario
from harena.scoring.contracts.contract import PythonContract
from harena.scoring.guest import scorer, scorer_faults
from harena.scoring.scorers.scorer_blame import PLAIN_ANSWERS, run_that_says

NONE = (None, Validity.INVALID, Reason.SCORER_ERROR)
ZERO = (0.0, Validity.VALID, Reason.SCORER_REJECTED)
FAULTS = {"faults": Path(scorer_faults.__file__).read_text(encoding="utf-8")}
IN_PROCESS = [name for name in ORDINARY if "recursion" not in name and "in the answer" not in name]


def state(result: RunResult) -> tuple[float | None, Validity, Reason]:
    return result.score, result.validity, result.reason


def shown(answer: str) -> dict[str, Any]:
    """A run of a candidate that is not run."""
    return {
        "scenario_id": "one", "candidate": {"solution.py": answer}, "entry": "solution.py", "answer": answer,
        "metadata": {}, "stdout": "", "stderr": "", "exit_code": None, "outcome": None, "timed_out": False,
        "files": {}, "output_files": [],
    }  # fmt: skip


def names_in(source: str) -> list[str]:
    """Names, attributes and texts of a scorer: what a candidate may have guessed or read."""
    nodes = list(ast.walk(ast.parse(source)))
    found = [getattr(node, name, None) for node in nodes for name in ("id", "attr", "value", "name", "arg")]
    return [name for name in found if isinstance(name, str)] or ["x"]


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_no_answer_passes_for_a_mistake_of_the_author(data: st.DataObject) -> None:
    """Any text, and texts made of what stands in the scorer, of Python and of JSON: there is a score, or a failure that
    the source does not show to be its author's."""
    source = ORDINARY[data.draw(st.sampled_from(IN_PROCESS))].source
    words = st.sampled_from(
        [*names_in(source), *"{}[]():,.=+-'\"\n 019", "import", "null", "raise", "NameError", "run"]
    )
    answer = data.draw(st.text(max_size=40) | st.lists(words, max_size=12).map("".join))
    told = scorer.answer({"source": source, "run": shown(answer), "is_idle": False, **FAULTS})
    if "failure" in told:
        assert told["failure"]["fault"] == ""
    else:
        assert 0 <= told["score"] <= 1


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=40), st.text(max_size=40), st.integers() | st.none(), st.booleans())
def test_what_decides_about_the_scorer_is_not_the_candidates(
    answer: str, stdout: str, code: int | None, run: bool
) -> None:
    """The runs that a failing scorer is asked about are equal, whatever the candidate did."""
    source = source_of("return float(run.answer)")
    contract = PythonContract(type="python", source=source, run_candidate=run, output_files=("a",))
    seen = shown(answer)
    if run:
        seen |= {"stdout": stdout, "stderr": stdout, "exit_code": code, "files": {"a": stdout}, "timed_out": True}
    for text in PLAIN_ANSWERS:
        assert run_that_says(contract, seen, text) == run_that_says(contract, shown(""), text)


EXHAUSTING = {
    "recursion": ("import json", "return float(json.loads(run.answer)[0])", "[" * 100_000),
    "its own recursion": (
        "def depth(t):\n    return 1 + depth(t[1:]) if t[:1] == '(' else 0",
        "return 1 / (1 + depth(run.answer))",
        "(" * 50_000,
    ),
    "a loop": ("", "n = len(run.answer)\nwhile n > 5: pass\nreturn n / 10", "123456"),
    "memory": ("", "return len(str('x' * int(run.answer or 1))) / 10", "9" * 12),
    "a long number": ("", "return int(run.answer or 0) / 10", "9" * 1_000_000),
    "a power": ("", "return 2 ** int(run.answer or 0) / 2", "5000"),
    "depth of a literal": ("import ast", "return ast.literal_eval(run.answer or '1') / 3", "-" * 50_000 + "1"),
    "a crash": ("import os", "os.kill(os.getpid(), 11) if 'crash' in run.answer else None\nreturn 0.5", "crash"),
    "an exit": ("import os", "os._exit(3) if 'exit' in run.answer else None\nreturn 0.5", "exit"),
    "an end": ("import sys", "sys.exit(0) if 'end' in run.answer else None\nreturn 0.5", "end"),
}


@pytest.mark.parametrize("name", EXHAUSTING)
async def test_an_answer_that_exhausts_the_scorer_has_the_lowest_score(name: str) -> None:
    """Stack, time, memory, digits, or the end of its process."""
    before, body, answer = EXHAUSTING[name]
    result = await scored(source_of(body, before), answer, scorer_timeout_seconds=1.0)
    assert state(result) == ZERO, result.detail


FORGERS = {
    "a name": ("exec(run.answer)\nreturn 0.5", "raise NameError(name='wanted')"),
    "an answer read in secret": (
        "return 0.5 if 'x' not in object.__getattribute__(run, '__dict__')['answer'] else 1 / 0",
        "x",
    ),
    "a name that is there": ("exec(run.answer)\nreturn score is None", "raise NameError('x', name='score')"),
    "an import": ("exec(run.answer)\nreturn 0.5", "import no_such_module"),
    "an attribute": ("exec(run.answer)\nreturn 0.5", "run.nothing"),
    "an attribute taken away": ("exec(run.answer)\nreturn run.stdout == 'x'", "del run.stdout"),
    "metadata taken away": ("exec(run.answer)\nreturn run.metadata['a'] == 3", "del run.metadata['a']"),
    "a part of a module taken away": ("import math\nexec(run.answer)\nreturn math.pi - 3", "import math; del math.pi"),
    "a module taken away": ("exec(run.answer)\nimport json\nreturn 0.5", "import sys; sys.modules['json'] = None"),
    "a function taken away": (
        "exec(run.answer, globals())\nreturn float(run.answer == '')",
        "import builtins; del builtins.float",
    ),
    "a chosen attribute": ("return getattr(run, run.answer) == run.stdout.strip('.')", "strip"),
    "a template": ("return run.answer.format(run).strip() == 'a'", "{0.strip}"),
    "chosen metadata": ("return run.metadata[run.answer] == run.metadata['a']", "b"),
    "metadata below a chosen key": ("return run.metadata[run.answer]['x'] == 3", "a"),
    "metadata below a chosen key, by name": ("chosen = run.metadata[run.answer]\nreturn chosen['x'] == 3", "a"),
    "metadata of a function": ("def of(known):\n    return known['x'] == 3\nreturn of(run.metadata[run.answer])", "a"),
    "a chosen class": (
        "class A: limit = 1\nclass B: most = 1\nkind = {'a' + 'a': A, 'b': B}[run.answer]\nreturn kind.limit",
        "b",
    ),
    "a class of the answer's": ("import json\nreturn type(json.loads(run.answer)).keys is None", "[]"),
    "nested metadata": ("return run.metadata['a'][run.answer] == run.metadata.get('x')", "a"),
    "a chosen file": ("return run.files[run.answer] == 'a'", "a"),
    "a chosen module": ("import importlib\nreturn importlib.import_module(run.answer).pi > 3", "no_such"),
    "a chosen path": ("return open('/nowhere/' + run.answer).read() == 'x'", "y"),
    "a chosen function": ("return {'f': len}[run.answer](3, 4)", "f"),
    "chosen arguments": ("def f(a, b): return 0.5\nreturn f(*run.answer.split(','))", "1,2,3"),
    "a syntax error": ("return bool(compile(run.answer, '<scorer>', 'eval'))", "1 +"),
    "a syntax tree": ("import ast\nreturn bool(ast.parse(run.answer, '<scorer>').body[0].value)", "x ="),
    "lines of the protocol": ("print(run.answer)\nreturn float(run.answer)", '0 read\n0 {"failure": {}}'),
    "an error that cannot be told": (
        "exec(run.answer)\nreturn 0.5",
        "class E(Exception):\n def __str__(self): raise SystemExit\nraise E",
    ),
}


@pytest.mark.parametrize("name", FORGERS)
async def test_no_text_passes_for_a_mistake_in_the_source(name: str) -> None:
    """Also where it names what stands in the source, or is executed."""
    body, answer = FORGERS[name]
    assert state(await scored(source_of(body), answer)) == ZERO, name


async def test_a_typo_that_only_right_answers_reach_is_the_authors() -> None:
    """A valid 0 would be the lowest score of each right answer."""
    source = source_of("if run.answer != '3':\n    return 0\nreturn scroe_of(run)")
    assert state(await scored(source, "4")) == ZERO
    assert state(await scored(source, "3")) == NONE


async def test_a_gold_shows_a_scale_that_is_none() -> None:
    """Nobody who is right has the lowest score because the author counts to 100."""
    source = source_of("return 100 * (run.answer == '3')")
    assert state(await scored(source, "4", gold="3")) == ZERO
    result = await scored(source, "3", gold="3")
    assert state(result) == NONE
    assert "the gold solution has no score" in result.detail
    assert "100" in result.detail


async def test_a_scorer_is_known_to_work_once() -> None:
    """The tries with other answers are made for one candidate, and not for each."""
    source = source_of("return datetime.date.fromisoformat(run.answer).year == 2024", "import datetime")
    made = SandboxSource()
    assert state(await scored(source, "yesterday", made)) == ZERO
    first = made.made
    for answer in ("tomorrow", "2024", "-"):
        assert state(await scored(source, answer, made)) == ZERO
    assert first > 3
    assert made.made == first + 3


PROGRAM = source_of("return float(run.stdout) * (run.exit_code == 0) * len(run.files['n.txt'])")


@pytest.mark.parametrize(
    "program",
    [
        "print('no number')\n",
        "import sys\nsys.stdout.buffer.write(b'\\xff\\xfe' * 1000)\n",
        "import sys\nsys.stdout.write('9' * 1_000_000)\n",
        "open('n.txt', 'w').write('123')\nprint(7)\n",
        "raise SystemExit(3)\n",
        "",
    ],
)
async def test_what_a_program_does_is_scored(program: str) -> None:
    """Output, files and exit code, with and without a gold program."""
    fields: dict[str, Any] = {"run_candidate": True, "output_files": ["n.txt"]}
    golds: tuple[dict[str, Any], ...] = ({}, {"gold": "open('n.txt', 'w').write('1')\nprint(1)\n"})
    for gold in golds:
        result = await scored(PROGRAM, program, **fields, **gold)
        assert (result.score, result.validity, result.passed) == (0.0, Validity.VALID, False), result.detail


async def test_a_gold_program_that_no_scorer_takes_shows_that_it_is_broken() -> None:
    """It is run, and what it did is judged, not its text."""
    fields: dict[str, Any] = {"run_candidate": True, "output_files": ["n.txt"]}
    result = await scored(PROGRAM, "print('x')\n", gold="print('y')\n", **fields)
    assert state(result) == NONE


GRADES = {
    "an object": ('return sample["output_json"]["x"] == item["answer"]', '{"x": "3"}', "three"),
    "a number": ('return 1 - abs(float(sample["output_text"]) - float(item["answer"]))', "3", "1000"),
    "a date": (
        "from datetime import date\n    return date.fromisoformat(sample['output_text']).year == 2024",
        "2024-05-06",
        "then",
    ),
    "nothing": ('if sample["output_text"] == item["answer"]:\n        return 1.0', "3", "4"),
    "depth": ('return float(sample["output_json"])', "1", "[" * 100_000),
}
BROKEN_GRADES = {
    "a name": 'return sample["output_text"] == wanted',
    "a field of the item": 'return sample["output_text"] == item["solution"]',
    "a field of the sample": 'return sample["text"] == item["answer"]',
    "nothing": 'sample["output_text"] == item["answer"]',
    "a module": 'import no_such_module\n    return sample["output_text"] == "3"',
}


async def graded(body: str, answer: str) -> RunResult:
    """An answer under a grader of the type `python`, with the item of its row."""
    grader = {"type": "python", "source": f"def grade(sample, item):\n    {body}\n"}
    row = {"grader": grader, "item": {"answer": "3"}, "model_sample": answer}
    return await score_scenario(only([row]), sandboxes=SandboxSource(), base_spec=SandboxSpec(), timeout_seconds=60)


@pytest.mark.parametrize("name", GRADES)
async def test_a_grader_scores_every_answer(name: str) -> None:
    """It is a `python` scorer, and the rule is the same."""
    body, right, wrong = GRADES[name]
    assert (await graded(body, right)).score == 1.0
    assert state(await graded(body, wrong)) == ZERO


@pytest.mark.parametrize("name", BROKEN_GRADES)
async def test_a_broken_grader_scores_nobody(name: str) -> None:
    """What the row's item lacks, no answer can give."""
    assert state(await graded(BROKEN_GRADES[name], "4")) == NONE


async def test_a_part_of_a_weighted_contract_follows_the_rule() -> None:
    """A wrong answer has a score; a broken part leaves the whole without one."""
    for body, expected in (("return float(run.answer)", 0.0), ("return run.answer == wanted", None)):
        part = {"type": "python", "run_candidate": False, "source": source_of(body)}
        check = {"type": "string_check", "input": "{{ sample.output_text }}", "reference": "x", "operation": "eq"}
        scoring = {"type": "weighted", "parts": {"a": {"scoring": part}, "b": {"scoring": check}}}
        (scenario,) = load_scenarios([{"id": "one", "candidate": "three", "scoring": scoring}]).scenarios
        result = await score_scenario(scenario, sandboxes=SandboxSource(), base_spec=SandboxSpec(), timeout_seconds=60)
        assert result.score == expected, result.detail
