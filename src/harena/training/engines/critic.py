"""PPO with a critic: an engine that learns, beside the policy, what answers are worth at each token.

The critic is one linear layer (the value head) over the policy's last hidden states. It reads them and does not change
them: the policy learns from its own loss alone. It begins at zero, and then every value is zero and each token's
advantage is the discounted reward.

For the learnt tokens 1 ... n of a sequence, V_t is the value before token t is chosen, r_t is 0 but for the sequence's
reward at n, and generalised advantage estimation (arXiv 1506.02438) with a discount of 1 gives

    delta_t = r_t + V_{t+1} - V_t,  V_{n+1} = 0
    A_t     = delta_t + gae_lambda * A_{t+1}
    loss    = the policy's with A_t  +  value_coefficient / 2 * (V_t - (A_t + V_t at the step's begin))^2

There is one optimizer step for each batch, so the values of the step's begin are the present ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from harena.core.errors import ValidationError
from harena.core.records.training_plans import LossSpec
from harena.training.engines.local import LocalEngine, TokenLines
from harena.training.engines.losses import TokenColumns

HEAD = "harena_value_head"
"""name of the critic among the model's modules; it is in checkpoints, and in no exported model"""


class CriticEngine(LocalEngine):
    """A `LocalEngine` whose batches are rewards: it makes the advantages of `ppo` itself."""

    def __init__(self, model: Any, tokenizer: Any, **settings: Any) -> None:
        """`settings` are the parameters of LocalTrainer. Raises ValidationError for a model whose logits are more than
        its output layer over its hidden states."""
        self._hidden: Tensor | None = None
        weight = model.get_input_embeddings().weight
        head = torch.nn.Linear(weight.shape[1], 1, device=weight.device, dtype=torch.float32)
        torch.nn.init.zeros_(head.weight)
        torch.nn.init.zeros_(head.bias)
        model.add_module(HEAD, head)
        super().__init__(model, tokenizer, **settings)
        self._head = head
        if not self._head_is_all:
            raise ValidationError(
                "config.critic: this model scales or caps its logits, and a critic over its hidden states is not made "
                "for that: leave critic out"
            )

    async def export(self, folder: Path) -> None:
        """Write the model without its critic. Raises OSError."""
        with self._without_head():
            await super().export(folder)

    async def export_adapter(self, folder: Path) -> None:
        """Write the adapter without the critic. Raises ValidationError where there is none, OSError."""
        with self._without_head():
            await super().export_adapter(folder)

    @contextmanager
    def _without_head(self) -> Iterator[None]:
        delattr(self._model, HEAD)
        try:
            yield
        finally:
            self._model.add_module(HEAD, self._head)

    def _logits_at(self, chosen: Tensor, model: Any, **given: Any) -> Tensor:
        hidden: Tensor = model.base_model(**given).last_hidden_state[chosen]
        if torch.is_grad_enabled():  # else it is no training pass: reference weights, or log-probabilities
            self._hidden = hidden.detach().float()
        logits: Tensor = model.get_output_embeddings()(hidden)
        return logits

    def _columns(self, lines: TokenLines, loss: LossSpec | None) -> tuple[TokenColumns, Tensor]:
        columns, entropy = super()._columns(lines, loss)
        if loss is None or not loss.critic or self._hidden is None:
            return columns, entropy
        values = self._head(self._hidden)[:, 0]
        lengths = [sum(row.mask) for row in chain.from_iterable(lines)]
        old = values.detach()
        rewards = [row.advantage for row in chain.from_iterable(lines)]
        parts = zip(old.split(lengths), rewards, strict=True)
        advantages = torch.cat([estimated(part, reward, loss.gae_lambda) for part, reward in parts])
        wrong = (values - (advantages + old)).square() / 2
        return replace(columns, advantages=advantages, value_loss=wrong * loss.value_coefficient), entropy


def estimated(values: Tensor, reward: float, gae_lambda: float) -> Tensor:
    """Generalised advantages of one sequence, whose last token earns the reward."""
    following = torch.cat([values[1:], values.new_zeros(1)])
    earned = torch.zeros_like(values)
    earned[-1:] = reward
    deltas = (earned + following - values).tolist()
    made: list[float] = []
    later = 0.0
    for delta in reversed(deltas):
        later = delta + gae_lambda * later
        made.append(later)
    return values.new_tensor(made[::-1])
