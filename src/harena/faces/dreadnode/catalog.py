"""The base models that hosted jobs can begin with: those that harena comes with, and the workspace's stored ones."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass

from harena.core.ports import RegistryOperations
from harena.core.records.objects import ModelDescription, ShippedModel, StoredObject
from harena.core.registry import ObjectKind
from harena.faces.dreadnode.records import HostedModel
from harena.training.shipped_models import SHIPPED_MODELS

ALGORITHMS = ("sft", "importance_sampling", "ppo")
"""what hosted jobs train with, by this wire's names"""
KINDS: tuple[ObjectKind, ...] = ("model", "checkpoint")
PAGE = 500
MOST_LISTED = 20
"""pages of one kind that are read: a catalogue is looked through by people"""
_BYTES_EACH = 2
_MATRICES = 12
"""weights of a layer in units of its width squared: 4 of attention, 8 of the three matrices after it"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogFilter:
    """A query narrows the list of models; None = all."""

    query: str | None = None
    family: str | None = None
    algorithm: str | None = None
    min_size_b: float | None = None
    max_size_b: float | None = None

    def admits(self, model: HostedModel) -> bool:
        """Whether the model is asked for."""
        words = (model.tinker_id.lower(), model.display_name.lower())
        return (
            (self.query is None or any(self.query.lower() in word for word in words))
            and (self.family is None or self.family.lower() == model.family.lower())
            and (self.algorithm is None or self.algorithm in model.supported_algorithms)
            and (self.min_size_b is None or model.size_b >= self.min_size_b)
            and (self.max_size_b is None or model.size_b <= self.max_size_b)
        )


async def models_of(node: RegistryOperations) -> AsyncIterator[HostedModel]:
    """Every model; adapters alone are none. Raises PlatformError."""
    for model in _shipped():
        yield model
    for kind in KINDS:
        cursor: int | None = None
        for _ in range(MOST_LISTED):
            page = await node.list_objects(kind, limit=PAGE, cursor=cursor)
            for found in page.objects:
                if isinstance(found.described, ModelDescription) and found.described.adapter is None:
                    yield _stored(found, found.described)
            if (cursor := page.next_cursor) is None:
                break


def _shipped() -> Iterator[HostedModel]:
    for name, made in SHIPPED_MODELS.items():
        yield HostedModel(
            tinker_id=name,
            display_name=name,
            family="shipped",
            type="dense",
            size_b=_parameters(made) / 1e9,
            context_length=made.context_length,
            supported_algorithms=[*ALGORITHMS],
        )


def _parameters(made: ShippedModel) -> int:
    return made.width * (len(made.alphabet) + _MATRICES * made.width * made.layers)


def _stored(found: StoredObject, described: ModelDescription) -> HostedModel:
    return HostedModel(
        tinker_id=found.ref,
        display_name=found.name,
        family=described.architecture or "unknown",
        type="dense",
        size_b=found.bytes / _BYTES_EACH / 1e9,
        context_length=described.context_length or 0,
        supported_algorithms=[*ALGORITHMS],
    )
