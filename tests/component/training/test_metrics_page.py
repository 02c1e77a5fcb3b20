"""docs/reference/training-metrics.md names what an RL job tells, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import torch
from small_engine import new_policy

from harena.core.records.training_plans import LossSpec
from harena.training.data.prompts import PromptRow
from harena.training.engines.critic import CriticEngine
from harena.training.engines.local import LocalEngine
from harena.training.loop.algorithms import loss_spec
from harena.training.loop.batch import TrainingRow
from harena.training.loop.evaluation import Evaluation
from harena.training.loop.rl import RLLoop, RLSettings
from harena.training.loop.sft import SFTSettings, train_sft
from harena.training.rollouts.trajectory import Reward, RewardValidity, Sampling

SFT_HEADING = "## Metrics of an SFT job"
PAGE = Path(__file__).parents[3] / "docs" / "reference" / "training-metrics.md"
ROWS = [PromptRow(id=f"p{number}", prompt="add 3>"[: 3 + number % 2]) for number in range(4)]
LOSSES = [
    LossSpec(kl_coefficient=0.1),
    loss_spec("grpo", max_steps_off_policy=1, correction="decoupled"),
    loss_spec("ppo", max_steps_off_policy=0, critic=True),
]


class Some:
    """Loses a few to the platform."""

    deterministic = False
    asked = 0

    async def reward(self, row: PromptRow, text: str) -> Reward:
        self.asked += 1
        if self.asked == 7:  # after the evaluation of the first weights
            return Reward(value=None, validity=RewardValidity.INFRA, reason="platform_error")
        return Reward(value=float(len(text) % 2))


def named() -> set[str]:
    """Names in code font in the first column of its tables, and those of the evaluation."""
    page = PAGE.read_text(encoding="utf-8").partition(SFT_HEADING)[0]
    rows = [line.split("|")[1] for line in page.splitlines() if line.startswith("| `")]
    return {*re.findall(r"`([^`]+)`", " ".join(rows)), *re.findall(r"`(eval/[a-z_]+)`", page)}


async def test_the_page_is_whole(engines: Callable[..., LocalEngine]) -> None:
    torch.set_num_threads(1)
    told: set[str] = set()
    for loss in LOSSES:
        sampling = Sampling(max_new_tokens=4, stop_tokens=tuple(range(3, 20)))
        settings = RLSettings(steps=2, groups_per_step=2, group_size=4, sampling=sampling, loss=loss, masked_limit=1.0)
        made = engines(keep_reference=True) if not loss.critic else CriticEngine(*new_policy())
        loop = RLLoop(made, ROWS, Some(), settings, evaluation=Evaluation(rows=ROWS[:2], every=1))
        await loop.run(on_step=lambda step, metrics: told.update(metrics))
    assert {re.sub(r"masked_share/.*", "masked_share/<reason>", name) for name in told} == named()


async def test_the_page_names_what_sft_tells(engines: Callable[..., LocalEngine]) -> None:
    """Nothing is told that the page does not explain."""
    torch.set_num_threads(1)
    told: set[str] = set()
    rows = [TrainingRow(tokens=(9, 4, 5), mask=(0, 1, 1))]
    settings = SFTSettings(steps=2, batch_size=1, eval_interval=1)
    await train_sft(engines(), rows, settings, eval_rows=rows, on_step=lambda step, metrics: told.update(metrics))
    named_there = re.findall(r"`([^`]+)`", PAGE.read_text(encoding="utf-8").partition(SFT_HEADING)[2])
    assert told <= {*named_there}
    assert {"loss", "tokens", "entropy", "eval/loss"} <= told
