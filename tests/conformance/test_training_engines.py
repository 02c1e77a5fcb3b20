"""Both engines that harena ships pass one suite: the one that samples in this process, and the one that asks it of
another."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
import torch

from harena.testing.conformance_training_engine import TrainingEngineConformance
from harena.training.engines.http import HttpEngine, SamplerProcess
from harena.training.engines.local import LocalEngine
from harena.training.engines.policy_folder import write_policy
from harena.training.engines.tiny import character_tokenizer, tiny_llama
from harena.training.ports import Engine

TOKENIZER = character_tokenizer("abcdefghijklmnopqrstuvwxyz0123456789 >()+-*")


def model() -> Any:
    torch.set_num_threads(1)
    return tiny_llama(len(TOKENIZER), seed=0, width=32, layers=2, heads=2, context_length=64)


class TestLocalEngine(TrainingEngineConformance):
    """In this process."""

    @pytest_asyncio.fixture
    async def engine(self) -> AsyncIterator[Engine]:
        """Fresh weights."""
        engine = LocalEngine(model(), TOKENIZER)
        yield engine
        await engine.close()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def sampler(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[SamplerProcess]:
    """One process for the module: each engine gives it its own weights when it connects."""
    folder = tmp_path_factory.mktemp("policy")
    write_policy(model(), folder)
    process = await SamplerProcess.start(folder, threads=1)
    yield process
    await process.end()
    await process.end()


class TestHttpEngine(TrainingEngineConformance):
    """In another process; weights go there in requests."""

    @pytest_asyncio.fixture
    async def engine(self, sampler: SamplerProcess) -> AsyncIterator[Engine]:
        """Fresh weights, in both processes."""
        engine = await HttpEngine.connect(model(), TOKENIZER, url=sampler.url, token=sampler.token)
        yield engine
        await engine.close()


class TestHttpEngineByFolder(TestHttpEngine):
    """Weights go there through a folder."""

    @pytest_asyncio.fixture
    async def engine(self, sampler: SamplerProcess, tmp_path: Path) -> AsyncIterator[Engine]:
        """Fresh weights, in both processes."""
        where = tmp_path / "weights"
        where.mkdir()
        engine = await HttpEngine.connect(
            model(), TOKENIZER, url=sampler.url, token=sampler.token, weights_folder=where
        )
        yield engine
        await engine.close()
