"""Samples sequences on a thread of its own: those that were asked for together advance together, one token at a time.

New weights arrive between two tokens. What has been sampled stays, and so does what attention remembers of it, as in
PipelineRL (arXiv 2509.19128); every token carries the version that chose it.

A sequence's randomness is a stream of uniform numbers of its own (Philox, keyed by its request), so that it depends
neither on its neighbours nor on the order in which things happen.

Where sampling is truncated (top_k, top_p), the log-probabilities are those over the tokens that were kept, and each
token carries which those were.
"""

from __future__ import annotations

import asyncio
import math
import threading
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from harena.training.rollouts.trajectory import Sampled, SampleRequest, Sampling, StopReason

NextTokens = Callable[[Tensor, Tensor, Tensor, Any], Tensor]
"""(token ids (n, t), attention mask (n, past + t), positions (n, t), cache) -> logits of the last
position, (n, vocabulary size)"""
FEW_ENDED = 8
"""sequences that have ended are computed on while they are at most one in so many"""


Decode = Callable[[Sequence[int]], str]
"""tokens -> their text"""


class Cohort:
    """Sequences that were asked for together."""

    def __init__(
        self,
        requests: Sequence[SampleRequest],
        resolve: Callable[[Mapping[int, Sampled]], None],
        *,
        cache: Any,
        pad_token: int,
        device: torch.device,
        decode: Decode | None = None,
    ) -> None:
        """`resolve` is given the sequences that end with one token, by their numbers; each number once. `decode` makes
        a text of tokens, for requests that end with one."""
        self._decode = decode
        self._requests = requests
        self._resolve = resolve
        self._cache = cache
        self._device = device
        self._rows = list(range(len(requests)))
        """the number of the sequence in each line of the tensors; some of them may have ended, see `_drop_ended`"""
        self._live = torch.ones(len(requests), dtype=torch.bool)
        self._versions: list[int] = []
        self._kept: list[list[tuple[int, ...]]] = [[] for _ in requests]
        self._aborted: set[int] = set()
        prompts = {prompt: place for place, prompt in enumerate(dict.fromkeys(r.prompt for r in requests))}
        self._spread: Tensor | None = None
        """(n,): which of the prompts is whose, until they have been read; siblings share one"""
        if len(prompts) < len(requests):
            self._spread = torch.tensor([prompts[request.prompt] for request in requests], device=device)
        longest = max(map(len, prompts))
        self._input = torch.full((len(prompts), longest), pad_token, dtype=torch.long)
        self._mask = torch.zeros((len(prompts), longest), dtype=torch.long)
        for prompt, row in prompts.items():  # padded on the left: the last position is everybody's last token
            self._input[row, longest - len(prompt) :] = torch.tensor(prompt)
            self._mask[row, longest - len(prompt) :] = 1
        self._input, self._mask = self._input.to(device), self._mask.to(device)
        self._positions = (self._mask.cumsum(1) - 1).clamp(min=0)
        samplings = [request.sampling for request in requests]
        self._most = torch.tensor([sampling.max_new_tokens for sampling in samplings])
        self._stops = _stop_tokens(samplings)
        most = int(self._most.max())
        # what was sampled; kept where it is computed, and read when a sequence ends
        self._tokens = torch.zeros((len(requests), most), dtype=torch.long, device=device)
        self._logprobs = torch.zeros((len(requests), most), device=device)
        self._uniform = torch.tensor(np.stack([_uniform(request.key, most) for request in requests]), device=device)
        self._temperature = torch.tensor([[sampling.temperature or 1.0] for sampling in samplings], device=device)
        self._greedy = torch.tensor([sampling.temperature == 0 for sampling in samplings], device=device)
        self._limits: Tensor | None = None
        """(n, 2): most tokens, and the probability that ends them"""
        if any(sampling.truncated for sampling in samplings):
            limits = [_limits(sampling) for sampling in samplings]
            self._limits = torch.tensor(limits, dtype=torch.float64, device=device)

    def abort(self, row: int) -> None:
        """End this sequence at the next token. From any thread."""
        self._aborted.add(row)

    @torch.inference_mode()
    def step(self, next_tokens: NextTokens, version: int) -> bool:
        """One more token for each; whether there is more to do."""
        if self._aborted:
            aborted = torch.tensor([row in self._aborted for row in self._rows])
            self._end(aborted & self._live, torch.zeros_like(self._live), aborted=True)
        self._drop_ended()
        if not self._rows:
            return False
        logits = next_tokens(self._input, self._mask, self._positions, self._cache)
        if self._spread is not None:
            logits, self._mask = logits[self._spread], self._mask[self._spread]
            self._cache.batch_select_indices(self._spread)
            self._spread = None
        chosen, logprobs = self._choose(logits.float())
        place = len(self._versions)
        self._versions.append(version)
        self._tokens[:, place], self._logprobs[:, place] = chosen, logprobs
        stopped = (chosen.to("cpu")[:, None] == self._stops).any(1) | self._said_a_stop(place)
        self._end(self._live & (stopped | (self._most <= place + 1)), stopped)
        # those that have ended are at position 0: the one after their last may be beyond the context
        self._positions = (self._mask.sum(1) * self._live.to(self._device))[:, None]
        self._mask = torch.cat([self._mask, torch.ones_like(self._mask[:, :1])], dim=1)
        self._input = chosen[:, None]
        return bool(self._live.any())

    def _said_a_stop(self, place: int) -> Tensor:
        """Find the sequences that one of their stop texts has just ended, by decoding their last tokens."""
        found = torch.zeros_like(self._live)
        for number, (row, live) in enumerate(zip(self._rows, self._live.tolist(), strict=True)):
            texts = self._requests[row].sampling.stop_texts
            if not live or not texts or self._decode is None:
                continue
            most = max(len(text.encode()) for text in texts) + 1
            tail = self._decode(self._tokens[number, max(0, place + 1 - most) : place + 1].tolist())
            found[number] = any(text in tail for text in texts)
        return found

    @property
    def unfinished(self) -> list[int]:
        """Rows that have not ended."""
        return [row for row, live in zip(self._rows, self._live.tolist(), strict=True) if live]

    def _choose(self, logits: Tensor) -> tuple[Tensor, Tensor]:
        logprobs = (logits / self._temperature).log_softmax(-1)
        kept: Tensor | None = None
        if self._limits is not None:
            kept = within(logprobs, self._limits)
            logprobs = logprobs.masked_fill(~kept, -math.inf).log_softmax(-1)
            self._remember(kept)
        place = len(self._versions)
        mass = logprobs.exp().cumsum(-1)
        # a uniform number of [0, 1) times the whole mass is below it: no token of probability 0 is ever chosen
        drawn = (mass <= self._uniform[:, place : place + 1] * mass[:, -1:]).sum(-1)
        drawn = torch.where(self._greedy, logits.argmax(-1), drawn.clamp(max=logits.shape[-1] - 1))
        if kept is not None:  # summed in parallel, as on a GPU, the mass may fall by a rounding where it should stay
            drawn = torch.where(kept.gather(1, drawn[:, None])[:, 0], drawn, logits.argmax(-1))
        return drawn, logprobs.gather(1, drawn[:, None])[:, 0]

    def _remember(self, kept: Tensor) -> None:
        ids = torch.split(kept.nonzero()[:, 1], kept.sum(-1).tolist())
        for row, among in zip(self._rows, ids, strict=True):
            self._kept[row].append(tuple(among.tolist()) if self._requests[row].sampling.truncated else ())

    def _drop_ended(self) -> None:
        """Compute no more for sequences that have ended, once they are many: to drop one copies all the others."""
        ended = int((~self._live).sum())
        if ended < len(self._rows) and ended * FEW_ENDED <= len(self._rows):
            return
        index = self._live.nonzero()[:, 0]
        self._rows = [self._rows[place] for place in index.tolist()]
        if not self._rows:
            return
        self._live, self._most, self._stops = self._live[index], self._most[index], self._stops[index]
        index = index.to(self._device)
        self._tokens, self._logprobs = self._tokens[index], self._logprobs[index]
        self._uniform, self._temperature = self._uniform[index], self._temperature[index]
        self._greedy = self._greedy[index]
        if self._limits is not None:
            self._limits = self._limits[index]
        if self._spread is not None:
            self._spread = self._spread[index]
            return
        self._input, self._mask = self._input[index], self._mask[index]
        self._positions = self._positions[index]
        self._cache.batch_select_indices(index)

    def _end(self, ending: Tensor, stopped: Tensor, *, aborted: bool = False) -> None:
        """These end with the tokens that they have."""
        places = ending.nonzero()[:, 0]
        if not len(places):
            return
        self._live = self._live & ~ending
        index, count = places.to(self._device), len(self._versions)
        tokens, logprobs = self._tokens[index, :count].tolist(), self._logprobs[index, :count].tolist()
        versions = tuple(self._versions)
        ended = {}
        for place, row_tokens, row_logprobs, stop in zip(
            places.tolist(), tokens, logprobs, stopped[places].tolist(), strict=True
        ):
            row = self._rows[place]
            ended[row] = Sampled(
                tokens=tuple(row_tokens),
                logprobs=tuple(row_logprobs),
                versions=versions,
                stop=StopReason.ABORTED if aborted else StopReason.STOP if stop else StopReason.LENGTH,
                kept=tuple(self._kept[row]) if self._requests[row].sampling.truncated else (),
            )
        self._resolve(ended)


def _uniform(key: tuple[int, ...], count: int) -> Any:
    return np.random.Generator(np.random.Philox(np.random.SeedSequence(key))).random(count)


def _stop_tokens(samplings: Sequence[Sampling]) -> Tensor:
    """(n, most of one); -1, which is no token, where there are fewer."""
    most = max(len(sampling.stop_tokens) for sampling in samplings)
    return torch.tensor([[*s.stop_tokens, *[-1] * (most - len(s.stop_tokens))] for s in samplings], dtype=torch.long)


def _limits(sampling: Sampling) -> tuple[float, float]:
    return (sampling.top_k or math.inf, sampling.top_p if sampling.top_p < 1 else math.inf)


def within(logprobs: Tensor, limits: Tensor) -> Tensor:
    """Which tokens are drawn among, (n, vocabulary size) of bools: the most probable `limits[:, 0]`, and of those the
    fewest that together have `limits[:, 1]` of their probability. Of equals, the smaller id comes first."""
    ordered, order = logprobs.double().sort(dim=-1, descending=True, stable=True)
    rank = torch.arange(logprobs.shape[-1], device=logprobs.device)
    kept = rank < limits[:, :1]
    mass = ordered.exp().masked_fill(~kept, 0.0)
    before = mass.cumsum(-1) - mass
    kept &= before < limits[:, 1:] * mass.sum(-1, keepdim=True)
    return torch.zeros_like(kept).scatter(1, order, kept)


class SamplingCopy:
    """A copy of a causal language model that is sampled from; implements `NextTokens`."""

    def __init__(self, model: Any) -> None:
        self.model = deepcopy(model).requires_grad_(False).eval()

    def __call__(self, tokens: Tensor, mask: Tensor, positions: Tensor, cache: Any) -> Tensor:
        answer = self.model(
            input_ids=tokens,
            attention_mask=mask,
            position_ids=positions,
            past_key_values=cache,
            use_cache=True,
            logits_to_keep=1,
        )
        logits: Tensor = answer.logits[:, -1]
        return logits


class SamplerThread:
    """Advances cohorts, one token each in turn, and gives each finished sequence to whoever waits for it."""

    def __init__(
        self,
        models: tuple[Any, Any],
        *,
        new_cache: Callable[[], Any],
        pad_token: int,
        device: torch.device,
        decode: Decode | None = None,
    ) -> None:
        """`models` are two of the same weights: one is sampled from, into the other new weights are written. `decode`:
        a tokenizer's; without one no text ends a sequence."""
        self._decode = decode
        self._front, self._back = models
        self._new_cache = new_cache
        self._pad_token = pad_token
        self._device = device
        self.version = 0
        self._cohorts: list[tuple[Cohort, list[asyncio.Future[Sampled]]]] = []
        self._changed = threading.Condition()
        self._at_token = threading.Lock()
        """held while a token is computed"""
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="sampler", daemon=True)
        self._thread.start()

    def submit(self, requests: Sequence[SampleRequest]) -> list[asyncio.Future[Sampled]]:
        """On an event loop: one future for each request."""
        loop = asyncio.get_running_loop()
        futures: list[asyncio.Future[Sampled]] = [loop.create_future() for _ in requests]

        def resolve(ended: Mapping[int, Sampled]) -> None:
            loop.call_soon_threadsafe(_settle, futures, ended)

        cohort = Cohort(
            requests,
            resolve,
            cache=self._new_cache(),
            pad_token=self._pad_token,
            device=self._device,
            decode=self._decode,
        )
        for row, future in enumerate(futures):
            future.add_done_callback(partial(_abort_if_cancelled, cohort, row))
        with self._changed:
            self._cohorts.append((cohort, futures))
            self._changed.notify()
        return futures

    def publish(self, write: Callable[[Any], None], version: int) -> None:
        """Let `write` put new weights into the model that nobody samples from, and sample from it from the next token
        on. Blocks; called from one thread."""
        write(self._back)
        with self._at_token:
            self._front, self._back = self._back, self._front
            self.version = version

    def close(self) -> None:
        """End after the token that is being computed."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join()

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._cohorts or self._closed)
                if self._closed:
                    return
                cohorts = list(self._cohorts)
            for entry in cohorts:
                if not self._step(*entry):
                    with self._changed:
                        self._cohorts.remove(entry)

    def _step(self, cohort: Cohort, futures: list[asyncio.Future[Sampled]]) -> bool:
        try:
            with self._at_token:
                front, version = self._front, self.version
                return cohort.step(front, version)
        except Exception as error:  # noqa: BLE001 - out of memory and the like: whoever waits is told, and others go on
            for row in cohort.unfinished:
                future = futures[row]
                future.get_loop().call_soon_threadsafe(_fail, future, error)
            return False


def _abort_if_cancelled(cohort: Cohort, row: int, future: asyncio.Future[Sampled]) -> None:
    if future.cancelled():
        cohort.abort(row)


def _settle(futures: Sequence[asyncio.Future[Sampled]], ended: Mapping[int, Sampled]) -> None:
    for row, sampled in ended.items():
        if not futures[row].done():
            futures[row].set_result(sampled)


def _fail(future: asyncio.Future[Sampled], error: Exception) -> None:
    if not future.done():
        future.set_exception(error)
