"""What a request refers to, found: versions of stored objects, paths, shipped models; each with its digest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from harena.core.records.objects import ResolvedReference


def in_words(text: str, lying: Mapping[str, str]) -> str:
    """A message, with words in place of paths on the node's machine, `lying` (path -> words): whoever reads it does not
    know the folder of a stored object."""
    for path in sorted(lying, key=len, reverse=True):
        text = text.replace(path, lying[path])
    return text


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedReferences:
    """All references of one request. JSON types, there and back."""

    refs: tuple[ResolvedReference, ...]

    def find(self, where: str) -> ResolvedReference | None:
        """The reference of a field; None = the request has none."""
        return next((ref for ref in self.refs if ref.where == where), None)

    @property
    def prompts(self) -> ResolvedReference | None:
        """The prompts of an RL job: a data set, stored scenarios, or a world's beginning; None = it has none."""
        named = ("config.prompt_dataset_ref", "config.scenarios_ref", "config.world_manifest_id")
        return next((found for where in named if (found := self.find(where)) is not None), None)

    @property
    def trajectories(self) -> tuple[ResolvedReference, ...]:
        """Recorded trajectories: those that a world was sampled for first, then those that were given."""
        sampled = self.find("config.world_runtime_id")
        return (*([] if sampled is None else [sampled]), *self.all_of("config.trajectory_dataset_refs"))

    @property
    def learned_from(self) -> list[ResolvedReference]:
        """The data sets whose rows are learned from."""
        return [*filter(None, [self.find("config.dataset_ref"), self.prompts]), *self.trajectories]

    def all_of(self, where: str) -> tuple[ResolvedReference, ...]:
        """The references of a field that is a list, in its order."""
        return tuple(ref for ref in self.refs if ref.where.startswith(f"{where}["))

    def in_words(self, text: str) -> str:
        """A message, with what was referred to in place of where it lies; see `in_words`."""
        return in_words(text, {ref.path: ref.ref for ref in reversed(self.refs) if ref.path is not None})

    def to_json(self) -> list[dict[str, Any]]:
        """The references as JSON types."""
        return [ref.to_dict() for ref in self.refs]

    @classmethod
    def from_json(cls, refs: list[dict[str, Any]]) -> ResolvedReferences:
        """What `to_json` made."""
        return cls(refs=tuple(ResolvedReference.from_dict(ref) for ref in refs))
