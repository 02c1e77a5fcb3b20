"""A training job that waits for its turn, as a store is given it."""

from __future__ import annotations

from typing import Any

from harena.core.training_store import NewTrainingJob


def queued_job(**fields: Any) -> NewTrainingJob:
    """A job with these fields, of which `owner` has to be one."""
    plain: dict[str, Any] = {
        "id": "train_1",
        "workspace": "default",
        "name": "n",
        "state": "queued",
        "trainer_type": "rl",
        "created_at": "t",
        "request": {},
        "resolved": [],
        "plan": {},
        "durable": True,
    }
    return NewTrainingJob(**{**plain, **fields})
