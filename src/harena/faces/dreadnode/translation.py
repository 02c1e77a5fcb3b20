"""From harena's training jobs to hosted training's, and from its bodies to harena's requests. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from harena.core.errors import NotFoundError, ValidationError
from harena.core.records.training_jobs import TrainingArtifacts, TrainingJob
from harena.core.requests import TrainingJobFields
from harena.core.training_jobs import Metrics
from harena.core.training_sources import HEADING, check_no_paths
from harena.faces.dreadnode.records import HostedCapability, HostedJob, HostedReference

BACKENDS = ("tinker", "ray")
"""what this wire has words for"""
_REFERENCES = ("dataset_ref", "prompt_dataset_ref", "eval_dataset_ref")
_TRAJECTORIES = "trajectory_dataset_refs"
_AXES = ("train/", "eval/")


def request_of(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """The body, which names what is stored only, and one of this wire's backends. Raises ValidationError."""
    check_no_paths(body)
    if body.get("backend") not in BACKENDS:
        raise ValidationError(
            f"{HEADING}\n  backend: hosted training has tinker and ray; jobs of harena's own backend are submitted "
            "with `harena train` or POST /v1/training_jobs"
        )
    return body


def without_organization(request: Mapping[str, Any], org: str) -> TrainingJobFields:
    """The request with plain names: a reference may carry its organisation, ORG/NAME."""
    made = dict(request)
    if "capability_ref" in made:
        made["capability_ref"] = _plain(made["capability_ref"], org)
    if isinstance(config := made.get("config"), Mapping):
        changed = {name: _plain(config[name], org) for name in _REFERENCES if name in config}
        if isinstance(given := config.get(_TRAJECTORIES), list):
            changed[_TRAJECTORIES] = [_plain(one, org) for one in given]
        if isinstance(task := config.get("task_ref"), str):
            changed["task_ref"] = task.removeprefix(f"{org}/")
        made["config"] = {**config, **changed}
    return cast("TrainingJobFields", made)


def _plain(ref: Any, org: str) -> Any:
    if isinstance(ref, Mapping) and isinstance(ref.get("name"), str):
        return {**ref, "name": ref["name"].removeprefix(f"{org}/")}
    return ref


def is_hosted(job: TrainingJob) -> bool:
    """It was asked for as one of this wire's backends, which need a capability."""
    return job.backend in BACKENDS and job.capability_ref is not None


def hosted_job(job: TrainingJob, org: str, workspace: str, metrics: Mapping[str, Any] | None = None) -> HostedJob:
    """The job in this wire's words. `metrics`: all that was measured; None = the newest values. Raises NotFoundError
    for a job that this wire has no words for."""
    if not is_hosted(job) or job.capability_ref is None:
        raise NotFoundError(
            f"training job {job.id} was not submitted as a hosted job (its backend is {job.backend}); "
            f"`harena train get {job.id}` shows it"
        )
    config = job.config or {}
    found = next((ref for ref in job.resolved if ref.where == "capability_ref"), None)
    trajectories = config.get(_TRAJECTORIES) or []
    return HostedJob(
        id=job.id,
        organization_id=org,
        workspace_id=workspace,
        status=job.state,
        name=job.name,
        backend=job.backend or "",
        trainer_type=job.trainer_type,
        algorithm=job.algorithm,
        model=job.model or "",
        project_ref=job.project_ref,
        run_ref=job.run_ref,
        dataset_ref=_reference(config.get("dataset_ref")),
        trajectory_dataset_refs=[ref for one in trajectories if (ref := _reference(one)) is not None],
        task_ref=config.get("task_ref"),
        world_manifest_id=config.get("world_manifest_id"),
        world_runtime_id=config.get("world_runtime_id"),
        world_agent_name=config.get("world_agent_name"),
        world_goal=config.get("world_goal"),
        prompt_dataset_ref=_reference(config.get("prompt_dataset_ref")),
        capability=HostedCapability(
            artifact_id=None if found is None else found.ref,
            name=job.capability_ref.name,
            version=job.capability_ref.version,
            runtime_digest=None if found is None else found.digest,
        ),
        config=config,
        metrics=hosted_metrics(job.metrics if metrics is None else metrics),
        artifacts=hosted_artifacts(job, None),
        tags=job.tags or [],
        error=job.error,
        created_at=job.created_at,
        created_by=None,
        started_at=job.started_at,
        completed_at=job.ended_at,
        cancel_requested_at=job.cancel_requested_at,
    )


def hosted_artifacts(job: TrainingJob, written: TrainingArtifacts | None) -> dict[str, Any]:
    """What it has written, and what it was made of, under this wire's names; with `written`, its files, too."""
    config = job.config or {}
    made_of = {ref.where.removeprefix("config."): ref.ref for ref in job.resolved}
    names = {
        "capability_ref": "capability",
        "dataset_ref": "dataset",
        "prompt_dataset_ref": "prompt_dataset",
        "eval_dataset_ref": "eval_dataset",
    }
    told: dict[str, Any] = {new: made_of[old] for old, new in names.items() if old in made_of}
    if trajectories := [ref for where, ref in made_of.items() if where.startswith(f"{_TRAJECTORIES}[")]:
        told["trajectory_datasets"] = trajectories
    if job.trainer_type == "rl":
        told["execution_mode"] = config.get("execution_mode") or "sync"
    told |= {"checkpoints": [], **(job.artifacts if written is None else written.artifacts)}
    if written is not None:
        told["files"] = [file.to_dict() for file in written.files]
    return told


def hosted_metrics(metrics: Mapping[str, Any] | Metrics) -> dict[str, Any]:
    """Metrics under this wire's names, which have one slash: `train/reward/max` is `train/reward_max` here."""
    told = {}
    for name, value in metrics.items():
        axis = next((axis for axis in _AXES if name.startswith(axis)), "")
        told[axis + name.removeprefix(axis).replace("/", "_")] = value
    return told


def _reference(given: object) -> HostedReference | None:
    if isinstance(given, Mapping) and {"name", "version"} <= given.keys():
        return HostedReference(name=str(given["name"]), version=str(given["version"]))
    return None
