"""In episodes, too, each token keeps what it was drawn among."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from harena.training.data.prompts import PromptRow
from harena.training.engines.local import LocalEngine
from harena.training.loop.batch import TrainingRow
from harena.training.rollouts.conversation import Turns
from harena.training.rollouts.functions import FunctionRollouts
from harena.training.rollouts.rollout import Policy, RolloutRequest
from harena.training.rollouts.trajectory import Sampling


async def test_what_was_kept_stays_with_its_token(engines: Callable[..., LocalEngine]) -> None:
    """The trainer's log-probabilities over two turns are the sampler's."""
    engine = engines()
    ends = tuple(range(len(engine.tokenizer.inner)))  # whatever is said first ends a turn
    policy = Policy(engine, Sampling(max_new_tokens=4, top_k=3, stop_tokens=ends), lockstep=True)

    async def talk(row: PromptRow, turns: Turns) -> float:
        await turns.say()
        turns.tell("add 3")
        await turns.say()
        return 1.0

    request = RolloutRequest(
        row=PromptRow(id="p", prompt="add 3>"), prompt=engine.tokenizer.encode("add 3>"), sample=0, key=(0, 0)
    )
    got = await asyncio.wait_for(FunctionRollouts(talk).rollout(request, policy), 30)
    assert [len(among) for among in got.kept] == [3 if chosen else 0 for chosen in got.mask]
    assert sum(got.mask) == 2
    (seen,) = await engine.logprobs([TrainingRow(tokens=got.tokens, mask=got.mask, kept=got.kept)])
    wanted = [logprob for logprob, chosen in zip(got.logprobs, got.mask, strict=True) if chosen]
    assert all(abs(one - other) < 1e-5 for one, other in zip(seen, wanted, strict=True))
