"""Rows that share a line give what they give alone: the same loss, gradients and log-probabilities."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
import torch
from small_engine import ALPHABET
from transformers import MistralConfig, MistralForCausalLM

from harena.core.errors import ValidationError
from harena.core.records.training_plans import LossSpec
from harena.training.engines.local import LocalEngine
from harena.training.engines.tiny import character_tokenizer
from harena.training.loop.algorithms import loss_spec
from harena.training.loop.batch import TrainingBatch, TrainingRow

Make = Callable[..., LocalEngine]
TEXTS = (
    "add 3>(x+3)",
    "a>b",
    "double then add 1 then negate>(-((x*2)+1))",
    "negate>(-x)",
    "square>(x*x)",
    "b>",
    "add 9>1",
)


def rows(engine: LocalEngine, *, temperatures: tuple[float, ...] = (1.0,)) -> list[TrainingRow]:
    made = []
    for place, text in enumerate(TEXTS):
        tokens = engine.tokenizer.encode(text) + engine.tokenizer.end_tokens
        mask = tuple(int(position > text.index(">")) for position in range(len(tokens)))
        logprobs = tuple(-0.1 * (position % 7) - 1 if bit else 0.0 for position, bit in enumerate(mask))
        temperature = temperatures[place % len(temperatures)]
        advantage = (-1.0) ** place * (place + 1) / 4
        made.append(
            TrainingRow(tokens=tokens, mask=mask, logprobs=logprobs, advantage=advantage, temperature=temperature)
        )
    return made


def gradients(engine: LocalEngine) -> dict[str, torch.Tensor]:
    return {name: p.grad.clone() for name, p in engine._model.named_parameters() if p.grad is not None}


@pytest.mark.parametrize("most", [10_000, 90, 40])
@pytest.mark.parametrize(
    "loss", [None, loss_spec("grpo", max_steps_off_policy=0), loss_spec("gspo", max_steps_off_policy=0)]
)
async def test_loss_and_gradients_are_those_of_unpacked_rows(engines: Make, most: int, loss: LossSpec | None) -> None:
    alone, packed = engines(1), engines(1, pack=True, micro_batch_tokens=most)
    batch = TrainingBatch(rows=tuple(rows(alone, temperatures=(1.0, 0.7))), denominator=40.0)
    reports = [await engine.forward_backward(batch, loss) for engine in (alone, packed)]
    assert reports[1].loss == pytest.approx(reports[0].loss, abs=1e-6)
    assert reports[1].metrics == pytest.approx(reports[0].metrics, rel=1e-4, abs=1e-6)
    one, other = gradients(alone), gradients(packed)
    assert one.keys() == other.keys()
    assert max(float(value.abs().max()) for value in one.values()) > 1e-2
    for name, value in one.items():
        assert float((value - other[name]).abs().max()) < 1e-6, name


async def test_log_probabilities_come_back_in_the_order_of_rows(engines: Make) -> None:
    alone, packed = engines(1), engines(1, pack=True)
    for one, other in zip(await alone.logprobs(rows(alone)), await packed.logprobs(rows(packed)), strict=True):
        assert other == pytest.approx(one, abs=1e-6)


async def test_rows_do_share_lines(engines: Make) -> None:
    """Else nothing was tested."""
    packed, alone = engines(1, pack=True), engines(1)
    shapes: list[list[tuple[int, ...]]] = []
    for engine in (packed, alone):
        seen: list[tuple[int, ...]] = []
        engine._model.base_model.register_forward_pre_hook(
            lambda module, given, named, seen=seen: seen.append(tuple(named["input_ids"].shape)), with_kwargs=True
        )
        await engine.logprobs(rows(engine))
        shapes.append(seen)
    lengths = [len(row.tokens) for row in rows(packed)]
    read = max(lengths) - 1  # nothing is learnt of what follows the last token
    assert shapes[1] == [(len(lengths), read)]
    assert shapes[0] == [(3, read)]
    assert len(lengths) == 7


def mistral(**more: Any) -> Any:
    config = MistralConfig(
        vocab_size=64, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2,
        num_key_value_heads=2, max_position_embeddings=64, **more,
    )  # fmt: skip
    torch.manual_seed(0)
    return MistralForCausalLM(config)


async def test_sliding_windows_stay_within_a_row() -> None:
    tokenizer = character_tokenizer(ALPHABET)
    engines = [LocalEngine(mistral(sliding_window=4), tokenizer, pack=pack) for pack in (False, True)]
    try:
        one, other = [await engine.logprobs(rows(engine)) for engine in engines]
        for value, packed in zip(one, other, strict=True):
            assert packed == pytest.approx(value, abs=1e-6)
    finally:
        for engine in engines:
            await engine.close()


async def test_a_model_whose_rows_would_see_each_other_is_refused() -> None:
    def leak(module: Any, given: Any, answer: Any) -> Any:
        """Adds to every token what stood before it in the line, whatever row it is of."""
        answer.last_hidden_state = answer.last_hidden_state + answer.last_hidden_state.cumsum(1)
        return answer

    leaking = MistralForCausalLM(mistral().config)
    leaking.model.register_forward_hook(leak)
    with pytest.raises(ValidationError, match="see each other"):
        LocalEngine(leaking, character_tokenizer(ALPHABET), pack=True)


def test_the_texts_differ_in_length() -> None:
    assert len({len(text) for text in TEXTS}) > 3
    assert any(len(a) != len(b) for a, b in pairwise(TEXTS))
