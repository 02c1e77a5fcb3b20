"""A model that is loaded in this process and sampled by the sampler that training uses."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import torch
from transformers.utils.logging import disable_progress_bar

from harena.core.errors import ValidationError
from harena.training.data.conversations import WITHOUT_TEMPLATE, Conversation
from harena.training.data.prompts import PromptRow
from harena.training.data.templates import ChatTemplate
from harena.training.engines.cache import new_cache
from harena.training.engines.models import load_model
from harena.training.engines.sampler import SamplerThread, SamplingCopy
from harena.training.engines.tiny import shipped_model
from harena.training.engines.tokenizer import LocalTokenizer
from harena.training.model_eval.answers_file import ModelAnswer
from harena.training.model_eval.models import Asking
from harena.training.requests.plan import NEW_TOKENS, NEW_TOKENS_IN_CHAT
from harena.training.rollouts.trajectory import Sampled, SampleRequest, Sampling, StopReason
from harena.training.shipped_models import SHIPPED_MODELS

MOST_NAMED = 10
"""problems that an error names"""


class LocalModel:
    """Implements `AskedModel`, on the GPU where there is one."""

    def __init__(self, model: Any, tokenizer: Any, *, name: str) -> None:
        """`model` and `tokenizer` are of Hugging Face's classes, and this object's from now on."""
        self._name = name
        self._device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self._model = model.to(self._device)
        self._tokenizer = LocalTokenizer(tokenizer)
        self._template = ChatTemplate(self._tokenizer) if self._tokenizer.chat_template is not None else None
        self._context_length = int(model.config.max_position_embeddings)
        copy = SamplingCopy(self._model)
        self._sampler = SamplerThread(
            (copy, copy),  # the weights never change
            new_cache=lambda: new_cache(self._model.config),
            pad_token=self._tokenizer.pad_token,
            device=self._device,
        )

    @classmethod
    def load(cls, folder: Path, *, name: str) -> LocalModel:
        """The model of a Hugging Face directory. Raises ValidationError."""
        disable_progress_bar()
        dtype = torch.bfloat16 if torch.cuda.is_available() else torch.float32
        return cls(*load_model(folder, dtype=dtype), name=name)

    @classmethod
    def shipped(cls, name: str, *, seed: int) -> LocalModel:
        """A model that comes with harena, with random weights. Raises KeyError."""
        return cls(*shipped_model(SHIPPED_MODELS[name], seed=seed), name=name)

    @property
    def name(self) -> str:
        """The directory, or how the model was named."""
        return self._name

    @property
    def in_chat(self) -> bool:
        """Its tokenizer has a chat template."""
        return self._template is not None

    def with_prompt(self, problem: PromptRow, conversation: Conversation) -> PromptRow:
        """The problem with the text of its chat template, or with its own where it has none. Raises ValueError."""
        if self._template is not None:
            encoded = self._template.prompt(conversation)
            return replace(problem, prompt=encoded.text, messages=conversation.messages)
        if problem.messages:
            raise ValueError(WITHOUT_TEMPLATE)
        if not problem.prompt:
            raise ValueError("its prompt is empty")
        return problem

    def most_new_tokens(self, problems: Sequence[PromptRow]) -> int:
        """The length that training gives: 1024 of a chat model, else 128, and what the context has room for."""
        longest = max(len(self._tokenizer.encode(problem.prompt)) for problem in problems)
        wanted = NEW_TOKENS_IN_CHAT if self.in_chat else NEW_TOKENS
        return max(1, min(wanted, self._context_length - longest))

    def check(self, problems: Sequence[PromptRow], asking: Asking) -> None:
        """Raises ValidationError that names the problems whose prompts leave no room for an answer."""
        room = self._context_length - asking.max_new_tokens
        lengths = {problem.id: len(self._tokenizer.encode(problem.prompt)) for problem in problems}
        wrong = [f"{name} has {length} tokens" for name, length in lengths.items() if length > room]
        if wrong:
            more = [f"and {len(wrong) - MOST_NAMED} more"] if len(wrong) > MOST_NAMED else []
            named = "\n  ".join([*wrong[:MOST_NAMED], *more])
            raise ValidationError(
                f"{len(wrong)} prompts are too long: this model has a context of {self._context_length} tokens, of "
                f"which answers take {asking.max_new_tokens} (max_new_tokens):\n  {named}"
            )

    async def answers(
        self, wanted: Sequence[tuple[PromptRow, int]], asking: Asking
    ) -> AsyncIterator[list[ModelAnswer]]:
        """Sample `asking.at_once` answers side by side, and give them together when the last of them has ended."""
        sampling = Sampling(
            max_new_tokens=asking.max_new_tokens,
            temperature=asking.temperature,
            top_p=asking.top_p,
            stop_tokens=self._tokenizer.end_tokens,
        )
        for start in range(0, len(wanted), asking.at_once):
            some = wanted[start : start + asking.at_once]
            requests = [
                SampleRequest(
                    prompt=self._tokenizer.encode(problem.prompt),
                    key=_key(asking.seed, problem.id, sample),
                    sampling=sampling,
                )
                for problem, sample in some
            ]
            sampled = await asyncio.gather(*self._sampler.submit(requests))
            yield [self._answer(problem, sample, one) for (problem, sample), one in zip(some, sampled, strict=True)]

    async def close(self) -> None:
        """End the sampling thread."""
        await asyncio.to_thread(self._sampler.close)

    def _answer(self, problem: PromptRow, sample: int, sampled: Sampled) -> ModelAnswer:
        return ModelAnswer(
            problem=problem.id,
            sample=sample,
            text=self._tokenizer.decode(sampled.tokens),
            tokens=len(sampled.tokens),
            cut_off=sampled.stop is StopReason.LENGTH,
        )


def _key(seed: int, problem: str, sample: int) -> tuple[int, ...]:
    """The source of an answer's randomness: nothing of it depends on what else is asked, or when."""
    return seed, int.from_bytes(sha256(problem.encode()).digest()[:6], "big"), sample
