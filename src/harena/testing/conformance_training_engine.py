"""What every training engine must do. Subclass and override the `engine` fixture with an engine over a small model
whose context has at least 48 tokens, fresh for each test; whoever makes it closes it."""

from __future__ import annotations

import asyncio
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harena.core.errors import ValidationError
from harena.training.errors import TrainingError
from harena.training.loop.algorithms import loss_spec
from harena.training.loop.batch import TrainingBatch, TrainingRow, sft_batch
from harena.training.ports import Engine, OptimizerStep
from harena.training.rollouts.trajectory import Sampled, SampleRequest, Sampling, StopReason

STEP = OptimizerStep(learning_rate=1e-2)
PROMPT, ANSWER = "add 3>", "(x+3)"


def requests(engine: Engine, count: int = 6, **sampling: Any) -> list[SampleRequest]:
    """Prompts of different lengths."""
    how = Sampling(**{"max_new_tokens": 12, "stop_tokens": engine.tokenizer.end_tokens, **sampling})
    prompts = [engine.tokenizer.encode("add 3 then double>"[place % 5 :]) for place in range(count)]
    return [SampleRequest(prompt=p, key=(7, place), sampling=how) for place, p in enumerate(prompts)]


async def sampled(engine: Engine, asked: list[SampleRequest]) -> list[Sampled]:
    """All of them."""
    return list(await asyncio.gather(*engine.sample(asked)))


def demonstration(engine: Engine, prompt: str = PROMPT, answer: str = ANSWER, **more: Any) -> TrainingRow:
    """A row that learns the answer and its end."""
    given, said = engine.tokenizer.encode(prompt), engine.tokenizer.encode(answer) + engine.tokenizer.end_tokens[:1]
    return TrainingRow(tokens=given + said, mask=(0,) * len(given) + (1,) * len(said), **more)


def as_row(request: SampleRequest, got: Sampled, **more: Any) -> TrainingRow:
    """What was sampled, to be trained on."""
    given = len(request.prompt)
    return TrainingRow(
        tokens=request.prompt + got.tokens,
        mask=(0,) * given + (1,) * len(got.tokens),
        logprobs=(0.0,) * given + got.logprobs,
        temperature=request.sampling.temperature,
        kept=((),) * given + got.kept if got.kept else (),
        **more,
    )


async def learn(engine: Engine, steps: int) -> float:
    """Learn one demonstration; the last loss."""
    loss = math.nan
    for _ in range(steps):
        loss = (await engine.forward_backward(sft_batch([demonstration(engine)]), None)).loss
        await engine.optim_step(STEP)
    return loss


class TrainingEngineConformance:
    """The suite."""

    @pytest.mark.parametrize("how", [{}, {"temperature": 0.7}, {"temperature": 0.0}, {"top_k": 3}, {"top_p": 0.7}])
    async def test_the_trainer_sees_what_was_sampled(self, engine: Engine, how: dict[str, Any]) -> None:
        """Log-probabilities are those of the sampled distribution; columns have one length; stops are what they say."""
        asked = requests(engine, **how)
        for request, got in zip(asked, await sampled(engine, asked), strict=True):
            (seen,) = await engine.logprobs([as_row(request, got)])
            assert seen == pytest.approx(got.logprobs, abs=2e-5)
            assert len(got.tokens) == len(got.logprobs) == len(got.versions)
            assert len(got.kept) == (len(got.tokens) if request.sampling.truncated else 0)
            ended = got.tokens[-1] in request.sampling.stop_tokens
            assert got.stop is (StopReason.STOP if ended else StopReason.LENGTH)
            assert ended or len(got.tokens) == request.sampling.max_new_tokens

    async def test_the_same_request_draws_the_same(self, engine: Engine) -> None:
        """Equal keys draw the same to the bit; another key draws something else."""
        asked = requests(engine)
        once = await sampled(engine, asked)
        assert await sampled(engine, asked) == once
        other = [replace(request, key=(8, *request.key)) for request in asked]
        assert [got.tokens for got in await sampled(engine, other)] != [got.tokens for got in once]

    async def test_what_is_learnt_is_sampled_once_it_is_published(self, engine: Engine) -> None:
        """Not before; and its tokens carry the new version."""
        first = await learn(engine, 1)
        assert await learn(engine, 59) < first / 4
        asked = [replace(requests(engine, 1, temperature=0.0)[0], prompt=engine.tokenizer.encode(PROMPT))]
        (before,) = await sampled(engine, asked)
        assert set(before.versions) == {0}
        assert engine.tokenizer.decode(before.tokens) != ANSWER
        assert await engine.publish() == engine.version == 1
        (after,) = await sampled(engine, asked)
        assert set(after.versions) == {1}
        assert engine.tokenizer.decode(after.tokens) == ANSWER

    async def test_weights_change_between_two_tokens(self, engine: Engine) -> None:
        """Versions of a sequence never fall; it goes on meanwhile."""
        futures = engine.sample(requests(engine, 2, max_new_tokens=30, stop_tokens=()))
        while not all(future.done() for future in futures):
            await engine.publish()
        for future in futures:
            versions = list(future.result().versions)
            assert versions == sorted(versions)
            assert len(versions) == 30

    async def test_an_aborted_sequence_ends_alone(self, engine: Engine) -> None:
        """Its neighbours draw what they would have drawn."""
        asked = requests(engine, 3, stop_tokens=())
        alone = await sampled(engine, asked)
        futures = engine.sample(asked)
        futures[1].cancel()
        got = await asyncio.gather(*futures, return_exceptions=True)
        assert isinstance(got[1], asyncio.CancelledError)
        for place in (0, 2):
            there = got[place]
            assert isinstance(there, Sampled)
            assert there.tokens == alone[place].tokens

    async def test_batches_beside_each_other(self, engine: Engine) -> None:
        """Later batches do not wait for earlier ones, and each caller gets its own answers."""
        asked = [requests(engine, 2, max_new_tokens=most, stop_tokens=()) for most in (30, 2, 9)]
        together = await asyncio.gather(*(sampled(engine, batch) for batch in asked))
        assert [[len(got.tokens) for got in batch] for batch in together] == [[30, 30], [2, 2], [9, 9]]
        assert [got.tokens for got in together[2]] == [got.tokens for got in await sampled(engine, asked[2])]

    async def test_nothing_asked(self, engine: Engine) -> None:
        """No sequence, no future."""
        assert engine.sample([]) == []

    async def test_what_does_not_fit_is_refused_before_anything_is_sampled(self, engine: Engine) -> None:
        """A prompt that leaves no room, and one that is empty."""
        fits = requests(engine, 1)[0]
        for prompt in ((5,) * engine.context_length, ()):
            with pytest.raises(ValidationError, match="context"):
                engine.sample([fits, replace(fits, prompt=prompt)])

    async def test_it_goes_on_to_the_bit(self, engine: Engine, tmp_path: Path) -> None:
        """Saved, changed, loaded: the version, what is sampled, and the loss of what follows are as they were."""
        await learn(engine, 2)
        await engine.publish()
        await engine.save(tmp_path)
        asked = requests(engine)
        there = await sampled(engine, asked), await learn(engine, 2)
        await engine.publish()
        await engine.load(tmp_path)
        assert engine.version == 1
        assert (await sampled(engine, asked), await learn(engine, 2)) == there

    async def test_a_rewarded_answer_becomes_likelier(self, engine: Engine) -> None:
        """One step of policy gradient on what was sampled, and its opposite."""
        (request,) = requests(engine, 1)
        one, other = await sampled(engine, [request, replace(request, key=(9,))])
        rows = [as_row(request, one, advantage=1.0), as_row(request, other, advantage=-1.0)]
        before = [sum(seen) for seen in await engine.logprobs(rows)]
        batch = TrainingBatch(rows=tuple(rows), denominator=float(len(one.tokens) + len(other.tokens)))
        report = await engine.forward_backward(batch, loss_spec("grpo", max_steps_off_policy=0))
        assert report.metrics["k3_mu"] == pytest.approx(0.0, abs=1e-6)
        assert await engine.optim_step(STEP) > 0
        after = [sum(seen) for seen in await engine.logprobs(rows)]
        assert after[0] - after[1] > before[0] - before[1]

    async def test_numbers_that_are_none_change_nothing(self, engine: Engine) -> None:
        """A loss that is not finite is an error, and leaves no gradient behind."""
        row = demonstration(engine, advantage=1.0)
        wrong = replace(row, logprobs=(math.nan,) * len(row.tokens))
        before = await engine.logprobs([row])
        spec = loss_spec("grpo", max_steps_off_policy=0)
        with pytest.raises(TrainingError):
            await engine.forward_backward(TrainingBatch(rows=(wrong,), denominator=1.0), spec)
        assert await engine.optim_step(STEP) == 0.0
        assert await engine.logprobs([row]) == before

    async def test_export_is_a_directory(self, engine: Engine, tmp_path: Path) -> None:
        """The directory has the form that other tools load."""
        await engine.export(tmp_path)
        assert {"config.json", "tokenizer.json"} <= {path.name for path in tmp_path.iterdir()}
        assert list(tmp_path.glob("*.safetensors"))

    async def test_closing_twice(self, engine: Engine) -> None:
        """The second time nothing happens."""
        await engine.close()
        await engine.close()
