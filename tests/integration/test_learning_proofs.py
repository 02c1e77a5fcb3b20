"""The learning proofs of examples/: honest tasks, and every stage of both commands on a few steps."""

from __future__ import annotations

import asyncio
import importlib
import json
import random
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import torch

from harena.core.records.training_plans import RLPlan
from harena.training.data.prompts import PromptRow
from harena.training.requests.plan import plan_of
from harena.training.requests.references import ResolvedReferences
from harena.training.requests.request import parse_request

pytestmark = pytest.mark.thorough

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def examples(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its modules can be imported, as they can from a script there."""
    monkeypatch.syspath_prepend(str(EXAMPLES))
    torch.set_num_threads(1)


@pytest.fixture
def words(examples: None) -> ModuleType:
    import word_arithmetic

    return word_arithmetic


def test_no_prompt_is_in_two_lists_and_all_are_of_one_distribution(words: ModuleType) -> None:
    """Were the short prompts all in one list, there would be a kind of prompt that is never trained on."""
    held_out, shown, prompts = words.Problems(5).split((500, 3000, 1000), (1, 2))
    each = [{one.prompt for one in part} for part in (held_out, shown, prompts)]
    assert [len(part) for part in each] == [500, 3000, 1000]
    assert len(set.union(*each)) == 4500
    single = [sum(one.depth == 1 for one in part) / len(part) for part in (held_out, shown)]
    assert abs(single[0] - single[1]) < 0.03
    assert [one.prompt for one in words.Problems(5).split((10,), (1, 2))[0]] != [one.prompt for one in held_out[:10]]


def test_a_wrong_teacher_is_always_wrong(words: ModuleType) -> None:
    drawn = words.Problems(1).fresh(400, (1, 2))
    assert all(words.outputs(one.right) != words.outputs(one.wrong) for one in drawn)
    assert {"x+=3;x*=2": words.outputs("x+=3;x*=2")} == {"x+=3;x*=2": [-8, 2, 6, 12, 16, 28]}


def test_the_tokenizer_gives_back_what_it_was_given(words: ModuleType) -> None:
    tokenizer = words.tokenizer()
    for one in words.Problems(2).fresh(200, (1, 2, 3)):
        for text in (one.prompt, one.right, one.wrong):
            tokens = tokenizer.encode(text, add_special_tokens=False)
            assert tokenizer.decode(tokens) == text
            assert tokenizer.unk_token_id not in tokens


async def test_rewards_of_sandboxes_and_the_judge_from_outside_agree(words: ModuleType) -> None:
    """They have no line in common."""
    from judge_exported_model import passes

    (one,) = words.Problems(3).split((1,), (2,))
    (one,) = one
    answers = [one.right, one.wrong, one.right + ";", "", "x+=", "x//=0", "x=x", one.right + ";x+=0", "y=1"]
    rewarded = await asyncio.gather(*(words.rewards().reward(one.row(), answer) for answer in answers))
    judged = [float(passes(answer, one.contract()["checks"])) for answer in answers]
    assert [reward.value for reward in rewarded] == judged == [1, 0, 1, 0, 0, 0, 0, 1, 0]


async def test_partial_credit_is_for_what_the_first_statements_do(words: ModuleType) -> None:
    """A whole answer earns 1, however it gets there in the end only part; nothing is earned for steps that are not."""
    one = words.Problem("add 3 then double then negate>", "x+=3;x*=2;x=-x", "", 3)
    row = PromptRow(id="a", prompt=one.prompt, scoring=one.stepwise_contract())
    answers = [one.right, "x+=3;x*=2", "x+=3;x*=7;x=-x", "x+=3", "x*=9;x*=9;x*=9", "x+="]
    asked = (words.rewards(stepwise=True).reward(row, answer) for answer in answers)
    assert [round(12 * (reward.value or 0)) for reward in await asyncio.gather(*asked)] == [12, 6, 3, 3, 0, 0]


async def test_shuffled_rewards_are_the_latest_true_ones(examples: None) -> None:
    import random

    from harena.training.rewards import Rule
    from learning import Shuffled

    row = PromptRow(id="a", prompt="a")
    recipe = Shuffled(Rule(lambda row, text: float(text)), random.Random(0), window=50)
    early = [await recipe.reward(row, str(number)) for number in range(50)]
    late = [await recipe.reward(row, str(number)) for number in range(50, 1000)]
    assert [reward.value for reward in early] != [float(number) for number in range(50)]
    behind = [number - (reward.value or 0) for number, reward in zip(range(50, 1000), late, strict=True)]
    assert min(behind) == 0
    assert max(behind) == 49
    assert max(Counter(behind).values()) < 60


def test_a_curve_is_a_picture(examples: None) -> None:
    from learning_curve import bar, svg

    picture = svg({"RL & more": [(0, 0.3), (10, 1.0)], "control": [(0, 0.3), (10, 0.2)]}, title="<a>", x_label="s")
    root = ElementTree.fromstring(picture)
    lines = [node.get("points") for node in root.iter() if node.tag.endswith("polyline")]
    assert len(lines) == 2
    assert lines[0] is not None
    ys = [float(point.split(",")[1]) for point in lines[0].split()]
    assert ys[1] < ys[0]  # up is better
    assert bar(0.5, 4) == "██··"


async def test_only_what_passes_is_imitated(examples: None, words: ModuleType, tmp_path: Path) -> None:
    """Through `harena sft validate`; the answers come back as they were said."""
    from learning import Proof, Recipe

    prompts = words.Problems(4).split((3,), (2,))[0]
    proof = Proof(Recipe(), tmp_path, prompts=prompts, held_out=prompts)
    said = [[prompts[0].right, prompts[0].wrong], [], [prompts[2].right + ";", "x+="]]
    verified = await asyncio.to_thread(proof._verified, said)
    assert verified == [(prompts[0].prompt, prompts[0].right), (prompts[2].prompt, prompts[2].right + ";")]


@pytest.mark.parametrize("name", ["train_noisy_teacher", "train_compositional"])
def test_what_is_held_out_is_never_trained_on(examples: None, name: str) -> None:
    from learning import Recipe

    rows = importlib.import_module(name).rows(Recipe(seed=3), 100)
    held_out = {one.prompt for one in rows.held_out}
    assert len(held_out) == 100
    assert not held_out & {one.prompt for one in rows.prompts}
    assert not held_out & {prompt for prompt, _ in rows.demonstrations}
    assert len({one.prompt for one in rows.prompts}) == 60 * 32


@pytest.mark.parametrize(("mode", "staleness"), [("sync", 0), ("one_step_off_async", 1), ("fully_async", 3)])
def test_every_mode_is_a_request_that_jobs_take(examples: None, tmp_path: Path, mode: str, staleness: int) -> None:
    from learning import Proof, Recipe
    from word_arithmetic import Problems

    drawn = Problems(1).fresh(2, (1,))
    config = Proof(Recipe(mode=mode), tmp_path, prompts=drawn, held_out=drawn).rl_config()
    request = parse_request({"trainer_type": "rl", "model": "somewhere", "config": config})
    plan = plan_of(request, ResolvedReferences(refs=()))
    assert isinstance(plan, RLPlan)
    assert (plan.max_steps_off_policy, plan.groups_per_step, plan.group_size, plan.steps) == (staleness, 32, 16, 60)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_proof_goes_through_its_stages(
    examples: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A few steps only; that it learns is measured by `python -m benchmarks learning`."""
    from learning_command import parser, prove
    from train_noisy_teacher import rows

    monkeypatch.setenv("HARENA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    small = "--sft-steps 40 --steps 2 --groups 4 --group-size 4 --held-out 20 --evaluate-every 1 --threads 1 --control"
    prove(rows, parser("", out=str(tmp_path / "out")).parse_args([*small.split(), "--seed", "1"]))
    stages = json.loads((tmp_path / "out" / "curve.json").read_text())["stages"]
    assert set(stages) == {"sft", "rl", "control"}
    assert [point["step"] for point in stages["rl"]["curve"]] == [0, 1, 2]
    assert all(0 <= point["pass_rate"] <= 1 for stage in stages.values() for point in stage["curve"])
    assert "unseen prompts" in (tmp_path / "out" / "curve.svg").read_text()
    assert stages["rl"]["name"] in capsys.readouterr().out
    samples = [json.loads(line) for line in (tmp_path / "out" / "samples.jsonl").read_text().splitlines()]
    held_out = [json.loads(line) for line in (tmp_path / "out" / "held_out.jsonl").read_text().splitlines()]
    assert [sample["prompt"] for sample in samples] == [row["prompt"] for row in held_out]
    assert len(held_out) == 20
    judge = [sys.executable, str(EXAMPLES / "judge_exported_model.py"), str(tmp_path / "out")]
    asked = subprocess.run(judge, capture_output=True, text=True, timeout=110, check=True)
    assert "of 20 held-out prompts" in asked.stdout


def test_a_policy_learns_worlds_that_it_never_saw(examples: None) -> None:
    """A few updates of the proof's own, and their control: a random player never reaches the goal in time."""
    import learn_worlds

    worlds = [learn_worlds.drawn_world(2**30 + seed, "small") for seed in range(20)]
    reached = {}
    for name, shuffled in (("policy", False), ("control", True)):
        weights, _curve = learn_worlds.learn(0, 20, shuffled=shuffled)
        reached[name] = learn_worlds.judged(weights, worlds, random.Random(1))["reached"]
    nothing = np.zeros(len(learn_worlds.FEATURES))
    reached["random"] = learn_worlds.judged(nothing, worlds, random.Random(1))["reached"]
    assert reached["policy"] > 0.4
    assert max(reached["control"], reached["random"]) < 0.2
