"""The stages of the learning proofs: SFT and RL as training jobs, through the API that everybody has, and beside them a
control and SFT on verified samples.
"""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from statistics import fmean, median
from typing import Any

import word_arithmetic as words
from harena import sft, training_jobs
from harena.core.training_jobs import MetricValue
from harena.training.data.prompts import PromptRow
from harena.training.engines.local import LocalEngine
from harena.training.engines.models import load_model
from harena.training.engines.tiny import tiny_llama
from harena.training.loop.algorithms import loss_spec
from harena.training.loop.rl import RLLoop
from harena.training.loop.rl_settings import RLSettings
from harena.training.rewards import CachedRecipe, RewardRecipe
from harena.training.rollouts.trajectory import Reward, Sampled, SampleRequest, Sampling
from learning_curve import bar

MODES = {"sync": None, "one_step_off_async": 1, "fully_async": 3}
"""-> most steps off policy"""
LAST = 3
"""evaluations whose median is the result of a stage"""
SAMPLES_TO_VERIFY = 8
"""answers to each prompt, of which those that pass are imitated"""
BATCH = 128
"""rows of one SFT step"""


@dataclass(frozen=True, slots=True)
class Recipe:
    """How the stages are run."""

    seed: int = 0
    mode: str = "sync"
    sft_steps: int = 300
    steps: int = 60
    groups: int = 32
    group_size: int = 16
    learning_rate: float = 1e-3
    evaluate_every: int = 10


@dataclass(slots=True)
class Stage:
    """What a stage came to."""

    name: str
    seconds: float = 0.0
    """wall time that it learned for, and evaluated"""
    curve: list[dict[str, float]] = field(default_factory=list)
    """{step, seconds, pass_rate}"""
    detail: dict[str, Any] = field(default_factory=dict)

    @property
    def result(self) -> float:
        """Median of the last evaluations."""
        return median(point["pass_rate"] for point in self.curve[-LAST:])

    def evaluated(self, step: int, rate: float) -> None:
        """One more point of the curve, drawn."""
        self.curve.append({"step": step, "seconds": self.seconds, "pass_rate": rate})
        print(f"  {self.name:28} step {step:4d} {self.seconds:6.1f} s  {bar(rate)} {rate:.3f}", flush=True)

    def to_dict(self) -> dict[str, Any]:
        """For a file."""
        return {**asdict(self), "result": self.result}


@dataclass(slots=True)
class Shuffled:
    """The control: true rewards, but each rollout gets that of another one."""

    recipe: RewardRecipe
    rng: random.Random
    window: int
    """number of rewards of one step, among which a rollout gets another one's"""
    before: list[float] = field(default_factory=list)
    deterministic: bool = False

    async def reward(self, row: PromptRow, text: str) -> Reward:
        """Any of the latest rewards."""
        true = await self.recipe.reward(row, text)
        if true.value is None:
            return true
        self.before = [*self.before[1 - self.window :], true.value]
        return Reward(value=self.rng.choice(self.before), reason="shuffled")


class Proof:
    """One run of a proof, in its folder. A model is a Hugging Face directory there."""

    def __init__(
        self,
        recipe: Recipe,
        folder: Path,
        *,
        prompts: list[words.Problem],
        held_out: list[words.Problem],
        stepwise: bool = False,
    ) -> None:
        """`stepwise`: RL gets partial credit; see `word_arithmetic.rewards`."""
        self.recipe = recipe
        self.folder = folder.resolve()
        self.prompts, self.held_out = prompts, held_out
        self._rewards = words.rewards(stepwise=stepwise)
        self._rows: list[dict[str, Any]] = [
            {"prompt": one.prompt, "scoring": one.stepwise_contract() if stepwise else one.contract()}
            for one in prompts
        ]
        self._write("prompts", self._rows)
        self._write("held_out", [{"prompt": one.prompt, "scoring": one.contract()} for one in held_out])

    def fresh_model(self) -> Path:
        """Random weights."""
        tokenizer, place = words.tokenizer(), self.folder / "fresh"
        tiny_llama(len(tokenizer), seed=self.recipe.seed, context_length=96).save_pretrained(place)
        tokenizer.save_pretrained(place)
        return place

    def imitate(
        self, model: Path, examples: Sequence[tuple[str, str]], name: str, *, steps: int, rate: float, stage: Stage
    ) -> Path:
        """SFT of `model` on (prompt, answer), as a job; evaluated at its end. The new model."""
        path = self._write(name, [{"prompt": prompt, "completion": answer} for prompt, answer in examples])
        config = {"dataset_ref": str(path), "steps": steps, "batch_size": BATCH, "learning_rate": rate}
        trained = self._job("sft", model, config, name, stage)
        for _ in range(LAST if stage.detail.get("verified") else 1):
            stage.evaluated(steps, fmean(sample["reward"] or 0.0 for sample in self.answered(trained)))
        return trained

    def reinforce(self, model: Path, name: str, stage: Stage) -> Path:
        """RL of `model` on the prompts, as a job; evaluated by it every few steps. The new model."""
        return self._job("rl", model, self.rl_config(), name, stage)

    def rl_config(self) -> dict[str, Any]:
        """The `config` of the RL job."""
        recipe, rewards = self.recipe, self._rewards
        given = {
            "algorithm": "grpo",
            "prompt_dataset_ref": str(self.folder / "prompts.jsonl"),
            "reward_recipe": {
                "name": "code_tests_v1",
                "params": {
                    "template": rewards.template,
                    "blueprint_id": rewards.blueprint_id,
                    "credit": rewards.credit,
                },
            },
            "execution_mode": recipe.mode,
            "max_steps_off_policy": MODES[recipe.mode],
            "steps": recipe.steps,
            "batch_size": recipe.groups,
            "group_size": recipe.group_size,
            "learning_rate": recipe.learning_rate,
            "max_new_tokens": words.LONGEST_ANSWER,
            "eval_dataset_ref": str(self.folder / "held_out.jsonl"),
            "eval_interval": recipe.evaluate_every,
            "eval_max_rollouts": len(self.held_out),
        }
        return {key: value for key, value in given.items() if value is not None}

    def control(self, model: Path, stage: Stage) -> None:
        """Run the RL with shuffled rewards: no job offers that, so it is the loop that jobs run."""
        asyncio.run(self._control(model, stage))

    def imitate_verified(self, model: Path, *, seconds: float, seconds_per_step: float, stage: Stage) -> None:
        """SFT on those of the model's own answers that pass (`harena sft validate`), in about so many seconds: to
        sample, to verify and to train."""
        began = time.perf_counter()
        sampled = asyncio.run(self._sampled(model))
        verified = self._verified(sampled)
        prepared = time.perf_counter() - began
        stage.detail = {"verified": len(verified), "prompts": len({prompt for prompt, _ in verified})}
        steps = max(10, int((seconds - prepared) / seconds_per_step))
        if verified:
            self.imitate(model, verified, "verified", steps=steps, rate=self.recipe.learning_rate, stage=stage)
        else:
            stage.evaluated(0, fmean(sample["reward"] or 0.0 for sample in self.answered(model)))
        stage.seconds += prepared

    def answered(self, model: Path) -> list[dict[str, Any]]:
        """One sampled answer (temperature 1) to each held-out prompt, run in a sandbox: {prompt, answer, reward}."""
        return asyncio.run(self._answered(model))

    def _job(self, trainer_type: str, model: Path, config: Mapping[str, Any], name: str, stage: Stage) -> Path:
        common = {"tuning": "full", "seed": self.recipe.seed, "checkpoint_interval": 50}
        asked = {"trainer_type": trainer_type, "model": str(model), "config": {**common, **config}}
        job = training_jobs.create(asked)
        began = datetime.max.isoformat()
        for event in training_jobs.events(job):
            if event.kind == "training_start":
                began = event.at
            elif event.kind == "eval_complete":
                stage.seconds = _seconds(began, event.at)
                steps, pass_rate = (_last(event.metrics[f"eval/{name}"]) for name in ("steps", "pass_rate"))
                stage.evaluated(int(steps), pass_rate)
            elif event.kind in ("step_complete", "training_end"):
                stage.seconds = _seconds(began, event.at)
        ended = training_jobs.wait(job)
        if ended.state != "completed":
            raise SystemExit(f"{stage.name}: job {job.id} is {ended.state}: {ended.error}")
        (self.folder / f"metrics-{name}.json").write_text(json.dumps(training_jobs.metrics(job).metrics) + "\n")
        training_jobs.download(job, self.folder / name, below="model/")
        return self.folder / name / "model"

    async def _control(self, model: Path, stage: Stage) -> None:
        recipe, engine = self.recipe, _engine(model)
        settings = RLSettings(
            steps=recipe.steps,
            groups_per_step=recipe.groups,
            group_size=recipe.group_size,
            sampling=_sampling(engine),
            loss=loss_spec("grpo", max_steps_off_policy=MODES[recipe.mode] or 0),
            max_steps_off_policy=MODES[recipe.mode] or 0,
            learning_rate=recipe.learning_rate,
            seed=recipe.seed,
        )
        shuffled = Shuffled(CachedRecipe(self._rewards), random.Random(recipe.seed), recipe.groups * recipe.group_size)
        began = time.perf_counter()

        async def told(step: int, metrics: Mapping[str, float]) -> None:
            if (step + 1) % recipe.evaluate_every == 0:
                stage.seconds = time.perf_counter() - began
                samples = await self._judged(engine, self.held_out, key=(recipe.seed, step))
                stage.evaluated(step + 1, fmean(sample["reward"] or 0.0 for sample in samples))

        rows = [PromptRow(id=row["prompt"], prompt=row["prompt"], scoring=row["scoring"]) for row in self._rows]
        await RLLoop(engine, rows, shuffled, settings).run(on_step=told)
        await engine.close()

    async def _answered(self, model: Path) -> list[dict[str, Any]]:
        engine = _engine(model)
        samples = await self._judged(engine, self.held_out, key=(random.randrange(2**31),))
        await engine.close()
        return samples

    async def _judged(
        self, engine: LocalEngine, problems: Sequence[words.Problem], *, key: tuple[int, ...]
    ) -> list[dict[str, Any]]:
        drawn = await _draw(engine, [one.prompt for one in problems], key=key)
        texts, rewards = [engine.tokenizer.decode(one.tokens) for one in drawn], words.rewards()
        asked = [rewards.reward(one.row(), text) for one, text in zip(problems, texts, strict=True)]
        judged = await asyncio.gather(*asked)
        return [
            {"prompt": one.prompt, "answer": text, "reward": reward.value}
            for one, text, reward in zip(problems, texts, judged, strict=True)
        ]

    async def _sampled(self, model: Path) -> list[list[str]]:
        """Distinct answers to each prompt that came to their end."""
        engine, answers = _engine(model), []
        for first in range(0, len(self.prompts), BATCH // 2):
            some = [one.prompt for one in self.prompts[first : first + BATCH // 2] for _ in range(SAMPLES_TO_VERIFY)]
            drawn = await _draw(engine, some, key=(self.recipe.seed, first))
            said = [engine.tokenizer.decode(one.tokens) if one.stop == "stop" else "" for one in drawn]
            answers += [
                sorted(set(said[place : place + SAMPLES_TO_VERIFY]) - {""})
                for place in range(0, len(said), SAMPLES_TO_VERIFY)
            ]
        await engine.close()
        return answers

    def _verified(self, sampled: Sequence[Sequence[str]]) -> list[tuple[str, str]]:
        """(prompt, answer) of every answer that passes."""
        problems = [
            {"id": str(place), "statement": one.prompt, "entry_point": "f", "scoring": one.contract()}
            for place, one in enumerate(self.prompts)
        ]
        candidates = [
            {"id": f"{place}-{number}", "problem": str(place), "candidate": words.program(answer)}
            for place, answers in enumerate(sampled)
            for number, answer in enumerate(answers)
        ]
        if not candidates:
            return []
        output = self.folder / "verified-programs.jsonl"
        sft.validate(
            {"problems": problems, "scenarios": candidates},
            output=output,
            form="prompt-completion",
            overwrite=True,
            blueprint_id="python-warm",
            config={"concurrency": 8, "timeout_seconds": 10, "retry_attempts": 1},
        )
        rows = [json.loads(line) for line in output.read_text().splitlines()]
        return [(row["prompt"], words.answer_of(row["completion"])) for row in rows]

    def _write(self, name: str, rows: Sequence[Mapping[str, Any]]) -> Path:
        path = self.folder / f"{name}.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return path


def _engine(model: Path) -> LocalEngine:
    return LocalEngine(*load_model(model))


def _sampling(engine: LocalEngine) -> Sampling:
    return Sampling(max_new_tokens=words.LONGEST_ANSWER, stop_tokens=engine.tokenizer.end_tokens)


async def _draw(engine: LocalEngine, prompts: Sequence[str], *, key: tuple[int, ...]) -> list[Sampled]:
    """One answer to each prompt."""
    sampling = _sampling(engine)
    asked = [
        SampleRequest(prompt=engine.tokenizer.encode(prompt), key=(*key, place), sampling=sampling)
        for place, prompt in enumerate(prompts)
    ]
    return await asyncio.gather(*engine.sample(asked))


def _last(values: MetricValue) -> float:
    """The newest value of an evaluation's series."""
    if not isinstance(values, list) or not values or values[-1] is None:
        raise SystemExit(f"an evaluation told {values!r} in place of its values")
    return values[-1]


def _seconds(began: str, at: str) -> float:
    return (datetime.fromisoformat(at) - datetime.fromisoformat(began)).total_seconds()
