"""What the learning proofs have in common as commands: options, and the files and the table that they write."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import torch
from transformers.utils.logging import disable_progress_bar

from learning import MODES, Proof, Recipe, Stage
from learning_curve import svg
from word_arithmetic import Problem

SFT_RATE = 3e-3


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """What a proof is about."""

    demonstrations: list[tuple[str, str]]
    """(prompt, answer)"""
    prompts: list[Problem]
    held_out: list[Problem]
    stepwise: bool = False
    """RL gets partial credit"""


def parser(description: str | None, *, out: str, **defaults: Any) -> argparse.ArgumentParser:
    """The options that every proof has; `defaults` are those in which it differs from Recipe."""
    made = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    usual = asdict(Recipe(**defaults))
    made.add_argument("--mode", choices=[*MODES], default=usual["mode"])
    for name, default in usual.items():
        if name != "mode":
            made.add_argument(f"--{name.replace('_', '-')}", type=type(default), default=default)
    made.add_argument("--held-out", type=int, default=500, help="unseen prompts")
    made.add_argument("--control", action="store_true", help="with RL on shuffled rewards")
    made.add_argument("--compare", action="store_true", help="with the control and SFT on verified samples")
    made.add_argument("--threads", type=int, default=2, help="of torch")
    made.add_argument("--out", type=Path, default=Path(out))
    return made


def prove(make: Callable[[Recipe, int], Rows], asked: argparse.Namespace) -> None:
    """All stages, as the options say. Leaves model, held-out samples, metrics and curve in the folder."""
    began = time.perf_counter()
    disable_progress_bar()
    torch.set_num_threads(asked.threads)
    os.environ["OMP_NUM_THREADS"] = str(asked.threads)  # of the worker that a job runs in
    asked.out.mkdir(parents=True, exist_ok=True)
    given = vars(asked)
    recipe = Recipe(**{field.name: given[field.name] for field in fields(Recipe)})
    rows = make(recipe, asked.held_out)
    proof = Proof(recipe, asked.out, prompts=rows.prompts, held_out=rows.held_out, stepwise=rows.stepwise)
    stages = {"sft": Stage("SFT on demonstrations"), "rl": Stage(f"RL, {recipe.mode}")}
    imitating = proof.imitate(
        proof.fresh_model(), rows.demonstrations, "demonstrations", steps=recipe.sft_steps, rate=SFT_RATE,
        stage=stages["sft"],
    )  # fmt: skip
    finished(proof, proof.reinforce(imitating, "rl", stages["rl"]))
    seconds = time.perf_counter() - began
    if asked.control or asked.compare:
        stages["control"] = Stage("control, rewards shuffled")
        proof.control(imitating, stages["control"])
    if asked.compare:
        stages["verified"] = Stage("SFT on verified samples")
        per_step = stages["sft"].seconds / recipe.sft_steps
        limit = stages["rl"].seconds
        proof.imitate_verified(imitating, seconds=limit, seconds_per_step=per_step, stage=stages["verified"])
    answer = outcome(recipe, stages, seconds=seconds)
    write(answer, asked.out)
    print(summary(answer))
    print(f"model, held-out samples and curve: {asked.out}")


def finished(proof: Proof, model: Path) -> None:
    """The folder's own `model`, and beside the held-out prompts one answer of it to each, with its reward."""
    shutil.copytree(model, proof.folder / "model", dirs_exist_ok=True)
    lines = (json.dumps(sample) + "\n" for sample in proof.answered(model))
    (proof.folder / "samples.jsonl").write_text("".join(lines))


def outcome(recipe: Recipe, stages: Mapping[str, Stage], *, seconds: float) -> dict[str, Any]:
    """What came of it; `seconds`: wall time until the model was exported."""
    told = {name: stage.to_dict() for name, stage in stages.items()}
    return {"seed": recipe.seed, "mode": recipe.mode, "seconds": seconds, "stages": told}


def write(answer: Mapping[str, Any], out: Path) -> None:
    """The numbers as JSON, the curves as a picture."""
    (out / "curve.json").write_text(json.dumps(answer, indent=1) + "\n")
    after_sft = (0.0, answer["stages"]["sft"]["result"])
    curves = {
        stage["name"]: [after_sft, *((point["seconds"], point["pass_rate"]) for point in stage["curve"])]
        for name, stage in answer["stages"].items()
        if name != "sft"
    }
    title = f"Pass rate on unseen prompts, seed {answer['seed']}"
    (out / "curve.svg").write_text(svg(curves, title=title, x_label="seconds of learning after SFT"))


def summary(answer: Mapping[str, Any]) -> str:
    """What each stage came to."""
    rows = [f"{'':28} pass rate  seconds"]
    rows += [f"{one['name']:28} {one['result']:9.3f} {one['seconds']:8.1f}" for one in answer["stages"].values()]
    return "\n".join([*rows, f"from nothing to the model of RL, evaluations and all: {answer['seconds']:.0f} s"])
