"""Whether recorded trajectories can be learned from: told when an offline job is submitted, without a tokenizer."""

from __future__ import annotations

import json
from pathlib import Path

from harena.core.errors import ValidationError
from harena.core.records.training_plans import RLPlan
from harena.training.data.offline import (
    nothing_to_learn,
    recorded_conversation,
    reward_of,
    unrecorded_mistake,
    was_recorded,
)
from harena.training.data.row_files import Mistakes, rows_of
from harena.training.loop.advantages import advantages
from harena.training.requests.references import ResolvedReferences


def check_offline(plan: RLPlan, resolved: ResolvedReferences) -> None:
    """Raises ValidationError where the algorithm needs log-probabilities that were not recorded, or where no episode
    has a reward that tells it from those that it is compared with."""
    if plan.reward is not None:
        return
    refs = [ref for ref in resolved.trajectories if ref.path is not None]
    mistakes = Mistakes(", ".join(ref.ref for ref in refs))
    rewards: dict[str, list[float]] = {}
    rows, unrecorded = 0, 0
    for ref in refs:
        for row in rows_of(Path(ref.path or ""), mistakes, split=ref.split):
            rows += 1
            try:
                conversation = recorded_conversation(row.values)
                asked = json.dumps([dict(message) for message in conversation.messages[: conversation.answers[0]]])
                rewards.setdefault(asked if plan.baseline == "prompt" else "", []).append(reward_of(row.values))
                unrecorded += not was_recorded(row.values)
            except ValueError as error:
                mistakes.add(row.origin, str(error))
    mistakes.check()
    if (mistake := unrecorded_mistake(plan.loss, unrecorded, rows, "trajectories")) is not None:
        raise ValidationError(f"config.algorithm: {mistake}")
    compared = [advantages(of, plan.advantage) for of in rewards.values() if plan.advantage == "none" or len(of) > 1]
    if not any(any(group) for group in compared):
        raise ValidationError(f"config.trajectory_dataset_refs: {nothing_to_learn(len(rewards))}")
