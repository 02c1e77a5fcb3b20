"""The whole road of a chat model, in small: a byte-level BPE of its own, a chat template, rows that are cut, a base
model in a directory, and an adapter that learns from rewards what the demonstrations did not teach."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from statistics import fmean

import pytest
from transformers import AutoModelForCausalLM, AutoTokenizer

from harena.training.data.datasets import prompt_rows, training_rows
from harena.training.data.templates import ChatTemplate
from harena.training.engines.local import LocalEngine
from harena.training.engines.models import Lora, load_model, with_adapter
from harena.training.engines.tiny import byte_pair_tokenizer, tiny_llama
from harena.training.loop.rl import RLLoop, RLSettings
from harena.training.loop.sft import SFTSettings, train_sft
from harena.training.rewards import exact_match
from harena.training.rollouts.trajectory import Sampling

SYSTEM = "Answer in Python."
OPERATIONS = (("add", "+", "**"), ("subtract", "-", "%"))
PROBLEMS = [
    (f"Take x, {words} {c}.", f"x {right} {c}", f"x {wrong} {c}") for words, right, wrong in OPERATIONS for c in (2, 3)
]
"""(prompt, right, what two of three demonstrations say)"""


def write(path: Path, rows: list[dict[str, object]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def demonstrations() -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for prompt, right, wrong in PROBLEMS:
        for place, said in enumerate((right, wrong, wrong)):
            earlier = [{"role": "user", "content": "Take x. " * 9}, {"role": "assistant", "content": "x"}]
            asked = {"role": "user", "content": prompt}
            rows.append({"messages": [*earlier * (place == 2), asked, {"role": "assistant", "content": said}]})
    return rows


@pytest.mark.filterwarnings("ignore:`is_gradient_checkpointing`:FutureWarning")  # what peft asks transformers
async def test_an_adapter_learns_what_demonstrations_did_not_teach(tmp_path: Path) -> None:
    file = write(tmp_path / "demonstrations.jsonl", demonstrations())
    prompts = write(tmp_path / "prompts.jsonl", [{"prompt": p, "expected_output": right} for p, right, _ in PROBLEMS])
    tokenizer = byte_pair_tokenizer([text for problem in PROBLEMS for text in problem] + [SYSTEM], size=320)
    model = tiny_llama(len(tokenizer), seed=0, width=64, layers=2, context_length=64)
    base = LocalEngine(model, tokenizer, pack=True)
    template = ChatTemplate(base.tokenizer, capability_prompt=SYSTEM)
    rows, report = training_rows(file, base.tokenizer, template=template, max_length=50, too_long="left")
    assert (report.rows, report.cut, report.left_out) == (12, 4, 0)
    await train_sft(base, rows, SFTSettings(steps=200, batch_size=12, learning_rate=4e-3, warmup_steps=5))
    await base.export(tmp_path / "base")
    await base.close()

    adapted, tokenizer = load_model(tmp_path / "base")
    engine = LocalEngine(with_adapter(adapted, Lora(rank=8)), tokenizer)
    template = ChatTemplate(engine.tokenizer, capability_prompt=SYSTEM)
    asked, _ = prompt_rows(prompts, engine.tokenizer, template=template, max_prompt_tokens=50)
    settings = RLSettings(
        steps=30,
        groups_per_step=4,
        group_size=12,
        sampling=Sampling(max_new_tokens=10, stop_tokens=engine.tokenizer.end_tokens),
        learning_rate=2e-3,
    )
    rewards: list[float] = []
    loop = RLLoop(engine, asked, exact_match(), settings)
    await asyncio.wait_for(loop.run(on_step=lambda step, metrics: rewards.append(metrics["reward"])), 100)
    await engine.export(tmp_path / "model")
    await engine.close()
    assert fmean(rewards[:2]) < 0.65
    assert fmean(rewards[-3:]) > 0.9

    plain, tokenizer = (
        AutoModelForCausalLM.from_pretrained(tmp_path / "model"),
        AutoTokenizer.from_pretrained(tmp_path / "model"),
    )
    right = 0
    for prompt, wanted, _ in PROBLEMS:
        messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": prompt}]
        given = tokenizer.apply_chat_template(
            messages, add_generation_prompt=True, return_tensors="pt", return_dict=True
        )
        said = plain.generate(**given, max_new_tokens=10, do_sample=False)[0, given["input_ids"].shape[1] :]
        right += tokenizer.decode(said, skip_special_tokens=True) == wanted
    assert right == 4
