"""A small model learns to search: guess a number from 1 to 7 in three turns, told "<" or ">" by a program in a sandbox.

    python examples/guess_number.py --seed 0 --mode sync

It begins with demonstrations that guess at random, without saying a number twice: right in three of seven games. Nobody
shows it to ask for the middle first, which always finds the number; it gets 1 for each game that finds it, and nothing
else. Each game has a sandbox of its own, which knows the number; the policy's tokens and the sandbox's answers are one
sequence of tokens, and only the policy's own are learnt.

`--answers here` asks a function of this process in place of a sandbox: the same game, for a look at the learning alone.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import time
from collections.abc import Mapping, Sequence
from statistics import fmean

import torch

import harena
from harena.training.data.prompts import PromptRow
from harena.training.engines.local import LocalEngine
from harena.training.engines.tiny import character_tokenizer, tiny_llama
from harena.training.environments.environment import Environment, Step
from harena.training.loop.batch import TrainingRow
from harena.training.loop.rl import RLLoop, RLSettings
from harena.training.loop.sft import SFTSettings, train_sft
from harena.training.ports import Tokenizer
from harena.training.rollouts.trajectory import Sampling, StopReason
from harena.training.rollouts.turns import Episodes

NUMBERS, TURNS = range(1, 8), 3
PROMPT = "g"
ALPHABET = f"{PROMPT}{''.join(map(str, NUMBERS))}<>="
MODES = {"sync": 0, "one_step_off_async": 1, "fully_async": 2}
"""-> staleness"""
ANSWER = """\
import sys
secret, guess = int(open("/workspace/secret").read()), int(sys.argv[1])
print("=" if guess == secret else "<" if secret < guess else ">", end="")
"""


def compared(secret: int, guess: int) -> str:
    """What is told of a guess: "<" = the number is smaller."""
    return "=" if guess == secret else "<" if secret < guess else ">"


class Game:
    """One game, with answers from this process. Implements `Environment`."""

    async def reset(self, row: PromptRow) -> None:
        """Begin."""
        self.secret = int(row.metadata["secret"])

    async def step(self, action: str) -> Step:
        """One guess; what is no number ends the game."""
        if not action.isdigit() or int(action) not in NUMBERS:
            return Step(done=True, stop=StopReason.PARSE_ERROR)
        said = await self.ask(action)
        return Step(observation=said, reward=float(said == "="), done=said == "=")

    async def ask(self, guess: str) -> str:
        """What is told of a guess."""
        return compared(self.secret, int(guess))


class SandboxGame(Game):
    """The game with answers from a program in a sandbox, which lives as long as the game."""

    async def reset(self, row: PromptRow) -> None:
        """Begin."""
        self.sandbox = harena.Sandbox(blueprint="python-warm")
        await self.sandbox.write_file("/workspace/secret", str(row.metadata["secret"]))
        await self.sandbox.write_file("/workspace/answer.py", ANSWER)

    async def ask(self, guess: str) -> str:
        """What the program prints. Raises PlatformError where it prints nothing: the episode has a fault then."""
        done = await self.sandbox.exec(["python", "answer.py", guess], cwd="/workspace", timeout_seconds=30.0)
        if done.stdout not in ("<", ">", "="):
            raise harena.PlatformError(f"the game's program answered {done.stdout!r}: {done.stderr}")
        return done.stdout

    async def close(self) -> None:
        """End the sandbox."""
        await self.sandbox.stop(missing_ok=True)


def demonstrations(tokenizer: Tokenizer, count: int, rng: random.Random) -> list[TrainingRow]:
    """Games that guess at random, no number twice."""
    rows = []
    for _ in range(count):
        secret = rng.choice(NUMBERS)
        tokens, mask = tokenizer.encode(PROMPT), [0]
        for guess in rng.sample(NUMBERS, TURNS):
            said = compared(secret, guess)
            tokens, mask = tokens + tokenizer.encode(f"{guess}{said}"), [*mask, 1, 0]
            if said == "=":
                break
        rows.append(TrainingRow(tokens=tokens, mask=tuple(mask)))
    return rows


def new_engine(seed: int) -> LocalEngine:
    """Fresh weights: a Llama of some ten thousand parameters."""
    tokenizer = character_tokenizer(ALPHABET)
    model = tiny_llama(len(tokenizer), seed=seed, width=32, layers=2, heads=2, context_length=16)
    return LocalEngine(model, tokenizer)


async def learn(
    engine: LocalEngine, environment: type[Environment], *, seed: int, steps: int, group_size: int, staleness: int,
    on_step: object = None,
) -> list[Mapping[str, float]]:  # fmt: skip
    """SFT on random games, then RL; the metrics of each RL step. `on_step` is told of each."""
    shown = demonstrations(engine.tokenizer, 512, random.Random(seed))
    await train_sft(engine, shown, SFTSettings(steps=60, batch_size=64, learning_rate=1e-2, seed=seed))
    rows = [PromptRow(id=f"{secret}", prompt=PROMPT, metadata={"secret": secret}) for secret in NUMBERS]
    settings = RLSettings(
        steps=steps,
        groups_per_step=len(rows),
        group_size=group_size,
        sampling=Sampling(max_new_tokens=1, stop_tokens=tuple(range(len(engine.tokenizer.inner)))),
        learning_rate=5e-3,
        max_steps_off_policy=staleness,
        seed=seed,
    )
    told: list[Mapping[str, float]] = []

    def note(step: int, metrics: Mapping[str, float]) -> None:
        told.append(dict(metrics))
        if callable(on_step):
            on_step(step, metrics)

    await RLLoop(engine, rows, None, settings, rollouts=Episodes(environment, max_turns=TURNS)).run(on_step=note)
    return told


def found(told: Sequence[Mapping[str, float]]) -> float:
    """The share of games that found the number."""
    return fmean(metrics["reward"] for metrics in told)


def main() -> None:
    """One run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--mode", choices=[*MODES], default="sync")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--group-size", type=int, default=16)
    parser.add_argument("--answers", choices=["sandbox", "here"], default="sandbox")
    options = parser.parse_args()
    torch.set_num_threads(1)
    began, seen = time.perf_counter(), list[Mapping[str, float]]()

    def draw(step: int, metrics: Mapping[str, float]) -> None:
        seen.append(metrics)
        if (step + 1) % 10 == 0:
            share = found(seen[-10:])
            bar = "█" * round(40 * share) + "·" * (40 - round(40 * share))
            print(f"step {step + 1:4d}  {time.perf_counter() - began:6.1f} s  {bar} {share:.3f}", flush=True)

    async def run() -> None:
        engine = new_engine(options.seed)
        await learn(
            engine,
            SandboxGame if options.answers == "sandbox" else Game,
            seed=options.seed,
            steps=options.steps,
            group_size=options.group_size,
            staleness=MODES[options.mode],
            on_step=draw,
        )
        await engine.close()

    asyncio.run(run())
    print(
        f"games that found the number: {found(seen[:10]):.3f} in the first steps, {found(seen[-10:]):.3f} in the last"
    )


if __name__ == "__main__":
    main()
