"""The engine whose sampler is another process: it trains as the local one does, and says so when the other is lost."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import pytest_asyncio
import torch
from peft import LoraConfig, get_peft_model

from harena.core.errors import PlatformError, ValidationError
from harena.training.data.prompts import PromptRow
from harena.training.engines.http import HttpEngine, SamplerProcess
from harena.training.engines.local import LocalEngine, LocalTrainer
from harena.training.engines.policy_folder import write_policy
from harena.training.engines.tiny import character_tokenizer, tiny_llama
from harena.training.loop.rl import RLLoop, RLSettings
from harena.training.loop.sft import completion_row, sft_batch
from harena.training.ports import Engine, OptimizerStep
from harena.training.rewards import Overlong, contains
from harena.training.rollouts.trajectory import SampleRequest, Sampling

TOKENIZER = character_tokenizer("abcdefghijklmnopqrstuvwxyz0123456789 >()+-*")
pytestmark = pytest.mark.asyncio(loop_scope="module")


def model(seed: int = 0, width: int = 32) -> Any:
    return tiny_llama(len(TOKENIZER), seed=seed, width=width, layers=2, heads=2, context_length=64)


def adapted(seed: int = 0) -> Any:
    torch.manual_seed(seed)
    return get_peft_model(model(), LoraConfig(r=4, lora_alpha=8, target_modules=["q_proj", "v_proj"]))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def sampler(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[SamplerProcess]:
    folder = tmp_path_factory.mktemp("policy")
    write_policy(model(), folder)
    process = await SamplerProcess.start(folder, threads=1)
    yield process
    await process.end()


async def reinforced(engine: Engine, staleness: int, steps: int = 12) -> list[dict[str, float]]:
    """Rewards for an "x": the metrics of each step."""
    rows = [PromptRow(id=f"p{place}", prompt=f"add {place}>") for place in range(4)]
    sampling = Sampling(max_new_tokens=10, stop_tokens=engine.tokenizer.end_tokens)
    settings = RLSettings(
        steps=steps,
        groups_per_step=4,
        group_size=8,
        sampling=sampling,
        learning_rate=1e-2,
        max_steps_off_policy=staleness,
        overlong=Overlong(policy="score"),
    )
    told: list[dict[str, float]] = []
    loop = RLLoop(engine, rows, contains(needle="x"), settings)
    await asyncio.wait_for(loop.run(on_step=lambda step, metrics: told.append(dict(metrics))), 60)
    return told


def weights(engine: LocalTrainer) -> list[bytes]:
    return [parameter.detach().numpy().tobytes() for parameter in engine._model.parameters()]


async def test_sync_is_what_the_local_engine_does_to_the_bit(sampler: SamplerProcess) -> None:
    """The same loop, the same samples, the same weights."""
    local = LocalEngine(model(), TOKENIZER)
    remote = await HttpEngine.connect(model(), TOKENIZER, url=sampler.url, token=sampler.token)
    try:
        here, there = await reinforced(local, 0), await reinforced(remote, 0)
        assert [metrics["reward"] for metrics in there] == [metrics["reward"] for metrics in here]
        assert weights(remote) == weights(local)
        assert remote.version == local.version == 12
        assert here[-1]["reward"] > here[0]["reward"] + 0.3
    finally:
        await local.close()
        await remote.close()


@pytest.mark.parametrize("staleness", [1, 3])
async def test_it_learns_while_it_samples(sampler: SamplerProcess, staleness: int) -> None:
    engine = await HttpEngine.connect(model(), TOKENIZER, url=sampler.url, token=sampler.token)
    try:
        told = await reinforced(engine, staleness, steps=20)
    finally:
        await engine.close()
    assert told[-1]["reward"] > told[0]["reward"] + 0.3
    assert 0 < max(metrics["staleness/max"] for metrics in told) <= staleness
    assert engine.version == 20


async def the_sampler_is_lost(engine: HttpEngine, prompt: tuple[int, ...]) -> None:
    """A fault of the platform, for what is sampled and for what is published."""
    (future,) = engine.sample([SampleRequest(prompt=prompt, key=(1,), sampling=Sampling(max_new_tokens=50))])
    assert engine._process is not None
    os.kill(engine._process.pid, signal.SIGKILL)
    with pytest.raises(PlatformError, match="was lost"):
        await future
    with pytest.raises(PlatformError, match="was lost"):
        await engine.publish()
    assert engine.version == 1


@pytest.mark.filterwarnings("ignore:`is_gradient_checkpointing`:FutureWarning")  # what peft asks transformers
async def test_only_the_adapter_is_sent(tmp_path: Path) -> None:
    """A sampler of its own, over base and adapter; it samples what was learnt. Then it is lost."""
    engine = await HttpEngine.start(adapted(), TOKENIZER, tmp_path, sampler_threads=1)
    try:
        assert len(engine._weights()) < 20_000
        row = completion_row(engine.tokenizer, "add 3>", "(x+3)", context_length=64)
        for _ in range(10):
            await engine.forward_backward(sft_batch([row]), None)
            await engine.optim_step(OptimizerStep(learning_rate=1e-2))
        assert await engine.publish() == 1
        prompt = engine.tokenizer.encode("add 3>")
        (future,) = engine.sample([SampleRequest(prompt=prompt, key=(1,), sampling=Sampling(max_new_tokens=8))])
        got = await future
        mask = (0,) * len(prompt) + (1,) * len(got.tokens)
        row = type(row)(tokens=prompt + got.tokens, mask=mask)
        (seen,) = await engine.logprobs([row])
        assert seen == pytest.approx(got.logprobs, abs=2e-5)
        assert set(got.versions) == {1}
        await the_sampler_is_lost(engine, prompt)
    finally:
        await engine.close()


async def test_another_policys_weights_are_refused(sampler: SamplerProcess) -> None:
    with pytest.raises(ValidationError, match=r"not of this policy:\n.*\(46, 48\), not \(46, 32\)") as caught:
        await HttpEngine.connect(model(width=48), TOKENIZER, url=sampler.url, token=sampler.token)
    assert "and " in str(caught.value)


async def test_a_wrong_token_is_refused(sampler: SamplerProcess) -> None:
    with pytest.raises(PlatformError, match=r"401.*bearer token"):
        await HttpEngine.connect(model(), TOKENIZER, url=sampler.url, token="wrong")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"{", "Expecting"),
        (b'{"batch": "a"}', "a batch is"),
        (b'{"batch": "a", "requests": [{"prompt": [1]}]}', "a request is"),
        (b'{"batch": "a", "requests": [{"prompt": [99], "key": [1], "sampling": {}}]}', "prompt must be"),
        (b'{"batch": "a", "requests": [{"prompt": [], "key": [1], "sampling": {}}]}', "a prompt is empty"),
        (b'{"batch": "a", "requests": [{"prompt": [1], "key": [1], "sampling": {"top_p": "1"}}]}', "top_p must be"),
        (b'{"batch": "a", "requests": [{"prompt": [1], "key": [1], "sampling": {"top_k": 0}}]}', "top_k must be"),
        (b'{"batch": "a", "requests": [{"prompt": [1], "key": [1], "sampling": {"seed": 0}}]}', "an object of"),
        (b'{"batch": "a", "requests": [{"prompt": [1], "key": [1], "sampling": {}}]}', "do not fit"),
    ],
)
async def test_bad_requests(sampler: SamplerProcess, body: bytes, said: str) -> None:
    headers = {"Authorization": f"Bearer {sampler.token}"}
    async with aiohttp.ClientSession(headers=headers) as connection:
        async with connection.post(f"{sampler.url}/v1/sample", data=body) as response:
            assert response.status == 422
            assert said in (await response.json())["detail"]


async def test_bad_weights(sampler: SamplerProcess) -> None:
    headers = {"Authorization": f"Bearer {sampler.token}"}
    async with aiohttp.ClientSession(headers=headers) as connection:
        async with connection.put(f"{sampler.url}/v1/weights/3", data=b"no weights") as response:
            assert response.status == 422
        async with connection.put(f"{sampler.url}/v1/weights/3", json={"folder": "/nowhere"}) as response:
            assert response.status == 422
            assert "/nowhere" in (await response.json())["detail"]


async def test_a_folder_without_a_policy(tmp_path: Path) -> None:
    with pytest.raises(ValidationError, match="holds no policy"):
        await SamplerProcess.start(tmp_path)
