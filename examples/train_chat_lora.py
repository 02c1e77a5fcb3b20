"""A chat model with a tokenizer of its own learns from execution, through an adapter.

    python examples/train_chat_lora.py --seed 0 --out /tmp/chat-lora

Every part is what a larger model would have: a byte-level BPE that is learnt from a small corpus of its own, a chat
template, conversations in JSONL of which some are longer than allowed and are cut on the left, a base model in a
Hugging Face directory, LoRA on its linear layers, and a merged model at the end that plain `transformers` loads.

The base model imitates demonstrations of which 40 in 100 are right and the others consistently wrong. Then its weights
stay as they are: only the adapter is trained, with GRPO, on what its answers do when they run in fresh sandboxes.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import torch
from transformers.utils.logging import disable_progress_bar

from harena.training.data.datasets import prompt_rows, training_rows
from harena.training.data.prompts import PromptRow
from harena.training.data.templates import ChatTemplate
from harena.training.engines.local import LocalEngine
from harena.training.engines.models import Lora, adapted_layers, load_model, with_adapter
from harena.training.engines.tiny import byte_pair_tokenizer, tiny_llama
from harena.training.loop.algorithms import loss_spec
from harena.training.loop.rl import RLLoop, RLSettings
from harena.training.loop.sft import SFTSettings, train_sft
from harena.training.rewards import CachedRecipe, CodeTests, RewardRecipe
from harena.training.rollouts.trajectory import SampleRequest, Sampling

RIGHT_SHARE = 0.4
INPUTS = (-7, -2, 0, 3, 5, 11)
MAX_LENGTH = 56
"""tokens of a row that is trained on"""
SYSTEM = "Answer in Python."
FIRST = (
    ("add {c}", "x + {c}", "x ** {c}"),
    ("subtract {c}", "x - {c}", "x % {c}"),
    ("multiply by {c}", "x * {c}", "x // {c}"),
)
THEN = (("", "{x}", "{x}"), (", then double", "({x}) * 2", "({x}) / 2"), (", then negate", "-({x})", "abs({x})"))
"""(words, what is right, what the wrong teacher says)"""
TEMPLATE = "def f(x):\n    return {completion}\n"


def problems(seed: int, *, unseen: int) -> tuple[list[tuple[str, str, str]], list[tuple[str, str, str]]]:
    """(prompt, right, wrong) of all problems there are, in two lists."""
    made = []
    for c in range(2, 22):
        for words, right, wrong in FIRST:
            for more, yes, no in THEN:
                prompt = f"Take x, {words.format(c=c)}{more}."
                made.append((prompt, yes.format(x=right.format(c=c)), no.format(x=wrong.format(c=c))))
    random.Random(seed).shuffle(made)
    return made[unseen:], made[:unseen]


def write_files(folder: Path, seed: int) -> tuple[Path, Path, Path]:
    """(demonstrations, prompts to learn from, prompts held out): conversations in JSONL."""
    seen, unseen = problems(seed, unseen=40)
    rng = random.Random(seed + 1)
    demonstrations = []
    for prompt, right, wrong in seen * 8:
        said = right if rng.random() < RIGHT_SHARE else wrong
        before = []
        if rng.random() < 0.2:  # an earlier turn, which makes the row longer than allowed
            before = [{"role": "user", "content": f"{seen[0][0]} " * 6}, {"role": "assistant", "content": seen[0][1]}]
        demonstrations.append(
            {"messages": [*before, {"role": "user", "content": prompt}, {"role": "assistant", "content": said}]}
        )
    files = folder / "demonstrations.jsonl", folder / "prompts.jsonl", folder / "held-out.jsonl"
    for path, rows in zip(
        files, (demonstrations, [prompt_of(*one) for one in seen], [prompt_of(*one) for one in unseen]), strict=True
    ):
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return files


def prompt_of(prompt: str, right: str, _: str) -> dict[str, Any]:
    """With the checks that the answer is held to; they never enter the prompt."""
    checks = [{"args": [x], "expected": eval(right, {"x": x})} for x in INPUTS]
    scoring = {"type": "tests", "entry_point": "f", "checks": checks}
    return {"id": prompt, "messages": [{"role": "user", "content": prompt}], "scoring": scoring}


async def pass_rate(
    engine: LocalEngine,
    rows: Sequence[PromptRow],
    recipe: RewardRecipe,
    sampling: Sampling,
    samples: list[dict[str, Any]] | None = None,
) -> float:
    """The share of prompts whose one sampled answer passes its checks."""
    prompts = [engine.tokenizer.encode(row.prompt) for row in rows]
    asked = [SampleRequest(prompt=p, key=(7, place), sampling=sampling) for place, p in enumerate(prompts)]
    texts = [engine.tokenizer.decode(answer.tokens) for answer in await asyncio.gather(*engine.sample(asked))]
    rewards = await asyncio.gather(*(recipe.reward(row, text) for row, text in zip(rows, texts, strict=True)))
    if samples is not None:
        samples += [
            {"prompt": row.id, "said": text, "reward": reward.value}
            for row, text, reward in zip(rows, texts, rewards, strict=True)
        ]
    return fmean(reward.value for reward in rewards if reward.value is not None)


async def make_base(options: argparse.Namespace, demonstrations: Path, folder: Path) -> None:
    """A model that imitates its demonstrations, as a directory."""
    corpus = [message["content"] for line in demonstrations.open() for message in json.loads(line)["messages"]]
    tokenizer = byte_pair_tokenizer([*corpus, SYSTEM, "system user assistant"], size=400)
    model = tiny_llama(len(tokenizer), seed=options.seed, width=64, layers=2, context_length=96)
    engine = LocalEngine(model, tokenizer, pack=True)
    template = ChatTemplate(engine.tokenizer, capability_prompt=SYSTEM)
    rows, report = training_rows(
        demonstrations, engine.tokenizer, template=template, max_length=MAX_LENGTH, too_long="left"
    )
    print(
        f"byte-level BPE of {len(tokenizer)} tokens; {report.sequences} conversations, {report.cut} cut on the left",
        flush=True,
    )
    settings = SFTSettings(
        steps=options.sft_steps, batch_size=64, learning_rate=4e-3, warmup_steps=10, seed=options.seed
    )
    await train_sft(engine, rows, settings, on_step=tell(options.sft_steps))
    await engine.export(folder)
    await engine.close()


def tell(steps: int) -> Any:
    """Prints every tenth of a run."""

    def told(step: int, metrics: Mapping[str, float]) -> None:
        if (step + 1) % max(1, steps // 10) == 0:
            print(f"  step {step + 1:4d}  loss {metrics['loss']:.3f}", flush=True)

    return told


async def train(options: argparse.Namespace) -> dict[str, Any]:
    """SFT of the whole model, then GRPO of an adapter; what came of it."""
    began = time.perf_counter()
    options.out.mkdir(parents=True, exist_ok=True)
    demonstrations, prompts, held_out = write_files(options.out, options.seed)
    await make_base(options, demonstrations, options.out / "base")
    model, tokenizer = load_model(options.out / "base")
    adapted = with_adapter(model, Lora(rank=16, seed=options.seed))
    engine = LocalEngine(adapted, tokenizer)
    template = ChatTemplate(engine.tokenizer, capability_prompt=SYSTEM)
    rows, _ = prompt_rows(prompts, engine.tokenizer, template=template, max_prompt_tokens=MAX_LENGTH)
    unseen, _ = prompt_rows(held_out, engine.tokenizer, template=template, max_prompt_tokens=MAX_LENGTH)
    sampling = Sampling(max_new_tokens=16, stop_tokens=engine.tokenizer.end_tokens)
    recipe = CachedRecipe(CodeTests(template=TEMPLATE, blueprint_id="python-warm"))
    curve: list[dict[str, float]] = []

    async def evaluated(step: int, metrics: Mapping[str, float]) -> None:
        if (step + 1) % options.evaluate_every == 0 or step < 0:
            rate = await pass_rate(engine, unseen, recipe, sampling)
            curve.append({"step": step + 1, "seconds": time.perf_counter() - began, "pass_rate": rate, **metrics})
            print(
                f"  step {step + 1:4d}  {curve[-1]['seconds']:6.1f} s  {rate:.3f} of {len(unseen)} unseen prompts",
                flush=True,
            )

    print(f"GRPO of an adapter on {', '.join(adapted_layers(adapted))}", flush=True)
    await evaluated(-1, {})
    settings = RLSettings(
        steps=options.steps,
        groups_per_step=24,
        group_size=8,
        sampling=sampling,
        loss=loss_spec("grpo", max_steps_off_policy=0),
        learning_rate=options.learning_rate,
        seed=options.seed,
    )
    await RLLoop(engine, rows, recipe, settings).run(on_step=evaluated)
    samples: list[dict[str, Any]] = []
    final = await pass_rate(engine, unseen, recipe, sampling, samples)
    (options.out / "samples.jsonl").write_text("".join(json.dumps(sample) + "\n" for sample in samples))
    await engine.export(options.out / "model")
    await engine.export_adapter(options.out / "adapter")
    await engine.close()
    answer = {
        "seed": options.seed,
        "after_sft": curve[0]["pass_rate"],
        "final": final,
        "seconds": time.perf_counter() - began,
        "curve": curve,
    }
    (options.out / "curve.json").write_text(json.dumps(answer, indent=1) + "\n")
    return answer


def main() -> None:
    """One run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--sft-steps", type=int, default=300)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--learning-rate", type=float, default=4e-3)
    parser.add_argument("--evaluate-every", type=int, default=10)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("chat-lora"))
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    disable_progress_bar()
    answer = asyncio.run(train(options))
    before, after = answer["after_sft"], answer["final"]
    print(f"pass rate on unseen prompts: {before:.3f} after SFT, {after:.3f} after RL ({answer['seconds']:.0f} s)")


if __name__ == "__main__":
    main()
