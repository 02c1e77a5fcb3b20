"""A policy that is sampled from in one process and trained in another: its weights arrive as safetensors files."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import torch
from safetensors.torch import load as read_safetensors

from harena.training.engines.cache import new_cache
from harena.training.engines.policy_folder import check_weights
from harena.training.engines.sampler import Decode, SamplerThread, SamplingCopy
from harena.training.rollouts.trajectory import Sampled, SampleRequest


class PublishedSampler:
    """Samples from the newest weights that arrived. Used from one event loop; `publish` from any thread, one call at a
    time."""

    def __init__(self, model: Any, *, pad_token: int, decode: Decode | None = None) -> None:
        """`model` is a causal language model, or a peft model over one, whose parameters ask for gradients where they
        are trained elsewhere. `decode` makes text of tokens, for texts that end an answer; None = no request has
        some."""
        self.model = model
        self.context_length = int(model.config.max_position_embeddings)
        self._sampler = SamplerThread(
            (SamplingCopy(model), SamplingCopy(model)),
            new_cache=lambda: new_cache(model.config),
            pad_token=pad_token,
            device=next(model.parameters()).device,
            decode=decode,
        )

    @property
    def version(self) -> int:
        """Version of the weights that are sampled from."""
        return self._sampler.version

    def submit(self, requests: Sequence[SampleRequest]) -> list[asyncio.Future[Sampled]]:
        """Begin to sample the requests side by side; one future for each."""
        return self._sampler.submit(requests) if requests else []

    def publish(self, weights: bytes, version: int) -> None:
        """Sample from these weights (a safetensors file) from the next token on. Blocks. Raises SafetensorError,
        ValidationError for weights of another policy."""
        arrived = read_safetensors(weights)
        check_weights(arrived, self.model)

        def write(target: SamplingCopy) -> None:
            with torch.no_grad():
                for name, value in arrived.items():
                    target.model.get_parameter(name).copy_(value)

        self._sampler.publish(write, version)

    async def close(self) -> None:
        """End the sampling thread."""
        await asyncio.to_thread(self._sampler.close)
