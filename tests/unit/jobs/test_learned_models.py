"""Which checkpoint a reference names."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from harena.core.errors import ValidationError
from harena.core.training_store import StoredTrainingJob
from harena.jobs.training.learned_models import checkpoint_of, goes_on_said, named_checkpoint

KEPT = {
    "checkpoints": ["checkpoints/step-00000040", "checkpoints/step-00000120", "checkpoints/../x"],
    "best_checkpoint": "checkpoints/step-00000040",
}


def job(artifacts: dict[str, Any]) -> StoredTrainingJob:
    return cast("StoredTrainingJob", SimpleNamespace(id="train_1", artifacts=artifacts, step=127))


@pytest.mark.parametrize(
    ("named", "found"),
    [
        ("taught@40", ("taught", "40")),
        ("a@b@best", ("a@b", "best")),
        ("train_1@newest", ("train_1", "newest")),
        ("taught", None),
        ("@40", None),
        ("taught@", None),
        ("taught@x", None),
        ("taught@-1", None),
    ],
)
def test_what_names_a_checkpoint(named: str, found: tuple[str, str] | None) -> None:
    """A step, or one of two words, behind the last @."""
    assert named_checkpoint(named) == found


@pytest.mark.parametrize(
    ("wanted", "step"), [("40", "40"), ("0040", "40"), ("120", "120"), ("best", "40"), ("newest", "120")]
)
def test_a_checkpoint_is_found(wanted: str, step: str) -> None:
    """By its step, or as the best or the newest of those that are kept."""
    assert checkpoint_of(job(KEPT), wanted) == f"checkpoints/step-{int(step):08d}"


@pytest.mark.parametrize("wanted", ["41", "best", "newest"])
def test_a_checkpoint_that_is_not_kept(wanted: str) -> None:
    """The refusal says which are; a best one that was removed is none."""
    artifacts = {"checkpoints": [], "best_checkpoint": "checkpoints/step-00000040"}
    with pytest.raises(ValidationError, match=rf"no checkpoint '{wanted}': those of these steps are kept: none"):
        checkpoint_of(job(artifacts), wanted)
    if wanted == "41":
        with pytest.raises(ValidationError, match="are kept: 40, 120"):
            checkpoint_of(job(KEPT), wanted)


def test_a_job_that_is_retried_says_where_it_goes_on() -> None:
    """After the step of its newest checkpoint, which is not the last that it had trained."""
    assert "it goes on after step 120," in goes_on_said(job(KEPT), fresh=False)
    assert goes_on_said(job(KEPT), fresh=False).endswith("it had reached step 127")
    assert "it begins again, since it has no checkpoint yet" in goes_on_said(job({}), fresh=False)
    assert "it begins anew" in goes_on_said(job(KEPT), fresh=True)
