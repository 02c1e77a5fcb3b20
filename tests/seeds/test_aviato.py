"""Every snippet of the guide for RL training, as printed, on a real node."""

from __future__ import annotations

import logging
import sys
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from printed_snippets import AVIATO, run

import harena

GOOD, BAD = "print('42')", "raise SystemExit(1)"


@pytest.fixture
def defaults() -> harena.SandboxDefaults:
    return harena.SandboxDefaults(container_image="python:3.11", tags=("rl-training",))


def test_line_16_core_pattern() -> None:
    compute_reward = run(AVIATO, 16)["compute_reward"]
    assert compute_reward(GOOD, [{"expected": "42"}, {"expected": "43"}]) == 0.5
    assert compute_reward(BAD, [{"expected": ""}]) == 0.0


def test_line_45_tags() -> None:
    made = run(AVIATO, 45)["make_defaults"]("abc", 7, "tiny")
    with harena.Sandbox.run(defaults=made) as sandbox:
        assert sandbox.wait().tags == ("run:abc", "step:7", "model:tiny", "rl-training")


def test_line_83_session_clean_up() -> None:
    def evaluate_in_sandbox(sandbox: harena.Sandbox, output: str) -> int:
        return sandbox.exec(["python", "-c", output]).result().returncode

    names = run(AVIATO, 83, run_id="s83", num_steps=2, evaluate_in_sandbox=evaluate_in_sandbox, model_output=GOOD)
    assert names["reward"] == 0
    assert harena.Sandbox.list(tags=["run:s83"]).result() == []


def test_line_106_clean_up_of_a_run() -> None:
    cleanup_run = run(AVIATO, 106)["cleanup_run"]
    for _ in range(2):
        harena.Sandbox.run(tags=["run:s106"]).wait()
    assert (cleanup_run("s106"), cleanup_run("s106")) == (2, 0)


def test_line_122_clean_up_of_what_is_old() -> None:
    cleanup_old_sandboxes = run(AVIATO, 122)["cleanup_old_sandboxes"]
    kept = harena.Sandbox.run(tags=["rl-training"]).wait()
    assert cleanup_old_sandboxes() == 0
    assert cleanup_old_sandboxes(max_age_hours=0) == 1
    assert kept.sandbox_id not in [one.sandbox_id for one in harena.Sandbox.list().result()]


def test_line_147_parallel_creation() -> None:
    parallel_evaluate = run(AVIATO, 147)["parallel_evaluate"]
    assert parallel_evaluate([GOOD, BAD, "1/0", "assert True"]) == [1.0, 0.0, 0.0, 1.0]


def test_line_185_pool_of_workers() -> None:
    names = run(AVIATO, 185, batches=[[GOOD] * 8, [BAD] * 8])
    assert [result.returncode for result in names["results"]] == [1] * 8
    assert harena.Sandbox.list(tags=["worker-pool"]).result() == []


def test_line_213_first_results() -> None:
    with harena.Session() as session:
        sandboxes = [session.sandbox() for _ in range(6)]
        for sandbox in sandboxes:
            code = "import time; time.sleep(600)" if sandbox is sandboxes[0] else "pass"
            sandbox.write_file("/workspace/evaluate.py", code).result()
        names = run(AVIATO, 213, sandboxes=sandboxes)
    assert (len(names["done"]), len(names["pending"]), names["result"].returncode) == (5, 1, 0)


class Trainer:
    """TRL's own, on a model of a few thousand weights, for one step and on processors."""

    def __init__(self, patch: pytest.MonkeyPatch, folder: Path) -> None:
        import trl
        from datasets import Dataset

        from harena.training.engines.tiny import character_tokenizer, tiny_llama

        patch.chdir(folder)
        few = {"max_steps": 1, "use_cpu": True, "bf16": False, "gradient_checkpointing": False, "report_to": []}
        shortest = {"max_completion_length": 8, "save_strategy": "no", "disable_tqdm": True}

        def config(**given: Any) -> Any:
            return original(**{**shortest, "per_device_train_batch_size": 4, **given, **few})

        original = trl.GRPOConfig
        patch.setattr(trl, "GRPOConfig", config)
        self.tokenizer = character_tokenizer("abcdefghijklmnopqrstuvwxyz0123456789 >()+-*<>/='\"\n")
        self.model = tiny_llama(len(self.tokenizer), seed=0, width=32, layers=2, heads=2, context_length=1024)
        self.dataset = Dataset.from_list([{"prompt": f"add {place}>"} for place in range(8)])


@pytest.fixture
def trainer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Trainer:
    return Trainer(monkeypatch, tmp_path)


def extract_code(text: str) -> str:
    """What a model wrote, as the guide's own words leave it open."""
    return text.removeprefix("```python\n").removesuffix("```")


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore")  # TRL's, and those of what it stands on
def test_line_235_trl(trainer: Trainer, monkeypatch: pytest.MonkeyPatch) -> None:
    import trl

    with_tokenizer = partial(trl.GRPOTrainer, processing_class=trainer.tokenizer)
    monkeypatch.setattr(trl, "GRPOTrainer", with_tokenizer)  # the tiny model has no name that one is found by
    names = run(
        AVIATO, 235, wandb_run_id="s235", extract_code=extract_code, model=trainer.model, dataset=trainer.dataset
    )
    assert names["trainer"].state.global_step == 1
    assert names["reward_fn"]([GOOD, BAD]) == [1.0, 0.0]


def test_line_271_trl_in_parallel() -> None:
    reward_fn = run(AVIATO, 271, wandb_run_id="s271", extract_code=extract_code)["reward_fn"]
    assert reward_fn([GOOD, BAD, "1/0"]) == [1.0, 0.0, 0.0]
    assert harena.Sandbox.list(tags=["run:s271"]).result() == []


def _unsloth(patch: pytest.MonkeyPatch, model: Any, tokenizer: Any) -> None:
    """Unsloth needs a GPU: its loader here gives what it is told to."""
    stand_in = ModuleType("unsloth")

    class FastLanguageModel:
        @staticmethod
        def from_pretrained(model_name: str, max_seq_length: int, load_in_4bit: bool) -> tuple[Any, Any]:
            assert (model_name, max_seq_length, load_in_4bit) == ("unsloth/Qwen2.5-Coder-1.5B", 2048, True)
            return model, tokenizer

    stand_in.FastLanguageModel = FastLanguageModel  # type: ignore[attr-defined]
    patch.setitem(sys.modules, "unsloth", stand_in)


def test_line_309_unsloth(monkeypatch: pytest.MonkeyPatch) -> None:
    _unsloth(monkeypatch, "model", "tokenizer")
    names = run(AVIATO, 309, wandb_run_id="s309", extract_code_block=extract_code)
    assert (names["model"], names["tokenizer"]) == ("model", "tokenizer")
    assert names["code_reward"]([GOOD, "```python\n1/0```"]) == [1.0, 0.0]


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore")  # TRL's, and those of what it stands on
def test_line_354_trl_with_what_unsloth_gave(trainer: Trainer, monkeypatch: pytest.MonkeyPatch) -> None:
    _unsloth(monkeypatch, trainer.model, trainer.tokenizer)
    code_reward = run(AVIATO, 309, wandb_run_id="s354", extract_code_block=extract_code)["code_reward"]
    names = run(
        AVIATO,
        354,
        model=trainer.model,
        tokenizer=trainer.tokenizer,
        code_reward=code_reward,
        dataset=trainer.dataset,
    )
    assert names["trainer"].state.global_step == 1


def test_line_377_robust_reward() -> None:
    robust_reward = run(AVIATO, 377, extract_code=extract_code)["robust_reward"]
    assert [robust_reward(code) for code in ("", GOOD, "1/0")] == [0.0, 1.0, 0.0]


def test_line_409_counting() -> None:
    count_active_sandboxes = run(AVIATO, 409)["count_active_sandboxes"]
    with harena.Sandbox.run(tags=["run:s409"]) as sandbox:
        sandbox.wait()
        assert count_active_sandboxes("s409") == {"running": 1, "pending": 0, "total": 1}
    assert count_active_sandboxes("s409")["total"] == 0


def test_line_429_logging(caplog: pytest.LogCaptureFixture, defaults: harena.SandboxDefaults) -> None:
    names = run(AVIATO, 429, defaults=defaults, Sandbox=harena.Sandbox, extract_code=extract_code)
    with caplog.at_level(logging.DEBUG):
        assert names["logged_reward"](GOOD, 3) == 1.0
    [record] = [record for record in caplog.records if record.message == "Reward computation"]
    assert (record.step, record.returncode, record.stdout_len) == (3, 0, 3)  # type: ignore[attr-defined]
