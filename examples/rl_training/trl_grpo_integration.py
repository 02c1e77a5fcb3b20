"""GRPO with TRL, rewards from sandboxes: the guide's script, which trains for 10 steps.

    pip install 'harena[trl]'
    python examples/rl_training/trl_grpo_integration.py [--model Qwen/Qwen2.5-0.5B-Instruct] [--report-to wandb]

`--style answer` takes code out of <answer> tags and keeps one session open (the guide for `cwsandbox`); `--style
fenced` takes it out of a fenced block and starts sandboxes side by side (the guide for `aviato`). Both rewards are an
exit status, which any completion can forge; `--style harena` is `harena.integrations.trl.reward_function`.
"""

from __future__ import annotations

import argparse
import json
import re
import uuid
from collections.abc import Callable
from typing import Any

from datasets import Dataset
from trl import GRPOConfig, GRPOTrainer

import harena.aliases  # noqa: F401 - makes `aviato` and `cwsandbox` importable

import aviato  # isort: skip
import cwsandbox  # isort: skip
from cwsandbox import SandboxDefaults  # isort: skip

EXECUTION_TIMEOUT_SECONDS = 30.0
SYSTEM_PROMPT = """You solve coding problems by writing Python code.
Put your code inside <answer> tags like this: <answer>print("hello")</answer>
Only include the code, no explanations."""
PROBLEMS = [
    "Print the sum of the numbers from 1 to 10.",
    "Print the word hello in upper case.",
    "Print the first five square numbers.",
    "Print the factorial of 5.",
    "Print the letters of the word sandbox in reverse order.",
]
Reward = Callable[..., list[float]]


def extract_xml_answer(text: str) -> str:
    """Take the code out of <answer> tags; "" where there are none."""
    if "<answer>" not in text:
        return ""
    return text.split("<answer>")[-1].split("</answer>")[0].strip()


def extract_code(text: str) -> str:
    """Take the code out of the last fenced block; the whole text where there is none."""
    blocks = re.findall(r"```(?:python)?\n(.*?)```", text, re.DOTALL)
    return blocks[-1].strip() if blocks else text.strip()


def texts_of(completions: list[Any]) -> list[str]:
    """Conversational data sets give lists of messages, others texts."""
    return [entry[0]["content"] if isinstance(entry, list) else entry for entry in completions]


def answer_reward(session: cwsandbox.Session) -> Reward:
    """The reward function of the guide for `cwsandbox`."""
    calls = 0

    def code_execution_reward(completions: list[Any], **kwargs: Any) -> list[float]:
        nonlocal calls
        calls += 1
        codes = [extract_xml_answer(text) for text in texts_of(completions)]
        processes = [
            (place, session.sandbox().exec(["python", "-c", code], timeout_seconds=EXECUTION_TIMEOUT_SECONDS))
            for place, code in enumerate(codes)
            if code
        ]
        rewards = [0.0] * len(codes)
        for place, process in processes:
            try:
                rewards[place] = 1.0 if process.result().returncode == 0 else 0.0
            except Exception:  # the guide's: a reward function does not raise
                rewards[place] = 0.0
        skipped = len(codes) - len(processes)
        told = f", {skipped} skipped (no code)" if skipped else ""
        passed = f"{sum(map(int, rewards))}/{len(processes)} passed"
        print(f"[CWSandbox] Reward call {calls}: {len(processes)} sandboxes, {passed}{told}", flush=True)
        session.log_metrics(step=calls)
        return rewards

    return code_execution_reward


def fenced_reward(defaults: SandboxDefaults) -> Reward:
    """The reward function of the guide for `aviato`, its parallel form."""

    def reward_fn(completions: list[Any], **kwargs: Any) -> list[float]:
        codes = [extract_code(text) for text in texts_of(completions)]
        sandboxes = [aviato.Sandbox.run(defaults=defaults) for _ in codes]
        aviato.wait(sandboxes)
        processes = [
            sandbox.exec(["python", "-c", code], timeout_seconds=EXECUTION_TIMEOUT_SECONDS)
            for sandbox, code in zip(sandboxes, codes, strict=True)
        ]
        rewards = [1.0 if process.result().returncode == 0 else 0.0 for process in processes]
        aviato.result([sandbox.stop() for sandbox in sandboxes])
        print(f"[aviato] {len(codes)} sandboxes, {sum(map(int, rewards))}/{len(codes)} passed", flush=True)
        return rewards

    return reward_fn


def toy_dataset(*, chat: bool) -> Dataset:
    """Five problems; as texts for a model without a chat template. `scoring` is for `--style harena`."""
    scoring = json.dumps({"type": "stdio", "cases": [{"stdin": "", "stdout": "55\n"}]})
    rows = []
    for problem in PROBLEMS:
        messages = [{"role": "system", "content": SYSTEM_PROMPT}, {"role": "user", "content": problem}]
        rows.append({"prompt": messages if chat else f"{problem}\n", "scoring": scoring})
    return Dataset.from_list(rows)


def build_trainer(
    reward: Reward, *, model: Any, processing_class: Any = None, chat: bool, **settings: Any
) -> GRPOTrainer:
    """A trainer over the toy problems; `settings` are those of GRPOConfig."""
    given = {"output_dir": "./grpo_output", "max_steps": 10, "num_generations": 2, "per_device_train_batch_size": 2}
    return GRPOTrainer(
        model=model,
        reward_funcs=[reward],
        args=GRPOConfig(**{**given, "logging_steps": 1, "report_to": [], "save_strategy": "no", **settings}),
        train_dataset=toy_dataset(chat=chat),
        processing_class=processing_class,
    )


def main() -> None:
    """Train for the steps that are asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--model", default="Qwen/Qwen2.5-0.5B-Instruct", help="a name of the Hugging Face hub, or a path"
    )
    parser.add_argument("--style", choices=["answer", "fenced", "harena"], default="answer")
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--max-completion-length", type=int, default=128)
    parser.add_argument("--no-chat", action="store_true", help="prompts are texts: the model has no chat template")
    parser.add_argument("--report-to", action="append", default=[], help="wandb: TRL and the session report to it")
    parser.add_argument("--cpu", action="store_true", help="no GPU, no bf16, no gradient checkpointing")
    asked = parser.parse_args()
    job = uuid.uuid4().hex[:8]
    print(f"TRL GRPO Integration Example (job: {job})")
    print("=" * 60)
    defaults = SandboxDefaults(container_image="python:3.11", tags=("trl-grpo", f"job:{job}"))
    print(f"Loading model: {asked.model}\nCreating toy dataset...\nDataset size: {len(PROBLEMS)} problems")
    with cwsandbox.Session(defaults, report_to=asked.report_to) as session:
        if asked.style == "harena":
            from harena.integrations.trl import reward_function

            reward: Reward = reward_function("code_tests_v1", {"blueprint_id": "python-warm"})
        else:
            reward = answer_reward(session) if asked.style == "answer" else fenced_reward(defaults)
        print("Setting up GRPOTrainer...")
        on_cpu = {"use_cpu": True, "bf16": False, "gradient_checkpointing": False} if asked.cpu else {}
        trainer = build_trainer(
            reward,
            model=asked.model,
            chat=not asked.no_chat,
            max_steps=asked.steps,
            max_completion_length=asked.max_completion_length,
            report_to=asked.report_to,
            **on_cpu,
        )
        print(f"Starting training ({asked.steps} steps)...")
        print("-" * 60)
        trainer.train()
    print("-" * 60)
    print("Training completed successfully!")


if __name__ == "__main__":
    main()
