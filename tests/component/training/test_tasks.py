"""Tasks are read whole, with every mistake at once; recipes over them, where no sandbox is needed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harena.core.errors import HarenaError, ValidationError
from harena.training.data.prompts import PromptRow
from harena.training.environments.tasks import flag_digest, read_task, task_of
from harena.training.rewards import TaskEnvAgent, prepare, reward_recipe, rewarded
from harena.training.rollouts.recipes import instructed

FLAG = {"name": "find", "instruction": "Find it.", "verification": {"method": "flag", "expected": "sand"}}


def folder(tmp_path: Path, yaml: str, **files: str) -> Path:
    (tmp_path / "task.yaml").write_text(yaml)
    for name, text in files.items():
        path = tmp_path / name.replace("__", "/").replace("_sh", ".sh")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def test_a_task_directory(tmp_path: Path) -> None:
    yaml = """
name: greet
version: 1.0.0
instruction: Write {{ word }} to out.txt.
inputs: {word: hello}
files: environment
provision: {script: setup.sh, timeout: 7}
verification: {method: script, script: verify.sh, expected_exit_code: 3, timeout: 2}
"""
    task = read_task(folder(tmp_path, yaml, environment__a="1\n", setup_sh="true\n", verify_sh="exit 3\n"))
    assert (task.files, task.provision, task.provision_seconds) == ({"a": "1\n"}, "true\n", 7.0)
    how = task.verification
    assert (how.script, how.expected_exit_code, how.timeout_seconds) == ("exit 3\n", 3, 2.0)
    assert task.instructed({}) == "Write hello to out.txt."
    assert task.instructed({"word": "sand"}) == "Write sand to out.txt."
    assert task.environment({}) == {"INPUT_WORD": "hello"}


def test_inputs_that_the_policy_is_not_told_of_are_for_who_verifies() -> None:
    task = task_of(
        {
            **FLAG,
            "instruction": "Answer {{ question }} with the tools in $INPUT_FOLDER.",
            "files": {"run.sh": "echo ${INPUT_PORT}"},
        }
    )
    inputs = {"question": "6*7", "folder": "/a", "port": "80", "expected": "42", "expect": "1", "seed": "3"}
    shown = {"INPUT_QUESTION": "6*7", "INPUT_FOLDER": "/a", "INPUT_PORT": "80"}
    assert task.shown_environment(inputs) == shown
    assert task.shown_environment(inputs, "head -c $INPUT_SEED", "INPUT_EXPECTEDLY") == {**shown, "INPUT_SEED": "3"}
    assert task.environment(inputs).keys() > shown.keys()


def test_every_mistake_of_a_task_is_told_at_once(tmp_path: Path) -> None:
    yaml = """
name: ""
instruction: 3
colour: red
files: ../outside
verification: {method: script, script: gone.sh, timeout: 0, hash: x, keep_processes: 1}
"""
    with pytest.raises(ValidationError) as told:
        read_task(folder(tmp_path, yaml))
    for part in (
        "colour",
        "name",
        "instruction",
        "outside of",
        "gone.sh",
        "timeout",
        "verification.hash",
        "keep_processes",
    ):
        assert part in str(told.value)


@pytest.mark.parametrize(
    ("verification", "says"),
    [
        ({}, "method"),
        ({"method": "guess"}, "method"),
        ({"method": "flag"}, "hash"),
        ({"method": "flag", "hash": "abc"}, "64"),
        ({"method": "env_script"}, "script_path"),
        ({"method": "script", "script": "v.sh"}, "no folder"),
        ({"method": "script", "script": {"source": ""}, "expected_exit_code": 300}, "255"),
        ({"method": "script", "script": {"source": ""}, "where": "moon"}, "where"),
        ({"method": "llm_judge", "model": "m"}, "rubric"),
        ({"method": "llm_judge", "model": "m", "rubric": "r", "passing_threshold": 2}, "passing_threshold"),
        ({"method": "scoring"}, "scoring"),
    ],
)
def test_mistakes_of_verifications(verification: dict[str, Any], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        task_of({**FLAG, "verification": verification})


def test_what_an_environment_cannot_have_is_said() -> None:
    with pytest.raises(ValidationError, match="ports: an environment of harena has none"):
        task_of({**FLAG, "ports": [80]})


def test_instructions_stand_where_prompts_ask_for_them() -> None:
    task = task_of({**FLAG, "instruction": "Find {{what}}."})
    recipe = reward_recipe("task_verifier_v1", {}, task=task)
    rows = [
        PromptRow(id="a", prompt="<user>{{instruction}}<end>", metadata={"inputs": {"what": "sand"}}),
        PromptRow(id="b", prompt="as it is"),
        PromptRow(id="c", prompt="{{instruction}}"),
    ]
    assert [row.prompt for row in instructed(recipe, rows[:2])] == ["<user>Find sand.<end>", "as it is"]
    with pytest.raises(ValidationError, match=r"1 of 3 rows:\n  row c: .*nothing is given for what"):
        instructed(recipe, rows)
    assert instructed(reward_recipe("gsm8k_v1", {}), rows) == rows


def test_no_task(tmp_path: Path) -> None:
    with pytest.raises(ValidationError, match=r"no task\.yaml"):
        read_task(tmp_path)
    with pytest.raises(ValidationError, match="word"):
        task_of({**FLAG, "instruction": "{{word}}"}).instructed({})


@pytest.mark.parametrize("verification", [{"expected": " sand\n"}, {"hash": f"sha256:{flag_digest('sand')}"}])
async def test_a_flag_is_what_is_said(verification: dict[str, Any]) -> None:
    task = task_of({**FLAG, "verification": {"method": "flag", **verification}})
    recipe = reward_recipe("task_verifier_v1", {"reward_if_false": -0.5}, task=task)
    row = PromptRow(id="r", prompt="?")
    await prepare(recipe, [row])
    assert (await rewarded(recipe, row, " sand \n")).value == 1.0
    assert (await rewarded(recipe, row, "Sand")).value == -0.5


async def test_rows_may_bring_their_task_and_every_row_without_one_is_told() -> None:
    recipe = reward_recipe("task_verifier_v1", {})
    rows = [PromptRow(id="a", prompt="?", metadata={"task": FLAG}), PromptRow(id="b", prompt="?")]
    assert (await rewarded(recipe, rows[0], "sand")).value == 1.0
    with pytest.raises(ValidationError, match=r"1 of 2 rows:\n  row b: there is no task"):
        await prepare(recipe, rows)


@pytest.mark.parametrize(
    ("name", "method"),
    [("task_verifier_v1", {"method": "env_flag", "expected": "x"}), ("task_env_verifier_v1", FLAG["verification"])],
)
async def test_a_recipe_says_which_verifications_it_has(name: str, method: Any) -> None:
    recipe = reward_recipe(name, {}, task=task_of({**FLAG, "verification": method}))
    with pytest.raises(ValidationError, match=f"verified by {method['method']}"):
        await prepare(recipe, [PromptRow(id="r", prompt="?")])


@pytest.mark.parametrize(
    ("name", "params", "says"),
    [
        ("task_env_verifier_v1", {"acting": "tools"}, "acting"),
        ("task_env_verifier_v1", {"max_concurrent_rollouts": 0}, "max_concurrent_rollouts"),
        ("task_env_agent_v1", {"max_turns": 0}, "max_turns"),
        ("task_env_agent_v1", {"env_timeout_sec": 0}, "env_timeout_sec"),
        ("task_env_agent_v1", {"task": {}}, "task_ref"),
        ("llm_judge_v1", {"model": "m"}, "rubric"),
        ("llm_judge_v1", {"model": "m", "rubric": "r", "passing_threshold": -1}, "passing_threshold"),
        ("composite_v1", {"parts": {}}, "at least one"),
        ("composite_v1", {"parts": {"a": {"recipe": "gsm8k_v1", "weigth": 1}}}, "weigth"),
        ("composite_v1", {"parts": {"a": {"recipe": "gsm8k_v1", "weight": "much"}}}, "weight"),
        ("composite_v1", {"parts": {"a": {"recipe": "gsm8k_v1", "weight": -1}}}, "penalty"),
        ("composite_v1", {"parts": {"a": {"recipe": "task_env_agent_v1"}}}, "no part"),
        ("composite_v1", {"parts": {"a": {"recipe": "nothing_v1"}}}, "nothing_v1"),
    ],
)
def test_parameters_that_mean_nothing_are_refused(name: str, params: dict[str, Any], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        reward_recipe(name, params)


async def test_an_agent_recipe_is_about_episodes() -> None:
    with pytest.raises(HarenaError, match="episodes"):
        await TaskEnvAgent().reward(PromptRow(id="r", prompt="?"), "x")


async def test_a_composite_is_the_weighted_sum_of_its_parts() -> None:
    parts = {
        "right": {"recipe": "exact_match_v1", "weight": 2.0},
        "short": {"recipe": "contains_v1", "params": {"needle": "e", "reward_if_false": -1.0}, "weight": 0.5},
    }
    recipe = reward_recipe("composite_v1", {"parts": parts})
    row = PromptRow(id="r", prompt="?", expected_output="yes")
    given = await rewarded(recipe, row, "yes")
    assert (given.value, given.parts) == (2.5, {"right": 1.0, "short": 1.0})
    assert (await rewarded(recipe, row, "no")).value == -0.5
    assert recipe.minimum == -0.5  # type: ignore[attr-defined]
    with pytest.raises(ValidationError, match="row bare: right: it has no expected_output"):
        await prepare(recipe, [PromptRow(id="bare", prompt="?")])
