"""What hosted training answers: names of fields and states are those of the `dreadnode` client's own models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from harena.core.records.record import Record

MOST_PAGE = 500
"""entries of one page"""
MOST_LOGS = 20_000
"""messages of one answer: this wire has no pages of them"""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostedUser(Record):
    """Who asks: here a workspace."""

    id: str
    """name of the workspace"""
    email_address: str
    """empty: keys have no address"""
    username: str
    """name of the workspace"""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostedOrganization(Record):
    """The organisation that the client has named, which stands for the whole server."""

    id: str
    """name that the client has given it"""
    name: str
    """name that the client has given it"""
    key: str
    """name that the client has given it"""
    max_sandbox_runtime_seconds: int | None
    """null = the server's own limit holds"""
    effective_max_sandbox_runtime_seconds: int
    """longest lifetime of one sandbox"""
    max_sandbox_runtime_source_level: str
    """what sets the limit: platform"""
    effective_default_sandbox_runtime_seconds: int
    """lifetime of a sandbox that asks for none"""
    default_sandbox_runtime_source_level: str
    """what sets the default: platform"""
    platform_max_sandbox_runtime_seconds: int
    """longest lifetime of one sandbox"""
    platform_default_sandbox_runtime_seconds: int
    """lifetime of a sandbox that asks for none"""
    created_at: str
    """a moment that the client's model wants: a server does not know it"""
    updated_at: str
    """a moment that the client's model wants: a server does not know it"""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostedWorkspace(Record):
    """The workspace of the key."""

    id: str
    """its name"""
    name: str
    """its name"""
    key: str
    """its name"""
    org_id: str
    """organisation that the client has named"""
    is_default: bool
    """true: a key has one workspace"""
    created_at: str
    """a moment that the client's model wants: a server does not know it"""
    updated_at: str
    """a moment that the client's model wants: a server does not know it"""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostedWorkspaces(Record):
    """The workspaces that a key can see."""

    MOST_ITEMS: ClassVar[Mapping[str, int]] = {"workspaces": 1}

    workspaces: list[HostedWorkspace]
    """the one of the key"""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostedProject(Record):
    """A project: here a label that jobs carry as `project_ref`, so each name is one."""

    id: str
    """its name"""
    key: str
    """its name"""
    name: str
    """its name"""
    workspace_id: str
    """workspace that was asked for"""
    created_at: str
    """a moment that the client's model wants: a label has none"""
    updated_at: str
    """a moment that the client's model wants: a label has none"""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostedReference(Record):
    """A stored version."""

    name: str
    """its name"""
    version: str
    """its version"""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostedCapability(Record):
    """The capability that a job was accepted with."""

    artifact_id: str | None
    """reference of the stored version; null = it was never resolved"""
    name: str
    """its name"""
    version: str
    """its version"""
    runtime_digest: str | None
    """sha256 of its files; null = it was never resolved"""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostedJob(Record):
    """A training job."""

    id: str
    """harena's id of the job"""
    organization_id: str
    """organisation that the client has named"""
    workspace_id: str
    """workspace of the key"""
    status: str
    """queued, running, completed, failed or cancelled"""
    name: str
    """the user's, or one that was made of the request"""
    backend: str
    """tinker or ray: what was asked for"""
    trainer_type: str
    """sft or rl"""
    algorithm: str | None
    """null for sft"""
    model: str
    """what was asked for"""
    project_ref: str | None
    """the user's own label; null = none was given"""
    run_ref: str | None
    """the user's own label; null = none was given"""
    dataset_ref: HostedReference | None
    """data set of an SFT job; null = it has none"""
    trajectory_dataset_refs: list[HostedReference]
    """its trajectories"""
    task_ref: str | None
    """its task; null = it has none"""
    world_manifest_id: str | None
    """its world; null = it has none"""
    world_runtime_id: str | None
    """null: rollouts in a world are the job's own here"""
    world_agent_name: str | None
    """null: rollouts in a world are the job's own here"""
    world_goal: str | None
    """goal in its world; null = none was given"""
    prompt_dataset_ref: HostedReference | None
    """prompts of an RL job; null = it has none"""
    capability: HostedCapability
    """its policy scaffold, as it was when the job was accepted"""
    config: Mapping[str, Any]
    """the request's configuration"""
    metrics: Mapping[str, Any]
    """arrays along `steps` and `eval/steps`, and scalars; of a job in a list the newest values"""
    artifacts: Mapping[str, Any]
    """what it has written, and what it was made of"""
    tags: list[str]
    """the user's own"""
    error: str | None
    """why it failed; null = it has not"""
    created_at: str
    """when it was accepted"""
    created_by: str | None
    """null: keys have no owner here"""
    started_at: str | None
    """when its worker began; null = it has not"""
    completed_at: str | None
    """when it ended; null = it has not"""
    cancel_requested_at: str | None
    """when cancelling was asked for; null = it was not"""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostedJobsPage(Record):
    """One page of jobs, newest first."""

    MOST_ITEMS: ClassVar[Mapping[str, int]] = {"items": MOST_PAGE}

    items: list[HostedJob]
    """up to `page_size`"""
    total: int
    """number of jobs on all pages"""
    page: int
    """which page this is, from 1"""
    page_size: int
    """what was asked for"""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostedLog(Record):
    """A message of a job."""

    timestamp: str
    """when it happened"""
    level: str
    """info, warning or error"""
    message: str
    """a sentence for people"""
    data: Mapping[str, Any]
    """what its kind tells beside the message"""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostedLogs(Record):
    """What was said of a job."""

    MOST_ITEMS: ClassVar[Mapping[str, int]] = {"items": MOST_LOGS}

    items: list[HostedLog]
    """oldest first; of more than 20000 the newest"""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostedArtifacts(Record):
    """What a job has written, and what it was made of."""

    artifacts: Mapping[str, Any]
    """name -> path or paths below the job's folder, references, and `files` with their sizes"""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostedModel(Record):
    """A base model that a job can begin with."""

    tinker_id: str
    """what `--model` takes"""
    display_name: str
    """name for people"""
    family: str
    """shipped, or the class of the model in transformers"""
    type: str
    """dense: what harena trains has no experts, or they are trained as any weight"""
    size_b: float
    """parameters in thousand millions: of a stored model as many as its files hold at two bytes each"""
    context_length: int
    """tokens of prompt and answer together; 0 = it is not said"""
    supported_algorithms: list[str]
    """sft, importance_sampling and ppo"""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostedCatalog(Record):
    """Models that jobs can begin with."""

    MOST_ITEMS: ClassVar[Mapping[str, int]] = {"models": MOST_PAGE}

    models: list[HostedModel]
    """up to `limit`"""
    total: int
    """number of models that match"""
    limit: int
    """what was asked for"""
