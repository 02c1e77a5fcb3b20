"""What training refers to, as it is answered: capabilities, tasks, data sets, models and checkpoints.

Each kind of object has a description of its own, which is read from its files when it is published.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from harena.core.records.record import Record
from harena.core.registry import ObjectKind, StoredDescription


@dataclass(frozen=True, slots=True, kw_only=True)
class CapabilityDescription(Record):
    """What capability.yaml and the files of its agents say."""

    description: str
    """the author's, from capability.yaml"""
    entry_agent: str | None
    """agent whose prompt training uses; null = the capability has no agent"""
    prompt: str | None
    """text of the entry agent's prompt; null = the capability has no agent"""
    agents: list[str]
    """names of its agents"""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskDescription(Record):
    """What task.yaml says."""

    instruction: str
    """what a policy is asked to do; {{ name }} stands for a variable"""
    variables: list[str]
    """names that the instruction has in braces, sorted"""
    inputs: dict[str, str]
    """variable -> its value where a row gives none"""
    method: str
    """how an attempt is verified, as `verification.method` of task.yaml"""
    blueprint: str | None
    """blueprint of its environment; null = none is named"""


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitDescription(Record):
    """What the rows of one split can be used for."""

    rows: int
    """number of rows"""
    uses: list[str]
    """each of sft, prompts and trajectories that every row can be used for"""
    cannot: dict[str, str]
    """use -> the first row that stands in its way, and why"""
    reward_recipe: str | None
    """recipe that the rows' own fields ask for; null = they are no prompts"""


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetDescription(Record):
    """The splits of a data set."""

    path: str
    """the data set's only file; "" = a directory of files"""
    parts: dict[str, SplitDescription]
    """name of a split -> what it holds; "" is the name where there are no splits"""


@dataclass(frozen=True, slots=True, kw_only=True)
class AdapterDescription(Record):
    """What adapter_config.json says."""

    base_model: str | None
    """model that the adapter changes; null = it does not say"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelDescription(Record):
    """What config.json of a model or a checkpoint says."""

    architecture: str | None
    """name of its class in transformers; null = it is not said"""
    context_length: int | None
    """tokens of prompt and answer together; null = it is not said"""
    adapter: AdapterDescription | None
    """null = the directory holds a whole model"""


Description = CapabilityDescription | TaskDescription | DatasetDescription | ModelDescription
DESCRIPTIONS: Mapping[ObjectKind, type[Description]] = {
    "capability": CapabilityDescription,
    "task": TaskDescription,
    "dataset": DatasetDescription,
    "model": ModelDescription,
    "checkpoint": ModelDescription,
}
"""the description of each kind"""


def description_of(kind: ObjectKind, stored: StoredDescription) -> Description:
    """The description of an object, from what is stored of it. Raises ValueError, which names the field."""
    return DESCRIPTIONS[kind].from_dict(stored)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredObject(Record):
    """One version of what training refers to: a capability, a task, a data set, a model or a checkpoint."""

    ref: str
    """the version, as NAME@VERSION"""
    kind: str
    """an `ObjectKind`"""
    name: str
    """chosen by who published the first version; unique in its workspace for its kind"""
    version: str
    """X.Y.Z of a capability or a task; of other kinds any word"""
    digest: str
    """sha256 of its tree of files"""
    files: int
    """number of files in its tree"""
    bytes: int
    """size of these files together"""
    described: CapabilityDescription | TaskDescription | DatasetDescription | ModelDescription
    """what was read of it when it was published"""
    created_at: str
    """when this version was pushed"""
    organization: str | None = None
    """organisation whose workspaces see it; null = its own workspace alone does"""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredObjectsPage(Record):
    """One page of objects: every version, newest first."""

    MOST_ITEMS: ClassVar[Mapping[str, int]] = {"objects": 1000}

    objects: list[StoredObject]
    """up to as many as were asked for"""
    next_cursor: int | None
    """asks for what follows; null = this was the last page"""


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedRows(Record):
    """Rows that `skip_bad_rows` has left out."""

    rows: int
    """number of rows that were left out"""
    of: int
    """number of rows that there were"""
    told: list[str]
    """where the first of them are, and what is wrong with each"""


@dataclass(frozen=True, slots=True, kw_only=True)
class UsedSplit(Record):
    """The split of a data set that a training job uses."""

    rows: int
    """number of rows"""
    split: str | None
    """its name; null = the data set has no splits"""
    uses: list[str]
    """each of sft, prompts and trajectories that every row can be used for"""
    reward_recipe: str | None
    """recipe that the rows' own fields ask for; null = they are no prompts"""
    left_out: SkippedRows | None = None
    """null = every row is used"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShippedModel(Record):
    """A Llama with fresh weights in float32, drawn from the job's seed, and a tokenizer of single characters."""

    alphabet: str
    """characters that it can read and write"""
    width: int
    """numbers in the vector of a token"""
    layers: int
    """number of layers"""
    heads: int
    """attention heads of a layer"""
    context_length: int
    """tokens of prompt and answer together"""

    @property
    def digest(self) -> str:
        """sha256 of the recipe, in hexadecimal digits."""
        return hashlib.sha256(json.dumps(self.to_dict(), sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class ShippedModelDescription(Record):
    """A model that comes with harena."""

    shipped: ShippedModel
    """how it is made"""
    context_length: int
    """tokens of prompt and answer together"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedReference(Record):
    """What a reference of a request named when the job was accepted."""

    where: str
    """the field of the request: "model", "capability_ref", "config.trajectory_dataset_refs[0]" ..."""
    kind: ObjectKind
    """kind of the object; a model's also where it was given as a path"""
    name: str
    """name of the stored object or model; for a model's path, the path as it was given"""
    version: str | None
    """for a data set that was given as a path, one named by its content; null = a model's path, or a shipped model"""
    digest: str
    """sha256 over the content, in hexadecimal digits"""
    path: str | None
    """the directory (of a data set of one file: that file) on the machine that trains; null from a server, and for a
    shipped model"""
    described: (
        CapabilityDescription | TaskDescription | UsedSplit | ModelDescription | ShippedModelDescription | None
    ) = None
    """what was read of it; of a data set, of the split that is used"""
    organization: str | None = None
    """organisation to which another workspace has published it; null = it is the job's own workspace's"""

    @property
    def ref(self) -> str:
        """The reference that users know: NAME@VERSION, or what was given."""
        return self.name if self.version is None else f"{self.name}@{self.version}"

    @property
    def used(self) -> UsedSplit | None:
        """The split of a data set; None = it is another kind of object."""
        return self.described if isinstance(self.described, UsedSplit) else None

    @property
    def split(self) -> str | None:
        """The name of the split that is used; None = the data set has none, or it is another kind of object."""
        return None if self.used is None else self.used.split

    @property
    def rows(self) -> int:
        """Number of rows of the split that is used; 0 of other kinds of objects."""
        return 0 if self.used is None else self.used.rows

    @property
    def shipped(self) -> ShippedModel | None:
        """How the model is made; None = its files are read."""
        return self.described.shipped if isinstance(self.described, ShippedModelDescription) else None

    @property
    def context_length(self) -> int | None:
        """The model's, in tokens of prompt and answer together; None = it is not known, or no model."""
        if isinstance(self.described, ModelDescription | ShippedModelDescription):
            return self.described.context_length
        return None
