"""ART with sandboxes: an inference model solves MBPP problems step by step, a base model learns from what it did.

    pip install -r examples/rl_training/art/requirements.txt
    python examples/rl_training/art/train.py --dry-run
    python examples/rl_training/art/train.py --backend tinker --num-problems 10

`--dry-run` loads the problems, tries a sandbox, and trains nothing. OPENAI_API_KEY is the key of the inference model,
which `--base-url` may put anywhere; ART_TINKER_API_KEY is needed for `--backend tinker`, a GPU for `--backend local`.
With WANDB_API_KEY and an active run the session's metrics are logged.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
from typing import Any

import harena.aliases  # noqa: F401 - makes `cwsandbox` importable

import art  # isort: skip
import cwsandbox  # isort: skip
from openai import AsyncOpenAI  # isort: skip
from problems import Problem, load_problems  # isort: skip
from rollout import rollout  # isort: skip

ADVICE = {
    "local": "pip install 'openpipe-art[backend]==0.5.7'",
    "tinker": "pip install -r examples/rl_training/art/requirements.txt",
}
"""ART's backend -> what brings it"""
TINKER_KEY = "ART_TINKER_API_KEY"


def flags() -> argparse.ArgumentParser:
    """The guide's eleven."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--backend", choices=sorted(ADVICE), default="local", help="local needs a GPU")
    parser.add_argument("--model", default="gpt-5.1-codex-mini", help="model that makes the trajectories")
    parser.add_argument("--base-model", default="Qwen/Qwen3-8B", help="model that is trained")
    parser.add_argument("--num-problems", type=int, default=10, help="number of MBPP problems")
    parser.add_argument("--num-steps", type=int, default=5, help="training steps")
    parser.add_argument("--trajectories-per-problem", type=int, default=2, help="in each step")
    parser.add_argument("--base-url", default=None, help="OpenAI-compatible API of the inference model")
    parser.add_argument("--project", default="cwsandbox-mbpp", help="W&B project")
    parser.add_argument("--run-name", default="train-001", help="name of the run")
    parser.add_argument("--learning-rate", type=float, default=1e-5)
    parser.add_argument("--dry-run", action="store_true", help="validate the set-up, train nothing")
    return parser


async def collect(
    client: AsyncOpenAI, asked: argparse.Namespace, problems: list[Problem], session: cwsandbox.Session, step: int
) -> list[art.TrajectoryGroup]:
    """One group for each problem; prints what they earned."""
    print(f"Collecting trajectories for {len(problems)} problems...")
    groups: list[art.TrajectoryGroup] = await art.gather_trajectory_groups(
        (
            art.TrajectoryGroup(
                rollout(client, asked.model, problem, session) for _ in range(asked.trajectories_per_problem)
            )
            for problem in problems
        ),
        pbar_desc=f"step {step}",
    )
    rewards = [trajectory.reward for group in groups for trajectory in group.trajectories]
    print(f"Collected {len(rewards)} trajectories, avg reward: {statistics.fmean(rewards or [0.0]):.2f}")
    session.log_metrics(step=step)
    return groups


def inference_client(base_url: str | None) -> AsyncOpenAI:
    """Who makes the trajectories; a server of one's own may need no key."""
    return AsyncOpenAI(base_url=base_url, api_key=os.environ.get("OPENAI_API_KEY", "none"))


def make_backend(name: str) -> Any:
    """ART's backend of this name. Raises SystemExit that says what is missing."""
    try:
        if name == "tinker":
            from art.tinker import TinkerBackend

            return TinkerBackend(tinker_api_key=os.environ.get(TINKER_KEY))
        from art.local import LocalBackend

        return LocalBackend()
    except ImportError as error:
        raise SystemExit(f"ART's {name} backend cannot be loaded ({error}): {ADVICE[name]}") from error
    except AssertionError as error:
        raise SystemExit(f"ART's {name} backend has no key: export {TINKER_KEY}=...") from error


async def train_step(backend: Any, model: Any, groups: list[art.TrajectoryGroup], learning_rate: float) -> None:
    """One step; newer versions of ART train by their backend, older ones by the model."""
    if hasattr(backend, "train"):
        result = await backend.train(model, groups, learning_rate=learning_rate)
        print(f"Training complete: step={result.step}, metrics={result.metrics}")
    else:
        await model.train(groups, config=art.TrainConfig(learning_rate=learning_rate))
        print(f"Training complete: step={await model.get_step()}")


async def main() -> None:
    """Do what the command line asks for."""
    asked = flags().parse_args()
    print("ART Training with CWSandbox")
    print("=" * 40)
    for label, value in (
        ("Backend", asked.backend),
        ("Model", asked.model),
        ("Base model", asked.base_model),
        ("Problems", asked.num_problems),
        ("Steps", asked.num_steps),
        ("Trajectories per problem", asked.trajectories_per_problem),
        ("Project", asked.project),
        ("Run name", asked.run_name),
    ):
        print(f"{label}: {value}")
    print("\nLoading MBPP problems...")
    problems = load_problems(asked.num_problems)
    print(f"Loaded {len(problems)} problems")
    defaults = cwsandbox.SandboxDefaults(container_image="python:3.11", tags=("art", f"run:{asked.run_name}"))
    async with cwsandbox.Session(defaults) as session:
        if asked.dry_run:
            result = await session.sandbox().exec(["python", "-c", "print('ready')"])
            print(f"Sandbox: {result.stdout.strip()}\nDry run: nothing was collected or trained")
            return
        client = inference_client(asked.base_url)
        print(f"Creating {asked.backend} backend...")
        backend = make_backend(asked.backend)
        print("Creating trainable model...")
        model = art.TrainableModel(name=asked.run_name, project=asked.project, base_model=asked.base_model)
        print("Registering model with backend...")
        await model.register(backend)
        print("Starting training...")
        for step in range(1, asked.num_steps + 1):
            print(f"\n=== Step {step} ===")
            groups = await collect(client, asked, problems, session, step)
            print("Training...")
            await train_step(backend, model, groups, asked.learning_rate)


if __name__ == "__main__":
    asyncio.run(main())
