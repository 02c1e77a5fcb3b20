"""The engine of this machine: torch, transformers and (for LoRA) peft, on CPU or CUDA.

Three copies of the weights: one is trained, two are for sampling (see `sampler`). Training runs on a thread of its own,
sampling on another; in `sync` mode one waits for the other.
"""

from __future__ import annotations

import asyncio
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import Tensor

from harena.core.errors import ValidationError
from harena.core.records.training_plans import LossSpec
from harena.training.engines.cache import new_cache
from harena.training.engines.losses import TokenColumns, token_losses
from harena.training.engines.models import export_adapter, export_model, has_adapter
from harena.training.engines.sampler import SamplerThread, SamplingCopy
from harena.training.engines.tokenizer import LocalTokenizer
from harena.training.errors import TrainingError
from harena.training.loop.batch import TrainingBatch, TrainingRow
from harena.training.loop.packing import Lines, micro_batches
from harena.training.ports import LossReport, OptimizerStep, Weights
from harena.training.rollouts.trajectory import Sampled, SampleRequest

STATE_FILE = "engine.pt"
LEAST = torch.finfo(torch.float32).min
T = TypeVar("T")
TokenLines = Sequence[Sequence[TrainingRow]]
"""the lines of a forward pass, and the rows in each"""


class LocalTrainer(ABC):
    """The half of an engine that trains; whoever completes it samples, and says what publishing is."""

    def __init__(
        self,
        model: Any,
        tokenizer: Any,
        *,
        device: str = "cpu",
        micro_batch_tokens: int = 8_192,
        keep_reference: bool = False,
        pack: bool = False,
    ) -> None:
        """`model` is a Hugging Face causal language model, or a peft model over one; it is the engine's from now on.
        `micro_batch_tokens`: most tokens, padding included, of one forward and backward pass. `keep_reference`: keep a
        copy of the weights as they are now, for `logprobs(..., "reference")` and KL; a peft model needs none. `pack`:
        short rows share a line (see `harena.training.loop.packing`). Raises ValidationError for a model that lets rows
        of one line see each other."""
        self._device = torch.device(device)
        self._model = model.to(self._device)
        self._model.eval()  # no dropout, in modules or in functions: what is trained must be what is sampled
        self.tokenizer = LocalTokenizer(tokenizer)
        self.context_length = int(model.config.max_position_embeddings)
        self._micro_batch_tokens = micro_batch_tokens
        self._trained = [parameter for parameter in self._model.parameters() if parameter.requires_grad]
        self._optimizer = torch.optim.AdamW(self._trained, lr=0.0, betas=(0.9, 0.95), eps=1e-8, weight_decay=0.0)
        self._original = None
        if keep_reference and not has_adapter(self._model):
            self._original = deepcopy(self._model).requires_grad_(False)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="trainer")
        self._head_is_all = self._is_head_all()
        self._pack = pack
        if pack:
            self._check_packing()

    @property
    @abstractmethod
    def version(self) -> int:
        """Version of the published weights."""

    @abstractmethod
    def sample(self, requests: Sequence[SampleRequest]) -> list[asyncio.Future[Sampled]]:
        """Begin to sample, as `Sampler` says."""

    async def logprobs(self, rows: Sequence[TrainingRow], weights: Weights = "current") -> list[tuple[float, ...]]:
        """Compute the log-probabilities of the rows' learnt tokens on the training thread."""
        return await self._on_thread(lambda: self._row_logprobs(rows, weights))

    async def forward_backward(self, batch: TrainingBatch, loss: LossSpec | None) -> LossReport:
        """Add the gradient of the batch's loss on the training thread. Raises TrainingError where it is not finite."""
        return await self._on_thread(lambda: self._forward_backward(batch, loss))

    async def optim_step(self, step: OptimizerStep) -> float:
        """Change the weights by their gradients on the training thread; gives the norm before clipping. Raises
        TrainingError."""
        return await self._on_thread(lambda: self._optim_step(step))

    async def publish(self) -> int:
        """Give the present weights to what samples, as the next version, and return its number."""
        await self._publish(self.version + 1)
        return self.version

    @abstractmethod
    async def _publish(self, version: int) -> None:
        """Sample from the present weights, as `version`, from the next token on."""

    async def save(self, folder: Path) -> None:
        """Write weights, optimizer and version into the folder. Raises OSError."""
        await self._on_thread(lambda: self._save(folder))

    async def load(self, folder: Path) -> None:
        """Read what `save` wrote, and publish those weights under their version. Raises OSError, ValidationError."""
        await self._publish(await self._on_thread(lambda: self._load(folder)))

    async def export(self, folder: Path) -> None:
        """Write the model and its tokenizer as a Hugging Face directory. Raises OSError."""
        await self._on_thread(lambda: export_model(self._model, self.tokenizer, folder))

    @property
    def has_adapter(self) -> bool:
        """Whether an adapter is trained beside the model's own weights."""
        return has_adapter(self._model)

    async def export_adapter(self, folder: Path) -> None:
        """The LoRA adapter alone, as `peft` loads it. Raises ValidationError where there is none, OSError."""
        await self._on_thread(lambda: export_adapter(self._model, folder))

    async def close(self) -> None:
        """End the training thread."""
        self._thread.shutdown()

    async def _on_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    def _forward_backward(self, batch: TrainingBatch, loss: LossSpec | None) -> LossReport:
        total, count = 0.0, 0
        sums: dict[str, float] = {}
        for numbers in self._micro_batches(batch.rows):
            columns, entropy = self._columns(_rows_of(numbers, batch.rows), loss)
            losses, parts = token_losses(columns, loss) if loss else (-columns.logprobs, {})
            weighted = (losses * columns.weights).sum() / batch.denominator
            weighted.backward()
            total += float(weighted.detach())
            count += len(columns.logprobs)
            for name, value in {**parts, "entropy": entropy}.items():
                before = sums.get(name, 0.0)
                sums[name] = max(before, float(value)) if name == "ratio_max" else before + float(value)
        if not math.isfinite(total):
            self._optimizer.zero_grad()
            raise self._not_finite("loss", total)
        return LossReport(loss=total, metrics=_metrics(sums, count))

    def _optim_step(self, step: OptimizerStep) -> float:
        limit = math.inf if step.max_gradient_norm is None else step.max_gradient_norm
        norm = float(torch.nn.utils.clip_grad_norm_(self._trained, limit))
        if not math.isfinite(norm):
            self._optimizer.zero_grad()
            raise self._not_finite("gradient", norm)
        for group in self._optimizer.param_groups:
            group.update(
                lr=step.learning_rate,
                betas=(step.beta1, step.beta2),
                eps=step.epsilon,
                weight_decay=step.weight_decay,
            )
        self._optimizer.step()
        self._optimizer.zero_grad()
        return norm

    def _not_finite(self, what: str, value: float) -> TrainingError:
        return TrainingError(f"the {what} of version {self.version} is {value}: lower the learning rate", reason="LOSS")

    def _micro_batches(self, rows: Sequence[TrainingRow]) -> Iterator[Lines]:
        lengths = [len(row.tokens) for row in rows]
        return micro_batches(lengths, most_tokens=self._micro_batch_tokens, packed=self._pack)

    def _columns(self, lines: TokenLines, loss: LossSpec | None) -> tuple[TokenColumns, Tensor]:
        rows = list(chain.from_iterable(lines))
        logprobs = self._logits(self._model, lines).log_softmax(-1)
        with torch.no_grad():
            # what truncation left out has log-probability -inf, and adds nothing
            entropy = -(logprobs.exp() * logprobs.clamp(min=LEAST)).sum()
        lengths = self._tensor([sum(row.mask) for row in rows], torch.long)
        pi = self._of_chosen(logprobs, rows)
        columns = TokenColumns(
            logprobs=pi,
            mu=self._tensor([value for row in rows for value in _learnt(row, row.logprobs)]) if loss else pi.detach(),
            advantages=self._tensor([row.advantage for row in rows]).repeat_interleave(lengths),
            weights=self._tensor([row.weight for row in rows]).repeat_interleave(lengths),
            row=torch.arange(len(rows), device=self._device).repeat_interleave(lengths),
            # one optimizer step for each batch: the weights at its start are the present ones
            prox=pi.detach() if loss is not None and loss.needs_prox else None,
            reference=self._reference(lines) if loss is not None and loss.needs_reference else None,
        )
        return columns, entropy

    def _check(self, requests: Sequence[SampleRequest]) -> None:
        for request in requests:
            if not request.prompt or len(request.prompt) + request.sampling.max_new_tokens > self.context_length:
                raise ValidationError(
                    f"a prompt of {len(request.prompt)} tokens and max_new_tokens={request.sampling.max_new_tokens} do "
                    f"not fit a context of {self.context_length}, or there is no prompt: shorten one of them"
                )

    def _logprobs_under(self, model: Any, lines: TokenLines) -> Tensor:
        return self._of_chosen(self._logits(model, lines).log_softmax(-1), list(chain.from_iterable(lines)))

    def _of_chosen(self, logprobs: Tensor, rows: Sequence[TrainingRow]) -> Tensor:
        chosen = self._tensor([token for row in rows for token in _learnt(row, row.tokens)], torch.long)
        return logprobs.gather(1, chosen[:, None])[:, 0]

    def _logits(self, whole_model: Any, lines: TokenLines) -> Tensor:
        """Logits at the positions before learnt tokens, (n, vocabulary), divided by each row's temperature; -inf for
        tokens that were left out when the learnt one was drawn."""
        rows = list(chain.from_iterable(lines))
        # what follows the last token of a line is not learnt, so that token is not read; of a single token it is
        longest = max(1, max(sum(len(row.tokens) for row in line) for line in lines) - 1)
        tokens = self._filled([[token for row in line for token in row.tokens] for line in lines], longest)
        # the last token of a row stands before nothing
        learnt = self._filled([[bit for row in line for bit in (*row.mask[1:], 0)] for line in lines], longest, 0)
        model = _causal_model(whole_model)
        seen = self._what_rows_see(lines, longest)
        logits = self._logits_at(learnt.bool(), model, input_ids=tokens, use_cache=False, **seen).float()
        if any(entry.temperature != 1.0 for entry in rows):
            # 0 is greedy, whose log-probabilities are those of temperature 1
            lengths = self._tensor([sum(row.mask) for row in rows], torch.long)
            temperatures = self._tensor([row.temperature or 1.0 for row in rows]).repeat_interleave(lengths)
            logits = logits / temperatures[:, None]
        if any(entry.kept for entry in rows):
            logits = logits.masked_fill(self._left_out(rows, logits.shape[-1]), -math.inf)
        return logits

    def _logits_at(self, chosen: Tensor, model: Any, **given: Any) -> Tensor:
        """Logits at the places that are True in `chosen`, (n, vocabulary); logits of all places would take up much
        memory."""
        if self._head_is_all:
            logits: Tensor = model.get_output_embeddings()(model.base_model(**given).last_hidden_state[chosen])
            return logits
        places = chosen.any(0).nonzero()[:, 0]
        logits = model(**given, logits_to_keep=places).logits
        return logits[chosen[:, places]]

    @torch.no_grad()
    def _is_head_all(self) -> bool:
        """Nothing comes after the output layer: some models scale their logits then, or cap them."""
        model = _causal_model(self._model)
        given = {"input_ids": self._tensor([[*range(min(4, model.config.vocab_size))]], torch.long), "use_cache": False}
        head: Tensor = model.get_output_embeddings()(model.base_model(**given).last_hidden_state)
        return torch.equal(head, model(**given).logits)

    def _filled(self, lines: Sequence[list[int]], longest: int, filling: int | None = None) -> Tensor:
        """A rectangle of whole numbers, cut off at `longest`; without `filling`, padding tokens fill it up."""
        empty = [self.tokenizer.pad_token if filling is None else filling]
        return self._tensor([line[:longest] + empty * (longest - len(line)) for line in lines], torch.long)

    def _what_rows_see(self, lines: TokenLines, longest: int) -> dict[str, Tensor]:
        if all(len(line) == 1 for line in lines):
            return {}  # padded on the right: no token sees what stands behind it, and attention needs no mask
        # where positions begin anew a row begins, and each padding token is a row of its own: transformers makes the
        # mask of blocks out of that, whatever computes the attention
        positions = [[place for row in line for place in range(len(row.tokens))] for line in lines]
        return {"position_ids": self._filled(positions, longest, 0)}

    @torch.no_grad()
    def _check_packing(self) -> None:
        token = self.tokenizer.end_tokens[0]
        row = TrainingRow(tokens=(token,) * 4, mask=(0, 0, 1, 1))
        other = TrainingRow(tokens=tuple(range(4)), mask=(0,) * 4)
        alone, behind = self._logprobs_under(self._model, [[row]]), self._logprobs_under(self._model, [[other, row]])
        if float((alone - behind).abs().max()) > max(1e-3, 16 * torch.finfo(self._model.dtype).eps):
            name = type(_causal_model(self._model)).__name__
            raise ValidationError(
                f"a {name} lets rows that are packed into one line see each other, so their loss would be another: "
                "train it without packing"
            )

    def _left_out(self, rows: Sequence[TrainingRow], vocabulary_size: int) -> Tensor:
        among = [kept for row in rows for kept in _learnt(row, row.kept or ((),) * len(row.tokens))]
        left_out = torch.tensor([bool(kept) for kept in among])[:, None].repeat(1, vocabulary_size)
        places = torch.arange(len(among)).repeat_interleave(torch.tensor([len(kept) for kept in among]))
        left_out[places, torch.tensor([token for kept in among for token in kept], dtype=torch.long)] = False
        return left_out.to(self._device)

    @torch.no_grad()
    def _row_logprobs(self, rows: Sequence[TrainingRow], weights: Weights) -> list[tuple[float, ...]]:
        answers: list[tuple[float, ...]] = [()] * len(rows)
        for numbers in self._micro_batches(rows):
            lines = _rows_of(numbers, rows)
            flat = self._reference(lines) if weights == "reference" else self._logprobs_under(self._model, lines)
            parts = torch.split(flat, [sum(row.mask) for line in lines for row in line])
            for number, part in zip(chain.from_iterable(numbers), parts, strict=True):
                answers[number] = tuple(part.tolist())
        return answers

    @torch.no_grad()
    def _reference(self, lines: TokenLines) -> Tensor:
        if has_adapter(self._model):
            with self._model.disable_adapter():
                return self._logprobs_under(self._model, lines)
        if self._original is None:
            raise ValidationError("this engine keeps no reference weights: make it with keep_reference=True")
        return self._logprobs_under(self._original, lines)

    def _tensor(self, values: Any, dtype: torch.dtype = torch.float32) -> Tensor:
        return torch.tensor(values, dtype=dtype, device=self._device)

    def _save(self, folder: Path) -> None:
        weights = {name: p.detach() for name, p in self._model.named_parameters() if p.requires_grad}
        state = {"weights": weights, "optimizer": self._optimizer.state_dict(), "version": self.version}
        with (folder / STATE_FILE).open("wb") as file:  # torch itself would make a RuntimeError of a full disk
            torch.save(state, file)

    def _load(self, folder: Path) -> int:
        state = torch.load(folder / STATE_FILE, map_location=self._device, weights_only=True)
        own = {name for name, p in self._model.named_parameters() if p.requires_grad}
        if own != set(state["weights"]):
            raise ValidationError(f"{folder} holds other weights than this model trains: give the one it was made with")
        with torch.no_grad():
            for name, value in state["weights"].items():
                self._model.get_parameter(name).copy_(value)
        self._optimizer.load_state_dict(state["optimizer"])
        return int(state["version"])


class LocalEngine(LocalTrainer):
    """Implements `Engine`: trains and samples in this process."""

    def __init__(self, model: Any, tokenizer: Any, **settings: Any) -> None:
        """`settings` are the parameters of LocalTrainer."""
        super().__init__(model, tokenizer, **settings)
        self._sampler = SamplerThread(
            (SamplingCopy(self._model), SamplingCopy(self._model)),
            new_cache=lambda: new_cache(self._model.config),
            pad_token=self.tokenizer.pad_token,
            device=self._device,
            decode=self.tokenizer.decode,
        )

    @property
    def version(self) -> int:
        """Version of the weights that the sampling thread uses."""
        return self._sampler.version

    def sample(self, requests: Sequence[SampleRequest]) -> list[asyncio.Future[Sampled]]:
        """Hand the requests to the sampling thread. Raises ValidationError for a prompt that leaves no room for an
        answer."""
        self._check(requests)
        return self._sampler.submit(requests) if requests else []

    async def close(self) -> None:
        """End the sampling thread, then the training thread."""
        await asyncio.to_thread(self._sampler.close)
        await super().close()

    async def _publish(self, version: int) -> None:
        await self._on_thread(lambda: self._sampler.publish(self._write_weights, version))

    def _write_weights(self, target: SamplingCopy) -> None:
        with torch.no_grad():
            for name, parameter in self._model.named_parameters():
                if parameter.requires_grad:
                    target.model.get_parameter(name).copy_(parameter)


def _causal_model(model: Any) -> Any:
    """The causal language model itself, adapters inside it or not."""
    return model.get_base_model() if has_adapter(model) else model


def _learnt(row: TrainingRow, values: Sequence[Any]) -> list[Any]:
    return [value for value, learnt in zip(values, row.mask, strict=True) if learnt]


def _rows_of(numbers: Lines, rows: Sequence[TrainingRow]) -> TokenLines:
    return [[rows[number] for number in line] for line in numbers]


def _metrics(sums: Mapping[str, float], count: int) -> dict[str, float]:
    if not count:
        return {}
    metrics = {name: value / count for name, value in sums.items() if not name.startswith("ratio")}
    if "ratio_max" in sums:
        metrics["ratio_max"] = sums["ratio_max"]
    if sums.get("ratio_squared"):
        metrics["effective_sample_size"] = sums["ratio"] ** 2 / (count * sums["ratio_squared"])
    return {**metrics, "tokens": float(count)}
