"""One file, four commands: what `audit`, `scenario calibrate`, `benchmark run`, `eval` and `train rl` take is one list.

Each format stands here with the commands that take it, and for the others with what they say. No model is loaded and
nothing is run: it is the reading that decides.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from chat_tokenizer import Characters
from data_set_rows import (
    APPS,
    APPS_CALL,
    CODECONTESTS,
    COMMONOJ,
    EVALPLUS,
    GRADER_REQUEST,
    GRADERS,
    HUMANEVAL,
    HUMANEVAL_PLUS_TEST,
    LIVECODEBENCH,
    MBPP,
    MBPP_FUSION,
    MBPP_SANITISED,
    RFT,
    VERIFICATION_INFO,
    harbor_task,
)

from harena.core.errors import ValidationError
from harena.core.records.objects import ResolvedReference, UsedSplit
from harena.core.records.training_plans import RLPlan
from harena.scoring.calibration import Calibration
from harena.scoring.formats import FORMATS, import_scenarios
from harena.training.data.conversations import Conversation
from harena.training.data.datasets import prompt_row_of, prompt_rows, training_rows
from harena.training.data.demonstrations import conversation_to_learn, text_pair_to_learn
from harena.training.data.prompts import PromptRow
from harena.training.data.templates import ChatTemplate
from harena.training.model_eval.problems import read_rows, with_prompts
from harena.training.objects.dataset import read_part
from harena.training.requests.plan import plan_of
from harena.training.requests.references import ResolvedReferences
from harena.training.requests.request import parse_request
from harena.training.requests.reward_checks import check_rewards
from harena.training.rewards import CodeTests, reward_recipe
from harena.training.rewards.recipe import mistakes_of

TESTS = {"type": "tests", "entry_point": "f", "checks": [{"args": [1], "expected": 2}]}
TAKEN: list[tuple[str, Mapping[str, Any]]] = [
    ("scenarios", {"id": "a", "candidate": "def f(x): return x + 1",
                   "problem": {"statement": "add 1", "scoring": TESTS}}),
    ("prompts", {"id": "a", "prompt": "add 1>", "scoring": TESTS}),
    ("prompts", {"id": "a", "statement": "add 1>", "scoring": TESTS}),
    ("prompts", {"id": "a", "messages": [{"role": "user", "content": "add 1"}], "scoring": TESTS}),
    ("humaneval", HUMANEVAL),
    ("humaneval", HUMANEVAL_PLUS_TEST),
    ("evalplus", EVALPLUS),
    ("mbpp", MBPP),
    ("mbpp", MBPP_SANITISED),
    ("mbpp", MBPP_FUSION),
    ("tests", {"prompt": "Write `f`: add 1 to x.", "tests": "assert f(1) == 2\nassert f(4) == 5",
               "solution": "def f(x):\n    return x + 1"}),
    ("apps", APPS),
    ("apps", APPS_CALL),
    ("livecodebench", LIVECODEBENCH),
    ("codecontests", CODECONTESTS),
    ("commonoj", COMMONOJ),
    ("verification_info", VERIFICATION_INFO),
    ("rft", {**RFT, "grader": GRADERS["string_check"]}),
    ("gsm8k", {"question": "Half of 36?", "answer": "36 / 2 = 18\n#### 18"}),
    ("gsm8k", {"data_source": "openai/gsm8k", "prompt": [{"role": "user", "content": "9 - 1?"}],
               "reward_model": {"style": "rule", "ground_truth": "8"}}),
]  # fmt: skip
"""(format, a row that all commands take)"""
REFUSED = {"grader": "has no prompt", "harbor": "task directories"}
"""format -> what `eval` and `train rl` say of it; the others take it"""


def _same(problem: PromptRow, conversation: Conversation) -> PromptRow:
    return problem


def evaluated(path: Path) -> list[PromptRow]:
    """What `harena eval` asks."""
    return with_prompts(path, read_rows(path, CodeTests()), _same)


def trained(path: Path) -> tuple[str, int]:
    """(the recipe, number of prompts) of `harena train rl --dataset`."""
    part = read_part(path, split=None)
    assert part["reward_recipe"] is not None, part
    return part["reward_recipe"], part["rows"]


def written(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    text = json.dumps(rows) if ".json" in path.suffixes else "".join(f"{json.dumps(row)}\n" for row in rows)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


def test_every_format_is_in_this_table() -> None:
    """A new one is taken by all commands, or says why not."""
    assert {form for form, _ in TAKEN} | set(REFUSED) == set(FORMATS)


@pytest.mark.parametrize(("form", "row"), TAKEN, ids=lambda value: value if isinstance(value, str) else "")
@pytest.mark.parametrize("ending", [".jsonl", ".json", ".jsonl.gz"])
def test_what_one_command_takes_all_take(tmp_path: Path, form: str, row: Mapping[str, Any], ending: str) -> None:
    """Audits and calibrations find trials, benchmarks an answer of a file, evaluations and training a prompt."""
    path = written(tmp_path / f"rows{ending}", [row])
    audited = import_scenarios(path, unsolved_too=True)
    assert audited.form == form
    assert Calibration(audited, gold_runs=2).rows
    (problem,) = evaluated(path)
    recipe, prompts = trained(path)
    assert prompts == 1
    assert mistakes_of(reward_recipe("code_tests_v1", {}), problem) == []
    assert recipe == ("gsm8k_v1" if form == "gsm8k" else "code_tests_v1")
    if form != "scenarios":
        scored = import_scenarios(path, candidates=[{"solution": "x = 1"}])
        assert len(scored) == 1


NAMELESS: list[tuple[Mapping[str, Any], str]] = [
    ({"prompt": "add 1>", "scoring": TESTS}, "0"),
    ({"prompt": "add 1>", "scoring": TESTS, "task_id": "sums/1", "id": "other"}, "sums/1"),
    ({"statement": "add 1>", "scoring": TESTS, "index": 7}, "7"),
    ({"prompt": "Write `f`: add 1 to x.", "tests": "assert f(1) == 2"}, "0"),
    ({"question": "Half of 36?", "answer": "36 / 2 = 18\n#### 18"}, "0"),
]  # fmt: skip
"""(a row, its name where it is the first)"""


@pytest.mark.parametrize(("row", "name"), NAMELESS, ids=[str(place) for place in range(len(NAMELESS))])
def test_a_row_has_the_same_name_in_each_command(tmp_path: Path, row: Mapping[str, Any], name: str) -> None:
    """Where it says no id, too: a result of one command leads to the row in the others."""
    second = {**row, "index": 8} if "index" in row else {**row, "task_id": "sums/2"} if "task_id" in row else row
    names = [name, "1" if second is row else str(second.get("task_id") or second["index"])]
    path = written(tmp_path / "rows.jsonl", [row, second])
    audited = [scenario.problem_id for scenario in import_scenarios(path, unsolved_too=True).scenarios]
    assert audited == names
    assert [problem.id for problem in evaluated(path)] == names
    trained_on, _ = prompt_rows(path, (letters := Characters()), template=ChatTemplate(letters), max_prompt_tokens=999)
    assert [problem.id for problem in trained_on] == names


def test_a_misspelt_field_is_told_by_each_command(tmp_path: Path) -> None:
    """One typo is one sentence, whoever reads the row."""
    row = {"prompt": "Write `f`: add 1 to x.", "test": "assert f(1) == 2", "solution": "def f(x): return x + 1"}
    path = written(tmp_path / "rows.jsonl", [row])
    says = r"rows\.jsonl:1: `test`: did you mean `tests`\? With it the row is of the format tests"
    for read in (lambda: import_scenarios(path), lambda: evaluated(path)):
        with pytest.raises(ValidationError, match=says):
            read()
    ref = ResolvedReference(
        where="config.prompt_dataset_ref", kind="dataset", name="d", version="1", digest="0", path=str(path),
        described=UsedSplit(rows=1, split=None, uses=["prompts"], reward_recipe="row_reward_v1"),
    )  # fmt: skip
    asked = {"trainer_type": "rl", "model": "tiny-llama", "config": {"algorithm": "grpo", "prompt_dataset_ref": "d"}}
    plan = plan_of(parse_request(asked), resolved := ResolvedReferences(refs=(ref,)))
    assert isinstance(plan, RLPlan)
    with pytest.raises(ValidationError, match=says):
        check_rewards(plan, resolved, {})
    written(path, [{"prompt": "2 + 2?"}])  # no typo: what there is to do is said
    with pytest.raises(ValidationError, match="gives every answer to a prompt the same reward"):
        check_rewards(plan, resolved, {})


def test_a_grader_may_be_in_another_file(tmp_path: Path) -> None:
    """For audits, calibrations, benchmarks and evaluations; rows that train a model hold their own."""
    path = written(tmp_path / "rows.jsonl", [RFT])
    grader = GRADERS["string_check"]
    (scenario,) = import_scenarios(path, grader=grader, unsolved_too=True).scenarios
    (problem,) = read_rows(path, CodeTests(), grader=grader)
    assert problem.row.scoring is not None
    assert problem.row.scoring["reference"] == scenario.scoring.model_dump()["reference"]
    with pytest.raises(ValidationError, match="no scoring contract"):
        read_rows(path, CodeTests())


def test_a_request_to_run_a_grader_has_no_prompt(tmp_path: Path) -> None:
    """Benchmarks run it; nobody can be asked."""
    path = written(tmp_path / "rows.jsonl", [GRADER_REQUEST])
    assert import_scenarios(path, unsolved_too=True).form == "grader"
    for asking in (evaluated, trained):
        with pytest.raises(ValidationError, match=REFUSED["grader"]):
            asking(path)


SOLUTIONS: dict[str, tuple[Mapping[str, Any], str, str]] = {
    "humaneval": (HUMANEVAL, "    return x * 2\n", HUMANEVAL["prompt"] + "    return x * 2\n"),
    "evalplus": (EVALPLUS, "    return x * 2\n", EVALPLUS["prompt"] + "    return x * 2\n"),
    **{
        name: (row, solution, solution)
        for name, row, solution in (
            ("mbpp", MBPP_SANITISED, MBPP_SANITISED["code"]),
            ("apps", APPS, "print(int(input()) * 2)\n"),
            ("verification_info", VERIFICATION_INFO, "print(int(input()) * 2)\n"),
            (
                "tests",
                {"prompt": "Write `f`.", "tests": "assert f(1) == 2", "solution": "def f(x): ..."},
                "def f(x): ...",
            ),
            ("prompts", {"prompt": "add 1>", "scoring": TESTS, "solution": "x + 1"}, "x + 1"),
            ("statements", {"statement": "add 1>", "scoring": TESTS, "solution": "x + 1"}, "x + 1"),
            ("no tests", {"prompt": "add 1>", "canonical_solution": "x + 1"}, "x + 1"),
        )
    },
}
"""(row, what a tokenizer without chat template learns, what one with a template does)"""


@pytest.mark.parametrize("name", SOLUTIONS)
def test_sft_learns_the_right_answer_of_what_the_others_take(tmp_path: Path, name: str) -> None:
    """After the same prompt as in RL; what goes on where the prompt ends is a whole program in a conversation."""
    row, rest, whole = SOLUTIONS[name]
    path = written(tmp_path / "rows.jsonl", [row])
    assert "sft" in read_part(path, split=None)["uses"]
    asked = prompt_row_of(row, id="1")
    prompt, completion = text_pair_to_learn(row)
    assert (prompt, completion) == (asked.prompt, rest)
    (question, answer) = conversation_to_learn(row).messages
    assert (question["content"], answer["content"]) == (prompt, whole)


def test_a_csv_file_of_problems_is_learned_from(tmp_path: Path) -> None:
    """The rows come to the tokens of prompt and solution."""
    path = tmp_path / "own.csv"
    header, tests = "id,prompt,tests,solution", '"assert f(1) == 2\nassert f(2) == 3"'
    path.write_text(f"{header}\na,Write `f`.,{tests},def f(x): return x + 1\n")
    tokenizer = Characters()
    (learned,), _ = training_rows(path, tokenizer, template=None, max_length=200)
    said = [token for token, is_learned in zip(learned.tokens, learned.mask, strict=True) if is_learned]
    assert tokenizer.decode(said[:-1]) == "def f(x): return x + 1"
    path.write_text(f"{header}\na,Write `f`.,{tests},def f(x): return x + 1\n\nb,Write `f`.,{tests},\n")
    with pytest.raises(
        ValidationError, match=r"own.csv:5: it has a prompt and no answer \(.*; its fields are id, prompt"
    ):
        training_rows(path, tokenizer, template=None, max_length=200)


@pytest.mark.parametrize("row", [LIVECODEBENCH, {"prompt": "add 1>", "tests": "assert f(1) == 2"}], ids=["form", "own"])
def test_a_problem_without_a_right_answer_says_what_to_do(row: Mapping[str, Any]) -> None:
    """The field to give, and the command that writes what passes."""
    for read in (conversation_to_learn, text_pair_to_learn):
        with pytest.raises(ValueError, match=r"solution.*`harena sft validate` writes them"):
            read(row)


def test_task_directories_are_no_prompts(tmp_path: Path) -> None:
    """An agent works in them: they say what to do instead."""
    harbor_task(tmp_path / "task")
    assert import_scenarios(tmp_path / "task", unsolved_too=True).form == "harbor"
    for asking in (evaluated, trained):
        with pytest.raises(ValidationError, match=REFUSED["harbor"]):
            asking(tmp_path / "task")
