"""The engine of this machine: what it samples is what it trains, to the bit where that is claimed."""

from __future__ import annotations

import asyncio
import hashlib
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from peft import LoraConfig, get_peft_model
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    CohereConfig,
    DynamicCache,
    Gemma2Config,
    GraniteConfig,
    LlamaConfig,
)

from harena.core.errors import ValidationError
from harena.training.engines.cache import new_cache
from harena.training.engines.local import STATE_FILE, LocalEngine
from harena.training.engines.models import Lora, with_adapter
from harena.training.engines.sampler import Cohort, SamplingCopy, within
from harena.training.engines.tiny import character_tokenizer, tiny_llama
from harena.training.errors import TrainingError
from harena.training.loop.algorithms import loss_spec
from harena.training.loop.batch import TrainingBatch, TrainingRow, rl_batch, sft_batch
from harena.training.ports import OptimizerStep
from harena.training.rollouts.trajectory import Group, Reward, Sampled, SampleRequest, Sampling, StopReason, single_turn

Make = Callable[..., LocalEngine]
CPU = torch.device("cpu")
STEP = OptimizerStep(learning_rate=1e-2)


def requests(engine: LocalEngine, *, count: int = 8, temperature: float = 1.0, most: int = 12) -> list[SampleRequest]:
    """Prompts of different lengths."""
    sampling = Sampling(max_new_tokens=most, temperature=temperature, stop_tokens=engine.tokenizer.end_tokens)
    prompts = [engine.tokenizer.encode("add 3 then double>"[place % 5 :]) for place in range(count)]
    return [SampleRequest(prompt=p, key=(7, place), sampling=sampling) for place, p in enumerate(prompts)]


async def sampled(engine: LocalEngine, asked: list[SampleRequest]) -> list[Sampled]:
    return list(await asyncio.gather(*engine.sample(asked)))


def row(engine: LocalEngine, prompt: str, said: str, **more: Any) -> TrainingRow:
    given, tokens = engine.tokenizer.encode(prompt), engine.tokenizer.encode(said) + engine.tokenizer.end_tokens
    return TrainingRow(tokens=given + tokens, mask=(0,) * len(given) + (1,) * len(tokens), **more)


async def learn(engine: LocalEngine, steps: int, first: int = 0) -> None:
    texts = [("add 3>", "(x+3)"), ("double>", "(x*2)"), ("negate>", "(-x)"), ("add 9>", "(x+9)")]
    for step in range(first, first + steps):
        await engine.forward_backward(sft_batch([row(engine, *texts[(step + k) % 4]) for k in range(2)]), None)
        await engine.optim_step(STEP)


def weights(engine: LocalEngine) -> str:
    digest = hashlib.sha256()
    for name, value in sorted(engine._model.state_dict().items()):
        digest.update(name.encode() + value.numpy().tobytes())
    return digest.hexdigest()


async def test_the_same_request_draws_the_same_to_the_bit(engines: Make) -> None:
    one, other = engines(3), engines(3)
    assert await sampled(one, requests(one)) == await sampled(other, requests(other))
    assert await sampled(one, requests(one)) != await sampled(one, [*requests(one, count=4), *requests(one, count=4)])


@pytest.mark.parametrize("temperature", [0.0, 0.7, 1.0, 1.3])
async def test_the_trainer_sees_the_log_probabilities_that_were_sampled(engines: Make, temperature: float) -> None:
    """Prompts of different lengths, padded on one side there and on the other here; sums of floats differ by 1e-5."""
    engine = engines()
    asked = requests(engine, temperature=temperature)
    for request, got in zip(asked, await sampled(engine, asked), strict=True):
        mask = (0,) * len(request.prompt) + (1,) * len(got.tokens)
        entry = TrainingRow(tokens=request.prompt + got.tokens, mask=mask, temperature=temperature)
        (seen,) = await engine.logprobs([entry])
        assert seen == pytest.approx(got.logprobs, abs=1e-5)
        assert len(got.tokens) == len(got.versions)
        assert got.stop == (StopReason.STOP if got.tokens[-1] in engine.tokenizer.end_tokens else StopReason.LENGTH)


async def test_greedy_is_the_most_probable(engines: Make) -> None:
    engine = engines()
    await learn(engine, 60)
    await engine.publish()
    (request, *_) = requests(engine, count=1, temperature=0.0)
    request = SampleRequest(prompt=engine.tokenizer.encode("negate>"), key=(1,), sampling=request.sampling)
    (got,) = await sampled(engine, [request])
    assert engine.tokenizer.decode(got.tokens) == "(-x)"
    assert got.stop is StopReason.STOP


async def test_sampling_follows_the_distribution(engines: Make) -> None:
    """The first token of 2,000 sequences: frequencies within five standard deviations of the probabilities."""
    engine = engines()
    sampling = Sampling(max_new_tokens=1)
    prompt = engine.tokenizer.encode("add 3>")
    asked = [SampleRequest(prompt=prompt, key=(1, place), sampling=sampling) for place in range(2000)]
    counts: dict[int, int] = {}
    for got in await sampled(engine, asked):
        counts[got.tokens[0]] = counts.get(got.tokens[0], 0) + 1
    for token in range(10):
        (seen,) = await engine.logprobs([TrainingRow(tokens=(*prompt, token), mask=(*(0,) * len(prompt), 1))])
        p = float(torch.tensor(seen[0]).exp())
        assert abs(counts.get(token, 0) - 2000 * p) < 5 * (2000 * p * (1 - p)) ** 0.5


@pytest.mark.parametrize("most", [40, 64, 10_000])
async def test_a_gradient_does_not_depend_on_micro_batches(engines: Make, most: int) -> None:
    """Rows of different lengths, cut in three ways: the same loss, norm and weights but for rounding."""
    whole, cut = engines(micro_batch_tokens=10_000), engines(micro_batch_tokens=most)
    spec = loss_spec("grpo", max_steps_off_policy=0)
    reports = []
    for engine in (whole, cut):
        texts = [("add 3>", "(x+3)", 1.0), ("double then add 1>", "(x*2)", -1.0), ("negate>", "(-x)", 0.5)]
        rows = []
        for prompt, said, advantage in texts:
            entry = row(engine, prompt, said)
            (mu,) = await engine.logprobs([entry])
            full = (0.0,) * (len(entry.tokens) - len(mu)) + mu
            rows.append(row(engine, prompt, said, logprobs=full, advantage=advantage))
        report = await engine.forward_backward(TrainingBatch(rows=tuple(rows), denominator=20.0), spec)
        reports.append((report.loss, await engine.optim_step(STEP)))
    assert reports[0] == pytest.approx(reports[1], abs=1e-6)


async def test_it_goes_on_to_the_bit(engines: Make, tmp_path: Path) -> None:
    one, other = engines(1), engines(2)
    await learn(one, 3)
    await one.publish()
    await one.save(tmp_path)
    await learn(one, 3, first=3)
    await other.load(tmp_path)
    assert other.version == 1
    await learn(other, 3, first=3)
    assert weights(one) == weights(other)
    again = engines(5)
    await again.load(tmp_path)
    before = await sampled(again, requests(again))
    fresh = engines(6)
    await fresh.load(tmp_path)
    assert await sampled(fresh, requests(fresh)) == before


async def test_a_full_disk_is_an_os_error(engines: Make, tmp_path: Path) -> None:
    (tmp_path / STATE_FILE).symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left"):
        await engines().save(tmp_path)


async def test_other_weights_are_refused(engines: Make, tmp_path: Path) -> None:
    engine = engines()
    torch.save({"weights": {}, "optimizer": {}, "version": 0}, tmp_path / STATE_FILE)
    with pytest.raises(ValidationError, match="other weights"):
        await engine.load(tmp_path)


async def test_export_is_a_model_for_everybody(engines: Make, tmp_path: Path) -> None:
    """Plain transformers loads it, with its tokenizer, and says the same."""
    engine = engines()
    await learn(engine, 5)
    await engine.export(tmp_path)
    model, tokenizer = AutoModelForCausalLM.from_pretrained(tmp_path), AutoTokenizer.from_pretrained(tmp_path)
    entry = row(engine, "add 3>", "(x+3)")
    assert tuple(tokenizer.encode("add 3>(x+3)", add_special_tokens=False)) == entry.tokens[:-1]
    logprobs = model(torch.tensor([entry.tokens])).logits[0].detach().log_softmax(-1)
    wanted = [float(logprobs[place - 1, entry.tokens[place]]) for place in range(6, len(entry.tokens))]
    (seen,) = await engine.logprobs([entry])
    assert seen == pytest.approx(wanted, abs=1e-5)


async def test_weights_change_between_two_tokens(engines: Make) -> None:
    """Tokens of one sequence carry the version that chose them, never an older one after a newer."""
    engine = engines()
    sampling = Sampling(max_new_tokens=40)
    asked = [
        SampleRequest(prompt=engine.tokenizer.encode("add 3>"), key=(place,), sampling=sampling) for place in (1, 2)
    ]
    futures = engine.sample(asked)
    while not all(future.done() for future in futures):
        await engine.publish()
    for got in [future.result() for future in futures]:
        assert list(got.versions) == sorted(got.versions)
    assert engine.version > 0


async def test_an_aborted_sequence_ends_alone(engines: Make) -> None:
    engine = engines()
    asked = requests(engine, count=3)
    alone = await sampled(engine, asked)
    futures = engine.sample(asked)
    futures[1].cancel()
    got = await asyncio.gather(*futures, return_exceptions=True)
    assert isinstance(got[1], asyncio.CancelledError)
    for place in (0, 2):
        assert got[place].tokens == alone[place].tokens


async def test_numbers_that_are_none_change_nothing(engines: Make) -> None:
    engine = engines()
    before = weights(engine)
    entry = row(engine, "add 3>", "(x+3)", logprobs=(float("nan"),) * 12, advantage=1.0)
    with pytest.raises(TrainingError, match="nan"):
        await engine.forward_backward(
            TrainingBatch(rows=(entry,), denominator=1.0), loss_spec("grpo", max_steps_off_policy=0)
        )
    assert await engine.optim_step(STEP) == 0.0
    assert weights(engine) == before


async def test_a_prompt_that_does_not_fit(engines: Make) -> None:
    engine = engines()
    with pytest.raises(ValidationError, match="context of 64"):
        engine.sample([SampleRequest(prompt=(5,) * 60, key=(1,), sampling=Sampling(max_new_tokens=5))])


@pytest.mark.filterwarnings("ignore:`is_gradient_checkpointing`:FutureWarning")  # what peft asks transformers
async def test_an_adapter_is_trained_and_merged(tmp_path: Path) -> None:
    """LoRA: the reference is the model without it; merged and adapter agree."""
    tokenizer = character_tokenizer("abcdefghijklmnopqrstuvwxyz0123456789 >()+-*")
    base = tiny_llama(len(tokenizer), seed=0, width=32, layers=2, heads=2, context_length=64)
    torch.manual_seed(0)
    model = get_peft_model(base, LoraConfig(r=4, lora_alpha=8, target_modules=["q_proj", "v_proj", "down_proj"]))
    engine = LocalEngine(model, tokenizer)
    try:
        entry = row(engine, "add 3>", "(x+3)")
        (at_first,) = await engine.logprobs([entry])
        await learn(engine, 10)
        await engine.publish()
        (reference,), (now,) = await engine.logprobs([entry], "reference"), await engine.logprobs([entry])
        assert reference == pytest.approx(at_first, abs=1e-6)
        assert sum(now) > sum(reference) + 0.1
        await engine.export(tmp_path)
        merged = AutoModelForCausalLM.from_pretrained(tmp_path)
        logprobs = merged(torch.tensor([entry.tokens])).logits[0].detach().log_softmax(-1)
        wanted = [float(logprobs[place - 1, entry.tokens[place]]) for place in range(6, len(entry.tokens))]
        assert now == pytest.approx(wanted, abs=1e-4)
        asked = requests(engine)
        for request, got in zip(asked, await sampled(engine, asked), strict=True):
            mask = (0,) * len(request.prompt) + (1,) * len(got.tokens)
            (seen,) = await engine.logprobs([TrainingRow(tokens=request.prompt + got.tokens, mask=mask)])
            assert seen == pytest.approx(got.logprobs, abs=1e-5)
    finally:
        await engine.close()


TRUNCATIONS = [{"top_k": 3}, {"top_p": 0.6}, {"top_k": 12, "top_p": 0.7}]


@pytest.mark.parametrize("temperature", [0.0, 0.7, 1.0, 1.3])
@pytest.mark.parametrize("truncation", TRUNCATIONS)
async def test_the_trainer_sees_the_truncated_distribution(
    engines: Make, truncation: dict[str, Any], temperature: float
) -> None:
    """Beside sequences that are not truncated; and the trainer's probabilities over what was kept add up to 1."""
    engine = engines()
    sampling = Sampling(max_new_tokens=12, temperature=temperature, **truncation)
    asked = requests(engine, temperature=temperature)
    asked = [SampleRequest(prompt=r.prompt, key=r.key, sampling=sampling) for r in asked[:4]] + asked[4:]
    for request, got in zip(asked, await sampled(engine, asked), strict=True):
        given = len(request.prompt)
        entry = TrainingRow(
            tokens=request.prompt + got.tokens,
            mask=(0,) * given + (1,) * len(got.tokens),
            temperature=temperature,
            kept=((),) * given + got.kept if got.kept else (),
        )
        (seen,) = await engine.logprobs([entry])
        assert seen == pytest.approx(got.logprobs, abs=1e-5)
        assert bool(got.kept) == request.sampling.truncated
        assert all(token in among for token, among in zip(got.tokens, got.kept, strict=False))
        if got.kept and "top_k" in truncation:
            assert max(len(among) for among in got.kept) <= truncation["top_k"]
    first = SampleRequest(prompt=asked[0].prompt, key=(1,), sampling=Sampling(max_new_tokens=1, **truncation))
    (got,) = await sampled(engine, [first])
    tokens = [(*first.prompt, token) for token in got.kept[0]]
    mask, kept = (*(0,) * len(first.prompt), 1), (*((),) * len(first.prompt), got.kept[0])
    seen = await engine.logprobs([TrainingRow(tokens=entry, mask=mask, kept=kept) for entry in tokens])
    assert sum(math.exp(logprob) for (logprob,) in seen) == pytest.approx(1.0, abs=1e-5)


async def test_a_truncated_token_is_learnt_from_within_what_was_kept(engines: Make) -> None:
    """Newer weights, the same kept tokens: a finite loss and gradient, and an entropy below that of so many tokens."""
    engine = engines()
    (asked, *_) = requests(engine, count=1)
    asked = SampleRequest(prompt=asked.prompt, key=asked.key, sampling=Sampling(max_new_tokens=8, top_k=4))
    (got,) = await sampled(engine, [asked])
    await learn(engine, 5)
    given = len(asked.prompt)
    trajectory = single_turn(
        prompt_id="p", sample=0, prompt=asked.prompt, sampled=got, text="", reward=Reward(value=1.0), seconds={}
    )
    other = replace(trajectory, sample=1, reward=Reward(value=0.0))
    batch, _ = rl_batch(
        [Group(number=0, prompt_id="p", trajectories=(trajectory, other))],
        rule="group_mean", loss=loss_spec("grpo", max_steps_off_policy=1), max_new_tokens=8, temperature=1.0,
    )  # fmt: skip
    assert batch.rows[0].kept == ((),) * given + got.kept
    report = await engine.forward_backward(batch, loss_spec("grpo", max_steps_off_policy=1))
    assert math.isfinite(report.loss)
    assert 0 < report.metrics["entropy"] <= math.log(4) + 1e-6
    assert math.isfinite(await engine.optim_step(STEP))


def test_what_is_kept() -> None:
    """The most probable, the smaller id first among equals; at least one, whatever the limit."""
    logprobs = torch.tensor([[0.4, 0.1, 0.4, 0.1]] * 5).log()
    limits = [(math.inf, math.inf), (1, math.inf), (math.inf, 0.5), (3, 0.9), (math.inf, 1e-9)]
    kept = [row.nonzero()[:, 0].tolist() for row in within(logprobs, torch.tensor(limits, dtype=torch.float64))]
    assert kept == [[0, 1, 2, 3], [0], [0, 2], [0, 1, 2], [0]]


async def test_siblings_share_their_prompt(engines: Make) -> None:
    """A prompt is read once for all its siblings; each draws what it draws alone, and one that is aborted before
    anything was sampled leaves the others as they were."""
    engine = engines()
    prompts = [engine.tokenizer.encode(text) for text in ("add 3>", "double then add 1>", "add 3>", "add 3>", "x>")]
    sampling = Sampling(max_new_tokens=6)
    asked = [SampleRequest(prompt=prompt, key=(1, place), sampling=sampling) for place, prompt in enumerate(prompts)]
    together = await sampled(engine, asked)
    for request, got in zip(asked, together, strict=True):
        (alone,) = await sampled(engine, [request])
        assert got.tokens == alone.tokens
        assert got.logprobs == pytest.approx(alone.logprobs, abs=1e-5)
    read: list[int] = []

    def next_tokens(tokens: torch.Tensor, *more: Any) -> torch.Tensor:
        read.append(len(tokens))
        return copy(tokens, *more)

    copy, found = SamplingCopy(engine._model), dict[int, Sampled]()
    cohort = Cohort(asked, found.update, cache=new_cache(engine._model.config), pad_token=0, device=CPU)
    cohort.abort(2)
    while cohort.step(next_tokens, 0):
        pass
    assert read == [3, 4, 4, 4, 4, 4]
    assert found[2].stop is StopReason.ABORTED
    for place in (0, 1, 3, 4):
        assert found[place].tokens == together[place].tokens


async def test_what_was_left_out_is_never_drawn(engines: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the sum of probabilities falls by a rounding, as a sum in parallel may: seen here from its end."""

    def falling(mass: torch.Tensor, dim: int) -> torch.Tensor:
        return (
            summed(mass, dim) - torch.linspace(0, 1e-3, mass.shape[-1])
            if mass.is_floating_point()
            else summed(mass, dim)
        )

    summed = torch.Tensor.cumsum
    engine = engines()
    sampling = Sampling(max_new_tokens=8, top_k=2)
    asked = [SampleRequest(prompt=(3, 4), key=(1, place), sampling=sampling) for place in range(64)]
    with monkeypatch.context() as patch:
        patch.setattr(torch.Tensor, "cumsum", falling)
        cohort = Cohort(
            asked,
            (found := dict[int, Sampled]()).update,
            cache=new_cache(engine._model.config),
            pad_token=0,
            device=CPU,
        )
        cohort._uniform.fill_(1.0)
        while cohort.step(SamplingCopy(engine._model), 0):
            pass
    for got in found.values():
        assert all(token in among for token, among in zip(got.tokens, got.kept, strict=True))
        assert min(got.logprobs) > -math.inf


async def test_a_text_of_several_tokens_ends_a_sequence(engines: Make) -> None:
    """With the token that completes it; what is sampled until then is what is sampled without."""
    engine = engines()
    prompt = engine.tokenizer.encode("add 3>")

    def asked(key: int, *texts: str) -> SampleRequest:
        return SampleRequest(prompt=prompt, key=(3, key), sampling=Sampling(max_new_tokens=24, stop_texts=texts))

    free = await sampled(engine, [asked(key) for key in range(8)])
    texts = [engine.tokenizer.decode(got.tokens) for got in free]
    ending = [text[5:8] for text in texts]
    stopped = await sampled(engine, [asked(key, "never said", ending[key]) for key in range(8)])
    for got, whole, text, end in zip(stopped, free, texts, ending, strict=True):
        length = text.index(end) + len(end)
        assert (got.stop, engine.tokenizer.decode(got.tokens)) == (StopReason.STOP, text[:length])
        assert got.tokens == whole.tokens[: len(got.tokens)]
    with pytest.raises(ValidationError, match="every text ends with an empty one"):
        Sampling(stop_texts=("",))


async def test_those_that_end_early_change_nothing_for_others(engines: Make) -> None:
    """Those that have ended are dropped now and then, not at each token, and are computed on until then."""
    engine = engines()
    prompts = ["add 3>", "double then add 1 then negate then add 2>", "x>"]
    asked = [
        SampleRequest(
            prompt=engine.tokenizer.encode(prompts[place % 3]),
            key=(7, place),
            sampling=Sampling(max_new_tokens=1 + place * 5 % 17, stop_tokens=(3,) * (place % 2) + (9,) * (place % 5)),
        )
        for place in range(24)
    ]
    together = await sampled(engine, asked)
    for request, got in zip(asked, together, strict=True):
        (alone,) = await sampled(engine, [request])
        assert (got.tokens, got.stop, got.versions) == (alone.tokens, alone.stop, alone.versions)
        assert got.logprobs == pytest.approx(alone.logprobs, abs=1e-5)
    assert {one.stop for one in together} == {StopReason.STOP, StopReason.LENGTH}
    computed: list[int] = []

    def next_tokens(tokens: torch.Tensor, *more: Any) -> torch.Tensor:
        computed.append(len(tokens))
        return copy(tokens, *more)

    copy, found = SamplingCopy(engine._model), dict[int, Sampled]()
    cohort = Cohort(asked, found.update, cache=new_cache(engine._model.config), pad_token=0, device=CPU)
    while cohort.step(next_tokens, 0):
        pass
    assert [found[place].tokens for place in range(24)] == [one.tokens for one in together]
    under_way = [sum(len(one.tokens) > step for one in together) for step in range(len(computed))]
    assert computed[0] == 3
    assert all(
        live <= lines <= live + max(1, lines // 8) for live, lines in zip(under_way[1:], computed[1:], strict=True)
    )


@pytest.mark.parametrize("room", [1, 3, 32])
def test_a_cache_with_room_gives_what_one_without_gives(room: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harena.training.engines.cache.LEAST_ROOM", room)
    config = tiny_llama(9, seed=0, width=32, layers=2, heads=2, context_length=64).config
    roomy, plain = new_cache(config), DynamicCache(config=config)
    generator = torch.Generator().manual_seed(5)
    for tokens, select in [(4, [0, 0, 1, 2]), (1, None), (2, None), (1, [3, 1, 0]), (1, None), (1, [2]), (1, None)]:
        lines = roomy.layers[0].keys.shape[0] if roomy.get_seq_length() else 3
        for layer in range(config.num_hidden_layers):
            new = [torch.randn(lines, 2, tokens, 16, generator=generator) for _ in range(2)]
            for got, wanted in zip(roomy.update(*new, layer), plain.update(*new, layer), strict=True):
                assert torch.equal(got, wanted)
        if select is not None:
            roomy.batch_select_indices(torch.tensor(select))
            plain.batch_select_indices(torch.tensor(select))
    assert roomy.get_seq_length() == plain.get_seq_length() == 11


@pytest.mark.filterwarnings("ignore:`is_gradient_checkpointing`:FutureWarning")  # what peft asks transformers
@pytest.mark.parametrize(
    ("kind", "more"),
    [
        (GraniteConfig, {"logits_scaling": 4.0}),
        (Gemma2Config, {"final_logit_softcapping": 0.5, "head_dim": 8}),
        (CohereConfig, {"logit_scale": 0.25}),
        (LlamaConfig, {"attention_dropout": 0.5}),
    ],
)
@pytest.mark.parametrize("truncated", [{}, {"top_k": 5, "top_p": 0.9, "temperature": 1.3}])
async def test_a_model_is_trained_as_it_is_sampled(kind: Any, more: dict[str, Any], truncated: dict[str, Any]) -> None:
    """Also where it scales or caps its logits, or would drop out attention while it learns; adapters or not."""
    tokenizer = character_tokenizer("abcdefgh")
    torch.manual_seed(0)
    sizes = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
    tokens = {"vocab_size": len(tokenizer), "pad_token_id": 0, "bos_token_id": None, "eos_token_id": 1}
    config = kind(**sizes, **tokens, num_key_value_heads=2, max_position_embeddings=64, **more)
    model = AutoModelForCausalLM.from_config(config)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.3)
    for adapted in (False, True):
        trained = with_adapter(model, Lora(rank=2)) if adapted else model
        engine = LocalEngine(trained, tokenizer, micro_batch_tokens=40)
        sampling = Sampling(max_new_tokens=9, stop_tokens=(1,), **truncated)
        asked = [SampleRequest(prompt=(3, 4, 5)[: 1 + k % 3], key=(1, k), sampling=sampling) for k in range(6)]
        said = await sampled(engine, asked)
        made = [
            TrainingRow(
                tokens=request.prompt + answer.tokens,
                mask=(0,) * len(request.prompt) + (1,) * len(answer.tokens),
                temperature=sampling.temperature,
                kept=((),) * len(request.prompt) + answer.kept if answer.kept else (),
            )
            for request, answer in zip(asked, said, strict=True)
        ]
        for of_trainer, answer in zip(await engine.logprobs(made), said, strict=True):
            assert of_trainer == pytest.approx(answer.logprobs, abs=1e-4)
        await engine.close()
