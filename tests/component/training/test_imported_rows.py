"""Rows of code data sets, and problems of scenario files, as prompts that their own tests reward."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from harena.scoring.formats import import_scenarios
from harena.scoring.load import load_scenarios
from harena.training.data.conversations import text_pair_of
from harena.training.data.datasets import prompt_row_of
from harena.training.data.prompts import PromptRow
from harena.training.data.row_files import read_rows
from harena.training.objects.dataset import read_part
from harena.training.rewards import CodeTests, boxed_answer, gsm8k
from harena.training.rewards.recipe import mistakes_of

HUMAN_EVAL = {
    "task_id": "H/0", "prompt": "def f(x):\n    # twice\n", "canonical_solution": "    return 2 * x\n",
    "test": "def check(candidate):\n    assert candidate((1, 2)) == (1, 2, 1, 2)\n    assert candidate({1: 2}) != {3}\n"
    "    assert candidate(float('inf')) == float('inf')\n",
    "entry_point": "f",
}  # fmt: skip
SIMPLE = {**HUMAN_EVAL, "test": "def check(candidate):\n    assert candidate((1, 2)) == (1, 2, 1, 2)\n"}
MBPP = {
    "task_id": 7,
    "text": "Write twice.",
    "code": "def twice(x):\n    return 2 * x",
    "test_list": ["assert twice(2) == 4"],
}
APPS = {
    "id": "a", "question": "Print the sum.", "solutions": json.dumps(["print(sum(map(int, input().split())))"]),
    "input_output": json.dumps({"inputs": ["1 2"], "outputs": ["3"]}),
}  # fmt: skip
CLASS = {
    "id": "c", "question": "Twice.", "starter_code": "class Solution:\n    def twice(self, x):\n",
    "input_output": json.dumps({"fn_name": "twice", "inputs": [[2]], "outputs": [4]}),
    "solutions": json.dumps(["class Solution:\n    def twice(self, x):\n        return 2 * x"]),
}  # fmt: skip


VERL = {
    "data_source": "apps", "ability": "code", "prompt": [{"role": "user", "content": "Print the sum."}],
    "reward_model": {"style": "rule", "ground_truth": json.dumps({"inputs": ["1 2"], "outputs": ["3"]})},
    "extra_info": {"index": 3, "split": "train"},
}  # fmt: skip
GSM8K = [
    {"question": "Four and four?", "answer": "4 + 4 is 8.\n#### 8"},
    {"data_source": "openai/gsm8k", "prompt": [{"role": "user", "content": "9 - 1?"}],
     "reward_model": {"style": "rule", "ground_truth": "8"}},
]  # fmt: skip


def written(folder: Path, *rows: dict[str, Any]) -> Path:
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def prompts(path: Path) -> list[PromptRow]:
    return [prompt_row_of(row.values, id=row.origin) for row in read_rows(path)]


@pytest.mark.parametrize(
    "row", [HUMAN_EVAL, SIMPLE, MBPP, APPS, CLASS], ids=lambda row: str(row.get("task_id") or row["id"])
)
def test_a_data_set_is_trained_on_by_its_own_tests(tmp_path: Path, row: dict[str, Any]) -> None:
    """The contract that its rows have as prompts is the one that a benchmark scores them by, also after it was written
    as JSON; and the data set's own solution, as an answer, is the program that passes there."""
    path = written(tmp_path, row)
    assert read_part(path, split=None)["reward_recipe"] == "code_tests_v1"
    (made,) = prompts(path)
    recipe = CodeTests(extract="fenced")
    assert mistakes_of(recipe, made) == []
    assert made.program is not None
    assert made.prompt
    (wanted,) = import_scenarios(str(path), candidates="oracle").scenarios
    scoring = json.loads(json.dumps(made.scoring))
    if made.program.class_scoring:
        scoring = dict(made.program.class_scoring)
    (again,) = load_scenarios([{"id": "again", "candidate": "pass", "scoring": scoring}]).scenarios
    assert again.scoring.fingerprint == wanted.scoring.fingerprint
    answer = row.get("canonical_solution") or wanted.candidate.source
    assert recipe.program(answer, ["f"], made.program).split() == wanted.candidate.source.split()


def test_an_answer_goes_on_where_its_prompt_ends_or_says_all_of_it(tmp_path: Path) -> None:
    """As answers in a file of candidates do."""
    (made,) = prompts(written(tmp_path, SIMPLE))
    whole = "def f(x):\n    return 2 * x\n"
    for extract in ("raw", "fenced"):
        recipe = CodeTests(extract=extract)  # type: ignore[arg-type]
        assert recipe.program("    return 2 * x\n", ["f"], made.program) == made.prompt + "    return 2 * x\n"
    fenced = CodeTests(extract="fenced").program(f"Here:\n```python\n{whole}```\n", ["f"], made.program)
    assert fenced.endswith(whole)
    assert "Here" not in fenced


def test_a_row_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    """It is no prompt without a reward."""
    path = written(tmp_path, SIMPLE, {**SIMPLE, "task_id": "H/1", "entry_point": "no name"})
    with pytest.raises(Exception, match=r"rows.jsonl:2: it has the shape of humaneval, and entry_point"):
        read_part(path, split=None)


def test_rows_that_say_how_they_are_rewarded_stay_as_they_are(tmp_path: Path) -> None:
    """Whatever else is in them."""
    scoring = {"type": "stdio", "cases": [{"stdin": "", "stdout": "1"}]}
    own, plain = prompts(
        written(tmp_path, {**SIMPLE, "scoring": scoring}, {"prompt": "1 + 1", "answer": "2", "program": "mine"})
    )
    assert (own.scoring, own.program) == (scoring, None)
    assert (plain.expected_output, plain.scoring, plain.metadata) == ("2", None, {"program": "mine"})


def test_problems_of_scenario_files_are_prompts(tmp_path: Path) -> None:
    """Those that scenarios share are one prompt each; a statement is the prompt."""
    tests = {"type": "tests", "entry_point": "f", "checks": [{"args": [1], "expected": 2}]}
    content = {
        "problems": [{"id": "one", "statement": "add one", "scoring": tests, "files": {"a.txt": "b"}}],
        "scenarios": [
            {"id": "one/1", "problem": "one", "candidate": "pass"},
            {"id": "two/1", "problem": {"statement": "add two"}, "candidate": "pass", "scoring": tests,
             "limits": {"memory_mb": 64}},
        ],
    }  # fmt: skip
    for name in ("problems.json", "problems.yaml"):  # JSON is YAML
        (tmp_path / name).write_text(json.dumps(content))
        one, two = prompts(tmp_path / name)
        assert (one.id, one.prompt, one.scoring) == ("one", "add one", tests)
        assert one.program is not None
        assert one.program.problem == {"files": {"a.txt": "b"}}
        assert (two.id, two.prompt) == ("two/1", "add two")
        assert two.program is not None
        assert two.program.limits == {"memory_mb": 64}
    (tmp_path / "none.json").write_text(json.dumps({"problems": [{"id": "one", "scoring": tests, "statement": ""}]}))
    with pytest.raises(ValueError, match="no `statement`"):
        prompts(tmp_path / "none.json")


def test_lines_may_be_compressed(tmp_path: Path) -> None:
    """As HumanEval is; what is cut short is a mistake of the file."""
    packed = gzip.compress(json.dumps(SIMPLE).encode() + b"\n")
    (tmp_path / "rows.jsonl.gz").write_bytes(packed)
    assert [row.id for row in prompts(tmp_path / "rows.jsonl.gz")] == ["H/0"]
    (tmp_path / "rows.jsonl.gz").write_bytes(packed[:-9])
    with pytest.raises(Exception, match="not gzip, or cut short"):
        prompts(tmp_path / "rows.jsonl.gz")


def test_rows_as_verl_writes_them_are_trained_on_by_their_tests(tmp_path: Path) -> None:
    """Their ground truth is what a program prints, and no text that an answer would have to repeat; each row without an
    id has its own. A benchmark takes them, too."""
    path = written(tmp_path, VERL, {**VERL, "prompt": "Print it."})
    assert read_part(path, split=None)["reward_recipe"] == "code_tests_v1"
    made, plain = prompts(path)
    assert (made.messages, plain.prompt) == (({"role": "user", "content": "Print the sum."},), "Print it.")
    assert made.id != plain.id
    assert made.expected_output is None
    assert mistakes_of(CodeTests(extract="fenced"), made) == []
    (wanted, _) = import_scenarios(str(path), candidates="nop").scenarios
    (again,) = load_scenarios([{"id": "again", "candidate": "pass", "scoring": made.scoring}]).scenarios
    assert again.scoring.fingerprint == wanted.scoring.fingerprint


@pytest.mark.parametrize(
    "row",
    [
        {
            "data_source": "DigitalLearningGmbH/MATH-lighteval",
            "prompt": [{"role": "user", "content": "Half of one? Put it in a box."}],
            "reward_model": {"style": "rule", "ground_truth": "\\frac{1}{2}"},
        },
        {
            "data_source": "own",
            "prompt": "Half of one? Output the final answer within \\boxed{}.",
            "reward_model": {"ground_truth": "\\frac{1}{2}"},
        },
        {"question": "Half of one?", "answer": "We halve it, so it is $\\boxed{\\frac12}$."},
    ],
    ids=["MATH as verl writes it", "its prompt asks for a box", "a worked solution"],
)
def test_an_answer_of_math_is_in_its_box(tmp_path: Path, row: dict[str, Any]) -> None:
    """Nobody says it alone, or repeats the solution: texts that are compared paid nobody."""
    path = written(tmp_path, row, row)
    assert read_part(path, split=None)["reward_recipe"] == "math_v1"
    (made, _) = prompts(path)
    for said, reward in (("It is \\boxed{0.5}.", 1.0), ("It is \\boxed{2}.", 0.0), ("It is 0.5.", 0.0)):
        assert boxed_answer().decide(made, said) == reward


@pytest.mark.parametrize("row", GSM8K, ids=["as published", "as verl writes it"])
def test_an_answer_of_gsm8k_is_its_number(tmp_path: Path, row: dict[str, Any]) -> None:
    """Nobody repeats the reasoning before it, or says the number alone; where one row has none, texts are compared."""
    path = written(tmp_path, row, row)
    assert read_part(path, split=None)["reward_recipe"] == "gsm8k_v1"
    (made, _) = prompts(path)
    for said, reward in (("So it is 8.", 1.0), ("So it is 9.", 0.0), ("#### 8", 1.0)):
        assert gsm8k().decide(made, said) == reward
    path = written(tmp_path, row, {"prompt": "Say yes.", "answer": "yes"})
    assert read_part(path, split=None)["reward_recipe"] == "exact_match_v1"


def test_an_instruction_and_its_input_are_one_prompt(tmp_path: Path) -> None:
    """For SFT, too; an empty input adds nothing, and a row's prompt comes before both."""
    rows = [
        {"instruction": "Translate.", "input": "Sand", "output": "harena"},
        {"instruction": "Say hello.", "input": "", "output": "Hello."},
        {"instruction": "not this", "prompt": "1 + 1", "output": "2"},
    ]
    made = prompts(written(tmp_path, *rows))
    assert [row.prompt for row in made] == ["Translate.\n\nSand", "Say hello.", "1 + 1"]
    assert [text_pair_of(row)[0] for row in rows] == [row.prompt for row in made]
    assert made[0].metadata == {}


async def test_rows_of_math_are_prompts_that_math_v1_rewards(tmp_path: Path) -> None:
    """As the data set has them, as MATH-500 has, and with the answer alone; the solution is never part of a prompt."""
    worked = "We add: $\\boxed{3}$ no. So it is $\\boxed{\\frac{1}{2}}$."
    row = {"problem": "What is $1/4+1/4$?", "level": "Level 1", "type": "Algebra", "solution": worked}
    for given in (row, {**row, "answer": "\\frac12", "unique_id": "a/1.json"}, {**row, "answer": " "}):
        made = prompt_row_of(given, id="1")
        assert (made.prompt, made.metadata.get("level")) == ("What is $1/4+1/4$?", "Level 1")
        rewards = [(await boxed_answer().reward(made, f"\\boxed{{{said}}}")).value for said in ("1/2", "3", "2")]
        assert rewards == [1.0, 0.0, 0.0]
        assert read_part(written(tmp_path, given), split=None)["reward_recipe"] == "math_v1"
        assert text_pair_of(given) == (made.prompt, worked)
    alone = prompt_row_of({"problem": "1+1?", "answer": "2"}, id="1")
    assert (alone.prompt, alone.expected_output) == ("1+1?", "2")


@pytest.mark.parametrize("row", [{"problem": "p", "solution": "def f(): ..."}, {"problem": " ", "answer": "2"}])
def test_rows_that_only_look_like_those_of_math_are_left_as_they_are(row: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="it has no prompt"):
        prompt_row_of(row, id="1")
