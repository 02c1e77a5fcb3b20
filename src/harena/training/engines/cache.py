"""What attention remembers of the tokens before, with room for those to come.

The cache of transformers copies all of itself for each new token; with small models that takes as long as the model.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from transformers import DynamicCache
from transformers.cache_utils import DynamicLayer

LEAST_ROOM = 32
"""tokens; more where there are many already, so that each is copied a few times at most"""


class RoomyLayer(DynamicLayer):
    """The keys and values of one layer, (n, heads, tokens, width) each: views of the filled part of larger tensors."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._room = (torch.empty(0), torch.empty(0))

    def update(self, key_states: Tensor, value_states: Tensor, *given: Any, **more: Any) -> tuple[Tensor, Tensor]:
        """Append the keys and values of new tokens, into memory that has room for more, and return the whole."""
        if not self.is_initialized:  # the prompts; before the next token siblings may be spread
            keys, values = super().update(key_states, value_states, *given, **more)
            self._room = (keys, values)
            return keys, values
        before = self.get_seq_length()
        after = before + key_states.shape[-2]
        if after > self._room[0].shape[-2]:
            capacity = after + max(LEAST_ROOM, after // 4)
            self._room = (_with_room(self.keys, capacity), _with_room(self.values, capacity))
        for whole, new in zip(self._room, (key_states, value_states), strict=True):
            whole[:, :, before:after] = new
        self.keys, self.values = (whole[:, :, :after] for whole in self._room)
        return self.keys, self.values

    def batch_select_indices(self, indices: Tensor) -> None:
        """Keep only these sequences of the batch."""
        super().batch_select_indices(indices)
        if self.keys is not None and self.values is not None:  # None = nothing was read yet
            self._room = (self.keys, self.values)


def _with_room(filled: Any, capacity: int) -> Tensor:
    rows, heads, tokens, width = filled.shape
    whole: Tensor = filled.new_empty((rows, heads, capacity, width))
    whole[:, :, :tokens] = filled
    return whole


def new_cache(config: Any) -> DynamicCache:
    """An empty cache for a model of this configuration. Layers that remember in another way (a sliding window, a state)
    are those of transformers."""
    cache = DynamicCache(config=config)
    cache.layers = [RoomyLayer() if type(layer) is DynamicLayer else layer for layer in cache.layers]
    return cache
