"""GRPO with Unsloth, rewards from sandboxes: the guide's script. It needs a GPU, and says so before it loads anything.

    pip install unsloth harena
    python examples/rl_training/unsloth_grpo.py [--model unsloth/Qwen2.5-Coder-1.5B] [--check]

`--check` prints what is there and what is missing, tries the reward function on two programs, and ends. The reward is
an exit status, as the guide has it; a fault of the platform becomes a reward of 0.
"""

from __future__ import annotations

import argparse
import importlib.util
import re
from typing import Any

import harena.aliases  # noqa: F401 - makes `aviato` importable

import aviato  # isort: skip
from aviato import Sandbox, SandboxDefaults  # isort: skip

DEFAULTS = SandboxDefaults(container_image="python:3.11", tags=("unsloth-grpo",))


def extract_code_block(text: str) -> str:
    """Take the code out of the last fenced block; the whole text where there is none."""
    blocks = re.findall(r"```(?:python)?\n(.*?)```", text, re.DOTALL)
    return blocks[-1].strip() if blocks else text.strip()


def code_reward(completions: list[str], **kwargs: Any) -> list[float]:
    """Run every completion in a sandbox of its own, all at the same time; the exit status is the reward."""
    rewards = []
    sandboxes = [Sandbox.run(defaults=DEFAULTS) for _ in completions]
    aviato.wait(sandboxes)
    processes = [
        sandbox.exec(["python", "-c", extract_code_block(completion)], timeout_seconds=30.0)
        for sandbox, completion in zip(sandboxes, completions, strict=True)
    ]
    for process in processes:
        try:
            rewards.append(1.0 if process.result().returncode == 0 else 0.0)
        except Exception:  # the guide's
            rewards.append(0.0)
    aviato.result([sandbox.stop() for sandbox in sandboxes])
    return rewards


def what_is_missing() -> list[str]:
    """What keeps this machine from training with Unsloth; empty = nothing."""
    missing = [
        f"the package {name} is not installed: pip install {name}"
        for name in ("torch", "trl", "datasets", "unsloth")
        if importlib.util.find_spec(name) is None
    ]
    if importlib.util.find_spec("torch") is not None:
        import torch

        if not torch.cuda.is_available():
            missing.append("there is no GPU that torch can use (torch.cuda.is_available() is False)")
    return missing


def check() -> int:
    """Print what is there and what is missing; 0 where training could begin."""
    rewards = code_reward(["```python\nassert 1 + 1 == 2\n```", "raise SystemExit(1)"])
    print(f"reward function: {rewards} {'OK' if rewards == [1.0, 0.0] else 'WRONG: must be [1.0, 0.0]'}")
    missing = what_is_missing()
    for line in missing:
        print(f"missing: {line}")
    print("ready to train" if not missing and rewards == [1.0, 0.0] else "not ready")
    return 0 if not missing and rewards == [1.0, 0.0] else 1


def train(model_name: str, steps: int, report_to: list[str]) -> None:
    """Load the model in 4 bits, put an adapter beside it, and train it."""
    from datasets import Dataset
    from trl import GRPOConfig, GRPOTrainer
    from unsloth import FastLanguageModel  # first of all: it changes what is imported after it

    model, tokenizer = FastLanguageModel.from_pretrained(model_name=model_name, max_seq_length=2048, load_in_4bit=True)
    model = FastLanguageModel.get_peft_model(model, r=16, lora_alpha=32)
    prompts = [
        "Write Python code that prints the sum of the numbers from 1 to 10.",
        "Write Python code that prints 5!.",
    ]
    trainer = GRPOTrainer(
        model=model,
        processing_class=tokenizer,
        reward_funcs=[code_reward],
        args=GRPOConfig(
            output_dir="./unsloth_grpo",
            per_device_train_batch_size=4,
            num_generations=4,
            max_completion_length=512,
            max_steps=steps,
            report_to=report_to,
        ),
        train_dataset=Dataset.from_list([{"prompt": prompt} for prompt in prompts]),
    )
    trainer.train()


def main() -> int:
    """Check, and train where that is asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--model", default="unsloth/Qwen2.5-Coder-1.5B")
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--report-to", action="append", default=[])
    parser.add_argument("--check", action="store_true")
    asked = parser.parse_args()
    if (status := check()) or asked.check:
        return status
    train(asked.model, asked.steps, asked.report_to)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
