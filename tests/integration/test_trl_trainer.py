"""TRL's own trainer with harena's rewards, and with the reward functions that guides print, on a tiny model."""

from __future__ import annotations

import atexit
import importlib
import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from datasets import Dataset
from trl import GRPOConfig, GRPOTrainer
from trl.trainer.utils import shutdown_event_loop_in_daemon

from harena.alias_modules import install_aliases
from harena.core.errors import PlatformError
from harena.integrations.trl import async_reward_function, reward_function
from harena.training.data.prompts import PromptRow
from harena.training.engines.tiny import character_tokenizer, tiny_llama
from harena.training.rewards import CodeTests
from harena.training.rollouts.trajectory import Reward

pytestmark = [pytest.mark.thorough, pytest.mark.filterwarnings("ignore")]  # those of TRL and of what it stands on

CODE = CodeTests(template="def f(x):\n    return {completion}\n", blueprint_id="python-warm")
CONTRACT = {"type": "tests", "entry_point": "f", "checks": [{"args": [2], "expected": 3}]}


@pytest.fixture(scope="module", autouse=True)
def _home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The guides' names work, and harena's home is the test's own."""
    before = os.environ.get("HARENA_HOME")
    os.environ["HARENA_HOME"] = str(tmp_path_factory.mktemp("home"))
    install_aliases("aviato", "cwsandbox", force=True)
    torch.set_num_threads(1)
    yield
    importlib.import_module("harena").shutdown()
    for name in ("aviato", "cwsandbox"):
        del sys.modules[name]
    if before is None:
        del os.environ["HARENA_HOME"]
    else:
        os.environ["HARENA_HOME"] = before


@pytest.fixture(autouse=True)
def _node_ends() -> Iterator[None]:
    """With the test: a reward function leaves the sdk's loop open, as any use of it does."""
    yield
    importlib.import_module("harena").shutdown()


def trained(folder: Path, rewards: Callable[..., Any], *, steps: int = 1) -> tuple[GRPOTrainer, bool]:
    """(the trainer at its end, whether its weights have changed)."""
    tokenizer = character_tokenizer("abcdefghijklmnopqrstuvwxyz0123456789 >()+-*<>/='\"\n")
    model = tiny_llama(len(tokenizer), seed=0, width=32, layers=2, heads=2, context_length=64)
    before = [parameter.detach().clone() for parameter in model.parameters()]
    settings = GRPOConfig(
        output_dir=str(folder),
        max_steps=steps,
        per_device_train_batch_size=4,
        num_generations=4,
        max_completion_length=8,
        learning_rate=1e-3,
        warmup_steps=0,
        use_cpu=True,
        bf16=False,
        gradient_checkpointing=False,
        report_to=[],
        save_strategy="no",
        disable_tqdm=True,
        logging_steps=1,
    )
    rows = [{"prompt": f"add {place}>", "scoring": json.dumps(CONTRACT)} for place in range(8)]
    trainer = GRPOTrainer(
        model=model,
        reward_funcs=[rewards],
        args=settings,
        train_dataset=Dataset.from_list(rows),
        processing_class=tokenizer,
    )
    trainer.train()
    _end_its_loop(trainer)
    changed = any(
        not torch.equal(old, new.detach()) for old, new in zip(before, trainer.model.parameters(), strict=True)
    )
    return trainer, changed


def _end_its_loop(trainer: GRPOTrainer) -> None:
    """TRL ends the loop of its asynchronous functions with the process, which would look like a leak here."""
    if (loop := getattr(trainer, "async_loop", None)) is not None:
        loop.call_soon_threadsafe(loop.stop)
        trainer.async_loop_thread.join()
        atexit.unregister(shutdown_event_loop_in_daemon)
        if not loop.is_closed():
            loop.close()


class LostOnce:
    """Each group's first completion is lost by the platform; all others earn the same."""

    deterministic = False

    def __init__(self) -> None:
        self.asked = 0

    async def reward(self, row: PromptRow, text: str) -> Reward:
        self.asked += 1
        if self.asked % 4 == 1:
            raise PlatformError("the node was lost", step="create")
        return Reward(value=1.0)


class Places:
    """Another reward for each sibling, without looking at it."""

    deterministic = False

    def __init__(self) -> None:
        self.asked = 0

    async def reward(self, row: PromptRow, text: str) -> Reward:
        self.asked += 1
        return Reward(value=float(self.asked % 4))


def logged(trainer: GRPOTrainer, name: str) -> list[float]:
    return [entry[name] for entry in trainer.state.log_history if name in entry]


def test_a_fault_of_the_platform_is_not_learnt(tmp_path: Path) -> None:
    """A missing reward among equal ones leaves nothing to learn; as a 0 it would teach that siblings are better."""
    recipe = LostOnce()
    trainer, changed = trained(tmp_path, reward_function(recipe, name="lost"), steps=2)
    assert recipe.asked == 8
    assert not changed
    assert logged(trainer, "harena/masked_share") == [0.25, 0.25]


@pytest.mark.parametrize("make", [reward_function, async_reward_function])
def test_rewards_are_learnt(tmp_path: Path, make: Callable[..., Any]) -> None:
    trainer, changed = trained(tmp_path, make(Places()))
    assert changed
    assert logged(trainer, "reward") == [1.5]


@pytest.mark.parametrize("make", [reward_function, async_reward_function])
def test_rewards_come_from_execution(tmp_path: Path, make: Callable[..., Any]) -> None:
    """Gibberish earns 0 in a sandbox; and what is right earns 1, through the same function."""
    trainer, _ = trained(tmp_path, make(CODE, name="tests"))
    assert logged(trainer, "rewards/tests/mean") == [0.0]
    assert logged(trainer, "harena/masked_share") == [0.0]
    if make is reward_function:
        scoring = [json.dumps(CONTRACT)] * 2
        assert make(CODE)(["p"] * 2, ["x+1", "x-1"], scoring=scoring) == [1.0, 0.0]


def aviato_one_by_one(seen: list[float]) -> Callable[..., list[float]]:
    """A sandbox for each completion, in turn; the exit status is the reward."""
    from aviato import Sandbox, SandboxDefaults

    defaults = SandboxDefaults(container_image="python:3.11", tags=("trl-grpo", "run:1"))

    def reward_fn(completions: list[str], **kwargs: Any) -> list[float]:
        rewards = []
        for completion in completions:
            with Sandbox.run(defaults=defaults) as sandbox:
                result = sandbox.exec(["python", "-c", completion], timeout_seconds=30.0).result()
                rewards.append(1.0 if result.returncode == 0 else 0.0)
        seen.extend(rewards)
        return rewards

    return reward_fn


def aviato_side_by_side(seen: list[float]) -> Callable[..., list[float]]:
    """All sandboxes, all programs, all results, all stops."""
    import aviato
    from aviato import Sandbox, SandboxDefaults

    defaults = SandboxDefaults(container_image="python:3.11", tags=("trl-grpo", "run:2"))

    def reward_fn(completions: list[str], **kwargs: Any) -> list[float]:
        sandboxes = [Sandbox.run(defaults=defaults) for _ in completions]
        aviato.wait(sandboxes)
        processes = [
            sb.exec(["python", "-c", code], timeout_seconds=30.0)
            for sb, code in zip(sandboxes, completions, strict=True)
        ]
        rewards = [1.0 if p.result().returncode == 0 else 0.0 for p in processes]
        aviato.result([sb.stop() for sb in sandboxes])
        seen.extend(rewards)
        return rewards

    return reward_fn


def cwsandbox_session(seen: list[float]) -> Callable[..., list[float]]:
    """A session's sandboxes, for answers in tags; whatever goes wrong is 0."""
    import cwsandbox
    from cwsandbox import SandboxDefaults

    session = cwsandbox.Session(defaults=SandboxDefaults(container_image="python:3.11", tags=("trl-grpo",)))

    def extract(text: str) -> str:
        if "<answer>" not in text:
            return ""
        return text.split("<answer>")[-1].split("</answer>")[0].strip()

    def reward_fn(completions: list[Any], **kwargs: Any) -> list[float]:
        texts = [c[0]["content"] if isinstance(c, list) else c for c in completions]
        texts = ["<answer>print(1)</answer>", "<answer>1/0</answer>", *texts[2:]]
        codes = [extract(text) for text in texts]
        processes = [
            (i, session.sandbox().exec(["python", "-c", code], timeout_seconds=30.0))
            for i, code in enumerate(codes)
            if code
        ]
        rewards = [0.0] * len(codes)
        for i, process in processes:
            try:
                rewards[i] = 1.0 if process.result().returncode == 0 else 0.0
            except Exception:  # noqa: BLE001 - as the guide has it; docs/how-to/use-trl.md says what is wrong with it
                rewards[i] = 0.0
        seen.extend(rewards)
        return rewards

    return reward_fn


@pytest.mark.parametrize("guide", [aviato_one_by_one, aviato_side_by_side, cwsandbox_session])
def test_reward_functions_of_the_guides(tmp_path: Path, guide: Callable[..., Any]) -> None:
    seen: list[float] = []
    trained(tmp_path, guide(seen))
    assert len(seen) == 4
    assert set(seen) <= {0.0, 1.0}
    if guide is cwsandbox_session:
        assert seen == [1.0, 0.0, 0.0, 0.0]
