"""A job that goes on with what another one has made says where its defaults differ from how that one trained."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from harena.core.records.objects import ResolvedReference, ShippedModelDescription
from harena.core.records.training_plans import SFTPlan
from harena.core.training_store import StoredTrainingJob
from harena.jobs.training.tuned_before import tuning_warnings
from harena.training.requests.plan import plan_of
from harena.training.requests.references import ResolvedReferences
from harena.training.requests.request import parse_request
from harena.training.shipped_models import SHIPPED_MODELS
from harena.training.worker.job import TrainingWork


def refs(*, shipped: bool) -> ResolvedReferences:
    """The model of a job: one that comes with harena, or what a job has made."""
    made = SHIPPED_MODELS["tiny-llama"]
    described = ShippedModelDescription(shipped=made, context_length=made.context_length) if shipped else None
    model = ResolvedReference(
        where="model", kind="model", name="m", version=None, digest="0", path=None, described=described
    )
    return ResolvedReferences(refs=(model,))


def job(*, shipped: bool, **config: Any) -> dict[str, Any]:
    """An SFT job with this config, as it is accepted."""
    body = {"trainer_type": "sft", "model": "tiny-llama", "config": {"dataset_ref": "d", "steps": 4, **config}}
    resolved = refs(shipped=shipped)
    plan = plan_of(parse_request(body), resolved)
    return {"request": body, "plan": plan.to_dict(), "resolved": resolved.to_json()}


def told(after: dict[str, Any], before: dict[str, Any]) -> list[str]:
    """What the second job says of the first."""
    stored = SimpleNamespace(id="train_1", plan=before["plan"], resolved=before["resolved"])
    return [*tuning_warnings(after, cast("StoredTrainingJob", stored))]


def test_what_a_job_made_of_a_shipped_model_is_tuned_in_another_way() -> None:
    """Both ways are told, with the fields that are open and the reason."""
    (warning,) = told(job(shipped=False), job(shipped=True))
    assert warning.startswith("config.tuning, config.learning_rate: not given")
    assert "this job trains LoRA of rank 16 at a rate of 0.0001" in warning
    assert "job train_1, whose model it begins with, trained all weights at a rate of 0.003" in warning
    assert "a model that is read from files" in warning
    (warning,) = told(job(shipped=False, tuning="full"), job(shipped=True))
    assert warning.startswith("config.learning_rate: not given, so that this job trains all weights at a rate of 2e-05")


@pytest.mark.parametrize(
    ("after", "before"),
    [
        (job(shipped=False, tuning="full", learning_rate=1e-3), job(shipped=True)),
        (job(shipped=False, lora_rank=4, learning_rate=1e-4), job(shipped=True)),
        (job(shipped=False), job(shipped=False)),
        (job(shipped=False), job(shipped=False, learning_rate=1e-3)),
        (job(shipped=False), {**job(shipped=True), "plan": {"trainer_type": "sft"}}),
    ],
)
def test_what_was_asked_for_needs_no_warning(after: dict[str, Any], before: dict[str, Any]) -> None:
    """Nor what is the same, nor a job of a version that wrote other plans."""
    assert told(after, before) == []


def test_the_log_says_how_a_job_trains(tmp_path: Any) -> None:
    """When training begins: which weights, and how fast."""
    said: list[Any] = []

    def tell(kind: str, message: str | None = None, **parts: Any) -> None:
        said.append(message)

    work = TrainingWork(folder=tmp_path, resolved=refs(shipped=False), tell=tell)
    for of_shipped, how in (
        (True, "all weights, learning rate 0.003"),
        (False, "LoRA of rank 16, learning rate 0.0001"),
    ):
        work.started(SFTPlan.from_dict(job(shipped=of_shipped)["plan"]), 4, "2 rows")
        assert said.pop() == f"training begins: 4 steps, 2 rows; {how}"
