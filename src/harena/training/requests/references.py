"""What a request refers to, found: versions of stored objects, paths, shipped models; each with its digest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from harena.core.registry import ObjectKind


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedRef:
    """One reference, found."""

    where: str
    """the field of the request: "model", "capability_ref", "config.trajectory_dataset_refs[0]" ..."""
    kind: ObjectKind
    name: str
    """name of the stored object or model; for a model's path, the path as it was given"""
    version: str | None
    """version; for a data set that was given as a path, one named by its content; None = a path of a model, or a
    shipped one"""
    digest: str
    """sha256 over the content, in hexadecimal digits"""
    path: str | None
    """the directory (of a data set of one file: that file) on the node's machine; None = a shipped model"""
    described: Mapping[str, Any] = field(default_factory=dict)
    """description, as in `harena.training.objects`: {rows, split, uses, reward_recipe} of a data set's split, or
    {shipped: the fields of its recipe, context_length} of a shipped model"""

    @property
    def ref(self) -> str:
        """The reference that users know: NAME@VERSION, or what was given."""
        return self.name if self.version is None else f"{self.name}@{self.version}"


def in_words(text: str, lying: Mapping[str, str]) -> str:
    """A message, with words in place of paths on the node's machine, `lying` (path -> words): whoever reads it does not
    know the folder of a stored object."""
    for path in sorted(lying, key=len, reverse=True):
        text = text.replace(path, lying[path])
    return text


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedReferences:
    """All references of one request. JSON types, there and back."""

    refs: tuple[ResolvedRef, ...]

    def find(self, where: str) -> ResolvedRef | None:
        """The reference of a field; None = the request has none."""
        return next((ref for ref in self.refs if ref.where == where), None)

    @property
    def prompts(self) -> ResolvedRef | None:
        """The prompts of an RL job: a data set, or stored scenarios; None = it has none."""
        return self.find("config.prompt_dataset_ref") or self.find("config.scenarios_ref")

    def all_of(self, where: str) -> tuple[ResolvedRef, ...]:
        """The references of a field that is a list, in its order."""
        return tuple(ref for ref in self.refs if ref.where.startswith(f"{where}["))

    def in_words(self, text: str) -> str:
        """A message, with what was referred to in place of where it lies; see `in_words`."""
        return in_words(text, {ref.path: ref.ref for ref in reversed(self.refs) if ref.path is not None})

    def to_json(self) -> list[dict[str, Any]]:
        """The references as JSON types."""
        return [asdict(ref) for ref in self.refs]

    @classmethod
    def from_json(cls, refs: list[dict[str, Any]]) -> ResolvedReferences:
        """What `to_json` made."""
        return cls(refs=tuple(ResolvedRef(**ref) for ref in refs))
