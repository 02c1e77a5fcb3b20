"""An RL job in a process that is killed, for `test_killed_jobs`.

Reads one JSON object per line, {"folder", "settings", "keep", "kill_after"}: forks, runs the job in the child, and
kills it with SIGKILL after so many of its moments (None = never). Answers with {"moments", "killed"} and, once the job
is done, the "digest" of its weights. It forks because starting an interpreter with torch takes longer than the whole
job.
"""

from __future__ import annotations

import asyncio
import functools
import hashlib
import json
import os
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from harena.training.data.prompts import PromptRow
from harena.training.engines.local import LocalEngine
from harena.training.engines.tiny import character_tokenizer, tiny_llama
from harena.training.loop.checkpoints import Checkpoints
from harena.training.loop.ledger import Ledger
from harena.training.loop.rl import RLLoop, RLSettings
from harena.training.rewards import Overlong
from harena.training.rollouts.rollout import Policy, RolloutRequest, SingleTurn
from harena.training.rollouts.trajectory import Reward, Sampling, Trajectory

SCORED = Overlong(policy="score")
ROWS = [PromptRow(id=f"p{number}", prompt=f"add {number}>"[: 5 + number % 2]) for number in range(7)]


def settings(**given: Any) -> RLSettings:
    """A job of under a second."""
    sampling = Sampling(max_new_tokens=8, stop_tokens=tuple(range(3, 12)))  # so that some end before their siblings
    usual = {"steps": 8, "groups_per_step": 2, "group_size": 4, "sampling": sampling}
    return RLSettings(**{**usual, "learning_rate": 0.01, "warmup_steps": 0, "checkpoint_interval": 3, **given})


def new_engine() -> LocalEngine:
    """The weights that every job begins with."""
    tokenizer = character_tokenizer("abcdefghijklmnopqrstuvwxyz0123456789 >()+-*")
    model = tiny_llama(len(tokenizer), seed=0, width=32, layers=2, heads=2, context_length=16)
    return LocalEngine(model, tokenizer)


def digest(engine: LocalEngine) -> str:
    """SHA-256 of every weight."""
    sha = hashlib.sha256()
    for name, value in sorted(engine._model.state_dict().items()):
        sha.update(name.encode() + value.numpy().tobytes())
    return sha.hexdigest()


class Letters:
    """Rewards kinds of letters; one rollout of three takes longer than its siblings."""

    deterministic = True

    def __init__(self, moment: Callable[[], None]) -> None:
        self._moment = moment

    async def reward(self, row: PromptRow, text: str) -> Reward:
        self._moment()
        for _ in range(20 * (len(text) % 3)):
            await asyncio.sleep(0)
        self._moment()
        return Reward(value=len(set(text)) % 3 / 2)


class Noted:
    """Rollouts that are written down when they begin: each is sampled and rewarded."""

    def __init__(self, inner: SingleTurn, file: Path) -> None:
        self._inner = inner
        self._file = file.open("a")
        self.metrics, self.prepare = inner.metrics, inner.prepare

    async def rollout(self, request: RolloutRequest, policy: Policy) -> Trajectory:
        print(json.dumps(request.key), file=self._file, flush=True)
        return await self._inner.rollout(request, policy)


def told(call: Callable[..., Any], moment: Callable[[], None]) -> Callable[..., Any]:
    """`call`, with a moment before and one after it."""
    if not asyncio.iscoroutinefunction(call):

        @functools.wraps(call)
        def plain(*arguments: Any) -> Any:
            moment()
            answer = call(*arguments)
            moment()
            return answer

        return plain

    @functools.wraps(call)
    async def awaited(*arguments: Any) -> Any:
        moment()
        answer = await call(*arguments)
        moment()
        return answer

    return awaited


async def job(folder: Path, given: dict[str, Any], keep: int, moment: Callable[[], None]) -> str:
    """To its end; the digest of its weights."""
    folder.mkdir(parents=True, exist_ok=True)
    engine: Any = new_engine()
    for name in ("sample", "forward_backward", "optim_step", "publish", "save", "load"):
        setattr(engine, name, told(getattr(engine, name), moment))
    ledger: Any = Ledger(folder / "ledger.sqlite")
    for name in ("add_admissions", "add_rollout", "plan_step", "finish_step"):
        setattr(ledger, name, told(getattr(ledger, name), moment))
    rollouts = Noted(SingleTurn(Letters(moment), overlong=Overlong(policy="score")), folder / "made.jsonl")
    kept = Checkpoints(folder / "kept", keep=keep)
    loop = RLLoop(engine, ROWS, None, settings(**given), rollouts=rollouts, ledger=ledger, checkpoints=kept)
    await loop.run()
    answer = digest(engine)
    await engine.close()
    ledger.close()
    return answer


def live(order: dict[str, Any], report: int) -> None:
    """The child: one byte per moment, then the digest."""

    def moment() -> None:
        os.write(report, b".")

    answer = asyncio.run(job(Path(order["folder"]), order["settings"], order["keep"], moment))
    os.write(report, f"={answer}".encode())


def serve() -> None:
    """One job after another, until there is no more input."""
    torch.set_num_threads(1)
    for line in sys.stdin:
        order = json.loads(line)
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                live(order, write)
            except BaseException:  # noqa: BLE001 - the child must not go on as its parent
                traceback.print_exc()
                os._exit(1)
            os._exit(0)
        os.close(write)
        seen, killed = b"", False
        while got := os.read(read, 4096 if killed or order["kill_after"] is None else 1):
            seen += got
            if not killed and order["kill_after"] is not None and len(seen) >= order["kill_after"]:
                os.kill(child, signal.SIGKILL)
                killed = True
        os.close(read)
        _, status = os.waitpid(child, 0)
        code = os.waitstatus_to_exitcode(status)
        assert code == -signal.SIGKILL or (code == 0 and b"=" in seen), f"a job broke: it ended with {code}"
        moments, _, answer = seen.decode().partition("=")
        print(json.dumps({"moments": len(moments), "killed": not answer, "digest": answer}), flush=True)


if __name__ == "__main__":
    serve()
